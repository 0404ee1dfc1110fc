"""What a fault means under each policy: strikes, the referee's own choices, ranking, teams; every record verifies."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_game.game import ToyGame

from referee.games.registry import get_game
from referee.match import EndReason, Faults, SpecError
from referee.match.result import Outcome
from referee.record import Answer, FaultLine, Strike, read_record, verify
from referee.record.replay import Replay, ReplayError

Sit = Callable[..., Any]
R = EndReason


async def play_out(table: Any) -> Outcome:
    for _ in range(200):
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    return await table.outcome()


async def check(table: Any, outcome: Outcome) -> list[Any]:
    """The fault lines of the record, which must verify."""
    path = table.finish(outcome)
    verdict = verify(path, lambda _: table.game)
    assert verdict.status == "ok", verdict
    return [line for line in read_record(path).lines if isinstance(line, Strike | FaultLine)]


async def test_a_strike_costs_the_choice_and_nothing_else(sit: Sit) -> None:
    """TIM-11, CRA-2: the soft limit; the answer is the game's default, legal and in the record."""
    table = sit(faults=Faults("forfeit", 2))
    await table.start()
    mover = await table.play_to("turn")
    mover.move(99)
    await table.play_to("turn", 1 - mover.number)
    assert not mover.dismissed
    await table.play_to("turn", mover.number)
    await table.clock.turn(1.1)
    outcome = await play_out(table)
    assert (outcome.reason, outcome.status) == (R.NORMAL, "rated")
    lines = await check(table, outcome)
    assert [(line.seat, line.reason, line.effect) for line in lines] == [
        (mover.number, R.ILLEGAL_ACTION, "choice"),
        (mover.number, R.MOVE_TIMEOUT, "choice"),
    ]
    fault = table.match.faults[mover.number]
    assert (fault.reason, fault.evidence["strikes"]) == (R.MOVE_TIMEOUT, 2)


async def test_the_fault_after_the_last_strike_forfeits(sit: Sit) -> None:
    table = sit(faults=Faults("forfeit", 1))
    await table.start()
    mover = await table.play_to("turn")
    mover.move(99)
    await table.play_to("turn", 1 - mover.number)
    await table.play_to("turn", mover.number)
    mover.move(99)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.ILLEGAL_ACTION, mover.number)
    assert outcome.ranking[mover.number] == 2
    assert len(await check(table, outcome)) == 2


async def test_a_late_answer_after_a_strike_is_dropped(sit: Sit) -> None:
    """TIM-4"""
    table = sit(faults=Faults("forfeit", 1))
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(1.1)
    late = mover.decides[-1]
    await table.play_to("turn", 1 - mover.number)
    mover.move(1, decision=late.decision)
    assert table.match.seat_stats[mover.number].dropped == 1
    assert (await play_out(table)).reason is R.NORMAL


@pytest.mark.parametrize("policy", ["default", "random"])
async def test_a_crashed_bot_is_played_on_by_the_referee(sit: Sit, policy: Any) -> None:
    table = sit(faults=Faults(policy), rounds=3)
    await table.start()
    mover = await table.play_to("turn", 1)
    mover.die()
    await table.clock.turn(0)
    assert not table.task.done()
    assert (mover.dismissed, mover.end.reason) == (True, "crashed")
    outcome = await play_out(table)
    assert (outcome.reason, outcome.status) == (R.NORMAL, "rated")
    assert outcome.ranking == tuple(table.match._state.ranking())
    assert [line.effect for line in await check(table, outcome)] == ["taken"]
    assert table.match.faults[1].reason is R.CRASHED


async def test_random_choices_are_made_by_the_seed(sit: Sit, tmp_path: Path) -> None:
    table = sit(faults=Faults("random"), rounds=12)
    await table.start()
    await table.play_to("turn", 1)
    table.seats[1].die()
    outcome = await play_out(table)
    path = table.finish(outcome)
    answers = [line.action for line in read_record(path).lines if isinstance(line, Answer) and line.seat == 1]
    assert len(set(answers)) > 2


async def test_a_changed_choice_of_the_referee_is_found(sit: Sit) -> None:
    table = sit(faults=Faults("default"))
    await table.start()
    await table.play_to("turn", 1)
    table.seats[1].die()
    path = table.finish(await play_out(table))
    record = read_record(path)
    at = max(n for n, line in enumerate(record.lines) if isinstance(line, Answer) and line.seat == 1)
    state = None
    for step in Replay(record.header, record.lines[:at], table.game, record.footer.seed):
        state = step.state
    other = table.game.format_action(state.legal_actions(1)[1])
    lines = (*record.lines[:at], replace(record.lines[at], action=other), *record.lines[at + 1 :])
    with pytest.raises(ReplayError, match="the referee's answer for seat 1"):
        list(Replay(record.header, lines, table.game, record.footer.seed))


async def test_who_resigns_leaves_under_every_policy(sit: Sit) -> None:
    table = sit(3, faults=Faults("default", 5))
    await table.start()
    await table.play_to("turn", 2)
    table.seats[1].resign()
    outcome = await play_out(table)
    assert outcome.ranking[1] == 3
    assert [type(line) for line in await check(table, outcome)] == [FaultLine]


async def test_when_no_bot_is_left_everyone_has_faulted(sit: Sit) -> None:
    table = sit(3, faults=Faults("default"))
    await table.start()
    await table.play_to("turn", 0)
    table.seats[2].die()
    await table.clock.turn(0)
    table.seats[1].resign()
    await table.clock.turn(0)
    assert not table.task.done()
    table.seats[0].die()
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.returns) == (R.EVERYONE_FAULTED, "rated", ())
    assert len(await check(table, outcome)) == 3


async def test_a_strike_off_turn_costs_no_choice(sit: Sit) -> None:
    table = sit(faults=Faults("forfeit", 1))
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    other.say_raw(b"\xff\xff\xff")
    mover.move(0)
    await table.clock.turn(0)
    assert other in table.open()
    other.move(1)
    outcome = await play_out(table)
    assert outcome.reason is R.NORMAL
    assert [(line.seat, line.effect) for line in await check(table, outcome)] == [(other.number, "none")]


async def test_a_strike_on_an_answered_decision_keeps_the_answer(sit: Sit) -> None:
    table = sit(3, faults=Faults("forfeit", 1))
    await table.start()
    table.seats[1].move(1)
    table.seats[1].say_raw(b"\xff\xff\xff")
    table.seats[0].move(99)
    table.seats[2].move(0)
    await table.clock.turn(0)
    outcome = await play_out(table)
    assert [(line.seat, line.effect) for line in await check(table, outcome)] == [(0, "choice"), (1, "none")]


async def test_floods_and_ends_of_processes_are_beyond_strikes(sit: Sit) -> None:
    table = sit(faults=Faults("forfeit", 100))
    await table.start()
    mover = await table.play_to("turn")
    for _ in range(101):
        mover.move(0, decision=9999)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.WRONG_TURN_MESSAGE, mover.number)


async def test_a_message_that_ended_the_stream_is_beyond_strikes(sit: Sit) -> None:
    table = sit(faults=Faults("forfeit", 100))
    await table.start()
    mover = await table.play_to("turn")
    mover.die(R.OVERSIZED_MESSAGE, "a message of 20971528 bytes, which ended the stream")
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.OVERSIZED_MESSAGE, mover.number)


def flood(seat: Any) -> None:
    for number in range(200):
        if number % 2:
            seat.move(0, decision=9999)
        else:
            seat.say_raw(b"\xff\xff")


def resign(seat: Any) -> None:
    seat.resign()


@pytest.mark.parametrize("on_turn", [True, False])
@pytest.mark.parametrize(
    ("deed", "reason", "said"),
    [
        (flood, R.WRONG_TURN_MESSAGE, "101 messages that answer nothing asked"),
        (resign, R.RESIGNED, "resigned"),
    ],
)
async def test_a_fault_that_a_strike_pays_for_hides_nothing_that_comes_after_it(
    sit: Sit, deed: Callable[[Any], None], reason: EndReason, said: str, on_turn: bool
) -> None:
    """It waits for the others' answers meanwhile."""
    table = sit(3, faults=Faults("forfeit", 3))
    await table.start()
    if not on_turn:
        await table.play_to("turn", 0)
    seat = table.seats[1]
    if on_turn:
        seat.move(99)
    else:
        seat.say_raw(b"\xff\xff")
    deed(seat)
    outcome = await play_out(table)
    fault = table.match.faults[1]
    assert (fault.reason, outcome.ranking[1]) == (reason, 3)
    assert fault.detail.startswith(said)
    assert "(before that: " in fault.detail
    assert ("decision" in fault.evidence) == on_turn
    assert [type(line) for line in await check(table, outcome)] == [FaultLine]


async def test_a_few_messages_after_a_fault_that_a_strike_pays_for_cost_nothing_more(sit: Sit) -> None:
    table = sit(faults=Faults("forfeit", 1))
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    for _ in range(20):
        other.say_raw(b"\xff\xff")
    mover.move(0)
    outcome = await play_out(table)
    assert outcome.reason is R.NORMAL
    assert [line.effect for line in await check(table, outcome)] == ["none"]
    assert table.match.seat_stats[other.number].dropped == 19


async def test_no_strike_pays_for_what_a_bot_did_before_it_exited(sit: Sit) -> None:
    """Nor is the opponent waited for: its exit decides the match at once."""
    table = sit(faults=Faults("forfeit", 1))
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    other.say_raw(b"\xff\xff")
    await table.clock.turn(0)
    assert not table.task.done()
    other.die()
    outcome = await table.outcome()
    assert (outcome.reason, outcome.fault_seat) == (R.MALFORMED_MESSAGE, other.number)
    assert [type(line) for line in await check(table, outcome)] == [FaultLine]


async def test_a_bot_with_strikes_that_is_gone_while_others_still_answer_is_not_asked_again(sit: Sit) -> None:
    table = sit(3, faults=Faults("forfeit", 5))
    await table.start()
    table.seats[1].move(99)
    table.seats[1].die()
    table.seats[0].move(0)
    table.seats[2].move(0)
    outcome = await play_out(table)
    assert (outcome.reason, outcome.ranking[1]) == (R.NORMAL, 3)
    assert [(type(line), line.reason) for line in await check(table, outcome)] == [(FaultLine, R.ILLEGAL_ACTION)]


async def play_to_the_last_answer(table: Any) -> Any:
    """The seat whose answer ends the game: with three seats and first actions that is the fifteenth."""
    for _ in range(14):
        [seat, *_] = table.open()
        seat.move(0)
        await table.clock.turn(0)
    [last] = table.open()
    return last


@pytest.mark.parametrize(
    ("faults", "deed", "reason", "written", "rank"),
    [
        (Faults(), "die", R.CRASHED, "FaultLine", 3),
        (Faults(), "resign", R.RESIGNED, "FaultLine", 3),
        (Faults("default"), "die", R.CRASHED, "taken", None),
        (Faults("forfeit", 1), "junk", R.MALFORMED_MESSAGE, "none", None),
    ],
)
async def test_a_fault_off_turn_before_the_last_answer_of_a_game_counts(
    sit: Sit, faults: Faults, deed: str, reason: EndReason, written: str, rank: int | None
) -> None:
    table = sit(3, faults=faults)
    await table.start()
    last = await play_to_the_last_answer(table)
    seat = table.seats[(last.number + 1) % 3]
    if deed == "junk":
        seat.say_raw(b"\xff\xff")
    else:
        getattr(seat, deed)()
    await table.clock.turn(0.5)
    assert not table.task.done()
    last.move(0)
    outcome = await table.outcome()
    assert (outcome.reason, table.match.faults[seat.number].reason) == (R.NORMAL, reason)
    assert outcome.ranking[seat.number] == (rank or table.match._state.ranking()[seat.number])
    [line] = await check(table, outcome)
    assert getattr(line, "effect", type(line).__name__) == written


@pytest.mark.parametrize("players", [2, 3])
async def test_a_fault_after_the_last_answer_of_a_game_is_none(sit: Sit, players: int) -> None:
    table = sit(players, rounds=1)
    await table.start()
    last = await table.play_to("turn", players - 1)
    last.move(0)
    for seat in table.seats:
        seat.die()
    outcome = await table.outcome()
    assert (outcome.reason, table.match.faults) == (R.NORMAL, (None,) * players)
    assert await check(table, outcome) == []


async def test_a_fault_after_the_last_answer_of_a_node_is_settled_with_the_next(sit: Sit) -> None:
    table = sit(3, rounds=2)
    await table.start()
    last = await table.play_to("turn", 2)
    last.move(0)
    last.die()
    await table.clock.turn(0)
    assert (last.dismissed, last.end.reason) == (True, "crashed")
    outcome = await play_out(table)
    assert (outcome.reason, outcome.ranking[2]) == (R.NORMAL, 3)
    await check(table, outcome)


async def leave_in_turn(table: Any, seats: int) -> list[int]:
    """So many seats fault one after another, each as soon as it is asked alone; their numbers in that order."""
    gone = []
    for _ in range(seats):
        for _ in range(400):
            if len(asked := table.open()) == 1:
                break
            for seat in asked:
                seat.move(0)
            await table.clock.turn(0)
        [seat] = table.open()
        seat.move(999_999)
        gone.append(seat.number)
        await table.clock.turn(0)
    return gone


@pytest.mark.parametrize("game", ["toy", "manhattan_traffiq", "ticket_to_ride_new_york", "king_of_new_york"])
@pytest.mark.parametrize("seats", [2, 3])
async def test_who_leaves_earlier_ranks_lower_though_nothing_was_played_in_between(
    sit: Sit, game: str, seats: int
) -> None:
    """Two leave and the game goes on to its end, or the third ends it."""
    table = sit(4, game=get_game(game))
    await table.start()
    gone = await leave_in_turn(table, seats)
    for _ in range(4000):
        if table.task.done():
            break
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    outcome = await table.outcome()
    assert [outcome.ranking[seat] for seat in gone] == [4, 3, 2][:seats]
    lines = await check(table, outcome)
    assert [(line.seat, line.later) for line in lines] == [(seat, at > 0) for at, seat in enumerate(gone)]


async def test_seats_whose_faults_are_settled_together_tie(sit: Sit) -> None:
    """Also where the game goes on to its end and would rank them by their numbers."""
    table = sit(4)
    await table.start()
    for seat in table.seats:
        seat.move(0 if seat.number < 2 else 99)
    await table.clock.turn(0)
    outcome = await play_out(table)
    assert (outcome.reason, outcome.ranking[2:]) == (R.NORMAL, (3, 3))
    assert [line.later for line in await check(table, outcome)] == [False, False]


async def test_a_line_that_is_later_than_none_is_found(sit: Sit) -> None:
    table = sit(4)
    await table.start()
    await leave_in_turn(table, 2)
    record = read_record(table.finish(await play_out(table)))
    at = next(n for n, line in enumerate(record.lines) if isinstance(line, FaultLine))

    def left(**changes: bool) -> list[int | None]:
        lines = list(record.lines)
        for number, later in enumerate(changes.values(), at):
            lines[number] = replace(lines[number], later=later)
        replay = Replay(record.header, lines, table.game, record.footer.seed)
        list(replay)
        return sorted(number for number in replay.left if number)

    assert left() == [1, 2]
    assert left(first=False, second=False) == [1, 1]  # as it was written before there were such lines
    with pytest.raises(ReplayError, match="later than others: none has left here"):
        left(first=True)


async def test_two_that_leave_together_after_one_that_left_alone_tie_between_themselves(sit: Sit) -> None:
    table = sit(4)
    await table.start()
    for seat in table.seats:
        seat.move(0 if seat.number else 99)
    await table.clock.turn(0)
    [mover] = table.open()
    others = [seat for seat in table.seats[1:] if seat is not mover]
    others[0].die()
    others[1].die()
    outcome = await table.outcome()
    assert (outcome.ranking[0], outcome.ranking[mover.number]) == (4, 1)
    assert [outcome.ranking[seat.number] for seat in others] == [2, 2]
    await check(table, outcome)


class Pairs(ToyGame):
    """Seats 0 and 2 against 1 and 3."""

    def teams(self, players: int, options: Any) -> list[int]:
        return [seat % 2 for seat in range(players)]


@pytest.mark.parametrize(
    ("policy", "ranking"), [("forfeit", (1, 3, 1, 3)), ("default", None)], ids=["forfeit", "default"]
)
async def test_a_team_loses_with_its_member_unless_the_referee_plays_on(sit: Sit, policy: Any, ranking: Any) -> None:
    table = sit(4, game=Pairs(), faults=Faults(policy))
    await table.start()
    await table.play_to("turn", 1)
    table.seats[1].die()
    outcome = await play_out(table)
    assert outcome.reason is (R.CRASHED if ranking else R.NORMAL)
    assert outcome.ranking == (ranking or tuple(table.match._state.ranking()))
    await check(table, outcome)


async def test_both_teams_broken_at_once_share_the_rank(sit: Sit) -> None:
    table = sit(4, game=Pairs())
    await table.start()
    for seat in table.seats:
        (seat.move if seat.number in (0, 1) else seat.die)()
    outcome = await table.outcome()
    assert (outcome.reason, outcome.ranking) == (R.EVERYONE_FAULTED, (1, 1, 1, 1))
    await check(table, outcome)


async def test_every_policy_of_strikes_plays_to_the_end_with_bots_that_only_fault(sit: Sit) -> None:
    table = sit(4, faults=Faults("random", 3))
    await table.start()
    for _ in range(60):
        for seat in table.open():
            seat.move(99)
        await table.clock.turn(0)
    outcome = await table.outcome()
    assert outcome.reason is R.EVERYONE_FAULTED
    assert len(await check(table, outcome)) == 16


@pytest.mark.parametrize(("policy", "strikes"), [("lose", 0), ("forfeit", -1), ("forfeit", 1.5), ("forfeit", True)])
def test_a_policy_is_checked(policy: Any, strikes: Any) -> None:
    with pytest.raises(SpecError):
        Faults(policy, strikes)


class Together(ToyGame):
    """All seats are one team."""

    def teams(self, players: int, options: Any) -> list[int]:
        return [0] * players


@pytest.mark.parametrize(
    ("faults", "reason"),
    [(Faults("forfeit", 1), R.NORMAL), (Faults("default"), R.NORMAL), (Faults(), R.EVERYONE_FAULTED)],
)
async def test_a_game_with_one_team_goes_on_until_it_loses_a_member(sit: Sit, faults: Any, reason: EndReason) -> None:
    table = sit(2, game=Together(), faults=faults)
    await table.start()
    (await table.play_to("turn")).move(99)
    outcome = await play_out(table)
    assert (outcome.reason, outcome.status) == (reason, "rated")
    await check(table, outcome)


@pytest.mark.parametrize("game", ["shibuya", "ticket_to_ride_new_york", "manhattan_traffiq", "king_of_new_york"])
def test_the_default_action_of_a_game_is_legal_and_first(game: str) -> None:
    """CRA-11: per game, legal, documented."""
    rules = get_game(game)
    from referee.games.api import resolve_options

    state = rules.new_initial_state(rules.player_counts[0], resolve_options(game, rules.options, {}))
    while not state.decisions():
        state.apply_chance(state.chance_outcomes()[0][0])
    for decision in state.decisions():
        assert state.legal_actions(decision.seat)[0] in state.legal_actions(decision.seat)
