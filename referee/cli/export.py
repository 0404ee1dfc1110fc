"""`crosstown matches export`: writes a match as one file."""

import json
import shlex
from pathlib import Path

from leaderboard.export.document import match_document
from leaderboard.export.film import NoBoardError, film, still
from leaderboard.export.page import replay_page
from leaderboard.frames import Viewer, viewer_of, viewers
from referee.cli.output import print_text
from referee.cli.whole_file import write_whole
from referee.errors import UsageError
from referee.games.drawing import THEMES
from referee.record import Record

FORMATS = ("html", "json", "svg")
STDOUT = Path("-")


def export_match(
    record: Record,
    file: Path,
    *,
    wanted: str | None = None,
    step: int | None = None,
    seat: str | None = None,
    theme: str | None = None,
    step_s: float | None = None,
    reveal: bool = False,
) -> None:
    """Write the match to `file`, or print it if that is '-'. `wanted` is the format; by default `file` says it.
    `reveal`: also what seats hide from each other in a match that is not over, which only JSON can have.

    UsageError for what does not go together or is not there, PlatformError if the file cannot be written.
    """
    if wanted is not None and wanted not in FORMATS:
        raise UsageError(f"--format {wanted!r} is not one of {', '.join(FORMATS)}", "choose one, or leave --format out")
    wanted = wanted or {".htm": "html"}.get(file.suffix.lower(), file.suffix.lower().removeprefix("."))
    if wanted not in FORMATS:
        raise UsageError(f"{file} has an ending that names no format", f"add --format {' or '.join(FORMATS)}")
    if wanted != "svg" and (step, seat, theme, step_s) != (None, None, None, None):
        raise UsageError("--step, --seat, --theme and --pace are for drawings", "add --format svg")
    if reveal and wanted != "json":
        raise UsageError("--reveal is for JSON", "add --format json, or wait for the end of the match")
    if wanted == "html":
        text = replay_page(record)
    elif wanted == "json":
        text = (
            json.dumps(match_document(record, reveal=reveal), indent=1) + "\n"
        )  # ASCII: nothing that a terminal would obey
    else:
        text = _drawing(record, step, _viewer(record, seat or ""), theme or THEMES[0], step_s)
    if file == STDOUT:
        print_text(text.removesuffix("\n"))
    else:
        write_whole(file, text, "name another file: crosstown matches export MATCH FILE")
        print_text(str(file))


def _drawing(record: Record, step: int | None, viewer: Viewer, theme: str, step_s: float | None) -> str:
    if theme not in THEMES:
        raise UsageError(f"there is no theme {theme!r}", f"choose one of {', '.join(THEMES)}")
    try:
        if step is None:
            return film(record, viewer, theme, 1.0 if step_s is None else step_s)
        return still(record, step, viewer, theme)
    except NoBoardError as error:
        raise UsageError(str(error), f"see: crosstown matches show {shlex.quote(str(record.path))}") from error


def _viewer(record: Record, seat: str) -> Viewer:
    try:
        return viewer_of(seat, record)
    except ValueError:
        if len(viewers(record)) == 1:
            raise UsageError(
                "the match is not over: it has no views of seats", "leave --seat out, or wait for its end"
            ) from None
        raise UsageError(
            f"there is no seat {seat!r}", f"the match has the seats 0 to {record.header.players - 1}, and 'all'"
        ) from None
