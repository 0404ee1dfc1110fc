// Steps by keys, but where a key has a meaning of its own: in a field, on a button, in what scrolls.
"use strict";
// Where a step stands among `last`. The same words as `step_words` of frames.py.
const stepWords = (at, last) => (at ? `step ${at} of ${last}` : last === 1 ? "start, before 1 step" : `start, before ${last} steps`);

function stepByKeys(keys, go, toggle, fill = () => {}) {
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, textarea, pre, [tabindex]")) return;
    if (event.key === " " && !event.target.closest("button, a")) {
      event.preventDefault();
      toggle();
    } else if (event.key === "f") {
      fill();
    } else if (keys[event.key]) {
      event.preventDefault();
      go(keys[event.key]());
    }
  });
}
