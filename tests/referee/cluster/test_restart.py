"""After a restart of the runner, a block goes on where it was begun."""

import sys
from dataclasses import replace

import pytest

from referee.cluster import play as module
from referee.cluster.executor import DaskExecutor
from referee.cluster.peers import Peer
from referee.errors import PlatformError
from referee.process.checkup import Probe
from referee.record import read_record
from referee.run.journal import read_journal
from referee.tournament.remembered import NAME


@pytest.fixture
def played_on_machines(fake_executor, monkeypatch):
    """Records say that block N was played on machine 'mN' of class 'cN'."""
    conftest = sys.modules[fake_executor.__module__]
    plain = conftest.header_of

    def header_of(spec):
        return replace(plain(spec), machine={"name": f"m{spec.block}", "class": f"c{spec.block}"})

    monkeypatch.setattr(conftest, "header_of", header_of)


@pytest.fixture
def executor_of(run_folder, make_log, monkeypatch):
    """The executor with which a tournament is taken up."""

    def take_up(tournament, **more):
        made = []

        def make(*given, **keys):
            made.append(DaskExecutor(*given, **keys))
            raise PlatformError("no scheduler answers", "start one")

        monkeypatch.setattr(module, "DaskExecutor", make)
        log = make_log()
        log.starting = lambda *_: None
        with pytest.raises(PlatformError, match="no scheduler answers"):
            module.play_on_cluster(tournament, run_folder, Peer("tcp://127.0.0.1:1"), log, **more)
        return made[0]

    return take_up


@pytest.mark.parametrize("same_machine", [False, True])
@pytest.mark.parametrize("cached", [False, True])
def test_a_block_that_was_begun_goes_on_at_its_place_after_a_restart(
    make_tournament, play, run_folder, unfinish, played_on_machines, executor_of, same_machine, cached, cache
):
    keys = {"more": f'[executor]\nkind = "dask"\nsame_machine = {str(same_machine).lower()}\n', "blocks": 4}
    play(make_tournament(3, **keys))
    unfinish()
    headers = {path: read_record(path).header for path in run_folder.matches.glob("*.gz")}
    for block in (0, 2):
        next(path for path, header in headers.items() if header.block == block).unlink()
    if not cached:
        (run_folder.path / NAME).unlink()
    made = executor_of(make_tournament(3, **keys))
    records = run_folder.matches.resolve()
    assert [made._place(records, block) for block in (0, 2, 99)] == (
        ["m0", "m2", None] if same_machine else ["c0", "c2", None]
    )


def test_bots_that_have_played_in_the_sandbox_here_play_on_without_it_only_where_that_is_accepted(
    make_tournament, play, run_folder, unfinish, executor_of, cache
):
    tournament = make_tournament(3)
    ids = [entry.id for entry in tournament.entries]
    play(tournament, machine={ids[0]: {"profile": "strict"}, ids[1]: {"profile": "plain"}})
    unfinish()
    next(run_folder.matches.glob("*.gz")).unlink()
    assert executor_of(tournament)._strict == {ids[0]}
    assert executor_of(tournament, accept_weaker=True)._strict == set()


def test_bots_see_nothing_of_the_run_and_of_each_other_on_a_machine_that_has_these_files(
    make_tournament, run_folder, executor_of, tmp_path, cache
):
    """Such as this machine: a grant that contains the run showed them its secret."""
    secret = tmp_path / "given"
    tournament = make_tournament(2, more=f'[sandbox]\nread = ["{tmp_path}"]\n')
    bots = executor_of(tournament, hidden=[secret])._bots
    assert len(bots) == 2
    for setup in bots.values():
        hidden = [tmp_path.resolve() / path for path in setup.sandbox.hidden]
        others = [entry.folder for entry in tournament.entries]
        for path in (run_folder.path.resolve(), tournament.config.path.resolve(), secret, *others):
            assert any(path.is_relative_to(place) for place in hidden)


@pytest.mark.parametrize("sandbox", ["strict, env MODEL", "plain"])
def test_bots_that_a_cluster_has_played_in_the_sandbox_play_on_without_it_only_where_that_is_accepted(
    make_tournament, play, unfinish, run_folder, executor_of, fake_executor, monkeypatch, cache, sandbox
):
    """Of what a cluster has played only records know how it was confined."""
    conftest = sys.modules[fake_executor.__module__]
    plain = conftest.header_of

    def header_of(spec):
        header = plain(spec)
        return replace(header, seats=tuple(replace(seat, sandbox=sandbox) for seat in header.seats))

    monkeypatch.setattr(conftest, "header_of", header_of)
    tournament = make_tournament(3)
    play(tournament)
    unfinish()
    next(run_folder.matches.glob("*.gz")).unlink()
    ids = {entry.id for entry in tournament.entries}
    assert executor_of(tournament)._strict == (ids if sandbox != "plain" else set())
    assert executor_of(tournament, accept_weaker=True)._strict == set()


def test_a_run_with_a_remote_bot_keeps_how_bots_play_beside_it_on_this_machine(
    make_tournament, run_folder, executor_of, monkeypatch, cache
):
    monkeypatch.setenv("FAR", "t" * 32)
    monkeypatch.setattr(module, "probe", lambda: Probe(works=False, why="no bwrap", fix="install it"))
    remote = (
        '[remote]\nlisten = "127.0.0.1:0"\nplain = true\n[[bots]]\nname = "far"\nremote = true\ntoken_env = "FAR"\n'
    )
    tournament = make_tournament(2, more=remote)
    executor_of(tournament)
    machine = read_journal(run_folder.journal).machine
    assert {entry_id: facts["profile"] for entry_id, facts in machine.items()} == {
        entry.id: "plain" for entry in tournament.entries if entry.argv
    }
