// Panel: of a two-layer network on a group, which representation each neuron has, and how near it is to the closed form.

import { axes, barChart, dot, prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { make, number, percent } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { setView, state } from "lab/store.js";

const CLEAR = 0.5;

class Representations extends Panel {
  constructor() {
    super({
      id: "representations",
      title: "The representations of the neurons",
      wide: true,
      redraw: "frame view",
      when: () => state.frame?.neuron_share,
      help: [
        "A group that is not cyclic has no frequencies. Its representations, matrices that multiply as its elements do, take the place of waves. First: how many neurons have more than half of their power in one, by its dimension d (a prime marks another of the same dimension); lines where they would be in proportion to d³, as in the exact network.",
        "The table takes the network apart: how many of all pairs are right without the neurons whose strongest representation it is, and with these neurons alone. Press a number, and all panels show that network. Where many representations share the work one is hardly missed; a sum of characters needs only enough of them to have its peak at the right answer.",
        "Last: every neuron. To the right, the share of its power in one representation; upwards, how far its three lists of weights share their vectors, the worst pair. The closed form is in the upper right corner, random weights are not.",
      ],
    });
    this.bars = make("canvas", { class: "histogram", role: "img", "aria-label": "Neurons of each representation, beside d³" });
    this.plane = make("canvas", { class: "square", role: "img", "aria-label": "Share of one representation and shared vectors of every neuron" });
    this.sentence = make("p", { class: "sentence" });
    this.ablation = make("table", { class: "scores ablation" });
    this.body.append(this.sentence, make("div", { class: "beside" }, this.bars, this.ablation, this.plane));
  }

  draw() {
    const { frame } = state;
    this.drawBars(frame);
    this.drawPlane(frame);
    this.fillAblation(state.base ?? frame);
    const clear = [...frame.neuron_share.keys()].filter((i) => frame.neuron_share[i] > CLEAR);
    const median = (values) => number(values.sort((a, b) => a - b)[Math.floor(values.length / 2)], 3);
    const [rank, agreement] = [frame.neuron_rank_one, frame.neuron_agreement].map((all) => clear.map((i) => all[i]));
    this.sentence.textContent = clear.length
      ? `${clear.length} of ${frame.neuron_share.length} neurons have more than half of their power in one representation of ${frame.group}; of these the median is ${percent(Number(median(rank)), 0)} of rank one and shares its vectors to ${median(agreement)}.`
      : `No neuron has more than half of its power in one representation of ${frame.group}.`;
    this.key([css("muted"), "a neuron, colored by its representation", "dot"], [css("ink"), "in proportion to d³"]);
  }

  drawBars({ representation_names: names, representation_counts: counts, representation_expected: expected }) {
    const F = names.length - 1;
    const every = Math.max(1, Math.ceil(F / 12));
    const shown = Array.from({ length: F }, (_, i) => i).filter((i) => i % every === 0);
    barChart(this.bars, names.slice(1).map((_, i) => [counts[i + 1], frequencyColor(i + 1, 2 * F), expected[i + 1]]),
      { label: "dimension", ticks: shown.map((i) => [(i + 0.5) / F, names[i + 1]]) }, { label: "neurons", write: (top) => number(top, 3) });
  }

  // Accuracy without the neurons of each representation, and with them alone; a pressed number is what the panels show.
  fillAblation({ representation_names: names, representation_without: without, representation_alone: alone, neuron_representation: chosen, accuracy }) {
    this.ablation.hidden = !without;
    if (!without) return;
    const look = (kind, k, share) => {
      const change = `${kind}:${k}`;
      const pressed = state.view.changes.includes(change);
      return make("td", {}, make("button", {
        type: "button", "aria-pressed": String(pressed), "aria-label": `${kind === "alone" ? "Only" : "Without"} the neurons of ${names[k]}: ${percent(share)}`,
        onclick: () => setView({ changes: pressed ? [] : [change] }),
      }, percent(share)));
    };
    const rows = names.map((_, k) => k).filter((k) => k && k in without);
    const heads = ["dimension", "neurons", "without them", "alone"];
    this.ablation.replaceChildren(
      make("caption", { class: "caption" }, `Pairs right: ${percent(accuracy)} as trained. Press a number to see that network.`),
      make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows.map((k) => make("tr", {}, make("th", { scope: "row" }, names[k]),
        make("td", {}, chosen.filter((other) => other === k).length), look("representation", k, without[k]), look("alone", k, alone[k])))));
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
