// A page renews itself: when the server says that its tables are new, or every few seconds.
"use strict";
(() => {
  const main = document.getElementById("main");
  const renew = oneAtATime(async () => {
    const answer = await fetch(location.href).catch(() => null);
    if (!answer?.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    main.replaceChildren(...fresh.childNodes);
    document.dispatchEvent(new Event("renewed"));
  });
  if (main.dataset.everyS) setInterval(() => document.hidden || renew(), 1000 * main.dataset.everyS);
  if (!main.dataset.events) return;
  const source = new EventSource(main.dataset.events);
  source.onmessage = (event) => {
    if (JSON.parse(event.data).changed > 0) renew();
  };
})();
