"""The tournament file: TOML in, a checked TournamentConfig out.

name = "first"               # names the run folder; default: the file's name
game = "shibuya"
format = "round-robin"       # the default; see docs/formats.md
players = 2                  # seats of a match, or a list of such; default: the least the game takes
seed = 1
blocks = 60                  # per group of bots; a block is a balanced set of seat orders on one seed
data = "my_box.json"         # instead of the game's own tiles, map or cards
ponder = false               # no bot runs while it is not asked anything; default: true
fresh = true                 # a new process for each match; default: false, kept for the next one
entries = "class.csv"        # more bots: a row for each, a column for each key of [[bots]], such as options.depth
stop_when = "ranking 95 %"   # or "precision 30 Elo": stop when the table is so good; default: play all blocks
on_bad_entry = "skip"        # a bot that cannot play is left out and reported; default: "refuse"
idle = 4                     # processes of each worker that wait for their next match, at most; default: 16

[options]                    # of the game
[swiss]                      # settings of the format, in a table of its name
[clock]                      # startup_s, ready_s, first_move_s, move_s, bank_s, total_s, increment_s, margin_s
[limits]                     # match_s, max_message_bytes, max_note_bytes, max_output_bytes;
                             # of each bot: memory_mib, processes, open_files, disk_mib, file_size_mib, cores
[sandbox]                    # profile: "strict" or "plain", default strict where it works; read: paths for all bots
[faults]                     # policy: "forfeit", "default" or "random"; strikes: faults that only cost a choice
[breaker]                    # when an entry is set aside: enabled, in_a_row, choice

[ratings]                    # how tables are computed: anchor = { random = 1000 } fixes ratings, in Elo points

[executor]                   # kind: "local" (the default) or "dask", with scheduler = "tls://host:8786", ca, cert and
                             # key; same_machine = true keeps a block on one machine; see docs/cluster.md

[remote]                     # where bots from other machines dial in; see docs/remote.md
listen = "0.0.0.0:7000"      # public: by what name they reach it; plain = true: without TLS
certificate = "referee.pem"  # and key, PEM files; default: one is made
wait_s = 60                  # for the first match; also reconnect_s, keepalive_s, margin_s

[[games]]                    # several games: game, players, data and options go in here, once for each
game = "shibuya"

[bot_defaults]               # what holds for every bot that does not say otherwise: keys of [[bots]]

[[bots]]
path = "../bots/python/random"   # from this file; with * it stands for each folder that fits, such as "students/*"
name = "Random"                  # default: what the bot calls itself
options = { ... }                # of the bot
clock = { move_s = 2 }           # limits of this bot that differ from [clock]
fresh = true                     # as above, for this bot; copies = 1: so many processes of it at once, at most
limits = { memory_mib = 4096 }   # limits of this bot that differ from [limits]: those of each bot
sandbox = "plain"                # the profile of this bot; network = true, env = ["NAME"], read = ["/path"],
                                 # devices = ["/dev/nvidia0"]: its grants

[[bots]]
copy_of = "Random"               # the same bot once more, with a name of its own: shows what chance alone does
name = "Random 2"

[[bots]]
remote = true                    # dials in, with a token from token_env = "NAME" or token_file = "path"
name = "Ada"
version = "1"                    # what it must say in Hello; default: anything

`sections` reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from referee.errors import ConfigError
from referee.process.entry import Entry
from referee.process.manifest import INTEGER_BOUND
from referee.run.participants import Participant
from referee.schedule.config import MOST_BLOCKS
from referee.schedule.formats.api import Format
from referee.schedule.formats.registry import format_names, get_format
from referee.schedule.formats.stages import FORMATS as STAGE_FORMATS
from referee.schedule.formats.stages import settings_of
from referee.schedule.spec import IDLE_PROCESSES, Adjudication, Faults, Limits
from referee.schedule.stopping import StopWhen
from referee.texts import plural
from referee.tournament.bot_list import LeftOut, read_bots
from referee.tournament.bot_sections import (
    BotConfig,
    ExecutorConfig,
    RemoteConfig,
    SandboxConfig,
    homes_of_sections,
    read_executor,
    read_fresh,
    read_idle,
    read_remote,
    read_sandbox,
)
from referee.tournament.processes import Processes
from referee.tournament.reading import TomlFile
from referee.tournament.sections import (
    ADJUDICATION_KEYS,
    GAME_KEYS,
    BreakerConfig,
    GameConfig,
    read_adjudication,
    read_breaker,
    read_faults,
    read_format,
    read_games,
    read_limits,
    read_name,
    read_ponder,
    read_rating_anchors,
    read_settings,
    read_stop_when,
)

__all__ = [
    "BotConfig",
    "GameConfig",
    "Tournament",
    "TournamentConfig",
    "load_config",
    "plays_elsewhere",
    "tournament_name",
]


_KEYS = (
    "name",
    "game",
    "games",
    "format",
    "players",
    "seed",
    "blocks",
    "data",
    "openings",
    "options",
    "ponder",
    "idle",
    "fresh",
    "entries",
    "on_bad_entry",
    "stop_when",
)
_TABLES = (
    "clock",
    "limits",
    "faults",
    "adjudication",
    "breaker",
    "sandbox",
    "remote",
    "executor",
    "ratings",
    "bot_defaults",
    "bots",
)


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """A checked tournament. `format` is a name, `settings` are the format's own; what `blocks` counts it says.

    `skip_bad`: a bot that cannot play is left out. `left_out` are rows of the list of entries for which that is known.
    """

    path: Path
    name: str
    games: tuple[GameConfig, ...]
    format: str
    settings: Mapping[str, Any]
    seed: int
    blocks: int
    limits: Limits
    breaker: BreakerConfig
    bots: tuple[BotConfig, ...]
    faults: Faults = field(default_factory=Faults)
    adjudication: Adjudication = field(default_factory=Adjudication)
    ponder: bool = True
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    remote: RemoteConfig | None = None
    idle: int = IDLE_PROCESSES
    fresh: bool = False
    executor: ExecutorConfig = field(default_factory=ExecutorConfig)
    skip_bad: bool = False
    left_out: tuple[LeftOut, ...] = ()
    rating_anchors: Mapping[str, float] = field(default_factory=dict)
    """Ratings that are fixed, in Elo points by the bot's name."""
    stop_when: StopWhen | None = None
    bot_defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def game(self) -> str:
        """The games' ids, for people."""
        return ", ".join(dict.fromkeys(game.game for game in self.games))

    @property
    def players(self) -> int:
        """The most seats of a match."""
        return max(number for game in self.games for number in game.players)


@dataclass(frozen=True, slots=True)
class Tournament:
    """A configuration with its bots as they are on this disk now: what a run is made of.

    `entries` are those of the file, in its order, then those that were added to the run since; `added` says of these
    what `config.bots` says of the others. `kept` are those of the file whose folders have another version by now, or
    none: they play from the store. `left_out` do not take part.
    """

    config: TournamentConfig
    entries: tuple[Entry, ...]
    added: tuple[BotConfig, ...] = ()
    kept: tuple[Entry, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def bots(self) -> tuple[BotConfig, ...]:
        """The settings of every entry, in the order of `entries`."""
        return (*self.config.bots, *self.added)

    @property
    def rating_anchors(self) -> dict[str, float]:
        """Ratings that are fixed, in Elo points by entry id: of bots of the file, not of one that has joined under the
        name of one that left."""
        fixed = self.config.rating_anchors
        named = self.entries[: len(self.config.bots)]
        return {entry.id: fixed[entry.name] for entry in named if entry.name in fixed}

    @property
    def processes(self) -> Processes:
        """Which processes are kept, and how many there may be, of the bots that are started here."""
        started = [(entry.id, bot) for entry, bot in zip(self.entries, self.bots, strict=True) if entry.argv]
        fresh = [id_ for id_, bot in started if (self.config.fresh if bot.fresh is None else bot.fresh)]
        return Processes(self.config.idle, frozenset(fresh), {id_: bot.copies for id_, bot in started if bot.copies})


def _homes(style: Format) -> dict[str, str]:
    """Where each key belongs that has one place only."""
    homes: dict[str, str] = {}
    for name in format_names():
        other = get_format(name)
        of = "" if other.name == style.name else f', for format = "{other.name}", and the format here is {style.name}'
        table = _table_of(other)
        homes |= {setting.name: f"in {table}{of}" for setting in other.settings if setting.name not in homes}
        if other.name != style.name:
            homes[other.name] = f'to format = "{other.name}", and the format here is {style.name}'
    homes |= _homes_in_stages() if style.repeated else {}
    homes |= {setting.name: f"in {_table_of(style)}" for setting in style.settings}
    homes |= {"seeding": f"in the first {_table_of(style)}"} if style.repeated else {}
    homes |= homes_of_sections()
    homes |= dict.fromkeys(ADJUDICATION_KEYS, "in [adjudication]")
    homes |= {"certificate": "in [remote]", "anchor": "in [ratings]"}
    homes |= {"name": "at the top of the file, or in [[bots]]"}
    homes |= dict.fromkeys(GAME_KEYS, "at the top of the file, or in [[games]]")
    tops = ("seed", "blocks", "format", "ponder", "idle", "entries", "on_bad_entry", "stop_when")
    homes |= dict.fromkeys(tops, "at the top of the file")
    return homes


def _homes_in_stages() -> dict[str, str]:
    """Where the keys belong that only stages of some formats have."""
    formats: dict[str, list[str]] = {}
    for style in STAGE_FORMATS.values():
        for setting in settings_of(style):
            formats.setdefault(setting.name, []).append(f'"{style.name}"')
    return {key: f"to a stage with format = {' or '.join(names)}" for key, names in formats.items()}


def _table_of(style: Format) -> str:
    """The table of its settings, as it is written."""
    return f"[[{style.name}]]" if style.repeated else f"[{style.name}]"


def load_config(path: Path, known: Sequence[Participant] = ()) -> TournamentConfig:
    """Read and check a tournament file, but not yet its bots' folders. `known` are the bots of a run of it, whose
    folders need not be there any more. Raises ConfigError."""
    file = TomlFile(path)
    style = read_format(file)
    file.homes = partial(_homes, style)  # which loads all plug-ins
    file.check_keys((), file.values, (*_KEYS, style.name, *_TABLES))
    games = read_games(file)
    limits = read_limits(file)
    remote = read_remote(file)
    begun = dict.fromkeys(Path(bot.folder) for bot in known if bot.folder and not bot.joined)
    listed = read_bots(file, limits, remote, begun)
    config = TournamentConfig(
        path=path,
        name=read_name(file),
        games=games,
        format=style.name,
        settings=read_settings(file, style),
        seed=file.integer("seed", minimum=-INTEGER_BOUND, maximum=INTEGER_BOUND - 1, example="seed = 1"),
        blocks=file.integer("blocks", minimum=1, maximum=MOST_BLOCKS, example="blocks = 10"),
        limits=limits,
        breaker=read_breaker(file),
        bots=listed.bots,
        faults=read_faults(file),
        adjudication=read_adjudication(file, games),
        ponder=read_ponder(file),
        sandbox=read_sandbox(file),
        remote=remote,
        idle=read_idle(file),
        fresh=read_fresh(file) is True,
        executor=read_executor(file),
        skip_bad=listed.skip,
        left_out=listed.left_out,
        rating_anchors=read_rating_anchors(file),
        stop_when=read_stop_when(file, style),
        bot_defaults=listed.defaults,
    )
    _check_copies(file, config, begun=bool(known))
    if not config.ponder and any(bot.remote for bot in config.bots):
        what = "a remote bot cannot be stopped while it is not asked anything"
        file.fail(("ponder",), what, "take ponder = false away, or the bots with remote = true")
    check_number(config)
    return config


def check_number(config: TournamentConfig, left_out: Sequence[LeftOut] = ()) -> None:
    """ConfigError if there are too few bots for a match; `left_out` are bots that cannot play."""
    if len(config.bots) >= config.players:
        return
    most = next(game.game for game in config.games if config.players in game.players)
    what = f"a match of {most} needs {config.players} bots, the file has {len(config.bots)}"
    step = "add a [[bots]] table with a path for each"
    if out := [*config.left_out, *left_out]:
        what += f" that can play; {out[0].sentence}"
        step = f"correct what was left out ({plural(len(out), 'bot')}), or add bots"
    TomlFile(config.path).fail(("bots",), what, step)


def _check_copies(file: TomlFile, config: TournamentConfig, *, begun: bool) -> None:
    """ConfigError if a bot is to play itself with fewer processes than seats: no such match could begin. A run that has
    `begun` with a remote bot goes on without such matches."""
    for bot in config.bots:
        key = "copies" if bot.remote is None else "remote"
        if (problem := too_few_copies(bot, config.settings, config.players)) and (key == "copies" or not begun):
            what, step = problem
            if bot.entry_list is not None:
                raise ConfigError(bot.entry_list, bot.line, f"'{key}' {what}", step)
            file.fail(("bots", bot.place, key), f"'bots[{bot.place + 1}].{key}' {what}", step)


def too_few_copies(bot: BotConfig, settings: Mapping[str, Any], players: int) -> tuple[str, str] | None:
    """What is wrong, and what to do, if a bot cannot take all seats of the match against itself that these settings of
    a format ask for; `players` is the number of the seats."""
    if not settings.get("mirrors"):
        return None
    if bot.remote is not None:
        what = f"is true, and with mirrors a bot takes {players} seats of a match; a remote bot takes one at a time"
        return what, "let the referee start the bot, or take mirrors away"
    if 0 < bot.copies < players:
        what = f"is {bot.copies}, and with mirrors a bot takes {players} seats of a match"
        return what, f"write copies = {players}, or take mirrors away"
    return None


def plays_elsewhere(config: TournamentConfig) -> bool:
    """Whether a cluster plays all of its matches and builds the bots. Matches with a remote bot are played on this
    machine, which then builds the bots, too."""
    return config.executor.build == "worker" and all(bot.remote is None for bot in config.bots)


def tournament_name(path: Path) -> str:
    """The name alone, which names the run folder. Raises ConfigError."""
    return read_name(TomlFile(path))
