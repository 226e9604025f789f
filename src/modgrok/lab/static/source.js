// Where runs come from: the lab's server, or the data inside a replay file.

import { bytesOf, gunzip } from "lab/message.js";
import { pending } from "lab/pending.js";
import { token } from "lab/token.js";

const replayed = document.getElementById("replay-run");

async function call(path, body, signal) {
  const options = { headers: { "x-modgrok-token": token() }, signal };
  if (body !== undefined) Object.assign(options, { method: "POST", body: JSON.stringify(body) });
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The lab does not answer; is it still running?");
  }
  if (answer.status === 401) throw Object.assign(new Error(await answer.text()), { locked: true });
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.error ?? `The lab answered ${answer.status}.`);
  }
  return answer;
}

const json = (path, body) => pending(call(path, body).then((answer) => answer.json()));
const binary = (path) => pending(call(path).then((answer) => answer.arrayBuffer()));

// The server's events, over a request with the token; an EventSource sends no headers. Somebody else sets what happens with
// a batch of them, and at the end.
function events() {
  const closed = new AbortController();
  const stream = { onbatch: null, onend: null, close: () => closed.abort() };
  const read = async () => {
    const { body } = await call("/api/events", undefined, closed.signal);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const messages = (rest + part.value).split("\n\n");
      rest = messages.pop();
      for (const message of messages) if (message.startsWith("data: ")) stream.onbatch(JSON.parse(message.slice(6)));
    }
  };
  read().catch(() => {}).then(() => closed.signal.aborted || stream.onend());
  return stream;
}

const live = {
  replay: false,
  state: () => json("/api/state"),
  check: (settings) => json("/api/check", settings),
  train: (settings) => json("/api/train", settings),
  stop: () => json("/api/stop", {}),
  runs: () => json("/api/runs"),
  run: (run) => json(`/api/runs/${run}`),
  frame: (run, step, coordinate, changes) =>
    binary(`/api/runs/${run}/frames/${step}?coordinate=${coordinate}&changes=${encodeURIComponent(changes.join(","))}`),
  theory: (run, form, coordinate) => binary(`/api/runs/${run}/theory/${form}?coordinate=${coordinate}`),
  measures: (run, step) => json(`/api/runs/${run}/measures/${step}`),
  replayFile: async (run) => (await call(`/api/runs/${run}/replay`)).blob(),
  sweeps: async () => (await json("/api/sweeps")).sweeps,
  sweep: (sweep) => json(`/api/sweeps/${sweep}`),
  sweepMap: (sweep, choice) => json(`/api/sweeps/${sweep}/map?${new URLSearchParams(choice)}`),
  events,
};

const frameOf = (name) => gunzip(bytesOf(document.querySelector(`[data-frame="${name}"]`).textContent));

const stored = replayed && JSON.parse(replayed.textContent);

const replay = {
  replay: true,
  state: async () => ({ training: { run: null, status: "idle" }, fields: [] }),
  run: async () => stored,
  frame: (_, step) => frameOf(step),
  theory: (_, form) => frameOf(form),
  measures: async (_, step) => stored.measures[step],
  sweeps: async () => [],
};

export const source = replayed ? replay : live;
