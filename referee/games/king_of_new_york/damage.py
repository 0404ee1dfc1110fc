"""Damage of one source: answers, all hits at once, what follows for survivors, eliminations, fleeing (F5).

Claws and Ouch write the points per seat into `state.hit` and call `strike`; cards call `card_strikes`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import SHED, Absorb, KingAction, Menu, Shed
from referee.games.king_of_new_york.agenda import FLEE, FLEES, RESPOND, STATUE, STRIKE, STRUCK, Task
from referee.games.king_of_new_york.elimination import clockwise, eliminate, lose_card
from referee.games.king_of_new_york.events import GoalMoved, Hurt, event
from referee.games.king_of_new_york.gains import drop_carapace, gain_vp, heal, lose_energy, lose_vp
from referee.games.king_of_new_york.moments import fire
from referee.games.king_of_new_york.names import GOALS, MANHATTAN, NOBODY, UNIT_KINDS, ZONE_COUNT

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

CLAWS, OUCHES, CARD_SOURCE = range(3)
"""Sources of damage; a card's is CARD_SOURCE + its number."""

_ABSORBS = tuple(Absorb(energy) for energy in range(128))


def cause_of(state: "KingState", source: int) -> str:
    """The name of a source in events."""
    if source == CLAWS:
        return "attack"
    return "ouch" if source == OUCHES else state.box.card_ids[source - CARD_SOURCE]


def strike(state: "KingState", source: int, dealer: int) -> None:
    """Ask those who may answer, then let the hits land. `dealer` is whose damage it is, or NOBODY."""
    responds = state.box.abilities.responds
    if state.owned & responds:
        hit = state.hit
        asked = [
            seat for seat in clockwise(state, state.active) if hit[seat] and len(respond_menu(state, (0, seat))) > 1
        ]
        if asked:
            state.agenda.append((STRIKE, source, dealer))
            state.agenda.extend((RESPOND, seat) for seat in reversed(asked))
            return
    land(state, source, dealer)


def card_strikes(state: "KingState", card: int, dealer: int, hits: Sequence[int]) -> None:
    """Damage by a card, dealt as soon as whatever goes on is done. `hits` by seat."""
    state.agenda.append((STRUCK, CARD_SOURCE + card, dealer, *hits))


def struck_step(state: "KingState", task: Task) -> None:
    """The card's damage is dealt to those who are still there."""
    _, source, dealer, *hits = task
    for seat, points in enumerate(hits):
        state.hit[seat] = 0 if state.out[seat] else points
    strike(state, source, dealer)


def respond_menu(state: "KingState", task: Task) -> Menu:
    """How much of a hit to pay for with energy; discarding Carapace when the hit would kill."""
    seat = task[1]
    damage = state.hit[seat] - state.absorbed[seat]
    menu: list[KingAction] = [_ABSORBS[0]]
    if state.keep[seat] & state.box.abilities.exchange:
        menu += _ABSORBS[1 : min(damage, state.energy[seat]) + 1]
    if state.carapace[seat] and damage >= state.life[seat]:
        menu.append(SHED)
    return menu


def respond(state: "KingState", task: Task, action: KingAction) -> None:
    """Answer a hit."""
    seat = task[1]
    if type(action) is Shed:
        state.agenda.append(task)
        shed_carapace(state, seat)
    elif type(action) is Absorb and action.energy:
        state.absorbed[seat] += action.energy
        lose_energy(state, seat, action.energy, "cost")


def shed_carapace(state: "KingState", seat: int) -> None:
    """Discard Carapace and heal by its tokens, up to the cap without it."""
    card = (state.keep[seat] & state.box.abilities.carapace).bit_length() - 1
    tokens = drop_carapace(state, seat)
    lose_card(state, seat, card)
    heal(state, seat, tokens, state.box.card_ids[card])


def strike_step(state: "KingState", task: Task) -> None:
    """All answers are given."""
    land(state, task[1], task[2])


def land(state: "KingState", source: int, dealer: int) -> None:
    """All hits land at once; then the survivors' effects, clockwise from the active monster; then eliminations."""
    hit = state.hit
    life = state.life
    cause = cause_of(state, source)
    seats = [seat for seat in clockwise(state, state.active) if hit[seat]]
    for seat in seats:
        amount = hit[seat]
        life[seat] -= amount - state.absorbed[seat]
        state.log.append(event(Hurt, seat, amount, state.absorbed[seat], _seat(dealer), cause))
        if dealer == state.active and dealer != seat:
            state.dealt[seat] += amount
    if state.owned & state.box.abilities.after_damage:
        for seat in seats:
            if life[seat] > 0:
                _survive(state, seat, source, dealer)
    dead = [seat for seat in seats if life[seat] <= 0]
    if source == CLAWS:
        state.agenda.append((FLEES,))
    else:
        clear_hits(state)
    if dead:
        eliminate(state, dead, cause)


def _survive(state: "KingState", seat: int, source: int, dealer: int) -> None:
    abilities = state.box.abilities
    if source == CLAWS:
        fire(abilities.attacked, state, seat, dealer)
        fire(abilities.attacks, state, dealer, seat)
    if dealer not in (NOBODY, seat):
        fire(abilities.dealt, state, dealer, seat)
    fire(abilities.damaged, state, seat, source)


def _seat(number: int) -> int:
    return -1 if number == NOBODY else number


def clear_hits(state: "KingState") -> None:
    """The damage is dealt with."""
    state.hit = [0] * state.players
    state.absorbed = [0] * state.players


def flees_step(state: "KingState", task: Task) -> None:
    """Whoever was hit by claws in Manhattan may flee, the monster on the space 2-4 first."""
    hurt = [seat for seat, place in enumerate(state.where) if place == MANHATTAN and state.hit[seat]]
    clear_hits(state)
    hurt.sort(key=lambda seat: state.berth[seat] < ZONE_COUNT)
    state.agenda.extend((FLEE, seat) for seat in hurt)


def ouch(state: "KingState", seat: int, count: int) -> None:
    """The Units shoot: at the roller, at its borough, or everywhere."""
    if count >= state.box.statue_needs:
        targets = clockwise(state, seat)
        if state.box.statue_first:
            take_statue(state, seat)
        else:
            state.agenda.append((STATUE, seat))
    elif count >= 2:
        here = state.where[seat]
        targets = [other for other in clockwise(state, seat) if state.where[other] == here]
    else:
        targets = [seat]
    armour = state.box.abilities.ouch_armour
    for target in targets:
        damage = units_in(state, state.where[target])
        if state.keep[target] & armour.mask and (state.box.any_ouch or target == seat):
            damage = max(0, damage - armour.total(state.keep[target]))
        state.hit[target] = damage
    strike(state, OUCHES, NOBODY)


def units_in(state: "KingState", borough: int) -> int:
    """How many Units stand in a borough."""
    first = borough * UNIT_KINDS
    return sum(state.units[first : first + UNIT_KINDS])


def statue_step(state: "KingState", task: Task) -> None:
    """The roller takes the Statue of Liberty if it lives."""
    if not state.out[task[1]]:
        take_statue(state, task[1])


def take_statue(state: "KingState", seat: int) -> None:
    """3 VP for the taker, 3 less for the one who had it."""
    previous = state.statue
    if previous == seat:
        return
    state.statue = seat
    state.log.append(event(GoalMoved, GOALS[1], seat, _seat(previous)))
    if previous != NOBODY:
        lose_vp(state, previous, state.box.statue_vp, GOALS[1])
    gain_vp(state, seat, state.box.statue_vp, GOALS[1])
