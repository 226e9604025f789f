// Measures of the stored steps that take too long for a frame: asked for one after another while nothing trains, coarse
// first, so that a curve has its shape at once. A replay has all of them inside.

import { source } from "lab/source.js";
import { emit, on, state } from "lab/store.js";

const found = new Map();
let busy = false;

const keyOf = (step) => `${state.run.run}@${step}/${state.run.snapshots.at(-1)}`; // Some measures look at the last step, too.

// [step, measures] of all stored steps of the open run that are measured.
export const measuredRows = () => state.run.snapshots.map((step) => [step, found.get(keyOf(step))]).filter(([, row]) => row);

// Asks for what is missing; `measured` is emitted whenever something came.
export async function measureMore() {
  if (busy || state.training.run) return;
  const { run, snapshots } = state.run;
  const last = snapshots.length - 1;
  const coarse = [8, 4, 2, 1].flatMap((stride) => snapshots.filter((_, i) => (last - i) % stride === 0));
  const step = coarse.find((other) => !found.has(keyOf(other)));
  if (step === undefined) return;
  const key = keyOf(step);
  busy = true;
  found.set(key, await source.measures(run, step).catch(() => null));
  busy = false;
  emit("measured");
}

if (source.replay) on("run", async () => {
  for (const step of state.run.snapshots) found.set(keyOf(step), await source.measures(state.run.run, step));
  emit("measured");
});
