// One neuron's weights turning from noise into waves, in plain order or unwrapped; a strip of all neurons to choose from.

import { prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { grouped, make } from "lab/dom.js";
import { weight } from "lab/network.js";
import { drawWave } from "lab/pictures/wave.js";
import { emit, on } from "lab/store.js";
import { share, writeNumbers } from "lab/story/numbers.js";
import { Scene } from "lab/story/scene.js";
import { still, Timeline } from "lab/story/timeline.js";

const STRIP = 34;
const TURNING = 700; // milliseconds of unwrapping

export const chosen = { neuron: 0 };

// Neurons by their frequency at the end, those that never became waves last.
export function sorted(replay) {
  const frame = replay.frame(replay.last);
  const pure = (i) => frame.explained[i] > replay.pure;
  return Array.from(frame.neurons).sort((a, b) => pure(b) - pure(a) || frame.frequency[a] - frame.frequency[b] || a - b);
}

// A neuron whose waves one can count.
export function startAt(replay) {
  const end = replay.frame(replay.last);
  chosen.neuron = sorted(replay).find((i) => end.frequency[i] >= 4) ?? 0;
}

export class WavesScene extends Scene {
  constructor(id, replay) {
    super(id, "The weights of one neuron on n, on m and of its readout, with their waves");
    this.replay = replay;
    this.canvas.classList.add("tall");
    this.order = sorted(replay);
    this.unwrapped = 0;
    this.strip = make("canvas", { class: "strip", role: "img", "aria-label": "All neurons, colored by frequency" });
    this.strip.addEventListener("pointerdown", (event) => {
      const place = Math.floor((event.offsetX / this.strip.clientWidth) * replay.width);
      this.number.value = place;
      this.choose(this.order[Math.min(Math.max(place, 0), replay.width - 1)]);
    });
    this.number = make("input", { type: "range", min: 0, max: replay.width - 1, value: this.order.indexOf(chosen.neuron), "aria-label": "Neuron, ordered by frequency",
      oninput: () => this.choose(this.order[Number(this.number.value)]) });
    this.wrap = make("button", { type: "button", "aria-pressed": "false", onclick: () => this.turn() }, "Unwrap the circle");
    this.says = make("p", { class: "reply" });
    this.timeline = new Timeline(replay, { seconds: 10, label: "Time of the waves" }, () => this.redraw());
    const title = make("p", { class: "above" }, `all ${replay.width} neurons, ordered and colored by frequency, the clearer the more they are one wave`);
    this.figure.prepend(make("div", { class: "asking" }, this.wrap));
    this.figure.append(this.timeline.element, title, this.strip, this.number, this.says);
    on("neuron", () => this.redraw());
    this.choose(chosen.neuron);
  }

  choose(neuron) {
    chosen.neuron = neuron;
    const { frequency } = this.replay.frame(this.replay.last);
    writeNumbers(this.replay, { neuron: grouped(neuron), frequency: frequency[neuron] });
    emit("neuron");
  }

  turn() {
    const goal = this.wrap.getAttribute("aria-pressed") === "true" ? 0 : 1;
    if (goal) this.timeline.goTo(this.replay.last); // where there is a hump to see
    this.wrap.setAttribute("aria-pressed", String(goal === 1));
    const [start, began] = [this.unwrapped, performance.now()];
    const move = (now) => {
      const t = still() ? 1 : Math.min(1, (now - began) / TURNING);
      this.unwrapped = start + (goal - start) * (t * t * (3 - 2 * t));
      this.redraw();
      if (t < 1) requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
  }

  draw() {
    const { replay } = this;
    const frame = replay.frame(this.timeline.step);
    const end = replay.frame(replay.last);
    const i = chosen.neuron;
    const { context, width, height } = prepare(this.canvas);
    const tall = height / 3;
    const k = end.frequency[i];
    const places = (x) => (this.unwrapped > 0.5 ? `in the order of ${k}·${x}` : `from 0 to ${replay.modulus - 1}`);
    [`weights on n, ${places("n")}`, `weights on m, ${places("m")}`, `weights on the answers q, ${places("q")}`].forEach((text, b) => {
      const values = Array.from({ length: replay.modulus }, (_, x) => weight(frame, i, b, x));
      context.font = `600 13px ${css("sans")}`;
      context.textAlign = "left";
      context.fillStyle = css("ink");
      context.fillText(text, 4, b * tall + 14);
      drawWave(context, [4, b * tall + 22, width - 4, (b + 1) * tall - 8], {
        values,
        k,
        length: replay.modulus,
        amplitude: frame.frequency[i] === k ? frame.amplitudes[3 * i + b] : 0,
        phase: frame.phases[3 * i + b],
        unwrapped: this.unwrapped,
        top: 1.05 * Math.max(...values.map(Math.abs)),
      });
    });
    this.drawStrip(frame);
    this.says.textContent = `Step ${grouped(Math.round(this.timeline.step))}: one wave explains ${share(frame.explained[i])} of neuron ${i}.`;
  }

  drawStrip(frame) {
    const { context, width } = prepare(this.strip);
    const size = width / this.order.length;
    this.order.forEach((i, place) => {
      context.globalAlpha = 0.1 + 0.9 * frame.explained[i];
      context.fillStyle = frequencyColor(frame.frequency[i], frame.length);
      context.fillRect(place * size, 4, Math.max(1, size - 0.5), STRIP - 12);
    });
    context.globalAlpha = 1;
    context.fillStyle = css("ink");
    context.fillRect((this.order.indexOf(chosen.neuron) + 0.5) * size - 1.5, 0, 3, STRIP - 4);
  }
}
