// Panel 7: the closed form in the same pictures, and how far training is from it.

import { drawCircle, phaseSentence } from "lab/pictures/phases.js";
import { drawHistogram } from "lab/panels/ipr.js";
import { drawPlane } from "lab/panels/plane.js";
import { drawTable } from "lab/panels/answers.js";
import { drawWeights, weightCanvases } from "lab/panels/weights.js";
import { StepChart } from "lab/chart.js";
import { css } from "lab/color.js";
import { choice, make, number, percent } from "lab/dom.js";
import { order } from "lab/frames.js";
import { measuredRows, measureMore } from "lab/measured.js";
import { decode } from "lab/message.js";
import { taskTables } from "lab/tasktable.js";
import { Panel, toCsv } from "lab/panel.js";
import { source } from "lab/source.js";
import { emit, setView, state } from "lab/store.js";

class Theory extends Panel {
  constructor() {
    super({
      id: "theory",
      title: "Theory beside experiment",
      wide: true,
      redraw: "view theory measured",
      when: () => state.run?.task.index && state.run.snapshots.length,
      help: [
        "Weights that compute this function, written down instead of trained: every neuron is a wave of one frequency on n, on m and on the answer, with φ1 + φ2 = φ3. With random phases the error falls as the width grows; the exact form chooses four phases for each frequency so that everything but the right answer cancels.",
        "The chart is the relative distance of the trained network to its nearest closed form, ‖W − W_closed‖ / ‖W‖, neuron by neuron with its own frequency, phases and amplitudes; and the distance of its outputs to the one-hot table.",
      ],
    });
    this.form = choice(
      "Closed form",
      [["waves", "random phases"], ["exact", "exact"]],
      state.view.form,
      (key) => setView({ form: key }),
    );
    this.options.append(this.form);
    this.chart = new StepChart("Distance to the closed form over steps", 210);
    const { canvases, grid } = weightCanvases(230);
    this.weights = canvases;
    const canvas = (name, label) => make("canvas", { class: name, role: "img", "aria-label": `Closed form: ${label}` });
    this.plane = canvas("plane", "frequency and phase");
    this.circle = canvas("square", "phase sums on a circle");
    this.table = canvas("table", "table of answers");
    this.histogram = canvas("histogram", "distribution of the IPR");
    this.sentence = make("p", { class: "sentence", id: "theory-words" });
    const figure = (title, ...content) => make("figure", {}, make("figcaption", {}, title), ...content);
    this.forms = make("div", { class: "theory bare" },
      figure("distance of training to it", this.chart.element), figure("weights and spectra", grid),
      figure("frequency and phase", this.plane), figure("φ1 + φ2 − φ3", this.circle),
      figure("IPR of neurons", this.histogram), figure("answers", this.table));
    this.body.append(this.sentence, this.forms);
    this.frames = new Map();
  }

  waiting() {
    return state.run && !state.run.task.index ? `No closed form is known for this function: ${state.run.task.reason}` : super.waiting();
  }

  get available() {
    return state.view.form in state.run.task.forms ? state.view.form : "waves";
  }

  draw() {
    const { run } = state;
    this.form.show(this.available);
    const key = [run.run, this.available, state.view.coordinate].join();
    if (!this.frames.has(key)) this.load(key);
    const frame = this.frames.get(key);
    this.forms.classList.toggle("bare", !frame);
    if (frame) this.drawForm(frame);
    measureMore();
    this.drawDistance();
    this.key([css("accent"), "weights"], [css("waves"), "outputs"]);
  }

  async load(key) {
    this.frames.set(key, null);
    try {
      this.frames.set(key, decode(await source.theory(state.run.run, this.available, state.view.coordinate)));
      emit("theory");
    } catch (error) {
      this.frames.delete(key);
      this.sentence.textContent = error.message;
    }
  }

  drawForm(frame) {
    drawWeights(this.weights, frame, order(frame, "current"));
    drawPlane(this.plane, frame);
    drawCircle(this.circle, frame);
    drawHistogram(this.histogram, frame.task_ipr, null);
    if (frame.predictions) drawTable(this.table, frame, "answers", taskTables(state.run));
    const name = frame.form === "exact" ? "The exact form" : "The form with random phases";
    this.sentence.textContent = `${name}: ${frame.width} neurons, ${percent(frame.accuracy, 2)} of all pairs right, loss ${number(frame.loss)}; ${phaseSentence(frame)}.`;
  }

  drawDistance() {
    const rows = measuredRows();
    if (!rows.length) return;
    const x = rows.map(([step]) => step);
    const curve = (name, color, pick) => ({ x, y: rows.map(([, found]) => pick(found)), color: css(color), name, dots: true });
    const curves = [curve("weights", "accent", (d) => d.both), curve("outputs", "waves", (d) => d.outputs)];
    const top = Math.max(0.1, ...curves.flatMap(({ y }) => y).filter(Number.isFinite));
    this.chart.draw({ tracks: [{ title: "relative distance", range: [0, 1.05 * top], write: (v) => number(v, 2), curves }] });
  }

  csv() {
    const rows = measuredRows();
    const pick = (name) => rows.map(([, d]) => d[name]);
    return toCsv({
      step: rows.map(([step]) => step),
      w_in: pick("w_in"),
      w_out: pick("w_out"),
      both: pick("both"),
      outputs: pick("outputs"),
    });
  }
}

export const create = () => new Theory();
