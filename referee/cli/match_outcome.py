"""How a single match ended, as `crosstown match` prints it."""

import re
import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.cli.output import print_text
from referee.games.registry import get_game
from referee.match.result import Fault, MatchResult
from referee.process.bot import Exit
from referee.process.output import Output
from referee.process.sandbox import Sandbox
from referee.record.journal import slow_start
from referee.record.reasons import EndReason
from referee.record.times import SHOWN_LAG_US
from referee.schedule.spec import MatchSpec
from referee.texts import missing_package, one_line, own_frames, without_store

_LAST_WORDS = 12
"""Lines of a faulted bot's stderr that are shown."""

_ENDED_BY_US = 128 + signal.SIGTERM
"""The exit code of a runtime that takes the signal as a wish (Java): such a bot was slow to leave, no more."""

_SANDBOXED = "strict"
_MAY_BE_THE_SANDBOX = frozenset({EndReason.CRASHED, EndReason.START_FAILED})
GRANTS = (
    "it ran in the sandbox: --read PATH, --network and --env NAME grant more, and /tmp may be written; "
    "--sandbox plain tries it without"
)
_REFUSED = re.compile(
    r"Permission ?(denied|Error)|not permitted|Read-only file system|No such file|\bno such file|FileNotFoundError"
    r"|unreachable|name resolution|Name or service not known|getaddrinfo|Connection refused|Errno 9[79]"
    r"|\b(EACCES|EPERM|EROFS|ENOENT|ENETUNREACH|EAI_AGAIN)\b|KeyError: '[A-Z][A-Z0-9_]*'|Bad system call"
)
"""What programs print when a sandbox keeps a path, the network or an environment variable from them."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A bot without a fault, when the table was left: what it had printed, and how it ended."""

    entry_id: str
    output: Output
    ended: Exit | None

    @property
    def failed(self) -> bool:
        """Whether it ended by an error of its own, after the match."""
        return self.ended is not None and self.ended.code not in (None, 0, _ENDED_BY_US)


def outcome(spec: MatchSpec, result: MatchResult) -> dict[str, Any]:
    """For programs."""
    return {
        "match": spec.match_id,
        "game": spec.game,
        "seed": spec.seed,
        "status": result.status,
        "reason": str(result.reason),
        "detail": result.detail,
        "seats": [
            {
                "bot": seat.name,
                "rank": result.ranking[number] if result.ranking else None,
                "points": result.returns[number] if result.returns else None,
                **asdict(result.seat_stats[number]),
                "startup_us": result.startup_us[number] if result.startup_us else 0,
                "fault": _fault(result.faults[number]),
            }
            for number, seat in enumerate(spec.seats)
        ],
    }


def _fault(fault: Fault | None) -> dict[str, str] | None:
    """For programs; the record has all the evidence."""
    if fault is None:
        return None
    return {"reason": str(fault.reason), "detail": fault.detail, "stderr": str(fault.evidence.get("stderr", ""))}


def _last_words(title: str, stderr: str) -> Iterator[str]:
    """The end of what a bot printed to stderr: mostly it says what to mend."""
    lines = stderr.rstrip().splitlines()
    if not lines:
        return
    yield f"{title}:"
    if len(lines) > _LAST_WORDS:
        yield f"    ... ({len(lines) - _LAST_WORDS} lines more: --output shows them)"
    for line in lines[-_LAST_WORDS:]:
        yield f"    {without_store(line)}"


def sandbox_may_help(printed: str) -> bool:
    """Whether a bot that ended so may have missed something that a sandbox keeps from it: it printed an error of that
    kind, or nothing at all."""
    return not printed.strip() or _REFUSED.search(printed) is not None


def _of_fault(spec: MatchSpec, fault: Fault, sandboxes: Mapping[str, Sandbox]) -> Iterator[str]:
    """What helps the author of a bot at fault."""
    seat = spec.seats[fault.seat]
    if frames := own_frames(str(fault.evidence.get("stacks", ""))):
        yield f"where {seat.name} (seat {fault.seat}) was when its time was up:"
        yield from (f"    {without_store(frame)}" for frame in frames[:_LAST_WORDS])
    title = f"the end of what {seat.name} (seat {fault.seat}) printed to stderr"
    stderr = str(fault.evidence.get("stderr", ""))
    yield from _last_words(title, stderr)
    if str(fault.evidence.get("stdout", "")).strip():
        yield f"{seat.name} (seat {fault.seat}) printed to stdout, too: --output shows it"
    sandbox = sandboxes.get(seat.entry_id)
    if advice := missing_package(stderr):
        yield advice
    elif (
        fault.reason in _MAY_BE_THE_SANDBOX
        and sandbox is not None
        and sandbox.profile == _SANDBOXED
        and sandbox_may_help(stderr)
    ):
        yield GRANTS


def _after_the_match(spec: MatchSpec, result: MatchResult, heard: Sequence[Heard]) -> Iterator[str]:
    """A bot whose end fails has no fault, for the match is over; its author wants to know."""
    for number, one in enumerate(_by_seat(spec, result, heard)):
        if one is not None and one.failed:
            name = f"{spec.seats[number].name} (seat {number})"
            yield f"after the match {name} ended with {one.ended}; no fault, but see to it"
            yield from _last_words(f"the end of what {name} printed to stderr", one.output.stderr_text())


def _started(result: MatchResult, seat: int) -> str:
    took_us = result.startup_us[seat] if result.startup_us else 0
    return f", started in {took_us / 1e6:.2f} s" if took_us else ""


def _by_seat(spec: MatchSpec, result: MatchResult, heard: Sequence[Heard]) -> list[Heard | None]:
    """None for a seat at fault, and for one that plays elsewhere."""
    rest, found = list(heard), list[Heard | None]()
    for number, seat in enumerate(spec.seats):
        one = None if result.faults[number] else next((one for one in rest if one.entry_id == seat.entry_id), None)
        if one is not None:
            rest.remove(one)
        found.append(one)
    return found


def outputs(spec: MatchSpec, result: MatchResult, heard: Sequence[Heard]) -> list[dict[str, str]]:
    """What the bot of each seat printed, as far as it was kept; of one at fault, up to its fault. {} if it plays
    elsewhere."""
    texts = []
    for fault, one in zip(result.faults, _by_seat(spec, result, heard), strict=True):
        if fault is not None:
            texts.append({name: str(fault.evidence.get(name, "")) for name in ("stdout", "stderr")})
        elif one is not None:
            texts.append({"stdout": one.output.stdout_text(), "stderr": one.output.stderr_text()})
        else:
            texts.append({})
    return texts


def show_output(spec: MatchSpec, texts: Sequence[Mapping[str, str]]) -> None:
    """What `outputs` gives."""
    for number, (seat, printed) in enumerate(zip(spec.seats, texts, strict=True)):
        for name, text in printed.items():
            if text.strip():
                print_text(f"{one_line(seat.name)} (seat {number}) printed to {name}:")
                for line in text.rstrip().splitlines():
                    print_text(f"    {one_line(line)}")


def result_sentence(spec: MatchSpec, result: MatchResult) -> str:
    """Who won, or that it is a draw, and who lost by a fault."""
    if not result.ranking:
        return "no result: the match does not count"
    names = [f"{seat.name} (seat {number})" for number, seat in enumerate(spec.seats)]
    best = [number for number, rank in enumerate(result.ranking) if rank == 1]
    teams = get_game(spec.game).teams(len(spec.seats), spec.options)
    winners = " and ".join(names[number] for number in best)
    if len({teams[number] for number in best}) == 1:
        said = f"{winners} won"
    elif len(best) == len(names):
        said = f"draw: {winners}"
    else:
        said = f"draw for the first place: {winners}"
    faults = [f"; {names[fault.seat]}: {fault.reason}" for fault in result.faults if fault is not None]
    return said + "".join(faults)


def conclude(
    spec: MatchSpec, result: MatchResult, path: Path, heard: Sequence[Heard], sandboxes: Mapping[str, Sandbox]
) -> None:
    """How it ended, the last words of bots at fault or with a failed end, the ranking, and where the record is.

    `sandboxes` by entry id."""
    detail = f": {one_line(result.detail)}" if result.detail else ""
    print_text(f"{result.reason}{detail}")
    for fault in result.faults:
        if fault is not None and fault.reason is not EndReason.RESIGNED:
            for line in _of_fault(spec, fault, sandboxes):
                print_text(one_line(line))
    for line in _after_the_match(spec, result, heard):
        print_text(one_line(line))
    order = range(len(spec.seats))
    if result.ranking:
        order = sorted(order, key=lambda seat: result.ranking[seat])  # type: ignore[assignment]
    print_text(one_line(result_sentence(spec, result)))
    for seat in order:
        stats = result.seat_stats[seat]
        place = f"{result.ranking[seat]}." if result.ranking else "-"
        points = f"{result.returns[seat]} points, " if result.returns else ""
        lag_us = stats.lag_us or 0
        mean_ms = (stats.total_us - lag_us) / 1000 / stats.decisions if stats.decisions else 0.0
        worst_us = stats.worst_us if stats.worst_charged_us is None else stats.worst_charged_us
        lag = f", {lag_us / 1000:.1f} ms of lag not charged" if lag_us >= SHOWN_LAG_US else ""
        print_text(
            f"{place} {one_line(spec.seats[seat].name)} (seat {seat}): {points}{stats.decisions} decisions, "
            f"{mean_ms:.1f} ms each, worst {worst_us / 1000:.1f} ms{lag}{_started(result, seat)}"
        )
    for seat, startup_us in enumerate(result.startup_us):
        if warning := slow_start(spec.seats[seat].name, startup_us, spec.limits_of(seat).startup_s):
            print_text(f"warning: {one_line(warning)}")
    print_text(f"the record: {path}")
    print_text(f"step through it: crosstown matches show {shlex.quote(str(path))}")
