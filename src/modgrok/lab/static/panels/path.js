// Panel: one pair followed through the network, its waves added one by one.

import { refusal } from "lab/activations.js";
import { prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { make } from "lab/dom.js";
import { order } from "lab/frames.js";
import { drawPath, rankedParts } from "lab/pictures/path.js";
import { Panel, toCsv } from "lab/panel.js";
import { state } from "lab/store.js";
import { taskTables } from "lab/tasktable.js";
import { lastFrame } from "lab/panels/weights.js";

const cell = () => state.view.cell ?? [1, 2];

class Path extends Panel {
  constructor() {
    super({
      id: "path",
      title: "One pair, followed through",
      redraw: "frame view",
      when: () => state.frame?.blocks && state.frame.arity === 2 && state.frame.shown === state.frame.width && taskTables(state.run) && !refusal(state.frame.activation),
      help: [
        "The pair (n, m) chosen in the table of answers. Every neuron looks up its weight on n and its weight on m, adds them, and applies the activation; then it pours the result into the outputs along its readout weights.",
        "Readouts of neurons with the same frequency are added to one wave. The slider adds these waves, the most helpful first: most are high at the right answer (shaded), all of them at many others, and only together do they single it out.",
      ],
    });
    this.canvas = make("canvas", { class: "path", role: "img", "aria-label": "Look-up, activation and outputs of the chosen pair" });
    this.count = make("input", { type: "range", min: 1, "aria-label": "Waves added", oninput: () => { this.all = Number(this.count.value) >= Number(this.count.max); this.update(); } });
    this.all = true;
    this.body.append(this.canvas, make("label", { class: "mini" }, "waves added", this.count));
  }

  waiting() {
    const { frame } = state;
    if (frame?.blocks && refusal(frame.activation)) return refusal(frame.activation);
    return frame && frame.shown < frame.width ? "This network is shown in part, and its outputs need all neurons." : super.waiting();
  }

  draw() {
    const { frame } = state;
    const [n, m] = cell();
    const p = frame.modulus;
    if (n >= p || m >= p) return;
    const right = taskTables(state.run).answers[n * p + m];
    const waves = rankedParts(frame, [n, m], right).ranked.length;
    this.count.max = waves;
    if (this.all) this.count.value = waves;
    const { context, width, height } = prepare(this.canvas);
    drawPath(context, width, height, {
      frame,
      right,
      inputs: [n, m],
      order: Array.from(order(frame, "final", lastFrame())),
      count: Number(this.count.value),
      words: {
        look: [`weights on n = ${n}, neuron by neuron`, `weights on m = ${m}`],
        square: `added, and ${frame.activation === "quadratic" ? "squared" : `then ${frame.activation}`}`,
        waves: (count, all) => `readouts by frequency: ${count} of ${all}`,
        sum: "their sum: the outputs",
      },
    });
    this.key([css("ink"), "the right answer", "box"]);
  }

  csv() {
    const [n, m] = cell();
    const { total, ranked } = rankedParts(state.frame, [n, m], taskTables(state.run).answers[n * state.frame.modulus + m]);
    const columns = Object.fromEntries(ranked.map(([k, part]) => [`frequency_${k}`, part]));
    return toCsv({ answer: Array.from(total, (_, q) => q), output: total, ...columns });
  }
}

export const create = () => new Path();
