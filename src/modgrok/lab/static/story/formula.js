// Weights that were never trained: four neurons for each frequency and a constant one, drawn as a network while they are few.

import { line, prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { closedForm } from "lab/closedform.js";
import { make, number, percent } from "lab/dom.js";
import { answerTable, hidden, outputs, weight } from "lab/network.js";
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
    const { predictions, margins } = answerTable(this.network, (n, m) => (n + m) % p);
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
    const units = hidden(network, inputs);
    const { total } = outputs(network, inputs);
    const p = replay.modulus;
    const x = (q) => ((q + 0.5) / p) * width;
    const floor = height - 20;
    const drawn = network.width <= DRAWN;
    const room = drawn ? height * 0.36 : height * 0.62;
    const [low, high] = [Math.min(0, ...total), Math.max(...total)];
    const y = (value) => floor - ((value - low) / (high - low)) * room;
    if (drawn) this.drawNeurons(context, width, height, units, x(right), y(total[right]));
    else {
      context.fillStyle = css("muted");
      context.font = `14px ${css("sans")}`;
      context.fillText(`${network.width} neurons`, 4, 18);
    }
    total.forEach((value, q) => {
      context.fillStyle = q === right ? css("test") : css("faint");
      context.fillRect(x(q) - width / p / 2, Math.min(y(value), y(0)), Math.max(1, width / p - 1), Math.max(1, Math.abs(y(value) - y(0))));
    });
    context.font = `12px ${css("sans")}`;
    context.textAlign = "center";
    context.fillStyle = css("test");
    context.fillText(String(right), Math.min(Math.max(x(right), 8), width - 8), height - 5);
    this.says.textContent = `${pair.n} + ${pair.m} = ${right}: output ${number(total[right], 3)} there, at most ${number(Math.max(...total.filter((_, q) => q !== right)), 3)} elsewhere.`;
  }

  drawNeurons(context, width, height, units, goal, top) {
    const { network } = this;
    const N = network.width;
    const at = (i) => ((i + 0.5) / N) * width;
    const [inputY, neuronY] = [26, height * 0.33];
    const radius = Math.min(15, width / N / 2.6);
    const places = [width * 0.3, width * 0.7];
    const colorOf = (i) => (network.frequency[i] ? frequencyColor(network.frequency[i], network.length) : css("muted"));
    for (let i = 0; i < N; i++) {
      [pair.n, pair.m].forEach((value, s) => {
        const w = weight(network, i, s, value);
        context.strokeStyle = w < 0 ? css("negative") : css("positive");
        context.lineWidth = 0.5 + 3 * Math.abs(w);
        line(context, [[places[s], inputY], [at(i), neuronY]]);
      });
      context.strokeStyle = colorOf(i);
      context.lineWidth = 0.5 + 2.2 * Math.sqrt(units[i]);
      context.globalAlpha = 0.8;
      line(context, [[at(i), neuronY], [goal, top]]);
      context.globalAlpha = 1;
    }
    for (let i = 0; i < N; i++) {
      context.fillStyle = css("panel");
      context.strokeStyle = colorOf(i);
      context.lineWidth = 2;
      context.beginPath();
      context.arc(at(i), neuronY, radius, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      context.fillStyle = colorOf(i);
      context.beginPath();
      context.arc(at(i), neuronY, radius * Math.min(1, Math.sqrt(units[i]) / 2), 0, 2 * Math.PI);
      context.fill();
    }
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 15px ${css("sans")}`;
    [pair.n, pair.m].forEach((value, s) => {
      context.fillStyle = css("ink");
      context.beginPath();
      context.arc(places[s], inputY, 20, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = css("panel");
      context.fillText(String(value), places[s], inputY + 1);
    });
    context.textBaseline = "alphabetic";
  }
}
