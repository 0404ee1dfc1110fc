"""What a run folder keeps to save time never changes a result: not stale, cut, forged, or taken from another run."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from leaderboard.indexer import Indexer
from leaderboard.records import MatchRow
from leaderboard.store import Store, read_rows
from referee.record.journal import anchors_of
from referee.run import brief
from referee.run.anchors import AnchorKeeper
from referee.run.folder import RunFolder
from referee.run.journal import Journal, read_brief, read_journal
from referee.run.run import Run
from referee.schedule.seeds import MatchSeeds
from referee.tournament import progress as progress_module
from referee.tournament.remembered import NAME, Remembering, read_remembered
from referee.tournament.sections import BreakerConfig
from referee.tournament.session import open_progress

NOBODY = BreakerConfig()


@pytest.fixture
def take_up(monkeypatch):
    """take_up(folder) is what a runner does before it plays: (matches read, what is known of each, the next match)."""
    read, judge = [], progress_module.judge
    monkeypatch.setattr(
        progress_module, "judge", lambda path, spec, seeds: read.append(spec.match_id) or judge(path, spec, seeds)
    )

    def take(folder: RunFolder, *, watched: bool = True) -> tuple[list[str], list[object], str]:
        read.clear()
        settled: list[object] = []
        text = read_journal(folder.journal)
        run = Run(folder, text)
        with Journal(folder.journal, text) as journal, Remembering(folder.path, text.identity) as memory:
            anchors = AnchorKeeper(journal, anchors_of(text.events).digests)
            progress = open_progress(
                run.schedule_config,
                NOBODY,
                folder,
                MatchSeeds(1, (None,)),
                text.controls,
                {},
                journal.control,
                lambda record: None,
                anchors,
            )
            progress.remembered = read_remembered(folder.path, text.identity)
            progress.on_judged = memory.note
            if watched:
                progress.on_settled = lambda place, match_id, seats, judged: settled.append(
                    (
                        place,
                        match_id,
                        [seat.entry_id for seat in seats],
                        judged and (judged.ranking, judged.faults, judged.wall_us, judged.digest),
                    )
                )
            progress.take(folder.records.tidy())
            anchors.flush()
            following = progress.next()
            if not watched:
                schedule = progress.schedule
                settled += [progress.found, schedule.places, schedule.blocks, schedule.unsettled, schedule.set_aside]
                settled += sorted((entry, str(form)) for entry, form in progress.breaker._forms.items())
                settled.append(sorted(anchors.digests.items()))
        return read[:], settled, "" if following is None else following.match_id

    return take


@pytest.fixture
def swiss(make_run):
    return make_run(played=11, style="swiss", others=("cyd", "dee", "eve"), more="[swiss]\nrounds = 4")


def test_a_run_that_is_taken_up_with_its_cache_is_the_same_as_without(swiss, take_up):
    read, settled, following = take_up(swiss)
    assert len(read) == 11
    assert take_up(swiss) == ([], settled, following)
    (swiss.path / NAME).unlink()
    assert take_up(swiss) == (read, settled, following)


@pytest.mark.parametrize("seed", range(12))
def test_no_cache_of_results_changes_what_is_taken_up(swiss, take_up, seed):
    _, settled, following = take_up(swiss)
    path = swiss.path / NAME
    path.write_bytes(spoilt(path.read_bytes(), Random(seed)))
    assert take_up(swiss)[1:] == (settled, following)


def spoilt(data: bytes, dice: Random) -> bytes:
    """Cut, changed in one place, doubled, or with an earlier part again behind it."""
    at = dice.randrange(len(data))
    match dice.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + bytes([dice.randrange(32, 127)]) + data[at + 1 :]
        case 2:
            return data + data[at:]
        case _:
            return data[at:] + data


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_blocks_that_are_known_are_passed_over_with_the_same_end(make_run, take_up, seed):
    """Where records are missing or another one, matches were decided about or bots have left, in any mixture."""
    dice = Random(seed)
    folder = make_run(blocks=5, played=40 + dice.randrange(20), others=("cyd", "dee"), more="[breaker]\nin_a_row = 2")
    read, _, _ = take_up(folder, watched=False)
    assert read
    ids = list(folder.records.paths())
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        for match_id in dice.sample(ids, dice.randrange(4)):
            folder.records.paths()[match_id].unlink()
        for match_id in dice.sample(ids, dice.randrange(3)):
            journal.append("annulled", place=int(match_id[1:7]), match_id=match_id)
        if dice.random() < 0.5:
            bot = dice.choice(Run(folder).participants)
            kind = dice.choice(("withdrawn", "breaker"))
            journal.append(kind, place=dice.randrange(len(ids) + 5), entry_id=bot.entry_id, name=bot.name)
    copy = RunFolder(folder.path.with_name("copy"))
    shutil.copytree(folder.path, copy.path)
    (copy.path / NAME).unlink()
    known, state, following = take_up(folder, watched=False)
    again, same, same_following = take_up(copy, watched=False)
    assert len(known) < len(again)
    assert (state, following) == (same, same_following)


def test_a_forged_result_is_read_from_its_record_instead(swiss, take_up):
    read, settled, following = take_up(swiss)
    path = swiss.path / NAME
    seal, rows = json.loads(path.read_bytes())
    for row in rows:
        row[3] = row[3][::-1]
    path.write_text(json.dumps([seal, rows], separators=(",", ":")) + "\n")
    assert take_up(swiss) == (read, settled, following)


def test_the_cache_of_another_run_is_not_used(swiss, take_up):
    """Not even if that has the same matches: it is another run of the same tournament."""
    take_up(swiss)
    other = RunFolder(swiss.path.with_name("cup-2"))
    shutil.copytree(swiss.path, other.path)
    read, settled, following = take_up(swiss)
    assert read == []
    lines = other.journal.read_bytes().split(b"\n")
    other.journal.write_bytes(b"")
    for name in ("tournament.head",):
        (other.path / name).unlink(missing_ok=True)
    created = json.loads(lines[0])
    with Journal(other.journal, read_journal(other.journal)) as journal:
        journal.append("created", **{**created[2], "folders": ["elsewhere"]})
    again = take_up(other)
    assert len(again[0]) == 11
    assert again[1:] == (settled, following)


def test_the_cache_of_another_user_is_not_used(swiss, take_up, monkeypatch, tmp_path):
    read, settled, following = take_up(swiss)
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "theirs"))
    assert take_up(swiss) == (read, settled, following)


def test_a_record_that_is_another_one_than_the_journal_has_is_read(swiss, take_up):
    take_up(swiss)
    match_id, record = list(swiss.records.paths().items())[4]
    stat = record.stat()
    other = list(swiss.records.paths().values())[5].read_bytes()
    record.write_bytes(other[: stat.st_size].ljust(stat.st_size, b"\0"))
    read, settled, following = take_up(swiss)
    assert match_id in read
    assert (match_id, None) in settled or following == match_id


def test_a_forged_row_of_the_database_changes_no_table(make_run, crosstown):
    folder = make_run()
    crosstown("rebuild")
    wanted = crosstown("standings", "--json").out
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("UPDATE seats SET rank = 3 - rank")
        database.execute("DELETE FROM snapshots")
        database.commit()
    assert crosstown("standings", "--json").out == wanted


def test_a_row_of_another_runs_database_changes_no_table(make_run, crosstown):
    folder = make_run()
    crosstown("rebuild")
    wanted = crosstown("standings", "--json").out
    other = make_run(out="others")
    crosstown("rebuild", "cup", "--out", "others")
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("ATTACH ? AS theirs", [str(other.database)])
        database.execute("UPDATE seats SET rank = 1")
        database.execute("UPDATE matches SET seal = (SELECT seal FROM theirs.matches AS m WHERE m.match_id = match_id)")
        database.execute("DELETE FROM snapshots")
        database.commit()
    assert crosstown("standings", "--json").out == wanted


def test_a_forged_table_is_computed_again(make_run, crosstown):
    folder = make_run()
    crosstown("rebuild")
    wanted = crosstown("standings", "--json").out
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("UPDATE snapshots SET content = replace(content, '\"won\":3', '\"won\":4')")
        database.commit()
    assert crosstown("standings", "--json").out == wanted


def test_a_table_that_was_made_of_other_records_is_named_by_verify(make_run, crosstown):
    """If somebody lays other records into a run, with a journal that fits them, and puts the first ones back once a
    table was made, rows with a good seal are left."""
    folder = make_run()
    crosstown("rebuild")
    sentence = "are not those of the records; make them again: crosstown rebuild"
    assert sentence not in crosstown("matches", "verify", "cup").out
    with Store(folder.database) as store:
        rows = store.rows()
        store.put([row._replace(seats=tuple(seat._replace(rank=3 - seat.rank) for seat in row.seats)) for row in rows])
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("DELETE FROM snapshots")
        database.commit()
    printed = crosstown("matches", "verify", "cup")
    assert (printed.code, sentence in printed.out) == (1, True)
    crosstown("rebuild")
    assert sentence not in crosstown("matches", "verify", "cup").out


@pytest.fixture
def long_journal(swiss, take_up, monkeypatch) -> Path:
    """A journal with digests, of which the brief is kept although it is short."""
    take_up(swiss)
    monkeypatch.setattr(brief, "WORTH_BYTES", 1)
    return swiss.journal


def lines_of(journal: Path) -> list[tuple[object, ...]]:
    """What a brief has to say, read from the journal itself."""
    return [
        (
            line.kind,
            line.at,
            {} if line.kind in ("counted", "found", "uncounted") else line.fields,
            line.chain,
            line.end,
        )
        for line in read_journal(journal).events
    ]


def briefly(journal: Path) -> list[tuple[object, ...]]:
    return [(line.kind, line.at, line.fields, line.chain, line.end) for line in read_brief(journal).events]


def test_the_brief_of_a_journal_is_the_journal_without_digests(long_journal):
    wanted = lines_of(long_journal)
    assert "found" in [line[0] for line in wanted]
    assert briefly(long_journal) == wanted
    assert (long_journal.parent / brief.NAME).exists()
    assert briefly(long_journal) == wanted


def test_a_journal_that_has_grown_is_read_on_from_where_the_brief_ends(long_journal, monkeypatch):
    briefly(long_journal)
    with Journal(long_journal, read_journal(long_journal)) as journal:
        journal.append("counted", matches={"m000099-00000000": "ab" * 32})
        journal.append("stopped", rated=1, missing=1)
    parsed = []
    parse = brief.parse_lines
    monkeypatch.setattr(brief, "parse_lines", lambda *args, **more: parsed.append(len(args[2])) or parse(*args, **more))
    assert briefly(long_journal) == lines_of(long_journal)
    assert parsed == [len(lines_of(long_journal)) - 2]


@pytest.mark.parametrize(("rests", "reads"), [(False, 2), (True, 1)])
def test_the_brief_of_a_journal_that_rests_is_brought_up_to_date(long_journal, monkeypatch, rests, reads):
    briefly(long_journal)
    monkeypatch.setattr(brief, "WORTH_BYTES", 1 << 10)
    monkeypatch.setattr(brief, "SETTLED_NS", -1 if rests else 1 << 62)
    with Journal(long_journal, read_journal(long_journal)) as journal:
        journal.append("stopped", rated=1, missing=1)
    read = []
    parse = brief.parse_lines
    monkeypatch.setattr(brief, "parse_lines", lambda *args, **more: read.append(args) or parse(*args, **more))
    wanted = lines_of(long_journal)
    assert [briefly(long_journal), briefly(long_journal)] == [wanted, wanted]
    assert len(read) == reads


@pytest.mark.parametrize("seed", range(12))
def test_no_brief_changes_what_a_journal_says(long_journal, seed):
    briefly(long_journal)
    kept = long_journal.parent / brief.NAME
    kept.write_bytes(spoilt(kept.read_bytes(), Random(seed)))
    assert briefly(long_journal) == lines_of(long_journal)


def test_a_journal_that_was_changed_is_not_read_from_its_brief(long_journal):
    """Also where its size and its time of modification are as before."""
    import os

    from referee.errors import JournalError

    briefly(long_journal)
    stat = long_journal.stat()
    data = long_journal.read_bytes()
    long_journal.write_bytes(data.replace(b'"seed":1', b'"seed":2', 1))
    os.utime(long_journal, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(JournalError, match=":1: the journal is damaged"):
        read_brief(long_journal)


def test_a_run_that_begins_writes_only_the_rows_that_the_database_lacks(make_run, crosstown, monkeypatch):
    folder = make_run()
    crosstown("rebuild")
    (lost, *_) = folder.records.paths()
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("DELETE FROM matches WHERE match_id = ?", [lost])
        database.commit()
    written: list[str] = []
    put = Store.put

    def noted(store: Store, rows: tuple[MatchRow, ...]) -> None:
        written.extend(row.match_id for row in rows)
        put(store, rows)

    monkeypatch.setattr(Store, "put", noted)
    indexer = Indexer(folder)
    indexer.start()
    indexer.close()
    assert written == [lost]
    assert [row.match_id for row in read_rows(folder.database)] == list(folder.records.paths())
