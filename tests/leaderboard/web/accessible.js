// What on a page hinders somebody who reads it by ear or in other colours; each finding is a line of text.
() => {
  const all = (what, root = document) => [...root.querySelectorAll(what)];
  const brief = (item) => item.outerHTML.replace(/\s+/g, ' ').slice(0, 160);
  const shown = (what) => all(what).filter((item) => item.checkVisibility());
  const found = [];
  const report = (problem, items) => found.push(...items.map((item) => `${problem}: ${brief(item)}`));

  if (document.documentElement.lang !== 'en') found.push('no language');
  if (!document.title.trim()) found.push('no title');
  for (const one of ['main', 'h1', 'body > header', 'body > footer', 'nav[aria-label="Pages"]']) {
    if (shown(one).length !== 1) found.push(`${shown(one).length} of ${one}`);
  }
  const ways = shown('nav').map((item) => item.getAttribute('aria-label'));
  if (new Set(ways).size !== ways.length) found.push(`two of one name among the navigations: ${ways}`);
  const outside = all('body > *').filter((item) => !item.matches('main, header, footer, nav[aria-label], a.skip, script'));
  report('outside every landmark', outside);
  if (!document.querySelector('main#main') || !document.querySelector('a.skip[href="#main"]')) found.push('no skip');

  const levels = shown('h1, h2, h3, h4, h5, h6');
  report('a heading that leaves a level out', levels.filter((item, at) =>
    Number(item.tagName[1]) > (at ? Number(levels[at - 1].tagName[1]) : 0) + 1));

  const ids = all('[id]').map((item) => item.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) found.push(`an id twice: ${id}`);
  for (const name of ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls']) {
    report(`${name} leads nowhere`, all(`[${name}]`).filter((item) =>
      item.getAttribute(name).trim().split(/\s+/).some((id) => !document.getElementById(id))));
  }

  const said = (item) => item.getAttribute('aria-label')?.trim()
    || (item.getAttribute('aria-labelledby') ?? '').split(/\s+/).some((id) => document.getElementById(id)?.textContent.trim());
  const words = (label) => {
    const copy = label.cloneNode(true);
    all('input, select, textarea, output, button', copy).forEach((part) => part.remove());
    return copy.textContent.trim();
  };
  report('a field without one label', all('input:not([type=hidden]), select, textarea').filter((item) =>
    !said(item) && (item.labels.length !== 1 || !words(item.labels[0]))));
  report('a label of nothing', all('label').filter((item) => !item.control));
  report('no name', shown('a, button, summary, [role=button], [data-action]').filter((item) =>
    !said(item) && !item.textContent.trim()));
  report('no name', shown('progress, svg[role=img], [role=region], [role=group], nav, ol[tabindex], ul[tabindex], div[tabindex]')
    .filter((item) => !said(item)));
  report('an own place in the order of Tab', all('[tabindex]').filter((item) => item.tabIndex > 0));
  report('Tab does not reach it', shown('[data-action], [role=button]').filter((item) => item.tabIndex < 0));

  const buttons = shown('main button, main a.button').map((item) => [item, item.getBoundingClientRect()]);
  report('seen before what comes before it', buttons.slice(1).filter(([, now], at) => {
    const before = buttons[at][1];
    return now.top < before.bottom - 1 && now.left < before.left;
  }).map(([item]) => item));

  const numbers = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (colour) => colour.slice(0, 3).map((value) => value / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (item) => {
    for (let at = item; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const contrast = (item) => {
    const [dark, bright] = [numbers(getComputedStyle(item).color), ground(item)].map(light).sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const written = all('main *, header *, footer *, body > nav *, a.skip').filter((item) =>
    !item.closest('svg') && [...item.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  report('contrast below 4.5', written.filter((item) => contrast(item) < 4.5));
  return found;
}
