// The part of a page that changes is loaded again when the server says so. What is open there stays open.
"use strict";
(() => {
  const main = document.getElementById("main");
  const source = new EventSource(main.dataset.events);

  function isBusy() {
    const at = document.activeElement;
    return at && at !== document.body && at.matches("input, select, textarea") && part().contains(at);
  }

  function part() {
    return document.getElementById("live");
  }

  const renew = oneAtATime(async () => {
    if (isBusy()) return;
    const answer = await fetch(location.pathname).catch(() => null);
    if (!answer || !answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    const open = new Set([...part().querySelectorAll("details[open]")].map((one) => one.id));
    for (const one of fresh.querySelectorAll("details")) one.open = open.has(one.id);
    const focused = [...part().querySelectorAll("a, button, summary")].indexOf(document.activeElement);
    part().replaceChildren(...fresh.childNodes);
    if (focused >= 0) part().querySelectorAll("a, button, summary")[focused]?.focus({ preventScroll: true });
  });

  source.onmessage = (event) => {
    if (JSON.parse(event.data).changed > 0) renew();
  };
  document.addEventListener("handed-in", renew);
})();
