"""What is shown of matches, and to whom.

Everybody sees tables. A match whose bots could read these pages is shown once its block is complete, since the other
matches of the block have the same dice and cards. On a ladder, and on a server with `hide_live`, that holds for every
match: organisers alone see more, owners of the bots in a match do not. On a ladder what a bot printed and wrote is for
its owner and for organisers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from leaderboard.web import watching
from leaderboard.web.accounts import account_of, hand_ins_of, has_ladder, is_organiser
from leaderboard.web.facts import NO_TOURNAMENT, RunFacts
from leaderboard.web.hand_ins import HandInRefused
from leaderboard.web.tables import RunTables, tables_of
from referee.record import Answer, Header, Record, RecordError
from referee.record.journal import FailedStart
from referee.record.reader import read_header
from referee.record.store import is_aside, is_live, match_id_of
from referee.run.folder import RunFolder
from referee.texts import without_folders

_PUBLIC: Final = ("reason", "detail", "board")
"""What everybody may see of a fault's evidence: not what the bot printed or sent."""


AGAIN: Final = {"Retry-After": "10", "Refresh": "10"}
"""A browser looks again."""


def hides_open_blocks(request: Request) -> bool:
    """Whether matches of blocks that are not complete are hidden from who asks."""
    return bool(request.app.state.hide_live) and not is_organiser(request)


def why_not_watched(request: Request, place: RunFolder, header: Header) -> str:
    """Why who asks must not see a match before its block is complete; '' if it may be watched while it is played."""
    if has_ladder(request) and is_organiser(request):
        return ""
    if request.app.state.hide_live:
        return "the authors of its bots could read this page"
    return watching.why_not_watched(header, request.app.state.tables.facts(place).open_bots)


def may_watch(request: Request, place: RunFolder, header: Header) -> bool:
    """Whether who asks may watch a match while it is played."""
    return not why_not_watched(request, place, header)


def check_shown(request: Request, place: RunFolder, path: Path, header: Header) -> None:
    """403, with a sentence on why and when, for the record in `path` if who asks may not see it yet."""
    why = why_not_watched(request, place, header)
    if not why:
        return
    facts: RunFacts = request.app.state.tables.facts(place)
    if not is_live(path):
        if facts.all_over() or not (facts.known or request.app.state.hide_live):
            return
        tables = tables_of(request, place)
        known = is_aside(path) or match_id_of(path) in tables.known
        if known and not tables.ahead.is_open(header.game, header.block):
            return
    when = "it is over" if facts.word == NO_TOURNAMENT else "all matches with the same dice and cards are over"
    raise HTTPException(403, f"This match is shown once {when}, because {why}.", AGAIN)


def may_see_output(request: Request, run: str, entry_id: str) -> bool:
    """Whether who asks may see what this bot version printed and wrote, once it may be shown at all."""
    if not has_ladder(request) or is_organiser(request):
        return True
    account = account_of(request)
    if account is None:
        return False
    try:
        entry = hand_ins_of(request).entries(run).get(entry_id)
    except HandInRefused:
        return False
    if entry is None or entry.house or entry.owner != account.owner:
        return False
    return account.bot in ("", entry.bot)


def public_record(record: Record) -> Record:
    """The record as a visitor of a ladder may see it."""
    return _without_output(_without_paths(record), [False] * len(record.header.seats))


def shown_record(request: Request, place: RunFolder, record: Record) -> Record:
    """The record without notes, output and paths of the machine that who asks may not see."""
    if not has_ladder(request) or is_organiser(request):
        return record
    record = _without_paths(record)
    own = [may_see_output(request, place.name, seat.entry_id) for seat in record.header.seats]
    return record if all(own) else _without_output(record, own)


def _without_paths(record: Record) -> Record:
    """Without the folders of the organiser's machine in which programs and granted files lie."""
    seats = tuple(
        replace(
            seat,
            sandbox=without_folders(seat.sandbox),
            outside={without_folders(path): content for path, content in seat.outside.items()},
            runtime=without_folders(seat.runtime),
        )
        for seat in record.header.seats
    )
    return replace(record, header=replace(record.header, seats=seats))


def _without_output(record: Record, own: Sequence[bool]) -> Record:
    """Without what the bots of those seats printed and wrote that are not one's `own`."""
    lines = tuple(
        replace(line, note="") if isinstance(line, Answer) and line.note and not own[line.seat] else line
        for line in record.lines
    )
    footer = record.footer
    if footer is not None:
        faults = tuple(
            fault if fault is None or own[seat] else _public(fault) for seat, fault in enumerate(footer.faults)
        )
        footer = replace(footer, faults=faults, trouble="")
    return replace(record, lines=lines, footer=footer)


def shown_start(request: Request, place: RunFolder, tables: RunTables, start: FailedStart) -> FailedStart:
    """What kept a bot from starting, without its output where who asks may not see that."""
    if not hides_open_blocks(request):
        return start
    if may_see_output(request, place.name, start.entry_id) and is_settled(place, tables, start.match_id):
        return start
    return replace(start, last_output="")


def is_settled(place: RunFolder, tables: RunTables, match_id: str) -> bool:
    """Whether the block of a match is known to be complete."""
    path = place.records.find(match_id) or next(iter(place.records.aside_of(match_id)), None)
    try:
        header = None if path is None else read_header(path)
    except RecordError:
        return False
    return header is not None and not tables.ahead.is_open(header.game, header.block)


def _public(fault: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fault.items() if name in _PUBLIC}
