// What became of a run, in a sentence, and what to try where it failed.

import { grouped, number, percent } from "lab/dom.js";
import { firstReached, toldStep } from "lab/store.js";

const ended = (run) => run.status !== "unfinished";

// Memorized and grokked steps; of a fork counted from where its parent began.
export function times(run) {
  const at = (curve) => {
    const step = firstReached(run, curve);
    return step == null ? null : { step: toldStep(step, run), before: Boolean(run.parent) && step === 0 };
  };
  return { memorized: at("train_accuracy"), grokked: at("test_accuracy") };
}

// Whether every batch is new: there is then no training set, and nothing to memorize.
export const isFresh = (run) => run.rows.length > 0 && run.rows.every((row) => row.train_accuracy == null);

export function sentence(run) {
  if (run.status === "diverged") return `Diverged at step ${grouped(run.result?.diverged_at)}. ${advice(run)}`;
  if (run.status === "collapsed") return "Collapsed: the weights shrank to zero, because the weight decay is too strong. Try a tenth of it.";
  const { memorized, grokked } = times(run);
  const from = run.parent ? `Forked at step ${grouped(run.parent.step)}. ` : "";
  const steps = grouped(toldStep(run.rows.at(-1)?.step ?? 0, run));
  if (isFresh(run)) {
    const test = percent(run.rows.at(-1).test_accuracy);
    if (grokked) return `${from}Learned at step ${grouped(grokked.step)}. Every batch is new, so there is nothing to memorize.`;
    return `${from}Not learned ${ended(run) ? `in ${steps} steps` : "yet"} (test ${test}). Every batch is new, so there is nothing to memorize.`;
  }
  if (!memorized) return from + (ended(run) ? `Not memorized in ${steps} steps. ${advice(run)}` : "Not memorized yet.");
  const known = memorized.before ? "Its training pairs were memorized before the fork" : `Memorized at step ${grouped(memorized.step)}`;
  if (!grokked) {
    const test = percent(run.rows.at(-1)?.test_accuracy);
    return `${from}${known}, ${ended(run) ? `not grokked in ${steps} steps (test ${test}). ${advice(run)}` : `not grokked so far (test ${test}).`}`;
  }
  if (grokked.before) return `${from}It had grokked before the fork.`;
  const times_ = memorized.step ? grokked.step / memorized.step : null;
  const delay = memorized.before || grokked.step <= memorized.step ? "" : `, ${times_ >= 2 ? `${number(times_, 2)} times as long` : `${grouped(grokked.step - memorized.step)} steps later`}`;
  return `${from}${known}, grokked at step ${grouped(grokked.step)}${delay}.`;
}

// What is likely at fault, with the number that auto would have chosen.
export function advice(run) {
  const { settings, auto } = run;
  const rate = `The rate ${number(settings.lr)}`;
  const where = settings.modulus == null ? "" : ` for p = ${settings.modulus}`;
  const unit = auto?.lr ? `; auto is ${number(auto.lr)}` : "";
  if (run.status === "diverged") return `${rate} is too large${where}${unit}.`;
  const { memorized } = times(run);
  if (!memorized && auto?.lr && settings.lr < 0.5 * auto.lr) return `${rate} is too small${where}${unit}, or train longer.`;
  if (!memorized && auto?.lr && settings.lr > 10 * auto.lr) return `${rate} may be too large${where}${unit}.`;
  if (!memorized) return "Train longer, or widen the network.";
  if (settings.examples != null) return `${grouped(settings.examples)} examples may be too few: train longer, add weight decay, or show more.`;
  if (settings.modulus != null && ["none", "unknown"].includes(run.task.structure)) return `For this function no structure is known that waves could use.`;
  if (settings.fraction < 0.35) return `α = ${settings.fraction} is little data: train longer, add weight decay, or show more of the table.`;
  return "Train longer, or add a little weight decay.";
}
