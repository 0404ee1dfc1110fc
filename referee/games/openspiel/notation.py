"""Matches of chess as PGN, of Go as SGF."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from referee.games.openspiel.chess import WHITE
from referee.games.openspiel.state import State

_USUAL = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_COLUMN = 79
_STAYS = "\x00"
"""A blank within a comment, where no line is broken."""
_NOTE = re.compile(r"(cp|mate|depth) (-?\d{1,9})(?= |$)")
_GO_LETTERS = "abcdefghjklmnopqrst"
_SGF_LETTERS = "abcdefghijklmnopqrs"
_FORFEITS = {
    "move_timeout": "time forfeit",
    "bank_exhausted": "time forfeit",
    "illegal_action": "rules infraction",
    "malformed_message": "rules infraction",
    "adjudicated": "adjudication",
    "normal": "normal",
    "resigned": "normal",
}


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """One action. `spent_us` is what its seat was charged, `left_us` what was left of its time for the match; None
    where that is not known."""

    seat: int
    id: int
    text: str
    spent_us: int | None
    left_us: int | None
    note: str


@dataclass(frozen=True, slots=True)
class SeatClock:
    """The time that a seat had: for the match (0: none), more after each move, and for each move."""

    total_s: float
    increment_s: float
    move_s: float


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """One match, as notations have it. `ranking` is empty if it has no result; `reason` is why it ended; `date` is
    2026.11.29; `clocks` are per seat."""

    event: str
    match_id: str
    date: str
    round: str
    names: Sequence[str]
    ranking: Sequence[int]
    reason: str
    clocks: Sequence[SeatClock]
    begin: State
    moves: Sequence[PlayedMove]


def write_pgn(match: PlayedMatch) -> str:
    """One game. Scores are from White's side, in pawns or moves to mate, as [%eval] has them."""
    position = match.begin.position.clone()
    start = str(position)
    result = _result(match.ranking, WHITE)
    tags = {
        "Event": match.event,
        "Site": "?",
        "Date": match.date,
        "Round": match.round,
        "White": match.names[WHITE],
        "Black": match.names[1 - WHITE],
        "Result": result,
        **({"SetUp": "1", "FEN": start} if start != _USUAL else {}),
        **_time_controls(match.clocks),
        "Termination": _FORFEITS.get(match.reason, "abandoned") if match.reason else "unterminated",
        "MatchId": match.match_id,
    }
    words: list[str] = []
    number = int(start.split()[5])
    for ply, move in enumerate(match.moves):
        white = move.seat == WHITE
        if white or ply == 0 or words[-1].endswith("}"):
            words.append(f"{number}." if white else f"{number}...")
        words.append(position.action_to_string(move.seat, move.id))
        if comment := _pgn_comment(move, white=white):
            words.append(comment)
        position.apply_action(move.id)
        number += not white
    lines = [f'[{name} "{_tag(value)}"]' for name, value in tags.items()]
    unbroken = " ".join(word.replace(" ", _STAYS) for word in (*words, result))
    text = "\n".join(wrap(unbroken, _COLUMN, break_long_words=False, break_on_hyphens=False)).replace(_STAYS, " ")
    return "\n".join([*lines, "", text, ""])


def _result(ranking: Sequence[int], first: int) -> str:
    if not ranking:
        return "*"
    if ranking[0] == ranking[1]:
        return "1/2-1/2"
    return "1-0" if ranking[first] == 1 else "0-1"


def _time_controls(clocks: Sequence[SeatClock]) -> dict[str, str]:
    """One tag where both have the same clock, else one for each side, as cutechess and fastchess write them."""
    white, black = _time_control(clocks[WHITE]), _time_control(clocks[1 - WHITE])
    return {"TimeControl": white} if white == black else {"WhiteTimeControl": white, "BlackTimeControl": black}


def _time_control(clock: SeatClock) -> str:
    if clock.total_s:
        return f"{clock.total_s:g}+{clock.increment_s:g}" if clock.increment_s else f"{clock.total_s:g}"
    return f"*{clock.move_s:g}"  # as PGN has a time for each move


def _pgn_comment(move: PlayedMove, *, white: bool) -> str:
    parts = []
    said = {name: int(value) for name, value in reversed(_NOTE.findall(move.note))}
    sign = 1 if white else -1
    depth = f",{said['depth']}" if "depth" in said else ""
    if "mate" in said:
        parts.append(f"[%eval #{sign * said['mate']}{depth}]")
    elif "cp" in said:
        parts.append(f"[%eval {sign * said['cp'] / 100:.2f}{depth}]")
    if move.left_us is not None:
        parts.append(f"[%clk {_clock(move.left_us)}]")
    if move.spent_us is not None:
        parts.append(f"[%emt {_clock(move.spent_us)}]")
    return f"{{{' '.join(parts)}}}" if parts else ""


def _clock(time_us: int) -> str:
    seconds, rest_us = divmod(max(0, time_us), 1_000_000)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest_us // 1000:03}"


def _tag(value: str) -> str:
    """Without what has to be escaped: many readers show the escapes."""
    plain = "".join(character if character.isprintable() else " " for character in value)
    return plain.replace("\\", "/").replace('"', "'")


def write_sgf(match: PlayedMatch) -> str:
    """One game tree."""
    options: Any = match.begin.options
    size = int(options["board_size"])
    totals = {clock.total_s for clock in match.clocks}  # SGF has one for both
    root = {
        "GM": "1",
        "FF": "4",
        "CA": "UTF-8",
        "SZ": str(size),
        "KM": str(options["komi"]),
        "PB": match.names[0],
        "PW": match.names[1],
        "DT": match.date.replace(".", "-"),
        "EV": match.event,
        "RO": match.round,
        "GN": match.match_id,
        "RE": _sgf_result(match),
        **({"TM": f"{totals.pop():g}"} if len(totals) == 1 and 0 not in totals else {}),
    }
    nodes = ["".join(f"{name}[{_sgf_text(value)}]" for name, value in root.items())]
    for move in match.moves:
        colour = "BW"[move.seat]
        node = f"{colour}[{_sgf_point(move.text, size)}]"
        if move.left_us is not None:
            node += f"{colour}L[{move.left_us / 1e6:.3f}]"
        if move.note:
            node += f"C[{_sgf_text(move.note)}]"
        nodes.append(node)
    return "(;" + "\n;".join(nodes) + ")\n"


def _sgf_point(text: str, size: int) -> str:
    """The point of a move such as 'B d4'; empty for a pass."""
    vertex = text.split(" ")[-1].lower()
    if vertex == "pass":
        return ""
    return _SGF_LETTERS[_GO_LETTERS.index(vertex[0])] + _SGF_LETTERS[size - int(vertex[1:])]


def _sgf_result(match: PlayedMatch) -> str:
    if not match.ranking:
        return "Void"
    if match.ranking[0] == match.ranking[1]:
        return "0"
    winner = "B" if match.ranking[0] == 1 else "W"
    how = {"normal": "", "resigned": "R", "move_timeout": "T", "bank_exhausted": "T"}.get(match.reason, "F")
    return f"{winner}+{how}"


def _sgf_text(value: str) -> str:
    return value.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")
