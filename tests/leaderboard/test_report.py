"""The report: whole, self-contained, and nothing that bots or files bring in becomes markup."""

import os
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from leaderboard.controls import Counted
from leaderboard.index import load_index
from leaderboard.plots import history_plot, intervals_plot, seats_plot
from leaderboard.ratings.live import rate_live
from leaderboard.records import ReadMatch
from leaderboard.report import report_html
from leaderboard.schedule_view import FormatTable, Pairing
from leaderboard.standings import Entrant, standings
from leaderboard.statistics import statistics
from referee.record.journal import slow_start
from referee.run.folder import RunFolder

EVIL = "</title><script>alert(1)</script>\"'&\x1b[31m\u202e"


class Reading(HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def some_matches(make_row):
    """some_matches(60, "ann", "bob", EVIL): random results of these bots, two by two."""

    def make(count, *bots):
        chance = random.Random(1)
        rows = []
        for place in range(count):
            one, other = chance.sample(bots, 2)
            faults = ("crashed", "") if place % 10 == 9 else None
            rows.append(make_row(place, {one: 1, other: chance.choice([1, 2])}, faults=faults, times_us=(900, 800)))
        return rows

    return make


def test_the_table_of_the_format_has_its_notes(some_matches):
    rows = [{"rank": 1, "name": "ann", "entry_id": "a", "points": "2"}]
    table = FormatTable("swiss", rows, notes=("'bob' is <out> of the run",))
    page = page_of(some_matches(4, "ann", "bob"), format_table=table)
    assert "&#39;bob&#39; is &lt;out&gt; of the run" in page


def page_of(rows, entrants=(), **more):
    counted = Counted(tuple(rows), **more.pop("counted", {}))
    table = standings(counted, entrants)
    return report_html(more.pop("title", "cup"), counted, table, total=len(rows), made_at="today", **more)


def test_the_list_of_matches_has_stage_round_and_table_where_the_format_has_them(some_matches):
    rows = some_matches(4, "ann", "bob")
    seating = {row.match_id: Pairing("final", 2, 1 + number, ("a", "b")) for number, row in enumerate(rows[:3])}
    page = page_of(rows, seating=seating)
    heads = '<th class="name">match</th><th class="name">stage</th><th>round</th><th>table</th><th>place</th>'
    assert heads in page
    assert '<td class="name">final</td><td>2</td><td>3</td><td>2</td>' in page
    assert '<td class="name"></td><td></td><td></td><td>3</td>' in page
    assert "<th>round</th>" not in page_of(rows)


def test_nothing_that_is_brought_in_becomes_markup(some_matches, tmp_path):
    rows = [row._replace(reason=EVIL, detail=EVIL) for row in some_matches(40, "ann", "bob", EVIL)]
    rows = [row._replace(stamp=replace(row.stamp, name=f"{EVIL}.jsonl.gz")) for row in rows]
    page = page_of(
        rows,
        title=EVIL,
        link="matches",
        unusable=[ReadMatch(tmp_path / EVIL.replace("/", ""), "damaged", problem=EVIL)],
        counted={"notes": {EVIL: EVIL}},
        facts={EVIL: EVIL},
    )
    reading = Reading(page)
    assert "script" not in reading.tags
    assert not any(name.startswith("on") for name, _ in reading.attributes)
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "alert(1)" in page, "it is shown, as text"


def test_records_are_linked_below_a_folder_whose_name_is_no_utf8(some_matches):
    page = page_of(some_matches(2, "ann", "bob"), link=os.fsdecode(b"caf\xe9/matches"))
    assert 'href="caf%E9/matches/' in page


def test_the_page_needs_nothing_else(some_matches):
    page = page_of(some_matches(30, "ann", "bob", "cyd"), link="matches")
    reading = Reading(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(reading.tags)
    assert not [value for name, value in reading.attributes if name in ("src", "srcset")]
    assert "url(" not in page
    assert "http" not in page
    assert "prefers-color-scheme: dark" in page
    links = [value for name, value in reading.attributes if name == "href"]
    assert links[0] == "matches/m000000-00000000.jsonl.gz"
    assert len(links) == 30


def test_tables_plots_faults_and_the_method_are_there(some_matches):
    page = page_of(some_matches(60, "ann", "bob", "cyd"))
    for part in ("Cross table", "Live rating", "Seats and draws", "Faults and move times", "crashed", "nim, 2 players"):
        assert part in page
    assert "expectation propagation" in page
    assert (page.count('<svg class="plot"'), page.count('<svg class="rate"')) == (3, 3)
    assert Counter(Reading(page).tags)["svg"] == 6


def cells_of(page, heading, name):
    """By column, the row that begins with `name` of the first table below a heading."""
    table = page[page.index(heading) :].partition("</table>")[0]
    heads = re.findall(r"<th[^>]*>(.*?)</th>", table)
    row = next(row for row in table.split("<tr>") if row.startswith(f'<td class="name">{name}</td>'))
    return dict(zip(heads, re.findall(r"<td[^>]*>(.*?)</td>", row), strict=True))


def test_charged_times_have_the_lag_of_a_suspended_machine_beside_them(tmp_path, write_record):
    write_record(tmp_path / "matches", 0, lag_us=66_000_000)
    page = page_of(load_index(RunFolder(tmp_path)).rows)
    cells = cells_of(page, "<h3>Faults and move times</h3>", "ann")
    assert (cells["mean ms"], cells["worst ms"], cells["worst lag ms"]) == ("1.5", "1.5", "66000.0")
    assert float(cells["99% within, ms"]) == pytest.approx(1.5, rel=0.05)


def test_each_bot_has_its_start_up_times_and_a_warning_where_they_come_near_the_limit(make_row):
    rows = []
    for place, took_us in enumerate((400_000, 0, 8_000_000)):
        row = make_row(place, {"ann": 1, "bob": 2})
        rows.append(row._replace(seats=(row.seats[0]._replace(startup_us=took_us), row.seats[1])))
    page = page_of(rows, startup_s={"ann": 10.0, "bob": 10.0})
    starts = {name: cells_of(page, "<h3>Faults and move times</h3>", name)["start-up"] for name in ("ANN", "BOB")}
    assert starts == {"ANN": "its program was started 2 times, in 4.20 s (median), at worst 8.00 s", "BOB": ""}
    warning = slow_start("ANN", 8_000_000, 10.0)
    assert warning
    assert warning in unescape(page)
    assert warning not in unescape(page_of(rows, startup_s={"ann": 20.0}))


def test_every_bot_has_its_score_in_each_seat(make_row):
    # In seat 0 ann wins both; in seat 1 she wins one of two, which are blocks of their own.
    rows = [make_row(0, {"ann": 1, "bob": 2}), make_row(2, {"ann": 1, "bob": 2})]
    rows += [make_row(4, {"bob": 1, "ann": 2}), make_row(6, {"bob": 2, "ann": 1})]
    page = page_of(rows)
    assert '<td class="name">ANN</td><td>1.000<br>0.347 to 1.000</td><td>0.500<br>0.000 to 1.000</td>' in page
    assert '<td class="name">BOB</td><td>0.500<br>0.000 to 1.000</td><td>0.000<br>0.000 to 0.653</td>' in page


@pytest.mark.parametrize("rows", [0, 1])
def test_a_run_with_hardly_a_match_has_a_page_too(some_matches, rows):
    page = page_of(some_matches(rows, "ann", "bob"), [Entrant("zed", "Zed", "1")])
    assert "Zed" in page
    assert "unrated" in page


@pytest.mark.slow
def test_of_very_many_matches_the_last_and_those_with_faults_are_listed(make_row, monkeypatch):
    monkeypatch.setattr("leaderboard.report.MOST_MATCHES", 20)
    rows = [make_row(place, {"a": 1, "b": 2}) for place in range(120)]
    rows[5] = rows[5]._replace(seats=(rows[5].seats[0]._replace(fault="crashed"), rows[5].seats[1]))
    page = page_of(rows)
    assert "99 earlier matches" in page
    assert rows[5].match_id in page
    assert rows[6].match_id not in page


def test_a_cross_table_of_too_many_bots_is_not_made(some_matches, monkeypatch):
    rows = some_matches(30, "ann", "bob", "cyd")
    monkeypatch.setattr("leaderboard.report.MOST_CROSS", 3)
    assert "the table is too large for a page" not in page_of(rows)
    monkeypatch.setattr("leaderboard.report.MOST_CROSS", 2)
    assert "With 3 bots the table is too large for a page." in page_of(rows)


def test_plots_are_well_formed_and_finite(some_matches):
    rows = some_matches(50, "ann", "bob", EVIL)
    table = standings(rows)
    names = {row.entry_id: row.name for row in table}
    for plot in (
        intervals_plot(table),
        seats_plot(statistics(rows).seats),
        history_plot(ways(rows), names).partition("</svg>")[0] + "</svg>",
        history_plot(ways(rows[:1]), names).partition("</svg>")[0] + "</svg>",
    ):
        ET.fromstring(plot)
        assert "nan" not in plot
        assert "inf" not in plot
    assert (intervals_plot([]), seats_plot({}), history_plot({}, {})) == ("", "", "")


def ways(rows):
    return {entry: way.points for entry, way in rate_live(rows).ways.items()}


@pytest.mark.parametrize(("count", "points"), [(1, 1), (199, 199), (200, 101), (500, 126), (796, 200)])
def test_a_history_is_thinned_evenly_and_has_its_first_and_last_point(make_row, count, points):
    rows = [make_row(place, {"a": 1 + place % 2, "b": 2 - place % 2}) for place in range(count)]
    way = ways(rows)["a"]
    assert len(way) == points
    places = [point.place for point in way]
    assert (places[0], places[-1]) == (0, count - 1)
    assert len({after - before for before, after in pairwise(places[:-1])}) <= 1
