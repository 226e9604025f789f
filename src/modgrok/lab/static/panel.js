// What all panels share: a title, options, a legend, an explanation, exports, and drawing only while in sight.

import { css } from "lab/color.js";
import { byId, make, save } from "lab/dom.js";
import { emit, on, state } from "lab/store.js";

export class Panel {
  // `redraw`: the events after which `draw` runs; `when`: whether there is anything to draw.
  constructor({ id, title, help, wide = false, redraw = "frame", when = () => state.frame }) {
    Object.assign(this, { id, title, when, stale: false, visible: false });
    this.options = make("div", { class: "options" });
    this.legend = make("p", { class: "legend" });
    this.body = make("div", { class: "body" });
    this.note = make("p", { class: "empty" });
    const menu = make("details", { class: "menu" }, make("summary", { "aria-label": `Save ${title}` }, "save"),
      make("div", { role: "menu" }, ...["PNG", "SVG", "CSV"].map((format) =>
        make(
          "button",
          { role: "menuitem", type: "button", onclick: () => { menu.open = false; this.export(format); } },
          format,
        ))));
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
    on(redraw, () => this.update());
    on("theme", () => this.update());
    on("run", () => this.update());
  }

  update() {
    const ready = Boolean(this.when());
    this.body.hidden = this.legend.hidden = !ready;
    this.note.hidden = ready;
    this.note.textContent = ready ? "" : this.waiting();
    this.stale = !this.visible;
    if (!ready || !this.visible) return;
    this.draw();
  }

  waiting() {
    return state.run ? "The first weights are on their way." : "Train a run, or open one from the store.";
  }

  key(...entries) {
    this.legend.replaceChildren(...entries.map(([color, text, shape = "line"]) =>
      make("span", {}, color && make("i", { class: shape, style: `--key:${color}` }), text)));
  }

  async export(format) {
    const name = `modgrok-${state.run?.run ?? "lab"}-${this.id}`;
    try {
      if (format === "CSV") return save(`${name}.csv`, this.csv(), "text/csv");
      const chart = this.chart;
      if (chart?.ready) {
        return save(`${name}.${format.toLowerCase()}`, toBlob(await chart.image(format.toLowerCase())));
      }
      const picture = this.picture();
      if (format === "PNG") return picture.toBlob((blob) => save(`${name}.png`, blob));
      const { width, height } = picture;
      save(`${name}.svg`, `<svg xmlns="http://www.w3.org/2000/svg" width="${width / 2}" height="${height / 2}" viewBox="0 0 ${width} ${height}">`
        + `<title>${this.title}</title><image width="${width}" height="${height}" href="${picture.toDataURL()}"/></svg>`, "image/svg+xml");
    } catch (error) {
      emit("problem", `${this.title} could not be saved: ${error.message}`);
    }
  }

  // All canvases and texts of the panel where they stand, at twice the size, under its title.
  picture() {
    const box = this.body.getBoundingClientRect();
    const picture = make("canvas", { width: Math.round(2 * box.width), height: Math.round(2 * box.height + 56) });
    const context = picture.getContext("2d");
    context.fillStyle = css("panel");
    context.fillRect(0, 0, picture.width, picture.height);
    context.fillStyle = css("ink");
    context.font = `600 26px ${css("sans")}`;
    context.fillText(this.title, 8, 34);
    context.imageSmoothingEnabled = false;
    for (const canvas of this.body.querySelectorAll("canvas")) {
      const place = canvas.getBoundingClientRect();
      if (!place.width) continue;
      context.drawImage(
        canvas,
        2 * (place.left - box.left),
        56 + 2 * (place.top - box.top),
        2 * place.width,
        2 * place.height,
      );
    }
    context.textBaseline = "middle";
    for (const element of this.body.querySelectorAll("td, th, button, p, figcaption, label")) {
      const place = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      if (!place.width || element.querySelector("button, p")) continue;
      const [x, y] = [2 * (place.left - box.left), 56 + 2 * (place.top - box.top)];
      context.fillStyle = style.backgroundColor;
      context.fillRect(x, y, 2 * place.width, 2 * place.height);
      context.fillStyle = style.color;
      context.font = `${style.fontWeight} ${2 * parseFloat(style.fontSize)}px ${css("sans")}`;
      context.fillText(element.textContent, x + 2 * parseFloat(style.paddingLeft), y + place.height, 2 * place.width);
    }
    return picture;
  }
}

function toBlob(url) {
  const [head, content] = [url.slice(5, url.indexOf(",")), url.slice(url.indexOf(",") + 1)];
  if (!head.endsWith(";base64")) return new Blob([decodeURIComponent(content)], { type: head.split(";")[0] });
  return new Blob([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], { type: head.split(";")[0] });
}

// Columns of equal length as CSV.
export function toCsv(columns) {
  const names = Object.keys(columns);
  const length = columns[names[0]]?.length ?? 0;
  const lines = [names.join(",")];
  for (let i = 0; i < length; i++) lines.push(names.map((name) => columns[name][i] ?? "").join(","));
  return `${lines.join("\n")}\n`;
}
