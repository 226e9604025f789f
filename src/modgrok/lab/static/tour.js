// The guided tour: short prose whose steps move the clock and the page on the user's own run.

import { setStep, toEnd } from "lab/clock.js";
import { byId, grouped, make, pretty } from "lab/dom.js";
import { firstReached, lastRow, on, setView, state } from "lab/store.js";

const grokked = () => firstReached(state.run, "test_accuracy");
const memorized = () => firstReached(state.run, "train_accuracy");
const end = () => lastRow()?.step ?? 0;

const STOPS = [
  {
    title: "A network and a table",
    panel: "answers",
    at: () => 0,
    view: { table: "answers" },
    text: () => `The network sees part of the table of ${pretty(state.run.task.name)} mod ${state.run.settings.modulus}, and is asked for all of it. At step 0 its weights are noise, and so are its answers.`,
  },
  {
    title: "First it memorizes",
    panel: "curves",
    at: () => memorized() ?? end(),
    text: () => memorized() == null
      ? "This run has not learnt even its training pairs by heart yet. Try the preset Late grokking to see it."
      : `At step ${grouped(memorized())} it knows its training pairs. ${grokked() != null && grokked() > memorized() ? "On pairs it has never seen it still fails: in the table, only the trained cells are right." : "Here the unseen pairs follow at once; the preset Late grokking pulls the two apart."}`,
  },
  {
    title: "Then it groks",
    panel: "curves",
    at: () => grokked() ?? end(),
    text: () => grokked() == null ? "This run has not grokked: test accuracy never reached the threshold." : `At step ${grouped(grokked())} the unseen pairs come right too. The curves do not say what changed; the weights do.`,
  },
  {
    title: "The waves",
    panel: "weights",
    at: () => end(),
    view: { sort: "final" },
    text: () => "Every neuron has become a wave of a single frequency. Sorted by it, the spectra form a staircase. Play the clock from the start: order emerges row by row, well before the test accuracy jumps.",
  },
  {
    title: "The phases",
    panel: "circle",
    at: () => end(),
    text: () => "Waves alone are not enough. A neuron helps the right answer only if its three phases fit: φ1 + φ2 = φ3. The circle shows how nearly each neuron has found that.",
  },
  {
    title: "The closed form",
    panel: "theory",
    at: () => end(),
    text: () => state.run.task.index
      ? "These weights were never trained: they are written down from a formula. The same waves, the same phases, and every answer right. The distance shows how near training came."
      : "For this function no formula is known. Compare with n + m, where the solution can be written down.",
  },
  {
    title: "Take it apart",
    panel: "whatif",
    at: () => end(),
    text: () => "Remove the strongest frequency and watch the accuracy; keep only a few; snap all phases. What survives is what the network really uses.",
  },
  {
    title: "What it cannot learn",
    panel: "curves",
    at: () => end(),
    text: () => "n³ + nm² + m is no function of a sum or a product in any coordinate. The preset What it cannot learn shows a network that memorizes nine tenths of its table and is at chance on the rest.",
  },
];

let place = -1;

export function openTour() {
  go(0);
}

function go(next) {
  const box = byId("tour");
  for (const marked of document.querySelectorAll(".toured")) marked.classList.remove("toured");
  const stops = STOPS.filter(({ panel }) => byId(panel));
  if (next < 0 || next >= stops.length) {
    place = -1;
    box.hidden = true;
    return;
  }
  place = next;
  const stop = stops[place];
  box.hidden = false;
  if (state.run) {
    if (stop.view) setView(stop.view);
    const step = stop.at();
    if (step >= end()) toEnd();
    else setStep(step);
    const panel = byId(stop.panel);
    panel?.classList.add("toured");
    panel?.scrollIntoView({
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      block: "center",
    });
  }
  const button = (text, to, attributes = {}) => make("button", { onclick: () => go(to), ...attributes }, text);
  box.replaceChildren(
    make("p", { class: "caption" }, `${place + 1} of ${stops.length}`),
    make("h2", { tabindex: "-1" }, stop.title),
    make(
      "p",
      {},
      state.run ? stop.text() : "Train a run first, for example with the preset Grok in seconds; the tour then walks through your own run.",
    ),
    make(
      "div",
      { class: "buttons" },
      button("Back", place - 1, { disabled: place === 0 }),
      button(place + 1 < stops.length ? "Next" : "Done", place + 1, { class: "primary" }),
      button("End", -1, { class: "plain" }),
    ),
  );
  box.querySelector("h2").focus({ preventScroll: true });
}

on("run", () => place >= 0 && go(place));
document.addEventListener("keydown", (event) => event.key === "Escape" && place >= 0 && go(-1));
