"""[sandbox] and what a bot says of its own: how bots are confined, and what they are granted."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.folders import FolderError, expanded
from referee.process.sandbox import PROFILES, Profile, Sandbox, why_no_device
from referee.tournament.reading import TomlFile, dotted, show

BOT_KEYS = ("sandbox", "network", "env", "read", "devices")
_KEYS = ("profile", "read")
_EXAMPLES = {"env": 'env = ["API_KEY"]', "read": 'read = ["/opt/models"]', "devices": 'devices = ["/dev/nvidia0"]'}

Where = tuple[str | int, ...]


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
    file.check_keys(("sandbox",), file.table("sandbox"), _KEYS)
    found = SandboxConfig(_profile(file, ("sandbox", "profile")), read=_paths(file, ("sandbox",)))
    check_grants(file, ("sandbox",), found)
    return found


def check_grants(file: TomlFile, where: Where, granted: SandboxConfig) -> None:
    """ConfigError for a path or a device, named in the table at `where`, that is not there. Of bots that have left a
    run it need not be there any more."""
    for path in granted.read:
        if not Path(path).exists():
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


def _expanded(file: TomlFile, key: Where, text: str) -> Path:
    try:
        return expanded(text)
    except FolderError as error:
        file.fail(key, f"'{dotted(*key)}': {error}", error.next_step)
