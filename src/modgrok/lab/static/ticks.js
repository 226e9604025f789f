// Ticks that fit and differ: [value, label] pairs for steps, for linear and for logarithmic axes.

import { number } from "lab/dom.js";
import { roundSteps } from "lab/canvas.js";

const [EACH, WIDE] = [26, 74]; // pixels that a label needs, down and across
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

const power = (exponent) => (exponent >= 0 && exponent <= 2 ? String(10 ** exponent) : `10${[...String(exponent)].map((c) => RAISED[c]).join("")}`);

// Labels with as many digits as keep them apart.
function distinct(values) {
  for (let digits = 2; digits <= 6; digits++) {
    const labels = values.map((value) => number(value, digits));
    if (new Set(labels).size === values.length) return values.map((value, i) => [value, labels[i]]);
  }
  return [[values[0], number(values[0], 3)]];
}

// Decades, thinned to what fits; within two decades also halves of them (1, 2, 5), and else three values.
export function logTicks(low, high, tall) {
  const most = Math.max(2, Math.floor(tall / EACH));
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (last - first >= 1) {
    const stride = Math.ceil((last - first + 1) / most);
    return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, i) => first + i * stride).map((e) => [10 ** e, power(e)]);
  }
  const fine = [];
  for (let e = first - 1; e <= last + 1; e++) for (const digit of [1, 2, 5]) fine.push(digit * 10 ** e);
  const inside = fine.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  if (inside.length >= 2) return distinct(inside);
  return high > low * (1 + 1e-9) ? distinct([low, Math.sqrt(low * high), high]) : [[low, number(low, 3)]];
}

export function linearTicks(low, high, tall, write = (v) => number(v, 3)) {
  const count = Math.max(2, Math.floor(tall / (1.4 * EACH)));
  const inside = roundSteps(high - low || 1, count).map((step) => low + step);
  return low === 0 || high - low > 1e-9 ? inside.map((value) => [value, write(value)]) : distinct([low]);
}

// Steps along an axis of that many pixels.
export function stepTicks(last, log, wide) {
  const most = Math.max(2, Math.floor(wide / WIDE));
  if (!log) return roundSteps(last, most).map((step) => [step, short(step)]);
  const decades = Math.floor(Math.log10(last) + 1e-9);
  const stride = Math.max(1, Math.ceil((decades + 1) / most));
  const ticks = [];
  for (let e = 0; e <= decades; e += stride) ticks.push([10 ** e, short(10 ** e)]);
  return [[0, "0"], ...ticks];
}

const short = (step) => (step >= 1e6 ? `${step / 1e6}M` : step >= 1e4 ? `${step / 1e3}k` : String(step));
