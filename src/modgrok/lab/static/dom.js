// Small helpers to build elements and write numbers.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function number(x, digits = 3) {
  if (x == null || !Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size < 1e-12) return "0";
  if (x < 0) return `−${number(-x, digits)}`;
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    return `${mantissa.replace(/\.?0+$/, "")}e${exponent.startsWith("-") ? "−" : ""}${Math.abs(Number(exponent))}`;
  }
  return String(Number(x.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1))))));
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// An expression as one would write it by hand.
export function pretty(text) {
  return text
    .replaceAll(" ", "")
    .replace(/(\^|\*\*)(\d+)/g, (_, sign, power) => [...power].map((digit) => RAISED[digit]).join(""))
    .replaceAll("*", "·")
    .replace(/(?<=[^(^])([+-])/g, (sign) => (sign === "-" ? " − " : " + "));
}

// What a run learns: "n + m mod 97", "group:S5".
export const taskName = ({ task, settings }) => `${pretty(task.name)}${settings.modulus == null ? "" : ` mod ${settings.modulus}`}`;

export const percent = (x, digits = 1) => (x == null ? "–" : `${(100 * x).toFixed(digits)}\u00a0%`);

export const grouped = (x) => (x == null ? "–" : x.toLocaleString("en").replaceAll(",", "\u202f"));

export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Options as a row of radio-like buttons, one of which is chosen.
export function choice(label, options, value, choose) {
  const group = make("div", { class: "choice", role: "group", "aria-label": label });
  for (const [key, text, title] of options) {
    const button = make("button", { type: "button", "data-value": key, title, onclick: () => choose(key) }, text);
    group.append(button);
  }
  group.show = (chosen) => {
    for (const button of group.children) button.setAttribute("aria-pressed", String(button.dataset.value === chosen));
  };
  group.show(value);
  return group;
}
