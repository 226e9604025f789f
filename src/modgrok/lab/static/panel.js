// What all panels share: a title, options, a legend, an explanation, exports, and drawing only while in sight.

import { record } from "lab/canvas.js";
import { css } from "lab/color.js";
import { byId, make, save } from "lab/dom.js";
import { emit, on, state } from "lab/store.js";
import { toPng, toSvg } from "lab/svg.js";

export class Panel {
  // `redraw`: the events after which `draw` runs; `when`: whether there is anything to draw.
  constructor({ id, title, help, wide = false, redraw = "frame", when = () => state.frame }) {
    Object.assign(this, { id, title, when, stale: false, visible: false });
    this.options = make("div", { class: "options" });
    this.legend = make("p", { class: "legend" });
    this.body = make("div", { class: "body" });
    this.note = make("p", { class: "empty" });
    const menu = make("details", { class: "menu" }, make("summary", { "aria-label": `Save ${title}` }, "save"),
      make("div", { class: "choices" }, ...["PNG", "SVG", "CSV"].map((format) =>
        make("button", { type: "button", onclick: () => { menu.open = false; this.export(format); } }, format))));
    this.element = make("section", { class: `panel${wide ? " wide" : ""}`, id, "aria-labelledby": `${id}-title` },
      make("header", {}, make("h2", { id: `${id}-title` }, title), menu, this.options),
      this.legend, this.body, this.note,
      make(
        "details",
        { class: "help" },
        make("summary", {}, "What am I looking at?"),
        ...help.map((text) => make("p", {}, text)),
      ));
    byId("panels").append(this.element);
    new IntersectionObserver(([entry]) => {
      this.visible = entry.isIntersecting;
      if (this.visible && this.stale) this.update();
    }, { rootMargin: "120px" }).observe(this.element);
    new ResizeObserver(() => requestAnimationFrame(() => this.visible && this.update())).observe(this.body);
    addEventListener("beforeprint", () => {
      this.visible = true; // until the observer says otherwise
      this.update();
    });
    on(redraw, () => this.update());
    on("theme", () => this.update());
    on("run", () => this.update());
  }

  // Whether the panel has anything to say of this kind of run at all.
  get applies() {
    return !state.run?.panels || state.run.panels.includes(this.id);
  }

  update() {
    this.element.hidden = !this.applies;
    if (this.drawn !== state.run?.run) this.clear();
    if (!this.applies) return;
    const ready = Boolean(this.when());
    this.body.hidden = this.legend.hidden = !ready;
    this.note.hidden = ready;
    this.note.textContent = ready ? "" : this.waiting();
    this.stale = !this.visible;
    if (!ready || !this.visible) return;
    this.draw();
    this.drawn = state.run?.run;
  }

  // What was said of another run is not left in the document.
  clear() {
    this.legend.replaceChildren();
    for (const said of this.body.querySelectorAll(".sentence")) said.textContent = "";
  }

  waiting() {
    return state.run ? "The first weights are on their way." : "Train a run, or open one from the store.";
  }

  key(...entries) {
    this.legend.replaceChildren(...entries.map(([color, text, shape = "line"]) =>
      make("span", {}, color && make("i", { class: shape, style: `--key:${color}` }), text)));
  }

  async export(format) {
    const name = `modgrok-${state.run?.run ?? "lab"}-${this.id}.${format.toLowerCase()}`;
    try {
      if (format === "CSV") return save(name, this.csv(), "text/csv");
      const drawn = record(() => this.draw());
      const colors = { background: css("panel"), ink: css("ink"), sans: css("sans") };
      const picture = toSvg(this.body, this.title, drawn, colors);
      save(name, format === "PNG" ? await toPng(picture) : picture, "image/svg+xml");
    } catch (error) {
      emit("problem", `${this.title} could not be saved: ${error.message}`);
    }
  }
}

// Columns of equal length as CSV.
export function toCsv(columns) {
  const names = Object.keys(columns);
  const length = columns[names[0]]?.length ?? 0;
  const lines = [names.join(",")];
  for (let i = 0; i < length; i++) lines.push(names.map((name) => columns[name][i] ?? "").join(","));
  return `${lines.join("\n")}\n`;
}

// A click elsewhere, or Escape, closes open menus.
document.addEventListener("pointerdown", (event) => closeMenus(event.target.closest?.(".menu")));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector(".menu[open]");
  closeMenus();
  open?.querySelector("summary").focus();
});

function closeMenus(except = null) {
  for (const menu of document.querySelectorAll(".menu[open]")) if (menu !== except) menu.open = false;
}
