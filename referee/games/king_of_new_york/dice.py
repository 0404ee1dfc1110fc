"""Rolling dice, turning them by cards, and resolving the faces of the final roll.

The rules are in README.md, section "A turn", steps 3 to 5. Dice and results are counts by face.
"""

from functools import lru_cache
from itertools import product

from referee.games.api import event
from referee.games.king_of_new_york.actions import (
    GIVE_UP,
    HAILS,
    KEEP,
    PASS,
    REDIRECTS,
    RESOLVE_MENUS,
    SWAPS,
    Convert,
    GiveUp,
    Hail,
    KingAction,
    Menu,
    Redirect,
    Remove,
    Reroll,
    Resolve,
    Swap,
    remove,
    reroll,
)
from referee.games.king_of_new_york.card_effects import trigger
from referee.games.king_of_new_york.constants import (
    ATTACK,
    BOROUGH_NUMBER,
    BOROUGHS,
    CELEBRITY,
    CONVERT,
    DESTROY,
    DESTRUCTION,
    DICE,
    ENERGY,
    FACE_NUMBER,
    FACES,
    FINAL_ROLL,
    GOALS,
    HAIL,
    HEART,
    MANHATTAN,
    NO_SEAT,
    OUCH,
    ROLL_DIE,
    ROLL_ENDED,
    Task,
)
from referee.games.king_of_new_york.damage import attack, ouch
from referee.games.king_of_new_york.events import Converted, GoalMoved, Rerolled, Resolved, Rolled
from referee.games.king_of_new_york.movement import anytime_actions, take_anytime_action
from referee.games.king_of_new_york.state import Position

# Rolling


def first_roll_step(state: Position, task: Task) -> None:
    """Take up all dice for the first roll of the turn."""
    seat = task[1]
    if state.out[seat]:
        return
    ruleset = state.ruleset
    cards = state.keep_cards[seat]
    dice = ruleset.dice
    if cards & ruleset.abilities.dice.mask:
        dice = min(ruleset.max_dice, dice + ruleset.abilities.dice.total(cards))
    state.roll = 0
    count_rerolls(state, seat)
    state.tasks.append((ROLL_ENDED, seat))
    state.tasks.append((ROLL_DIE, seat, 0, dice))


def count_rerolls(state: Position, seat: int) -> None:
    """Set the rerolls left, less those that Web tokens take. Again when the owner of Webspinner leaves in mid-roll."""
    rerolls = state.ruleset.rolls - 1
    if state.owned & state.ruleset.abilities.web_tax:
        rerolls -= state.web[seat]
    state.rerolls = max(0, rerolls - state.roll)


def die_rolled(state: Position, task: Task, face: int) -> None:
    """A die of the active seat. After the last one it may roll again, or do what it may do at any moment."""
    _, seat, die, dice = task
    state.dice[face] += 1
    if die + 1 < dice:
        state.tasks.append((ROLL_DIE, seat, die + 1, dice))
        return
    state.log.append(event(Rolled, seat, tuple(state.dice)))
    if state.rerolls or state.rides or state.carapace[seat]:
        state.tasks.append((DICE, seat))


def dice_menu(state: Position, task: Task) -> Menu:
    """Keep, or how many of each face to roll again while rerolls are left."""
    seat = task[1]
    if not state.rerolls:
        return [KEEP, *anytime_actions(state, seat)]
    abilities = state.ruleset.abilities
    cards = state.keep_cards[seat]
    barred = 0
    if cards & abilities.no_reroll_any:
        barred = sum(1 << face for face in range(len(FACES)) if cards & abilities.no_reroll[face])
    ouches = state.dice[OUCH]
    if state.jinx[seat] and state.owned & abilities.jinx_tax:
        affordable = state.funds(seat) // state.jinx[seat]
        if state.ruleset.curse_cost_per == "die":
            ouches = min(ouches, affordable)
        elif not affordable:
            ouches = 0
    menu, state.menu_index = reroll_menu(tuple(state.dice), barred, ouches, reroll_forced(state, seat))
    if more := anytime_actions(state, seat):
        state.menu_index = None
        return [*menu, *more]
    return menu


def reroll_forced(state: Position, seat: int) -> bool:
    """Whether another monster's card makes this one use all of its rerolls."""
    return bool(state.owned & ~state.keep_cards[seat] & state.ruleset.abilities.others_reroll)


@lru_cache(maxsize=8192)
def reroll_menu(
    dice: tuple[int, ...], barred: int, ouches: int, forced: bool
) -> tuple[tuple[KingAction, ...], dict[KingAction, KingAction]]:
    """All distinct rerolls of dice, given by face, the fewest of the first faces first; and the same for looking up.

    `barred`: set of faces that may not be rolled again. `ouches`: how many Ouch dice may be rolled again. `forced`: at
    least one die must be rolled again, if any may be.
    """
    most = [0 if barred >> face & 1 else count for face, count in enumerate(dice)]
    most[OUCH] = min(most[OUCH], ouches)
    rerolls: list[KingAction] = [
        reroll(counts) for counts in product(*(range(count + 1) for count in most)) if any(counts)
    ]
    if not forced or not rerolls:
        rerolls.insert(0, KEEP)
    return tuple(rerolls), {action: action for action in rerolls}


def choose_dice(state: Position, task: Task, action: KingAction) -> None:
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
        state.tasks.append((ROLL_DIE, seat, 0, sum(counts)))
        if counts[OUCH] and state.jinx[seat] and state.owned & state.ruleset.abilities.jinx_tax:
            state.pay(seat, state.jinx[seat] * (counts[OUCH] if state.ruleset.curse_cost_per == "die" else 1))
    elif action is not KEEP:
        take_anytime_action(state, task, action)


def roll_ended_step(state: Position, task: Task) -> None:
    """After the last roll: cards add results; then dice may be turned and cabs hailed; then comes the final roll."""
    seat = task[1]
    if state.out[seat]:
        return
    abilities = state.ruleset.abilities
    cards = state.keep_cards[seat]
    tasks = state.tasks
    tasks.append((FINAL_ROLL, seat))
    if cards & abilities.hail.mask:
        tasks.append((HAIL, seat))
    if cards & (abilities.converts | abilities.swap_dice) or state.rides or state.carapace[seat]:
        tasks.append((CONVERT, seat))
    if cards & abilities.roll_done.mask:
        trigger(abilities.roll_done, state, seat)


def convert_menu(state: Position, task: Task) -> Menu:
    """Keep; what cards can make of Energy, Attack and Heart dice; giving up Celebrity dice.

    It is asked in every Subway turn, because rides may be taken between the last roll and the cards that look at it.
    """
    cards = state.keep_cards[task[1]]
    abilities = state.ruleset.abilities
    dice = state.dice
    menu: list[KingAction] = [KEEP]
    if cards & abilities.converts:
        ways = tuple((source, target) for bit, source, target in abilities.conversions if cards & bit)
        menu += conversions((dice[ENERGY], dice[ATTACK], dice[HEART]), ways)
    if cards & abilities.swap_dice:
        menu += _swaps(state)
    return menu + anytime_actions(state, task[1])


@lru_cache(maxsize=4096)
def conversions(counts: tuple[int, int, int], ways: tuple[tuple[int, int], ...]) -> tuple[Convert, ...]:
    """All that (energy, attack, heart) dice can become, each die by any chain of `ways` from face to face."""
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


def _swaps(state: Position) -> list[KingAction]:
    """Chameleon: giving up one Celebrity die to turn another unresolved die, or none."""
    dice = state.dice
    if not dice[CELEBRITY]:
        return []
    menu: list[KingAction] = [GIVE_UP]
    for face, count in enumerate(dice):
        if count > (face == CELEBRITY):
            menu += [swap for to, swap in enumerate(SWAPS[face]) if to != face]
    return menu


def convert(state: Position, task: Task, action: KingAction) -> None:
    """Turn dice, or leave them."""
    dice = state.dice
    if type(action) is Convert:
        dice[ENERGY], dice[ATTACK], dice[HEART] = action.energy, action.attack, action.heart
        state.log.append(event(Converted, task[1], tuple(dice)))
    elif type(action) is Swap or type(action) is GiveUp:
        state.tasks.append(task)
        _swap_die(state, task[1], action)
    elif action is not KEEP:
        take_anytime_action(state, task, action)


def _swap_die(state: Position, seat: int, action: Swap | GiveUp) -> None:
    """Give up a Celebrity die, which does not count any more, and turn another one."""
    state.dice[CELEBRITY] -= 1
    if type(action) is Swap:
        state.dice[FACE_NUMBER[action.die]] -= 1
        state.dice[FACE_NUMBER[action.to]] += 1
    state.log.append(event(Converted, seat, tuple(state.dice)))


def hail_menu(state: Position, task: Task) -> Menu:
    """Whether to add Destruction for Units only."""
    return [*HAILS, *anytime_actions(state, task[1])]


def hail(state: Position, task: Task, action: KingAction) -> None:
    """Add the results, or do not."""
    if type(action) is not Hail:
        take_anytime_action(state, task, action)
    elif action.use:
        hails = state.ruleset.abilities.hail
        owned = state.keep_cards[task[1]] & hails.mask
        card = state.ruleset.card_ids[owned.bit_length() - 1]
        state.units_only = 1
        state.add_results(task[1], DESTRUCTION, hails.total(owned), card)


def final_roll_step(state: Position, task: Task) -> None:
    """Let cards look at the final roll."""
    seat = task[1]
    if not state.out[seat] and state.keep_cards[seat] & state.ruleset.abilities.final_roll.mask:
        trigger(state.ruleset.abilities.final_roll, state, seat)


# Resolving


def resolve_menu(state: Position, task: Task) -> Menu:
    """The faces left, with what else may be done; after the last face a pass, if something may still be done."""
    seat = task[1]
    abilities = state.ruleset.abilities
    cards = state.keep_cards[seat]
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
        or cards & (abilities.redirect.mask | abilities.swap_dice)
    ):
        return RESOLVE_MENUS[left]
    if not left:
        return [PASS, *anytime_actions(state, seat)]
    menu = list(RESOLVE_MENUS[left])
    removable = state.ruleset.inert_tokens_removable
    if left >> HEART & 1 and state.jinx[seat] and (removable or state.owned & abilities.jinx_tax):
        most = min(state.jinx[seat], state.dice[HEART] + bonus[HEART])
        menu += [remove("heart", tokens) for tokens in range(1, most + 1)]
    if left >> ATTACK & 1 and state.web[seat] and (removable or state.owned & abilities.web_tax):
        most = min(state.web[seat], state.dice[ATTACK] + bonus[ATTACK])
        menu += [remove("attack", tokens) for tokens in range(1, most + 1)]
    able = left >> DESTRUCTION & 1 and cards & abilities.redirect.mask and state.ruleset.seismic_ray_cost == "per_step"
    if able and state.funds(seat) >= abilities.redirect.least(cards):
        menu += [REDIRECTS[borough] for borough in range(len(BOROUGHS)) if borough != state.borough[seat]]
    if cards & abilities.swap_dice:
        menu += _swaps(state)
    return menu + anytime_actions(state, seat)


def resolve(state: Position, task: Task, action: KingAction) -> None:
    """Resolve one face and ask again, or go on to the Move step."""
    if action is PASS:
        return
    seat = task[1]
    if type(action) is Resolve:
        state.tasks.append(task)
        _resolve_face(state, seat, FACE_NUMBER[action.face], 0)
    elif type(action) is Remove:
        state.tasks.append(task)
        _resolve_face(state, seat, FACE_NUMBER[action.face], action.tokens)
    elif type(action) is Redirect:
        state.tasks.append(task)
        state.site = BOROUGH_NUMBER[action.borough]
        _resolve_face(state, seat, DESTRUCTION, 0)
        state.pay(seat, state.ruleset.abilities.redirect.least(state.keep_cards[seat]))
    elif type(action) is Swap or type(action) is GiveUp:
        state.tasks.append(task)
        _swap_die(state, seat, action)
    else:
        take_anytime_action(state, task, action)


def _resolve_face(state: Position, seat: int, face: int, removed: int) -> None:
    dice = state.dice[face]
    added = state.bonus[face]
    state.dice[face] = state.bonus[face] = 0
    state.shown[face] += dice
    count = dice + added
    state.log.append(event(Resolved, seat, FACES[face], count, removed))
    if face == ENERGY:
        loss = state.ruleset.abilities.energy_loss
        if state.keep_cards[seat] & loss.mask:
            count = max(0, count - loss.total(state.keep_cards[seat]))
        if count:
            state.gain_energy(seat, count, "energy")
    elif face == ATTACK:
        if removed:
            state.change_tokens(seat, "web", -removed)
        claws = count - removed
        if claws and (dice or state.ruleset.added_claws_attack_alone):
            attack(state, seat, claws)
    elif face == DESTRUCTION:
        state.force = count
        state.tasks.append((DESTROY, seat))
    elif face == HEART:
        if removed:
            state.change_tokens(seat, "jinx", -removed)
        if state.borough[seat] != MANHATTAN:
            state.heal(seat, count - removed, "heart")
    elif face == CELEBRITY:
        _celebrity(state, seat, count)
    else:
        ouch(state, seat, count)


def _celebrity(state: Position, seat: int, count: int) -> None:
    """Give VP to the holder of Superstar, or Superstar to a seat that shows enough."""
    previous = state.superstar_seat
    if previous == seat:
        state.gain_vp(seat, count, GOALS[0])
        return
    abilities = state.ruleset.abilities
    needs = state.ruleset.superstar_needs
    guard = 0
    if previous != NO_SEAT and state.keep_cards[previous] & abilities.superstar_guard.mask:
        guard = abilities.superstar_guard.total(state.keep_cards[previous])
    if count < needs + guard:
        return
    state.superstar_seat = seat
    state.log.append(event(GoalMoved, GOALS[0], seat, -1 if previous == NO_SEAT else previous))
    state.gain_vp(seat, 1 + count - needs, GOALS[0])
    trigger(abilities.superstar_taken, state, seat, previous)
    if previous != NO_SEAT:
        trigger(abilities.superstar_lost, state, previous, seat)
