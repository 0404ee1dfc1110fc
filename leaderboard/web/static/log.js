// A log that goes on: each part is added as it comes.
"use strict";
(() => {
  const log = document.getElementById("log");
  const following = document.getElementById("following");
  const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  let end = Number(log.dataset.end);
  let source = null;

  const add = oneAtATime(async () => {
    let part = null;
    do {
      const answer = await fetch(`${log.dataset.log}?from=${end}`).catch(() => null);
      if (!answer || !answer.ok) return;
      part = await answer.json();
      const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
      log.append(part.text.replace(unsafe, "\ufffd"));
      if (atEnd) log.scrollTop = log.scrollHeight;
      if (part.end === end) break;
      end = part.end;
    } while (part);
    if (!part.complete) return;
    source?.close();
    following.textContent = "The log is complete.";
  });

  if (!log.dataset.complete) {
    source = new EventSource(`${log.dataset.log}/events?from=${end}`);
    source.onmessage = add;
  }
  add();
})();
