"""An organiser who changes one run step by step, with the commands."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from leaderboard.completeness import gaps_of
from referee.cli.app import run_command
from referee.record import read_record
from referee.run.folder import RunFolder
from referee.run.journal import read_journal
from referee.run.participants import participants_of
from referee.run.run import Run
from referee.tournament import play as running

EXPLAINED = (0, 1, 2)
"""Exit codes: all well, an entry set aside, refused with a sentence."""


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


@dataclass
class Organiser:
    """One run below `there`, changed step by step. `command` runs a command line: exit code, stdout, stderr."""

    there: Path
    command: Callable[..., tuple[int, str, str]]
    executor_keys: dict[str, object] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    executed: list[tuple[object, dict[str, object]]] = field(default_factory=list)
    """What each executor was made with."""

    def begin(
        self,
        bots: int,
        style: str,
        blocks: int = 2,
        game: str = "toy",
        template: Path | None = None,
        *,
        more: str = "",
    ) -> None:
        lines = [f'name = "cup"\ngame = "{game}"\nseed = 1\nblocks = {blocks}\nformat = "{style}"']
        lines.append(more)
        lines.append('[remote]\nlisten = "127.0.0.1:0"\nplain = true')
        for name in [f"bot{number}" for number in range(bots)] + [f"late{number}" for number in range(3)]:
            folder = self.folders[name] = self.there / "bots" / name
            if template is None:
                folder.mkdir(parents=True)
                (folder / "bot.toml").write_text(
                    f'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
                    "[options]\ndepth = 1\n"
                )
                (folder / "bot.py").write_text("# never started here\n")
            else:
                shutil.copytree(template, folder, ignore=shutil.ignore_patterns("__pycache__"))
            (folder / "salt.txt").write_text(name)
        lines += [f'[[bots]]\npath = "bots/bot{number}"\nname = "bot{number}"' for number in range(bots)]
        self.file.write_text("\n".join(lines) + "\n")
        code, _, err = self.command("run", self.file, "--quiet")
        assert code == 0, err

    @property
    def file(self) -> Path:
        return self.there / "cup.toml"

    @property
    def run(self) -> RunFolder:
        return RunFolder(self.there / "runs" / "cup")

    def explained(self, *words: object) -> int:
        """Run a command, which must succeed or say why it does not."""
        code, _, err = self.command(*words)
        assert code in EXPLAINED, (words, code, err)
        assert "Traceback" not in err
        if code == 2:
            assert err.startswith("error: "), err
            assert "\nnext: " in err, err
        return code

    def names(self) -> list[str]:
        return [bot.name for bot in participants_of(read_journal(self.run.journal))]

    def matches(self) -> list[str]:
        return sorted(path.name.partition(".")[0] for path in self.run.matches.glob("*.gz"))

    def step(self, what: str, number: int) -> None:
        names, matches = self.names(), self.matches()
        name = names[number % len(names)]
        match = matches[number % len(matches)] if matches else "m000000-00000000"
        late = f"late{number % 3}"
        words: dict[str, tuple[object, ...]] = {
            "run": ("run", self.file, "--quiet", "--workers", 1 + number % 2),
            "withdraw": ("withdraw", "cup", name, "--choice", ["keep", "annul", "losses"][number % 3]),
            "disable": ("disable", "cup", name),
            "reinstate": ("reinstate", "cup", name),
            "add": ("add", "cup", self.there / "bots" / late),
            "add with settings": (
                "add", "cup", self.there / "bots" / late, "--name", f"own{number}", "--clock", "move_s=2",
                "--limit", "memory_mib=512", "--read", self.there / "cup.toml",
            ),
            "add remote": ("add", "cup", "--remote", "--name", f"far{number % 2}", "--token-env", f"FAR{number % 2}"),
            "annul": ("annul", "cup", match),
            "replay": ("annul", "cup", match, "--replay"),
            "extend": ("extend", "cup", ["--blocks", "--rounds"][number % 2], 1 + number % 3),
            "rejudge": ("matches", "rejudge", match, "--ranking", "1,1", "--apply"),
        }  # fmt: skip
        if what in words:
            self.explained(*words[what])
        elif what == "kill":
            self.kill(number)
        elif what == "folder gone":
            folder = list(self.folders.values())[number % len(self.folders)]
            if folder.exists():
                folder.rename(folder.with_name(f".{folder.name}"))
        elif what == "folder back":
            self.restore()
        elif what == "new version":
            folder = list(self.folders.values())[number % len(self.folders)]
            if folder.exists():
                (folder / "salt.txt").write_text(f"{folder.name} {number}")

    def kill(self, number: int) -> None:
        """In the middle of a run: what was being written is cut."""
        before = len(self.matches())

        def order(spec):
            if len(self.matches()) >= before + number % 4:
                raise Killed
            return 0

        self.executor_keys["order"] = order
        self.command("run", self.file, "--quiet")
        self.executor_keys.clear()
        if self.run.journal.exists():
            with self.run.journal.open("ab") as journal:
                journal.write(b'["void", "2026')

    def restore(self) -> None:
        for folder in self.folders.values():
            if not folder.exists():
                folder.with_name(f".{folder.name}").rename(folder)

    def check(self) -> None:
        """With all folders there as they were, the run comes to its end, and its tables hold."""
        self.restore()
        for name, folder in self.folders.items():
            if (folder / "salt.txt").read_text() != name:
                (folder / "salt.txt").write_text(name)
        for bot in participants_of(read_journal(self.run.journal)):
            if bot.joined and not bot.out and bot.folder:
                code = self.explained("run", self.file, "--quiet")
                if code == 2:  # it was added as another version than lies there by now
                    self.explained("withdraw", "cup", bot.entry_id)
        code, _, err = self.command("run", self.file, "--quiet")
        assert code in (0, 1), err
        places = [read_record(path).header.place for path in self.run.matches.glob("*.gz")]
        assert len(places) == len(set(places))
        assert not list(self.run.matches.glob("*.jsonl"))
        assert gaps_of(Run(self.run)).lost == 0
        code, out, err = self.command("standings", "cup", "--json")
        assert code == 0, err
        assert json.loads(out)["played"] <= len(places)
        before = self.run.journal.read_bytes()
        assert self.command("run", self.file, "--quiet")[0] in (0, 1)
        assert self.run.journal.read_bytes() == before, "it was finished"


def seats_of(organiser: Organiser, match: str) -> list[str]:
    return [seat.name for seat in read_record(organiser.run.records.find(match)).header.seats]


def seatings(organiser: Organiser) -> list[tuple[str, ...]]:
    """Per match in schedule order the names of its seats."""
    headers = sorted(
        (read_record(path).header for path in organiser.run.matches.glob("*.gz")), key=lambda header: header.place
    )
    return [tuple(seat.name for seat in header.seats) for header in headers]


@pytest.fixture
def organiser(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], fake_executor
) -> Iterator[Callable[[], Organiser]]:
    """organiser() is a new one, whose matches are made up; commands run in this process."""
    made: list[Organiser] = []
    places: list[tempfile.TemporaryDirectory[str]] = []

    def execute(entries, records, **keys: object):
        made[-1].executed.append((entries, keys))
        return fake_executor(records, **made[-1].executor_keys)

    def command(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        os.chdir(made[-1].there)
        code = run_command([str(word) for word in words])
        out, err = capfd.readouterr()
        return code, out, err

    def make() -> Organiser:
        places.append(tempfile.TemporaryDirectory())
        made.append(Organiser(Path(places[-1].name), command))
        return made[-1]

    monkeypatch.setattr(running, "LocalExecutor", execute)
    for number in range(2):
        monkeypatch.setenv(f"FAR{number}", f"0123456789abcdef{number}")
    before = Path.cwd()
    yield make
    os.chdir(before)
    for place in places:
        place.cleanup()
