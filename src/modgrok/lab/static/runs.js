// The drawer of runs: everything in the store, to be searched, sorted, opened or drawn beside the open run.

import { differing } from "lab/compare.js";
import { byId, grouped, make, percent, taskName } from "lab/dom.js";
import { source } from "lab/source.js";
import { emit, state } from "lab/store.js";

const COMPARED = 5;
const nameOf = (run) => taskName({ task: { name: run.task }, settings: run });
const told = (run) => (run.grokked_at == null ? null : run.grokked_at + Number(run.parent?.split("@")[1] ?? 0));
// Heads, and what rows are sorted by under them, the best test accuracy first; unknown values come last.
const HEADS = {
  run: null,
  function: nameOf,
  "differs in": null,
  status: (run) => run.status,
  grokked: told,
  test: (run) => run.test_accuracy,
  compare: null,
};
const OUTCOMES = {
  "all runs": () => true,
  grokked: (run) => run.grokked_at != null,
  "not grokked": (run) => run.grokked_at == null && run.status === "finished",
  unfinished: (run) => run.status === "unfinished",
  "diverged or collapsed": (run) => ["diverged", "collapsed"].includes(run.status),
};

export async function openDrawer() {
  const drawer = byId("runs");
  let found;
  try {
    found = await source.runs();
  } catch (error) {
    emit("problem", error.message);
    return;
  }
  const search = make("input", { type: "search", placeholder: "n + m, gd, lr 0.1, …", "aria-label": "Search runs", oninput: () => show() });
  const outcome = make("select", { "aria-label": "Outcome", onchange: () => show() }, ...Object.keys(OUTCOMES).map((text) => make("option", {}, text)));
  const list = make("tbody");
  const count = make("h2", { "aria-live": "polite" });
  let [by, down] = [null, false];
  const heads = Object.entries(HEADS).map(([text, key]) => make("th", { scope: "col" }, key ? make("button", { class: "plain", onclick: () => {
    const first = text === "test";
    [by, down] = by !== text ? [text, first] : down === first ? [text, !first] : [null, false];
    show();
  } }, text) : text));
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (run) => OUTCOMES[outcome.value](run) && words.every((word) => describe(run).includes(word));
    const rows = found.runs.filter(fits);
    if (by) rows.sort((a, b) => compareValues(HEADS[by](a), HEADS[by](b), down));
    heads.forEach((head, i) => head.setAttribute("aria-sort", Object.keys(HEADS)[i] !== by ? "none" : down ? "descending" : "ascending"));
    const settings = differing(rows);
    list.replaceChildren(...rows.map((run) => row(run, settings(run))));
    count.textContent = rows.length === found.total ? `Runs (${grouped(found.total)})` : `Runs (${grouped(rows.length)} of ${grouped(found.total)})`;
  };
  drawer.replaceChildren(
    make("header", {}, count, search, outcome, make("button", { class: "plain", "aria-label": "Close", onclick: () => drawer.close() }, "✕")),
    found.total > found.runs.length ? make("p", { class: "caption" }, `The latest ${found.runs.length} are listed.`) : "",
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "List of runs" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), list)),
    found.total ? "" : make("p", { class: "empty" }, "The store has no runs yet. Press Train."),
  );
  show();
  if (!drawer.open) drawer.showModal();
  search.focus();
}

function compareValues(a, b, down) {
  if (a == null || b == null) return Number(a == null) - Number(b == null);
  const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  return down ? -order : order;
}

// Everything that can be searched for: names and values of all settings in which runs differ, and the outcome.
function describe(run) {
  const settings = Object.entries(run.settings ?? {}).map(([name, value]) => `${name} ${value}`);
  return [run.run, run.task, nameOf(run), run.network, run.optimizer, ...settings, run.status, run.grokked_at != null ? "grokked" : ""].join(" ").toLowerCase();
}

function row(run, settings) {
  if (run.reason) return make("tr", {}, make("td", {}, run.run), make("td", { colspan: Object.keys(HEADS).length - 1 }, `${run.status}: ${run.reason}`));
  const open = make("button", { class: "plain", "data-run": run.run, onclick: () => { byId("runs").close(); emit("open", run.run); } }, run.run);
  const compare = make("input", { type: "checkbox", "aria-label": `Compare ${run.run}`, checked: state.compared.has(run.run), disabled: run.run === state.run?.run,
    onchange: async (event) => { event.target.checked = await setCompared(run.run, event.target.checked); } });
  const cells = { run: open, function: nameOf(run), "differs in": settings, status: run.parent ? `${run.status}, fork` : run.status, grokked: grouped(told(run)), test: percent(run.test_accuracy, 0), compare };
  return make("tr", { "aria-current": run.run === state.run?.run ? "true" : null },
    ...Object.entries(cells).map(([name, cell]) => make("td", { "data-head": name }, cell)));
}

// Draws a run beside the open one, or no longer; whether it is drawn now.
export async function setCompared(run, wanted) {
  if (!wanted) state.compared.delete(run);
  else if (state.compared.size >= COMPARED && !state.compared.has(run)) emit("problem", `At most ${COMPARED} runs are drawn beside the open one.`);
  else {
    try {
      state.compared.set(run, await source.run(run));
    } catch (error) {
      emit("problem", error.message);
    }
  }
  emit("compared");
  return state.compared.has(run);
}
