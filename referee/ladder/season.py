"""The end of a season: the divisions are frozen and moved aside, their secrets published, and new ones begin.

`season.json` in the ladder's folder has the number of the season and, while one is to end, that. The process that plays
sees this, decides no block any more, plays those that are decided, and ends. Whoever holds the ladder's lock then ends
the season: that process when it is started again, or the command where none plays. Each step may be cut off by a kill
and is taken up again:

1. the journal of each division tells its secret: from then on anybody can verify the matches
2. its run folder goes to `seasons/NUMBER/divisions/NAME`
3. `season.json` says that the next season has begun

Bots stay as they are in `ladder.db`: all that play join the new divisions as newcomers.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from referee.errors import PlatformError
from referee.ladder.config import LadderConfig
from referee.ladder.store import LadderStore
from referee.run.folder import RunFolder, runs_in
from referee.run.head import write_durably
from referee.run.journal import Journal, read_journal
from referee.run.lock import RunLock
from referee.run.luck import take_up


@dataclass(frozen=True, slots=True)
class Season:
    """The season that goes on. `ends`: it is to end."""

    number: int = 1
    ends: bool = False


def season_file(data: Path) -> Path:
    """Where the number of the season is kept."""
    return data / "season.json"


def read_season(data: Path) -> Season:
    """Season 1 of a ladder that never ended one. PlatformError for a file that is damaged."""
    path = season_file(data)
    try:
        found = json.loads(path.read_text(encoding="ascii"))
        return Season(int(found["number"]), bool(found["ends"]))
    except FileNotFoundError:
        return Season()
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise PlatformError(f"{path} cannot be read ({error})", "restore it from a backup") from None


def ask_for_end(data: Path) -> Season:
    """Have the season end; the one that will. Asked twice, one ends. PlatformError."""
    season = Season(read_season(data).number, ends=True)
    _write(data, season)
    return season


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
        write_durably(season_file(data), json.dumps({"number": season.number, "ends": season.ends, "at": at}) + "\n")
    except OSError as error:
        raise PlatformError(f"{season_file(data)} cannot be written ({error.strerror})", "free some space") from None


def end_if_asked(config: LadderConfig, store: LadderStore, note: Callable[[str], None]) -> bool:
    """Whether a season was to end, and has. Who calls this holds the ladder's lock. TournamentError."""
    season = read_season(config.data)
    if not season.ends:
        return False
    old = season_folder(config.data, season.number)
    for division in config.divisions:
        _close(config, RunFolder(config.folder_of(division)), old / "divisions" / division.name)
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
