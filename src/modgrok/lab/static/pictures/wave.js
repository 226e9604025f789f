// The weights of one block of a neuron as dots, with its wave: in the order of numbers, or unwrapped so that the wave is
// one hump, numbers in the order of k·x mod L.

import { dot, line } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";

const POINTS = 400;

// `unwrapped` runs from 0 (plain order) to 1; `box` is [left, top, right, bottom].
export function drawWave(context, box, { values, k, length, amplitude, phase, unwrapped = 0, marked = null, top }) {
  const [left, up, right, down] = box;
  const y = (v) => (up + down) / 2 - ((v / top) * (down - up)) / 2;
  const x = (place) => left + ((place + 0.5) / length) * (right - left);
  context.strokeStyle = css("line");
  context.lineWidth = 1;
  line(context, [[left, y(0)], [right, y(0)]]);
  const color = frequencyColor(k, length);
  if (amplitude > 0) {
    for (const [turns, strength] of [[k, 1 - unwrapped], [1, unwrapped]]) {
      if (strength < 0.02) continue;
      context.globalAlpha = strength;
      context.strokeStyle = color;
      context.lineWidth = 2;
      line(context, Array.from({ length: POINTS + 1 }, (_, i) => {
        const place = (i / POINTS) * (length - 1);
        return [x(place), y(amplitude * Math.cos((2 * Math.PI * turns * place) / length + phase))];
      }));
    }
    context.globalAlpha = 1;
  }
  context.fillStyle = css("ink");
  const radius = Math.max(1.4, Math.min(3, (right - left) / length / 3));
  values.forEach((value, n) => {
    const place = (1 - unwrapped) * n + unwrapped * ((k * n) % length);
    context.fillStyle = n === marked ? css("bad") : css("ink");
    dot(context, x(place), y(value), n === marked ? radius + 2 : radius);
  });
}
