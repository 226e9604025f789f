// A small network for one input: the numbers, its neurons as circles filled by what they let through, and its outputs.

import { line } from "lab/canvas.js";
import { css, frequencyColor } from "lab/color.js";
import { hidden, outputs, weight } from "lab/network.js";
import { drawOutputs } from "lab/pictures/outputs.js";

const OUTPUTS = 0.36; // of the height, for the bars

// Lines are as thick as weights and neurons as full as their activations, each relative to the largest of its kind.
export function drawNeurons(context, width, height, { frame, inputs, right, drawn = true, order = Array.from(frame.neurons.keys()) }) {
  const { total } = outputs(frame, inputs);
  const { x, y } = drawOutputs(context, [0, height * (1 - (drawn ? OUTPUTS : 0.62)) - 20, width, height], total, right);
  if (drawn) drawCircles(context, width, height, { frame, inputs, order, goal: [x(right), y(total[right])] });
  return total;
}

function drawCircles(context, width, height, { frame, inputs, order, goal }) {
  const N = frame.width;
  const units = hidden(frame, inputs);
  const looked = inputs.map((value, s) => Array.from({ length: N }, (_, i) => weight(frame, i, s, value)));
  const largest = (values) => Math.max(1e-12, ...values.map(Math.abs));
  const [mostWeight, mostUnit] = [largest(looked.flat()), largest(Array.from(units))];
  const places = order.map((_, place) => ((place + 0.5) / N) * width);
  const at = (i) => places[order.indexOf(i)];
  const thick = Math.min(1, 12 / N);
  const [inputY, neuronY] = [26, height * 0.33];
  const radius = Math.min(15, width / N / 2.6);
  const numbers = inputs.map((_, s) => (width * (2 * s + 1.5)) / (2 * inputs.length + 1));
  const colorOf = (i) => (frame.frequency[i] ? frequencyColor(frame.frequency[i], frame.length) : css("muted"));
  for (let i = 0; i < N; i++) {
    looked.forEach((values, s) => {
      context.strokeStyle = values[i] < 0 ? css("negative") : css("positive");
      context.lineWidth = 0.5 + (3.5 * thick * Math.abs(values[i])) / mostWeight;
      line(context, [[numbers[s], inputY], [at(i), neuronY]]);
    });
    context.strokeStyle = colorOf(i);
    context.lineWidth = 0.5 + 4 * thick * Math.sqrt(Math.abs(units[i]) / mostUnit);
    context.globalAlpha = 0.8;
    line(context, [[at(i), neuronY], goal]);
    context.globalAlpha = 1;
  }
  const circle = (cx, cy, r) => { context.beginPath(); context.arc(cx, cy, r, 0, 2 * Math.PI); };
  for (let i = 0; i < N; i++) {
    context.fillStyle = css("panel");
    context.lineWidth = 2;
    context.strokeStyle = colorOf(i);
    circle(at(i), neuronY, radius);
    context.fill();
    context.stroke();
    context.fillStyle = colorOf(i);
    circle(at(i), neuronY, radius * Math.sqrt(Math.abs(units[i]) / mostUnit));
    context.fill();
  }
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `600 15px ${css("sans")}`;
  inputs.forEach((value, s) => {
    context.fillStyle = css("ink");
    circle(numbers[s], inputY, 20);
    context.fill();
    context.fillStyle = css("panel");
    context.fillText(String(value), numbers[s], inputY + 1);
  });
}
