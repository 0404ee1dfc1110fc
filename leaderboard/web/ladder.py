"""The pages of a ladder that everybody sees: its divisions, their tables, and its bots with all their versions."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from leaderboard.evidence import evidence_of
from leaderboard.standings import Standing
from leaderboard.titles import pool_title
from leaderboard.web.accounts import account_of, hand_ins_of, is_own, public_bot, public_versions
from leaderboard.web.divisions import Result, Row, Table, results_of, tables_of_division
from leaderboard.web.hand_ins import Division, Entry
from leaderboard.web.pages import page
from leaderboard.web.people import LadderHost
from leaderboard.web.rights import may_see_output, shown_record
from leaderboard.web.tables import EntryMatch, RunTables, tables_of
from referee.record import RecordError, read_record
from referee.record.reasons import is_fault
from referee.run.folder import RunFolder

ROWS = 200
"""Bots on one page of a table."""

MATCHES = 12
"""Last matches of a bot."""

_FAULTS = 5


def routes() -> list[Route]:
    """The addresses of a server whose `state` has `hand_ins`."""
    return [
        Route("/ladder", divisions),
        Route("/ladder/{division}", division),
        Route("/bots/{name}", bot),
    ]


@dataclass(frozen=True, slots=True)
class Card:
    """A division among others, with who leads each of its tables, and in those each group of bots that have met; in
    words, too, where there are several. `unreadable`: its records cannot be read."""

    division: Division
    matches: int = 0
    leaders: tuple[tuple[Row, str], ...] = ()
    unreadable: bool = False


def divisions(request: Request) -> Response:
    """All divisions: who leads, how many play, and why no match is played."""
    ladder = hand_ins_of(request)
    cards = []
    for one in ladder.divisions():
        try:
            found = run_of(request, one.name)
        except RecordError:  # one division must not hide the others; its own page says what is wrong
            cards.append(Card(one, unreadable=True))
            continue
        tables = _tables(request, ladder, one.name, found)
        cards.append(Card(one, len(found[1].counted.rows) if found else 0, _leaders(tables)))
    return page(request, "ladder.html", title=ladder.title, cards=cards)


def _leaders(tables: Sequence[Table]) -> tuple[tuple[Row, str], ...]:
    found: dict[tuple[str, int | None], tuple[Row, str]] = {}
    for table in tables:
        for row in table.rows:
            group = row.standing.group
            words = [table.title] if len(tables) > 1 else []
            words += [f"group {group}"] if table.apart else []
            if row.rank:
                found.setdefault((table.title, group), (row, ", ".join(words)))
    return tuple(found.values())


def division(request: Request) -> Response:
    """The table of one division, and those who wait for their first rated match."""
    ladder = hand_ins_of(request)
    wanted = _division(request, ladder)
    found = run_of(request, wanted.name)
    playing = ladder.playing(wanted.name)
    tables = _tables(request, ladder, wanted.name, found)
    rated = {row.entry.bot for table in tables for row in table.rows}
    text = request.query_params.get("from", "")
    first = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    return page(
        request,
        "division.html",
        warnings=found[1].warnings if found else (),
        division=wanted,
        run=found[0] if found else None,
        played=len(found[1].counted.rows) if found else 0,
        tables=[replace(table, rows=table.rows[first : first + ROWS]) for table in tables],
        most=max((len(table.rows) for table in tables), default=0),
        first=first,
        rows=ROWS,
        waiting=sorted(playing.keys() - rated),
        playing=playing,
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a bot in a match that may be looked at. `lines` are the last that it printed, for its owner."""

    match_id: str
    seat: int
    reason: str
    said: str
    lines: str


@dataclass(frozen=True, slots=True)
class Playing:
    """What one version of a bot does in one table of a division: `title` is that of the table in a division that has
    several, else of the division. `hidden` are its matches of blocks that are not complete."""

    division: Division
    title: str
    entry: Entry
    standing: Standing | None
    results: tuple[Result, ...]
    faults: tuple[Fault, ...]
    played: int
    hidden: int


def bot(request: Request) -> Response:
    """One bot: who owns it, where it plays, and the lineage of its versions."""
    ladder = hand_ins_of(request)
    account = account_of(request)
    found = ladder.bot(request.path_params["name"])
    versions = public_versions(ladder.versions(found.name), account)
    lineage = [(version, playing_of(request, found.name, version.number)) for version in versions]
    return page(
        request,
        "ladder_bot.html",
        bot=public_bot(found, account),
        own=is_own(found.owner, found.name, account),
        lineage=lineage,
    )


def playing_of(request: Request, name: str, number: int, *, with_faults: bool = False) -> list[Playing]:
    """What a version of a bot does in each division in which it has ever played, and there in each table."""
    ladder = hand_ins_of(request)
    made = []
    for one in ladder.divisions():
        entry = next((e for e in ladder.entries(one.name).values() if (e.bot, e.number) == (name, number)), None)
        if entry is None:
            continue
        try:
            found = run_of(request, one.name)
        except RecordError:  # one division must not hide the bot's page either
            made.append(Playing(one, one.title, entry, None, (), (), 0, 0))
            continue
        if found is None:
            continue
        place, tables = found
        rows: list[Standing | None] = [row for row in tables.table if row.entry_id == entry.entry_id and row.played]
        for row in rows or [None]:
            matches = [
                match
                for match in tables.entries.get(entry.entry_id, ())
                if row is not None and (match.row.game, len(match.row.seats)) == (row.game, row.players)
            ]
            title = pool_title(row.game, row.players) if row is not None and len(tables.pools) > 1 else one.title
            faults = _faults(request, place, entry, matches) if with_faults else ()
            played = row.played if row is not None else 0
            hidden = max(0, played - len(matches))
            made.append(Playing(one, title, entry, row, results_of(matches[:MATCHES]), faults, played, hidden))
    return made


def _faults(request: Request, place: RunFolder, entry: Entry, matches: Sequence[EntryMatch]) -> tuple[Fault, ...]:
    """The last ones, of matches that may be looked at: `matches` has no others."""
    faulty = [(match.row, seat) for match in matches for seat in match.seats if is_fault(seat.fault)][:_FAULTS]
    own = may_see_output(request, place.name, entry.entry_id)
    made = []
    for row, seat in faulty:
        said, lines = "", ""
        try:
            record = shown_record(request, place, read_record(place.records.at(row.stamp)))
            kept = next((one for one in evidence_of(record) if one.seat == seat.seat), None)
        except (RecordError, OSError):  # the row is known, the file is gone or damaged
            kept = None
        if kept is not None:
            said, lines = kept.said, kept.last_lines if own else ""
        made.append(Fault(row.match_id, seat.seat, seat.fault, said, lines))
    return tuple(made)


def run_of(request: Request, name: str) -> tuple[RunFolder, RunTables] | None:
    """The run of a division with its tables; None before its first match."""
    place = RunFolder(request.app.state.runs / name)
    return (place, tables_of(request, place)) if place.records.exists else None


def _division(request: Request, ladder: LadderHost) -> Division:
    wanted = request.path_params["division"]
    for one in ladder.divisions():
        if one.name == wanted:
            return one
    raise HTTPException(404, "There is no such division on this ladder.")


def _tables(request: Request, ladder: LadderHost, name: str, found: tuple[RunFolder, RunTables] | None) -> list[Table]:
    """Kept until something has changed, a minute at the most: a day ago is another time then."""
    if found is None:
        return []
    entries, playing = ladder.entries(name), ladder.playing(name)
    asked = len(entries), playing, int(time.time() // 60)
    kept = request.app.state.kept_divisions.get(found[1])
    if kept is None or kept[0] != asked:
        kept = asked, tables_of_division(found[1], entries, playing)
        request.app.state.kept_divisions[found[1]] = kept
    tables: list[Table] = kept[1]
    return tables
