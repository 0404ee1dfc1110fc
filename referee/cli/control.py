"""`crosstown withdraw`, `disable`, `add` and `annul`: what an organiser decides about a run."""

import getpass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from referee.cli.arguments import OUT, Out

RunArgument = Annotated[str, typer.Argument(help="Tournament file, run folder or name of a run.", show_default=False)]
BotArgument = Annotated[str, typer.Argument(help="Name or entry id of a bot of the run.", show_default=False)]
ReasonOption = Annotated[str, typer.Option(help="Why, for the journal.")]


class ChoiceWord(StrEnum):
    """What becomes of the matches of a bot that leaves."""

    KEEP = "keep"
    ANNUL = "annul"
    LOSSES = "losses"


ChoiceOption = Annotated[
    ChoiceWord,
    typer.Option(help="Its matches: keep those played; annul all of them; or keep them and score the rest as losses."),
]


def withdraw(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = ChoiceWord.KEEP,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Take a bot out of a run: it plays no more. Stop the run first; the next `crosstown run` goes on without it."""
    _leave("withdrawn", run, bot, choice, reason, out)


def disable(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = ChoiceWord.KEEP,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """As withdraw, for a bot that must not go on: the journal says so."""
    _leave("disabled", run, bot, choice, reason, out)


def _leave(
    kind: Literal["withdrawn", "disabled"], run: str, bot: str, choice: ChoiceWord, reason: str, out: Path
) -> None:
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import leave, too_few
    from referee.tournament.journal import read_journal

    folder = find_run(run, out).folder
    control = leave(folder, kind, bot, choice.value, by=who(), reason=reason)
    print_text(f"'{control.name}' is {kind} from place {control.place} on ({choice}); go on with: crosstown run FILE")
    if missing := too_few(read_journal(folder.journal)):
        print_text(missing)


def add(
    run: RunArgument,
    bot: Annotated[Path, typer.Argument(help="The folder of the bot.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Its name; default: what it calls itself.")] = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Let a bot join a run that has begun. Stop the run first; the next `crosstown run` goes on with it."""
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import add as add_bot

    control = add_bot(find_run(run, out).folder, bot, name, by=who(), reason=reason)
    print_text(f"'{control.name}' joins from place {control.place} on; go on with: crosstown run FILE")


def annul(
    run: RunArgument,
    match: Annotated[str, typer.Argument(help="The match id, as `crosstown matches list` has it.", show_default=False)],
    replay: Annotated[bool, typer.Option("--replay", help="Play it again.")] = False,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Take a match out of what counts; its record is kept aside. Stop the run first."""
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import annul as annul_match

    annul_match(find_run(run, out).folder, match, replay=replay, by=who(), reason=reason)
    print_text(f"match {match} does not count{'; it is played again by: crosstown run FILE' if replay else ''}")


def who() -> str:
    """Who decides, for the journal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "organiser"
