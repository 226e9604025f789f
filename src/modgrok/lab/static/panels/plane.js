// Panel 3: neurons on the frequency–phase plane, and the waves of the one that was clicked.

import { refusal } from "lab/activations.js";
import { axes, dot, prepare, roundSteps } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { choice, make, number, percent } from "lab/dom.js";
import { hidden, weight } from "lab/network.js";
import { drawDials } from "lab/pictures/dials.js";
import { drawWave } from "lab/pictures/wave.js";
import { columnOrder, taskTables } from "lab/tasktable.js";
import { Panel, toCsv } from "lab/panel.js";
import { setView, state } from "lab/store.js";

const MARGIN = { left: 46, right: 12, top: 8, bottom: 36 };

export function planePlaces(frame, block, width, height) {
  const B = frame.arity + 1;
  const box = [MARGIN.left, MARGIN.top, width - MARGIN.right, height - MARGIN.bottom];
  const most = Math.floor(frame.length / 2);
  const places = [];
  for (let i = 0; i < frame.shown; i++) {
    const phase = frame.phases[i * B + block];
    if (Number.isNaN(phase)) continue;
    const x = box[0] + ((frame.frequency[i] - 0.5) / most) * (box[2] - box[0]);
    places.push([i, x, box[3] - ((phase / Math.PI + 1) / 2) * (box[3] - box[1])]);
  }
  return { box, most, places };
}

export function drawPlane(canvas, frame, block = 0, chosen = null) {
  const { context, width, height } = prepare(canvas);
  const { box, most, places } = planePlaces(frame, block, width, height);
  const ticks = roundSteps(most, 6).filter((k) => k > 0 && Number.isInteger(k)).map((k) => [(k - 0.5) / most, String(k)]);
  axes(context, box, { ticks, label: "frequency k" }, {
    ticks: [[0, "−π"], [0.5, "0"], [1, "π"]],
    label: block < frame.arity ? `phase φ${block + 1} (rad)` : `phase φ${block + 1} of the readout (rad)`,
  });
  const B = frame.arity + 1;
  const size = (i) => Math.sqrt(Math.max(0, frame.amplitudes[i * B + block]));
  const biggest = Math.max(1e-9, ...places.map(([i]) => size(i)));
  for (const [i, x, y] of places) {
    context.fillStyle = frequencyColor(frame.frequency[i], frame.length);
    context.globalAlpha = 0.25 + 0.75 * (frame.explained[i] || 0);
    dot(context, x, y, (1.2 + (2.6 * size(i)) / biggest) * Math.min(1, width / 400));
  }
  context.globalAlpha = 1;
  const found = places.find(([i]) => frame.neurons[i] === chosen);
  if (found) {
    context.strokeStyle = css("ink");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(found[1], found[2], 7, 0, 2 * Math.PI);
    context.stroke();
  }
}

class Plane extends Panel {
  constructor() {
    super({
      id: "plane",
      title: "Neurons: frequency and phase",
      redraw: "frame view",
      help: [
        "Each dot is a neuron at the frequency k and phase of its best-fitting wave. Large dots have large amplitudes; faint dots are neurons that a single wave explains badly. In the closed form the phases are spread evenly at random: it is their sum, not each alone, that matters.",
        "Click a dot to see that neuron: its weights (dots) with the fitted wave (line), and how much it adds to the output of one pair (n, m) at the right answer. Choose the pair in the table panel.",
      ],
    });
    this.block = 0;
    this.phase = choice("Phase", [["0", "φ1"], ["1", "φ2"], ["2", "φ3"]], "0", (key) => {
      this.block = Number(key);
      this.phase.show(key);
      this.update();
    });
    this.number = make("input", { type: "number", min: 0, "aria-label": "Neuron", placeholder: "neuron", id: "neuron",
      onchange: () => setView({ neuron: this.number.value === "" ? null : Number(this.number.value) }) });
    this.options.append(this.phase, this.number);
    this.canvas = make("canvas", { class: "plane", id: "plane-canvas", role: "img", "aria-label": "Neurons by frequency and phase; choose one with the field neuron",
      onclick: (event) => this.pick(event) });
    this.detail = make("div", { class: "neuron", id: "neuron-detail", hidden: true, "aria-live": "polite" });
    this.waves = [0, 1, 2].map(() => make(
      "canvas",
      { class: "wave", role: "img", "aria-label": "Weights of the neuron and their wave" },
    ));
    this.words = make("p", { class: "sentence" });
    this.unwrap = make("input", { type: "checkbox", id: "unwrap", onchange: () => this.update() });
    this.dials = make("canvas", { class: "dials", role: "img", "aria-label": "Three clocks: the pair turns two hands, and the readout favors the answer at which the third points" });
    this.detail.append(
      make("div", { class: "waves" }, ...this.waves),
      make("label", { class: "check", for: "unwrap" }, this.unwrap, "unwrapped: numbers in the order of k·n, so that the wave is one hump"),
      this.dials,
      this.words,
    );
    this.body.append(this.canvas, this.detail);
  }

  pick(event) {
    const { places } = planePlaces(state.frame, this.block, this.canvas.clientWidth, this.canvas.clientHeight);
    let [best, distance] = [null, 18 ** 2];
    for (const [i, x, y] of places) {
      const far = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (far < distance) [best, distance] = [i, far];
    }
    setView({ neuron: best === null ? null : state.frame.neurons[best] });
  }

  draw() {
    const { frame, view } = state;
    this.block = Math.min(this.block, frame.arity);
    this.number.max = frame.width - 1;
    if (document.activeElement !== this.number) this.number.value = view.neuron ?? "";
    drawPlane(this.canvas, frame, this.block, view.neuron);
    this.key([css("muted"), "one neuron; size: amplitude, strength: share explained by its wave", "dot"]);
    const place = view.neuron == null ? -1 : frame.neurons.indexOf(view.neuron);
    this.detail.hidden = place < 0;
    if (place >= 0) this.drawNeuron(frame, place);
  }

  drawNeuron(frame, i) {
    const B = frame.arity + 1;
    const names = frame.arity === 2 ? ["weights on n", "weights on m", "readout on q"] : ["weights on n1", "weights on n2", "readout on q"];
    const blocks = [0, Math.min(1, frame.arity - 1), frame.arity];
    this.waves.forEach((canvas, place) => drawBlock(canvas, frame, i, blocks[place], names[place], this.unwrap.checked));
    const phases = Array.from({ length: B }, (_, b) => `φ${b + 1} = ${number(frame.phases[i * B + b], 2)}`).join(", ");
    let words = `Neuron ${frame.neurons[i]}: frequency ${frame.frequency[i]}, ${phases}, sum ${number(frame.residual[i], 2)} rad; one wave explains ${percent(frame.explained[i], 0)} of its weights.`;
    const tables = taskTables(state.run);
    const [n, m] = state.view.cell ?? [1, 2];
    this.dials.hidden = !this.hasDials(frame);
    if (!this.dials.hidden) {
      const phases = frame.phases.slice(i * B, i * B + B);
      const q = tables.answers[n * frame.modulus + m];
      drawDials(this.dials, { k: frame.frequency[i], length: frame.length, phases, n, m, right: q });
    }
    if (tables && frame.shown === frame.width && !refusal(frame.activation)) {
      const q = tables.answers[n * frame.modulus + m];
      const units = hidden(frame, [n, m]);
      const part = (j) => frame.output_scale * units[j] * weight(frame, j, frame.arity, q);
      let total = 0;
      for (let j = 0; j < frame.shown; j++) total += part(j);
      words += ` At (n, m) = (${n}, ${m}) it adds ${number(part(i), 2)} to the right answer's output of ${number(total, 3)}: ${percent(part(i) / total, 1)}.`;
    }
    this.words.textContent = words;
  }

  // Clocks are drawn where numbers are their own places on the circle: sums in the plain coordinate.
  hasDials(frame) {
    const { index, readout } = state.run.task;
    const plain = (places) => places.every((place, x) => place === x);
    return frame.arity === 2 && Boolean(index) && index.every(plain) && plain(readout) && Boolean(taskTables(state.run));
  }

  csv() {
    const { frame } = state;
    const B = frame.arity + 1;
    const pick = (array, b) => Array.from({ length: frame.shown }, (_, i) => array[i * B + b]);
    const columns = { neuron: frame.neurons, frequency: frame.frequency };
    for (let b = 0; b < B; b++) {
      columns[`amplitude_${b + 1}`] = pick(frame.amplitudes, b);
      columns[`phase_${b + 1}`] = pick(frame.phases, b);
    }
    return toCsv({ ...columns, residual: frame.residual, explained: frame.explained });
  }
}

function drawBlock(canvas, frame, i, b, label, unwrapped) {
  const { context, width, height } = prepare(canvas);
  const columns = columnOrder(state.run, frame, b);
  const values = columns.map((x) => weight(frame, i, b, x));
  const B = frame.arity + 1;
  const length = frame.length;
  const plain = values.length === length;
  const amplitude = frame.amplitudes[i * B + b];
  const top = 1.05 * Math.max(1e-9, amplitude || 0, ...values.map(Math.abs));
  drawWave(context, [4, 6, width - 4, height - 18], {
    values,
    top,
    k: frame.frequency[i],
    length: plain ? length : values.length,
    amplitude: plain ? amplitude : 0,
    phase: frame.phases[i * B + b],
    unwrapped: plain && unwrapped ? 1 : 0,
  });
  context.fillStyle = css("muted");
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(label, width / 2, height - 2);
}

export const create = () => new Plane();
