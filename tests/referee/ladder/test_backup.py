"""A ladder is copied while it plays, and what is made of the copy plays on."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.errors import PlatformError, TournamentError, UsageError
from referee.ladder.backup import MANIFEST, back_up, restore
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import Places, open_store
from referee.ladder.people import SHELL
from referee.ladder.season import ask_for_end, end_if_over, matches_left, note_over, read_season
from referee.ladder.store import LadderStore
from referee.record.journal import BLOCK, anchors_of
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.wire.public_address import own_certificate
from tests.referee.ladder.handing_in import archive, bot_files, send


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def blocks(run: Run) -> list[Any]:
    return [line.fields for line in run.journal.events if line.kind == BLOCK]


def elsewhere(world: Any, folder: Path) -> Any:
    """The same world with its data in another folder."""
    return replace(world, config=replace(world.config, data=folder), tables=replace(world.tables, played=[]), notes=[])


@pytest.fixture
def playing(make_ladder, bot, tmp_path) -> Any:
    """A ladder with three bots whose matches have begun, and `backup`, which was made while two were in play."""
    world = make_ladder()
    with open_store(world.config) as store:
        store.accounts.add_owner("ann")
    world.roster.set(bot("ann"), bot("bob"), bot("cid"))
    world.tables.behaves = lambda spec: "stays" if spec.place >= 12 else "rated"
    made = []

    def in_play() -> bool:
        if len(world.tables.played) < 14:
            return False
        made.append(back_up(world.config, tmp_path / "backup"))
        return True

    config = replace(world.config, server=replace(world.config.server, drain_s=0.0))
    world.config = config
    world.play(in_play)
    world.tables.behaves = lambda _: "rated"
    return world


def test_what_is_restored_on_another_path_plays_on_from_where_the_journal_was(playing, tmp_path) -> None:
    other = elsewhere(playing, tmp_path / "elsewhere" / "ladder")
    made = restore(tmp_path / "backup", other.config)
    assert made["ladder"] == playing.config.name
    before = Run(RunFolder(tmp_path / "backup" / "divisions" / "toy"))
    known, counted = blocks(before), anchors_of(before.journal.events).digests
    assert known
    other.play(lambda: len(other.tables.played) >= 12)
    after = other.run()
    assert blocks(after)[: len(known)] == known, "nothing is decided again"
    digests = anchors_of(after.journal.events).digests
    assert counted.items() <= digests.items(), "what counted counts"
    assert not after.check().wrong
    assert len(digests) > len(counted)
    assert not [note for note in other.notes if "record" in note]


def test_the_ladder_that_was_copied_goes_on_as_if_nothing_had_been(playing, tmp_path) -> None:
    known = blocks(playing.run())
    playing.play(lambda: len(playing.tables.played) >= 20)
    assert blocks(playing.run())[: len(known)] == known
    assert not playing.run().check().wrong


def test_all_that_the_journal_speaks_of_is_in_the_copy_and_nothing_else_counts(playing, tmp_path) -> None:
    folder = RunFolder(tmp_path / "backup" / "divisions" / "toy")
    counted = anchors_of(Run(folder).journal.events).digests
    assert set(folder.records.paths()) == set(counted)
    assert folder.records.live() == []


def test_secrets_and_the_database_are_for_their_owner_alone(playing, tmp_path) -> None:
    backup = tmp_path / "backup"
    assert mode(playing.config.data / "ladder.db") == 0o600
    assert mode(backup) == 0o700
    assert mode(backup / "ladder.db") == 0o600
    assert mode(backup / "divisions" / "toy" / "luck.secret") == 0o600
    other = elsewhere(playing, tmp_path / "again")
    restore(backup, other.config)
    assert mode(other.config.data / "ladder.db") == 0o600
    assert mode(other.config.data / "divisions" / "toy" / "luck.secret") == 0o600


def test_files_of_versions_come_back_as_they_are_played_from(config, store, hand_ins, sign, tmp_path) -> None:
    files = {**bot_files(), "run.sh": "#!/bin/sh\n", "deep/er/data.txt": "x"}
    content = send(hand_ins, sign(), archive(files)).version.content
    back_up(config, tmp_path / "backup")
    moved = replace(config, data=tmp_path / "moved")
    restore(tmp_path / "backup", moved)
    with open_store(moved) as again:
        assert again.version("mine", 1).content == content
        assert LadderHandIns(moved, again).bots()[0].name == "mine"
    place = Places(moved.data).content / content / "bot"
    assert mode(place / "bot.toml") == 0o444
    assert (place / "deep" / "er" / "data.txt").read_text() == "x"


@pytest.mark.parametrize("name", ["ladder.db", "divisions/toy/tournament.jsonl", "divisions/toy/luck.secret"])
@pytest.mark.parametrize("harm", ["gone", "changed"])
def test_a_backup_that_is_not_whole_makes_nothing(playing, tmp_path, name: str, harm: str) -> None:
    path = tmp_path / "backup" / name
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    other = elsewhere(playing, tmp_path / "again")
    with pytest.raises(UsageError, match=path.name):
        restore(tmp_path / "backup", other.config)
    assert not other.config.data.exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_backup_that_names_files_elsewhere_is_refused(playing, tmp_path) -> None:
    manifest = tmp_path / "backup" / MANIFEST
    made = json.loads(manifest.read_text())
    made["files"]["../../stolen"] = [1, "00"]
    manifest.write_text(json.dumps(made))
    with pytest.raises(UsageError, match="lies elsewhere"):
        restore(tmp_path / "backup", elsewhere(playing, tmp_path / "again").config)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("", "is no backup"),
        ("{", "cannot be read"),
        ('{"format": 1, "schema": 99, "crosstown": "9"}', "newer Crosstown"),
    ],
)
def test_what_is_no_backup_is_refused(config, tmp_path, made: str, said: str) -> None:
    folder = tmp_path / "backup"
    folder.mkdir()
    if made:
        (folder / MANIFEST).write_text(made)
    with pytest.raises(UsageError, match=said):
        restore(folder, config)


def test_a_ladder_that_is_there_is_never_replaced(playing, tmp_path) -> None:
    with pytest.raises(UsageError, match="takes no other's place"):
        restore(tmp_path / "backup", playing.config)
    with pytest.raises(UsageError, match="is there already"):
        back_up(playing.config, tmp_path / "backup")


def test_without_a_ladder_there_is_nothing_to_copy(config, tmp_path) -> None:
    with pytest.raises(UsageError, match="has no ladder in it"):
        back_up(config, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()


def test_a_damaged_journal_is_not_backed_up_as_if_it_were_whole(playing, tmp_path) -> None:
    journal = playing.folder().journal
    journal.write_bytes(journal.read_bytes().replace(b'"added"', b'"ended"', 1))
    with pytest.raises(TournamentError):
        back_up(playing.config, tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_a_season_that_ends_while_the_copy_is_made_is_in_no_copy(playing, tmp_path) -> None:
    """Its runs are moved aside: a copy could have some of them as those of the next season."""
    data = playing.config.data

    def end(name: str) -> None:
        if name == "divisions/toy/tournament.jsonl":
            ask_for_end(data)
            note_over(data)
            with open_store(playing.config) as store:
                assert end_if_over(playing.config, store, lambda _: None)

    with pytest.raises(PlatformError):
        back_up(playing.config, tmp_path / "second", end)
    assert not (tmp_path / "second").exists()
    back_up(playing.config, tmp_path / "second")
    assert (tmp_path / "second" / "seasons" / "1" / "divisions" / "toy" / "tournament.jsonl").is_file()


def test_what_is_annulled_between_the_two_copies_is_annulled_in_the_restored_ladder_too(playing, tmp_path) -> None:
    """The copy of the database calls it done, and the copy of the journal, which was made before, does not have it."""
    world, match_id = playing, next(iter(anchors_of(playing.run().journal.events).digests))
    world.roster.set()

    def annul(name: str) -> None:
        if name == "divisions/toy/tournament.jsonl":
            with open_store(world.config) as store:
                people = store.people(divisions=["toy"])
                people.annul(SHELL, "toy", match_id, "slept")
                world.play(people=people)
                assert people.acts(SHELL, 1)[0].state == "yes"

    back_up(world.config, tmp_path / "second", annul)
    assert match_id in anchors_of(Run(tmp_path / "second" / "divisions" / "toy").journal.events).digests
    other = elsewhere(world, tmp_path / "again")
    restore(tmp_path / "second", other.config)
    for _ in range(2):  # taken up again it stays so
        with open_store(other.config) as store:
            other.play(people=store.people(divisions=["toy"]))
            assert [act.state for act in store.people().acts(SHELL, 5) if act.what == "annul"] == ["yes"]
        assert match_id not in other.run().records.paths()
        assert [fields["match_id"] for fields in other.lines("annulled")] == [match_id]


def test_a_kill_between_an_annulment_and_its_note_leaves_it_done(playing) -> None:
    match_id = next(iter(anchors_of(playing.run().journal.events).digests))
    with open_store(playing.config) as store:
        people = store.people(divisions=["toy"])
        people.annul(SHELL, "toy", match_id, "slept")
        with playing.division() as division:  # and then the process is gone
            division.annul(match_id, by="", reason="slept")
        playing.play(people=people)
        assert people.acts(SHELL, 1)[0].state == "yes"
    assert [fields["match_id"] for fields in playing.lines("annulled")] == [match_id]


def test_a_pause_by_the_breaker_that_the_journal_does_not_have_is_not_in_the_restored_ladder(
    config, store, hand_ins, sign, bot, tmp_path
) -> None:
    send(hand_ins, sign(), archive(bot_files()))
    (waiting,) = store.steps.waiting()
    store.steps.checked(waiting.id, "1", ["first"])
    store.steps.qualified(waiting.id, "first")
    store.paused("first", bot("mine"), "three crashes in a row")
    assert store.broken("first") == {"mine"}
    back_up(config, tmp_path / "backup")
    moved = replace(config, data=tmp_path / "moved")
    restore(tmp_path / "backup", moved)
    with open_store(moved) as again:
        assert again.broken("first") == set()


def test_a_copy_of_the_end_of_a_season_never_calls_blocks_over_that_are_open_in_its_journals(playing, tmp_path) -> None:
    def end(name: str) -> None:
        if name == "divisions/toy/tournament.jsonl":
            ask_for_end(playing.config.data)
            playing.play()
            assert read_season(playing.config.data).over

    back_up(playing.config, tmp_path / "second", end)
    other = elsewhere(playing, tmp_path / "again")
    restore(tmp_path / "second", other.config)
    assert not read_season(other.config.data).over
    assert matches_left(other.config) > 0


def test_remote_bots_know_the_restored_ladder_by_its_certificate(playing, tmp_path) -> None:
    tls = playing.config.data / "tls"
    made = own_certificate(tls, "127.0.0.1", "games.example")
    back_up(playing.config, tmp_path / "second")
    other = elsewhere(playing, tmp_path / "again")
    restore(tmp_path / "second", other.config)
    again = other.config.data / "tls"
    assert mode(again / made[1].relative_to(tls)) == 0o600
    before = [path.read_bytes() for path in made]
    assert [path.read_bytes() for path in own_certificate(again, "127.0.0.1", "games.example")] == before


def test_what_is_handed_in_while_the_copy_is_made_is_whole_or_not_there(
    config, store: LadderStore, hand_ins, sign, tmp_path, monkeypatch
) -> None:
    """At each file that is copied another hand-in arrives."""
    ann = sign()
    send(hand_ins, ann, archive(bot_files()))
    sent: list[str] = []

    def more(_name: str) -> None:
        if len(sent) < 8:
            sent.append(str(send(hand_ins, ann, archive(bot_files(version=f"{len(sent) + 2}"))).version.content))

    monkeypatch.setattr("referee.ladder.hand_ins.MOST_WAITING", 100)
    back_up(config, tmp_path / "backup", more)
    assert len(sent) >= 2
    moved = replace(config, data=tmp_path / "moved")
    restore(tmp_path / "backup", moved)
    with open_store(moved) as again:
        for version in again.versions("mine"):
            assert (Places(moved.data).content / version.content / "bot" / "bot.py").is_file()
