// Time under a picture: a play button and a track, with both accuracy curves and the steps, that can be dragged.

import { css } from "lab/color.js";
import { line, prepare } from "lab/canvas.js";
import { grouped, make } from "lab/dom.js";
import { on } from "lab/store.js";

const FINE = 1000;
const REST = 1600; // milliseconds at the end before it begins again
const BELOW = 15; // pixels for the steps
const APART = 46; // pixels between two of them, at least
export const INSET = 8; // half of the thumb: where the track begins
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Timeline {
  // Plays from step `from` to step `to` in `seconds`, logarithmically, while its figure is in sight; one that begins at
  // a step `at` waits there until it is asked to.
  constructor(replay, { from = 0, to = replay.last, at = null, seconds = 9, label, curves = true }, moved) {
    Object.assign(this, { replay, from, to, seconds, label, moved, curves, playing: !still() && at === null, visible: false, before: null });
    this.button = make("button", { class: "round", type: "button", onclick: () => this.play(!this.playing) });
    this.canvas = make("canvas", { "aria-hidden": "true", class: curves ? "" : "steps" });
    this.range = make("input", { type: "range", min: 0, max: FINE, step: 1, "aria-label": label,
      oninput: () => { this.play(false); this.place = this.range.value / FINE; this.show(); } });
    this.element = make("div", { class: "timeline" }, this.button, make("div", { class: "track" }, this.canvas, this.range));
    this.place = at !== null ? this.placeOf(at) : still() ? 1 : 0; // Where nothing moves by itself, what the words tell of has happened.
    this.hold = 0;
    this.play(this.playing);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    on("theme", () => this.draw());
  }

  get step() {
    const [a, b] = [Math.log1p(this.from), Math.log1p(this.to)];
    return Math.expm1(a + this.place * (b - a));
  }

  placeOf(step) {
    const [a, b] = [Math.log1p(this.from), Math.log1p(this.to)];
    return Math.min(Math.max((Math.log1p(step) - a) / (b - a), 0), 1);
  }

  goTo(step) {
    this.play(false);
    this.place = this.placeOf(step);
    this.show();
  }

  play(playing) {
    this.playing = playing;
    this.before = null;
    this.button.textContent = playing ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", `${playing ? "Pause" : "Play"}: ${this.label}`);
    if (playing && this.place >= 1) this.place = 0;
    this.go();
  }

  setVisible(visible) {
    this.visible = visible;
    this.before = null;
    if (visible) this.show();
    this.go();
  }

  go() {
    if (!this.playing || !this.visible || this.ticking) return;
    this.ticking = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.ticking = false;
    if (!this.playing || !this.visible) return;
    const passed = this.before === null ? 0 : now - this.before;
    this.before = now;
    if (this.place < 1) {
      this.place = Math.min(1, this.place + passed / 1000 / this.seconds);
      this.hold = 0;
      this.show();
    } else if ((this.hold += passed) > REST) this.place = 0;
    this.go();
  }

  show() {
    this.range.value = Math.round(this.place * FINE);
    this.range.setAttribute("aria-valuetext", `step ${grouped(Math.round(this.step))}`);
    this.draw();
    this.moved(this.step);
  }

  draw() {
    if (!this.canvas.clientWidth) return;
    const { context, width, height } = prepare(this.canvas);
    const at = (place) => INSET + place * (width - 2 * INSET);
    this.writeSteps(context, width, height, (step) => at(this.placeOf(step)));
    if (!this.curves) return;
    const floor = height - BELOW;
    const { step: steps } = this.replay.measured;
    for (const [name, color] of [["test_accuracy", "test"], ["train_accuracy", "train"]]) {
      context.strokeStyle = css(color);
      context.lineWidth = 2;
      const points = steps
        .map((step, i) => [step, this.replay.measured[name][i]])
        .filter(([step]) => step >= this.from && step <= this.to * 1.02)
        .map(([step, value]) => [at(this.placeOf(step)), floor - 3 - value * (floor - 6)]);
      line(context, points);
    }
    context.fillStyle = css("ink");
    context.fillRect(at(this.place) - 1, 0, 2, floor);
  }

  // Both ends, and the powers of ten between them for which there is room.
  writeSteps(context, width, height, x) {
    const [from, to] = [Math.round(this.from), Math.round(this.to)];
    const written = [from, to];
    for (let step = 1; step < to; step *= 10) if (written.every((other) => Math.abs(x(step) - x(other)) > APART)) written.push(step);
    context.textBaseline = "alphabetic";
    for (const step of written) {
      context.textAlign = step === from ? "left" : step === to ? "right" : "center";
      context.fillText(`${step === from ? "step " : ""}${grouped(step)}`, step === from ? 0 : step === to ? width : x(step), height - 3);
    }
  }
}
