"""What gets out of the plain profile, which shows that the attempts are real, does not get out of the strict one."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from referee.process.cgroup import find

pytestmark = pytest.mark.strict_sandbox

ROOT = Path(__file__).resolve().parents[3]
ESCAPE = ROOT / "tests" / "chaos" / "bots" / "escape"
SCENE = Path(__file__).with_name("escape_scene.py")
STRANGER = 60999
"""A user without a name, for the runs that are not root's."""

ATTEMPTS = (
    "read the database",
    "read another bot",
    "read a live record",
    "read the seed",
    "read the secret of the luck",
    "read the PATH of the referee",
    "read where what is hidden lies",
    "read the seed in its own folder",
    "read the host's /tmp",
    "read the referee's environment",
    "see the referee's process",
    "signal the referee",
    "signal the guardian",
    "trace the referee",
    "hold a process by a descriptor",
    "take a descriptor of another process",
    "connect over the network",
    "connect to an abstract socket",
    "remove the referee's socket",
    "write its own folder",
    "write to the host's disk",
    "make a user namespace",
    "use the kernel's keyring",
    "write a kernel setting",
    "remember an earlier match",
    "see a bot that plays beside it",
    "read the token of a bot that plays beside it",
    "signal a bot that plays beside it",
    "read what the referee has open",
    "read through another's root",
    "follow a link of its own",
    "read the cache of builds",
    "change the rights of the socket's folder",
    "replace the referee's socket",
    "write to a control group",
    "keep memory that no group counts",
    "keep keys of TCP that no group counts",
    "join groups that no group counts",
    "keep filters of sockets that no group counts",
    "keep policies of memory that no group counts",
    "keep options of IPv6 that no group counts",
    "keep datagrams that no group counts",
    "keep datagrams by an option that no group counts",
    "keep errors that no group counts",
    "keep pages of a socket that no group counts",
    "keep access lists of files that no group counts",
    "use up the machine's room for filters",
    "open a socket of a rare protocol",
    "make sockets of a rare family as a pair",
    "use up huge pages",
    "make the disk empty its cache",
    "drop a page from memory by advice",
    "set a timer file",
    "make a timer",
    "have its connections looked after",
    "wake a reader for nothing",
    "choose the signal of a file",
    "know which names were looked up",
    "have a line printed again on a terminal",
    "change the discipline of a terminal",
    "start the machine's program for core files",
    "change when the kernel takes it",
)
GRANTED_WITH_THE_NETWORK = {
    "connect over the network",
    "connect to an abstract socket",
    "have its connections looked after",
}
"""By its documentation."""

ROOT_ONLY = {"write a kernel setting", "write to a control group"}
UP_TO_THE_HOST = {"trace the referee", "take a descriptor of another process", "make a user namespace"}
"""Not every host lets an ordinary user do these even without a sandbox."""

UP_TO_THE_KERNEL = {
    "keep keys of TCP that no group counts",
    "keep policies of memory that no group counts",
    "keep options of IPv6 that no group counts",
    "keep access lists of files that no group counts",
    "open a socket of a rare protocol",
    "wake a reader for nothing",
}
"""Not every kernel is built with these (TCP_MD5SIG, NUMA, IPv6, TMPFS_POSIX_ACL, MPTCP, AF_UNIX_OOB)."""

NOT_BUILT = ("Operation not supported", "Protocol not ", "Function not implemented", "Address family not supported")


@pytest.fixture(scope="module")
def stranger_python() -> Iterator[tuple[list[str], Path]]:
    """The command line of an interpreter as somebody who is not root, and a folder that is theirs."""
    folder = Path(tempfile.mkdtemp(prefix="crosstown-escape-", dir="/tmp"))
    try:
        code = folder / "code"
        (code / "referee").mkdir(parents=True)
        (code / "referee" / "schedule").mkdir()
        for name in ("__init__.py", "errors.py", "folders.py", "texts.py", "schedule/__init__.py", "schedule/spec.py"):
            shutil.copyfile(ROOT / "referee" / name, code / "referee" / name)
        shutil.copytree(ROOT / "referee" / "process", code / "referee" / "process")
        shutil.copytree(ESCAPE, folder / "escape")
        shutil.copyfile(SCENE, folder / SCENE.name)
        (folder / "work").mkdir()
        folder.chmod(0o755)
        command = [sys.executable]
        if os.getuid() == 0:
            python = next(
                (path for path in map(Path, ("/usr/bin/python3", "/usr/local/bin/python3")) if recent(path)), None
            )
            assert python is not None, "no interpreter that a user other than root can run"
            os.chown(folder / "work", STRANGER, STRANGER)
            command = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", str(python)]
        yield command, folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def recent(python: Path) -> bool:
    if not python.exists():
        return False
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([python, "-c", check], check=False).returncode == 0


@cache
def attempts_as_we_are(profile: str, place: str | None = None) -> dict[str, str]:
    """`place`: where the project with all that is hidden lies; None for the usual temporary folder."""
    with tempfile.TemporaryDirectory(prefix="crosstown-escape-", dir=place) as folder:
        return attempts([sys.executable, str(SCENE)], profile, Path(folder), ESCAPE, dict(os.environ))


def attempts(command: list[str], profile: str, folder: Path, bot: Path, environment: dict[str, str]) -> dict[str, str]:
    words = [*command, profile, str(folder), str(bot)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    outcome: dict[str, str] = json.loads(done.stdout)
    assert set(outcome) == set(ATTEMPTS)
    return outcome


@pytest.fixture(scope="module")
def as_stranger(stranger_python: tuple[list[str], Path]) -> dict[str, dict[str, str]]:
    """By profile."""
    command, folder = stranger_python
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder / "code"), "HOME": str(folder / "work")}
    outcomes = {}
    for profile in ("plain", "strict"):
        place = folder / "work" / profile
        place.mkdir()
        if os.getuid() == 0:
            os.chown(place, STRANGER, STRANGER)
        scene = [*command, str(folder / SCENE.name)]
        outcomes[profile] = attempts(scene, profile, place, folder / "escape", environment)
    return outcomes


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_plain_bot_can(attempt: str) -> None:
    """But for what root alone may, or root of a machine that lets us have control groups."""
    outcome = attempts_as_we_are("plain")[attempt]
    if os.getuid() != 0 and attempt in ROOT_ONLY | UP_TO_THE_HOST:
        assert outcome == "done" or "Error" in outcome
    elif attempt in UP_TO_THE_KERNEL:
        assert outcome == "done" or any(words in outcome for words in NOT_BUILT)
    elif attempt == "write to a control group" and not find().controllers:
        assert "Error" in outcome
    else:
        assert outcome == "done"


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_strict_bot_cannot(attempt: str) -> None:
    assert attempts_as_we_are("strict")[attempt] != "done"


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_strict_bot_that_may_use_the_network_can_do_that_and_no_more(attempt: str) -> None:
    outcome = attempts_as_we_are("strict+network")[attempt]
    assert (outcome == "done") == (attempt in GRANTED_WITH_THE_NETWORK), outcome


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_strict_bot_cannot_even_where_everything_lies_in_usr(attempt: str) -> None:
    """As in a container; of an ordinary user, who may not write there, once more where it always lies."""
    place = "/usr/local/share" if os.access("/usr/local/share", os.W_OK) else None
    assert attempts_as_we_are("strict", place)[attempt] != "done"


@pytest.mark.parametrize("attempt", [name for name in ATTEMPTS if name not in ROOT_ONLY | UP_TO_THE_HOST])
def test_a_plain_bot_of_an_ordinary_user_can(as_stranger: dict[str, dict[str, str]], attempt: str) -> None:
    outcome = as_stranger["plain"][attempt]
    assert outcome == "done" or (attempt in UP_TO_THE_KERNEL and any(words in outcome for words in NOT_BUILT))


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_strict_bot_of_an_ordinary_user_cannot(as_stranger: dict[str, dict[str, str]], attempt: str) -> None:
    assert as_stranger["strict"][attempt] != "done"
