"""What a seat is told: its own view, each event once, text and updates only on request."""

import json
from collections.abc import Callable
from typing import Any

from referee.games.keyed import KeyedChance
from referee.match.play import bot_seed
from referee.match.seat import Wants

Sit = Callable[..., Any]


def events_of(table: Any, data: bytes) -> list[Any]:
    return list(table.game.codec.decode_events(data)) if data else []


def told(table: Any, seat: Any) -> list[Any]:
    """All event payloads that a seat was sent, in order."""
    found = []
    for message in seat.sent:
        body = getattr(message, message.WhichOneof("body"))
        found += events_of(table, getattr(body, "events", b""))
    return found


async def play_out(table: Any, index: int = 0) -> None:
    for _ in range(100):
        for seat in table.open():
            seat.move(index % seat.asked.legal_count)
        await table.clock.turn(0)
    await table.outcome()


async def test_match_start_says_all_that_is_fixed(sit: Sit) -> None:
    table = sit(3, rounds=2)
    await table.start()
    starts = [seat.sent[0].match_start for seat in table.seats]
    assert [start.seat for start in starts] == [0, 1, 2]
    assert {start.match for start in starts} == {"m-1"}
    assert {(start.game, start.rules_version, start.players) for start in starts} == {("toy", 1, 3)}
    assert json.loads(starts[0].options) == {"rounds": 2, "peeking": True}
    assert list(starts[0].teams) == [0, 1, 2]
    assert len({start.bot_seed for start in starts}) == 3
    assert all(start.bot_seed < 2**63 for start in starts)


def test_a_bot_seed_is_fixed_by_match_seed_and_seat() -> None:
    assert bot_seed("00ff", 0) == bot_seed("00ff", 0)
    assert len({bot_seed(seed, seat) for seed in ("00ff", "00fe") for seat in range(4)}) == 8


async def test_each_seat_sees_its_own_account_of_each_event_once(sit: Sit) -> None:
    table = sit()
    await table.start()
    await play_out(table, 3)
    history = table.match._events
    for seat in table.seats:
        assert told(table, seat) == [event.seen_by(seat.number) for event in history]


async def test_observation_and_legal_list_are_those_of_the_seat(sit: Sit) -> None:
    table = sit()
    await table.start()
    for seat in table.seats:
        observation = table.game.codec.decode_observation(seat.asked.observation)
        assert observation == table.match._state.observation(seat.number)
        actions = table.game.codec.decode_actions(seat.asked.legal_actions)
        assert actions == tuple(table.match._state.legal_actions(seat.number))
        assert len(actions) == seat.asked.legal_count


async def test_text_comes_on_request(sit: Sit) -> None:
    table = sit(wants=Wants(text=True, observation=False, legal_actions=False))
    await table.start()
    asked = table.seats[0].asked
    assert "your hand" in asked.text.board
    assert len(asked.text.actions) == asked.legal_count
    assert asked.text.actions[0].startswith("stash a card of value")


async def test_updates_come_on_request_while_others_move(sit: Sit) -> None:
    table = sit(wants=Wants(updates=True))
    await table.start()
    await table.play_to("turn", 0)
    assert table.seats[1].kinds == ["match_start", "decide", "update"]
    await play_out(table)
    for seat in table.seats:
        assert told(table, seat) == [event.seen_by(seat.number) for event in table.match._events]


async def test_a_seat_that_has_seen_everything_gets_no_update(sit: Sit) -> None:
    table = sit(wants=Wants(updates=True), rounds=2)
    await table.start()
    await play_out(table)
    updates = [message.update for seat in table.seats for message in seat.sent if message.HasField("update")]
    assert updates
    assert all(events_of(table, update.events) for update in updates)


async def test_without_the_wish_there_are_no_updates(sit: Sit) -> None:
    table = sit()
    await table.start()
    await play_out(table)
    assert all("update" not in seat.kinds for seat in table.seats)


async def test_decision_numbers_ascend_over_all_seats(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    await play_out(table)
    numbers = sorted(decide.decision for seat in table.seats for decide in seat.decides)
    assert numbers == list(range(1, len(numbers) + 1))


async def test_chance_follows_the_match_seed(sit: Sit) -> None:
    table = sit()
    await table.start()
    chance = KeyedChance(bytes.fromhex(table.spec.seed))
    state = table.game.new_initial_state(2, table.spec.options)
    while state.chance_outcomes():
        state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
    assert state.to_dict() == table.match._state.to_dict()


async def test_match_end_tells_ranking_and_returns(sit: Sit) -> None:
    table = sit()
    await table.start()
    await play_out(table)
    outcome = await table.outcome()
    for seat in table.seats:
        assert tuple(seat.end.ranking) == outcome.ranking
        assert tuple(seat.end.returns) == outcome.returns
        assert (seat.end.reason, seat.end.explanation) == ("normal", "")
        assert not seat.end.HasField("fault_seat")
