"""Damage: attacks, Ouch and cards; responses to it; what follows when it lands; fleeing.

The damage of one source hits all monsters at once: claws and Ouch write it to `state.hit`, by seat, and the damage of
cards comes as CARD_DAMAGE tasks. Those who may respond are asked. Then it lands: first the survivors' cards act,
clockwise from the active monster, then monsters without life are eliminated, then those hit by claws may flee. The
rules are in README.md, sections "A turn", step 5, and "Readings".
"""

from typing import Final

from referee.games.api import event
from referee.games.king_of_new_york.actions import SHED, Absorb, KingAction, Menu, Shed
from referee.games.king_of_new_york.card_effects import trigger
from referee.games.king_of_new_york.constants import (
    ASK_RESPONSES,
    ASK_TO_FLEE,
    CARD_DAMAGE_SOURCE,
    CLAWS,
    DEFENCE_DIE,
    FACES,
    FLEE,
    GOALS,
    LAND_DAMAGE,
    MANHATTAN,
    NO_SEAT,
    OUCHES,
    RESPOND,
    TAKE_STATUE,
    ZONE_COUNT,
    Task,
)
from referee.games.king_of_new_york.events import DefenceRolled, GoalMoved, Hurt
from referee.games.king_of_new_york.state import Position

_ABSORBS: Final = tuple(Absorb(energy) for energy in range(128))


# Sources of damage


def attack(state: Position, seat: int, claws: int) -> None:
    """From outside Manhattan hit everyone inside it, from inside everyone outside."""
    abilities = state.ruleset.abilities
    cards = state.keep_cards[seat]
    boroughs = state.borough
    here = boroughs[seat]
    inside = here == MANHATTAN
    others = [other for other in state.clockwise(seat) if other != seat]
    targets = [other for other in others if (boroughs[other] == MANHATTAN) != inside]
    if cards & abilities.hit_neighbours and (targets or state.ruleset.fireball_when_manhattan_empty):
        targets = [other for other in others if other in targets or boroughs[other] == here]
    if not targets:
        return
    bonus = abilities.attack_bonus.total(cards) if cards & abilities.attack_bonus.mask else 0
    factor = abilities.attack_factor.product(cards)
    own_life = state.life[seat]
    for target in targets:
        state.hit[target] = (claws + (bonus if state.life[target] > own_life else 0)) * factor
    if cards & abilities.defence:
        state.tasks.append((ASK_RESPONSES, CLAWS, seat))
        state.tasks.extend((DEFENCE_DIE, target) for target in reversed(targets))
    else:
        _ask_responses(state, CLAWS, seat)


def defence_die_rolled(state: Position, task: Task, face: int) -> None:
    """A die of an attacked monster, which may multiply the damage to it (Antimatter Pellets)."""
    target = task[1]
    state.defence_rolls[target] += 1
    state.log.append(event(DefenceRolled, target, FACES[face]))
    cards = state.keep_cards[state.active_seat]
    for bit, bad_face, factor in state.ruleset.abilities.defence_dice:
        if cards & bit and face == bad_face:
            state.hit[target] *= factor


def ouch(state: Position, seat: int, count: int) -> None:
    """Let Units shoot: one Ouch at the roller, two at everyone in its borough, three everywhere."""
    ruleset = state.ruleset
    if count >= ruleset.statue_needs:
        targets = state.clockwise(seat)
        if ruleset.statue_before_damage:
            _take_statue(state, seat)
        else:
            state.tasks.append((TAKE_STATUE, seat))
    elif count >= 2:
        targets = [other for other in state.clockwise(seat) if state.borough[other] == state.borough[seat]]
    else:
        targets = [seat]
    armour = ruleset.abilities.ouch_armour
    for target in targets:
        damage = state.units_in(state.borough[target])
        if state.keep_cards[target] & armour.mask and (ruleset.bulletproof_any_ouch or target == seat):
            damage = max(0, damage - armour.total(state.keep_cards[target]))
        state.hit[target] = damage
    _ask_responses(state, OUCHES, NO_SEAT)


def take_statue_step(state: Position, task: Task) -> None:
    """The roller of three Ouch takes the Statue of Liberty if it lives."""
    if not state.out[task[1]]:
        _take_statue(state, task[1])


def _take_statue(state: Position, seat: int) -> None:
    """3 VP for the new holder, 3 less for the previous one."""
    previous = state.statue_seat
    if previous == seat:
        return
    state.statue_seat = seat
    state.log.append(event(GoalMoved, GOALS[1], seat, _seat_or_none(previous)))
    if previous != NO_SEAT:
        state.lose_vp(previous, state.ruleset.statue_vp, GOALS[1])
    state.gain_vp(seat, state.ruleset.statue_vp, GOALS[1])


def card_damage_step(state: Position, task: Task) -> None:
    """The damage of a card to those who are still in the match."""
    _, source, dealer, *hits = task
    state.hit = [0 if out else points for out, points in zip(state.out, hits, strict=True)]
    _ask_responses(state, source, dealer)


# Responses


def ask_responses_step(state: Position, task: Task) -> None:
    """All dice of the attacked monsters have been rolled."""
    _ask_responses(state, task[1], task[2])


def _ask_responses(state: Position, source: int, dealer: int) -> None:
    """Ask those who may respond, then let the damage land. `dealer` is whose damage it is, or NO_SEAT."""
    if state.owned & state.ruleset.abilities.responds:
        asked = [
            seat
            for seat in state.clockwise(state.active_seat)
            if state.hit[seat] and len(respond_menu(state, (RESPOND, seat))) > 1
        ]
        if asked:
            state.tasks.append((LAND_DAMAGE, source, dealer))
            state.tasks.extend((RESPOND, seat) for seat in reversed(asked))
            return
    _land(state, source, dealer)


def respond_menu(state: Position, task: Task) -> Menu:
    """How much of the damage to pay for with energy; discarding Carapace when the damage would kill."""
    seat = task[1]
    damage = state.hit[seat] - state.absorbed[seat]
    menu: list[KingAction] = [_ABSORBS[0]]
    if state.keep_cards[seat] & state.ruleset.abilities.exchange:
        menu += _ABSORBS[1 : min(damage, state.energy[seat]) + 1]
    if state.carapace[seat] and damage >= state.life[seat]:
        menu.append(SHED)
    return menu


def respond(state: Position, task: Task, action: KingAction) -> None:
    """Pay for some damage, or use Carapace and ask again."""
    seat = task[1]
    if type(action) is Shed:
        state.tasks.append(task)
        state.shed_carapace(seat)
    elif type(action) is Absorb and action.energy:
        state.absorbed[seat] += action.energy
        state.lose_energy(seat, action.energy, "cost")


# Landing


def land_damage_step(state: Position, task: Task) -> None:
    """All responses have been given."""
    _land(state, task[1], task[2])


def _land(state: Position, source: int, dealer: int) -> None:
    hit = state.hit
    life = state.life
    if source < CARD_DAMAGE_SOURCE:
        cause = "attack" if source == CLAWS else "ouch"
    else:
        cause = state.ruleset.card_ids[source - CARD_DAMAGE_SOURCE]
    seats = [seat for seat in state.clockwise(state.active_seat) if hit[seat]]
    for seat in seats:
        amount = hit[seat]
        life[seat] -= amount - state.absorbed[seat]
        state.log.append(event(Hurt, seat, amount, state.absorbed[seat], _seat_or_none(dealer), cause))
        if dealer == state.active_seat and dealer != seat:
            state.dealt[seat] += amount
    if state.owned & state.ruleset.abilities.after_damage:
        for seat in seats:
            if life[seat] > 0:
                _trigger_survivor(state, seat, source, dealer)
    killed = [seat for seat in seats if life[seat] <= 0]
    if source == CLAWS:
        state.tasks.append((ASK_TO_FLEE,))
    else:
        _clear_damage(state)
    if killed:
        state.eliminate(killed, cause)


def _trigger_survivor(state: Position, seat: int, source: int, dealer: int) -> None:
    abilities = state.ruleset.abilities
    if source == CLAWS:
        trigger(abilities.attacked, state, seat, dealer)
        trigger(abilities.attacks, state, dealer, seat)
    if dealer not in (NO_SEAT, seat):
        trigger(abilities.dealt, state, dealer, seat)
    trigger(abilities.damaged, state, seat, source)


def ask_to_flee_step(state: Position, task: Task) -> None:
    """Monsters hit by claws in Manhattan may flee, the one on the track 2-4 first."""
    hurt = [seat for seat, place in enumerate(state.borough) if place == MANHATTAN and state.hit[seat]]
    _clear_damage(state)
    hurt.sort(key=lambda seat: state.space[seat] < ZONE_COUNT)
    state.tasks.extend((FLEE, seat) for seat in hurt)


def _clear_damage(state: Position) -> None:
    state.hit = [0] * state.players
    state.absorbed = [0] * state.players


def _seat_or_none(seat: int) -> int:
    """As in events: -1 for nobody."""
    return -1 if seat == NO_SEAT else seat
