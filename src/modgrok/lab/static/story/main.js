// The story: loads its replay, writes the numbers, and builds one picture for each scene.

import { on } from "lab/store.js";
import { EraserScene } from "lab/story/eraser.js";
import { FormulaScene } from "lab/story/formula.js";
import { GroupsScene } from "lab/story/groups.js";
import { LimitsScene } from "lab/story/limits.js";
import { NUMBERS, writeNumbers } from "lab/story/numbers.js";
import { PhasesScene, TurningScene } from "lab/story/phases.js";
import { QuestionScene } from "lab/story/question.js";
import { Replay } from "lab/story/replay.js";
import { SilenceScene } from "lab/story/silence.js";
import { TableScene } from "lab/story/table.js";
import { ThroughScene } from "lab/story/through.js";
import { startAt, WavesScene } from "lab/story/waves.js";
import { buildTheme } from "lab/theme.js";
import "lab/token.js";

const FROM_DISK = document.getElementById("story-replay") !== null;

// The next frame of the screen, at once where nobody looks.
const screen = () => new Promise((go) => (document.hidden ? setTimeout(go) : requestAnimationFrame(go)));

async function begin() {
  buildTheme(document.getElementById("theme"));
  for (const element of document.querySelectorAll(FROM_DISK ? "[data-live-only]" : "[data-file-only]")) element.remove();
  for (const element of document.querySelectorAll("[data-file-only]")) element.hidden = false;
  const replay = await Replay.load();
  new TableScene("watch", replay, { seconds: 9, label: "Time of training" });
  const rest = [
    () => startAt(replay),
    () => writeNumbers(replay),
    () => new EraserScene("eraser", replay),
    () => new QuestionScene("question", replay),
    () => new SilenceScene("silence", replay),
    () => new TableScene("flip", replay, { from: 0.2 * replay.grokked, to: 1.4 * replay.grokked, seconds: 7, label: "Time around the jump" }),
    () => new WavesScene("waves", replay),
    () => new TurningScene("turning", replay),
    () => new PhasesScene("phases", replay),
    () => new ThroughScene("through", replay),
    () => new FormulaScene("formula", replay),
    () => new LimitsScene("limits", replay),
    () => new GroupsScene("groups", replay),
  ];
  for (const build of rest) {
    await screen(); // The first picture moves while the others are built.
    build();
  }
  const { n, m, answer, agreeing, wavesAdded } = NUMBERS;
  on("pair", () => writeNumbers(replay, { n, m, answer, agreeing, wavesAdded }));
  document.documentElement.dataset.ready = "true";
}

if (location.hash.includes("run=") && !FROM_DISK) location.replace(`/lab${location.hash}`);
else begin();
