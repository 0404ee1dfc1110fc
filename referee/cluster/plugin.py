"""The plugin of Dask's worker that plays on a machine: it supervises worker processes of Crosstown.

Each slot is a process with a table of its own, the same as on the runner's machine. No match runs in Dask's process,
which only passes on orders and returns records.
"""

import asyncio
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin

from referee.cluster.archive import unpack
from referee.cluster.machine import Facts
from referee.cluster.orders import TOPIC, Answer, Order
from referee.errors import ExpectedError, PlatformError
from referee.folders import cache_folder
from referee.process.build import BuildError, Yard, build, needs_build
from referee.process.cgroup import find
from referee.process.entry import EntryError, ManifestError, NotBuiltError, load_stored
from referee.process.manifest import BotNameError
from referee.process.sandbox import Profile
from referee.process.store import Version, hold, store_folder
from referee.record.store import closed_path, live_path
from referee.texts import one_line
from referee.tournament.executor import MatchLost
from referee.tournament.local import LocalExecutor
from referee.tournament.messages import BotSetup, Meeting

NAME = "crosstown"

NEWS_S = 1.0
"""The new part of a live record is sent at most this often."""

NEWS_BYTES = 64 << 10
"""The most that is sent of it at once."""

_NOWHERE = "elsewhere"


class MachinePlugin(WorkerPlugin):
    """Plays on `facts.slots` tables below the folder `work`, which is this machine's alone. `hidden` is what no bot may
    see: the certificates."""

    name = NAME

    def __init__(self, work: Path, facts: Facts, hidden: tuple[Path, ...] = ()) -> None:
        self._work = work
        self._facts = facts
        self._hidden = tuple(str(path.resolve()) for path in hidden)
        self._versions: dict[str, Version] = {}
        self._ready: set[tuple[str, Profile]] = set()
        self._taking: dict[tuple[str, str], asyncio.Lock] = {}
        self._playing: dict[str, asyncio.Task[bytes]] = {}
        self._records = work / "records"
        self._tables = LocalExecutor(
            [],
            self._records / "none",
            workers=facts.slots,
            log=work / "workers.log",
            note=self._note,
            machine={"name": facts.name, "class": facts.kind},
        )

    async def setup(self, worker: Worker) -> None:
        self._worker = worker
        shutil.rmtree(self._records, ignore_errors=True)
        self._records.mkdir(parents=True)
        await self._tables.__aenter__()

    async def teardown(self, worker: Worker) -> None:
        self._tables.kill()
        await self._tables.__aexit__(None, None, None)

    def kill(self) -> None:
        """End all matches at once."""
        self._tables.kill()

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """Dask does not end a task that it has begun: a match whose caller has gone ends here."""
        if finish in ("cancelled", "released", "forgotten") and (playing := self._playing.get(str(key))):
            playing.cancel()

    def facts(self, _worker: Worker) -> Mapping[str, Any]:
        """The machine's facts, which Dask sends with each heartbeat."""
        return {**self._facts.to_values(), "busy": len(self._playing)}

    async def play(self, data: bytes) -> bytes:
        """The answer to an order."""
        order = Order.from_bytes(data)
        playing = asyncio.create_task(self._play(order))
        self._playing[order.key] = playing
        try:
            await asyncio.wait([playing])
        finally:
            playing.cancel()
            self._playing.pop(order.key, None)
        if playing.cancelled():
            return Answer(order.key, "lost", self._facts.name, "the caller no longer waits for it").to_bytes()
        return playing.result()

    async def _play(self, order: Order) -> bytes:
        self._tell("begun", key=order.key)
        name = self._facts.name
        lacks = tuple(dict.fromkeys(bot.content for bot in order.bots if not self._has(bot)))
        if lacks:
            return Answer(order.key, "lacks", name, lacks=lacks).to_bytes()
        records = self._records / order.key
        meeting = Meeting(records, tuple(map(self._here, order.bots)))
        following = asyncio.create_task(self._follow(order, records)) if order.follow else None
        try:
            result = await self._tables.play(order.spec, order.cap_s, meeting)
            record = await asyncio.to_thread(_read_record, records, order.spec.match_id)
            return Answer(order.key, "played", name, result=result, record=record).to_bytes()
        except MatchLost as error:
            self._ready.clear()  # perhaps a bot's files are gone
            return Answer(order.key, "lost", name, str(error), flood=error.flood).to_bytes()
        except (PlatformError, OSError) as error:
            step = f"; {error.next_step}" if isinstance(error, PlatformError) else ""
            return Answer(order.key, "broken", name, f"{error}{step}").to_bytes()
        finally:
            if following is not None:
                following.cancel()
            shutil.rmtree(records, ignore_errors=True)

    async def take(self, content: str, profile: str, archive: bytes) -> tuple[str, str]:
        """See `tasks.take_bot`."""
        lock = self._taking.setdefault((content, profile), asyncio.Lock())
        async with lock:
            return await asyncio.to_thread(self._take, content, self._confined(profile), archive)

    def _take(self, content: str, profile: Profile, archive: bytes) -> tuple[str, str]:
        try:
            version = unpack(store_folder(), content, archive)
            if needs_build(version.folder):
                hidden = (*self._hidden, str(self._work.resolve()))
                build(version.folder, Yard(profile, cgroups=find(), hidden=hidden))
            self._versions[content] = version
        except BuildError as error:
            return "unable", one_line(f"{error.sentence}: {' | '.join(error.tail.splitlines()[-3:])}")
        except (ExpectedError, OSError) as error:
            return "broken", one_line(str(error))
        return "", ""

    def _has(self, bot: BotSetup) -> bool:
        """Whether the bot is here and built, under the profile that it needs."""
        profile = self._confined(bot.sandbox.profile)
        if (bot.content, profile) in self._ready:
            return True
        version = None
        with suppress(EntryError):
            version = hold(store_folder(), bot.content)
        if version is None:
            return False
        try:
            entry = load_stored(bot.content, version.folder, bot.name, bot.options)
        except (NotBuiltError, EntryError, ManifestError, BotNameError):
            return False
        if profile == "strict" and any(built.sandbox != "strict" for built in entry.builds):
            return False
        self._versions[bot.content] = version
        self._ready.add((bot.content, profile))
        return True

    def _here(self, bot: BotSetup) -> BotSetup:
        """The bot as a table of this machine finds it."""
        profile = self._confined(bot.sandbox.profile)
        box = replace(bot.sandbox, profile=profile, hidden=(*bot.sandbox.hidden, *self._hidden))
        return replace(bot, folder=str(cache_folder() / _NOWHERE / bot.content), sandbox=box)

    def _confined(self, profile: str) -> Profile:
        return "strict" if profile == "strict" and self._facts.sandbox == "strict" else "plain"

    async def _follow(self, order: Order, records: Path) -> None:
        """Send the live record as it grows, at a bounded rate."""
        path, sent = live_path(records, order.spec.match_id), 0
        while True:
            await asyncio.sleep(NEWS_S)
            with suppress(OSError), path.open("rb") as file:
                file.seek(sent)
                chunk = file.read(NEWS_BYTES)
                whole = chunk[: chunk.rfind(b"\n") + 1]
                if whole:
                    self._tell("news", key=order.key, start=sent, lines=whole)
                    sent += len(whole)

    def _note(self, sentence: str) -> None:
        self._tell("note", machine=self._facts.name, text=sentence)

    def _tell(self, kind: str, **fields: Any) -> None:
        with suppress(Exception):  # a scheduler that is gone just now is for others to notice
            self._worker.log_event(TOPIC, {"kind": kind, "worker": self._worker.address, **fields})


def _read_record(records: Path, match_id: str) -> bytes:
    """The closed record of a match, b'' if it has none."""
    try:
        return closed_path(live_path(records, match_id)).read_bytes()
    except OSError:
        return b""
