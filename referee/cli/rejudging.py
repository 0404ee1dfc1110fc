"""Behind `crosstown matches rejudge`: what the evidence says, and what is made of it."""

from pathlib import Path

from referee.cli.control import forget, whether_again, who
from referee.cli.output import print_text
from referee.cli.record_files import find_record, match_id
from referee.errors import UsageError
from referee.match.rejudge import rejudge
from referee.record import read_record
from referee.run.decisions import annul, judge_again
from referee.run.folder import RunFolder


def rejudge_match(
    wanted: str, run: Path | None, out: Path, *, extra_ms: int, ranking: str, apply: bool, reason: str
) -> bool:
    """Whether all faults stand. UsageError, RecordError."""
    path = find_record(wanted, run, out)
    record = read_record(path)
    ranks = _ranks(ranking, len(record.header.seats)) if ranking else ()
    judgement = rejudge(record, extra_us=extra_ms * 1000)
    seats = record.header.seats
    for finding in judgement.findings:
        verdict = "stands" if finding.stands else "does not stand"
        print_text(f"seat {finding.seat} ({seats[finding.seat].name}): {finding.reason} {verdict}: {finding.why}")
    result = "-".join(map(str, judgement.ranking)) or "none"
    print_text(f"verdict: {judgement.status}, {judgement.reason}, ranking {result}")
    if apply and (ranks or not judgement.stands):
        if path.parent.name != "matches":
            raise UsageError(f"{path} is not in a run, or does not count in it", "name a match that counts in its run")
        folder = RunFolder(path.parent.parent)
        if ranks:
            judge_again(folder, match_id(path), ranks, by=who(), reason=reason)
            print_text(f"match {match_id(path)} counts with the ranking {'-'.join(map(str, ranks))}")
        else:
            why = reason or "; ".join(finding.why for finding in judgement.findings if not finding.stands)
            annul(folder, match_id(path), replay=True, by=who(), reason=why)
            forget(folder, match_id(path))
            print_text(f"match {match_id(path)} is void; {whether_again(folder, match_id(path))}")
    return judgement.stands


def _ranks(text: str, seats: int) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) != seats or not all(word.strip().isdecimal() and 1 <= int(word) <= seats for word in words):
        raise UsageError(
            f"--ranking {text!r} does not fit {seats} seats", "give a rank from 1 on per seat, such as 1,2"
        )
    return tuple(int(word) for word in words)
