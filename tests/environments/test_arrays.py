"""Observations and actions as arrays: what they say, what they hide, and that they are one to one."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from crosstown_env import GAMES, WAIT, Features, aec, arrays_of, parallel, single
from crosstown_env.actions import unpacked
from crosstown_env.table import Setup, Table

from referee.games.api import DataError, OptionError, PlayersError
from referee.games.registry import UnknownGame, get_game

Nodes = Callable[..., Iterator[Table]]
TABLES = [(game, players) for game in GAMES for players in get_game(game).player_counts]
HIDING = ("manhattan_traffiq", "ticket_to_ride_new_york")
"""The games in which seats hold something that others do not see."""

each_table = pytest.mark.parametrize(("game", "players"), TABLES)


def check_numbers(table: Table) -> None:
    """Every legal action has a number of its own, which stands for this action and no other."""
    arrays, seat = table.setup.arrays, table.seat
    seen, legal = table.seen(seat), table.state.legal_actions(seat)
    ids = arrays.ids(seen, legal)
    assert len(set(ids)) == len(ids) == len(legal)
    assert min(ids) > WAIT
    assert max(ids) < arrays.actions.size
    assert [arrays.action(seen, number) for number in ids] == list(legal)
    assert unpacked(arrays.numbers(table.state, seat)) == ids
    assert {arrays.actions.factors_of(number)[0] for number in ids} == {action.KIND for action in legal}


@pytest.mark.slow
@each_table
def test_every_legal_action_has_one_number_and_every_number_one_action(game: str, players: int, nodes: Nodes) -> None:
    for table in nodes(game, players, matches=4):
        check_numbers(table)


@pytest.mark.slow
@each_table
def test_actions_have_numbers_under_any_options(
    game: str, players: int, nodes: Nodes, options_of: Callable[[str, int, int], dict[str, Any]]
) -> None:
    for seed in range(3):
        for table in nodes(game, players, matches=1, options=options_of(game, players, seed), seed=seed):
            check_numbers(table)


@pytest.mark.parametrize("game", ["shibuya", "king_of_new_york", "ticket_to_ride_new_york"])
def test_all_numbers_stand_for_different_actions(game: str, nodes: Nodes) -> None:
    table = next(nodes(game, 2, matches=1))
    arrays, seen = table.setup.arrays, table.seen(table.seat)
    actions = [arrays.action(seen, number) for number in range(WAIT + 1, arrays.actions.size)]
    assert len(set(actions)) == len(actions)
    assert [arrays.ids(seen, [action]) for action in actions] == [[1 + place] for place in range(len(actions))]


@pytest.mark.parametrize("game", GAMES)
def test_a_number_outside_the_space_is_refused(game: str, nodes: Nodes) -> None:
    table = next(nodes(game, 2, matches=1))
    arrays, seen = table.setup.arrays, table.seen(table.seat)
    for number in (WAIT, -1, arrays.actions.size):
        with pytest.raises(ValueError, match=f"no action has the number {number}"):
            arrays.action(seen, number)


def test_a_number_that_names_a_place_beyond_the_map_is_refused(nodes: Nodes) -> None:
    table = next(nodes("manhattan_traffiq", 2, matches=1))
    arrays = table.setup.arrays
    last = arrays.actions.size - 1
    with pytest.raises(ValueError, match="names a place that this position does not have"):
        arrays.action(table.seen(table.seat), last)


@pytest.mark.slow
@each_table
def test_numbers_of_an_observation_are_within_their_ranges(game: str, players: int, nodes: Nodes) -> None:
    low = high = None
    for table in nodes(game, players, matches=3):
        layout = table.setup.arrays.layout
        low, high = (layout.low(), layout.high()) if low is None else (low, high)
        for viewer in range(players):
            row = np.frombuffer(table.row(viewer), np.int8)
            assert row.shape == (layout.size,)
            outside = [
                field.name
                for field, start in zip(layout.fields, layout.starts(), strict=True)
                if (row[start : start + field.size] < field.low).any()
                or (row[start : start + field.size] > field.high).any()
            ]
            assert not outside


@each_table
def test_a_bot_gets_the_same_array_and_numbers_from_the_wire(game: str, players: int, nodes: Nodes) -> None:
    codec = get_game(game).codec
    for table in nodes(game, players, matches=1):
        seat, arrays = table.seat, table.setup.arrays
        seen = codec.decode_observation(codec.encode_observation(table.seen(seat)))
        legal = codec.decode_actions(codec.encode_actions(table.state.legal_actions(seat)))
        assert arrays.row(seen, seat) == table.row(seat)
        assert arrays.ids(seen, legal) == table.ids(seat)


@each_table
def test_hidden_information_never_enters_an_array(game: str, players: int, nodes: Nodes) -> None:
    """All that a seat may not know is drawn again: its array and the numbers of its actions stay the same."""
    rng = Random(game)
    changed = 0
    for number, table in enumerate(nodes(game, players, matches=1)):
        if number % 4:
            continue
        state, arrays = table.state, table.setup.arrays
        for viewer in range(players):
            other = state.resample(viewer, rng)
            assert arrays.row(other.observation(viewer), viewer) == table.row(viewer)
            if viewer in table.asked:
                assert arrays.ids(other.observation(viewer), other.legal_actions(viewer)) == table.ids(viewer)
            changed += any(
                arrays.row(other.observation(seat), seat) != table.row(seat)
                for seat in range(players)
                if seat != viewer
            )
    assert bool(changed) == (game in HIDING)


@pytest.mark.parametrize("players", get_game("ticket_to_ride_new_york").player_counts)
def test_the_owner_of_a_route_is_the_same_number_in_library_wire_and_array(players: int, nodes: Nodes) -> None:
    from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb

    codec = get_game("ticket_to_ride_new_york").codec
    claimed = set()
    for table in nodes("ticket_to_ride_new_york", players, matches=1):
        seen = table.seen(table.seat)
        where = table.setup.arrays.layout.slice_of("owner")
        owners = tuple(pb.Observation.FromString(codec.encode_observation(seen)).owner)
        assert tuple(seen.owner) == owners == tuple(np.frombuffer(table.row(table.seat), np.int8)[where])
        assert owners == tuple(1 + seat for seat in table.state.owner)  # type: ignore[attr-defined]
        claimed.update(owners)
    assert claimed == set(range(players + 1))


@pytest.mark.parametrize("game", GAMES)
def test_a_name_on_the_wire_has_the_same_number_in_the_array(game: str, nodes: Nodes) -> None:
    from importlib import import_module

    messages = import_module(f"crosstown_proto.v1.{game}_pb2")
    codec = get_game(game).codec
    name = {"king_of_new_york": "question", "ticket_to_ride_new_york": "stage"}.get(game, "phase")
    for table in nodes(game, 2, matches=1):
        message = messages.Observation.FromString(codec.encode_observation(table.seen(0)))
        row = np.frombuffer(table.row(0), np.int8)
        assert row[table.setup.arrays.layout.slice_of(name)] == [getattr(message, name)]


def described(game: str, players: int) -> str:
    """The layout and the numbering of the actions as text."""
    arrays = arrays_of(game, players)
    fields = [
        (
            one.name,
            one.size,
            one.low,
            one.high,
            one.kind,
            one.names,
            one.over,
            one.holds,
            one.holds_from,
            one.holds_step,
        )
        for one in arrays.layout.fields
    ]
    return repr((fields, [(block.kind, block.factors) for block in arrays.actions.blocks]))


VERSIONS = {
    "king_of_new_york": (1, "54946605ebccbdb0"),
    "manhattan_traffiq": (1, "7541c2ac3dffb40d"),
    "shibuya": (1, "42d81671856c3252"),
    "ticket_to_ride_new_york": (1, "98b5d94ccc687c0e"),
}
"""Change an entry only together with the `version` of the game's arrays: trained networks depend on it."""


@pytest.mark.parametrize("game", GAMES)
def test_a_changed_layout_or_numbering_is_a_new_version(game: str) -> None:
    text = "".join(described(game, players) for players in get_game(game).player_counts)
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    assert (arrays_of(game, 2).version, digest) == VERSIONS[game]


@each_table
def test_features_count_seats_from_the_viewer(game: str, players: int, nodes: Nodes) -> None:
    """A field that runs over the seats begins with the viewer's own part."""
    setup = Setup(game, players, None, "rank")
    layout, features = setup.arrays.layout, Features(setup.arrays.layout, players)
    over = next(field for field in layout.fields if field.over and field.kind == "number")
    start = sum(
        field.size for field in layout.fields[: layout.fields.index(over)] if field.kind == "number"
    )  # numbers come first, in the order of the layout
    width = over.size // over.over
    for table in list(nodes(game, players, matches=1))[-20:]:
        rows = np.stack([np.frombuffer(table.row(viewer), np.int8) for viewer in range(players)])
        found = features(rows)
        assert found.shape == (players, features.size)
        assert found.dtype == np.float32
        assert np.abs(found).max() <= 1
        for viewer in range(players):
            part = viewer % over.over
            values = rows[viewer][layout.slice_of(over.name)].reshape(over.over, -1)
            shown = found[viewer, start : start + width] * max(abs(over.low), over.high)
            assert np.allclose(shown, values[part])


def test_features_name_the_viewer_as_seat_0_of_a_value(nodes: Nodes) -> None:
    setup = Setup("shibuya", 4, None, "rank")
    features = Features(setup.arrays.layout, 4)
    at = {}
    for table in list(nodes("shibuya", 4, matches=1))[-8:]:
        rows = np.stack([np.frombuffer(table.row(viewer), np.int8) for viewer in range(4)])
        for viewer, row in enumerate(features(rows)):
            at.setdefault((table.seat - viewer) % 4, []).append(row)
    same = {distance: np.flatnonzero(np.all(rows, axis=0)) for distance, rows in at.items()}
    for distance, flags in same.items():  # one feature says how far the seat to move is from the viewer
        others = [set(found) for other, found in same.items() if other != distance]
        assert set(flags) - set.union(*others)


def test_what_cannot_be_made_is_refused_with_the_reason() -> None:
    with pytest.raises(UnknownGame, match="unknown game 'chess'"):
        arrays_of("chess", 2)
    with pytest.raises(PlayersError, match="2 or 4 players, not 3"):
        arrays_of("shibuya", 3)
    with pytest.raises(OptionError, match="tile_set"):
        arrays_of("shibuya", 2, {"tile_set": "Q"})
    box = get_game("manhattan_traffiq").default_data()
    box["tile_sets"]["C"]["tiles"] = {"rrrr": 120}
    box["layouts"]["times_square"]["far"] = [{"x": 20, "y": 0, "face": "rrrr"}]
    with pytest.raises(DataError, match="the map may reach 141 cells far; arrays have room for 127"):
        arrays_of("manhattan_traffiq", 2, {"data": box, "times_square_layout": "far"})


@pytest.mark.parametrize(
    ("make", "package", "module"),
    [(aec, "pettingzoo", "multi_agent"), (parallel, "gymnasium", "multi_agent"), (single, "gymnasium", "single_agent")],
)
def test_without_the_extra_the_error_says_what_to_install(
    make: Callable[..., Any], package: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"crosstown_env.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ModuleNotFoundError, match=rf"{package} is not installed; .* pip install 'crosstown-arena\[env\]'"
    ):
        make("shibuya")
    assert arrays_of("shibuya", 2).layout.size == 296
