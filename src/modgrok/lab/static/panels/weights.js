// Panel 2: the two weight matrices beside their spectra, one row for every neuron.

import { cached, order } from "lab/frames.js";
import { heatmap } from "lab/canvas.js";
import { sample } from "lab/color.js";
import { choice, make } from "lab/dom.js";
import { weight } from "lab/network.js";
import { columnOrder } from "lab/tasktable.js";
import { Panel } from "lab/panel.js";
import { setView, state } from "lab/store.js";

export const lastFrame = () => cached(state.run.snapshots.at(-1));

// Draws the four pictures of one network; used for the trained one and for the closed form.
export function drawWeights(canvases, frame, rows) {
  const { arity: S, modulus: p } = frame;
  const columns = [];
  for (let s = 0; s < S; s++) for (const x of columnOrder(state.run, frame, s)) columns.push([s, x]);
  const readout = columnOrder(state.run, frame, S);
  const clip = (v) => (v < 0 ? 0 : v > 255 ? 255 : v);
  const [inputTop, outputTop] = largest(frame);
  const paint = (b, i, x, size) => clip(Math.round(127.5 + (127.5 * weight(frame, i, b, x)) / size));
  heatmap(
    canvases.w1,
    rows.length,
    S * p,
    "diverging",
    (r, c) => paint(columns[c][0], rows[r], columns[c][1], inputTop),
  );
  heatmap(canvases.w2, rows.length, p, "diverging", (r, c) => paint(S, rows[r], readout[c], outputTop));
  const F = frame.input_spectrum.length / frame.shown;
  heatmap(canvases.s1, rows.length, F, "sizes", (r, c) => frame.input_spectrum[rows[r] * F + c]);
  heatmap(canvases.s2, rows.length, F, "sizes", (r, c) => frame.output_spectrum[rows[r] * F + c]);
}

// The size that saturates the colors: twice the root mean square of each matrix.
function largest(frame) {
  const { arity: S, modulus: p } = frame;
  const sums = [0, 0];
  for (let i = 0; i < frame.shown; i += 4) {
    for (let b = 0; b <= S; b++) {
      const scale = frame.scales[i * (S + 1) + b];
      const start = (i * (S + 1) + b) * p;
      let squares = 0;
      for (let x = 0; x < p; x++) squares += frame.blocks[start + x] ** 2;
      sums[b === S ? 1 : 0] += (squares * scale * scale) / p / (b === S ? 1 : S);
    }
  }
  const count = Math.ceil(frame.shown / 4);
  return sums.map((sum) => 2 * Math.sqrt(sum / count) || 1);
}

export function weightCanvases(height) {
  const names = { w1: "W1, input weights", s1: "spectrum", w2: "W2, readout", s2: "spectrum" };
  const canvases = {};
  const grid = make("div", { class: "matrices", style: `--height:${height}px` });
  for (const [name, text] of Object.entries(names)) {
    canvases[name] = make("canvas", { role: "img", "aria-label": `${text}: one row for every neuron` });
    grid.append(make("figure", { class: name }, canvases[name], make("figcaption", {}, text)));
  }
  return { canvases, grid };
}

class Weights extends Panel {
  constructor() {
    super({
      id: "weights",
      title: "Weights and their spectra",
      redraw: "frame view",
      help: [
        "Every row is a neuron. W1 holds its weights on n and on m side by side, W2 its weight on every answer q. Green is negative, purple positive; colors saturate at twice the root mean square of the matrix. The spectra show which share of each row's power is at frequency 0, 1, 2, … (the square root of it).",
        "At first everything is noise. On the way to grokking most rows turn into waves of one frequency, one bright dot in their row of the spectra. Sorted by the frequency that neurons have at the end, the dots line up as a staircase, and you can see when it begins.",
        "The task's own coordinate orders n, m and q so that the task is a sum in it: powers of a primitive root for products, f1(n) and f2(m) for other functions. In the raw order the same weights may look like noise.",
      ],
    });
    this.sort = choice(
      "Order of neurons",
      [
        ["index", "index"],
        ["current", "current k", "Sorted by the frequency at this step"],
        ["final", "final k", "Sorted by the frequency at the last stored step"],
      ],
      state.view.sort,
      (key) => setView({ sort: key }),
    );
    this.coordinate = choice(
      "Coordinate",
      [["task", "task"], ["raw", "raw"]],
      state.view.coordinate,
      (key) => setView({ coordinate: key }),
    );
    this.coordinate.title = "The coordinate in which spectra, frequencies and phases are taken";
    this.options.append(this.coordinate, this.sort);
    const { canvases, grid } = weightCanvases(300);
    this.canvases = canvases;
    this.body.append(grid);
  }

  draw() {
    const { frame, view } = state;
    this.sort.show(view.sort);
    this.coordinate.show(view.coordinate);
    this.coordinate.hidden = !state.run.task.index || Boolean(state.run.coordinate);
    drawWeights(this.canvases, frame, order(frame, view.sort, lastFrame()));
    const F = Math.floor(frame.length / 2);
    this.key([sample("diverging", 0.08), "negative", "box"], [sample("diverging", 0.92), "positive", "box"], [
      sample("sizes", 0.9),
      `power at k = 0 … ${F}`,
      "box",
    ],
      [null, frame.shown < frame.width ? `${frame.shown} of ${frame.width} neurons` : `${frame.width} neurons`]);
  }

  csv() {
    const { frame } = state;
    const heads = [];
    for (let b = 0; b <= frame.arity; b++) for (let x = 0; x < frame.modulus; x++) heads.push(b < frame.arity ? `w_in_${b + 1}_${x}` : `w_out_${x}`);
    const lines = [["neuron", ...heads].join(",")];
    for (let i = 0; i < frame.shown; i++) {
      const row = [frame.neurons[i]];
      for (let b = 0; b <= frame.arity; b++) for (let x = 0; x < frame.modulus; x++) row.push(weight(frame, i, b, x).toPrecision(4));
      lines.push(row.join(","));
    }
    return `${lines.join("\n")}\n`;
  }
}

export const create = () => new Weights();
