// One clock for all panels: the step on screen, playing, following a run that trains, linear or logarithmic time.

import { emit, lastRow, on, setView, state } from "lab/store.js";
import { rested } from "lab/pending.js";
import { fetchAhead, show, showBetween } from "lab/frames.js";

export const clock = { step: 0, playing: false, follow: true };

const PACE = 125; // milliseconds between stored steps at speed 1
const fetchSoon = rested(120, fetchAhead);

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

export function nearest(steps, step) {
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
  if ((state.view.snap && state.run.snapshots.length > 1) || !state.run.rows.length) return state.run.snapshots;
  return state.run.rows.map((row) => row.step);
}

export function setStep(step, { hold = true } = {}) {
  if (!state.run) return;
  if (hold) clock.follow = false;
  clock.step = nearest(stops(), step) ?? Math.round(step);
  emit("clock", clock);
  const stored = nearest(state.run.snapshots, clock.step);
  show(stored, { following: !hold });
  fetchSoon(stored);
}

export function move(count) {
  play(false);
  const steps = stops();
  const here = steps.indexOf(nearest(steps, clock.step));
  const next = steps[Math.min(Math.max(here + count, 0), steps.length - 1)];
  if (next != null) setStep(next);
}

export function toEnd() {
  const last = stops().at(-1);
  if (last != null) setStep(last, { hold: false });
  clock.follow = true;
  emit("clock", clock);
}

// Plays through the stops at an even pace; between two stored steps that are both here, weights are blended.
export function play(playing = !clock.playing, until = Infinity) {
  if (playing === clock.playing && !playing) return;
  clock.playing = playing && stops().length > 1;
  if (clock.playing) {
    if (clock.step >= stops().at(-1)) setStep(stops()[0]);
    clock.follow = false;
    end = until;
    run(stops().indexOf(nearest(stops(), clock.step)), performance.now());
  }
  emit("clock", clock);
}

// Plays from one step to another.
export function playBetween(from, to) {
  play(false);
  setStep(from);
  if (from < to) play(true, to);
}

let playing = 0;
let end = Infinity;
function run(from, began) {
  const mine = ++playing;
  const tick = (now) => {
    if (!clock.playing || mine !== playing) return;
    const steps = stops().filter((step) => step <= end);
    const place = from + Math.max(0, now - began) / (PACE / state.view.speed);
    const i = Math.min(Math.floor(place), steps.length - 1);
    if (i >= steps.length - 1) {
      setStep(steps.at(-1));
      play(false);
      return;
    }
    const smooth = state.view.snap && showBetween(steps[i], steps[i + 1], place - i);
    if (smooth) {
      clock.step = steps[place - i < 0.5 ? i : i + 1];
      emit("clock", clock);
    } else if (clock.step !== steps[i]) setStep(steps[i]);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

on("kept", () => {
  if (clock.follow) setStep(state.run.snapshots.at(-1), { hold: false });
  else emit("clock", clock);
});
on("run", () => play(false));
on("view", (changes) => {
  if ("speed" in changes && clock.playing) run(stops().indexOf(nearest(stops(), clock.step)), performance.now());
  if ("snap" in changes || "time" in changes) setStep(clock.step, { hold: !clock.follow });
  if ("changes" in changes || "coordinate" in changes) setStep(clock.step, { hold: !clock.follow });
});

export const KEYS = [
  ["← →", "one stored step back or on; with Shift, five"],
  ["↑ ↓", "on the time slider: the same"],
  ["Home, End", "to the first or the last step"],
  ["Space", "play or pause"],
  ["L", "logarithmic or linear time"],
  ["Escape", "close what is open"],
  ["?", "this list"],
];

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=range]), select, textarea, dialog, .choices")) return;
  const slider = event.target.id === "scrubber";
  if (event.target.type === "range" && !slider) return;
  const far = event.shiftKey ? 5 : 1;
  const keys = {
    ArrowLeft: () => move(-far),
    ArrowRight: () => move(far),
    Home: () => move(-1e9),
    End: () => toEnd(),
    " ": () => play(),
    l: () => setView({ time: state.view.time === "log" ? "linear" : "log" }),
    ...(slider && { ArrowDown: () => move(-far), ArrowUp: () => move(far), PageDown: () => move(-5), PageUp: () => move(5) }),
  };
  if (event.key === " " && event.target.closest("button, summary, a")) return;
  if (!keys[event.key] || !state.run) return;
  event.preventDefault();
  keys[event.key]();
});
