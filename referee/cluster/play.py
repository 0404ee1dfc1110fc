"""Plays a run on the machines of a cluster, as `referee.tournament.play` does on this machine."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from referee.cluster.executor import MOST_BLOCKS, DaskExecutor
from referee.cluster.peers import Peer
from referee.errors import UsageError
from referee.process.cgroup import find
from referee.process.checkup import probe
from referee.process.child_reaper import ChildReaper
from referee.process.entry import Entry
from referee.process.limits import memory_room
from referee.process.outside import Prints
from referee.process.sandbox import Profile, Sandbox
from referee.run.folder import RunFolder
from referee.run.machines import ClusterState, write_state
from referee.run.run import Run
from referee.schedule.spec import MatchSpec
from referee.texts import one_line
from referee.tournament.bot_sections import SandboxConfig
from referee.tournament.config import BotConfig, Tournament
from referee.tournament.confine import Confinement, confine_all, hide, unseen_files
from referee.tournament.executor import Executor
from referee.tournament.local import LocalExecutor
from referee.tournament.machine import machine_of, profiles_in
from referee.tournament.messages import BotSetup
from referee.tournament.play import PlayObserver
from referee.tournament.progress import Decide, Summary
from referee.tournament.remote import invite_all
from referee.tournament.resources import share_memory
from referee.tournament.session import run_session
from referee.tournament.steering import Steering


class ClusterObserver(PlayObserver, Protocol):
    """An observer of a run that is played on a cluster."""

    def machines(self, state: ClusterState) -> None:
        """The machines as they are now; about once a second."""


def play_on_cluster(
    tournament: Tournament,
    folder: RunFolder,
    peer: Peer,
    observer: ClusterObserver,
    *,
    decide: Decide | None = None,
    accept_weaker: bool = False,
    secrets: Sequence[bytes] = (),
    hidden: Sequence[Path] = (),
    head_file: Path | None = None,
    steering: Steering | None = None,
) -> Summary:
    """Play what is missing in `folder` on the machines of the scheduler at `peer`. Matches with a remote bot are played
    on this machine, where it connects. Bots that have played in the sandbox, here or on a cluster, play on without it
    only where that is accepted. Raises TournamentError. The rest is as in `play_run`."""
    run = Run(folder)
    gone = {bot.entry_id for bot in run.participants if bot.out}
    same_machine = tournament.config.executor.same_machine
    pairs = [
        (entry, bot)
        for entry, bot in zip(tournament.entries, tournament.bots, strict=True)
        if entry.argv and entry.id not in gone
    ]
    if not peer.is_encrypted and (granted := [entry.name for entry, bot in pairs if bot.sandbox.network]):
        what = f"'{granted[0]}' may use the network, and could give orders to {peer.address}, which has no certificates"
        raise UsageError(what, "give --ca, --cert and --key, or take network = true away")
    ids = {entry.id for entry, _ in pairs}
    known = () if accept_weaker else (run.journal.machine, profiles_in(folder.records, ids))
    had = {entry_id for facts in known for entry_id, one in facts.items() if one.get("profile") == "strict"}
    strict = [entry.id for entry, bot in pairs if entry.id in had or _wanted(tournament, bot) == "strict"]
    door = any(bot.remote for bot in tournament.bots)
    confinement = Confinement({}, "", {})
    if door:
        confinement = confine_all(tournament, probe(), hidden, begun=run.begun, accept_weaker=accept_weaker)
    beside = {entry_id: sandbox for entry_id, sandbox in confinement.sandboxes.items() if entry_id in ids}
    begun_blocks: dict[int, str] = {}
    begun = False

    def on_found(spec: MatchSpec) -> None:
        begun_blocks[spec.block] = spec.match_id
        if len(begun_blocks) > MOST_BLOCKS:
            del begun_blocks[next(iter(begun_blocks))]

    def on_state(state: ClusterState) -> None:
        observer.machines(state)
        write_state(folder.machines, replace(state, dashboard=""))

    def make_executor(_missing: int, lock_fd: int) -> Executor:
        nonlocal begun
        begun = True
        observer.starting(replace(_granted(pairs), warning=confinement.warning), "")
        return DaskExecutor(
            peer,
            folder.matches.resolve(),
            bots=_setups(tournament, folder, pairs, hidden),
            strict=strict,
            keeps_sandbox=not accept_weaker,
            same_machine=same_machine,
            begun=begun_blocks,
            sends_builds=tournament.config.executor.build == "organiser",
            note=lambda sentence: observer.note(one_line(sentence)),
            on_state=on_state,
            beside=[entry.id for entry, bot in zip(tournament.entries, tournament.bots, strict=True) if bot.remote],
            local=_beside_the_door(
                tournament,
                folder,
                observer,
                gone,
                confinement,
                lock_fd,
                goes_on=lambda: steering is not None and steering.goes_on,
            ),
        )

    try:
        return run_session(
            tournament,
            folder,
            make_executor,
            observer,
            decide,
            secrets,
            machine=machine_of(tournament, beside, Prints(), find().controllers),
            elsewhere=True,
            accept_weaker=accept_weaker,
            head_file=head_file,
            on_found=on_found,
            steering=steering,
        )
    finally:
        if begun:  # the lock of the run was ours
            folder.machines.unlink(missing_ok=True)


def _setups(
    tournament: Tournament, folder: RunFolder, pairs: Sequence[tuple[Entry, BotConfig]], hidden: Iterable[Path]
) -> dict[str, BotSetup]:
    """The bots by entry id. On a machine that has the files of this one, such as this one itself, they see nothing of
    the run and of each other there either."""
    common, unseen, given = tournament.config.sandbox, unseen_files(tournament, hidden), {}
    for entry, bot in pairs:
        own = bot.sandbox
        profile: Profile = "plain" if _wanted(tournament, bot) == "plain" else "strict"
        given[entry.id] = Sandbox(profile, own.network, own.env, (*common.read, *own.read), unseen, own.devices)
    boxes = hide(given, [entry for entry, _ in pairs], folder.matches)
    return {entry.id: _setup(tournament, entry, bot, boxes[entry.id]) for entry, bot in pairs}


def _setup(tournament: Tournament, entry: Entry, bot: BotConfig, box: Sandbox) -> BotSetup:
    # A bot of which there may be only so many processes keeps none between its matches: one may wait on each machine.
    fresh = entry.id in tournament.processes.fresh or bool(bot.copies)
    own_id, known_as = (entry.copy_of, entry.id) if entry.copy_of else (entry.id, "")
    return BotSetup(str(entry.folder), entry.name, dict(entry.options), own_id, box, entry.content, known_as, fresh)


def _wanted(tournament: Tournament, bot: BotConfig) -> str:
    return bot.sandbox.profile or tournament.config.sandbox.profile or ""


def _granted(pairs: Sequence[tuple[Entry, BotConfig]]) -> Confinement:
    """The sentences about grants for the organiser."""
    grants = {
        entry.name: Sandbox("strict", bot.sandbox.network, bot.sandbox.env, bot.sandbox.read, (), bot.sandbox.devices)
        for entry, bot in pairs
        if bot.sandbox != SandboxConfig()
    }
    return Confinement({}, "", grants)


def _beside_the_door(
    tournament: Tournament,
    folder: RunFolder,
    observer: PlayObserver,
    gone: set[str],
    confinement: Confinement,
    lock_fd: int,
    *,
    goes_on: Callable[[], bool],
) -> LocalExecutor | None:
    """What plays the matches with remote bots; None if there are none."""
    guests = invite_all(tournament, folder.certificates, gone)
    if guests is None:
        return None
    most_memory_mib, lowered = share_memory(tournament, 1, memory_room())
    if lowered:
        observer.note(one_line(f"matches with remote bots, which are played on this machine: {lowered}"))
    return LocalExecutor(
        [entry for entry in tournament.entries if entry.id not in gone],
        folder.matches,
        workers=1,
        log=folder.worker_log,
        lock_fd=lock_fd,
        child_reaper=ChildReaper(),
        sandboxes=confinement.sandboxes,
        processes=tournament.processes,
        guests=guests,
        note=lambda sentence: observer.note(one_line(sentence)),
        most_memory_mib=most_memory_mib,
        goes_on=goes_on,
    )
