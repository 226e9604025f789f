// Experiments that tell the paper's story, in its order.

const base = {
  task: "n + m",
  modulus: 97,
  width: 500,
  fraction: 0.5,
  optimizer: "adamw",
  lr: 0.3,
  weight_decay: 0,
  steps: 300,
};

export const PRESETS = [
  {
    name: "By heart, then understood",
    text: "The story's run, trained on this machine: its steps may differ from the story's by a few.",
    settings: { ...base, modulus: 59, width: 128, fraction: 0.25, lr: 0.1, weight_decay: 0.05, steps: 5000, evaluations: 150, snapshots: 150 },
  },
  {
    name: "Late grokking",
    text: "The same at p = 97 with a fifth of the table: some twenty times as long as learning by heart.",
    settings: { ...base, fraction: 0.2, lr: 0.1, weight_decay: 0.05, steps: 6000 },
  },
  {
    name: "Grok in seconds",
    text: "Half the table and large steps: noise, then waves, within a few hundred steps and with hardly a delay.",
    settings: base,
  },
  {
    name: "The paper's run",
    text: "Plain full-batch gradient descent with no regularization, on 49 % of the table.",
    settings: { ...base, fraction: 0.49, optimizer: "gd", lr: "auto", steps: 6000 },
  },
  {
    name: "Few waves",
    text: "Twenty neurons are hardly enough for p = 23: remove its strongest frequency, and it breaks.",
    settings: { ...base, modulus: 23, width: 20, fraction: 0.9, lr: 0.1, weight_decay: 0.05, steps: 3000 },
  },
  {
    name: "Multiplication",
    text: "Waves again, but along the discrete logarithm: compare the raw and the task's coordinate.",
    settings: { ...base, task: "n * m", steps: 400 },
  },
  {
    name: "Sum of squares",
    text: "A sum of functions that are not invertible: waves in n² and m².",
    settings: { ...base, task: "n^2 + m^2", steps: 400 },
  },
  {
    name: "Square of a sum",
    text: "Two sums share each answer, so the readout adds two branches.",
    settings: { ...base, task: "(n + m)^2", steps: 400 },
  },
  {
    name: "Not only clocks",
    text: "The 24 symmetries of a cube, the group S4: no frequencies, but representations; compare how many neurons each has with d³.",
    settings: { task: "group:S4", width: 256, fraction: 0.5 },
  },
  {
    name: "Another activation",
    text: "ReLU instead of the square: the same waves appear.",
    settings: { ...base, activation: "relu", lr: 0.03, steps: 1500 },
  },
  {
    name: "Too little data",
    text: "A fifth of the table and no weight decay: memorized, and not understood within these steps.",
    settings: { ...base, fraction: 0.2, lr: 0.03, steps: 1500 },
  },
  {
    name: "What it cannot learn",
    text: "n³ + nm² + m is not a sum or a product in any order: test accuracy stays at chance, even with nine tenths of the table.",
    settings: { ...base, task: "n^3 + n*m^2 + m", fraction: 0.9, lr: 0.03, steps: 600 },
  },
  {
    name: "Weights that die",
    text: "Weight decay beyond what the gradient can hold: the network collapses to zero.",
    settings: { ...base, weight_decay: 1, steps: 300 },
  },
  {
    name: "A small world",
    text: "p = 23 and 128 neurons: quick on any machine.",
    settings: { ...base, modulus: 23, width: 128, fraction: 0.75, lr: 0.1, steps: 400 },
  },
];
