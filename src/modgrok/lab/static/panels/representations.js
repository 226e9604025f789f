// Panel: of a two-layer network on a group, which representation each neuron has, and how near it is to the closed form.

import { axes, barChart, dot, line, prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { make, number, percent } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { lastFrame } from "lab/panels/weights.js";
import { source } from "lab/source.js";
import { setView, state } from "lab/store.js";

const CLEAR = 0.5;
const SHARED = [["a", "first list, readout"], ["b", "first list, second"], ["c", "second list, readout"]]; // by which lists

// How far the three lists of every neuron share their vectors, the worst pair.
const worst = ({ neuron_agreement: all, neuron_share: share }) => Array.from(share, (_, i) => Math.min(...all.subarray(3 * i, 3 * i + 3)));

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
        "Hands: in the closed form the first list of a neuron is aᵀρ(n)b, the second bᵀρ(m)c and the readout aᵀρ(q)c, with matrices ρ and vectors a, b, c. In a trained one each list has two vectors of its own; two hands stand at the angle between those that should be one, and turn toward each other while it learns. Representations of dimension 1 have nothing to turn.",
        "Last: every neuron; press one to see its hands. To the right, the share of its power in one representation; upwards, how far its three lists of weights share their vectors, the worst pair. The closed form is in the upper right corner, random weights are not.",
      ],
    });
    this.bars = make("canvas", { class: "histogram", role: "img", "aria-label": "Neurons of each representation, beside d³" });
    this.plane = make("canvas", { class: "square", role: "img", "aria-label": "Share of one representation and shared vectors of every neuron" });
    this.sentence = make("p", { class: "sentence" });
    this.ablation = make("table", { class: "scores ablation" });
    this.plane.addEventListener("click", (event) => this.pick(event));
    this.hands = make("canvas", { class: "hands", role: "img", "aria-label": "Angles between the vectors of one neuron's lists" });
    this.neuron = make("p", { class: "caption" });
    this.body.append(this.sentence, make("div", { class: "beside" }, this.bars, make("div", {}, this.ablation, this.hands, this.neuron), this.plane));
  }

  // The neuron whose hands are drawn: the chosen one, or of those with something to turn the clearest at the end.
  get shown() {
    const { neuron_share: share, neuron_representation: chosen, representation_names: names } = lastFrame() ?? state.frame;
    if (state.view.neuron < share.length && state.view.neuron != null) return state.view.neuron;
    const turning = [...share.keys()].filter((i) => parseInt(names[chosen[i]]) > 1);
    return turning.reduce((best, i) => (share[i] > share[best] ? i : best), turning[0] ?? 0);
  }

  pick({ offsetX, offsetY }) {
    const far = this.places.map(([x, y]) => (Number.isNaN(x) ? Infinity : (x - offsetX) ** 2 + (y - offsetY) ** 2));
    setView({ neuron: far.indexOf(Math.min(...far)) });
  }

  draw() {
    const { frame } = state;
    this.drawBars(frame);
    this.drawPlane(frame);
    this.drawHands(frame);
    this.fillAblation(state.base ?? frame);
    const clear = [...frame.neuron_share.keys()].filter((i) => frame.neuron_share[i] > CLEAR);
    const median = (values) => number(values.sort((a, b) => a - b)[Math.floor(values.length / 2)], 3);
    const [rank, agreement] = [frame.neuron_rank_one, worst(frame)].map((all) => clear.map((i) => all[i]));
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
      if (source.replay) return make("td", {}, percent(share)); // It holds the network as it is alone.
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
      make("caption", { class: "caption" }, `Pairs right: ${percent(accuracy)} as trained.${source.replay ? "" : " Press a number to see that network."}`),
      make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...rows.map((k) => make("tr", {}, make("th", { scope: "row" }, names[k]),
        make("td", {}, chosen.filter((other) => other === k).length), look("representation", k, without[k]), look("alone", k, alone[k])))));
  }

  drawHands({ neuron_share: share, neuron_agreement: all, neuron_representation: chosen, representation_names: names }) {
    const { context, width, height } = prepare(this.hands);
    const i = this.shown;
    const radius = Math.min(width / 7, height - 44);
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    SHARED.forEach(([name, lists], v) => {
      const [x, y] = [(width * (v + 0.5)) / 3, height - 34];
      const half = Math.acos(Math.min(1, all[3 * i + v] || 0)) / 2;
      context.strokeStyle = context.fillStyle = frequencyColor(chosen[i] || 1, 2 * (names.length - 1));
      context.lineWidth = 3;
      for (const side of [-1, 1]) line(context, [[x, y], [x + side * radius * Math.sin(half), y - radius * Math.cos(half)]]);
      dot(context, x, y, 4);
      context.font = `600 13px ${css("sans")}`;
      context.fillStyle = css("ink");
      context.fillText(name, x, y + 16);
      context.font = `11px ${css("sans")}`;
      context.fillStyle = css("muted");
      context.fillText(lists, x, y + 30);
    });
    const angles = SHARED.map(([name], v) => `${name} ${Math.round((180 / Math.PI) * Math.acos(Math.min(1, all[3 * i + v] || 0)))}°`);
    this.neuron.textContent = `Neuron ${i}, dimension ${names[chosen[i]]} with ${percent(share[i], 0)} of its power: ${angles.join(", ")} apart.`;
  }

  drawPlane(frame) {
    const { neuron_share: share, neuron_representation: chosen, representation_names: names } = frame;
    const agreement = worst(frame);
    const { context, width, height } = prepare(this.plane);
    const box = [44, 10, width - 12, height - 34];
    const ticks = [0, 0.5, 1].map((at) => [at, String(at)]);
    axes(context, box, { label: "share in one representation", ticks }, { label: "shared vectors", ticks });
    this.places = agreement.map((shared, i) => [box[0] + share[i] * (box[2] - box[0]), box[3] - shared * (box[3] - box[1])]);
    for (let i = 0; i < share.length; i++) {
      if (!chosen[i]) continue;
      context.fillStyle = frequencyColor(chosen[i], 2 * (names.length - 1));
      dot(context, ...this.places[i], i === this.shown ? 5 : 2);
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
      shared_vectors: of(worst(frame)),
    });
  }
}

export const create = () => new Representations();
