// Other functions: their curves, and the table of right and wrong at the end.

import { line, prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { choice, grouped, make, percent, pretty } from "lab/dom.js";
import { drawCells, withEdges } from "lab/pictures/cells.js";
import { share } from "lab/story/numbers.js";
import { Scene } from "lab/story/scene.js";

const bit = (bytes, at) => (bytes[at >> 3] >> (7 - (at & 7))) & 1;

export class LimitsScene extends Scene {
  constructor(id, replay) {
    super(id, "Which cells of the chosen function's table are right at the end");
    this.replay = replay;
    this.canvas.classList.add("cells");
    this.shown = replay.others.at(-1);
    this.curves = make("canvas", { class: "curves", role: "img", "aria-label": "Train and test accuracy of the chosen function" });
    this.says = make("p", { class: "reply", role: "status" });
    this.which = choice("Function", replay.others.map(({ task }) => [task, pretty(task)]), this.shown.task, (task) => {
      this.shown = replay.others.find((other) => other.task === task);
      this.which.show(task);
      this.redraw();
    });
    this.figure.prepend(this.which);
    this.figure.append(withEdges(this.canvas, replay.modulus - 1), this.curves, this.says);
  }

  draw() {
    const { replay, shown } = this;
    const { step: steps, train_accuracy: train, test_accuracy: test } = shown.curves;
    const [right, trained] = [replay[`right_${shown.task}`], replay[`trained_${shown.task}`]];
    drawCells(this.canvas, replay.modulus, replay.modulus, (at) => [bit(trained, at), bit(right, at) ? 1 : -1]);
    const { context, width, height } = prepare(this.curves);
    const x = (step) => 4 + (Math.log1p(step) / Math.log1p(steps.at(-1))) * (width - 8);
    context.strokeStyle = css("line");
    for (const share of [0, 1]) line(context, [[4, height - 6 - share * (height - 12)], [width - 4, height - 6 - share * (height - 12)]]);
    for (const [values, color] of [[test, "test"], [train, "train"]]) {
      context.strokeStyle = css(color);
      context.lineWidth = 2.5;
      line(context, values.map((value, i) => [x(steps[i]), height - 6 - value * (height - 12)]));
    }
    this.says.replaceChildren(
      `${pretty(shown.task)} mod ${replay.modulus}, ${shown.width} neurons, shown ${percent(shown.fraction, 0)} of the table. Above, what it has right at the end, and both shares over time. After ${grouped(steps.at(-1))} steps: `,
      make("b", { class: "train" }, `shown ${share(train.at(-1))}`),
      ", ",
      make("b", { class: "test" }, `never shown ${share(test.at(-1))}`),
      ".",
    );
  }
}
