// Activations that the page can evaluate, by name; any other is refused with a sentence, never computed wrongly.

const erf = (x) => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x);
  return x < 0 ? -y : y;
};

const ACTIVATIONS = {
  quadratic: (x) => x * x,
  relu: (x) => Math.max(x, 0),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  abs: Math.abs,
  tanh: Math.tanh,
  silu: (x) => x / (1 + Math.exp(-x)),
  "leaky-relu": (x) => Math.max(x, 0.2 * x),
  sin: Math.sin,
};

// The function of that name, or null.
export function activation(name) {
  if (Object.hasOwn(ACTIVATIONS, name)) return ACTIVATIONS[name];
  const power = /^x\^(\d{1,2})$/.exec(name);
  return power && ((x) => x ** Number(power[1]));
}

export const refusal = (name) =>
  activation(name) ? null : `This page cannot evaluate the activation ${name}; everything that needs no outputs is shown.`;
