"""The referee's messages, from plain values to the bytes that go on a stream."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from crosstown_proto.v1 import referee_pb2 as pb

ClockMessage: TypeAlias = pb.Clock

PROTOCOL = 1
"""The wire version. Goes up when an old bot could no longer play."""


@dataclass(frozen=True, slots=True)
class WireLimits:
    """The limits in Welcome, field by field those of `crosstown.v1.Limits`; 0 is no limit.

    `ready_us` is the time to answer MatchStart, `match_us` that of a whole match.
    """

    max_message_bytes: int
    max_note_bytes: int
    max_output_bytes: int
    ready_us: int
    frozen_off_turn: bool = False
    memory_mib: int = 0
    processes: int = 0
    open_files: int = 0
    disk_mib: int = 0
    file_size_mib: int = 0
    cores: float = 0.0
    match_us: int = 0
    starts_at_once: int = 0


def welcome(limits: WireLimits, *, session: str = "", reconnect_us: int = 0, next_message: int = 0) -> bytes:
    """`next_message` is the number of the message after this one, for a bot that may come back."""
    return pb.RefereeMessage(
        welcome=pb.Welcome(
            protocol=PROTOCOL,
            limits=pb.Limits(**asdict(limits)),
            session=session,
            reconnect_us=reconnect_us,
            next_message=next_message if session else 0,
        )
    ).SerializeToString()


def match_start(
    *,
    match: str,
    game: str,
    rules_version: int,
    seat: int,
    players: int,
    options_json: str,
    teams: Sequence[int],
    clock: ClockMessage,
    bot_seed: int,
) -> bytes:
    return pb.RefereeMessage(
        match_start=pb.MatchStart(
            match=match,
            game=game,
            rules_version=rules_version,
            seat=seat,
            players=players,
            options=options_json,
            teams=teams,
            clock=clock,
            bot_seed=bot_seed,
        )
    ).SerializeToString()


def decide(
    *,
    match: str,
    decision: int,
    kind: str,
    legal_count: int,
    observation: bytes,
    legal_actions: bytes,
    events: bytes,
    clock: ClockMessage,
    last_latency_us: int,
    text: tuple[str, Sequence[str]] | None,
) -> bytes:
    """`text` is the board and one line per legal action."""
    return pb.RefereeMessage(
        decide=pb.Decide(
            match=match,
            decision=decision,
            kind=kind,
            legal_count=legal_count,
            observation=observation,
            legal_actions=legal_actions,
            events=events,
            clock=clock,
            last_latency_us=last_latency_us,
            text=None if text is None else pb.Text(board=text[0], actions=text[1]),
        )
    ).SerializeToString()


def update(match: str, events: bytes) -> bytes:
    return pb.RefereeMessage(update=pb.Update(match=match, events=events)).SerializeToString()


def cancel(match: str, decision: int) -> bytes:
    return pb.RefereeMessage(cancel=pb.Cancel(match=match, decision=decision)).SerializeToString()


def match_end(
    *,
    match: str,
    events: bytes,
    ranking: Sequence[int],
    returns: Sequence[int],
    reason: str,
    fault_seat: int | None,
    explanation: str,
) -> bytes:
    return pb.RefereeMessage(
        match_end=pb.MatchEnd(
            match=match,
            events=events,
            ranking=ranking,
            returns=returns,
            reason=reason,
            fault_seat=fault_seat,
            explanation=explanation,
        )
    ).SerializeToString()


def bye() -> bytes:
    return pb.RefereeMessage(bye=pb.Bye()).SerializeToString()


def shown_index(index: int) -> str:
    """An index as its sender knows it: the wire has no negative ones, and -1 comes as 4294967295."""
    return str(index) if index < 1 << 31 else f"{index - (1 << 32)} (on the wire {index})"
