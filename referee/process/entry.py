"""An entry: one bot version with its options, named by a hash of its content."""

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from referee.process.built import Built, Hold, cache_folder, hold_built
from referee.process.manifest import FILE_NAME, Manifest, ManifestError, OptionValue, is_option_value, load_manifest
from referee.process.names import BotNameError, check_name
from referee.process.program import find_argv
from referee.process.sources import EntryError, Sources, digest, read_sources, with_protos

_KINDS = {str: "a text", int: "an integer", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot as it competes. `id` is 16 hex digits over source, options and argv.

    `folder` is the bot's own, absolute; it runs in `home`, that folder or the copy of it that was built.
    `argv` is what to execute on this machine and no part of the id; `options` is the manifest's with those of the
    tournament over them. `built` is the build that runs, None for a bot that needs none; as long as the entry is
    there, `hold` keeps that build from being removed.
    """

    id: str
    name: str
    folder: Path
    manifest: Manifest
    options: Mapping[str, OptionValue]
    argv: tuple[str, ...]
    home: Path
    built: Built | None = None
    hold: Hold | None = field(default=None, repr=False, compare=False)


def load_entry(
    folder: Path,
    name: str | None = None,
    options: Mapping[str, OptionValue] | None = None,
    *,
    built_in: Path | None = None,
) -> Entry:
    """Reads a bot folder. `name` replaces the manifest's, `options` override its options.

    A bot that is to be built runs from the cache, from the build of exactly these sources; or from `built_in`, if the
    caller has built them there and answers for it. Raises ManifestError, EntryError or BotNameError.
    """
    with suppress(RuntimeError):  # a link that leads to itself: no folder, as is said at once
        folder = folder.resolve()
    manifest = load_manifest(folder)
    resolved = _resolve_options(manifest, options or {})
    sources = read_sources(folder, manifest)
    home, built, hold = built_in or folder, None, None
    if manifest.build and built_in is None:
        held = hold_built(cache_folder() / source_id(manifest, sources))
        if held is None:
            command = f"crosstown bots build {shlex.quote(str(folder))}"
            what = f"{folder / FILE_NAME}: the bot is not built, or was changed since"
            raise NotBuiltError(f"{what}; build the bot first: {command}")
        built, hold = held
        home = built.folder
    return Entry(
        id=_id(manifest, resolved, sources),
        name=manifest.name if name is None else check_name(name),
        folder=folder,
        manifest=manifest,
        options=MappingProxyType(resolved),
        argv=find_argv(home, manifest),
        home=home,
        built=built,
        hold=hold,
    )


class NotBuiltError(ManifestError):
    """There is no build of exactly these sources."""


def source_id(manifest: Manifest, sources: Sources) -> str:
    """16 hex digits over all that a build depends on: a bot's sources, and our proto files where it has none."""
    return _id(manifest, {}, with_protos(sources))


def _id(manifest: Manifest, options: Mapping[str, OptionValue], sources: Sources) -> str:
    return digest(json.dumps([list(manifest.run), sorted(options.items())]).encode(), sources)


def _resolve_options(manifest: Manifest, given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    resolved = dict(manifest.options)
    for option, value in given.items():
        if option not in resolved:
            near = get_close_matches(option, resolved, n=1)
            advice = f"did you mean '{near[0]}'?" if near else f"it has: {', '.join(resolved) or 'none'}"
            raise EntryError(f"bot '{manifest.name}': it has no option '{option}'; {advice}")
        if not is_option_value(value) or type(value) is not type(resolved[option]):
            default = resolved[option]
            example = str(default).lower() if isinstance(default, bool) else repr(default)
            wanted = f"{_KINDS[type(default)]}, such as {example}"
            raise EntryError(f"bot '{manifest.name}': option '{option}' is {wanted}, not {value!r}; correct the value")
        resolved[option] = value
    return resolved


__all__ = ["BotNameError", "Entry", "EntryError", "ManifestError", "NotBuiltError", "load_entry"]
