// The state of the view in the address, so that a reload or a link brings it back.

import { clock } from "lab/clock.js";
import { rested } from "lab/pending.js";
import { on, state } from "lab/store.js";

const WORDS = {
  coordinate: ["task", "raw"],
  sort: ["index", "current", "final"],
  time: ["log", "linear"],
  table: ["answers", "prediction", "margin"],
  order: ["cosets", "number"],
  ipr: ["task_ipr", "ipr"],
  form: ["waves", "exact"],
};

const PAUSE = 150;
let known = ""; // what the address says by this page's hand, or by a link that it follows

export function readAddress(hash = location.hash) {
  known = hash;
  write.cancel();
  const given = new URLSearchParams(hash.slice(1));
  const { view } = state;
  for (const [name, words] of Object.entries(WORDS)) if (words.includes(given.get(name))) view[name] = given.get(name);
  const whole = (text) => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : null);
  view.neuron = whole(given.get("neuron"));
  const cell = (given.get("cell") ?? "").split(",").map(whole);
  if (cell.length === 2 && !cell.includes(null)) view.cell = cell;
  if (given.get("snap") === "0") view.snap = false;
  view.changes = (given.get("changes") ?? "").split(",").filter((text) => /^[a-z]+(:[a-z0-9]+)?$/.test(text));
  view.sweep = /^[\w-]{1,64}$/.test(given.get("sweep") ?? "") ? given.get("sweep") : null;
  const isRun = (text) => /^[0-9a-f]{12}$/.test(text ?? "");
  const compared = (given.get("compare") ?? "").split(",").filter(isRun);
  return { run: isRun(given.get("run")) ? given.get("run") : null, step: whole(given.get("step")), compared };
}

// Leaves an address alone that somebody else wrote meanwhile: it is about to be followed.
const write = rested(PAUSE, () => {
  if (location.hash !== known) return;
  const { run, view } = state;
  const kept = new URLSearchParams();
  if (run) kept.set("run", run.run);
  if (run && !clock.follow) kept.set("step", clock.step);
  for (const name of Object.keys(WORDS)) if (view[name] !== defaults[name]) kept.set(name, view[name]);
  if (view.neuron != null) kept.set("neuron", view.neuron);
  if (view.cell) kept.set("cell", view.cell.join(","));
  if (!view.snap) kept.set("snap", "0");
  if (view.changes.length) kept.set("changes", view.changes.join(","));
  if (state.compared.size) kept.set("compare", [...state.compared.keys()].join(","));
  if (view.sweep) kept.set("sweep", view.sweep);
  history.replaceState(null, "", `#${kept}`);
  known = location.hash;
});

const defaults = { ...state.view };

export function keepAddress() {
  on("run clock view compared", write);
}
