"""`crosstown compare A B`: paired blocks until a sequential test says which."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.arguments import Secret
from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from referee.tournament.config import Tournament
    from referee.tournament.folder import RunFolder


def compare(
    a: Annotated[Path, typer.Argument(help="The folder of bot A.", show_default=False)],
    b: Annotated[Path, typer.Argument(help="The folder of bot B.", show_default=False)],
    games: Annotated[
        list[str] | None, typer.Option("--games", help="A game to compare at; may be given again.", show_default=False)
    ] = None,
    players: Annotated[
        int | None, typer.Option(min=2, help="Seats of a match; default: the least the game takes.", show_default=False)
    ] = None,
    field: Annotated[
        list[Path] | None,
        typer.Option(help="A bot for the other seats, where there are more than two; may be given again."),
    ] = None,
    cap: Annotated[int, typer.Option(min=1, help="Rounds after which it ends without a verdict.")] = 500,
    alpha: Annotated[float, typer.Option(help="How often A may be accepted wrongly.")] = 0.05,
    beta: Annotated[float, typer.Option(help="How often A may be rejected wrongly.")] = 0.05,
    elo: Annotated[
        tuple[float, float],
        typer.Option(metavar="LOW HIGH", help="The bounds: Elo at which A must not be accepted, and rejected."),
    ] = (0.0, 35.0),
    scores: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--scores", metavar="LOW HIGH", help="The bounds as scores between 0 and 1 instead.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Number of the comparison: another one plays on other luck.")] = 1,
    options: Annotated[
        list[str] | None, typer.Option("--option", help="KEY=VALUE of the game, as in [options]; may be given again.")
    ] = None,
    clock: Annotated[
        list[str] | None, typer.Option(help="KEY=VALUE, as in [clock] of a tournament file; may be given again.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Worker processes; default: one per core.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder that run folders are made in.")] = Path("runs"),
    new: Annotated[
        bool, typer.Option("--new", help="Start a new comparison beside an older one, which is kept.")
    ] = False,
    accept_weaker: Annotated[
        bool,
        typer.Option("--accept-weaker-sandbox", help="Go on though the sandbox is weaker than when it began."),
    ] = False,
    secret: Secret = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Play A against B, seats swapped on the same luck, until a sequential test accepts or rejects that A is better.

    Exit codes: 0 accepted; 1 rejected, or no verdict within the cap. Stopped in any way, the same command goes on, and
    with a higher --cap so does one that ended without a verdict.
    """
    from leaderboard.sequential import Question, score_of_elo
    from referee.cli.building import build_missing
    from referee.cli.compare_pages import outcome, print_outcome
    from referee.cli.comparison import Comparison
    from referee.cli.output import print_json
    from referee.cli.running import play, tell_problem
    from referee.process.entry import load_entry
    from referee.tournament.entrants import check_apart
    from referee.tournament.errors import UsageError
    from referee.tournament.field import make_field
    from referee.tournament.folder import choose_folder
    from referee.tournament.formats.comparison import blocks_in_round
    from referee.tournament.identity import describe

    low, high = scores or (score_of_elo(elo[0]), score_of_elo(elo[1]))
    try:
        question = Question(low, high, alpha, beta)
    except ValueError as error:
        raise UsageError(str(error), "see: crosstown compare --help") from None
    folders = [a, b, *(field or [])]
    build_missing(((folder, None) for folder in folders), out)
    entries = [load_entry(folder, None, {}) for folder in folders]
    _check_different(folders, [entry.id for entry in entries])
    names = _names([entry.name for entry in entries])
    name = _run_name(names[0], names[1])
    path = out / f"{name}.toml"

    def text(blocks: int) -> str:
        return "\n".join(
            [
                '# made by "crosstown compare"; settings: crosstown docs ratings',
                f'name = {_text(name)}\nformat = "compare"',
                f"seed = {seed}\nblocks = {blocks}",
                f"[compare]\nlow = {low!r}\nhigh = {high!r}\nalpha = {alpha!r}\nbeta = {beta!r}",
                _table("clock", clock),
                *_games(games or [], players, options),
                *(
                    f"[[bots]]\npath = {_text(str(folder.resolve()))}\nname = {_text(shown)}"
                    for folder, shown in zip(folders, names, strict=True)
                ),
            ]
        )

    tournament = _loaded(text(cap), path)
    check_apart(tournament, out)
    run = choose_folder(out, describe(tournament), new=new)
    cap = _extend(run, cap)
    _write(path, text(cap) + "\n")
    tournament = replace(tournament, config=replace(tournament.config, blocks=cap))
    rule = Comparison(question, blocks_in_round(make_field(describe(tournament))))
    played = play(
        tournament,
        run,
        workers or len(os.sched_getaffinity(0)),
        quiet=quiet or as_json,
        decide=rule,
        accept_weaker=accept_weaker,
        secret=secret,
    )
    found = outcome(tournament, run, rule.evidence, played, cap)
    if as_json:
        print_json(found)
    else:
        print_outcome(found)
    tell_problem(played)
    if played.summary.stopped and rule.evidence.verdict == "undecided":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if rule.evidence.verdict != "accepted":
        raise typer.Exit(ExitCode.FAILED)


def _check_different(folders: Sequence[Path], ids: Sequence[str]) -> None:
    """UsageError if two of the bots are one."""
    from referee.tournament.errors import UsageError

    shown = ["A", "B", *("a bot of --field" for _ in ids[2:])]
    for second, entry_id in enumerate(ids):
        first = ids.index(entry_id)
        if first < second:
            raise UsageError(
                f"{shown[first]} ({folders[first]}) and {shown[second]} ({folders[second]}) are the same bot: the same"
                f" source, so the same entry {entry_id[:8]}; a bot compared with itself is neither better nor worse",
                "give another folder: crosstown compare A B [--field C]",
            )


def _loaded(text: str, path: Path) -> "Tournament":
    """The tournament that `path` will have, which is not written yet. UsageError about the words of the command."""
    from tempfile import TemporaryDirectory

    from referee.tournament.entrants import load_tournament
    from referee.tournament.errors import ConfigError, UsageError

    with TemporaryDirectory(prefix="crosstown-") as folder:
        draft = Path(folder) / path.name
        draft.write_text(text, encoding="utf-8")
        try:
            made = load_tournament(draft)
        except ConfigError as error:
            place = f"{draft}: " if error.line is None else f"{draft}:{error.line}: "
            raise UsageError(str(error).removeprefix(place), error.next_step) from None
    return replace(made, config=replace(made.config, path=path))


def _extend(run: "RunFolder", cap: int) -> int:
    """How many rounds the run may have: it may become longer, and never shorter than it was. BusyError."""
    from referee.tournament.journal import EXTENDED, Journal, read_journal
    from referee.tournament.lock import RunLock

    if read_journal(run.journal).created is None:
        return cap
    with RunLock(run.lock, wait_s=0):
        text = read_journal(run.journal)
        before = int(text.configuration["blocks"])
        if cap > before:
            with Journal(run.journal, text) as journal:
                journal.append(EXTENDED, blocks=cap)
    return max(cap, before)


def _write(path: Path, text: str) -> None:
    from referee.tournament.errors import PlatformError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PlatformError(f"cannot write {path}: {error.strerror}", "choose another place with --out") from error


def _names(found: Sequence[str]) -> list[str]:
    """What the bots are called in this run: two versions of one bot need two names."""
    return [
        name if found.count(name) == 1 else f"{name} {'AB'[place] if place < 2 else place + 1}"
        for place, name in enumerate(found)
    ]


def _run_name(one: str, other: str) -> str:
    """Fit for a folder."""
    plain = [re.sub(r"[^\w.-]+", "-", name).strip("-.")[:24] or "bot" for name in (one, other)]
    return f"compare-{plain[0]}-{plain[1]}"


def _games(games: Sequence[str], players: int | None, options: Sequence[str] | None) -> list[str]:
    from referee.tournament.errors import UsageError

    wanted = [name for part in games for name in part.split(",") if name]
    if not wanted:
        raise UsageError("no game to compare at", "name one: --games shibuya; see: crosstown games list")
    seats = "" if players is None else f"\nplayers = {players}"
    made = []
    for name in wanted:
        made.append(f"[[games]]\ngame = {_text(name)}{seats}")
        if options:
            if len(wanted) > 1:
                raise UsageError("--option with several games", "compare at one game, or leave the options out")
            made.append(_table("games.options", options))
    return made


def _table(name: str, given: Sequence[str] | None) -> str:
    """A TOML table of KEY=VALUE pairs; a value that is no TOML is taken as text."""
    import tomllib

    from referee.tournament.errors import UsageError

    lines = [f"[{name}]"]
    for pair in given or []:
        key, sign, value = pair.partition("=")
        if not sign or not re.fullmatch(r"[A-Za-z0-9_-]+", key):
            raise UsageError(f"'{pair}' is not KEY=VALUE", "write, for instance, --clock move_s=1.0")
        try:
            values: Mapping[str, Any] = tomllib.loads(f"value = {value}")
            plain = set(values) == {"value"} and "\n" not in value
        except (ValueError, RecursionError):  # numbers of thousands of digits are no TOMLDecodeError
            plain = False
        lines.append(f"{key} = {value if plain else _text(value)}")
    return "\n".join(lines) if given else ""


def _text(value: str) -> str:
    """A TOML string: JSON's escapes are TOML's too."""
    return json.dumps(value)
