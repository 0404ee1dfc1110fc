"""Where monsters go: placing, the Move step, Super Speed, Subway, fleeing, leaving, and what entering sets off.

The rules are in README.md, sections "A turn", steps 2 and 6, and "Five and six".
"""

from collections.abc import Sequence

from referee.games.api import event
from referee.games.king_of_new_york.actions import (
    DASHES,
    FLEE_MENUS,
    LEAVE_MENUS,
    MOVE_MENUS,
    PASS,
    PLACE_MENUS,
    PUSHES,
    RIDES,
    SHED,
    STAY,
    Dash,
    Flee,
    KingAction,
    Leave,
    Menu,
    Move,
    Place,
    Push,
    Ride,
    Shed,
)
from referee.games.king_of_new_york.card_effects import trigger
from referee.games.king_of_new_york.constants import (
    ADVANCE,
    BOROUGH_NUMBER,
    BOROUGHS,
    ENTER,
    FLEE,
    MANHATTAN,
    MOVE,
    MOVE_STEP,
    NO_SPACE,
    PUSH,
    UNIT_KINDS,
    UNIT_NUMBER,
    ZONE_COUNT,
    Task,
)
from referee.games.king_of_new_york.events import MOVE_REASONS, Moved, Placed, Stayed, UnitPushed
from referee.games.king_of_new_york.state import Position

_BY_CHOICE, _FORCED, _DASH, _RIDE, _FLEE, _LEAVE, _ADVANCE, _TURN_END = range(len(MOVE_REASONS))


def place_menu(state: Position, task: Task) -> Menu:
    """Any borough but Manhattan with room."""
    return PLACE_MENUS[state.open_boroughs(task[1])]


def place(state: Position, task: Task, action: KingAction) -> None:
    """Take the first borough. Nobody owns cards yet that could act on it."""
    if type(action) is Place:
        state.borough[task[1]] = BOROUGH_NUMBER[action.borough]
        state.log.append(event(Placed, task[1], action.borough))


def anytime_actions(state: Position, seat: int) -> list[KingAction]:
    """What a seat may do at any moment of its turn: discard Carapace, take a Subway ride."""
    menu: list[KingAction] = []
    if state.carapace[seat]:
        menu.append(SHED)
    if state.rides and _affordable(state, seat):
        menu += _chosen(RIDES, _free_moves(state, seat, leaving=True))
    return menu


def take_anytime_action(state: Position, task: Task, action: KingAction) -> None:
    """Discard Carapace or take a ride, then ask again."""
    seat = task[1]
    state.tasks.append((MOVE_STEP, seat) if task[0] == MOVE else task)
    if type(action) is Ride:
        state.rides -= 1
        _start_move(state, seat, BOROUGH_NUMBER[action.borough], _RIDE)
    elif type(action) is Shed:
        state.shed_carapace(seat)


def _free_moves(state: Position, seat: int, leaving: bool) -> int:
    """The set of boroughs for a move outside the Move step. From inside, Manhattan means one zone further."""
    if state.borough[seat] == MANHATTAN:
        ahead = 1 << MANHATTAN if state.space[seat] % ZONE_COUNT < ZONE_COUNT - 1 else 0
        return ahead | state.open_boroughs(seat) if leaving else ahead
    return 1 << MANHATTAN if state.manhattan_has_room() else state.open_boroughs(seat)


def _chosen(actions: Sequence[KingAction], boroughs: int) -> list[KingAction]:
    return [action for borough, action in enumerate(actions) if boroughs >> borough & 1]


def _start_move(state: Position, seat: int, borough: int, reason: int) -> None:
    """Make an optional move as soon as it is paid for."""
    if borough == MANHATTAN and state.borough[seat] == MANHATTAN:
        state.tasks.append((ADVANCE, seat, reason))
    else:
        state.tasks.append((ENTER, seat, borough, reason))
    if state.ruleset.marathon_currency == "vp":
        state.lose_vp(seat, state.move_cost, "cost")
    else:
        state.pay(seat, state.move_cost)


def _affordable(state: Position, seat: int) -> bool:
    """Whether the seat can pay for an optional move."""
    return (state.vp[seat] if state.ruleset.marathon_currency == "vp" else state.funds(seat)) >= state.move_cost


def before_roll_menu(state: Position, task: Task) -> Menu:
    """Roll, or move first by a card."""
    seat = task[1]
    menu: list[KingAction] = [PASS]
    able = state.keep_cards[seat] & state.ruleset.abilities.early_move and not state.dashed
    if able and _affordable(state, seat):
        menu += _chosen(DASHES, _free_moves(state, seat, leaving=False))
    return menu + anytime_actions(state, seat)


def before_roll(state: Position, task: Task, action: KingAction) -> None:
    """Move by a card and ask again, or go on to the roll."""
    if type(action) is Dash:
        state.dashed = 1
        state.tasks.append(task)
        _start_move(state, task[1], BOROUGH_NUMBER[action.borough], _DASH)
    elif action is not PASS:
        take_anytime_action(state, task, action)


def move_step(state: Position, task: Task) -> None:
    """Enter Manhattan if it has room, advance in it, or choose."""
    seat = task[1]
    if state.out[seat]:
        return
    if state.borough[seat] == MANHATTAN:
        _advance(state, seat)
    elif state.manhattan_has_room():
        _enter(state, seat, MANHATTAN, _FORCED)
    else:
        state.tasks.append((MOVE, seat))


def move_menu(state: Position, task: Task) -> Menu:
    """Stay, or any other outer borough with room."""
    seat = task[1]
    menu = MOVE_MENUS[state.open_boroughs(seat) if _affordable(state, seat) else 0]
    if state.rides or state.carapace[seat]:
        return [*menu, *anytime_actions(state, seat)]
    return menu


def move(state: Position, task: Task, action: KingAction) -> None:
    """Stay, or go to another borough."""
    if type(action) is Move:
        _start_move(state, task[1], BOROUGH_NUMBER[action.borough], _BY_CHOICE)
    elif action is not STAY:
        take_anytime_action(state, task, action)


def late_entry_step(state: Position, task: Task) -> None:
    """Enter an empty Manhattan at the end of the turn, with the option enter_at_turn_end."""
    seat = task[1]
    if not state.out[seat] and MANHATTAN not in state.borough:
        _enter(state, seat, MANHATTAN, _TURN_END)


def enter_step(state: Position, task: Task) -> None:
    """Enter the borough; or ask again if somebody has left the match since and the rules now forbid the move."""
    _, seat, borough, reason = task
    if state.out[seat]:
        return
    if can_go(state, task):
        _enter(state, seat, borough, reason)
    else:
        _take_back(state, seat, reason)


def advance_step(state: Position, task: Task) -> None:
    """Move a zone further by a card; or ask again, as in `enter_step`."""
    _, seat, reason = task
    if state.out[seat]:
        return
    if can_go(state, task):
        _advance(state, seat)
    else:
        _take_back(state, seat, reason)


def can_go(state: Position, task: Task) -> bool:
    """Whether the move of an ENTER or ADVANCE task can still be chosen.

    Between the choice and the move lies the question how to pay for it (Of Another World). A seat that leaves the
    match during that question can free Manhattan, or make the second monster in it take the room elsewhere.
    """
    seat, reason = task[1], task[-1]
    inside = state.borough[seat] == MANHATTAN
    if task[0] == ADVANCE:
        return inside
    if reason == _FLEE:
        allowed = state.open_boroughs(seat) if inside else 0
    elif reason == _BY_CHOICE:
        allowed = 0 if inside or state.manhattan_has_room() else state.open_boroughs(seat)
    else:
        allowed = _free_moves(state, seat, leaving=True)
    return bool(allowed >> task[2] & 1)


def _take_back(state: Position, seat: int, reason: int) -> None:
    """Do not make the move, and ask the question again that it answered."""
    if reason == _RIDE:
        state.rides += 1
    elif reason == _DASH:
        state.dashed = 0
    else:
        state.tasks.append((FLEE, seat) if reason == _FLEE else (MOVE_STEP, seat))


def _advance(state: Position, seat: int) -> None:
    """Move a zone further on the own track, up to Upper Manhattan."""
    space = state.space[seat]
    if space % ZONE_COUNT < ZONE_COUNT - 1:
        state.space[seat] = space + 1
        state.log.append(event(Moved, seat, BOROUGHS[MANHATTAN], space + 1, MOVE_REASONS[_ADVANCE]))


def _enter(state: Position, seat: int, borough: int, reason: int) -> None:
    """Move into another borough."""
    boroughs = state.borough
    left = boroughs[seat]
    space = NO_SPACE
    if borough == MANHATTAN:
        space = ZONE_COUNT if MANHATTAN in boroughs else 0
    boroughs[seat] = borough
    state.space[seat] = space
    state.log.append(event(Moved, seat, BOROUGHS[borough], space, MOVE_REASONS[reason]))
    if left == MANHATTAN:
        state.settle_manhattan()
    if borough == MANHATTAN:
        state.gain_vp(seat, state.ruleset.enter_vp, "entering")
    if state.keep_cards[seat] & state.ruleset.abilities.entered.mask:
        trigger(state.ruleset.abilities.entered, state, seat, borough)


def flee_menu(state: Position, task: Task) -> Menu:
    """Stay, or any outer borough with room."""
    seat = task[1]
    if state.borough[seat] != MANHATTAN:
        return ()
    return FLEE_MENUS[state.open_boroughs(seat) if _affordable(state, seat) else 0]


def flee(state: Position, task: Task, action: KingAction) -> None:
    """Flee or stay."""
    if type(action) is Flee:
        _start_move(state, task[1], BOROUGH_NUMBER[action.borough], _FLEE)
    else:
        state.log.append(event(Stayed, task[1]))


def leave_menu(state: Position, task: Task) -> Menu:
    """Any outer borough with room; nothing if the monster need not leave any more."""
    if state.borough.count(MANHATTAN) < 2 or state.borough[task[1]] != MANHATTAN:
        return ()
    return LEAVE_MENUS[state.open_boroughs(task[1])]


def leave(state: Position, task: Task, action: KingAction) -> None:
    """Leave Manhattan, which has room for one only. It costs nothing."""
    if type(action) is Leave:
        _enter(state, task[1], BOROUGH_NUMBER[action.borough], _LEAVE)


def push_menu(state: Position, task: Task) -> Menu:
    """Stop, or one Unit to a borough not yet used, in the order of the boroughs."""
    _, _, source, first, left = task
    menu: list[KingAction] = [PASS]
    if left:
        units = [unit for unit in range(UNIT_KINDS) if state.units[source * UNIT_KINDS + unit]]
        for borough in range(first, len(BOROUGHS)):
            if borough != source:
                menu += [PUSHES[borough][unit] for unit in units]
    return menu


def push(state: Position, task: Task, action: KingAction) -> None:
    """Push a Unit. One that was there before this turn goes before one that appeared in it."""
    if type(action) is not Push:
        return
    _, seat, source, _, left = task
    target = BOROUGH_NUMBER[action.borough]
    unit = UNIT_NUMBER[action.unit]
    old, new = source * UNIT_KINDS + unit, target * UNIT_KINDS + unit
    if state.units[old] == state.fresh_units[old]:
        state.fresh_units[old] -= 1
        state.fresh_units[new] += 1
    state.units[old] -= 1
    state.units[new] += 1
    state.log.append(event(UnitPushed, seat, action.unit, BOROUGHS[source], action.borough))
    state.tasks.append((PUSH, seat, source, target + 1, left - 1))
