"""Plays one match outside of any tournament, and shows it."""

import asyncio
import json
import os
import re
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from leaderboard.web.host import HUMAN
from referee.cli.building import load_or_build
from referee.cli.confining import Confinement, settle, tell, tell_unseen
from referee.cli.match_outcome import Heard, conclude, outcome, outputs, show_output
from referee.cli.output import console, print_json
from referee.cli.remote import RemoteSeats, announce, remote_entries, tell_guest
from referee.cli.watching import watch_record
from referee.errors import UsageError
from referee.games.api import Game, Option, resolve_options
from referee.games.registry import get_game
from referee.match.bot import REMOTE_CLOCK
from referee.match.result import MatchResult
from referee.match.table import Table
from referee.process.cgroup import find
from referee.process.entry import Entry, load_entry
from referee.process.limits import LEAST_MIB, Share, memory_room
from referee.process.manifest import ANY_GAME
from referee.process.sandbox import Profile, Sandbox
from referee.run.luck import SECRET_BYTES, known_words, read_secrets
from referee.run.run import SINGLE
from referee.schedule.seeds import match_seed
from referee.schedule.spec import Limits, MatchSpec, SeatSpec, SpecError
from referee.texts import one_line
from referee.tournament.confine import hide
from referee.wire import ListenError

_SEED = re.compile(r"([0-9a-fA-F]{2}){1,64}")
HUMAN_CLOCK = {"first_move_s": 86400.0, "move_s": 86400.0}
"""A day for each move: the clock is for bots."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be played: the places of people are None among `bots`."""

    game: Game
    options: Mapping[str, Any]
    bots: tuple[Entry | None, ...]
    seed: str
    limits: Limits
    folder: Path
    confinement: Confinement
    """Of the bots; people need the terminal."""
    remote: RemoteSeats | None = None
    """The bots that dial in."""

    @property
    def guests(self) -> list[Entry]:
        """Those bots."""
        return [bot for bot in self.bots if bot is not None and not bot.argv]


def plan(
    game_id: str,
    seats: Sequence[str],
    options: Sequence[str],
    seed: str | None,
    *,
    clock: Mapping[str, float],
    folder: Path,
    confinement: Confinement | None = None,
) -> Plan:
    """Check everything before anything starts. UnknownGame, UsageError, ManifestError, EntryError or GameError.

    Without a `confinement` the bots have a sandbox where it works.
    """
    game = get_game(game_id)
    if len(seats) not in game.player_counts:
        counts = ", ".join(map(str, game.player_counts))
        raise UsageError(
            f"{game_id} is for {counts} players, and there are {len(seats)} seats", "give --seat once for each player"
        )
    given = dict(_option(game, text) for text in options)
    seed = secrets.token_hex(16) if seed is None else seed.lower()
    try:
        limits = Limits(**clock)  # type: ignore[arg-type]
        MatchSpec("m", game_id, {}, (SeatSpec("", "", ""),), seed, limits)
    except SpecError as error:
        raise UsageError(str(error), "correct it, or leave it out") from None
    confinement = confinement or settle()
    profile = confinement.sandbox.profile
    guests = remote_entries(seats)
    bots = tuple(
        None if seat == HUMAN else guests.get(number) or _bot(Path(seat), game_id, profile)
        for number, seat in enumerate(seats)
    )
    resolved = resolve_options(game_id, game.options, given)
    return Plan(game, resolved, bots, seed, limits, folder, confinement)


def seed_of(seed: str | None, secret: Path | None) -> str | None:
    """The seed that a match is played on; None: a new one. With a `secret` the `seed` only tells matches apart. Prints
    who knows the luck. UsageError."""
    notes = console(stderr=True)
    if secret is not None:
        found = read_secrets(secret)
        notes.print(one_line(f"note: {known_words(secret)}"), markup=False)
        return match_seed(found[0], seed or "")
    if seed is not None and not _SEED.fullmatch(seed):
        raise UsageError(
            f"--seed {seed!r}: expected 2 to 128 hexadecimal digits, an even number", "correct it, or leave it out"
        )
    if seed is not None and len(seed) < 2 * SECRET_BYTES:
        notes.print(
            f"note: everybody who knows the seed knows the luck, and a bot can guess one of {4 * len(seed)} bits: leave"
            f" --seed out, give {2 * SECRET_BYTES} digits, or keep the luck secret with --secret FILE",
            markup=False,
        )
    return seed


def _bot(folder: Path, game_id: str, profile: Profile) -> Entry:
    entry = load_or_build(folder, profile)
    games = entry.manifest.games
    if ANY_GAME not in games and game_id not in games:
        raise UsageError(
            f"bot '{entry.name}' plays {', '.join(games)}, not {game_id}",
            f"choose one of its games, or name {game_id} in 'games' of {folder / 'bot.toml'}",
        )
    return entry


def play(planned: Plan, *, watch: bool, output: bool = False, as_json: bool) -> bool:
    """Whether the match counts. Its record lies in the plan's folder. `output`: show what the bots printed."""
    heard: list[Heard] = []
    planned.folder.mkdir(parents=True, exist_ok=True)
    records = planned.folder / "matches"
    if any(bot is not None and bot.argv for bot in planned.bots):
        tell(planned.confinement, quiet=as_json)
        tell_unseen(planned.confinement, planned.bots)
    with _people(planned) as entries:
        spec = match_spec(planned, entries)
        sandboxes = sandboxes_of(planned, entries)
        over = threading.Event()
        live = records / f"{spec.match_id}.jsonl"
        watcher = threading.Thread(target=watch_record, args=(live, over), daemon=True) if watch else None
        if watcher:
            watcher.start()
        try:
            result = asyncio.run(run_match(spec, entries, records, sandboxes, planned.remote, heard.append))
        finally:
            over.set()
            if watcher:
                watcher.join()
    path = live.with_name(live.name + ".gz")
    if as_json:
        told = {"printed": outputs(spec, result, heard)} if output else {}
        print_json({**outcome(spec, result), **told, "record": str(path)})
    else:
        conclude(spec, result, path, heard, sandboxes)
        if output:
            show_output(spec, outputs(spec, result, heard))
    return result.status == "rated"


async def run_match(
    spec: MatchSpec,
    entries: Sequence[Entry],
    records: Path,
    sandboxes: Mapping[str, Sandbox],
    remote: RemoteSeats | None = None,
    hear: Callable[[Heard], None] = lambda one: None,
) -> MatchResult:
    """UsageError where the table cannot listen for `remote` bots. `hear` is told of each bot without a
    fault, in the order of their seats, when it has ended."""
    table = Table(
        {entry.id: entry for entry in entries},
        sandboxes=hide(sandboxes, entries, records),
        cgroups=find(),
        most_memory_mib=max(LEAST_MIB, Share(memory_room(), 0, len(spec.seats)).mib),
        remote_bots=remote.guests(spec.limits) if remote else None,
        listen=remote.listen if remote else None,
        on_remote_bot=partial(tell_guest, {entry.id: entry.name for entry in entries}),
    )
    try:
        async with table:
            if remote is not None:
                announce(remote, table.remote_address, entries)
            result = await table.play(spec, records)
            bots = table.waiting()
    except ListenError as error:
        raise UsageError(str(error), error.next_step) from None
    for bot in bots:
        hear(Heard(bot.entry.id, bot.output(), bot.exited))
    return result


def sandboxes_of(planned: Plan, entries: Sequence[Entry]) -> dict[str, Sandbox]:
    """By entry id; a person's client has none."""
    return {
        entry.id: Sandbox() if bot is None else planned.confinement.sandbox
        for entry, bot in zip(entries, planned.bots, strict=True)
    }


def match_spec(planned: Plan, entries: Sequence[Entry], human_clock: Mapping[str, float] = HUMAN_CLOCK) -> MatchSpec:
    """A new match as it was planned."""
    seats = tuple(
        SeatSpec(entry.id, entry.name, entry.manifest.version, human_clock if bot is None else _clock(planned, bot))
        for entry, bot in zip(entries, planned.bots, strict=True)
    )
    when = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return MatchSpec(
        match_id=f"{planned.game.id}-{when}-{secrets.token_hex(2)}",
        game=planned.game.id,
        options=planned.options,
        seats=seats,
        seed=planned.seed,
        limits=planned.limits,
        tournament=SINGLE,
    )


def _clock(planned: Plan, bot: Entry) -> Mapping[str, float]:
    return REMOTE_CLOCK if planned.remote is not None and bot.id in planned.remote.tokens else {}


def human_entry(folder: Path, name: str, run: Sequence[str], number: int) -> Entry:
    """A person as a bot whose client is `run`; `number` makes two people of one name two entries. Makes `folder`."""
    folder.mkdir()
    called, argv = (json.dumps(value, ensure_ascii=False) for value in (name, run))
    lines = [f"name = {called}", 'version = "1"', 'games = ["*"]', f"run = {argv}", "[options]", f"seat = {number}", ""]
    (folder / "bot.toml").write_text("\n".join(lines), encoding="utf-8")
    return load_entry(folder, built_in=folder)  # where its pipes are


@contextmanager
def _people(planned: Plan) -> Iterator[list[Entry]]:
    """The entries of all seats; a person is a bot behind the bridge that talks through this process's own files."""
    with tempfile.TemporaryDirectory(prefix="crosstown-") as scratch:
        entries = []
        for seat, bot in enumerate(planned.bots):
            if bot is None:
                files = [
                    f"/proc/{os.getpid()}/fd/{sys.stdin.fileno()}",
                    f"/proc/{os.getpid()}/fd/{sys.stdout.fileno()}",
                ]
                run = ["{python}", "-m", "crosstown_bridge", "--text", "--terminal", *files]
                name = HUMAN if planned.bots.count(None) == 1 else f"{HUMAN} {seat}"
                # The seat makes two people two entries.
                bot = human_entry(Path(scratch) / f"seat-{seat}", name, run, seat)
            entries.append(bot)
        yield entries


def _option(game: Game, text: str) -> tuple[str, Any]:
    """NAME=VALUE with a value of the option's kind. UsageError."""
    name, equals, word = text.partition("=")
    known: dict[str, Option] = {option.name: option for option in game.options}
    if not equals:
        raise UsageError(f"--option {text!r} has no '='", "write NAME=VALUE")
    option = known.get(name)
    if option is None:
        raise UsageError(f"{game.id} has no option {name!r}", f"see: crosstown games show {game.id}")
    if isinstance(option.default, bool):
        return name, {"true": True, "false": False}.get(word, word)
    if isinstance(option.default, int):
        return name, int(word) if word.lstrip("-").isdecimal() else word
    return name, word
