"""Before the first turn: the market, who begins, and where everyone starts."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.agenda import (
    FIRST_SEAT,
    PLACE,
    REFILL,
    SEAT,
    SEATING,
    START_DIE,
    START_JUDGE,
    START_ROLL,
    TILE,
    TURN,
    Task,
)
from referee.games.king_of_new_york.elimination import clockwise
from referee.games.king_of_new_york.events import StartPlayer, StartRolled, event
from referee.games.king_of_new_york.names import ATTACK, STACKS

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_MOST_ROUNDS = 20
"""After so many tied rolls the lowest seat among the tied begins, so that set-up ends whatever the dice do."""


def first_agenda(start_player: str, players: int) -> list[Task]:
    """All of the set-up, and after it the first turn."""
    agenda: list[Task] = [(SEATING,)]
    if start_player == "roll":
        agenda.append((START_ROLL, (1 << players) - 1, 0))
    elif start_player == "random":
        agenda.append((FIRST_SEAT,))
    agenda.append((REFILL,))
    agenda += [(TILE, stack) for stack in reversed(range(STACKS))]
    return agenda


def start_roll_step(state: "KingState", task: Task) -> None:
    """Those in the running roll all dice."""
    _, contenders, tie = task
    state.agenda.append((START_JUDGE, contenders, tie))
    for seat in reversed(clockwise(state, 0)):
        if contenders >> seat & 1:
            state.start_attacks[seat] = 0
            state.agenda.append((START_DIE, seat, 0, tie))


def start_die_rolled(state: "KingState", task: Task, face: int) -> None:
    """One die of the roll for the first turn."""
    _, seat, die, tie = task
    if face == ATTACK:
        state.start_attacks[seat] += 1
    if die + 1 < state.box.max_dice:
        state.agenda.append((START_DIE, seat, die + 1, tie))
    else:
        state.log.append(event(StartRolled, seat, state.start_attacks[seat]))


def start_judge_step(state: "KingState", task: Task) -> None:
    """The most Attack faces begin; the tied roll again."""
    _, contenders, tie = task
    living = [seat for seat in clockwise(state, 0) if contenders >> seat & 1] or clockwise(state, 0)
    best = max(state.start_attacks[seat] for seat in living)
    tied = [seat for seat in living if state.start_attacks[seat] == best]
    if len(tied) > 1 and tie + 1 < _MOST_ROUNDS:
        state.agenda.append((START_ROLL, sum(1 << seat for seat in tied), tie + 1))
    else:
        state.order = tied[0]


def first_seat_drawn(state: "KingState", task: Task, seat: int) -> None:
    """The first seat comes by chance."""
    state.order = seat


def seating_step(state: "KingState", task: Task) -> None:
    """From the first seat clockwise everyone takes a borough; then the first turn."""
    state.log.append(event(StartPlayer, state.order))
    agenda = state.agenda
    agenda.append((TURN, state.order, 0, 0))
    for seat in reversed(clockwise(state, state.order)):
        agenda.append((PLACE, seat))
        agenda.append((SEAT, seat))


def seat_step(state: "KingState", task: Task) -> None:
    """It is this seat's turn to take a borough."""
    state.active = task[1]
