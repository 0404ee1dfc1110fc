"""A match in a notation of its game, such as PGN for chess. The game writes it; this gathers what it says."""

from collections.abc import Sequence
from typing import Any

from referee.errors import UsageError
from referee.record import Answer, Header, Record
from referee.record.replay import Replay, ReplayError, game_of
from referee.schedule.spec import Limits

NOTATIONS = ("pgn", "sgf")
"""Those that some game has."""


class NoNotationError(UsageError):
    """The game of a match does not have the notation, or is not here to write it."""


def in_notation(record: Record, notation: str, ranking: Sequence[int] = ()) -> str:
    """`ranking`: the one that the match counts with instead of its own. NoNotationError if the game has no such
    notation, or the moves cannot be played again here."""
    game: Any = game_of(record.header)
    if isinstance(game, str):
        what = f"a match cannot be written as {notation}: {game.removeprefix('no board: ')}"
        raise NoNotationError(what, "export json")
    known = getattr(game, "notations", {})
    if notation not in known:
        has = f"it has: {', '.join(known)}" if known else "it has none"
        others = ", ".join([*known, "html", "json"])
        raise NoNotationError(f"{game.id} has no notation '{notation}'; {has}", f"choose --format {others} or svg")
    try:
        played = _played(record, game, ranking)
    except ReplayError as error:
        what = f"its moves cannot be played again: line {error.line}: {error}"
        raise NoNotationError(what, "see what is wrong: crosstown matches verify MATCH") from None
    written: str = known[notation](played)
    return written


def _played(record: Record, game: Any, ranking: Sequence[int]) -> Any:
    from referee.games.openspiel.notation import PlayedMatch, PlayedMove, SeatClock

    header, footer = record.header, record.footer
    limits = [Limits.from_in_force({**header.limits, **seat.clock}) for seat in header.seats]
    left_us = [round(one.total_s * 1e6) if one.total_s else None for one in limits]
    begin: Any = None
    moves = []
    replay = Replay(header, record.lines, game)
    for step in replay:
        begin = begin or step.state.clone()
        answers = {line.seat: line for line in step.lines if isinstance(line, Answer)}
        for payload in (event.public for event in step.events):
            if getattr(payload, "KIND", "") != "acted":
                continue
            answer = answers.get(payload.seat)
            spent_us = None if answer is None else max(0, answer.wall_us - answer.lag_us)
            left = left_us[payload.seat]
            if left is not None and spent_us is not None:
                left = left_us[payload.seat] = left - spent_us + round(limits[payload.seat].increment_s * 1e6)
            note = "" if answer is None else answer.note
            moves.append(PlayedMove(payload.seat, payload.id, payload.text, spent_us, left, note))
    return PlayedMatch(
        event=header.tournament,
        match_id=header.match_id,
        date=header.created_at[:10].replace("-", "."),
        round=_round(header),
        names=[seat.name for seat in header.seats],
        ranking=ranking or (footer.ranking if footer is not None else ()),
        reason=footer.reason if footer is not None else "",
        clocks=[SeatClock(one.total_s, one.increment_s, one.move_s) for one in limits],
        begin=begin,
        moves=moves,
    )


def _round(header: Header) -> str:
    """The round, and the table in it, such as "3.2"; of a format without rounds the block."""
    table = f".{header.table}" if header.table else ""
    return f"{header.round}{table}" if header.round else str(header.block + 1)
