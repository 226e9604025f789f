// What the page knows of a run's task: its table, the cells trained on, and the coordinate in which waves are waves.

import { state } from "lab/store.js";

const decoded = new WeakMap();

// The task's table and which of its cells were trained on, as arrays.
export function taskTables(run) {
  if (!decoded.has(run)) {
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const { table, trained } = run.task;
    decoded.set(run, table && { answers: new Uint16Array(bytes(table).buffer), trained: bytes(trained) });
  }
  return decoded.get(run);
}

// Numbers in the order of the coordinate on screen, for the columns of block b: waves show as waves in it.
export function columnOrder(run, frame, b) {
  const plain = Array.from({ length: frame.modulus }, (_, x) => x);
  const { index, readout } = run.task;
  if (state.view.coordinate !== "task" || !index) return plain;
  if (b < frame.arity) return plain.sort((x, y) => index[b][x] - index[b][y] || x - y);
  const first = new Map();
  readout.forEach((q, r) => first.has(q) || first.set(q, r));
  return plain.sort((x, y) => (first.get(x) ?? 1e9) - (first.get(y) ?? 1e9) || x - y);
}

// The fitted wave of a neuron's block, number by number.
export function fitted(run, frame, i, b) {
  const B = frame.arity + 1;
  const [a, phase, k] = [frame.amplitudes[i * B + b], frame.phases[i * B + b], frame.frequency[i]];
  const task = state.view.coordinate === "task" && run.task.index;
  const L = frame.length;
  const wave = (place) => a * Math.cos((2 * Math.PI * ((k * place) % L)) / L + phase);
  if (b < frame.arity) {
    return Array.from({ length: frame.modulus }, (_, x) => {
      const place = task ? run.task.index[b][x] : x;
      return place < 0 ? NaN : wave(place);
    });
  }
  if (!task) return Array.from({ length: frame.modulus }, (_, q) => wave(q));
  const sum = new Array(frame.modulus).fill(0);
  run.task.readout.forEach((q, r) => (sum[q] += wave(r)));
  return sum;
}
