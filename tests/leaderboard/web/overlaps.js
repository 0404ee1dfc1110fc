// Pairs of texts that a reader sees one over the other: lines of text nodes, and texts of drawings.
() => {
  const SLACK = 0.2; // of the height of a line: what letters leave free above and below
  const shown = [];

  function clipped(box, element) {
    let { left, right, top, bottom } = box;
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (style.overflowX !== 'visible' || style.overflowY !== 'visible' || up.tagName === 'svg') {
        const frame = up.getBoundingClientRect();
        left = Math.max(left, frame.left);
        right = Math.min(right, frame.right);
        top = Math.max(top, frame.top);
        bottom = Math.min(bottom, frame.bottom);
      }
    }
    return { left, right, top, bottom };
  }

  function add(box, element, text) {
    const seen = clipped(box, element);
    const height = seen.bottom - seen.top;
    if (height < 3 || seen.right - seen.left < 1) return;
    shown.push({ ...seen, top: seen.top + SLACK * height, bottom: seen.bottom - SLACK * height, element, text });
  }

  for (const element of document.querySelectorAll('#board svg text')) {
    if (!element.textContent.trim() || !element.checkVisibility()) continue;
    if (!element.querySelector('tspan')) {
      add(element.getBoundingClientRect(), element, element.textContent);
      continue;
    }
    // Signs that each have a place of their own, as on the spaces of a route.
    for (let place = 0; place < element.getNumberOfChars(); place += 1) {
      const { x, y, width, height } = element.getExtentOfChar(place);
      const middle = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(element.getScreenCTM());
      const half = (Math.min(width, height) / 2) * element.getScreenCTM().a;
      const box = { left: middle.x - half, right: middle.x + half, top: middle.y - half, bottom: middle.y + half };
      add(box, element, element.textContent[place]);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || element.closest('svg, select, script, noscript, .skip') || !element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) add(box, element, node.data.trim());
  }
  const found = [];
  shown.forEach((one, index) => {
    for (const other of shown.slice(index + 1)) {
      if (one.element === other.element) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 1 && down > 1) found.push(`'${one.text.slice(0, 60)}' and '${other.text.slice(0, 60)}' (${across.toFixed(1)} x ${down.toFixed(1)})`);
    }
  });
  return found;
}
