// One clock for all panels: the step on screen, playing, following a run that trains, linear or logarithmic time.

import { emit, lastRow, on, setView, state } from "lab/store.js";
import { fetchAhead, show } from "lab/frames.js";

export const clock = { step: 0, playing: false, follow: true };

const FRAMES_PER_SECOND = 8;
let timer = null;
let settled = null;

export const lastStep = () => Math.max(lastRow()?.step ?? 0, state.run?.snapshots.at(-1) ?? 0, 1);

// Place of a step on the time axis, 0 … 1, and back.
export function placeOf(step) {
  const last = lastStep();
  return state.view.time === "log" ? Math.log1p(step) / Math.log1p(last) : step / last;
}

export function stepAt(place) {
  const last = lastStep();
  const clipped = Math.min(Math.max(place, 0), 1);
  return state.view.time === "log" ? Math.expm1(clipped * Math.log1p(last)) : clipped * last;
}

function nearest(steps, step) {
  if (!steps.length) return null;
  let best = steps[0];
  for (const other of steps) {
    if (Math.abs(placeOf(other) - placeOf(step)) < Math.abs(placeOf(best) - placeOf(step))) best = other;
  }
  return best;
}

// The steps on which the clock can stand.
export function stops() {
  if (!state.run) return [];
  if (state.view.snap || !state.run.rows.length) return state.run.snapshots;
  return state.run.rows.map((row) => row.step);
}

export function setStep(step, { hold = true } = {}) {
  if (!state.run) return;
  if (hold) clock.follow = false;
  clock.step = nearest(stops(), step) ?? Math.round(step);
  emit("clock", clock);
  const stored = nearest(state.run.snapshots, clock.step);
  show(stored);
  clearTimeout(settled);
  settled = setTimeout(() => fetchAhead(stored), 120);
}

export function move(count) {
  const steps = stops();
  const here = steps.indexOf(nearest(steps, clock.step));
  const next = steps[Math.min(Math.max(here + count, 0), steps.length - 1)];
  if (next != null) setStep(next);
  return next != null && next !== steps.at(-1);
}

export function toEnd() {
  const last = state.run?.snapshots.at(-1);
  if (last != null) setStep(last, { hold: false });
  clock.follow = true;
  emit("clock", clock);
}

export function play(playing = !clock.playing) {
  clearInterval(timer);
  clock.playing = playing && stops().length > 1;
  if (clock.playing) {
    if (clock.step >= stops().at(-1)) setStep(stops()[0]);
    timer = setInterval(() => {
      if (!move(1)) play(false);
    }, 1000 / (FRAMES_PER_SECOND * state.view.speed));
  }
  emit("clock", clock);
}

on("kept", () => {
  if (clock.follow) setStep(state.run.snapshots.at(-1), { hold: false });
  else emit("clock", clock);
});
on("view", (changes) => {
  if ("speed" in changes && clock.playing) play(true);
  if ("snap" in changes || "time" in changes) setStep(clock.step, { hold: !clock.follow });
  if ("changes" in changes || "coordinate" in changes) setStep(clock.step, { hold: !clock.follow });
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=range]), select, textarea, dialog, [role=menu]")) return;
  const far = event.shiftKey ? 5 : 1;
  const keys = {
    ArrowLeft: () => move(-far),
    ArrowRight: () => move(far),
    Home: () => move(-1e9),
    End: () => toEnd(),
    " ": () => play(),
    l: () => setView({ time: state.view.time === "log" ? "linear" : "log" }),
  };
  if (event.key === " " && event.target.closest("button, summary, a")) return;
  if (!keys[event.key] || !state.run) return;
  event.preventDefault();
  keys[event.key]();
});
