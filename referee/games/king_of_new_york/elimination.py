"""Cards and monsters that leave: what goes where, and who moves up in Manhattan."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from referee.games.king_of_new_york.agenda import LEAVE
from referee.games.king_of_new_york.events import CardLost, Eliminated, GoalMoved, Shifted, event
from referee.games.king_of_new_york.gains import cut_life, drop_carapace, drop_jinx, drop_web
from referee.games.king_of_new_york.names import (
    GOALS,
    MANHATTAN,
    NO_BERTH,
    NOBODY,
    NOWHERE,
    UNIT_KINDS,
    ZONE_COUNT,
)

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

MONSTERS_FOR_TWO = 5
"""With so many alive Manhattan has room for two."""


def clockwise(state: "KingState", first: int) -> list[int]:
    """The living seats from `first` on, `first` included if alive."""
    players = state.players
    out = state.out
    return [seat for step in range(players) if not out[seat := (first + step) % players]]


def manhattan_room(state: "KingState") -> bool:
    """Whether a monster must enter in its Move step."""
    return state.where.count(MANHATTAN) < (2 if state.living >= MONSTERS_FOR_TWO else 1)


def settle(state: "KingState") -> None:
    """A monster alone in Manhattan stands on a space 2-4."""
    where = state.where
    if where.count(MANHATTAN) == 1:
        seat = where.index(MANHATTAN)
        if state.berth[seat] >= ZONE_COUNT:
            state.berth[seat] -= ZONE_COUNT
            state.log.append(event(Shifted, seat, state.berth[seat]))


def lose_card(state: "KingState", seat: int, card: int) -> None:
    """A Keep card goes to the discard pile, its tokens to the supply."""
    bit = 1 << card
    state.keep[seat] &= ~bit
    state.owned &= ~bit
    state.discards |= bit
    state.log.append(event(CardLost, seat, state.box.card_ids[card]))
    if bit & state.box.abilities.carapace:
        drop_carapace(state, seat)
    cut_life(state, seat, state.box.card_ids[card])


def eliminate(state: "KingState", seats: Sequence[int], cause: str) -> None:
    """These monsters are out, in one event; then the space 2-4, then the exit of a second monster in Manhattan."""
    state.deaths += 1
    for seat in seats:
        _remove(state, seat)
        state.log.append(event(Eliminated, seat, cause))
    settle(state)
    if state.where.count(MANHATTAN) == 2 and state.living < MONSTERS_FOR_TWO:
        second = next(seat for seat, berth in enumerate(state.berth) if ZONE_COUNT <= berth < NO_BERTH)
        state.agenda.append((LEAVE, second))


def _remove(state: "KingState", seat: int) -> None:
    state.out[seat] = state.deaths
    state.living -= 1
    state.where[seat] = NOWHERE
    state.berth[seat] = NO_BERTH
    state.life[seat] = state.vp[seat] = state.energy[seat] = 0
    state.hit[seat] = state.absorbed[seat] = 0
    drop_web(state, seat, state.web[seat])
    drop_jinx(state, seat, state.jinx[seat])
    drop_carapace(state, seat)
    state.discards |= state.keep[seat]
    state.owned &= ~state.keep[seat]
    state.keep[seat] = 0
    for goal, holder in enumerate((state.superstar, state.statue)):
        if holder == seat:
            state.log.append(event(GoalMoved, GOALS[goal], -1, seat))
    if state.superstar == seat:
        state.superstar = NOBODY
    if state.statue == seat:
        state.statue = NOBODY
    for unit in range(UNIT_KINDS):
        place = seat * UNIT_KINDS + unit
        state.lost[unit] += state.trophies[place]
        state.trophies[place] = 0
    state.claims = [claim for claim in state.claims if claim != seat]
    state.extra = [turn for turn in state.extra if turn >> 1 != seat]
