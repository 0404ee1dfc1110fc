"""What greedy believes about the games, checked against the rules and against counting things out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any

import pytest
from crosstown_greedy import POLICIES, best, king_of_new_york_dice, shibuya
from crosstown_greedy.king_of_new_york_board import Board
from crosstown_greedy.manhattan_traffiq import fits, without
from crosstown_greedy.manhattan_traffiq_city import Map, column_through, read_city, row_through
from crosstown_greedy.ticket_to_ride_plan import network_of, plan_of

from referee.games.api import resolve_options
from referee.games.keyed import random_outcome
from referee.games.king_of_new_york.constants import TURN
from referee.games.manhattan_traffiq.actions import Attach
from referee.games.manhattan_traffiq.city import streets_through
from referee.games.registry import get_game

Nodes = Callable[..., Iterator[tuple[Any, int]]]


@pytest.fixture
def nodes() -> Nodes:
    """Decisions of matches in which greedy and chance take turns; (state, seat), the state must not be changed."""

    def visited(game_id: str, players: int = 2, matches: int = 1) -> Iterator[tuple[Any, int]]:
        game, rng = get_game(game_id), Random(matches)
        options = resolve_options(game_id, game.options, {})
        for _ in range(matches):
            state = game.new_initial_state(players, options)
            while not state.is_terminal():
                chosen = {}
                for seat in [decision.seat for decision in state.decisions()]:
                    yield state, seat
                    legal = state.legal_actions(seat)
                    worths = POLICIES[game_id].worths(state.observation(seat), legal, seat)
                    chosen[seat] = legal[best(worths, rng)] if rng.random() < 0.7 else rng.choice(legal)
                if chosen:
                    state.apply(chosen)
                else:
                    state.apply_chance(random_outcome(state.chance_outcomes(), rng))

    return visited


@pytest.mark.parametrize("game_id", sorted(POLICIES))
def test_every_action_gets_a_worth_and_the_outlook_is_per_seat(nodes: Nodes, game_id: str) -> None:
    for players in get_game(game_id).player_counts:
        for state, seat in nodes(game_id, players):
            legal = state.legal_actions(seat)
            assert len(POLICIES[game_id].worths(state.observation(seat), legal, seat)) == len(legal)
            assert len(POLICIES[game_id].outlook(state)) == players


@pytest.mark.parametrize("players", [2, 4])
def test_shibuya_a_place_is_worth_the_outlook_it_leads_to(nodes: Nodes, players: int) -> None:
    found = 0
    for state, seat in nodes("shibuya", players):
        legal = state.legal_actions(seat)
        if legal[0].KIND == "place":
            worths = shibuya.worths(state.observation(seat), legal, seat)
            other = (seat + 1) % players
            in_goal = shibuya.GOAL_WORTH * (state.returns()[seat] - state.returns()[other])
            for action, worth in list(zip(legal, worths, strict=True))[::7]:
                after = state.clone()
                after.apply({seat: action})
                made = shibuya.outlook(after)
                assert worth == made[seat] - made[other] - in_goal
                found += 1
    assert found > 50


@pytest.mark.parametrize("players", [2, 5])
def test_king_of_new_york_the_average_of_a_roll_is_that_of_all_its_results(nodes: Nodes, players: int) -> None:
    found = deadly = 0
    for state, seat in nodes("king_of_new_york", players, matches=3):
        actions = [action for action in state.legal_actions(seat) if action.KIND == "reroll" and sum(action.counts) < 4]
        if not actions:
            continue
        seen = state.observation(seat)
        roll = king_of_new_york_dice.Roll(Board(seen, seat))
        dice = seen.turn_state.dice
        for action in actions[::5]:
            kept = [count - again for count, again in zip(dice, action.counts, strict=True)]
            results = []
            for faces in product(range(6), repeat=sum(action.counts)):
                results.append(roll.worth([count + faces.count(face) for face, count in enumerate(kept)]))
            deadly += king_of_new_york_dice.DEATH in results
            assert roll.expected(dice, action.counts) == pytest.approx(sum(results) / len(results))
            found += 1
    assert found > 50
    assert deadly


@pytest.mark.parametrize("game_id", sorted(POLICIES))
def test_what_a_look_ahead_observes_is_enough_for_the_worths(nodes: Nodes, game_id: str) -> None:
    policy = POLICIES[game_id]
    for state, seat in nodes(game_id):
        legal = state.legal_actions(seat)
        assert policy.worths(policy.observe(state, seat), legal, seat) == policy.worths(
            state.observation(seat), legal, seat
        )


@pytest.mark.parametrize("game_id", sorted(POLICIES))
def test_a_shortcut_leads_to_the_action_of_the_highest_worth_with_the_same_luck(nodes: Nodes, game_id: str) -> None:
    policy = POLICIES[game_id]
    taken = 0
    for players in get_game(game_id).player_counts[:2]:
        for number, (state, seat) in enumerate(nodes(game_id, players)):
            action = policy.shortcut(state, seat, Random(number))
            if action is not None:
                legal = state.legal_actions(seat)
                assert action == legal[best(policy.worths(state.observation(seat), legal, seat), Random(number))]
                taken += 1
    assert (taken > 50) == (game_id == "shibuya")


@pytest.mark.parametrize("players", [2, 4])
def test_manhattan_traffiq_streets_are_those_of_the_rules(nodes: Nodes, players: int) -> None:
    for state, seat in list(nodes("manhattan_traffiq", players))[::5]:
        map_ = read_city(state.observation(seat), seat).map
        for x, y in {(x + dx, y + dy) for x, y in map_.faces for dx in (0, 1) for dy in (0, 1)}:
            vertex = state.board.index(x, y)
            rules = [street.vertices for street in streets_through(state.city, vertex, colour_ends=False)]
            expected = [sorted(state.board.xy[place] for place in street) for street in rules]
            assert [sorted(street) for street in map_.streets((x, y))] == expected


@pytest.mark.parametrize("players", [2, 4])
def test_manhattan_traffiq_a_map_made_from_another_is_the_one_of_its_tiles(nodes: Nodes, players: int) -> None:
    for state, seat in nodes("manhattan_traffiq", players):
        made = read_city(state.observation(seat), seat).map
        fresh = Map([((tile.x, tile.y), tile.face) for tile in state.observation(seat).map.tiles])
        assert (made.faces, made.eastward, made.northward) == (fresh.faces, fresh.eastward, fresh.northward)
        for x, y in made.faces:
            assert made.streets((x, y)) == fresh.streets((x, y))
            for cell in ((x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y)):
                if cell not in made.faces:
                    assert made.corners(cell) == fresh.corners(cell)


def test_manhattan_traffiq_a_tile_adds_streets_and_completes_vertices(nodes: Nodes) -> None:
    completed = lacking = 0
    for state, seat in nodes("manhattan_traffiq"):
        map_ = read_city(state.observation(seat), seat).map
        attached = [action for action in state.legal_actions(seat) if action.KIND == "attach"]
        for action in attached[:: max(1, len(attached) // 10)]:
            cell = (action.x, action.y)
            eastward, northward = map_.added(cell, action.face)
            corners = map_.corners(cell)
            assert fits(action.face, map_.demands(cell))
            fresh = state.clone()
            fresh.apply({seat: Attach(action.face, *cell)})
            after = read_city(fresh.observation(seat), seat).map
            assert after.eastward == {*map_.eastward, *eastward}
            assert after.northward == {*map_.northward, *northward}
            for corner in corners:
                x, y = corner.vertex
                free = [place for place in ((x, y), (x - 1, y), (x, y - 1), (x - 1, y - 1)) if place not in after.faces]
                assert len(free) == corner.lacking
                assert not free or corner.demands_after(action.face) == after.demands(free[0])
                row, column = (
                    row_through((x, y), map_.eastward, eastward),
                    column_through((x, y), map_.northward, northward),
                )
                assert [street for street in (row, column) if street] == after.streets((x, y))
                completed += not free
                lacking += len(free)
    assert completed > 20
    assert lacking > 20


def test_manhattan_traffiq_one_copy_of_the_tile_that_is_laid_leaves_the_hand() -> None:
    assert without(("rrgg", "rtgb", "rrgg"), "ggrr") == ("rtgb", "rrgg")
    assert without(("rtgb",), "gbrt") == ()
    assert without(("rtgb",), "rrrr") == ("rtgb",)


def test_ticket_to_ride_a_way_that_is_known_is_the_one_that_would_be_found(nodes: Nodes) -> None:
    for state, seat in nodes("ticket_to_ride_new_york", 2, matches=2):
        seen = state.observation(seat)
        network = network_of(seen.box, seen.holders(), seat, 2, seen.taxis[seat])
        known = list(plan_of(network, seen.tickets).routes)
        network.box.ways.clear()
        assert network.plan(seen.tickets) == known


@pytest.mark.parametrize("players", [2, 4])
def test_ticket_to_ride_plans_complete_tickets_with_routes_that_can_be_claimed(nodes: Nodes, players: int) -> None:
    completed = 0
    for state, seat in nodes("ticket_to_ride_new_york", players, matches=2):
        seen = state.observation(seat)
        network = network_of(seen.box, seen.holders(), seat, players, seen.taxis[seat])
        plan = plan_of(network, seen.tickets).routes
        assert set(plan) <= set(state.available[seat])
        assert len(set(plan)) == len(plan)
        assert network.length_of(plan) <= state.taxis[seat]
        for ticket in seen.tickets:
            completed += network.joined(ticket, plan) and not network.joined(ticket, ())
    assert completed > 20


PLAY = """
import json, sys
from random import Random
from crosstown_greedy import POLICIES, best
from referee.games.api import resolve_options
from referee.games.keyed import random_outcome
from referee.games.registry import get_game
taken = []
for game_id in sorted(POLICIES):
    game, rng = get_game(game_id), Random(3)
    state = game.new_initial_state(2, resolve_options(game_id, game.options, {}))
    while not state.is_terminal():
        chosen = {}
        for seat in [decision.seat for decision in state.decisions()]:
            legal = state.legal_actions(seat)
            chosen[seat] = legal[best(POLICIES[game_id].worths(state.observation(seat), legal, seat), rng)]
        taken += map(game.format_action, chosen.values())
        if chosen:
            state.apply(chosen)
        else:
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
print(json.dumps(taken))
"""


def test_answers_do_not_hang_on_the_order_of_sets() -> None:
    taken = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", PLAY], env=environment, capture_output=True, check=True, text=True)
        taken.append(json.loads(done.stdout))
    assert taken[0] == taken[1]
    assert len(taken[0]) > 200


def test_subway_takes_a_greedy_monster_only_to_where_it_is_better_off() -> None:
    """After the last face it may pass, which is worth nothing: a ride to an equal borough must be worth less."""
    game = get_game("king_of_new_york")
    state: Any = game.new_initial_state(3, resolve_options(game.id, game.options, {"start_player": "seat_0"}))
    rng = Random(1)
    while not state.turn:
        if asked := state.decisions():
            state.apply({asked[0].seat: state.legal_actions(asked[0].seat)[0]})
        else:
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
    state.tasks = [(TURN, 0, 1, 0)]
    state.borough, state.space = [1, 2, 0], [6, 6, 0]
    state.tops, state.units = [0] * 15, [0] * 15
    state.run()
    legal = list(state.legal_actions(0))
    assert [game.format_action(action) for action in legal[:2]] == ["pass()", "ride(borough=queens)"]
    worths = POLICIES[game.id].worths(state.observation(0), legal, 0)
    assert worths[0] == 0.0
    assert all(worth < 0.0 for worth in worths[1:])
    state.units[3] = 4
    assert max(POLICIES[game.id].worths(state.observation(0), legal, 0)) > 0.0, "away from four Infantries"
