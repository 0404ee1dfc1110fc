"""Takes each hand-in through its steps: check, build and trial; then it is active or rejected.

Runs as tasks in the runner. The work for a bot is done in a separate process (`trial`), with a limit for each step.
The state is in `ladder.db` alone: after a kill in any state the steps begin again with the first, and finished builds
are kept.
"""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from weakref import WeakValueDictionary

from leaderboard.web.hand_ins import OVER, HandInRefused, StepName, VersionStatus
from referee.errors import ExpectedError, PlatformError
from referee.folders import cache_folder
from referee.ladder.bots import LadderBot
from referee.ladder.config import DivisionConfig, LadderConfig
from referee.ladder.disk import DiskWatch, watch_of
from referee.ladder.quotas import Quotas
from referee.ladder.runner import profile_to_play
from referee.ladder.steps import WaitingVersion
from referee.ladder.store import LadderStore
from referee.ladder.trial import Trial, TrialDivision
from referee.process.checkup import probe
from referee.process.manifest import ANY_GAME, Manifest, ManifestError, load_manifest
from referee.texts import one_line, without_folders
from referee.tournament.executor import MatchLost

LOOK_S = 0.5
"""Interval at which the database is read for new hand-ins: the longest delay before one begins."""

CHECK_S = 30.0
QUALIFY_S = 600.0
"""For the drills and the match of each division; the drills that belong to no game count with the first one."""

BUILD_MARGIN_S = 120.0
"""Beside the limits of fetch and build, which the build holds itself: for copies, hashes, and waiting for another."""

MOST_BEGINNINGS = 5
"""A hand-in during which this process died this often is rejected."""

MOST_REMOTE_TRIES = 5
"""Matches of a remote bot without a result, in one division, after which it has not qualified there."""

BACK_OFF_S = 20.0
"""After an error of this machine, such as a full disk, the hand-in waits this long."""

MOST_BACK_OFF_S = 3600.0
"""After several builds of the same that failed."""

MOST_WAIT_S = 7200.0
"""How long a hand-in may wait for a machine of the cluster that begins with it, until it is put off."""

BUILD_DISK_MIB = 4096

EVICT_S = 300.0
"""How often it looks for versions to remove."""

_KILL_S = 10.0
_LINE_BYTES = 1 << 20


class RemoteTrials(Protocol):
    """Tries versions that run on their owners' machines."""

    def is_there(self, version: WaitingVersion) -> bool:
        """Whether the version is connected."""

    async def qualify(self, version: WaitingVersion, division: DivisionConfig) -> tuple[bool, str]:
        """One match; whether the version passes, and a sentence. MatchLost if the match has no result."""


class Work(Protocol):
    """A trial in progress."""

    async def readline(self) -> bytes:
        """The next event, as `referee.ladder.trial` says it; b'' at the end."""

    async def ended(self) -> str:
        """How its process ended; after the last event."""


Trials: TypeAlias = Callable[[Trial, Path], AbstractAsyncContextManager[Work]]
"""(job, file of its log) -> the work, which ends with the context."""


class _PlatformTrouble(Exception):
    """Of this machine, not of the bot: the hand-in stays as it is, and is tried again. `step`: the one that this does
    not count for; None if the bot may have had a part in it."""

    def __init__(self, what: str, step: StepName | None = None) -> None:
        super().__init__(what)
        self.step = step


class _Rejected(ExpectedError):
    """A version that does not pass a step."""

    def __init__(self, step: StepName, reason: str, next_step: str) -> None:
        super().__init__(reason, next_step)
        self.step = step


@dataclass(frozen=True, slots=True)
class Places:
    """Where hand-ins lie in the data folder of a ladder."""

    data: Path

    @property
    def database(self) -> Path:
        return self.data / "ladder.db"

    @property
    def content(self) -> Path:
        """The files of all versions, by the hash of their content. Nothing in there is ever changed."""
        return self.data / "content"

    @property
    def uploads(self) -> Path:
        """Archives on their way, and what is unpacked of them."""
        return self.data / "hand_ins" / "uploads"

    @property
    def logs(self) -> Path:
        return self.data / "hand_ins" / "logs"

    @property
    def scratch(self) -> Path:
        """Records of qualification matches, while they are played."""
        return self.data / "hand_ins" / "scratch"

    def make(self) -> None:
        """PlatformError if they cannot be made."""
        for place in (self.content, self.uploads, self.logs, self.scratch):
            try:
                place.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                what = f"{place} cannot be made ({error.strerror})"
                raise PlatformError(what, "choose another folder with a line data = ... in the ladder's file") from None


def open_store(config: LadderConfig, reserved: Sequence[str] = ()) -> LadderStore:
    """The ladder's store; `reserved` are names that no owner can take. PlatformError."""
    places = Places(config.data)
    places.make()
    wanted = config.accounts
    return LadderStore(
        places.database,
        places.content,
        reserved=reserved,
        bots_per_division=wanted.bots_per_division,
        hand_ins_per_day=wanted.hand_ins_per_day,
    )


class Intake:
    """`run` goes on until it is cancelled. `at_once` hand-ins are built and tried side by side."""

    def __init__(
        self,
        config: LadderConfig,
        store: LadderStore,
        opponent: Path,
        *,
        at_once: int = 1,
        note: Callable[[str], None] = lambda _: None,
        qualify_s: float = QUALIFY_S,
        build_margin_s: float = BUILD_MARGIN_S,
        back_off_s: float = BACK_OFF_S,
        command: Sequence[str] = (sys.executable, "-P", "-m", "referee.ladder.trial"),
        disk: DiskWatch | None = None,
        unbuilt: list[LadderBot] | None = None,
        remote: RemoteTrials | None = None,
        trials: Trials | None = None,
    ) -> None:
        """`opponent`: the folder of the bot that plays by chance. `remote`: how remote bots are tried; None where no
        division admits them. `trials`: where hand-ins are built and tried; None for this machine. PlatformError where
        the sandbox does not work, unless the ladder's file says that there is none."""
        self._profile = profile_to_play(config, probe(), elsewhere=trials is not None)
        self._config = config
        self._store = store
        self._opponent = opponent
        self._places = Places(config.data)
        self._places.make()
        self._at_once = at_once
        self._turns = asyncio.Semaphore(at_once)
        self._turns_of: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """By owner, as long as a hand-in of that owner is on its way."""
        self._note = note
        self._qualify_s = qualify_s
        self._build_margin_s = build_margin_s
        self._back_off_s = back_off_s
        self._command = command
        self._disk = disk or watch_of(config)
        self._full = ""
        self._quotas = Quotas(store, self._places.content, cache_folder(), config.storage.owner_mib)
        self._unbuilt = unbuilt if unbuilt is not None else []
        self._rebuilding: dict[str, asyncio.Task[None]] = {}
        self._failed: Counter[str] = Counter()
        self._evicted_s = -math.inf
        self._remote = remote
        self._trials = trials or self._try_here
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Take what is there, and what comes."""
        try:
            while True:
                try:
                    waiting = await asyncio.to_thread(self._waiting)
                except HandInRefused as error:  # another program holds the database: it is looked at again
                    self._note(str(error))
                    waiting = []
                full = await asyncio.to_thread(self._is_full)
                if full:
                    waiting.clear()
                await self._evict()
                self._rebuild()
                for version in waiting:
                    if version.id not in self._tasks:
                        task = asyncio.create_task(self._take(version))
                        self._tasks[version.id] = task
                        task.add_done_callback(lambda _, id_=version.id: self._tasks.pop(id_))  # type: ignore[misc]
                await asyncio.sleep(LOOK_S)
        finally:
            tasks = [*self._tasks.values(), *self._rebuilding.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _is_full(self) -> bool:
        """Whether too little of the disk is free to begin a build. Hand-ins wait, and none is rejected for that."""
        full = self._disk.stops_matches()
        if bool(full) != bool(self._full):
            self._note(f"no hand-in is built: {full}" if full else "hand-ins are built again: the disk has room")
        self._full = full
        return bool(full)

    async def _evict(self) -> None:
        """At intervals, remove files of versions that do not play, of owners over their quota."""
        if time.monotonic() < self._evicted_s + EVICT_S:
            return
        self._evicted_s = time.monotonic()
        try:
            removed = await asyncio.to_thread(self._quotas.evict)
        except (HandInRefused, OSError) as error:
            self._note(f"old versions are not removed just now: {one_line(error)}")
            return
        for version in removed:
            self._note(
                f"the files of version {version.number} of '{version.bot}', which is {version.status}, are removed"
            )

    def _rebuild(self) -> None:
        """Begin to build again what plays and whose build is gone."""
        while self._unbuilt:
            bot = self._unbuilt.pop()
            if bot.content not in self._rebuilding:
                task = asyncio.create_task(self._build_again(bot))
                self._rebuilding[bot.content] = task
                task.add_done_callback(lambda _, content=bot.content: self._rebuilding.pop(content))  # type: ignore[misc]

    async def _build_again(self, bot: LadderBot) -> None:
        """Without another trial: it has qualified. After trouble it is tried again, as long as it is to play."""
        async with self._turns:
            self._note(f"the build of '{bot.name}', version {bot.version}, is gone: it is built again")
            why = await self._build_now(bot)
        if why:
            self._note(f"warning: '{bot.name}' cannot be built again, and waits: {one_line(why)}")
            self._failed[bot.content] += 1
            await asyncio.sleep(min(MOST_BACK_OFF_S, self._back_off_s * 2 ** (self._failed[bot.content] - 1)))
        while True:
            try:
                return await asyncio.to_thread(self._store.note_roster_change)
            except HandInRefused as error:  # another program holds the database; without this the bot waits for ever
                self._note(str(error))
                await asyncio.sleep(LOOK_S)

    async def _build_now(self, bot: LadderBot) -> str:
        """What kept a bot from being built, '' for nothing."""
        log = self._places.logs / f"{bot.content}.txt"
        last: dict[str, Any] = {}
        began_s = time.monotonic()
        limit_s = self._build_limit_s
        try:
            async with self._trials(self._trial(bot.name, bot.content, ()), log) as work:
                while True:
                    async with asyncio.timeout(limit_s - (time.monotonic() - began_s)):
                        line = await work.readline()
                    if not line:
                        ended = f"its process ended with {await work.ended()}"
                        return "" if last.get("event") == "done" else str(last.get("reason", ended))
                    waited, last = last.get("event") == "wait", json.loads(line)
                    waits = last["event"] == "wait"
                    if waits is not waited:  # for a machine of the cluster: no time of the build
                        began_s, limit_s = time.monotonic(), MOST_WAIT_S if waits else self._build_limit_s
        except TimeoutError:
            if last.get("event") == "wait":
                return f"no machine began with it within {limit_s:g} s"
            return f"the build took longer than {limit_s:g} s"
        except (MatchLost, OSError) as error:
            return str(error)

    @property
    def _build_limit_s(self) -> float:
        """For fetching and compiling, and what is to be done beside that."""
        return 2 * self._config.hand_ins.build_s + self._build_margin_s

    def _waiting(self) -> list[WaitingVersion]:
        """In the order in which they came. A version that plays in one division may have others left."""
        on_their_way = self._store.steps.waiting()
        known = {version.id for version in on_their_way}
        left = [version for version, _ in self._store.steps.qualifying() if version.id not in known]
        return sorted((*on_their_way, *left), key=lambda version: version.id)

    async def _take(self, version: WaitingVersion) -> None:
        """All steps of one. Never raises for what the bot or the machine does."""
        who = f"version {version.number} of '{version.bot}'"
        try:
            async with nullcontext() if version.remote else self._turn_of(version.owner):
                # What was listed a while ago may have been finished since, or handed in again.
                waiting = await asyncio.to_thread(self._waiting)
                version = next((one for one in waiting if one.id == version.id), version)
                if version in waiting:
                    await self._steps(version)
        except _Rejected as error:
            self._note(f"{who} is rejected: {one_line(error)}")
            with suppress(HandInRefused):  # it is on its way still, and is taken again
                await asyncio.to_thread(self._reject, version, error)
        except (_PlatformTrouble, HandInRefused, MatchLost, OSError) as error:
            self._note(f"{who} waits: {one_line(error)}; it is tried again")
            if isinstance(error, _PlatformTrouble) and error.step is not None:
                with suppress(HandInRefused):
                    why = without_folders(one_line(f"it waits, and is tried again: {error}"))  # its author reads it
                    await asyncio.to_thread(self._store.steps.postpone_step, version.id, error.step, why)
            await asyncio.sleep(self._back_off_s)

    @asynccontextmanager
    async def _turn_of(self, owner: str) -> AsyncIterator[None]:
        """A turn, for which no more hand-ins of one owner wait in line than are taken side by side: who hands in many
        whose builds take long lets others wait for one of them at most."""
        own = self._turns_of.setdefault(owner, asyncio.Semaphore(self._at_once))
        async with own, self._turns:
            yield

    def _reject(self, version: WaitingVersion, error: _Rejected) -> None:
        """A version that plays already is not taken off the divisions where it does."""
        if self._store.steps.status_of(version.id) in OVER:
            for name in self._store.steps.unqualified(version.id):
                self._store.steps.not_qualified(version.id, name, str(error))
        else:
            self._store.steps.reject(version.id, error.step, None, str(error), error.next_step)

    async def _steps(self, version: WaitingVersion) -> None:
        active = version.status in OVER
        if version.remote and self._remote is not None and not await self._connected(version, self._remote):
            return
        manifest = await self._check(version, active=active)
        divisions = await self._divisions(version, manifest, active=active)
        if version.remote:
            await self._try_remote(version, divisions, active=active)
        else:
            await self._try(version, divisions, active=active)

    async def _begin(
        self, version: WaitingVersion, step: StepName, status: VersionStatus, limit_s: float | None, *, active: bool
    ) -> float:
        """When it began. A version that plays already keeps its status."""
        tries = await asyncio.to_thread(
            self._store.steps.begin_step, version.id, step, None if active else status, limit_s
        )
        if tries > MOST_BEGINNINGS:
            raise _Rejected(
                step,
                f"the ladder was interrupted {MOST_BEGINNINGS} times in this step, and does not try it again",
                "hand it in once more, or ask the organiser",
            )
        return time.monotonic()

    async def _check(self, version: WaitingVersion, *, active: bool) -> Manifest:
        began_s = await self._begin(version, "checked", "checking", CHECK_S, active=active)
        folder = self._places.content / version.content / "bot"
        if version.remote:
            manifest = Manifest(version.bot, version.label, version.games or (ANY_GAME,), ())
        else:
            try:
                manifest = await asyncio.to_thread(load_manifest, folder)
            except ManifestError as error:
                if not folder.is_dir():
                    raise _Rejected("checked", "its files are gone from the ladder", "hand it in again") from None
                raise _Rejected("checked", str(error).replace(f"{folder}/", ""), error.next_step) from None
        await asyncio.to_thread(
            self._store.steps.end_step,
            version.id,
            "checked",
            "done",
            time.monotonic() - began_s,
            f"version {manifest.version or 'without a name'}, plays {', '.join(manifest.games)}",
        )
        return manifest

    async def _divisions(self, version: WaitingVersion, manifest: Manifest, *, active: bool) -> list[DivisionConfig]:
        """Those in which it has still to qualify, in the order of the ladder's file."""
        wanted = [
            division
            for division in self._config.divisions
            if (ANY_GAME in manifest.games or division.game.game in manifest.games)
            and (not version.games or division.game.game in version.games)
            and (not version.remote or "remote" in division.admits)
        ]
        if not wanted:
            games = ", ".join(dict.fromkeys(division.game.game for division in self._config.divisions))
            plays = ", ".join(version.games or manifest.games)
            what = f"it plays {plays}, and no division is for it: there are divisions of {games}"
            if version.remote:
                what = f"it runs at its owner's, and no division of {plays} admits remote bots"
            raise _Rejected("checked", what, "name one of these games in 'games' of bot.toml")
        if not active:
            await asyncio.to_thread(
                self._store.steps.checked, version.id, manifest.version, [division.name for division in wanted]
            )
        left = await asyncio.to_thread(self._store.steps.unqualified, version.id)
        known = {division.name: division for division in self._config.divisions}
        for name in left:
            if name not in known:
                await asyncio.to_thread(
                    self._store.steps.not_qualified, version.id, name, "the ladder has no such division any more"
                )
        return [division for division in self._config.divisions if division.name in left]

    async def _try(self, version: WaitingVersion, divisions: list[DivisionConfig], *, active: bool) -> None:
        log = self._places.logs / f"{version.id}.txt"
        await asyncio.to_thread(self._store.steps.set_log, version.id, log.name)
        left = list(divisions)
        while left:
            try:
                await self._run_trial(version, left, log, active=active)
                break
            except TimeoutError:
                # It plays on where it has qualified, and is not tried again where it took too long.
                late = left.pop(0)
                reason = f"the drills and the match in {late.name} took longer than {self._qualify_s:g} s"
                await asyncio.to_thread(self._store.steps.not_qualified, version.id, late.name, reason)
        status = await asyncio.to_thread(self._store.steps.status_of, version.id)
        failed = await asyncio.to_thread(self._store.steps.failed_divisions, version.id)
        if status not in OVER:
            reason = next(iter(failed.values()), "it has not qualified in any division")
            raise _Rejected("qualified", reason, "see the log, correct the bot, and hand it in again")

    async def _try_remote(self, version: WaitingVersion, divisions: list[DivisionConfig], *, active: bool) -> None:
        """A match in each division, while the bot is connected. Other hand-ins do not wait for it."""
        remote = self._remote
        if remote is None:
            raise _Rejected("checked", "no division of this ladder admits remote bots", "hand in its files instead")
        began_s = await self._begin(version, "built", "building", None, active=active)
        took_s = time.monotonic() - began_s
        await asyncio.to_thread(
            self._store.steps.end_step, version.id, "built", "done", took_s, "it runs at its owner's"
        )
        await self._begin(version, "qualified", "qualifying", self._qualify_s * len(divisions), active=active)
        reason = ""
        for division in divisions:
            passed, said = await self._qualify_remote(version, division, remote)
            if not await self._is_waiting(version):
                return
            decide = self._store.steps.qualified if passed else self._store.steps.not_qualified
            await asyncio.to_thread(decide, version.id, division.name, said)
            active, reason = active or passed, reason or said
        if not active:
            raise _Rejected(
                "qualified", reason, "correct the bot, and start it again: crosstown bots connect FOLDER URL"
            )

    async def _qualify_remote(
        self, version: WaitingVersion, division: DivisionConfig, remote: RemoteTrials
    ) -> tuple[bool, str]:
        said = ""
        for _ in range(MOST_REMOTE_TRIES):
            await asyncio.to_thread(self._store.steps.note_step, version.id, "qualified", f"a match in {division.name}")
            try:
                async with asyncio.timeout(self._qualify_s):
                    return await remote.qualify(version, division)
            except TimeoutError:
                return False, f"the match in {division.name} took longer than {self._qualify_s:g} s"
            except MatchLost as error:
                said = str(error)
            except ExpectedError as error:  # of this machine: the bot has no files here
                raise _PlatformTrouble(str(error), "qualified") from None
            what = f"a match in {division.name} without a result ({said}); it is played again when the bot is connected"
            await asyncio.to_thread(self._store.steps.note_step, version.id, "qualified", one_line(what))
            if not await self._connected(version, remote):
                break
        return False, one_line(f"{MOST_REMOTE_TRIES} matches in {division.name} had no result, the last one: {said}")

    async def _connected(self, version: WaitingVersion, remote: RemoteTrials) -> bool:
        """Wait for its connection; False if no trial is left by then."""
        while not remote.is_there(version):
            await asyncio.sleep(LOOK_S)
            if not await self._is_waiting(version):
                return False
        return True

    async def _is_waiting(self, version: WaitingVersion) -> bool:
        return any(one.id == version.id for one in await asyncio.to_thread(self._waiting))

    async def _run_trial(self, version: WaitingVersion, left: list[DivisionConfig], log: Path, *, active: bool) -> None:
        """One process over what is left, from which it removes each division that is decided. TimeoutError if one takes
        too long."""
        async with self._trials(self._trial(version.bot, version.content, left), log) as work:
            await self._listen(version, work, left, active=active)

    @asynccontextmanager
    async def _try_here(self, trial: Trial, log: Path) -> AsyncIterator[Work]:
        process = await self._start(log)
        try:
            assert process.stdin is not None
            with suppress(ConnectionError):
                process.stdin.write(trial.to_json().encode())
                await process.stdin.drain()
                process.stdin.close()
            yield _Process(process)
        finally:
            await _end(process)

    async def _start(self, log: Path) -> asyncio.subprocess.Process:
        """A new process, which is also ended if this is cancelled."""
        with log.open("ab") as written:
            starting = asyncio.ensure_future(
                asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=written,
                    env={"GRPC_VERBOSITY": "ERROR", **os.environ},
                    limit=_LINE_BYTES,
                    start_new_session=True,
                )
            )
            try:
                return await asyncio.shield(starting)
            except asyncio.CancelledError:
                await _end(await starting)
                raise

    def _trial(self, name: str, content: str, left: Sequence[DivisionConfig]) -> Trial:
        return Trial(
            folder=str(self._places.content / content / "bot"),
            name=name,
            opponent=str(self._opponent),
            scratch=str(self._places.scratch),
            profile=self._profile,
            build_s=self._config.hand_ins.build_s,
            build_disk_mib=BUILD_DISK_MIB,
            hidden=self._config.unseen,
            read=self._config.sandbox.read,
            divisions=tuple(
                TrialDivision(
                    division.name,
                    division.game.game,
                    min(division.game.players),
                    dict(division.game.options),
                    division.limits.in_force(),
                )
                for division in left
            ),
        )

    async def _listen(
        self,
        version: WaitingVersion,
        work: Work,
        left: list[DivisionConfig],
        *,
        active: bool,
    ) -> None:
        store, began_s, step = self._store, time.monotonic(), "built"
        build_s = self._build_limit_s
        limit_s = build_s
        begun: set[str] = set()
        waits = False
        while True:
            try:
                async with asyncio.timeout(limit_s - (time.monotonic() - began_s)):
                    line = await work.readline()
            except TimeoutError:
                if waits:
                    raise _PlatformTrouble(f"no machine began with it within {limit_s:g} s") from None
                if step == "built":
                    what = f"the build took longer than {build_s:g} s"
                    raise _Rejected("built", what, "see the log, and have the build do less") from None
                raise
            if not line:
                raise _PlatformTrouble(f"its process ended with {await work.ended()} before it was done")
            event: dict[str, Any] = json.loads(line)
            took_s = time.monotonic() - began_s
            waits = event["event"] == "wait"
            match event["event"]:
                case "begin" if event["step"] in begun:  # on another machine: no new beginning, but a new time
                    began_s, limit_s = time.monotonic(), build_s
                case "begin":
                    step = event["step"]
                    begun.add(step)
                    status: VersionStatus = "building" if step == "built" else "qualifying"
                    shown_s = build_s if step == "built" else self._qualify_s * len(left)
                    began_s = await self._begin(version, event["step"], status, shown_s, active=active)
                    limit_s = build_s if step == "built" else self._qualify_s
                case "wait":  # for a machine: no time of the hand-in
                    began_s, limit_s = time.monotonic(), MOST_WAIT_S
                case "note":
                    await asyncio.to_thread(store.steps.note_step, version.id, event["step"], event["detail"])
                case "end":
                    await asyncio.to_thread(
                        store.steps.end_step, version.id, event["step"], "done", took_s, event["detail"]
                    )
                case "division":
                    decide = store.steps.qualified if event["passed"] else store.steps.not_qualified
                    await asyncio.to_thread(decide, version.id, event["name"], event["detail"])
                    left[:] = [division for division in left if division.name != event["name"]]
                    began_s = time.monotonic()
                    active = active or event["passed"]
                case "rejected":
                    if not active:
                        raise _Rejected(event["step"], event["reason"], event["next_step"])
                    return
                case "platform":
                    raise _PlatformTrouble(event["reason"], event["step"])
                case "bug":
                    raise _PlatformTrouble(f"an error in Crosstown itself: {event['reason']}")
                case "done":
                    return


class _Process:
    """A trial on this machine."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        self._process, self._events = process, process.stdout

    async def readline(self) -> bytes:
        return await self._events.readline()

    async def ended(self) -> str:
        return str(await self._process.wait())


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process and wait for its end, even if cancelled. Its bots end with it: their guardians watch it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    ending = asyncio.ensure_future(_wait(process))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await ending
        raise


async def _wait(process: asyncio.subprocess.Process) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_KILL_S):
            await process.wait()
