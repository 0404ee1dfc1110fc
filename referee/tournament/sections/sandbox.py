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
    return SandboxConfig(_profile(file, ("sandbox", "profile")), read=_paths(file, ("sandbox",)))


def read_bot_sandbox(file: TomlFile, here: Where) -> SandboxConfig:
    """Of one bot. Raises ConfigError."""
    network = file.get(*here, "network")
    if network is not None and not isinstance(network, bool):
        what = f"'{dotted(*here, 'network')}' must be true or false, not {show(network)}"
        file.fail((*here, "network"), what, "write network = true, or nothing")
    env = tuple(_texts(file, here, "env"))
    try:
        Sandbox(env=env)
    except ValueError as error:
        file.fail((*here, "env"), f"'{dotted(*here, 'env')}': {error}", f"write, for instance, {_EXAMPLES['env']}")
    profile, devices = _profile(file, (*here, "sandbox")), tuple(_texts(file, here, "devices"))
    for path in devices:
        if why := why_no_device(path):
            what = f"'{dotted(*here, 'devices')}': {path} {why}"
            file.fail((*here, "devices"), what, f"name devices of this machine, such as {_EXAMPLES['devices']}")
    return SandboxConfig(profile, network is True, env, _paths(file, here), devices)


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
    paths = []
    for text in _texts(file, where, "read"):
        path = (file.path.parent / _expanded(file, (*where, "read"), text)).resolve()
        if not path.exists():
            what = f"'{dotted(*where, 'read')}': {path} does not exist"
            file.fail((*where, "read"), what, "name files or folders that are there")
        paths.append(str(path))
    return tuple(paths)


def _texts(file: TomlFile, where: Where, name: str) -> list[str]:
    value: Any = file.get(*where, name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) and item and "\0" not in item for item in value):
        what = f"'{dotted(*where, name)}' must be a list of texts, not {show(value)}"
        file.fail((*where, name), what, f"write, for instance, {_EXAMPLES[name]}")
    return value


def _expanded(file: TomlFile, key: Where, text: str) -> Path:
    try:
        return expanded(text)
    except FolderError as error:
        what, _, step = str(error).rpartition("; ")
        file.fail(key, f"'{dotted(*key)}': {what}", step)
