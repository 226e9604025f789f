// The table of all sums, square by square, while time runs; a touched square is asked for.

import { cellAt, drawCells, withEdges } from "lab/pictures/cells.js";
import { grouped, make } from "lab/dom.js";
import { largest, outputs } from "lab/network.js";
import { share } from "lab/story/numbers.js";
import { ask, pair } from "lab/story/pair.js";
import { Scene } from "lab/story/scene.js";
import { Timeline } from "lab/story/timeline.js";

// A step and the shares that are right then, under a table.
export const scoreOf = (step, { train, test }) => [
  make("span", {}, "step ", make("b", {}, grouped(Math.round(step)))),
  make("span", { class: "train" }, "shown ", make("b", {}, share(train))),
  make("span", { class: "test" }, "never shown ", make("b", {}, share(test))),
];

export class TableScene extends Scene {
  constructor(id, replay, times) {
    super(id, "The table of all sums: orange squares are shown in training and right, blue ones unseen and right");
    this.replay = replay;
    this.canvas.classList.add("cells");
    this.canvas.addEventListener("pointerdown", (event) => ask(...cellAt(event, this.canvas, replay.modulus, replay.modulus)));
    this.score = make("p", { class: "score" });
    this.reply = make("p", { class: "reply" });
    this.timeline = new Timeline(replay, times, () => this.redraw());
    this.figure.append(withEdges(this.canvas, replay.modulus - 1), this.score, this.timeline.element, this.reply);
  }

  draw() {
    const { replay } = this;
    const { step } = this.timeline;
    const margin = replay.margin(step);
    drawCells(
      this.canvas,
      replay.modulus,
      replay.modulus,
      (at) => [replay.trained[at], margin[at]],
      [pair.n, pair.m],
    );
    this.score.replaceChildren(...scoreOf(step, replay.scores(margin)));
    const said = largest(outputs(replay.frame(step), [pair.n, pair.m]).total);
    const right = said === replay.answer(pair.n, pair.m);
    this.reply.replaceChildren(
      `${pair.n} + ${pair.m} = ? It says `,
      make("b", {}, said),
      `${right ? ", which is right" : `; right is ${replay.answer(pair.n, pair.m)}`}. This sum was ${replay.isTrained(pair.n, pair.m) ? "shown" : "never shown"} to it.`,
    );
  }
}
