"""Behind `crosstown matches rejudge`: what the evidence says, and what is made of it."""

from pathlib import Path

from leaderboard.indexer import forget_match
from referee.cli.control import whether_again, who
from referee.cli.output import print_text
from referee.cli.record_files import find_record
from referee.errors import UsageError
from referee.match.rejudge import rejudge
from referee.record import read_record
from referee.record.store import counts_in, match_id_of
from referee.run.run import Run


def rejudge_match(
    wanted: str, named: Path | None, out: Path, *, extra_ms: int, ranking: str, apply: bool, reason: str
) -> bool:
    """Whether all faults stand. UsageError, RecordError."""
    path = find_record(wanted, named, out)
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
        folder = counts_in(path)
        if folder is None:
            raise UsageError(f"{path} is not in a run, or does not count in it", "name a match that counts in its run")
        run, match_id = Run(folder), match_id_of(path)
        if ranks:
            run.rejudge(match_id, ranks, by=who(), reason=reason)
            print_text(f"match {match_id} counts with the ranking {'-'.join(map(str, ranks))}")
        else:
            why = reason or "; ".join(finding.why for finding in judgement.findings if not finding.stands)
            run.annul(match_id, replay=True, by=who(), reason=why)
            forget_match(run, match_id)
            print_text(f"match {match_id} is void; {whether_again(run, match_id)}")
    return judgement.stands


def _ranks(text: str, seats: int) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) != seats or not all(word.strip().isdecimal() and 1 <= int(word) <= seats for word in words):
        raise UsageError(
            f"--ranking {text!r} does not fit {seats} seats", "give a rank from 1 on per seat, such as 1,2"
        )
    return tuple(int(word) for word in words)
