// The numbers in the prose: each is read from the replay, or from what the reader has chosen.

import { grouped, number, percent } from "lab/dom.js";
import { outputs } from "lab/network.js";
import { circular } from "lab/pictures/phases.js";
import { pair } from "lab/story/pair.js";

export const EARLY = 0.9; // share of unseen sums that the waves alone answer where the prose says "already"
const SILENCE = 400; // a step in the midst of the silence

// A share with as many digits as keep it apart from none and all.
export const share = (x) => percent(x, (x > 0 && x < 0.1) || (x > 0.985 && x < 1) ? 1 : 0);
const measured = (name, step) => (replay) => replay.measured[name][replay.measured.step.indexOf(step(replay))];
const memorized = (replay) => replay.memorized;
const grokked = (replay) => replay.grokked;
const end = (replay) => replay.last;
const early = (replay) => replay.first("waves_only", EARLY);
const silence = (replay) => replay.measured.step.find((step) => step >= SILENCE);
const other = (replay, task) => replay.others.find((found) => found.task === task);
const at = (name, step, write = share) => (replay) => write(measured(name, step)(replay));
const radians = (x) => x.toFixed(2);

export const NUMBERS = {
  p: (replay) => replay.modulus,
  last: (replay) => replay.modulus - 1,
  n: () => pair.n,
  m: () => pair.m,
  answer: (replay) => replay.answer(pair.n, pair.m),
  pairs: (replay) => grouped(replay.cells),
  shown: (replay) => grouped(replay.trained.reduce((a, b) => a + b, 0)),
  unseen: (replay) => grouped(replay.cells - replay.trained.reduce((a, b) => a + b, 0)),
  width: (replay) => replay.width,
  chance: (replay) => percent(1 / replay.modulus),
  memorized: (replay) => grouped(memorized(replay)),
  trainMemorized: at("train_accuracy", memorized),
  testMemorized: at("test_accuracy", memorized),
  silenceSteps: (replay) => grouped(silence(replay) - memorized(replay)),
  testSilence: at("test_accuracy", silence),
  wavesEarly: (replay) => early(replay),
  wavesEarlyScore: at("waves_only", early),
  trainEarly: at("train_accuracy", early),
  spreadStart: at("spread", () => 0, radians),
  spreadMemorized: at("spread", memorized, radians),
  spreadPure: (replay) => radians(circular(pureOf(replay, "residual")).phase_spread),
  explainedMemorized: at("explained", memorized),
  explainedEnd: at("explained", end),
  flipStart: (replay) => grouped(silence(replay)),
  flipFrom: at("test_accuracy", silence),
  flipTo: at("test_accuracy", grokked),
  grokked: (replay) => grouped(grokked(replay)),
  ratio: (replay) => Math.round(grokked(replay) / memorized(replay)),
  pureCount: (replay) => Math.round(measured("pure", end)(replay) * replay.width),
  frequencies: (replay) => new Set(pureOf(replay, "frequency")).size,
  agreeing: (replay) => partsAtAnswer(replay).filter((part) => part > 0).length,
  wavesAdded: (replay) => partsAtAnswer(replay).length,
  exactWidth: (replay) => 2 * replay.modulus - 1,
  cubicShown: (replay) => percent(other(replay, "n^3+n*m^2+m").fraction, 0),
  cubicTrain: (replay) => share(other(replay, "n^3+n*m^2+m").curves.train_accuracy.at(-1)),
  cubicTest: (replay) => share(other(replay, "n^3+n*m^2+m").curves.test_accuracy.at(-1)),
  mixedTest: (replay) => share(other(replay, "n^2+m^2+n*m").curves.test_accuracy.at(-1)),
  settings: (replay) =>
    `n + m mod ${replay.modulus}, ${replay.width} neurons, ${percent(replay.fraction, 0)} of the table, AdamW with rate ${number(replay.lr)} and decay ${number(replay.weight_decay)}, full batch, ${grouped(replay.last)} steps`,
};

// What a measure says at the end of the neurons that became waves.
function pureOf(replay, measure) {
  const frame = replay.frame(replay.last);
  return Array.from(frame[measure]).filter((_, i) => frame.explained[i] > replay.pure);
}

// What the wave of every frequency adds to the right answer of the chosen sum, at the end.
function partsAtAnswer(replay) {
  const { parts } = outputs(replay.frame(replay.last), [pair.n, pair.m]);
  return [...parts.values()].map((part) => part[replay.answer(pair.n, pair.m)]);
}

// Writes all numbers, or those that a scene has anew.
export function writeNumbers(replay, values = NUMBERS) {
  for (const element of document.querySelectorAll("[data-number]")) {
    const write = values[element.dataset.number];
    if (write === undefined) continue;
    element.textContent = typeof write === "function" ? write(replay) : write;
  }
}
