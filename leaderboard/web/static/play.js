// One person's seat: shows what the server says is asked, and sends what was chosen.
"use strict";
(() => {
  const root = document.getElementById("play");
  const part = (id) => document.getElementById(id);
  const [board, list, happened, status, clock] = ["board", "can", "events", "status", "clock"].map(part);
  const [resign, narrowed, finding, find] = ["resign", "narrowed", "finding", "find"].map(part);
  const [select, selected] = ["selection", "selected"].map(part);
  const LONG = 12; // a longer list has a field that finds actions by their words
  let asked = null;
  let deadline = null;
  let chosen = [];
  let sure = false;
  let sent = -1;
  let problem = "";
  let byKeys = false;
  let things = []; // what can be chosen one by one, as buttons; a chosen one is pressed, and kept

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  const isListed = (index) => !asked.selection || !(index in asked.selection.actions);
  const whole = () => (asked ? asked.actions.map((_, index) => index).filter(isListed) : []);

  function drawList() {
    const rows = chosen.map((index) => {
      const button = element("button", asked.actions[index], "move");
      button.type = "button";
      button.dataset.index = index;
      button.addEventListener("click", () => send({ index }));
      const row = element("li");
      row.append(button);
      return row;
    });
    list.replaceChildren(...rows);
    const all = whole().length;
    narrowed.hidden = chosen.length === all;
    narrowed.firstElementChild.textContent = `${chosen.length} of ${all} actions.`;
    finding.hidden = chosen.length <= LONG;
    showFound();
  }

  // Leaves only the actions that have all words of the field.
  function showFound() {
    const words = finding.hidden ? [] : find.value.toLowerCase().split(" ");
    for (const row of list.children) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  }

  // Things such as dice, one button each: those that no action takes cannot be chosen, and stay.
  function drawSelection() {
    const selection = asked?.selection;
    select.hidden = !selection;
    things = [];
    if (selection) {
      select.firstElementChild.textContent = selection.title;
      selection.kinds.forEach((kind, number) => {
        const most = Math.max(...Object.values(selection.actions).map((counts) => counts[number]));
        for (let thing = 0; thing < selection.counts[number]; thing += 1) {
          const button = element("button", kind, "thing");
          button.type = "button";
          button.disabled = most === 0;
          button.setAttribute("aria-pressed", thing >= most);
          button.addEventListener("click", () => press([button]));
          things.push({ button, number });
        }
      });
      showSelected();
    }
    select.querySelector(".things").replaceChildren(...things.map(({ button }) => button));
  }

  const isKept = (button) => button.getAttribute("aria-pressed") === "true";

  function press(buttons) {
    for (const button of buttons) button.setAttribute("aria-pressed", !isKept(button));
    showSelected();
  }

  function showSelected() {
    const { button, kinds, counts } = asked.selection;
    const taken = counts.map((_, number) => things.filter((thing) => thing.number === number && !isKept(thing.button)).length);
    const words = kinds.map((kind, number) => (taken[number] ? `${taken[number]} ${kind}` : "")).filter(Boolean);
    selected.disabled = selectedAction(taken) === undefined;
    const said = words.join(", ");
    selected.textContent = said ? `${button}: ${selected.disabled ? "not possible with " : ""}${said}` : button;
    selected.dataset.taken = taken;
  }

  const selectedAction = (taken) =>
    Object.keys(asked.selection.actions).find((index) => String(asked.selection.actions[index]) === String(taken));

  // A place of the board where things of a selection lie: one more of them is kept, and after the last one none.
  function keepAt(place) {
    const number = asked.selection.places.indexOf(place.dataset.place);
    const here = things.filter((thing) => thing.number === number && !thing.button.disabled).map(({ button }) => button);
    const next = here.find((button) => !isKept(button));
    press(next ? [next] : here);
  }

  // Places narrow the choice down one after the other; one that fits no remaining action starts the choice again.
  function point(place) {
    const here = place.dataset.action.split(" ").map(Number);
    if (!here.some(isListed)) {
      keepAt(place);
      return;
    }
    const both = chosen.filter((index) => here.includes(index));
    chosen = both.length > 0 ? both : here;
    for (const other of board.querySelectorAll("[data-action]")) {
      other.classList.toggle("chosen", other === place);
    }
    if (chosen.length === 1) send({ index: chosen[0] });
    else drawList();
  }

  function placeOf(event) {
    return asked && event.target.closest ? event.target.closest("[data-action]") : null;
  }

  // The choices are drawn again for each question. The keyboard focus waits at the words that say how the match
  // stands, and with keys goes on from them to the first choice.
  function hold() {
    const at = document.activeElement;
    if (![board, list, narrowed, finding, resign, select].some((place) => place.contains(at))) return;
    byKeys = at.matches(":focus-visible");
    status.focus({ preventScroll: true });
  }

  function goOnTo(place) {
    if (byKeys && document.activeElement === status) place?.focus();
  }

  async function send(said) {
    if (!asked) return;
    sent = asked.decision;
    const body = JSON.stringify({ decision: sent, ...said });
    wait("Sent.");
    problem = await post(body);
    if (!problem) return;
    sent = -1;
    status.textContent = problem;
    await renew();
  }

  // What went wrong, in a sentence; "" if the answer was taken.
  async function post(body) {
    try {
      const answer = await fetch(`${root.dataset.here}/answer`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Crosstown-Token": root.dataset.token },
        body,
      });
      return answer.ok ? "" : (await answer.json()).error;
    } catch {
      return "The answer did not reach the server. Try again.";
    }
  }

  function wait(words) {
    hold();
    asked = null;
    deadline = null;
    chosen = [];
    drawSelection();
    drawList();
    resign.hidden = true;
    status.textContent = words;
  }

  function ask(question) {
    asked = question;
    deadline = question.left_s === null ? null : performance.now() + 1000 * question.left_s;
    chosen = whole();
    find.value = "";
    drawSelection();
    drawList();
    sure = false;
    resign.textContent = "Resign";
    resign.hidden = false;
    status.textContent = `${problem} Your decision: ${question.question}`.trim();
    problem = "";
    goOnTo(root.querySelector(".thing:enabled") ?? list.querySelector("button"));
  }

  function tell(texts, earlier) {
    happened.start = earlier + 1;
    happened.replaceChildren(...texts.map((text) => element("li", text)));
    happened.scrollTop = happened.scrollHeight;
  }

  function end(words) {
    wait(`The match is over: ${words}`);
    const link = element("a", "See it move by move", "button");
    link.href = root.dataset.match;
    status.append(" ", link);
    goOnTo(link);
  }

  function showClock() {
    if (!asked) clock.textContent = "";
    else if (deadline === null) clock.textContent = "no time limit";
    else clock.textContent = `${Math.max(0, (deadline - performance.now()) / 1000).toFixed(1)} s left`;
  }

  const source = new EventSource(`${root.dataset.here}/events`);
  const renew = oneAtATime(async () => {
    const answer = await fetch(`${root.dataset.here}/state`).catch(() => null);
    if (!answer) return; // the source of events finds the server again, and has this done once more
    if (!answer.ok) {
      source.close();
      wait("The server does not know this match any more.");
      return;
    }
    const now = await answer.json();
    if (now.asked && (now.asked.decision === sent || now.asked.decision === asked?.decision)) return;
    hold();
    if (now.board) becomeDrawing(board, now.board);
    tell(now.events, now.earlier);
    if (now.over) {
      source.close();
      end(now.over);
    } else if (now.asked) ask(now.asked);
    else wait(now.notice || `Waiting for ${root.dataset.others}.`);
    showClock();
    root.dataset.number = now.number;
  });

  source.onmessage = renew;
  board.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place) point(place);
  });
  board.addEventListener("keydown", (event) => {
    const place = placeOf(event);
    if (place && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      point(place);
    }
  });
  part("widen").addEventListener("click", () => {
    hold();
    chosen = whole();
    drawList();
    goOnTo(list.querySelector("button"));
  });
  find.addEventListener("input", showFound);
  selected.addEventListener("click", () => send({ index: Number(selectedAction(selected.dataset.taken)) }));
  resign.addEventListener("click", () => {
    if (sure) send({ resign: true });
    sure = true;
    resign.textContent = "Resign: click again";
  });
  setInterval(showClock, 100);
})();
