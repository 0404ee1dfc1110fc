"""The end of a season: the divisions are frozen and moved aside, their secrets published, and new ones begin.

`season.json` in the ladder's folder has the number of the season and, while one is to end, that. The process that plays
sees this, decides no block any more, plays those that are decided, and ends. When the last block is over, `season.json`
says so. Then the holder of the ladder's lock ends the season: that process when it is started again, or the command
if none plays. Each step may be cut off by a kill and is taken up again:

1. the blocks that are decided are played; a process that is started again plays what is left of them
2. `season.json` says that they are over
3. the journal of each division publishes its secret: from then on anybody can verify the matches
4. its run folder goes to `seasons/NUMBER/divisions/NAME`, also if the ladder's file no longer names the division
5. `season.json` says that the next season has begun

Bots stay as they are in `ladder.db`: all that play join the new divisions as newcomers.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from referee.errors import JournalError, PlatformError, why_unread
from referee.ladder.config import LadderConfig
from referee.ladder.store import LadderStore
from referee.run.folder import RunFolder, runs_in
from referee.run.head import write_durably
from referee.run.journal import Journal, read_journal
from referee.run.lock import RunLock
from referee.run.luck import take_up
from referee.run.run import Run


@dataclass(frozen=True, slots=True)
class Season:
    """The current season. `ends`: it is to end. `over`: it is to end, and no block is left to play."""

    number: int = 1
    ends: bool = False
    over: bool = False


def season_file(data: Path) -> Path:
    """Where the number of the season is kept."""
    return data / "season.json"


def read_season(data: Path) -> Season:
    """Season 1 of a ladder that never ended one. PlatformError for a file that is damaged."""
    path = season_file(data)
    try:
        found = json.loads(path.read_text(encoding="ascii"))
        return Season(int(found["number"]), bool(found["ends"]), bool(found.get("over", False)))
    except FileNotFoundError:
        return Season()
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise PlatformError(f"{path} cannot be read ({why_unread(error)})", "restore it from a backup") from None


def ask_for_end(data: Path) -> Season:
    """Ask for the end of the season, and return it. Asking twice ends one season. PlatformError."""
    season = replace(read_season(data), ends=True)
    _write(data, season)
    return season


def note_over(data: Path) -> None:
    """Write down that the blocks of the season are over, or will not be played. PlatformError."""
    _write(data, replace(read_season(data), ends=True, over=True))


def matches_left(config: LadderConfig) -> int:
    """How many matches of the blocks that are decided have no result yet. A run that cannot be read has none left."""
    return sum(_left_in(run) for run in runs_in(config.data / "divisions"))


def _left_in(folder: RunFolder) -> int:
    try:
        run = Run(folder)
        counted = run.anchors.digests if run.begun else {}
    except JournalError:
        return 0
    if not run.begun:
        return 0
    return sum(state == "open" and spec.match_id not in counted for spec, state in run.progress([]))


def season_folder(data: Path, number: int) -> Path:
    """Where a season lies that has ended."""
    return data / "seasons" / str(number)


def ended_on(data: Path, number: int) -> str:
    """The day when a season ended: that of the last line of its journals."""
    runs = runs_in(season_folder(data, number) / "divisions")
    return max((line.at[:10] for run in runs for line in read_journal(run.journal).events[-1:]), default="")


def _write(data: Path, season: Season) -> None:
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    try:
        write_durably(season_file(data), json.dumps({**asdict(season), "at": at}) + "\n")
    except OSError as error:
        raise PlatformError(f"{season_file(data)} cannot be written ({error.strerror})", "free some space") from None


def end_if_over(config: LadderConfig, store: LadderStore, note: Callable[[str], None]) -> bool:
    """End a season that is to end and whose blocks are over; returns whether one has ended. The caller holds the
    ladder's lock. TournamentError."""
    season = read_season(config.data)
    if not (season.ends and season.over):
        return False
    old = season_folder(config.data, season.number)
    for run in runs_in(config.data / "divisions"):
        try:
            _close(config, run, old / "divisions" / run.name)
        except JournalError as error:  # it is not played either, and the others go on
            note(f"{run.path} stays where it is: {error}; {error.next_step}")
    store.forget_breaks()
    _write(config.data, Season(season.number + 1))
    note(f"season {season.number} has ended, and season {season.number + 1} begins")
    return True


def _close(config: LadderConfig, run: RunFolder, target: Path) -> None:
    """Tell the secret, and move the run; nothing for one that is moved already, or never began."""
    if not run.journal.exists():
        return
    if target.exists():
        what = f"{run.path} belongs to a season that has ended, and {target} is there already"
        raise PlatformError(what, "move one of them away")
    with RunLock(run.lock):
        text = read_journal(run.journal)
        if text.created is not None:
            keeper = take_up(run.secrets, text, config.matchmaking.seed)
            with Journal(run.journal, text) as journal:
                keeper.reveal(journal)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            run.path.rename(target)
        except OSError as error:
            raise PlatformError(
                f"{run.path} cannot be moved ({error.strerror})", "check the rights of its folder"
            ) from None
