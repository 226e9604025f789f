// What is under way, counted in <html data-pending> for whoever drives the page: requests without an answer yet, a run that
// is being opened, and what waits a moment for the next change (the check of the form, the address, frames fetched ahead).
// At 0 the page and its address stay as they are until somebody acts or a run trains on. <html data-drawn> is the step on
// screen; the story says data-ready, and each of its scenes data-drawn, how often it was drawn in these colors.

let count = 0;

function add(change) {
  count += change;
  document.documentElement.dataset.pending = count;
}

// A promise, counted until all that waits for it has gone on.
export function pending(promise) {
  add(1);
  const done = () => setTimeout(() => add(-1));
  promise.then(done, done);
  return promise;
}

// Calls `action` with the last arguments, once they have rested that many milliseconds.
export function rested(milliseconds, action) {
  let timer = null;
  const call = (...rest) => {
    if (timer === null) add(1);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      pending(Promise.resolve(action(...rest)));
      add(-1);
    }, milliseconds);
  };
  call.cancel = () => {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    add(-1);
  };
  return call;
}
