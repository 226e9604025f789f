// The guided tour: it plays, removes and asks on the user's own run, docked beside the panel it speaks of.

import { choose, openExample, train } from "lab/controls.js";
import { lastStep, play, playBetween, setStep, toEnd } from "lab/clock.js";
import { byId, grouped, make, number, percent, taskName } from "lab/dom.js";
import { isFresh } from "lab/outcome.js";
import { PRESETS } from "lab/presets.js";
import { firstReached, on, rowAt, setView, state } from "lab/store.js";

const PURE = 0.9; // share of a neuron's weights that its wave explains where we call it pure
const NO_ROOM = "(max-width: 760px), (max-height: 560px)"; // for a column beside the panels; as in lab.css
const CANNOT = PRESETS.findIndex(({ name }) => name === "What it cannot learn");
const grokked = () => firstReached(state.run, "test_accuracy");
const memorized = () => firstReached(state.run, "train_accuracy");
const accuracyAt = (step, which) => rowAt(state.run, step)?.[`${which}_accuracy`];
const name = () => taskName(state.run);
const strongest = () => (state.base ?? state.frame)?.ranking?.[0]?.[0];

// Each stop: its panel, what it does on arrival, what it says, and perhaps a question with what happens on an answer.
export const STOPS = [
  {
    title: "A network and a table",
    panel: "answers",
    act: () => { setView({ table: "answers", changes: [] }); setStep(0); },
    text: () => `The network is shown ${percent(state.run.settings.fraction, 0)} of the table of ${name()}, and is asked for all of it. At step 0 its weights are noise: ${percent(accuracyAt(0, "test"))} of the unseen pairs are right.`,
  },
  {
    title: "First it memorizes",
    panel: "answers",
    act: () => playBetween(0, memorized() ?? lastStep()),
    text: () => memorized() == null
      ? "This run has not learned even its training pairs by heart. Try the first preset."
      : `By step ${grouped(memorized())} it knows its training pairs (orange). Of the unseen ones ${percent(accuracyAt(memorized(), "test"))} are right then.`,
  },
  {
    title: "What happens next?",
    panel: "curves",
    fits: () => !isFresh(state.run), // who sees every example once has none to go on with
    act: () => setStep(memorized() ?? lastStep()),
    text: () => "Training goes on with the same examples, all of them known. What will become of the pairs it has never seen?",
    answers: ["They stay wrong", "It gets them right at once", "It gets them right, but later"],
    shows: () => playBetween(memorized() ?? 0, lastStep()),
    told: () => grokked() == null
      ? `In this run they end at ${percent(accuracyAt(lastStep(), "test"))}.`
      : grokked() > 2 * (memorized() ?? grokked()) ? `It gets them right, but later: at step ${grouped(grokked())}, ${number(grokked() / memorized(), 2)} times as long as memorizing took.` : `In this run it gets them right almost at once, at step ${grouped(grokked())}. The first preset pulls the two apart.`,
  },
  {
    title: "The phases agree early",
    panel: "circle",
    act: () => playBetween(0, memorized() ?? lastStep()),
    text: () => `A neuron helps the right answer only if its phases fit, φ1 + φ2 = φ3. Here they turn toward it while the clock runs to step ${grouped(memorized() ?? lastStep())}: the spread is now ${number(state.frame?.phase_spread, 2)} rad.`,
  },
  {
    title: "The waves",
    panel: "weights",
    act: () => { setView({ sort: "final" }); toEnd(); },
    text: () => `At the end ${pureCount()} of ${state.frame?.shown ?? "–"} neurons are nearly pure waves. Sorted by frequency their spectra form a staircase; play the clock to see it rise.`,
  },
  {
    title: "Take it apart",
    panel: "whatif",
    act: () => { setView({ changes: [] }); toEnd(); },
    text: () => `Frequency ${strongest() ?? "–"} is the strongest. Suppose all its neurons are removed. How many unseen pairs will still be right?`,
    answers: ["Nearly all", "About half", "Hardly any"],
    shows: () => setView({ changes: [`frequency:${strongest()}`] }),
    told: () => state.base ? `${percent(state.base.test_accuracy)} before, ${percent(state.frame.test_accuracy)} now. ${state.base.test_accuracy - state.frame.test_accuracy < 0.05 ? "Many frequencies share the work here, so one is not missed; in the preset Few waves it is." : "Few frequencies share the work here, so one is missed."}` : "",
    leave: () => setView({ changes: [] }),
  },
  {
    title: "The closed form",
    panel: "theory",
    act: () => toEnd(),
    text: () => state.run.task.index
      ? "These weights were never trained: they are written down from a formula, with the same kind of waves and phases. The chart shows how near training came to it."
      : "For this function no formula is known. Compare with n + m, where the solution can be written down.",
  },
  {
    title: "What it cannot learn",
    panel: "curves",
    act: () => toEnd(),
    text: () => "n³ + nm² + m is not a function of a sum or of a product, however the numbers are ordered. Train it and watch: it learns the training pairs by heart, and stays at chance on the others.",
    answers: ["Train it now"],
    shows: async () => { await choose(CANNOT); await train(); },
    told: () => "Training. The tour ends here; the curves tell the rest.",
  },
];

// The stops that have a panel here and something to say of this run.
const stopsHere = () => STOPS.filter(({ panel, fits }) => byId(panel) && !byId(panel).hidden && (!state.run || (fits?.() ?? true)));

function pureCount() {
  return state.frame?.explained ? state.frame.explained.filter((share) => share > PURE).length : "–";
}

let place = -1;
let answered = null;

// Without a run it trains one, and begins when that is whole.
export async function openTour() {
  go(0);
  if (state.run || state.training.run) return;
  await openExample();
  state.example = null; // The tour plays it.
}

function leave() {
  for (const marked of document.querySelectorAll(".toured")) marked.classList.remove("toured");
}

function go(next) {
  const stops = stopsHere();
  const box = byId("tour");
  if (place >= 0) stops[place]?.leave?.();
  leave();
  answered = null;
  if (next < 0 || next >= stops.length) {
    place = -1;
    box.hidden = true;
    document.body.append(box);
    return;
  }
  place = next;
  const stop = stops[place];
  box.hidden = false;
  if (state.run) {
    const panel = byId(stop.panel);
    panel.classList.add("toured");
    if (matchMedia(NO_ROOM).matches) panel.querySelector("header").after(box);
    else document.querySelector(".frame").append(box);
    play(false); // What the stop before was playing.
    stop.act();
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    panel.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  }
  const button = (text, to, attributes = {}) => make("button", { onclick: () => go(to), ...attributes }, text);
  const words = make("p", { id: "tour-words" });
  const asks = (stop.answers ?? []).map((text) => make("button", { type: "button", onclick: (event) => answer(stop, event.target) }, text));
  box.replaceChildren(
    make("p", { class: "caption" }, `Tour, ${place + 1} of ${stops.length}`),
    make("h3", { tabindex: "-1" }, stop.title),
    words,
    ...(state.run && asks.length ? [make("div", { class: "buttons asks" }, ...asks)] : []),
    make("div", { class: "buttons" },
      button("Back", place - 1, { disabled: place === 0 }),
      button(place + 1 < stops.length ? "Next" : "Done", place + 1, { class: "primary" }),
      button("End", -1, { class: "plain" })),
  );
  write(stop);
  box.querySelector("h3").focus({ preventScroll: true });
}

function write(stop) {
  const words = byId("tour-words");
  if (!words) return;
  if (!state.run?.rows.length) words.textContent = "The story's run is being trained, which takes some seconds; the tour then walks through it.";
  else words.textContent = answered ? `${stop.text()} ${stop.told()}` : stop.text();
}

async function answer(stop, button) {
  answered = button.textContent;
  for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
  await stop.shows();
  write(stop);
}

const current = () => stopsHere()[place];
on("over open", () => place === 0 && setTimeout(() => go(0))); // It stood before a run that was not there, or not whole.
on("frame rows", () => place >= 0 && state.run && write(current()));
document.addEventListener("keydown", (event) => event.key === "Escape" && place >= 0 && go(-1));
