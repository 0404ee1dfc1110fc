"""A local worker: `python -m referee.tournament.worker`. Hosts one table and plays what the runner sends.

It lives as long as its stdin is open. When that ends (the runner is gone, however it went) the worker ends within
`ORPHAN_S`, and its bots with it: their guardians watch it.
"""

import asyncio
import os
import resource
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from referee.errors import ExpectedError, PlatformError
from referee.event_loop import run_loop
from referee.games.registry import UnknownGame, load_game
from referee.garbage import begin_collection
from referee.match.invitation import Invitation
from referee.match.table import Table
from referee.process.cgroup import find, sweep_folders
from referee.process.child_reaper import ChildReaper, wake_when_parent_dies
from referee.process.entry import Entry, EntryError, ManifestError, load_entry, load_stored, remote_bot_entry
from referee.process.manifest import BotNameError
from referee.process.open_files import raise_file_limit
from referee.process.outside import Prints, look_ahead
from referee.process.processes import PR_SET_PDEATHSIG, prctl
from referee.process.sandbox import Sandbox
from referee.schedule.spec import MatchSpec
from referee.tournament import messages
from referee.tournament.confine import hide
from referee.tournament.messages import BotSetup, Door, Meeting, Setup
from referee.tournament.remote import waiting_words
from referee.tournament.worker_process import BEAT_S, EARLY, STOP_S
from referee.wire.public_address import ListenError

ORPHAN_S = 1.5
"""What a worker gets to end its bots in order when the runner has gone without a word."""

PATIENCE_S = 3.0
"""How long a token that is not known may become known, where remote bots are named while it is listened for them."""

FLOOD_SHARE = 0.5
"""A bot whose messages take so much of a worker's time from beat to beat floods it. Answers take far less, however fast
a bot plays: between two of them the referee has more to do than to read one."""

MOST_MEMORY_MIB = 512
"""A worker that has more ends itself, before it takes the memory of others. It has some 70 MiB and what its bots send.
No limit of the system holds it, for its bots would inherit that."""


class Refused(ExpectedError):
    """A setup no match can be played with."""


class Link:
    """The two ends of the pipe to the runner. Lines come in through a thread, so that even a loop that is stuck in
    some game's rules does not outlive the runner."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._stopping = False
        self._socket_dir: Path | None = None

    def tidy_at_end(self, socket_dir: Path) -> None:
        self._socket_dir = socket_dir

    def tidy(self) -> None:
        """Remove the socket's folder, and the one around it if no other worker needs it."""
        if self._socket_dir is not None:
            shutil.rmtree(self._socket_dir, ignore_errors=True)
            with suppress(OSError):
                self._socket_dir.parent.rmdir()

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True, name="runner").start()

    async def receive(self) -> bytes | None:
        """The next line; None when there will be no more."""
        return await self._lines.get()

    def send(self, line: bytes) -> None:
        """BrokenPipeError if the runner is gone."""
        self._outgoing.write(line)
        self._outgoing.flush()

    def end(self, why: str) -> None:
        """End this process at once; its bots end with it. The runner finds `why` in the log."""
        print(why, file=sys.stderr, flush=True)
        self.tidy()
        os._exit(1)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        while line := self._incoming.readline():
            self._stopping = self._stopping or line == messages.stop_line()
            loop.call_soon_threadsafe(self._lines.put_nowait, line)
        loop.call_soon_threadsafe(self._lines.put_nowait, None)
        time.sleep(STOP_S if self._stopping else ORPHAN_S)
        self.tidy()
        os._exit(1)


async def serve(link: Link, prints: Prints) -> None:
    """Play until the runner says stop or is gone. `prints`: hashes that are known already."""
    link.start()
    line = await link.receive()
    if line is None:
        return
    kind, setup = messages.read_line(line)
    if kind != "setup":
        raise ValueError(f"expected a setup, got {kind}")
    if setup.lock_fd is not None:
        os.set_inheritable(setup.lock_fd, False)  # ours to hold, not our bots'
    link.tidy_at_end(setup.socket_dir)
    async with AsyncExitStack() as stack:
        try:
            cgroups = find()
            cgroups.sweep()
            sweep_folders()
            bots = Bots(setup)
            hosted = Table(
                bots.entries,
                socket_dir=setup.socket_dir,
                most_memory_mib=setup.most_memory_mib,
                child_reaper=ChildReaper(),
                sandboxes=bots.sandboxes,
                cgroups=cgroups,
                remote_bots=setup.guests.invited if setup.guests else None,
                max_idle=setup.processes.idle,
                fresh=bots.fresh,
                copies=setup.processes.copies,
                listen=setup.guests.listen if setup.guests else None,
                at_once=setup.guests.at_once if setup.guests else None,
                machine=setup.machine,
                prints=prints,
                patience_s=PATIENCE_S if setup.guests and setup.guests.terms else 0.0,
                on_remote_bot=lambda entry_id, what: _tell_of_guest(link, setup, entry_id, what),
            )
            table = await stack.enter_async_context(hosted)
        except (Refused, ListenError) as error:
            link.send(messages.refused_line(str(error), error.next_step))
            return
        except (ValueError, OSError) as error:
            step = "set TMPDIR to another folder, with a short path, such as TMPDIR=/tmp"
            link.send(messages.refused_line(f"no socket for the bots in {setup.socket_dir}: {error}", step))
            return
        link.send(messages.ready_line())
        if setup.guests is not None and setup.guests.terms is None:
            link.send(messages.note_line(waiting_words(setup.guests, table.remote_address)))
        beat = asyncio.create_task(_beat(link, table, setup))
        try:
            if setup.together:
                await play_together(link, table, setup, bots)
            else:
                await play_all(link, table, setup.records, bots)
        finally:
            beat.cancel()


async def _beat(link: Link, table: Table, setup: Setup) -> None:
    """From the loop that plays: a worker that is stopped, or stuck in some game's rules, falls silent. It also says
    which remote bots are there, where these may come at any time."""
    seen, seen_ns = table.traffic_ns(), time.monotonic_ns()
    door: Door | None = None
    with suppress(OSError):  # the runner is gone; whoever waits for its lines sees to that
        while True:
            if setup.guests is not None and setup.guests.terms is not None:
                now = Door(table.remote_address, table.seen())
                if now != door:
                    door = now
                    link.send(messages.door_line(now))
            await asyncio.sleep(BEAT_S)
            before, before_ns = seen, seen_ns
            seen, seen_ns = table.traffic_ns(), time.monotonic_ns()
            link.send(messages.alive_line(floods_since(before, seen, seen_ns - before_ns)))
            if (held_mib := memory_mib()) > MOST_MEMORY_MIB:
                link.end(f"it has {held_mib} MiB of memory, and may have {MOST_MEMORY_MIB}")


def floods_since(
    before: Mapping[str, Sequence[int]], now: Mapping[str, Sequence[int]], passed_ns: int
) -> dict[str, tuple[int, str]]:
    """Per match the seat whose bot has taken `FLOOD_SHARE` of the time that has passed, and a sentence. `before` and
    `now` as `Table.traffic_ns` tells."""
    found: dict[str, tuple[int, str]] = {}
    for match_id in before.keys() & now.keys():
        spent = [late - early for early, late in zip(before[match_id], now[match_id], strict=True)]
        most = max(spent)
        if most >= FLOOD_SHARE * passed_ns:
            share = f"{most / passed_ns:.0%} of the referee's time for {passed_ns / 1e9:.1f} s"
            found[match_id] = spent.index(most), f"reading what it sent took {share}, until the referee's process ended"
    return found


def memory_mib() -> int:
    """What of this process is in memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() >> 20


async def play_all(link: Link, table: Table, records: Path, bots: "Bots") -> None:
    """One match after another. While the record of one is being closed the next may begin."""
    receiving: asyncio.Task[bytes | None] = asyncio.create_task(link.receive())
    playing: dict[asyncio.Task[bytes], str] = {}
    over: set[str] = set()
    trouble = ""

    def is_over(match_id: str) -> None:
        over.add(match_id)
        with suppress(OSError):  # the runner is gone
            link.send(messages.over_line(match_id))

    try:
        while True:
            await asyncio.wait([receiving, *playing], return_when=asyncio.FIRST_COMPLETED)
            for task in [task for task in playing if task.done()]:
                over.discard(playing.pop(task))
                link.send(task.result())
            if not receiving.done():
                continue
            line = receiving.result()
            if line is None or over != set(playing.values()):  # the end, or stop in the midst of a match
                return
            kind, content = messages.read_line(line)
            if kind not in ("meet", "play"):
                return
            receiving = asyncio.create_task(link.receive())
            if kind == "meet":
                records, trouble = content.records, _meet(table, bots, content)
            elif trouble:
                link.send(messages.lost_line(content.match_id, trouble))
            else:
                playing[asyncio.create_task(_play(table, content, records, is_over))] = content.match_id
    finally:
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def play_together(link: Link, table: Table, setup: Setup, bots: "Bots") -> None:
    """Any number of matches at once."""
    playing: dict[str, asyncio.Task[None]] = {}
    records, trouble = setup.records, ""
    try:
        while (line := await link.receive()) is not None:
            kind, content = messages.read_line(line)
            if kind == "meet":
                records, trouble = content.records, _meet(table, bots, content)
            elif kind == "expect":
                _expect(table, setup, *content)
            elif kind == "play" and trouble:
                link.send(messages.lost_line(content.match_id, trouble))
            elif kind == "play":
                playing = {match_id: task for match_id, task in playing.items() if not task.done()}
                playing[content.match_id] = asyncio.create_task(_play_and_tell(link, table, content, records))
            elif kind == "abandon":
                if content in playing:
                    playing[content].cancel()
            else:
                return
    finally:
        for task in playing.values():
            task.cancel()
        await asyncio.gather(*playing.values(), return_exceptions=True)


def _meet(table: Table, bots: "Bots", meeting: Meeting) -> str:
    """A sentence if one of the bots cannot play; '' else."""
    try:
        for entry_id in bots.meet(meeting):
            table.forget(entry_id)
    except Refused as error:
        return str(error)
    for bot in meeting.bots:
        if bot.remote:
            table.seat_as(bot.known_as or bot.entry_id, bot.remote, bot.version)
    return ""


def _expect(table: Table, setup: Setup, name: str, digests: tuple[str, ...]) -> None:
    terms = setup.guests.terms if setup.guests is not None else None
    assert terms is not None
    if digests:
        table.expect(name, Invitation("", terms.limits, wait_s=0, reconnect_s=terms.reconnect_s, digests=digests))
    else:
        table.turn_away(name)


async def _play_and_tell(link: Link, table: Table, spec: MatchSpec, records: Path) -> None:
    try:
        line = messages.result_line(await table.play(spec, records))
    except Exception as error:
        line = messages.lost_line(spec.match_id, f"{type(error).__name__}: {error}")
    with suppress(OSError):  # the runner is gone
        link.send(line)


async def _play(table: Table, spec: MatchSpec, records: Path, is_over: Callable[[str], None]) -> bytes:
    try:
        return messages.result_line(await table.play(spec, records, over=partial(is_over, spec.match_id)))
    except Exception as error:  # one match's trouble, told; the worker serves the next
        return messages.lost_line(spec.match_id, f"{type(error).__name__}: {error}")


def _tell_of_guest(link: Link, setup: Setup, entry_id: str, what: str) -> None:
    assert setup.guests is not None
    with suppress(OSError):  # the runner is gone
        entry = setup.guests.entries.get(entry_id)
        link.send(messages.note_line(f"'{entry.name if entry else entry_id}' {what}"))


class Bots:
    """The bots as they were when the run began, from the store, and those that dial in; and those that a worker meets
    later, because it plays for several runs. By id; what is there never changes."""

    def __init__(self, setup: Setup) -> None:
        """Refused if one is not what it was."""
        self.entries: dict[str, Entry] = dict(setup.guests.entries) if setup.guests else {}
        for bot in setup.bots:
            known_as = bot.known_as or bot.entry_id
            self.entries[known_as] = replace(_entry(bot), id=known_as)
        given = {bot.known_as or bot.entry_id: bot.sandbox for bot in setup.bots}
        self.sandboxes: dict[str, Sandbox] = hide(given, self.entries.values(), setup.records)
        self.fresh: set[str] = set(setup.processes.fresh)
        self._met: dict[str, BotSetup] = {}

    def meet(self, meeting: Meeting) -> list[str]:
        """Refused if one is not what it was. Returns the ids of bots that are confined in another way than before.
        Bots of a ladder run in the store, and see nothing of each other there."""
        changed = []
        for bot in meeting.bots:
            known_as = bot.known_as or bot.entry_id
            if self._met.get(known_as) == bot:
                continue
            if bot.remote:
                self.entries[known_as] = replace(remote_bot_entry(bot.name, bot.version), id=known_as)
            else:
                if known_as in self._met:
                    changed.append(known_as)
                entry = replace(_entry(bot), id=known_as)
                self.sandboxes |= hide({known_as: bot.sandbox}, [entry], meeting.records)
                (self.fresh.add if bot.fresh else self.fresh.discard)(known_as)
                self.entries[known_as] = entry
            self._met[known_as] = bot
        return changed


def _entry(bot: BotSetup) -> Entry:
    try:
        load = partial(load_stored, bot.content, in_play=True) if bot.content else load_entry
        entry = load(Path(bot.folder), bot.name, bot.options)
    except PlatformError as error:
        raise Refused(f"bot '{bot.name}': {error.sentence}", error.next_step) from None
    except (ManifestError, EntryError, BotNameError) as error:
        raise Refused(
            f"bot '{bot.name}': {error.sentence}", "restore the bot, then run the same command again"
        ) from None
    if entry.id != bot.entry_id:
        raise Refused(
            f"the bot '{bot.name}' in {bot.folder} was changed while the tournament runs",
            "undo the change and run the same command again, or start a new run with --new",
        )
    return entry


def wait_for_runner(incoming: int) -> None:
    """Until the runner takes up this process, which it has started early: it sends the file for stderr, and the lock of
    the run, which stays open. Before that it may send games to load. End the process if it does not need it."""
    with socket.socket(fileno=os.dup(incoming)) as channel:
        game = b""
        while True:
            byte, files, _, _ = socket.recv_fds(channel, 1, 2)
            if files or not byte:
                break
            game += byte
            if byte == b"\n":
                with suppress(UnknownGame):  # which the match says, too
                    load_game(game.decode().strip())
                game = b""
    if not files:
        os._exit(0)
    for file in files:
        os.set_inheritable(file, False)  # not our bots' to hold
    os.dup2(files[0], 1)
    os.dup2(files[0], 2)
    os.close(files[0])


def main() -> None:
    """Takes stdin and stdout for itself: what else is printed here goes to stderr, and nothing else reads stdin."""
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    prints = Prints()
    if EARLY in sys.argv:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it plays nothing yet, and may be stuck in the import of a game
        look_ahead(prints)
        wait_for_runner(incoming.fileno())
    begin_collection()
    wake_when_parent_dies()
    raise_file_limit()
    link = Link(incoming, outgoing)
    with suppress(BrokenPipeError):  # the runner is gone
        run_loop(serve(link, prints))
    link.tidy()
    sys.stderr.flush()
    os._exit(0)  # the reading thread may be waiting still


if __name__ == "__main__":
    main()
