// Panel 9: an outcome of a sweep over two of its axes; a cell opens its run.

import { css, sample } from "lab/color.js";
import { make, number, percent } from "lab/dom.js";
import { Panel, toCsv } from "lab/panel.js";
import { source } from "lab/source.js";
import { emit, on, setView, state } from "lab/store.js";

const WORDS = {
  grokked_at: "grokking step",
  memorized_at: "memorization step",
  test_accuracy: "test accuracy",
  train_accuracy: "train accuracy",
};

class SweepMap extends Panel {
  constructor() {
    super({
      id: "sweep",
      title: "Sweep map",
      redraw: "theme",
      when: () => this.map,
      help: [
        "Many runs at once: every cell is the median over the runs that share the two settings on the axes. Click a cell to open one of its runs. A cell with a dash has no run that got there, for example none that grokked; with a cross, some of its runs diverged or their weights collapsed.",
        "Make a sweep with modgrok sweep in the same store, and it appears here.",
      ],
    });
    const select = (label) => make("select", { "aria-label": label, onchange: () => this.ask() });
    this.which = make("select", { "aria-label": "Sweep", onchange: () => this.open(this.which.value) });
    [this.outcome, this.x, this.y] = ["Outcome", "Across", "Down"].map(select);
    const named = (text, element) => make("label", { class: "mini" }, text, element);
    this.options.append(this.which, this.outcome, named("across", this.x), named("down", this.y));
    this.grid = make("div", { class: "map", id: "sweep-map", tabindex: "0" });
    this.body.append(this.grid);
    on("store", () => this.refresh());
    this.refresh();
  }

  get applies() {
    return super.applies && Boolean(this.sweep);
  }

  async refresh() {
    const found = await source.sweeps().catch(() => []);
    this.options.hidden = !found.length;
    const named = ({ sweep, title }) => (found.filter((other) => other.title === title).length > 1 ? `${title} (${sweep.slice(0, 8)})` : title);
    this.which.replaceChildren(...found.map((one) => make("option", { value: one.sweep }, named(one))));
    const chosen = found.find(({ sweep }) => sweep === state.view.sweep) ?? found[0];
    if (chosen) await this.open(chosen.sweep);
  }

  async open(sweep) {
    try {
      this.sweep = await source.sweep(sweep);
    } catch (error) {
      emit("problem", error.message);
      return;
    }
    this.which.value = sweep;
    const fill = (element, names, chosen) => element.replaceChildren(...names.map((name) => make(
      "option",
      { value: name, selected: name === chosen },
      WORDS[name] ?? name.replaceAll("_", " "),
    )));
    const { axes, outcomes, rows } = this.sweep;
    const ranked = [...axes].sort((a, b) => (a === "seed") - (b === "seed"));
    fill(this.outcome, outcomes, rows.some((row) => row.grokked_at != null) ? "grokked_at" : "test_accuracy");
    fill(this.x, ranked, ranked[0]);
    fill(this.y, ["–", ...ranked], ranked[1] && ranked[1] !== "seed" ? ranked[1] : "–");
    if (state.view.sweep !== sweep) setView({ sweep });
    await this.ask();
  }

  // Asks for the cells of the chosen axes; their medians are those of modgrok's own summary.
  async ask() {
    const { sweep } = this.sweep;
    const choice = { x: this.x.value, y: this.y.value === "–" ? "" : this.y.value, outcome: this.outcome.value };
    try {
      const found = await source.sweepMap(sweep, choice);
      if (this.sweep.sweep === sweep) this.map = found;
    } catch (error) {
      emit("problem", error.message);
    }
    this.update();
  }

  draw() {
    const { x, outcome, x_values: across, y_values: down, cells } = this.map;
    const y = this.map.y ?? "–";
    const at = (a, b) => cells[down.indexOf(b)][across.indexOf(a)];
    const median = (cell) => cell.median;
    const all = down.flatMap((b) => across.map((a) => median(at(a, b)))).filter((v) => v !== null);
    const log = outcome.endsWith("_at") || outcome.endsWith("loss");
    const scale = (v) => (log ? Math.log(Math.max(v, 1e-12)) : v);
    const [low, high] = [Math.min(...all.map(scale)), Math.max(...all.map(scale))];
    const text = (v) => (v === null ? "–" : outcome.endsWith("accuracy") ? percent(v, 0) : number(v, 3));
    const cell = (a, b) => {
      const found = at(a, b);
      const value = median(found);
      const place = value === null || high === low ? 0.12 : 0.12 + (0.8 * (scale(value) - low)) / (high - low);
      const { run, runs } = found;
      const ends = ["diverged", "collapsed"].filter((name) => found[name]).map((name) => `${found[name]} ${name}`);
      const shown = text(value) + (ends.length ? " ✗" : "");
      return make("td", {}, make("button", {
        type: "button", disabled: !run, style: value === null ? "" : `background:${sample("sizes", place)};color:${place > 0.5 ? css("panel") : css("ink")}`,
        title: `${x} ${a}${y === "–" ? "" : `, ${y} ${b}`}: ${text(value)} (${[`${runs} run${runs === 1 ? "" : "s"}`, ...ends].join(", ")})`, onclick: () => emit("open", run),
      }, shown));
    };
    this.grid.replaceChildren(make("table", {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", {}, `${y === "–" ? "" : `${y.replaceAll("_", " ")} ╲ `}${x.replaceAll("_", " ")}`),
          ...across.map((a) => make("th", { scope: "col" }, typeof a === "number" ? number(a) : String(a))),
        ),
      ),
      make(
        "tbody",
        {},
        ...down.map((b) => make(
          "tr",
          {},
          make("th", { scope: "row" }, typeof b === "number" ? number(b) : String(b ?? "")),
          ...across.map((a) => cell(a, b)),
        )),
      )));
    this.key(
      [sample("sizes", 0.12), `low ${WORDS[outcome] ?? outcome}`, "box"],
      [sample("sizes", 0.92), "high", "box"],
    );
  }

  csv() {
    const names = ["run", ...this.sweep.axes, ...this.sweep.outcomes];
    return toCsv(Object.fromEntries(names.map((name) => [name, this.sweep.rows.map((row) => row[name])])));
  }
}

export const create = () => new SweepMap();
