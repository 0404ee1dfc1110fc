// One person's seat: shows what the server says is asked, and sends what was chosen.
"use strict";
(() => {
  const root = document.getElementById("play");
  const part = (id) => document.getElementById(id);
  const [board, list, happened, status, clock] = ["board", "can", "events", "status", "clock"].map(part);
  const [resign, narrowed] = ["resign", "narrowed"].map(part);
  let asked = null;
  let deadline = null;
  let chosen = [];
  let sure = false;
  let sent = -1;
  let problem = "";
  let byKeys = false;

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

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
    narrowed.hidden = !asked || chosen.length === asked.actions.length;
    narrowed.firstElementChild.textContent = `${chosen.length} of ${asked ? asked.actions.length : 0} actions.`;
  }

  // Places narrow the choice down one after the other; one that fits no remaining action starts the choice again.
  function point(place) {
    const here = place.dataset.action.split(" ").map(Number);
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
    if (![board, list, narrowed, resign].some((place) => place.contains(at))) return;
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
    drawList();
    resign.hidden = true;
    status.textContent = words;
  }

  function ask(question) {
    asked = question;
    deadline = question.left_s === null ? null : performance.now() + 1000 * question.left_s;
    chosen = question.actions.map((_, index) => index);
    drawList();
    sure = false;
    resign.textContent = "Resign";
    resign.hidden = false;
    status.textContent = `${problem} Your decision: ${question.question}`.trim();
    problem = "";
    goOnTo(list.querySelector("button"));
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
    chosen = asked ? asked.actions.map((_, index) => index) : [];
    drawList();
    goOnTo(list.querySelector("button"));
  });
  resign.addEventListener("click", () => {
    if (sure) send({ resign: true });
    sure = true;
    resign.textContent = "Resign: click again";
  });
  setInterval(showClock, 100);
})();
