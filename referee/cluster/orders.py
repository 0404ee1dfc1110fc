"""Messages between the executor and a machine, as bytes that Dask transports and does not read.

    order     one match: its specification, its bots by content, its limits (see `relay`)
    trial     an order, too: a hand-in that is to be built and tried, with its sources
    answer    the outcome: a line of JSON, followed by the compressed record if there is one
    news      a match has begun, lines of its record, its answer; events and log of a trial; and notes of a machine, for
              all runners

An order has the seed of its match alone. The secret of the run never leaves the runner.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, Literal, TypeAlias, get_args

from referee.match.result import MatchResult
from referee.process.sandbox import Sandbox
from referee.schedule.spec import MatchSpec
from referee.tournament.messages import BotSetup

TOPIC = "crosstown"
"""The topic of the events with news of matches."""

Kind: TypeAlias = Literal["played", "lacks", "lost", "broken", "tried"]
"""played: there is a result. lacks: bots are not there yet. lost: the worker process died. broken: the machine cannot
play at all. tried: a trial is over; `what` says how its process ended."""


@dataclass(frozen=True, slots=True)
class Order:
    """One attempt at a match. `key` names the attempt in all of a cluster. `follow`: its record is sent while it grows.
    The folders of `bots` say nothing: a machine has them by `content` in its own store. `builds` has the hash of the
    artefacts, by content, for bots that are to play with the organiser's build."""

    key: str
    spec: MatchSpec
    cap_s: float
    bots: tuple[BotSetup, ...]
    follow: bool = False
    builds: Mapping[str, str] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        values = {
            "key": self.key,
            "spec": self.spec.to_json(),
            "cap_s": self.cap_s,
            "bots": [asdict(bot) for bot in self.bots],
            "follow": self.follow,
            "builds": dict(self.builds),
        }
        return _dumps(values)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Order":
        """Inverse of `to_bytes`. ValueError for anything else."""
        try:
            values = json.loads(data)
            spec = MatchSpec.from_json(values["spec"])
            bots = tuple(map(_bot, values["bots"]))
            return cls(values["key"], spec, values["cap_s"], bots, values["follow"], values["builds"])
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"not an order: {type(error).__name__}: {error}") from None


@dataclass(frozen=True, slots=True)
class HandIns:
    """How a machine builds what strangers have handed in, each phase and by how much the disk may fill, and what all of
    these bots may `read`."""

    build_s: float
    disk_mib: int
    read: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "HandIns":
        values = json.loads(text)
        return cls(**{**values, "read": tuple(values["read"])})


_TRIAL = b'{"trial":'


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """One try of a hand-in. `job` is the job that `referee.ladder.trial` reads; the machine puts its own paths into it.
    `content` and `opponent` are the bots, whose sources come with it."""

    key: str
    job: str = field(repr=False)
    content: str
    opponent: str
    sources: bytes = field(repr=False)
    opponent_sources: bytes = field(repr=False)

    @staticmethod
    def is_in(data: bytes) -> bool:
        """Whether an order is one of these."""
        return data.startswith(_TRIAL)

    @property
    def profile(self) -> str:
        """The sandbox that the job asks for."""
        return str(json.loads(self.job)["profile"])

    def job_with(self, **values: str | int | tuple[str, ...]) -> str:
        """The job with other values in it."""
        return json.dumps({**json.loads(self.job), **values})

    def to_bytes(self) -> bytes:
        values = {
            "trial": self.job,
            "key": self.key,
            "content": self.content,
            "opponent": self.opponent,
            "bytes": len(self.sources),
        }
        return b"".join((_dumps(values), b"\n", self.sources, self.opponent_sources))

    @classmethod
    def from_bytes(cls, data: bytes) -> "TrialOrder":
        """Inverse of `to_bytes`. ValueError for anything else."""
        line, _, rest = data.partition(b"\n")
        try:
            values = json.loads(line)
            end = values["bytes"]
            names = (values["content"], values["opponent"])
            return cls(values["key"], values["trial"], *names, rest[:end], rest[end:])
        except (TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"not an order: {type(error).__name__}: {error}") from None


MOST_LINE_BYTES = 1 << 20
"""Of an answer without its record. What it says stands in the journal, which is not read beyond a limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A machine's answer to an order. `lacks` are contents of bots; `flood` as in `MatchLost`."""

    key: str
    kind: Kind
    machine: str
    what: str = ""
    lacks: tuple[str, ...] = ()
    flood: tuple[int, str] | None = None
    result: MatchResult | None = None
    record: bytes = field(default=b"", repr=False)

    def to_bytes(self) -> bytes:
        values = {
            "key": self.key,
            "kind": self.kind,
            "machine": self.machine,
            "what": self.what,
            "lacks": self.lacks,
            "flood": self.flood,
            "result": None if self.result is None else self.result.to_json(),
            "digest": _digest(self.record),
        }
        return _dumps(values) + b"\n" + self.record

    @classmethod
    def from_bytes(cls, data: bytes) -> "Answer":
        """Inverse of `to_bytes`. ValueError for anything else, and for a record that differs from what was sent."""
        line, _, record = data.partition(b"\n")
        if len(line) > MOST_LINE_BYTES:
            raise ValueError(f"it has more than {MOST_LINE_BYTES >> 20} MiB without its record")
        try:
            values = json.loads(line)
            if values.pop("digest") != _digest(record):
                raise ValueError("the record was damaged on its way")
            result = values.pop("result")
            flood = values.pop("flood")
            if values["kind"] not in get_args(Kind):
                raise ValueError(f"an answer of an unknown kind, {values['kind']!r}")
            if not all(isinstance(text, str) for text in (values["machine"], values["what"], *values["lacks"])):
                raise TypeError("something is not a text")
            return cls(
                **{**values, "lacks": tuple(values["lacks"])},
                flood=None if flood is None else (flood[0], str(flood[1])),
                result=None if result is None else MatchResult.from_json(result),
                record=record,
            )
        except (TypeError, LookupError, AttributeError, RecursionError) as error:
            raise ValueError(f"not an answer: {type(error).__name__}: {error}") from None


def _bot(values: Mapping[str, Any]) -> BotSetup:
    box = values["sandbox"]
    names = ("env", "read", "hidden", "devices")
    return BotSetup(**{**values, "sandbox": Sandbox(**{**box, **{name: tuple(box[name]) for name in names}})})


def _digest(record: bytes) -> str:
    return blake2b(record, digest_size=16, person=b"crosstown-home").hexdigest()


def _dumps(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode("ascii")
