// The three clocks of a neuron, turned by n and m: first as if all began at the top, then with the phases that training gave
// them, and the phase sums of all neurons over time.

import { grouped, make } from "lab/dom.js";
import { phasesAt } from "lab/network.js";
import { circular, drawCircle, phaseSentence } from "lab/pictures/phases.js";
import { drawDials } from "lab/pictures/dials.js";
import { on } from "lab/store.js";
import { ask, pair } from "lab/story/pair.js";
import { Scene } from "lab/story/scene.js";
import { Timeline } from "lab/story/timeline.js";
import { chosen } from "lab/story/waves.js";

// Clocks that begin at the top.
export class TurningScene extends Scene {
  constructor(id, replay, label = "Two clocks turned by n and m, and a third whose hand turns by both and points at n + m") {
    super(id, label);
    this.replay = replay;
    this.canvas.classList.add("dials");
    const slider = (name) => make("input", { type: "range", min: 0, max: replay.modulus - 1, value: pair[name], "aria-label": name,
      oninput: (event) => this.turn(name, Number(event.target.value)) });
    this.sliders = { n: slider("n"), m: slider("m") };
    const row = (name) => make("label", {}, make("span", {}, name), this.sliders[name]);
    this.figure.append(make("div", { class: "sliders" }, row("n"), row("m")));
    on("neuron", () => this.redraw());
  }

  turn(name, value) {
    ask(...Object.values({ ...pair, [name]: value }));
  }

  draw(phases = null) {
    const { replay } = this;
    for (const name of ["n", "m"]) this.sliders[name].value = pair[name];
    const k = replay.frame(replay.last).frequency[chosen.neuron];
    drawDials(this.canvas, { ...pair, k, length: replay.modulus, phases, right: replay.answer(pair.n, pair.m) });
    return k;
  }
}

export class PhasesScene extends TurningScene {
  constructor(id, replay) {
    super(id, replay, "Three clocks with their phases: n turns the first hand, m the second, and the third points at the answer");
    this.circle = make("canvas", { class: "circle", role: "img", "aria-label": "Phase sums of all neurons on a circle" });
    this.says = make("p", { class: "reply" });
    this.timeline = new Timeline(replay, { seconds: 10, label: "Time of the phases" }, () => this.redraw());
    const title = make("p", { class: "above" }, "φ1 + φ2 − φ3 of every neuron; the hand in the middle is longer the more they agree");
    this.figure.append(title, this.circle, this.timeline.element, this.says);
  }

  turn(name, value) {
    this.timeline.play(false);
    super.turn(name, value);
  }

  draw() {
    const { replay, timeline } = this;
    const frame = replay.frame(timeline.step);
    const i = chosen.neuron;
    const k = super.draw(phasesAt(frame, i, replay.frame(replay.last).frequency[i]));
    const now = { ...frame, ...circular(frame.residual) };
    drawCircle(this.circle, now);
    this.says.textContent = `Step ${grouped(Math.round(timeline.step))}. Clocks: neuron ${i}, of frequency ${k}. Circle: all neurons, ${phaseSentence(now)}.`;
  }
}
