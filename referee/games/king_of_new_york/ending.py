"""The end of a match and its ranking."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.elimination import clockwise
from referee.games.king_of_new_york.events import Finished, event
from referee.games.king_of_new_york.names import NOBODY

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState


def finish(state: "KingState", winner: int, reason: str) -> None:
    """The match is over; `winner` may be NOBODY."""
    state.reason = reason
    state.winner = winner
    state.agenda.clear()
    state.log.append(event(Finished, -1 if winner == NOBODY else winner, reason))


def check_end(state: "KingState", active: int) -> bool:
    """The check at the end of a turn: finishes the match if it is decided."""
    living = clockwise(state, active)
    if not living:
        finish(state, NOBODY, "all_eliminated")
    elif len(living) == 1:
        finish(state, living[0], "last_standing")
    else:
        goal = state.box.win_vp
        there = [seat for seat in living if state.vp[seat] >= goal]
        if there:
            # The active monster first, then more VP, then turn order.
            there.sort(key=lambda seat: (seat != active, -state.vp[seat]))
            finish(state, there[0], "victory_points")
        elif state.turn >= state.box.turn_cap * state.players:
            finish(state, NOBODY, "turn_cap")
    return bool(state.reason)


def ranking(state: "KingState") -> tuple[int, ...]:
    """The winner; the living by VP; the eliminated, later ones first; equals share a rank (F17)."""
    if state.box.winner_only:
        second = 1 if state.winner == NOBODY else 2
        return tuple(1 if seat == state.winner else second for seat in range(state.players))
    keys = [_standing(state, seat) for seat in range(state.players)]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def _standing(state: "KingState", seat: int) -> tuple[int, int]:
    if seat == state.winner:
        return 0, 0
    if state.out[seat]:
        return 2, -state.out[seat]
    return 1, -state.vp[seat]
