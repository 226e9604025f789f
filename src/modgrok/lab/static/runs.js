// The drawer of runs: everything in the store, to be opened or drawn beside the open run.

import { byId, grouped, make, number, percent, pretty } from "lab/dom.js";
import { source } from "lab/source.js";
import { emit, state } from "lab/store.js";

const COMPARED = 5;
const HEADS = ["run", "function", "p", "network", "N", "α", "optimizer", "rate", "seed", "status", "grokked", "test", "compare"];

export async function openDrawer() {
  const drawer = byId("runs");
  let found;
  try {
    found = await source.runs();
  } catch (error) {
    emit("problem", error.message);
    return;
  }
  const search = make(
    "input",
    {
      type: "search",
      placeholder: "Filter: n + m, gd, grokked, …",
      "aria-label": "Filter runs",
      oninput: () => show(),
    },
  );
  const list = make("tbody");
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (run) => words.every((word) => describe(run).includes(word));
    list.replaceChildren(...found.runs.filter(fits).map(row));
  };
  drawer.replaceChildren(
    make(
      "header",
      {},
      make("h2", {}, `Runs (${grouped(found.total)})`),
      search,
      make("button", { class: "plain", "aria-label": "Close", onclick: () => drawer.close() }, "✕"),
    ),
    found.total > found.runs.length ? make(
      "p",
      { class: "caption" },
      `The latest ${found.runs.length} are listed.`,
    ) : "",
    make(
      "div",
      { class: "scroll" },
      make(
        "table",
        {},
        make("thead", {}, make("tr", {}, ...HEADS.map((text) => make("th", { scope: "col" }, text)))),
        list,
      ),
    ),
    found.total ? "" : make("p", { class: "empty" }, "The store has no runs yet. Press Train."),
  );
  show();
  if (!drawer.open) drawer.showModal();
  search.focus();
}

function describe(run) {
  return [
    run.run,
    run.task,
    run.modulus,
    run.network,
    run.width,
    run.fraction,
    run.optimizer,
    run.activation,
    run.status,
    run.grokked_at != null ? "grokked" : "",
  ].join(" ").toLowerCase();
}

function row(run) {
  if (run.reason) return make(
    "tr",
    {},
    make("td", {}, run.run),
    make("td", { colspan: HEADS.length - 1 }, `${run.status}: ${run.reason}`),
  );
  const open = make(
    "button",
    { class: "plain", "data-run": run.run, onclick: () => { byId("runs").close(); emit("open", run.run); } },
    run.run,
  );
  const compare = make("input", { type: "checkbox", "aria-label": `Compare ${run.run}`, checked: state.compared.has(run.run), disabled: run.run === state.run?.run,
    onchange: async (event) => { event.target.checked = await setCompared(run.run, event.target.checked); } });
  const cells = [
    open,
    pretty(run.task),
    run.modulus,
    run.network,
    run.width,
    run.examples == null ? run.fraction : `${grouped(run.examples)} ex.`,
    run.optimizer,
    typeof run.lr === "number" ? number(run.lr) : run.lr,
    run.seed,
    run.parent ? `${run.status}, fork` : run.status,
    grouped(run.grokked_at),
    percent(run.test_accuracy, 0),
    compare,
  ];
  return make(
    "tr",
    { "aria-current": run.run === state.run?.run ? "true" : null },
    ...cells.map((cell) => make("td", {}, cell instanceof Node ? cell : String(cell ?? "–"))),
  );
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
