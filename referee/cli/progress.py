"""Progress of a run on stderr: a bar in a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from referee.cli.output import console, duration, one_line

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_EVERY_S = 10.0


class ProgressReport:
    """The runner's observer. Shows what happens and hands each record on to `on_record`."""

    def __init__(self, title: str, on_record: Callable[[Path], None], *, quiet: bool = False) -> None:
        self._title = title
        self._on_record = on_record
        self._quiet = quiet
        self._console = console(stderr=True)
        self._bar: Progress | None = None
        self._task: Any = None
        self._total = self._done = self._found = self._given_up = 0
        self._began_s = self._said_s = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begun(self, total: int, done: int) -> None:
        self._total, self._done, self._found = total, done, done
        self._began_s = self._said_s = time.monotonic()
        if done and done < total:
            self.note(f"going on: {done} of {total} matches are there")
        if self._quiet or not self._console.is_terminal or done == total:
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.text import Text

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            console=self._console,
        )
        self._task = self._bar.add_task(Text(self._title).markup, total=total, completed=done, pace="")
        self._bar.start()

    def rated(self, record: Path) -> None:
        self._done += 1
        self._on_record(record)
        self._show()

    def given_up(self, missing: int) -> None:
        self._given_up += missing
        self._show()

    def note(self, sentence: str) -> None:
        if not self._quiet:
            self._console.print(one_line(sentence), markup=False)

    @property
    def elapsed_s(self) -> float:
        """Since the first match was handed out."""
        return time.monotonic() - self._began_s

    def pace(self) -> str:
        """Rate, time left, and what was given up: '9.8 matches/s, 3.2 s left'."""
        played = self._done - self._found
        if not played:
            return ""
        rate = played / max(self.elapsed_s, 1e-9)
        left = self._total - self._done - self._given_up
        lost = f", {self._given_up} given up" if self._given_up else ""
        return f"{rate:.1f} matches/s, {duration(left / rate)} left{lost}"

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done + self._given_up, pace=self.pace())
        elif time.monotonic() - self._said_s >= LINE_EVERY_S:
            self._said_s = time.monotonic()
            self.note(f"{self._title}: {self._done} of {self._total} matches, {self.pace()}")
