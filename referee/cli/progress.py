"""Progress of a run on stderr: a bar in a terminal, a line now and then elsewhere."""

import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from referee.cli.output import console, duration
from referee.texts import one_line
from referee.tournament.runner import Reached

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_EVERY_S = 10.0


class Records(Protocol):
    """Who keeps up with the records that count."""

    def add(self, record: Path) -> None: ...

    def drop(self, record: Path) -> None: ...


class ProgressReport:
    """The runner's observer. Shows where the run stands, and hands on which records count and which no more."""

    def __init__(self, title: str, records: Records, *, quiet: bool = False) -> None:
        self._title = title
        self._records = records
        self._quiet = quiet
        self._console = console(stderr=True)
        self._bar: Progress | None = None
        self._task: Any = None
        self._start = self._at = Reached(0, 0, 0)
        self._began_s = self._said_s = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begun(self, at: Reached) -> None:
        self._start = self._at = at
        done, total = at.done, at.total
        self._began_s = self._said_s = time.monotonic()
        if done and done < total:
            self.note(f"going on: {_of(at, done)} matches are there")
        if self._quiet or not self._console.is_terminal or done + at.off == total:
            return
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.text import Text

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[number]}"),
            TextColumn("{task.fields[pace]}"),
            console=self._console,
        )
        settled = done + at.off
        self._task = self._bar.add_task(
            Text(self._title).markup, total=total, completed=settled, number=_of(at, settled), pace=""
        )
        self._bar.start()

    def reached(self, at: Reached) -> None:
        self._at = at
        self._show()

    def rated(self, record: Path) -> None:
        self._records.add(record)

    def revoked(self, record: Path) -> None:
        self._records.drop(record)

    def note(self, sentence: str) -> None:
        if not self._quiet:
            self._console.print(one_line(sentence), markup=False)

    @property
    def elapsed_s(self) -> float:
        """Since the first match was handed out."""
        return time.monotonic() - self._began_s

    def pace(self) -> str:
        """Rate, time left, and what is not tried again: '9.8 matches/s, 3.2 s left, 4 given up'."""
        at, elapsed_s = self._at, max(self.elapsed_s, 1e-9)
        played = at.done - self._start.done
        if played <= 0:
            return ""
        settled = played + at.off - self._start.off
        left_s = (at.total - at.done - at.off) * elapsed_s / settled
        off = f", {at.off} given up" if at.off else ""
        most = "at most " if at.at_most else ""
        return f"{played / elapsed_s:.1f} matches/s, {most}{duration(left_s)} left{off}"

    def _show(self) -> None:
        if self._bar is not None:
            done = self._at.done + self._at.off
            number = _of(self._at, done)
            self._bar.update(self._task, total=self._at.total, completed=done, number=number, pace=self.pace())
        elif time.monotonic() - self._said_s >= LINE_EVERY_S:
            self._said_s = time.monotonic()
            pace = f", {pace}" if (pace := self.pace()) else ""
            self.note(f"{self._title}: {_of(self._at, self._at.done)} matches{pace}")


def _of(at: Reached, number: int) -> str:
    return f"{number} of {'at most ' if at.at_most else ''}{at.total}"
