"use strict";
(async () => {
  const part = (id) => document.getElementById(id);
  const [board, slider, where, happened, moves, play, speed, choice] =
    ["board", "at", "where", "happened", "moves", "play", "speed", "view"].map(part);
  const packed = Uint8Array.from(atob(part("content").textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const match = JSON.parse(await new Response(stream).text());
  const last = match.steps.length - 1;
  const buttons = [];
  let view = match.views[0];
  let at = 0;
  let playing = 0;
  let waiting = 0;
  let marked;

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  const milliseconds = (us) => `${(us / 1000).toFixed(1)} ms`;
  const took = (line) => milliseconds(Math.max(0, line.wall_us - line.lag_us)) + (line.lag_us >= 1000 ? ` (and ${milliseconds(line.lag_us)} of lag)` : "");
  const who = (line) => (line.seat === undefined ? "chance" : `${line.seat} ${match.seats[line.seat] ?? ""}`);

  function told(line) {
    const time = line.wall_us === undefined ? "" : ` ${took(line)}`;
    const kind = line.kind === "fault" ? "fault: " : line.kind === "dropped" ? "message dropped: " : "";
    return `${who(line)} ${kind}${line.text}${time}`;
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
    slider.setAttribute("aria-valuetext", `step ${at} of ${last}`);
    where.textContent = `step ${at} of ${last}`;
    const shown = lines.flatMap((line) => {
      const said = element("p", told(line), line.kind === "fault" ? "fault" : "");
      const more = line.note ? [element("p", line.note, "said")] : [];
      for (const [name, text] of line.texts ?? []) more.push(element("p", `${name}:`, "note"), element("pre", text));
      return [said, ...more];
    });
    for (const event of events) shown.push(element("p", event, "note"));
    if (wrong) shown.unshift(element("p", wrong, "wrong"));
    happened.replaceChildren(...(shown.length ? shown : [element("p", "The start.", "note")]));
    marked?.removeAttribute("aria-current");
    const current = (marked = buttons[at]);
    if (current) {
      current.setAttribute("aria-current", "step");
      const row = current.parentElement;
      moves.scrollTop = row.offsetTop - moves.clientHeight / 2;
    }
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
    view = match.views.find((item) => item.key === key) ?? match.views[0];
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
  match.steps.forEach((lines, step) => {
    for (const line of lines.filter((one) => one.kind !== "chance")) {
      const row = element("li");
      const button = element("button", told(line), line.kind === "fault" ? "fault" : "");
      button.type = "button";
      button.addEventListener("click", () => go(step));
      row.append(button);
      moves.append(row);
      buttons[step] ??= button;
    }
  });
  play.addEventListener("click", toggle);
  slider.max = last;
  slider.addEventListener("input", () => go(Number(slider.value)));
  choice.addEventListener("change", () => {
    look(choice.value);
    remember();
  });
  stepByKeys(keys, go, toggle);

  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    look(wanted.get("seat") ?? "");
    const step = wanted.get("step");
    show(step === "last" ? last : Math.trunc(Number(step)) || 0);
  }

  window.addEventListener("hashchange", fromAddress);
  fromAddress();
  part("controls").hidden = false;
  document.body.dataset.ready = "yes";
})();
