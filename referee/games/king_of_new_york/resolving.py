"""Resolving the faces of a final roll, in the order the player chooses."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import (
    PASS,
    REDIRECTS,
    RESOLVE_MENUS,
    GiveUp,
    KingAction,
    Menu,
    Redirect,
    Remove,
    Resolve,
    Swap,
    remove,
)
from referee.games.king_of_new_york.agenda import DEFENCE, DESTROY, REACT, Task
from referee.games.king_of_new_york.damage import CLAWS, ouch, strike
from referee.games.king_of_new_york.dice import swap_die, swaps
from referee.games.king_of_new_york.elimination import clockwise
from referee.games.king_of_new_york.events import DefenceRolled, GoalMoved, Resolved, event
from referee.games.king_of_new_york.gains import drop_jinx, drop_web, funds, gain_energy, gain_vp, heal, pay
from referee.games.king_of_new_york.moments import fire
from referee.games.king_of_new_york.moves import extras, take_extra
from referee.games.king_of_new_york.names import (
    ATTACK,
    BOROUGH_NUMBER,
    BOROUGHS,
    CELEBRITY,
    DESTRUCTION,
    ENERGY,
    FACE_NUMBER,
    FACES,
    GOALS,
    HEART,
    MANHATTAN,
    NOBODY,
)

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState


def resolve_menu(state: "KingState", task: Task) -> Menu:
    """A face to resolve, with what may be done beside it; after the last face a pass, with what may be done then."""
    seat = task[1]
    abilities = state.box.abilities
    keep = state.keep[seat]
    bonus = state.bonus
    left = 0
    for face, count in enumerate(state.dice):
        if count or bonus[face]:
            left |= 1 << face
    if not (
        state.jinx[seat]
        or state.web[seat]
        or state.rides
        or state.carapace[seat]
        or keep & (abilities.redirect.mask | abilities.swap_dice)
    ):
        return RESOLVE_MENUS[left]
    if not left:
        return [PASS, *extras(state, seat)]
    menu = list(RESOLVE_MENUS[left])
    removable = state.box.inert_removable
    if left >> HEART & 1 and state.jinx[seat] and (removable or state.owned & abilities.jinx_tax):
        most = min(state.jinx[seat], state.dice[HEART] + bonus[HEART])
        menu += [remove("heart", tokens) for tokens in range(1, most + 1)]
    if left >> ATTACK & 1 and state.web[seat] and (removable or state.owned & abilities.web_tax):
        most = min(state.web[seat], state.dice[ATTACK] + bonus[ATTACK])
        menu += [remove("attack", tokens) for tokens in range(1, most + 1)]
    able = left >> DESTRUCTION & 1 and keep & abilities.redirect.mask and not state.box.redirect_per_die
    if able and funds(state, seat) >= abilities.redirect.least(keep):
        menu += [REDIRECTS[borough] for borough in range(len(BOROUGHS)) if borough != state.where[seat]]
    if keep & abilities.swap_dice:
        menu += swaps(state)
    return menu + extras(state, seat)


def resolve(state: "KingState", task: Task, action: KingAction) -> None:
    """Resolve one face, then ask again; or go on to the Move step."""
    if action is PASS:
        return
    seat = task[1]
    if type(action) is Resolve:
        state.agenda.append(task)
        _resolve_face(state, seat, FACE_NUMBER[action.face], 0)
    elif type(action) is Remove:
        state.agenda.append(task)
        _resolve_face(state, seat, FACE_NUMBER[action.face], action.tokens)
    elif type(action) is Redirect:
        state.agenda.append(task)
        state.site = BOROUGH_NUMBER[action.borough]
        _resolve_face(state, seat, DESTRUCTION, 0)
        pay(state, seat, state.box.abilities.redirect.least(state.keep[seat]))
    elif type(action) is Swap or type(action) is GiveUp:
        state.agenda.append(task)
        swap_die(state, seat, action)
    else:
        take_extra(state, task, action)


def _resolve_face(state: "KingState", seat: int, face: int, removed: int) -> None:
    dice = state.dice[face]
    added = state.bonus[face]
    state.dice[face] = state.bonus[face] = 0
    state.shown[face] += dice
    count = dice + added
    state.log.append(event(Resolved, seat, FACES[face], count, removed))
    if face == ENERGY:
        loss = state.box.abilities.energy_loss
        if state.keep[seat] & loss.mask:
            count = max(0, count - loss.total(state.keep[seat]))
        if count:
            gain_energy(state, seat, count, "energy")
    elif face == ATTACK:
        drop_web(state, seat, removed)
        claws = count - removed
        if claws and (dice or state.box.added_claws_alone):
            attack(state, seat, claws)
    elif face == DESTRUCTION:
        state.force = count
        state.agenda.append((DESTROY, seat))
    elif face == HEART:
        drop_jinx(state, seat, removed)
        if state.where[seat] != MANHATTAN:
            heal(state, seat, count - removed, "heart")
    elif face == CELEBRITY:
        celebrity(state, seat, count)
    else:
        ouch(state, seat, count)


def celebrity(state: "KingState", seat: int, count: int) -> None:
    """VP for the holder of Superstar, or the card for whoever shows enough."""
    previous = state.superstar
    if previous == seat:
        gain_vp(state, seat, count, GOALS[0])
        return
    abilities = state.box.abilities
    needs = state.box.superstar_needs
    guard = 0
    if previous != NOBODY and state.keep[previous] & abilities.superstar_guard.mask:
        guard = abilities.superstar_guard.total(state.keep[previous])
    if count < needs + guard:
        return
    state.superstar = seat
    state.log.append(event(GoalMoved, GOALS[0], seat, -1 if previous == NOBODY else previous))
    gain_vp(state, seat, 1 + count - needs, GOALS[0])
    fire(abilities.superstar_taken, state, seat, previous)
    if previous != NOBODY:
        fire(abilities.superstar_lost, state, previous, seat)


def attack(state: "KingState", seat: int, claws: int) -> None:
    """Who is hit by how much: from outside those in Manhattan, from Manhattan those outside."""
    abilities = state.box.abilities
    keep = state.keep[seat]
    where = state.where
    here = where[seat]
    inside = here == MANHATTAN
    others = [other for other in clockwise(state, seat) if other != seat]
    targets = [other for other in others if (where[other] == MANHATTAN) != inside]
    if keep & abilities.hit_neighbours and (targets or state.box.fireball_alone):
        targets = [other for other in others if other in targets or where[other] == here]
    if not targets:
        return
    hit = state.hit
    bonus = abilities.attack_bonus.total(keep) if keep & abilities.attack_bonus.mask else 0
    factor = abilities.attack_factor.product(keep)
    own_life = state.life[seat]
    for target in targets:
        hit[target] = (claws + (bonus if state.life[target] > own_life else 0)) * factor
    if keep & abilities.defence:
        state.agenda.append((REACT, CLAWS, seat))
        state.agenda.extend((DEFENCE, target) for target in reversed(targets))
    else:
        strike(state, CLAWS, seat)


def defence_rolled(state: "KingState", task: Task, face: int) -> None:
    """An attacked monster's die may double the damage to it."""
    target = task[1]
    state.defence_rolls[target] += 1
    state.log.append(event(DefenceRolled, target, FACES[face]))
    keep = state.keep[state.active]
    for bit, bad, factor in state.box.abilities.defence_dice:
        if keep & bit and face == bad:
            state.hit[target] *= factor


def react_step(state: "KingState", task: Task) -> None:
    """All dice of the attacked are cast."""
    strike(state, task[1], task[2])
