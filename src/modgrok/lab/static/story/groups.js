// Not only clocks: moves of a triangle, and the orders of five things, followed one by another; and the network of their
// matrices, of which kinds can be taken away.

import { dot, line, prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { choice, grouped, make } from "lab/dom.js";
import { answersOf, largest, outputs, outputTable } from "lab/network.js";
import { cellAt, drawCells, withEdges } from "lab/pictures/cells.js";
import { drawOutputs } from "lab/pictures/outputs.js";
import { writeNumbers } from "lab/story/numbers.js";
import { Scene } from "lab/story/scene.js";
import { permutations, products, representations, writtenDown } from "lab/symmetric.js";

const GROUPS = [["3", "a triangle"], ["5", "five things"]];
const MOVES = ["stay", "flip, top fixed", "flip, left fixed", "turn right", "turn left", "flip, right fixed"];
const THINGS = [..."ABCDE"];
const AHEAD = 1e-6; // by which the right answer leads, at least: beyond rounding
const BUDGET = 12; // milliseconds of a frame for the table

function groupOf(n) {
  const elements = permutations(n);
  const table = products(elements);
  const kinds = representations(n, elements, table).map((one, number) => ({ ...one, number }));
  return { n, elements, table, order: elements.length, kinds: kinds.slice(1) };
}

const widthOf = (kinds) => 1 + kinds.reduce((sum, { dimension }) => sum + dimension ** 3, 0);

export class GroupsScene extends Scene {
  constructor(id, replay) {
    super(id, "The table of all pairs of moves: blue where the network that was written down is right");
    this.groups = new Map(GROUPS.map(([n]) => [n, groupOf(Number(n))]));
    this.canvas.classList.add("cells");
    this.canvas.addEventListener("pointerdown", (event) => this.choose(...cellAt(event, this.canvas, this.group.order, this.group.order)));
    this.moves = make("canvas", { class: "lists", role: "img", "aria-label": "The things at rest, after the first move, and after both" });
    this.bars = make("canvas", { class: "curves", role: "img", "aria-label": "The outputs of the network for the chosen moves" });
    this.outputsOf = make("p", { class: "above" });
    this.which = choice("Moves of", GROUPS, "3", (n) => this.take(n));
    this.taken = make("div", { class: "choice", role: "group", "aria-label": "Kinds of matrices" });
    this.score = make("p", { class: "score" });
    this.says = make("p", { class: "reply", role: "status" });
    const slider = (label, place) => make("input", { type: "range", min: 0, "aria-label": label,
      oninput: (event) => this.choose(...this.pair.with(place, Number(event.target.value))) });
    this.sliders = [slider("first move", 0), slider("second move", 1)];
    const row = (words, place) => make("label", {}, make("span", {}, words), this.sliders[place]);
    this.edged = make("div");
    this.figure.prepend(this.which);
    this.figure.append(make("div", { class: "bench" }, this.edged, this.moves), make("div", { class: "sliders" }, row("first", 0), row("then", 1)), this.says,
      this.score, make("div", { class: "trials" }, make("p", {}, make("span", { class: "above" }, "kinds of matrices in the network (′: another of that size), with their neurons; press one to take it away"), this.taken)), this.outputsOf, this.bars);
    const [triangle, five] = GROUPS.map(([n]) => this.groups.get(n));
    const one = ({ kinds }, d) => widthOf([kinds.find(({ dimension }) => dimension === d)]);
    writeNumbers(replay, {
      triangleWidth: widthOf(triangle.kinds), trianglePairs: triangle.order ** 2, triangleOne: one(triangle, 2),
      fiveOrders: five.order, fiveWidth: widthOf(five.kinds), fiveOne: one(five, 4), fivePairs: grouped(five.order ** 2),
    });
    this.take("3");
  }

  take(n) {
    this.group = this.groups.get(n);
    this.which.show(n);
    this.pair = n === "3" ? [1, 3] : [33, 76];
    this.edged.replaceChildren(withEdges(this.canvas, this.group.order - 1, ["first", "then"]));
    for (const slider of this.sliders) slider.max = this.group.order - 1;
    const button = ({ number, dimension }, i, all) => make("button", { type: "button", "data-kind": number, onclick: () => this.toggle(number) },
      `size ${dimension}${all.slice(0, i).some((other) => other.dimension === dimension) ? "′" : ""}: ${dimension ** 3}`);
    this.taken.replaceChildren(...this.group.kinds.map(button));
    this.build(new Set(this.group.kinds.map(({ number }) => number)));
  }

  toggle(number) {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(number)) chosen.add(number);
    this.build(chosen);
  }

  // Another network: its answers fill the table row by row.
  build(chosen) {
    this.chosen = chosen;
    for (const button of this.taken.children) button.setAttribute("aria-pressed", String(chosen.has(Number(button.dataset.kind))));
    this.network = writtenDown(this.group.order, this.group.kinds.filter(({ number }) => chosen.has(number)));
    this.margins = new Float32Array(this.group.order ** 2).fill(-1);
    this.done = 0;
    this.redraw();
  }

  choose(first, second) {
    this.pair = [first, second];
    this.redraw();
  }

  get right() {
    return this.margins.reduce((sum, margin) => sum + Number(margin > AHEAD), 0);
  }

  product(x, y) {
    return this.group.table[x * this.group.order + y];
  }

  // Computes rows of the table, as many as a frame of the screen has time for.
  fill(until = performance.now() + BUDGET) {
    const { order } = this.group;
    for (; this.done < order && performance.now() < until; this.done++) {
      this.margins.set(answersOf(outputTable(this.network, this.done, this.done + 1), order, (x, y) => this.product(x, y), this.done).margins, this.done * order);
    }
    this.redraw();
    this.section.dataset.filled = `${this.group.n}:${[...this.chosen].sort().join()}:${this.done === order ? this.right : ""}`;
  }

  print() {
    this.fill(Infinity);
    this.draw();
  }

  // What a move is called: of five things the order in which it leaves them.
  nameOf(move) {
    const { n, elements } = this.group;
    return n === 3 ? MOVES[move] : this.arranged(elements[move]).join(" ");
  }

  arranged(move) {
    return move.reduce((found, to, thing) => ((found[to] = THINGS[thing]), found), []);
  }

  draw() {
    const { group, network, pair } = this;
    const [x, y] = pair;
    const right = this.product(x, y);
    drawCells(this.canvas, group.order, group.order, (at) => [0, this.margins[at] - AHEAD], pair);
    this.drawMoves(group.elements[x], group.elements[right]);
    const { total } = outputs(network, pair);
    const said = largest(total);
    const { context, width, height } = prepare(this.bars);
    drawOutputs(context, [0, 4, width, height], total, right, said);
    this.score.replaceChildren(make("span", {}, make("b", {}, network.width), network.width === 1 ? " neuron" : " neurons"),
      make("span", { class: "test" }, "right ", make("b", {}, `${grouped(this.right)} of ${grouped(this.done * group.order)}`), this.done < group.order ? " so far" : ""));
    this.sliders.forEach((slider, i) => {
      slider.value = pair[i];
      slider.setAttribute("aria-valuetext", this.nameOf(pair[i]));
    });
    const back = this.product(y, x);
    const names = [x, y, right, back].map((move) => this.nameOf(move));
    this.says.textContent = `${group.n === 3 ? `First ${names[0]}, then ${names[1]}` : `${names[0]} after the first, after both`}: ${names[2]}. The other way round: ${back === right ? "the same" : names[3]}.`;
    this.outputsOf.textContent = `outputs of the network, one for each ${group.n === 3 ? "move" : "order"}; number ${right} is “${names[2]}”`;
    if (this.done < group.order) this.fill();
  }

  // At rest, after the first move, after both: a triangle with its corners, or things in a row whose ways are drawn.
  drawMoves(first, both) {
    const { context, width, height } = prepare(this.moves);
    const { n } = this.group;
    const tall = height / 3;
    const size = Math.min(tall / 2 - 16, width / 4);
    const placeOf = (stage, place) => {
      const middle = (stage + 0.5) * tall;
      if (n !== 3) return [((place + 0.5) / n) * width, middle];
      const angle = (2 * Math.PI * place) / 3;
      return [width / 2 + size * Math.sin(angle), middle + 6 - size * Math.cos(angle)];
    };
    const stages = [[...first.keys()], first, both];
    context.strokeStyle = css("faint");
    context.lineWidth = 1.5;
    stages.forEach((stage, s) => {
      if (n === 3) line(context, [0, 1, 2, 0].map((place) => placeOf(s, place)));
      else if (s) stage.forEach((to, thing) => line(context, [placeOf(s - 1, stages[s - 1][thing]), placeOf(s, to)]));
    });
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = `600 14px ${css("sans")}`;
    stages.forEach((stage, s) => stage.forEach((place, thing) => {
      const [x, y] = placeOf(s, place);
      context.fillStyle = css("ink");
      dot(context, x, y, 12);
      context.fillStyle = css("page");
      context.fillText(THINGS[thing], x, y + 1);
    }));
    context.font = `12px ${css("sans")}`;
    context.textAlign = "left";
    context.fillStyle = css("muted");
    ["at rest", "after the first", "after both"].forEach((words, s) => n === 3 && context.fillText(words, 2, s * tall + 10));
  }
}
