"""The steps of a hand-in, with real bots and with a process in the place of the trial that says what a test wants."""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import OVER, VersionState
from referee.errors import PlatformError
from referee.ladder import database
from referee.ladder import intake as module
from referee.ladder.config import LadderConfig
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import Intake, Places
from referee.ladder.store import LadderStore
from referee.ladder.trial import Trial, TrialDivision
from referee.process import checkup
from referee.schedule.spec import Limits
from tests.living import is_alive
from tests.referee.ladder.handing_in import RANDOM, Sign, archive, bot_files, send, wait_for


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_S", 0.02)


@asynccontextmanager
async def running(config: LadderConfig, store: LadderStore, **more: Any) -> AsyncIterator[list[str]]:
    """While the intake runs; what it notes."""
    notes: list[str] = []
    task = asyncio.create_task(Intake(config, store, RANDOM, note=notes.append, **more).run())
    try:
        yield notes
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], bool], within_s: float = 60.0) -> None:
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.02)


async def over(store: LadderStore, number: int = 1, bot: str = "mine", within_s: float = 60.0) -> VersionState:
    """The version when nothing more happens to it."""
    await until(lambda: store.version(bot, number).status in OVER and not store.steps.qualifying(), within_s)
    return store.version(bot, number)


def scripted(tmp_path: Path, *events: dict[str, Any] | str) -> list[str]:
    """A trial that says these events; a text among them is a line of Python. `job` is what it was asked."""
    lines = [
        "import json, os, sys, time",
        "job = json.load(sys.stdin)",
        "def say(**event): print(json.dumps(event), flush=True)",
    ]
    lines += [event if isinstance(event, str) else f"say(**{event!r})" for event in events]
    path = tmp_path / "trial.py"
    path.write_text("\n".join(lines))
    return [sys.executable, str(path)]


BUILT = ({"event": "begin", "step": "built"}, {"event": "end", "step": "built", "detail": "nothing to build"})
TRIED = {"event": "begin", "step": "qualified"}
PASSED = "[say(event='division', name=one['name'], passed=True, detail='', next_step='') for one in job['divisions']]"
DONE = {"event": "done"}
GOOD = (*BUILT, TRIED, PASSED, DONE)


def playing(store: LadderStore, division: str = "first") -> list[int]:
    return [bot.version for bot in store.active(division)]


# With real bots


@pytest.mark.slow
async def test_a_bot_that_plays_by_the_rules_becomes_active_in_each_division(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore
) -> None:
    ann = sign()
    send(hand_ins, ann, archive(bot_files()))
    async with running(config, store):
        version = await over(store)
    assert version.status == "active"
    assert [step.state for step in version.steps] == ["done"] * 5
    assert all(step.limit_s for step in version.steps[1:4])
    assert version.divisions == ("first", "second")
    assert (playing(store, "first"), playing(store, "second")) == ([1], [1])
    log = hand_ins.log(ann, "mine", 1, 0, 1 << 20)
    assert "handshake: Hello after" in log.text
    assert "second: qualified" in log.text
    assert log.complete


CRASHING = "raise SystemExit('I was never going to play')\n"
ILLEGAL = """
from crosstown_bot import Bot, Turn, run
class Mine(Bot):
    def choose(self, turn: Turn) -> int:
        return 10_000
run(Mine)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "step", "reason", "logged"),
    [
        ({"bot.py": "x"}, "checked", "bot.toml: no such file", ""),
        (bot_files(game="shibuya"), "checked", "there are divisions of toy", ""),
        (bot_files(CRASHING), "qualified", "'handshake' failed", "I was never going to play"),
        (bot_files(ILLEGAL), "qualified", "'every decision' with toy failed", "FAIL every decision"),
        (bot_files("import nowhere_to_be_found\n"), "qualified", "'handshake' failed", "ModuleNotFoundError"),
        (bot_files(more='build = ["sh", "-c", "echo no compiler; exit 3"]\n'), "built", "exit code 3", "no compiler"),
        (bot_files(more='build = ["does-not-exist"]\n'), "built", "'does-not-exist' is not there", ""),
    ],
    ids=["no manifest", "other game", "crash", "illegal", "missing module", "build fails", "no compiler"],
)
async def test_a_broken_bot_is_rejected_with_a_reason_for_its_author(
    hand_ins: LadderHandIns,
    sign: Sign,
    config: LadderConfig,
    store: LadderStore,
    files: dict[str, str | bytes],
    step: str,
    reason: str,
    logged: str,
) -> None:
    ann = sign()
    send(hand_ins, ann, archive(files))
    async with running(config, store):
        version = await over(store)
    assert version.status == "rejected"
    assert [one.name for one in version.steps if one.state == "failed"] == [step]
    assert reason in version.reason
    assert version.next_step
    assert str(config.data) not in version.reason + version.next_step
    assert logged in hand_ins.log(ann, "mine", 1, 0, 1 << 20).text


@pytest.mark.parametrize("key", ["run", "build"])
@pytest.mark.parametrize("word", ["{place}/bin/tool", "../../bin/tool"])
async def test_a_program_that_lies_outside_of_the_bots_folder_is_not_started(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path, key: str, word: str
) -> None:
    """The bot would be shown all that lies beside it, and no organiser reads the line before."""
    place = tmp_path / "private"
    (place / "bin").mkdir(parents=True)
    (place / "lib").mkdir()
    shutil.copy2("/bin/sh", place / "bin" / "tool")
    files = bot_files(more=f'build = ["{word}", "-c", "true"]\n'.format(place=place) if key == "build" else "")
    if key == "run":
        files["bot.toml"] = str(files["bot.toml"]).replace("{python}", word.format(place=place))
    send(hand_ins, sign(), archive(files))
    async with running(config, store):
        version = await over(store)
    assert version.status == "rejected"
    assert [one.name for one in version.steps if one.state == "failed"] == ["built"]
    assert "which lies outside of the bot's folder" in version.reason
    assert "by its name alone" in version.next_step


@pytest.mark.slow
async def test_a_program_of_the_system_may_be_named_by_its_path(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore
) -> None:
    send(hand_ins, sign(), archive(bot_files(more='build = ["/bin/sh", "-c", "mkdir dist"]\n')))
    async with running(config, store):
        version = await over(store)
    assert (version.status, version.reason) == ("active", "")


async def test_a_build_without_end_is_ended_at_its_limit(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore
) -> None:
    config = replace(config, hand_ins=replace(config.hand_ins, build_s=1.0))
    send(hand_ins, sign(), archive(bot_files(more='build = ["sleep", "600"]\n')))
    async with running(config, store):
        version = await over(store)
    assert version.status == "rejected"
    assert "build" in version.reason
    assert version.steps[2].limit_s == 2.0 + module.BUILD_MARGIN_S


@pytest.mark.slow
async def test_a_build_that_fills_the_disk_is_ended(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUILD_DISK_MIB", 16)
    fill = 'build = ["sh", "-c", "while true; do head -c 8000000 /dev/urandom > big$((n=n+1)); sleep 0.1; done"]\n'
    send(hand_ins, sign(), archive(bot_files(more=fill)))
    async with running(config, store):
        version = await over(store)
    assert version.status == "rejected"
    assert "filled more than 16 MiB of the disk" in version.reason


# With a scripted trial


async def test_a_version_plays_from_its_first_division_on(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    first = {"event": "division", "name": "first", "passed": True, "detail": "", "next_step": ""}
    second = {"event": "division", "name": "second", "passed": False, "detail": "it lost its way", "next_step": ""}
    wait = f"while not os.path.exists({str(go)!r}): time.sleep(0.02)"
    command = scripted(tmp_path, *BUILT, TRIED, first, wait, second, DONE)
    send(hand_ins, sign(), archive(bot_files()))
    async with running(config, store, command=command):
        await until(lambda: playing(store, "first") == [1])
        assert store.version("mine", 1).status == "active"
        go.touch()
        version = await over(store)
    assert version.divisions == ("first",)
    assert version.steps[3].detail == "second: it lost its way"
    assert playing(store, "second") == []


@pytest.mark.parametrize("killed_at", range(len(GOOD) + 1))
async def test_a_kill_in_any_state_loses_nothing(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path, killed_at: int
) -> None:
    """The process stops after so many events; the next one has nothing but the database."""
    reached = tmp_path / "reached"
    stop = [f"open({str(reached)!r}, 'w').close()", "time.sleep(600)"]
    send(hand_ins, sign(), archive(bot_files()))
    async with running(config, store, command=scripted(tmp_path, *GOOD[:killed_at], *stop)):
        await until(lambda: reached.exists() or store.version("mine", 1).steps[3].state == "done")
    left = store.version("mine", 1)
    store.close()
    places = Places(config.data)
    with LadderStore(places.database, places.content) as again:
        assert again.version("mine", 1).content == left.content
        async with running(config, again, command=scripted(tmp_path, *GOOD)):
            version = await over(again)
        assert version.status == "active"
        assert (playing(again, "first"), playing(again, "second")) == ([1], [1])


async def test_a_hand_in_that_ends_the_process_each_time_is_rejected(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    send(hand_ins, sign(), archive(bot_files()))
    command = scripted(tmp_path, *BUILT, TRIED, "os.abort()")
    async with running(config, store, command=command, back_off_s=0.01) as notes:
        version = await over(store)
    assert version.status == "rejected"
    assert "interrupted 5 times" in version.reason
    assert sum("its process ended with" in note for note in notes) == module.MOST_BEGINNINGS


async def test_trouble_of_the_machine_is_waited_for_and_does_not_count(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    tries = tmp_path / "tries"
    trouble = (
        f"open({str(tries)!r}, 'a').write('x')",
        f"len(open({str(tries)!r}).read()) > 8 or say(event='platform', step='built', reason='the disk is full')",
        f"len(open({str(tries)!r}).read()) > 8 or sys.exit()",
    )
    send(hand_ins, sign(), archive(bot_files()))
    command = scripted(tmp_path, BUILT[0], *trouble, BUILT[1], TRIED, PASSED, DONE)
    async with running(config, store, command=command, back_off_s=0.01) as notes:
        version = await over(store)
    assert version.status == "active"
    assert sum("the disk is full" in note for note in notes) == 8


@pytest.mark.parametrize("place", ["bots", "homes"])
async def test_a_cache_that_cannot_be_written_is_no_fault_of_the_bot(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, cache: Path, place: str
) -> None:
    """Bots are copied into `bots`, and built in `homes`."""
    (cache / place).touch()
    send(hand_ins, sign(), archive(bot_files(more='build = ["mkdir", "dist"]\n' if place == "homes" else "")))
    async with running(config, store, back_off_s=0.01) as notes:
        await until(lambda: len(notes) >= 2)
        waiting = store.version("mine", 1)
        assert waiting.status not in OVER
        assert str(cache) not in "".join(step.detail for step in waiting.steps)
        (cache / place).unlink()
        version = await over(store)
    assert (version.status, version.reason) == ("active", "")
    assert all("waits" in note for note in notes if str(cache) in note)


async def test_a_division_that_takes_too_long_does_not_hold_up_the_others(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    slow = "job['divisions'][0]['name'] == 'first' and time.sleep(600)"
    send(hand_ins, sign(), archive(bot_files()))
    async with running(config, store, command=scripted(tmp_path, *BUILT, TRIED, slow, PASSED, DONE), qualify_s=1.0):
        version = await over(store)
    assert version.divisions == ("second",)
    assert "took longer than 1 s" in store.steps.failed_divisions(1)["first"]


async def test_a_bot_that_is_too_slow_everywhere_is_rejected(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    send(hand_ins, sign(), archive(bot_files()))
    async with running(config, store, command=scripted(tmp_path, *BUILT, TRIED, "time.sleep(600)"), qualify_s=0.5):
        version = await over(store)
    assert version.status == "rejected"
    assert "took longer than 0.5 s" in version.reason


async def test_a_build_whose_process_does_not_come_back_is_ended(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    config = replace(config, hand_ins=replace(config.hand_ins, build_s=0.1))
    send(hand_ins, sign(), archive(bot_files()))
    command = scripted(
        tmp_path, BUILT[0], f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))", "time.sleep(600)"
    )
    async with running(config, store, command=command, build_margin_s=0.3):
        version = await over(store)
    assert (version.status, version.steps[2].state) == ("rejected", "failed")
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_a_build_has_no_limit_while_it_waits_for_a_machine(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    config = replace(config, hand_ins=replace(config.hand_ins, build_s=0.1))
    send(hand_ins, sign(), archive(bot_files()))
    command = scripted(tmp_path, {"event": "wait"}, "time.sleep(4)", *BUILT, TRIED, PASSED, DONE)
    async with running(config, store, command=command, build_margin_s=2.4):
        version = await over(store)
    assert version.status == "active"


async def test_hand_ins_are_taken_in_turn(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    note = f"open({str(log)!r}, 'a').write(f'<{{job[\"name\"]}}')"
    end = f"time.sleep(0.05); open({str(log)!r}, 'a').write('>')"
    for bot in ("one", "two", "three"):
        send(hand_ins, sign(), archive(bot_files()), bot=bot)
    async with running(config, store, command=scripted(tmp_path, note, *BUILT, TRIED, end, PASSED, DONE)):
        await over(store, bot="three")
    assert log.read_text() == "<one><two><three>"


async def test_a_locked_database_is_waited_for(
    hand_ins: LadderHandIns,
    sign: Sign,
    config: LadderConfig,
    store: LadderStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.05)
    send(hand_ins, sign(), archive(bot_files()))
    places = Places(config.data)
    with LadderStore(places.database, places.content) as runner:
        other = sqlite3.connect(places.database, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        async with running(config, runner, command=scripted(tmp_path, *GOOD), back_off_s=0.05) as notes:
            await until(lambda: any("another program holds" in note for note in notes))
            other.execute("ROLLBACK")
            version = await over(runner)
        other.close()
    assert version.status == "active"


async def test_files_that_are_gone_are_a_reason(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore
) -> None:
    done = send(hand_ins, sign(), archive(bot_files()))
    shutil.rmtree(Places(config.data).content / done.version.content)
    async with running(config, store):
        version = await over(store)
    assert version.reason == "its files are gone from the ladder"


async def test_a_remote_bot_plays_only_where_such_are_admitted(config: LadderConfig, store: LadderStore) -> None:
    store.accounts.add_owner("ann")
    store.hand_in("ann", "afar", "remote 1", remote=True)
    async with running(config, store):
        version = await over(store, bot="afar")
    assert "no division" in version.reason


def test_a_sandbox_that_is_asked_for_and_not_there_is_refused(
    config: LadderConfig, store: LadderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "probe", lambda: checkup.Probe(False, "it is not installed", "install it"))
    strict = replace(config, sandbox=replace(config.sandbox, profile="strict"))
    with pytest.raises(PlatformError, match="not installed"):
        Intake(strict, store, RANDOM)


def test_the_job_of_a_trial_is_read_as_it_was_written(config: LadderConfig) -> None:
    division = TrialDivision("first", "toy", 2, {"a": 1}, {"move_s": 1.0})
    job = Trial("/b", "mine", "/r", "/s", "strict", 1.0, 2, ("/x",), (), (division,))
    assert Trial.from_json(job.to_json()) == job
    assert json.loads(job.to_json())["divisions"][0]["players"] == 2


def test_a_trial_ends_when_the_process_that_plays_is_killed(tmp_path: Path) -> None:
    """Else its build would go on, and keep the next one waiting."""
    bot = tmp_path / "bot"
    bot.mkdir()
    for name, content in bot_files(more='build = ["sh", "-c", "echo $$ > pid; sleep 600"]\n').items():
        (bot / name).write_text(str(content))
    division = TrialDivision("first", "toy", 2, {}, Limits().in_force())
    job = Trial(str(bot), "mine", str(RANDOM), str(tmp_path), "plain", 300.0, 1000, (), (), (division,))
    (tmp_path / "job").write_text(job.to_json())
    (tmp_path / "out").touch()
    script = '"$0" -m referee.ladder.trial < job > out & echo $!; wait'
    parent = subprocess.Popen(["sh", "-c", script, sys.executable], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    wait_for(lambda: "compiling" in (tmp_path / "out").read_text())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not is_alive(pid))


async def test_who_hands_in_many_bots_that_take_long_lets_others_wait_for_one_of_them_at_most(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore, tmp_path: Path
) -> None:
    """They were taken as they came: the ten hand-ins of one author, with builds of 20 minutes, before all others."""
    eve, ann = sign("eve"), sign("ann")
    for number in range(4):
        send(hand_ins, eve, archive(bot_files(name=f"eve{number}")), bot=f"eve{number}")
    send(hand_ins, ann, archive(bot_files()))
    taken = tmp_path / "taken"
    note = f"open({str(taken)!r}, 'a').write(job['name'] + '\\n')"
    async with running(config, store, command=scripted(tmp_path, note, *GOOD)):
        await until(lambda: not store.steps.waiting() and not store.steps.qualifying())
    assert taken.read_text().split() == ["eve0", "mine", "eve1", "eve2", "eve3"]
