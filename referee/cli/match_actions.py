"""Behind `crosstown matches export` and `rejudge`: writes a match as one file, and judges it again."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from leaderboard.export.document import match_document
from leaderboard.export.film import film, still
from leaderboard.export.notation import NOTATIONS, NoNotationError, in_notation
from leaderboard.export.page import replay_page
from leaderboard.frames import viewer_of, viewers
from leaderboard.indexer import forget_match
from leaderboard.match_list import Decided, ruling_of
from leaderboard.records import teams_of
from referee.cli.find import find_record
from referee.cli.output import console, print_text, write_whole
from referee.cli.run_commands import whether_again, who
from referee.errors import UsageError
from referee.games.drawing import THEMES
from referee.match.rejudge import rejudge
from referee.record import Record, read_record
from referee.record.narration import Viewer
from referee.record.store import counts_in, match_id_of, run_of
from referee.run.run import Run
from referee.texts import one_line, plural

FORMATS = ("html", "json", "svg", *NOTATIONS)
ALL = "all"
STDOUT = Path("-")


def export_match(
    record: Record,
    file: Path,
    *,
    wanted: str | None = None,
    step: int | None = None,
    seat: str | None = None,
    theme: str | None = None,
    step_s: float | None = None,
    reveal: bool = False,
) -> None:
    """Write the match to `file`, or print it if that is '-'. `wanted` is the format; by default `file` says it.
    `reveal`: also what seats hide from each other in a match that is not over, which only JSON can have.

    UsageError for what does not go together or is not there, PlatformError if the file cannot be written.
    """
    if wanted is not None and wanted not in FORMATS:
        raise UsageError(f"--format {wanted!r} is not one of {', '.join(FORMATS)}", "choose one, or leave --format out")
    wanted = wanted or {".htm": "html"}.get(file.suffix.lower(), file.suffix.lower().removeprefix("."))
    if wanted not in FORMATS:
        raise UsageError(f"{file} has no ending that names a format", f"add --format {' or '.join(FORMATS)}")
    if wanted != "svg" and (step, seat, theme, step_s) != (None, None, None, None):
        raise UsageError("--step, --seat, --theme and --pace are for drawings", "add --format svg")
    if reveal and wanted != "json":
        raise UsageError("--reveal is for JSON", "add --format json, or wait for the end of the match")
    if wanted == "html":
        text = replay_page(record, ruled=ruling_of(record))
    elif wanted in NOTATIONS:
        text = in_notation(record, wanted, Decided().ranking(record.path))
    elif wanted == "json":
        text = (
            json.dumps(match_document(record, reveal=reveal), indent=1) + "\n"
        )  # ASCII: nothing that a terminal would obey
    else:
        text = _drawing(record, step, _viewer(record, seat or ""), theme or THEMES[0], step_s)
    _write(file, text)


def _write(file: Path, text: str) -> None:
    if file == STDOUT:
        print_text(text.removesuffix("\n"))
    else:
        write_whole(file, text, "name another file: crosstown matches export MATCH FILE")
        print_text(str(file))


def export_all(paths: Sequence[Path], file: Path | None, wanted: str | None) -> None:
    """Write all matches of a run that count into one file, in schedule order. Those of games that do not have the
    notation, and those that do not count any more, are left out and counted on stderr.

    UsageError for a format that holds one match, or if no match has the notation.
    """
    wanted = wanted or ("" if file is None else file.suffix.lower().removeprefix("."))
    if wanted not in NOTATIONS:
        raise UsageError("one file for all matches is pgn or sgf", "add --format pgn, or name one match")
    texts: list[str] = []
    left_out: Counter[str] = Counter()
    problem: NoNotationError | None = None
    decided = Decided()
    for path in paths:
        record = read_record(path)
        if decided.is_annulled(path, (seat.entry_id for seat in record.header.seats)):
            left_out["all matches of one of their bots are annulled"] += 1
            continue
        if record.footer is None or record.footer.status == "void":  # such a match can lie among single ones
            left_out["it has no result"] += 1
            continue
        try:
            texts.append(in_notation(record, wanted, decided.ranking(path)))
        except NoNotationError as error:
            problem = problem or error
            left_out[str(error)] += 1
    if left_out and not texts:
        if problem is not None and len(left_out) == 1:
            raise problem
        step = problem.next_step if problem else "play a match first, or name a run: --run RUN"
        raise UsageError(f"no match can be written as {wanted}: {'; '.join(left_out)}", step)
    for why, count in left_out.items():
        console(stderr=True).print(one_line(f"left out: {plural(count, 'match')}: {why}"), markup=False)
    _write(file or STDOUT, "\n".join(texts))


def _drawing(record: Record, step: int | None, viewer: Viewer, theme: str, step_s: float | None) -> str:
    if theme not in THEMES:
        raise UsageError(f"there is no theme {theme!r}", f"choose one of {', '.join(THEMES)}")
    if step is None:
        return film(record, viewer, theme, 1.0 if step_s is None else step_s)
    return still(record, step, viewer, theme)


def _viewer(record: Record, seat: str) -> Viewer:
    try:
        return viewer_of(seat, record)
    except ValueError:
        if len(viewers(record)) == 1:
            raise UsageError(
                "the match is not over: it has no views of seats", "leave --seat out, or wait for its end"
            ) from None
        raise UsageError(
            f"there is no seat {seat!r}", f"the match has the seats 0 to {record.header.players - 1}, and 'all'"
        ) from None


def rejudge_match(
    wanted: str, named: Path | None, out: Path, *, extra_ms: int, ranking: str, apply: bool, reason: str
) -> bool:
    """Whether all faults stand. UsageError, RecordError."""
    path = find_record(wanted, named, out)
    record = read_record(path)
    ranks = _ranks(ranking, teams_of(record.header)) if ranking else ()
    judgement = rejudge(record, extra_us=extra_ms * 1000)
    seats = record.header.seats
    for finding in judgement.findings:
        verdict = "stands" if finding.stands else "does not stand"
        print_text(f"{seats[finding.seat].name} (seat {finding.seat + 1}): {finding.reason} {verdict}: {finding.why}")
    result = "-".join(map(str, judgement.ranking)) or "none"
    print_text(f"verdict: {judgement.status}, {judgement.reason}, ranking {result}")
    if apply and (ranks or not judgement.stands):
        match_id, folder = match_id_of(path), run_of(path)
        run = None if folder is None else Run(folder)
        if run is None or not (counts_in(path) or (not ranks and run.is_half_reopened(match_id))):
            raise UsageError(f"{path} is not in a run, or does not count in it", "name a match that counts in its run")
        if ranks:
            run.rejudge(match_id, ranks, by=who(), reason=reason)
            print_text(f"match {match_id} counts with the ranking {'-'.join(map(str, ranks))}")
        else:
            why = reason or "; ".join(finding.why for finding in judgement.findings if not finding.stands)
            run.annul(match_id, replay=True, by=who(), reason=why)
            forget_match(run, match_id)
            print_text(f"match {match_id} is void; {whether_again(run, match_id)}")
    return judgement.stands


def _ranks(text: str, teams: Sequence[int]) -> tuple[int, ...]:
    words = text.split(",")
    given = [int(word) for word in words if re.fullmatch(r"\s*[1-9][0-9]{0,5}\s*", word)]
    if not len(given) == len(words) == len(teams) or max(given) > len(teams):
        raise UsageError(
            f"--ranking {text[:60]!r} does not fit {len(teams)} seats", "give a rank from 1 on per seat, such as 1,2"
        )
    if min(given) != 1:
        raise UsageError(f"--ranking {text[:60]!r} has no first rank", "give the best seats the rank 1; for a tie: 1,1")
    if len({*zip(teams, given, strict=True)}) != len({*teams}):
        what = f"--ranking {text[:60]!r} ranks members of one team differently"
        raise UsageError(what, "give all members of a team the same rank")
    return tuple(given)
