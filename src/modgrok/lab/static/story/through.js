// One sum followed through the trained network, its waves added one by one.

import { prepare } from "lab/canvas.js";
import { make } from "lab/dom.js";
import { drawPath, rankedParts } from "lab/pictures/path.js";
import { pair } from "lab/story/pair.js";
import { Scene } from "lab/story/scene.js";
import { still } from "lab/story/timeline.js";
import { sorted } from "lab/story/waves.js";

const PACE = 260; // milliseconds for a wave

export class ThroughScene extends Scene {
  constructor(id, replay) {
    super(id, "The chosen sum in every neuron: look-up, square, and waves that add up to a spike");
    this.replay = replay;
    this.canvas.classList.add("taller");
    this.order = sorted(replay);
    this.waves = rankedParts(replay.frame(replay.last), [pair.n, pair.m], replay.answer(pair.n, pair.m)).ranked.length;
    this.count = still() ? this.waves : 1;
    this.range = make("input", { type: "range", min: 1, max: this.waves, value: this.count, "aria-label": "Waves added",
      oninput: () => { this.stop(); this.count = Number(this.range.value); this.redraw(); } });
    this.button = make("button", { type: "button", class: "round", "aria-label": "Add waves one by one", onclick: () => (this.timer ? this.stop() : this.start()) }, "▶");
    this.figure.append(make("div", { class: "timeline" }, this.button, make("div", { class: "track" }, this.range)));
    this.started = still();
  }

  print() {
    this.stop();
    this.started = true;
    this.count = this.waves;
    this.draw();
  }

  start() {
    if (this.count >= this.waves) this.count = 0;
    this.button.textContent = "❚❚";
    this.timer = setInterval(() => {
      this.count++;
      if (this.count >= this.waves) this.stop();
      this.redraw();
    }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = "▶";
  }

  draw() {
    if (!this.started) {
      this.started = true;
      this.start();
    }
    const { replay } = this;
    this.range.value = this.count;
    const { context, width, height } = prepare(this.canvas);
    drawPath(context, width, height, {
      frame: replay.frame(replay.last),
      inputs: [pair.n, pair.m],
      right: replay.answer(pair.n, pair.m),
      order: this.order,
      count: this.count,
      words: {
        look: [`weights of all ${replay.width} neurons on ${pair.n}`, `their weights on ${pair.m}`],
        square: "the two added, and squared",
        waves: (count, all) => `readout waves, by frequency: ${count} of ${all}`,
        sum: `their sum: the outputs for the answers 0 … ${replay.modulus - 1}`,
      },
    });
  }
}
