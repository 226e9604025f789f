// The bar at the bottom of the page: play, scrubber, time scale, speed, and what the clock says.

import { clock, lastStep, move, placeOf, play, setStep, stepAt, toEnd } from "lab/clock.js";
import { byId, choice, grouped, make, percent } from "lab/dom.js";
import { css } from "lab/color.js";
import { firstReached, on, rowAt, setView, state, toldStep } from "lab/store.js";

const FINE = 2000;

export function buildClock() {
  const playButton = make("button", { id: "play", class: "round", "aria-label": "Play", onclick: () => play() });
  const back = make("button", { class: "plain", "aria-label": "One stored step back", onclick: () => move(-1) }, "‹");
  const forth = make("button", { class: "plain", "aria-label": "One stored step on", onclick: () => move(1) }, "›");
  const range = make("input", {
    id: "scrubber",
    type: "range",
    min: 0,
    max: FINE,
    value: 0,
    "aria-label": "Step of training",
    oninput: () => { play(false); setStep(stepAt(range.value / FINE)); },
  });
  const marks = make("canvas", { class: "marks", "aria-hidden": "true" });
  const readout = make("output", { id: "step", for: "scrubber" });
  const scores = make("span", { class: "scores" });
  const time = choice(
    "Time axis",
    [["log", "log"], ["linear", "linear"]],
    state.view.time,
    (key) => setView({ time: key }),
  );
  const snap = make("label", { class: "check", title: "Stand only on steps whose weights are stored" },
    make(
      "input",
      { type: "checkbox", checked: state.view.snap, onchange: (e) => setView({ snap: e.target.checked }) },
    ), "snap");
  const speed = make("select", { "aria-label": "Speed", onchange: () => setView({ speed: Number(speed.value) }) },
    ...[0.5, 1, 2, 4].map((x) => make("option", { value: x, selected: x === state.view.speed }, `${x}×`)));
  const changed = make(
    "button",
    { class: "chip", id: "changed", title: "Undo all what-if changes", onclick: () => setView({ changes: [] }) },
    "network changed ×",
  );
  const live = make("button", { id: "follow", class: "plain", onclick: () => toEnd() }, "live");
  byId("clock").append(
    make("div", { class: "transport" }, playButton, back, forth),
    make("div", { class: "track" }, marks, range),
    make("div", { class: "readout" }, readout, scores),
    make("div", { class: "options" }, changed, time, snap, speed, live),
  );

  const update = () => {
    const { run } = state;
    range.disabled = playButton.disabled = back.disabled = forth.disabled = !run;
    playButton.textContent = clock.playing ? "❚❚" : "▶";
    playButton.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    live.setAttribute("aria-pressed", String(clock.follow));
    live.hidden = state.training.run !== run?.run || !run;
    changed.hidden = !state.view.changes.length;
    time.show(state.view.time);
    if (!run) return;
    range.value = Math.round(placeOf(clock.step) * FINE);
    range.setAttribute("aria-valuetext", `step ${toldStep(clock.step)} of ${toldStep(lastStep())}`);
    readout.textContent = `step ${grouped(toldStep(clock.step))}`;
    const changed_ = state.view.changes.length && state.frame;
    const row = changed_ ? state.frame : rowAt(run, clock.step);
    scores.replaceChildren(
      ...(row?.train_accuracy == null ? [] : [make("span", { class: "train" }, `train ${percent(row.train_accuracy)}`)]),
      make("span", { class: "test" }, `test ${percent(row?.test_accuracy)}`),
    );
  };
  const drawMarks = () => {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = marks;
    marks.width = width * ratio;
    marks.height = height * ratio;
    const context = marks.getContext("2d");
    context.scale(ratio, ratio);
    if (!state.run) return;
    const at = (step) => 8 + placeOf(step) * (width - 16);
    context.fillStyle = css("faint");
    for (const step of state.run.snapshots) context.fillRect(at(step) - 0.5, height - 7, 1, 5);
    for (const [curve, color] of [["train_accuracy", "train"], ["test_accuracy", "test"]]) {
      const step = firstReached(state.run, curve);
      if (step == null) continue;
      context.fillStyle = css(color);
      context.beginPath();
      context.arc(at(step), 5, 3.2, 0, 2 * Math.PI);
      context.fill();
    }
  };
  on("clock run rows training frame", update);
  on("run rows kept view theme", drawMarks);
  on("view", update);
  new ResizeObserver(drawMarks).observe(marks);
  update();
}
