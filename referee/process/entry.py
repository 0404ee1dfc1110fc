"""An entry: one bot version with its options, named by a hash of its content. Remote bots have one without a folder."""

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

from referee.errors import PlatformError
from referee.folders import cache_folder
from referee.process.manifest import (
    ANY_GAME,
    FILE_NAME,
    BotNameError,
    Manifest,
    ManifestError,
    OptionValue,
    check_name,
    is_option_value,
    load_manifest,
)
from referee.process.packages import FILE as REQUIREMENTS
from referee.process.packages import Environment, hold_environment, read_requirements
from referee.process.program import find_argv
from referee.process.sources import ID_BYTES, EntryError, Sources, digest, read_sources, with_kinds, with_protos
from referee.process.store import (
    Built,
    DamagedError,
    Hold,
    Version,
    has_changed,
    hold,
    hold_built,
    is_whole,
    put,
    put_again,
    store_folder,
)
from referee.texts import shown_toml

_KINDS = {str: "a text", int: "an integer", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot as it competes. `id` is 16 hex digits over source, options and argv.

    `folder` is where its author has it, absolute, and nothing in there is used any more. The bot runs in `home`: the
    copy of its sources in the store, `content` by name, or the build that was made of these.
    `argv` is what to execute on this machine and no part of the id; `options` is the manifest's with those of the
    tournament over them. `built` is the build that runs, None for a bot that needs none; as long as the entry is
    there, `holds` keep copy and build from being removed.
    """

    id: str
    name: str
    folder: Path
    manifest: Manifest
    options: Mapping[str, OptionValue]
    argv: tuple[str, ...]
    home: Path
    built: Built | None = None
    content: str = ""
    holds: tuple[Hold, ...] = field(default=(), repr=False, compare=False)
    environment: Environment | None = field(default=None, repr=False, compare=False)
    """In which its Python runs, with what its requirements.txt asks for; None for the referee's own Python."""
    copy_of: str = ""
    """The id of the entry of which it is a copy; '' for one that is none."""

    @property
    def builds(self) -> tuple[Built, ...]:
        """All that was made for it in the cache."""
        return (*([self.built] if self.built else []), *([self.environment.built] if self.environment else []))

    def is_built_for(self, profile: str | None) -> bool:
        """Whether what was made for it may play under this profile: strict wants a build made in the sandbox."""
        return profile != "strict" or all(built.sandbox == "strict" for built in self.builds)


def load_entry(
    folder: Path,
    name: str | None = None,
    options: Mapping[str, OptionValue] | None = None,
    *,
    built_in: Path | None = None,
    to_play: bool = True,
    elsewhere: bool = False,
) -> Entry:
    """Reads a bot folder, and keeps what it has in the store. `name` replaces the manifest's, `options` override its
    options.

    A bot that is to be built runs from the cache, from the build of exactly these sources. With `built_in` it runs in
    that folder, is not kept, and the caller answers for it. A bot whose build is not there raises NotBuiltError, unless
    it is not `to_play`: then only its id, name and sources count. One that plays `elsewhere` is kept in the store, and
    built on other machines. Raises ManifestError, EntryError or BotNameError.
    """
    with suppress(RuntimeError):  # a link that leads to itself: no folder, as is said at once
        folder = folder.resolve()
    manifest = load_manifest(folder)
    resolved = _resolve_options(manifest, options or {})
    sources = read_sources(folder, manifest)
    if built_in is not None:
        return _entry(folder, name, manifest, resolved, sources, built_in)
    if elsewhere:
        version = put(store_folder(), folder, manifest, sources)
        return _kept(_unbuilt(folder, name, manifest, resolved, sources), version)
    try:
        build = _hold_build(folder, manifest, sources) if manifest.build else None
        version = put(store_folder(), folder, manifest, sources)
        if load_manifest(version.folder) != manifest:
            raise EntryError(f"{folder / FILE_NAME}: was changed while it was read", "try again")
        return _entry(folder, name, manifest, resolved, sources, version.folder, version, build)
    except NotBuiltError:
        if to_play:
            raise
        return _unbuilt(folder, name, manifest, resolved, sources)


def is_built(folder: Path, wanted: str | None = None) -> bool:
    """Whether nothing is to be built before this bot plays under the profile `wanted`. Whatever else is wrong with it
    is said when it is loaded, also that it cannot be copied."""
    try:
        entry = load_entry(folder)
    except NotBuiltError:
        return False
    except (ManifestError, EntryError, BotNameError, PlatformError):
        return True
    return entry.is_built_for(wanted)


def load_stored(
    content: str,
    folder: Path,
    name: str | None = None,
    options: Mapping[str, OptionValue] | None = None,
    *,
    to_play: bool = True,
    elsewhere: bool = False,
    in_play: bool = False,
) -> Entry:
    """The same bot from the store, whatever lies in `folder` by now, or does not: that is looked at only where the copy
    is lost. `in_play`: another process of the run may play from its build, see `hold_built`. Raises EntryError too
    where neither is as it was, NotBuiltError if only the build is lost."""
    lost = f"{store_folder() / content}: no copy of this bot is there any more"
    version = None
    try:
        version = hold(store_folder(), content)
    except DamagedError as error:
        lost = str(error)
        version = put_again(store_folder(), content)
    if version is None:
        with suppress(ManifestError, EntryError):
            entry = load_entry(folder, name, options, to_play=to_play, elsewhere=elsewhere)
            if entry.content == content:
                return entry
        raise EntryError(f"{lost}, and {folder} has changed", "restore the folder")
    manifest = load_manifest(version.folder)
    resolved = _resolve_options(manifest, options or {})
    sources = read_sources(version.folder, manifest)
    if elsewhere:
        return _kept(_unbuilt(folder, name, manifest, resolved, sources), version)
    try:
        build = _hold_build(version.folder, manifest, sources, in_play=in_play) if manifest.build else None
        return _entry(folder, name, manifest, resolved, sources, version.folder, version, build, in_play=in_play)
    except NotBuiltError:
        if to_play:
            raise
        return _unbuilt(folder, name, manifest, resolved, sources)


def ids_with(folder: Path, several: Iterable[Mapping[str, OptionValue]]) -> list[str]:
    """The ids that the bot in this folder has with each of these options; none for options that are not its own.
    Raises as `load_entry`."""
    manifest = load_manifest(folder)
    sources = read_sources(folder, manifest)
    found = []
    for options in several:
        with suppress(EntryError):
            found.append(_id(manifest, _resolve_options(manifest, options), sources))
    return found


def copy_entry(entry: Entry, name: str) -> Entry:
    """The same bot as another entry: with a name and an id of its own, and all else the same. Raises BotNameError."""
    shown = check_name(name)
    made = blake2b(json.dumps([entry.id, shown]).encode(), digest_size=ID_BYTES, person=b"crosstown-copy")
    return replace(entry, id=made.hexdigest(), name=shown, copy_of=entry.id)


def lost_files(entry: Entry) -> str:
    """What the bot plays from and is gone, or is not as it was, in a sentence; '' if all is there. Reads all its files.

    A cleaner of caches may have removed it while the bot played: that is no fault of the bot.
    """
    if gone := lost_folders(entry):
        return gone
    for built in entry.builds:
        if has_changed(built.folder):
            return f"its build in the cache, {built.folder}, has changed since it was made"
    if not entry.content or entry.built is not None:
        return ""
    try:
        whole = is_whole(entry.home, entry.content)
    except EntryError as error:
        return f"its copy in the cache is damaged ({error})"
    return "" if whole else f"its copy in the cache, {entry.home}, has changed since the bot was loaded"


def may_have_changed(entry: Entry) -> bool:
    """Whether a file that the bot plays from looks otherwise than when it was made: `lost_files` then says what."""
    return any(map(has_changed, (entry.home, *(built.folder for built in entry.builds))))


def lost_folders(entry: Entry) -> str:
    """The same as far as it can be told at once."""
    for place in (entry.home, *(built.folder for built in entry.builds), *map(Path, entry.argv[:1])):
        if not place.exists():
            return f"{place}, which it plays from, is gone"
    return ""


def _unbuilt(
    folder: Path, name: str | None, manifest: Manifest, options: Mapping[str, OptionValue], sources: Sources
) -> Entry:
    """A bot that cannot be started yet."""
    shown = manifest.name if name is None else check_name(name)
    fixed = MappingProxyType(dict(options))
    return Entry(_id(manifest, options, sources), shown, folder, manifest, fixed, manifest.run, folder)


def _kept(entry: Entry, version: Version) -> Entry:
    """A bot that plays on other machines, which get its sources from the store."""
    return replace(entry, home=version.folder, content=version.content, holds=(version.hold,))


def _hold_build(folder: Path, manifest: Manifest, sources: Sources, *, in_play: bool = False) -> tuple[Built, Hold]:
    held = hold_built(cache_folder() / source_id(folder, manifest, sources), in_play=in_play)
    if held is None:
        command = f"crosstown bots build {shlex.quote(str(folder))}"
        what = f"{folder / FILE_NAME}: the bot is not built, or was changed since"
        raise NotBuiltError(what, f"build the bot first: {command}")
    return held


def _entry(
    folder: Path,
    name: str | None,
    manifest: Manifest,
    options: Mapping[str, OptionValue],
    sources: Sources,
    home: Path,
    version: Version | None = None,
    build: tuple[Built, Hold] | None = None,
    *,
    in_play: bool = False,
) -> Entry:
    environment = _environment(home, folder, manifest, in_play=in_play)
    if build is not None:
        home = build[0].folder
    return Entry(
        id=_id(manifest, options, sources),
        name=manifest.name if name is None else check_name(name),
        folder=folder,
        manifest=manifest,
        options=MappingProxyType(dict(options)),
        argv=find_argv(home, manifest, folder, python=environment.python if environment else sys.executable),
        home=home,
        built=build[0] if build else None,
        content=version.content if version else "",
        holds=(*((version.hold,) if version else ()), *((build[1],) if build else ())),
        environment=environment,
    )


def _environment(home: Path, folder: Path, manifest: Manifest, *, in_play: bool) -> Environment | None:
    requirements = read_requirements(home, manifest)
    if requirements is None:
        return None
    environment = hold_environment(cache_folder(), requirements, in_play=in_play)
    if environment is None:
        command = f"crosstown bots build {shlex.quote(str(folder))}"
        what = f"{folder / REQUIREMENTS}: is not installed, or was changed since"
        raise NotBuiltError(what, f"build the bot first: {command}")
    return environment


class NotBuiltError(ManifestError):
    """There is no build of exactly these sources."""


def source_id(folder: Path, manifest: Manifest, sources: Sources) -> str:
    """16 hex digits over all that a build depends on: a bot's sources in `folder`, which of them are links or may be
    executed, and our proto files where it has none. Others who have the same files share the build. EntryError."""
    return _id(manifest, {}, with_protos(with_kinds(folder, sources)))


def _id(manifest: Manifest, options: Mapping[str, OptionValue], sources: Sources) -> str:
    return digest(json.dumps([list(manifest.run), sorted(options.items())]).encode(), sources)


def _resolve_options(manifest: Manifest, given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    resolved = dict(manifest.options)
    for option, value in given.items():
        if option not in resolved:
            near = get_close_matches(option, resolved, n=1)
            has = f"name it under [options] in its bot.toml, which has: {', '.join(resolved) or 'none'}"
            advice = f"did you mean '{near[0]}'?" if near else has
            raise EntryError(f"bot '{manifest.name}': it has no option '{option}'", advice)
        if not is_option_value(value) or type(value) is not type(resolved[option]):
            default = resolved[option]
            wanted = f"{_KINDS[type(default)]}, such as {shown_toml(default)}"
            raise EntryError(
                f"bot '{manifest.name}': option '{option}' is {wanted}, not {shown_toml(value)}", "correct the value"
            )
        resolved[option] = value
    return resolved


__all__ = [
    "BotNameError",
    "Entry",
    "EntryError",
    "ManifestError",
    "NotBuiltError",
    "copy_entry",
    "is_built",
    "load_entry",
    "load_stored",
    "lost_files",
    "lost_folders",
    "may_have_changed",
]


NO_VERSION = "remote"
"""The version of a remote bot that may be of any."""


def remote_bot_entry(name: str, version: str = "", games: Sequence[str] = (ANY_GAME,)) -> Entry:
    """Named by what its author says: name and version. That the same program is behind them nobody can check.

    Raises BotNameError.
    """
    name, shown = check_name(name), version or NO_VERSION
    said = ["guest", name, shown] if version != NO_VERSION else ["guest", name, shown, "said"]
    text = json.dumps(said)
    return Entry(
        id=blake2b(text.encode(), digest_size=ID_BYTES, person=b"crosstown-guest").hexdigest(),
        name=name,
        folder=Path(),
        manifest=Manifest(name, shown, tuple(games), ()),
        options=MappingProxyType({}),
        argv=(),
        home=Path(),
    )
