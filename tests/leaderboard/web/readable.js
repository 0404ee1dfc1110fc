// What on a page nobody can read: texts that lie on each other, and ids where words belong. Each finding is a line.
() => {
  const found = [];
  const root = document.body;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const boxes = [];
  const coded = 'code, pre, script, style, option, desc, title, textarea';
  const ids = /\b[a-z]+_[a-z_]+\b|\b[TR]\d\d\b/;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const item = node.parentElement;
    const text = node.data.trim();
    if (!text || item.closest(coded) || !item.checkVisibility() || item.closest('.said, .skip')) continue;
    if (ids.test(text)) found.push(`an id: ${text.slice(0, 80)}`);
    const range = document.createRange();
    range.selectNodeContents(node);
    const clip = [];
    for (let at = item; at && at !== root; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (/auto|scroll|hidden|clip/.test(style.overflowX + style.overflowY)) clip.push(at.getBoundingClientRect());
    }
    for (const rect of range.getClientRects()) {
      let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
      for (const frame of clip) {
        [left, top] = [Math.max(left, frame.left), Math.max(top, frame.top)];
        [right, bottom] = [Math.min(right, frame.right), Math.min(bottom, frame.bottom)];
      }
      // The box of a line is higher than its letters: a fifth of it at each end is empty.
      const rest = (bottom - top) / 5;
      if (right - left > 1 && bottom - top > 1) boxes.push({ left, right, top: top + rest, bottom: bottom - rest, node, text });
    }
  }
  const pinned = (node) => node.parentElement.closest('.pin');
  boxes.sort((one, other) => one.top - other.top);
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      if (other.top >= one.bottom) break;
      if (one.node === other.node || pinned(one.node) || pinned(other.node)) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 2 && down > 1) found.push(`on each other: ${one.text.slice(0, 40)} | ${other.text.slice(0, 40)}`);
    }
  });
  return found;
}
