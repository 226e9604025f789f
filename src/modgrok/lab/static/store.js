// What the page knows, in one place, and who wants to hear when it changes.

export const state = {
  run: null, // details of the open run
  frame: null, // the decoded frame on screen
  base: null, // the same step without what-if changes, while there are changes
  compared: new Map(), // other runs drawn beside it, by name
  example: null, // the story's run, until it was played
  training: { run: null, status: "idle", step: 0, rate: null },
  view: {
    coordinate: "task",
    sort: "final",
    time: "log",
    table: "answers",
    order: "cosets",
    ipr: "task_ipr",
    form: "waves",
    neuron: null,
    cell: null,
    changes: [],
    snap: true,
    speed: 1,
    sweep: null,
  },
};

const listeners = new Map();

export function on(names, listener) {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(listener);
  }
}

export function emit(name, detail) {
  for (const listener of listeners.get(name) ?? []) listener(detail);
}

export function setView(changes) {
  Object.assign(state.view, changes);
  emit("view", changes);
}

// A step as it is told: of a fork counted from where its parent began.
export const toldStep = (step, run = state.run) => (step == null ? null : step + (run?.parent?.step ?? 0));

export const lastRow = () => state.run?.rows[state.run.rows.length - 1] ?? null;

// The number of the last evaluation at or before a step.
export function rowAt(run, step) {
  const rows = run.rows;
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows[middle].step <= step) low = middle;
    else high = middle - 1;
  }
  return rows[low] ?? null;
}

export function firstReached(run, curve) {
  const threshold = run.settings.threshold ?? 0.99;
  return run.rows.find((row) => (row[curve] ?? 0) >= threshold)?.step ?? null;
}
