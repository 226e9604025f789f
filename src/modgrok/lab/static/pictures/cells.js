// The table as the story and the lab color it: trained and right, unseen and right, and the same where wrong.

import { prepare } from "lab/canvas.js";
import { css } from "lab/color.js";
import { make } from "lab/dom.js";

// `at(cell)` gives [trained, margin]; `block`: a line after every `block` cells, down and across.
export function drawCells(canvas, rows, columns, at, chosen = null, block = null) {
  const { context, width, height } = prepare(canvas);
  const size = Math.min(width / columns, height / rows);
  const gap = size > 5 ? 1 : 0;
  const colors = ["cell", "test", "cell-trained", "train"].map(css);
  context.fillStyle = colors[0];
  context.fillRect(0, 0, size * columns - gap, size * rows - gap);
  for (const which of [1, 2, 3]) {
    context.fillStyle = colors[which];
    for (let n = 0; n < rows; n++) {
      for (let m = 0; m < columns; m++) {
        const [trained, margin] = at(n * columns + m);
        if (2 * Number(trained) + Number(margin > 0) !== which) continue;
        context.fillRect(m * size, n * size, size - gap, size - gap);
      }
    }
  }
  context.fillStyle = css("panel");
  for (let edge = block ?? rows; edge < rows; edge += block) {
    context.fillRect(0, edge * size - 1.5, size * columns, 2.5);
    context.fillRect(edge * size - 1.5, 0, 2.5, size * rows);
  }
  if (!chosen) return;
  context.strokeStyle = css("ink");
  context.lineWidth = 2.5;
  context.strokeRect(chosen[1] * size - 2, chosen[0] * size - 2, size + 4 - gap, size + 4 - gap);
}

// A table with its variables at its edges: the first down, the second across, from 0 to the last number.
export function withEdges(canvas, last, [down, across] = ["n", "m"]) {
  const edge = (name, variable) => make("span", { class: name, "aria-hidden": "true" }, make("i", {}, 0), make("b", {}, variable), make("i", {}, last));
  return make("div", { class: "edged" }, edge("across", across), edge("down", down), canvas);
}

// The cell under a pointer.
export function cellAt(event, canvas, rows, columns) {
  const size = Math.min(canvas.clientWidth / columns, canvas.clientHeight / rows);
  const clip = (x, most) => Math.min(Math.max(Math.floor(x / size), 0), most - 1);
  return [clip(event.offsetY, rows), clip(event.offsetX, columns)];
}
