"""The matches of a run in one file: all that count, or those that are wanted, and none that may not be shown yet."""

import csv
import io
import json
import os
import re
import sqlite3
import zipfile

import pytest

from referee.record.store import match_id_of


@pytest.fixture
def cup(make_run):
    """A finished run of four matches."""
    return make_run()


def ids(folder):
    return sorted(match_id_of(path) for path in folder.matches.glob("*.gz"))


def exported(crosstown, *words):
    printed = crosstown("export", "cup", *map(str, words))
    assert printed.code == 0, printed.err
    return printed.out


def exported_rows(crosstown, file):
    exported(crosstown, file)
    return list(csv.DictReader(io.StringIO(file.read_text())))


def test_nothing_but_a_file_is_replaced(cup, crosstown, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("old.csv")
    before = sorted(tmp_path.iterdir())
    for target, why in (("pipe", "not an ordinary file"), ("folder", "a folder"), (".", "a folder"), ("/", "a folder")):
        printed = crosstown("export", "cup", target, "--format", "csv")
        assert printed.code == 2
        assert f"cannot write {target}: it is {why}" in printed.err
    assert (tmp_path / "pipe").is_fifo()
    exported(crosstown, "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "old.csv").read_text().startswith("match_id,")
    assert crosstown("report", "cup", "--html", "link.csv").code == 0
    assert (tmp_path / "old.csv").read_text().startswith("<!doctype html>")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "name",
    [
        *("tournament.jsonl", "tournament.head", "luck.secret", "crosstown.db", "matches/RECORD", "../../cup.toml"),
        *("matches/packed/ARCHIVE", "matches/void/other.jsonl.gz", "tls/key.pem"),
    ],
)
def test_no_export_or_report_takes_the_place_of_what_nobody_can_make_again(cup, crosstown, tmp_path, name):
    match = ids(cup)[0]
    cup.records.pack(ids(cup)[1:], lambda _name, _data: True)
    (archive,) = (cup.matches / "packed").iterdir()
    file = cup.path / name.replace("RECORD", f"{match}.jsonl.gz").replace("ARCHIVE", archive.name)
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text("of the run")
    (tmp_path / "link").symlink_to(file)
    before = file.read_bytes()
    for words in (
        ("export", "cup", file, "--format", "jsonl"),
        ("export", "cup", "link", "--format", "csv"),
        ("matches", "export", match, file, "--format", "html"),
        ("report", "cup", file),
    ):
        said = crosstown(*map(str, words))
        assert said.code == 2, (words, said.out)
        assert f"cannot write {'link' if 'link' in words else file}: it is" in said.err
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["matches/cup.html", "runs/cup/report.html", "runs/cup/pages/cup.html"])
def test_a_report_takes_the_place_of_the_one_before(cup, crosstown, tmp_path, name):
    """In a folder of the name `matches` it was taken for a record."""
    for _ in range(2):
        assert crosstown("report", "cup", name).code == 0
    assert (tmp_path / name).read_text().startswith("<!doctype html>")


def test_what_a_killed_export_left_is_removed_by_the_next(cup, crosstown, tmp_path):
    for name in (".cup.db.4194305.0123abcd.tmp", ".cup.db.4194305.0123abcd.tmp-wal"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    exported(crosstown, tmp_path / "cup.db")
    assert [path.name for path in tmp_path.iterdir() if ".tmp" in path.name] == []


def test_a_zip_has_a_replay_of_each_match(cup, crosstown, tmp_path):
    file = tmp_path / "cup.zip"
    assert exported(crosstown, file) == f"{file}: 4 matches\n"
    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == sorted([*(f"{one}.html" for one in ids(cup)), "matches.csv"])
        assert archive.testzip() is None
        assert archive.read(f"{ids(cup)[0]}.html").startswith(b"<!doctype html>")
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_csv_has_round_and_table_of_each_match_of_a_swiss(make_run, crosstown, tmp_path):
    """As the list of matches and the CSV of the web pages have them."""
    make_run(style="swiss", others=("cat", "dan"), more="[swiss]\nrounds = 2", played=99)
    rows = exported_rows(crosstown, tmp_path / "cup.csv")
    listed = {row["match"]: row for row in json.loads(crosstown("matches", "list", "cup", "--json").out)}
    assert {row["round"] for row in rows} == {"1", "2"}
    for row in rows:
        found = listed[row["match_id"]]
        assert (row["round"], row["table"], row["stage"]) == (str(found["round"]), str(found["table"]), found["stage"])


def test_csv_of_a_round_robin_has_no_rounds(cup, crosstown, tmp_path):
    for row in exported_rows(crosstown, tmp_path / "cup.csv"):
        assert (row["stage"], row["round"], row["table"]) == ("", "", "")


def test_lines_of_json_are_documents_of_matches(cup, crosstown, tmp_path):
    exported(crosstown, tmp_path / "cup.jsonl")
    found = [json.loads(line) for line in (tmp_path / "cup.jsonl").read_text().splitlines()]
    assert [one["header"]["match_id"] for one in found] == ids(cup)
    assert all(one["counts_with"] == one["footer"]["ranking"] for one in found)


def test_rows_of_csv_have_the_seats(cup, crosstown, tmp_path):
    rows = exported_rows(crosstown, tmp_path / "cup.csv")
    assert [row["match_id"] for row in rows] == ids(cup)
    assert {row["name_0"] for row in rows} == {"<ann>", "[b]bob"}
    assert all({row["rank_0"], row["rank_1"]} <= {"1", "2"} for row in rows)


def test_a_database_has_the_tables_of_a_run(cup, crosstown, tmp_path):
    exported(crosstown, tmp_path / "cup.db")
    with sqlite3.connect(tmp_path / "cup.db") as database:
        found = database.execute("select match_id from matches order by place").fetchall()
        assert database.execute("select count(*) from pairings").fetchone() == (0,), "no match is paired by rounds"
    assert [one[0] for one in found] == ids(cup)
    assert sorted(path.name for path in tmp_path.glob("cup.db*")) == ["cup.db"]


def test_a_database_says_where_each_match_of_a_swiss_was_paired(make_run, crosstown, tmp_path):
    make_run(style="swiss", blocks=1, played=100, others=("cyd", "dan"))
    rows = exported_rows(crosstown, tmp_path / "cup.csv")
    exported(crosstown, tmp_path / "cup.db")
    with sqlite3.connect(tmp_path / "cup.db") as database:
        found = database.execute("select p.* from pairings p join matches using (match_id) order by place").fetchall()
    assert [tuple(map(str, one)) for one in found] == [
        (row["match_id"], row["stage"], row["round"], row["table"]) for row in rows
    ]


def test_only_what_is_wanted_is_written(cup, crosstown, tmp_path):
    assert exported(crosstown, tmp_path / "a.csv", "--bot", "<ann>") == f"{tmp_path / 'a.csv'}: 4 matches\n"
    for words in (("--bot", "nobody"), ("--reason", "move_timeout"), ("--game", "chess"), ("--to", "2000-01-01")):
        assert exported(crosstown, tmp_path / "a.csv", *words) == f"{tmp_path / 'a.csv'}: 0 matches\n"


def test_annulled_matches_are_left_out(cup, crosstown, tmp_path):
    first, *others = ids(cup)
    assert crosstown("annul", "cup", first).code == 0
    exported(crosstown, tmp_path / "cup.jsonl")
    found = [json.loads(line)["header"]["match_id"] for line in (tmp_path / "cup.jsonl").read_text().splitlines()]
    assert found == others


def test_a_match_of_a_block_that_is_not_complete_is_left_out(cup, crosstown, tmp_path):
    """Its seed would tell the cards of the matches that are still to be played."""
    first = ids(cup)[0]
    assert crosstown("annul", "cup", first, "--replay").code == 0
    values = json.loads(exported(crosstown, "--json", tmp_path / "cup.csv"))
    why = "1 match: further matches are to be played with its seed"
    assert (values["matches"], values["left_out"]) == (2, [why])
    assert exported(crosstown, tmp_path / "cup.csv").splitlines()[0] == f"left out: {why}"


def test_matches_of_blocks_that_are_paired_otherwise_now_are_counted_as_left_out(make_run, crosstown, tmp_path):
    """After a match of the first round is taken back, later rounds are paired again from its result."""
    folder = make_run(style="swiss", others=("cat", "dan"), more="[swiss]\nrounds = 2", played=99)
    assert crosstown("annul", "cup", ids(folder)[0], "--replay").code == 0
    values = json.loads(exported(crosstown, "--json", tmp_path / "cup.csv"))
    said = re.match("[0-9]+", values["left_out"][0])
    assert values["matches"] + int(said[0]) == len(ids(folder))


def test_a_file_that_cannot_be_written_leaves_what_was_there(cup, crosstown, tmp_path):
    (tmp_path / "there.csv").mkdir()
    printed = crosstown("export", "cup", str(tmp_path / "there.csv"))
    assert printed.code == 2
    assert "cannot write" in printed.err
    printed = crosstown("export", "cup", str(tmp_path / "cup.xyz"))
    assert (printed.code, "add --format html, jsonl, csv or sqlite" in printed.err) == (2, True)
