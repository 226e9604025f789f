// Panel 1: loss and accuracy, with the steps at which the run memorized and grokked, and any other recorded curve.

import { StepChart } from "lab/chart.js";
import { css } from "lab/color.js";
import { compared } from "lab/compare.js";
import { make, number, percent } from "lab/dom.js";
import { isFresh, sentence, times } from "lab/outcome.js";
import { Panel, toCsv } from "lab/panel.js";
import { state } from "lab/store.js";

const OWN = new Set(["step", "train_accuracy", "test_accuracy", "train_loss", "test_loss"]);
const HEIGHT = { two: 348, three: 470 };

class Curves extends Panel {
  constructor() {
    super({
      id: "curves",
      title: "Loss and accuracy",
      redraw: "rows view compared",
      when: () => state.run?.rows.length,
      help: [
        "How well the network answers what it was trained on, and what it has never seen. Accuracy is the share of inputs whose largest output is the right answer; below it is the loss of both, on a logarithmic axis.",
        "A network memorizes when its train accuracy reaches the threshold (99 % unless set otherwise). It groks when the test accuracy does, often much later: the time between the two is the delay. Drag on the chart to move the clock.",
        "Where every batch is new there is no training set: orange is then the loss of the batch that a step has just seen.",
      ],
    });
    this.sentence = make("p", { class: "sentence", id: "times" });
    this.chart = new StepChart("Accuracy and loss over training steps; the numbers are in the CSV", HEIGHT.two);
    this.more = make("select", { "aria-label": "Another curve", onchange: () => this.update() });
    this.options.append(make("label", { class: "mini" }, "also draw", this.more));
    this.body.append(this.sentence, this.chart.element);
  }

  // The other curves of which this run has recorded values.
  fillMore(run) {
    const recorded = run.rows.flatMap((row) => Object.keys(row).filter((name) => row[name] != null));
    const names = [...new Set(recorded)].filter((name) => !OWN.has(name));
    if (names.join() === this.names) return;
    this.names = names.join();
    const kept = this.more.value;
    this.more.replaceChildren(...["", ...names].map((name) => make("option", { value: name }, name.replaceAll("_", " ") || "–")));
    this.more.value = names.includes(kept) ? kept : "";
  }

  draw() {
    const { run } = state;
    this.fillMore(run);
    const colors = { train: css("train"), test: css("test") };
    const offset = run.parent?.step ?? 0;
    const others = compared();
    const curve = (rows, name, rest, shift = 0) => ({ x: rows.map((row) => row.step + shift), y: rows.map((row) => row[name]), ...rest });
    const before = run.parent?.rows ?? [];
    const fresh = isFresh(run);
    const names = fresh ? { train: "the batch seen", test: "new examples" } : { train: "train", test: "test" };
    const measured = (which, what) => run.rows.some((row) => row[`${which}_${what}`] != null);
    const partsOf = (what) => ["train", "test"].filter((which) => !fresh || measured(which, what));
    const both = (what, parts = partsOf(what)) => [
      ...others.map(({ run: other, label, color, dash }) => curve(other.rows, `test_${what}`, { color, dash, name: label })),
      ...parts.filter(() => before.length).map((which) => curve(before, `${which}_${what}`, { color: css("faint") })),
      ...parts.map((which) => curve(run.rows, `${which}_${what}`, { color: colors[which], name: names[which] }, offset)),
    ];
    const tracks = [
      { title: "accuracy", range: [0, 1], write: (x) => percent(x, 0), curves: both("accuracy") },
      { title: `loss (${run.settings.loss === "mse" ? "MSE" : run.settings.loss.replaceAll("_", " ")})`, log: true, write: (x) => number(x, 3), curves: both("loss") },
    ];
    const extra = this.more.value;
    if (extra) {
      const values = run.rows.map((row) => row[extra]).filter((x) => x != null);
      const wide = Math.min(...values) > 0 && Math.max(...values) > 50 * Math.min(...values);
      tracks.push({
        title: extra.replaceAll("_", " "), log: wide, write: (x) => number(x, 3),
        curves: [...others.map(({ run: other, label, color, dash }) => curve(other.rows, extra, { color, dash, name: label })), curve(run.rows, extra, { color: css("accent"), name: extra }, offset)],
      });
    }
    this.chart.element.style.minHeight = `${tracks.length > 2 ? HEIGHT.three : HEIGHT.two}px`;
    const found = times(run);
    const marks = [["memorized", "train"], ["grokked", "test"]]
      .filter(([name]) => found[name] && !found[name].before)
      .map(([name, which]) => [found[name].step, fresh ? "learned" : name, colors[which], css(`${which}-ink`)]);
    if (run.parent) marks.push([offset, "fork", css("faint"), css("muted")]);
    this.chart.draw({ tracks, marks, offset });
    this.key(
      ...partsOf("loss").map((which) => [colors[which], names[which]]),
      ...(before.length ? [[css("faint"), "before the fork"]] : []),
      ...others.map(({ label, color }) => [color, `test, ${label}`, "dashed"]),
    );
    this.sentence.textContent = sentence(run);
  }

  csv() {
    const names = [...new Set(state.run.rows.flatMap((row) => Object.keys(row)))];
    return toCsv(Object.fromEntries(names.map((name) => [name, state.run.rows.map((row) => row[name])])));
  }
}

export const create = () => new Curves();
