"""One bot process: how it is started, what it sees, how its end is known."""

import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.process import launch
from referee.process.bot import BotProcess, Exit, StartError
from referee.process.entry import Entry, load_entry
from referee.process.limits import ProcessLimits

Start = Any
MockBot = Callable[..., Entry]
WriteBot = Callable[..., Path]


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def exists(path: Path) -> bool:
    return path.exists()


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
async def test_an_exit_code_is_reported(start: Start, code: int) -> None:
    end = await (await start("crashing", code=code)).wait()
    assert (end.code, end.signal, end.guardian_lost) == (code, None, False)
    assert str(end) == f"exit code {code}"


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, signal.SIGTERM])
async def test_a_signal_is_reported(start: Start, number: int) -> None:
    end = await (await start("crashing", signal=int(number))).wait()
    assert (end.code, end.signal, end.guardian_lost) == (None, number, False)
    assert str(end) == f"killed by {signal.Signals(number).name}"


async def test_the_last_words_are_there_when_the_exit_is_known(start: Start) -> None:
    for _ in range(5):
        bot = await start("crashing")
        await bot.wait()
        assert bot.output().stdout_text() == "last words\n"
        assert bot.output().stderr_text() == "Traceback: something broke\n"


async def test_several_may_wait_and_the_exit_stays_known(start: Start) -> None:
    bot = await start("crashing")
    assert await bot.wait() == await bot.wait() == bot.exited
    await bot.wait_gone()
    assert await bot.stop(1) == bot.exited


async def test_a_running_bot_has_no_exit_but_a_processor_time(start: Start, alive: Callable[[int], bool]) -> None:
    bot = await start("slow")
    assert bot.exited is None
    assert alive(bot.pid)
    first = bot.cpu_ns()
    assert first is not None
    assert first > 0
    assert bot.start_us > 0
    await bot.stop(0)
    assert bot.cpu_ns() is None


async def test_processor_time_is_that_of_the_bot(start: Start, write_bot: WriteBot, until: Any) -> None:
    source = "import time\nprint('on')\nwhile time.process_time() < 0.3: pass\nprint('spun')\ntime.sleep(60)\n"
    bot = await start(load_entry(write_bot({"bot.py": source})))
    await until(lambda: "spun" in bot.output().stdout_text())
    assert 300_000_000 <= bot.cpu_ns() < 600_000_000
    end = await bot.stop(0)
    assert end.cpu_us >= 300_000


async def test_what_a_bot_sees(start: Start, mark: Any) -> None:
    """Nothing of the referee but what it is meant to have."""
    bot = await start("reporting", ProcessLimits(rlimits=(("nofile", 99),)), word="Zoë", number=-1)
    end = await bot.wait()
    assert end.code == 0, bot.output().stderr_text()
    seen = json.loads(bot.output().stdout_text())
    environment = seen["environment"]
    assert json.loads(environment.pop("CROSSTOWN_OPTIONS")) == {"word": "Zoë", "number": -1, "flag": True}
    home = environment.pop("HOME")
    environment.pop("LC_CTYPE", None)  # Python sets it for itself in a C locale
    assert environment == {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TMPDIR": home,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CROSSTOWN_ADDRESS": "unix:/nowhere",
        "CROSSTOWN_TOKEN": "secret",
        **mark.env,
    }
    assert seen["files"] == [0, 1, 2]
    assert seen["stdin"] == "/dev/null"
    assert seen["cwd"] == str(bot.entry.home)
    assert seen["session"] == seen["group"] == seen["pid"] == bot.pid
    assert seen["ignored"] & ~(1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1) == 0  # these two are Python's own
    assert seen["blocked"] == 0
    assert seen["no_new_privileges"] == "1"
    assert seen["core"] == [1, 1], "at 0 the machine's program for core files would start"
    assert seen["open_files"] == [99, 99]
    assert seen["home"] == []


@pytest.mark.parametrize("ours", ["C", "POSIX", "de_DE.ISO-8859-1", ""])
async def test_text_and_paths_are_utf_8_whatever_the_referees_own_locale(
    ours: str, start: Start, write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        monkeypatch.setenv(name, ours)
    # Not Python's own idea of it: what the C library makes of the environment, as a JVM would ask.
    code = (
        "import ctypes, os; libc = ctypes.CDLL(None); libc.setlocale.restype = ctypes.c_char_p\n"
        "assert libc.setlocale(0, b''), 'no such locale'\n"
        "libc.nl_langinfo.restype = ctypes.c_char_p\n"
        "print(libc.nl_langinfo(14).decode(), os.environ.get('LC_ALL'))"
    )
    bot = await start(load_entry(write_bot({"bot.py": code})))
    await bot.wait()
    assert bot.output().stdout_text() == "UTF-8 None\n"


async def test_the_tournament_cannot_replace_what_the_referee_says(mock_bot: MockBot) -> None:
    limits = ProcessLimits()
    bot = await BotProcess.start(
        mock_bot("reporting"),
        address="unix:/a",
        token="t",
        limits=limits,
        env={"CROSSTOWN_TOKEN": "stolen", "LANG": "de_DE.UTF-8", "API_KEY": "k"},
    )
    await bot.wait_gone()
    environment = json.loads(bot.output().stdout_text())["environment"]
    assert (environment["CROSSTOWN_TOKEN"], environment["LANG"], environment["API_KEY"]) == ("t", "de_DE.UTF-8", "k")


async def test_the_private_folder_goes_with_the_bot(start: Start, write_bot: WriteBot, until: Any) -> None:
    source = (
        "import os, pathlib, time\n"
        "home = pathlib.Path(os.environ['HOME'])\n"
        "(home / 'a' / 'b').mkdir(parents=True)\n"
        "(home / 'a' / 'out').symlink_to('/etc')\n"
        "(home / 'a' / 'file').write_text('x')\n"
        "print(home)\n"
        "time.sleep(60)\n"
    )
    bot = await start(load_entry(write_bot({"bot.py": source})))
    await until(lambda: bot.output().stdout_text())
    home = Path(bot.output().stdout_text().strip())
    assert exists(home / "a" / "file")
    assert rights(home) == 0o700
    await bot.stop(0)
    assert not exists(home)
    assert exists(Path("/etc/passwd"))


async def test_sigterm_and_grace_let_a_bot_save(start: Start, until: Any) -> None:
    bot = await start("slow")
    await until(lambda: bot.output().stdout_text())
    end = await bot.stop(10)
    assert end.code == 0
    assert bot.output().stdout_text() == "ready\nsaved\n"


async def test_a_wrapper_script_does_not_keep_sigterm_from_the_bot(
    start: Start, write_bot: WriteBot, mock_bot: MockBot, until: Any
) -> None:
    command = shlex.join([sys.executable, str(mock_bot("slow").folder / "bot.py")])
    folder = write_bot({"run.sh": f"#!/bin/sh\nCROSSTOWN_OPTIONS='{{\"stubborn\":false}}' {command}\n"})
    (folder / "run.sh").chmod(0o755)
    (folder / "bot.toml").write_text('name = "W"\nversion = "1"\ngames = ["*"]\nrun = ["./run.sh"]\n')
    bot = await start(load_entry(folder))
    await until(lambda: bot.output().stdout_text())
    end = await bot.stop(10)
    assert end.signal == signal.SIGTERM  # the shell died at once, and the bot behind it still had its grace
    assert bot.output().stdout_text() == "ready\nsaved\n"


async def test_a_stubborn_bot_is_killed_when_its_grace_is_over(start: Start, until: Any) -> None:
    bot = await start("slow", stubborn=True)
    await until(lambda: bot.output().stdout_text())
    end = await bot.stop(0.2)
    assert end.signal == signal.SIGKILL
    assert not end.guardian_lost


async def test_kill_returns_at_once_and_works(start: Start) -> None:
    bot = await start("slow", stubborn=True)
    bot.kill()
    bot.kill()
    assert (await bot.wait()).signal == signal.SIGKILL
    await bot.wait_gone()
    bot.kill()


@pytest.mark.parametrize("grace_s", [0, 10])
async def test_a_frozen_bot_can_be_ended(start: Start, until: Any, grace_s: float) -> None:
    """With grace it is woken up to hear SIGTERM; without it is killed where it stands."""
    bot = await start("frozen")
    await until(lambda: Path(f"/proc/{bot.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    end = await bot.stop(grace_s)
    assert end.signal == (signal.SIGTERM if grace_s else signal.SIGKILL)


async def test_a_program_that_has_gone_since_is_a_start_error(write_bot: WriteBot) -> None:
    folder = write_bot({"bot": "#!/bin/sh\n"})
    (folder / "bot").chmod(0o755)
    (folder / "bot.toml").write_text('name = "Gone"\nversion = "1"\ngames = ["*"]\nrun = ["./bot"]\n')
    entry = load_entry(folder)
    (entry.home / "bot").unlink()
    with pytest.raises(StartError, match=r"bot 'Gone': its program could not be executed: No such file or directory"):
        await BotProcess.start(entry, address="a", token="t", limits=ProcessLimits())


async def test_a_program_that_is_none_is_a_start_error(write_bot: WriteBot) -> None:
    folder = write_bot({"bot": "print(1)\n"})
    (folder / "bot").chmod(0o755)
    (folder / "bot.toml").write_text('name = "B"\nversion = "1"\ngames = ["*"]\nrun = ["./bot"]\n')
    with pytest.raises(StartError, match=r"could not be executed: Exec format error"):
        await BotProcess.start(load_entry(folder), address="a", token="t", limits=ProcessLimits())


async def test_a_folder_that_has_gone_since_is_a_start_error(write_bot: WriteBot) -> None:
    folder = write_bot()
    entry = load_entry(folder)
    shutil.rmtree(entry.home)
    with pytest.raises(StartError, match="its folder could not be entered: No such file or directory"):
        await BotProcess.start(entry, address="a", token="t", limits=ProcessLimits())


async def test_a_value_that_no_environment_can_hold_is_a_start_error(mock_bot: MockBot) -> None:
    with pytest.raises(StartError, match="it cannot be started: embedded null byte"):
        await BotProcess.start(mock_bot("slow"), address="a", token="t", limits=ProcessLimits(), env={"A": "\0"})


@pytest.mark.parametrize(
    ("interpreter", "message"),
    [
        ("/no/such/python", "it cannot be started: No such file"),
        ("/bin/false", "its guardian ended before the bot started"),
    ],
)
async def test_a_guardian_that_does_not_start_is_a_start_error(
    mock_bot: MockBot, monkeypatch: pytest.MonkeyPatch, interpreter: str, message: str
) -> None:
    entry = mock_bot("slow")
    monkeypatch.setattr(launch.sys, "executable", interpreter)
    with pytest.raises(StartError, match=message):
        await BotProcess.start(entry, address="a", token="t", limits=ProcessLimits())


async def test_a_start_that_takes_too_long_is_a_start_error_and_leaves_nothing(mock_bot: MockBot, mark: Any) -> None:
    limits = ProcessLimits(start_timeout_s=0)
    with pytest.raises(StartError, match="bot 'slow': not started within 0 s"):
        await BotProcess.start(mock_bot("slow"), address="a", token="t", limits=limits, env=mark.env)
    assert mark.alive() == []


@pytest.mark.parametrize(
    "wrong",
    [{"max_output_bytes": -1}, {"linger_s": -0.1}, {"rlimits": (("no_such", 1),)}, {"rlimits": (("nofile", -1),)}],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"process limits|resource limit"):
        ProcessLimits(**wrong)


def test_ends_are_named_for_people() -> None:
    assert str(Exit(None, 64)) == "killed by SIGRTMAX"
    assert str(Exit(None, 200)) == "killed by signal 200"
    assert str(Exit(None, 9, guardian_lost=True)) == "killed together with its guardian"
