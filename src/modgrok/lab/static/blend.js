// A network between two stored steps: weights and margins on straight lines, phases the shorter way round.

import { circular } from "lab/pictures/phases.js";

const straight = (a, b, t) => a.map((value, i) => (1 - t) * value + t * b[i]);

export function blend(one, other, t) {
  const nearer = t < 0.5 ? one : other;
  const margins = one.margins && straight(one.margins, other.margins, t);
  if (!one.blocks) return { ...nearer, ...(margins && { margins }) };
  const { modulus: p } = one;
  const blocks = new Float32Array(one.blocks.length);
  for (let block = 0; block < one.scales.length; block++) {
    const [a, b] = [(1 - t) * one.scales[block], t * other.scales[block]];
    for (let at = block * p; at < (block + 1) * p; at++) blocks[at] = a * one.blocks[at] + b * other.blocks[at];
  }
  const B = one.arity + 1;
  const phases = nearer.phases.slice();
  const residual = nearer.residual.slice();
  const turn = (a, b) => a + t * Math.atan2(Math.sin(b - a), Math.cos(b - a));
  for (let i = 0; i < one.shown; i++) {
    if (one.frequency[i] !== other.frequency[i]) continue;
    for (let b = 0; b < B; b++) phases[i * B + b] = turn(one.phases[i * B + b], other.phases[i * B + b]);
    residual[i] = turn(one.residual[i], other.residual[i]);
  }
  return {
    ...nearer,
    ...(margins && { margins }),
    ...{ blocks, scales: new Float32Array(one.scales.length).fill(1), phases, residual, ...circular(residual) },
    amplitudes: straight(one.amplitudes, other.amplitudes, t),
    explained: straight(one.explained, other.explained, t),
    step: nearer.step,
  };
}
