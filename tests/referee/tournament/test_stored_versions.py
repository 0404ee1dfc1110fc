"""A run plays its bots as they were when it began, whatever becomes of their folders."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from referee.cli import run_pages
from referee.errors import ChangedError, ConfigError, PlatformError
from referee.process import store
from referee.record import read_record
from referee.run import decisions
from referee.run.decisions import Desk
from referee.run.folder import RunFolder, choose_folder, has_run
from referee.run.journal import Journal, read_journal
from referee.run.participants import newest_participants, participants_of
from referee.run.run import Run
from referee.tournament.config import Tournament
from referee.tournament.entrants import load_tournament, sources_needed
from referee.tournament.identity import describe
from referee.tournament.joining import load_joining
from referee.tournament.progress import Summary
from referee.tournament.steering import Steering


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


@pytest.fixture
def begun(make_tournament, play) -> Callable[..., Tournament]:
    """begun(3) is a tournament whose run was killed after two matches."""

    def make(bots: int = 3, **keys) -> Tournament:
        tournament = make_tournament(bots, **keys)

        def order(spec):
            if spec.place == 2:
                raise Killed
            return 0

        with pytest.raises(Killed):
            play(tournament, order=order)
        return tournament

    return make


def load(tournament: Tournament, run_folder: RunFolder) -> Tournament:
    return load_tournament(tournament.config.path, newest_participants(run_folder.path.parent, "cup"))


def change(folder: Path) -> None:
    (folder / "bot.py").write_text("# better\n")


def loop(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(folder)


def spoil(folder: Path) -> None:
    (folder / "bot.toml").write_text("not TOML")


@pytest.mark.parametrize("happens", [change, shutil.rmtree, spoil, loop], ids=["changed", "gone", "spoilt", "loop"])
def test_a_run_goes_on_with_its_bots_as_it_began(begun, play, run_folder, tmp_path, happens):
    tournament = begun()
    happens(tmp_path / "bots" / "bot1")
    with pytest.raises((ChangedError, ConfigError)):
        choose_folder(run_folder.path.parent, describe(load_tournament(tournament.config.path)), new=False)
    again = load(tournament, run_folder)
    assert [entry.id for entry in again.entries] == [entry.id for entry in tournament.entries]
    assert [entry.name for entry in again.kept] == ["bot1"]
    assert len(sources_needed(tournament.config, newest_participants(run_folder.path.parent, "cup"))) == 3
    assert (again.kept[0].home / "bot.py").read_text() == "# bot1\n"
    assert choose_folder(run_folder.path.parent, describe(again), new=False).path == run_folder.path
    assert play(again).summary.complete
    ids = {seat.entry_id for path in run_folder.matches.glob("*.gz") for seat in read_record(path).header.seats}
    assert ids == {entry.id for entry in tournament.entries}


def test_a_bot_that_the_run_has_in_the_store_needs_no_room_for_another_version(
    begun, run_folder, tmp_path, monkeypatch
):
    tournament = begun()
    change(tmp_path / "bots" / "bot1")

    def full(*_: object, **__: object) -> NoReturn:
        raise PlatformError("no space left", "free some")

    monkeypatch.setattr(store, "_take_in", full)
    with pytest.raises(PlatformError):
        load_tournament(tournament.config.path)
    again = load(tournament, run_folder)
    assert [entry.id for entry in again.entries] == [entry.id for entry in tournament.entries]
    assert [entry.name for entry in again.kept] == ["bot1"]


def test_a_file_that_may_not_be_executed_any_more_is_another_version_too(begun, run_folder, write_bot, tmp_path):
    """The bot's id is the same, so it played on without its engine, and nothing was said."""
    engine = write_bot("bot1") / "engine"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    tournament = begun()
    engine.chmod(0o644)
    again = load(tournament, run_folder)
    assert [entry.name for entry in again.kept] == ["bot1"]
    assert (again.kept[0].home / "engine").stat().st_mode & 0o111
    shutil.rmtree(tournament.entries[1].home.parent)  # where the store has lost it, it is not refused
    assert load(tournament, run_folder).kept == ()


def test_folders_that_are_as_they_were_need_no_word(begun, run_folder):
    tournament = begun()
    assert load(tournament, run_folder).kept == ()


def test_what_is_built_for_a_run_that_has_begun_is_what_it_began_with(begun, run_folder, tmp_path):
    tournament = begun()
    change(tmp_path / "bots" / "bot1")
    known = newest_participants(run_folder.path.parent, "cup")
    places = [place for place, _ in sources_needed(tournament.config, known)]
    assert [(place / "bot.py").read_text() for place in places] == ["# bot0\n", "# bot1\n", "# bot2\n"]
    places = [place for place, _ in sources_needed(tournament.config, ())]
    assert places == [tmp_path / "bots" / name for name in ("bot0", "bot1", "bot2")]


def test_other_options_or_another_folder_in_the_file_are_a_change_still(begun, run_folder, write_bot):
    tournament = begun()
    write_bot("other")
    path = tournament.config.path
    path.write_text(path.read_text().replace("bots/bot1", "bots/other"))
    again = load(tournament, run_folder)
    assert again.kept == ()
    with pytest.raises(ChangedError, match=r"bots\[2\]\.entry_id"):
        choose_folder(run_folder.path.parent, describe(again), new=False)


def test_without_the_copy_a_changed_bot_is_refused_by_name(begun, run_folder, tmp_path):
    tournament = begun()
    shutil.rmtree(tournament.entries[1].home.parent)
    change(tmp_path / "bots" / "bot1")
    with pytest.raises(ChangedError, match=r"bots\[2\]\.entry_id \(source and options of 'bot1'\)"):
        choose_folder(run_folder.path.parent, describe(load(tournament, run_folder)), new=False)


def test_an_older_run_of_just_these_bots_is_found(begun, run_folder, tmp_path):
    tournament = begun()
    out = run_folder.path.parent
    change(tmp_path / "bots" / "bot1")
    as_it_lies = load_tournament(tournament.config.path)
    assert not has_run(out, describe(as_it_lies))
    assert has_run(out, describe(load(tournament, run_folder)))


def test_the_journal_names_the_copies(begun, run_folder, write_bot):
    tournament = begun()
    run = Run(run_folder)
    run.add(load_joining(run.journal, write_bot("late"), None), by="ann")
    text = read_journal(run_folder.journal)
    assert text.created.fields["contents"] == [entry.content for entry in tournament.entries]
    assert [len(bot.content) for bot in participants_of(text)] == [32] * 4


@pytest.fixture
def command_plays(run_folder, monkeypatch) -> Callable[..., list[set[str]]]:
    """command_plays(tournament, decide) is the command over the run with nothing played: by session, the bots that can
    be started. `decide` gets a desk in the first one, as for an order to the runner at work."""

    def make(tournament: Tournament, decide: Callable[[Desk], object] | None = None) -> list[set[str]]:
        sessions: list[set[str]] = []

        def play_run(tournament: Tournament, *_: object, **__: object) -> Summary:
            sessions.append({entry.name for entry in tournament.entries if entry.argv})
            changed = decide is not None and len(sessions) == 1
            if changed:
                with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
                    decide(Desk(journal, 50, frozenset()))
            return Summary(0, 0, 0, 0, (), 0, stopped=False, complete=not changed, changed=changed)

        monkeypatch.setattr(run_pages, "play_run", play_run)
        run_pages.play_tournament(
            load(tournament, run_folder), run_folder.path.parent, 1, pin=False, new=False, as_json=False, quiet=True
        )
        return sessions

    return make


def test_a_bot_that_comes_back_while_its_run_is_played_plays_as_it_was(begun, run_folder, tmp_path, command_plays):
    tournament = begun()
    Run(run_folder).leave("withdrawn", "bot1", by="ann")
    change(tmp_path / "bots" / "bot1")
    sessions = command_plays(
        tournament, lambda desk: decisions.reinstate(run_folder, "bot1", by="ann", reason="", desk=desk)
    )
    assert sessions == [{"bot0", "bot2"}, {"bot0", "bot1", "bot2"}]


def test_what_was_decided_after_the_run_was_read_holds_when_its_lock_is_taken(
    begun, run_folder, tmp_path, write_bot, command_plays, monkeypatch
):
    tournament = begun()
    Run(run_folder).leave("withdrawn", "bot1", by="ann")
    change(tmp_path / "bots" / "bot1")
    write_bot("late")

    class SlowToLock(Steering):
        def __enter__(self) -> Steering:
            run = Run(run_folder)
            run.reinstate("bot1", by="ann")
            run.add(load_joining(run.journal, tmp_path / "bots" / "late", None), by="ann")
            return super().__enter__()

    monkeypatch.setattr(run_pages, "Steering", SlowToLock)
    assert command_plays(tournament) == [{"bot0", "bot1", "bot2", "late"}]
