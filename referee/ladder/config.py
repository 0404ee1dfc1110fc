"""The ladder's file: TOML in, a checked LadderConfig out. Without a file a default is used in its place.

name = "ladder"              # for people; default: the file's name
data = "ladder"              # folder for all that the ladder keeps, from this file; default: "ladder"
host = "127.0.0.1"           # address that the pages listen on
port = 8000
workers = 2                  # matches at once; default: half of the cores, at least one
ponder = false               # no bot runs while it is not asked anything; default: true
idle = 4                     # processes of each worker that wait for their next match, at most; default: 16
fresh = true                 # a new process for each match; default: false
tournaments = "runs"         # folder of runs of crosstown run that organisers steer on their page; default: none

[matchmaking]
seed = 1                     # of what is decided by chance
placement_blocks = 6         # blocks of a newcomer until it is matched as all others
exploration = 0.05           # share of blocks that are drawn among all bots
idle_below = 0.01            # no block is played that would reduce no bot's sigma by more than this share
alarm_min = 10               # after so many minutes without a match although some could be played

[hand_ins]                   # what an author may hand in
archive_mib = 64             # size of an archive
unpacked_mib = 256           # size of what is in it
files = 10000                # how many there may be
build_s = 600                # time for fetch and build, each

[server]                     # the pages, beside host and port
certificate = "cert.pem"     # serve https with this certificate and key; default: http
key = "key.pem"
names = ["games.example"]    # host names that the server answers to, as --name
proxies = ["10.0.0.7"]       # proxies that say for whom they ask; default: ["127.0.0.1", "::1"]
connections = 1200           # at most, in all and from one address; a proxy's own connections count in all only
connections_per_address = 100
streams = 600                # live pages at most, in all and for one address
streams_per_address = 50
request_s = 15               # until a request has arrived
drain_s = 30                 # what matches in play get to finish when the ladder is ended; default: 5
log = "json"                 # lines on stderr: "text" or "json"; default: "text"

[storage]
hand_ins_free = 0.10         # no hand-in is taken while less of the disk than this share is free
matches_free = 0.05          # no match and no build begins while less is free
owner_mib = 2048             # files of all versions of one owner; retired and rejected ones are removed first
pack_after_days = 7          # records that are older are packed into archives; 0: never

[accounts]
sign_up = "invitation"       # who may make an account: with an "invitation", "open" to all, or "closed"
bots_per_division = 3        # bots of one owner that play in a division
hand_ins_per_day = 50        # of one owner

[[accounts.providers]]       # where people can sign in with an account that they have; default: none
id = "school"                # part of addresses
title = "School's GitLab"    # for people; default: the id
kind = "oidc"                # OpenID Connect, or "github"
server = "https://gitlab.school.example"  # the issuer; for "github" the server, default: https://github.com
client_id = "crosstown"      # of the client that was registered there, with the address of the ladder's pages and
secret_file = "school.secret"   # /sign-in/ID/back; file with its secret, from this file, for nobody else to read
api = "https://api.github.com"  # for "github" alone; the default

[executor]                   # play on the machines of a Dask cluster, as in a tournament file
kind = "dask"                # default: "local"
scheduler = "tls://host:8786"

[clock]                      # this and the next four as in a tournament file, for all divisions
[limits]
[faults]
[breaker]
[sandbox]
[remote]

[[divisions]]                # default: one for each game, with the fewest seats that it is played with
game = "shibuya"             # game, players, data and options as in a tournament file
name = "shibuya-4"           # default: the game
players = [2, 4]             # as many seats as there are bots for; default: the fewest of the game
admits = ["remote"]          # bots that may remember: "remote", "network", "people"; default: none
clock = { move_s = 2 }       # limits of this division that differ from [clock]

[[bots]]                     # house bots, as in a tournament file: they play in each division of their games
path = "bots/random"
"""

import ipaddress
import os
import re
import shlex
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from leaderboard.web.people import SignUp
from referee.errors import why_unread
from referee.games.api import resolve_options
from referee.games.registry import game_ids, get_game
from referee.process.manifest import INTEGER_BOUND, clashes
from referee.schedule.spec import CLOCK_KEYS, IDLE_PROCESSES, Faults, Limits
from referee.tournament.bot_list import read_bots
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
from referee.tournament.reading import TomlFile, dotted, read_text, show
from referee.tournament.sections import (
    GAME_KEYS,
    BreakerConfig,
    GameConfig,
    check_clock,
    read_breaker,
    read_clock,
    read_faults,
    read_game,
    read_limits,
    read_name,
    read_ponder,
)
from referee.wire.public_address import check_public

NAME = "ladder"
"""Of a ladder without a file, and of its data folder."""

Admitted: TypeAlias = Literal["remote", "network", "people"]
ADMITTED: tuple[Admitted, ...] = get_args(Admitted)

_KEYS = ("name", "data", "host", "port", "workers", "ponder", "idle", "fresh", "tournaments")
_TABLES = (
    "matchmaking",
    "hand_ins",
    "server",
    "storage",
    "accounts",
    "clock",
    "limits",
    "faults",
    "breaker",
    "sandbox",
    "remote",
    "executor",
    "divisions",
    "bots",
)
_MATCHMAKING = ("seed", "placement_blocks", "exploration", "idle_below", "alarm_min")
_HAND_INS = ("archive_mib", "unpacked_mib", "files", "build_s")
_SERVER = (
    *("certificate", "key", "names", "proxies", "connections", "connections_per_address", "streams"),
    *("streams_per_address", "request_s", "drain_s", "log"),
)
_STORAGE = ("hand_ins_free", "matches_free", "owner_mib", "pack_after_days")
_ACCOUNTS = ("sign_up", "bots_per_division", "hand_ins_per_day", "providers")
_PROVIDER = ("id", "title", "kind", "server", "client_id", "secret_file", "api")
_DIVISION = ("name", *GAME_KEYS, "admits", "clock")
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class MatchmakingConfig:
    """Who meets whom. `exploration` and `idle_below` are shares, from 0 to 1."""

    seed: int = 1
    placement_blocks: int = 6
    exploration: float = 0.05
    idle_below: float = 0.01
    alarm_min: float = 10.0


@dataclass(frozen=True, slots=True)
class HandInConfig:
    """What an author may hand in: sizes in MiB, `build_s` seconds for fetch and build, each."""

    archive_mib: int = 64
    unpacked_mib: int = 256
    files: int = 10_000
    build_s: float = 600.0


LogFormat: TypeAlias = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How the pages are served. `certificate` and `key`: both or none. `names` are host names that the server answers
    to. `proxies` are addresses and networks of proxies that say for whom they ask."""

    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    connections: int = 1200
    connections_per_address: int = 100
    streams: int = 600
    streams_per_address: int = 50
    request_s: float = 15.0
    drain_s: float = 5.0
    log: LogFormat = "text"


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """What may fill the disk: `hand_ins_free` and `matches_free` are shares of it that must be free, `owner_mib` the
    files of all versions of one owner; records that are older than `pack_after_days` are packed, with 0 none."""

    hand_ins_free: float = 0.10
    matches_free: float = 0.05
    owner_mib: int = 2048
    pack_after_days: float = 7.0


BOTS_PER_DIVISION = 3
HAND_INS_PER_DAY = 50


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One provider. `id` is part of addresses; `server` is the issuer, or the address of a GitHub server; `api` that of
    its API. `secret` belongs to the client that was registered there as `client_id`."""

    id: str
    title: str
    kind: Literal["oidc", "github"]
    server: str
    client_id: str
    secret: str = field(repr=False)
    api: str = ""

    @property
    def issuer(self) -> str:
        """Whose subjects its subjects are."""
        return self.server if self.kind == "oidc" else f"github:{self.server}"


@dataclass(frozen=True, slots=True)
class AccountsConfig:
    """Who may make an account, and what one owner may have."""

    sign_up: SignUp = "invitation"
    bots_per_division: int = BOTS_PER_DIVISION
    hand_ins_per_day: int = HAND_INS_PER_DAY
    providers: tuple[ProviderConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class DivisionConfig:
    """One division. `name` also names its run folder. `game.players` are the numbers of seats that it may play with;
    the most that there are bots for is taken. `admits` are kinds of seats that may remember other matches."""

    name: str
    game: GameConfig
    limits: Limits
    admits: tuple[Admitted, ...] = ()

    @property
    def shares_seeds(self) -> bool:
        """Whether the matches of a block are played on one seed: not where somebody may remember it."""
        return not self.admits


@dataclass(frozen=True, slots=True)
class LadderConfig:
    """A checked ladder. `data` is absolute. `bots` are the house bots; their folders are looked at later."""

    path: Path
    name: str
    data: Path
    divisions: tuple[DivisionConfig, ...]
    bots: tuple[BotConfig, ...]
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    matchmaking: MatchmakingConfig = field(default_factory=MatchmakingConfig)
    hand_ins: HandInConfig = field(default_factory=HandInConfig)
    server: ServerConfig = field(default_factory=ServerConfig)
    storage: StorageConfig = field(default_factory=StorageConfig)
    accounts: AccountsConfig = field(default_factory=AccountsConfig)
    limits: Limits = field(default_factory=Limits)
    faults: Faults = field(default_factory=Faults)
    breaker: BreakerConfig = field(default_factory=BreakerConfig)
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    remote: RemoteConfig | None = None
    executor: ExecutorConfig = field(default_factory=ExecutorConfig)
    ponder: bool = True
    idle: int = IDLE_PROCESSES
    fresh: bool = False
    tournaments: Path | None = None

    @property
    def content(self) -> Path:
        """The files of all versions that were handed in, by the hash of their content. Nothing in there is changed."""
        return self.data / "content"

    @property
    def unseen(self) -> tuple[str, str]:
        """What no bot and no build may see, by real paths: the data, in which all hand-ins lie, and the ladder's
        file."""
        return os.path.realpath(self.data), os.path.realpath(self.path)

    @property
    def pages_address(self) -> str:
        """The address of the pages: https and the first configured name, which belongs to a proxy or a certificate;
        else the address on which the server listens."""
        if self.server.names:
            return f"https://{self.server.names[0]}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        with suppress(ValueError):
            host = socket.gethostname() if ipaddress.ip_address(self.host).is_unspecified else host
        return f"{'https' if self.server.certificate else 'http'}://{host}:{self.port}"

    def folder_of(self, division: DivisionConfig) -> Path:
        """The run folder of a division."""
        return self.data / "divisions" / division.name


def default_ladder(data: Path, house_bots: Path | None) -> LadderConfig:
    """The ladder without a file: a division for each game, and the bots that are shipped in the folder `house_bots` as
    house bots; none where that is not there."""
    values: dict[str, Any] = {"name": NAME, "data": str(data.absolute())}
    if house_bots is not None:
        bots: list[dict[str, Any]] = [{"path": str(house_bots / name)} for name in ("random", "walker", "greedy")]
        # By its clock it would take minutes for a match, and a newcomer is to see its first one sooner.
        bots.append({"path": str(house_bots / "search"), "name": "search-4", "options": {"iterations": 4}})
        values["bots"] = bots
    return _read(TomlFile(Path("ladder.toml"), values))


def load_ladder(path: Path) -> LadderConfig:
    """Read and check a ladder's file, but not yet the folders of its house bots. Raises ConfigError."""
    return _read(TomlFile(path, kind="ladder file"))


def _read(file: TomlFile) -> LadderConfig:
    file.homes = _homes
    file.check_keys((), file.values, (*_KEYS, *_TABLES))
    limits, remote = read_limits(file), read_remote(file)
    bots = read_bots(file, limits, remote).bots
    if copied := next((bot for bot in bots if bot.copy_of), None):
        file.fail(("bots", copied.place, "copy_of"), "a ladder has each bot once", "take the copy away")
    config = LadderConfig(
        path=file.path,
        name=read_name(file),
        data=_folder(file, "data", NAME),
        divisions=_divisions(file, limits, remote),
        bots=bots,
        host=file.text_at("host", default="127.0.0.1", example='host = "127.0.0.1"'),
        port=file.integer("port", minimum=0, maximum=65535, default=8000, example="port = 8000"),
        workers=file.integer(
            "workers", minimum=1, maximum=4096, default=max(1, (os.cpu_count() or 1) // 2), example="workers = 2"
        ),
        matchmaking=_matchmaking(file),
        hand_ins=_hand_ins(file),
        server=_server(file),
        storage=_storage(file),
        accounts=_accounts(file),
        limits=limits,
        faults=_faults(file),
        breaker=read_breaker(file),
        sandbox=read_sandbox(file),
        remote=remote,
        executor=read_executor(file),
        ponder=read_ponder(file),
        idle=read_idle(file),
        fresh=read_fresh(file) is True,
        tournaments=_folder(file, "tournaments") if "tournaments" in file.values else None,
    )
    for place, bot in enumerate(config.bots):
        if bot.remote is not None:
            what = f"'bots[{place + 1}]' is remote, and house bots are started here"
            file.fail(
                ("bots", place, "remote"), what, "remove it: authors connect remote bots with a token of the ladder"
            )
    if not config.ponder and any("remote" in division.admits for division in config.divisions):
        what = "a remote bot cannot be stopped while it is not asked anything"
        file.fail(("ponder",), what, 'remove ponder = false, or "remote" from admits')
    return config


def _homes() -> dict[str, str]:
    """Where each key belongs that has one place only."""
    homes = homes_of_sections()
    homes |= dict.fromkeys(CLOCK_KEYS, "in [clock], or for one bot or one division in its clock = { ... }")
    homes |= dict.fromkeys(("game", "players", "options", "admits"), "in [[divisions]]")
    homes |= dict.fromkeys(_MATCHMAKING, "in [matchmaking]") | dict.fromkeys(_HAND_INS, "in [hand_ins]")
    homes |= dict.fromkeys(_SERVER, "in [server]") | dict.fromkeys(_STORAGE, "in [storage]")
    homes |= dict.fromkeys(_ACCOUNTS, "in [accounts]")
    return homes | dict.fromkeys(("host", "port", "workers", "ponder", "idle", "tournaments"), "at the top of the file")


def _folder(file: TomlFile, key: str, default: str | None = None) -> Path:
    text = file.text_at(key, default=default, example=f'{key} = "{default or "runs"}"')
    return (file.path.parent / text).absolute()


def _divisions(file: TomlFile, limits: Limits, remote: RemoteConfig | None) -> tuple[DivisionConfig, ...]:
    listed = file.values.get("divisions")
    if listed is None:
        games = [get_game(name) for name in game_ids()]
        return tuple(
            DivisionConfig(
                game.id, GameConfig(game.id, game.rules_version, _defaults(game.id), game.player_counts[:1]), limits
            )
            for game in games
        )
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        what = f"'divisions' must be a list of tables, not {show(listed)}"
        file.fail(("divisions",), what, "begin each division with [[divisions]]")
    found: list[DivisionConfig] = []
    for place, given in enumerate(listed):
        division = _division(file, ("divisions", place), given, limits, remote)
        for other in found:
            if clashes(division.name, other.name):
                what = f"the names of the divisions {show(other.name)} and {show(division.name)} are, or look, the same"
                file.fail(("divisions", place, "name"), what, 'give one of them another: name = "..."')
        found.append(division)
    return tuple(found)


def _division(
    file: TomlFile, here: tuple[str, int], given: Mapping[str, Any], limits: Limits, remote: RemoteConfig | None
) -> DivisionConfig:
    file.check_keys(here, given, _DIVISION)
    game = read_game(file, here)
    name = read_name(file, *here, default=game.game.replace("/", "-"))
    clock = read_clock(file, (*here, "clock"), limits)
    check_clock(file, (*here, "clock"), limits, clock)
    admits = _admits(file, (*here, "admits"))
    if "remote" in admits and remote is None:
        what = f"'{dotted(*here)}' admits remote bots, and the file does not say where they connect"
        file.fail((*here, "admits"), what, 'add [remote] with a line such as listen = "0.0.0.0:7000"')
    return DivisionConfig(name, game, limits.with_clock(clock), admits)


def _admits(file: TomlFile, key: tuple[str | int, ...]) -> tuple[Admitted, ...]:
    value: Any = file.get(*key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(word in ADMITTED for word in value) or len(set(value)) < len(value):
        what = f"'{dotted(*key)}' must be a list of {', '.join(ADMITTED)}, each once, not {show(value)}"
        file.fail(key, what, 'write, for instance, admits = ["remote"]')
    return tuple(word for word in ADMITTED if word in value)


def _matchmaking(file: TomlFile) -> MatchmakingConfig:
    file.check_keys(("matchmaking",), file.table("matchmaking"), _MATCHMAKING)
    usual = MatchmakingConfig()
    here = "matchmaking"
    return MatchmakingConfig(
        seed=file.integer(
            here, "seed", minimum=-INTEGER_BOUND, maximum=INTEGER_BOUND - 1, default=1, example="seed = 1"
        ),
        placement_blocks=file.integer(
            here,
            "placement_blocks",
            minimum=1,
            maximum=1000,
            default=usual.placement_blocks,
            example="placement_blocks = 6",
        ),
        exploration=_number(file, (here, "exploration"), 0, 1, usual.exploration),
        idle_below=_number(file, (here, "idle_below"), 0, 1, usual.idle_below),
        alarm_min=_number(file, (here, "alarm_min"), 0.1, 1440, usual.alarm_min),
    )


def _hand_ins(file: TomlFile) -> HandInConfig:
    file.check_keys(("hand_ins",), file.table("hand_ins"), _HAND_INS)
    usual = HandInConfig()

    def whole(name: str, default: int) -> int:
        return file.integer("hand_ins", name, minimum=1, maximum=_MOST, default=default, example=f"{name} = {default}")

    return HandInConfig(
        whole("archive_mib", usual.archive_mib),
        whole("unpacked_mib", usual.unpacked_mib),
        whole("files", usual.files),
        _number(file, ("hand_ins", "build_s"), 1, 86400, usual.build_s),
    )


def _server(file: TomlFile) -> ServerConfig:
    here, usual = "server", ServerConfig()
    file.check_keys((here,), file.table(here), _SERVER)

    def whole(name: str, default: int) -> int:
        return file.integer(here, name, minimum=1, maximum=_MOST, default=default, example=f"{name} = {default}")

    def path(name: str) -> Path | None:
        if file.get(here, name) is None:
            return None
        return (file.path.parent / file.text_at(here, name, default="", example=f'{name} = "{name}.pem"')).absolute()

    certificate, key = path("certificate"), path("key")
    if (certificate is None) != (key is None):
        missing = "key" if key is None else "certificate"
        file.fail((here,), f"'server' lacks '{missing}'", "give both certificate and key, or none of them")
    log = file.text_at(here, "log", default=usual.log, example='log = "json"')
    if log not in get_args(LogFormat):
        file.fail((here, "log"), f'\'server.log\' must be "text" or "json", not {show(log)}', 'write log = "json"')
    return ServerConfig(
        certificate,
        key,
        _texts(file, (here, "names"), 'names = ["games.example"]', check_public),
        _texts(file, (here, "proxies"), 'proxies = ["127.0.0.1"]', ipaddress.ip_network, usual.proxies),
        whole("connections", usual.connections),
        whole("connections_per_address", usual.connections_per_address),
        whole("streams", usual.streams),
        whole("streams_per_address", usual.streams_per_address),
        _number(file, (here, "request_s"), 1, 3600, usual.request_s),
        _number(file, (here, "drain_s"), 0, 3600, usual.drain_s),
        "json" if log == "json" else "text",
    )


def _texts(
    file: TomlFile,
    key: tuple[str, ...],
    example: str,
    check: Callable[[str], object],
    default: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """A list of texts, each of which `check` takes without a ValueError."""
    value: Any = file.get(*key)
    if value is None:
        return default
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        file.fail(
            key, f"'{dotted(*key)}' must be a list of texts, not {show(value)}", f"write, for instance, {example}"
        )
    for word in value:
        try:
            check(word)
        except ValueError as error:
            file.fail(key, f"'{dotted(*key)}': {error}", f"write, for instance, {example}")
    return tuple(value)


def _storage(file: TomlFile) -> StorageConfig:
    here, usual = "storage", StorageConfig()
    file.check_keys((here,), file.table(here), _STORAGE)
    return StorageConfig(
        _number(file, (here, "hand_ins_free"), 0, 0.9, usual.hand_ins_free),
        _number(file, (here, "matches_free"), 0, 0.9, usual.matches_free),
        file.integer(here, "owner_mib", minimum=1, maximum=_MOST, default=usual.owner_mib, example="owner_mib = 2048"),
        _number(file, (here, "pack_after_days"), 0, 36500, usual.pack_after_days),
    )


def _faults(file: TomlFile) -> Faults:
    """As in a tournament, but a provider error, of which only the bot knows, voids no match. ConfigError."""
    faults = read_faults(file)
    if faults.provider_errors != "loss":
        file.fail(
            ("faults", "provider_errors"),
            "'faults.provider_errors' must be loss in a ladder: only the bot knows whether its provider failed, and a"
            " bot that is about to lose could play the match again",
            "leave provider_errors out",
        )
    return faults


def _accounts(file: TomlFile) -> AccountsConfig:
    file.check_keys(("accounts",), file.table("accounts"), _ACCOUNTS)
    sign_up = file.get("accounts", "sign_up")
    if sign_up is not None and sign_up not in get_args(SignUp):
        what = f"'accounts.sign_up' must be one of {', '.join(get_args(SignUp))}, not {show(sign_up)}"
        file.fail(("accounts", "sign_up"), what, 'write, for instance, sign_up = "invitation"')

    def whole(name: str, default: int) -> int:
        return file.integer("accounts", name, minimum=1, maximum=_MOST, default=default, example=f"{name} = {default}")

    listed: Any = file.get("accounts", "providers") or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        what = f"'accounts.providers' must be a list of tables, not {show(listed)}"
        file.fail(("accounts", "providers"), what, "begin each provider with [[accounts.providers]]")
    providers = tuple(_provider(file, place, given) for place, given in enumerate(listed))
    for name in {one.id for one in providers if sum(other.id == one.id for other in providers) > 1}:
        file.fail(("accounts", "providers"), f"two providers have the id {show(name)}", "give one of them another id")
    return AccountsConfig(
        sign_up or "invitation",
        whole("bots_per_division", BOTS_PER_DIVISION),
        whole("hand_ins_per_day", HAND_INS_PER_DAY),
        providers,
    )


def _provider(file: TomlFile, place: int, given: Mapping[str, Any]) -> ProviderConfig:
    here: tuple[str | int, ...] = ("accounts", "providers", place)
    file.check_keys(here, given, _PROVIDER)
    id_ = file.text_at(*here, "id", required=True, example='id = "school"')
    if not re.fullmatch(r"[a-z0-9-]{1,40}", id_):
        what = f"'{dotted(*here, 'id')}' must be 1 to 40 of a-z, 0-9 and -, not {show(id_)}"
        file.fail((*here, "id"), what, 'write, for instance, id = "school"')
    kind: Any = given.get("kind")
    if kind not in ("oidc", "github"):
        what = f'\'{dotted(*here, "kind")}\' must be "oidc" or "github", not {show(kind)}'
        file.fail((*here, "kind") if "kind" in given else here, what, 'write, for instance, kind = "oidc"')
    github = kind == "github"
    server = _address(file, (*here, "server"), "https://github.com" if github else None)
    api = _address(file, (*here, "api"), "https://api.github.com") if github else ""
    if not github and "api" in given:
        file.fail((*here, "api"), f"'{dotted(*here, 'api')}' is for kind = \"github\" alone", "remove it")
    return ProviderConfig(
        id_,
        file.text_at(*here, "title", default=id_, example='title = "School"'),
        kind,
        server,
        file.text_at(*here, "client_id", required=True, example='client_id = "crosstown"'),
        _secret(file, (*here, "secret_file")),
        api,
    )


def _address(file: TomlFile, key: tuple[str | int, ...], default: str | None) -> str:
    example = f'{key[-1]} = "https://gitlab.example"'
    text = (
        file.text_at(*key, example=example) if default is None else file.text_at(*key, default=default, example=example)
    )
    if not is_safe(text):
        file.fail(key, f"'{dotted(*key)}' must begin with https://, not be {show(text)}", f"write {example}")
    return text.rstrip("/") if default is not None else text


def is_safe(address: str) -> bool:
    """Whether the connection is private: https, or this machine itself."""
    try:
        parts = urlsplit(address)
        return bool(parts.hostname) and (
            parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1"))
        )
    except ValueError:
        return False


def _secret(file: TomlFile, key: tuple[str | int, ...]) -> str:
    """The secret in the file that is named. No other file has it, and only its owner may read it."""
    name = file.text_at(*key, required=True, example='secret_file = "school.secret"')
    path = file.path.parent / name
    step = "write the client's secret into it, and: chmod 600 FILE"
    try:
        mode = path.stat().st_mode
        text = read_text(path).strip()
    except (OSError, UnicodeDecodeError) as error:
        return file.fail(key, f"the file of '{dotted(*key)}', {path}, cannot be read ({why_unread(error)})", step)
    if mode & 0o077:
        file.fail(
            key, f"the file of '{dotted(*key)}', {path}, can be read by others", f"chmod 600 {shlex.quote(str(path))}"
        )
    if not text or len(text) > 1000:
        file.fail(key, f"the file of '{dotted(*key)}', {path}, has {len(text)} characters", step)
    return text


def _number(file: TomlFile, key: tuple[str, ...], low: float, high: float, default: float) -> float:
    value: Any = file.get(*key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        what = f"'{dotted(*key)}' must be a number from {low:g} to {high:g}, not {show(value)}"
        file.fail(key, what, f"write, for instance, {key[-1]} = {default:g}")
    return float(value)


def _defaults(game_id: str) -> Mapping[str, Any]:
    game = get_game(game_id)
    return resolve_options(game.id, game.options, {})
