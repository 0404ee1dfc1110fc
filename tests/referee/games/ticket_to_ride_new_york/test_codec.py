"""Bytes and back; what is written by hand against what protobuf writes."""

from dataclasses import replace
from typing import Any

import pytest
from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import ActionSyntaxError
from referee.games.ticket_to_ride_new_york import GAME, codec
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import CARDS, Claim, Draw, DrawTickets, Keep, Pass, Stop, Take
from referee.games.ticket_to_ride_new_york.observation import COLUMNS, read_ledger, write_ledger

from . import recorded
from . import situations as sit

ACTIONS = [
    Pass(),
    Stop(),
    Draw(),
    *(Take(card) for card in CARDS),
    DrawTickets(),
    Claim("R40", "blue", 2),
    Claim("R41", "taxi", 3),
    Keep(("T07",)),
    Keep(("T07", "T18")),
]


@pytest.mark.parametrize("action", ACTIONS, ids=GAME.format_action)
def test_an_action_survives_bytes_and_text(action: Any) -> None:
    assert codec.decode_action(codec.encode_action(action)) == action
    assert GAME.parse_action(GAME.format_action(action)) == action


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Pass(), "pass()"),
        (Stop(), "stop()"),
        (Draw(), "draw()"),
        (Take("taxi"), "take(card=taxi)"),
        (DrawTickets(), "draw_tickets()"),
        (Claim("R40", "blue", 2), "claim(route=R40,card=blue,taxis=2)"),
        (Keep(("T07", "T18")), "keep(tickets=[T07,T18])"),
    ],
)
def test_canonical_text(action: Any, text: str) -> None:
    assert GAME.format_action(action) == text


@pytest.mark.parametrize(
    "text",
    ["", "draw", "draw(1)", "take()", "take(card=)", "claim(route=R40,card=blue)", "claim(card=blue,route=R40,taxis=0)",
     "claim(route=R40,card=blue,taxis=01)", "keep(tickets=T01)", "fly()", "claim(route=R40,card=blue,taxis=0) "],
)  # fmt: skip
def test_other_text_is_no_action(text: str) -> None:
    with pytest.raises(ActionSyntaxError):
        GAME.parse_action(text)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xff",
        pb.Action(take=pb.Take()).SerializeToString(),
        pb.Action(take=pb.Take(card=9)).SerializeToString(),  # type: ignore[arg-type]
        pb.Action(claim=pb.Claim(card=pb.CARD_RED)).SerializeToString(),
        pb.Action(claim=pb.Claim(route=100, card=pb.CARD_RED)).SerializeToString(),
        pb.Action(keep=pb.Keep(tickets=[0])).SerializeToString(),
        pb.Action(keep=pb.Keep(tickets=[100])).SerializeToString(),
    ],
)
def test_bytes_that_spell_no_action(data: bytes) -> None:
    with pytest.raises(ActionSyntaxError):
        codec.decode_action(data)


def test_a_legal_list_is_packed_in_columns() -> None:
    message = pb.LegalActions.FromString(codec.encode_actions(ACTIONS))
    assert list(message.kind) == [1, 2, 3, *[4] * 7, 5, 6, 6, 7, 7]
    assert list(message.card) == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0, 4, 7, 0, 0]
    assert list(message.number) == [0] * 11 + [40, 41, 7, 7]
    assert list(message.other) == [0] * 11 + [2, 3, 0, 18]
    assert codec.decode_actions(codec.encode_actions(ACTIONS)) == tuple(ACTIONS)


def test_an_empty_list_and_a_very_long_one() -> None:
    assert codec.decode_actions(codec.encode_actions([])) == ()
    many = [Claim("R40", "blue", 2)] * 900
    assert codec.decode_actions(codec.encode_actions(many)) == tuple(many)


@pytest.mark.parametrize(
    "message",
    [
        pb.LegalActions(kind=[3]),
        pb.LegalActions(kind=[8], card=[0], number=[0], other=[0]),  # type: ignore[list-item]
        pb.LegalActions(kind=[0], card=[0], number=[0], other=[0]),  # type: ignore[list-item]
        pb.LegalActions(kind=[4], card=[0], number=[0], other=[0]),  # type: ignore[list-item]
        pb.LegalActions(kind=[6], card=[1], number=[0], other=[0]),  # type: ignore[list-item]
        pb.LegalActions(kind=[7], card=[0], number=[0], other=[0]),  # type: ignore[list-item]
    ],
)
def test_columns_that_are_no_list_of_actions(message: pb.LegalActions) -> None:
    with pytest.raises(ActionSyntaxError):
        codec.decode_actions(message.SerializeToString())


@pytest.mark.slow
def test_everything_in_random_matches_survives() -> None:
    for seed, temper in enumerate(recorded.TEMPERS):
        for players in (2, 3, 4):
            for match in recorded.play(players, sit.options(), seed, temper, leaving=0.002):
                state = match.state
                for viewer in (None, *range(players)):
                    seen = state.observation(viewer)
                    data = codec.encode_observation(seen)
                    assert codec.decode_observation(data) == seen
                    message = codec.observation_message(seen)
                    assert pb.Observation.FromString(data) == message
                    assert codec.decode_observation(message.SerializeToString()) == seen
                for decision in state.decisions():
                    actions = tuple(state.legal_actions(decision.seat))
                    assert codec.decode_actions(codec.encode_actions(actions)) == actions
            for history in match.history.values():
                assert codec.decode_events(codec.encode_events(history)) == tuple(history)


def test_a_replaced_box_travels_with_the_observation() -> None:
    box = GAME.default_data()
    box["cards"]["taxi"] = 80
    state = GAME.new_initial_state(2, sit.options(data=box))
    seen = state.observation(0)
    assert seen.box
    assert codec.decode_observation(codec.encode_observation(seen)) == seen


def test_numbers_too_large_for_the_quick_way() -> None:
    seen = replace(sit.started(3).observation(1), epoch=300)
    assert codec.decode_observation(codec.encode_observation(seen)) == seen


@given(st.lists(st.binary(max_size=200), min_size=len(COLUMNS), max_size=len(COLUMNS)))
def test_a_ledger_of_any_numbers_is_the_message_it_says(columns: list[bytes]) -> None:
    data = write_ledger(columns)
    message = pb.Ledger.FromString(data)
    for name, column in zip(COLUMNS, columns, strict=True):
        assert list(getattr(message, name)) == list(column)
        assert getattr(read_ledger(data), name) == column


@pytest.mark.parametrize(
    "change",
    [
        {"row": [1, 2]},
        {"stage": 99},
        {"ledger": pb.Ledger(pools=[1, 2, 3])},
        {"ledger": pb.Ledger(owners=[1, 2], cards=[pb.CARD_RED])},
        {"ledger": pb.Ledger(offer_seats=[1])},
        {"ledger": pb.Ledger(owners=[256], cards=[pb.CARD_RED])},
        {"ledger": pb.Ledger(debts=[1, 2, 3])},
    ],
)
def test_bytes_that_are_no_observation(change: dict[str, Any]) -> None:
    message = codec.observation_message(sit.started(2).observation(0))
    for name, value in change.items():
        message.ClearField(name)  # type: ignore[arg-type]
        message.MergeFrom(pb.Observation(**{name: value}))
    with pytest.raises(ActionSyntaxError):
        codec.decode_observation(message.SerializeToString())


@pytest.mark.parametrize("data", [b"\xff\xff", b"\x0a\x00"])
def test_bytes_that_are_no_events(data: bytes) -> None:
    with pytest.raises(ActionSyntaxError):
        codec.decode_events(data)


def test_every_event_survives() -> None:

    payloads = (
        ev.FirstPlayer(2),
        ev.CardDrawn(1, ""),
        ev.CardDrawn(1, "taxi"),
        ev.CardTaken(0, "red"),
        ev.CardTurnedUp("pink"),
        ev.RowFlushed((1, 0, 0, 1, 0, 0, 3)),
        ev.DeckReshuffled((1, 2, 3, 4, 5, 6, 7)),
        ev.TicketDrawn(0, ""),
        ev.TicketDrawn(0, "T07"),
        ev.TicketsKept(0, 1, 1, (), ()),
        ev.TicketsKept(0, 1, 1, ("T01",), ("T02",)),
        ev.RouteClaimed(3, "R41", "black", 2),
        ev.Stopped(1),
        ev.Passed(1),
        ev.LastTurns(1),
        ev.SeatLeft(1),
        ev.SeatScore(1, 20, -12, 9, ("T01",), ("T02", "T03")),
    )
    assert codec.decode_events(codec.encode_events(payloads)) == payloads
    assert {payload.KIND for payload in payloads} == {field.name for field in pb.Event.DESCRIPTOR.oneofs[0].fields}
