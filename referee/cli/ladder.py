"""`crosstown ladder`: commands for an organiser on the ladder's machine."""

import math
import shlex
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leaderboard.web.hand_ins import Scope
    from leaderboard.web.people import Steer
    from referee.ladder.collect import Collected, Source
    from referee.ladder.config import LadderConfig
    from referee.ladder.people import LadderPeople
    from referee.ladder.store import LadderStore

_RESTART_S = 5.0
"""The process that plays is started again within this time, if crosstown serve goes on."""

app = typer.Typer(
    no_args_is_help=True,
    help="Invite, approve and ban people, steer a ladder, hand in the bots of a class, back it up, and end its season.",
)
season_app = typer.Typer(no_args_is_help=True, help="End the season of a ladder.")
app.add_typer(season_app, name="season")

File = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="File of the ladder, as for crosstown serve. Default: the ladder in ./ladder.",
        show_default=False,
    ),
]
Site = Annotated[
    Path | None,
    typer.Option(
        "--site",
        metavar="DIR",
        help="Folder for the pages. Default: site in the folder of the season.",
        show_default=False,
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", metavar="NUMBER", help="Processes that draw matches.", min=1, max=256)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Days = Annotated[int, typer.Option("--days", metavar="NUMBER", help="How many days it is good for.", min=1, max=3650)]
Owner = Annotated[str, typer.Argument(metavar="OWNER", help="Name of the owner's account.", show_default=False)]


@contextmanager
def _opened(file: Path | None) -> "Iterator[tuple[LadderConfig, LadderStore]]":
    """The ladder and its store, also while crosstown serve runs. UsageError where no file is named and no ladder is
    there: a command that lacks the file would make a second one."""
    from referee.cli.ladder_process import ladder_of
    from referee.cli.runner_process import check_house_bots
    from referee.cli.web import own_bots
    from referee.errors import UsageError
    from referee.ladder.intake import open_store

    config = ladder_of(file, Path("ladder"), next(iter(own_bots()), None))
    if file is None and not config.data.is_dir():
        raise UsageError(
            f"there is no ladder in {config.data}", "name its file: --file FILE, or start it: crosstown serve"
        )
    with open_store(config, check_house_bots(config)) as store:
        yield config, store


def _command(file: Path | None, *words: str) -> str:
    """Another command about the same ladder."""
    return shlex.join(["crosstown", "ladder", *words, *([] if file is None else ["--file", str(file)])])


@app.command()
def invite(
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="What the invitation is for, such as the class.")
    ] = "",
    uses: Annotated[
        int, typer.Option("--uses", metavar="NUMBER", help="How many accounts may be made.", min=1, max=10_000)
    ] = 1,
    days: Days = 14,
    organiser: Annotated[bool, typer.Option("--organiser", help="Make accounts of organisers.")] = False,
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """Make an invitation, with which people make their own accounts. Its code is shown only once.

    Example: crosstown ladder invite --uses 30 --label "autumn class"
    """
    from referee.cli.output import print_json, print_text
    from referee.ladder.people import SHELL
    from referee.ladder.served import pages_address
    from referee.texts import plural

    with _opened(file) as (config, store):
        made = store.accounts.create_invitation(label, uses, days, organiser=organiser)
        store.people().note(SHELL, "invite", made.invitation.label, f"{plural(uses, 'account')}, {plural(days, 'day')}")
    if as_json:
        print_json({"id": made.invitation.id, "code": made.code, "expires": made.invitation.expires})
        return
    print_text(made.code)
    address = pages_address(config)
    print_text(f"good for {plural(uses, 'account')} until {made.invitation.expires}, in a browser or by command:")
    print_text(f"{address}/join?code={made.code}")
    print_text(f"crosstown login {shlex.quote(address)} --invitation {made.code} --name NAME")


@app.command()
def token(
    owner: Owner,
    scope: Annotated[
        str,
        typer.Option(
            metavar="read|submit|manage|organise",
            help="What the token is good for. organise is for organisers' accounts.",
        ),
    ] = "submit",
    bot: Annotated[
        str, typer.Option("--bot", metavar="NAME", help="Make it good for this one bot.", show_default="all")
    ] = "",
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What the token is for.")] = "",
    days: Days = 90,
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """Make a token for an owner. The account is made if it does not exist. The token is shown only once.

    Example: crosstown ladder token ann --scope submit
    """
    from leaderboard.web.hand_ins import SCOPES
    from referee.cli.output import print_json, print_text
    from referee.errors import UsageError

    if scope not in SCOPES:
        raise UsageError(f"--scope {scope!r}: there is no such scope", f"give one of {', '.join(SCOPES)}")
    wanted: Scope = scope
    with _opened(file) as (_, store):
        store.accounts.add_owner(owner)
        made = store.accounts.create_token(owner, label, wanted, days, bot=bot)
    if as_json:
        print_json({"id": made.token.id, "token": made.secret, "expires": made.token.expires})
        return
    print_text(made.secret)
    print_text(f"good for '{scope}' until {made.token.expires}; to revoke it:")
    print_text(_command(file, "revoke", owner, made.token.id))


@app.command()
def revoke(
    owner: Owner,
    token_id: Annotated[
        str | None,
        typer.Argument(metavar="[TOKEN]", help="Id of the token. Default: all of the owner.", show_default=False),
    ] = None,
    file: File = None,
) -> None:
    """Revoke tokens of an owner immediately and permanently. Without an id, browser sessions end, too.

    Example: crosstown ladder revoke ann 7
    """
    from referee.cli.output import print_text
    from referee.texts import plural

    with _opened(file) as (_, store):
        ids = [token_id] if token_id is not None else [one.id for one in store.accounts.tokens(owner)]
        for id_ in ids:
            store.accounts.revoke_token(owner, id_)
    print_text(f"{plural(len(ids), 'token')} of '{owner}' revoked")


@app.command()
def people(file: File = None, as_json: AsJson = False) -> None:
    """List the owners with their bots, their tokens and when they were last active.

    Example: crosstown ladder people
    """
    from dataclasses import asdict

    from referee.cli.output import print_json, print_text
    from referee.texts import one_line, plural

    with _opened(file) as (_, store):
        found = store.accounts.people()
        tokens = {person.owner: store.accounts.tokens(person.owner) for person in found}
    if as_json:
        print_json(
            {"people": [{**asdict(one), "tokens": [asdict(each) for each in tokens[one.owner]]} for one in found]}
        )
        return
    if not found:
        print_text(f"there are no accounts yet; invite people: {_command(file, 'invite')}")
    for one in found:
        what = "organiser, " if one.organiser else ""
        seen = f"seen {one.last_seen}" if one.last_seen else "never seen"
        blocked = f", blocked: {one_line(one.blocked)}" if one.blocked else "" if one.approved else ", not approved"
        counts = f"{plural(one.bots, 'bot')}, {plural(len(tokens[one.owner]), 'token')}"
        print_text(f"{one_line(one.owner)}: {what}{counts}, {seen}{blocked}")


@app.command()
def block(
    owner: Owner,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Reason, which the owner can read.", show_default=False)
    ] = "",
    lift: Annotated[bool, typer.Option("--lift", help="Lift the block.")] = False,
    file: File = None,
) -> None:
    """Ban an owner: sign-ins and tokens are refused, and the owner's bots get no new matches.

    Example: crosstown ladder block eve --reason "copies bots of others"
    """
    from referee.cli.output import print_text
    from referee.errors import UsageError

    if lift == bool(reason):
        raise UsageError("block takes a reason, or --lift", 'give --reason "...", or --lift')
    from referee.ladder.people import SHELL

    with _opened(file) as (_, store):
        store.people().block(SHELL, owner, reason)
    print_text(f"'{owner}' is {'no longer blocked' if lift else 'blocked'}")


Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason, which is stored with the action.")]
Name = Annotated[str, typer.Argument(metavar="DIVISION", help="Name of a division.", show_default=False)]


@contextmanager
def _people(file: Path | None) -> "Iterator[LadderPeople]":
    """The decisions of organisers, in the ladder's database."""
    with _opened(file) as (config, store):
        yield store.people(divisions=[division.name for division in config.divisions])


@app.command()
def approve(
    owner: Owner,
    lift: Annotated[bool, typer.Option("--lift", help="End the approval.")] = False,
    reason: Reason = "",
    file: File = None,
) -> None:
    """Approve an owner, whose bots then change the ratings of others. Accounts made with an invitation are approved.

    Example: crosstown ladder approve ann
    """
    from referee.cli.output import print_text
    from referee.ladder.people import SHELL

    with _people(file) as people:
        people.approve(SHELL, owner, not lift, reason)
    print_text(f"'{owner}' is {'not approved' if lift else 'approved'}")


@app.command()
def reset(owner: Owner, file: File = None, as_json: AsJson = False) -> None:
    """Make a link with which an owner chooses a new password. It works once within two days.

    Example: crosstown ladder reset ann
    """
    from referee.cli.output import print_json, print_text
    from referee.ladder.people import SHELL

    with _people(file) as people:
        made = people.make_reset(SHELL, owner)
    if as_json:
        print_json({"owner": made.owner, "code": made.code, "expires": made.expires})
        return
    print_text(made.code)
    print_text(f"good until {made.expires}: the page /reset?code=CODE of the ladder")


@app.command()
def disable(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="Name of a bot.", show_default=False)],
    lift: Annotated[bool, typer.Option("--lift", help="Let the bot play again.")] = False,
    reason: Reason = "",
    file: File = None,
) -> None:
    """Give a bot no new matches, until an organiser lets it play again.

    Example: crosstown ladder disable eva --reason "prints the moves of others"
    """
    from referee.cli.output import print_text
    from referee.ladder.people import SHELL

    with _opened(file) as (_, store):
        people = store.people()
        if lift:
            store.resume(bot, "organiser")
        else:
            store.pause(bot, reason, "organiser")
        people.note(SHELL, "let play" if lift else "disable", bot, reason)
    print_text(f"'{bot}' {'plays again' if lift else 'is disabled'}")


@app.command()
def pause(division: Name, reason: Reason = "", file: File = None) -> None:
    """Begin no new blocks in a division. Blocks in play finish.

    Example: crosstown ladder pause shibuya --reason "its clock changes"
    """
    _steer("pause", division, reason, file, f"{division} is paused")


@app.command()
def drain(reason: Reason = "", file: File = None) -> None:
    """Begin no new blocks in any division. Blocks in play finish.

    Example: crosstown ladder drain --reason "the machine moves tonight"
    """
    _steer("drain", "", reason, file, "no new blocks begin in any division")


@app.command(name="go-on")
def go_on(
    division: Annotated[
        str,
        typer.Argument(metavar="[DIVISION]", help="Name of a division. Default: end a drain.", show_default=False),
    ] = "",
    file: File = None,
) -> None:
    """End a pause of a division, or a drain.

    Example: crosstown ladder go-on shibuya
    """
    _steer("go on", division, "", file, f"{division or 'the ladder'} goes on")


@app.command()
def notice(
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="The text. Default: none.", show_default=False)] = "",
    file: File = None,
) -> None:
    """Show a text at the top of all pages.

    Example: crosstown ladder notice "The final is on Friday."
    """
    _steer("notice", "", text, file, "all pages show it" if text else "no page shows a notice")


def _steer(what: "Steer", division: str, text: str, file: Path | None, done: str) -> None:
    from referee.cli.output import print_text
    from referee.ladder.people import SHELL
    from referee.texts import one_line

    with _people(file) as people:
        people.steer(SHELL, what, division, text)
    print_text(one_line(done))


@app.command()
def annul(
    division: Name,
    match_id: Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match.", show_default=False)],
    reason: Reason = "",
    file: File = None,
) -> None:
    """Annul a match: it no longer counts. The runner writes this to the journal.

    Example: crosstown ladder annul shibuya m000017-1b2c3d4e --reason "slept"
    """
    from referee.cli.output import print_text
    from referee.ladder.people import SHELL

    with _people(file) as people:
        people.annul(SHELL, division, match_id, reason)
    print_text(f"the process that plays will do it; this says when it has: {_command(file, 'acts')}")


@app.command()
def acts(
    most: Annotated[int, typer.Option("--last", metavar="NUMBER", help="How many.", min=1, max=10_000)] = 30,
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """List the latest actions of organisers, the newest first: time, organiser, action and reason.

    Example: crosstown ladder acts --last 5
    """
    from dataclasses import asdict

    from referee.cli.output import print_json, print_text
    from referee.ladder.people import SHELL
    from referee.texts import one_line

    with _people(file) as people:
        found = people.acts(SHELL, most)
    if as_json:
        print_json({"acts": [asdict(act) for act in found]})
        return
    for act in found:
        state = {"yes": "", "": " (waits for the process that plays)"}.get(act.state, f" (not done: {act.state})")
        why = f": {act.reason}" if act.reason else ""
        what = f"{act.what} {act.subject}".rstrip()
        print_text(one_line(f"{act.at} {act.who}: {what}{why}{state}"))


@app.command()
def collect(
    sources: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="File that names the bots: crosstown docs run_a_class.", show_default=False
        ),
    ],
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="Wait until each bot is active or rejected, while crosstown serve runs."),
    ] = True,
    limit_min: Annotated[
        float, typer.Option("--limit", metavar="MINUTES", help="Wait at most this long.", min=0.1, max=10_080)
    ] = 120.0,
    file: File = None,
    plain: Annotated[
        bool, typer.Option("--accept-plain", help="Let git run without the sandbox where it does not work.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Hand in the bots of a class: folders, archives, and git repositories at a branch or tag.

    Run it every night: a bot that has not changed keeps its version. A bad hand-in does not stop the others, and
    each author gets a line with the verdict. The exit code is 1 if a bot was refused or rejected.

    Example: crosstown ladder collect class.toml
    """
    from referee.cli.output import print_json, print_text
    from referee.ladder.collect import Collector, load_sources
    from referee.ladder.hand_ins import LadderHandIns
    from referee.ladder.runner import accept_plain, profile_to_play
    from referee.process.checkup import probe

    listed = load_sources(sources)
    with _opened(file) as (config, store):
        confined = accept_plain(config, probe()) if plain else config
        with_git = any(source.git for source in listed)
        profile = profile_to_play(confined, probe()) if with_git else "strict"
        hand_ins = LadderHandIns(config, store, alone=False)
        collector = Collector(store, hand_ins, profile, hidden=config.unseen)
        found = list(collector.collect(listed, lambda source: _say(f"{source.owner}: {source}")))
        if wait:
            found = _wait(store, found, limit_min * 60, config.data)
        verdicts = [_verdict(one) for one in found]
    if as_json:
        print_json({"verdicts": verdicts})
    else:
        for one in verdicts:
            print_text(one["line"])
    if not all(one["good"] for one in verdicts):
        raise typer.Exit(ExitCode.FAILED)


def _say(text: str) -> None:
    from referee.texts import one_line

    print(one_line(text), file=sys.stderr, flush=True)


def _wait(store: "LadderStore", found: "Sequence[Collected]", limit_s: float, data: Path) -> "list[Collected]":
    """Until nothing more happens to any of them, or the time is over; with the versions as they are then. Says on
    stderr if the ladder in `data` does not run, which checks them."""
    from dataclasses import replace

    from leaderboard.web.hand_ins import OVER
    from referee.ladder.runner import read_status

    end_s, said = time.monotonic() + limit_s, False
    while True:
        busy = {(version.bot, version.number) for version, _ in store.steps.qualifying()}
        now = [
            replace(one, version=store.version(one.version.bot, one.version.number)) if one.version else one
            for one in found
        ]
        left = [
            one
            for one in now
            if one.version and (one.version.status not in OVER or (one.version.bot, one.version.number) in busy)
        ]
        if not left or time.monotonic() > end_s:
            return now
        if not said and not read_status(data):
            step = "start it with crosstown serve, or do not wait: --no-wait"
            _say(f"warning: the ladder is not running, so nothing is checked; {step}")
            said = True
        time.sleep(0.5)


def _verdict(one: "Collected") -> dict[str, Any]:
    """For an author: a line, and whether the bot plays or will play."""
    from referee.texts import one_line

    source: Source = one.source
    if one.version is None:
        what, good = f"not handed in: {one.reason}; {one.next_step}", False
    elif one.version.status == "rejected":
        what, good = f"rejected: {one.version.reason}; {one.version.next_step}", False
    else:
        where = f" in {', '.join(one.version.divisions)}" if one.version.divisions else ""
        what, good = f"{one.version.status}{where}", True
    bot = f" '{one.bot}'" if one.bot else ""
    number = f" version {one.version.number}" if one.version else ""
    return {
        "owner": source.owner,
        "bot": one.bot,
        "version": one.version.number if one.version else None,
        "status": one.version.status if one.version else "not handed in",
        "good": good,
        "line": one_line(f"{source.owner}:{bot}{number} {what}"),
    }


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="New folder for the backup.", show_default=False)],
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """Copy a ladder into a new folder, also while crosstown serve runs: journals, records, database, files of bots and
    secrets. Builds are made again after a restore. Let no one else read the folder: it has the secret of the dice.

    Example: crosstown ladder backup /backups/2026-11-29
    """
    from referee.cli.ladder_process import ladder_of
    from referee.cli.output import print_json, print_text
    from referee.cli.web import own_bots
    from referee.ladder.backup import back_up
    from referee.texts import plural

    config = ladder_of(file, Path("ladder"), next(iter(own_bots()), None))
    made = back_up(config, target.absolute())
    if as_json:
        print_json({name: value for name, value in made.items() if name != "files"} | {"files": len(made["files"])})
        return
    matches = sum(division["matches"] for division in made["divisions"].values())
    divisions = plural(len(made["divisions"]), "division")
    print_text(f"{target}: {divisions} with {plural(matches, 'match')}, {plural(len(made['files']), 'file')}")


@app.command()
def restore(
    source: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that the command backup made.", show_default=False)
    ],
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """Make a ladder from a backup, in the folder that the ladder's file names, which must be empty or missing. All
    files are checked before the folder appears. Then start it: crosstown serve.

    Example: crosstown ladder restore /backups/2026-11-29 --file LADDER.toml
    """
    from referee.cli.ladder_process import ladder_of
    from referee.cli.output import print_json, print_text
    from referee.cli.web import own_bots
    from referee.ladder.backup import restore as make_from

    config = ladder_of(file, Path("ladder"), next(iter(own_bots()), None))
    made = make_from(source, config)
    if as_json:
        values = {name: value for name, value in made.items() if name != "files"}
        print_json({**values, "data": str(config.data)})
        return
    command = "crosstown serve" if file is None else f"crosstown serve {shlex.quote(str(file))}"
    print_text(f"{config.data} is the ladder '{made['ladder']}' as of {made['made']}; start it with {command}")
    if file is None and (source / "ladder.toml").is_file():
        print_text(f"its file was {source / 'ladder.toml'}: to play by that, restore with --file and a copy of it")


@season_app.command("end")
def season_end(
    site: Site = None,
    limit_min: Annotated[
        float,
        typer.Option(
            "--limit", metavar="MINUTES", help="Wait at most this long for the last blocks.", min=0.1, max=10_080
        ),
    ] = 60.0,
    now: Annotated[
        bool,
        typer.Option("--now", help="While crosstown serve is stopped: do not play the rest of blocks in play."),
    ] = False,
    jobs: Jobs = 1,
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """End the season, also while crosstown serve runs. Blocks in play finish. The journals publish the secret of the
    dice. The pages of the season are written as a static site. The next season begins with the same bots.

    If the command is interrupted while it waits, enter it again.

    Example: crosstown ladder season end --file LADDER.toml
    """
    from referee.cli.output import print_json, print_text
    from referee.ladder.season import season_folder

    with _opened(file) as (config, store):
        number = _end_season(config, store, limit_min * 60, now=now)
        folder = season_folder(config.data, number)
        if not folder.is_dir():  # no division had begun
            if as_json:
                print_json({"season": number, "folder": None, "site": None, "replays": 0})
            else:
                print_text(f"season {number} has ended; it had no matches, so it has no pages")
            return
        if not as_json:
            print_text(f"season {number} has ended; it lies in {folder}")
        _write_pages(config, store, number, site, jobs, file, as_json=as_json)


@season_app.command("pages")
def season_pages(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the season.", min=1, show_default=False)],
    site: Site = None,
    jobs: Jobs = 1,
    file: File = None,
    as_json: AsJson = False,
) -> None:
    """Write the pages of an ended season again, as a static site.

    Example: crosstown ladder season pages 1 --site /srv/www/season-1
    """
    with _opened(file) as (config, store):
        _write_pages(config, store, number, site, jobs, file, as_json=as_json)


def _write_pages(
    config: "LadderConfig",
    store: "LadderStore",
    number: int,
    site: Path | None,
    jobs: int,
    file: Path | None,
    *,
    as_json: bool,
) -> None:
    from leaderboard.web.site import publish
    from referee.cli.output import print_json, print_text
    from referee.errors import UsageError
    from referee.ladder.hand_ins import LadderHandIns
    from referee.ladder.season import ended_on, season_folder
    from referee.texts import plural

    folder = season_folder(config.data, number)
    runs, target = folder / "divisions", (site or folder / "site").absolute()
    if not runs.is_dir():
        what = f"season {number} has no matches, or has not ended"
        raise UsageError(what, f"end it: {_command(file, 'season', 'end')}")
    hand_ins = LadderHandIns(config, store, alone=False, runs=runs)
    caption = f"Season {number} of {config.name}, which ended on {ended_on(config.data, number)}."
    if not as_json:
        print_text("writing its pages, one for each match; a busy machine takes minutes for a few hundred matches")
    made = publish(runs, target, hand_ins=hand_ins, caption=caption, jobs=jobs)
    if as_json:
        print_json({"season": number, "folder": str(folder), "site": str(target), "replays": made.replays})
        return
    print_text(f"its pages, with {plural(made.replays, 'replay')}: {target / 'index.html'}")


def _end_season(config: "LadderConfig", store: "LadderStore", limit_s: float, *, now: bool) -> int:
    """The number of the season that has ended. If no runner plays, this function ends it as soon as its blocks are
    over; with `now` it does not wait for them."""
    from contextlib import suppress

    from referee.cli.ladder_process import LOCK
    from referee.errors import BusyError, PlatformError, UsageError
    from referee.ladder.season import ask_for_end, end_if_over, matches_left, note_over, read_season
    from referee.run.lock import RunLock, is_run
    from referee.texts import plural

    lock = config.data / LOCK
    if now:
        try:
            held = RunLock(lock)
        except BusyError:
            if not is_run(lock):  # workers of a process that was killed
                raise
            what = "--now is for a ladder that is stopped, and this one runs"
            raise UsageError(what, "leave it out, or stop crosstown serve first") from None
        with held:
            number = read_season(config.data).number
            note_over(config.data)
            end_if_over(config, store, _say)
            return number
    number = ask_for_end(config.data).number
    end_s, runs_s, has_looked = time.monotonic() + limit_s, -math.inf, False
    while read_season(config.data).number == number:
        if is_run(lock, by_others=True):
            runs_s = time.monotonic()
        # A process that plays is started again at once, and needs the lock then.
        if time.monotonic() >= runs_s + _RESTART_S and (not has_looked or read_season(config.data).over):
            taken: RunLock | None = None
            with suppress(BusyError):
                taken = RunLock(lock, wait_s=0.0)
            if taken is not None:
                with taken:
                    if not has_looked and not read_season(config.data).over:
                        if left := matches_left(config):
                            what = f"{plural(left, 'match')} of blocks in play have no result yet"
                            _say(f"{what}: start crosstown serve, which plays them, or add --now to leave them out")
                        else:
                            note_over(config.data)
                    has_looked = True
                    if end_if_over(config, store, _say):
                        break
        if time.monotonic() > end_s:
            raise PlatformError(
                f"the blocks of season {number} are not over within {limit_s / 60:g} minutes",
                "it ends when they are; enter the command again, to wait and to write its pages",
            )
        time.sleep(0.5)
    return number
