// Runs beside the open one: named by the settings in which they differ from it, each with a color of its own.

import { number, pretty } from "lab/dom.js";
import { state } from "lab/store.js";

const COLORS = ["#7b6ca8", "#4d8f63", "#b0546a", "#8a7a3a", "#6f7b86"];
export const DASHES = [[6, 4], [2, 3], [9, 3, 2, 3], [1, 3], [12, 4]];
const FIRST = ["task", "modulus", "network", "fraction", "optimizer", "lr", "width", "seed"]; // told before all others
const TOLD = 6; // settings in a line of a list
const NAMES = { fraction: "α", width: "N", modulus: "p", lr: "rate", weight_decay: "decay", task: "", network: "" };
const SILENT = new Set(["evaluations", "snapshots", "parent", "until", "steps", "batch_size", "momentum", "decoupled", "split_seed"]);

const write = (name, value) => {
  const text = name === "task" ? pretty(String(value)) : typeof value === "number" ? number(value, 4) : String(value ?? "–");
  return NAMES[name] === "" ? text : `${NAMES[name] ?? name.replaceAll("_", " ")} ${text}`;
};

const rank = (name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);

// What sets a run apart from the open one, in a few words.
export function labelOf(other, open = state.run) {
  const same = (name) => JSON.stringify(other.settings[name] ?? null) === JSON.stringify(open.settings[name] ?? null);
  const differing = Object.keys(other.settings).filter((name) => !same(name)).sort((a, b) => rank(a) - rank(b));
  const told = differing.filter((name) => !SILENT.has(name));
  const words = (told.length ? told : differing).slice(0, 3).map((name) => write(name, other.settings[name]));
  return words.join(", ") || "the same settings";
}

// What a list of runs differs in, as a function that tells it of each.
export function differing(runs) {
  const all = runs.filter(({ settings }) => settings);
  const names = [...new Set(all.flatMap(({ settings }) => Object.keys(settings)))]
    .filter((name) => !SILENT.has(name) && !["task", "modulus"].includes(name) && new Set(all.map(({ settings }) => JSON.stringify(settings[name] ?? null))).size > 1)
    .sort((a, b) => rank(a) - rank(b));
  return ({ settings }) => names.filter((name) => settings?.[name] != null && String(settings[name])).slice(0, TOLD).map((name) => write(name, settings[name])).join(", ");
}

// The compared runs with their labels, colors and dashes.
export function compared() {
  return [...state.compared.values()].map((run, i) => ({
    run,
    label: labelOf(run),
    color: COLORS[i % COLORS.length],
    dash: DASHES[i % DASHES.length],
  }));
}
