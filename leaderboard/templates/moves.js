// The list of moves: a sentence for each, grouped by turn, with marks for faults and the slowest answer of each seat.
"use strict";
function listOfMoves(place, names, go) {
  const lines = new Map(); // by the step they start with
  const ofStep = [];
  let group = null;
  let turn = null;
  let current = null;

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  function heading(row) {
    if (!row.turn) return "Set-up";
    return `Turn ${row.turn}${row.seat >= 0 ? `, ${names[row.seat] ?? `seat ${row.seat}`}` : ""}`;
  }

  function open(key, row) {
    if (!group || (row && row.turn !== turn)) {
      const item = element("li", "", "turn");
      if (row) item.append(element("span", heading(row), "heading"));
      group = element("ol");
      item.append(group);
      place.append(item);
      turn = row?.turn ?? null;
    }
    const button = element("button", "", "move");
    const line = { button, words: element("span"), marks: element("span", "", "marks"), step: key, timed: [] };
    button.type = "button";
    button.append(line.words, line.marks);
    button.addEventListener("click", () => go(line.step));
    const item = element("li");
    item.append(button);
    group.append(item);
    if (row) lines.set(key, line);
    return line;
  }

  function mark(line, name, words) {
    if (line.marks.querySelector(`.${name}`)) return;
    line.marks.append(" ", element("span", words, `mark ${name}`));
  }

  return {
    // What came at a step; without a line to belong to it has one of its own, with the text `plain`.
    take(step, row, answers, plain) {
      const line = (row && lines.get(row.start)) ?? open(row ? row.start : step, row);
      line.words.textContent = row ? row.text : plain;
      for (const answer of answers) {
        if (answer.wall_us !== undefined) line.timed.push(answer);
        if (answer.note) mark(line, "noted", "note");
        if (answer.kind === "fault") {
          line.button.classList.add("fault");
          mark(line, "failed", "fault");
        }
      }
      ofStep[step] = line;
    },
    // The step and the seat of slowest answers, as pairs.
    markSlowest(slowest) {
      for (const old of place.querySelectorAll(".mark.slowest")) old.remove();
      for (const [step] of slowest) if (ofStep[step]) mark(ofStep[step], "slowest", "slowest answer");
    },
    show(step) {
      const line = ofStep[step];
      if (current !== line) current?.button.removeAttribute("aria-current");
      current = line;
      if (!line) return;
      line.button.setAttribute("aria-current", "step");
      const [box, frame] = [line.button.getBoundingClientRect(), place.getBoundingClientRect()];
      if (box.top < frame.top || box.bottom > frame.bottom) {
        place.scrollTop += box.top - frame.top - (place.clientHeight - box.height) / 2;
      }
    },
    clear() {
      place.replaceChildren();
      lines.clear();
      ofStep.length = 0;
      group = turn = current = null;
    },
  };
}
