"""The tournaments of `crosstown run` that the organisers of a ladder steer on its pages."""

from dataclasses import dataclass
from pathlib import Path

from referee.run.decisions import JoiningBot
from referee.run.run import Run
from referee.tournament.joining import load_joining


@dataclass(frozen=True, slots=True)
class SteeredTournaments:
    """Implements `leaderboard.web.people.Tournaments` for the runs in `folder`. `closed` are the folders
    that hold what was handed in."""

    folder: Path
    closed: tuple[Path, ...] = ()

    def joining(self, run: Run, folder: Path, name: str, club: str) -> JoiningBot:
        more = {"club": club} if club.strip() else {}
        return load_joining(run.journal, folder, name.strip() or None, more, run.file)
