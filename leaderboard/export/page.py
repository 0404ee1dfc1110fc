"""A match as one page: its boards are inside, it loads nothing, and runs nothing but its own script."""

import base64
import gzip
import json
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from leaderboard.evidence import evidence_of
from leaderboard.frames import Frame, extent_of, frames_of, part_indexes, row_values, seat_pictures, viewers
from leaderboard.report import TEMPLATES
from leaderboard.titles import game_title, in_words, match_label, with_names
from referee.games.drawing import stylesheet
from referee.record import Record
from referee.record.narration import EVERYTHING, Viewer, ending_of
from referee.record.times import seat_times
from referee.run.folder import SINGLE
from referee.texts import clean, one_line

_HERE = Path(__file__).parent


def replay_page(
    record: Record, wanted: Sequence[Viewer] = (), back: tuple[str, str] | None = None, ruled: str = ""
) -> str:
    """The page. It has the `wanted` views, default those of every seat, if the match is over, otherwise what everybody
    could see. `back` is a link to where it belongs, and its words. `ruled`: see `leaderboard.controls.Rulings`."""
    template, script, style = _page()
    offered = viewers(record)
    chosen = [viewer for viewer in offered if viewer in wanted] or offered
    views = {viewer: list(frames_of(record, viewer)) for viewer in chosen}
    frames = views[chosen[0]]
    ending = ending_of(record.header, record.lines, record.footer) if record.footer else None
    return template.render(
        head=record.header,
        footer=record.footer,
        times=seat_times(record.lines, record.header.players, record.footer.faults if record.footer else ()),
        problems=record.problems,
        evidence=evidence_of(record),
        wrong=frames[-1].wrong,
        names=record.header.names,
        pieces=seat_pictures(record.header),
        title=game_title(record.header.game),
        ending="" if ending is None else ending.sentence,
        ruled=ruled,
        label=match_label(record.header),
        single=record.header.tournament == SINGLE,
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)};"
        " base-uri 'none'; form-action 'none'",
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        board=_board(frames),
        back=back,
        content=_packed(record, views, extent_of(record).end(ending)),
    )


@cache
def _page() -> tuple[Template, str, str]:
    """What all pages have in common: the template, the script and the style."""
    script = "".join(
        path.read_text(encoding="utf-8")
        for path in (*(TEMPLATES / name for name in ("board.js", "keys.js", "moves.js")), _HERE / "replay.js")
    )
    style = (_HERE / "replay.css").read_text(encoding="utf-8") + stylesheet()
    environment = Environment(loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"clean": clean, "line": one_line, "words": in_words, "with_names": with_names}
    return environment.get_template("replay.html"), script, style


def _board(frames: list[Frame]) -> Markup:
    """What is shown without scripts."""
    drawn = [frame.board for frame in frames if frame.board]
    return Markup(drawn[-1] if drawn else "")  # noqa: S704 - our own drawing, in which names are escaped


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _packed(record: Record, views: dict[Viewer, list[Frame]], end: int) -> str:
    """All that the script shows, which begins at the step `end`. It is compressed: neighbouring boards share nearly all
    their parts, and so do the views.

    Base64 has no character that could end the element it stands in, whatever a bot wrote.
    """
    parts: dict[str, int] = {}
    seats = [one_line(name) for name in record.header.names]
    content: dict[str, Any] = {
        "seats": seats,
        "end": end,
        "steps": [frame.lines for frame in next(iter(views.values()))],
        "views": [
            {
                "key": "" if viewer is None else str(viewer),
                "name": _view_name(viewer, seats),
                "frames": [
                    {
                        "events": frame.events,
                        "board": part_indexes(frame.board, parts),
                        "wrong": frame.wrong,
                        "row": row_values(frame.row),
                    }
                    for frame in frames
                ],
            }
            for viewer, frames in views.items()
        ],
    }
    data = json.dumps(content | {"parts": list(parts)}, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _view_name(viewer: Viewer, seats: list[str]) -> str:
    if viewer is None:
        return "everybody"
    return "all seats at once" if viewer == EVERYTHING else f"as {seats[int(viewer)]} saw it"
