"""Elements of a drawing as text. Lengths are units of the view box; a board is 400 wide, so that one is a pixel of a
phone. Colours are classes of the style sheet, never attributes."""

from collections.abc import Iterable

from referee.games.drawing.look import Look
from referee.games.drawing.spots import Spots
from referee.games.drawing.style import stylesheet
from referee.games.drawing.text import cut, escaped, width_of

WIDTH = 400


def number(value: float) -> str:
    """Two decimals at most, no zeros behind."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


_NEARLY = 0.75
"""Share of the width from which on a text is drawn exactly as wide as in Helvetica; a shorter one fits in any usual
font."""


def text(
    x: float, y: float, content: str, *, size: float = 11, css: str = "ink", width: float = 0, fitted: bool = False
) -> str:
    """One line; `y` is its base line. What is wider than `width` is cut, with left-aligned text of unknown scripts also
    by a frame, since their widths are guesses. Text that nearly fills `width`, or is `fitted`, is as wide as in
    Helvetica also where another font has wider letters."""
    if width:
        content = cut(content, size, width, bold=" b" in css)
        if not content.rstrip("\u2026").isascii():
            inner = text(0, 1.25 * size, content, size=size, css=css)
            frame = f'x="{number(x)}" y="{number(y - 1.25 * size)}" width="{number(width)}"'
            return f'<svg {frame} height="{number(1.7 * size)}">{inner}</svg>'
    place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"'
    if fitted or width:
        natural = width_of(content, size, bold=" b" in css)
        if fitted or natural > _NEARLY * width:
            place += f' textLength="{number(natural)}" lengthAdjust="spacingAndGlyphs"'
    return f'<text {place} class="{css}">{escaped(content)}</text>'


def rect(x: float, y: float, width: float, height: float, css: str, *, radius: float = 0) -> str:
    corner = f' rx="{number(radius)}"' if radius else ""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"{corner}'
        f' class="{css}"/>'
    )


def circle(x: float, y: float, radius: float, css: str) -> str:
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{css}"/>'


def line(x1: float, y1: float, x2: float, y2: float, css: str, *, width: float = 1) -> str:
    return (
        f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        f' stroke-width="{number(width)}" class="{css}"/>'
    )


def polygon(points: Iterable[tuple[float, float]], css: str) -> str:
    corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return f'<polygon points="{corners}" class="{css}"/>'


def path(commands: str, css: str, *, width: float = 0) -> str:
    stroke = f' stroke-width="{number(width)}"' if width else ""
    return f'<path d="{commands}" class="{css}"{stroke}/>'


def moved(x: float, y: float, content: str, *, turn: float = 0) -> str:
    """`content` with its origin at (x, y), turned clockwise by `turn` degrees."""
    turned = f" rotate({number(turn)})" if turn else ""
    return f'<g transform="translate({number(x)} {number(y)}){turned}">{content}</g>'


def picture(
    width: float, height: float, *, title: str, description: str, look: Look, spots: Spots, content: Iterable[str]
) -> str:
    """The whole drawing. It has no ids, so that any number of them can stand on one page."""
    role = "group" if spots.buttons else "img"
    style = f"<style>{stylesheet(look.theme)}</style>" if look.styled else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ct-board" viewBox="0 0 {number(width)} {number(height)}"'
        f' role="{role}" aria-label="{escaped(title)}"><title>{escaped(title)}</title>'
        f"<desc>{escaped(description)}</desc>{style}{rect(0, 0, width, height, 'paper')}{''.join(content)}</svg>"
    )
