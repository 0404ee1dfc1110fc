// A page of a run renews itself when the server says that its tables are new.
"use strict";
(() => {
  const main = document.getElementById("main");
  const source = new EventSource(main.dataset.events);
  const renew = oneAtATime(async () => {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    main.replaceChildren(...fresh.childNodes);
    document.dispatchEvent(new Event("renewed"));
  });
  source.onmessage = (event) => {
    if (JSON.parse(event.data).changed > 0) renew();
  };
})();
