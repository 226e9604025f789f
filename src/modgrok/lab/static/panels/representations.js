// Panel: of a two-layer network on a group, which representation each neuron has, and how near it is to the closed form.

import { axes, dot, prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { make, number, percent } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { state } from "lab/store.js";

const CLEAR = 0.5;

class Representations extends Panel {
  constructor() {
    super({
      id: "representations",
      title: "The representations of the neurons",
      when: () => state.frame?.neuron_share,
      help: [
        "A group that is not cyclic has no frequencies. Its representations, matrices that multiply as its elements do, take the place of waves. Above: how many neurons have more than half of their power in one, by its dimension d (a prime marks another of the same dimension); lines where they would be in proportion to d³, as in the exact network.",
        "Below: every neuron. To the right, the share of its power in one representation; upwards, how far its three lists of weights share their vectors, the worst pair. The closed form is in the upper right corner, random weights are not.",
      ],
    });
    this.bars = make("canvas", { class: "histogram", role: "img", "aria-label": "Neurons of each representation, beside d³" });
    this.plane = make("canvas", { class: "square", role: "img", "aria-label": "Share of one representation and shared vectors of every neuron" });
    this.sentence = make("p", { class: "sentence" });
    this.body.append(this.bars, this.plane, this.sentence);
  }

  draw() {
    const { frame } = state;
    this.drawBars(frame);
    this.drawPlane(frame);
    const clear = [...frame.neuron_share.keys()].filter((i) => frame.neuron_share[i] > CLEAR);
    const median = (values) => number(values.sort((a, b) => a - b)[Math.floor(values.length / 2)], 3);
    const [rank, agreement] = [frame.neuron_rank_one, frame.neuron_agreement].map((all) => clear.map((i) => all[i]));
    this.sentence.textContent = clear.length
      ? `${clear.length} of ${frame.neuron_share.length} neurons have more than half of their power in one representation of ${frame.group}; of these the median is ${percent(Number(median(rank)), 0)} of rank one and shares its vectors to ${median(agreement)}.`
      : `No neuron has more than half of its power in one representation of ${frame.group}.`;
    this.key([css("accent"), "a neuron", "dot"], [css("ink"), "in proportion to d³"]);
  }

  drawBars({ representation_names: names, representation_counts: counts, representation_expected: expected }) {
    const { context, width, height } = prepare(this.bars);
    const box = [44, 10, width - 8, height - 34];
    const F = names.length - 1;
    const top = Math.max(1, ...counts, ...expected);
    const wide = (box[2] - box[0]) / F;
    const every = Math.max(1, Math.ceil(F / 12));
    const shown = Array.from({ length: F }, (_, i) => i).filter((i) => i % every === 0);
    axes(context, box, { label: "dimension", ticks: shown.map((i) => [(i + 0.5) / F, names[i + 1]]) },
      { label: "neurons", ticks: [[0, "0"], [1, number(top, 3)]] });
    for (let i = 0; i < F; i++) {
      const [tall, mark] = [counts[i + 1], expected[i + 1]].map((n) => (n / top) * (box[3] - box[1]));
      context.fillStyle = frequencyColor(i + 1, 2 * F);
      context.fillRect(box[0] + i * wide + 1, box[3] - tall, Math.max(1, wide - 2), tall);
      context.fillStyle = css("ink");
      context.fillRect(box[0] + i * wide, box[3] - mark - 1, wide, 2);
    }
  }

  drawPlane({ neuron_share: share, neuron_agreement: agreement, neuron_representation: chosen, representation_names: names }) {
    const { context, width, height } = prepare(this.plane);
    const box = [44, 10, width - 12, height - 34];
    const ticks = [0, 0.5, 1].map((at) => [at, String(at)]);
    axes(context, box, { label: "share in one representation", ticks }, { label: "shared vectors", ticks });
    for (let i = 0; i < share.length; i++) {
      if (!chosen[i]) continue;
      context.fillStyle = frequencyColor(chosen[i], 2 * (names.length - 1));
      dot(context, box[0] + share[i] * (box[2] - box[0]), box[3] - agreement[i] * (box[3] - box[1]), 2);
    }
  }

  csv() {
    const { frame } = state;
    const of = (values) => Array.from(values, (x) => number(x, 5));
    return toCsv({
      neuron: [...frame.neuron_share.keys()],
      representation: Array.from(frame.neuron_representation, (k) => frame.representation_names[k]),
      share: of(frame.neuron_share),
      rank_one: of(frame.neuron_rank_one),
      shared_vectors: of(frame.neuron_agreement),
    });
  }
}

export const create = () => new Representations();
