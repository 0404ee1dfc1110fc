"""`tournament.jsonl`: what happened to a run, apart from its matches. Append-only, chained like records, fsynced.

Each line is `[kind, time, {...}, chain]`:

    created    configuration, hash, where the bots lie; commitment: hash of the secret that all luck is keyed with
    resumed    how many matches were there, which files were set aside; order: by the same runner, after this order
    held       no match is begun from here on, by whose order; unheld: matches begin again
    void       a match that did not count: match, place, attempt, reason, detail; failed_starts: [entry, why] of bots,
               last_output: per entry the last lines that a bot printed which did not start; memory_of: the entry
               whose process the kernel took because the machine had no memory left; provider_of: the entries that got
               no answer from their provider; flood: [seat, why] of a bot
               that kept the worker busy until it died, for which it loses the next attempt
    lost       a match whose machine was lost, or could not play: match, place, machine, detail. No attempt: it is
               played again elsewhere
    given_up   a match that stayed void through all attempts
    stopped    the runner ended before the schedule did: why
    epoch      what is played from here on has luck of its own: commitment, as in created
    revealed   the secret of an epoch, once nothing more is played with it
    finished   matches rated and given up
    machine    what comes from the machine and is not as before: facts by entry (`machine`), sentences (`changes`);
               most_memory_mib: what no bot may exceed, so that all fit; 0 where the limits of the file hold;
               settings: what the file says that is no part of the configuration, such as idle
    anchor      the head of the journal is written to this file as well (`referee.run.head`)
    counted, found, uncounted   digests of the records that count (`referee.record.journal`)

and the controls (`referee.record.journal`), which change what counts.

A write that was cut by a kill or a full disk leaves a partial last line, which is dropped.
"""

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from referee.errors import JournalError, PlatformError, UsageError
from referee.folders import file_to_write
from referee.garbage import no_collection
from referee.record.files import open_ordinary
from referee.record.format import CHAIN_START, dumps, seal
from referee.record.journal import (
    BLOCK,
    DIGEST_BYTES,
    DIGEST_KINDS,
    LEAVING,
    RULES,
    Control,
    JournalDamage,
    JournalLine,
    brings_down,
    control_fields,
    controls_of,
    departures,
    in_force,
    lines_since,
    parse_lines,
    read_lines,
)
from referee.record.store import SETTLED_NS
from referee.run.brief import brief_lines
from referee.run.head import ELSEWHERE, Head, contradiction, head_of, places_of, read_head, write_head
from referee.schedule.config import DecidedBlock, decided_block

CREATED = "created"
BOT_DEFAULTS = "bot_defaults"
"""Key of a line `created`: [bot_defaults] of the tournament file, for bots that join later."""
EPOCH = "epoch"
LOST = "lost"
REVEALED = "revealed"
RATINGS = "ratings"
"""How tables are computed has changed: what the tournament file says in [ratings]."""

FORMAT = 2
"""Of new runs. In format 1 no secret keys the luck: a program that knows only that one must not go on with this one."""

_FORMATS = (1, 2)

_STATES = (CREATED, "resumed", "stopped", "finished")
"""Events that say how far a run is."""

_OPENING = ("added", "reinstated", "extended", "stopping")
"""Controls after which there is more to play; so it is where another choice is made for a bot that is out."""


@dataclass(frozen=True)
class JournalText:
    """A journal as read: its events, the controls among them, the chain after them and their length in bytes.

    `brief`: the events that have digests of records are there without them.
    """

    events: tuple[JournalLine, ...] = ()
    controls: tuple[Control, ...] = ()
    brief: bool = False

    @cached_property
    def steps(self) -> tuple[tuple[int, JournalLine], ...]:
        """All events but blocks and digests of records, each with its place: the few that a page or a command looks
        through, however many matches there are."""
        return _steps(self.events)

    @cached_property
    def blocks(self) -> tuple[DecidedBlock, ...]:
        """The blocks of a run whose blocks are decided while it goes on."""
        return _blocks(self.events)

    @property
    def chain(self) -> str:
        return self.events[-1].chain if self.events else CHAIN_START

    @property
    def size_bytes(self) -> int:
        return self.events[-1].end if self.events else 0

    @property
    def created(self) -> JournalLine | None:
        """The first event; None while the run has not begun."""
        return self.events[0] if self.events else None

    @property
    def identity(self) -> str:
        """What tells the run from all others, also from one of the same tournament; '' while it has not begun."""
        begun = self.created
        if begun is None:
            return ""
        return f"{begun.at} {begun.chain} {begun.fields['hash']} {begun.fields.get('commitment', '')}"

    @property
    def begun_with(self) -> Mapping[str, Any]:
        """The configuration as `identity.describe` made it. Of a run that has begun."""
        assert self.created is not None
        configuration: Mapping[str, Any] = self.created.fields["configuration"]
        return configuration

    @property
    def length(self) -> Mapping[str, float]:
        """What the run was extended to, by the keys of `Format.lengths`; empty where it never was."""
        return {name: value for control in self.controls for name, value in control.length.items()}

    @property
    def length_by_file(self) -> Mapping[str, float]:
        """The same, by the tournament file alone: what the file said when it last made the run longer."""
        by_file = [control.length for control in self.controls if control.by == "file"]
        return {name: value for length in by_file for name, value in length.items()}

    @property
    def configuration(self) -> Mapping[str, Any]:
        """What it began with, as long as it is now."""
        begun, length = self.begun_with, self.length
        settings = {**begun["settings"], **{name: value for name, value in length.items() if name != "blocks"}}
        return {**begun, "blocks": length.get("blocks", begun["blocks"]), "settings": settings} if length else begun

    @property
    def rating_anchors(self) -> Mapping[str, float]:
        """The ratings that are fixed, in Elo points by entry id: the last that were written down."""
        said = [line.fields for _, line in self.steps if line.kind == RATINGS]
        said = said or [line.fields.get(RATINGS, {}) for line in self.events[:1]]
        return dict(said[-1].get("anchor", {})) if said else {}

    @cached_property
    def machine(self) -> Mapping[str, Mapping[str, Any]]:
        """By entry id, the last that was written down of what comes from the machine: profile, grants, build, files
        outside of the bot's folder and so on. None of bots that were added since, or where an older version began."""
        known: dict[str, Mapping[str, Any]] = {}
        for _, line in self.steps:
            if line.kind != LOST:  # which names a machine of a cluster
                known.update(line.fields.get("machine") or {})
        return known

    @property
    def most_memory_mib(self) -> int:
        """What no bot may exceed since the last line that says so, in MiB; 0 where the limits of the file hold."""
        said = (line.fields["most_memory_mib"] for _, line in reversed(self.steps) if "most_memory_mib" in line.fields)
        return int(next(said, 0))

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """What the tournament file said last that is no part of the configuration, and changes how matches are played;
        None where only an older version has played."""
        said = (line.fields["settings"] for _, line in reversed(self.steps) if "settings" in line.fields)
        return next(said, None)

    def followed_by(self, control: Control) -> "JournalText":
        """This journal as it would be after this control."""
        line = JournalLine(control.kind, "", control_fields(control), self.chain, self.size_bytes)
        return self.grown((line,), (control,))

    def grown(self, lines: Sequence[JournalLine], controls: Sequence[Control]) -> "JournalText":
        """This journal with these lines after it, and the controls among them. What was gathered from its events is
        kept: `steps` is the same object where none of the lines is one."""
        made = JournalText((*self.events, *lines), (*self.controls, *controls), self.brief)
        steps = _steps(lines, len(self.events))
        made.__dict__["steps"] = (*self.steps, *steps) if steps else self.steps
        made.__dict__["blocks"] = (*self.blocks, *_blocks(lines))
        return made

    @property
    def last_state(self) -> str:
        """The kind of the last event that says how far the run is; '' before it has begun."""
        return next((line.kind for _, line in reversed(self.steps) if line.kind in _STATES), "")

    @property
    def finish(self) -> int | None:
        """Which event finished the run; None of one that is not finished, or was resumed since."""
        state = next(((place, line) for place, line in reversed(self.steps) if line.kind in _STATES), None)
        return None if state is None or state[1].kind != "finished" else state[0]

    @property
    def opened(self) -> int | None:
        """The first place from which on the controls after `finish` let more matches be played; None if they do not."""
        finish = self.finish
        if finish is None:
            return None
        before, since = self.controls_around(finish)
        out, held = departures(before), in_force((*before, *since))
        opening = [
            control
            for control in since
            if control.kind in _OPENING or (control.kind in LEAVING and control.entry_id in out)
        ]
        # What a rule had decided, and rested on a match that was annulled or judged otherwise since.
        fallen = [control for control in in_force(before) if control.kind in RULES and control not in held]
        return min((control.place for control in (*opening, *fallen)), default=None)

    @property
    def fallen(self) -> Sequence[tuple[Control, Collection[str]]]:
        """What the breaker had decided, and rested on what was decided otherwise since: it decides again when the run
        goes on, each as soon as these matches were played again. Without what was decided since."""
        left: dict[str, Control] = {}
        found: dict[str, tuple[Control, set[str]]] = {}
        for _, line in self.steps:
            if line.kind == "finished":
                found = {}
            elif line.kind == "resumed":
                found = {entry: one for entry, one in found.items() if one[1]}
            for control in controls_of(Path(), (line,)):
                if control.kind in (*LEAVING, "added", "reinstated", "returned"):
                    left.pop(control.entry_id, None)
                    found.pop(control.entry_id, None)
                if control.kind == "breaker":
                    left[control.entry_id] = control
                for entry in [entry for entry, one in left.items() if brings_down(control, one)]:
                    found[entry] = left.pop(entry), set()
                for decided, again in found.values():
                    if control.kind == "annulled":
                        again.discard(control.match_id)
                    elif control.kind == "reopened" and brings_down(control, decided):
                        again.add(control.match_id)
        return tuple(found.values())

    def until(self, event: int) -> "JournalText":
        """This journal as it was when this event was its last."""
        return JournalText(self.events[: event + 1], self.controls_around(event + 1)[0], self.brief)

    def controls_around(self, event: int) -> tuple[tuple[Control, ...], tuple[Control, ...]]:
        """Those before this event, and those after it."""
        before = tuple(line for place, line in self.steps if place < event)
        since = tuple(line for place, line in self.steps if place > event)
        return controls_of(Path(), before), controls_of(Path(), since)


def _steps(events: Sequence[JournalLine], first: int = 0) -> tuple[tuple[int, JournalLine], ...]:
    numbered = enumerate(events, start=first)
    return tuple([(place, line) for place, line in numbered if line.kind != BLOCK and line.kind not in DIGEST_KINDS])


def _blocks(events: Sequence[JournalLine]) -> tuple[DecidedBlock, ...]:
    return tuple([decided_block(line.fields) for line in events if line.kind == BLOCK])


def read_journal(path: Path) -> JournalText:
    """The journal at `path`, empty if there is none. JournalError names the first line that is damaged.

    One of many matches is not read again while it is the same file: a command looks at it several times.
    """
    return _read(path, brief=False)


_LONG_BYTES = 1 << 20


def _read(path: Path, *, brief: bool) -> JournalText:
    with suppress(OSError):
        stat = path.stat()
        if stat.st_size > _LONG_BYTES and time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > SETTLED_NS:
            stamp = stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
            return _read_settled_brief(path, *stamp) if brief else _read_settled(path, *stamp)
    return _read_now(path, brief=brief)


@lru_cache(maxsize=1)
def _read_settled(path: Path, *_stamp: int) -> JournalText:
    return _read_now(path, brief=False)


@lru_cache(maxsize=1)
def _read_settled_brief(path: Path, *_stamp: int) -> JournalText:
    return _read_now(path, brief=True)


def _read_now(path: Path, *, brief: bool) -> JournalText:
    return _checked(path, lambda: brief_lines(path) if brief else read_lines(path), brief=brief)


def read_on(path: Path, before: JournalText | None) -> JournalText:
    """As `read_journal`, for pages that look at a run again and again while it is played: of a long journal that goes
    on from the text `before`, only the lines behind that are read. So a change of older lines is not noticed."""
    if before is not None and before.events:
        with suppress(JournalDamage):  # found again, and told, where all is read
            lines = new_lines(path, before.events[-1], len(before.events))
            if lines is not None:
                return before.grown(lines, controls_of(path, lines)) if lines else before
    return read_journal(path)


def new_lines(path: Path, last: JournalLine, number: int) -> tuple[JournalLine, ...] | None:
    """The lines of a long journal behind the line `last`, its `number`th; None where all of it has to be read."""
    if last.end > _LONG_BYTES:
        with suppress(OSError, JournalDamage):
            return lines_since(path, last, number)
    return None


def read_brief(path: Path) -> JournalText:
    """The same without the digests of records, which a journal of many matches mostly consists of. What was read of it
    is kept beside it (`referee.run.brief`)."""
    return _read(path, brief=True)


def _checked(path: Path, read: Callable[[], tuple[JournalLine, ...]], *, brief: bool) -> JournalText:
    try:
        with no_collection():
            events = read()
        controls = controls_of(path, events)
    except JournalDamage as error:
        raise JournalError(str(error), error.next_step) from None
    except OSError as error:
        raise PlatformError(f"cannot read {path}: {error.strerror}", "check the folder and its rights") from error
    if events and (events[0].kind != CREATED or events[0].fields.get("format") not in _FORMATS):
        raise JournalError(
            f"{path}:1: expected a '{CREATED}' line of format 1 to {FORMAT}",
            "use the version of Crosstown that wrote it",
        )
    return JournalText(events, controls, brief)


def identity_of(path: Path) -> str:
    """`JournalText.identity` of the journal at `path`, of which only the first line is read; '' if there is none."""
    with suppress(JournalDamage, OSError, KeyError), open_ordinary(path) as file:
        return JournalText(parse_lines(path, file.readline())).identity
    return ""


def check_heads(path: Path, text: JournalText, data: bytes) -> None:
    """JournalError if the journal with the content `data` does not go on from the head in a second place."""
    for place in places_of(path, text.events):
        head = read_head(place)
        if head is not None and (what := contradiction(head, place, data, text.events)):
            step = f"restore {path} from a copy, or start a new run beside this one with --new"
            raise JournalError(what, step)


class Journal:
    """Appends to a journal; an event is on the disk when `append` returns. Its head is written when it is closed."""

    def __init__(self, path: Path, text: JournalText) -> None:
        """`text` is what `read_journal` found; a partial line after it is cut off. PlatformError; JournalError if it
        does not go on from its head in a second place."""
        self.path = path
        self._chain = text.chain
        self._size = text.size_bytes
        self._fd = -1
        try:
            data = path.read_bytes()[: self._size] if path.exists() else b""
            check_heads(path, text, data)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.ftruncate(self._fd, self._size)
            _sync_folder(path.parent)
        except OSError as error:
            self.close()
            raise self._trouble(error) from error
        self._places = places_of(path, text.events)
        self._lines = len(text.events)
        self._hash = blake2b(data, digest_size=DIGEST_BYTES)
        self._run = head_of(data, text.events).run
        self._head_lines = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._fd >= 0 and self._head_lines != self._lines:
                self.write_head()
        except PlatformError:
            if kind is None:
                raise
        finally:
            self.close()

    @property
    def lines(self) -> int:
        """How many there are."""
        return self._lines

    @property
    def head(self) -> Head:
        """After the last event."""
        return Head(self._run, self._lines, self._chain, self._hash.hexdigest())

    def write_head(self) -> None:
        """Write the head to its second places. PlatformError; the journal is whole nevertheless."""
        self._head_lines = self._lines
        failed: list[tuple[Path, OSError]] = []
        for place in self._places if self._lines else ():
            try:
                write_head(place, self.head)
            except OSError as error:
                failed.append((place, error))
        if failed:
            where, why = failed[0]
            raise PlatformError(
                f"the journal is whole, but its head cannot be written to {where}: {why.strerror}",
                "correct that and enter the same command again, or name another file: crosstown run FILE --anchor FILE",
            ) from why

    def write_head_to(self, place: Path) -> None:
        """From here on the head is written to the file `place` as well. UsageError if that is something else."""
        try:
            place = file_to_write(place, "name another file with --anchor")
        except OSError as error:
            what = f"the head of the journal cannot be written to {place}: {error.strerror}"
            raise UsageError(what, "name another file with --anchor") from error
        if place in self._places:
            return
        try:
            there = read_head(place)
        except JournalError as error:
            raise UsageError(str(error), "name another file with --anchor") from None
        if there is not None and there.run != self._run:
            raise UsageError(f"{place} is the head of another run's journal", "name another file with --anchor")
        try:
            write_head(place, self.head)
        except OSError as error:
            what = f"the head of the journal cannot be written to {place}: {error.strerror}"
            raise UsageError(what, "name another file with --anchor") from error
        self._places = [*self._places[:1], place]
        self.append(ELSEWHERE, file=str(place))

    def control(self, control: Control) -> None:
        """A control event, now; its `at` is not looked at. PlatformError as for `append`."""
        self.append(control.kind, **control_fields(control))

    def append(self, kind: str, **fields: Any) -> None:
        """One event, now. PlatformError when it cannot be made durable; the file is then as before."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line, chain = seal(self._chain, dumps([kind, at, fields])[:-1])
        data = line.encode("ascii")
        self._check_place()
        try:
            view, written = memoryview(data), 0
            while written < len(data):
                written += os.pwrite(self._fd, view[written:], self._size + written)
            os.fsync(self._fd)
        except OSError as error:
            try:
                os.ftruncate(self._fd, self._size)
            except OSError:
                self.close()  # nothing may follow what could not be cut off
            raise self._trouble(error) from error
        self._chain, self._size = chain, self._size + len(data)
        self._hash.update(data)
        if not self._lines:
            self._run = self._hash.hexdigest()
        self._lines += 1

    def _check_place(self) -> None:
        """PlatformError if what is open is no longer what lies there: nobody would ever read what is written."""
        if self._fd < 0:
            return
        try:
            there = os.path.samestat(os.fstat(self._fd), self.path.stat())
        except OSError:
            there = False
        if not there:
            raise PlatformError(
                f"{self.path} was removed or replaced while the tournament runs",
                "put the run folder back and run the same command again, or start a new run with --new",
            )

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _trouble(self, error: OSError) -> PlatformError:
        return PlatformError(
            f"cannot write {self.path}: {error.strerror}",
            "free some space or check the rights of the folder, then run the same command again",
        )


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
