// What happens on the server: runs that train, connections that are lost, servers that were restarted.

import { byId } from "lab/dom.js";
import { source } from "lab/source.js";
import { emit, state } from "lab/store.js";

const RETRY = 1500;
let launch = null;
let events = null;
let retrying = null;

export function listen() {
  events?.close();
  events = source.events();
  events.onbatch = (batch) => {
    let rows = false;
    for (const event of batch) rows = hear(event) || rows;
    if (rows) emit("rows");
    emit("training");
  };
  events.onend = recover;
}

// Tries again until the lab answers; a lab that was restarted answers once its new address was opened.
async function recover() {
  clearTimeout(retrying);
  try {
    await source.state();
    notice("");
    emit("reconnected");
    listen();
  } catch (error) {
    notice(error.locked ? error.message : `The connection to the lab at ${location.host} is lost. This page reconnects by itself when the lab is back; a lab restarted at another address has a page of its own, and its terminal prints where.`);
    retrying = setTimeout(recover, RETRY);
  }
}

function hear(event) {
  const { run, training } = state;
  const mine = run && event.run === run.run;
  switch (event.event) {
    case "hello":
      if (launch && launch !== event.launch) emit("reconnected");
      launch = event.launch;
      state.training = event.training;
      break;
    case "started":
      state.training = { run: event.run, status: "starting", step: 0, rate: null };
      emit("training-begun", event.run);
      break;
    case "stopping":
      training.status = "stopping";
      break;
    case "progress":
      Object.assign(training, { run: event.run, step: event.step, rate: event.rate });
      if (training.status === "starting") training.status = "training";
      break;
    case "row":
      Object.assign(training, { run: event.run, step: event.row.step });
      if (training.status === "starting") training.status = "training";
      if (!mine) break;
      if (event.row.step > (run.rows.at(-1)?.step ?? -1)) run.rows.push(event.row);
      return true;
    case "kept":
      if (mine && !run.snapshots.includes(event.step)) {
        run.snapshots.push(event.step);
        emit("kept");
      }
      break;
    case "ended":
    case "idle":
    case "paused":
    case "failed":
      state.training = { run: null, status: "idle", step: 0, rate: null };
      if (event.event === "failed") emit("problem", event.message);
      emit("over", event);
      break;
    case "remark":
      emit("problem", event.message);
      break;
    case "behind":
      emit("reconnected");
      break;
  }
  return false;
}

export function notice(text) {
  const box = byId("notice");
  box.textContent = text;
  box.hidden = !text;
}
