// One input followed through a network: look-up, square (or another activation), and the waves of the readout adding up.

import { line } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { hidden, outputs, weight } from "lab/network.js";
import { drawOutputs } from "lab/pictures/outputs.js";

// Frequencies by how much they add to the right answer at this input, most first.
export function rankedParts(frame, inputs, right) {
  const { total, parts } = outputs(frame, inputs);
  const ranked = [...parts.entries()].sort((a, b) => b[1][right] - a[1][right]);
  return { total, ranked };
}

function bars(context, [left, top, right, bottom], values, color) {
  const most = Math.max(1e-12, ...values.map(Math.abs));
  const low = values.some((v) => v < 0);
  const zero = low ? (top + bottom) / 2 : bottom;
  const step = (right - left) / values.length;
  values.forEach((value, i) => {
    const tall = (Math.abs(value) / most) * (low ? (bottom - top) / 2 : bottom - top);
    context.fillStyle = color(i);
    context.fillRect(left + i * step, value < 0 ? zero : zero - tall, Math.max(0.7, step - 0.6), Math.max(0.6, tall));
  });
}

// `count` waves are added; `order` places the neurons.
export function drawPath(context, width, height, { frame, inputs, right, order, count, words }) {
  const color = (i) => frequencyColor(frame.frequency[order[i]], frame.length);
  const left = 4;
  const label = (text, y, x = left) => {
    context.font = `600 13px ${css("sans")}`;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = css("ink");
    context.fillText(text, x, y);
  };
  const small = height * 0.12;
  const looked = inputs.map((x, s) => order.map((i) => weight(frame, i, s, x)));
  let y = 0;
  looked.forEach((values, s) => {
    label(words.look[s], y + 13);
    bars(context, [left, y + 18, width - left, y + 18 + small - 8], values, color);
    y += small + 14;
  });
  const units = hidden(frame, inputs);
  label(words.square, y + 13);
  bars(context, [left, y + 18, width - left, y + 18 + small - 4], order.map((i) => units[i]), color);
  y += small + 20;
  const { ranked } = rankedParts(frame, inputs, right);
  const added = ranked.slice(0, count);
  const p = frame.modulus;
  const sum = new Float64Array(p);
  for (const [, part] of added) part.forEach((value, q) => (sum[q] += value));
  label(words.waves(count, ranked.length), y + 13);
  const waves = [y + 20, y + 20 + height * 0.17];
  const most = Math.max(1e-12, ...ranked.map(([, part]) => Math.max(...part.map(Math.abs))));
  const x = (q) => left + ((q + 0.5) / p) * (width - 2 * left);
  context.fillStyle = css("line");
  context.fillRect(x(right) - 0.5 * (width / p), waves[0], width / p, height - waves[0] - 16);
  added.forEach(([k, part], place) => {
    context.globalAlpha = place === added.length - 1 ? 1 : 0.35;
    context.lineWidth = place === added.length - 1 ? 2.5 : 1.2;
    context.strokeStyle = k ? frequencyColor(k, frame.length) : css("muted");
    line(context, Array.from(part, (value, q) => [x(q), (waves[0] + waves[1]) / 2 - (value / most) * ((waves[1] - waves[0]) / 2)]));
  });
  context.globalAlpha = 1;
  label(words.sum, waves[1] + 18);
  drawOutputs(context, [left, waves[1] + 24, width - left, height], sum, right);
}
