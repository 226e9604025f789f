// What the page shows before any run is open: the idea in one picture, and where to begin.

import { frequencyColor } from "lab/color.js";
import { byId, make } from "lab/dom.js";
import { on, state } from "lab/store.js";

const FREQUENCIES = [1, 2, 3, 5, 7, 8];
const [WIDTH, ROW, SUM] = [640, 24, 84];

function drawing(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function wave(height, top, f) {
  const points = Array.from({ length: 321 }, (_, i) => {
    const x = i / 320;
    return `${(x * WIDTH).toFixed(1)},${(top + height * (0.5 - 0.45 * f(2 * Math.PI * (x - 0.62)))).toFixed(1)}`;
  });
  return `M${points.join("L")}`;
}

// Waves of several frequencies, and their sum: all crests meet at one place only.
function picture() {
  const tall = FREQUENCIES.length * ROW + SUM + 8;
  const image = drawing(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${tall}`,
      role: "img",
      "aria-label": "Waves of six frequencies whose crests meet at one place, and their sum, a single peak",
    },
  );
  image.append(drawing("line", { class: "meet", x1: 0.62 * WIDTH, x2: 0.62 * WIDTH, y1: 0, y2: tall }));
  FREQUENCIES.forEach((k, i) => image.append(drawing(
    "path",
    { d: wave(ROW, i * ROW, (t) => Math.cos(k * t)), style: `stroke:${frequencyColor(k, 17)}` },
  )));
  const sum = (t) => FREQUENCIES.reduce((total, k) => total + Math.cos(k * t), 0) / FREQUENCIES.length;
  image.append(drawing("path", { class: "sum", d: wave(SUM, FREQUENCIES.length * ROW + 8, sum) }));
  return image;
}

export function buildWelcome() {
  const place = make("div", { class: "picture" }, picture());
  byId("panels").append(make("section", { id: "welcome", class: "panel wide", "aria-labelledby": "welcome-title" },
    make("h2", { id: "welcome-title" }, "Watch a network discover Fourier analysis"),
    make(
      "p",
      {},
      "A small network sees part of a table of modular arithmetic. It first learns its examples by heart. Later, and suddenly, it answers what it has never seen: each neuron has become a wave, and the waves agree at one place, the right answer.",
    ),
    place,
    make("div", { class: "buttons" },
      make("button", { class: "primary", id: "first-run", onclick: () => byId("train").click() }, "Train the example"),
      make("button", { onclick: () => byId("open-runs").click() }, "Open a stored run"))));
  const show = () => document.body.classList.toggle("no-run", !state.run);
  on("run", show);
  on("theme", () => place.replaceChildren(picture()));
  show();
}
