// The list of keyboard shortcuts, opened by "?" or from the header.

import { KEYS } from "lab/clock.js";
import { byId, make } from "lab/dom.js";

export function buildKeys() {
  const dialog = byId("keys");
  dialog.append(
    make("header", {}, make("h2", {}, "Keyboard"), make("button", { class: "plain", "aria-label": "Close", onclick: () => dialog.close() }, "✕")),
    make("table", {}, make("tbody", {}, ...KEYS.map(([key, text]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, text))))),
  );
  byId("open-keys").onclick = () => dialog.showModal();
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || dialog.open || event.target.closest("input:not([type=range]), textarea, dialog")) return;
    event.preventDefault();
    dialog.showModal();
  });
}
