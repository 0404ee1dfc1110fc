// Names on a map that lie on what is played with: pieces, spaces of routes, and the circles of locations.
() => {
  const found = [];
  const things = '[data-place^="route:"] .edge, .piece, circle.rim';
  for (const label of document.querySelectorAll('#board svg text.label')) {
    const box = label.getBoundingClientRect();
    const rest = box.height / 5; // what letters leave free above and below
    const hit = new Set();
    for (let y = box.top + rest; y <= box.bottom - rest; y += 1) {
      for (let x = box.left; x <= box.right; x += 1) {
        for (const under of document.elementsFromPoint(x, y)) if (under.matches(things)) hit.add(under);
      }
    }
    for (const under of hit) {
      const place = under.closest('[data-place]')?.dataset.place ?? under.closest('g')?.querySelector('title')?.textContent;
      found.push(`'${label.textContent}' lies on ${place ?? under.outerHTML.slice(0, 60)}`);
    }
  }
  return [...new Set(found)];
}
