"""Names for people instead of ids: of games, of tables, of matches, and of the reasons why matches end."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from leaderboard.records import MatchRow
from referee.games.registry import BrokenGame, UnknownGame, load_game
from referee.record.format import Header, told_apart
from referee.record.narration import fault_words
from referee.record.reasons import EndReason
from referee.run.folder import SINGLE
from referee.texts import replace_seats

_LIMIT = re.compile(r"the limit is ([^;,]+)$")


def game_title(game_id: str) -> str:
    """The title of a game, such as "Ticket to Ride: New York". A game that is not installed has its id in words."""
    try:
        game = load_game(game_id)
    except UnknownGame:
        return in_words(game_id)
    return in_words(game_id) if isinstance(game, BrokenGame) else game.title


def pool_title(game_id: str, players: int) -> str:
    """The title of a table: "Ticket to Ride: New York, 2 players"."""
    return f"{game_title(game_id)}, {players} players" if players else game_title(game_id)


def division_title(name: str, game_id: str, players: Sequence[int]) -> str:
    """The title of a division of a ladder: "Shibuya, 2 or 4 players", and its own name behind that where it has one."""
    own = "" if name == game_id else f" ({name})"
    return f"{game_title(game_id)}, {' or '.join(map(str, players))} players{own}"


def match_title(match: MatchRow | Header) -> str:
    """What tells a match from the others of its run. "Match 12" is the twelfth of its schedule; a single match has its
    game, its bots and its time: "Shibuya: greedy against mine, 2026-11-29 19:59:12 UTC"."""
    if match.tournament != SINGLE:
        return match_label(match)
    names = told_apart([seat.name for seat in match.seats])
    joint = " against " if len(names) == 2 else ", "
    return f"{game_title(match.game)}: {joint.join(names)}, {match_label(match)} UTC"


def match_label(match: MatchRow | Header) -> str:
    """The same for a place that has the game and the bots already: "Match 12" or "2026-11-29 19:59:12"."""
    if match.tournament != SINGLE:
        return f"Match {match.place + 1}"
    try:
        when = datetime.fromisoformat(match.created_at)
        return f"{when.astimezone(UTC) if when.tzinfo else when:%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError):  # a record that a program wrote
        return match.created_at


def in_words(name: str) -> str:
    """An id as words, such as "illegal action"."""
    return name.replace("_", " ")


def with_names(text: str, names: Sequence[str]) -> str:
    """A sentence of the referee in which a seat, such as "seat 0" or "seat 0 (mine)", is the name of its bot."""
    return replace_seats(text, names, lambda seat: names[seat] if seat < len(names) else f"seat {seat + 1}")


def option_words(value: object) -> str:
    """The value of an option for people, who count seats from 1: on and off, and ids as words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if seat := re.fullmatch(r"seat_(\d{1,3})", str(value)):
        return f"seat {int(seat[1]) + 1}"
    return in_words(str(value))


def end_words(row: MatchRow) -> str:
    """How a match ended, in a few words for a list: "normal", or who did what, such as "mine ran out of time (1 s)".
    The page of the match has the whole."""
    faulty = [seat for seat in row.seats if seat.fault]
    if row.reason == EndReason.NORMAL or not faulty:
        return in_words(row.reason)
    limit = _LIMIT.search(row.detail) if len(faulty) == 1 and row.reason == EndReason.MOVE_TIMEOUT else None
    more = f" ({limit[1]})" if limit else ""
    return "; ".join(f"{seat.name} {fault_words(seat.fault)}" for seat in faulty) + more


def names_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Names by entry id; with the beginning of the id where two bots have had one name, the second after the first had
    left the run."""
    times = Counter(names.values())
    return {entry: f"{name} ({entry[:8]})" if times[name] > 1 else name for entry, name in names.items()}
