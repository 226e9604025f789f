// Weights that were never trained: four neurons for each frequency and a constant one, or fewer than that, drawn as a
// network while they are few.

import { prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { closedForm, fewNeurons } from "lab/closedform.js";
import { make, number } from "lab/dom.js";
import { answersOf, outputTable } from "lab/network.js";
import { drawNeurons } from "lab/pictures/neurons.js";
import { pair } from "lab/story/pair.js";
import { share, writeNumbers } from "lab/story/numbers.js";
import { Scene } from "lab/story/scene.js";

const FEW = 3; // networks of one, two and three neurons come before those with all four of a frequency
const DRAWN = 21; // neurons that are drawn as circles
const CHECK = 120; // milliseconds of rest before all sums are computed

export class FormulaScene extends Scene {
  constructor(id, replay) {
    super(id, "The network of the formula: its neurons and its outputs for the chosen sum");
    this.replay = replay;
    this.canvas.classList.add("tall");
    const most = (replay.modulus - 1) / 2;
    this.range = make("input", { type: "range", min: 0, max: FEW + most - 1, value: FEW, "aria-label": "Number of neurons", oninput: () => this.build() });
    this.says = make("p", { class: "reply" });
    this.figure.append(make("div", { class: "sliders" }, make("label", {}, make("span", {}, "neurons"), this.range)), this.says);
    this.build();
  }

  build() {
    const { modulus: p } = this.replay;
    const place = Number(this.range.value);
    const count = Math.max(1, place - FEW + 1);
    this.network = place < FEW ? fewNeurons(p, place + 1) : closedForm(p, Array.from({ length: count }, (_, i) => i + 1));
    this.range.setAttribute("aria-valuetext", this.counted);
    this.right = "…";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(count), CHECK);
    this.redraw();
  }

  get counted() {
    return this.network.width === 1 ? "one neuron" : `${this.network.width} neurons`;
  }

  check(count) {
    const { modulus: p } = this.replay;
    const table = outputTable(this.network);
    const { predictions, margins } = answersOf(table, p, (n, m) => (n + m) % p);
    const sum = (values) => values.reduce((a, b) => a + b, 0);
    const highest = margins.map((_, at) => table[at * p + ((Math.floor(at / p) + (at % p)) % p)]);
    const right = predictions.reduce((sum, q, at) => sum + Number(q === (Math.floor(at / p) + (at % p)) % p), 0);
    this.right = share(right / predictions.length);
    writeNumbers(this.replay, {
      formulaFrequencies: count === 1 ? "one frequency" : `${count} frequencies`,
      formulaWidth: this.counted,
      formulaAccuracy: this.right,
      formulaMargin: `${number((100 * sum(margins)) / sum(highest), 2)}\u00a0%`,
    });
    this.section.dataset.checked = this.network.width;
    this.redraw();
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
    const next = Math.max(...total.filter((_, q) => q !== right));
    let digits = 3; // as many as tell them apart
    while (digits < 12 && number(total[right], digits) === number(next, digits)) digits++;
    this.says.textContent = `With ${this.counted}, ${this.right} of all sums are right. ${pair.n} + ${pair.m} = ${right}: output ${number(total[right], digits)} there, at most ${number(next, digits)} elsewhere.${drawn ? " Lines are weights, purple above zero and green below; a neuron is as full as what it lets through." : ""}`;
  }
}
