// A page renews itself: when the server says that its tables are new, or every few seconds. What has the focus keeps it,
// what was opened stays open, and fields keep what was written into them.
"use strict";
(() => {
  const main = document.getElementById("main");
  const all = (what) => [...main.querySelectorAll(what)];
  const able = () => all("a[href], button, input, select, summary, [tabindex='0']");
  let last = "";

  const renew = oneAtATime(async () => {
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const text = await answer.text();
    if (text === last) return;
    last = text;
    const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    const focused = able().indexOf(document.activeElement);
    const opened = all("details").map((details) => details.open);
    const written = all("input, select").map((field) => field.value);
    main.replaceChildren(...fresh.childNodes);
    all("details").forEach((details, place) => (details.open = opened[place] ?? details.open));
    document.dispatchEvent(new Event("renewed"));
    all("input, select").forEach((field, place) => {
      if (field.value === (written[place] ?? field.value)) return;
      field.value = written[place];
      field.dispatchEvent(new Event("input"));
    });
    if (focused >= 0) able()[focused]?.focus({ preventScroll: true });
  });
  if (main.dataset.everyS) setInterval(() => document.hidden || renew(), 1000 * main.dataset.everyS);
  if (!main.dataset.events) return;
  const source = new EventSource(main.dataset.events);
  source.onmessage = (event) => {
    if (JSON.parse(event.data).changed > 0) renew();
  };
})();
