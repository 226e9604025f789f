// Ask it: all outputs for a sum of the reader's choice, before training, when the examples were known by heart, at the end.

import { prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { grouped, make } from "lab/dom.js";
import { largest, outputs } from "lab/network.js";
import { drawOutputs } from "lab/pictures/outputs.js";
import { ask, pair } from "lab/story/pair.js";
import { Scene } from "lab/story/scene.js";

export class QuestionScene extends Scene {
  constructor(id, replay) {
    super(id, "The outputs of the network for the chosen sum at three times");
    this.replay = replay;
    this.canvas.classList.add("tall");
    const field = (name) => make("input", { type: "number", min: 0, max: replay.modulus - 1, "aria-label": name, value: pair[name],
      oninput: (event) => this.type(name, event.target.value) });
    this.fields = { n: field("n"), m: field("m") };
    const chance = make("button", { type: "button", onclick: () => {
      const any = () => Math.floor(Math.random() * replay.modulus);
      ask(any(), any());
    } }, "Another sum");
    this.said = make("p", { class: "reply", role: "status" });
    this.figure.prepend(make("div", { class: "asking" }, this.fields.n, make("span", {}, "+"), this.fields.m, make("span", {}, "= ?"), chance));
    this.figure.append(this.said);
  }

  type(name, text) {
    const value = Number(text);
    if (text === "" || !Number.isInteger(value) || value < 0 || value >= this.replay.modulus) return;
    ask(...Object.values({ ...pair, [name]: value }));
  }

  draw() {
    const { replay } = this;
    for (const name of ["n", "m"]) if (document.activeElement !== this.fields[name]) this.fields[name].value = pair[name];
    const right = replay.answer(pair.n, pair.m);
    const times = [[0, "before training"], [replay.memorized, "known by heart"], [replay.last, "at the end"]];
    const { context, width, height } = prepare(this.canvas);
    const tall = height / times.length;
    const guesses = times.map(([step, words], row) => {
      const { total } = outputs(replay.frame(step), [pair.n, pair.m]);
      const said = largest(total);
      context.font = `600 14px ${css("sans")}`;
      context.textAlign = "left";
      context.fillStyle = css("ink");
      context.fillText(`step ${grouped(step)}, ${words}: “${said}”`, 2, row * tall + 18);
      drawOutputs(context, [0, row * tall + 36, width, (row + 1) * tall - 2], total, right, said);
      return said;
    });
    const shown = replay.isTrained(pair.n, pair.m) ? "This sum was among its examples." : "This sum was not among its examples.";
    this.said.textContent = `${pair.n} + ${pair.m} is ${right} on this clock. It guessed ${guesses[0]}, then ${guesses[1]}, and at the end ${guesses[2]}. ${shown}`;
  }
}
