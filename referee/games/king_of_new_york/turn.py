"""The frame of a turn: start, the steps in their order, end, and whose turn is next."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.agenda import (
    BEFORE,
    BUY,
    CHECK,
    END,
    LATE_ENTRY,
    MOVE_STEP,
    RESOLVE,
    ROLL,
    TURN,
    Task,
)
from referee.games.king_of_new_york.elimination import clockwise
from referee.games.king_of_new_york.ending import check_end
from referee.games.king_of_new_york.events import TurnBegan, event
from referee.games.king_of_new_york.gains import gain_energy, gain_vp
from referee.games.king_of_new_york.moments import fire
from referee.games.king_of_new_york.names import FACES, MANHATTAN, NOWHERE, STACKS, UNIT_KINDS, ZONE_COUNT

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_NO_DICE = [0] * len(FACES)
_NO_UNITS = [0] * (STACKS // 3 * UNIT_KINDS)


def turn_step(state: "KingState", task: Task) -> None:
    """A turn begins: income in Manhattan, cards, and the steps to come go onto the agenda."""
    _, seat, rides, extra = task
    if state.out[seat]:
        next_turn(state)
        return
    players = state.players
    state.active = seat
    state.turn += 1
    state.turns[seat] += 1
    state.dice = _NO_DICE[:]
    state.bonus = _NO_DICE[:]
    state.shown = _NO_DICE[:]
    state.fresh = _NO_UNITS[:]
    state.gained = [0] * players
    state.dealt = [0] * players
    state.killed = [0] * UNIT_KINDS
    state.razed = state.exposed = state.tapped = state.dashed = state.trades = 0
    state.force = state.units_only = state.roll = state.rerolls = 0
    state.site = NOWHERE
    state.rides = state.box.subway_moves if rides else 0
    state.log.append(event(TurnBegan, seat, bool(extra)))
    agenda = state.agenda
    agenda += ((END, seat), (BUY, seat), (MOVE_STEP, seat), (RESOLVE, seat), (ROLL, seat))
    keep = state.keep[seat]
    abilities = state.box.abilities
    if rides or keep & abilities.early_move:
        agenda.append((BEFORE, seat))
    if state.where[seat] == MANHATTAN:
        vp, energy = state.box.income[state.berth[seat] % ZONE_COUNT]
        gain_vp(state, seat, vp, "income")
        gain_energy(state, seat, energy, "income")
    if keep & abilities.turn_start.mask:
        fire(abilities.turn_start, state, seat, 0)


def end_step(state: "KingState", task: Task) -> None:
    """Cards that look at the end of a turn; then the check for the end of the match."""
    seat = task[1]
    state.rides = 0
    state.agenda.append((CHECK, seat))
    if state.box.late_entry:
        state.agenda.append((LATE_ENTRY, seat))
    if not state.out[seat] and state.keep[seat] & state.box.abilities.turn_end.mask:
        fire(state.box.abilities.turn_end, state, seat, 0)


def check_step(state: "KingState", task: Task) -> None:
    """The end of the match, or the next turn."""
    if not check_end(state, task[1]):
        next_turn(state)


def next_turn(state: "KingState") -> None:
    """An extra turn that was given, in the order in which they were; else the next monster clockwise."""
    if state.extra:
        turn = state.extra.pop(0)
        state.agenda.append((TURN, turn >> 1, turn & 1, 1))
        return
    state.order = clockwise(state, state.order + 1)[0]
    state.agenda.append((TURN, state.order, 0, 0))
