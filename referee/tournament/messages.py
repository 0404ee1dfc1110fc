"""The lines between the runner and a local worker: one JSON object each, over the worker's stdin and stdout.

    runner -> worker   {"setup": {...}}      once, first
    worker -> runner   {"ready": true}       or {"refused": {"what": .., "next": ..}}, then it ends
    runner -> worker   {"meet": {...}}       where the next matches are recorded, and bots that it need not know yet
    runner -> worker   {"play": SPEC}        one match at a time
    worker -> runner   {"result": RESULT}    or {"failed": "sentence"}; of a worker with guests, which plays several
                                             matches at once, {"lost": {"match": .., "what": ..}}
    worker -> runner   {"alive": FLOODS}     once a second; FLOODS: per match the seat whose bot keeps the worker busy,
                                             and how, if one does: {MATCH_ID: [seat, "sentence"]}
    worker -> runner   {"note": "sentence"}  something the organiser should know; at any time
    runner -> worker   {"expect": {"name": .., "digests": [..]}}
                                             a remote bot that may come with these tokens; without any it may not
    worker -> runner   {"door": {"address": .., "bots": {..}}}
                                             where remote bots connect, and which of those that are expected are there
    runner -> worker   {"abandon": MATCH_ID} to a worker with guests: end this match, nothing is said of it any more
    runner -> worker   {"stop": true}        close down in order

The end of the worker's stdin means that the runner is gone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from referee.match.invitation import Invitation, Seen
from referee.match.result import MatchResult
from referee.process.entry import Entry, remote_bot_entry
from referee.process.sandbox import Sandbox
from referee.schedule.spec import Limits, MatchSpec
from referee.tournament.processes import Processes
from referee.tournament.remote import Guests, Terms
from referee.wire.public_address import Listen

MAX_WORKER_LINE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class BotSetup:
    """A bot as the worker finds it in the store, by its `content`; `entry_id` is what it must turn out to be."""

    folder: str
    name: str
    options: Mapping[str, str | int | bool]
    entry_id: str
    sandbox: Sandbox
    content: str = ""
    known_as: str = ""
    """Its id in the run, where that is another one than `entry_id`."""
    fresh: bool = False
    """A new process for each match."""
    remote: str = ""
    """The name under which it is expected to connect; '' for a bot that the worker starts."""
    version: str = ""
    """What a remote bot must say in Hello."""
    handed_in: bool = False
    """A stranger has handed it in to a ladder. Machines of a cluster build it within the limits for hand-ins."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a worker that plays for several runs must know before a match: in which folder the record is written, and
    the bots of the match. `begun` is for a cluster: a match of the same block that was played before, if the runner
    was started again since."""

    records: Path
    bots: tuple[BotSetup, ...]
    begun: str = ""


@dataclass(frozen=True, slots=True)
class Door:
    """Where remote bots connect, HOST:PORT as it is listened on, and what is known of each that is expected."""

    address: str
    bots: Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker must know before its first match.

    `socket_dir` is the worker's own; `lock_fd` an inherited file that it keeps open until it ends.
    """

    bots: tuple[BotSetup, ...]
    records: Path
    socket_dir: Path
    lock_fd: int | None
    guests: Guests | None = None
    """Bots that dial in to this worker; it has the only way in."""
    most_memory_mib: int = 0
    """No bot may have more; 0 for any."""
    processes: Processes = Processes()  # noqa: RUF009 - frozen
    machine: Mapping[str, str] = field(default_factory=dict)
    """What records say of where they were played; empty for the runner's own machine."""

    @property
    def together(self) -> bool:
        """Whether it plays several matches at once: those of guests, and of bots with only so many processes."""
        return self.guests is not None or bool(self.processes.copies)


def setup_line(
    entries: Sequence[Entry],
    records: Path,
    socket_dir: Path,
    lock_fd: int | None,
    sandboxes: Mapping[str, Sandbox] | None = None,
    guests: Guests | None = None,
    processes: Processes | None = None,
    most_memory_mib: int = 0,
    machine: Mapping[str, str] | None = None,
) -> bytes:
    """`entries` with those of `guests`, whose secrets are in the line."""
    processes = processes or Processes()
    invited = guests.invited if guests is not None else {}
    bots = [
        {
            "folder": str(entry.folder),
            "name": entry.name,
            "options": dict(entry.options),
            "entry_id": entry.copy_of or entry.id,
            "known_as": entry.id if entry.copy_of else "",
            "sandbox": asdict((sandboxes or {}).get(entry.id, Sandbox())),
            "content": entry.content,
        }
        for entry in entries
        if entry.id not in invited
    ]
    setup: dict[str, Any] = {
        "bots": bots,
        "records": str(records),
        "socket_dir": str(socket_dir),
        "lock_fd": lock_fd,
        "guests": None,
        "processes": {"idle": processes.idle, "fresh": sorted(processes.fresh), "copies": dict(processes.copies)},
        "most_memory_mib": most_memory_mib,
        "machine": dict(machine or {}),
    }
    if guests is not None:
        listen = guests.listen
        setup["guests"] = {
            "public": guests.public,
            "at_once": guests.at_once,
            "terms": None if guests.terms is None else asdict(guests.terms),
            "listen": [
                listen.host,
                listen.port,
                *_texts(listen.certificate, listen.key),
                listen.plain,
                listen.keepalive_s,
            ],
            "invited": [{"name": entry.name, **asdict(invited[entry.id])} for entry in entries if entry.id in invited],
        }
    return _line({"setup": setup})


def meet_line(meeting: Meeting) -> bytes:
    return _line({"meet": {"records": str(meeting.records), "bots": [asdict(bot) for bot in meeting.bots]}})


def play_line(spec: MatchSpec) -> bytes:
    return f'{{"play":{spec.to_json()}}}\n'.encode("ascii")


def expect_line(name: str, digests: Sequence[str]) -> bytes:
    return _line({"expect": {"name": name, "digests": list(digests)}})


def door_line(door: Door) -> bytes:
    return _line({"door": asdict(door)})


def abandon_line(match_id: str) -> bytes:
    return _line({"abandon": match_id})


def stop_line() -> bytes:
    return _line({"stop": True})


def ready_line() -> bytes:
    return _line({"ready": True})


def alive_line(floods: Mapping[str, tuple[int, str]]) -> bytes:
    return _line({"alive": floods})


def refused_line(what: str, next_step: str) -> bytes:
    return _line({"refused": {"what": what, "next": next_step}})


def note_line(sentence: str) -> bytes:
    return _line({"note": sentence})


def result_line(result: MatchResult) -> bytes:
    return f'{{"result":{result.to_json()}}}\n'.encode("ascii")


def over_line(match_id: str) -> bytes:
    """The match has been played; its result follows when its record is closed."""
    return _line({"over": {"match": match_id}})


def lost_line(match_id: str, sentence: str) -> bytes:
    return _line({"lost": {"match": match_id, "what": sentence}})


def read_line(line: bytes) -> tuple[str, Any]:
    """Kind and content: Setup, Meeting, MatchSpec, MatchResult, or plain JSON. ValueError for anything else."""
    try:
        ((kind, content),) = json.loads(line).items()
        if kind == "setup":
            bots = _bots(content["bots"])
            places = Path(content["records"]), Path(content["socket_dir"])
            kept = content["processes"]
            processes = Processes(kept["idle"], frozenset(kept["fresh"]), kept["copies"])
            guests = _guests(content["guests"])
            most_memory_mib = content["most_memory_mib"]
            machine = content["machine"]
            return kind, Setup(bots, *places, content["lock_fd"], guests, most_memory_mib, processes, machine)
        if kind == "meet":
            return kind, Meeting(Path(content["records"]), _bots(content["bots"]))
        if kind == "expect":
            return kind, (str(content["name"]), tuple(content["digests"]))
        if kind == "door":
            seen = {name: Seen(**{**one, "games": tuple(one["games"])}) for name, one in content["bots"].items()}
            return kind, Door(content["address"], seen)
        if kind == "play":
            return kind, MatchSpec.from_json(json.dumps(content))
        if kind == "result":
            return kind, MatchResult.from_json(json.dumps(content))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a line of this protocol ({error}): {line[:200]!r}") from None
    if kind not in ("ready", "refused", "lost", "abandon", "stop", "alive", "note", "over"):
        raise ValueError(f"unknown kind of line: {kind!r}")
    return kind, content


def _bots(listed: Sequence[Mapping[str, Any]]) -> tuple[BotSetup, ...]:
    return tuple(BotSetup(**{**bot, "sandbox": _sandbox(bot["sandbox"])}) for bot in listed)


def _guests(values: Mapping[str, Any] | None) -> Guests | None:
    if values is None:
        return None
    host, port, certificate, key, plain, keepalive_s = values["listen"]
    entries: dict[str, Entry] = {}
    invited: dict[str, Invitation] = {}
    for guest in values["invited"]:
        entry = remote_bot_entry(guest.pop("name"), guest["version"])
        entries[entry.id] = entry
        limits, digests = Limits(**guest["limits"]), tuple(guest["digests"])
        invited[entry.id] = Invitation(**{**guest, "limits": limits, "digests": digests})
    return Guests(
        Listen(host, port, *_paths(certificate, key), plain, keepalive_s),
        invited,
        entries,
        values["public"],
        _terms(values["terms"]),
        values["at_once"],
    )


def _terms(values: Mapping[str, Any] | None) -> Terms | None:
    return None if values is None else Terms(Limits(**values["limits"]), values["reconnect_s"])


def _texts(*paths: Path | None) -> list[str | None]:
    return [None if path is None else str(path) for path in paths]


def _paths(certificate: str | None, key: str | None) -> tuple[Path | None, Path | None]:
    return (None if certificate is None else Path(certificate)), (None if key is None else Path(key))


def _sandbox(values: Mapping[str, Any]) -> Sandbox:
    return Sandbox(**{**values, **{name: tuple(values[name]) for name in ("env", "read", "hidden", "devices")}})


def _line(value: object) -> bytes:
    return (json.dumps(value, separators=(",", ":")) + "\n").encode("ascii")
