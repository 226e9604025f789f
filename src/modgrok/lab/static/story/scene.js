// One scene: its section of the page, and a picture that is drawn only while it is in sight.

import { byId, make } from "lab/dom.js";
import { on } from "lab/store.js";

export class Scene {
  constructor(id, label) {
    this.section = byId(id);
    this.figure = this.section.querySelector("figure");
    this.canvas = make("canvas", { role: "img", "aria-label": label });
    this.figure.append(this.canvas);
    this.visible = false;
    this.asked = false;
    new IntersectionObserver(([entry]) => {
      this.visible = entry.isIntersecting;
      this.timeline?.setVisible(this.visible);
      if (this.visible) this.redraw();
    }, { rootMargin: "40px" }).observe(this.figure);
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    addEventListener("beforeprint", () => this.print());
    on("pair", () => this.redraw());
    on("theme", () => {
      delete this.section.dataset.drawn; // It says how often the scene was drawn in these colors.
      this.redraw();
    });
  }

  // On paper every picture is drawn, as it is when its time is over.
  print() {
    this.timeline?.goTo(this.timeline.to);
    this.draw();
  }

  // Draws before the next frame of the screen, once, however often it is asked.
  redraw() {
    if (this.asked || !this.visible) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (this.canvas.clientWidth) this.draw();
      this.section.dataset.drawn = String(Number(this.section.dataset.drawn ?? 0) + 1);
    });
  }
}
