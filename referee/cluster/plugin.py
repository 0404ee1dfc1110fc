"""The plugin of Dask's worker that plays on a machine: it supervises worker processes of Crosstown.

Each slot is a process with a table of its own, the same as on the runner's machine. No match runs in Dask's process,
which only passes on orders and returns records.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from distributed import Worker, WorkerPlugin

from referee.cluster.archive import Parcel, unpack, unpack_build
from referee.cluster.machine import Facts
from referee.cluster.orders import TOPIC, Answer, HandIns, Order, TrialOrder
from referee.cluster.relay import END, NEWS, ORDER
from referee.cluster.trial_on_machine import try_out
from referee.errors import ExpectedError, PlatformError
from referee.folders import cache_folder
from referee.process.build import (
    BuildError,
    BuildLimits,
    NoRoomError,
    Yard,
    build,
    hand_in_limits,
    needs_build,
    take_build,
)
from referee.process.cgroup import find
from referee.process.disk import LEAST_FREE, free_share, missing_bytes
from referee.process.entry import Entry, EntryError, ManifestError, NotBuiltError, load_stored, source_id
from referee.process.limits import LEAST_MIB
from referee.process.manifest import BotNameError, load_manifest
from referee.process.packages import read_requirements
from referee.process.sandbox import Profile, Sandbox, check_programs
from referee.process.sources import read_sources
from referee.process.store import Built, evict_builds, hold, mark_of, most_builds_mib, note_use, store_folder
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

MOST_IDLE = 64
"""Bots that are held between their matches: those that were used last."""

ROOM_S = 60.0
"""How often it is seen whether builds have to be removed."""

_T = TypeVar("_T")

_NOWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class _Kept:
    """A bot that can play. As long as this lives its sources and builds are not removed. `marks` are the files whose
    times say when they were used last."""

    holds: tuple[object, ...]
    marks: tuple[Path, ...]


class MachinePlugin(WorkerPlugin):
    """Plays on `facts.slots` tables below the folder `work`, which is this machine's alone. `hidden` is what no bot may
    see: the certificates."""

    name = NAME

    def __init__(self, work: Path, facts: Facts, hidden: tuple[Path, ...] = ()) -> None:
        self._work = work
        self._facts = facts
        self._hidden = tuple(str(path.resolve()) for path in hidden)
        self._kept: dict[str, _Kept] = {}
        """Bots that are held, by content, those that were used last at the end."""
        self._ready: set[tuple[str, Profile, str]] = set()
        """Bots that can play, with the profile of their builds and the hash of the organiser's, if it is to be that."""
        self._needed = Counter[str]()
        """For each bot, the number of its matches in play."""
        self._taking: dict[tuple[str, str], asyncio.Future[tuple[str, str, _Kept | None]]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._playing: dict[str, tuple[str, asyncio.Task[None]]] = {}
        """For each order its runner, as Dask's client, and its match."""
        self._tables_free = asyncio.Semaphore(facts.slots)
        self._making_room = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None
        self._full = ""
        """Why no build and no trial begins here: little of the disk is free."""
        self._is_leaving = False
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
        self._listen(worker)
        shutil.rmtree(self._records, ignore_errors=True)
        self._records.mkdir(parents=True)
        await self._tables.__aenter__()
        self._looking = asyncio.create_task(self._keep_room())

    def _listen(self, worker: Worker) -> None:
        self._worker = worker
        worker.stream_handlers[ORDER] = self._on_order
        worker.stream_handlers[END] = self._on_end

    async def teardown(self, worker: Worker) -> None:
        self.kill()
        if self._looking is not None:
            self._looking.cancel()
        await self._end_all([task for _, task in self._playing.values()])
        await self._tables.__aexit__(None, None, None)

    def kill(self) -> None:
        """End all matches at once, without an answer. Who ends this process may have ended tables and bots as well:
        that these are gone is no fault of the machine or of a bot."""
        self._is_leaving = True
        self._tables.kill()

    def facts(self, _worker: Worker) -> Mapping[str, Any]:
        """The machine's facts, which Dask sends with each heartbeat, how many matches each runner has here, and why the
        machine takes no trial, if it takes none."""
        busy = Counter(client for client, _ in self._playing.values())
        return {**self._facts.to_values(), "busy": busy, "full": self._full}

    async def _keep_room(self) -> None:
        while True:
            await self._make_room()
            await asyncio.sleep(ROOM_S)

    async def _make_room(self) -> str:
        """Remove builds that nobody needs until the others have room. Returns why no build can begin here, '' if one
        can."""
        async with self._making_room:
            try:
                if not await asyncio.to_thread(_evict):
                    self._release(0)
                    await self._tables.end_idle()  # its workers hold the bots that they have played
                    await asyncio.to_thread(_evict)
                free = free_share(cache_folder())
                low = f"{100 * free:.1f} % of the disk of its cache is free"
                full = f"{low}; builds begin when {100 * LEAST_FREE:g} % is" if free < LEAST_FREE else ""
            except (ExpectedError, OSError) as error:
                full = one_line(str(error))
            if bool(full) != bool(self._full):
                self._note(f"no build and no hand-in begins here: {full}" if full else "builds begin here again")
            self._full = full
            return full

    def _on_order(self, client: str, key: str, data: bytes) -> None:
        task = asyncio.create_task(self._serve(client, key, data))
        self._playing[key] = client, task
        task.add_done_callback(lambda _: self._playing.pop(key, None))

    def _on_end(self, client: str, key: str) -> None:
        """End a match, or all matches of a runner, which no longer waits for an answer."""
        if key and (found := self._playing.get(key)):
            found[1].cancel()
        elif not key:
            ending = asyncio.create_task(self._end_all([task for by, task in self._playing.values() if by == client]))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _end_all(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """End the matches of a runner that is gone, and release the bots that no other one needs."""
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._release(0)

    async def _serve(self, client: str, key: str, data: bytes) -> None:
        """Answer an order, when there is a table for it."""
        async with self._tables_free:
            self._tell(client, "begun", key=key)
            try:
                answer = await (self._try_out if TrialOrder.is_in(data) else self._play)(data, key, client)
            except Exception as error:
                what = one_line(f"{type(error).__name__}: {error}")
                answer = Answer(key, "broken", self._facts.name, what).to_bytes()
        if not self._is_leaving:
            self._tell(client, "answer", key=key, data=answer)

    async def _try_out(self, data: bytes, key: str, client: str) -> bytes:
        order = TrialOrder.from_bytes(data)
        if full := await self._make_room():
            return Answer(key, "broken", self._facts.name, full).to_bytes()
        profile = self._confined(order.profile)
        hidden = (*self._hidden, str(self._work.resolve()))

        def tell(kind: str, said: bytes) -> None:
            self._tell(client, kind, key=key, data=said)

        try:
            how = await try_out(order, self._work, profile, hidden, self._facts.slots, tell)
        except (ExpectedError, OSError) as error:
            return Answer(key, "broken", self._facts.name, one_line(str(error))).to_bytes()
        finally:
            await self._make_room()
        return Answer(key, "tried", self._facts.name, how).to_bytes()

    async def _play(self, data: bytes, _key: str, client: str) -> bytes:
        order, name = Order.from_bytes(data), self._facts.name
        builds = order.builds
        needed = [bot.content for bot in order.bots]
        self._needed.update(needed)  # before they are looked for, so that none of them is released then
        records = self._records / order.key
        following = None
        try:
            lacks = [bot.content for bot in order.bots if not await self._has(bot, builds.get(bot.content, ""))]
            if lacks:
                return Answer(order.key, "lacks", name, lacks=tuple(dict.fromkeys(lacks))).to_bytes()
            meeting = Meeting(records, tuple(map(self._here, order.bots)))
            following = asyncio.create_task(self._follow(order, client, records)) if order.follow else None
            # As on one machine: the limits of all bots that play at once fit into the memory.
            spec = order.spec.within_memory(max(LEAST_MIB, self._facts.share(len(order.bots)).mib))
            result = await self._tables.play(spec, order.cap_s, meeting)
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
            self._needed.subtract(needed)
            self._release(MOST_IDLE)

    async def take(self, content: str, profile: str, parcel: bytes, hand_ins: HandIns | None = None) -> tuple[str, str]:
        """See `tasks.take_bot`."""
        key = content, profile
        if (taking := self._taking.get(key)) is None:
            taking = asyncio.ensure_future(self._take_with_room(content, self._confined(profile), parcel, hand_ins))
            self._taking[key] = taking
            taking.add_done_callback(lambda _: self._taking.pop(key, None))
        kind, why, kept = await asyncio.shield(taking)
        if kept is not None:
            self._kept[content] = kept
            # Its build may be another one now.
            self._ready = {one for one in self._ready if one[0] != content}
        return kind, why

    async def _take_with_room(
        self, content: str, profile: Profile, parcel: bytes, hand_ins: HandIns | None
    ) -> tuple[str, str, _Kept | None]:
        await self._make_room()
        taken = await _in_thread(lambda: self._take(content, profile, parcel, hand_ins))
        await self._make_room()
        return taken

    def _take(
        self, content: str, profile: Profile, data: bytes, hand_ins: HandIns | None = None
    ) -> tuple[str, str, _Kept | None]:
        try:
            parcel = Parcel.from_bytes(data)
            version = unpack(store_folder(), content, parcel.sources)
            limits = BuildLimits()
            if hand_ins is not None:
                box = Sandbox(profile, read=hand_ins.read)
                check_programs(load_manifest(version.folder), version.folder, box)
                limits = hand_in_limits(hand_ins.build_s, hand_ins.disk_mib, self._facts.slots)
            if needs_build(version.folder):
                if self._full:
                    return "broken", self._full, None
                _take_builds(version.folder, parcel.builds, profile)
                hidden = (*self._hidden, str(self._work.resolve()))
                build(version.folder, Yard(profile, limits, find(), hidden=hidden))
            kept, why = _started(content, version.folder)
            if why:
                return "unable", why, None
        except ManifestError as error:
            return "unable", one_line(str(error)), None
        except BuildError as error:
            whose = "broken" if isinstance(error, NoRoomError) else "unable"
            return whose, one_line(f"{error.sentence}: {' | '.join(error.tail.splitlines()[-3:])}"), None
        except (ExpectedError, OSError) as error:
            return "broken", one_line(str(error)), None
        return "", "", kept

    async def _has(self, bot: BotSetup, artefacts: str) -> bool:
        """Whether the bot is here and built, under the profile that it needs; with `artefacts` also whether its build
        is the one with this hash."""
        profile = self._confined(bot.sandbox.profile)
        if (bot.content, profile, artefacts) in self._ready:
            kept = self._kept[bot.content] = self._kept.pop(bot.content)
            for mark in kept.marks:
                note_use(mark)
            return True
        # Its files are hashed. In this loop, a large bot would keep heartbeats back until the machine counts as lost.
        found = await _in_thread(lambda: _usable(bot, profile, artefacts))
        if found is None:
            if self._needed[bot.content] <= 1:  # no other match plays with it: what comes now may take its place
                self._forget(bot.content)
            return False
        self._kept[bot.content] = found
        self._ready.add((bot.content, profile, artefacts))
        return True

    def _release(self, most_idle: int) -> None:
        """Hold only so many of the bots that no match in play needs: the files of others may be removed, and a match
        that needs one looks for it again."""
        idle = [content for content in self._kept if not self._needed[content]]
        for content in idle[: max(0, len(idle) - most_idle)]:
            self._forget(content)
        self._needed = +self._needed

    def _forget(self, content: str) -> None:
        self._kept.pop(content, None)
        self._ready = {one for one in self._ready if one[0] != content}

    def _here(self, bot: BotSetup) -> BotSetup:
        """The bot as a table of this machine finds it."""
        profile = self._confined(bot.sandbox.profile)
        box = replace(bot.sandbox, profile=profile, hidden=(*bot.sandbox.hidden, *self._hidden))
        return replace(bot, folder=str(cache_folder() / _NOWHERE / bot.content), sandbox=box)

    def _confined(self, profile: str) -> Profile:
        return "strict" if profile == "strict" and self._facts.sandbox == "strict" else "plain"

    async def _follow(self, order: Order, client: str, records: Path) -> None:
        """Send the live record as it grows, at a bounded rate."""
        path, sent = live_path(records, order.spec.match_id), 0
        while True:
            await asyncio.sleep(NEWS_S)
            with suppress(OSError), path.open("rb") as file:
                file.seek(sent)
                chunk = file.read(NEWS_BYTES)
                whole = chunk[: chunk.rfind(b"\n") + 1]
                if whole:
                    self._tell(client, "news", key=order.key, start=sent, lines=whole)
                    sent += len(whole)

    def _note(self, sentence: str) -> None:
        """For all runners."""
        with suppress(Exception):  # a scheduler that is gone just now is for others to notice
            self._worker.log_event(TOPIC, {"kind": "note", "machine": self._facts.name, "text": sentence})

    def _tell(self, client: str, kind: str, **fields: Any) -> None:
        """For one runner."""
        with suppress(Exception):  # as above
            self._worker.batched_send({"op": NEWS, "client": client, "message": {"kind": kind, **fields}})


async def _in_thread(look: Callable[[], _T]) -> _T:
    """What a thread finds. Unlike `asyncio.to_thread`, the thread does not keep it for a moment longer: a bot that only
    such a thread holds could not make room."""
    found: list[_T] = []
    await asyncio.to_thread(lambda: found.append(look()))
    return found.pop()


def _evict() -> bool:
    """Remove builds for which there is no room; whether the others have room."""
    cache = cache_folder()
    return evict_builds(cache, most_builds_mib() << 20, missing_bytes(cache))


def _started(content: str, folder: Path) -> tuple[_Kept | None, str]:
    """The bot, which is built; or why it cannot be started on this machine, such as a program that is not there.
    EntryError."""
    try:
        return _keep(load_stored(content, folder)), ""
    except NotBuiltError:  # its build was removed since: the machine asks for the bot again
        return None, ""
    except ManifestError as error:
        return None, one_line(str(error).replace(f"{folder}/", "").replace(str(folder), "the bot's folder"))


def _keep(entry: Entry) -> _Kept:
    marks = (store_folder() / entry.content / "size", *map(mark_of, entry.builds))
    return _Kept((*entry.holds, entry.environment), marks)


def _usable(bot: BotSetup, profile: Profile, artefacts: str) -> _Kept | None:
    """The bot's files in the store of this machine, if they are there and built as they have to be."""
    try:
        version = hold(store_folder(), bot.content)
        if version is None:
            return None
        entry = load_stored(bot.content, version.folder, bot.name, bot.options)
    except (NotBuiltError, EntryError, ManifestError, BotNameError):
        return None
    if profile == "strict" and any(built.sandbox != "strict" for built in entry.builds):
        return None
    if artefacts and entry.built is not None and entry.built.artefacts != artefacts:
        return None
    return _keep(entry)


def _take_builds(folder: Path, builds: Sequence[tuple[Built, bytes]], profile: Profile) -> None:
    """Keep those builds of the organiser that the version in this folder can play with here: a Python environment only
    where the same Python lies at the same place. EntryError, ManifestError, OSError."""
    manifest = load_manifest(folder)
    requirements = read_requirements(folder, manifest)
    wanted = {source_id(folder, manifest, read_sources(folder, manifest)), requirements.id if requirements else ""}
    for made, archive in builds:
        if made.source_id in wanted and profile in ("plain", made.sandbox):
            take_build(cache_folder() / made.source_id, made, partial(unpack_build, archive))


def _read_record(records: Path, match_id: str) -> bytes:
    """The closed record of a match, b'' if it has none."""
    try:
        return closed_path(live_path(records, match_id)).read_bytes()
    except OSError:
        return b""
