// Panel 4: the sum of phases φ1 + φ2 − φ3 of every neuron, on a circle.

import { css } from "lab/color.js";
import { make } from "lab/dom.js";
import { drawCircle, phaseSentence } from "lab/pictures/phases.js";
import { Panel, toCsv } from "lab/panel.js";
import { state } from "lab/store.js";

class Circle extends Panel {
  constructor() {
    super({
      id: "circle",
      title: "Phases: φ1 + φ2 − φ3",
      help: [
        "Each dot is a neuron. Its waves on n and m have phases φ1 and φ2, its readout φ3, and the dot stands at the angle φ1 + φ2 − φ3; dots with equal angles pile up outwards. The color is the neuron's frequency.",
        "The closed form needs this angle to be 0 for every neuron: then all neurons of a frequency add up at the right answer and cancel elsewhere. Random weights scatter around the circle. They agree early, often before the training pairs are memorized and long before the test accuracy moves; afterwards the spread may widen again, through neurons that never become waves. The arrow points to the circular mean, and its length (1 at the circle) says how much they agree.",
        "The spread is the circular standard deviation √(−2 ln R), with R the length of the arrow.",
      ],
    });
    this.canvas = make(
      "canvas",
      { class: "square", role: "img", "aria-label": "Phase sums of all neurons on a circle" },
    );
    this.sentence = make("p", { class: "sentence centred", id: "phases" });
    this.body.append(this.canvas, this.sentence);
  }

  draw() {
    drawCircle(this.canvas, state.frame);
    this.sentence.textContent = phaseSentence(state.frame);
    this.key([css("faint"), "a neuron, colored by frequency", "dot"], [css("ink"), "circular mean"]);
  }

  csv() {
    const { frame } = state;
    return toCsv({ neuron: frame.neurons, frequency: frame.frequency, residual: frame.residual });
  }
}

export const create = () => new Circle();
