// The three clocks of a neuron, turned by n and m, and the phase sums of all neurons over time.

import { grouped, make } from "lab/dom.js";
import { phasesAt } from "lab/network.js";
import { circular, drawCircle, phaseSentence } from "lab/pictures/phases.js";
import { drawDials } from "lab/pictures/dials.js";
import { on } from "lab/store.js";
import { ask, pair } from "lab/story/pair.js";
import { Scene } from "lab/story/scene.js";
import { Timeline } from "lab/story/timeline.js";
import { chosen } from "lab/story/waves.js";

export class PhasesScene extends Scene {
  constructor(id, replay) {
    super(id, "Three clocks: n turns the first hand, m the second, and the third points at the answer");
    this.replay = replay;
    this.canvas.classList.add("dials");
    const slider = (name) => make("input", { type: "range", min: 0, max: replay.modulus - 1, value: pair[name], "aria-label": name,
      oninput: (event) => this.timeline.play(false) ?? ask(...Object.values({ ...pair, [name]: Number(event.target.value) })) });
    this.sliders = { n: slider("n"), m: slider("m") };
    this.circle = make("canvas", { class: "circle", role: "img", "aria-label": "Phase sums of all neurons on a circle" });
    this.says = make("p", { class: "reply" });
    this.timeline = new Timeline(replay, { seconds: 10, label: "Time of the phases" }, () => this.redraw());
    const row = (name) => make("label", {}, make("span", {}, name), this.sliders[name]);
    const title = make("p", { class: "above" }, "φ1 + φ2 − φ3 of every neuron; the hand in the middle is longer the more they agree");
    this.figure.append(make("div", { class: "sliders" }, row("n"), row("m")), title, this.circle, this.timeline.element, this.says);
    on("neuron", () => this.redraw());
  }

  draw() {
    const { replay } = this;
    const end = replay.frame(replay.last);
    const frame = replay.frame(this.timeline.step);
    const i = chosen.neuron;
    for (const name of ["n", "m"]) this.sliders[name].value = pair[name];
    drawDials(this.canvas, {
      ...pair,
      k: end.frequency[i],
      length: replay.modulus,
      phases: phasesAt(frame, i, end.frequency[i]),
      right: replay.answer(pair.n, pair.m),
    });
    const now = { ...frame, ...circular(frame.residual) };
    drawCircle(this.circle, now);
    this.says.textContent = `Step ${grouped(Math.round(this.timeline.step))}. Clocks: neuron ${i}, of frequency ${end.frequency[i]}. Circle: all neurons, ${phaseSentence(now)}.`;
  }
}
