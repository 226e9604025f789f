// The network on the page: its weights, its outputs at one input, and each neuron's part in them.

import { state } from "lab/store.js";

const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x);
  return x < 0 ? -y : y;
};

const ACTIVATIONS = {
  quadratic: (x) => x * x,
  relu: (x) => Math.max(x, 0),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  abs: Math.abs,
  tanh: Math.tanh,
  silu: (x) => x / (1 + Math.exp(-x)),
};

export function activation(name) {
  if (ACTIVATIONS[name]) return ACTIVATIONS[name];
  const degree = Number(name.split("^")[1]);
  return (x) => x ** degree;
}

// Weight of neuron i (its place in the frame), block b (inputs first, the readout last), at number x.
export function weight(frame, i, b, x) {
  const B = frame.arity + 1;
  const block = i * B + b;
  return frame.scales[block] * frame.blocks[block * frame.modulus + x];
}

// The hidden unit φ(h) of every neuron shown, at one input.
export function hidden(frame, inputs) {
  const phi = activation(frame.activation);
  const values = new Float64Array(frame.shown);
  for (let i = 0; i < frame.shown; i++) {
    let h = 0;
    for (let s = 0; s < frame.arity; s++) h += weight(frame, i, s, inputs[s]);
    h *= frame.hidden_scale;
    if (frame.mean) h = (h - frame.mean[i]) / frame.std[i];
    values[i] = phi(h);
  }
  return values;
}

// All p outputs at one input: the total, and the part of every frequency (0: neurons without a wave).
export function outputs(frame, inputs) {
  const p = frame.modulus;
  const total = new Float64Array(p);
  const parts = new Map();
  const units = hidden(frame, inputs);
  for (let i = 0; i < frame.shown; i++) {
    const k = frame.frequency[i];
    if (!parts.has(k)) parts.set(k, new Float64Array(p));
    const part = parts.get(k);
    for (let q = 0; q < p; q++) {
      const value = frame.output_scale * units[i] * weight(frame, i, frame.arity, q);
      part[q] += value;
      total[q] += value;
    }
  }
  return { total, parts };
}

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
