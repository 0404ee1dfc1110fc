"""The tables of a round: for people, as CSV, and as a page to print."""

import csv
import io

from leaderboard.pairings import pairing_rows, pairings_page, rounds_with_tables
from leaderboard.schedule_view import Pairing, ScheduleView
from leaderboard.web.csv_files import pairings_csv

NASTY = "<b>ann & co</b>"


class Seat:
    def __init__(self, entry_id, rank):
        self.entry_id, self.rank, self.team, self.fault = entry_id, rank, entry_id, ""


class Played:
    """As much of a row as a result takes."""

    def __init__(self, match_id, ranks):
        self.match_id = match_id
        self.seats = tuple(Seat(entry, rank) for entry, rank in ranks.items())


VIEW = ScheduleView(
    pairings=(
        Pairing("", 1, 1, ("a", "b"), ("m0", "m1")),
        Pairing("", 1, 2, ("c", "d"), ("m2", "m3")),
        Pairing("", 2, 1, ("a", "c"), ("m4", "m5")),
        Pairing("", 1, 0, ("e",)),
    ),
    names={"a": NASTY, "b": "bob", "c": "cyd", "d": "dan", "e": "eve"},
)
ROWS = [Played("m0", {"a": 1, "b": 2}), Played("m1", {"b": 1, "a": 1}), Played("m2", {"c": 1, "d": 2})]


def test_tables_have_their_results_and_say_what_is_left():
    first, second = rounds_with_tables(VIEW, ROWS)
    assert [(table.number, table.result, table.left) for table in first.tables] == [
        (1, "1.5 - 0.5", 0),
        (2, "1 - 0", 1),
        (0, "bye", 0),
    ]
    assert [(table.names, table.result, table.left) for table in second.tables] == [((NASTY, "cyd"), "", 2)]
    assert (first.title, second.title) == ("Round 1", "Round 2")


def test_cancelled_matches_are_not_to_be_played():
    some = Pairing("", 1, 1, ("a", "b"), ("m0", "m1", "m9"), {"m9": ("a",)})
    none = Pairing("", 1, 2, ("c", "d"), ("m7", "m8"), {"m7": (), "m8": ()})
    (found,) = rounds_with_tables(ScheduleView(pairings=(some, none), names=VIEW.names), ROWS)
    assert [(table.result, table.left) for table in found.tables] == [("1.5 - 0.5", 0), ("no result", 0)]


def test_the_csv_has_one_line_for_each_table_and_keeps_names_in_their_cells():
    rows = pairing_rows(rounds_with_tables(VIEW, ROWS))
    text = pairings_csv(rows).body.decode()
    assert [line["bot 1"] for line in csv.DictReader(io.StringIO(text))] == [NASTY, "cyd", "eve", NASTY]
    assert next(csv.DictReader(io.StringIO(text))) == {
        "stage": "", "round": "1", "table": "1", "bot 1": NASTY, "bot 2": "bob", "result": "1.5 - 0.5",
        "matches_left": "0",
    }  # fmt: skip


def test_the_page_to_print_escapes_names_and_has_each_round():
    page = pairings_page("cup <1>", rounds_with_tables(VIEW, ROWS))
    assert NASTY not in page
    assert "&lt;b&gt;ann &amp; co&lt;/b&gt; - bob" in page
    assert "cup &lt;1&gt;" in page
    assert page.count("<section>") == 2
    assert "<script" not in page
    assert "This run has no rounds yet." in pairings_page("cup", [])
