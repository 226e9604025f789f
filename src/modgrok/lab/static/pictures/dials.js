// Three clocks of one neuron: n turns the first hand, m the second, and the answer whose mark the sum of both angles points
// at is favored by the readout. Without phases all of them begin at the top.

import { dot, line, prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";

export function drawDials(canvas, { k, length, phases, n, m, right }) {
  const { context, width, height } = prepare(canvas);
  const radius = Math.min(width / 7.6, (height - 50) / 2.3);
  const y = 22 + radius * 1.15;
  const centers = [0.165, 0.5, 0.835].map((share) => share * width);
  const turn = (x) => (2 * Math.PI * ((k * x) % length)) / length;
  const start = phases ?? [0, 0, 0];
  const angles = [turn(n) + start[0], turn(m) + start[1]];
  const sum = angles[0] + angles[1];
  const point = (c, angle, far) => [centers[c] + far * Math.sin(angle), y - far * Math.cos(angle)];
  context.textAlign = "center";
  context.textBaseline = "middle";
  ["n", "m", "answer"].forEach((label, c) => {
    const starts = start[c];
    for (let x = 0; x < length; x++) {
      const here = x === [n, m, right][c];
      context.fillStyle = css(here ? "ink" : "faint");
      dot(context, ...point(c, turn(x) + starts, radius), here ? 5 : 1.7);
    }
    if (phases) {
      context.strokeStyle = css("muted");
      context.setLineDash([2, 4]);
      context.lineWidth = 1.5;
      line(context, [point(c, 0, 0), point(c, starts, radius * 0.9)]);
      context.setLineDash([]);
      context.fillStyle = css("muted");
      context.font = `12px ${css("sans")}`;
      context.fillText(`φ${c + 1}`, ...point(c, starts + 0.36, radius * 0.6)); // beside its line
    }
    context.strokeStyle = c === 2 ? css("ink") : frequencyColor(k, length);
    context.lineWidth = 4;
    context.lineCap = "round";
    line(context, [point(c, 0, 0), point(c, c === 2 ? sum : angles[c], radius * 0.82)]);
    context.lineCap = "butt";
    context.fillStyle = css("ink");
    dot(context, centers[c], y, 4);
    context.font = `600 15px ${css("sans")}`;
    context.fillText(`${label} = ${[n, m, right][c]}`, centers[c], y + radius + 24);
  });
  context.font = `600 24px ${css("sans")}`;
  context.fillStyle = css("muted");
  context.fillText("+", width / 3, y);
  context.fillText("=", (2 * width) / 3, y);
}
