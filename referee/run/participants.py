"""The bots of a run, as its journal has them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.errors import UsageError
from referee.record.journal import departures
from referee.run.folder import run_folders
from referee.run.journal import JournalText, read_journal


@dataclass(frozen=True, slots=True)
class Participant:
    """A bot as the journal has it. `folder` is where it lay, '' if it dials in or that is not known; `content` its name
    in the store, '' where an older version of Crosstown began the run; `joined` marks those that the file does not
    have. `games` are those of the run that it plays, () for all of them."""

    entry_id: str
    name: str
    version: str
    options: Mapping[str, str | int | bool]
    out: bool = False
    folder: str = ""
    joined: bool = False
    content: str = ""
    games: tuple[str, ...] = ()


def participants_of(text: JournalText) -> tuple[Participant, ...]:
    """All bots of a run, those that were added last; `out` for those that have left. None before it has begun."""
    if text.created is None:
        return ()
    gone = departures(text.controls)
    bots = text.created.fields["configuration"]["bots"]
    folders = text.created.fields.get("folders") or [""] * len(bots)
    contents = text.created.fields.get("contents") or [""] * len(bots)
    added = [line.fields for _, line in text.steps if line.kind == "added"]
    listed = [(bot, folder, content, False) for bot, folder, content in zip(bots, folders, contents, strict=True)]
    listed += [(bot, bot["folder"], bot.get("content", ""), True) for bot in added]
    return tuple(
        Participant(
            bot["entry_id"],
            bot["name"],
            bot["version"],
            bot["options"],
            bot["entry_id"] in gone,
            _folder(there),
            joined,
            content,
            tuple(bot.get("games", ())),
        )
        for bot, there, content, joined in listed
    )


def _folder(there: str) -> str:
    """'' for the "." that older journals have for a bot that dials in: it is not a folder."""
    return there if Path(there).is_absolute() else ""


def newest_participants(out: Path, name: str) -> tuple[Participant, ...]:
    """The bots of the newest run of a tournament: those of them that have left need not be on the disk any more."""
    for folder in reversed(run_folders(out, name)):
        text = read_journal(folder.journal)
        if text.created is not None:
            return participants_of(text)
    return ()


def find_participant(bots: Sequence[Participant], wanted: str) -> Participant:
    """By its name or its entry id; of several that had a name one after the other the one that has it now, else the
    last. UsageError if there is none, and for a name that is the entry id of another: authors choose names."""
    by_id = next((bot for bot in bots if bot.entry_id == wanted), None)
    other = next((bot for bot in bots if by_id is not None and bot.name == wanted and bot is not by_id), None)
    if by_id is not None and other is not None:
        what = (
            f"'{wanted}' is the entry id of '{by_id.name}', and the name of the bot with the entry id {other.entry_id}"
        )
        raise UsageError(what, f"name the one '{by_id.name}', and the other {other.entry_id}")
    if found := [bot for bot in bots if wanted in (bot.name, bot.entry_id)]:
        return next((bot for bot in found if not bot.out), found[-1])
    names = ", ".join(f"'{bot.name}'" for bot in bots)
    raise UsageError(f"no bot '{wanted}' in this run", f"its bots are: {names}")
