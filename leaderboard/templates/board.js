// Shows one drawing after another by changing only what differs: to lay out and paint a whole board takes far longer.
"use strict";
const becomeDrawing = (() => {
  function become(old, fresh) {
    if (old.nodeName !== fresh.nodeName) {
      old.replaceWith(document.adoptNode(fresh));
    } else if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
    } else {
      for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
      for (const given of fresh.attributes) {
        if (old.getAttribute(given.name) !== given.value) old.setAttributeNode(given.cloneNode());
      }
      becomeInside(old, fresh);
    }
  }

  // What is the same at the beginning and at the end stays; between, one child after another becomes the new one.
  function becomeInside(old, fresh) {
    const [olds, freshes] = [[...old.childNodes], [...fresh.childNodes]];
    while (olds.length && freshes.length && olds[0].isEqualNode(freshes[0])) {
      olds.shift();
      freshes.shift();
    }
    let after = null;
    while (olds.length && freshes.length && olds.at(-1).isEqualNode(freshes.at(-1))) {
      after = olds.pop();
      freshes.pop();
    }
    freshes.forEach((child, index) => {
      if (index < olds.length) {
        if (!olds[index].isEqualNode(child)) become(olds[index], child);
      } else {
        old.insertBefore(document.adoptNode(child), after);
      }
    });
    for (const child of olds.slice(freshes.length)) child.remove();
  }

  // `place` shows the drawing of the text, and nothing else.
  return (place, text) => {
    const fresh = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const old = place.firstElementChild;
    if (fresh.nodeName !== "svg" || fresh.querySelector("parsererror")) {
      place.textContent = "This board cannot be drawn.";
    } else if (old?.nodeName === "svg" && place.childNodes.length === 1) {
      become(old, fresh);
    } else {
      place.replaceChildren(document.adoptNode(fresh));
    }
  };
})();
