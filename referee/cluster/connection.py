"""The runner's connection to the scheduler of a cluster: the machines that are there, the orders that they get and what
they answer.

Dask transports orders and answers (see `relay`). An order is for one worker of Dask, which has a new address when it
comes back.
"""

import asyncio
import shlex
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dask
from distributed import Client
from distributed.comm.core import CommClosedError

from referee.cluster.history import History
from referee.cluster.machine import METRIC, Facts, own_versions
from referee.cluster.orders import TOPIC
from referee.cluster.peers import Peer
from referee.cluster.relay import END, ORDER
from referee.cluster.serving import check_versions
from referee.cluster.settings import CONFIG, security_of
from referee.errors import PlatformError, UsageError
from referee.record.reader import MAX_RECORD_BYTES
from referee.texts import one_line, plural
from referee.tournament.executor import MatchLost

LOOK_S = 1.0
"""How often the list of machines is read, where no event says that it has changed."""

_WORKERS_PER_S = 200
"""Reading the list of more machines takes longer, and is done less often."""

ANSWER_S = 60.0
"""Time that a busy scheduler has to list its machines before it counts as lost."""

SEND_S = 600.0
"""Time that a machine has to take a bot. Few are sent at once, and the others wait."""

AGAIN_S = 2.0

MOST_ANSWER_BYTES = MAX_RECORD_BYTES
"""An answer with more is not used: no record that is read has so much."""

MOST_NEWS_BYTES = 64 << 20
"""A live record is followed up to so many bytes."""

CAP_SLACK_S = 30.0
"""Time for the transport of an order and its answer, above the limit of the match."""

MOST_FAULTS = 3
"""A machine gets no more matches after it could not play this number of different matches in a row."""


@dataclass(slots=True)
class Machine:
    """One that is connected. `busy` are matches of other runs on it. `full` says why it takes no trial, '' if it takes
    some."""

    address: str
    facts: Facts
    history: History
    busy: int = 0
    full: str = ""
    playing: int = 0
    bringing: dict[str, "asyncio.Task[tuple[str, str]]"] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def free(self) -> int:
        return max(0, self.facts.slots - self.playing - self.busy) if not self.history.drained else 0


@dataclass(slots=True)
class Attempt:
    """An order that a machine has been given."""

    machine: Machine
    match_id: str = ""
    """'' for a trial, or for a bot that is sent."""
    cap_s: float | None = None
    """The limit of the match; None for no limit."""
    live: Path | None = None
    """The file for its live record, if it is followed."""
    hear: Callable[[str, bytes], None] | None = None
    """Callback for the events and the log of a trial."""
    over: "asyncio.Future[bytes | str]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """The answer of the machine, or in words why there will be none."""
    begun: bool = False
    news_bytes: int = 0
    limit: asyncio.Timeout | None = None
    heard: bool = False
    """Whether the trial has said anything: its first event comes before it looks at the bot."""
    misbehaved: bool = False
    """Whether the machine has sent what no machine sends. It ended the attempt."""


class Connection:
    """To the scheduler at `peer`. It is made again whenever it is lost; `note` is told so.

    `forgets`: a machine that joins again begins with a new history. `on_join` is called for each machine that joins,
    `on_look` about once a second.
    """

    def __init__(
        self,
        peer: Peer,
        note: Callable[[str], None],
        *,
        forgets: bool,
        on_join: Callable[[Machine], None],
        on_look: Callable[[], None],
    ) -> None:
        self._peer = peer
        self._note = note
        self._forgets = forgets
        self._on_join = on_join
        self._on_look = on_look
        self._machines: dict[str, Machine] = {}
        """By address."""
        self.histories: dict[str, History] = {}
        self.are_several_kinds = False
        self.dashboard = ""
        self.ended = False
        self._client: Client | None = None
        self._stream: Any = None
        """What Dask sends to the scheduler with; another one after it was connected again."""
        self._scheduler_id = ""
        self._told = -1, -1
        self._refused: set[str] = set()
        self._attempts: dict[str, Attempt] = {}
        self._changed = asyncio.Event()
        self._look = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    @property
    def machines(self) -> Collection[Machine]:
        """Those that are connected."""
        return self._machines.values()

    @property
    def slots(self) -> int:
        """Of the machines that get matches."""
        return sum(machine.facts.slots for machine in self._machines.values() if not machine.history.drained)

    async def open(self) -> None:
        """PlatformError or OSError if there is no scheduler now."""
        await check_versions(self._peer)
        with dask.config.set(CONFIG):
            await self._connect()

    def watch(self) -> None:
        """Keep the connection, and the list of machines, until it is closed."""
        self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._disconnect()

    def kill(self) -> None:
        """End all attempts."""
        self.ended = True
        for attempt in self._attempts.values():
            _end(attempt, "the run was ended")
        self.change()

    # Changes of the machines and their slots

    def change(self) -> None:
        """A machine, or a slot of one, has come or gone."""
        self._changed.set()

    def look_for_changes(self) -> None:
        """What changes from now on ends the next `changed`."""
        self._changed.clear()

    async def changed(self) -> None:
        """Return at a change since `look_for_changes`, or after a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await self._changed.wait()

    # Orders and tasks

    async def ask(self, attempt: Attempt, key: str, order: bytes) -> bytes:
        """The answer of a machine to an order. MatchLost, with its name, if it is lost; ValueError if it sends what
        cannot be used before; TimeoutError if it begins or answers too late: it may be busy with a match of another
        runner first."""
        machine = attempt.machine
        limit_s = None if attempt.cap_s is None else attempt.cap_s + CAP_SLACK_S
        self._attempts[key] = attempt
        said: bytes | str = ""
        try:
            async with asyncio.timeout(limit_s) as attempt.limit:
                self._post(machine, ORDER, key, data=order)
                said = await attempt.over
        finally:
            del self._attempts[key]
            if not isinstance(said, bytes):
                with suppress(MatchLost):
                    self._post(machine, END, key)
        if isinstance(said, str):
            raise ValueError(said) if attempt.misbehaved else MatchLost(said, machine=machine.name)
        return said

    async def scatter(self, machine: Machine, content: str, data: bytes) -> Any:
        """Dask's future of the data of a bot, by its content, that is on the machine. MatchLost."""
        if self._client is None:
            raise MatchLost(f"machine '{machine.name}' is gone", machine=machine.name)
        try:
            async with asyncio.timeout(SEND_S):
                return await self._client.scatter(data, workers=[machine.address], hash=False)
        except TimeoutError:
            what = f"machine '{machine.name}' has not taken what it was sent within {SEND_S:g} s"
            self.fault(machine, content, what)
            raise MatchLost(what, machine=machine.name) from None
        except (OSError, ValueError, KeyError) as error:
            what = f"machine '{machine.name}' was lost ({one_line(str(error))})"
            raise MatchLost(what, machine=machine.name) from None

    @asynccontextmanager
    async def attempt(self, machine: Machine, key: str) -> AsyncIterator[Attempt]:
        """An attempt without an order, which ends if the machine is lost."""
        made = self._attempts[key] = Attempt(machine)
        try:
            yield made
        finally:
            del self._attempts[key]

    async def run(self, attempt: Attempt, key: str, function: Callable[..., Any], *given: Any) -> Any:
        """What a function gives on the machine of the attempt. MatchLost if the machine is lost."""
        client, machine = self._client, attempt.machine
        if client is None or machine.address not in self._machines:
            raise MatchLost(f"machine '{machine.name}' is gone", machine=machine.name)
        future = client.submit(
            function,
            *given,
            key=key,
            workers=[machine.address],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        waiting = asyncio.create_task(_outcome(future))
        try:
            either: set[asyncio.Future[Any]] = {waiting, attempt.over}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if attempt.over.done():
                raise MatchLost(str(attempt.over.result()), machine=machine.name)
            value, trouble = waiting.result()
            if trouble:
                raise MatchLost(f"machine '{machine.name}' was lost ({trouble})", machine=machine.name)
            return value
        finally:
            waiting.cancel()
            future.release()  # which ends it on the machine, too, if it goes on

    def _post(self, machine: Machine, kind: str, key: str, **fields: Any) -> None:
        """Send to a machine. MatchLost if that cannot be done."""
        try:
            if self._client is None or machine.address not in self._machines:
                raise CommClosedError("it is gone")
            self._stream.send({"op": kind, "worker": machine.address, "key": key, **fields})
        except CommClosedError as error:
            what = f"machine '{machine.name}' cannot be reached: {one_line(str(error))}"
            raise MatchLost(what, machine=machine.name) from None

    # Machines that get no more matches

    def fault(self, machine: Machine, match_id: str, what: str) -> None:
        """A match that the machine could not play, unless that match fares no better elsewhere. For a bot that it could
        not take or try, `match_id` is its content."""
        history = machine.history
        history.voids += 1
        if not any(match_id in other.faults for other in self.histories.values() if other is not history):
            history.faults.append(match_id)
        if len(set(history.faults)) >= MOST_FAULTS:
            self.drain(machine, what)

    def drain(self, machine: Machine, why: str) -> None:
        """Give the machine no more matches."""
        if not machine.history.drained:
            machine.history.drained = why
            self._note(f"machine '{machine.name}' gets no more matches: {why}")
            self.change()

    # The connection

    async def _connect(self) -> None:
        """PlatformError or OSError if there is no scheduler now."""
        await check_versions(self._peer)
        client = Client(
            self._peer.address,
            security=security_of(self._peer.certificates),
            asynchronous=True,
            set_as_default=False,
            direct_to_workers=False,
            name="crosstown",
            timeout=10,
        )
        await client
        client.subscribe_topic(TOPIC, self._on_news)
        client.subscribe_topic("all", self._on_event)
        self._client, self._stream = client, client.scheduler_comm
        await self._read_machines()

    async def _disconnect(self) -> None:
        client, self._client, self._scheduler_id = self._client, None, ""
        self._lose(list(self._machines.values()), "the connection to the scheduler was lost")
        if client is not None:
            with suppress(Exception):  # whatever is left of it goes with it
                async with asyncio.timeout(AGAIN_S):
                    await client.close(timeout=1)

    async def _watch(self) -> None:
        """Keep the connection, and the list of machines."""
        lost = False
        while True:
            try:
                if self._client is None:
                    await self._connect()
                    self._note(f"the scheduler {self._peer.address} is there again")
                    lost = False
                elif self._client.status != "running" or self._client.scheduler_comm is not self._stream:
                    raise OSError("the connection ended")
                else:
                    await self._read_machines()
            except UsageError as error:
                self._note(f"{error}; {error.next_step}")
                await self._disconnect()
            except (OSError, TimeoutError, PlatformError, RuntimeError, ValueError) as error:
                if not lost:
                    self._note(
                        f"the scheduler {self._peer.address} is lost ({one_line(str(error))}); the run waits for it:"
                        " start it again, or stop the run"
                    )
                lost = True
                await self._disconnect()
            self._look.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_S if lost else max(LOOK_S, len(self._machines) / _WORKERS_PER_S)):
                    await self._look.wait()

    async def _read_machines(self) -> None:
        assert self._client is not None
        assert self._client.scheduler is not None
        async with asyncio.timeout(ANSWER_S):
            identity = await self._client.scheduler.identity(n_workers=-1)
        if self._scheduler_id not in ("", identity["id"]):
            # Dask's client has connected to it by itself, but the new one knows nothing of what we want to hear.
            raise OSError("it was started again")
        self._scheduler_id = identity["id"]
        there: dict[str, Mapping[str, Any]] = identity["workers"]
        self._lose([machine for address, machine in self._machines.items() if address not in there], "it is gone")
        for address, worker in there.items():
            told = worker["metrics"].get(METRIC)
            if told is None or address in self._refused:
                continue
            if (machine := self._machines.get(address)) is None:
                self.join(address, told)
                continue
            try:
                machine.busy, machine.full = self._news_of(told)
            except (TypeError, AttributeError):
                self._refused.add(address)
                self._note(f"machine '{machine.name}' reports values that cannot be read, and gets no more matches")
                self._lose([machine], "it reports values that cannot be read")
        port = identity["services"].get("dashboard")
        self.dashboard = f"http://127.0.0.1:{port}/status" if port else ""
        self.change()
        self._tell_machines()
        self._on_look()

    def _tell_machines(self) -> None:
        """Note the number of machines, whenever it changes."""
        number, slots = len(self._machines), sum(machine.facts.slots for machine in self._machines.values())
        if (number, slots) != self._told:
            self._told = number, slots
            join = f"; each joins with: crosstown cluster worker {shlex.quote(self._peer.address)}"
            said = f"playing on {plural(number, 'machine')} with {plural(slots, 'slot')}"
            self._note(said if number else f"no machine is there, and matches wait for one{join}")

    def join(self, address: str, told: Mapping[str, Any]) -> None:
        """A machine of the scheduler's list, which has told this of itself."""
        try:
            busy, full = self._news_of(told)
            facts = Facts.from_values({name: value for name, value in told.items() if name not in ("busy", "full")})
        except (KeyError, TypeError, AttributeError):
            self._refused.add(address)
            self._note(f"the worker at {address} has another version of Crosstown, and gets no matches")
            return
        if difference := own_versions().difference(facts.versions):
            self._refused.add(address)
            self._note(f"machine '{facts.name}' gets no matches: it has {difference}")
            return
        if any(machine.name == facts.name for machine in self._machines.values()):
            shown = one_line(f"{facts.name} ({address.partition('://')[2]})")
            self._note(f"two machines are called '{facts.name}': one is '{shown}' here; give each its own --name")
            facts = replace(facts, name=shown)
        if self._forgets and (known := self.histories.get(facts.name)) is not None:
            self.histories[facts.name] = History(lost=known.lost)
        history = self.histories.setdefault(facts.name, History())
        machine = self._machines[address] = Machine(address, facts, history, busy, full)
        self.are_several_kinds = len({machine.facts.kind for machine in self._machines.values()}) > 1
        self._on_join(machine)
        self.change()

    def _news_of(self, told: Mapping[str, Any]) -> tuple[int, str]:
        """The number of matches of other runs on a machine, which tells the number for each Dask client; and why it
        takes no trial. TypeError or AttributeError for anything else."""
        busy, full = told.get("busy", {}), told.get("full", "")
        if not isinstance(full, str) or any(type(number) is not int or number < 0 for number in busy.values()):
            raise TypeError("not what a machine tells")
        own = None if self._client is None else self._client.id
        return sum(number for client, number in busy.items() if client != own), full

    def _lose(self, machines: Iterable[Machine], why: str) -> None:
        for machine in machines:
            self._machines.pop(machine.address, None)
            self.are_several_kinds = len({other.facts.kind for other in self._machines.values()}) > 1
            for attempt in self._attempts.values():
                if attempt.machine is machine:
                    machine.history.lost.add(attempt.match_id)
                    _end(attempt, f"machine '{machine.name}' was lost: {why}")
        self.change()

    def _on_event(self, event: tuple[float, Any]) -> None:
        """Of Dask's scheduler."""
        _, said = event
        if not isinstance(said, Mapping):
            return
        if said.get("action") == "remove-worker" and (machine := self._machines.get(str(said.get("worker")))):
            self._lose([machine], "the scheduler gets no more messages from it")
        if said.get("action") in ("add-worker", "remove-worker"):
            self._look.set()

    def _on_news(self, event: tuple[float, Any]) -> None:
        """Of a machine."""
        _, said = event
        if not isinstance(said, Mapping):
            return
        if said.get("kind") == "note":
            self._note(one_line(f"machine '{said.get('machine')}': {said.get('text')}"))
            return
        attempt = self._attempts.get(str(said.get("key")))
        if attempt is None or said.get("worker") != attempt.machine.address:
            return
        try:
            self._hear(attempt, said)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            attempt.misbehaved = True
            _end(attempt, one_line(f"it sent a message of another form ({type(error).__name__}: {error})"))

    def _hear(self, attempt: Attempt, said: Mapping[str, Any]) -> None:
        """Take a message about an attempt. ValueError, KeyError, TypeError or RecursionError if it cannot be used."""
        if said["kind"] == "answer":
            data: Any = said.get("data")
            is_usable = isinstance(data, bytes) and len(data) <= MOST_ANSWER_BYTES
            if not attempt.over.done():
                attempt.over.set_result(data if is_usable else b"")  # which is no answer
        elif said["kind"] in ("event", "log"):
            attempt.heard = attempt.heard or said["kind"] == "event"
            if attempt.hear is not None:
                attempt.hear(said["kind"], said["data"])
        elif said["kind"] == "begun":
            if attempt.begun:
                raise ValueError("it began twice")
            attempt.begun = True
            if attempt.limit is not None and attempt.cap_s is not None:
                now_s = asyncio.get_running_loop().time()
                attempt.limit.reschedule(now_s + attempt.cap_s + CAP_SLACK_S)
        elif said["kind"] == "news" and attempt.live is not None:
            _write_news(attempt, attempt.live, said["start"], said["lines"])


def _write_news(attempt: Attempt, live: Path, start: int, lines: bytes) -> None:
    """Append what is new of a live record, as long as nothing of it is missing and it is not too large."""
    if start == attempt.news_bytes and start + len(lines) <= MOST_NEWS_BYTES:
        with suppress(OSError), live.open("ab") as file:
            file.write(lines)
            attempt.news_bytes += len(lines)


async def _outcome(future: Any) -> tuple[Any, str]:
    """What a task of Dask gave, or what was wrong in words."""
    try:
        return await future, ""
    except BaseException as error:  # that a task of Dask was cancelled comes as the cancelling of ours
        task = asyncio.current_task()
        if isinstance(error, KeyboardInterrupt | SystemExit) or (task is not None and task.cancelling()):
            raise
        return None, one_line(f"{type(error).__name__}: {error}")


def _end(attempt: Attempt, why: str) -> None:
    if not attempt.over.done():
        attempt.over.set_result(why)
