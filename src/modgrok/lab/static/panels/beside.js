// Runs side by side on one clock: the table of the open run and of those compared with it, at the same step of training.

import { clock, nearest } from "lab/clock.js";
import { compared } from "lab/compare.js";
import { css } from "lab/color.js";
import { grouped, make, percent, taskName } from "lab/dom.js";
import { decode } from "lab/message.js";
import { Panel, toCsv } from "lab/panel.js";
import { drawTable } from "lab/panels/answers.js";
import { source } from "lab/source.js";
import { emit, rowAt, state } from "lab/store.js";
import { tableOrder, taskTables } from "lab/tasktable.js";

const MOST = 3; // tables beside the open run's
const CACHED = 200;
const others = () => compared().filter(({ run }) => run.panels.includes("answers") && run.snapshots.length).slice(0, MOST);

class Beside extends Panel {
  constructor() {
    super({
      id: "beside",
      title: "Side by side, on one clock",
      wide: true,
      redraw: "frame clock view compared beside",
      when: () => state.frame?.margins && taskTables(state.run),
      help: [
        "The tables of the open run and of the runs that are compared with it, at the clock's step or the stored step nearest to it. Choose what to compare in the list of runs.",
      ],
    });
    this.tables = make("div", { class: "beside" });
    this.body.append(this.tables);
    this.frames = new Map();
    this.asked = new Set();
  }

  get applies() {
    return Boolean(state.run?.panels?.includes("answers") && others().length);
  }

  // What is drawn of each run: its name, the step, its frame if it is here.
  get rows() {
    const label = `${taskName(state.run)}${state.base ? ", changed" : ""}`;
    const mine = { run: state.run, label, step: clock.step, frame: state.frame, scores: state.base && state.frame };
    return [mine, ...others().map(({ run, label }) => {
      const step = nearest(run.snapshots, clock.step);
      return { run, label, step, frame: this.frames.get(`${run.run}@${step}`) ?? this.load(run, step) };
    })];
  }

  // Asks for a step of another run, one at a time; until it comes the table stays as it is.
  async load(run, step) {
    if (this.asked.has(run.run)) return;
    this.asked.add(run.run);
    try {
      this.frames.set(`${run.run}@${step}`, decode(await source.frame(run.run, step, "raw", [])));
      if (this.frames.size > CACHED) this.frames.delete(this.frames.keys().next().value);
    } catch (error) {
      emit("problem", error.message);
    }
    this.asked.delete(run.run);
    emit("beside");
  }

  draw() {
    const { rows } = this;
    while (this.tables.children.length > rows.length) this.tables.lastChild.remove();
    while (this.tables.children.length < rows.length) {
      this.tables.append(make("figure", {}, make("figcaption"), make("canvas", { class: "table", role: "img", "aria-label": "Table of answers" }), make("p", { class: "caption" })));
    }
    rows.forEach(({ run, label, step, frame, scores }, i) => {
      const [title, canvas, words] = this.tables.children[i].children;
      const row = scores ?? rowAt(run, step);
      title.textContent = label;
      words.textContent = `step ${grouped(step)}: train ${percent(row?.train_accuracy)}, test ${percent(row?.test_accuracy)}`;
      if (frame?.margins) drawTable(canvas, frame, "answers", taskTables(run), null, tableOrder(run));
    });
    this.key([css("train"), "trained on, right", "box"], [css("test"), "unseen, right", "box"]);
  }

  csv() {
    const { rows } = this;
    const at = (name) => rows.map(({ run, step, scores }) => (scores ?? rowAt(run, step))?.[name]);
    return toCsv({ run: rows.map(({ run }) => run.run), step: rows.map(({ step }) => step), train_accuracy: at("train_accuracy"), test_accuracy: at("test_accuracy") });
  }
}

export const create = () => new Beside();
