// Panel 5: how localized the spectra are, over time and over neurons.

import { barChart } from "lab/canvas.js";
import { StepChart } from "lab/chart.js";
import { css } from "lab/color.js";
import { compared } from "lab/compare.js";
import { choice, make, number } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { setView, state } from "lab/store.js";

const BINS = 40;
const MOST = 0.3;

class Ipr extends Panel {
  constructor() {
    super({
      id: "ipr",
      title: "Inverse participation ratio",
      redraw: "rows frame view compared",
      when: () => state.run?.rows.length,
      help: [
        "The inverse participation ratio (IPR) says on how few frequencies a neuron's input weights live: Σ |w̃|⁴ over the normalized spectrum. It is about 1/p for noise and 1/4 for one real wave in both inputs, which is the closed form's value.",
        "The chart shows the mean over neurons; below it is the distribution over neurons at the clock's step. Taken along the raw index, a network that learned nm or n² + m² looks like noise: its waves live in the task's own coordinate.",
      ],
    });
    this.which = choice(
      "Coordinate of the ratio",
      [["task_ipr", "task"], ["ipr", "raw"]],
      state.view.ipr,
      (key) => setView({ ipr: key }),
    );
    this.options.append(this.which);
    this.chart = new StepChart("Mean inverse participation ratio over steps", 190);
    this.canvas = make(
      "canvas",
      { class: "histogram", role: "img", "aria-label": "Distribution of the ratio over neurons" },
    );
    this.body.append(this.chart.element, this.canvas);
    this.drawn = null;
  }

  get curve() {
    return state.run.task.index ? state.view.ipr : "ipr";
  }

  draw() {
    const { run, frame } = state;
    this.which.show(this.curve);
    this.which.hidden = !run.task.index;
    const theory = run.task.closed_form_ipr?.[this.curve];
    const signature = [
      run.run,
      run.rows.length,
      this.curve,
      state.view.time,
      [...state.compared.keys()].join(),
      document.documentElement.dataset.theme,
    ].join();
    if (signature !== this.drawn) this.drawChart(run, theory);
    this.drawn = signature;
    if (frame) drawHistogram(this.canvas, frame[this.curve], theory);
    this.key(
      [css("accent"), "mean over neurons"],
      ...(theory == null ? [] : [[css("waves"), `closed form, ${number(theory, 2)}`, "dashed"]]),
      ...compared().map(({ label, color }) => [color, label, "dashed"]),
    );
  }

  drawChart(run, theory) {
    const offset = run.parent?.step ?? 0;
    const column = (rows, shift = 0) => ({ x: rows.map((row) => row.step + shift), y: rows.map((row) => row[this.curve]) });
    const curves = compared().map(({ run: other, label, color, dash }) => ({ ...column(other.rows), color, dash, name: label }));
    curves.push({ ...column(run.rows, offset), color: css("accent"), name: "IPR" });
    const top = Math.max(0.28, 1.1 * (theory ?? 0), ...curves.flatMap(({ y }) => y).filter((v) => v != null));
    const rules = theory == null ? [] : [{ y: theory, color: css("waves") }];
    this.chart.draw({ tracks: [{ title: "IPR", range: [0, top], write: (x) => number(x, 3), curves, rules }], offset });
  }

  csv() {
    const { rows } = state.run;
    return toCsv(Object.fromEntries(["step", "ipr", "task_ipr"].map((name) => [name, rows.map((row) => row[name])])));
  }
}

export function drawHistogram(canvas, values, theory) {
  const most = Math.max(MOST, ...Array.from(values).filter((v) => !Number.isNaN(v)));
  const counts = new Int32Array(BINS);
  for (const value of values) if (!Number.isNaN(value)) counts[Math.min(BINS - 1, Math.floor((value / most) * BINS))]++;
  const { box, context } = barChart(canvas, Array.from(counts, (count) => [count, css("accent")]), {
    ticks: [0, 0.1, 0.2, 0.3, 0.4, 0.5].filter((v) => v <= most + 1e-6).map((v) => [v / most, String(v)]), label: "IPR of a neuron",
  }, { label: "neurons", write: (top) => String(Math.round(top)) });
  if (theory == null) return;
  context.strokeStyle = css("waves");
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(box[0] + (theory / most) * (box[2] - box[0]), box[1]);
  context.lineTo(box[0] + (theory / most) * (box[2] - box[0]), box[3]);
  context.stroke();
  context.setLineDash([]);
}

export const create = () => new Ipr();
