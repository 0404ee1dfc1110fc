"""A match as one animated drawing. Any viewer of animated SVG plays it, also as a picture in a page.

Every element has the steps at which it is shown, as an animation of its `display`; there is no script in it.
"""

import shlex
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace

from leaderboard.export.merging import merged
from leaderboard.frames import Frame, Viewer, frames_of
from referee.errors import ExpectedError
from referee.games.drawing import Look, stylesheet
from referee.games.drawing.parts import picture, text
from referee.games.drawing.spots import Spots
from referee.games.drawing.text import cleaned
from referee.record import Record

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
    rows = [f"step {frame.step} of {last}", *(_told(line, names) for line in frame.lines)]
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
