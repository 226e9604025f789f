// The eraser: all but the strongest wave of every neuron fades under the finger while the table fills, and comes back on
// letting go. The same hand tries it on networks that have nothing to say, and with each list's own wave.

import { line, prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { byId, choice, make } from "lab/dom.js";
import { answersOf, outputTable, strongestWaves } from "lab/network.js";
import { drawCells, withEdges } from "lab/pictures/cells.js";
import { emit } from "lab/store.js";
import { share, writeNumbers } from "lab/story/numbers.js";
import { Scene } from "lab/story/scene.js";
import { scoreOf } from "lab/story/table.js";
import { still, Timeline } from "lab/story/timeline.js";

const FINE = 100;
const NODES = [0, 1 / 3, 2 / 3, 1];
const DRAIN = 700; // milliseconds in which all comes back
const SLOW = 5; // waves along a list that one still sees as such
const NETWORKS = [["sums", "trained on sums"], ["untrained", "untrained"], ["random", "trained on random answers"]];
const KEPT = [["neuron", "one wave for each neuron"], ["list", "one wave for each list"]];

export class EraserScene extends Scene {
  constructor(id, replay) {
    super(id, "The table of all sums while the eraser is at work: orange shown and right, blue never shown and right");
    Object.assign(this, { replay, erased: 0, network: "sums", kept: "neuron", held: false });
    const { frequency, explained } = replay.frame(replay.memorized);
    const slow = Array.from(frequency.keys()).filter((i) => frequency[i] <= SLOW);
    this.neuron = slow.reduce((best, i) => (explained[i] > explained[best] ? i : best), slow[0] ?? 0);
    this.canvas.classList.add("cells");
    this.lists = make("canvas", { class: "lists", role: "img", "aria-label": "The three lists of weights of one neuron" });
    this.score = make("p", { class: "score" });
    this.range = make("input", { type: "range", min: 0, max: FINE, value: 0, disabled: true, "aria-label": "Eraser",
      oninput: () => this.erase(this.range.value / FINE), onpointerup: () => this.release(), onpointercancel: () => this.release() });
    this.hold = make("button", { type: "button", disabled: true, "aria-pressed": "false", onclick: () => this.setHeld(!this.held) }, "Hold");
    this.timeline = new Timeline(replay, { seconds: 12, curves: false, label: "Time under the eraser", at: replay.memorized }, () => this.redraw());
    this.which = choice("Network", NETWORKS, this.network, (network) => this.take({ network }));
    this.what = choice("What the eraser leaves", KEPT, this.kept, (kept) => this.take({ kept }));
    this.more = make("div", { class: "trials", hidden: true },
      make("p", {}, make("span", { class: "above" }, "network"), this.which), make("p", {}, make("span", { class: "above" }, "the eraser leaves"), this.what));
    this.says = make("p", { class: "reply", role: "status" });
    this.figure.append(
      make("div", { class: "bench" }, withEdges(this.canvas, replay.modulus - 1), this.lists),
      this.score,
      make("div", { class: "rubber" }, make("b", { "aria-hidden": "true" }, "Eraser"), this.range, this.hold),
      this.timeline.element, this.more, this.says);
    for (const button of this.section.querySelectorAll("[data-guess]")) button.onclick = () => this.guess(button);
  }

  guess(button) {
    for (const other of this.section.querySelectorAll("[data-guess]")) other.setAttribute("aria-pressed", String(other === button));
    this.range.disabled = this.hold.disabled = false;
    byId("rub").hidden = false;
    setTimeout(() => this.writeTrials());
    this.redraw();
  }

  erase(amount) {
    this.erased = amount;
    this.range.value = Math.round(amount * FINE);
    if (amount >= 1 && byId("revealed").hidden) this.reveal();
    this.redraw();
  }

  print() {
    this.writeTrials();
    this.reveal();
    this.erase(1);
    this.draw();
  }

  reveal() {
    byId("revealed").hidden = this.more.hidden = false;
    emit("revealed");
  }

  setHeld(held) {
    this.held = held;
    this.hold.setAttribute("aria-pressed", String(held));
    if (held) this.erase(1);
    else this.release();
  }

  // What was erased comes back; keys do not let go, so that with them it stays.
  release() {
    if (this.held) return;
    const [start, began] = [this.erased, performance.now()];
    const move = (now) => {
      if (this.held || this.erased > start) return;
      this.erase(still() ? 0 : Math.max(0, start - Math.max(0, now - began) / DRAIN));
      if (this.erased > 0) requestAnimationFrame(move);
    };
    requestAnimationFrame(move);
  }

  // Another network, or another eraser: held, so that one sees at once what is left.
  take(choices) {
    Object.assign(this, choices);
    this.which.show(this.network);
    this.what.show(this.kept);
    if (choices.network) this.timeline.goTo(this.network === "untrained" ? 0 : this.of.memorized);
    this.setHeld(true);
  }

  get of() {
    return this.network === "random" ? this.replay.control : this.replay;
  }

  // The weights of a run at a step with so much erased.
  rubbed(run, step, own, amount) {
    const frame = run.frame(step);
    const key = `waves-${own}`;
    frame[key] ??= strongestWaves(frame, own);
    return { ...frame, blocks: frame.blocks.map((value, at) => value + amount * (frame[key][at] - value)) };
  }

  // Answers and margins with so much erased. Outputs are cubic in what is erased, squares times readouts, so that four
  // tables, kept while run and step stay, give all others.
  answers(run, step, own, amount) {
    const key = [run === this.replay, step, own].join();
    if (this.tables?.key !== key) this.tables = { key };
    const table = (t) => (this.tables[t] ??= outputTable(this.rubbed(run, step, own, t)));
    let found = amount === 1 && table(1);
    if (!found) {
      const parts = NODES.map(table);
      const [a, b, c, d] = NODES.map((t) => NODES.reduce((product, u) => (u === t ? product : (product * (amount - u)) / (t - u)), 1));
      found = parts[0].map((value, at) => a * value + b * parts[1][at] + c * parts[2][at] + d * parts[3][at]);
    }
    return answersOf(found, run.modulus, (n, m) => run.answer(n, m));
  }

  // The numbers of the prose: what the eraser leaves right, here and where there is nothing to find.
  writeTrials() {
    const { replay } = this;
    const { memorized, control, modulus: p } = replay;
    const after = (run, step, own = false) => this.answers(run, step, own, 1);
    const unseen = (found, run = replay) => share(run.scores(found.margins).test);
    const [untrained, random, lists, found] = [after(replay, 0), after(control, control.memorized), after(replay, memorized, true), after(replay, memorized)];
    const other = (f) => {
      let [right, all] = [0, 0];
      found.predictions.forEach((q, at) => {
        if (replay.trained[at]) return;
        all++;
        right += Number(q === f(Math.floor(at / p), at % p));
      });
      return share(right / all);
    };
    writeNumbers(replay, {
      erasedSums: unseen(found),
      erasedUntrained: unseen(untrained),
      erasedRandom: unseen(random, control),
      erasedLists: unseen(lists),
      erasedMinus: other((n, m) => (n - m + p) % p),
      erasedNext: other((n, m) => (n + m + 1) % p),
    });
  }

  draw() {
    const { of: run, erased, timeline } = this;
    const { step } = timeline;
    const own = this.kept === "list";
    const margins = erased > 0 ? this.answers(run, step, own, erased).margins : run.margin(step);
    drawCells(this.canvas, run.modulus, run.modulus, (at) => [run.trained[at], margins[at]]);
    const scores = run.scores(margins);
    this.score.replaceChildren(...scoreOf(step, scores));
    this.drawLists(this.rubbed(run, step, own, erased));
    this.range.setAttribute("aria-valuetext", `${Math.round(100 * erased)} % erased, ${share(scores.test)} of the sums never shown are right`);
    this.says.textContent = this.range.disabled
      ? "The eraser waits for your guess."
      : this.network === "random" ? "Orange: the random answers it was shown. Blue: where it answers n + m, unasked." : "";
  }

  drawLists(network) {
    const { context, width, height } = prepare(this.lists);
    const p = network.modulus;
    const i = this.neuron;
    const tall = height / 3;
    ["on n", "on m", "on the answer"].forEach((words, b) => {
      const values = Array.from(network.blocks.subarray((3 * i + b) * p, (3 * i + b + 1) * p));
      const most = Math.max(...values.map(Math.abs)) || 1;
      const [top, bottom] = [b * tall + 20, (b + 1) * tall - 6];
      const y = (value) => (top + bottom) / 2 - ((value / most) * (bottom - top)) / 2;
      context.font = `13px ${css("sans")}`;
      context.textAlign = "left";
      context.textBaseline = "alphabetic";
      context.fillStyle = css("muted");
      context.fillText(b ? `weights ${words}` : `neuron ${i}, weights ${words}`, 2, b * tall + 14);
      context.strokeStyle = css("line");
      context.lineWidth = 1;
      line(context, [[0, y(0)], [width, y(0)]]);
      context.strokeStyle = css("accent");
      context.lineWidth = 2;
      context.lineJoin = "round";
      line(context, values.map((value, x) => [2 + (x / (p - 1)) * (width - 4), y(value)]));
    });
  }
}
