"""The rules of axe-core on a page in the browser."""

from importlib.resources import files
from typing import Any

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that depend on the scheme: all others say the same of a page in light and dark."""

RUN = """async (rules) => {
  const only = rules ? { runOnly: { type: 'rule', values: rules } } : {};
  const { violations } = await axe.run(document, { resultTypes: ['violations'], ...only });
  const line = ({ id, help }, node) => `axe ${id}: ${help}: ${node.html.slice(0, 160)}`;
  return violations.flatMap((rule) => rule.nodes.map((node) => line(rule, node)));
}"""


def violations(page: Any, *, colours_alone: bool = False) -> list[str]:
    """What breaks a rule in the scheme that the page has now, a line for each place."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN, list(COLOURS) if colours_alone else None)
    return found
