"""How far a build is, on stderr: one line that is renewed in a terminal, elsewhere a line for each phase."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.text import Text

from referee.cli.output import console
from referee.process.build import Step
from referee.texts import one_line

DOING: dict[Step, str] = {
    "wait": "waiting for another that builds the same",
    "fetch": "fetching",
    "build": "compiling",
    "toolchain": "asking for its toolchain's version",
}


class BuildProgress:
    """Of one build: `told` is for the builder to call. Nothing is left of it on a terminal at the end."""

    def __init__(self, folder: Path) -> None:
        self._name = one_line(folder)
        self._console = console(stderr=True)
        self._live: Live | None = None
        self._doing = ""
        self._said: set[str] = set()
        self._began_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def told(self, step: Step) -> None:
        """From now on it is at this step."""
        self._doing, self._began_s = DOING[step], time.monotonic()
        if not self._console.is_terminal:
            if step != "toolchain" and self._doing not in self._said:  # asking takes no time, as a rule
                self._said.add(self._doing)
                self._console.print(f"building {self._name}: {self._doing} ...", markup=False)
        elif self._live is None:
            self._live = Live(
                get_renderable=self._line,
                console=self._console,
                refresh_per_second=2,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start(refresh=True)
        else:
            self._live.refresh()

    def _line(self) -> Text:
        seconds = time.monotonic() - self._began_s
        return Text(f"building {self._name}: {self._doing} ... {seconds:.0f} s", no_wrap=True, overflow="ellipsis")
