// The outputs of a network for one input as bars: the right answer dark, with its number below it, a wrong guess red.

import { css } from "lab/color.js";

const BELOW = 20; // pixels for the numbers

// Draws into the box [left, top, right, bottom] and returns where an answer and a value stand in it.
export function drawOutputs(context, [left, top, right, bottom], values, answer, said = answer) {
  const bar = (right - left) / values.length;
  const floor = bottom - BELOW;
  const [low, high] = [Math.min(0, ...values), Math.max(1e-12, ...values)];
  const x = (q) => left + (q + 0.5) * bar;
  const y = (value) => floor - ((value - low) / (high - low)) * (floor - top);
  values.forEach((value, q) => {
    context.fillStyle = css(q === answer ? "ink" : q === said ? "bad" : "faint");
    context.fillRect(x(q) - bar / 2, Math.min(y(value), y(0)), Math.max(1, bar - 1), Math.max(1, Math.abs(y(value) - y(0))));
  });
  context.font = `12px ${css("sans")}`;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const write = (text, q) => {
    const room = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(x(q), left + room), right - room), bottom - 5);
  };
  context.fillStyle = css("ink");
  write(`▲ ${answer}`, answer);
  context.fillStyle = css("muted");
  for (const q of [0, values.length - 1]) if (Math.abs(x(q) - x(answer)) > 32) write(String(q), q);
  return { x, y };
}
