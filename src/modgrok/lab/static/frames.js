// Frames: everything the panels draw of one network, cached, fetched ahead, and blended between stored steps in motion.

import { blend } from "lab/blend.js";
import { decode } from "lab/message.js";
import { source } from "lab/source.js";
import { emit, setView, state } from "lab/store.js";

const CACHED = 160;
const REST = 300; // milliseconds between frames while following a run that trains, which needs the processor more
const AHEAD = 3; // requests in flight while fetching ahead

const cache = new Map();
const pending = new Map();
let wanted = null;
let waiting = false;

const keyOf = (step, changes) => [state.run.run, step, state.view.coordinate, ...changes].join("|");

export function cached(step, changes = []) {
  return cache.get(keyOf(step, changes));
}

export async function load(step, changes = []) {
  const key = keyOf(step, changes);
  if (cache.has(key)) return cache.get(key);
  if (!pending.has(key)) {
    const { run } = state.run;
    const request = source
      .frame(run, step, state.view.coordinate, changes)
      .then((buffer) => {
        const frame = decode(buffer);
        cache.set(key, frame);
        while (cache.size > CACHED) cache.delete(cache.keys().next().value);
        return frame;
      })
      .finally(() => pending.delete(key));
    pending.set(key, request);
  }
  return pending.get(key);
}

// Shows a stored step: at once if it is here, else when it comes. One request at a time, the latest wish next, so that a
// clock that moves faster than frames arrive still shows all that do.
export async function show(step, { following = false } = {}) {
  if (!state.run?.snapshots.length || step == null || !hasFrames()) return;
  const { changes } = state.view;
  wanted = step;
  const frame = cached(step, changes);
  const base = changes.length ? cached(step) : null;
  if (frame && base !== undefined) {
    draw(frame, base);
    return;
  }
  if (waiting) return;
  waiting = true;
  const key = keyOf("", changes);
  let problem = null;
  try {
    const found = await Promise.all([load(step, changes), changes.length ? load(step) : null]);
    const passed = wanted !== step && cached(wanted, changes);
    if (keyOf("", state.view.changes) === key && !passed) draw(...found);
  } catch (error) {
    problem = error.message;
  }
  if (following && state.training.run) await new Promise((rest) => setTimeout(rest, REST));
  waiting = false;
  if (wanted !== step || keyOf("", state.view.changes) !== key) show(wanted);
  else if (problem) refuse(problem, changes);
}

// Says what could not be shown; a change that was refused is taken back, so that neither page nor address keep it.
function refuse(problem, changes) {
  emit("problem", problem);
  if (changes.length) setView({ changes: changes.slice(0, -1) });
}

export const hasFrames = () => !state.run.panels || ["weights", "answers", "embedding", "representations"].some((panel) => state.run.panels.includes(panel));

// Shows a moment between two stored steps where both are here; whether it could.
export function showBetween(step, next, t) {
  const { changes } = state.view;
  const [one, other] = [cached(step, changes), cached(next, changes)];
  if (!one || !other || changes.length) return false;
  draw(t === 0 ? one : blend(one, other, t), null);
  return true;
}

function draw(frame, base) {
  if (state.frame === frame && state.base === base) return;
  state.frame = frame;
  state.base = base;
  const began = performance.now();
  emit("frame", frame);
  const milliseconds = (performance.now() - began).toFixed(1);
  Object.assign(document.documentElement.dataset, { drawn: frame.step, milliseconds });
}

// Fetches the steps around the one on screen, nearest first, while nothing else is asked for.
export function fetchAhead(step) {
  if (!state.run || state.view.changes.length || state.training.run || !hasFrames()) return;
  const steps = state.run.snapshots;
  const place = steps.indexOf(step);
  const order = steps
    .map((other, i) => [Math.abs(i - place), other])
    .sort((a, b) => a[0] - b[0])
    .map((pair) => pair[1])
    .filter((other) => !cached(other));
  for (const next of order.slice(0, Math.max(0, AHEAD - pending.size))) {
    load(next).then(
      () => fetchAhead(step),
      () => {},
    );
  }
}

export function forget() {
  state.frame = state.base = null;
}

// The neurons of a frame in the order in which the panels draw them.
export function order(frame, by = state.view.sort, last = null) {
  const places = Uint32Array.from({ length: frame.shown }, (_, i) => i);
  const key = by === "current" ? frame : by === "final" ? (last ?? frame) : null;
  if (!key || key.shown !== frame.shown) return places;
  const S = frame.arity + 1;
  return places.sort((a, b) => key.frequency[a] - key.frequency[b] || key.phases[a * S] - key.phases[b * S] || a - b);
}
