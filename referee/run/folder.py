"""The run folder: where it is, what lies in it, and whether it belongs to this tournament."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import ChangedError, JournalError, PlatformError, UsageError
from referee.folders import file_to_write
from referee.record.archive import SUFFIX as PACKED_SUFFIX
from referee.record.files import open_ordinary
from referee.record.journal import JOURNAL
from referee.record.store import RecordStore, names_record
from referee.run.head import head_file
from referee.run.journal import JournalText, read_journal
from referee.schedule.config import digest, make_field
from referee.schedule.formats.registry import UnknownFormat, get_format
from referee.schedule.spec import RESOURCE_KEYS

SINGLE = "single"
"""The run folder, and the tournament in the records, of matches that belong to no tournament."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """What a run folder has besides its records, and where."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def records(self) -> RecordStore:
        return RecordStore.of_run(self.path)

    @property
    def matches(self) -> Path:
        """Where the records lie that count."""
        return self.records.folder

    @property
    def void(self) -> Path:
        """Where the records lie that were set aside."""
        return self.records.aside

    @property
    def journal(self) -> Path:
        return self.path / JOURNAL

    @property
    def secrets(self) -> Path:
        """Of the luck, see `luck`. For the organiser alone: no bot, no page and no export may have it."""
        return self.path / "luck.secret"

    @property
    def signature(self) -> Path:
        """Of the journal's head, see `signing`."""
        return self.path / "tournament.signature"

    @property
    def database(self) -> Path:
        return self.path / "crosstown.db"

    @property
    def lock(self) -> Path:
        return self.path / "run.lock"

    @property
    def machines(self) -> Path:
        """The machines of a cluster, while they play."""
        return self.path / "machines.json"

    @property
    def worker_log(self) -> Path:
        return self.path / "workers.log"

    @property
    def certificates(self) -> Path:
        """The folder of the certificate that remote bots trust, and its key."""
        return self.path / "tls"

    def owns(self, place: Path) -> bool:
        """Whether this is a file of the run, which no command could make again: below its folder, and neither a report
        nor an export. A record is one without its journal, too."""
        own = {self.journal, head_file(self.journal), self.secrets, self.signature, self.lock, self.machines}
        own |= {self.database, self.matches, self.certificates}
        if self.journal.exists():
            return not own.isdisjoint((place, *place.parents))
        return self.matches in place.parents and (names_record(place.name) or place.name.endswith(PACKED_SUFFIX))

    def changed(self) -> tuple[int, int, int]:
        """Another value when a record came or went, or something was decided. A live record that grows changes
        nothing."""
        try:
            journal = self.journal.stat()
        except OSError:
            return self.records.changed_ns(), 0, 0
        return self.records.changed_ns(), journal.st_mtime_ns, journal.st_size

    def make(self) -> None:
        """PlatformError if it cannot be made."""
        try:
            self.records.make()
        except OSError as error:
            raise PlatformError(
                f"cannot make the folder {error.filename}: {error.strerror}", "choose another place with --out"
            ) from error


def output_file(path: Path, otherwise: str) -> Path:
    """As `file_to_write`, for a report or an export. UsageError, too, for a file that is there and that no command
    could make again: of a run, or a TOML file, which people write."""
    place = file_to_write(path, otherwise)
    if not place.exists():
        return place
    for run in map(RunFolder, place.parents):
        if run.owns(place):
            raise UsageError(f"cannot write {path}: it is a file of the run in {run.path}", otherwise)
    if place.suffix == ".toml":
        raise UsageError(f"cannot write {path}: it is there, and may be a tournament file", otherwise)
    return place


def folders_in(folder: Path) -> list[Path]:
    """The folders in a folder, by name. Without those that this user may not read or enter, as the runs of another
    user are. OSError if the folder itself cannot be read."""
    with os.scandir(folder) as entries:
        return sorted(Path(entry.path) for entry in entries if entry.is_dir() and os.access(entry, os.R_OK | os.X_OK))


def runs_in(folder: Path) -> list[RunFolder]:
    """All folders below `folder` that have records, the one that changed last first."""
    try:
        found = [RunFolder(path) for path in folders_in(folder)]
    except OSError:
        return []
    return sorted((run for run in found if run.records.exists), key=lambda run: (-max(run.changed()[:2]), run.name))


def why_no_address(run: RunFolder) -> str:
    """Why the name of the folder cannot be part of an address, as that of a folder from elsewhere; '' if it can."""
    try:
        run.name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return "its name has a line end" if "\n" in run.name else ""


def choose_folder(out: Path, description: Mapping[str, Any], *, new: bool) -> RunFolder:
    """Where this tournament runs: `out/<name>`, or `out/<name>-2` and so on after `new`. Writes nothing.

    A run of the same configuration is taken up again, the newest first, also from a folder that was renamed: what the
    journal says counts. ChangedError, with the differences, if there are only runs of the same name with another
    configuration, or runs that differ in the name alone, and not `new`. UsageError if more than one renamed folder is
    such a run, or for a new run that would have the folder of single matches.
    """
    name = description["name"]
    if name == SINGLE and (new or not any(read_journal(run.journal).created for run in _numbered(out, name))):
        raise UsageError(
            f"{out / SINGLE} is the folder of the matches that 'crosstown match' plays",
            'give the tournament another name: name = "..." in its file',
        )
    fresh: RunFolder | None = None
    refused: ChangedError | None = None
    for folder in () if new else reversed(_numbered(out, name)):
        journal = read_journal(folder.journal)
        if journal.created is None:
            check_no_records(folder)
            fresh = fresh or folder  # a run that was killed before it began
            continue
        error = check_configuration(folder, journal, description)
        if error is None:
            return folder
        refused = refused or error
    if not new and (renamed := _renamed(out, description)):
        return renamed
    if refused:
        raise refused
    if not new and fresh is None:
        _check_name(out, description)
    return fresh or RunFolder(_free_path(out, name))


def title_of(folder: RunFolder, name: str) -> str:
    """What a run of this tournament is called: 'cup', or 'cup (cup-2)' for another one in a folder of its own."""
    return name if folder.path.name == name else f"{name} ({folder.path.name})"


def is_renamed(folder: RunFolder, name: str) -> bool:
    """Whether a run of the tournament lies in a folder that is called otherwise."""
    return not _number(folder.path.name, name)


def _renamed(out: Path, description: Mapping[str, Any]) -> RunFolder | None:
    found = [
        folder
        for folder, configuration in _configurations(out)
        if configuration.get("name") == description["name"] and _longer(folder, configuration, description) is not None
    ]
    if len(found) > 1:
        raise several_renamed(out, description["name"], found)
    return found[0] if found else None


def several_renamed(out: Path, name: str, found: Sequence[RunFolder]) -> UsageError:
    """The error where a tournament file may mean several runs, whose folders are not called as it is."""
    what = f"{len(found)} folders have a run of '{name}': {', '.join(sorted(str(one.path) for one in found))}"
    return UsageError(what, f"rename the one to continue to {out / name}, or start another run with --new")


def _check_name(out: Path, description: Mapping[str, Any]) -> None:
    """ChangedError if there is a run of just this tournament under another name, whatever its length."""
    for folder, configuration in under_other_names(out, description):
        lines = changes(configuration, description)
        raise ChangedError(
            f"the run in {folder.path} is of this tournament under another name: {'; '.join(lines)}",
            "give the tournament its name back to continue that run, or start another with --new",
            lines,
        )


def under_other_names(out: Path, description: Mapping[str, Any]) -> Iterator[tuple[RunFolder, Mapping[str, Any]]]:
    """The runs in `out`, with their configurations, whose tournaments differ from this one in the name, and maybe in
    their length, alone."""
    for folder, configuration in _configurations(out):
        name = configuration.get("name")
        if name != description["name"] and _differs_in_length(configuration, {**description, "name": name}):
            text = JournalText()
            with suppress(JournalError, PlatformError):
                text = read_journal(folder.journal)
            yield folder, text.configuration if text.created else configuration


def _longer(
    folder: RunFolder, configuration: Mapping[str, Any], description: Mapping[str, Any]
) -> Mapping[str, float] | None:
    """As `lengthening`, of the run in the folder, which began with this configuration; its journal is read only where
    nothing but the length differs."""
    if digest(configuration) == digest(description):
        return {}
    with suppress(JournalError, PlatformError):
        same = _differs_in_length(configuration, description)
        journal = read_journal(folder.journal) if same else JournalText()
        return None if journal.created is None else lengthening(journal, description)
    return None


def _differs_in_length(begun: Mapping[str, Any], description: Mapping[str, Any]) -> bool:
    """Whether these are configurations of one tournament that differ, if at all, in how long it is."""
    one, other = (digest({**values, "blocks": 0, "settings": {}}) for values in (begun, description))
    if one != other:
        return False
    try:
        lengths = get_format(begun["format"]).lengths(make_field(begun))
    except UnknownFormat:
        return digest(begun) == digest(description)
    settings = {name: value for name, value in begun["settings"].items() if name in lengths}
    kept = {"settings": {**description["settings"], **settings}}
    if "blocks" in lengths:
        kept["blocks"] = begun["blocks"]
    return digest({**description, **kept}) == digest(begun)


def _configurations(out: Path) -> Iterator[tuple[RunFolder, dict[str, Any]]]:
    """Every run in `out` with what it was begun with; passed over where that cannot be read."""
    for path in sorted(out.iterdir()) if out.is_dir() else ():
        folder = RunFolder(path)
        if (configuration := _begun_with(folder)) is not None:
            yield folder, configuration


def _begun_with(folder: RunFolder) -> dict[str, Any] | None:
    """What a run was begun with, by its journal's first line, which alone is read; None where that is none."""
    with suppress(OSError, ValueError, TypeError, LookupError, RecursionError), open_ordinary(folder.journal) as file:
        configuration = json.loads(file.readline())[2]["configuration"]
        digest(configuration)
        if isinstance(configuration, dict):
            return configuration
    return None


def has_run(out: Path, description: Mapping[str, Any]) -> bool:
    """Whether there is a run of just this configuration."""
    journals = [read_journal(folder.journal) for folder in run_folders(out, description["name"])]
    return any(text.created is not None and text.created.fields["hash"] == digest(description) for text in journals)


def check_configuration(folder: RunFolder, journal: JournalText, description: Mapping[str, Any]) -> ChangedError | None:
    """The error if the run in `folder` began with another configuration; not for one that only makes it longer."""
    if journal.created is None or lengthening(journal, description) is not None:
        return None
    lines = changes(journal.configuration, description)
    if (lengths := _lengths(journal, description)) is None:
        return ChangedError(
            f"the configuration has changed since the run in {folder.path} began: {'; '.join(lines)}",
            "undo the change, or start a new run beside it with --new; the old one is kept",
            lines,
        )
    has, wanted = lengths
    short = [name for name in wanted if is_shorter(name, wanted[name], has[name])]
    file = {**description["settings"], "blocks": description["blocks"]}
    said = "; ".join(
        f"{name} = {has[name]}, and the file "
        + (f"without {name} asks for {wanted[name]}" if file.get(name) is None else f"says {wanted[name]}")
        for name in short
    )
    lowest = " and ".join(f"{name} = {has[name]}" for name in short)
    return ChangedError(
        f"the run in {folder.path} has {said}: a run cannot become shorter",
        f"write {lowest} in the file to continue the run, or start a new one beside it with --new; the old one is kept",
        lines,
    )


def lengthening(journal: JournalText, description: Mapping[str, Any]) -> Mapping[str, float] | None:
    """What a configuration extends a run to that has begun, by the keys of `Format.lengths`: nothing if it is the one
    that the run began with, or that it has now. None if something else differs, or if it would make the run shorter: a
    length that the file had before the command `extend` made the run longer does not."""
    if (lengths := _lengths(journal, description)) is None:
        return None
    has, wanted = lengths
    if any(is_shorter(name, wanted[name], has[name]) for name in wanted):
        return None
    return {name: value for name, value in wanted.items() if value != has[name]}


def _lengths(
    journal: JournalText, description: Mapping[str, Any]
) -> tuple[Mapping[str, float], Mapping[str, float]] | None:
    """How long a run is that has begun, and how long this configuration asks it to be; None if anything else differs.
    Nothing for the configuration that it began with."""
    assert journal.created is not None
    begun = journal.begun_with
    if digest(description) == journal.created.fields["hash"]:
        return {}, {}
    if not _differs_in_length(begun, description):
        return None
    lengths = get_format(begun["format"]).lengths
    at_first = lengths(make_field(begun))
    has, in_file = {**at_first, **journal.length}, {**at_first, **journal.length_by_file}
    wanted = {
        name: has.get(name, value) if value == in_file.get(name) else value
        for name, value in lengths(make_field(description)).items()
    }
    return (has, wanted) if wanted.keys() == has.keys() else None


def is_shorter(name: str, length: float, other: float) -> bool:
    """Whether a schedule is shorter by this length than by the other; `name` is the key of both."""
    return length > other if name == "precision" else length < other


def run_folders(out: Path, name: str) -> list[RunFolder]:
    """All runs of the tournament of this name under `out`, oldest first; those whose folder was renamed only where
    there is no other."""
    found = _numbered(out, name)
    return found or [folder for folder, configuration in _configurations(out) if configuration.get("name") == name]


def _numbered(out: Path, name: str) -> list[RunFolder]:
    if not out.is_dir():
        return []
    numbered = [(number, path) for path in out.iterdir() if (number := _number(path.name, name)) and path.is_dir()]
    return [folder for _, path in sorted(numbered) if _belongs(folder := RunFolder(path), name)]


def _belongs(folder: RunFolder, name: str) -> bool:
    """Whether the folder's run is of this tournament, not of one that is called like a numbered run of it."""
    begun = _begun_with(folder)
    return begun is None or begun.get("name") == name  # the command that continues a damaged run names the damage


def check_no_records(folder: RunFolder) -> None:
    """JournalError if a folder without a journal has records of matches."""
    if folder.records.paths():
        raise JournalError(
            f"{folder.path} has match records but no journal",
            f"restore {folder.journal.name} from a copy, or start a new run beside this one with --new",
        )


def _number(folder_name: str, name: str) -> int:
    """1 for `name`, n for `name-n`, 0 for anything else."""
    if folder_name == name:
        return 1
    match = re.fullmatch(re.escape(name) + r"-([2-9]|[1-9][0-9]+)", folder_name)
    return int(match[1]) if match else 0


def _free_path(out: Path, name: str) -> Path:
    """`name`, or the first number that is above all that are taken."""
    taken = [_number(path.name, name) for path in out.iterdir()] if out.is_dir() else []
    highest = max(taken, default=0)
    return out / (name if highest == 0 else f"{name}-{highest + 1}")


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each difference, such as "seed: 1 -> 2". Bots are told apart by place."""
    before, after = dict(_flat(old)), dict(_flat(new))
    keys = [*before, *(key for key in after if key not in before)]
    lines: list[str] = []
    for key in keys:
        one, other = before.get(key), after.get(key)
        if key in before and key in after and one == other:
            continue
        lines.append(f"{_name(key, old, new)}: {_short(before, key)} -> {_short(after, key)}")
    return tuple(lines)


def _flat(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if key in ("bots", "games"):
            for place, bot in enumerate(item, start=1):
                yield from _flat_item(f"{key}[{place}]", bot)
        elif isinstance(item, Mapping):
            for name, inner in item.items():
                if name == "stages":  # of the format of this name, whose module would take long to import
                    for place, stage in enumerate(inner, start=1):
                        yield from _flat_item(f"{name}[{place}]", {**stage, **stage["settings"], "settings": {}})
                else:
                    yield f"{key}.{name}", inner
        else:
            yield key, item


def _flat_item(where: str, item: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in item.items():
        if isinstance(inner, Mapping):
            yield from ((f"{where}.{name}.{key}", value) for key, value in inner.items())
        else:
            yield f"{where}.{name}", inner


def _name(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The key as the file has it, and for a changed source whose it is."""
    if ".clock." in key and key.rpartition(".")[2] in RESOURCE_KEYS:
        return key.replace(".clock.", ".limits.")
    if not key.startswith("bots[") or not key.endswith(".entry_id"):
        return key
    place = int(key[len("bots[") : key.index("]")]) - 1
    names = [plan["bots"][place]["name"] for plan in (old, new) if place < len(plan["bots"])]
    return f"{key} (source and options of '{names[-1]}')"


def _short(values: Mapping[str, Any], key: str) -> str:
    if key not in values:
        return "nothing"
    text = json.dumps(values[key], sort_keys=True)
    return text if len(text) <= 60 else text[:57] + "..."
