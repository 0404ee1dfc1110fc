"""Observations, actions, lists and events to bytes and back."""

from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest
from crosstown_proto.v1 import king_of_new_york_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.king_of_new_york import GAME, actions, events
from referee.games.king_of_new_york.codec import generated_bytes
from referee.games.king_of_new_york.observation import PARTS, Observation

from . import matches
from .scenes import Scene

CODEC = GAME.codec
CARDS = [card["id"] for card in GAME.default_data()["cards"]]


def every_action() -> list[Any]:
    """Each kind with several values of its fields."""
    found: list[Any] = []
    for group in (
        *(actions.PLACES, actions.MOVES, actions.DASHES, actions.RIDES, actions.FLEES, actions.LEAVES),
        *(actions.REDIRECTS, actions.BUILDING_TARGETS, actions.RESOLVES, actions.HAILS),
        *(*actions.PUSHES, *actions.UNIT_TARGETS, *actions.SWAPS),
    ):
        found += group
    found += [actions.PASS, actions.KEEP, actions.STAY, actions.SWEEP, actions.SHED, actions.GIVE_UP]
    found += [make(card) for make in (actions.Buy, actions.Scavenge, actions.Discard) for card in CARDS]
    found += [actions.Reroll((8, 0, 0, 0, 0, 0)), actions.Reroll((0, 1, 2, 3, 1, 1)), actions.Convert(8, 0, 7)]
    found += [actions.Remove("heart", 3), actions.Remove("attack", 13), actions.Photo(5)]
    found += [make(value) for make in (actions.Trade, actions.Absorb, actions.Pay) for value in (0, 1, 15, 16, 40)]
    return found


def test_every_kind_of_action_is_covered() -> None:
    assert {type(action) for action in every_action()} == set(actions.CLASSES)


@pytest.mark.parametrize("action", every_action(), ids=GAME.format_action)
def test_actions_round_trip_in_text_bytes_and_columns(action: Any) -> None:
    assert GAME.parse_action(GAME.format_action(action)) == action
    assert CODEC.decode_action(CODEC.encode_action(action)) == action
    assert CODEC.decode_actions(CODEC.encode_actions([action])) == (action,)


def test_a_whole_list_round_trips_and_its_bytes_are_kept() -> None:
    listed = tuple(every_action())
    first = CODEC.encode_actions(listed)
    assert CODEC.decode_actions(first) == listed
    assert CODEC.encode_actions(listed) is first
    assert CODEC.encode_actions(list(listed)) == first


def test_columns_are_what_the_generated_classes_write() -> None:
    listed = [actions.PASS, actions.Reroll((1, 2, 0, 0, 3, 0)), actions.Buy("stomp"), actions.Trade(20)]
    message = pb.LegalActions.FromString(CODEC.encode_actions(listed))
    assert list(message.kinds) == [1, 5, 21, 26]
    assert list(message.values) == [0, 1 + (2 << 4) + (3 << 16), CARDS.index("stomp"), 20]


def test_events_round_trip_in_random_matches() -> None:
    kinds = set()
    for seed in range(8):
        rng = Random(seed)
        state = GAME.new_initial_state(5, matches.options(data=matches.cheap_data()))
        while not state.is_terminal():
            payloads = tuple(event.public for event in matches.step(state, rng))
            assert CODEC.decode_events(CODEC.encode_events(payloads)) == payloads
            kinds |= {type(payload) for payload in payloads}
    assert set(events.CLASSES) - kinds <= {events.Withdrew, events.Reshuffled}


@pytest.mark.parametrize("payload", [events.Withdrew(3), events.Reshuffled(40), events.GoalMoved("superstar", -1, 2)])
def test_rare_events_round_trip(payload: Any) -> None:
    assert CODEC.decode_events(CODEC.encode_events([payload])) == (payload,)


def test_no_events_are_no_bytes() -> None:
    assert CODEC.encode_events([]) == b""
    assert CODEC.decode_events(b"") == ()


def same(first: bytes, second: bytes) -> bool:
    return bool(pb.Observation.FromString(first) == pb.Observation.FromString(second))


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_observations_round_trip_and_the_hand_written_bytes_are_the_generated_ones(players: int) -> None:
    def visit(state: Any) -> None:
        seen = state.observation(0)
        data = CODEC.encode_observation(seen)
        assert CODEC.decode_observation(data) == seen
        assert same(data, generated_bytes(seen))

    matches.wander(players, 5, visit, matches.options(data=matches.cheap_data(), round_cap=12))
    matches.wander(players, 5, visit)


def with_value(seen: Observation, part: str, name: str, value: Any) -> Observation:
    """The observation with one field of one part changed."""
    new: Observation = replace(seen, **{part: replace(getattr(seen, part), **{name: value})})
    return new


def test_every_field_reaches_the_other_side() -> None:
    seen = Scene("q b m0").final("aahhcc").state.observation(0)
    marked = seen
    for number, part in enumerate(PARTS):
        for place, field in enumerate(fields(getattr(seen, part))):
            value = getattr(getattr(marked, part), field.name)
            mark = 1 + number + place
            changed = tuple(item % 50 + mark for item in value) or (mark,) if isinstance(value, tuple) else mark
            marked = with_value(marked, part, field.name, changed)
    marked = replace(
        marked, asked_seat=5, active_seat=4, order_seat=3, turn=99, deaths=3, left=9, winner_seat=2, reason="painbow"
    )
    data = CODEC.encode_observation(marked)
    assert CODEC.decode_observation(data) == marked
    assert same(data, generated_bytes(marked))


@pytest.mark.parametrize("big", [127, 128, 255, 256, 1000])
@pytest.mark.parametrize(
    ("part", "name"),
    [
        *(("seats", name) for name in ("vp", "energy")),
        *(("holdings", name) for name in ("turns", "defence_rolls")),
        *(("turn_state", name) for name in ("gained", "dealt", "hit", "trades")),
        ("cards", "epoch"),
    ],
)
def test_values_too_large_for_the_quick_way_take_the_slow_one(part: str, name: str, big: int) -> None:
    seen = Scene("q b m0").final("aahhcc").state.observation(0)
    value = getattr(getattr(seen, part), name)
    large = with_value(seen, part, name, (big, *value[1:]) if isinstance(value, tuple) else big)
    assert CODEC.decode_observation(CODEC.encode_observation(large)) == large


def test_a_high_turn_number_takes_the_slow_way() -> None:
    seen = replace(Scene("q b m0").final("aahhcc").state.observation(0), turn=500)
    assert CODEC.decode_observation(CODEC.encode_observation(seen)) == seen


def test_sets_of_cards_use_all_64_bits() -> None:
    seen = Scene("q b m0").state.observation(0)
    full = with_value(with_value(seen, "holdings", "keep_cards", (1 << 63, 1, 0)), "cards", "deck", (1 << 64) - 1)
    assert CODEC.decode_observation(CODEC.encode_observation(full)) == full


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        pb.Action(buy=pb.Buy(card=pb.Card.ValueType(64))).SerializeToString(),
        pb.Action(move=pb.Move(borough=pb.Borough.ValueType(5))).SerializeToString(),
        pb.Action(reroll=pb.Reroll(counts=[1, 2])).SerializeToString(),
    ],
)
def test_bytes_that_are_no_action_are_refused(data: bytes) -> None:
    with pytest.raises(ActionSyntaxError):
        CODEC.decode_action(data)


@pytest.mark.parametrize(
    "message",
    [
        pb.LegalActions(kinds=[pb.LegalActions.KIND_PASS]),
        pb.LegalActions(kinds=[pb.LegalActions.Kind.ValueType(30)], values=[0]),
        pb.LegalActions(kinds=[pb.LegalActions.KIND_UNSPECIFIED], values=[0]),
        pb.LegalActions(kinds=[pb.LegalActions.KIND_MOVE], values=[7]),
    ],
)
def test_lists_that_do_not_fit_are_refused(message: pb.LegalActions) -> None:
    with pytest.raises(ActionSyntaxError):
        CODEC.decode_actions(message.SerializeToString())


@pytest.mark.parametrize("decode", ["decode_observation", "decode_actions", "decode_events", "decode_action"])
def test_garbage_is_a_syntax_error(decode: str) -> None:
    with pytest.raises(ActionSyntaxError, match=r"these 3 bytes are no [A-Za-z]+ message"):
        getattr(CODEC, decode)(b"\x0a\xff\xff")


def test_card_numbers_on_the_wire_are_the_places_in_the_data() -> None:
    assert dict(pb.Card.items()) == {f"CARD_{card.upper()}": number for number, card in enumerate(CARDS)}
