// Line charts over steps on one canvas, with our own cursor on top: scrubbing moves a line and redraws nothing.

import { line, prepare } from "lab/canvas.js";
import { css, sample } from "lab/color.js";
import { clock, setStep } from "lab/clock.js";
import { grouped, make } from "lab/dom.js";
import { on, state } from "lab/store.js";
import { linearTicks, logTicks, stepTicks } from "lab/ticks.js";

const [RIGHT, TOP, BOTTOM, GAP] = [14, 20, 34, 26];
const FIRST = 0.5; // where step 0 sits on a logarithmic axis

export class StepChart {
  constructor(label, height) {
    this.canvas = make("canvas");
    this.cursor = make("div", { class: "cursor", "aria-hidden": "true" });
    this.words = make("div", { class: "hover", hidden: true });
    this.element = make("div", { class: "chart", role: "img", "aria-label": label, style: `min-height:${height}px` }, this.canvas, this.cursor, this.words);
    this.content = null;
    this.element.addEventListener("pointerdown", (event) => this.scrub(event));
    this.element.addEventListener("pointermove", (event) => this.hover(event));
    this.element.addEventListener("pointerleave", () => (this.words.hidden = true));
    new ResizeObserver(() => this.content && this.paint()).observe(this.element);
    on("clock", () => this.place());
  }

  // `tracks` lie under each other: { title, range, log, write, curves: [{ x, y, color, name, dash, dots }], rules: [{ y, color }] }
  // or { title, write, heat: { x, rows } } with a row of shares for every step, the first of them for frequency 1;
  // `marks` are steps with a word; `offset` is added to the clock's step (of a fork, where its parent stood).
  draw(content) {
    this.content = { marks: [], offset: 0, ...content };
    this.paint();
  }

  get last() {
    const ends = this.content.tracks.flatMap(({ curves, heat }) => (curves ?? [heat]).map(({ x }) => x.at(-1) ?? 0));
    return Math.max(1, ...ends);
  }

  // Place of a step, 0 … 1, and back.
  placeOf(step) {
    if (!this.log) return step / (1.02 * this.last);
    const at = (x) => Math.log(Math.max(x, FIRST) / FIRST);
    return at(step) / at(1.06 * this.last);
  }

  stepAt(place) {
    return this.log ? FIRST * ((1.06 * this.last) / FIRST) ** place : place * 1.02 * this.last;
  }

  get log() {
    return state.view.time === "log";
  }

  paint() {
    const { tracks, marks } = this.content;
    const { context, width, height } = prepare(this.canvas);
    const tall = (height - TOP - BOTTOM - GAP * (tracks.length - 1)) / tracks.length;
    const scales = tracks.map((track) => scaleOf(track, tall));
    const left = 10 + Math.max(...scales.flatMap(({ ticks }) => ticks.map(([, text]) => context.measureText(text).width)));
    this.box = [left, TOP, width - RIGHT, height - BOTTOM];
    const x = (step) => left + this.placeOf(step) * (width - RIGHT - left);
    context.fillStyle = css("muted");
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const [step, text] of stepTicks(this.last, this.log, width - left)) {
      context.strokeStyle = css("line");
      line(context, [[x(step), TOP], [x(step), height - BOTTOM]]);
      context.fillText(text, x(step), height - BOTTOM + 5);
    }
    context.fillText("step", (left + width - RIGHT) / 2, height - 14);
    tracks.forEach((track, i) => {
      const top = TOP + i * (tall + GAP);
      this.paintTrack(context, track, scales[i], { left, right: width - RIGHT, top, bottom: top + tall, x });
    });
    this.paintMarks(context, marks, tracks, { tall, height, left, right: width - RIGHT, x });
    this.place();
  }

  // Steps with a word: left of its line or right of it, between two tracks or at the top, wherever it crosses no other word.
  paintMarks(context, marks, tracks, { tall, height, left, right, x }) {
    const heights = tracks.length > 1 ? [TOP + tall + GAP / 2, TOP + 8] : [TOP + 8];
    const taken = tracks.slice(1, 2).map(({ title }) => [left, left + 8 + context.measureText(title).width, heights[0]]);
    context.textBaseline = "middle";
    context.textAlign = "left";
    for (const [step, text, color, ink] of marks) {
      const wide = context.measureText(text).width;
      const places = heights.flatMap((y) => [x(step) - 5 - wide, x(step) + 5].map((from) => [from, from + wide, y]));
      const free = ([from, to, y]) => from >= left && to <= right && taken.every(([a, b, other]) => y !== other || to < a || from > b);
      const place = places.find(free) ?? places[0];
      taken.push(place);
      context.strokeStyle = color;
      context.setLineDash([2, 3]);
      line(context, [[x(step), TOP], [x(step), height - BOTTOM]]);
      context.setLineDash([]);
      context.fillStyle = ink;
      context.fillText(text, place[0], place[2]);
    }
  }

  paintTrack(context, track, { ticks, placeOf }, { left, right, top, bottom, x }) {
    const y = (value) => bottom - placeOf(value) * (bottom - top);
    context.textAlign = "left";
    context.textBaseline = "bottom";
    context.fillStyle = css("muted");
    context.fillText(track.title, left + 4, top - 4);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const [value, text] of ticks) {
      context.strokeStyle = css("line");
      line(context, [[left, y(value)], [right, y(value)]]);
      context.fillText(text, left - 6, y(value));
    }
    for (const { y: value, color } of track.rules ?? []) {
      context.strokeStyle = color;
      context.setLineDash([6, 4]);
      line(context, [[left, y(value)], [right, y(value)]]);
      context.setLineDash([]);
    }
    if (track.heat) paintHeat(context, track.heat, y, x, right);
    for (const curve of track.curves ?? []) {
      context.strokeStyle = context.fillStyle = curve.color;
      context.lineWidth = curve.dash ? 1.5 : 2;
      context.setLineDash(curve.dash ?? []);
      for (const piece of pieces(curve, placeOf)) line(context, piece.map(([step, value]) => [x(step), y(value)]));
      context.setLineDash([]);
      if (curve.dots) for (const [step, value] of pieces(curve, placeOf).flat()) context.fillRect(x(step) - 2, y(value) - 2, 4, 4);
    }
    context.lineWidth = 1;
  }

  place() {
    const shown = this.content && this.box && state.run;
    this.cursor.hidden = !shown;
    if (!shown) return;
    const [left, , right] = this.box;
    const place = this.placeOf(clock.step + this.content.offset);
    this.cursor.style.transform = `translateX(${left + Math.min(Math.max(place, 0), 1) * (right - left)}px)`;
  }

  stepUnder(event) {
    const [left, , right] = this.box;
    const place = (event.clientX - this.canvas.getBoundingClientRect().left - left) / (right - left);
    const step = this.stepAt(Math.min(Math.max(place, 0), 1));
    return this.log && step < 0.75 ? 0 : step;
  }

  hover(event) {
    if (!this.content || !this.box || event.pointerType === "touch") return;
    const step = this.stepUnder(event);
    const parts = [];
    for (const { curves, heat, write } of this.content.tracks) {
      if (heat) {
        const row = heat.rows[heat.x.findLastIndex((at) => at <= step)];
        const most = row ? Math.max(...row) : 0;
        if (most > 0) parts.push(make("span", { style: `--key:${sample("sizes", 0.85)}` }, `most at k = ${row.indexOf(most) + 1}: ${write(most)}`));
      }
      for (const { x, y, name, color } of curves ?? []) {
        const i = x.findLastIndex((at) => at <= step);
        if (i >= 0 && y[i] != null && name) parts.push(make("span", { style: `--key:${color}` }, `${name} ${write(y[i])}`));
      }
    }
    this.words.replaceChildren(make("b", {}, `step ${grouped(Math.round(step))}`), ...parts);
    this.words.hidden = false;
    const side = event.offsetX > this.canvas.clientWidth / 2;
    this.words.className = `hover ${side ? "left" : "right"}`;
  }

  scrub(event) {
    if (!this.box || event.button !== 0) return;
    const follow = (e) => setStep(Math.max(0, this.stepUnder(e) - this.content.offset));
    const end = () => {
      this.element.removeEventListener("pointermove", follow);
      this.element.removeEventListener("pointerup", end);
      this.element.removeEventListener("pointercancel", end);
    };
    this.element.setPointerCapture(event.pointerId);
    this.element.addEventListener("pointermove", follow);
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
    follow(event);
  }
}

// Where values stand in a track, 0 … 1, and its ticks.
function scaleOf({ range, log, curves, heat, rules = [], write }, tall) {
  if (heat) {
    const most = heat.rows[0].length;
    const step = Math.ceil(most / Math.max(2, Math.floor(tall / 22)));
    const ticks = Array.from({ length: Math.ceil(most / step) }, (_, i) => [1 + i * step, `k = ${1 + i * step}`]);
    return { ticks, placeOf: (k) => (k - 0.5) / most };
  }
  const values = [...curves.flatMap(({ y }) => y), ...rules.map((rule) => rule.y)].filter((v) => Number.isFinite(v) && (!log || v > 0));
  const [low, high] = range ?? [Math.min(...values), Math.max(...values)];
  if (!values.length && !range) return { ticks: [], placeOf: () => 0 };
  if (log) {
    const [a, b] = high > low ? [Math.log(low), Math.log(high)] : [Math.log(low) - 1, Math.log(low) + 1];
    const room = 0.05 * (b - a);
    return { ticks: logTicks(low, high, tall), placeOf: (v) => (v > 0 ? (Math.log(v) - a + room) / (b - a + 2 * room) : 0) }; // 0 lies at the floor
  }
  const span = high - low || 1;
  return { ticks: linearTicks(low, high, tall, write), placeOf: (v) => (v - low) / span };
}

// Shares over time: from every step to the next a column, one cell for each frequency, dark where its share is large.
function paintHeat(context, { x: steps, rows }, y, x, right) {
  const most = Math.max(1e-9, ...rows.flat());
  rows.forEach((row, i) => {
    const [from, to] = [x(steps[i]), i + 1 < steps.length ? x(steps[i + 1]) : right];
    row.forEach((share, k) => {
      context.fillStyle = sample("sizes", Math.sqrt(share / most));
      context.fillRect(from, y(k + 1.5), to - from + 0.5, y(k + 0.5) - y(k + 1.5) + 0.5);
    });
  });
}

// A curve cut where a value is missing or cannot be drawn.
function pieces({ x, y }, placeOf) {
  const found = [[]];
  x.forEach((step, i) => {
    if (y[i] != null && Number.isFinite(y[i]) && Number.isFinite(placeOf(y[i]))) found.at(-1).push([step, y[i]]);
    else if (found.at(-1).length) found.push([]);
  });
  return found.filter((piece) => piece.length);
}
