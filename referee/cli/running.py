"""Puts runner, workers, database, progress and table together for `crosstown run`."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from leaderboard.account import FormatTable
from leaderboard.evidence import last_faults
from leaderboard.index import load_index
from leaderboard.run_table import RunTable, run_table
from leaderboard.standings import CAPTION, Standing
from referee.cli.building import build_missing
from referee.cli.errors import ExitCode
from referee.cli.format_pages import print_format_table
from referee.cli.indexer import Indexer
from referee.cli.output import console, duration, plural, print_json, print_standings
from referee.cli.progress import ProgressReport
from referee.cli.run_account import looking
from referee.cli.run_tables import entrants_of, failed_starts_of, plan_of
from referee.process.cgroup import find
from referee.process.checkup import probe
from referee.process.child_reaper import ChildReaper
from referee.process.limits import memory_room
from referee.process.outside import Prints
from referee.run.decisions import joining, known_bots, with_added
from referee.run.folder import RunFolder, choose_folder, is_renamed, title_of
from referee.run.journal import read_journal
from referee.run.luck import known_words, read_secrets
from referee.texts import one_line
from referee.tournament.config import Tournament
from referee.tournament.confine import Confinement, confine_all
from referee.tournament.cores import available_cores, split_cores, too_many_threads
from referee.tournament.entrants import changed_since, load_tournament, stand_ins
from referee.tournament.executor import Executor
from referee.tournament.identity import describe
from referee.tournament.local import LocalExecutor
from referee.tournament.machine import machine_of
from referee.tournament.memory import share_memory
from referee.tournament.progress import Decide
from referee.tournament.remote import invite_all
from referee.tournament.runner import Summary
from referee.tournament.session import run_session

_MOST_FAULTS = 10
"""Last faults that are printed when a run ends."""


@dataclass(frozen=True, slots=True)
class Played:
    """One run of the command: how it went, the table after it, and what is wrong with the database or ''."""

    summary: Summary
    table: RunTable
    elapsed_s: float
    problem: str


def play_tournament(
    tournament: Tournament,
    out: Path,
    workers: int,
    *,
    pin: bool,
    new: bool,
    as_json: bool,
    quiet: bool,
    accept_weaker: bool = False,
    secret: Path | None = None,
    head_file: Path | None = None,
) -> ExitCode:
    """Play what is missing and print the outcome; `accept_weaker`: also with a weaker sandbox than before. Raises
    TournamentError."""
    tournament, folder = choose_run(tournament, out, new=new)
    if not quiet:
        tell_changed(tournament, folder)
        tell_kept(tournament, folder)
        if is_renamed(folder, tournament.config.name):
            console(stderr=True).print(one_line(f"this run is in {folder.path}, and continues there"), markup=False)
    file, profile = tournament.config.path, tournament.config.sandbox.profile
    build_missing(
        ((bot.folder, bot.sandbox.profile or profile) for bot in joining(read_journal(folder.journal))), out, file
    )
    tournament = with_added(tournament, read_journal(folder.journal))
    cores = available_cores()
    sets = split_cores(workers, cores) if pin else ()
    if crowded := too_many_threads(tournament, workers, len(cores)):
        console(stderr=True).print(f"warning: {crowded}", markup=False)
    played = play(
        tournament,
        folder,
        workers,
        quiet=quiet or as_json,
        cores=sets,
        accept_weaker=accept_weaker,
        secret=secret,
        head_file=head_file,
    )
    table = list(played.table.rows)
    if as_json:
        print_json(_outcome(tournament, folder, played.summary, table, played.elapsed_s, played.problem))
    elif not quiet:
        _tell(tournament, _go_on(tournament, out), folder, played)
    tell_problem(played)
    return _code(played.summary)


def choose_run(tournament: Tournament, out: Path, *, new: bool, to_play: bool = True) -> tuple[Tournament, RunFolder]:
    """Where the tournament runs, and the tournament as it is there. Raises TournamentError."""
    folder = choose_folder(out, describe(tournament), new=new)
    left = {bot.entry_id for bot in known_bots(read_journal(folder.journal)) if bot.out}
    if any(entry.id not in left for _, entry in stand_ins(tournament)):
        # Who has left the newest run is still in this one.
        tournament = load_tournament(tournament.config.path, to_play=to_play)
        folder = choose_folder(out, describe(tournament), new=new)
    return tournament, folder


def play(
    tournament: Tournament,
    folder: RunFolder,
    workers: int,
    *,
    quiet: bool,
    decide: Decide | None = None,
    cores: Sequence[Sequence[int]] = (),
    accept_weaker: bool = False,
    secret: Path | None = None,
    head_file: Path | None = None,
) -> Played:
    """Play what is missing in `folder`, until `decide` says it is enough. Raises TournamentError.

    `cores`: per worker those it is bound to. `secret`: a file with the secrets of the luck. `head_file`: where the head
    of the journal is written as well.
    """
    given = given_secrets(secret)
    indexer = Indexer(folder.matches, folder.database)
    text = read_journal(folder.journal)
    gone = {bot.entry_id for bot in known_bots(text) if bot.out}

    confinement = confine_all(
        tournament,
        probe(),
        [secret] if secret else (),
        begun=text.created is not None,
        accept_weaker=accept_weaker,
    )
    staying = {entry_id: sandbox for entry_id, sandbox in confinement.sandboxes.items() if entry_id not in gone}
    machine = machine_of(tournament, staying, Prints(), find().controllers)

    def make_executor(missing: int, lock_fd: int) -> Executor:
        used = min(workers, missing)
        most_memory_mib, lowered = share_memory(tournament, used, memory_room())
        indexer.start()
        tell_confinement(confinement, quiet=quiet)
        if lowered and not quiet:
            console(stderr=True).print(one_line(lowered), markup=False)
        return LocalExecutor(
            [entry for entry in tournament.entries if entry.id not in gone],
            folder.matches,
            workers=used,
            most_memory_mib=most_memory_mib,
            log=folder.worker_log,
            lock_fd=lock_fd,
            child_reaper=ChildReaper(),
            sandboxes=confinement.sandboxes,
            cores=cores,
            processes=tournament.processes,
            guests=invite_all(tournament, folder.path / "tls", gone),
            note=lambda sentence: report.note(one_line(sentence)),
        )

    with ProgressReport(title_of(folder, tournament.config.name), indexer, quiet=quiet) as report:
        try:
            summary = run_session(
                tournament,
                folder,
                make_executor,
                report,
                decide,
                given,
                machine=machine,
                accept_weaker=accept_weaker,
                head_file=head_file,
            )
            indexer.start()  # nothing was left to play, but the database may be behind the records
        finally:
            elapsed_s = report.elapsed_s
            indexer.close()
    text = read_journal(folder.journal)
    table = run_table(
        folder.matches, folder.database, entrants_of(text), text.controls, looking(text), plan=plan_of(text)
    )
    return Played(summary, table, elapsed_s, indexer.finish(table))


def given_secrets(file: Path | None) -> tuple[bytes, ...]:
    """The secrets that the user gives, if any, after saying what that means. UsageError."""
    if file is None:
        return ()
    found = read_secrets(file)
    console(stderr=True).print(one_line(f"note: {known_words(file)}"), markup=False)
    return found


def tell_changed(tournament: Tournament, folder: RunFolder) -> None:
    """That another version lies where a bot that has left came from: it is not in this run."""
    for name, path in changed_since(tournament, known_bots(read_journal(folder.journal))):
        words = shlex.join(["crosstown", "add", str(folder.path), str(path)])
        console(stderr=True).print(
            one_line(f"'{name}' has left this run, and what is in {path} now is not in it; to let it join: {words}"),
            markup=False,
        )


def tell_kept(tournament: Tournament, folder: RunFolder) -> None:
    """That a bot plays on as it was when the run began, though its folder is not what it was."""
    for entry in tournament.kept:
        what, step = "is gone", ""
        if entry.folder.exists():
            words = shlex.join(["crosstown", "add", str(folder.path), str(entry.folder), "--name"])
            what, step = "has changed", f"; to play what is there now: --new, or {words} NAME"
        sentence = f"{entry.folder} {what} since this run began; '{entry.name}' plays on as it was then{step}"
        console(stderr=True).print(one_line(f"warning: {sentence}"), markup=False, style="bold")


def tell_confinement(confinement: Confinement, *, quiet: bool) -> None:
    """Before the first match: a warning always, grants unless `quiet`."""
    notes = console(stderr=True)
    if confinement.warning:
        notes.print(f"warning: {confinement.warning}", markup=False, style="bold")
    for name, paths in confinement.unseen.items():
        listed = ", ".join(json.dumps(str(path)) for path in paths)
        sentence = (
            f"warning: 'run' of '{name}' names {', '.join(map(str, paths))}, which its sandbox does not show to it;"
            f" grant it in the tournament file, in its [[bots]]: read = [{listed}]"
        )
        notes.print(one_line(sentence), markup=False, style="bold")
    for name, sandbox in () if quiet else confinement.grants.items():
        notes.print(one_line(f"sandbox of '{name}': {sandbox}"), markup=False)
    for name, program in () if quiet else confinement.opened.items():
        notes.print(
            one_line(f"sandbox of '{name}': shows {program} and its libraries, for its bot.toml says so"), markup=False
        )


def tell_problem(played: Played) -> None:
    if played.problem:
        console(stderr=True).print(
            f"note: the database is behind the records ({played.problem}); nothing is lost, the next run makes up"
            " for it",
            markup=False,
        )


def placings(tournament: Tournament, summary: Summary) -> list[dict[str, object]]:
    """The format's own table as plain values, best first."""
    return [
        {"rank": row.rank, "name": tournament.entries[row.bot].name, "entry_id": tournament.entries[row.bot].id}
        | dict(row.columns)
        for row in summary.placings
    ]


def print_placings(tournament: Tournament, summary: Summary, notes: Sequence[str] = ()) -> None:
    """The format's own table, if it has one; `notes` explain its figures."""
    rows = placings(tournament, summary)
    if not rows:
        return
    print_format_table(FormatTable(tournament.config.format, rows, notes=notes))


def _code(summary: Summary) -> ExitCode:
    if summary.stopped and not summary.complete:
        return ExitCode.INTERRUPTED
    if summary.given_up:
        return ExitCode.ORGANISER
    return ExitCode.FAILED if summary.set_aside or not summary.complete else ExitCode.OK


def _go_on(tournament: Tournament, out: Path) -> str:
    """The command that takes this run up again: not with --new, which would begin another."""
    elsewhere = [] if out == Path("runs") else ["--out", str(out)]
    return shlex.join(["crosstown", "run", str(tournament.config.path), *elsewhere])


def _tell(tournament: Tournament, go_on: str, folder: RunFolder, played: Played) -> None:
    summary, table, elapsed_s = played.summary, list(played.table.rows), played.elapsed_s
    notes = console(stderr=True)
    there = summary.found + summary.played
    if summary.played:
        pace = f"{plural(summary.played, 'match')} in {duration(elapsed_s)} ({summary.played / elapsed_s:.1f}/s)"
        again = f", {plural(summary.void, 'attempt')} did not count" if summary.void else ""
        notes.print(f"{pace}{again}; everything is in {folder.path}", markup=False)
    elif summary.complete and there:
        annulled = f" ({played.table.annulled} annulled)" if played.table.annulled else ""
        notes.print(f"all {plural(there, 'match')} were there already{annulled}, in {folder.path}", markup=False)
    if not summary.stopped or summary.complete:
        print_standings(table, CAPTION)
        print_placings(tournament, summary, played.table.format_table.notes)
    if summary.cancelled:
        notes.print(f"{plural(summary.cancelled, 'match')} cancelled: entries that are out, or annulled", markup=False)
    for name in summary.set_aside:
        notes.print(
            one_line(
                f"'{name}' was disqualified for its faults: its matches that were not played are cancelled; to let it"
                f" play on: {shlex.join(['crosstown', 'reinstate', str(folder.path), name])}"
            ),
            markup=False,
        )
    if not there and not summary.stopped and not summary.given_up:
        notes.print(one_line(_nothing_played(folder, go_on)), markup=False, style="bold")
    for line in _fault_lines(folder, table):
        notes.print(one_line(line), markup=False)
    if summary.decided:
        notes.print("the run was decided before its schedule ended", markup=False)
    if summary.complete:
        return
    if summary.stopped:
        most = "at most " if summary.at_most else ""
        notes.print(f"stopped after {there} of {most}{summary.total} matches; to continue: {go_on}", markup=False)
        return
    for match in summary.given_up[:10]:
        notes.print(one_line(f"missing: match {match.match_id}: {match.reason}: {match.detail}"), markup=False)
    notes.print(
        f"{summary.missing} of {summary.total} matches could not be played (see {folder.void} and"
        f" {folder.worker_log}); when the cause is mended, try them again: {go_on}",
        markup=False,
    )


def _nothing_played(folder: RunFolder, go_on: str) -> str:
    """Why a run has ended without a match, and what to do."""
    out = [bot for bot in known_bots(read_journal(folder.journal)) if bot.out]
    if not out:
        return "no match was played: all are annulled; to play one again: crosstown annul RUN MATCH --replay"
    names = ", ".join(f"'{bot.name}'" for bot in out)
    back = "; ".join(shlex.join(["crosstown", "reinstate", str(folder.path), bot.entry_id]) for bot in out)
    return (
        f"no match was played: there is none without a bot that is out of the run ({names}); to let it play: {back};"
        f" then: {go_on}"
    )


def _fault_lines(folder: RunFolder, table: Sequence[Standing]) -> list[str]:
    """Why bots failed: their last faults, and the command that shows each."""
    failing = {(row.entry_id, reason) for row in table for reason in row.faults}
    if not failing:
        return []
    rows = load_index(folder.matches, folder.database).rows
    faults = [fault for fault in last_faults(rows, folder.matches) if (fault.entry_id, fault.reason) in failing]
    lines = []
    for fault in faults[:_MOST_FAULTS]:
        printed = f": {fault.lines[-1].strip()}" if fault.lines else ""
        lines.append(
            f"'{fault.name}' {fault.reason} in {plural(fault.matches, 'match')}; the last: {fault.said}{printed}"
        )
        show = shlex.join(["crosstown", "matches", "show", str(folder.matches / fault.record)])
        lines.append(f"    {fault.advice}" if fault.advice else f"    to see why: {show}")
    if len(faults) > _MOST_FAULTS:
        lines.append(
            f"{len(faults) - _MOST_FAULTS} more kinds of faults: crosstown report {shlex.quote(str(folder.path))}"
        )
    return lines


def _outcome(
    tournament: Tournament, folder: RunFolder, summary: Summary, table: list[Standing], elapsed_s: float, problem: str
) -> dict[str, object]:
    return {
        "folder": str(folder.path),
        "total": summary.total,
        "found": summary.found,
        "played": summary.played,
        "void": summary.void,
        "cancelled": summary.cancelled,
        "missing": summary.missing,
        "set_aside": list(summary.set_aside),
        "decided": summary.decided,
        "failed_starts": [asdict(start) for start in failed_starts_of(read_journal(folder.journal)).values()],
        "given_up": [
            {"match": item.match_id, "place": item.place, "reason": item.reason, "detail": item.detail}
            for item in summary.given_up
        ],
        "stopped": summary.stopped,
        "placings": placings(tournament, summary),
        "elapsed_s": round(elapsed_s, 3),
        "database_problem": problem,
        "standings": [row.to_dict() for row in table],
    }
