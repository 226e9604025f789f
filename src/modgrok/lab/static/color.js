// Colors of the theme and color-blind-safe maps: green–purple around zero (blue and orange are unseen and trained), dark blue to yellow for sizes.

const cache = new Map();

export const dark = () => document.documentElement.dataset.theme === "dark";

export function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const ANCHORS = {
  divergingLight: ["#1b4d2b", "#3f7f4f", "#86b58d", "#cfe3cf", "#faf9f6", "#e5d3ea", "#b88fc6", "#84509a", "#4a2261"],
  divergingDark: ["#b9e8c0", "#6fbf80", "#3a7a4b", "#1d3d28", "#14171b", "#3b2446", "#7f4f96", "#c08fd8", "#ecd3f7"],
  sizesLight: ["#fbfaf7", "#dfe6e6", "#b3c6d3", "#7d9fbd", "#4f779f", "#335680", "#223a60", "#141f3d"],
  sizesDark: ["#14171b", "#1d2f45", "#2b4c70", "#47708f", "#7d9396", "#b9ab78", "#ead06a", "#fff3b8"],
};

function hex(text) {
  return [1, 3, 5].map((start) => parseInt(text.slice(start, start + 2), 16));
}

export function mix(anchors, t) {
  const place = Math.min(Math.max(t, 0), 1) * (anchors.length - 1);
  const i = Math.min(Math.floor(place), anchors.length - 2);
  const [a, b] = [hex(anchors[i]), hex(anchors[i + 1])];
  return a.map((value, channel) => Math.round(value + (b[channel] - value) * (place - i)));
}

// 256 packed pixels of a map, `diverging` or `sizes`, in the current theme.
export function table(name) {
  const key = name + (dark() ? "Dark" : "Light");
  if (!cache.has(key)) {
    const pixels = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      const [r, g, b] = mix(ANCHORS[key], i / 255);
      pixels[i] = (255 << 24) | (b << 16) | (g << 8) | r;
    }
    cache.set(key, pixels);
  }
  return cache.get(key);
}

export function sample(name, t) {
  return `rgb(${mix(ANCHORS[name + (dark() ? "Dark" : "Light")], t).join(" ")})`;
}

// A frequency's color: the same in every panel, far from the background at both ends, and paler than the orange and the blue
// that say what was shown.
const FREQUENCY = {
  light: ["#33305b", "#3f6678", "#3f9488", "#82985a", "#ad9258", "#a8664a", "#7d3347"],
  dark: ["#9d9bd8", "#86b0c4", "#6cc4b4", "#b3c67f", "#d6bf8a", "#d0907a", "#d97f95"],
};

export function frequencyColor(k, length) {
  return `rgb(${mix(FREQUENCY[dark() ? "dark" : "light"], (k - 1) / Math.max(1, length / 2 - 1)).join(" ")})`;
}

// A color for every place round a circle, 0 … 1; both ends are the same.
const ROUND = {
  light: ["#2f6690", "#2f8a8a", "#6d8a22", "#b07714", "#c2611a", "#8c2f39", "#7b4a9e", "#2f6690"],
  dark: ["#6fb1e6", "#5cc4bd", "#b3cc62", "#f2c14e", "#f0943f", "#ef7f86", "#c79be8", "#6fb1e6"],
};

export function roundColor(t) {
  return `rgb(${mix(ROUND[dark() ? "dark" : "light"], t).join(" ")})`;
}
