"""What is charged to a bot: its time, less the referee's lateness and the time others kept it from running."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from referee.match import decision as decision_module
from referee.match.effort import MAX_TASKS, NO_EFFORT, Effort, measure_effort, ready_below, state_below
from referee.record.reasons import EndReason
from referee.schedule.spec import Faults, Limits

Sit = Callable[..., Any]
MS = 1_000_000


async def test_a_bot_that_waits_for_a_processor_gets_that_time_back(sit: Sit) -> None:
    """TIM-1"""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    mover.waited += 5_000 * MS
    await table.clock.turn(5.9)
    assert not table.task.done()
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_a_bot_that_waited_and_was_late_all_the_same_is_charged(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    mover.waited += 500 * MS
    await table.clock.turn(3)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.MOVE_TIMEOUT
    evidence = table.match.faults[mover.number].evidence
    assert (evidence["bot_waited_us"], evidence["referee_late_us"], evidence["lag_us"]) == (500_000, 0, 500_000)
    charged, passed = evidence["wall_us"] - 500_000, evidence["wall_us"]
    times = f"no answer after {charged / 1e6:.3f} s charged ({passed / 1e6:.3f} s passed), the limit is 1 s"
    assert times in table.match.faults[mover.number].detail


@pytest.mark.parametrize(
    ("wall_us", "said"), [(1_400_000, "1.400 s"), (1_000_312, "1.000312 s"), (1_000_600, "1.001 s")]
)
async def test_the_time_of_a_late_answer_is_never_printed_as_the_limit(sit: Sit, wall_us: int, said: str) -> None:
    table = sit(limits=Limits(first_move_s=1, move_s=1, margin_s=0), faults=Faults("forfeit"))
    await table.start()
    mover = await table.play_to("turn")
    table.clock.ns += wall_us * 1000
    mover.move(0)
    await table.clock.turn(0)
    detail = table.match.faults[mover.number].detail
    assert f"answer after {said}, the limit is 1 s" in detail


@pytest.mark.parametrize("of_its_own", [True, False])
async def test_lag_that_a_bot_makes_by_what_it_sends_is_charged_to_it(sit: Sit, of_its_own: bool) -> None:
    """Where it was its own messages that the referee was reading."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    table.clock.lag += 2000 * MS
    mover.traffic += 2000 * MS if of_its_own else 0
    await table.clock.turn(1.5)
    fault = table.match.faults[mover.number]
    assert (fault.reason if fault else None) == (EndReason.MOVE_TIMEOUT if of_its_own else None)
    if fault is not None:
        assert fault.evidence["bot_traffic_us"] == 2_000_000


@pytest.mark.parametrize("of_its_own", [True, False])
async def test_lag_that_a_bot_makes_while_it_is_asked_is_charged_to_it(sit: Sit, of_its_own: bool) -> None:
    """Its processes can have thousands of epolls watch its connection, which the referee calls back as it sends."""
    table = sit()
    for seat in table.seats:
        seat.asking_takes_ns = 700 * MS if of_its_own else 0
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.5)
    assert not table.open() if of_its_own else table.open() == [mover]
    if of_its_own:
        assert table.match.faults[mover.number].evidence["bot_traffic_us"] == 700_000


@pytest.mark.parametrize("excused_s", [61, 0])
async def test_what_a_seat_is_excused_in_a_match_is_capped(sit: Sit, excused_s: int) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    table.match._controller.seats[mover.number].excused_ns = excused_s * 1000 * MS
    await table.clock.turn(0.1)
    table.clock.lag += 2000 * MS
    await table.clock.turn(1.5)
    fault = table.match.faults[mover.number]
    assert (fault.reason if fault else None) == (EndReason.SUSPECT_TIMEOUT if excused_s else None)


async def test_a_bot_that_computes_past_its_limit_is_charged_however_long_it_waited(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    for _ in range(6):  # a fourth of a processor
        mover.waited += 750 * MS
        mover.cpu += 250 * MS
        await table.clock.turn(1)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.MOVE_TIMEOUT


async def test_a_bot_that_never_gets_a_processor_is_suspect_only(sit: Sit) -> None:
    """TIM-1, TIM-23: void, and the record shows the cause."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    for _ in range(12):
        mover.waited += 1000 * MS
        await table.clock.turn(1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status) == (EndReason.SUSPECT_TIMEOUT, "void")
    assert "others kept the bot from running for" in outcome.detail
    assert table.match.faults[mover.number].evidence["bot_waited_us"] > 9_000_000


@pytest.mark.parametrize("read", ["the states", "the effort"])
async def test_a_wait_that_ends_while_the_time_out_is_judged_is_given_back(sit: Sit, read: str) -> None:
    """The bot gets a processor right after this was read, for a moment."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.state = "R"
    await table.clock.turn(1.5)
    assert not table.task.done()
    name = {"the states": "ready_tasks", "the effort": "effort"}[read]
    look = getattr(mover, name)

    def last_look() -> Any:
        found = look()
        mover.waited, mover.cpu = 1_400 * MS, 1 * MS
        return found

    setattr(mover, name, last_look)
    await table.clock.turn(0.02)
    assert not table.task.done()
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_what_a_bot_waits_by_its_own_limit_of_cores_is_charged(sit: Sit) -> None:
    """Where its share is used up nobody else runs in its place."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    for _ in range(30):  # a twentieth of a processor
        mover.cpu += 5 * MS
        mover.throttled += 95 * MS
        mover.waited += 95 * MS
        await table.clock.turn(0.1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status) == (EndReason.MOVE_TIMEOUT, "rated")
    evidence = table.match.faults[mover.number].evidence
    assert (evidence["bot_waited_us"], evidence["lag_us"]) == (0, 0)
    assert evidence["bot_throttled_us"] > 900_000


@pytest.mark.parametrize("helpers", [True, False], ids=["with helpers", "without"])
async def test_a_bot_without_a_control_group_that_starts_processes_has_no_wait_excused(
    sit: Sit, helpers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be what it waited for, and when they are gone nobody knows what they used."""
    monkeypatch.setattr("random.expovariate", lambda rate: 1 / rate)
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.processes = frozenset({"7"})
    await table.clock.turn(0.2)
    mover.processes = frozenset({"7", "8"} if helpers else {"7"})
    await table.clock.turn(0.2)
    mover.processes = frozenset({"7"})  # they were there between two looks that the bot can foresee
    mover.waited += 1_500 * MS
    await table.clock.turn(1.6)
    assert table.task.done() is helpers
    if helpers:
        assert (await table.outcome()).reason is EndReason.MOVE_TIMEOUT
        evidence = table.match.faults[mover.number].evidence
        assert evidence["bot_waited_us"] == 0
        assert evidence["wall_us"] < 1_050_000
        assert table.clock.waiting == []
    else:
        mover.move(0)
        await table.play_to("turn", 1 - mover.number)


@pytest.mark.parametrize(("counted", "looks"), [(False, 8), (True, 1)], ids=["without a control group", "with one"])
async def test_a_bot_is_watched_only_where_no_control_group_counts(
    sit: Sit, counted: bool, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.expovariate", lambda rate: 1 / rate)
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.processes = frozenset() if counted else frozenset({"7"})
    looked: list[int] = []
    effort = mover.effort
    mover.effort = lambda: looked.append(1) or effort()
    await table.clock.turn(1)
    mover.move(0)
    await table.clock.turn(0)
    assert len(looked) == looks


async def test_a_hiccup_of_the_machine_voids_no_match_of_a_bot_that_has_no_time_left(sit: Sit) -> None:
    """Its limit is the margin alone: ten of them are a tenth of a second, which any machine may stand still for."""
    table = sit(limits=Limits(first_move_s=0, move_s=0, total_s=0.001, margin_s=0.01))
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.005)
    for _ in range(9):
        table.clock.lag += 50 * MS
        mover.waited += 50 * MS
        await table.clock.turn(0.05)
    assert not table.task.done()
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_a_bot_without_any_time_left_is_late_at_once_and_the_match_goes_on(sit: Sit) -> None:
    """A struck time-out leaves nothing of a total; without a margin the limit of the next decision is 0."""
    limits = Limits(first_move_s=0, move_s=0, total_s=0.001, margin_s=0)
    table = sit(limits=limits, faults=Faults("forfeit", 1))
    await table.start()
    for seat in table.seats:
        seat.processes = frozenset({"7"})
    for _ in range(40):
        await table.clock.turn(0.1)
    assert (await table.outcome()).status == "rated"


@pytest.mark.parametrize(("load_ms", "named"), [(900, True), (50, False)])
async def test_who_loads_the_machine_while_another_is_asked_is_named(sit: Sit, load_ms: int, named: bool) -> None:
    """Nobody gets a match made void in secret: the organiser, who has the last word, sees it."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    await table.clock.turn(0.1)
    for _ in range(12):
        mover.waited += 1000 * MS
        other.cpu += load_ms * MS
        await table.clock.turn(1)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.SUSPECT_TIMEOUT
    assert (f"the bot of seat {other.number} computed for" in outcome.detail) is named
    evidence = table.match.faults[mover.number].evidence
    assert list(evidence.get("busy_seats_us", ())) == ([str(other.number)] if named else [])


async def test_a_wait_for_a_processor_that_still_goes_on_at_the_deadline_is_waited_for(sit: Sit) -> None:
    """The system counts a wait when it is over."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.state = "R"
    await table.clock.turn(2.5)
    assert not table.task.done()
    mover.waited += 2_400 * MS
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_a_thread_that_waits_is_waited_for_while_another_of_the_bot_runs_for_a_moment(sit: Sit) -> None:
    """As the threads of gRPC do now and then."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.state = "R"
    mover.threads = {2: 0}
    for _ in range(500):
        mover.threads[2] += MS // 1000
        await table.clock.turn(0.005)
    assert not table.task.done()
    mover.waited += 2_400 * MS
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_a_bot_that_was_given_a_wait_back_and_waits_at_its_next_deadline_is_waited_for(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.state = "R"
    await table.clock.turn(1.5)
    mover.waited, mover.cpu = 1_400 * MS, 1 * MS
    await table.clock.turn(1.5)
    assert not table.task.done()
    await table.clock.turn(0.5)
    mover.waited += 1_900 * MS
    mover.move(0)
    await table.play_to("turn", 1 - mover.number)


async def test_a_bot_whose_threads_wait_in_turns_is_late(sit: Sit) -> None:
    """None of them waits from the deadline on: at each look another one is ready that has not run since the last."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.threads = dict.fromkeys(range(2, 500), 0)
    for thread in range(2, 500):
        mover.ready_threads = frozenset({thread, thread + 1})
        await table.clock.turn(0.005)
        mover.threads[thread] += 1
        if table.task.done():
            break
    outcome = await table.outcome()
    assert outcome.reason is EndReason.MOVE_TIMEOUT
    assert mover.threads[250] == 0


async def test_a_bot_that_computes_past_its_limit_is_late_though_one_of_its_threads_waits(sit: Sit) -> None:
    """A thread that the system hardly ever runs, under threads of the same bot that compute."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.ready_threads = frozenset({2})
    mover.threads = {2: 0}
    for _ in range(300):
        mover.cpu += 5 * MS
        await table.clock.turn(0.005)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.MOVE_TIMEOUT
    assert table.match.faults[mover.number].evidence["wall_us"] < 1_200_000


async def test_a_bot_that_runs_at_the_deadline_is_late(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.state = "R"
    for _ in range(300):
        mover.cpu += 5 * MS
        await table.clock.turn(0.005)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.MOVE_TIMEOUT
    assert table.match.faults[mover.number].evidence["wall_us"] < 1_060_000
    assert "passed" not in table.match.faults[mover.number].detail


async def test_lateness_in_the_middle_of_a_decision_excuses_no_sleeper(sit: Sit) -> None:
    """After it the referee looked, and there was no answer: it did not lie there."""
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    for _ in range(9):
        table.clock.lag += 50 * MS
        await table.clock.turn(0.1)
        table.clock.looked_lag = table.clock.lag
    await table.clock.turn(0.1)
    outcome = await table.outcome()
    assert outcome.reason is EndReason.MOVE_TIMEOUT
    evidence = table.match.faults[mover.number].evidence
    assert evidence["referee_late_us"] == 0
    assert evidence["wall_us"] < 1_050_000


@pytest.mark.parametrize(("late_ms", "excused"), [(300, True), (150, False)])
async def test_lateness_before_the_first_look_and_after_the_last_one_is_given_back(
    sit: Sit, late_ms: int, excused: bool
) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    table.clock.lag += late_ms * MS  # the question may have been under way for so long
    await table.clock.turn(0.1)
    table.clock.looked_lag = table.clock.lag
    await table.clock.turn(0.85)
    table.clock.lag += late_ms * MS  # and the answer, too
    table.clock.ns += 500 * MS
    mover.move(0)
    await table.clock.turn(0)
    fault = table.match.faults[mover.number]
    assert (fault is None) is excused
    assert excused or fault.evidence["referee_late_us"] == 2 * late_ms * 1000


async def test_no_more_is_given_back_than_has_passed(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    question = table.match._controller.seats[mover.number].question
    table.clock.lag += 500 * MS  # as far as it knows
    question.measure(table.clock.now_ns(), table.clock, None, 0)
    assert question.charged_ns == 0
    assert question.times()["lag_us"] == question.times()["wall_us"]


def test_the_processors_are_those_that_the_referee_may_use() -> None:
    program = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); import referee.match.decision as q"
    told = subprocess.run([sys.executable, "-c", f"{program}; print(q.CORES)"], capture_output=True, check=True)
    assert told.stdout == b"1\n"


async def test_a_referee_that_is_always_busy_still_sees_that_time_is_up(sit: Sit) -> None:
    table = sit()
    await table.start()
    await table.play_to("turn")
    table.clock.behind = True
    await table.clock.turn(2.1)
    assert (await table.outcome()).reason is EndReason.MOVE_TIMEOUT


@pytest.mark.parametrize(("busy", "excused"), [(0.9, True), (1.9, False)])
async def test_a_bot_that_takes_all_processors_has_made_the_referee_late_itself(
    sit: Sit, busy: float, excused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`busy`: processors that it has used, of two."""
    monkeypatch.setattr(decision_module, "CORES", 2)
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    await table.clock.turn(0.1)
    table.clock.ns += 1_400 * MS
    table.clock.lag += 1_350 * MS
    mover.cpu += round(busy * 1_400 * MS)
    mover.move(0)
    await table.clock.turn(0)
    assert (table.match.faults[mover.number] is None) is excused


async def test_a_quick_decision_is_not_looked_into(sit: Sit) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    looked: list[int] = []
    mover.effort = lambda: looked.append(1) or NO_EFFORT
    await table.clock.turn(0.015)
    mover.move(0)
    await table.clock.turn(1)
    assert looked == []


# Tasks before and after as (ran, waited) in ms; processor time of the whole bot in ms; what is excused in ms.
CASES = [
    ("one task that only waited", {1: (0, 0)}, {1: (0, 900)}, 0, 900),
    ("one task that ran in between", {1: (50, 10)}, {1: (150, 910)}, 100, 900),
    ("a sleeper has waited for nothing", {1: (5, 5)}, {1: (5, 5)}, 0, 0),
    ("two threads that spin on one processor", {1: (0, 0), 2: (0, 0)}, {1: (500, 500), 2: (500, 500)}, 1000, 0),
    ("twenty that wake together", dict.fromkeys(range(20), (0, 0)), dict.fromkeys(range(20), (10, 95)), 200, 0),
    ("the excuses of tasks are not added up", {1: (0, 0), 2: (0, 0)}, {1: (0, 300), 2: (0, 300)}, 0, 300),
    ("a helper that ran may have been in the way", {1: (0, 0), 2: (0, 0)}, {1: (10, 400), 2: (150, 0)}, 160, 250),
    ("a thread that came and went may have, too", {1: (0, 0)}, {1: (10, 400)}, 310, 100),
    ("a thread that is new", {1: (0, 0)}, {1: (0, 0), 2: (100, 300)}, 100, 300),
    ("nothing is known from before", {}, {1: (0, 900)}, 0, 0),
    ("nothing is known now", {1: (0, 0)}, {}, 0, 0),
]


@pytest.mark.parametrize(
    ("before", "after", "cpu_ms", "excused_ms"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_what_is_excused(
    before: dict[int, tuple[int, int]], after: dict[int, tuple[int, int]], cpu_ms: int, excused_ms: int
) -> None:
    """A bot's own load never excuses it."""
    first, second = ({task: (ran * MS, waited * MS) for task, (ran, waited) in it.items()} for it in (before, after))
    assert Effort(second).excused_ns(Effort(first), cpu_ms * MS) == excused_ms * MS


@pytest.mark.parametrize(
    ("before", "after", "cpu_ms", "throttled_ms", "excused_ms"),
    [
        ({1: (0, 0)}, {1: (100, 900)}, 100, 900, 0),
        ({1: (0, 0)}, {1: (100, 900)}, 100, 600, 300),
        ({1: (0, 0), 2: (0, 0)}, {1: (50, 950), 2: (50, 950)}, 100, 900, 0),
        ({1: (0, 0), 2: (0, 0)}, {1: (100, 900), 2: (100, 900)}, 200, 1800, 0),
        ({1: (0, 0)}, {1: (500, 400)}, 500, 0, 400),
    ],
    ids=["by its limit alone", "by others too", "two by turns", "two on two processors", "within its limit"],
)
def test_what_its_own_limit_of_cores_held_back_is_not_excused(
    before: dict[int, tuple[int, int]],
    after: dict[int, tuple[int, int]],
    cpu_ms: int,
    throttled_ms: int,
    excused_ms: int,
) -> None:
    first, second = ({task: (ran * MS, waited * MS) for task, (ran, waited) in it.items()} for it in (before, after))
    excused_ns = Effort(second, (50 + throttled_ms) * MS).excused_ns(Effort(first, 50 * MS), cpu_ms * MS)
    assert excused_ns == excused_ms * MS


def test_the_effort_of_a_tree_of_processes_is_read(spawn: Callable[..., int]) -> None:
    root = spawn("import threading, time, os\nos.fork()\nthreading.Thread(target=time.sleep, args=(60,)).start()", 4)
    effort = measure_effort(root)
    assert len(effort.tasks) == 4
    assert all(ran > 0 for ran, _ in effort.tasks.values())
    assert len(effort.processes) == 2
    assert set(map(int, effort.processes)) <= set(effort.tasks)


@pytest.mark.parametrize("there", ["7 8", "8", ""])
def test_processes_that_are_not_the_same_excuse_nothing_where_nobody_counts_those_that_are_gone(there: str) -> None:
    before = Effort({1: (0, 0)}, processes=frozenset({"7"}))
    assert Effort({1: (0, 900)}, processes=frozenset({"7"})).excused_ns(before, 0) == 900
    assert Effort({1: (0, 900)}, processes=frozenset(there.split())).excused_ns(before, 0) == 0


def test_a_bot_with_too_many_tasks_has_nothing_excused(spawn: Callable[..., int]) -> None:
    many = MAX_TASKS + 1
    root = spawn(
        f"import threading, time\nfor _ in range({many}): threading.Thread(target=time.sleep, args=(60,)).start()", many
    )
    assert measure_effort(root) == NO_EFFORT


def test_nobody_there_has_no_effort() -> None:
    assert measure_effort(2**22 + 1) == NO_EFFORT
    assert state_below(2**22 + 1) == ""
    assert ready_below(2**22 + 1) == frozenset()


def test_a_process_with_one_thread_that_runs_is_running(spawn: Callable[..., int]) -> None:
    spin = "def spin():\n    while True: pass\n"
    root = spawn(f"import threading, time\n{spin}threading.Thread(target=spin).start()\ntime.sleep(60)", 2)
    assert state_below(root) == "R"
    assert ready_below(root) & measure_effort(root).tasks.keys()
    sleeper = spawn("import time\ntime.sleep(60)", 1)
    end_s = time.monotonic() + 20
    while state_below(sleeper) == "R" and time.monotonic() < end_s:  # it is starting still
        time.sleep(0.02)
    assert state_below(sleeper) == "S"
    assert ready_below(sleeper) == frozenset()
