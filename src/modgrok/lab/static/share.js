// Share: a replay file, the command line, and the address of what is on screen.

import { byId, make, save } from "lab/dom.js";
import { source } from "lab/source.js";
import { emit, state } from "lab/store.js";

export function openShare() {
  const dialog = byId("share");
  const { run } = state;
  const copy = (text) => {
    const button = make("button", { type: "button", onclick: async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } }, "copy");
    return button;
  };
  const address = new URL(location.href);
  const file = make("button", { id: "save-replay", class: "primary", onclick: async () => {
    file.disabled = true;
    file.textContent = "Packing …";
    try {
      save(`modgrok-${run.run}.html`, await source.replayFile(run.run));
    } catch (error) {
      emit("problem", error.message);
    }
    file.disabled = false;
    file.textContent = "Save the replay file";
  } }, "Save the replay file");
  dialog.replaceChildren(
    make(
      "header",
      {},
      make("h2", {}, "Share"),
      make("button", { class: "plain", "aria-label": "Close", onclick: () => dialog.close() }, "✕"),
    ),
    ...(run ? [
      ...(source.replay ? [] : [
        make("h3", {}, "Replay file"),
        make(
          "p",
          {},
          "One HTML file with this run's curves and weights: it plays in any browser, offline, without Python.",
        ),
        file,
      ]),
      make("h3", {}, "Command line"),
      make("p", {}, "Trains exactly this run:"),
      make("div", { class: "copy" }, make("code", { id: "command" }, run.command), copy(run.command)),
      ...(source.replay ? [] : [
        make("h3", {}, "Address"),
        make("p", {}, "This view in this lab: run, step, and the options of every panel."),
        make("div", { class: "copy" }, make("code", {}, address.href), copy(address.href)),
      ]),
    ] : [make("p", {}, "Open or train a run first.")]),
  );
  dialog.showModal();
}
