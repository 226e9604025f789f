// Panel 5: how localized the spectra are, over time and over neurons.

import { axes, prepare } from "lab/canvas.js";
import { StepChart } from "lab/chart.js";
import { css } from "lab/color.js";
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
        "The chart shows the mean over neurons; below it is the distribution over neurons at the clock's step. Taken along the raw index, a network that learnt nm or n² + m² looks like noise: its waves live in the task's own coordinate.",
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
      state.compared.size,
      document.documentElement.dataset.theme,
    ].join();
    if (signature !== this.drawn) this.drawChart(run, theory);
    this.drawn = signature;
    if (frame) drawHistogram(this.canvas, frame[this.curve], theory);
    this.key(
      [css("accent"), "mean over neurons"],
      [css("test"), theory == null ? "no closed form" : `closed form, ${number(theory, 2)}`, "dashed"],
    );
  }

  drawChart(run, theory) {
    const x = run.rows.map((row) => row.step);
    const traces = [...state.compared.values()].map((other) => ({
      x: other.rows.map((row) => row.step), y: other.rows.map((row) => row[this.curve]), line: { color: css("faint"), width: 1.2, dash: "dot" }, name: other.run,
    }));
    traces.push({
      x,
      y: run.rows.map((row) => row[this.curve]),
      line: { color: css("accent"), width: 2 },
      name: "IPR",
      hovertemplate: "%{y:.3f}",
    });
    if (theory != null) traces.push({
      x: [0, x.at(-1)],
      y: [theory, theory],
      line: { color: css("test"), width: 1.2, dash: "dash" },
      hoverinfo: "skip",
    });
    this.chart.draw(traces, [{ range: [0, Math.max(0.28, (theory ?? 0) * 1.1)], title: { text: "IPR", standoff: 6 } }]);
  }

  csv() {
    const { rows } = state.run;
    return toCsv(Object.fromEntries(["step", "ipr", "task_ipr"].map((name) => [name, rows.map((row) => row[name])])));
  }
}

export function drawHistogram(canvas, values, theory) {
  const { context, width, height } = prepare(canvas);
  const most = Math.max(MOST, ...Array.from(values).filter((v) => !Number.isNaN(v)));
  const counts = new Int32Array(BINS);
  for (const value of values) if (!Number.isNaN(value)) counts[Math.min(BINS - 1, Math.floor((value / most) * BINS))]++;
  const box = [52, 6, width - 14, height - 32];
  const top = Math.max(1, ...counts);
  axes(context, box, {
    ticks: [0, 0.1, 0.2, 0.3, 0.4, 0.5].filter((v) => v <= most + 1e-6).map((v) => [v / most, String(v)]), label: "IPR of a neuron",
  }, { ticks: [[0, "0"], [1, String(top)]], label: "neurons" });
  context.fillStyle = css("accent");
  const step = (box[2] - box[0]) / BINS;
  counts.forEach((count, i) => {
    const tall = (count / top) * (box[3] - box[1]);
    context.fillRect(box[0] + i * step + 0.5, box[3] - tall, step - 1, tall);
  });
  if (theory == null) return;
  context.strokeStyle = css("test");
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(box[0] + (theory / most) * (box[2] - box[0]), box[1]);
  context.lineTo(box[0] + (theory / most) * (box[2] - box[0]), box[3]);
  context.stroke();
  context.setLineDash([]);
}

export const create = () => new Ipr();
