// A drawing context that writes SVG: what is drawn on a canvas can be saved as lines and text.

const scratch = document.createElement("canvas").getContext("2d");
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const round = (x) => Math.round(100 * x) / 100;
const BASELINES = { top: "0.75em", middle: "0.32em", bottom: "-0.2em", alphabetic: "0" };
const KEPT = ["fillStyle", "strokeStyle", "lineWidth", "font", "textAlign", "textBaseline", "globalAlpha", "lineCap"];

export class SvgContext {
  constructor(width, height) {
    Object.assign(this, { width, height, fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "11px sans-serif" });
    Object.assign(this, { textAlign: "left", textBaseline: "alphabetic", globalAlpha: 1, lineCap: "butt" });
    this.parts = [];
    this.stack = [];
    this.dash = [];
    this.path = "";
    this.transform = "";
  }

  write(tag, attributes, content = "") {
    const all = { ...attributes, transform: this.transform || null, opacity: this.globalAlpha < 1 ? round(this.globalAlpha) : null };
    const text = Object.entries(all).filter(([, value]) => value != null && value !== "").map(([name, value]) => ` ${name}="${escape(value)}"`);
    this.parts.push(`<${tag}${text.join("")}>${content}</${tag}>`);
  }

  save() {
    this.stack.push([this.transform, this.dash, ...KEPT.map((name) => this[name])]);
  }

  restore() {
    const [transform, dash, ...values] = this.stack.pop();
    Object.assign(this, { transform, dash }, Object.fromEntries(KEPT.map((name, i) => [name, values[i]])));
  }

  translate(x, y) {
    this.transform += `translate(${round(x)} ${round(y)})`;
  }

  rotate(angle) {
    this.transform += `rotate(${round((180 * angle) / Math.PI)})`;
  }

  setTransform() {}

  clearRect() {}

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`;
  }

  arc(x, y, radius, from, to) {
    const at = (angle) => `${round(x + radius * Math.cos(angle))} ${round(y + radius * Math.sin(angle))}`;
    const r = round(radius);
    const half = (from + to) / 2;
    this.path += `M${at(from)}A${r} ${r} 0 0 1 ${at(half)}A${r} ${r} 0 0 1 ${at(to)}`;
  }

  fill() {
    this.write("path", { d: this.path, fill: this.fillStyle });
  }

  stroke() {
    this.write("path", {
      d: this.path,
      fill: "none",
      stroke: this.strokeStyle,
      "stroke-width": this.lineWidth,
      "stroke-dasharray": this.dash.join(" "),
      "stroke-linecap": this.lineCap,
    });
  }

  fillRect(x, y, width, height) {
    this.write("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: this.fillStyle });
  }

  strokeRect(x, y, width, height) {
    this.write("rect", {
      ...{ x: round(x), y: round(y), width: round(width), height: round(height), fill: "none" },
      ...{ stroke: this.strokeStyle, "stroke-width": this.lineWidth },
    });
  }

  measureText(text) {
    scratch.font = this.font;
    return scratch.measureText(text);
  }

  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[this.textAlign];
    const style = `font:${this.font}`;
    this.write("text", { x: round(x), y: round(y), dy: BASELINES[this.textBaseline], fill: this.fillStyle, "text-anchor": anchor, style }, escape(text));
  }
}

// The text of an element as it stands on the screen, line by line: [text, left, top, height, element].
function lines(element) {
  const found = [];
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walk.nextNode()) {
    const node = walk.currentNode;
    let last = null;
    for (const word of node.textContent.matchAll(/\S+\s*/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].trimEnd().length);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      if (last && Math.abs(last[2] - box.top) < 3) last[0] += word[0];
      else found.push((last = [word[0], box.left, box.top, box.height, node.parentElement]));
    }
  }
  return found;
}

// An element's pictures and texts where they stand, under a title. `drawn` maps canvases to what was drawn on them.
export function toSvg(element, title, drawn, { background, ink, sans }) {
  const box = element.getBoundingClientRect();
  const [width, height, head] = [Math.ceil(box.width), Math.ceil(box.height), 34];
  const parts = [];
  for (const canvas of element.querySelectorAll("canvas")) {
    const place = canvas.getBoundingClientRect();
    if (!place.width) continue;
    const at = `x="${round(place.left - box.left)}" y="${round(place.top - box.top)}" width="${round(place.width)}" height="${round(place.height)}"`;
    const context = drawn.get(canvas);
    parts.push(context ? `<svg ${at}>${context.parts.join("")}</svg>` : `<image ${at} preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvas.toDataURL()}"/>`);
  }
  for (const [text, left, top, tall, owner] of lines(element)) {
    const style = getComputedStyle(owner);
    const font = `font:${style.fontWeight} ${style.fontSize} ${escape(sans)}`;
    parts.push(`<text x="${round(left - box.left)}" y="${round(top - box.top + 0.78 * tall)}" fill="${style.color}" style="${font}">${escape(text.trimEnd())}</text>`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 16}" height="${height + head + 8}" viewBox="-8 ${-head} ${width + 16} ${height + head + 8}">`
    + `<rect x="-8" y="${-head}" width="100%" height="100%" fill="${background}"/><text x="0" y="-12" fill="${ink}" style="font:600 15px ${escape(sans)}">${escape(title)}</text>${parts.join("")}</svg>`;
}

// An SVG text as a PNG at twice its size.
export async function toPng(text) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => canvas.toBlob(done));
}
