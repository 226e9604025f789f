// Panel: of networks that have a vector for every number, which waves those are made of, and where they lie.

import { barChart, dot, prepare } from "lab/canvas.js";
import { css, frequencyColor, roundColor } from "lab/color.js";
import { make, number, percent } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { state } from "lab/store.js";

const LABELED = 60; // points that have room for their numbers

class Embedding extends Panel {
  constructor() {
    super({
      id: "embedding",
      title: "The embedding of the numbers",
      when: () => state.frame?.embedding_plane,
      help: [
        "To this network a number is a vector, one row of its embedding (or the weights of its first layer on that number). Above: of all these vectors, read along the numbers, the share of the power at each frequency, without the mean. Noise has a little of each; a network that has learned to add keeps a few frequencies. For products the numbers are read along the discrete logarithm.",
        "Below: every number in the plane of the first two principal components, in which the vectors differ most. Colors go round once along the strongest frequency. Where one wave dominates, the numbers lie on a circle; for sums of whole numbers without a modulus, on a line.",
      ],
    });
    this.bars = make("canvas", { class: "histogram", role: "img", "aria-label": "Share of the embedding's power at each frequency" });
    this.plane = make("canvas", { class: "square", role: "img", "aria-label": "All numbers in the plane of the first two principal components" });
    this.sentence = make("p", { class: "sentence" });
    this.body.append(this.bars, this.plane, this.sentence);
  }

  get strongest() {
    const spectrum = state.frame.embedding_spectrum;
    return spectrum ? spectrum.indexOf(Math.max(...spectrum)) : null;
  }

  draw() {
    const { frame } = state;
    const k = this.strongest;
    this.bars.hidden = k === null;
    if (k !== null) this.drawSpectrum(frame.embedding_spectrum);
    this.drawPlane(frame, k);
    const shares = frame.embedding_shares.map((share) => percent(share, 0)).join(" and ");
    const strongest = k ? `Frequency ${k} has ${percent(frame.embedding_spectrum[k], 0)} of the power. ` : "";
    this.sentence.textContent = `${strongest}The plane holds ${shares} of the variance of vectors of length ${frame.embedding_size}.`;
    this.key([css("muted"), k === null ? "a value of the first variable" : "a number, colored along the strongest frequency", "dot"]);
  }

  drawSpectrum(spectrum) {
    const F = spectrum.length;
    const step = Math.max(1, Math.ceil(F / 8));
    const places = Array.from({ length: Math.ceil(F / step) }, (_, i) => i * step);
    barChart(this.bars, Array.from(spectrum, (share, f) => [share, frequencyColor(Math.max(f, 1), 2 * (F - 1))]),
      { label: "frequency k", ticks: places.map((f) => [(f + 0.5) / F, String(f)]) }, { label: "power", write: (top) => percent(top, 0) });
  }

  drawPlane(frame, k) {
    const { context, width, height } = prepare(this.plane);
    const points = frame.embedding_plane;
    const count = points.length / 2;
    const far = 1.12 * Math.max(1e-12, ...points.map(Math.abs));
    const size = Math.min(width, height) / 2 - 8;
    const x = (i) => width / 2 + (points[2 * i] / far) * size;
    const y = (i) => height / 2 - (points[2 * i + 1] / far) * size;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 12px ${css("sans")}`;
    for (let i = 0; i < count; i++) {
      context.fillStyle = k ? roundColor(this.turn(i, k)) : css("accent");
      if (count <= LABELED) context.fillText(String(i), x(i), y(i));
      else dot(context, x(i), y(i), 3);
    }
  }

  // How far round the strongest wave a number is, 0 … 1.
  turn(i, k) {
    const { index, length } = state.run.task;
    const along = state.view.coordinate === "task" ? index[0][i] : i;
    const round = state.view.coordinate === "task" ? length : state.frame.embedding_plane.length / 2;
    return along < 0 ? 0 : ((k * along) % round) / round;
  }

  csv() {
    const { embedding_plane: points } = state.frame;
    const numbers = Array.from({ length: points.length / 2 }, (_, i) => i);
    return toCsv({ number: numbers, first: numbers.map((i) => number(points[2 * i], 5)), second: numbers.map((i) => number(points[2 * i + 1], 5)) });
  }
}

export const create = () => new Embedding();
