"""A bot that cannot be started: by its own doing, which its author mends, or by the machine's, at no cost to it."""

import errno
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.process import launch, sandbox
from referee.process.bot import BotProcess, StartError, sandbox_is_ours, sandbox_words, step_is_ours
from referee.process.entry import load_entry
from referee.process.guardian import words_for
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox

PYTHON = Path(sys.executable).resolve()
WriteBot = Callable[..., Path]
PATIENT = ProcessLimits(start_timeout_s=60)


async def failure(
    folder: Path, box: Sandbox, limits: ProcessLimits = PATIENT, options: dict[str, str] | None = None
) -> StartError:
    entry, token = load_entry(folder, options=options), secrets.token_hex(8)
    with pytest.raises(StartError) as raised:
        await BotProcess.start(entry, address="unix:/no", token=token, limits=limits, context=LaunchContext(box))
    return raised.value


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("box", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])
async def test_options_that_no_program_can_be_given_are_the_bots_own_doing(write_bot: WriteBot, box: Sandbox) -> None:
    toml = 'name = "Long"\nversion = "1"\ngames = ["*"]\nrun = ["{python}"]\n[options]\nx = ""\n'
    error = await failure(write_bot(toml=toml), box, options={"x": "x" * 140_000})
    assert not error.ours
    assert str(error) == (
        "bot 'Long': it cannot be started: its command and its options are too long for this system"
        " (Argument list too long)"
    )


@pytest.mark.strict_sandbox
async def test_a_path_in_its_folder_that_no_file_can_have_leads_nowhere(write_bot: WriteBot) -> None:
    folder = write_bot({".venv/pyvenv.cfg": f"home = {sys.base_prefix}/{'a' * 300}\n"}, run=[".venv/bin/python"])
    (folder / ".venv" / "bin").mkdir()
    (folder / ".venv" / "bin" / "python").symlink_to(PYTHON)
    entry = load_entry(folder, built_in=folder)
    context = LaunchContext(Sandbox("strict"))
    bot = await BotProcess.start(entry, address="unix:/no", token="t", limits=PATIENT, context=context)
    await bot.stop(0)


async def test_a_program_that_cannot_be_executed_is_the_bots_own_doing(write_bot: WriteBot) -> None:
    folder = write_bot({"bot": "print(1)\n"}, run=["./bot"])
    (folder / "bot").chmod(0o755)
    assert not (await failure(folder, Sandbox())).ours


@pytest.mark.parametrize("interpreter", ["/no/such/python", "/bin/false"])
async def test_a_guardian_that_does_not_start_says_nothing_about_the_bot(
    write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    folder = write_bot(run=["/bin/sleep", "60"])
    monkeypatch.setattr(launch.sys, "executable", interpreter)
    assert (await failure(folder, Sandbox())).ours


async def test_a_machine_too_slow_to_begin_says_nothing_about_the_bot(write_bot: WriteBot) -> None:
    folder = write_bot(run=["/bin/sleep", "60"])
    assert (await failure(folder, Sandbox(), ProcessLimits(start_timeout_s=0))).ours


@pytest.mark.strict_sandbox
async def test_a_machine_without_a_free_user_says_nothing_about_the_bot(
    write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.getuid() != 0:
        return  # then all bots are ours
    monkeypatch.setattr(sandbox, "USERS", (61000, 0))
    error = await failure(write_bot(run=["/bin/sleep", "60"]), Sandbox("strict"))
    assert error.ours
    assert str(error) == "bot 'Bot': its guardian failed: all 0 users for bots are taken"


@pytest.fixture
def bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """bubblewrap(lines of shell), in place of it where every user can execute it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = Path(folder) / "bwrap"
        program.touch(0o755)
        monkeypatch.setattr(sandbox, "PROGRAM", str(program))

        def write(script: str) -> None:
            program.write_text(f"#!/bin/sh\n{script}\n")

        yield write


@pytest.mark.strict_sandbox
@pytest.mark.parametrize(
    ("script", "said", "ours"),
    [
        ("kill -9 $$", "its sandbox was killed by signal 9", True),
        (
            "echo 'bwrap: Creating new namespace failed: No space left on device' >&2; exit 1",
            "in its sandbox, it could not be started: bwrap: Creating new namespace failed: No space left on device",
            True,
        ),
        (
            "echo 'bwrap: execvp ./bot: Permission denied' >&2; exit 1",
            "in its sandbox, it could not be started: bwrap: execvp ./bot: Permission denied",
            False,
        ),
    ],
)
async def test_a_sandbox_that_ends_before_the_bot_ran(
    write_bot: WriteBot, bubblewrap: Callable[[str], None], script: str, said: str, ours: bool
) -> None:
    bubblewrap(script)
    error = await failure(write_bot(run=["/bin/sleep", "60"]), Sandbox("strict"))
    assert str(error) == f"bot 'Bot': {said}"
    assert error.ours is ours


@pytest.mark.parametrize(
    ("step", "number", "ours"),
    [
        *((step, errno.ENOENT, True) for step in ("session", "limits", "group", "mount", "user", "pipes")),
        ("group", errno.EAGAIN, True),
        ("mount", errno.ENOSPC, True),
        ("exec", errno.ENOENT, False),
        ("exec", errno.ENOEXEC, False),
        ("exec", errno.E2BIG, False),
        ("exec", errno.ENOMEM, True),
        ("exec", errno.EIO, False),  # as the kernel says of a program that is cut off
        ("folder", errno.ENOENT, False),
        ("folder", errno.EIO, True),
    ],
)
def test_whose_doing_each_step_is(step: str, number: int, ours: bool) -> None:
    assert step_is_ours(step, number) is ours


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("bwrap: execvp ./bot: No such file or directory", False),
        ("bwrap: execvp ./No space left on device: Permission denied", False),
        ("bwrap: execvp ./namespace/bot: No such file or directory", False),
        ("bwrap: Can't chdir to /srv/bot: Permission denied", False),
        ("bwrap: execvp /usr/bin/java: Cannot allocate memory", True),
        ("bwrap: execvp ./bot: Input/output error", False),
        ("bwrap: Can't mount tmpfs: Input/output error", True),
        ("bwrap: Can't mkdir /newroot/opt: No space left on device", True),
        ("bwrap: Creating new namespace failed: Resource temporarily unavailable", True),
        ("bwrap: No permissions to create new namespace, likely because the kernel does not allow it", True),
        ("bwrap: Exceeded maximum number of arguments 9000", True),
        ("bwrap: setting up uid map: Permission denied", True),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", True),
        ("bwrap: execvp ./bot\nbwrap: Creating new namespace failed: No such file or directory", False),
        ("bwrap: execvp ./bot\nx: Input/output error", False),
        ("", False),
    ],
)
def test_whose_doing_the_words_of_the_sandbox_tell(said: str, ours: bool) -> None:
    assert sandbox_is_ours(sandbox_words(f"{said}\n")) is ours


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BlockingIOError(11, "all 4096 users for bots are taken"), "all 4096 users for bots are taken"),
        (OSError(28, "No space left on device", "/run/a b"), "No space left on device: '/run/a b'"),
        (ValueError("a\nb"), "ValueError('a\\nb')"),
    ],
)
def test_a_guardian_tells_what_it_failed_of_in_words(error: Exception, words: str) -> None:
    assert words_for(error) == words
