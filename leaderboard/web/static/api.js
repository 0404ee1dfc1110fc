// The list of the API's operations: sends one that only reads, and shows its answer.
"use strict";
(() => {
  const LONGEST = 20000;

  function addressOf(form) {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll("input")) {
      if (field.dataset.place === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
      else if (field.value) query.set(field.name, field.value);
    }
    return query.size ? `${path}?${query}` : path;
  }

  function show(form, address, words) {
    const head = document.createElement("p");
    const link = document.createElement("a");
    link.href = address;
    link.textContent = address;
    head.append(link);
    const text = document.createElement("pre");
    text.tabIndex = 0;
    text.textContent = words.length > LONGEST ? `${words.slice(0, LONGEST)}\n[...]` : words;
    form.querySelector("output").replaceChildren(head, text);
  }

  async function send(event) {
    event.preventDefault();
    const form = event.target;
    const address = addressOf(form);
    try {
      const answer = await fetch(address);
      show(form, address, `${answer.status}\n${JSON.stringify(await answer.json(), null, 2)}`);
    } catch {
      show(form, address, "The server did not answer. Try again.");
    }
  }

  for (const form of document.querySelectorAll("form[data-path]")) form.addEventListener("submit", send);
})();
