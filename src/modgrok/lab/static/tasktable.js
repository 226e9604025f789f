// What the page knows of a run's task: its table, the cells trained on, and the coordinate in which waves are waves.

import { bytesOf } from "lab/message.js";
import { state } from "lab/store.js";

const decoded = new WeakMap();

// The task's table and which of its cells were trained on, as arrays.
export function taskTables(run) {
  if (!decoded.has(run)) {
    const { table, trained } = run.task;
    decoded.set(run, table && { answers: new Int16Array(bytesOf(table).buffer), trained: bytesOf(trained) });
  }
  return decoded.get(run);
}

// The elements of a group in the order in which its table is drawn: rows and columns by cosets, and where each element then
// stands; null where a table is drawn in the order of its numbers.
export function tableOrder(run) {
  const { cosets } = run.task;
  if (!cosets || state.view.order !== "cosets") return null;
  if (!placed.has(cosets)) {
    const places = (elements) => elements.reduce((found, x, place) => ((found[x] = place), found), []);
    placed.set(cosets, { ...cosets, rowOf: places(cosets.rows), columnOf: places(cosets.columns), rankOf: places(cosets.answers) });
  }
  return placed.get(cosets);
}

const placed = new WeakMap();

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
