"""Commands about one run: its bots and matches, its signature, database and report, and the certificate beforehand."""

import getpass
import os
import shlex
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from referee.cli.arguments import OUT, AsJson, Device, Env, LatestRun, Out, Read, pairs_of
from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from referee.process.sandbox import Profile
    from referee.run.run import Run


RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Tournament file, run folder or name of a run.", show_default=False)
]
BotArgument = Annotated[
    str, typer.Argument(metavar="BOT", help="Name or entry id of a bot in the run.", show_default=False)
]
ReasonOption = Annotated[str, typer.Option(metavar="TEXT", help="Reason, which is written to the journal.")]


class ChoiceWord(StrEnum):
    """What becomes of the matches of a bot that leaves."""

    KEEP = "keep"
    ANNUL = "annul"
    LOSSES = "losses"


ChoiceOption = Annotated[
    ChoiceWord | None,
    typer.Option(
        metavar="keep|annul|losses",
        help="How the matches of the bot count. keep (default): those it has played count. annul: none "
        "counts. losses: those it has played count, and those it misses are scored as losses. If the "
        "bot has already left, this changes the earlier choice.",
        show_default=False,
    ),
]


def withdraw(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Remove a bot from a run: it plays no further matches.

    While the run is played, the matches in play end first.

    Example: crosstown withdraw spring Ada --choice annul
    """
    _leave("withdrawn", run, bot, choice, reason, out)


def disable(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Remove a bot that must not play on. This works like withdraw, but the journal says that the bot was disabled.

    Example: crosstown disable spring Ada --reason "breaks the rules"
    """
    _leave("disabled", run, bot, choice, reason, out)


def reinstate(run: RunArgument, bot: BotArgument, reason: ReasonOption = "", out: Out = OUT) -> None:
    """Let a bot that was withdrawn, disabled or disqualified play on as if it had not left.

    The run plays the matches that the bot missed.

    The circuit breaker does not count the faults for which it disqualified the bot. If pairings depend on results,
    the rounds since the bot left are paired again, and only pairings that change are played again.

    Example: crosstown reinstate spring Ada
    """
    from referee.cli.find import find_run
    from referee.cli.output import print_text

    found = find_run(run, out)
    control = found.reinstate(bot, by=who(), reason=reason)
    print_text(f"'{control.name}' plays on as if it had not left at place {control.place}; {then(found)}")


def _leave(
    kind: Literal["withdrawn", "disabled"], run: str, bot: str, choice: ChoiceWord | None, reason: str, out: Path
) -> None:
    from referee.cli.find import find_run
    from referee.cli.output import print_text

    found = find_run(run, out)
    control = found.leave(kind, bot, None if choice is None else choice.value, by=who(), reason=reason)
    word = "disqualified" if control.kind == "breaker" else kind
    what = f"'{control.name}' is {word} from place {control.place} on ({control.choice})"
    print_text(f"{what}; {then(found)}")
    if missing := found.too_few():
        print_text(missing)


def add(
    run: RunArgument,
    bot: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Folder of the bot. Leave it out for a remote bot.", show_default=False
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the bot in this run. Default: the name in its bot.toml.")
    ] = None,
    club: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Club of the bot. Two bots of a club never meet in a Swiss, and meet late in a knockout of two seats.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="Option of the bot, such as depth=3. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    clock: Annotated[
        list[str] | None,
        typer.Option(
            "--clock",
            metavar="NAME=SECONDS",
            help="Time limit of this bot, such as move_s=2. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=NUMBER",
            help="Resource limit of this bot, such as memory_mib=4096. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            metavar="strict|plain",
            help="Run the bot with (strict) or without (plain) the sandbox. Default: like the other bots of the run.",
            show_default=False,
        ),
    ] = None,
    network: Annotated[
        bool | None,
        typer.Option(
            "--network/--no-network", help="Allow network access. Default: like [bot_defaults].", show_default=False
        ),
    ] = None,
    env: Env = None,
    read: Read = None,
    device: Device = None,
    fresh: Annotated[
        bool | None,
        typer.Option(
            "--fresh/--no-fresh",
            help="Start a new process for each match of the bot. Default: like [bot_defaults].",
            show_default=False,
        ),
    ] = None,
    copies: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Maximum number of processes of the bot at once.",
            min=1,
            max=4096,
            show_default=False,
        ),
    ] = None,
    remote: Annotated[
        bool,
        typer.Option(
            "--remote", help="The bot connects from another machine, as [remote] in the tournament file says."
        ),
    ] = False,
    token_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable that has the token of the remote bot, such as ADA_TOKEN.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File that has the token of the remote bot.", show_default=False)
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION", help="Version that the remote bot must send. Default: any.", show_default=False
        ),
    ] = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Add a bot to a run that has begun. The bot is built first if necessary.

    While the run is played, the matches in play end first; then all bots are started again.

    The options correspond to the keys of [[bots]] in a tournament file. Options that are not given have the values of
    [bot_defaults] in the run's file.

    Example: crosstown add spring bots/curry --name Curry --clock move_s=2
    """
    from referee.cli.building import load_or_build
    from referee.cli.find import find_run
    from referee.cli.output import print_text
    from referee.errors import UsageError
    from referee.tournament.joining import load_joining, read_settings

    found = find_run(run, out)
    if (bot is None) != remote:
        what = "no bot is named" if bot is None else "a remote bot has no folder here"
        raise UsageError(what, "give the folder of a bot, or --remote with --name and --token-env or --token-file")
    more: dict[str, Any] = {
        "club": club,
        "options": pairs_of("--option", option),
        "clock": pairs_of("--clock", clock),
        "limits": pairs_of("--limit", limit),
        "sandbox": sandbox,
        "network": network,
        "env": env,
        "read": [str(path.resolve()) for path in read or ()],
        "devices": device,
        "fresh": fresh,
        "copies": copies,
        "remote": remote or None,
        "token_env": token_env,
        "token_file": None if token_file is None else str(token_file.resolve()),
        "version": version,
    }
    more = {key: value for key, value in more.items() if value or value is False}
    if bot is not None:
        settings = read_settings(found.journal, {"path": str(bot.resolve()), **more}, found.file)
        load_or_build(bot, settings.sandbox.profile or _profile(found))
    control = found.add(load_joining(found.journal, bot, name, more, found.file), by=who(), reason=reason)
    print_text(f"'{control.name}' joins from place {control.place} on; {then(found)}")


def extend(
    run: RunArgument,
    blocks: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="Number of blocks to add: round robin, gauntlet, league.", min=1, max=10_000_000
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Number of rounds to add: Swiss.", min=1, max=10_000)
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(metavar="POINTS", help="New, smaller precision at which a league stops.", min=0.001, max=1),
    ] = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Make the schedule of a run longer.

    What has been played stays as it is. A larger number in the tournament file (blocks, or rounds of a Swiss) or a
    smaller one (precision of a league) does the same at the next `crosstown run`.

    Example: crosstown extend spring --blocks 10
    """
    from referee.cli.find import find_run
    from referee.cli.output import print_text
    from referee.errors import UsageError
    from referee.run.decisions import length_words

    more = {"blocks": blocks, "rounds": rounds, "precision": precision}
    given = {name: float(value) if name == "precision" else value for name, value in more.items() if value is not None}
    if not given:
        raise UsageError("the command needs the new length", "give --blocks, --rounds or --precision")
    found = find_run(run, out)
    control = found.extend(given, by=who(), reason=reason)
    print_text(f"'{found.name}' is extended to {length_words(control.length)}; {then(found)}")


def pause(run: RunArgument, reason: ReasonOption = "", out: Out = OUT) -> None:
    """Begin no further matches in a run that is being played, until `crosstown resume`. Matches in play finish.

    A run that is stopped and continued with `crosstown run` is not paused any more.

    Example: crosstown pause spring
    """
    from referee.cli.find import find_run
    from referee.cli.output import print_text

    found = find_run(run, out)
    found.hold(by=who(), reason=reason)
    print_text(f"'{found.name}' begins no match until: {shlex.join(['crosstown', 'resume', str(found.folder.path)])}")


def resume(run: RunArgument, reason: ReasonOption = "", out: Out = OUT) -> None:
    """End the pause of a run.

    Example: crosstown resume spring
    """
    from referee.cli.find import find_run
    from referee.cli.output import print_text

    found = find_run(run, out)
    found.hold(by=who(), reason=reason, going_on=True)
    print_text(f"'{found.name}' goes on")


def annul(
    run: RunArgument,
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH",
            help="Match id or its first characters. `crosstown matches list` shows the ids.",
            show_default=False,
        ),
    ],
    replay: Annotated[bool, typer.Option("--replay", help="Play the match again.")] = False,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Exclude a match from all tables; its record is kept. A match in play cannot be annulled.

    Example: crosstown annul spring MATCH --replay
    """
    from leaderboard.indexer import forget_match
    from referee.cli.find import find_run
    from referee.cli.output import print_text

    found = find_run(run, out)
    match = _whole_id(found, match)
    found.annul(match, replay=replay, by=who(), reason=reason)
    forget_match(found, match)
    print_text(f"match {match} does not count{f'; {whether_again(found, match)}' if replay else ''}")


def whether_again(run: "Run", match_id: str) -> str:
    """Whether a match that was taken back is played again, and by which command."""
    from leaderboard.index import load_index
    from referee.texts import listed

    if gone := run.gone_from(match_id, load_index(run.folder).rows):
        names = listed(f"'{name}'" for name in gone)
        return f"it is not played again, for {names} {'is' if len(gone) == 1 else 'are'} out of the run"
    if run.at_work:
        return "it is played again"
    return _go_on(run, "it is played again by")


def _whole_id(run: "Run", wanted: str) -> str:
    """The id that begins so, of a match that has a record or is named in the journal; `wanted` if there is none.
    UsageError if there are several."""
    from referee.errors import UsageError

    known = run.known_matches()
    found = sorted(match_id for match_id in known if match_id.startswith(wanted))
    if wanted in found or not found:
        return wanted
    if len(found) > 1:
        raise UsageError(f"{wanted!r} fits several matches: {', '.join(found[:5])}", "give more of the id")
    return found[0]


def _profile(run: "Run") -> "Profile | None":
    """The sandbox that all bots of a run play under, if it says one."""
    profile = run.configuration.get("sandbox", {}).get("profile")
    return profile if profile in ("strict", "plain") else None


def then(run: "Run") -> str:
    """What follows from a decision."""
    if run.at_work:
        return "the runner at work goes on with this"
    return _go_on(run, "continue with")


def _go_on(run: "Run", what: str) -> str:
    """The command that takes the run up again, behind `what` it does; or why there is none."""
    from referee.schedule.formats.comparison import NAME as COMPARISON

    if run.configuration["format"] == COMPARISON:
        return f"{what}: crosstown compare, with the same words as before"
    file = run.file or Path("FILE")
    folder, out = run.folder.path, run.folder.path.parent
    elsewhere = [] if out.resolve() == Path("runs").resolve() else ["--out", str(out)]
    here = Path.cwd()
    command = shlex.join(
        ["crosstown", "run", str(file.relative_to(here) if file.is_relative_to(here) else file), *elsewhere]
    )
    if run.file is not None and not file.is_file():
        return f"{what}: {command}, with the tournament file, which is not there any more"
    if (newer := _continued(run, file)) not in (None, folder):
        return f"{command} continues {newer}, a newer run; to continue {folder}, move the newer one out of {out}"
    return f"{what}: {command}"


def _continued(run: "Run", file: Path) -> Path | None:
    """The folder of the run that a tournament file continues; None where that is not known, as of a damaged file."""
    from referee.errors import ExpectedError
    from referee.run.folder import run_folders
    from referee.tournament.entrants import fitting_run

    out = run.folder.path.parent
    with suppress(ExpectedError, OSError):
        if len(run_folders(out, run.configuration["name"])) > 1 and (found := fitting_run(file, out)):
            return found.path
    return None


def who() -> str:
    """Who decides, for the journal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "organiser"


def sign(
    run: LatestRun = None,
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the signature as JSON.")] = False,
) -> None:
    """Sign the journal of a run with your Ed25519 key, and print the public key. Stop the run first.

    The journal has a digest of every record that counts, so the signature covers the records, too. `crosstown matches
    verify` checks it. The key is made at first use, in crosstown/signing.pem of your configuration folder.

    Example: crosstown sign first
    """
    from referee.cli.find import find_run
    from referee.cli.output import print_json, print_text
    from referee.run.signing import key_file
    from referee.texts import plural

    found = find_run(run, out)
    folder, signed = found.folder, found.sign()
    if as_json:
        print_json(
            {
                "run": str(folder.path),
                "signature": str(folder.signature),
                "lines": signed.head.lines,
                "digest": signed.head.digest,
                "at": signed.at,
                "public_key": signed.public_key,
            }
        )
        return
    print_text(f"signed: {plural(signed.head.lines, 'line')} of the journal of {folder.path}, in {folder.signature}")
    print_text(f"public key: {signed.public_key}")
    print_text(f"Publish the public key where others know that it is yours, and keep {key_file()} to yourself.")


def rebuild(
    run: LatestRun = None,
    out: Out = OUT,
    as_json: AsJson = False,
) -> int:
    """Make the database of a run again from its records.

    The old database is replaced only when the new one is complete. A record whose digest differs from the one in the
    journal is left out and named. The exit code is 1 if there is such a record, if matches have no valid record, or
    if the journal was changed.

    Example: crosstown rebuild first
    """
    from leaderboard.completeness import gaps_of, lost_words
    from leaderboard.indexer import rebuild_database
    from referee.cli.find import find_run
    from referee.cli.output import print_json, print_text
    from referee.record.journal import NOT_THE_ONE
    from referee.texts import one_line, plural

    found = find_run(run, out)
    folder = found.folder
    index = rebuild_database(found)
    gaps = gaps_of(found, index=index)
    lost, wrong = gaps.lost, found.check(named=gaps.missing).wrong
    forged = any(item.problem.startswith(NOT_THE_ONE) for item in index.unusable)
    code = ExitCode.FAILED if lost or wrong or forged else ExitCode.OK
    if as_json:
        print_json(
            {
                "database": str(folder.database),
                "matches": len(index.rows),
                "lost": lost,
                "wrong": wrong,
                "unusable": [{"file": item.path.name, "why": item.problem} for item in index.unusable],
            }
        )
        return code
    print_text(f"{folder.database}: {plural(len(index.rows), 'match')} from the records in {folder.matches}")
    for item in index.unusable:
        print_text(one_line(f"not counted: {item.path.name}: {item.status}: {item.problem}"))
    for what in wrong:
        print_text(one_line(f"wrong: {what}"))
    if lost:
        print_text(lost_words(folder.path, lost))
    return code


def pack(
    run: LatestRun = None,
    older_than: Annotated[
        int,
        typer.Option(metavar="DAYS", help="Pack only records that are older than this many days.", min=0, max=36_500),
    ] = 0,
    out: Out = OUT,
    as_json: AsJson = False,
) -> int:
    """Pack the records of settled matches into archives: a few files for each day instead of one for each match. Stop
    the run first.

    All commands and pages read packed records as before. A record is packed if its match counts, all matches with the
    same seed have been played, and it has the digest that the journal has of it. The exit code is 1 if a record is
    damaged or has another digest.

    Example: crosstown pack first --older-than 7
    """
    from datetime import UTC, datetime, timedelta

    from leaderboard.index import load_index
    from referee.cli.find import find_run
    from referee.cli.output import print_json, print_text
    from referee.record.journal import NOT_THE_ONE
    from referee.record.store import match_id_of
    from referee.run.lock import RunLock
    from referee.run.packing import pack_records, settled_matches
    from referee.texts import one_line, plural

    found = find_run(run, out)
    until = datetime.now(UTC) - timedelta(days=older_than)
    with RunLock(found.folder.lock):
        found.records.tidy()
        found.reload()
        index = load_index(found.folder)
        settled = settled_matches(found, index.rows)
        packing = pack_records(found.folder, settled, found.anchors.digests, until)
    wrong = {match_id_of(item.path): item.problem for item in index.unusable if item.status == "damaged"}
    wrong |= dict.fromkeys(packing.kept, NOT_THE_ONE)
    code = ExitCode.FAILED if wrong else ExitCode.OK
    if as_json:
        counts = {"records": packing.records, "archives": packing.archives}
        print_json({"run": str(found.folder.path), **counts, "kept": sorted(wrong)})
        return code
    archives = plural(packing.archives, "archive")
    print_text(f"{found.folder.path}: {plural(packing.records, 'record')} packed into {archives}")
    verify = shlex.join(["crosstown", "matches", "verify", str(found.folder.path)])
    for match_id, problem in sorted(wrong.items()):
        print_text(one_line(f"not packed: {match_id}: {problem}; see {verify}"))
    if without := len([match_id for match_id in settled if match_id not in found.anchors.digests]):
        sign = shlex.join(["crosstown", "sign", str(found.folder.path)])
        print_text(f"not packed: {plural(without, 'record')} without a digest in the journal; to add it: {sign}")
    return code


def report(
    run: LatestRun = None,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="HTML file to write. Default: report.html in the run folder.", show_default=False
        ),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Write HTML. There is no other format, so the option can be left out.")
    ] = False,
    site: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that crosstown publish wrote for the run: matches link to their replays there.",
            show_default=False,
        ),
    ] = None,
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the path of the page as JSON.")] = False,
) -> None:
    """Write one HTML page about a run: tables, plots, faults and links to records, or with --site to replays. Print the
    path of the page.

    The page has no scripts and needs no network. If the only argument ends in .html, it is FILE, and the run is the
    most recent one.

    Example: crosstown report first report.html
    """
    from datetime import UTC, datetime

    from leaderboard.completeness import gaps_of, lost_words
    from leaderboard.evidence import last_faults
    from leaderboard.index import read_table
    from leaderboard.match_table import table_of
    from leaderboard.report import report_html
    from leaderboard.run_table import counted_rows, entrants, kept_live
    from leaderboard.standings import rate_pools, standings
    from referee.cli.find import find_run
    from referee.cli.output import print_json, print_text, write_whole
    from referee.record.store import is_packed

    if file is None and run is not None and run.lower().endswith((".html", ".htm")) and not (out / run).is_dir():
        file, run = Path(run), None
    found = find_run(run, out, brief=True)
    path = file or found.folder.path / "report.html"
    index = read_table(found.folder)
    counted, view = counted_rows(found, index.rows)
    rows = table_of(counted.rows)
    ratings = rate_pools(
        rows,
        kept=kept_live(found.folder.database, found.journal.identity),
        settled=index.settled,
        approvals=counted.approvals,
        anchors=counted.anchors,
    )
    facts = {"format": found.configuration["format"], **_luck_facts(found), **_signature_facts(found)}
    if left_out := "; ".join(f"{one['entry']}: {one['why']}" for one in found.left_out):
        facts["left out"] = left_out
    if lost := gaps_of(found, index=index).lost:
        facts["attention"] = lost_words(found.folder.path, lost)
    page = report_html(
        found.title,
        counted,
        standings(counted, entrants(found), ratings=ratings),
        total=found.total - counted.annulled,
        at_most=found.at_most,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        unusable=index.unusable,
        format_table=view.table,
        seating=view.seating,
        link=os.path.relpath(found.records.folder, path.parent),
        packed=lambda row: is_packed(found.records.at(row.stamp)),
        replays=_replays(site, found, path.parent),
        facts=facts,
        failed_starts=list(found.failed_starts.values()),
        faults=last_faults(rows.only(rows.have_fault), found.records),
        startup_s=found.startup_limits_s,
        ratings=ratings,
    )
    write_whole(path, page, "name another file: crosstown report RUN FILE")
    if as_json:
        print_json({"report": str(path), "matches": len(counted.rows)})
    else:
        print_text(str(path))


def _replays(site: Path | None, run: "Run", here: Path) -> dict[str, str]:
    """The links from a page in the folder `here` to the replays in `site`, by match id."""
    from leaderboard.web.site import replays_in

    pages = {} if site is None else replays_in(site, run.folder.name)
    return {match_id: os.path.relpath(page, here) for match_id, page in pages.items()}


def _luck_facts(run: "Run") -> dict[str, Any]:
    """The seed, and the secrets that are revealed. Where no secret keys the luck, the seed itself waits for the end."""
    epochs = run.epochs
    facts: dict[str, Any] = {"seed": run.configuration["seed"]}
    if not epochs[0].commitment and not run.finished:
        facts["seed"] = "revealed when the run is finished"
    if keyed := [epoch for epoch in epochs if epoch.commitment]:
        facts["secret of the luck"] = ", ".join(epoch.secret or "revealed when the run is finished" for epoch in keyed)
    return facts


def _signature_facts(run: "Run") -> dict[str, Any]:
    """Who signed the run, and what: nothing of one that is not signed."""
    signed = run.signature
    if signed is None:
        return {}
    from referee.run.journal import read_journal
    from referee.run.signing import since_signed

    journal = run.folder.journal
    if next(since_signed(signed, run.folder, read_journal(journal), journal.read_bytes()), ""):
        return {"signature": "does not hold for the run as it is now: see crosstown matches verify"}
    return dict(signed.shown)


def certificate(
    file: Annotated[Path, typer.Argument(help="Tournament file (TOML).", show_default=False)],
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """Make the certificate for the remote bots of a tournament before it runs, and print what their authors set.

    The run uses this certificate if it begins within twenty days. A run that is started with --new makes another one.

    Example: crosstown certificate tournaments/remote.toml
    """
    from referee.cli.output import print_json, print_text
    from referee.errors import UsageError
    from referee.run.folder import choose_folder
    from referee.tournament.entrants import known_participants, load_tournament
    from referee.tournament.identity import describe
    from referee.tournament.remote import listen_with
    from referee.wire.public_address import reached_at

    tournament = load_tournament(file, known_participants(file, out), to_play=False)
    remote = tournament.config.remote
    if remote is None:
        raise UsageError(f"{file} has no [remote], so no bot connects", "see: crosstown docs remote")
    if remote.listen.plain:
        raise UsageError(f"{file} says plain = true in [remote], so there is no TLS", "authors need no certificate")
    folder = choose_folder(out, describe(tournament), new=False)
    made = listen_with(remote.listen, remote.public, folder.certificates).certificate
    port = remote.listen.port
    address = reached_at(remote.listen.host, port, remote.public) if port else ""
    if as_json:
        print_json({"certificate": str(made), "address": address})
        return
    print_text(f"certificate: {made}")
    print_text("each author of a remote bot needs a copy of this file, and sets CROSSTOWN_TLS_CA to its path")
    print_text(f"CROSSTOWN_ADDRESS={address}" if address else "CROSSTOWN_ADDRESS is known once the run waits: port 0")
