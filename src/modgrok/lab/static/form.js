// The fields of the next run: what they say, kept over a reload, and filled from presets, runs and forks.

import { make } from "lab/dom.js";

const CALM = ["task", "modulus", "fraction"];
const GROUPS = [
  ["Network", ["network", "width", "depth", "layers", "heads", "hidden", "embedding", "activation", "parametrization", "init_scale"]],
  ["Training", ["optimizer", "lr", "weight_decay", "loss", "steps", "seed", "momentum", "batch_size", "beta1", "beta2", "dropout", "batch_norm"]],
  ["Data and record", ["sampling", "wrong_labels", "examples", "split_seed", "until", "evaluations", "snapshots"]],
];
const HIDDEN = new Set(["parent", "precision", "epsilon", "decoupled", "threshold", "record"]);
const LABELS = {
  task: "Function, or another task",
  modulus: "Modulus p",
  fraction: "Train fraction α",
  width: "Width N",
  lr: "Learning rate",
  beta1: "β1",
  beta2: "β2",
  batch_norm: "Batch norm",
  init_scale: "Initial scale",
  until: "Stop after grokking",
};
const AUTO = { lr: "auto", steps: "auto", weight_decay: "auto", momentum: "auto", batch_size: "all", until: "never", split_seed: "as seed" };
const OWN = { evaluations: 100, snapshots: 60 }; // what the page asks for where nothing else is said
const KEPT = "modgrok-form";
const SYMBOLS = { "·": "*", "×": "*", "−": "-", "–": "-", "²": "^2", "³": "^3", "⁴": "^4", "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9" };

// What can be learned, beside whatever else one writes down.
const TASKS = {
  "n + m": "addition",
  "n * m": "multiplication",
  "n^2 + m^2": "a sum of squares",
  "n^3 + n*m^2 + m": "no sum in any order",
  "group:S3": "symmetries of a triangle",
  "group:S5": "permutations of five things",
  "parity:40,3": "the parity of 3 of 40 bits",
  "add:10": "sums of 0 … 9 without a modulus",
  "random:1": "random answers",
};

export const inputs = {};
const words = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");

// An expression as the library reads it, also where it was written as this page prints it.
export const plainExpression = (text) => [...text].map((letter) => SYMBOLS[letter] ?? letter).join("");

// The calm fields, and everything else in groups; settings that this page does not know by name come last.
export function buildFields(fields, changed) {
  const known = new Map(fields.map((field) => [field.name, field]));
  const build = (name) => field(known.get(name), changed);
  const has = (name) => known.has(name);
  const named = new Set([...CALM, ...GROUPS.flatMap(([, names]) => names), ...HIDDEN]);
  const rest = fields.map(({ name }) => name).filter((name) => !named.has(name));
  const groups = [...GROUPS, ["More", rest]].map(([title, names]) => [title, names.filter(has)]).filter(([, names]) => names.length);
  return {
    task: build("task"),
    calm: CALM.slice(1).map(build),
    expert: groups.map(([title, names]) => make("fieldset", {}, make("legend", {}, title), ...names.map(build))),
  };
}

function field({ name, help, choices, switch: isSwitch, default: value, network }, changed) {
  const id = `set-${name}`;
  const words_ = choices ?? (isSwitch && value === null ? ["", "true", "false"] : null);
  const shown = { "": "auto", true: "yes", false: "no" };
  let input;
  if (words_) input = make("select", { id }, ...words_.map((text) => make("option", { value: text }, shown[text] ?? text.replaceAll("_", " "))));
  else if (isSwitch) input = make("input", { id, type: "checkbox" });
  else {
    const placeholder = AUTO[name] ?? String(value ?? "");
    input = make("input", { id, inputmode: name === "task" ? "text" : "decimal", autocomplete: "off", spellcheck: "false", placeholder });
  }
  const known = name === "task" && make("datalist", { id: "tasks" }, ...Object.entries(TASKS).map(([text, label]) => make("option", { value: text }, label)));
  if (known) input.setAttribute("list", "tasks");
  if (name === "network") input.addEventListener("input", reopen);
  input.addEventListener("input", changed);
  Object.assign(input, { usual: value, reopens: (network && name !== "width") || ["loss", "lr"].includes(name) });
  inputs[name] = input;
  return make("label", { for: id, title: help, class: `field ${name}` }, make("span", {}, LABELS[name] ?? words(name)), input, known || null);
}

function write(input, value) {
  if (input.type === "checkbox") input.checked = Boolean(value);
  else if (input.tagName === "SELECT") input.value = String(value ?? input.usual ?? input.options[0].value);
  else input.value = value === null || value === "auto" ? "" : value;
}

// Another network has other settings, and another loss and rate suit it: what the one before had is left open.
function reopen() {
  for (const input of Object.values(inputs)) if (input.reopens) write(input, null);
}

export function fillFields(settings) {
  for (const [name, input] of Object.entries(inputs)) write(input, settings[name] ?? OWN[name] ?? null);
}

// What the form says, without what is left open; those are the defaults.
export function readFields() {
  const chosen = {};
  for (const [name, input] of Object.entries(inputs)) {
    if (input.type === "checkbox") {
      if (input.checked) chosen[name] = true;
    } else if (name === "task") chosen[name] = plainExpression(input.value);
    else if (input.tagName === "SELECT") {
      if (input.value !== "") chosen[name] = { true: true, false: false }[input.value] ?? input.value;
    }
    else if (input.value.trim() !== "") {
      const value = Number(input.value.trim());
      chosen[name] = Number.isNaN(value) ? input.value.trim() : value;
    }
  }
  return chosen;
}

export function keepForm(kept) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // Without storage a reload begins anew.
  }
}

export function keptForm() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}
