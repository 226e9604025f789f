// Panel 8: change the network on screen and see at once what that costs.

import { css } from "lab/color.js";
import { make, number, percent } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { setView, state } from "lab/store.js";

const NAMES = {
  waves: "waves only",
  snap: "phases snapped",
  nearest: "nearest closed-form neurons",
  "closed:waves": "closed form, random phases",
  "closed:exact": "closed form, exact",
  "closed:one": "closed form, one frequency",
};

export function describeChange(text) {
  const [name, argument] = text.split(":");
  if (NAMES[text]) return NAMES[text];
  if (name === "neuron") return `without neuron ${argument}`;
  if (name === "frequency") return `without frequency ${argument}`;
  return `top ${argument} frequencies only`;
}

class WhatIf extends Panel {
  constructor() {
    super({
      id: "whatif",
      title: "What if …",
      redraw: "frame view",
      help: [
        "Change the network at the clock's step and see how it answers then. All panels show the changed network until you undo it, even while the clock moves.",
        "Without a frequency means without all neurons whose wave has it. Snapping phases turns each readout wave so that φ1 + φ2 = φ3 exactly. Waves only replaces every neuron by its best-fitting wave, with one frequency for its weights on n, on m and on the answers. That frequency is most of the rule and comes from the replacement, not from the network: try it at step 0, or on random:1, before you conclude that the network could add.",
      ],
    });
    const add = (text) => setView({ changes: [...state.view.changes, text].slice(-32) });
    const counted = (id, label, name) => {
      const input = make("input", { id, type: "number", min: name === "neuron" ? 0 : 1, "aria-label": label });
      const act = () => input.value !== "" && add(`${name}:${Math.round(Number(input.value))}`);
      input.addEventListener("keydown", (event) => event.key === "Enter" && act());
      return {
        input,
        row: make(
          "div",
          { class: "row" },
          make("label", { for: id }, label),
          input,
          make("button", { type: "button", onclick: act }, "apply"),
        ),
      };
    };
    this.frequency = counted("ablate-frequency", "Remove frequency k =", "frequency");
    this.neuron = counted("ablate-neuron", "Remove neuron", "neuron");
    this.top = counted("keep-top", "Keep the strongest frequencies, K =", "top");
    this.top.input.value = 8;
    const plain = ["snap", "waves", "nearest", "closed:waves", "closed:exact", "closed:one"].map((text) =>
      make(
        "button",
        { type: "button", "data-change": text, onclick: () => add(text) },
        {
          snap: "Snap phases",
          waves: "Waves only",
          nearest: "Nearest closed form",
          "closed:waves": "Swap in random phases",
          "closed:exact": "Swap in the exact form",
          "closed:one": "Swap in one frequency",
        }[text],
      ));
    this.plain = make("div", { class: "buttons" }, ...plain);
    this.ranking = make(
      "div",
      { class: "ranking", role: "group", "aria-label": "Strongest frequencies: click to remove one" },
    );
    this.made = make("div", { class: "made" });
    this.scores = make("table", { class: "scores", id: "whatif-scores" });
    this.body.append(this.scores, this.made, make(
      "p",
      { class: "caption" },
      "Strongest frequencies; click one to remove it, or to put it back",
    ), this.ranking,
      this.frequency.row, this.neuron.row, this.top.row, this.plain);
    this.add = add;
  }

  draw() {
    const { frame, base, view, run } = state;
    const before = base ?? frame;
    if (document.activeElement !== this.neuron.input && view.neuron != null) this.neuron.input.value = view.neuron;
    this.frequency.input.max = Math.floor(frame.length / 2);
    for (const button of this.plain.children) {
      const form = button.dataset.change.split(":")[1];
      button.hidden = Boolean(form && !((form === "one" ? "exact" : form) in run.task.forms));
    }
    const row = (name, key, digits = 1) => {
      const now = frame[key];
      const shift = base ? now - before[key] : 0;
      return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, percent(before[key], digits)), make("td", { "data-key": key }, percent(now, digits)),
        make(
          "td",
          { class: shift < -0.0005 ? "worse" : shift > 0.0005 ? "better" : "" },
          base ? `${shift >= 0 ? "+" : "−"}${Math.abs(100 * shift).toFixed(digits)}` : "",
        ));
    };
    this.scores.replaceChildren(
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...["accuracy", "as trained", "changed", "points"].map((text) => make("th", { scope: "col" }, text)),
        ),
      ),
      make(
        "tbody",
        {},
        row("train", "train_accuracy"),
        row("test", "test_accuracy"),
        make(
          "tr",
          {},
          make("th", { scope: "row" }, "test MSE"),
          make("td", {}, number(before.test_loss)),
          make("td", { "data-key": "test_loss" }, number(frame.test_loss)),
          make("td"),
        ),
      ));
    this.made.replaceChildren(...view.changes.map((text, i) =>
      make(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-label": `Undo: ${describeChange(text)}`,
          onclick: () => setView({ changes: view.changes.filter((_, j) => j !== i) }),
        },
        `${describeChange(text)} ×`,
      )),
      ...(view.changes.length ? [make(
        "button",
        { type: "button", class: "plain", id: "undo-changes", onclick: () => setView({ changes: [] }) },
        "undo all",
      )] : []));
    const strongest = before.ranking.slice(0, 14);
    this.ranking.replaceChildren(...strongest.map(([k, count, share]) => {
      const change = `frequency:${k}`;
      const gone = view.changes.includes(change);
      return make(
        "button",
        {
          type: "button",
          title: `${count} neurons`,
          "data-frequency": k,
          "aria-pressed": String(gone),
          style: `--share:${Math.round((100 * share) / strongest[0][2])}%`,
          onclick: () => (gone ? setView({ changes: view.changes.filter((text) => text !== change) }) : this.add(change)),
        },
        String(k),
      );
    }));
    this.key([css("faint"), "bar: share of wave power", "box"]);
  }

  csv() {
    const { frame, base } = state;
    const before = base ?? frame;
    const keys = ["train_accuracy", "test_accuracy", "train_loss", "test_loss"];
    return toCsv({ score: keys, as_trained: keys.map((key) => before[key]), changed: keys.map((key) => frame[key]) });
  }
}

export const create = () => new WhatIf();
