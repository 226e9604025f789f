/* global Plotly */
// Line charts over steps, drawn by plotly.js, with our own cursor on top: scrubbing moves a line and redraws nothing.

import { css } from "lab/color.js";
import { clock, setStep } from "lab/clock.js";
import { make } from "lab/dom.js";
import { on, state } from "lab/store.js";

const SPACE = { l: 52, r: 14, t: 8, b: 34 };

export class StepChart {
  constructor(label, height) {
    this.plot = make("div", { class: "plot", style: `height:${height}px` });
    this.cursor = make("div", { class: "cursor", "aria-hidden": "true" });
    this.element = make("div", { class: "chart", role: "img", "aria-label": label }, this.plot, this.cursor);
    this.ready = false;
    this.element.addEventListener("pointerdown", (event) => this.scrub(event));
    new ResizeObserver(() => this.ready && this.resize()).observe(this.element);
    on("clock", () => this.place());
  }

  // Traces as plotly has them; step 0 sits at the left end of a logarithmic axis, as step ½.
  draw(traces, axes, shapes = [], annotations = []) {
    const log = state.view.time === "log";
    const at = (step) => (log ? Math.max(step, 0.5) : step);
    const last = Math.max(...traces.flatMap((trace) => [trace.x.at(-1) ?? 0]), 1);
    const grid = { gridcolor: css("line"), zeroline: false, linecolor: css("line"), tickfont: { size: 11 } };
    const layout = {
      margin: SPACE,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css("sans"), size: 11, color: css("muted") },
      showlegend: false,
      dragmode: false,
      hovermode: "x",
      hoverlabel: { bgcolor: css("panel"), bordercolor: css("line"), font: { color: css("ink") } },
      xaxis: {
        ...grid,
        type: log ? "log" : "linear",
        range: log ? [Math.log10(0.5), Math.log10(last * 1.05)] : [0, last * 1.02],
        title: { text: "step", standoff: 6 },
        dtick: log ? 1 : undefined,
        fixedrange: true,
        anchor: axes.length > 1 ? "y2" : "y",
        showspikes: false,
      },
      shapes: shapes.map((shape) => ({ ...shape, x0: at(shape.x0), x1: at(shape.x1) })),
      annotations: annotations.map((note) => ({
        ...note,
        x: log ? Math.log10(at(note.x)) : note.x,
        font: { size: 11, ...note.font },
      })),
    };
    axes.forEach((axis, i) => {
      layout[`yaxis${i ? i + 1 : ""}`] = { ...grid, fixedrange: true, exponentformat: "e", ...axis };
    });
    const lines = traces.map((trace) => ({ mode: "lines", ...trace, x: trace.x.map(at) }));
    Plotly.react(this.plot, lines, layout, { displayModeBar: false, responsive: false });
    this.ready = true;
    this.place();
  }

  get axis() {
    return this.plot._fullLayout?.xaxis;
  }

  place() {
    const axis = this.ready && state.run && this.axis;
    this.cursor.hidden = !axis;
    if (!axis) return;
    const value = axis.type === "log" ? Math.max(clock.step, 0.5) : clock.step;
    this.cursor.style.transform = `translateX(${axis._offset + axis.d2p(value)}px)`;
  }

  scrub(event) {
    const axis = this.axis;
    if (!axis || event.button !== 0) return;
    const follow = (e) => {
      const place = e.clientX - this.plot.getBoundingClientRect().left - axis._offset;
      setStep(Math.max(0, axis.p2d(Math.min(Math.max(place, 0), axis._length))));
    };
    const end = () => {
      this.element.removeEventListener("pointermove", follow);
      this.element.removeEventListener("pointerup", end);
      this.element.removeEventListener("pointercancel", end);
    };
    this.element.setPointerCapture(event.pointerId);
    this.element.addEventListener("pointermove", follow);
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
    follow(event);
  }

  resize() {
    Plotly.Plots.resize(this.plot).then(() => this.place(), () => {});
  }

  image(format) {
    return Plotly.toImage(this.plot, { format, scale: format === "png" ? 2 : 1 });
  }
}
