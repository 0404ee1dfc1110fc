"""The sections of a tournament file about bots and where they play: processes, executor, remote seats, sandbox, bots.

One function for each reads it and says what is wrong in it, as a ConfigError. A ladder's file has some of them, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.folders import FolderError, expanded
from referee.process.manifest import MAX_VERSION
from referee.process.paths import is_there
from referee.process.sandbox import PROFILES, Profile, Sandbox, why_no_device
from referee.schedule.spec import (
    CLOCK_KEYS,
    IDLE_PROCESSES,
    RECONNECT_S,
    REMOTE_CLOCK,
    REMOTE_WAIT_S,
    RESOURCE_KEYS,
    Limits,
)
from referee.tournament.reading import TomlFile, dotted, show, suggest
from referee.tournament.sections import (
    BREAKER_KEYS,
    FAULT_KEYS,
    LIMIT_KEYS,
    Where,
    check_clock,
    read_clock,
    read_resources,
)
from referee.wire.public_address import Listen, check_public, parse_address


def homes_of_sections() -> dict[str, str]:
    """Where each key belongs that these sections and those in `sections` have, in words, if that is one place."""
    return {
        **dict.fromkeys(CLOCK_KEYS, "in [clock], or for one bot in its clock = { ... }"),
        **dict.fromkeys(LIMIT_KEYS, "in [limits]"),
        **dict.fromkeys(RESOURCE_KEYS, "in [limits], or for one bot in its limits = { ... }"),
        **dict.fromkeys(FAULT_KEYS, "in [faults]"),
        **dict.fromkeys(BREAKER_KEYS, "in [breaker]"),
        **dict.fromkeys(("path", "copy_of", "club", "network", "env", "devices", "copies"), "in [[bots]]"),
        **dict.fromkeys(("token_env", "token_file", "version"), "in [[bots]]"),
        **dict.fromkeys(("listen", "public", "plain", "wait_s", "reconnect_s", "keepalive_s"), "in [remote]"),
        **dict.fromkeys(("kind", "scheduler", "ca", "cert", "same_machine", "build"), "in [executor]"),
        "profile": 'in [sandbox], or for one bot as sandbox = "strict" or "plain"',
    }


# `idle`, `fresh` and `copies`: which processes are kept, and how many there may be

PROCESS_KEYS = ("fresh", "copies")
MOST_PROCESSES = 4096


def read_idle(file: TomlFile) -> int:
    """Raises ConfigError."""
    return file.integer("idle", minimum=0, maximum=MOST_PROCESSES, default=IDLE_PROCESSES, example="idle = 4")


def read_fresh(file: TomlFile, *where: str | int) -> bool | None:
    """Of the tournament or of a bot; None where nothing is said. Raises ConfigError."""
    fresh = file.get(*where, "fresh")
    if fresh is not None and not isinstance(fresh, bool):
        what = f"'{dotted(*where, 'fresh')}' must be true or false, not {show(fresh)}"
        file.fail((*where, "fresh"), what, "write fresh = true for a new process in each match, or nothing")
    return None if fresh is None else fresh is True


def read_copies(file: TomlFile, here: Where) -> int:
    """Of a bot; 0 for any number. Raises ConfigError."""
    return file.integer(*here, "copies", minimum=1, maximum=MOST_PROCESSES, default=0, example="copies = 1")


# [executor]: where matches are played

EXECUTOR_KEYS = ("kind", "scheduler", "ca", "cert", "key", "same_machine", "build")
EXECUTORS = ("local", "dask")
BUILDERS = ("worker", "organiser")


@dataclass(frozen=True, slots=True)
class ExecutorConfig:
    """Where matches are played: on this machine ("local"), or on those of a Dask cluster ("dask") through its scheduler
    at `scheduler`, with PEM files. `same_machine` keeps a block on one machine. `build`: who builds the bots, each
    machine for itself ("worker") or the organiser's for all of its platform ("organiser")."""

    kind: str = "local"
    scheduler: str = ""
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    same_machine: bool = False
    build: str = "worker"


def read_executor(file: TomlFile) -> ExecutorConfig:
    """Raises ConfigError."""
    file.check_keys(("executor",), file.table("executor"), EXECUTOR_KEYS)
    kind = file.text_at("executor", "kind", default="local", example='kind = "dask"')
    if kind not in EXECUTORS:
        what = f"'executor.kind' must be {' or '.join(EXECUTORS)}, not {show(kind)}"
        file.fail(("executor", "kind"), what, suggest(kind, EXECUTORS, "there are"))
    scheduler = file.text_at("executor", "scheduler", example='scheduler = "tls://host:8786"')
    if kind == "local" and (other := next((key for key in EXECUTOR_KEYS[1:] if key in file.table("executor")), "")):
        file.fail(("executor", other), f"'executor.{other}' is for a cluster", 'write kind = "dask", or remove it')
    ca, cert, key = (_path(file, ("executor", name)) for name in ("ca", "cert", "key"))
    build = file.text_at("executor", "build", default="worker", example='build = "organiser"')
    if build not in BUILDERS:
        what = f"'executor.build' must be {' or '.join(BUILDERS)}, not {show(build)}"
        file.fail(("executor", "build"), what, suggest(build, BUILDERS, "there are"))
    return ExecutorConfig(kind, scheduler, ca, cert, key, _truth(file, ("executor", "same_machine")), build)


# [remote], and `remote`, `token_env`, `token_file` and `version` of a bot

REMOTE_BOT_KEYS = ("remote", "token_env", "token_file", "version")
REMOTE_KEYS = ("listen", "public", "certificate", "key", "plain", "wait_s", "reconnect_s", "keepalive_s", "margin_s")
_LOCAL_KEYS = ("path", "options", "limits", "sandbox", "network", "env", "read", "devices", "fresh", "copies")
_LONGEST_S = 86400
LEAST_KEEPALIVE_S = 1.0
"""Below it a connection is taken for broken that only lost a packet."""


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """What the file says of all remote bots. A certificate that it does not name is made when the run begins. `public`
    is by what name or address bots reach this machine, '' for its own."""

    listen: Listen
    wait_s: float = REMOTE_WAIT_S
    reconnect_s: float = RECONNECT_S
    margin_s: float = REMOTE_CLOCK["margin_s"]
    keepalive_s: float = 0.0
    """Within what time a connection that has gone silent is found; 0 chooses by the clocks."""
    public: str = ""


@dataclass(frozen=True, slots=True)
class RemoteBot:
    """Where its token is: an environment variable of the referee, or a file; one of them is set. `version` is what it
    must say in Hello, '' for any."""

    token_env: str = ""
    token_file: Path | None = None
    version: str = ""


def read_remote(file: TomlFile) -> RemoteConfig | None:
    """None without the section. Raises ConfigError."""
    given = file.table("remote")
    file.check_keys(("remote",), given, REMOTE_KEYS)
    if "remote" not in file.values:
        return None
    text = file.text_at("remote", "listen", required=True, example='listen = "0.0.0.0:7000"')
    try:
        host, port = parse_address(text)
    except ValueError as error:
        file.fail(("remote", "listen"), f"'remote.listen': {error}", 'write, for instance, listen = "0.0.0.0:7000"')
    public = file.text_at("remote", "public", example='public = "referee.example.org"')
    try:
        if public:
            check_public(public)
    except ValueError as error:
        file.fail(("remote", "public"), f"'remote.public': {error}", "write it without a port")
    certificate, key = _path(file, ("remote", "certificate")), _path(file, ("remote", "key"))
    if (certificate is None) != (key is None):
        file.fail(("remote",), "'remote.certificate' and 'remote.key' belong together", "name both files, or neither")
    plain = _truth(file, ("remote", "plain"))
    if plain and certificate is not None:
        file.fail(("remote", "plain"), "'remote.plain' is without TLS, and there is a certificate", "take one away")
    names = ("wait_s", "reconnect_s", "keepalive_s", "margin_s")
    times = {name: _seconds(file, name, given[name]) for name in names if name in given}
    return RemoteConfig(Listen(host, port, certificate, key, plain), **times, public=public)


def read_remote_bot(file: TomlFile, here: Where, given: Mapping[str, Any]) -> RemoteBot | None:
    """None for a bot that the referee starts. Raises ConfigError."""
    if not _truth(file, (*here, "remote")):
        for key in ("token_env", "token_file", "version"):
            if key in given:
                what = f"'{dotted(*here, key)}' is for remote bots"
                file.fail((*here, key), what, "write remote = true beside it, or remove it")
        return None
    for key in _LOCAL_KEYS:
        if key in given:
            what = f"'{dotted(*here, key)}' is for bots that the referee starts, and this one connects itself"
            file.fail((*here, key), what, "take it, or remote = true, away")
    if "remote" not in file.values:
        what = "a bot has remote = true, and the file does not say where remote bots connect"
        file.fail((*here, "remote"), what, 'add [remote] with a line such as listen = "0.0.0.0:7000"')
    file.text_at(*here, "name", required=True, example='name = "Ada"')
    env = file.text_at(*here, "token_env", example='token_env = "ADA_TOKEN"')
    token_file = _path(file, (*here, "token_file"))
    if bool(env) == (token_file is not None):
        what = f"'{dotted(*here)}' needs its token from one place"
        file.fail(here, what, 'add token_env = "ADA_TOKEN", or token_file = "ada.token", and not both')
    version = file.text_at(*here, "version", example='version = "1"')
    if not version.isprintable() or len(version) > MAX_VERSION:
        what = f"'{dotted(*here, 'version')}' must be at most {MAX_VERSION} printable characters"
        file.fail((*here, "version"), what, 'write, for instance, version = "1"')
    return RemoteBot(env, token_file, version)


def _path(file: TomlFile, key: Where) -> Path | None:
    text = file.text_at(*key, example=f'{key[-1]} = "a_file"')
    return (file.path.parent / _expanded(file, key, text)).resolve() if text else None


def _truth(file: TomlFile, key: Where) -> bool:
    value = file.get(*key)
    if value is not None and not isinstance(value, bool):
        file.fail(key, f"'{dotted(*key)}' must be true or false, not {show(value)}", f"write {key[-1]} = true")
    return value is True


def _seconds(file: TomlFile, name: str, value: Any) -> float:
    least = LEAST_KEEPALIVE_S if name == "keepalive_s" else 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= _LONGEST_S:
        what = f"'remote.{name}' must be a number from {least:g} to {_LONGEST_S}, not {show(value)}"
        file.fail(("remote", name), what, f"write, for instance, {name} = {20 if least else 60}")
    return float(value)


def _expanded(file: TomlFile, key: Where, text: str) -> Path:
    try:
        return expanded(text)
    except FolderError as error:
        file.fail(key, f"'{dotted(*key)}': {error}", error.next_step)


# [sandbox], and what a bot says of its own: how bots are confined, and what they are granted

SANDBOX_BOT_KEYS = ("sandbox", "network", "env", "read", "devices")
SANDBOX_KEYS = ("profile", "read")
_EXAMPLES = {"env": 'env = ["API_KEY"]', "read": 'read = ["/opt/models"]', "devices": 'devices = ["/dev/nvidia0"]'}


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """What the file says, of all bots or of one. No profile: strict where it works. `read` are absolute paths."""

    profile: Profile | None = None
    network: bool = False
    env: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


def read_sandbox(file: TomlFile) -> SandboxConfig:
    """Of the tournament: profile, and what every bot may read. Raises ConfigError."""
    file.check_keys(("sandbox",), file.table("sandbox"), SANDBOX_KEYS)
    found = SandboxConfig(_profile(file, ("sandbox", "profile")), read=_paths(file, ("sandbox",)))
    check_grants(file, ("sandbox",), found)
    return found


def check_grants(file: TomlFile, where: Where, granted: SandboxConfig) -> None:
    """ConfigError for a path or a device, named in the table at `where`, that is not there. Of bots that have left a
    run it need not be there any more."""
    for path in granted.read:
        if not is_there(Path(path)):
            what = f"'{dotted(*where, 'read')}': {path} does not exist"
            file.fail((*where, "read"), what, "name files or folders that are there")
    for path in granted.devices:
        if why := why_no_device(path):
            what = f"'{dotted(*where, 'devices')}': {path} {why}"
            file.fail((*where, "devices"), what, f"name devices of this machine, such as {_EXAMPLES['devices']}")


def read_bot_sandbox(file: TomlFile, here: Where) -> SandboxConfig:
    """Of one bot; what it is granted need not be there: see `check_grants`. Raises ConfigError."""
    network = file.get(*here, "network")
    if network is not None and not isinstance(network, bool):
        what = f"'{dotted(*here, 'network')}' must be true or false, not {show(network)}"
        file.fail((*here, "network"), what, "write network = true, or nothing")
    env = tuple(_texts(file, here, "env"))
    try:
        Sandbox(env=env)
    except ValueError as error:
        file.fail((*here, "env"), f"'{dotted(*here, 'env')}': {error}", f"write, for instance, {_EXAMPLES['env']}")
    devices = tuple(_texts(file, here, "devices"))
    return SandboxConfig(_profile(file, (*here, "sandbox")), network is True, env, _paths(file, here), devices)


def _profile(file: TomlFile, key: Where) -> Profile | None:
    word = file.text_at(*key, example=f'{key[-1]} = "strict"')
    if not word:
        return None
    profile = next((known for known in PROFILES if known == word), None)
    if profile is None:
        what = f"'{dotted(*key)}' must be {' or '.join(PROFILES)}, not {show(word)}"
        file.fail(key, what, f'write {key[-1]} = "strict", or nothing for strict where it works')
    return profile


def _paths(file: TomlFile, where: Where) -> tuple[str, ...]:
    texts = _texts(file, where, "read")
    return tuple(str((file.path.parent / _expanded(file, (*where, "read"), text)).resolve()) for text in texts)


def _texts(file: TomlFile, where: Where, name: str) -> list[str]:
    value: Any = file.get(*where, name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) and item and "\0" not in item for item in value):
        empty = isinstance(value, list) and "" in value
        wanted = "a list of texts that are not empty" if empty else "a list of texts"
        what = f"'{dotted(*where, name)}' must be {wanted}, not {show(value)}"
        file.fail((*where, name), what, f"write, for instance, {_EXAMPLES[name]}")
    return value


# [[bots]]: who enters, as the file says it; what lies on the disk is looked at later

BOT_KEYS = (
    "path", "copy_of", "name", "club", "options", "clock", "limits", *SANDBOX_BOT_KEYS, *PROCESS_KEYS, *REMOTE_BOT_KEYS,
)  # fmt: skip
MOST_CLUB = 60


@dataclass(frozen=True, slots=True)
class BotConfig:
    """One [[bots]] of the file. `folder` is as found from the file; `line` is where it begins, for messages.

    `clock` has the limits of this bot that differ from the tournament's. A bot that is `remote` has no folder.
    """

    folder: Path
    name: str | None
    options: Mapping[str, str | int | bool]
    line: int | None
    clock: Mapping[str, float] = field(default_factory=dict)
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    remote: RemoteBot | None = None
    fresh: bool | None = None
    """Whether it has a new process for each match; None: as the tournament has it."""
    copies: int = 0
    """Processes of it that may be there at once; 0 for any number."""
    place: int = 0
    """Of its [[bots]] in the file, or of its row in a list of entries."""
    pattern: tuple[str, ...] = ()
    """The last parts of the path in the file, from the first wildcard on, if that found its folder."""
    entry_list: Path | None = None
    """The list of entries (CSV) that has it, instead of the tournament file; `line` is there then."""
    copy_of: str = ""
    """The name of the bot of which it is a copy. All but name and place is that bot's."""
    club: str = ""
    """A Swiss never pairs bots of one club, a knockout of two seats as late as possible; '' for none."""


def read_bot(
    file: TomlFile, limits: Limits, remote: RemoteConfig | None, place: int, given: Mapping[str, Any]
) -> BotConfig:
    """One of them. Raises ConfigError."""
    here = ("bots", place)
    file.check_keys(here, given, BOT_KEYS)
    if original := file.text_at(*here, "copy_of", example='copy_of = "Ada"'):
        for key in given:
            if key not in ("copy_of", "name"):
                what = (
                    f"'{dotted(*here, 'copy_of')}' is beside '{key}', and a copy has all but its name from the original"
                )
                file.fail((*here, "copy_of"), what, f"take {key}, or copy_of, away")
        called = file.text_at(*here, "name", required=True, example='name = "Ada again"')
        return BotConfig(Path(), called, {}, file.line(*here), place=place, copy_of=original)
    dials = read_remote_bot(file, here, given)
    if remote is not None and dials is not None:
        wide = {"margin_s": remote.margin_s, **read_clock(file, (*here, "clock"), limits)}
        check_clock(file, (*here, "clock"), limits, wide)
        club = read_club(file, here)
        return BotConfig(Path(), str(given["name"]), {}, file.line(*here), wide, remote=dials, place=place, club=club)
    path = file.text_at(*here, "path", required=True, example='path = "../bots/python/random"')
    name = file.text_at(*here, "name", example='name = "Random"') or None
    clock = read_clock(file, (*here, "clock"), limits)
    check_clock(file, (*here, "clock"), limits, clock)
    own = {**clock, **read_resources(file, (*here, "limits"))}
    sandbox = read_bot_sandbox(file, here)
    return BotConfig(
        file.path.parent / path,
        name,
        file.table(*here, "options"),
        file.line(*here),
        own,
        sandbox,
        fresh=read_fresh(file, *here),
        copies=read_copies(file, here),
        place=place,
        club=read_club(file, here),
    )


def read_club(file: TomlFile, here: Where) -> str:
    """Of a bot; '' for none. Raises ConfigError."""
    club = file.text_at(*here, "club", example='club = "North School"').strip()
    if not club.isprintable() or len(club) > MOST_CLUB:
        what = f"'{dotted(*here, 'club')}' must be at most {MOST_CLUB} printable characters, not {show(club)}"
        file.fail((*here, "club"), what, 'write, for instance, club = "North School"')
    return club
