// What the accuracy hides: curves over the whole run, and below them the phases and the purity of the waves.

import { dot, line, prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { grouped, number, percent } from "lab/dom.js";
import { on } from "lab/store.js";
import { Scene } from "lab/story/scene.js";
import { INSET, Timeline } from "lab/story/timeline.js";

const LEFT = 52 + INSET; // where the track below begins, right of its button

export class SilenceScene extends Scene {
  constructor(id, replay) {
    super(id, "Accuracy over time, and below it the spread of the phases and the share of pure waves");
    this.replay = replay;
    this.revealed = false;
    this.canvas.classList.add("tall");
    this.timeline = new Timeline(replay, { seconds: 12, curves: false, label: "Time of the silence" }, () => this.redraw());
    this.figure.append(this.timeline.element);
    on("revealed", () => {
      this.revealed = true;
      this.redraw();
    });
  }

  draw() {
    const { replay, timeline, canvas } = this;
    const { context, width, height } = prepare(canvas);
    const { measured } = replay;
    const at = (step) => LEFT + timeline.placeOf(step) * (width - LEFT - INSET);
    const now = timeline.step;
    const widest = Math.max(...measured.spread);
    const tracks = [
      {
        title: "answers right", room: 0.42, write: (x) => percent(x, 0), top: 1,
        curves: [["test_accuracy", "test", "never shown"], ["train_accuracy", "train", "shown"],
          ...(this.revealed ? [["waves_only", "waves", "never shown, eraser held"]] : [])],
      },
      { title: "how far the phases disagree", room: 0.29, write: (x) => `${number(x, 2)} rad`, curves: [["spread", "accent", ""]], top: widest },
      {
        title: "made of one wave", room: 0.29, write: (x) => percent(x, 0), top: 1,
        curves: [["explained", "accent", "the average neuron"], ["pure", "muted", `neurons at least ${percent(replay.pure, 0)} one wave`]],
      },
    ];
    const marks = [[replay.memorized, "by heart"], [replay.grokked, "understood"]];
    context.strokeStyle = css("faint");
    context.setLineDash([3, 4]);
    for (const [step] of marks) line(context, [[at(step), 22], [at(step), height - 16]]);
    context.setLineDash([]);
    context.fillStyle = css("ink");
    context.fillRect(at(now) - 0.75, 22, 1.5, height - 38);
    let top = 0;
    for (const track of tracks) {
      const lines = this.writeLegend(context, width, top, track, now);
      const bottom = top + track.room * height - 16;
      const begin = top + 10 + 16 * lines;
      const y = (value) => bottom - (value / track.top) * (bottom - begin);
      context.strokeStyle = css("line");
      context.fillStyle = css("muted");
      context.font = `12px ${css("sans")}`;
      context.lineWidth = 1;
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (const value of [0, track.top]) {
        line(context, [[LEFT, y(value)], [width - INSET, y(value)]]);
        context.fillText(value ? track.write(value) : "0", LEFT - 6, y(value));
      }
      context.textBaseline = "alphabetic";
      for (const [name, color] of track.curves) {
        context.strokeStyle = context.fillStyle = css(color);
        context.lineWidth = 2.5;
        line(context, measured.step.map((step, i) => [at(step), y(measured[name][i])]));
        dot(context, at(now), y(replay.measure(name, now)), 4.5);
      }
      top = bottom + 16;
    }
    context.font = `12px ${css("sans")}`;
    context.fillStyle = css("muted");
    context.textAlign = "center";
    for (const [step, words] of marks) context.fillText(`${words}, ${grouped(step)}`, Math.min(at(step), width - 60), height - 4);
  }

  // The title of a track and what its curves say now, in as many lines as they need.
  writeLegend(context, width, top, track, now) {
    let [x, lines] = [LEFT, 1];
    const write = (text, color, weight) => {
      context.font = `${weight} 13px ${css("sans")}`;
      const size = context.measureText(text).width;
      if (x + size > width) [x, lines] = [LEFT, lines + 1];
      context.fillStyle = css("page"); // no curve and no cursor crosses a word
      context.fillRect(x - 3, top + 16 * lines - 14, size + 6, 16);
      context.fillStyle = css(color);
      context.fillText(text, x, top + 16 * lines - 2);
      x += size + 12;
    };
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    write(track.title, "ink", 600);
    for (const [name, color, words] of track.curves) {
      const ink = { test: "test-ink", train: "train-ink" }[color] ?? color;
      write(`${words} ${track.write(this.replay.measure(name, now))}`, ink, 400);
    }
    return lines;
  }
}
