"""Destroying buildings and Units with Destruction results."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import (
    BUILDING_TARGETS,
    PASS,
    UNIT_TARGETS,
    DestroyBuilding,
    DestroyUnit,
    KingAction,
    Menu,
)
from referee.games.king_of_new_york.agenda import BUILDING, TILE, UNIT, Task
from referee.games.king_of_new_york.events import BuildingDestroyed, TileShown, UnitDestroyed, event
from referee.games.king_of_new_york.gains import funds, gain_reward, pay
from referee.games.king_of_new_york.moments import fire
from referee.games.king_of_new_york.moves import extras, take_extra
from referee.games.king_of_new_york.names import (
    BOROUGH_NUMBER,
    BOROUGHS,
    NO_TILE,
    NOWHERE,
    STACKS_PER_BOROUGH,
    UNIT_KINDS,
    UNIT_NUMBER,
    UNITS,
)

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState


def destroy_menu(state: "KingState", task: Task) -> Menu:
    """Targets that the results left can pay for; they must be used unless an option or a price says otherwise."""
    seat = task[1]
    abilities = state.box.abilities
    keep = state.keep[seat]
    menu: list[KingAction] = []
    site = _site(state, seat)
    if state.force:
        menu = _targets(state, seat, site, all_kinds=True)
        for unit, reach in enumerate(abilities.reach):
            if keep & reach:
                menu += [
                    UNIT_TARGETS[borough][unit]
                    for borough in range(len(BOROUGHS))
                    if borough != site and _unit_affordable(state, seat, borough, unit)
                ]
    must = bool(menu) and state.box.destruction_forced
    if state.force and keep & abilities.redirect.mask and state.box.redirect_per_die:
        for borough in range(len(BOROUGHS)):
            if borough != site:
                menu += [
                    target
                    for target in _targets(state, seat, borough, all_kinds=False)
                    if price(state, seat, target) <= funds(state, seat)
                ]
    if not must:
        menu.insert(0, PASS)
    if state.rides or state.carapace[seat]:
        menu += extras(state, seat)
    return menu


def _site(state: "KingState", seat: int) -> int:
    return state.where[seat] if state.site == NOWHERE else state.site


def _targets(state: "KingState", seat: int, borough: int, all_kinds: bool) -> list[KingAction]:
    """What can be destroyed in a borough; not `all_kinds`: without Units that are in reach from everywhere."""
    found: list[KingAction] = []
    force = state.force
    if not state.units_only:
        durability = state.box.tile_durability
        closed = 0 if state.box.exposed_allowed else state.exposed
        tops = state.tops
        for stack in range(borough * STACKS_PER_BOROUGH, (borough + 1) * STACKS_PER_BOROUGH):
            tile = tops[stack]
            if tile != NO_TILE and durability[tile] <= force and not closed >> stack & 1:
                found.append(BUILDING_TARGETS[stack])
    keep = state.keep[seat]
    for unit in range(UNIT_KINDS):
        if (all_kinds or not keep & state.box.abilities.reach[unit]) and _unit_affordable(state, seat, borough, unit):
            found.append(UNIT_TARGETS[borough][unit])
    return found


def _unit_affordable(state: "KingState", seat: int, borough: int, unit: int) -> bool:
    place = borough * UNIT_KINDS + unit
    count = state.units[place]
    if count and state.box.fresh_protected:
        count -= state.fresh[place]
    return bool(count) and unit_durability(state, seat, unit) <= state.force


def unit_durability(state: "KingState", seat: int, unit: int) -> int:
    """How many results a kind of Unit takes for this seat."""
    needed = state.box.unit_durability[unit]
    easier = state.box.abilities.durability[unit]
    if state.keep[seat] & easier.mask:
        needed = min(needed, easier.least(state.keep[seat]))
    return needed


def _used(state: "KingState", seat: int, target: KingAction) -> int:
    """Results that a target takes."""
    if type(target) is DestroyBuilding:
        return state.box.tile_durability[state.tops[target.stack]]
    if type(target) is DestroyUnit:
        return unit_durability(state, seat, UNIT_NUMBER[target.unit])
    return 0


def price(state: "KingState", seat: int, target: KingAction) -> int:
    """Energy for a target: only under seismic_ray_cost=per_die, for each result used in another borough."""
    abilities = state.box.abilities
    keep = state.keep[seat]
    if not state.box.redirect_per_die or not keep & abilities.redirect.mask:
        return 0
    if type(target) is DestroyBuilding:
        away = target.stack // STACKS_PER_BOROUGH != _site(state, seat)
    elif type(target) is DestroyUnit:
        away = BOROUGH_NUMBER[target.borough] != _site(state, seat)
        away = away and not keep & abilities.reach[UNIT_NUMBER[target.unit]]
    else:
        away = False
    return _used(state, seat, target) * abilities.redirect.least(keep) if away else 0


def destroy(state: "KingState", task: Task, action: KingAction) -> None:
    """Destroy one target and ask again, or stop."""
    seat = task[1]
    if action is PASS:
        state.force = 0
        state.site = NOWHERE
    elif type(action) is DestroyBuilding:
        state.agenda.append(task)
        state.agenda.append((BUILDING, seat, action.stack))
        pay(state, seat, price(state, seat, action))
    elif type(action) is DestroyUnit:
        state.agenda.append(task)
        state.agenda.append((UNIT, seat, BOROUGH_NUMBER[action.borough], UNIT_NUMBER[action.unit]))
        pay(state, seat, price(state, seat, action))
    else:
        take_extra(state, task, action)


def building_step(state: "KingState", task: Task) -> None:
    """A building falls: reward, its Unit appears in its borough, the tile below comes to light."""
    _, seat, stack = task
    if state.out[seat]:
        return
    box = state.box
    tile = state.tops[stack]
    state.force -= box.tile_durability[tile]
    state.tops[stack] = NO_TILE
    place = stack // STACKS_PER_BOROUGH * UNIT_KINDS + box.tile_units[tile]
    state.units[place] += 1
    state.fresh[place] += 1
    state.razed += 1
    state.log.append(event(BuildingDestroyed, seat, stack, box.tile_ids[tile]))
    if state.covered[stack]:
        state.agenda.append((TILE, stack))
    gain_reward(state, seat, box.tile_rewards[tile], "reward")
    fire(box.abilities.building_destroyed, state, seat, stack)


def unit_step(state: "KingState", task: Task) -> None:
    """A Unit falls and lies before its destroyer."""
    _, seat, borough, unit = task
    if state.out[seat]:
        return
    place = borough * UNIT_KINDS + unit
    state.force -= unit_durability(state, seat, unit)
    if state.units[place] == state.fresh[place]:
        state.fresh[place] -= 1
    state.units[place] -= 1
    state.trophies[seat * UNIT_KINDS + unit] += 1
    state.killed[unit] += 1
    state.log.append(event(UnitDestroyed, seat, BOROUGHS[borough], UNITS[unit]))
    gain_reward(state, seat, state.box.unit_rewards[unit], "reward")
    fire(state.box.abilities.unit_destroyed, state, seat, unit)


def tile_drawn(state: "KingState", task: Task, tile: int) -> None:
    """A tile comes to light on a stack."""
    stack = task[1]
    state.pool[tile] -= 1
    state.covered[stack] -= 1
    state.tops[stack] = tile
    state.exposed |= 1 << stack
    state.log.append(event(TileShown, stack, state.box.tile_ids[tile]))
