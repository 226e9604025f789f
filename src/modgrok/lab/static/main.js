// The page: builds its parts, opens runs, and keeps them up to date.

import { buildClock } from "lab/clockbar.js";
import { clock, setStep, toEnd } from "lab/clock.js";
import { buildControls } from "lab/controls.js";
import { byId, make, number, pretty } from "lab/dom.js";
import { forget } from "lab/frames.js";
import { listen, notice } from "lab/live.js";
import { openDrawer, setCompared } from "lab/runs.js";
import { openShare } from "lab/share.js";
import { source, unpack } from "lab/source.js";
import { emit, on, state } from "lab/store.js";
import { openTour } from "lab/tour.js";
import { keepAddress, readAddress } from "lab/url.js";
import { buildWelcome } from "lab/welcome.js";
import { create as curves } from "lab/panels/curves.js";
import { create as weights } from "lab/panels/weights.js";
import { create as plane } from "lab/panels/plane.js";
import { create as circle } from "lab/panels/circle.js";
import { create as ipr } from "lab/panels/ipr.js";
import { create as answers } from "lab/panels/answers.js";
import { create as theory } from "lab/panels/theory.js";
import { create as whatif } from "lab/panels/whatif.js";
import { create as sweep } from "lab/panels/sweep.js";

const THEME = "modgrok-theme";
const STATUS = { finished: "finished", diverged: "diverged", collapsed: "collapsed", unfinished: "paused" };
const LAST = 8_000; // milliseconds that a message stays

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // A replay opened from disk may have no storage; the theme then lasts as long as the page.
  }
  emit("theme");
}

function initialTheme() {
  let kept = null;
  try {
    kept = localStorage.getItem(THEME);
  } catch {
    kept = null;
  }
  return kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

let opening = null;

// Opens a run; one that has just begun may have to be asked for until its folder is there.
async function open(run, { step = null, tries = 1 } = {}) {
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
  if (!details.snapshots.length) return;
  if (step !== null) setStep(step);
  else if (clock.follow) toEnd();
  else setStep(clock.step);
}

const initialChanges = [];
let chosenCoordinate = false;

function showTitle() {
  const { run, training } = state;
  byId("run-title").textContent = run ? `${pretty(run.task.name)} mod ${run.settings.modulus}` : "No run is open";
  byId("run-title").title = run ? `run ${run.run}` : "";
  const here = run && training.run === run.run;
  const busy = { starting: "starting", training: "training", stopping: "storing" }[training.status];
  const status = byId("run-status");
  status.className = here ? "busy" : (run?.status ?? "");
  const rate = here && training.rate ? `, ${number(training.rate, 3)} steps/s` : "";
  const settings = run ? `N = ${run.settings.width}, α = ${run.settings.fraction}, ${run.settings.optimizer}` : "";
  status.replaceChildren(...(run ? [make("b", {}, here ? busy : STATUS[run.status]), ` ${settings}${rate}`] : []));
}

async function begin() {
  setTheme(initialTheme());
  const wanted = readAddress();
  initialChanges.push(...state.view.changes);
  chosenCoordinate = location.hash.includes("coordinate=");
  if (source.replay) {
    for (const element of document.querySelectorAll("[data-live]")) element.remove();
    const code = new Blob([await unpack(byId("replay-plotly"))], { type: "text/javascript" });
    await new Promise((loaded) => document.head.append(make(
      "script",
      { src: URL.createObjectURL(code), onload: loaded },
    )));
  }
  buildClock();
  const panels = source.replay ? [curves, weights, plane, circle, answers, ipr, theory] : [
    curves,
    weights,
    plane,
    circle,
    answers,
    whatif,
    ipr,
    sweep,
    theory,
  ];
  if (!source.replay) buildWelcome();
  for (const create of panels) create();
  byId("open-tour").onclick = openTour;
  byId("open-share").onclick = openShare;
  byId("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  on("run rows training", showTitle);
  keepAddress();
  if (source.replay) {
    await open("replay", { step: wanted.step });
    return;
  }
  const { fields, training } = await source.state();
  state.training = training;
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
  for (const other of wanted.compared) await setCompared(other, true);
  emit("training");
}

on("open", (run) => open(run));
on("training-asked", (run) => {
  if (opening === run) return;
  clock.follow = true;
  open(run, { tries: 100 });
});
// Begun by another tab: followed here only where nothing else is being looked at.
on("training-begun", (run) => {
  if ((!state.run && !opening) || state.run?.run === run) emit("training-asked", run);
});
on("over", ({ run }) => {
  if (run === state.run?.run || run === opening) open(run, { tries: 5 });
  emit("store");
});
on("reconnected", () => state.run && open(state.run.run));
let clearing = null;
on("problem", (text) => {
  notice(text);
  clearTimeout(clearing);
  clearing = setTimeout(() => notice(""), LAST);
});

begin();
