"""Where monsters go: placing, the Move step, Super Speed, Subway, fleeing, leaving, and what entering sets off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
from referee.games.king_of_new_york.agenda import ADVANCE, ENTER, FLEE, MOVE, MOVE_STEP, PUSH, Task
from referee.games.king_of_new_york.damage import shed_carapace
from referee.games.king_of_new_york.elimination import manhattan_room, settle
from referee.games.king_of_new_york.events import MOVE_REASONS, Moved, Placed, Stayed, UnitPushed, event
from referee.games.king_of_new_york.gains import funds, gain_vp, lose_vp, pay
from referee.games.king_of_new_york.moments import fire
from referee.games.king_of_new_york.names import (
    BOROUGH_NUMBER,
    BOROUGHS,
    MANHATTAN,
    NO_BERTH,
    OUTER,
    UNIT_KINDS,
    UNIT_NUMBER,
    ZONE_COUNT,
)

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_BY_CHOICE, _FORCED, _DASH, _RIDE, _FLEE, _LEAVE, _ADVANCE, _TURN_END = range(len(MOVE_REASONS))
_BOROUGH_LIMIT = 2


def open_boroughs(state: "KingState", seat: int) -> int:
    """The set of outer boroughs, other than its own, that a monster can go to."""
    where = state.where
    here = where[seat]
    found = 0
    for borough in OUTER:
        if borough != here and where.count(borough) < _BOROUGH_LIMIT:
            found |= 1 << borough
    return found


def place_menu(state: "KingState", task: Task) -> Menu:
    """Any borough but Manhattan with room."""
    return PLACE_MENUS[open_boroughs(state, task[1])]


def place(state: "KingState", task: Task, action: KingAction) -> None:
    """The first borough; nobody owns cards yet that could act on it."""
    if type(action) is Place:
        state.where[task[1]] = BOROUGH_NUMBER[action.borough]
        state.log.append(event(Placed, task[1], action.borough))


def extras(state: "KingState", seat: int) -> list[KingAction]:
    """What may be done at any moment of one's own turn: discard Carapace, take a Subway ride."""
    menu: list[KingAction] = []
    if state.carapace[seat]:
        menu.append(SHED)
    if state.rides and _affordable(state, seat):
        menu += _chosen(RIDES, _free_moves(state, seat, leaving=True))
    return menu


def take_extra(state: "KingState", task: Task, action: KingAction) -> None:
    """Do it, then ask again."""
    seat = task[1]
    state.agenda.append((MOVE_STEP, seat) if task[0] == MOVE else task)
    if type(action) is Ride:
        state.rides -= 1
        _start_move(state, seat, BOROUGH_NUMBER[action.borough], _RIDE)
    elif type(action) is Shed:
        shed_carapace(state, seat)


def _free_moves(state: "KingState", seat: int, leaving: bool) -> int:
    """The set of boroughs for a move outside the Move step; Manhattan from inside means a zone further."""
    if state.where[seat] == MANHATTAN:
        ahead = 1 << MANHATTAN if state.berth[seat] % ZONE_COUNT < ZONE_COUNT - 1 else 0
        return ahead | open_boroughs(state, seat) if leaving else ahead
    return 1 << MANHATTAN if manhattan_room(state) else open_boroughs(state, seat)


def _chosen(actions: Sequence[KingAction], boroughs: int) -> list[KingAction]:
    return [action for borough, action in enumerate(actions) if boroughs >> borough & 1]


def _start_move(state: "KingState", seat: int, borough: int, reason: int) -> None:
    """An optional move: pay for it, then go."""
    if borough == MANHATTAN and state.where[seat] == MANHATTAN:
        state.agenda.append((ADVANCE, seat, reason))
    else:
        state.agenda.append((ENTER, seat, borough, reason))
    if state.box.marathon_vp:
        lose_vp(state, seat, state.move_cost, "cost")
    else:
        pay(state, seat, state.move_cost)


def _affordable(state: "KingState", seat: int) -> bool:
    """Whether the seat can pay for an optional move."""
    return (state.vp[seat] if state.box.marathon_vp else funds(state, seat)) >= state.move_cost


def before_menu(state: "KingState", task: Task) -> Menu:
    """Roll, or first move by a card."""
    seat = task[1]
    menu: list[KingAction] = [PASS]
    able = state.keep[seat] & state.box.abilities.early_move and not state.dashed
    if able and _affordable(state, seat):
        menu += _chosen(DASHES, _free_moves(state, seat, leaving=False))
    return menu + extras(state, seat)


def before(state: "KingState", task: Task, action: KingAction) -> None:
    """Move by a card and ask again, or go on to the roll."""
    if type(action) is Dash:
        state.dashed = 1
        state.agenda.append(task)
        _start_move(state, task[1], BOROUGH_NUMBER[action.borough], _DASH)
    elif action is not PASS:
        take_extra(state, task, action)


def move_step(state: "KingState", task: Task) -> None:
    """Enter Manhattan if it has room, advance in it, or choose."""
    seat = task[1]
    if state.out[seat]:
        return
    if state.where[seat] == MANHATTAN:
        advance(state, seat)
    elif manhattan_room(state):
        enter(state, seat, MANHATTAN, _FORCED)
    else:
        state.agenda.append((MOVE, seat))


def move_menu(state: "KingState", task: Task) -> Menu:
    """Stay, or any other outer borough with room."""
    seat = task[1]
    menu = MOVE_MENUS[open_boroughs(state, seat) if _affordable(state, seat) else 0]
    if state.rides or state.carapace[seat]:
        return [*menu, *extras(state, seat)]
    return menu


def move(state: "KingState", task: Task, action: KingAction) -> None:
    """Stay or go."""
    if type(action) is Move:
        _start_move(state, task[1], BOROUGH_NUMBER[action.borough], _BY_CHOICE)
    elif action is not STAY:
        take_extra(state, task, action)


def late_entry_step(state: "KingState", task: Task) -> None:
    """Option enter_at_turn_end."""
    seat = task[1]
    if not state.out[seat] and MANHATTAN not in state.where:
        enter(state, seat, MANHATTAN, _TURN_END)


def enter_step(state: "KingState", task: Task) -> None:
    """Go there; or ask again if somebody has left the match since, and the rules now say otherwise."""
    _, seat, borough, reason = task
    if state.out[seat]:
        return
    if can_go(state, task):
        enter(state, seat, borough, reason)
    else:
        _take_back(state, seat, reason)


def advance_step(state: "KingState", task: Task) -> None:
    """A zone further by a card."""
    _, seat, reason = task
    if state.out[seat]:
        return
    if can_go(state, task):
        advance(state, seat)
    else:
        _take_back(state, seat, reason)


def can_go(state: "KingState", task: Task) -> bool:
    """Whether the move of an ENTER or ADVANCE task can still be chosen.

    Between the choice and the move lies the question how to pay for it (Of Another World). Whoever leaves the match
    during that question can free Manhattan, or make the second monster in it take the room elsewhere.
    """
    seat, reason = task[1], task[-1]
    inside = state.where[seat] == MANHATTAN
    if task[0] == ADVANCE:
        return inside
    if reason == _FLEE:
        allowed = open_boroughs(state, seat) if inside else 0
    elif reason == _BY_CHOICE:
        allowed = 0 if inside or manhattan_room(state) else open_boroughs(state, seat)
    else:
        allowed = _free_moves(state, seat, leaving=True)
    return bool(allowed >> task[2] & 1)


def _take_back(state: "KingState", seat: int, reason: int) -> None:
    """The move is not made: the question it answered is asked again."""
    if reason == _RIDE:
        state.rides += 1
    elif reason == _DASH:
        state.dashed = 0
    else:
        state.agenda.append((FLEE, seat) if reason == _FLEE else (MOVE_STEP, seat))


def advance(state: "KingState", seat: int) -> None:
    """A zone further on the own track; Upper Manhattan is the last."""
    berth = state.berth[seat]
    if berth % ZONE_COUNT < ZONE_COUNT - 1:
        state.berth[seat] = berth + 1
        state.log.append(event(Moved, seat, BOROUGHS[MANHATTAN], berth + 1, MOVE_REASONS[_ADVANCE]))


def enter(state: "KingState", seat: int, borough: int, reason: int) -> None:
    """Come into another borough."""
    where = state.where
    left = where[seat]
    berth = NO_BERTH
    if borough == MANHATTAN:
        berth = ZONE_COUNT if MANHATTAN in where else 0
    where[seat] = borough
    state.berth[seat] = berth
    state.log.append(event(Moved, seat, BOROUGHS[borough], berth, MOVE_REASONS[reason]))
    if left == MANHATTAN:
        settle(state)
    if borough == MANHATTAN:
        gain_vp(state, seat, state.box.enter_vp, "entering")
    if state.keep[seat] & state.box.abilities.entered.mask:
        fire(state.box.abilities.entered, state, seat, borough)


def flee_menu(state: "KingState", task: Task) -> Menu:
    """Stay, or any outer borough with room."""
    seat = task[1]
    if state.where[seat] != MANHATTAN:
        return ()
    return FLEE_MENUS[open_boroughs(state, seat) if _affordable(state, seat) else 0]


def flee(state: "KingState", task: Task, action: KingAction) -> None:
    """Flee or stay."""
    if type(action) is Flee:
        _start_move(state, task[1], BOROUGH_NUMBER[action.borough], _FLEE)
    else:
        state.log.append(event(Stayed, task[1]))


def leave_menu(state: "KingState", task: Task) -> Menu:
    """Any outer borough with room; nothing if there is no need any more."""
    if state.where.count(MANHATTAN) < 2 or state.where[task[1]] != MANHATTAN:
        return ()
    return LEAVE_MENUS[open_boroughs(state, task[1])]


def leave(state: "KingState", task: Task, action: KingAction) -> None:
    """The forced exit; it costs nothing."""
    if type(action) is Leave:
        enter(state, task[1], BOROUGH_NUMBER[action.borough], _LEAVE)


def push_menu(state: "KingState", task: Task) -> Menu:
    """Stop, or one Unit to a borough not yet used, in the order of the boroughs."""
    _, _, source, first, left = task
    menu: list[KingAction] = [PASS]
    if left:
        units = [unit for unit in range(UNIT_KINDS) if state.units[source * UNIT_KINDS + unit]]
        for borough in range(first, len(BOROUGHS)):
            if borough != source:
                menu += [PUSHES[borough][unit] for unit in units]
    return menu


def push(state: "KingState", task: Task, action: KingAction) -> None:
    """Push a Unit, one that was there before this turn first (F13)."""
    if type(action) is not Push:
        return
    _, seat, source, _, left = task
    target = BOROUGH_NUMBER[action.borough]
    unit = UNIT_NUMBER[action.unit]
    old, new = source * UNIT_KINDS + unit, target * UNIT_KINDS + unit
    if state.units[old] == state.fresh[old]:
        state.fresh[old] -= 1
        state.fresh[new] += 1
    state.units[old] -= 1
    state.units[new] += 1
    state.log.append(event(UnitPushed, seat, action.unit, BOROUGHS[source], action.borough))
    state.agenda.append((PUSH, seat, source, target + 1, left - 1))
