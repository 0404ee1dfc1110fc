"""How a single match ended, as `crosstown match` prints it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from referee.cli.output import print_text
from referee.match.reasons import EndReason
from referee.match.result import Fault, MatchResult
from referee.match.spec import MatchSpec
from referee.process.output import Output
from referee.texts import one_line

_LAST_WORDS = 12
"""Lines of a faulted bot's stderr that are shown."""


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


def _last_words(name: str, fault: Fault) -> Iterator[str]:
    """The end of what a bot at fault printed to stderr: mostly it says what to mend."""
    lines = str(fault.evidence.get("stderr", "")).rstrip().splitlines()
    if not lines:
        return
    yield f"the end of what {name} (seat {fault.seat}) printed to stderr:"
    if len(lines) > _LAST_WORDS:
        yield "    ..."
    for line in lines[-_LAST_WORDS:]:
        yield f"    {line}"


def outputs(spec: MatchSpec, result: MatchResult, printed: Sequence[tuple[str, Output]]) -> list[dict[str, str]]:
    """What the bot of each seat printed, as far as it was kept; of one at fault, up to its fault. {} if it plays
    elsewhere."""
    rest, texts = list(printed), []
    for number, seat in enumerate(spec.seats):
        fault = result.faults[number]
        mine = next((one for one in rest if one[0] == seat.entry_id), None)
        if fault is not None:
            texts.append({name: str(fault.evidence.get(name, "")) for name in ("stdout", "stderr")})
        elif mine is not None:
            rest.remove(mine)
            texts.append({"stdout": mine[1].stdout_text(), "stderr": mine[1].stderr_text()})
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


def conclude(spec: MatchSpec, result: MatchResult, path: Path) -> None:
    """How it ended, the last words of bots at fault, the ranking, and where the record is."""
    detail = f": {one_line(result.detail)}" if result.detail else ""
    print_text(f"{result.reason}{detail}")
    for fault in result.faults:
        if fault is not None and fault.reason is not EndReason.RESIGNED:
            for line in _last_words(spec.seats[fault.seat].name, fault):
                print_text(one_line(line))
    order = range(len(spec.seats))
    if result.ranking:
        order = sorted(order, key=lambda seat: result.ranking[seat])  # type: ignore[assignment]
    for seat in order:
        stats = result.seat_stats[seat]
        place = f"{result.ranking[seat]}." if result.ranking else "-"
        points = f"{result.returns[seat]} points, " if result.returns else ""
        mean_ms = stats.total_us / 1000 / stats.decisions if stats.decisions else 0.0
        print_text(
            f"{place} {one_line(spec.seats[seat].name)} (seat {seat}): {points}{stats.decisions} decisions, "
            f"{mean_ms:.1f} ms each, worst {stats.worst_us / 1000:.1f} ms"
        )
    print_text(f"the record: {path}")
    print_text(f"step through it: crosstown matches show '{path}'")
