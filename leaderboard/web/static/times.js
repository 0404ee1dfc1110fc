// Times as "3 min ago", with the exact one on hover.
"use strict";
(() => {
  const STEPS = [[60, "s", 1], [3600, "min", 60], [172800, "h", 3600], [Infinity, "days", 86400]];

  function inWords(seconds) {
    if (seconds < 5) return "just now";
    const [, unit, length] = STEPS.find(([most]) => seconds < most);
    return `${Math.floor(seconds / length)} ${unit} ago`;
  }

  function show() {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const then = Date.parse(time.dateTime);
      if (Number.isNaN(then) || then > Date.now()) continue;
      if (!time.title) time.title = time.textContent;
      time.textContent = inWords((Date.now() - then) / 1000);
    }
  }

  show();
  setInterval(show, 20000);
  document.addEventListener("renewed", show);
})();
