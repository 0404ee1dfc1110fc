"""The end of a season: what has begun is played, secrets are told, and the next season begins."""

import fcntl
import json
import socket
import threading
from dataclasses import replace
from typing import Any

import pytest

from leaderboard.export.whole_run import chosen
from leaderboard.index import load_index
from leaderboard.match_list import Filter
from leaderboard.web.tables import Tables
from referee.cli.ladder import _end_season
from referee.cli.ladder_process import LOCK
from referee.errors import BusyError, PlatformError, UsageError
from referee.ladder import season as module
from referee.ladder.disk import DiskWatch
from referee.ladder.intake import open_store
from referee.ladder.season import (
    Season,
    ask_for_end,
    end_if_over,
    ended_on,
    matches_left,
    note_over,
    read_season,
    season_file,
    season_folder,
)
from referee.record.journal import BLOCK
from referee.run.folder import RunFolder
from referee.run.lock import RunLock
from referee.run.luck import epochs_of
from referee.run.packing import settled_matches
from referee.run.run import Run


def end(world: Any) -> list[str]:
    notes: list[str] = []
    with open_store(world.config) as store:
        end_if_over(world.config, store, notes.append)
    return notes


def old_run(world: Any, number: int = 1) -> Run:
    return Run(RunFolder(season_folder(world.config.data, number) / "divisions" / "toy"))


@pytest.fixture
def played(make_ladder, bot) -> Any:
    """A ladder whose season is to end, and whose process that plays has ended for that."""
    world = make_ladder("idle_below = 0.0")
    world.roster.set(bot("ann"), bot("bob"), bot("cid"))
    asked = []

    def ask() -> bool:
        if len(world.tables.played) >= 7 and not asked:
            asked.append(ask_for_end(world.config.data))
        return False

    world.play(ask, seconds=60)
    return world


def test_what_has_begun_is_played_to_its_end_and_nothing_more_is_decided(played) -> None:
    run = played.run()
    assert [note for note in played.notes if note.startswith("the season ends: no block is decided any more")]
    decided = [line for line in run.journal.events if line.kind == BLOCK]
    assert len(run.records.paths()) == len(played.tables.played) == 2 * len(decided)
    assert not run.check().wrong


@pytest.fixture
def cut_off(make_ladder, bot) -> Any:
    """A ladder whose season is to end, and whose process that plays died while two matches of open blocks were left."""
    return cut_off_after(6, make_ladder, bot)


def cut_off_after(rated: int, make_ladder: Any, bot: Any) -> Any:
    world = make_ladder("idle_below = 0.0")
    world.config = replace(world.config, server=replace(world.config.server, drain_s=0.0))
    world.roster.set(bot("ann"), bot("bob"), bot("cid"))
    world.tables.behaves = lambda spec: "stays" if spec.place >= rated else "rated"

    def ask() -> bool:
        if len(world.tables.played) < rated + 2:
            return False
        ask_for_end(world.config.data)
        return True

    world.play(ask)
    world.tables.behaves = lambda _: "rated"
    return world


def test_what_is_left_of_blocks_is_played_after_the_process_that_plays_has_died(cut_off) -> None:
    decided = cut_off.lines(BLOCK)
    assert end(cut_off) == [], "blocks are open: nothing ends"
    assert matches_left(cut_off.config) == 2 * len(decided) - 6 > 0
    cut_off.play()
    assert cut_off.lines(BLOCK) == decided, "no block is decided any more"
    assert len(cut_off.run().records.paths()) == 2 * len(decided)
    assert matches_left(cut_off.config) == 0
    assert end(cut_off) == ["season 1 has ended, and season 2 begins"]
    assert len(old_run(cut_off).records.paths()) == 2 * len(decided)


def test_the_command_leaves_open_blocks_of_a_stopped_ladder_unless_it_is_told_to_cut_them(cut_off, capsys) -> None:
    left = matches_left(cut_off.config)
    with open_store(cut_off.config) as store:
        with pytest.raises(PlatformError, match="are not over within 0 minutes"):
            _end_season(cut_off.config, store, 0.0, now=False)
        assert f"{left} matches of blocks in play have no result yet: start crosstown serve" in capsys.readouterr().err
        assert cut_off.folder().journal.exists()
        with RunLock(cut_off.config.data / LOCK), pytest.raises(UsageError, match="this one runs"):
            _end_season(cut_off.config, store, 0.0, now=True)
        assert _end_season(cut_off.config, store, 0.0, now=True) == 1
    assert read_season(cut_off.config.data) == Season(2)
    assert not old_run(cut_off).check().wrong


def test_matches_of_a_block_that_was_cut_are_shown_exported_and_packed(make_ladder, bot) -> None:
    world = cut_off_after(5, make_ladder, bot)
    with open_store(world.config) as store:
        assert len(chosen(world.run(), Filter()).rows) == 4, "the luck of the third block is secret"
        _end_season(world.config, store, 0.0, now=True)
    old = old_run(world)
    played = sorted(old.records.paths())
    assert len(played) == 5
    assert [row.match_id for row in chosen(old, Filter()).rows] == played
    assert sorted(settled_matches(old, load_index(old.folder).rows)) == played
    tables = Tables(hide_live=True).of(old.folder)
    assert sorted(row.match_id for row in tables.listed) == played
    assert tables.ahead.coming == (), "nobody plays the rest"


def test_the_command_waits_for_workers_of_a_killed_process_and_says_nothing_else(cut_off) -> None:
    """It does not say that the ladder runs, which it does not."""
    path = cut_off.config.data / LOCK
    path.write_text(json.dumps({"pid": 2147483647, "host": socket.gethostname(), "started": "1"}))
    with open_store(cut_off.config) as store, path.open("rb+") as worker:
        fcntl.flock(worker, fcntl.LOCK_EX)
        threading.Timer(0.3, lambda: fcntl.flock(worker, fcntl.LOCK_UN)).start()
        assert _end_season(cut_off.config, store, 0.0, now=True) == 1


def test_a_division_that_another_process_holds_is_named(cut_off) -> None:
    with open_store(cut_off.config) as store:
        with RunLock(cut_off.folder().lock), pytest.raises(BusyError, match="is being run by process"):
            _end_season(cut_off.config, store, 0.0, now=True)
        with RunLock(cut_off.folder().lock), pytest.raises(BusyError, match="is being run by process"):
            _end_season(cut_off.config, store, 600.0, now=False)
        assert _end_season(cut_off.config, store, 0.0, now=True) == 1


def test_while_the_command_waits_it_leaves_the_lock_to_the_process_that_plays(cut_off, monkeypatch) -> None:
    taken = []

    class Counted(RunLock):
        def __init__(self, *given: Any, **more: Any) -> None:
            taken.append(given)
            super().__init__(*given, **more)

    monkeypatch.setattr("referee.run.lock.RunLock", Counted)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with open_store(cut_off.config) as store, pytest.raises(PlatformError, match="are not over"):
        _end_season(cut_off.config, store, 0.2, now=False)
    assert len(taken) == 1


def test_a_full_disk_does_not_end_a_season_before_its_blocks_are_over(cut_off) -> None:
    runner = cut_off.runner()
    runner._disk = DiskWatch((cut_off.config.data,), 0.1, 0.05, lambda _: 0.01)
    cut_off.play(runner=runner)
    assert not read_season(cut_off.config.data).over
    cut_off.play()
    assert read_season(cut_off.config.data).over


def test_a_division_that_left_the_file_is_archived_with_its_season(make_ladder, bot) -> None:
    two = '[[divisions]]\ngame = "toy"\n[[divisions]]\ngame = "toy"\nname = "gone"\n'
    world = make_ladder(divisions=two)
    world.roster.set(bot("ann"), bot("bob"))
    world.play(lambda: len(world.tables.played) > 8)
    world.config = replace(world.config, divisions=world.config.divisions[:1])
    ask_for_end(world.config.data)
    world.play()
    end(world)
    for name in ("toy", "gone"):
        old = Run(season_folder(world.config.data, 1) / "divisions" / name)
        assert all(epoch.over and epoch.holds for epoch in epochs_of(old.journal))
        assert not (world.config.data / "divisions" / name / "tournament.jsonl").exists()


def test_a_division_whose_journal_is_damaged_does_not_keep_the_others_from_ending(make_ladder, bot) -> None:
    two = '[[divisions]]\ngame = "toy"\n[[divisions]]\ngame = "toy"\nname = "bad"\n'
    world = make_ladder(divisions=two)
    world.roster.set(bot("ann"), bot("bob"))
    world.play(lambda: len(world.tables.played) > 8)
    journal = world.folder(1).journal
    journal.write_bytes(journal.read_bytes().replace(b'"added"', b'"ended"', 1))
    ask_for_end(world.config.data)
    world.play()
    notes = end(world)
    assert f"{world.folder(1).path} stays where it is" in notes[0]
    assert notes[1:] == ["season 1 has ended, and season 2 begins"]
    assert journal.exists()
    assert not world.folder(0).journal.exists()


def test_a_season_file_of_before_the_blocks_were_noted_is_read(make_ladder) -> None:
    world = make_ladder()
    world.config.data.mkdir()
    season_file(world.config.data).write_text('{"number": 3, "ends": true, "at": "2026-01-01T00:00:00Z"}')
    assert read_season(world.config.data) == Season(3, ends=True)


def test_the_secret_is_told_and_the_next_season_begins_with_the_same_bots(played) -> None:
    assert not epochs_of(played.run().journal)[-1].secret
    notes = end(played)
    assert notes == ["season 1 has ended, and season 2 begins"]
    assert read_season(played.config.data) == Season(2)
    old = old_run(played)
    assert all(epoch.over and epoch.holds for epoch in epochs_of(old.journal))
    assert not old.check().wrong
    assert ended_on(played.config.data, 1) == old.journal.events[-1].at[:10]
    before = len(played.tables.played)
    played.play(lambda: len(played.tables.played) >= before + 4)
    names = [fields["name"] for fields in played.lines("added")]
    assert names == ["ann", "bob", "cid"]
    assert played.lines(BLOCK)[0]["number"] == 0
    assert epochs_of(played.run().journal)[0].commitment != epochs_of(old.journal)[0].commitment


def test_a_bot_that_the_breaker_paused_plays_in_the_next_season(played, config, bot) -> None:
    with open_store(played.config) as store:
        store.accounts.add_owner("ann")
        store.hand_in("ann", "mine", "content")
        (waiting,) = store.steps.waiting()
        store.steps.checked(waiting.id, "1", ["toy"])
        store.steps.qualified(waiting.id, "toy")
        store.paused("toy", bot("mine"), "three crashes in a row")
        assert store.broken("toy") == {"mine"}
        changes = store.change_count()
        end_if_over(played.config, store, lambda _: None)
        assert store.broken("toy") == set()
        assert store.change_count() != changes


class Killed(BaseException):
    """In the place of a kill."""


@pytest.mark.parametrize("step", ["reveal", "moved", "breaks"])
def test_a_kill_after_each_step_ends_the_same_season_once(played, monkeypatch, step: str) -> None:
    def kill(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if step == "reveal":
            patch.setattr(module.Path, "rename", kill)
        elif step == "moved":
            patch.setattr("referee.ladder.store.LadderStore.forget_breaks", kill)
        else:
            patch.setattr(module, "_write", kill)
        with pytest.raises(Killed):
            end(played)
    assert read_season(played.config.data).ends
    end(played)
    assert read_season(played.config.data) == Season(2)
    assert len([epoch for epoch in epochs_of(old_run(played).journal) if epoch.over]) == 1
    assert not played.folder().journal.exists()
    assert end(played) == []


def test_asked_twice_one_season_ends(played) -> None:
    assert ask_for_end(played.config.data) == Season(1, ends=True, over=True)
    end(played)
    assert end(played) == []
    assert read_season(played.config.data).number == 2


def test_a_division_that_never_began_has_no_season(make_ladder) -> None:
    world = make_ladder()
    world.config.data.mkdir()
    ask_for_end(world.config.data)
    note_over(world.config.data)
    assert end(world) == ["season 1 has ended, and season 2 begins"]
    assert not season_folder(world.config.data, 1).exists()


def test_an_old_season_is_never_overwritten(played) -> None:
    (season_folder(played.config.data, 1) / "divisions" / "toy").mkdir(parents=True)
    with pytest.raises(PlatformError, match="is there already"):
        end(played)
    assert played.folder().journal.exists()


def test_a_damaged_season_file_is_said(make_ladder) -> None:
    world = make_ladder()
    world.config.data.mkdir()
    season_file(world.config.data).write_text("{")
    with pytest.raises(PlatformError, match=r"season\.json cannot be read"):
        read_season(world.config.data)
