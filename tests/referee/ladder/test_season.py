"""The end of a season: what has begun is played, secrets are told, and the next season begins."""

from typing import Any

import pytest

from referee.errors import PlatformError
from referee.ladder import season as module
from referee.ladder.intake import open_store
from referee.ladder.season import Season, ask_for_end, end_if_asked, ended_on, read_season, season_file, season_folder
from referee.record.journal import BLOCK
from referee.run.folder import RunFolder
from referee.run.luck import epochs_of
from referee.run.run import Run


def end(world: Any) -> list[str]:
    notes: list[str] = []
    with open_store(world.config) as store:
        end_if_asked(world.config, store, notes.append)
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
        (waiting,) = store.waiting()
        store.checked(waiting.id, "1", ["toy"])
        store.qualified(waiting.id, "toy")
        store.paused("toy", bot("mine"), "three crashes in a row")
        assert store.broken("toy") == {"mine"}
        changes = store.change_count()
        end_if_asked(played.config, store, lambda _: None)
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
    assert ask_for_end(played.config.data) == Season(1, ends=True)
    end(played)
    assert end(played) == []
    assert read_season(played.config.data).number == 2


def test_a_division_that_never_began_has_no_season(make_ladder) -> None:
    world = make_ladder()
    world.config.data.mkdir()
    ask_for_end(world.config.data)
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
