"use strict";
(async () => {
  const part = (id) => document.getElementById(id);
  const [board, slider, where, happened, moves, play, speed, choice] =
    ["board", "at", "where", "happened", "moves", "play", "speed", "view"].map(part);
  const packed = Uint8Array.from(atob(part("content").textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const match = JSON.parse(await new Response(stream).text());
  const last = match.steps.length - 1;
  const list = listOfMoves(moves, match.seats, (step) => go(step));
  let view = match.views[0];
  let at = 0;
  let playing = 0;
  let waiting = 0;

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  const milliseconds = (us) => `${(us / 1000).toFixed(1)} ms`;
  const took = (line) => milliseconds(Math.max(0, line.wall_us - line.lag_us)) + (line.lag_us >= 1000 ? ` (and ${milliseconds(line.lag_us)} of lag)` : "");
  const who = (line) => (line.seat === undefined ? "chance" : match.seats[line.seat] ?? `seat ${line.seat}`);
  const words = (line) => line.words ?? (line.kind === "dropped" ? `a message of ${who(line)} was dropped` : who(line));

  function sayLine(line) {
    const said = element("p", "", line.kind === "fault" ? "fault" : "");
    said.append(words(line));
    if (line.wall_us !== undefined) said.append(` took ${took(line)}`);
    if (line.text) said.append(" ", element("code", line.text));
    return said;
  }

  function drawBoard(step) {
    while (step > 0 && !view.frames[step]?.board.length) step -= 1;
    const parts = view.frames[step].board;
    if (parts.length) becomeDrawing(board, parts.map((index) => match.parts[index]).join(""));
  }

  function show(step) {
    at = Math.min(Math.max(step, 0), last);
    const lines = match.steps[at];
    const { events, wrong } = view.frames[at] ?? { events: [], wrong: "This view ends before." };
    drawBoard(at);
    slider.value = at;
    slider.setAttribute("aria-valuetext", stepWords(at, last));
    where.textContent = stepWords(at, last);
    const shown = lines.filter((line) => line.kind !== "chance").flatMap((line) => {
      const more = line.note ? [element("p", line.note, "said")] : [];
      for (const [name, text] of line.texts ?? []) more.push(element("p", `${name}:`, "note"), element("pre", text));
      return [sayLine(line), ...more];
    });
    shown.unshift(...events.map((event) => element("p", event)));
    if (wrong) shown.unshift(element("p", wrong, "wrong"));
    happened.replaceChildren(...(shown.length ? shown : [element("p", "The start.", "note")]));
    list.show(at);
  }

  // The list as the view tells it.
  function listMoves() {
    list.clear();
    const slowest = new Map();
    match.steps.forEach((lines, step) => {
      const { row, wrong } = view.frames[step] ?? {};
      if (row) list.take(step, row, lines);
      else if (!lines.length) list.take(step, null, [], wrong ?? "");
      else for (const line of lines) list.take(step, null, [line], `${words(line)} ${line.text}`);
      for (const line of lines.filter((one) => one.wall_us !== undefined)) {
        const most = slowest.get(line.seat);
        if (!most || line.wall_us - line.lag_us > most.us) slowest.set(line.seat, { step, us: line.wall_us - line.lag_us });
      }
    });
    list.markSlowest([...slowest].map(([seat, { step }]) => [step, seat]));
  }

  function remember() {
    clearTimeout(waiting); // browsers refuse an address that changes with every move of the slider
    waiting = setTimeout(() => history.replaceState(null, "", `#step=${at}${view.key ? `&seat=${view.key}` : ""}`), 150);
  }

  function go(step) {
    stop();
    show(step);
    remember();
  }

  function stop() {
    if (playing) cancelAnimationFrame(playing);
    playing = 0;
    play.textContent = "play";
  }

  function start() {
    if (at >= last) show(0);
    play.textContent = "pause";
    let due = performance.now();
    const tick = (now) => {
      if (now >= due) {
        show(at + 1);
        due = Math.max(due + 1000 / Number(speed.value), now - 100);
      }
      if (at < last) {
        playing = requestAnimationFrame(tick);
      } else {
        stop();
        remember();
      }
    };
    due += 1000 / Number(speed.value);
    playing = requestAnimationFrame(tick);
  }

  function toggle() {
    if (playing) {
      stop();
      remember();
    } else {
      start();
    }
  }

  function look(key) {
    const wanted = match.views.find((item) => item.key === key) ?? match.views[0];
    const fresh = wanted !== view || !moves.childElementCount;
    view = wanted;
    if (fresh) listMoves();
    choice.value = view.key;
    show(at);
  }

  const targets = { first: () => 0, previous: () => at - 1, next: () => at + 1, last: () => last };
  const keys = {
    ArrowLeft: () => at - 1, ArrowRight: () => at + 1, PageUp: () => at - 10, PageDown: () => at + 10,
    Home: () => 0, End: () => last,
  };

  for (const [id, target] of Object.entries(targets)) part(id).addEventListener("click", () => go(target()));
  for (const item of match.views) {
    const option = element("option", item.name);
    option.value = item.key;
    choice.append(option);
  }
  play.addEventListener("click", toggle);
  slider.max = last;
  slider.addEventListener("input", () => go(Number(slider.value)));
  choice.addEventListener("change", () => {
    look(choice.value);
    remember();
  });
  stepByKeys(keys, go, toggle, () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.();
  });

  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    look(wanted.get("seat") ?? "");
    const step = wanted.get("step");
    show(step === null ? match.end : step === "last" ? last : Math.trunc(Number(step)) || 0);
  }

  window.addEventListener("hashchange", fromAddress);
  fromAddress();
  part("controls").hidden = false;
  document.body.dataset.ready = "yes";
})();
