"""Builds bots before they play, and shows how far a build is."""

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.text import Text

from referee.cli.output import console, duration
from referee.errors import PlatformError
from referee.process.build import BuildError, NoRoomError, Step, Yard, build
from referee.process.cgroup import find
from referee.process.checkup import SandboxError, choose_profile, probe
from referee.process.entry import Entry, EntryError, NotBuiltError, is_built, load_entry
from referee.process.manifest import BotNameError, ManifestError
from referee.process.sandbox import Profile
from referee.process.store import Built
from referee.texts import one_line
from referee.tournament.confine import private_places


def build_bot(
    folder: Path,
    *,
    again: bool = False,
    wanted: Profile | None = None,
    hidden: tuple[str, ...] = (),
    begun: bool = False,
    accept_weaker: bool = False,
) -> tuple[Built, bool]:
    """See `referee.process.build.build`. `wanted`: the sandbox; None for the strict one where it works, else none,
    with a warning. `hidden`: what the build does not see. PlatformError if strict is asked for and does not
    work here. A run that has `begun`, whose file must stay what it is, builds without it with `accept_weaker`."""
    found = probe()
    try:
        profile = choose_profile(wanted, found)
    except SandboxError as error:
        if not begun:
            step = f'{error.next_step}; or build and play without: profile = "plain" in [sandbox], or --sandbox plain'
            raise PlatformError(str(error), step) from None
        if not accept_weaker:
            step = f"{error.next_step}; or continue this run without it: --accept-weaker-sandbox"
            raise PlatformError(str(error), step) from None
        profile = "plain"
    if wanted != "plain" and profile == "plain":
        print(f"warning: bots are built WITHOUT A SANDBOX ({found.why}); to have one: {found.fix}", file=sys.stderr)
    with BuildProgress(folder) as progress:
        return build(folder, Yard(profile, cgroups=find(), told=progress.told, hidden=hidden), again=again)


def load_or_build(
    folder: Path,
    wanted: Profile | None = None,
    hidden: tuple[str, ...] = (),
    *,
    begun: bool = False,
    accept_weaker: bool = False,
) -> Entry:
    """The entry of a bot; one that is not built as it is now is built first, and stderr says so. So is one that was
    built without the sandbox where that is wanted. `begun`, `accept_weaker`: see `build_bot`."""
    try:
        entry = load_entry(folder)
        if entry.is_built_for(wanted):
            return entry
    except NotBuiltError:
        pass
    built, fresh = build_bot(folder, wanted=wanted, hidden=hidden, begun=begun, accept_weaker=accept_weaker)
    if fresh:
        print(f"built {one_line(folder)} in {duration(built.fetch_s + built.build_s)}", file=sys.stderr, flush=True)
    return load_entry(folder)


def build_missing(
    folders: Iterable[tuple[Path, Profile | None]],
    out: Path,
    tournament_file: Path | None = None,
    *,
    begun: bool = False,
    accept_weaker: bool = False,
    skip_bad: bool = False,
) -> None:
    """Build the bots that are not built as they are now, each under its profile, and none that sees another, the runs
    in `out` or the tournament's file; whatever else is wrong with one is told when it is loaded. `begun`,
    `accept_weaker`: see `build_bot`. With `skip_bad`, a build that fails is reported, and the others go on."""
    wanted = list(folders)
    bots = [folder for folder, _ in wanted]
    hidden = private_places([*bots, *([tournament_file] if tournament_file else [])], out, bots)
    for folder, profile in wanted:
        try:
            with suppress(ManifestError, EntryError, BotNameError):
                if is_built(folder, profile):
                    continue
                load_or_build(folder, profile, hidden, begun=begun, accept_weaker=accept_weaker)
        except BuildError as error:
            if not skip_bad or isinstance(error, NoRoomError):
                raise
            print(f"{one_line(folder)}: not built: {one_line(error)}\n{end_of_log(error)}".rstrip(), file=sys.stderr)


def end_of_log(error: BuildError) -> str:
    """What a failed build printed last, where all of it is, and what else to try, as lines of a terminal; '' if there
    is no log."""
    end = "".join(f"    {one_line(line)}\n" for line in error.tail.splitlines())
    clean = "  should what earlier builds kept be to blame: crosstown bots build --again\n" if error.warm else ""
    return f"{end}  the whole log: {error.log}\n{clean}" if error.log else ""


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
