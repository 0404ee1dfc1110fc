"""`crosstown compare A B`: paired blocks until a sequential test says which."""

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.arguments import (
    OUT,
    AsJson,
    Device,
    Env,
    Limit,
    Network,
    Out,
    Profile,
    Read,
    Secret,
    Workers,
    texts_of,
)
from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from referee.run.folder import RunFolder
    from referee.tournament.config import Tournament

MOST_ROUNDS = 10_000_000
"""What `blocks` of a tournament file may be."""


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of bot A.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="Folder of bot B.", show_default=False)],
    games: Annotated[
        list[str] | None,
        typer.Option(
            "--games", metavar="GAME", help="Game to play, such as shibuya. Can be repeated.", show_default=False
        ),
    ] = None,
    players: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Seats of a match. Default: the smallest number that the game allows.",
            min=2,
            max=64,
            show_default=False,
        ),
    ] = None,
    field: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Bot for the other seats, if a match has more than two. Can be repeated."),
    ] = None,
    cap: Annotated[int, typer.Option(metavar="NUMBER", help="Maximum number of rounds.", min=1, max=MOST_ROUNDS)] = 500,
    alpha: Annotated[
        float, typer.Option(metavar="PROBABILITY", help="Highest probability of accepting A wrongly, such as 0.05.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(metavar="PROBABILITY", help="Highest probability of rejecting A wrongly, such as 0.05.")
    ] = 0.05,
    elo: Annotated[
        tuple[float, float],
        typer.Option(
            metavar="LOW HIGH",
            help="Bounds as Elo differences, such as 0 35. A is accepted when it is shown to be above LOW, and"
            " rejected when it is shown to be below HIGH.",
        ),
    ] = (0.0, 35.0),
    scores: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--scores",
            metavar="LOW HIGH",
            help="The same bounds as mean scores between 0 and 1, such as 0.5 0.55.",
            show_default=False,
        ),
    ] = None,
    sprt: Annotated[
        bool,
        typer.Option(
            "--sprt",
            help="Decide by the SPRT that testers of chess engines use (pentanomial, logistic Elo). It needs fewer"
            " rounds; its error probabilities are approximate.",
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Number of the comparison. Another number gives other seeds.")
    ] = 1,
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="Option of the game, such as tile_set=X. Can be repeated."),
    ] = None,
    openings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="EPD, FEN or PGN file of opening positions, for games that have them. Each round takes the next one.",
            show_default=False,
        ),
    ] = None,
    clock: Annotated[
        list[str] | None, typer.Option(metavar="NAME=SECONDS", help="Time limit, such as move_s=2. Can be repeated.")
    ] = None,
    limit: Limit = None,
    sandbox: Profile = None,
    network: Network = False,
    env: Env = None,
    read: Read = None,
    device: Device = None,
    provider_errors: Annotated[
        str,
        typer.Option(
            metavar="loss|void",
            help="Result if a bot gets no answer from its provider: the bot loses (loss), or the match is void and"
            " played again, at most five times for one bot (void).",
        ),
    ] = "loss",
    workers: Workers = None,
    out: Out = OUT,
    new: Annotated[
        bool, typer.Option("--new", help="Start a new comparison even if there is an older one, which is kept.")
    ] = False,
    accept_weaker: Annotated[
        bool,
        typer.Option(
            "--accept-weaker-sandbox", help="Continue even if the sandbox is weaker than when the comparison began."
        ),
    ] = False,
    secret: Secret = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")] = False,
) -> None:
    """Play bot A against bot B until a sequential test accepts or rejects that A is better.

    The bots play each seed with the seats swapped. The exit code is 0 if A is accepted, and 1 if it is rejected or if
    there is no verdict after --cap rounds. If the command was stopped, enter it again: it continues. With a higher
    --cap, a comparison without a verdict continues, too.

    If A and B are the same folder, the comparison shows what chance alone does: the bot is entered twice.

    If bots ask language models, the output has the tokens, time and cost of each.

    Example: crosstown compare bots/new bots/old --games shibuya
    """
    from leaderboard.comparison import Comparison, left_out
    from leaderboard.sequential import Question, score_of_elo
    from referee.cli.building import build_missing
    from referee.cli.compare_pages import outcome, print_outcome
    from referee.cli.confining import check_env
    from referee.cli.output import print_json
    from referee.cli.run_pages import play, tell_problem
    from referee.errors import UsageError
    from referee.process.entry import load_entry
    from referee.process.sandbox import PROFILES
    from referee.run.folder import choose_folder
    from referee.run.journal import read_journal
    from referee.run.luck import read_secrets
    from referee.schedule.config import make_field
    from referee.schedule.formats.comparison import blocks_in_round
    from referee.tournament.entrants import check_apart
    from referee.tournament.identity import describe

    if scores is None and not (math.isfinite(elo[0]) and math.isfinite(elo[1]) and elo[0] < elo[1]):
        what = f"--elo {elo[0]:g} {elo[1]:g}: the first number must be below the second"
        raise UsageError(what, "write, for instance, --elo 0 35")
    low, high = scores or (score_of_elo(elo[0]), score_of_elo(elo[1]))
    if scores is None and not 0 < low < high < 1:
        what = f"--elo {elo[0]:g} {elo[1]:g}: the numbers are too large, or too close to each other"
        raise UsageError(what, "write, for instance, --elo 0 35")
    try:
        question = Question(low, high, alpha, beta, "sprt" if sprt else "betting")
    except ValueError as error:
        raise UsageError(str(error), "see: crosstown compare --help") from None
    check_env(env or ())
    folders = [a, b, *(field or [])]
    if players is not None and players > len(folders):
        what = f"a match with {players} seats needs {players} bots, and {len(folders)} are named"
        raise UsageError(what, "name the others, too: --field FOLDER, once for each")
    profile = next((known for known in PROFILES if known == sandbox), None)
    build_missing(((folder, profile) for folder in folders), out)
    entries = [load_entry(folder, None, {}) for folder in folders]
    same = entries[0].id == entries[1].id
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
                f"[compare]\nlow = {low!r}\nhigh = {high!r}\nalpha = {alpha!r}\nbeta = {beta!r}"
                + ('\ntest = "sprt"' if sprt else ""),
                _table("--clock", "clock", clock),
                _table("--limit", "limits", limit),
                *([] if sandbox is None else [f"[sandbox]\nprofile = {_text(sandbox)}"]),
                *_grants(network=network, env=env or [], read=read or [], devices=device or []),
                *([] if provider_errors == "loss" else [f"[faults]\nprovider_errors = {_text(provider_errors)}"]),
                *_games(games or [], players, options, openings),
                *(
                    f"[[bots]]\ncopy_of = {_text(names[0])}\nname = {_text(shown)}"
                    if same and place == 1
                    else f"[[bots]]\npath = {_text(str(folder.resolve()))}\nname = {_text(shown)}"
                    for place, (folder, shown) in enumerate(zip(folders, names, strict=True))
                ),
            ]
        )

    if secret is not None:
        read_secrets(secret)  # refused before anything is written
    tournament = _loaded(text(cap), path)
    check_apart(tournament, out)
    run = choose_folder(out, describe(tournament), new=new)
    cap = _extend(run, cap)
    _write(path, text(cap) + "\n")
    tournament = replace(tournament, config=replace(tournament.config, blocks=cap))
    config = describe(tournament)
    withdrawn = left_out([bot["entry_id"] for bot in config["bots"]], read_journal(run.journal).controls)
    rule = Comparison(question, blocks_in_round(make_field(config)), withdrawn)
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
    """UsageError if two of the bots are one, and they are not just A and B."""
    from referee.errors import UsageError

    shown = ["A", "B", *("a bot of --field" for _ in ids[2:])]
    for second, entry_id in enumerate(ids):
        first = ids.index(entry_id)
        if first < second and second != 1:
            raise UsageError(
                f"{shown[first]} ({folders[first]}) and {shown[second]} ({folders[second]}) are the same bot: the same"
                f" source, so the same entry {entry_id[:8]}",
                "give another folder: crosstown compare A B [--field C]",
            )


def _loaded(text: str, path: Path) -> "Tournament":
    """The tournament that `path` will have, which is not written yet. UsageError about the words of the command."""
    from tempfile import TemporaryDirectory

    from referee.errors import ConfigError, UsageError
    from referee.tournament.entrants import load_tournament

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
    from referee.record.journal import Control
    from referee.run.journal import Journal, read_journal
    from referee.run.lock import RunLock

    if read_journal(run.journal).created is None:
        return cap
    with RunLock(run.lock, wait_s=0):
        text = read_journal(run.journal)
        before = int(text.configuration["blocks"])
        if cap > before:
            with Journal(run.journal, text) as journal:
                journal.control(Control("extended", 0, length={"blocks": cap}))
    return max(cap, before)


def _write(path: Path, text: str) -> None:
    from referee.errors import PlatformError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PlatformError(f"cannot write {path}: {error.strerror}", "choose another place with --out") from error


def _names(found: Sequence[str]) -> list[str]:
    """The names of the bots in this run: two versions of one bot need two names, which no other bot has."""
    from referee.process.manifest import MAX_CODE_POINTS

    made: list[str] = []
    for place, name in enumerate(found):
        shown, number = name, 1
        while found.count(name) > 1 and (shown in found or shown in made):
            mark = f" {'AB'[place] if place < 2 else place + 1}{'' if number == 1 else number}"
            shown, number = name[: MAX_CODE_POINTS - len(mark)].rstrip() + mark, number + 1
        made.append(shown)
    return made


def _run_name(one: str, other: str) -> str:
    """Fit for a folder."""
    plain = [re.sub(r"[^\w.-]+", "-", name).strip("-.")[:24] or "bot" for name in (one, other)]
    return f"compare-{plain[0]}-{plain[1]}"


def _games(games: Sequence[str], players: int | None, options: list[str] | None, openings: Path | None) -> list[str]:
    from referee.errors import UsageError

    wanted = [name for part in games for name in part.split(",") if name]
    if not wanted:
        raise UsageError("no game to compare at", "name one: --games shibuya; see: crosstown games list")
    seats = "" if players is None else f"\nplayers = {players}"
    made = []
    for name in wanted:
        begin = "" if openings is None else f"\nopenings = {_text(str(openings.resolve()))}"
        made.append(f"[[games]]\ngame = {_text(name)}{seats}{begin}")
        if options:
            if len(wanted) > 1:
                raise UsageError("--option with several games", "compare at one game, or leave the options out")
            made.append(_table("--option", "games.options", options))
    return made


def _grants(*, network: bool, env: Sequence[str], read: Sequence[Path], devices: Sequence[str]) -> list[str]:
    """The lines of a file that grant all bots the same."""
    lists = {"env": env, "read": [str(path.resolve()) for path in read], "devices": devices}
    lines = ["network = true"] if network else []
    lines += [f"{name} = [{', '.join(map(_text, values))}]" for name, values in lists.items() if values]
    return ["[bot_defaults]", *lines] if lines else []


def _table(flag: str, name: str, given: list[str] | None) -> str:
    """A TOML table of NAME=VALUE pairs; a value that is no TOML is taken as text."""
    from referee.tournament.reading import toml_value

    lines = [f"[{name}]"]
    for key, text in texts_of(flag, given).items():
        bare = key if key.isascii() and key.isidentifier() else _text(key)
        lines.append(f"{bare} = {_text(text) if toml_value(text) == text else text}")
    return "\n".join(lines) if given else ""


def _text(value: str) -> str:
    """A TOML string. UsageError for a path that is no text."""
    from referee.errors import UsageError
    from referee.texts import one_line, toml_text

    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{one_line(value)} is not a path in UTF-8", "rename the folder") from None
    return toml_text(value)
