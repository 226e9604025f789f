// Panel 6: the p × p table of answers, and all outputs at the pair under the pointer.

import { heatmap, prepare } from "lab/canvas.js";
import { refusal } from "lab/activations.js";
import { css, frequencyColor, sample } from "lab/color.js";
import { choice, make, number, percent } from "lab/dom.js";
import { largest, outputs } from "lab/network.js";
import { cellAt, drawCells } from "lab/pictures/cells.js";
import { tableOrder, taskTables } from "lab/tasktable.js";
import { Panel, toCsv } from "lab/panel.js";
import { setView, state } from "lab/store.js";

const RANKED = 5; // frequencies shown by themselves at the pointer

// Rows and columns of the table: the numbers of values of its two variables.
const sizesOf = (frame) => frame.sizes ?? [frame.modulus, frame.modulus];

// `prediction`, `answers` (right or wrong, trained or not) or `margin` over the table; inputs that do not occur stay empty.
export function drawTable(canvas, frame, mode, tables, chosen = null, order = null) {
  const [rows, columns] = sizesOf(frame);
  const place = order ? (at) => order.rows[Math.floor(at / columns)] * columns + order.columns[at % columns] : (at) => at;
  if (mode === "answers") {
    const cell = order && chosen ? [order.rowOf[chosen[0]], order.columnOf[chosen[1]]] : chosen;
    const score = (at) => (tables.answers[at] < 0 ? [0, -1] : [tables.trained[at], frame.margins[at]]);
    drawCells(canvas, rows, columns, (at) => score(place(at)), cell, order?.size);
    return;
  }
  const top = mode === "margin" ? Math.max(1e-9, ...frame.margins.map(Math.abs)) : Math.max(1, frame.answers_count ?? frame.modulus) - 1;
  const entry = {
    prediction: (at) => Math.round((255 * (order ? order.rankOf[frame.predictions[at]] : frame.predictions[at])) / top),
    margin: (at) => Math.round(127.5 - (127.5 * frame.margins[at]) / top),
  }[mode];
  heatmap(canvas, rows, columns, mode === "prediction" ? "sizes" : "diverging", (n, m) => (tables.answers[place(n * columns + m)] < 0 ? 0 : entry(place(n * columns + m))));
}

class Answers extends Panel {
  constructor() {
    super({
      id: "answers",
      title: "The table of answers",
      redraw: "frame view",
      when: () => state.frame?.predictions && taskTables(state.run),
      help: [
        "Every cell is a pair (n, m), n downwards and m to the right. The table shows whether the network's answer is right, the answer itself, or the margin: the right answer's output minus the largest of the others.",
        "The table of a group can be drawn in the order of the cosets of a subgroup H: rows x by the left cosets xH, columns y by the right cosets Hy, with a line after each. The product of x h and h′ y lies in xHy, so that between lines only as many answers occur as H has elements. Permutations are numbered in lexicographic order.",
        "The right/wrong view marks the cells it was trained on: a network that has memorized is right there and wrong elsewhere.",
        "Point at a cell (or choose n and m) for its answer, and of a two-layer network on numbers all p outputs. Below them are the parts of the strongest frequencies: waves over the answers, most of them high at the right one, where their crests meet. The page computes them from weights rounded to 8 bits.",
      ],
    });
    this.mode = choice(
      "What the table shows",
      [["answers", "right/wrong"], ["prediction", "answer"], ["margin", "margin"]],
      state.view.table,
      (key) => setView({ table: key }),
    );
    const field = (name, place) => make(
      "input",
      { type: "number", min: 0, "aria-label": name, placeholder: name, onchange: () => this.type(place) },
    );
    this.fields = [field("n", 0), field("m", 1)];
    const named = (words, input) => make("label", { class: "mini" }, words, input);
    this.order = choice("Order of the elements", [["cosets", "by cosets"], ["number", "by number"]], state.view.order, (key) => setView({ order: key }));
    this.options.append(this.mode, this.order, named("n ↓", this.fields[0]), named("m →", this.fields[1]));
    this.canvas = make("canvas", { class: "table", id: "table-canvas", role: "img", "aria-label": "Table of answers over n and m",
      onpointermove: (event) => this.point(event, false), onclick: (event) => this.point(event, true), onpointerleave: () => this.hover(null) });
    this.bars = make(
      "canvas",
      { class: "bars", role: "img", "aria-label": "All outputs at the chosen pair, split by frequency" },
    );
    this.words = make("p", { class: "sentence" });
    this.axes = make("p", { class: "caption" });
    this.body.append(this.canvas, this.axes, this.bars, this.words);
    this.hovered = null;
  }

  waiting() {
    if (state.frame && !state.frame.predictions) return "This table is too large to be computed while you watch.";
    return super.waiting();
  }

  type(place) {
    const cell = [...(state.view.cell ?? [1, 2])];
    cell[place] = Math.min(Math.max(Math.round(Number(this.fields[place].value)) || 0, 0), sizesOf(state.frame)[place] - 1);
    setView({ cell });
  }

  point(event, keep) {
    const order = tableOrder(state.run);
    const [row, column] = cellAt(event, this.canvas, ...sizesOf(state.frame));
    const cell = order ? [order.rows[row], order.columns[column]] : [row, column];
    if (keep) setView({ cell });
    else this.hover(cell);
  }

  hover(cell) {
    this.hovered = cell;
    if (this.when()) this.drawOutputs();
  }

  // Whether all outputs can be computed here, from weights that are all here.
  get whole() {
    const { frame } = state;
    return Boolean(frame.blocks && frame.shown === frame.width && !refusal(frame.activation));
  }

  draw() {
    const { frame, view } = state;
    this.mode.show(view.table);
    const tables = taskTables(state.run);
    const order = tableOrder(state.run);
    this.order.show(view.order);
    this.order.hidden = !state.run.task.cosets;
    this.axes.hidden = !order;
    this.axes.textContent = order ? `Down: n by left cosets nH, across: m by right cosets Hm, of H = ${order.subgroup}. Between two lines ${order.size} answers occur.` : "";
    drawTable(this.canvas, frame, view.table, tables, view.cell, order);
    const { accuracy } = frame;
    const keys = {
      answers: [
        [css("train"), "trained on, right", "box"],
        [css("cell-trained"), "trained on, wrong", "box"],
        [css("test"), "unseen, right", "box"],
        [css("cell"), "unseen, wrong", "box"],
      ],
      prediction: [[sample("sizes", 0.05), order ? `in ${order.subgroup}` : "0", "box"], [sample("sizes", 1), order ? "in its last coset" : `${(frame.answers_count ?? frame.modulus) - 1}`, "box"]],
      margin: [[sample("diverging", 0.1), "right by far", "box"], [sample("diverging", 0.9), "wrong by far", "box"]],
    };
    this.key(...keys[view.table], [null, `${percent(accuracy)} of all pairs right`]);
    this.drawOutputs();
  }

  drawOutputs() {
    const { frame } = state;
    const [n, m] = this.hovered ?? state.view.cell ?? [1, 2];
    const sizes = sizesOf(frame);
    if (n >= sizes[0] || m >= sizes[1]) return;
    this.fields.forEach((field, i) => {
      field.max = sizes[i] - 1;
      if (document.activeElement !== field) field.value = [n, m][i];
    });
    const at = n * sizes[1] + m;
    const right = taskTables(state.run).answers[at];
    const trained = taskTables(state.run).trained[at] ? "It was trained on this pair." : "It has never seen this pair.";
    const { whole } = this;
    this.bars.hidden = !whole;
    if (right < 0) this.words.textContent = `(n, m) = (${n}, ${m}) does not occur in this task.`;
    else if (!whole) this.words.textContent = `(n, m) = (${n}, ${m}): the answer is ${right}, the network says ${frame.predictions[at]}. ${trained} ${(frame.blocks && refusal(frame.activation)) ?? ""}`;
    else {
      const { total, parts } = outputs(frame, [n, m]);
      drawBars(this.bars, frame, total, parts, right);
      this.words.textContent = `(n, m) = (${n}, ${m}): the answer is ${right}, the network says ${largest(total)}. Output at ${right}: ${number(total[right], 3)}. ${trained}`;
    }
  }

  csv() {
    const { frame } = state;
    const [rows, columns] = sizesOf(frame);
    const { answers, trained } = taskTables(state.run);
    const places = Array.from({ length: rows * columns }, (_, i) => i);
    return toCsv({
      n: places.map((i) => Math.floor(i / columns)),
      m: places.map((i) => i % columns),
      answer: answers,
      prediction: frame.predictions,
      margin: frame.margins,
      trained,
    });
  }
}

function drawBars(canvas, frame, total, parts, right) {
  const { context, width, height } = prepare(canvas);
  const ranked = frame.ranking.slice(0, RANKED).map(([k]) => k).filter((k) => parts.has(k));
  const rows = [
    ["all", total, css("faint")],
    ...ranked.map((k) => [`k = ${k}`, parts.get(k), frequencyColor(k, frame.length)]),
  ];
  const left = 14 + Math.max(...rows.map(([label]) => context.measureText(label).width));
  const tall = (height - 20) / (rows.length + 1.2);
  const step = (width - left - 4) / total.length;
  context.textBaseline = "middle";
  context.fillStyle = css("edge");
  context.fillRect(left + (right + 0.5) * step - 0.5, 0, 1, height - 18);
  let y = 0;
  for (const [label, values, color] of rows) {
    const room = label === "all" ? 2.2 * tall : tall;
    const [low, high] = [Math.min(0, ...values), Math.max(1e-12, ...values)];
    const at = (v) => y + 3 + (room - 6) * (1 - (v - low) / (high - low));
    context.fillStyle = css("muted");
    context.textAlign = "right";
    context.fillText(label, left - 8, y + room / 2);
    values.forEach((value, q) => {
      context.fillStyle = q === right ? css("ink") : color;
      context.fillRect(
        left + q * step,
        Math.min(at(value), at(0)),
        Math.max(1, step - 0.4),
        Math.max(0.6, Math.abs(at(value) - at(0))),
      );
    });
    y += room;
  }
  context.fillStyle = css("muted");
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText("answer q, the right one marked", (left + width) / 2, height);
}

export const create = () => new Answers();
