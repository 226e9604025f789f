// Drawing on canvases: sharp at any pixel ratio, heat maps one pixel for each entry, simple axes.

import { css, table } from "lab/color.js";
import { SvgContext } from "lab/svg.js";

let recording = null;

// Draws once more, into SVG instead of onto canvases, and returns what was drawn on each of them.
export function record(draw) {
  recording = new Map();
  try {
    draw();
    return recording;
  } finally {
    recording = null;
  }
}

// The context of a canvas, cleared, in CSS pixels.
export function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (!recording && (canvas.width !== w || canvas.height !== h)) [canvas.width, canvas.height] = [w, h];
  const context = recording ? new SvgContext(width, height) : canvas.getContext("2d");
  recording?.set(canvas, context);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${css("sans")}`;
  context.fillStyle = css("muted");
  context.strokeStyle = css("line");
  context.lineWidth = 1;
  [context.textAlign, context.textBaseline] = ["left", "alphabetic"];
  return { context, width, height };
}

const buffers = new WeakMap();

// A matrix as an image; `index(row, column)` gives the map's entry 0 … 255.
export function heatmap(canvas, rows, columns, map, index) {
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
    buffers.delete(canvas);
  }
  const context = canvas.getContext("2d");
  if (!buffers.has(canvas)) buffers.set(canvas, context.createImageData(columns, rows));
  const image = buffers.get(canvas);
  const pixels = new Uint32Array(image.data.buffer);
  const colors = table(map);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) pixels[at++] = colors[index(row, column)];
  }
  context.putImageData(image, 0, 0);
  canvas.style.imageRendering = rows < canvas.clientHeight ? "pixelated" : "auto";
}

// Ticks and labels of a plain x axis below, and of a y axis left of, the box [left, top, right, bottom].
export function axes(context, box, x, y) {
  const [left, top, right, bottom] = box;
  context.strokeStyle = css("line");
  context.fillStyle = css("muted");
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const [place, label] of x.ticks) {
    const at = left + place * (right - left);
    context.beginPath();
    context.moveTo(at, top);
    context.lineTo(at, bottom);
    context.stroke();
    context.fillText(label, at, bottom + 5);
  }
  context.fillText(x.label, (left + right) / 2, bottom + 19);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [place, label] of y.ticks) {
    const at = bottom - place * (bottom - top);
    context.beginPath();
    context.moveTo(left, at);
    context.lineTo(right, at);
    context.stroke();
    context.fillText(label, left - 6, at);
  }
  context.save();
  context.translate(10, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(y.label, 0, 0);
  context.restore();
}

// Bars side by side over their axes, each [value, color, mark]: a mark is a line across it at another value. `y.write` spells the
// largest value. Returns the box of the axes, and the drawing context.
export function barChart(canvas, bars, x, y) {
  const { context, width, height } = prepare(canvas);
  const box = [52, 10, width - 12, height - 34];
  const [left, ceiling, right, floor] = box;
  const top = Math.max(1e-9, ...bars.map(([value, , mark]) => Math.max(value, mark ?? 0)));
  const wide = (right - left) / bars.length;
  axes(context, box, x, { label: y.label, ticks: [[0, "0"], [1, y.write(top)]] });
  bars.forEach(([value, color, mark], i) => {
    const [tall, at] = [value, mark ?? 0].map((v) => (v / top) * (floor - ceiling));
    context.fillStyle = color;
    context.fillRect(left + i * wide + 0.5, floor - tall, Math.max(1, wide - 1), tall);
    context.fillStyle = css("ink");
    if (mark != null) context.fillRect(left + i * wide, floor - at - 1, wide, 2);
  });
  return { box, context };
}

export function dot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

export function line(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

// "1 2 5" steps that divide [0, last] into about `count` parts.
export function roundSteps(last, count) {
  const rough = last / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough);
  return Array.from({ length: Math.floor(last / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}
