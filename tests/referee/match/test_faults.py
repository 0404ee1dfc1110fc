"""What ends a match and what does not, seat by seat: one rule per reason."""

from collections.abc import Callable
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb
from toy_game.burning import CardsBurn
from toy_game.game import ToyGame

from referee.match.decision import cut_note
from referee.match.seat import Wants
from referee.record import Answer, Dropped, FaultLine, read_record, verify
from referee.record.format import Line
from referee.record.reasons import EndReason, status_of
from referee.schedule.spec import Faults, Limits

Sit = Callable[..., Any]
R = EndReason


def lines_of(table: Any) -> tuple[Line, ...]:
    """All lines of its record, also those that would be written only if a decision lasted."""
    table.record.flush()
    return read_record(table.record.path).lines


def illegal_index(seat: Any) -> None:
    seat.move(seat.asked.legal_count)


def illegal_action(seat: Any) -> None:
    seat.move(action=b'{"kind":"guard","card":5}')


def malformed_action(seat: Any) -> None:
    seat.move(action=b"\xff\x00 hello")


def empty_move(seat: Any) -> None:
    seat.move(None)


def malformed_message(seat: Any) -> None:
    seat.say_raw(b"\xff\xff\xff\xff not protobuf")


def oversized_message(seat: Any) -> None:
    seat.move(0, note="x" * (1 << 20))


def resign(seat: Any) -> None:
    seat.resign()


def crash(seat: Any) -> None:
    seat.die()


def disconnect(seat: Any) -> None:
    seat.die(R.DISCONNECTED, "closed its stream")


def flood(seat: Any) -> None:
    for _ in range(101):
        seat.move(0, decision=77)


def bulk(seat: Any) -> None:
    """Few messages, but so large that reading them holds the referee up."""
    for _ in range(9):
        seat.move(0, decision=77, note="x" * 1_000_000)


DEEDS = [
    (illegal_index, R.ILLEGAL_ACTION, "expected 0 to"),
    (illegal_action, R.ILLEGAL_ACTION, "guard(card=5) in decision 3 is not one of the"),
    (malformed_action, R.MALFORMED_MESSAGE, "cannot be decoded"),
    (empty_move, R.MALFORMED_MESSAGE, "neither an index nor an action"),
    (malformed_message, R.MALFORMED_MESSAGE, "not a crosstown.v1.BotMessage"),
    (oversized_message, R.OVERSIZED_MESSAGE, "the limit is 1048576"),
    (resign, R.RESIGNED, "resigned"),
    (crash, R.CRASHED, "exit code 3"),
    (disconnect, R.DISCONNECTED, "closed its stream"),
    (bulk, R.WRONG_TURN_MESSAGE, "9 messages that answer nothing asked, of 90"),
    (flood, R.WRONG_TURN_MESSAGE, "101 messages that answer nothing asked"),
]
DEED_NAMES = [deed.__name__ for deed, _, _ in DEEDS]


@pytest.mark.parametrize(("deed", "reason", "said"), DEEDS, ids=DEED_NAMES)
async def test_a_fault_on_turn_loses_the_match_and_keeps_evidence(
    sit: Sit, deed: Callable[[Any], None], reason: EndReason, said: str
) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    deed(mover)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.fault_seat) == (reason, "rated", mover.number)
    assert said in outcome.detail
    assert outcome.ranking == ((2, 1) if mover.number == 0 else (1, 2))
    fault = table.match.faults[mover.number]
    assert (fault.reason, fault.evidence["decision"], fault.evidence["kind"]) == (reason, 3, "turn")
    assert fault.evidence["legal"][0] == "pass()"
    assert table.match.faults[other.number] is None
    for seat in table.seats:
        assert (seat.end.reason, seat.end.fault_seat, tuple(seat.end.ranking)) == (
            reason,
            mover.number,
            outcome.ranking,
        )
        assert said in seat.end.explanation
    assert verify(table.finish(outcome)).status == "ok"


@pytest.mark.parametrize(("deed", "reason", "said"), [item for item in DEEDS if "move" not in item[2]][4:])
async def test_a_fault_off_turn_frees_the_opponent_at_once(
    sit: Sit, deed: Callable[[Any], None], reason: EndReason, said: str
) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    deed(other)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (reason, other.number)
    assert outcome.ranking[mover.number] == 1
    assert mover.kinds[-2:] == ["cancel", "match_end"]
    assert verify(table.finish(outcome)).status == "ok"


@pytest.mark.parametrize(
    ("deed", "reason"),
    [(crash, R.START_FAILED), (malformed_message, R.START_FAILED), (resign, R.RESIGNED)],
)
async def test_before_the_match_has_begun_only_resigning_is_rated(
    sit: Sit, deed: Callable[[Any], None], reason: EndReason
) -> None:
    table = sit()
    table.seats[0].auto_ready = False
    await table.start()
    deed(table.seats[0])
    outcome = await table.outcome()
    assert outcome.reason is reason
    assert outcome.status == status_of(reason)
    assert outcome.ranking == (() if reason is R.START_FAILED else (2, 1))
    assert verify(table.finish(outcome)).status == "ok"


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"match": "m-0"}, "other_match"),
        ({"decision": 1}, "late_or_repeated"),
        ({"decision": 4}, "unknown_decision"),
        ({"decision": 0}, "unknown_decision"),
        ({"decision": 4_000_000_000}, "unknown_decision"),
    ],
)
async def test_an_answer_to_something_else_is_dropped_and_recorded(sit: Sit, change: dict[str, Any], kind: str) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.move(0, **change)
    await table.clock.turn(0.5)
    assert table.match.faults == (None, None)
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)
    dropped = [line for line in lines_of(table) if isinstance(line, Dropped)]
    assert [(line.seat, line.what) for line in dropped] == [(mover.number, kind)]
    assert dropped[0].message
    assert table.match.seat_stats[mover.number].dropped == 1


async def test_a_repeated_answer_is_dropped(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.move(0)
    mover.move(1)
    await table.play_to("turn", 1 - mover.number)
    lines = lines_of(table)
    assert [line.what for line in lines if isinstance(line, Dropped)] == ["late_or_repeated"]
    assert [line.action for line in lines if isinstance(line, Answer)][-1] == "pass()"


async def test_an_answer_of_a_seat_that_is_not_asked_is_dropped(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    table.seats[1 - mover.number].say(pb.BotMessage(move=pb.Move(match="m-1", decision=mover.asked.decision, index=0)))
    await table.clock.turn(0)
    assert table.match.faults == (None, None)
    assert len(table.open()) == 1


async def test_only_the_first_strays_of_a_seat_are_recorded_but_all_are_counted(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    for _ in range(100):
        mover.move(0, decision=77)
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)
    assert sum(isinstance(line, Dropped) for line in lines_of(table)) == 10
    assert table.match.seat_stats[mover.number].dropped == 100


async def test_what_comes_after_a_fault_is_ignored(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    mover = await table.play_to("turn")
    illegal_index(mover)
    for _ in range(200):
        mover.move(0)
    crash(mover)
    await table.clock.turn(0)
    assert table.match.faults[mover.number].reason is R.ILLEGAL_ACTION
    assert table.match.seat_stats[mover.number].dropped == 0


async def test_a_crash_wins_over_a_time_out(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(1)
    mover.ending = True  # the stream has ended, the exit code is not known yet
    await table.clock.turn(1)
    assert not table.task.done()
    mover.die()
    assert (await table.outcome()).reason is R.CRASHED


async def test_a_bot_that_closes_its_stream_and_computes_on_is_given_up_soon_after_its_limit(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.5)
    mover.ending, mover.state = True, "R"
    await table.clock.turn(1.5)
    assert not table.task.done()
    await table.clock.turn(0.1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.DISCONNECTED, mover.number)
    evidence = table.match.faults[mover.number].evidence
    assert (evidence["process_state"], evidence["limit_us"]) == ("R", 1_010_000)
    assert verify(table.finish(outcome)).status == "ok"


@pytest.mark.parametrize("deed", [crash, resign, flood, malformed_message])
async def test_the_times_of_a_fault_are_those_at_which_it_happened(sit: Sit, deed: Callable[[Any], None]) -> None:
    """Also where its decision was looked at before, when its limit had passed and time was given back."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.5)
    mover.waited += 5_000_000_000
    await table.clock.turn(2.5)
    deed(mover)
    await table.clock.turn(0)
    assert table.match.faults[mover.number].evidence["wall_us"] == 3_000_000


async def test_an_answer_just_before_the_end_of_the_process_counts(sit: Sit) -> None:
    table = sit(rounds=1)
    await table.start()
    last = await table.play_to("turn", 1)
    last.move(0)
    last.die()
    outcome = await table.outcome()
    assert (outcome.reason, table.match.faults) == (R.NORMAL, (None, None))


async def test_three_players_play_on_without_the_one_who_left(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    await table.play_to("turn", 1)
    crash(table.seats[1])
    await table.clock.turn(0)
    assert not table.task.done()
    assert table.seats[1].dismissed
    assert (table.seats[1].end.reason, tuple(table.seats[1].end.ranking)) == ("crashed", ())
    for _ in range(60):
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking[1]) == (R.NORMAL, "rated", 3)
    assert [fault is not None for fault in table.match.faults] == [False, True, False]
    path = table.finish(outcome)
    assert [line.seat for line in read_record(path).lines if isinstance(line, FaultLine)] == [1]
    assert verify(path).status == "ok"


async def test_seats_rank_in_order_of_leaving(sit: Sit) -> None:
    table = sit(4)
    await table.start()
    await table.play_to("turn", 2)
    crash(table.seats[2])
    await table.clock.turn(0)
    await table.play_to("turn", 0)
    crash(table.seats[0])
    await table.clock.turn(0)
    await table.play_to("turn", 3)
    crash(table.seats[3])
    outcome = await table.outcome()
    assert (outcome.reason, outcome.ranking, outcome.fault_seat) == (R.CRASHED, (3, 1, 4, 2), 3)
    assert verify(table.finish(outcome)).status == "ok"


async def test_faults_of_one_node_are_settled_together_at_its_last_answer(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    illegal_index(table.seats[2])
    await table.clock.turn(1)
    assert table.seats[2].kinds[-1] == "decide"  # it learns nothing before the others have answered
    illegal_index(table.seats[0])
    await table.clock.turn(1)
    assert not table.task.done()
    table.seats[1].move(0)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.ranking, outcome.fault_seat) == (R.ILLEGAL_ACTION, (2, 1, 2), None)
    assert "seat 0 (bot 0)" in outcome.detail
    assert "seat 2 (bot 2)" in outcome.detail
    assert verify(table.finish(outcome)).status == "ok"


async def test_answers_of_others_at_the_same_node_still_count(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    table.seats[1].move(1)
    illegal_index(table.seats[0])
    table.seats[2].move(0)
    await table.clock.turn(0)
    answers = [line for line in lines_of(table) if isinstance(line, Answer)]
    assert [(line.seat, table.seats[line.seat].decides[0].kind) for line in answers] == [(1, "stash"), (2, "stash")]
    assert [len(table.seats[seat].decides) for seat in (1, 2)] == [2, 1]


async def test_everyone_at_fault_shares_the_rank(sit: Sit) -> None:
    table = sit()
    await table.start()
    crash(table.seats[0])
    illegal_index(table.seats[1])
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (R.EVERYONE_FAULTED, "rated", (1, 1))
    assert outcome.returns == ()
    assert verify(table.finish(outcome)).status == "ok"


async def test_answers_that_others_leaving_made_impossible_are_asked_for_again(sit: Sit) -> None:
    table = sit(3, game=ToyGame(CardsBurn))
    await table.start()
    before = [seat.asked.decision for seat in table.seats]
    table.seats[1].move(0)
    table.seats[2].move(0)
    await table.clock.turn(0.5)
    illegal_index(table.seats[0])
    await table.clock.turn(0)
    assert [seat.asked.kind for seat in table.seats[1:]] == ["stash", "stash"]
    assert [seat.asked.decision for seat in table.seats[1:]] == [before[2] + 1, before[2] + 2]
    lines = lines_of(table)
    assert [(line.seat, line.what) for line in lines if isinstance(line, Dropped)] == [
        (1, "superseded"),
        (2, "superseded"),
    ]
    await table.clock.turn(0.9)  # they have their full time again
    for seat in table.seats[1:]:
        seat.move(0)
    await table.play_to("turn", 1)


async def test_a_choice_that_a_strike_has_cost_stays_lost_when_the_node_is_asked_again(sit: Sit) -> None:
    """The referee makes it also then, and what it chose before counts for nobody as a message that was dropped."""
    table = sit(4, game=ToyGame(CardsBurn), faults=Faults("forfeit", 1))
    await table.start()
    table.seats[1].move(0)
    table.seats[3].move(0)
    table.seats[2].move(99)
    table.seats[0].die()
    await table.clock.turn(0)
    assert [seat.number for seat in table.open()] == [1, 3]
    assert [stats.dropped for stats in table.match.seat_stats] == [0, 1, 0, 1]
    for _ in range(200):
        for seat in table.open():
            seat.move(seat.asked.legal_count - 1)
        await table.clock.turn(0)
    outcome = await table.outcome()
    assert outcome.reason is R.NORMAL
    verdict = verify(table.finish(outcome), lambda _: table.game)
    assert verdict.status == "ok", verdict


async def test_who_thinks_is_not_disturbed_by_another_leaving(sit: Sit) -> None:
    table = sit(3)
    await table.start()
    mover = await table.play_to("turn", 0)
    table.seats[1].resign()
    await table.clock.turn(0.5)
    actions = table.game.codec.decode_actions(mover.asked.legal_actions)
    mover.move(next(i for i, action in enumerate(actions) if table.game.format_action(action).startswith("rob(seat=1")))
    await table.play_to("turn", 2)
    lines = lines_of(table)
    assert [type(line) for line in lines[-2:]] == [Answer, FaultLine]
    assert table.match.faults[0] is None


async def test_notes_are_kept_and_cut(sit: Sit) -> None:
    table = sit(limits=Limits(max_note_bytes=10))
    await table.start()
    table.seats[0].move(0, note="short")
    table.seats[1].move(0, note="\u2603" * 5)
    await table.play_to("turn")
    notes = [line.note for line in lines_of(table) if isinstance(line, Answer)]
    assert notes == ["short", "\u2603" * 3]


@pytest.mark.parametrize(
    ("note", "limit", "kept"),
    [("abc", 2, "ab"), ("a\u00e9", 2, "a"), ("\U0001f600", 3, ""), ("\U0001f600", 4, "\U0001f600"), ("abc", 0, "")],
)
def test_a_note_is_cut_between_characters(note: str, limit: int, kept: str) -> None:
    assert cut_note(note, limit) == kept


async def test_a_cancelled_match_tells_its_seats(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    table.task.cancel()
    await table.clock.turn(0)
    assert table.task.cancelled()
    assert [seat.end.reason for seat in table.seats] == ["cancelled", "cancelled"]
    assert mover.kinds[-2:] == ["cancel", "match_end"]


def test_every_reason_has_its_status() -> None:
    void = {R.START_FAILED, R.SUSPECT_TIMEOUT, R.PROVIDER_ERROR_VOID, R.PLATFORM_FAULT}
    assert {reason for reason in R if status_of(reason) == "void"} == void
    assert {reason for reason in R if status_of(reason) == "cancelled"} == {R.CANCELLED}


async def test_a_bot_that_wants_less_is_sent_less(sit: Sit) -> None:
    table = sit(wants=Wants(observation=False, legal_actions=False))
    await table.start()
    asked = table.seats[0].asked
    assert (asked.observation, asked.legal_actions) == (b"", b"")
    assert asked.legal_count > 0
    assert asked.HasField("text") is False
