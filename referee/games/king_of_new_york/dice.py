"""Rolling: the dice, rerolls, cards that turn dice, and what a final roll sets off."""

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import (
    GIVE_UP,
    HAILS,
    KEEP,
    SWAPS,
    Convert,
    GiveUp,
    Hail,
    KingAction,
    Menu,
    Reroll,
    Swap,
    reroll,
)
from referee.games.king_of_new_york.agenda import CONVERT, DICE, DIE, FINAL, HAIL, STOP, Task
from referee.games.king_of_new_york.events import Added, Converted, Rerolled, Rolled, event
from referee.games.king_of_new_york.gains import funds, pay
from referee.games.king_of_new_york.moments import fire
from referee.games.king_of_new_york.moves import extras, take_extra
from referee.games.king_of_new_york.names import (
    ATTACK,
    CELEBRITY,
    DESTRUCTION,
    ENERGY,
    FACE_NUMBER,
    FACES,
    HEART,
    OUCH,
)

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_NO_LIMIT = 99


def roll_step(state: "KingState", task: Task) -> None:
    """Take up all dice for the first roll of the turn."""
    seat = task[1]
    if state.out[seat]:
        return
    box = state.box
    keep = state.keep[seat]
    dice = box.dice
    if keep & box.abilities.dice.mask:
        dice = min(box.max_dice, dice + box.abilities.dice.total(keep))
    state.roll = 0
    count_rerolls(state, seat)
    state.agenda.append((STOP, seat))
    state.agenda.append((DIE, seat, 0, dice))


def count_rerolls(state: "KingState", seat: int) -> None:
    """How many rerolls are left, Web tokens taken off; again when the owner of Webspinner leaves in mid-roll."""
    rerolls = state.box.rolls - 1
    if state.owned & state.box.abilities.web_tax:
        rerolls -= state.web[seat]
    state.rerolls = max(0, rerolls - state.roll)


def die_rolled(state: "KingState", task: Task, face: int) -> None:
    """One die fell; after the last one the roller may roll again, or do what may be done at any moment."""
    _, seat, die, dice = task
    state.dice[face] += 1
    if die + 1 < dice:
        state.agenda.append((DIE, seat, die + 1, dice))
        return
    state.log.append(event(Rolled, seat, tuple(state.dice)))
    if state.rerolls or state.rides or state.carapace[seat]:
        state.agenda.append((DICE, seat))


def dice_menu(state: "KingState", task: Task) -> Menu:
    """Keep, or how many of each face to roll again while rerolls are left."""
    seat = task[1]
    if not state.rerolls:
        return [KEEP, *extras(state, seat)]
    abilities = state.box.abilities
    keep = state.keep[seat]
    limits = 0
    if keep & abilities.no_reroll_any:
        for face in range(len(FACES)):
            if keep & abilities.no_reroll[face]:
                limits |= 1 << face
    ouches = _NO_LIMIT
    if state.jinx[seat] and state.owned & abilities.jinx_tax:
        affordable = funds(state, seat) // state.jinx[seat]
        if state.box.jinx_per_die:
            ouches = affordable
        elif not affordable:
            ouches = 0
    limit = min(ouches, state.dice[OUCH])
    menu, state.index = reroll_menu(tuple(state.dice), limits, limit, reroll_forced(state, seat))
    more = extras(state, seat)
    if more:
        state.index = None
        return [*menu, *more]
    return menu


def reroll_forced(state: "KingState", seat: int) -> bool:
    """Whether another monster's card makes this one use all of its rerolls."""
    return bool(state.owned & ~state.keep[seat] & state.box.abilities.others_reroll)


@lru_cache(maxsize=8192)
def reroll_menu(
    dice: tuple[int, ...], barred: int, ouches: int, forced: bool
) -> tuple[tuple[KingAction, ...], dict[KingAction, KingAction]]:
    """All distinct rerolls of these dice, fewest of the first faces first, and the same for looking up.

    `barred`: bits of faces that stay; `ouches`: how many Ouch dice may be taken; `forced`: at least one die must.
    """
    most = [0 if barred >> face & 1 else count for face, count in enumerate(dice)]
    most[OUCH] = min(most[OUCH], ouches)
    rerolls: list[KingAction] = [
        reroll(counts) for counts in product(*(range(count + 1) for count in most)) if any(counts)
    ]
    if not forced or not rerolls:
        rerolls.insert(0, KEEP)
    return tuple(rerolls), {action: action for action in rerolls}


def choose_dice(state: "KingState", task: Task, action: KingAction) -> None:
    """Keep, or roll some dice again."""
    seat = task[1]
    if type(action) is Reroll:
        counts = action.counts
        dice = state.dice
        for face, count in enumerate(counts):
            if count:
                dice[face] -= count
        state.rerolls -= 1
        state.roll += 1
        state.log.append(event(Rerolled, seat, counts))
        state.agenda.append((DIE, seat, 0, sum(counts)))
        if counts[OUCH] and state.jinx[seat] and state.owned & state.box.abilities.jinx_tax:
            pay(state, seat, state.jinx[seat] * (counts[OUCH] if state.box.jinx_per_die else 1))
    elif action is not KEEP:
        take_extra(state, task, action)


def stop_step(state: "KingState", task: Task) -> None:
    """The last roll lies: results are added by cards that look at it now, then dice may be turned."""
    seat = task[1]
    if state.out[seat]:
        return
    abilities = state.box.abilities
    keep = state.keep[seat]
    agenda = state.agenda
    agenda.append((FINAL, seat))
    if keep & abilities.hail.mask:
        agenda.append((HAIL, seat))
    if keep & (abilities.converts | abilities.swap_dice) or state.rides or state.carapace[seat]:
        agenda.append((CONVERT, seat))
    if keep & abilities.roll_done.mask:
        fire(abilities.roll_done, state, seat, 0)


def add_results(state: "KingState", seat: int, face: int, amount: int, cause: str) -> None:
    """Results beside the dice."""
    state.bonus[face] += amount
    state.log.append(event(Added, seat, FACES[face], amount, cause))


def convert_menu(state: "KingState", task: Task) -> Menu:
    """Keep; what cards can make of Energy, Attack and Heart dice; what Celebrity dice can be given up for.

    It is asked between the last roll and the cards that look at the final roll, so a Subway turn is asked it, too.
    """
    keep = state.keep[task[1]]
    abilities = state.box.abilities
    dice = state.dice
    menu: list[KingAction] = [KEEP]
    if keep & abilities.converts:
        ways = tuple((source, target) for bit, source, target in abilities.conversions if keep & bit)
        menu += conversions((dice[ENERGY], dice[ATTACK], dice[HEART]), ways)
    if keep & abilities.swap_dice:
        menu += swaps(state)
    return menu + extras(state, task[1])


@lru_cache(maxsize=4096)
def conversions(counts: tuple[int, int, int], ways: tuple[tuple[int, int], ...]) -> tuple[Convert, ...]:
    """Every other (energy, attack, heart) that these dice can become, each die along any chain of `ways`."""
    faces = (ENERGY, ATTACK, HEART)
    reach = {face: {face} for face in faces}
    for _ in faces:
        for source, target in ways:
            for ends in reach.values():
                if source in ends:
                    ends.add(target)
    found: set[tuple[int, ...]] = {(0, 0, 0)}
    for face, count in zip(faces, counts, strict=True):
        for _ in range(count):
            found = {
                tuple(value + (faces[place] == end) for place, value in enumerate(partial))
                for partial in found
                for end in sorted(reach[face])
            }
    return tuple(Convert(*result) for result in sorted(found) if result != counts)


def swaps(state: "KingState") -> list[KingAction]:
    """Chameleon: give up one Celebrity die, and turn another unresolved die or none."""
    dice = state.dice
    if not dice[CELEBRITY]:
        return []
    menu: list[KingAction] = [GIVE_UP]
    for face, count in enumerate(dice):
        if count > (face == CELEBRITY):
            menu += [swap for to, swap in enumerate(SWAPS[face]) if to != face]
    return menu


def convert(state: "KingState", task: Task, action: KingAction) -> None:
    """Turn dice, or leave them."""
    dice = state.dice
    if type(action) is Convert:
        dice[ENERGY], dice[ATTACK], dice[HEART] = action.energy, action.attack, action.heart
        state.log.append(event(Converted, task[1], tuple(dice)))
    elif type(action) is Swap or type(action) is GiveUp:
        state.agenda.append(task)
        swap_die(state, task[1], action)
    elif action is not KEEP:
        take_extra(state, task, action)


def swap_die(state: "KingState", seat: int, action: Swap | GiveUp) -> None:
    """The Celebrity die given up does not count any more."""
    state.dice[CELEBRITY] -= 1
    if type(action) is Swap:
        state.dice[FACE_NUMBER[action.die]] -= 1
        state.dice[FACE_NUMBER[action.to]] += 1
    state.log.append(event(Converted, seat, tuple(state.dice)))


def hail_menu(state: "KingState", task: Task) -> Menu:
    """Whether to add Destruction for Units only."""
    return [*HAILS, *extras(state, task[1])]


def hail(state: "KingState", task: Task, action: KingAction) -> None:
    """Add the results, or do not."""
    if type(action) is not Hail:
        take_extra(state, task, action)
    elif action.use:
        hails = state.box.abilities.hail
        owned = state.keep[task[1]] & hails.mask
        card = state.box.card_ids[owned.bit_length() - 1]
        state.units_only = 1
        add_results(state, task[1], DESTRUCTION, hails.total(owned), card)


def final_step(state: "KingState", task: Task) -> None:
    """Cards that look at the final roll."""
    seat = task[1]
    if not state.out[seat] and state.keep[seat] & state.box.abilities.final_roll.mask:
        fire(state.box.abilities.final_roll, state, seat, 0)
