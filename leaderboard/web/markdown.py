"""Markdown files of installed packages as HTML: the rules of games.

markdown-it-py follows CommonMark and is well kept, and rich brings it already. Raw HTML stays text, images are left
out, and only links within the page remain: a game from elsewhere cannot bring a script, a form or a foreign picture.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_NAME = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b|\b[TR]\d\d\b")
"""An identifier of a program in plain text."""


def as_html(text: str, first_level: int = 2, subject: str = "the rules") -> Markup:
    """The text without its first heading of level 1, which is the title of the page; the headings below it begin with
    `first_level`. Tables are named as those of `subject`."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        del tokens[:3]
    number = count(1)
    shown = [_changed(token, first_level - 2, number, subject) for token in tokens]
    return Markup(parser.renderer.render(shown, parser.options, {}))  # noqa: S704 - the renderer escapes all text


def coded(text: str) -> Markup:
    """One line of text in which identifiers are code."""
    parts, last = [], 0
    for found in _NAME.finditer(text):
        parts += [escape(text[last : found.start()]), Markup("<code>{}</code>").format(found[0])]
        last = found.end()
    return Markup("").join([*parts, escape(text[last:])])


def _changed(token: Token, deeper: int, number: Iterator[int], subject: str) -> Token:
    """`number` counts the tables, whose names must differ for who hears them."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, int(token.tag[1]) + deeper)}"
    elif token.type == "table_open":
        label = escape(f"Table {next(number)} of {subject}")
        return _html(f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>')
    elif token.type == "table_close":
        return _html("</table></div>")
    elif token.type == "th_open":
        token.attrSet("scope", "col")
    elif token.type == "inline" and token.children:
        token.children = _inline(token.children)
    return token


def _inline(children: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    kept = True
    for child in children:
        if child.type == "link_open":
            kept = str(child.attrGet("href") or "").startswith("#")
        if child.type in ("link_open", "link_close") and not kept:
            continue
        found.append(_html(str(coded(child.content))) if child.type == "text" else child)
    return found


def _html(markup: str) -> Token:
    """A token that is written as it is: our own tags, or text that `coded` has escaped."""
    return Token("html_inline", "", 0, content=markup)
