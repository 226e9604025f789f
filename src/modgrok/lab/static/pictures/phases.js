// The sum of phases φ1 + φ2 − φ3 of every neuron, on a circle.

import { dot, prepare } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { number } from "lab/dom.js";

const BINS = 72;

// Neurons stacked outwards by angle, with the mean direction as an arrow whose length is the resultant.
export function drawCircle(canvas, frame) {
  const { context, width, height } = prepare(canvas);
  const [x, y] = [width / 2, height / 2];
  const radius = Math.min(width, height) * 0.31;
  context.strokeStyle = css("faint");
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.stroke();
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const [angle, label] of [[0, "0"], [Math.PI / 2, "π/2"], [Math.PI, "π"], [-Math.PI / 2, "−π/2"]]) {
    context.fillText(
      label,
      x + (radius - 16) * Math.cos(angle),
      y - (radius - 14) * Math.sin(angle) + (angle === 0 ? 11 : 0),
    );
  }
  const counts = new Int32Array(BINS);
  const bins = Array.from(
    frame.residual,
    (angle) => (Number.isNaN(angle) ? -1 : ((Math.round((angle / (2 * Math.PI)) * BINS) % BINS) + BINS) % BINS),
  );
  for (const bin of bins) if (bin >= 0) counts[bin]++;
  const room = Math.min(width, height) / 2 - radius - 6;
  const gap = Math.min(4.2, room / Math.max(1, ...counts));
  counts.fill(0);
  for (let i = 0; i < frame.shown; i++) {
    if (bins[i] < 0) continue;
    const distance = radius + 5 + gap * counts[bins[i]]++;
    const angle = frame.residual[i];
    context.fillStyle = frequencyColor(frame.frequency[i], frame.length);
    dot(context, x + distance * Math.cos(angle), y - distance * Math.sin(angle), 1.9);
  }
  if (frame.phase_mean == null) return;
  const length = radius * frame.phase_resultant;
  context.strokeStyle = css("ink");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + length * Math.cos(frame.phase_mean), y - length * Math.sin(frame.phase_mean));
  context.stroke();
  context.fillStyle = css("ink");
  dot(context, x + length * Math.cos(frame.phase_mean), y - length * Math.sin(frame.phase_mean), 3);
}

// Mean, resultant R and spread √(−2 ln R) of angles, as the frames of the server have them.
export function circular(angles) {
  let [x, y, count] = [0, 0, 0];
  for (const angle of angles) {
    if (Number.isNaN(angle)) continue;
    [x, y, count] = [x + Math.cos(angle), y + Math.sin(angle), count + 1];
  }
  const resultant = Math.hypot(x, y) / count;
  return { phase_mean: count ? Math.atan2(y, x) : null, phase_resultant: resultant, phase_spread: Math.sqrt(-2 * Math.log(resultant)) };
}

export const phaseSentence = (frame) =>
  frame.phase_mean == null
    ? "No neuron tells its phases."
    : `mean ${number(frame.phase_mean, 2)} rad, spread ${number(frame.phase_spread, 2)} rad`;
