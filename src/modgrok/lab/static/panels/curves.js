// Panel 1: loss and accuracy, with the steps at which the run memorized and grokked.

import { StepChart } from "lab/chart.js";
import { css } from "lab/color.js";
import { grouped, make, number } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { firstReached, state } from "lab/store.js";

const CURVES = ["train_accuracy", "test_accuracy", "train_loss", "test_loss"];
const PALE = ["#8f8f8f", "#7b6ca8", "#5f8f6a", "#a8686c", "#a08a4a"];

class Curves extends Panel {
  constructor() {
    super({
      id: "curves",
      title: "Loss and accuracy",
      redraw: "rows view compared",
      when: () => state.run?.rows.length,
      help: [
        "How well the network answers the pairs it was trained on, and the pairs it has never seen. Accuracy is the share of pairs whose largest output is the right answer; below it is the loss of both, on a logarithmic axis.",
        "A network memorizes when its train accuracy reaches the threshold (99 % unless set otherwise). It groks when the test accuracy does, often much later: the time between the two is the delay. Drag on the chart to move the clock.",
      ],
    });
    this.sentence = make("p", { class: "sentence", id: "times" });
    this.chart = new StepChart("Accuracy and loss over training steps; the numbers are in the CSV", 348);
    this.body.append(this.sentence, this.chart.element);
  }

  draw() {
    const { run } = state;
    const column = (rows, name) => rows.map((row) => row[name]);
    const steps = column(run.rows, "step");
    const colors = { train: css("train"), test: css("test") };
    const traces = [];
    [...state.compared.values()].forEach((other, i) => {
      const x = column(other.rows, "step");
      const line = { color: PALE[i % PALE.length], width: 1.2, dash: "dot" };
      traces.push({ x, y: column(other.rows, "test_accuracy"), line, name: `test, ${other.run}` });
      traces.push({ x, y: column(other.rows, "test_loss"), line, yaxis: "y2", name: `test, ${other.run}` });
    });
    for (const which of ["train", "test"]) {
      const line = { color: colors[which], width: 2 };
      traces.push({ x: steps, y: column(run.rows, `${which}_accuracy`), line, name: which, hovertemplate: "%{y:.1%}" });
      traces.push({
        x: steps,
        y: column(run.rows, `${which}_loss`),
        line,
        yaxis: "y2",
        name: which,
        hovertemplate: "%{y:.3g}",
      });
    }
    const marks = [["memorized", "train"], ["grokked", "test"]]
      .map(([name, which]) => [name, which, firstReached(run, `${which}_accuracy`)])
      .filter(([, , step]) => step != null);
    const shapes = marks.map(([, which, step]) => ({
      type: "line", x0: step, x1: step, yref: "paper", y0: 0, y1: 1, line: { color: colors[which], width: 1, dash: "dot" },
    }));
    const notes = marks.map(([name, which, step], i) => ({
      x: step, yref: "paper", y: 0.5, yanchor: "middle", text: name, showarrow: false, xanchor: i ? "left" : "right", xshift: i ? 4 : -4, font: { color: colors[which] },
    }));
    const losses = run.rows.flatMap((row) => [row.train_loss, row.test_loss]).filter((loss) => loss > 0);
    const [low, high] = [Math.min(...losses), Math.max(...losses)];
    const few = [low, Math.sqrt(low * high), high];
    const ticks = high > 20 * low ? { dtick: 1 } : { tickvals: few, ticktext: few.map((loss) => number(loss, 2)) };
    this.chart.draw(traces, [
      { domain: [0.54, 1], range: [-0.03, 1.04], tickformat: ".0%", title: { text: "accuracy", standoff: 6 } },
      {
        domain: [0, 0.46],
        type: "log",
        exponentformat: "power",
        ...ticks,
        title: { text: `loss (${run.settings.loss === "mse" ? "MSE" : "nats"})`, standoff: 4 },
      },
    ], shapes, notes);
    this.key(
      [colors.train, "train"],
      [colors.test, "test"],
      ...[...state.compared.keys()].map((name, i) => [PALE[i % PALE.length], `test, ${name}`]),
    );
    this.sentence.textContent = sentence(run);
  }

  csv() {
    return toCsv(Object.fromEntries(["step", ...CURVES].map((name) => [name, state.run.rows.map((row) => row[name])])));
  }
}

function sentence(run) {
  const [memorized, grokked] = [firstReached(run, "train_accuracy"), firstReached(run, "test_accuracy")];
  if (run.status === "diverged") return `Diverged at step ${grouped(run.result?.diverged_at)}: the learning rate is too large.`;
  if (run.status === "collapsed") return "Collapsed: the weights shrank to zero, because the weight decay is too strong.";
  if (memorized == null) return "Not memorized yet.";
  if (grokked == null) return `Memorized at step ${grouped(memorized)}, not grokked so far.`;
  const delay = grokked - memorized;
  return `Memorized at step ${grouped(memorized)}, grokked at step ${grouped(grokked)}: ${delay > 0 ? `a delay of ${grouped(delay)} steps` : "no delay"}.`;
}

export const create = () => new Curves();
