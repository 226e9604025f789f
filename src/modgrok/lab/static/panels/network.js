// Panel: the network itself, drawn while its neurons are few, at the pair chosen in the table.

import { refusal } from "lab/activations.js";
import { prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { make, number } from "lab/dom.js";
import { order } from "lab/frames.js";
import { hidden, largest, weight } from "lab/network.js";
import { drawNeurons } from "lab/pictures/neurons.js";
import { Panel, toCsv } from "lab/panel.js";
import { state } from "lab/store.js";
import { taskTables } from "lab/tasktable.js";

const DRAWN = 32; // neurons that are told apart as circles

const cell = () => state.view.cell ?? [1, 2];

class Network extends Panel {
  constructor() {
    super({
      id: "network",
      title: "The network",
      redraw: "frame view",
      when: () => state.frame?.blocks && taskTables(state.run) && !refusal(state.frame.activation),
      help: [
        "The whole network at the pair (n, m) chosen in the table of answers: the two numbers, every neuron, and all outputs. A line from a number to a neuron is the weight that the neuron looks up, purple if positive, green if negative, as thick as it is large.",
        "A neuron adds its two weights and applies the activation. How much comes out fills its circle, in the color of its frequency, and is poured into all outputs along its readout; the line to the right answer stands for them. In What if …, swap in one frequency to see that five neurons are enough for n + m.",
      ],
    });
    this.canvas = make("canvas", { class: "path", role: "img", "aria-label": "Neurons and outputs at the chosen pair" });
    this.sentence = make("p", { class: "sentence" });
    this.body.append(this.canvas, this.sentence);
  }

  get applies() {
    return super.applies && state.frame?.arity === 2 && state.frame.width <= DRAWN;
  }

  draw() {
    const { frame } = state;
    const [n, m] = cell();
    const p = frame.modulus;
    if (n >= p || m >= p) return;
    const right = taskTables(state.run).answers[n * p + m];
    const { context, width, height } = prepare(this.canvas);
    const total = drawNeurons(context, width, height, { frame, inputs: [n, m], right, order: Array.from(order(frame, "current")) });
    this.sentence.textContent = `${frame.width} neurons at (n, m) = (${n}, ${m}): the answer is ${right}, the network says ${largest(total)}. Output at ${right}: ${number(total[right], 3)}.`;
    this.key([css("positive"), "positive weight"], [css("negative"), "negative weight"], [css("ink"), "the right answer", "box"]);
  }

  csv() {
    const { frame } = state;
    const units = hidden(frame, cell());
    const looked = cell().map((value, s) => Array.from({ length: frame.shown }, (_, i) => weight(frame, i, s, value)));
    return toCsv({ neuron: frame.neurons, frequency: frame.frequency, weight_n: looked[0], weight_m: looked[1], activation: units });
  }
}

export const create = () => new Network();
