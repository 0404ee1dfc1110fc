"""A match as one animated drawing. Any viewer of animated SVG plays it, also as a picture in a page.

Every element has the steps at which it is shown, as an animation of its `display`; there is no script in it.
"""

import shlex
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from leaderboard.frames import Frame, frames_of, step_words
from referee.errors import ExpectedError
from referee.games.drawing import Look, stylesheet
from referee.games.drawing.parts import picture, text
from referee.games.drawing.spots import Spots
from referee.games.drawing.text import cleaned
from referee.record import Record
from referee.record.narration import Viewer

END_S = 3.0
"""How long the last step stays before the film begins again."""

_ROWS, _ROW, _BAR = 4, 14, 3
"""Rows of text below the board, their height, and that of the bar below them."""


class NoBoardError(ExpectedError):
    """The record cannot be drawn; one sentence says why."""

    def __init__(self, what: str, record: Record) -> None:
        super().__init__(what, f"see: crosstown matches show {shlex.quote(str(record.path))}")


def still(record: Record, step: int, viewer: Viewer = None, theme: str = "auto") -> str:
    """The board after a step, as one drawing. NoBoardError if there is none."""
    frame = next(frames_of(record, viewer, step, step), None)
    if frame is None or not frame.board:
        raise NoBoardError(frame.wrong if frame else f"there is no step {step}", record)
    # The description is the last of the words at the beginning; no text in it can hold a tag.
    return frame.board.replace("</desc>", f"</desc><style>{stylesheet(theme)}</style>", 1) + "\n"


def film(record: Record, viewer: Viewer = None, theme: str = "auto", step_s: float = 1.0) -> str:
    """All steps, `step_s` seconds each, over and over. NoBoardError if there is not one that can be drawn."""
    frames = list(frames_of(record, viewer))
    drawn = [frame for frame in frames if frame.board]
    if not drawn:
        raise NoBoardError(frames[-1].wrong, record)
    boards = [_parsed(frame.board.replace(' xmlns="http://www.w3.org/2000/svg"', "")) for frame in drawn]
    sizes = [[float(number) for number in board.attrib["viewBox"].split()[2:]] for board in boards]
    width, height = (max(numbers) for numbers in zip(*sizes, strict=True))
    whole_s = len(drawn) * step_s + END_S
    names = [cleaned(seat.name) for seat in record.header.seats]
    if frames[-1].wrong:
        drawn[-1] = replace(drawn[-1], lines=(*drawn[-1].lines, {"kind": "end", "text": frames[-1].wrong}))
    steps = [
        [*_without_words(board), *_caption(frame, drawn[-1].step, names, width, height)]
        for board, frame in zip(boards, drawn, strict=True)
    ]

    def animation(when: Sequence[bool]) -> ET.Element:
        return _animation(when, step_s, whole_s)

    title = f"{record.header.game}: {', '.join(names)}"
    return (
        picture(
            round(width),
            round(height) + _ROWS * _ROW + 2 * _BAR,
            title=cleaned(title),
            description=f"{len(drawn) - 1} steps, {step_s:g} seconds each",
            look=Look(theme=theme),
            spots=Spots({}, Look()),
            content=[
                *(ET.tostring(element, encoding="unicode") for element in merged(steps, animation)),
                _bar(width, height + _ROWS * _ROW + _BAR, whole_s),
            ],
        )
        + "\n"
    )


def _parsed(drawing: str) -> ET.Element:
    return ET.fromstring(drawing)  # noqa: S314 - our own drawing


def _without_words(board: ET.Element) -> Iterator[ET.Element]:
    """Its children, without titles: what is under the pointer changes without it."""
    for parent in board.iter():
        for child in [child for child in parent if child.tag in ("title", "desc")]:
            parent.remove(child)
    yield from board


def _caption(frame: Frame, last: int, names: Sequence[str], width: float, height: float) -> Iterator[ET.Element]:
    """What has happened, below the board."""
    rows = [
        step_words(frame.step, last),
        *(_told(line, names) for line in frame.lines),
    ]
    if len(rows) > _ROWS:
        rows[_ROWS - 1 :] = [f"and {len(rows) - _ROWS + 1} more"]
    for number, words in enumerate(rows):
        css = "soft" if number == 0 else "ink"
        yield _parsed(text(8, height + _ROW * (number + 0.8), words, size=11, css=css, width=width - 16))


def _told(line: dict[str, object], names: Sequence[str]) -> str:
    seat = line.get("seat")
    who = f"{seat} {names[seat]}" if isinstance(seat, int) and 0 <= seat < len(names) else line["kind"]
    fault = "fault: " if line["kind"] == "fault" else "message dropped: " if line["kind"] == "dropped" else ""
    return f"{who}: {fault}{line['text']}"


def _animation(when: Sequence[bool], step_s: float, whole_s: float) -> ET.Element:
    """Shows its parent at the steps that are True."""
    changes = [(at, on) for at, on in enumerate(when) if at == 0 or on != when[at - 1]]
    return ET.Element(
        "animate",
        attributeName="display",
        calcMode="discrete",
        dur=f"{whole_s:g}s",
        repeatCount="indefinite",
        keyTimes=";".join(f"{at * step_s / whole_s:.6g}" for at, _ in changes),
        values=";".join("inline" if on else "none" for _, on in changes),
    )


def _bar(width: float, y: float, whole_s: float) -> str:
    """How far the film has come."""
    return (
        f'<rect x="0" y="{y:g}" width="0" height="{_BAR}" class="now">'
        f'<animate attributeName="width" from="0" to="{width:g}" dur="{whole_s:g}s" repeatCount="indefinite"/></rect>'
    )


Shown: TypeAlias = Sequence[ET.Element | None]
"""What one place of the drawing holds at each step."""

Animation: TypeAlias = Callable[[Sequence[bool]], ET.Element]
"""The element that shows its parent at those steps for which there is a True."""


def merged(steps: Sequence[Sequence[ET.Element]], animation: Animation) -> Iterator[ET.Element]:
    """Elements that show, one after another, what the lists of elements in `steps` show."""
    for shown in _aligned(steps):
        yield from _place(shown, animation)


def _place(shown: Shown, animation: Animation) -> Iterator[ET.Element]:
    there = [element is not None for element in shown]
    found = [element for element in shown if element is not None]
    texts = [None if element is None else ET.tostring(element) for element in shown]
    versions = {written: element for written, element in zip(texts, shown, strict=True) if element is not None}
    if len(versions) > 1 and len(found) > 1 and _alike(found):
        wrapper = ET.Element(found[0].tag, found[0].attrib)
        if not all(there):
            wrapper.append(animation(there))
        # A step without the wrapper says nothing about what is in it: it is taken as at the step before.
        wrapper.extend(merged(_filled([None if element is None else list(element) for element in shown]), animation))
        yield wrapper
        return
    for written, element in versions.items():
        copy = deepcopy(element)
        when = [other == written for other in texts]
        if not all(when):
            copy.insert(0, animation(when))
        yield copy


def _alike(found: Sequence[ET.Element]) -> bool:
    """Whether only their children differ."""
    first = found[0]
    return first.tag == "g" and all(item.tag == "g" and item.attrib == first.attrib for item in found)


def _filled(lists: Sequence[list[ET.Element] | None]) -> list[list[ET.Element]]:
    known = next(item for item in lists if item is not None)
    filled = []
    for item in lists:
        known = known if item is None else item
        filled.append(known)
    return filled


def _aligned(steps: Sequence[Sequence[ET.Element]]) -> Iterator[Shown]:
    """What belongs together over the steps, in the order in which it is painted.

    Elements of one place of the board belong together, others by their number. Where the order changes between steps
    only the number counts, since what is painted later lies above.
    """
    keyed = [_keys(elements) for elements in steps]
    order: list[str] = []
    for keys in dict.fromkeys(tuple(item) for item in keyed):
        at = 0
        for key in keys:
            if key in order:
                at = order.index(key) + 1
            else:
                order.insert(at, key)
                at += 1
    number = {key: at for at, key in enumerate(order)}
    if all(_rising([number[key] for key in keys]) for keys in keyed):
        for key in order:
            yield [keys.get(key) for keys in keyed]
    else:
        for at in range(max(len(elements) for elements in steps)):
            yield [elements[at] if at < len(elements) else None for elements in steps]


def _rising(numbers: Sequence[int]) -> bool:
    return all(one < other for one, other in pairwise(numbers))


def _keys(elements: Sequence[ET.Element]) -> dict[str, ET.Element]:
    counts: Counter[str] = Counter()
    keys = {}
    for element in elements:
        name = element.get("data-place") or element.tag
        counts[name] += 1
        keys[f"{name} {counts[name]}"] = element
    return keys
