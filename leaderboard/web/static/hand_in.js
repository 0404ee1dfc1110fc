// Hands in a bot: an archive that is chosen or dropped, with how much of it was sent.
"use strict";
(() => {
  const form = document.getElementById("hand-in");
  if (!form) return;
  const { bot, archive } = form.elements;
  const bar = document.getElementById("sending");
  const said = document.getElementById("sent");
  const button = form.querySelector("button");
  let dropped = null;

  function say(words) {
    said.textContent = words;
  }

  function take(file) {
    dropped = file;
    archive.required = !file;
    say(file ? `${file.name}, ${(file.size / 1048576).toFixed(2)} MiB.` : "");
    if (file && !bot.value) bot.value = file.name.replace(/\.(zip|tar\.gz|tgz)$/i, "");
  }

  function problemOf(request) {
    try {
      const { error, next_step: step } = JSON.parse(request.responseText);
      return `${error} ${step}`.trim();
    } catch {
      return request.status ? `The server answered ${request.status}. Try again.` : "The connection broke. Try again.";
    }
  }

  function end(words) {
    bar.hidden = true;
    button.disabled = false;
    say(words);
  }

  function done(request, name) {
    if (request.status !== 200 && request.status !== 201) {
      end(problemOf(request));
      return;
    }
    const version = JSON.parse(request.responseText);
    const known = request.status === 200 ? " This content is that version already." : "";
    form.reset();
    take(null);
    end(`${name}: version ${version.number} was received.${known}`);
    document.dispatchEvent(new Event("handed-in"));
  }

  function send(name, file, key) {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v1/bots/${encodeURIComponent(name)}/versions`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("X-Crosstown-Token", form.dataset.token);
    request.setRequestHeader("Idempotency-Key", key);
    request.upload.addEventListener("progress", (event) => {
      bar.value = event.total ? (100 * event.loaded) / event.total : 0;
    });
    request.addEventListener("load", () => done(request, name));
    request.addEventListener("error", () => end(problemOf(request)));
    bar.value = 0;
    bar.hidden = false;
    button.disabled = true;
    say(`Sending ${file.name}.`);
    request.send(file);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const file = dropped || archive.files[0];
    if (!file) {
      say("Choose an archive first.");
      return;
    }
    if (file.size > Number(form.dataset.most)) {
      say(`${file.name} has ${(file.size / 1048576).toFixed(1)} MiB. Leave out what the bot does not need: builds, packages, data.`);
      return;
    }
    // A second try of the same file is the same hand-in.
    send(bot.value.trim(), file, encodeURIComponent(`${bot.value} ${file.name} ${file.size} ${file.lastModified}`).slice(-200));
  });
  archive.addEventListener("change", () => take(archive.files[0] ?? null));
  for (const name of ["dragenter", "dragover"]) {
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
})();
