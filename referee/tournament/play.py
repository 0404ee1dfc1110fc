"""Plays a run on this machine: confines its bots, starts workers, and plays what is missing."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from referee.process.cgroup import find
from referee.process.checkup import probe
from referee.process.child_reaper import ChildReaper
from referee.process.limits import memory_room
from referee.process.outside import Prints
from referee.run.folder import RunFolder, choose_folder
from referee.run.run import Run
from referee.texts import one_line
from referee.tournament.config import Tournament
from referee.tournament.confine import Confinement, confine_all
from referee.tournament.early import Early
from referee.tournament.entrants import load_tournament, stand_ins
from referee.tournament.executor import Executor
from referee.tournament.identity import describe
from referee.tournament.local import LocalExecutor
from referee.tournament.machine import machine_of
from referee.tournament.progress import Decide, Summary
from referee.tournament.remote import invite_all
from referee.tournament.resources import share_memory
from referee.tournament.runner import Observer
from referee.tournament.session import run_session
from referee.tournament.steering import Steering


class PlayObserver(Observer, Protocol):
    """An observer of a run that is played on this machine."""

    def starting(self, confinement: Confinement, lowered: str) -> None:
        """The first worker is about to be started. `lowered` says whose memory limits are lowered here, '' if none."""


def choose_run(
    tournament: Tournament, out: Path, *, new: bool, to_play: bool = True, elsewhere: bool = False
) -> tuple[Tournament, RunFolder]:
    """Where the tournament runs, and the tournament as it is there. Raises TournamentError."""
    folder = choose_folder(out, describe(tournament), new=new)
    left = {bot.entry_id for bot in Run(folder).participants if bot.out}
    if any(entry.id not in left for _, entry in stand_ins(tournament)):
        # Who has left the newest run is still in this one.
        tournament = load_tournament(tournament.config.path, to_play=to_play, elsewhere=elsewhere)
        folder = choose_folder(out, describe(tournament), new=new)
    return tournament, folder


def play_run(
    tournament: Tournament,
    folder: RunFolder,
    workers: int,
    observer: PlayObserver,
    *,
    decide: Decide | None = None,
    cores: Sequence[Sequence[int]] = (),
    accept_weaker: bool = False,
    secrets: Sequence[bytes] = (),
    hidden: Sequence[Path] = (),
    head_file: Path | None = None,
    steering: Steering | None = None,
    early: Early | None = None,
) -> Summary:
    """Play what is missing in `folder`, until `decide` says it is enough. Raises TournamentError.

    `cores`: per worker those it is bound to. `hidden` are files that no bot may see. `early`: what has been started
    already. The rest is as in `run_session`.
    """
    run = Run(folder)
    gone = {bot.entry_id for bot in run.participants if bot.out}
    found = early.probe() if early is not None else probe()
    confinement = confine_all(tournament, found, hidden, begun=run.begun, accept_weaker=accept_weaker)
    staying = {entry_id: sandbox for entry_id, sandbox in confinement.sandboxes.items() if entry_id not in gone}
    machine = machine_of(tournament, staying, Prints(), find().controllers)

    @cache
    def share(missing: int) -> tuple[int, str]:
        return share_memory(tournament, min(workers, missing), memory_room())

    def most_memory(missing: int) -> int:
        mib, lowered = share(missing)
        return mib if lowered else 0

    def make_executor(missing: int, lock_fd: int) -> Executor:
        used = min(workers, missing)
        most_memory_mib, lowered = share(missing)
        observer.starting(confinement, lowered)
        return LocalExecutor(
            [entry for entry in tournament.entries if entry.id not in gone],
            folder.matches,
            workers=used,
            most_memory_mib=most_memory_mib,
            log=folder.worker_log,
            lock_fd=lock_fd,
            child_reaper=ChildReaper(),
            sandboxes=confinement.sandboxes,
            cores=cores,
            processes=tournament.processes,
            guests=invite_all(tournament, folder.certificates, gone),
            note=lambda sentence: observer.note(one_line(sentence)),
            early=None if early is None else early.worker,
            goes_on=lambda: steering is not None and steering.goes_on,
        )

    return run_session(
        tournament,
        folder,
        make_executor,
        observer,
        decide,
        secrets,
        machine=machine,
        accept_weaker=accept_weaker,
        head_file=head_file,
        steering=steering,
        most_memory=most_memory,
    )
