"""What of a run comes from this machine and not from its file: kept in the journal, compared when the run goes on."""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import pbkdf2_hmac
from typing import TypeAlias

from referee.errors import ChangedError
from referee.process.entry import NO_VERSION, Entry
from referee.process.fact_names import BESIDE, PACKAGES_OF
from referee.process.outside import Prints, outside_of, runtime_of
from referee.process.sandbox import Sandbox
from referee.record import Header, RecordError
from referee.record.reader import read_header
from referee.record.store import RecordStore
from referee.run.machine_facts import (
    BUILD,
    GROUPS,
    LAST_HEADERS,
    RUNTIME,
    SANDBOX,
    VALUE_OF,
    Facts,
    controllers_of,
    facts_of_seat,
    flat_facts,
    groups_words,
)
from referee.tournament.config import Tournament

EVENT = "machine"
_USER = "user"
_VERSION = "declared version"
"""Of a remote bot that may be of any version."""
_LATER = (GROUPS, _USER)
"""Facts that older versions did not keep: a run of theirs does not lack them."""

_ANY_REMOTE = ("remote", NO_VERSION)
"""Sandbox and version of the seat of such a bot, as its header has them."""

MOST_CHANGES = 4
"""Changes of one fact while a run goes on: a file that something writes all the time, such as a log in a granted
folder, would fill the journal. All of them are in the headers of the records."""

_GUESS_ROUNDS = 100_000
"""What a digest of a value takes: who reads a journal must not find a password by trying many."""

Machine: TypeAlias = Mapping[str, Facts]
"""By entry id."""


@dataclass(frozen=True, slots=True)
class Change:
    """One fact of one bot that is not what it was. `weaker`: its sandbox keeps it from less than before."""

    entry_id: str
    name: str
    what: str
    before: str
    now: str
    weaker: bool = False

    @property
    def is_private(self) -> bool:
        """Whether it is for the organiser alone: files outside of the bot's folder, values of variables."""
        return self.what.startswith(("/", PACKAGES_OF, BESIDE, VALUE_OF))

    def __str__(self) -> str:
        return f"'{self.name}': {self.what}: {self.before or 'none'} -> {self.now or 'none'}"


def machine_of(
    tournament: Tournament, sandboxes: Mapping[str, Sandbox], prints: Prints, controllers: Sequence[str]
) -> Machine:
    """The facts of every bot that is started here. `controllers`: those of the control groups that hold its limits."""
    return {
        entry.id: facts_of(entry, sandboxes[entry.id], prints, controllers)
        for entry in tournament.entries
        if entry.argv and entry.id in sandboxes
    }


def facts_of(entry: Entry, sandbox: Sandbox, prints: Prints, controllers: Sequence[str]) -> Facts:
    """Those of one bot."""
    found = {
        "profile": sandbox.profile,
        GROUPS: groups_words(controllers),
        _USER: "root" if os.geteuid() == 0 else "not root",
        "grants": ", ".join(_grants(sandbox)),
        "values": {name: _digest_of(name, os.environ[name]) for name in sandbox.env if name in os.environ},
        "build": "; ".join(map(str, entry.builds)),
        "runtime": runtime_of(entry),
        "outside": outside_of(entry, sandbox, prints),
    }
    return {name: value for name, value in found.items() if value}


def _grants(sandbox: Sandbox) -> list[str]:
    """As they hold here: a variable that is not set is passed on to nobody."""
    names = [f"env {name}" if name in os.environ else f"env {name} (not set)" for name in sandbox.env]
    paths = [*(f"read {path}" for path in sandbox.read), *(f"device {path}" for path in sandbox.devices)]
    return [*(["network"] if sandbox.network else []), *names, *paths]


@cache
def _digest_of(name: str, value: str) -> str:
    """The same wherever the variable has this value, so that runs can be compared. Takes some 50 ms."""
    salt = f"crosstown {name}".encode(errors="surrogateescape")
    return pbkdf2_hmac("sha256", value.encode(errors="surrogateescape"), salt, _GUESS_ROUNDS, 8).hex()


def profiles_in(records: RecordStore, entry_ids: Collection[str]) -> Machine:
    """What the last records say of these bots, of which the journal says nothing where a cluster has played them."""
    found: dict[str, Facts] = {}
    for path in reversed(records.last_paths(LAST_HEADERS)) if entry_ids else ():
        with suppress(RecordError):
            for seat in read_header(path).seats:
                profile = seat.sandbox.partition(",")[0]
                if profile and seat.entry_id in entry_ids and found.get(seat.entry_id) != {"profile": "strict"}:
                    found[seat.entry_id] = {"profile": profile}
    return found


def machine_changes(before: Machine, now: Machine, names: Mapping[str, str]) -> list[Change]:
    """What differs, for the bots that both know; of one of which only the profile was known, whether that does."""
    found: list[Change] = []
    for entry_id, facts in now.items():
        if entry_id in before:
            old, new = flat_facts(before[entry_id]), flat_facts(facts)
            if before[entry_id].keys() == {"profile"}:
                new = {name: value for name, value in new.items() if name in old}
            for what in dict.fromkeys((*old, *new)):
                one, other = old.get(what, ""), new.get(what, "")
                if one != other and (one or not _came_later(what)) and (other or not what.startswith(VALUE_OF)):
                    lost = what == GROUPS and not {*controllers_of(before[entry_id])} <= {*controllers_of(facts)}
                    weaker = lost or (what == "sandbox" and one == "strict")
                    found.append(Change(entry_id, names.get(entry_id, entry_id), what, one, other, weaker))
    return found


def _came_later(what: str) -> bool:
    """Whether older versions did not keep this fact."""
    return what in _LATER or what.startswith((PACKAGES_OF, BESIDE, VALUE_OF))


class MachineWatch:
    """What the records of a run say of the machines that play it, while it goes on: files outside of the bots' folders
    may change between two matches, and on the machines of a cluster the rest, too."""

    def __init__(self, here: Machine | None = None) -> None:
        """`here` is what this machine had when its first match began."""
        self._here = {} if here is None else here
        self._seen: dict[tuple[str, str, str], list[str]] = {}
        """Values, by machine, '' for this one, entry and fact. Matches that were in play when a fact changed may end
        after those that began later."""
        self._now: dict[str, Facts] = {}

    def recall(self, records: RecordStore) -> None:
        """Take what the last records say as known."""
        for path in records.last_paths(LAST_HEADERS):
            with suppress(RecordError):
                self.note(read_header(path))

    def note(self, header: Header, versions: Sequence[str] = ()) -> tuple[list[Change], Machine]:
        """What was not so in the matches before this one; and the facts of this machine that follow from that.
        `versions`: per seat what a remote bot declared."""
        place = header.machine.get("name", "")
        found: list[Change] = []
        news: dict[str, Facts] = {}
        for number, seat in enumerate(header.seats):
            declared: dict[str, str] = {}
            if versions and (seat.sandbox, seat.version) == _ANY_REMOTE:
                declared = {_VERSION: versions[number]}
            here = None if place else self._here.get(seat.entry_id, self._now.get(seat.entry_id))
            if declared and here is None:
                here = self._now[seat.entry_id] = news[seat.entry_id] = declared
            known = {} if here is None else flat_facts(here)
            for what, now in {**facts_of_seat(seat), **declared}.items():
                if what == SANDBOX and not place:
                    continue  # as it was when the first match began
                values = self._seen.setdefault((place, seat.entry_id, what), [])
                if not values:
                    is_new = here is not None and what in seat.outside
                    values.append(known.get(what, "" if is_new else now))
                if now not in values and len(values) <= MOST_CHANGES:
                    values.append(now)
                    if now == known.get(what):  # a ladder has told it
                        continue
                    where = f"{what} on {place}" if place else what
                    found.append(Change(seat.entry_id, seat.name, where, values[-2], now))
                    if here is not None:
                        facts = self._now.get(seat.entry_id, here)
                        more: Facts = declared or {"outside": {**facts.get("outside", {}), what: now}}
                        if what in (BUILD, RUNTIME):
                            more = {"build" if what == BUILD else "runtime": now}
                        self._now[seat.entry_id] = news[seat.entry_id] = {**facts, **more}
        return list(dict.fromkeys(found)), news


def check_sandboxes(changes: Sequence[Change], *, accept: bool) -> None:
    """ChangedError if a bot would be less confined than the run has had it, and that was not accepted."""
    weaker = [change for change in changes if change.weaker]
    if weaker and not accept:
        raise ChangedError(
            f"this run was played with a stronger sandbox than works here now: {'; '.join(map(str, weaker))}",
            "see what is missing with: crosstown doctor; or continue anyway: --accept-weaker-sandbox",
            tuple(map(str, weaker)),
        )
