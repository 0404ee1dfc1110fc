"""`crosstown bots connect`: runs a bot on this machine, and keeps it connected to a ladder."""

import ctypes
import json
import os
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from urllib.parse import quote

from referee.cli.building import load_or_build
from referee.cli.ladder_client import LadderClient, LadderRefusedError
from referee.errors import PlatformError, UsageError
from referee.process.entry import Entry, load_entry
from referee.process.manifest import load_manifest
from referee.texts import one_line

LOOK_S = 2.0
"""How often the ladder is asked for the bot's status."""

STOP_S = 5.0
"""Time that the bot has to end when the command ends."""

LASTED_S = 60.0
"""A bot that has run at least this long is started again at once."""

MOST_BACK_OFF_S = 30.0
_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the bot's program reaches the ladder. `authorities`: path of a PEM file; '' without TLS."""

    address: str
    token: str
    authorities: str


def load_here(folder: Path) -> Entry:
    """The bot as it runs here: in its folder, so that it finds its data; from its build where it has one. It is built
    first if need be."""
    manifest = load_manifest(folder)
    if manifest.build or (folder / "requirements.txt").exists():
        entry = load_or_build(folder)
        if manifest.build:
            return entry
    return load_entry(folder, built_in=folder.resolve())


def environment_of(entry: Entry, way: Way, secret: str, given: Mapping[str, str]) -> dict[str, str]:
    """That of this process, without the account's token under any name, and with what the bot needs to connect."""
    kept = {name: value for name, value in given.items() if secret not in value and not name.startswith("CROSSTOWN_")}
    settings = {
        "CROSSTOWN_ADDRESS": way.address,
        "CROSSTOWN_TOKEN": way.token,
        "CROSSTOWN_OPTIONS": json.dumps(dict(entry.options)),
        "CROSSTOWN_VERSION": entry.manifest.version,
        "PYTHONUNBUFFERED": "1",
    }
    return {**kept, **settings, **({"CROSSTOWN_TLS_CA": way.authorities} if way.authorities else {})}


def connect(entry: Entry, bot: str, client: LadderClient, secret: str, say: Callable[[str], None]) -> None:
    """Until Ctrl-C or SIGTERM. UsageError when the ladder no longer accepts the bot."""
    with tempfile.TemporaryDirectory(prefix="crosstown-connect-") as made:
        opened = client.post(f"/bots/{quote(bot, safe='')}/connection", {}, repeatable=True)
        way = Way(opened["address"], opened["token"], _authorities(Path(made), opened))
        say(f"'{one_line(bot)}' connects to {one_line(way.address)}; Ctrl-C ends it")
        signal.signal(signal.SIGTERM, _interrupt)
        with suppress(KeyboardInterrupt):
            _keep_running(entry, bot, way, client, environment_of(entry, way, secret, os.environ), say)
    say(f"'{one_line(bot)}' is not connected any more")


def _authorities(folder: Path, opened: Mapping[str, Any]) -> str:
    """A file with what this machine trusts, and the ladder's own certificate, which came over a connection that is
    trusted already."""
    if not opened["tls"]:
        return ""
    found = ssl.get_default_verify_paths().cafile
    trusted = Path(found).read_text("ascii", "ignore") if found and Path(found).is_file() else ""
    path = folder / "authorities.pem"
    path.write_text(f"{opened['certificate'].rstrip()}\n{trusted}", encoding="ascii")
    return str(path)


def _keep_running(
    entry: Entry, bot: str, way: Way, client: LadderClient, environment: dict[str, str], say: Callable[[str], None]
) -> None:
    failed, news = 0, _News(client, bot, say)
    while True:
        began_s = time.monotonic()
        code = _run(entry, environment, news)
        _check_token(client.address, way.token)
        failed = 0 if time.monotonic() - began_s >= LASTED_S else failed + 1
        wait_s = 0.0 if not failed else min(MOST_BACK_OFF_S, 2.0 ** (failed - 1))
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        say(f"the bot's program {how}; it is started again in {wait_s:.0f} s")
        time.sleep(wait_s)


def _run(entry: Entry, environment: dict[str, str], news: "_News") -> int:
    """The exit code of one process. Nothing of it is left when this is interrupted."""
    try:
        process = subprocess.Popen(
            entry.argv, cwd=entry.home, env=environment, start_new_session=True, preexec_fn=_die_with_parent
        )
    except OSError as error:
        raise PlatformError(f"{entry.argv[0]}: {error.strerror}", "check 'run' in bot.toml") from None
    try:
        while True:
            try:
                return process.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                news.look()
    finally:
        _end(process)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGTERM)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """With all that it has started."""
    for number, within_s in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(within_s)
            break
    with suppress(ProcessLookupError):  # what it has started and left behind
        os.killpg(process.pid, signal.SIGKILL)


def _check_token(address: str, token: str) -> None:
    """UsageError if the bot's token is no longer valid. If the ladder does not answer, the bot itself waits for it."""
    try:
        LadderClient(address, token, sleep=lambda _: None).get("/me")
    except PlatformError:
        return
    except LadderRefusedError as error:
        if error.status == 401:
            step = "another 'crosstown bots connect' has taken the bot over, or the token was revoked; to run it here,"
            raise UsageError(str(error), f"{step} enter the command again") from None


class _News:
    """Prints the bot's status in the ladder each time that it changes."""

    def __init__(self, client: LadderClient, bot: str, say: Callable[[str], None]) -> None:
        self._client = LadderClient(client.address, client.token, sleep=lambda _: None)
        self._path = f"/bots/{quote(bot, safe='')}"
        self._say = say
        self._said = ""

    def look(self) -> None:
        """At most one line."""
        try:
            bot = self._client.get(self._path)
        except (PlatformError, LadderRefusedError):
            return
        words = _words(bot)
        if words != self._said:
            self._said = words
            self._say(words)


def _words(bot: Mapping[str, Any]) -> str:
    where = "connected" if bot["connected"] else "not connected"
    newest = bot["newest"]
    if bot["paused"]:
        return one_line(f"{where}; paused: {bot['paused']}; {bot['next_step']}")
    if newest is None:
        return where
    said = f"{where}; version {newest['number']} is {newest['status']}"
    if newest["status"] == "rejected":
        return one_line(f"{said}: {newest['reason']}; {newest['next_step']}")
    divisions = ", ".join(newest["divisions"])
    return one_line(f"{said}{f' in {divisions}' if divisions else ''}")


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
