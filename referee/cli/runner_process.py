"""The process that plays a ladder, as `crosstown serve` sees it: started, started again when it dies, stopped."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn, Self
from urllib.parse import quote

from leaderboard.web.hand_ins import Alarm, Worker
from referee.cli.ladder_process import arguments_for
from referee.cli.log import Log
from referee.cluster.peers import Peer
from referee.errors import UsageError
from referee.ladder.config import LadderConfig
from referee.ladder.runner import HouseBots, read_status
from referee.process.entry import EntryError, ManifestError
from referee.process.manifest import BotNameError

STOP_S = 30.0
"""What the process gets to end, beside what its matches get."""

WELL_S = 60.0
"""A process that has lived so long is started again at once."""

_BACK_OFF_S = 1.0
_MOST_BACK_OFF_S = 60.0


def check_house_bots(config: LadderConfig) -> tuple[str, ...]:
    """Their names, which nobody else can take. UsageError for one that cannot be read, or two of one name."""
    try:
        names = tuple(HouseBots(config).settings)
    except (ManifestError, EntryError, BotNameError) as error:
        raise UsageError(f"{config.path}: a house bot: {error}", error.next_step) from None
    if len(names) < len(config.bots):
        raise UsageError("two house bots have one name", 'give one of them another: name = "..." in [[bots]]')
    return names


def state_of(data: Path) -> tuple[list[Alarm], list[Worker], str]:
    """What organisers are shown: alarms, matches in play, and why nothing is played, '' if something may be."""
    said = read_status(data)
    if not said:
        return [], [], "the process that plays does not run; it is started again"
    alarms = [
        Alarm(division["alarm"], _LOOK, division["since"], f"/ladder/{quote(name)}")
        for name, division in said.items()
        if division["alarm"]
    ]
    workers = [
        Worker(f"table {number}", "plays a match", since, name, match_id)
        for number, (name, match_id, since) in enumerate(
            ((name, *match) for name, division in said.items() for match in division["matches"]), start=1
        )
    ]
    return alarms, workers, ""


def waits_in(data: Path) -> dict[str, str]:
    """Why no match is played now, by division, '' where one is."""
    return {name: str(said.get("idle", "")) for name, said in read_status(data).items()}


_LOOK = "see what the command 'crosstown serve' printed, and workers.log in the ladder's folder"


class RunnerProcess:
    """A context manager. While it is open the process runs; SIGTERM to this one then ends it as Ctrl-C does."""

    def __init__(
        self,
        file: Path | None,
        data: Path,
        house_bots: Path | None,
        log: Log,
        drain_s: float,
        peer: Peer | None = None,
        *,
        plain: bool = False,
    ) -> None:
        """`drain_s`: what the matches in play get to finish when it ends. `peer`: the scheduler of the cluster to play
        on. `plain`: bots may play without a sandbox."""
        words = arguments_for(file, data, house_bots, peer, plain=plain)
        self._command = [sys.executable, "-P", "-m", "referee.cli.ladder_process", *words]
        self._log = log
        self._stop_s = drain_s + STOP_S
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._turn = threading.Lock()
        self._watch = threading.Thread(target=self._keep_running, name="runner")

    def __enter__(self) -> Self:
        signal.signal(signal.SIGTERM, _interrupt)
        self._start()
        self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        with self._turn:
            process = self._process
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()  # which it takes for the request to end
            try:
                process.wait(self._stop_s)
            except subprocess.TimeoutExpired:
                self._log(f"the process that plays did not end within {self._stop_s:g} s; it is killed", "error")
                process.kill()
        self._watch.join()

    @property
    def pid(self) -> int:
        """Of the process that runs now."""
        return 0 if self._process is None else self._process.pid

    def _start(self) -> None:
        with self._turn:
            if not self._stopping.is_set():
                # A session of its own: Ctrl-C in the terminal is for this process, which asks the other one to end.
                self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, start_new_session=True)

    def _keep_running(self) -> None:
        failed = 0
        while not self._stopping.is_set():
            assert self._process is not None
            began_s = time.monotonic()
            code = self._process.wait()
            if self._stopping.is_set():
                return
            failed = 0 if time.monotonic() - began_s >= WELL_S else failed + 1
            wait_s = 0.0 if not failed else min(_MOST_BACK_OFF_S, _BACK_OFF_S * 2 ** (failed - 1))
            if code == 0:  # a new season begins with a new process
                self._log("the process that plays ended as it should, as at the end of a season; it is started again")
            else:
                how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
                text = f"the process that plays {how}; it is started again in {wait_s:.0f} s, and continues"
                self._log(text, "error")
            if not self._stopping.wait(wait_s):
                self._start()


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
