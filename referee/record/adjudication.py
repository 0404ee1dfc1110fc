"""Ending a match for two by the scores that both bots write into their notes, as bots for engines do.

A note counts that begins with `cp 35` (hundredths of a pawn, or whatever the game's engines count in) or `mate -3`,
from the side of the bot that wrote it. It follows from the record alone, so that `verify` can do it again.
"""

import re
from collections.abc import Mapping

PREFIX = "adjudicate_"
NAMES = ("win_score", "win_moves", "draw_score", "draw_moves", "draw_from")
_SCORE = re.compile(r"(cp|mate) (-?[0-9]{1,9})(?![0-9])")
_MATE = 1 << 40
"""Above every score in `cp`."""
_SEATS = 2


class Scores:
    """The scores of one match so far. Numbers of moves count for each seat; 0 moves switches a rule off."""

    def __init__(self, policy: Mapping[str, object]) -> None:
        """`policy` as a record's header has it."""
        rules = [policy.get(PREFIX + name, 0) for name in NAMES]
        self._win_score, self._win_moves, self._draw_score, self._draw_moves, self._draw_from = map(_whole, rules)
        self._answers = [0] * _SEATS
        self._runs = {rule: [0] * _SEATS for rule in ("seat 0 wins", "seat 1 wins", "draw")}
        """Per rule and seat, for how many moves in a row its score has agreed."""

    @property
    def decides(self) -> bool:
        """Whether a match can end by scores at all."""
        return bool(self._win_moves or self._draw_moves)

    def add(self, seat: int, note: str) -> tuple[int, int] | None:
        """The ranking, if the scores decide the match with this answer."""
        self._answers[seat] += 1
        score = score_of(note)
        signed = None if score is None else score if seat == 0 else -score
        self._count("seat 0 wins", seat, signed is not None and signed >= self._win_score)
        self._count("seat 1 wins", seat, signed is not None and signed <= -self._win_score)
        late = self._answers[seat] > self._draw_from
        self._count("draw", seat, late and score is not None and abs(score) <= self._draw_score)
        if self._win_moves and min(self._runs["seat 0 wins"]) >= self._win_moves:
            return 1, 2
        if self._win_moves and min(self._runs["seat 1 wins"]) >= self._win_moves:
            return 2, 1
        if self._draw_moves and min(self._runs["draw"]) >= self._draw_moves:
            return 1, 1
        return None

    def _count(self, rule: str, seat: int, agrees: bool) -> None:
        run = self._runs[rule]
        run[seat] = run[seat] + 1 if agrees else 0


def score_of(note: str) -> int | None:
    """The score at the beginning of a note; None if there is none."""
    found = _SCORE.match(note)
    if found is None:
        return None
    number = int(found[2])
    if found[1] == "cp":
        return number
    return _MATE if number > 0 else -_MATE  # 'mate 0': the side to move is mated


def _whole(value: object) -> int:
    return value if type(value) is int else 0
