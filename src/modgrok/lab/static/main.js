// The page: builds its parts, opens runs, and keeps them up to date.

import { buildClock } from "lab/clockbar.js";
import { clock, lastStep, playBetween, setStep, toEnd } from "lab/clock.js";
import { buildControls, fillFromRun, openExample } from "lab/controls.js";
import { byId, grouped, make, number, taskName } from "lab/dom.js";
import { forget } from "lab/frames.js";
import { keptForm } from "lab/form.js";
import { buildKeys } from "lab/keys.js";
import { listen, notice } from "lab/live.js";
import { pending } from "lab/pending.js";
import { isFresh } from "lab/outcome.js";
import { openDrawer, setCompared } from "lab/runs.js";
import { openShare } from "lab/share.js";
import { source } from "lab/source.js";
import { emit, firstReached, on, state } from "lab/store.js";
import { buildTheme } from "lab/theme.js";
import { openTour } from "lab/tour.js";
import { keepAddress, readAddress } from "lab/url.js";
import { buildWelcome } from "lab/welcome.js";
import { create as curves } from "lab/panels/curves.js";
import { create as weights } from "lab/panels/weights.js";
import { create as plane } from "lab/panels/plane.js";
import { create as circle } from "lab/panels/circle.js";
import { create as ipr } from "lab/panels/ipr.js";
import { create as network } from "lab/panels/network.js";
import { create as embedding } from "lab/panels/embedding.js";
import { create as circuit } from "lab/panels/circuit.js";
import { create as representations } from "lab/panels/representations.js";
import { create as answers } from "lab/panels/answers.js";
import { create as beside } from "lab/panels/beside.js";
import { create as path } from "lab/panels/path.js";
import { create as theory } from "lab/panels/theory.js";
import { create as whatif } from "lab/panels/whatif.js";
import { create as sweep } from "lab/panels/sweep.js";

const STATUS = { finished: "finished", diverged: "diverged", collapsed: "collapsed", unfinished: "paused" };
const LAST = 8_000; // milliseconds that a message stays

let opening = null;

// Opens a run; one that has just begun may have to be asked for until its folder is there.
const open = (run, options = {}) => pending(find(run, options));

async function find(run, { step = null, tries = 1 }) {
  opening = run;
  for (let attempt = 0; attempt < tries; attempt++) {
    try {
      const details = await source.run(run);
      if (opening !== run) return;
      adopt(details, step);
      return;
    } catch (error) {
      if (attempt + 1 === tries) emit("problem", error.message);
      else await new Promise((wait) => setTimeout(wait, 300));
      if (opening !== run) return;
    }
  }
}

function adopt(details, step) {
  const other = state.run?.run !== details.run;
  state.run = details;
  opening = null;
  if (other) {
    forget();
    state.view.changes = state.frame ? state.view.changes : initialChanges.splice(0);
    state.compared.delete(details.run);
    clock.follow = step === null;
  }
  if (details.coordinate) state.view.coordinate = details.coordinate;
  else if (!details.task.index) state.view.coordinate = "raw";
  else if (other && !chosenCoordinate) state.view.coordinate = "task";
  emit("run");
  emit("rows");
  if (!details.snapshots.length && !details.rows.length) return;
  if (step !== null) setStep(step);
  else if (clock.follow) toEnd();
  else setStep(clock.step);
}

const initialChanges = [];
let chosenCoordinate = false;

function showTitle() {
  const { run, training } = state;
  byId("run-title").textContent = run ? taskName(run) : "No run is open";
  byId("run-title").title = run ? `run ${run.run}` : "";
  nameTab();
  const here = run && training.run === run.run;
  const busy = { starting: "starting", training: "training", stopping: "storing" }[training.status];
  const status = byId("run-status");
  status.className = here ? "busy" : (run?.status ?? "");
  const rate = here && training.rate ? `, ${number(training.rate, 3)} steps/s` : "";
  const settings = run ? settingsOf(run) : "";
  status.replaceChildren(...(run ? [make("b", {}, here ? busy : STATUS[run.status]), ` ${settings}${rate}`] : []));
}

// The tab says what it shows, and what is training, there or elsewhere.
const names = new Map();
async function nameTab() {
  const { run, training } = state;
  const busy = training.run;
  if (run) names.set(run.run, taskName(run));
  if (busy && !names.has(busy)) {
    names.set(busy, busy);
    names.set(busy, await source.run(busy).then(taskName, () => busy));
    return nameTab();
  }
  const open = run ? names.get(run.run) : "modgrok lab";
  document.title = !busy ? open : busy === run?.run ? `training: ${open}` : `${open} (training: ${names.get(busy)})`;
}

function settingsOf(run) {
  const { network, width, examples, fraction, optimizer } = run.settings;
  const other = network && network !== "two-layer";
  const size = `${other ? `${network}, width` : "N ="} ${width ?? "–"}`;
  const shown = isFresh(run) ? "fresh examples" : examples == null ? `α = ${fraction}` : `${grouped(examples)} examples`;
  return `${size}, ${shown}, ${optimizer}`;
}

async function begin() {
  buildTheme(byId("theme"));
  const fromStory = location.hash === "#story";
  const wanted = readAddress();
  initialChanges.push(...state.view.changes);
  chosenCoordinate = location.hash.includes("coordinate=");
  if (source.replay) {
    for (const element of document.querySelectorAll("[data-live]")) element.remove();
  }
  buildClock();
  const panels = [answers, curves, ...(source.replay ? [] : [beside]), circuit, embedding, representations, weights, plane, circle, path, network, ...(source.replay ? [] : [whatif]), ipr, ...(source.replay ? [] : [sweep]), theory];
  if (!source.replay) {
    document.querySelector(".top nav").prepend(make("a", { class: "button", href: "/" }, "Story"));
    buildWelcome();
  }
  for (const create of panels) create();
  byId("open-tour").onclick = openTour;
  byId("open-share").onclick = openShare;
  buildKeys();
  on("run rows training", showTitle);
  keepAddress();
  if (source.replay) {
    await open("replay", { step: wanted.step });
    return;
  }
  const { fields, training } = await source.state();
  state.training = training;
  const kept = keptForm();
  buildControls(fields);
  byId("open-runs").onclick = openDrawer;
  const toggle = byId("toggle-controls");
  toggle.onclick = () => {
    const hidden = document.body.classList.toggle("without-controls");
    toggle.setAttribute("aria-expanded", String(!hidden));
  };
  if (innerWidth < 1100) toggle.click();
  listen();
  const run = wanted.run ?? training.run;
  if (run) await open(run, { step: wanted.step, tries: training.run === run ? 40 : 1 });
  if (state.run && (!kept || (wanted.run && followed()))) fillFromRun(state.run);
  for (const other of wanted.compared) await setCompared(other, true);
  emit("training");
  if (fromStory && !run) await openExample();
}

// Whether a link led here, and neither a reload nor the way back, on which the form says what it said.
function followed() {
  return performance.getEntriesByType("navigation")[0]?.type === "navigate";
}

on("open", async (run) => {
  await open(run);
  if (state.run?.run !== run) return;
  if (state.example !== run) fillFromRun(state.run);
  playExample();
});

// The example, once it is whole and unless somebody moves the clock: the long wait and the flood of the table.
function playExample() {
  const { run } = state;
  if (!clock.follow || state.example !== run?.run || run.status !== "finished") return;
  state.example = null;
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) playBetween(firstReached(run, "train_accuracy") ?? 0, lastStep());
}
// A link pasted into the open tab.
addEventListener("hashchange", ({ newURL }) => pending(follow(readAddress(new URL(newURL).hash))));

async function follow(wanted) {
  for (const other of [...state.compared.keys()]) if (!wanted.compared.includes(other)) state.compared.delete(other);
  const other = wanted.run && wanted.run !== state.run?.run;
  if (wanted.run) await open(wanted.run, { step: wanted.step });
  emit("view", state.view);
  if (other && state.run?.run === wanted.run) fillFromRun(state.run);
  for (const other of wanted.compared) await setCompared(other, true);
}

on("training-asked", (run) => {
  if (opening === run) return;
  clock.follow = true;
  open(run, { tries: 100 });
});
// Begun by another tab: followed here only where nothing else is being looked at.
on("training-begun", (run) => {
  if ((!state.run && !opening) || state.run?.run === run) emit("training-asked", run);
});
on("over", ({ run, result }) => {
  if (result && run === state.run?.run) Object.assign(state.run, { status: result.status, result });
  if (run === state.run?.run || run === opening) open(run, { tries: 5 }).then(playExample);
  emit("store");
});
on("reconnected", () => state.run && open(state.run.run));
let clearing = null;
on("problem", (text) => {
  notice(text);
  clearTimeout(clearing);
  clearing = setTimeout(() => notice(""), LAST);
});

pending(begin().catch((error) => notice(error.message)));
