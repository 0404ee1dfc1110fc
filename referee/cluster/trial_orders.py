"""Trials of a ladder's hand-ins on the machines of a cluster. See `trial_on_machine` for the machine's part."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

from referee.cluster.archive import pack
from referee.cluster.connection import Machine
from referee.cluster.orders import TrialOrder
from referee.cluster.trial_slots import TrialSlots
from referee.errors import ExpectedError
from referee.process.entry import load_entry
from referee.process.store import store_folder
from referee.texts import one_line
from referee.tournament.executor import MatchLost

AT_ONCE = 4
"""Hand-ins of a ladder that are tried at the same time."""

MOST_TRIES = 3
"""Machines that try to build a bot before it is rejected: some of them may lack what it needs, or be out of order."""


MOST_LOG_BYTES = MOST_TRIES * (2 << 20)
"""Of a trial on all machines; each writes at most about 1 MiB."""

MOST_EVENT_BYTES = 1 << 20
"""Of one event, as of a trial on this machine."""


class Job(Protocol):
    """The job that `referee.ladder.trial` reads."""

    @property
    def folder(self) -> str: ...

    @property
    def opponent(self) -> str: ...

    @property
    def profile(self) -> str: ...

    def to_json(self) -> str: ...


class Work:
    """A trial in progress."""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._how = ""

    async def readline(self) -> bytes:
        """The next event; b'' at the end."""
        return await self._lines.get()

    async def ended(self) -> str:
        """How its process ended; after the last event."""
        return self._how

    def say(self, line: bytes) -> None:
        self._lines.put_nowait(line)

    def end(self, how: str) -> None:
        self._how = how
        self._lines.put_nowait(b"")


class MachineTrials:
    """Tries hand-ins on the machines of a cluster, each in a slot. A bot that cannot be built or started on a machine
    is tried on another one before it is rejected."""

    def __init__(self, slots: TrialSlots) -> None:
        self._slots = slots

    @asynccontextmanager
    async def try_out(self, job: Job, log: Path) -> AsyncIterator[Work]:
        """Wait for a machine, and begin there. The trial ends with the context, whatever it has come to."""
        machine = await self._slots.seat_trial(strict=job.profile == "strict")
        work = Work()
        going = asyncio.create_task(self._go(machine, job, log, work))
        try:
            yield work
        finally:
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)

    async def _go(self, first: Machine | None, job: Job, log: Path, work: Work) -> None:
        """Try machines until one has built the bot, or `MOST_TRIES` could not. If some of those could not try, the bot
        is not rejected."""
        machine, how, broken, ended = first, "no machine has tried it", "", True
        without: list[str] = []
        progress = _Progress(work, log)
        try:
            while machine is not None:
                work.say(b'{"event": "wait"}')  # until the machine begins: its slot may still play another match
                progress.machine = machine.name
                try:
                    how = await self._try_on(machine, job, progress)
                    what = "cannot build it" if progress.step == "built" else "cannot start it"
                    ended = not progress.rejected
                except MatchLost as error:
                    if error.machine != machine.name or progress.is_drilled:  # some divisions may be decided
                        raise
                    what, broken, ended = "does not try it", str(error), False
                without.append(machine.name)
                machine = None
                if not ended and len(without) < MOST_TRIES:
                    work.say(b'{"event": "wait"}')
                    machine = await self._slots.seat_trial(strict=job.profile == "strict", without=without)
                if machine is not None:
                    progress.note(f"machine '{without[-1]}' {what}: tried again on machine '{machine.name}'")
        except (MatchLost, ExpectedError, OSError) as error:
            work.say(progress.platform(str(error)))
        else:
            if not ended:
                work.say(progress.platform(broken) if broken else progress.rejected)
        finally:
            work.end(how)

    async def _try_on(self, machine: Machine, job: Job, progress: "_Progress") -> str:
        try:
            key = f"crosstown-trial-{secrets.token_hex(8)}"
            order = await asyncio.to_thread(_order, key, job)
            progress.rejected, progress.trouble, progress.is_drilled = b"", "", False
            how = await self._slots.send_trial(machine, order, progress.hear)
            if progress.trouble:
                raise MatchLost(f"machine '{machine.name}' cannot try it: {progress.trouble}", machine=machine.name)
            return how
        finally:
            self._slots.give_back(machine)


class _Progress:
    """Passes on what the machines send: events to the ladder, and the log to the file for the bot's author."""

    def __init__(self, work: Work, log: Path) -> None:
        self._work = work
        self._log = log
        self.machine = ""
        self.step = "built"
        self.rejected = b""
        """The event by which the bot is rejected before its first drill, if the last machine said so."""
        self.trouble = ""
        """What is wrong with the last machine, if it said so before the first drill."""
        self.is_drilled = False

    def hear(self, kind: str, data: bytes) -> None:
        if kind == "log":
            self._write(data)
            return
        if len(data) > MOST_EVENT_BYTES:
            raise ValueError(f"an event of {len(data)} bytes")
        event = json.loads(data)
        what, step = event["event"], event.get("step", "")
        if not all(isinstance(value, str | bool) for value in event.values()):
            raise TypeError(f"an event '{what}' with a value that is no text")
        if what == "note" and step == "qualified":
            self.is_drilled = True
        if what == "rejected" and not self.is_drilled:
            self.rejected = data
        elif what == "platform" and not self.is_drilled:
            self.trouble = str(event["reason"])
        elif what == "end":
            detail = f"{event['detail']}, on machine '{self.machine}'"
            self._work.say(json.dumps({**event, "detail": detail}).encode())
        else:
            self._work.say(data)
        if what == "begin":
            self.step = step

    def _write(self, data: bytes) -> None:
        with suppress(OSError), self._log.open("ab") as file:  # the result does not depend on the log
            file.write(data[: max(0, MOST_LOG_BYTES - file.tell())])

    def platform(self, reason: str) -> bytes:
        return json.dumps({"event": "platform", "step": self.step, "reason": one_line(reason)}).encode()

    def note(self, sentence: str) -> None:
        self.hear("log", f"{sentence}\n".encode())


def _order(key: str, job: Job) -> TrialOrder:
    """The order, with the sources of the bot and of its opponent. ExpectedError if they are not there."""
    # The entries hold the copies in the store until they are packed.
    bot, opponent = (load_entry(Path(folder), elsewhere=True) for folder in (job.folder, job.opponent))
    sources, opponent_sources = (pack(store_folder(), entry.content) for entry in (bot, opponent))
    return TrialOrder(key, job.to_json(), bot.content, opponent.content, sources, opponent_sources)
