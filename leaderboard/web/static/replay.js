// Steps through the frames of a match. What happened at each step comes first, then the boards, from the one that is
// looked at; a match that is going on sends for what is new.
"use strict";
(() => {
  const root = document.getElementById("replay");
  const part = (id) => document.getElementById(id);
  const [board, slider, where, happened, moves, clocks] = ["board", "at", "where", "happened", "moves", "clocks"].map(part);
  const [play, speed, seat, full] = ["play", "speed", "seat", "full"].map(part);
  const limits = JSON.parse(root.dataset.limits);
  const frames = [];
  const times = [];
  const faults = [];
  const bars = new Map();
  const LOT = 60; // boards in one answer
  const SWIPE = 50; // pixels
  let list = null;
  let marked = [];
  let names = [];
  let settling = 0;
  let at = Number(root.dataset.step);
  let playing = 0;

  function element(name, words, className) {
    const made = document.createElement(name);
    if (words) made.textContent = words;
    if (className) made.className = className;
    return made;
  }

  const milliseconds = (us) => `${(us / 1000).toFixed(1)} ms`;
  const charged = (line) => Math.max(0, line.wall_us - line.lag_us);
  const took = (line) => milliseconds(charged(line)) + (line.lag_us >= 1000 ? ` (and ${milliseconds(line.lag_us)} of lag)` : "");
  const who = (line) => (line.seat === undefined ? "chance" : names[line.seat] ?? `seat ${line.seat}`);

  // The step whose board is shown: the last one of a record that cannot be followed further has none of its own.
  function boardStep() {
    let step = at;
    while (step > 0 && frames[step].parts && !frames[step].board.length) step -= 1;
    return step;
  }

  function drawBoard() {
    const { parts, board: indexes } = frames[boardStep()];
    if (!parts || !indexes.length) return;
    becomeDrawing(board, indexes.map((index) => parts[index]).join(""));
    shape();
  }

  // How high the board is for its width: as much of the window as fits is for it.
  function shape() {
    const box = board.querySelector("svg")?.viewBox.baseVal;
    if (box?.width) root.style.setProperty("--ratio", (box.height / box.width).toFixed(3));
  }

  function printed(name, text) {
    const made = element("details");
    const words = element("pre", text);
    words.tabIndex = 0;
    made.append(element("summary", name), words);
    made.open = name !== "board";
    return made;
  }

  const words = (line) => line.words ?? (line.kind === "dropped" ? `a message of ${who(line)} was dropped` : who(line));

  function tell(frame) {
    const said = frame.events.map((text) => element("p", text));
    if (frame.step === 0 && !said.length) said.push(element("p", "The start."));
    const shown = frame.lines.filter((line) => line.kind !== "chance").flatMap((line) => {
      const item = element("p", "", `line ${line.kind}`);
      item.append(element("strong", words(line)));
      if (line.wall_us !== undefined) item.append(` took ${took(line)}`);
      if (line.text) item.append(" ", element("code", line.text));
      if (line.note) item.append(element("span", line.note, "note"));
      return [item, ...(line.texts ?? []).map(([name, text]) => printed(name, text))];
    });
    if (frame.wrong) shown.push(element("p", frame.wrong, "wrong"));
    happened.replaceChildren(...said, ...shown);
  }

  // Of each seat what it has used up to this step, and what is left of a bank or a total.
  function tellSeats(frame) {
    names.forEach((_, number) => {
      const row = root.querySelector(`[data-of="${number}"]`);
      if (!row) return;
      const own = times.filter((time) => time.seat === number && time.step <= at);
      const late = faults.filter((fault) => fault.seat === number && fault.step <= at && fault.late).map((fault) => fault.late);
      const used = [...own.map(charged), ...late];
      const sum = (values) => values.reduce((all, one) => all + one, 0) / 1e6;
      const parts = [`${sum(used).toFixed(2)} s used`];
      if (limits.bank_s) {
        const over = used.map((us, index) => Math.max(0, us - 1e6 * (index ? limits.move_s : limits.first_move_s ?? limits.move_s)));
        parts.push(`${Math.max(0, limits.bank_s - sum(over)).toFixed(1)} s of bank left`);
      } else if (limits.total_s) {
        parts.push(`${Math.max(0, limits.total_s + own.length * (limits.increment_s ?? 0) - sum(used)).toFixed(1)} s left`);
      }
      row.querySelector(".clock").textContent = parts.join(", ");
      row.querySelector(".took").textContent = used.length ? milliseconds(used.at(-1)) : "";
      if (frame.points?.length) row.querySelector(".points").textContent = frame.points[number];
    });
  }

  function show(step) {
    at = Math.max(0, Math.min(step, frames.length - 1));
    const frame = frames[at];
    if (!frame) return;
    list.show(at); // first what needs the layout, while it is still that of the last step
    drawBoard();
    tell(frame);
    tellSeats(frame);
    slider.value = at;
    slider.setAttribute("aria-valuetext", stepWords(at, frames.length - 1));
    where.textContent = stepWords(at, frames.length - 1);
    mark();
  }

  function mark() {
    for (const item of marked) item.removeAttribute("aria-current");
    marked = bars.get(at) ?? [];
    for (const item of marked) item.setAttribute("aria-current", "step");
  }

  function settle() {
    root.querySelector("form [name=step]").value = at;
    clearTimeout(settling); // an address that changes with every step costs more than the step
    settling = setTimeout(() => {
      const url = new URL(location.href);
      url.searchParams.set("step", at);
      history.replaceState(null, "", url);
    }, 150);
  }

  function go(step) {
    stop();
    show(step);
    settle();
  }

  function listMove(frame) {
    if (frame.row) list.take(frame.step, frame.row, frame.lines);
    else if (!frame.lines.length) list.take(frame.step, null, [], frame.wrong);
    else for (const line of frame.lines) list.take(frame.step, null, [line], `${words(line)} ${line.text}`);
  }

  function svg(name, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function drawClocks() {
    const longest = [];
    clocks.replaceChildren();
    bars.clear();
    names.forEach((name, number) => {
      const own = times.filter((time) => time.seat === number);
      const slowest = own.reduce((most, time) => (!most || charged(time) > charged(most) ? time : most), null);
      const worst = Math.max(1, ...own.map(charged));
      const worstLag = Math.max(0, ...own.map((time) => time.lag_us));
      const ownFaults = faults.filter((fault) => fault.seat === number);
      const late = Math.max(0, ...ownFaults.map((fault) => fault.late));
      const failed = (late ? `, timed out after ${milliseconds(late)}` : "") + (ownFaults.length ? ", faults marked in red" : "");
      const title = `${name}: ${own.length} of the ${times.length} answers, the slowest after ${milliseconds(own.length ? worst : 0)}, worst lag ${milliseconds(worstLag)}${failed}`;
      if (slowest) longest.push([slowest.step, number]);
      const width = Math.max(frames.length, 40);
      const chart = svg("svg", { viewBox: `0 0 ${width} 40`, preserveAspectRatio: "none", role: "img", "aria-label": title });
      chart.classList.add("clock");
      for (const time of own) {
        const whole = Math.min(40, Math.max(0.5, (38 * time.wall_us) / worst));
        const lag = Math.max(0, whole - (38 * charged(time)) / worst);
        const kind = time === slowest ? "bar slowest" : "bar";
        const bar = svg("rect", { x: time.step, y: 40 - whole, width: 0.9, height: whole, class: kind });
        bars.set(time.step, [...(bars.get(time.step) ?? []), bar]);
        chart.append(bar);
        if (lag > 0.3) chart.append(svg("rect", { x: time.step, y: 40 - whole, width: 0.9, height: lag, class: "lag" }));
      }
      for (const { step } of ownFaults) {
        chart.append(svg("rect", { x: step, y: 0, width: 0.9, height: 40, class: "fault" }));
      }
      chart.addEventListener("click", (event) => {
        const box = chart.getBoundingClientRect();
        go(Math.floor(((event.clientX - box.left) / box.width) * width));
      });
      const [figure, caption] = [element("figure"), element("figcaption", title)];
      const piece = root.querySelector(`[data-of="${number}"] svg.seat`);
      if (piece) caption.prepend(piece.cloneNode(true));
      figure.append(caption, chart);
      clocks.append(figure);
    });
    list.markSlowest(longest);
  }

  function take(answer) {
    names = answer.seats;
    list ??= listOfMoves(moves, names, go);
    for (const frame of answer.frames) {
      if (frame.step < frames.length) continue;
      if (answer.drawn) frame.parts = answer.parts;
      frames.push(frame);
      listMove(frame);
      for (const line of frame.lines) {
        if (line.wall_us !== undefined) times.push({ step: frame.step, ...line });
        if (line.kind === "fault") faults.push({ step: frame.step, seat: line.seat, late: line.late_us ?? 0 });
      }
    }
    slider.max = frames.length - 1;
    drawClocks();
  }

  async function answerOf(address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error((await answer.json()).error);
    return answer.json();
  }

  async function get(wanted) {
    const query = new URLSearchParams({ seat: root.dataset.seat, ...wanted });
    return { drawn: true, ...(await answerOf(`${root.dataset.frames}?${query}`)) };
  }

  // The boards that have not come yet: those ahead first, then those before.
  async function getBoards() {
    for (;;) {
      let first = frames.findIndex((frame, step) => step >= at && !frame.parts);
      if (first < 0) first = frames.findLastIndex((frame) => !frame.parts) - LOT + 1;
      if (first <= -LOT) return;
      first = Math.max(first, 0);
      const answer = await get({ from: first, to: first + LOT - 1 });
      for (const frame of frames.slice(first, first + LOT)) frame.parts ??= answer.parts;
      for (const frame of answer.frames) Object.assign(frames[frame.step] ?? {}, { board: frame.board, parts: answer.parts });
      if (boardStep() >= first && boardStep() < first + LOT) drawBoard();
    }
  }

  function stop() {
    playing = 0;
    play.textContent = "play";
  }

  function start() {
    if (at >= frames.length - 1) show(0);
    const mine = (playing = performance.now());
    let next = mine;
    play.textContent = "pause";
    function tick(now) {
      if (playing !== mine) return;
      if (now >= next && frames[at + 1].parts) {
        next = Math.max(next + 1000 / Number(speed.value), now);
        show(at + 1);
        if (at >= frames.length - 1) {
          stop();
          settle();
          return;
        }
      }
      requestAnimationFrame(tick);
    }
    requestAnimationFrame(tick);
  }

  const toggle = () => (playing ? (stop(), settle()) : start());
  function fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else root.requestFullscreen?.();
  }

  // A swipe over the board is a step, to the left the next one.
  function stepBySwipes() {
    let from = null;
    board.addEventListener("touchstart", (event) => {
      from = event.touches.length === 1 ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null;
    }, { passive: true });
    board.addEventListener("touchend", (event) => {
      if (!from) return;
      const [x, y] = [event.changedTouches[0].clientX - from.x, event.changedTouches[0].clientY - from.y];
      from = null;
      if (Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y)) go(at + (x < 0 ? 1 : -1));
    });
  }

  const targets = { first: () => 0, previous: () => at - 1, next: () => at + 1, last: () => frames.length - 1 };
  const keys = {
    ArrowLeft: targets.previous, ArrowRight: targets.next, Home: targets.first, End: targets.last,
    PageUp: () => at - 10, PageDown: () => at + 10,
  };

  function connect() {
    slider.addEventListener("input", () => go(Number(slider.value)));
    play.addEventListener("click", toggle);
    seat.addEventListener("change", () => seat.form.submit());
    for (const link of document.querySelectorAll("[data-go]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        go(link.dataset.end === undefined ? targets[link.dataset.go]() : Number(link.dataset.end));
      });
    }
    stepByKeys(keys, go, toggle, fill);
    stepBySwipes();
    full.addEventListener("click", fill);
    for (const id of ["play", "slide", "pace"]) part(id).hidden = false;
    full.hidden = !document.fullscreenEnabled;
    part("look").hidden = true;
  }

  function follow() {
    const source = new EventSource(root.dataset.events);
    const renew = oneAtATime(async () => {
      const following = at >= frames.length - 1;
      take(await get({ from: frames.length }));
      show(following ? frames.length - 1 : at);
    });
    source.onmessage = (event) => {
      if (JSON.parse(event.data).over) {
        source.close();
        location.reload();
      } else {
        renew();
      }
    };
  }

  async function begin() {
    take(await answerOf(part("first-frames").href)); // without boards; the page's head has already sent for it
    connect();
    show(at);
    root.dataset.ready = "yes";
    if (root.dataset.events) follow();
    await getBoards();
    root.dataset.drawn = "yes";
  }

  begin().catch((error) => happened.replaceChildren(element("p", `The frames did not come: ${error.message}`, "wrong")));
})();
