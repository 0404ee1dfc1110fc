"""What is kept of a bot's process: what it printed in this match, where it was when its time was up, what it computed
while it waited for its next match."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.bot import ask_for_stacks, stacks_in
from referee.process.entry import load_entry
from referee.record.stacks import own_frames

Spawn = Callable[[str, int], int]

BOT = """
import asyncio, json, os, signal, sys, threading, time

if json.loads(os.environ["CROSSTOWN_OPTIONS"])["foreign"]:
    signal.signal(signal.SIGUSR1, lambda *_: print("the debugger listens", file=sys.stderr, flush=True))
    print("loading", file=sys.stderr, flush=True)
    time.sleep(20)

from crosstown_bot import Bot, run

def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

class Odd(Bot):
    wants_observation = wants_legal_actions = False
    matches = 0

    def __init__(self, options):
        super().__init__(options)
        if options["loads"]:
            print("loading", file=sys.stderr, flush=True)
            self.load_weights()

    def load_weights(self):
        time.sleep(20)

    def start(self, match):
        if self.options["prepares"]:
            self.load_weights()
        self.matches += 1
        self.say("begins")

    def say(self, what):
        print(f"match {self.matches} {what}", flush=True)
        if self.options["loud"]:
            print(f"warning: match {self.matches} {what}", file=sys.stderr, flush=True)

    def choose(self, turn):
        if self.matches == self.options["crashes_in"]:
            raise RuntimeError("no weights")
        if self.matches == self.options["late_in"]:
            if self.options["waits"]:
                return self.ask_a_model()
            self.think_too_long()
        return 0

    async def ask_a_model(self):
        await self.wait_for_its_reply()

    async def wait_for_its_reply(self):
        await asyncio.sleep(20)

    def think_too_long(self):
        if self.options["uses_sigusr1"]:
            signal.signal(signal.SIGUSR1, lambda *_: print("the author's handler", flush=True))
        if self.options["spins"]:
            spin(20)
        time.sleep(20)

    def end(self, result):
        self.say("ended")
        if self.options["ponders"]:
            threading.Thread(target=spin, args=(20,), daemon=True).start()

if json.loads(os.environ["CROSSTOWN_OPTIONS"])["imports"]:
    print("loading", file=sys.stderr, flush=True)
    Odd.load_weights(None)
run(Odd)
"""
MANIFEST = """
name = "odd"
version = "1"
games = ["*"]
run = ["{python}", "bot.py"]
[options]
late_in = 0
crashes_in = 0
loud = false
spins = false
uses_sigusr1 = false
ponders = false
imports = false
foreign = false
loads = false
prepares = false
waits = false
"""
LIMITS = Limits(startup_s=60, ready_s=30, first_move_s=30, move_s=30)
SHORT = {"first_move_s": 0.5, "move_s": 0.5}


class Stage:
    """A table with one odd bot on seat 0 and one that plays as it should on seat 1."""

    def __init__(self, folder: Path, **options: Any) -> None:
        (folder / "bot").mkdir()
        (folder / "bot" / "bot.py").write_text(BOT)
        (folder / "bot" / "bot.toml").write_text(MANIFEST)
        self.records = folder / "matches"
        self.odd = load_entry(folder / "bot", "odd", options)
        self.other = load_entry(folder / "bot", "other", {})
        self.table = Table({entry.id: entry for entry in (self.odd, self.other)})

    @property
    def idle(self) -> Any:
        """The odd bot between two matches."""
        [found] = [bot for bot in self.table._pool._idle if bot.process.entry.id == self.odd.id]
        return found

    async def play(self, number: int, *, ponder: bool = True, **clock: float) -> MatchResult:
        spec = MatchSpec(
            match_id=f"m-{number}",
            game="toy",
            options=resolve_options("toy", get_game("toy").options, {"rounds": 1}),
            seats=(SeatSpec(self.odd.id, "odd", "1", clock), SeatSpec(self.other.id, "other", "1")),
            seed=f"{number:032x}",
            limits=LIMITS,
            tournament="stage",
            block=number,
            ponder=ponder,
        )
        return await self.table.play(spec, self.records)


@pytest.mark.slow
@pytest.mark.parametrize("ponder", [True, False], ids=["runs off turn", "stopped off turn"])
@pytest.mark.parametrize(("spins", "state"), [(False, "S"), (True, "R")], ids=["sleeps", "computes"])
async def test_a_time_out_shows_where_a_python_bot_was_and_whether_it_ran(
    tmp_path: Path, spins: bool, state: str, ponder: bool
) -> None:
    stage = Stage(tmp_path, late_in=1, spins=spins)
    async with stage.table:
        result = await stage.play(1, ponder=ponder, **SHORT)
    fault = result.faults[0]
    assert fault is not None
    assert fault.reason is EndReason.MOVE_TIMEOUT
    assert "in think_too_long" in fault.evidence["stacks"]
    assert fault.evidence["process_state"] == state
    assert "think_too_long" not in fault.evidence["stderr"], "the stacks are shown once"


async def test_a_bot_that_uses_sigusr1_itself_shows_its_stacks_and_its_handler_is_not_called(tmp_path: Path) -> None:
    stage = Stage(tmp_path, late_in=1, uses_sigusr1=True)
    async with stage.table:
        result = await stage.play(1, **SHORT)
    fault = result.faults[0]
    assert fault is not None
    assert "in think_too_long" in fault.evidence["stacks"]
    assert "the author's handler" not in str(fault.evidence)


async def test_evidence_has_what_was_printed_in_this_match_only(tmp_path: Path) -> None:
    stage = Stage(tmp_path, late_in=2)
    async with stage.table:
        first = await stage.play(1)
        assert first.faults == (None, None)
        while "ended" not in stage.idle.process.output().stdout_text():  # noqa: ASYNC110 - it hears of the end later
            await asyncio.sleep(0.01)
        second = await stage.play(2, **SHORT)
    fault = second.faults[0]
    assert fault is not None
    assert fault.evidence["stdout"] == "match 2 begins\n"
    assert fault.evidence["earlier_output_bytes"] == len("match 1 begins\nmatch 1 ended\n")


@pytest.mark.parametrize("end", ["late_in", "crashes_in"])
async def test_no_stream_has_what_was_printed_in_an_earlier_match_however_the_match_ends(
    tmp_path: Path, end: str
) -> None:
    stage = Stage(tmp_path, loud=True, **{end: 2})
    async with stage.table:
        assert (await stage.play(1)).faults == (None, None)
        while "ended" not in stage.idle.process.output().stderr_text():  # noqa: ASYNC110 - it hears of the end later
            await asyncio.sleep(0.01)
        fault = (await stage.play(2, **(SHORT if end == "late_in" else {}))).faults[0]
    assert fault is not None
    assert fault.reason is (EndReason.MOVE_TIMEOUT if end == "late_in" else EndReason.CRASHED)
    assert fault.evidence["stdout"] == "match 2 begins\n"
    stderr = fault.evidence["stderr"]
    assert stderr.startswith("warning: match 2 begins\n")
    assert "match 1" not in stderr
    assert ("RuntimeError: no weights" in stderr) == (end == "crashes_in")
    earlier = "match 1 begins\nmatch 1 ended\n" + "warning: match 1 begins\nwarning: match 1 ended\n"
    assert fault.evidence["earlier_output_bytes"] == len(earlier)


@pytest.mark.slow
@pytest.mark.parametrize("ponder", [True, False], ids=["may ponder", "may not"])
async def test_what_a_bot_computes_between_matches_is_recorded_and_stopped_with_ponder_false(
    tmp_path: Path, ponder: bool
) -> None:
    """It has a quarter of a second for the end of its match; a bot that may ponder computes all the time."""
    stage = Stage(tmp_path, ponders=True)
    async with stage.table:
        await stage.play(1, ponder=ponder)
        odd = stage.idle
        await asyncio.sleep(1)
        seen_ns = odd.cpu_ns()
        await asyncio.sleep(1.5)
        assert seen_ns is not None
        used_ns = (odd.cpu_ns() or 0) - seen_ns
        result = await stage.play(2, ponder=ponder)
        assert result.faults == (None, None), "it is there again when it is needed"
        assert odd.process.exited is None
    idle_us = result.seat_stats[0].idle_cpu_us
    if ponder:
        assert used_ns > 20_000_000
        assert idle_us > 20_000
    else:
        assert used_ns == 0
        assert idle_us < 500_000


async def test_a_bot_that_is_stopped_between_matches_hears_bye(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    async with stage.table:
        await stage.play(1, ponder=False)
        await asyncio.sleep(0.5)
        idle = [bot.process for bot in stage.table._pool._idle]
    assert [process.exited is not None and process.exited.code for process in idle] == [0, 0]


def test_a_process_that_does_not_handle_the_signal_gets_none(spawn: Spawn) -> None:
    """It would end it. A shell that starts the bot is passed over."""
    deaf = spawn("import time; time.sleep(60)", 1)
    assert not ask_for_stacks([deaf, *children(deaf)])
    hearing = spawn("import faulthandler, time; faulthandler.register(10); time.sleep(60)", 1)
    end_s = time.monotonic() + 20
    while not ask_for_stacks([hearing, *children(hearing)]):
        assert time.monotonic() < end_s
        time.sleep(0.01)
    time.sleep(0.1)
    for pid in (deaf, *children(deaf), hearing, *children(hearing)):
        os.kill(pid, 0)
    assert len(children(deaf)) == len(children(hearing)) == 1
    assert not ask_for_stacks([2**22 - 1])


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize(
    ("printed", "stacks"),
    [
        ("", ""),
        ("  nothing of the kind\nThread of thought\n", ""),
        (
            'hello\nThread 0x7f (most recent call first):\n  File "a.py", line 3 in wait\nnoise\n  depth 3\n\n'
            'Current thread 0x7e (most recent call first):\n  File "bot.py", line 7 in think\nbye\n',
            'Thread 0x7f (most recent call first):\n  File "a.py", line 3 in wait\n\n'
            'Current thread 0x7e (most recent call first):\n  File "bot.py", line 7 in think',
        ),
    ],
)
def test_stacks_are_told_from_what_the_bot_prints(printed: str, stacks: str) -> None:
    assert stacks_in(printed) == stacks


@pytest.mark.slow
async def test_a_bot_that_waits_in_a_coroutine_shows_where(tmp_path: Path) -> None:
    stage = Stage(tmp_path, late_in=1, waits=True)
    async with stage.table:
        result = await stage.play(1, **SHORT)
    fault = result.faults[0]
    assert fault is not None
    assert fault.reason is EndReason.MOVE_TIMEOUT
    frames = [frame.rpartition(" in ")[2] for frame in own_frames(fault.evidence["stacks"])]
    assert frames == ["sleep", "wait_for_its_reply", "ask_a_model"]
    assert fault.evidence["stderr"] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phase", "clock"), [("imports", {"startup_s": 2}), ("loads", {"startup_s": 2}), ("prepares", {"ready_s": 1})]
)
async def test_a_bot_that_does_not_get_ready_in_time_shows_where_it_was(
    tmp_path: Path, phase: str, clock: dict[str, float]
) -> None:
    stage = Stage(tmp_path, **{phase: True})
    async with stage.table:
        result = await stage.play(1, **clock)
    fault = result.faults[0]
    assert fault is not None
    assert fault.reason is EndReason.START_FAILED
    assert "in load_weights" in fault.evidence["stacks"]
    *printed, title, _, where = fault.last_lines()
    assert (title, where.endswith("in load_weights")) == ("its stack when its time was up:", True)
    assert printed == ([] if phase == "prepares" else ["loading"])


@pytest.mark.slow
async def test_a_program_without_the_sdk_gets_no_signal_of_its_own_before_hello(tmp_path: Path) -> None:
    """Node opens its debugger on SIGUSR1, and says so in what its author reads of the failed start."""
    stage = Stage(tmp_path, foreign=True)
    async with stage.table:
        result = await stage.play(1, startup_s=2)
    fault = result.faults[0]
    assert fault is not None
    assert fault.evidence["stderr"] == "loading\n"


STACKS = """Thread 0x7f (most recent call first):
  File "/lib/threading.py", line 3 in run

Current thread 0x7e (most recent call first):
  File "/bot/bot.py", line 7 in think
  File "/bot/bot.py", line 5 in choose
  File "/sdk/crosstown_bot/playing.py", line 115 in _choose
  File "/bot/bot.py", line 9 in <module>"""


def test_the_lines_of_the_bot_are_shown_without_those_of_the_sdk_around_them() -> None:
    assert own_frames(STACKS) == ['File "/bot/bot.py", line 7 in think', 'File "/bot/bot.py", line 5 in choose']
    assert own_frames("") == []


def test_the_lines_of_another_thread_are_shown_if_the_interrupted_one_only_waits_for_it() -> None:
    waits = """Thread 0x7d (most recent call first):
  File "/usr/lib/python3.13/threading.py", line 3 in run

Thread 0x7f (most recent call first):
  File "/bot/bot.py", line 7 in think
  File "/usr/lib/python3.13/concurrent/futures/thread.py", line 58 in run

Current thread 0x7e (most recent call first):
  File "/usr/lib/python3.13/selectors.py", line 468 in select
  File "/sdk/crosstown_bot/client.py", line 9 in run
  File "/bot/bot.py", line 9 in <module>"""
    assert own_frames(waits)[0] == 'File "/bot/bot.py", line 7 in think'
    assert own_frames(waits.replace("/bot/bot.py", "/usr/lib/python3.13/x.py"))[0].endswith("in select")
