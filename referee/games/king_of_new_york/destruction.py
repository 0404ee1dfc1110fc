"""Destroying buildings and Units with Destruction results.

The rules are in README.md, section "A turn", step 5.
"""

from referee.games.api import event
from referee.games.king_of_new_york.actions import (
    BUILDING_TARGETS,
    PASS,
    UNIT_TARGETS,
    DestroyBuilding,
    DestroyUnit,
    KingAction,
    Menu,
)
from referee.games.king_of_new_york.card_effects import trigger
from referee.games.king_of_new_york.constants import (
    BOROUGH_NUMBER,
    BOROUGHS,
    DESTROY_BUILDING,
    DESTROY_UNIT,
    NO_TILE,
    NOWHERE,
    REVEAL_TILE,
    STACKS_PER_BOROUGH,
    UNIT_KINDS,
    UNIT_NUMBER,
    UNITS,
    Task,
)
from referee.games.king_of_new_york.events import BuildingDestroyed, TileShown, UnitDestroyed
from referee.games.king_of_new_york.movement import anytime_actions, take_anytime_action
from referee.games.king_of_new_york.state import Position


def destroy_menu(state: Position, task: Task) -> Menu:
    """Targets that the results left pay for. One must be destroyed, unless an option or a price says otherwise."""
    seat = task[1]
    abilities = state.ruleset.abilities
    cards = state.keep_cards[seat]
    menu: list[KingAction] = []
    site = _target_borough(state, seat)
    if state.force:
        menu = _targets(state, seat, site, all_kinds=True)
        for unit, reach in enumerate(abilities.reach):
            if cards & reach:
                menu += [
                    UNIT_TARGETS[borough][unit]
                    for borough in range(len(BOROUGHS))
                    if borough != site and _unit_affordable(state, seat, borough, unit)
                ]
    must = bool(menu) and state.ruleset.destruction_forced_if_possible
    if state.force and cards & abilities.redirect.mask and state.ruleset.seismic_ray_cost == "per_die":
        for borough in range(len(BOROUGHS)):
            if borough != site:
                menu += [
                    target
                    for target in _targets(state, seat, borough, all_kinds=False)
                    if price(state, seat, target) <= state.funds(seat)
                ]
    if not must:
        menu.insert(0, PASS)
    if state.rides or state.carapace[seat]:
        menu += anytime_actions(state, seat)
    return menu


def _target_borough(state: Position, seat: int) -> int:
    return state.borough[seat] if state.site == NOWHERE else state.site


def _targets(state: Position, seat: int, borough: int, all_kinds: bool) -> list[KingAction]:
    """What can be destroyed in a borough. Without `all_kinds` Units are left out that are in reach from everywhere."""
    found: list[KingAction] = []
    force = state.force
    if not state.units_only:
        durability = state.ruleset.tile_durability
        closed = 0 if state.ruleset.exposed_building_same_turn else state.exposed
        tops = state.tops
        for stack in range(borough * STACKS_PER_BOROUGH, (borough + 1) * STACKS_PER_BOROUGH):
            tile = tops[stack]
            if tile != NO_TILE and durability[tile] <= force and not closed >> stack & 1:
                found.append(BUILDING_TARGETS[stack])
    cards = state.keep_cards[seat]
    for unit, reach in enumerate(state.ruleset.abilities.reach):
        if (all_kinds or not cards & reach) and _unit_affordable(state, seat, borough, unit):
            found.append(UNIT_TARGETS[borough][unit])
    return found


def _unit_affordable(state: Position, seat: int, borough: int, unit: int) -> bool:
    place = borough * UNIT_KINDS + unit
    count = state.units[place]
    if count and not state.ruleset.new_unit_destroyable_same_turn:
        count -= state.fresh_units[place]
    return bool(count) and _unit_durability(state, seat, unit) <= state.force


def _unit_durability(state: Position, seat: int, unit: int) -> int:
    """How many results a kind of Unit takes for this seat."""
    needed = state.ruleset.unit_durability[unit]
    easier = state.ruleset.abilities.durability[unit]
    if state.keep_cards[seat] & easier.mask:
        needed = min(needed, easier.least(state.keep_cards[seat]))
    return needed


def price(state: Position, seat: int, target: KingAction) -> int:
    """Energy for a target: with seismic_ray_cost = "per_die", for each result used in another borough."""
    abilities = state.ruleset.abilities
    cards = state.keep_cards[seat]
    if state.ruleset.seismic_ray_cost == "per_step" or not cards & abilities.redirect.mask:
        return 0
    results = 0
    if type(target) is DestroyBuilding:
        if target.stack // STACKS_PER_BOROUGH != _target_borough(state, seat):
            results = state.ruleset.tile_durability[state.tops[target.stack]]
    elif type(target) is DestroyUnit:
        unit = UNIT_NUMBER[target.unit]
        away = BOROUGH_NUMBER[target.borough] != _target_borough(state, seat)
        if away and not cards & abilities.reach[unit]:
            results = _unit_durability(state, seat, unit)
    return results * abilities.redirect.least(cards)


def destroy(state: Position, task: Task, action: KingAction) -> None:
    """Destroy one target and ask again, or stop."""
    seat = task[1]
    if action is PASS:
        state.force = 0
        state.site = NOWHERE
    elif type(action) is DestroyBuilding:
        state.tasks.append(task)
        state.tasks.append((DESTROY_BUILDING, seat, action.stack))
        state.pay(seat, price(state, seat, action))
    elif type(action) is DestroyUnit:
        state.tasks.append(task)
        state.tasks.append((DESTROY_UNIT, seat, BOROUGH_NUMBER[action.borough], UNIT_NUMBER[action.unit]))
        state.pay(seat, price(state, seat, action))
    else:
        take_anytime_action(state, task, action)


def destroy_building_step(state: Position, task: Task) -> None:
    """Destroy a building: its Unit appears in its borough, and the tile below is revealed."""
    _, seat, stack = task
    if state.out[seat]:
        return
    ruleset = state.ruleset
    tile = state.tops[stack]
    state.force -= ruleset.tile_durability[tile]
    state.tops[stack] = NO_TILE
    place = stack // STACKS_PER_BOROUGH * UNIT_KINDS + ruleset.tile_units[tile]
    state.units[place] += 1
    state.fresh_units[place] += 1
    state.razed += 1
    state.log.append(event(BuildingDestroyed, seat, stack, ruleset.tile_ids[tile]))
    if state.covered[stack]:
        state.tasks.append((REVEAL_TILE, stack))
    state.gain_reward(seat, ruleset.tile_rewards[tile])
    trigger(ruleset.abilities.building_destroyed, state, seat, stack)


def destroy_unit_step(state: Position, task: Task) -> None:
    """Destroy a Unit, which becomes a trophy of its destroyer."""
    _, seat, borough, unit = task
    if state.out[seat]:
        return
    place = borough * UNIT_KINDS + unit
    state.force -= _unit_durability(state, seat, unit)
    if state.units[place] == state.fresh_units[place]:
        state.fresh_units[place] -= 1
    state.units[place] -= 1
    state.trophies[seat * UNIT_KINDS + unit] += 1
    state.killed[unit] += 1
    state.log.append(event(UnitDestroyed, seat, BOROUGHS[borough], UNITS[unit]))
    state.gain_reward(seat, state.ruleset.unit_rewards[unit])
    trigger(state.ruleset.abilities.unit_destroyed, state, seat, unit)


def tile_revealed(state: Position, task: Task, tile: int) -> None:
    """Turn up the tile on top of a stack."""
    stack = task[1]
    state.unseen[tile] -= 1
    state.covered[stack] -= 1
    state.tops[stack] = tile
    state.exposed |= 1 << stack
    state.log.append(event(TileShown, stack, state.ruleset.tile_ids[tile]))
