// The form of the next run: settings checked while they are typed, what they would cost, and the buttons of training.

import { byId, duration, make, number } from "lab/dom.js";
import { PRESETS } from "lab/presets.js";
import { source } from "lab/source.js";
import { clock } from "lab/clock.js";
import { emit, on, state } from "lab/store.js";

const GROUPS = [
  ["Task", ["modulus", "fraction", "sampling"]],
  ["Network", ["width", "activation", "parametrization"]],
  ["Training", ["optimizer", "lr", "weight_decay", "loss", "steps", "seed"]],
];
const MORE = [
  "momentum",
  "batch_size",
  "beta1",
  "beta2",
  "dropout",
  "batch_norm",
  "init_scale",
  "until",
  "split_seed",
  "evaluations",
  "snapshots",
];
const LABELS = {
  task: "Function of n and m",
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
const AUTO = {
  lr: "auto",
  steps: "auto",
  weight_decay: "auto",
  momentum: "auto",
  batch_size: "all",
  until: "never",
  split_seed: "as seed",
};
const words = (name) => name[0].toUpperCase() + name.slice(1).replaceAll("_", " ");
const OWN = { evaluations: 100, snapshots: 48 }; // what the page asks for where nothing else is said
const PAUSE = 250;

const inputs = {};
let checked = null;
let parent = "";
let asked = 0;
let stopped = null;

export function buildControls(fields) {
  const known = new Map(fields.map((field) => [field.name, field]));
  const field = (name) => {
    const { help, choices, default: value } = known.get(name);
    const id = `set-${name}`;
    let input;
    if (choices) input = make(
      "select",
      { id },
      ...choices.map((text) => make("option", { value: text }, text.replaceAll("_", " "))),
    );
    else if (typeof value === "boolean") input = make("input", { id, type: "checkbox" });
    else input = make(
      "input",
      {
        id,
        inputmode: name === "task" ? "text" : "decimal",
        autocomplete: "off",
        spellcheck: "false",
        placeholder: AUTO[name] ?? String(value ?? ""),
      },
    );
    input.addEventListener("input", changed);
    inputs[name] = input;
    return make("label", { for: id, title: help, class: `field ${name}` }, make("span", {}, LABELS[name] ?? words(name)), input);
  };
  const preset = make(
    "select",
    { id: "preset", "aria-label": "Preset" },
    make("option", { value: "" }, "Your own settings"),
    ...PRESETS.map(({ name }, i) => make("option", { value: i }, name)),
  );
  preset.addEventListener("change", () => preset.value !== "" && choose(Number(preset.value)));
  const task = field("task");
  byId("controls").append(
    make("div", { class: "field" }, make("span", {}, "Preset"), preset),
    make("p", { class: "caption", id: "preset-text" }),
    task,
    make("pre", { id: "mistake", role: "alert", hidden: true }),
    make("p", { id: "verdict", class: "caption", "aria-live": "polite" }),
    ...GROUPS.map(([title, names]) => make("fieldset", {}, make("legend", {}, title), ...names.map(field))),
    make("details", {}, make("summary", {}, "More settings"), make("fieldset", {}, ...MORE.map(field))),
    make("p", { id: "fork", class: "caption", hidden: true }),
    make("div", { class: "training" },
      make("button", { id: "train", class: "primary", onclick: train }, "Train"),
      make("button", { id: "pause", onclick: pause, hidden: true }, "Pause"),
      make("button", { id: "resume", class: "primary", onclick: resume, hidden: true }, "Resume"),
      make("button", { id: "stop", onclick: stop, hidden: true }, "Stop"),
      make(
        "button",
        {
          id: "fork-here",
          onclick: () => fork(),
          hidden: true,
          title: "Start a new run from the weights at the clock's step, with other settings",
        },
        "Fork here",
      )),
    make("p", { id: "estimate", class: "caption", "aria-live": "polite" }),
  );
  on("training run clock", showButtons);
  on("open", () => (stopped = null));
  choose(0);
}

function choose(i) {
  byId("preset").value = i;
  fill(PRESETS[i].settings);
  byId("preset-text").textContent = PRESETS[i].text;
}

export function fill(settings, from = "") {
  parent = from;
  for (const [name, input] of Object.entries(inputs)) {
    const value = settings[name] ?? OWN[name] ?? null;
    if (input.type === "checkbox") input.checked = Boolean(value);
    else if (input.tagName === "SELECT") input.value = value ?? input.options[0].value;
    else input.value = value === null || value === "auto" ? "" : value;
  }
  byId("fork").hidden = !parent;
  byId("fork").replaceChildren(
    `Starts from run ${parent.replace("@", " at step ")}. `,
    make("button", { class: "plain", onclick: () => fill(settings) }, "Start from random weights instead"),
  );
  for (const name of ["modulus", "width", "task"]) inputs[name].disabled = Boolean(parent) && name !== "task";
  check();
}

// What the form says, without what is left open; those are the defaults.
export function settings() {
  const chosen = {};
  for (const [name, input] of Object.entries(inputs)) {
    if (input.type === "checkbox") {
      if (input.checked) chosen[name] = true;
    } else if (input.tagName === "SELECT" || name === "task") chosen[name] = input.value;
    else if (input.value.trim() !== "") {
      const value = Number(input.value.trim());
      chosen[name] = Number.isNaN(value) ? input.value.trim() : value;
    }
  }
  if (parent) chosen.parent = parent;
  return chosen;
}

let timer = null;
function changed() {
  byId("preset").value = "";
  byId("preset-text").textContent = "";
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE);
}

async function check() {
  const number_ = ++asked;
  let found;
  try {
    found = await source.check(settings());
  } catch (error) {
    found = { valid: false, error: error.message };
  }
  if (number_ !== asked) return;
  checked = found;
  const mistake = byId("mistake");
  mistake.hidden = found.valid;
  inputs.task.setAttribute("aria-invalid", String(Boolean(found.column)));
  byId("verdict").hidden = !found.valid;
  byId("train").disabled = !found.valid;
  if (!found.valid) {
    const text = inputs.task.value;
    mistake.textContent = found.column ? `${text}\n${" ".repeat(found.column - 1)}▲\n${found.error}` : found.error;
    byId("estimate").textContent = "";
    return;
  }
  byId("verdict").replaceChildren(...verdict(found));
  inputs.lr.placeholder = `auto: ${number(found.lr)}`;
  inputs.steps.placeholder = `auto: ${found.steps}`;
  byId("estimate").textContent = `About ${duration(found.seconds)} on this machine, compilation included.`;
}

function verdict({ structure, reason, forms, witnesses }) {
  const names = [];
  if ("waves" in forms) names.push("random phases");
  if ("exact" in forms) names.push(`exact with ${forms.exact} neurons`);
  const spelt = Object.entries(witnesses).map(([head, text]) => `${head} = ${text}`).join(", ");
  return [
    make("b", {}, { none: "No structure", unknown: "Structure unknown" }[structure] ?? structure.replaceAll("_", " ")),
    ["none", "unknown"].includes(structure) ? `: ${reason}` : spelt ? `: ${spelt}. ` : ". ",
    names.length ? `Closed forms: ${names.join(", ")}.` : " No closed form.",
  ];
}

async function start(wanted) {
  try {
    const { run } = await source.train(wanted);
    emit("training-asked", run);
  } catch (error) {
    emit("problem", error.message);
  }
}

function train() {
  if (checked?.valid) start(settings());
}

function resume() {
  start(state.run.settings);
}

async function pause() {
  await source.stop().catch((error) => emit("problem", error.message));
}

// As pausing, but the page is free for another run; the stopped one goes on when it is opened again.
async function stop() {
  stopped = state.training.run;
  await pause();
}

export function fork() {
  const { run } = state;
  if (!run?.snapshots.length) return;
  const step = run.snapshots.reduce((a, b) => (Math.abs(b - clock.step) < Math.abs(a - clock.step) ? b : a));
  byId("preset").value = "";
  byId("preset-text").textContent = "";
  fill({ ...run.settings, until: null }, `${run.run}@${step}`);
  inputs.lr.focus();
}

function showButtons() {
  const { run, training } = state;
  const busy = training.run != null;
  byId("train").hidden = busy;
  byId("pause").hidden = byId("stop").hidden = !busy;
  byId("pause").disabled = byId("stop").disabled = training.status === "stopping";
  byId("resume").hidden = busy || !run || run.status !== "unfinished" || run.run === stopped;
  byId("fork-here").hidden = busy || !run?.snapshots.length;
}
