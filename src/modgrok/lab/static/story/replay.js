// The run on which the story stands: weights and margins at any time, interpolated between the stored steps.

import { bytesOf, decode, gunzip } from "lab/message.js";
import { fitWaves } from "lab/network.js";

const log = Math.log1p;

async function content() {
  const inside = document.getElementById("story-replay");
  if (inside) return bytesOf(inside.textContent);
  return new Uint8Array(await (await fetch("/static/story/story.replay")).arrayBuffer());
}

export class Replay {
  static async load() {
    return new Replay(decode(await gunzip(await content())));
  }

  // `control` is the same network on random answers: off its examples it is asked for n + m as well.
  constructor({ control, ...message }) {
    Object.assign(this, message);
    if (control) {
      const arrays = ["scales", "blocks", "margins", "answers"].map((name) => [name, message[`control_${name}`]]);
      this.control = new Replay({ ...message, ...control, ...Object.fromEntries(arrays) });
    }
    this.last = this.steps.at(-1);
    this.cells = this.modulus ** 2;
    this.made = new Map();
  }

  answer(n, m) {
    return this.answers[n * this.modulus + m];
  }

  isTrained(n, m) {
    return this.trained[n * this.modulus + m] === 1;
  }

  // The stored step before a time, and how far the time is from it to the next, 0 … 1.
  between(step) {
    let i = 0;
    while (i < this.steps.length - 2 && this.steps[i + 1] <= step) i++;
    const [a, b] = [log(this.steps[i]), log(this.steps[i + 1])];
    return [i, Math.min(Math.max((log(step) - a) / (b - a), 0), 1)];
  }

  // The network at a time, as everything that draws networks expects it.
  frame(step) {
    const key = Math.round(step * 100);
    if (this.made.has(key)) return this.made.get(key);
    const [i, t] = this.between(step);
    const { width: N, modulus: p, arity } = this;
    const B = arity + 1;
    const weights = new Float32Array(N * B * p);
    for (let block = 0; block < N * B; block++) {
      const [one, other] = [i * N * B + block, (i + 1) * N * B + block];
      const [a, b] = [(1 - t) * this.scales[one], t * this.scales[other]];
      for (let x = 0; x < p; x++) weights[block * p + x] = a * this.blocks[one * p + x] + b * this.blocks[other * p + x];
    }
    const { activation, hidden_scale, output_scale } = this;
    const frame = {
      ...{ step, arity, activation, hidden_scale, output_scale, modulus: p, length: p, width: N, shown: N },
      scales: new Float32Array(N * B).fill(1),
      blocks: weights,
      neurons: Uint32Array.from({ length: N }, (_, j) => j),
    };
    Object.assign(frame, fitWaves(frame));
    this.made.set(key, frame);
    if (this.made.size > 40) this.made.delete(this.made.keys().next().value);
    return frame;
  }

  // Lead of the right answer in every cell, in units of the largest at that time; positive where it is right.
  margin(step) {
    const [i, t] = this.between(step);
    const [one, other] = [i * this.cells, (i + 1) * this.cells];
    const found = new Float32Array(this.cells);
    for (let at = 0; at < this.cells; at++) found[at] = (1 - t) * this.margins[one + at] + t * this.margins[other + at];
    return found;
  }

  // Shares of right answers among the cells trained on and among the others.
  scores(margin) {
    const [right, all] = [[0, 0], [0, 0]];
    for (let at = 0; at < this.cells; at++) {
      all[this.trained[at]]++;
      if (margin[at] > 0) right[this.trained[at]]++;
    }
    return { train: right[1] / all[1], test: right[0] / all[0] };
  }

  // A measured curve at a time, on straight lines between its points.
  measure(name, step) {
    const { step: steps, [name]: values } = this.measured;
    let i = 0;
    while (i < steps.length - 2 && steps[i + 1] <= step) i++;
    const t = Math.min(Math.max((log(step) - log(steps[i])) / (log(steps[i + 1]) - log(steps[i])), 0), 1);
    return values[i] + t * (values[i + 1] - values[i]);
  }

  // The first measured step at which a curve is at least so high.
  first(name, threshold) {
    return this.measured.step[this.measured[name].findIndex((value) => value >= threshold)];
  }

  get memorized() {
    return this.first("train_accuracy", 0.99);
  }

  get grokked() {
    return this.first("test_accuracy", 0.99);
  }
}
