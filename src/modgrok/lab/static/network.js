// The network on the page: its weights, its outputs at one input, and each neuron's part in them.
//
// A frame holds blocks of p weights, one for each input variable and then the readout, of every neuron shown, each with
// a scale: f_q(x) = output_scale · Σ_i W2[q, i] φ(hidden_scale · Σ_s W1[i, s, x_s]).

import { activation } from "lab/activations.js";

// Weight of neuron i (its place in the frame), block b (inputs first, the readout last), at number x.
export function weight(frame, i, b, x) {
  const block = i * (frame.arity + 1) + b;
  return frame.scales[block] * frame.blocks[block * frame.modulus + x];
}

// What enters the activation of every neuron shown, at one input.
export function preactivations(frame, inputs) {
  const values = new Float64Array(frame.shown);
  for (let i = 0; i < frame.shown; i++) {
    let h = 0;
    for (let s = 0; s < frame.arity; s++) h += weight(frame, i, s, inputs[s]);
    h *= frame.hidden_scale;
    values[i] = frame.mean ? (h - frame.mean[i]) / frame.std[i] : h;
  }
  return values;
}

// The hidden unit φ(h) of every neuron shown, at one input.
export function hidden(frame, inputs) {
  return preactivations(frame, inputs).map(activation(frame.activation));
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

// Where the largest of some values is.
export function largest(values) {
  let best = 0;
  for (let q = 1; q < values.length; q++) if (values[q] > values[best]) best = q;
  return best;
}

// The amount of the wave of frequency k in a block, Σ w cos and −Σ w sin, so that its phase is the angle of the two.
function project({ modulus: p, blocks, scales }, block, k) {
  if (!circles.has(p)) circles.set(p, Float64Array.from({ length: 2 * p }, (_, j) => (j < p ? Math.cos : Math.sin)((2 * Math.PI * j) / p)));
  const circle = circles.get(p);
  let [x, y] = [0, 0];
  for (let n = 0, j = 0; n < p; n++, j = (j + k) % p) {
    x += blocks[block * p + n] * circle[j];
    y -= blocks[block * p + n] * circle[p + j];
  }
  return [scales[block] * x, scales[block] * y];
}

const circles = new Map(); // cosines and sines of all multiples of 2π/p

// The phases of a neuron's blocks at a given frequency.
export function phasesAt(frame, i, k) {
  const B = frame.arity + 1;
  return Array.from({ length: B }, (_, b) => {
    const [x, y] = project(frame, i * B + b, k);
    return Math.atan2(y, x);
  });
}

// The best-fitting waves of every neuron, a_b cos(2πk x/p + φ_b) in each block, with one frequency k for all blocks: the
// strongest in the power of the inputs. The readout counts as cos(−2πk q/p − φ), which is the same.
export function fitWaves(frame) {
  const { modulus: p, shown: N, arity: S, blocks, scales } = frame;
  const B = S + 1;
  const half = Math.floor(p / 2);
  const found = {
    frequency: new Uint32Array(N),
    amplitudes: new Float32Array(N * B),
    phases: new Float32Array(N * B),
    residual: new Float32Array(N),
    explained: new Float32Array(N),
  };
  for (let i = 0; i < N; i++) {
    let [best, power] = [1, -1];
    for (let k = 1; k <= half; k++) {
      let sum = 0;
      for (let s = 0; s < S; s++) {
        const [x, y] = project(frame, i * B + s, k);
        sum += x * x + y * y;
      }
      if (sum > power) [best, power] = [k, sum];
    }
    let [fitted, total, residual] = [0, 0, 0];
    for (let b = 0; b < B; b++) {
      const [x, y] = project(frame, i * B + b, best);
      const phase = Math.atan2(y, x);
      found.amplitudes[i * B + b] = (2 * Math.hypot(x, y)) / p;
      found.phases[i * B + b] = phase;
      residual += b < S ? phase : -phase;
      fitted += (2 * (x * x + y * y)) / p;
      for (let n = 0; n < p; n++) total += (scales[i * B + b] * blocks[(i * B + b) * p + n]) ** 2;
    }
    found.frequency[i] = best;
    found.residual[i] = Math.atan2(Math.sin(residual), Math.cos(residual));
    found.explained[i] = total > 0 ? fitted / total : NaN;
  }
  return found;
}

// The waves that an eraser leaves of a frame, in the layout of its blocks: in every neuron the one of `fitWaves`, or in every
// block its own strongest, whatever the others have.
export function strongestWaves(frame, own = false) {
  const { modulus: p, arity, frequency } = frame;
  const found = new Float32Array(frame.blocks.length);
  const half = Math.floor(p / 2);
  for (let block = 0; block < found.length / p; block++) {
    let k = frequency[Math.floor(block / (arity + 1))];
    if (own) for (let other = 1, most = -1; other <= half; other++) {
      const power = Math.hypot(...project(frame, block, other));
      if (power > most) [k, most] = [other, power];
    }
    const [x, y] = project(frame, block, k);
    const circle = circles.get(p);
    for (let n = 0, j = 0; n < p; n++, j = (j + k) % p) found[block * p + n] = (2 / p) * (x * circle[j] - y * circle[p + j]);
  }
  return found;
}

// All outputs at every pair (n, m) of a network with two variables, one row of p for each pair; for n from … to − 1 where told.
export function outputTable(frame, from = 0, to = frame.modulus) {
  const { modulus: p, shown: N, arity } = frame;
  const phi = activation(frame.activation);
  const Floats = frame.blocks instanceof Float64Array ? Float64Array : Float32Array;
  const found = new Floats((to - from) * p * p);
  const [readout, first, second, units] = [p * N, p * N, p * N, N].map((length) => new Floats(length));
  for (let i = 0; i < N; i++) {
    for (let x = 0; x < p; x++) {
      first[x * N + i] = frame.hidden_scale * weight(frame, i, 0, x);
      second[x * N + i] = frame.hidden_scale * weight(frame, i, 1, x);
      readout[x * N + i] = frame.output_scale * weight(frame, i, arity, x);
    }
  }
  for (let pair = 0; pair < (to - from) * p; pair++) {
    const [n, m] = [(from + Math.floor(pair / p)) * N, (pair % p) * N];
    for (let i = 0; i < N; i++) units[i] = phi(first[n + i] + second[m + i]);
    for (let q = 0; q < p; q++) {
      let sum = 0;
      for (let i = 0, at = q * N; i < N; i++, at++) sum += units[i] * readout[at];
      found[pair * p + q] = sum;
    }
  }
  return found;
}

// Answer and margin at every pair, of a table of outputs that begins at n = from.
export function answersOf(table, p, right, from = 0) {
  const pairs = table.length / p;
  const [predictions, margins] = [new Uint16Array(pairs), new Float32Array(pairs)];
  for (let pair = 0; pair < pairs; pair++) {
    const out = table.subarray(pair * p, (pair + 1) * p);
    const answer = right(from + Math.floor(pair / p), pair % p);
    let others = -Infinity;
    for (let q = 0; q < p; q++) if (q !== answer && out[q] > others) others = out[q];
    predictions[pair] = largest(out);
    margins[pair] = out[answer] - others;
  }
  return { predictions, margins };
}
