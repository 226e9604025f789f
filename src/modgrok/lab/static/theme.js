// Light or dark: what was chosen, else what the system prefers.

import { emit } from "lab/store.js";

const THEME = "modgrok-theme";

export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // A page opened from disk may have no storage; the theme then lasts as long as the page.
  }
  emit("theme");
}

export function initialTheme() {
  let kept = null;
  try {
    kept = localStorage.getItem(THEME);
  } catch {
    kept = null;
  }
  return kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

export function buildTheme(button) {
  document.documentElement.dataset.theme = initialTheme();
  button.onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  // Paper is light; before what is printed is drawn.
  let shown = null;
  addEventListener("beforeprint", () => {
    shown = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
  }, { capture: true });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = shown;
    emit("theme");
  });
}
