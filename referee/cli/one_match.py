"""Behind `crosstown match`: plays one match and prints how it ended."""

import os
import re
import secrets
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from leaderboard.usage import spent_in, spent_words
from leaderboard.web.play_host import HUMAN
from referee.cli.building import load_or_build
from referee.cli.confining import Confinement, settle, tell, tell_unseen
from referee.cli.match_pages import watch_record
from referee.cli.output import console, print_json, print_text
from referee.cli.remote import RemoteSeats, announce, remote_entries, tell_guest
from referee.errors import ConfigError, UsageError
from referee.event_loop import run_loop
from referee.games.api import Game, Option, resolve_options
from referee.games.registry import get_game
from referee.match.result import Fault, MatchResult
from referee.match.table import Table
from referee.process.bot import Exit
from referee.process.cgroup import find
from referee.process.entry import Entry, load_entry
from referee.process.limits import LEAST_MIB, Share, memory_room
from referee.process.manifest import ANY_GAME
from referee.process.output import Output
from referee.process.sandbox import Profile, Sandbox
from referee.record import RecordError, read_record
from referee.record.format import PERSON, Usage
from referee.record.journal import slow_start
from referee.record.reasons import EndReason, is_fault
from referee.record.stacks import own_frames
from referee.record.times import SHOWN_LAG_US, SeatTimes, seat_times
from referee.run.folder import SINGLE
from referee.run.luck import SECRET_BYTES, known_words, read_secrets
from referee.schedule.seeds import match_seed
from referee.schedule.spec import HUMAN_CLOCK, REMOTE_CLOCK, Limits, MatchSpec, SeatSpec, SpecError
from referee.texts import listed, missing_package, one_line, plural, toml_text, with_seats, without_store
from referee.tournament.confine import hide
from referee.tournament.reading import TomlFile
from referee.tournament.sections import read_resources
from referee.wire import ListenError

_LAST_WORDS = 12
"""Lines of a faulted bot's stderr that are shown."""

_ENDED_BY_US = 128 + signal.SIGTERM
"""The exit code of a runtime that takes the signal as a wish (Java): such a bot was slow to leave, no more."""

_SANDBOXED = "strict"
_MAY_BE_THE_SANDBOX = frozenset({EndReason.CRASHED, EndReason.START_FAILED})
GRANTS = (
    "it ran in the sandbox: --read PATH, --network and --env NAME grant more, and /tmp may be written; "
    "--sandbox plain tries it without"
)
_REFUSED = re.compile(
    r"Permission ?(denied|Error)|not permitted|Read-only file system|No such file|\bno such file|FileNotFoundError"
    r"|unreachable|name resolution|Name or service not known|getaddrinfo|Connection refused|Errno 9[79]"
    r"|\b(EACCES|EPERM|EROFS|ENOENT|ENETUNREACH|EAI_AGAIN)\b|KeyError: '[A-Z][A-Z0-9_]*'|Bad system call"
)
"""What programs print when a sandbox keeps a path, the network or an environment variable from them."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A bot without a fault, when the table was left: what it had printed, and how it ended."""

    entry_id: str
    output: Output
    ended: Exit | None

    @property
    def failed(self) -> bool:
        """Whether it ended by an error of its own, after the match."""
        return self.ended is not None and self.ended.code not in (None, 0, _ENDED_BY_US)


def outcome(spec: MatchSpec, result: MatchResult) -> dict[str, Any]:
    """For programs."""
    return {
        "match": spec.match_id,
        "game": spec.game,
        "seed": spec.seed,
        "status": result.status,
        "reason": str(result.reason),
        "detail": result.detail,
        "seats": [
            {
                "bot": seat.name,
                "rank": result.ranking[number] if result.ranking else None,
                "points": result.returns[number] if result.returns else None,
                **asdict(result.seat_stats[number]),
                "startup_us": result.startup_us[number] if result.startup_us else 0,
                "fault": _fault(result.faults[number]),
                "usage": asdict(used) if (used := _used(result, number)) else None,
            }
            for number, seat in enumerate(spec.seats)
        ],
    }


def _used(result: MatchResult, seat: int) -> Usage | None:
    """The provider usage that the bot reported."""
    return result.usage[seat] if result.usage else None


def _fault(fault: Fault | None) -> dict[str, str] | None:
    """For programs; the record has all the evidence."""
    if fault is None:
        return None
    return {"reason": str(fault.reason), "detail": fault.detail, "stderr": str(fault.evidence.get("stderr", ""))}


def _last_words(title: str, stderr: str) -> Iterator[str]:
    """The end of what a bot printed to stderr: mostly it says what to mend."""
    lines = stderr.rstrip().splitlines()
    if not lines:
        return
    yield f"{title}:"
    if len(lines) > _LAST_WORDS:
        yield f"    ... ({len(lines) - _LAST_WORDS} lines more: --output shows them)"
    for line in lines[-_LAST_WORDS:]:
        yield f"    {without_store(line)}"


def sandbox_may_help(printed: str) -> bool:
    """Whether a bot that ended so may have missed something that a sandbox keeps from it: it printed an error of that
    kind, or nothing at all."""
    return not printed.strip() or _REFUSED.search(printed) is not None


def _of_fault(spec: MatchSpec, fault: Fault, sandboxes: Mapping[str, Sandbox]) -> Iterator[str]:
    """What helps the author of a bot at fault."""
    seat = spec.seats[fault.seat]
    if frames := own_frames(str(fault.evidence.get("stacks", ""))):
        yield f"where {seat.name} (seat {fault.seat + 1}) was when its time was up:"
        yield from (f"    {without_store(frame)}" for frame in frames[:_LAST_WORDS])
    stderr, stdout = (str(fault.evidence.get(name, "")) for name in ("stderr", "stdout"))
    said = stderr.strip()
    title = f"the end of what {seat.name} (seat {fault.seat + 1}) printed to {'stderr' if said else 'stdout'}"
    yield from _last_words(title, stderr if said else stdout)
    if said and stdout.strip():
        yield f"{seat.name} (seat {fault.seat + 1}) printed to stdout, too: --output shows it"
    sandbox = sandboxes.get(seat.entry_id)
    if advice := missing_package(stderr):
        yield advice
    elif (
        fault.reason in _MAY_BE_THE_SANDBOX
        and sandbox is not None
        and sandbox.profile == _SANDBOXED
        and sandbox_may_help(stderr)
    ):
        yield GRANTS


def _after_the_match(spec: MatchSpec, result: MatchResult, heard: Sequence[Heard]) -> Iterator[str]:
    """A bot whose end fails has no fault, for the match is over; its author wants to know."""
    for number, one in enumerate(_by_seat(spec, result, heard)):
        if one is not None and one.failed:
            name = f"{spec.seats[number].name} (seat {number + 1})"
            yield f"after the match {name} ended with {one.ended}; no fault, but see to it"
            yield from _last_words(f"the end of what {name} printed to stderr", one.output.stderr_text())


def _started(result: MatchResult, seat: int) -> str:
    took_us = result.startup_us[seat] if result.startup_us else 0
    return f", started in {took_us / 1e6:.2f} s" if took_us else ""


def _by_seat(spec: MatchSpec, result: MatchResult, heard: Sequence[Heard]) -> list[Heard | None]:
    """None for a seat at fault, and for one that plays elsewhere."""
    rest, found = list(heard), list[Heard | None]()
    for number, seat in enumerate(spec.seats):
        one = None if result.faults[number] else next((one for one in rest if one.entry_id == seat.entry_id), None)
        if one is not None:
            rest.remove(one)
        found.append(one)
    return found


def outputs(spec: MatchSpec, result: MatchResult, heard: Sequence[Heard]) -> list[dict[str, str]]:
    """What the bot of each seat printed, as far as it was kept; of one at fault, up to its fault. {} if it plays
    elsewhere."""
    texts = []
    for fault, one in zip(result.faults, _by_seat(spec, result, heard), strict=True):
        if fault is not None:
            texts.append({name: str(fault.evidence.get(name, "")) for name in ("stdout", "stderr")})
        elif one is not None:
            texts.append({"stdout": one.output.stdout_text(), "stderr": one.output.stderr_text()})
        else:
            texts.append({})
    return texts


def show_output(spec: MatchSpec, texts: Sequence[Mapping[str, str]]) -> None:
    """What `outputs` gives."""
    for number, (seat, printed) in enumerate(zip(spec.seats, texts, strict=True)):
        for name, text in printed.items():
            if text.strip():
                print_text(f"{one_line(seat.name)} (seat {number + 1}) printed to {name}:")
                for line in text.rstrip().splitlines():
                    print_text(f"    {one_line(line)}")


def result_sentence(spec: MatchSpec, result: MatchResult) -> str:
    """Who won, or that it is a draw, and who lost by a fault."""
    if not result.ranking:
        return "no result: the match does not count"
    names = [f"{seat.name} (seat {number + 1})" for number, seat in enumerate(spec.seats)]
    best = [number for number, rank in enumerate(result.ranking) if rank == 1]
    teams = get_game(spec.game).teams(len(spec.seats), spec.options)
    winners = listed(names[number] for number in best)
    if len({teams[number] for number in best}) == 1:
        said = f"{winners} won"
    elif len(best) == len(names):
        said = f"draw: {winners}"
    else:
        said = f"draw for the first place: {winners}"
    faults = [f"; {names[fault.seat]}: {fault.reason}" for fault in result.faults if fault is not None]
    return said + "".join(faults)


def _times(spec: MatchSpec, result: MatchResult, path: Path) -> tuple[SeatTimes, ...]:
    """Per seat, from the record; of one that could not be written, of the decisions that ended in a fault alone."""
    faults = [None if fault is None else {"reason": fault.reason, **fault.evidence} for fault in result.faults]
    try:
        lines = read_record(path).lines
    except RecordError:
        lines = ()
    return seat_times(lines, len(spec.seats), faults)


def conclude(
    spec: MatchSpec, result: MatchResult, path: Path, heard: Sequence[Heard], sandboxes: Mapping[str, Sandbox]
) -> None:
    """How it ended, the last words of bots at fault or with a failed end, the ranking, and where the record is.

    `sandboxes` by entry id."""
    said = with_seats(result.detail, [seat.name for seat in spec.seats])
    detail = f": {one_line(said)}" if said else ""
    print_text(f"{result.reason}{detail}")
    for fault in result.faults:
        if fault is not None and is_fault(fault.reason):
            for line in _of_fault(spec, fault, sandboxes):
                print_text(one_line(line))
    for line in _after_the_match(spec, result, heard):
        print_text(one_line(line))
    order = range(len(spec.seats))
    if result.ranking:
        order = sorted(order, key=lambda seat: result.ranking[seat])  # type: ignore[assignment]
    print_text(one_line(result_sentence(spec, result)))
    times = _times(spec, result, path)
    for seat in order:
        stats = result.seat_stats[seat]
        place = f"{result.ranking[seat]}." if result.ranking else "-"
        points = f"{plural(result.returns[seat], 'point')}, " if result.returns else ""
        took = times[seat]
        lag = f", {took.lag_us / 1000:.1f} ms of lag not charged" if took.lag_us >= SHOWN_LAG_US else ""
        worst_ms = took.worst_charged_us / 1000
        each = f", {took.mean_charged_ms:.1f} ms each" if stats.decisions else ""
        worst = f", worst {worst_ms:.1f} ms" if worst_ms else ""  # also of one that timed out at once
        print_text(
            f"{place} {one_line(spec.seats[seat].name)} (seat {seat + 1}): {points}"
            f"{plural(stats.decisions, 'decision')}{each}{worst}{lag}{_started(result, seat)}"
        )
        if used := _used(result, seat):
            print_text(f"   language model: {spent_words(spent_in(used))}")
    for seat, startup_us in enumerate(result.startup_us):
        if warning := slow_start(spec.seats[seat].name, startup_us, spec.limits_of(seat).startup_s):
            print_text(f"warning: {one_line(warning)}")
    print_text(f"the record: {path}")
    print_text(f"step through it: crosstown matches show {shlex.quote(str(path))}")


_SEED = re.compile(r"([0-9a-fA-F]{2}){1,64}")


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
    resources: Mapping[str, Any] | None = None,
) -> Plan:
    """Check everything before anything starts. UnknownGame, UsageError, ManifestError, EntryError or GameError.

    Without a `confinement` the bots have a sandbox where it works. `resources`: as `limits` of a tournament file.
    """
    game = get_game(game_id)
    if len(seats) not in game.player_counts:
        counts = ", ".join(map(str, game.player_counts))
        raise UsageError(f"{game_id} is for {counts} players, not {len(seats)}", "give --seat once for each player")
    resolved = resolve_options(game_id, game.options, dict(_option(game, text) for text in options))
    game.new_initial_state(len(seats), resolved)  # GameError for options that only the rules themselves refuse
    seed = secrets.token_hex(16) if seed is None else seed.lower()
    try:
        file = TomlFile(folder, {"limits": resources or {}})
        limits = Limits(**clock, **read_resources(file, ("limits",)))  # type: ignore[arg-type]
        MatchSpec("m", game_id, {}, (SeatSpec("", "", ""),), seed, limits)
    except SpecError as error:
        raise UsageError(str(error), error.next_step) from None
    except ConfigError as error:
        raise UsageError(error.what, error.next_step) from None
    confinement = confinement or settle()
    profile = confinement.sandbox.profile
    guests = remote_entries(seats)
    bots = tuple(
        None if seat == HUMAN else guests.get(number) or _bot(Path(seat), game_id, profile)
        for number, seat in enumerate(seats)
    )
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
            result = run_loop(run_match(spec, entries, records, sandboxes, planned.remote, heard.append))
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
        match_id=f"{planned.game.id.replace('/', '-')}-{when}-{secrets.token_hex(2)}",
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
    argv = ", ".join(map(toml_text, run))
    lines = [
        f"name = {toml_text(name)}",
        f'version = "{PERSON}"',
        'games = ["*"]',
        f"run = [{argv}]",
        "[options]",
        f"seat = {number}",
        "",
    ]
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
                name = HUMAN if planned.bots.count(None) == 1 else f"{HUMAN} {seat + 1}"
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
        return name, int(word) if re.fullmatch(r"-?[0-9]{1,18}", word) else word
    return name, word
