// What the lab shows before any run is open: where to begin.

import { openExample } from "lab/controls.js";
import { byId, make } from "lab/dom.js";
import { on, state } from "lab/store.js";

export function buildWelcome() {
  byId("panels").append(make("section", { id: "welcome", class: "panel wide", "aria-labelledby": "welcome-title" },
    make("h2", { id: "welcome-title" }, "Train a network, and look inside"),
    make("p", {}, "Choose a function on the left, the modulus p and the share α of its table that is shown, and press Train. Every panel then follows one clock: drag it, play it, or watch while the network learns."),
    make("p", {}, "New to grokking? ", make("a", { href: "/" }, "The story"), " explains it in twelve pictures."),
    make("div", { class: "buttons" },
      make("button", { class: "primary", id: "first-run", onclick: openExample }, "Train the example"),
      make("button", { onclick: () => byId("open-runs").click() }, "Open a stored run"))));
  const show = () => document.body.classList.toggle("no-run", !state.run);
  on("run", show);
  show();
}
