// The form of the next run: function, p and α, the rest under Expert; what it would cost; and the buttons of training.

import { byId, duration, make, number } from "lab/dom.js";
import { buildFields, fillFields, inputs, keepForm, keptForm, readFields } from "lab/form.js";
import { PRESETS } from "lab/presets.js";
import { rested } from "lab/pending.js";
import { source } from "lab/source.js";
import { clock, play } from "lab/clock.js";
import { emit, on, state } from "lab/store.js";

const PAUSE = 250;
const AROUND = 18; // letters shown on either side of a mistake
const FEW = 4; // functions of a sum that are spelled out even where they are 0

let checked = null;
let parent = "";
let asked = 0;
let stopped = null;

export function buildControls(fields) {
  const { task, calm, expert } = buildFields(fields, changed);
  const preset = make(
    "select",
    { id: "preset", "aria-label": "Preset" },
    make("option", { value: "" }, "Your own settings"),
    ...PRESETS.map(({ name }, i) => make("option", { value: i }, name)),
  );
  preset.addEventListener("change", () => preset.value !== "" && choose(Number(preset.value)));
  const button = (id, text, onclick, rest = {}) => make("button", { id, onclick, ...rest }, text);
  byId("controls").append(
    make("div", { class: "field" }, make("span", {}, "Preset"), preset),
    make("p", { class: "caption", id: "preset-text" }),
    task,
    make("pre", { id: "mistake", role: "alert", hidden: true }),
    make("p", { id: "verdict", class: "caption", "aria-live": "polite" }),
    make("fieldset", {}, ...calm),
    make("p", { id: "fork", class: "caption", hidden: true }),
    make("div", { class: "training" },
      button("train", "Train", () => train(), { class: "primary" }),
      button("pause", "Pause", pause, { hidden: true }),
      button("resume", "Resume", resume, { class: "primary", hidden: true }),
      button("stop", "Stop", stop, { hidden: true }),
      button("fork-here", "Fork here", fork, { hidden: true, title: "Start a new run from the weights at the clock's step, with other settings" })),
    make("p", { id: "estimate", class: "caption", "aria-live": "polite" }),
    make("details", { id: "expert" }, make("summary", {}, "Expert"), ...expert),
  );
  on("training run clock", showButtons);
  on("open", () => (stopped = null));
  const kept = keptForm();
  if (kept) fill(kept.settings, kept.parent, kept.preset);
  else choose(0);
}

export function choose(i) {
  return fill(PRESETS[i].settings, "", i);
}

export function fill(settings, from = "", preset = "") {
  parent = from;
  fillFields(settings);
  byId("preset").value = preset;
  byId("preset-text").textContent = PRESETS[preset]?.text ?? "";
  byId("fork").hidden = !parent;
  byId("fork").replaceChildren(
    `Starts from run ${parent.replace("@", " at step ")}. `,
    make("button", { class: "plain", onclick: () => fill(settings) }, "Start from random weights instead"),
  );
  if (inputs.width) inputs.width.disabled = Boolean(parent);
  return check();
}

// The settings of a run that was opened, as the form would ask for it again.
export function fillFromRun(run) {
  const { parent: from, ...settings } = run.settings;
  fill(settings, from);
}

function settings() {
  return { ...readFields(), ...(parent && { parent }) };
}

function changed() {
  byId("preset").value = "";
  byId("preset-text").textContent = "";
  checkSoon();
}

const checkSoon = rested(PAUSE, check);

async function check() {
  const number_ = ++asked;
  const wanted = settings();
  keepForm({ settings: wanted, parent, preset: byId("preset").value });
  let found;
  try {
    found = await source.check(wanted);
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
    mistake.textContent = found.column ? `${pointAt(wanted.task, found.column)}\n${found.error}` : found.error;
    byId("estimate").textContent = "";
    return;
  }
  byId("verdict").replaceChildren(...verdict(found));
  inputs.modulus.disabled = Boolean(parent) || found.modulus == null; // Not every task has one to choose,
  inputs.fraction.disabled = !found.listed; // or a table of which a share is shown.
  inputs.lr.placeholder = `auto: ${number(found.auto_lr ?? found.lr)}`;
  inputs.steps.placeholder = `auto: ${found.steps}`;
  byId("estimate").textContent = `About ${duration(found.seconds)} on this machine, compilation included.`;
}

// The place of a mistake in an expression, on one line that never wraps: text around it, and a caret below.
function pointAt(text, column) {
  const from = Math.max(0, column - 1 - AROUND);
  const head = from > 0 ? "…" : "";
  const tail = column - 1 + AROUND < text.length ? "…" : "";
  return `${head}${text.slice(from, column - 1 + AROUND)}${tail}\n${" ".repeat(head.length + column - 1 - from)}▲`;
}

function verdict({ structure, group, reason, forms, witnesses }) {
  const names = [];
  if ("waves" in forms) names.push(group ? "random vectors" : "random phases");
  if ("exact" in forms) names.push(`exact with ${forms.exact} neurons`);
  const all = Object.entries(witnesses);
  const told = all.length > FEW ? all.filter(([, text]) => text !== "0") : all;
  const spelled = told.map(([head, text]) => `${head} = ${text}`).concat(told.length < all.length ? "the others 0" : []).join(", ");
  return [
    make("b", {}, { none: "No structure", unknown: "Structure unknown" }[structure] ?? structure.replaceAll("_", " ")),
    ["none", "unknown"].includes(structure) ? `: ${reason}` : group ? `: a product in ${group}. ` : spelled ? `: ${spelled}. ` : ". ",
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

export async function train() {
  checkSoon.cancel();
  await check();
  if (checked?.valid) await start(settings());
  else emit("problem", checked.error);
}

// The story's run, whatever the form says: opened if the store has it, else trained. Either way it is played from
// memorizing on once it is whole.
export async function openExample() {
  await choose(0);
  if (!checked?.valid || state.training.run) return;
  const { runs } = await source.runs();
  state.example = checked.run;
  if (runs.some(({ run, status }) => run === checked.run && status === "finished")) emit("open", checked.run);
  else await train();
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
  play(false);
  const step = run.snapshots.reduce((a, b) => (Math.abs(b - clock.step) < Math.abs(a - clock.step) ? b : a));
  fill({ ...run.settings, parent: undefined, until: null }, `${run.run}@${step}`);
  byId("expert").open = true;
  byId("fork").scrollIntoView({ block: "nearest" });
  byId("train").focus({ preventScroll: true });
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
