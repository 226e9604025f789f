// Weights that were never trained: four neurons for each frequency and a constant one, drawn as a network while they are few.

import { prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { closedForm } from "lab/closedform.js";
import { make, number, percent } from "lab/dom.js";
import { answersOf, outputTable } from "lab/network.js";
import { drawNeurons } from "lab/pictures/neurons.js";
import { pair } from "lab/story/pair.js";
import { writeNumbers } from "lab/story/numbers.js";
import { Scene } from "lab/story/scene.js";

const DRAWN = 21; // neurons that are drawn as circles
const CHECK = 120; // milliseconds of rest before all sums are computed

export class FormulaScene extends Scene {
  constructor(id, replay) {
    super(id, "The network of the formula: its neurons and its outputs for the chosen sum");
    this.replay = replay;
    this.canvas.classList.add("tall");
    const most = (replay.modulus - 1) / 2;
    this.range = make("input", { type: "range", min: 1, max: most, value: 1, "aria-label": "Number of frequencies", oninput: () => this.build() });
    this.says = make("p", { class: "reply" });
    this.figure.append(make("div", { class: "sliders" }, make("label", {}, make("span", {}, "frequencies"), this.range)), this.says);
    this.build();
  }

  build() {
    const { modulus: p } = this.replay;
    const count = Number(this.range.value);
    this.network = closedForm(p, Array.from({ length: count }, (_, i) => i + 1));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(count), CHECK);
    this.redraw();
  }

  check(count) {
    const { modulus: p } = this.replay;
    const { predictions, margins } = answersOf(outputTable(this.network), p, (n, m) => (n + m) % p);
    const right = predictions.reduce((sum, q, at) => sum + Number(q === (Math.floor(at / p) + (at % p)) % p), 0);
    writeNumbers(this.replay, {
      formulaFrequencies: count === 1 ? "one frequency" : `${count} frequencies`,
      formulaWidth: this.network.width,
      formulaAccuracy: percent(right / predictions.length, 0),
      formulaMargin: Number((margins.reduce((a, b) => a + b, 0) / margins.length).toPrecision(2)),
    });
    this.section.dataset.checked = count;
  }

  draw() {
    const { network, replay } = this;
    const { context, width, height } = prepare(this.canvas);
    const inputs = [pair.n, pair.m];
    const right = replay.answer(...inputs);
    const drawn = network.width <= DRAWN;
    if (!drawn) {
      context.fillStyle = css("muted");
      context.font = `14px ${css("sans")}`;
      context.fillText(`${network.width} neurons`, 4, 18);
    }
    const total = drawNeurons(context, width, height, { frame: network, inputs, right, drawn });
    this.says.textContent = `${pair.n} + ${pair.m} = ${right}: output ${number(total[right], 3)} there, at most ${number(Math.max(...total.filter((_, q) => q !== right)), 3)} elsewhere.${drawn ? " Lines are weights, purple above zero and green below; a neuron is as full as what it lets through." : ""}`;
  }
}
