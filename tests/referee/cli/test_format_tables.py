"""The table that a format makes itself: wherever standings are shown, before the end and after it."""

import asyncio
import csv
import io
import json

import pytest

from leaderboard.index import load_index
from leaderboard.web.app import make_app
from leaderboard.web.site import get
from referee.record.reader import read_header
from referee.run.journal import Journal, read_journal
from referee.run.run import Run

BOTS = ("cyd", "dan")
SWISS_COLUMNS = ["rank", "name", "points", "buchholz", "sonneborn-berger", "byes"]


@pytest.fixture
def placings(crosstown):
    def read():
        values = json.loads(crosstown("standings", "--json").out)
        return [(row["rank"], row["name"]) for row in values["placings"]], values["placings_final"]

    return read


def test_swiss_points_stand_below_the_ratings_by_the_runs_own_tie_breaks(make_run, crosstown, placings):
    make_run(style="swiss", blocks=2, played=16, others=BOTS)
    lines = crosstown("standings").out.splitlines()
    head = lines.index("swiss:")
    assert lines[head + 1].split() == SWISS_COLUMNS
    # By hand: ann beat cyd 3-1 and bob 4-0; bob beat dan 4-0; cyd beat dan 4-0; a round is worth one point.
    assert [line.split() for line in lines[head + 2 :]] == [
        ["1", "<ann>", "1.75", "2.25", "1.94", "0"],
        ["2", "cyd", "1.25", "1.75", "0.44", "0"],
        ["3", "[b]bob", "1", "1.75", "0", "0"],
        ["4", "dan", "0", "2.25", "0", "0"],
    ]
    assert placings()[1]


@pytest.mark.parametrize(
    ("played", "order"),
    [
        (0, [(1, "<ann>"), (1, "[b]bob"), (1, "cyd"), (1, "dan")]),
        (7, [(1, "<ann>"), (2, "[b]bob"), (3, "cyd"), (4, "dan")]),  # whole blocks: 0.75, 0.5, 0.25, 0
        (16, [(1, "<ann>"), (2, "cyd"), (3, "[b]bob"), (4, "dan")]),
    ],
)
def test_a_swiss_table_is_there_before_the_end_and_says_so(make_run, crosstown, placings, played, order):
    make_run(style="swiss", blocks=2, played=played, others=BOTS)
    table, final = placings()
    assert table == order
    assert final == (played == 16)
    assert ("swiss, as it stands:" in crosstown("standings").out) != final


@pytest.mark.parametrize("finished", [False, True])
def test_the_command_and_the_api_agree_on_whether_a_run_without_a_table_of_its_own_has_ended(
    make_run, placings, tmp_path, finished
):
    folder = make_run(played=4 if finished else 3)
    if finished:
        with Journal(folder.journal, read_journal(folder.journal)) as journal:
            journal.append("finished", rated=4, missing=0)
    status, answer = asyncio.run(get(make_app(tmp_path / "runs"), "/api/v1/runs/cup/standings"))
    assert status == 200
    assert (json.loads(answer)["placings_final"], placings()[1]) == (finished, finished)


def test_whoever_sits_out_does_not_lead_before_a_match_is_played(make_run, crosstown):
    make_run(style="swiss", blocks=2, played=0, others=("cyd",))
    rows = json.loads(crosstown("standings", "--json").out)["placings"]
    assert [(row["rank"], row["points"], row["byes"]) for row in rows] == [(1, "0", "0")] * 3


def test_a_knockout_shows_who_went_out_when_and_everyones_way(make_run, crosstown, placings):
    make_run(style="knockout", blocks=1, played=100, others=BOTS)
    lines = crosstown("standings").out.splitlines()
    head = lines.index("knockout:")
    assert lines[head + 1].split() == ["rank", "name", "out", "in", "round", "round", "1", "round", "2"]
    assert placings() == ([(1, "<ann>"), (2, "[b]bob"), (3, "cyd"), (3, "dan")], True)
    values = json.loads(crosstown("standings", "--json").out)["placings"]
    assert [row["round 1"].partition(" at ")[2] for row in values] == ["table 1", "table 2", "table 2", "table 1"]
    assert [row["round 2"] for row in values[2:]] == ["-", "-"]


def test_a_knockout_before_its_end_has_those_who_are_left_in_front(make_run, placings):
    make_run(style="knockout", blocks=1, played=7, others=BOTS)
    table, final = placings()
    assert [name for rank, name in table if rank == 1] == ["<ann>", "[b]bob"]
    assert not final


def test_the_api_has_the_placings_of_a_knockout_as_the_command_prints_them(make_run, crosstown, tmp_path):
    """Of a run that is over, of one that is not, and of a double elimination."""
    runs = [("over", 1, 100, ""), ("open", 1, 7, ""), ("twice", 1, 100, "[knockout]\ndouble = true")]
    for name, blocks, played, more in runs:
        make_run(name, style="knockout", blocks=blocks, played=played, others=BOTS, more=more)
    app = make_app(tmp_path / "runs")
    answers = {}
    for name, *_ in runs:
        status, body = asyncio.run(get(app, f"/api/v1/runs/{name}/standings"))
        assert status == 200
        answers[name] = json.loads(body)
        printed = json.loads(crosstown("standings", name, "--json").out)
        for key in ("placings", "total", "at_most", "apart", "caption"):
            assert answers[name][key] == printed[key]
        assert answers[name]["placings_final"] == printed["placings_final"] == (name != "open")
    ranks = {name: [(row["rank"], row["name"]) for row in answer["placings"]] for name, answer in answers.items()}
    assert ranks["over"] == [(1, "<ann>"), (2, "[b]bob"), (3, "cyd"), (3, "dan")]
    assert [rank for rank, _ in ranks["open"][:2]] == [1, 1]
    assert ranks["twice"] == [(1, "<ann>"), (2, "[b]bob"), (3, "cyd"), (4, "dan")]
    assert "round 4" in answers["twice"]["placings"][0]


def test_other_formats_have_no_table_of_their_own(make_run, crosstown, placings):
    make_run()
    assert placings() == ([], False), "the run has not said that it is finished"
    assert "round-robin" not in crosstown("standings").out


def test_csv_has_the_figures_of_the_format_beside_the_ratings(make_run, crosstown):
    make_run(style="swiss", blocks=2, played=16, others=BOTS)
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(crosstown("standings", "--csv").out))}
    assert (rows["<ann>"]["swiss rank"], rows["<ann>"]["swiss points"], rows["<ann>"]["swiss buchholz"]) == (
        "1",
        "1.75",
        "2.25",
    )


def test_the_report_has_the_formats_table(make_run, crosstown, tmp_path):
    make_run(style="swiss", blocks=2, played=16, others=BOTS)
    crosstown("report", "cup", "--html")
    page = (tmp_path / "runs/cup/report.html").read_text()
    assert "<h2>swiss</h2>" in page
    assert "<th>sonneborn-berger</th>" in page
    assert "1.75" in page


def test_a_kept_table_keeps_the_formats_own(make_run, crosstown):
    make_run(style="swiss", blocks=2, played=16, others=BOTS)
    before = crosstown("standings", "--json").out
    assert crosstown("rebuild").code == 0
    assert crosstown("standings", "--json").out == before


def test_the_tournament_file_and_the_bots_need_not_be_there(make_run, crosstown, tmp_path, placings):
    make_run(style="knockout", blocks=1, played=100, others=BOTS)
    before = placings()
    (tmp_path / "cup.toml").unlink()
    for manifest in (tmp_path / "bots").glob("*/bot.toml"):
        manifest.unlink()
    assert placings() == before


@pytest.mark.parametrize("how", ["deleted", "reopened"])
def test_a_table_up_to_a_gap_says_so(make_run, crosstown, how):
    folder = make_run(style="swiss", blocks=2, played=16, others=("cyd", "dan"))
    assert "gap" not in crosstown("standings").out
    gone = sorted(folder.matches.glob("*.gz"))[1]
    match_id = gone.name.partition(".")[0]
    if how == "deleted":
        gone.unlink()
    else:
        assert crosstown("annul", "cup", match_id, "--replay").code == 0
    heading = f"swiss, as it stands up to the round with a gap at match {match_id}"
    assert f"\n{heading}:\n" in crosstown("standings").out
    assert json.loads(crosstown("standings", "--json").out)["placings_gap"] == match_id
    assert crosstown("report").code == 0
    assert f"<h2>{heading}</h2>" in (folder.path / "report.html").read_text()


def test_a_run_that_goes_on_has_no_gap(make_run, crosstown):
    make_run(style="swiss", blocks=2, played=3, others=("cyd", "dan"))
    assert "\nswiss, as it stands:\n" in crosstown("standings").out


@pytest.mark.parametrize("style", ["swiss", "knockout"])
def test_the_own_table_says_in_words_what_it_makes_of_a_bot_that_is_out(make_run, crosstown, style):
    make_run(style=style, blocks=1, played=0, others=BOTS)
    assert "is out of the run" not in crosstown("standings").out
    assert crosstown("withdraw", "cup", "cyd").code == 0
    assert "is out of the run" not in crosstown("standings").out, "nobody is paired with it any more"
    make_run("later", style=style, blocks=1, played=1, others=BOTS)
    assert crosstown("withdraw", "later", "<ann>").code == 0
    (note,) = json.loads(crosstown("standings", "later", "--json").out)["placings_notes"]
    assert note == (
        "'<ann>' is out of the run: 1 match that it was paired for was not played; this table counts it as lost for it,"
        " and its opponents have the points"
    )
    assert note in " ".join(crosstown("standings", "later").out.split())


@pytest.mark.parametrize("style", ["swiss", "knockout"])
def test_the_own_table_says_in_words_that_it_keeps_the_points_of_matches_that_do_not_count(make_run, crosstown, style):
    folder = make_run(style=style, blocks=1, played=100, others=BOTS)
    played = sum("<ann>" in {seat.name for seat in read_header(path).seats} for path in folder.matches.glob("*.gz"))
    assert crosstown("withdraw", "cup", "<ann>", "--choice", "annul").code == 0
    (note,) = json.loads(crosstown("standings", "--json").out)["placings_notes"]
    assert note == (
        "'<ann>' is out of the run, and its matches are annulled: this table keeps the points of the"
        f" {played} matches that it has played"
    )
    assert note in " ".join(crosstown("standings", "cup").out.split())
    first = json.loads(crosstown("matches", "list", "cup", "--json").out)[0]
    assert crosstown("annul", "cup", first["match"]).code == 0
    notes = json.loads(crosstown("standings", "--json").out)["placings_notes"]
    how = "lost for '<ann>', out of the run" if "<ann>" in {seat["name"] for seat in first["seats"]} else "a tie"
    assert f"1 match was annulled: this table counts it as {how}" in notes


def test_of_a_format_without_a_table_nothing_is_said_about_one(make_run, crosstown):
    """The API said that this table counts matches of a bot as lost; the command did not, of the same run."""
    folder = make_run(blocks=3, played=3, others=BOTS)
    for name, choice in (("cyd", "annul"), ("dan", "losses")):
        assert crosstown("withdraw", "cup", name, "--choice", choice).code == 0
        printed = json.loads(crosstown("standings", "--json").out)
        status, body = asyncio.run(get(make_app(folder.path.parent), "/api/runs/cup/standings"))
        answered = json.loads(body)
        for values in (printed, answered):
            assert (values["placings"], values["placings_gap"], values["placings_notes"]) == ([], "", []), status


def test_pairings_show_the_results_that_count_and_no_cancelled_match_as_to_be_played(make_run, crosstown):
    folder = make_run(style="swiss", blocks=2, played=8, others=BOTS)
    run = Run(folder)

    def first_table():
        (row,) = (one for one in json.loads(crosstown("pairings", "--json", "--round", "1").out) if one["table"] == 1)
        return row

    before = first_table()
    assert (before["result"], before["matches_left"]) == ("3 - 1", 0)
    rows = [
        row
        for row in load_index(folder).rows
        if {seat.name for seat in row.seats} == {before["bot 1"], before["bot 2"]}
    ]
    assert len(rows) == 4
    for row in rows:
        ranking = [1 if seat.name == before["bot 2"] else 2 for seat in row.seats]
        run.rejudge(row.match_id, ranking, by="eve", reason="")
    assert first_table()["result"] == "0 - 4"
    Run(folder).annul(rows[0].match_id, by="eve", reason="")
    assert (first_table()["result"], first_table()["matches_left"]) == ("0 - 3", 0)
    for name in ("<ann>", "[b]bob", "cyd"):
        Run(folder).leave("withdrawn", name, "keep", by="eve", reason="")
    left = json.loads(crosstown("pairings", "--json", "--all").out)
    assert {row["matches_left"] for row in left} == {0}


@pytest.mark.parametrize("style", ["swiss", "knockout"])
def test_pairings_keep_the_results_of_a_bot_whose_matches_are_all_annulled(make_run, crosstown, style):
    make_run(style=style, blocks=1, played=100, others=BOTS)

    def results():
        rows = json.loads(crosstown("pairings", "--json", "--all").out)
        return [(row["round"], row["table"], row["result"], row["matches_left"]) for row in rows]

    before = results()
    assert crosstown("withdraw", "cup", "<ann>", "--choice", "annul").code == 0
    assert results() == before
    assert {left for *_, left in before} == {0}


@pytest.mark.parametrize(("style", "words"), [("swiss", ()), ("swiss", ("--replay",)), ("knockout", ("--replay",))])
def test_later_matches_keep_their_round_and_table_when_one_is_annulled(make_run, crosstown, tmp_path, style, words):
    """Their records have them. The schedule waits for the match, or pairs other bots after it."""
    make_run(style=style, blocks=1, played=100, others=BOTS)

    def seating():
        assert crosstown("export", "cup", str(tmp_path / "cup.csv")).code == 0
        pages = ["/api/v1/runs/cup/matches", "/runs/cup/matches.csv"]
        answers = [asyncio.run(get(make_app(tmp_path / "runs"), page)) for page in pages]
        assert [status for status, _ in answers] == [200, 200]
        lists = {
            "list": json.loads(crosstown("matches", "list", "cup", "--json").out),
            "export": list(csv.DictReader(io.StringIO((tmp_path / "cup.csv").read_text()))),
            "api": json.loads(answers[0][1])["matches"],
            "page": list(csv.DictReader(io.StringIO(answers[1][1].decode()))),
        }
        return {
            (name, row.get("match") or row["match_id"]): (row["stage"], str(row["round"]), str(row["table"]))
            for name, rows in lists.items()
            for row in rows
        }

    before = seating()
    rounds = {match_id: round_ for (_, match_id), (_, round_, _) in before.items()}
    assert set(rounds.values()) >= {"1", "2"}
    gone = min(rounds)
    assert crosstown("annul", "cup", gone, *words).code == 0
    after = seating()
    assert after.items() <= before.items()
    last = max(rounds)
    shown = {name for name, match_id in after if match_id == last}
    assert shown >= {"list", "api", "page"}  # an export has no match of a block that is not complete


def test_pairings_do_not_say_of_an_annulled_match_that_it_was_not_played(make_run, crosstown):
    folder = make_run(style="swiss", blocks=1, played=100, others=BOTS)
    first = load_index(folder).rows[0]
    for row in load_index(folder).rows:
        if {seat.name for seat in row.seats} == {seat.name for seat in first.seats} and row.block == first.block:
            assert crosstown("annul", "cup", row.match_id).code == 0
    results = [row["result"] for row in json.loads(crosstown("pairings", "--json", "--round", "1").out)]
    assert "no result" in results


@pytest.mark.parametrize(("style", "words"), [("knockout", "of at most"), ("round-robin", "2 of 4 matches")])
def test_the_report_says_that_fewer_matches_may_be_played(make_run, crosstown, tmp_path, style, words):
    make_run(style=style, blocks=2, played=2)
    crosstown("report", "cup", "page.html")
    assert words in (tmp_path / "page.html").read_text()
