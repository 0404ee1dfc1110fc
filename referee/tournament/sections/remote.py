"""[remote], and `remote`, `token_env`, `token_file` and `version` of a bot: bots that dial in from other machines."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.folders import FolderError, expanded
from referee.process.manifest import MAX_VERSION
from referee.schedule.spec import RECONNECT_S, REMOTE_CLOCK, REMOTE_WAIT_S
from referee.tournament.reading import TomlFile, dotted, show
from referee.wire.public_address import Listen, check_public, parse_address

BOT_KEYS = ("remote", "token_env", "token_file", "version")
_KEYS = ("listen", "public", "certificate", "key", "plain", "wait_s", "reconnect_s", "keepalive_s", "margin_s")
_LOCAL_KEYS = ("path", "options", "limits", "sandbox", "network", "env", "read", "devices", "fresh", "copies")
_LONGEST_S = 86400
LEAST_KEEPALIVE_S = 1.0
"""Below it a connection is taken for broken that only lost a packet."""

Where = tuple[str | int, ...]


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
    file.check_keys(("remote",), given, _KEYS)
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
    if "keepalive_s" in times and times["keepalive_s"] < LEAST_KEEPALIVE_S:
        what = f"'remote.keepalive_s' must be at least {LEAST_KEEPALIVE_S:g}, not {times['keepalive_s']:g}"
        file.fail(("remote", "keepalive_s"), what, "write, for instance, keepalive_s = 20")
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
    if "\0" in text:
        file.fail(key, f"'{dotted(*key)}' has a zero byte in it", "remove it")
    return (file.path.parent / _expanded(file, key, text)).resolve() if text else None


def _truth(file: TomlFile, key: Where) -> bool:
    value = file.get(*key)
    if value is not None and not isinstance(value, bool):
        file.fail(key, f"'{dotted(*key)}' must be true or false, not {show(value)}", f"write {key[-1]} = true")
    return value is True


def _seconds(file: TomlFile, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_S:
        what = f"'remote.{name}' must be a number from 0 to {_LONGEST_S}, not {show(value)}"
        file.fail(("remote", name), what, f"write, for instance, {name} = 60")
    return float(value)


def _expanded(file: TomlFile, key: Where, text: str) -> Path:
    try:
        return expanded(text)
    except FolderError as error:
        file.fail(key, f"'{dotted(*key)}': {error}", error.next_step)
