// A page of a run renews itself when the server says that something changed. At most one renewal is under way.
"use strict";
(() => {
  const main = document.getElementById("main");
  const source = new EventSource(main.dataset.events);
  let busy = false;
  let again = false;

  async function renew() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    const answer = await fetch(location.href);
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      main.replaceChildren(...fresh.childNodes);
      document.dispatchEvent(new Event("renewed"));
    }
    busy = false;
    if (again) {
      again = false;
      renew();
    }
  }

  source.onmessage = (event) => {
    if (JSON.parse(event.data).changed > 0) renew();
  };
})();
