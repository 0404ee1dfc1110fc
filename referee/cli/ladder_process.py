"""`python -m referee.cli.ladder_process`: the runner of a ladder. `crosstown serve` starts it, and starts it
again when it exits.

It ends when its stdin closes, because the process that started it has ended then. SIGUSR1 changes the secret of the
seeds in all divisions.
"""

import argparse
import asyncio
import os
import signal
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from leaderboard.indexer import Indexer
from referee.cli.bot_pages import kit_folder
from referee.cli.errors import ExitCode, explain
from referee.cli.log import Log
from referee.cluster.peers import Peer, check_peer
from referee.errors import UsageError
from referee.event_loop import run_loop
from referee.ladder.bots import Roster
from referee.ladder.config import LadderConfig, default_ladder, load_ladder
from referee.ladder.division import Tables
from referee.ladder.intake import BUILD_DISK_MIB, Intake, Trials, open_store
from referee.ladder.remote import RemoteBots, guests_of
from referee.ladder.runner import (
    HouseBots,
    LadderRunner,
    Loader,
    accept_plain,
    make_data,
    memory_of,
    profile_to_play,
)
from referee.ladder.season import end_if_over
from referee.process.cgroup import find
from referee.process.checkup import probe
from referee.process.child_reaper import ChildReaper
from referee.record.reader import Record
from referee.run.folder import RunFolder
from referee.run.lock import RunLock
from referee.tournament.executor import Executor
from referee.tournament.local import LocalExecutor
from referee.tournament.processes import Processes
from referee.tournament.progress import Reached

LOCK = "ladder.lock"
"""In the data folder: held by the runner and by its workers."""


class LadderExecutor(Tables, Executor, Protocol):
    """Plays the matches of all divisions."""


class DivisionLog:
    """The observer of a division: keeps its database up with the records, and prints what the organiser should know."""

    def __init__(self, folder: RunFolder, note: Callable[[str], None]) -> None:
        self._name = folder.name
        self._note = note
        self.indexer = Indexer(folder)

    def begun(self, at: Reached) -> None:
        self.indexer.start()

    def reached(self, at: Reached) -> None:
        """Nobody watches a number."""

    def rated(self, path: Path, record: Record) -> None:
        self.indexer.add(path, record)

    def revoked(self, record: Path) -> None:
        self.indexer.drop(record)

    def note(self, sentence: str) -> None:
        self._note(f"{self._name}: {sentence}")


def arguments_for(
    file: Path | None, data: Path, house_bots: Path | None, peer: Peer | None = None, *, plain: bool = False
) -> list[str]:
    """The words by which this process finds the ladder that `ladder_of` finds, and the cluster at `peer`. `plain`: bots
    may play without a sandbox."""
    words = ["--accept-plain"] if plain else []
    words += [] if peer is None else ["--scheduler", peer.address]
    if peer is not None and (given := peer.certificates) is not None:
        words += ["--ca", str(given.ca), "--cert", str(given.cert), "--key", str(given.key)]
    if file is not None:
        return [*words, "--file", str(file)]
    return [*words, "--data", str(data), *(["--house-bots", str(house_bots)] if house_bots else [])]


def ladder_of(file: Path | None, data: Path, house_bots: Path | None) -> LadderConfig:
    """That of a file, or the one without a file. ConfigError."""
    return load_ladder(file) if file is not None else default_ladder(data, house_bots)


def plays_elsewhere(config: LadderConfig, peer: Peer | None) -> bool:
    """Whether other machines play all matches and build the bots. Matches with a remote bot are played on this machine,
    which then builds the bots, too."""
    return peer is not None and guests_of(config) is None and config.executor.build == "worker"


def check_network(config: LadderConfig, peer: Peer) -> None:
    """UsageError if bots that may use the network would play beside connections that are not encrypted."""
    if not peer.is_encrypted and (open_ := next((one for one in config.divisions if "network" in one.admits), None)):
        what = f"bots of {open_.name} may use the network, and could give orders to {peer.address}"
        raise UsageError(f"{what}, which has no certificates", "give --ca, --cert and --key, or admit no such bots")


def play_ladder(
    config: LadderConfig, note: Callable[[str], None], ended: Callable[[], None], peer: Peer | None = None
) -> None:
    """Play until a signal, or until `ended`, which waits, returns; on the cluster at `peer`, if there is one.
    TournamentError."""
    logs: list[DivisionLog] = []

    def observer(folder: RunFolder) -> DivisionLog:
        logs.append(DivisionLog(folder, note))
        return logs[-1]

    divisions = make_data(config)
    with ExitStack() as stack:
        lock = stack.enter_context(RunLock(config.data / LOCK))
        house, opponent = HouseBots(config), kit_folder("python")
        store = stack.enter_context(open_store(config, tuple(house.settings)))
        guests = guests_of(config)
        elsewhere = plays_elsewhere(config, peer)
        profile = profile_to_play(config, probe(), elsewhere=elsewhere)
        loader = Loader(config, profile, house, elsewhere=elsewhere, controllers=find().controllers)
        end_if_over(config, store, note)
        most_memory_mib, lowered = memory_of(config)
        if lowered and (peer is None or guests):
            note(lowered)
        local = LocalExecutor(
            [],
            divisions,
            workers=config.workers,
            log=config.data / "workers.log",
            lock_fd=lock.fd,
            child_reaper=ChildReaper(),
            processes=Processes(config.idle),
            note=note,
            guests=guests,
            most_memory_mib=most_memory_mib,
        )
        executor: LadderExecutor = local
        trials: Trials | None = None
        at_once = 1
        if peer is not None:
            from referee.cluster.executor import DaskExecutor
            from referee.cluster.orders import HandIns
            from referee.cluster.trial_orders import AT_ONCE, MachineTrials

            check_network(config, peer)
            executor = cluster = DaskExecutor(
                peer,
                divisions,
                local=local if guests else None,
                same_machine=config.executor.same_machine,
                sends_builds=config.executor.build == "organiser",
                note=note,
                ladder=True,
                hand_ins=HandIns(config.hand_ins.build_s, BUILD_DISK_MIB, config.sandbox.read),
            )
            if elsewhere:
                trials, at_once = MachineTrials(cluster.trials).try_out, AT_ONCE
        remote = RemoteBots(config, store, local, guests, opponent, profile, note=note) if guests else None
        intake = Intake(
            config,
            store,
            opponent,
            at_once=at_once,
            note=note,
            unbuilt=loader.unbuilt,
            remote=remote,
            trials=trials,
        )
        roster: Roster = remote or store
        runner = LadderRunner(
            config,
            [house, roster],
            executor,
            loader,
            observer,
            note,
            remote,
            door=remote.state if remote else dict,
            cluster=(lambda: cluster.state.to_values()) if peer is not None else dict,
            keep_only=loader.keep_only,
            people=store.people(),
        )
        beside = [intake.run, *([remote.run] if remote else [])]
        try:
            run_loop(_play(runner, executor, beside, note, ended))
        finally:
            for log in logs:
                log.indexer.close()


async def _play(
    runner: LadderRunner,
    executor: Executor,
    beside: Sequence[Callable[[], Awaitable[None]]],
    note: Callable[[str], None],
    ended: Callable[[], None],
) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def on_signal() -> None:
        if stop.is_set():
            executor.kill()
        stop.set()

    def on_end() -> None:
        ended()
        loop.call_soon_threadsafe(stop.set)

    def begin_epochs() -> None:
        for division in runner.divisions:
            division.new_epoch = True
        note("a new secret of the seeds begins when the blocks in play are over")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal)
    loop.add_signal_handler(signal.SIGUSR1, begin_epochs)
    threading.Thread(target=on_end, daemon=True, name="end").start()
    async with executor:
        await runner.run(stop, beside)


def main(words: Sequence[str] | None = None) -> int:
    """The exit code: as that of the command line."""
    parser = argparse.ArgumentParser(prog="ladder_process")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--data", type=Path, default=Path("ladder"))
    parser.add_argument("--house-bots", type=Path)
    parser.add_argument("--scheduler")
    for name in ("--ca", "--cert", "--key"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--accept-plain", action="store_true")
    given = parser.parse_args(words)
    log = Log("runner", "text")
    try:
        config = ladder_of(given.file, given.data, given.house_bots)
        config = accept_plain(config, probe()) if given.accept_plain else config
        log = Log("runner", config.server.log)
        peer = None
        if given.scheduler is not None:
            peer = check_peer(given.scheduler, given.ca, given.cert, given.key)
        play_ladder(config, log, _wait_for_end, peer)
    except Exception as error:
        explained = explain(error)
        log(f"{explained.what}; {explained.next_step}", "error")
        if explained.code == ExitCode.BUG:
            traceback.print_exception(error)
        return int(explained.code)
    return int(ExitCode.OK)


def _wait_for_end() -> None:
    """Until nobody can write to this process any more."""
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # a thread may be waiting for the end of stdin
