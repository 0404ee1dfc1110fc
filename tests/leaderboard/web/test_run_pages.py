"""The tabs of a run and the page of a bot: what each table says, and what is left out where there is nothing to say."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from leaderboard.comparison import comparison_of
from leaderboard.plots import evidence_plot
from leaderboard.records import MatchRow
from leaderboard.results import outcome_for
from leaderboard.schedule_view import FormatTable, Pairing, ScheduleView
from leaderboard.titles import end_words
from leaderboard.web import tables
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts, settings_of
from referee.record import Usage
from referee.record.journal import Control
from referee.run.folder import RunFolder
from referee.run.machines import ClusterState, MachineState, write_state
from referee.run.participants import Participant
from referee.run.run import Run
from referee.tournament.breaker import LAST, LEAST_PLAYED, MAX_SHARE

TABS = ("", "/matches", "/cross", "/plots", "/schedule", "/settings")


@pytest.mark.parametrize("tab", TABS)
async def test_every_tab_leads_to_every_other_and_is_marked_itself(
    web: httpx.AsyncClient, start: Callable[..., Any], tab: str
) -> None:
    start("m1").play().close()
    page = (await web.get(f"/runs/cup{tab}")).text
    for other in TABS:
        assert f'<li><a href="/runs/cup{other}"' in page
    assert f'<a href="/runs/cup{tab}" aria-current="page">' in page


@pytest.mark.parametrize("tab", TABS)
async def test_every_tab_of_a_run_without_a_match_says_what_will_be_there(web: httpx.AsyncClient, tab: str) -> None:
    answer = await web.get(f"/runs/cup{tab}")
    assert answer.status_code == 200
    main = answer.text[answer.text.index('<nav class="tabs"') :]
    assert re.search(r"<p>[^<]*(appear|yet|open)[^<]*</p>", main)


async def test_what_bots_used_of_language_models_has_a_table_where_some_bot_used_one(
    web: httpx.AsyncClient, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "QUICK_S", 30)
    start("m0", place=0).play().close(ranking=(1, 2))
    assert "Language models" not in (await web.get("/runs/cup")).text
    start("m1", place=1).play().close(ranking=(1, 2), usage=(Usage(2, 900, 20, cost_nanos=1_000_000), None))
    page = (await web.get("/runs/cup")).text
    found = page[page.index("<h3>Language models</h3>") :].partition("</table>")[0]
    assert "<td>2</td><td>0</td><td>0</td><td>900</td><td>20</td><td>0.0</td><td>0.0010</td><td>0.0010</td>" in found
    assert "bob" not in found
    ann, bob = (await web.get("/api/v1/runs/cup/standings")).json()["standings"]
    assert (ann["usage"]["cost_dollars"], bob.get("usage")) == (0.001, None)


async def test_a_row_has_the_rating_as_a_bar_with_its_interval_and_the_last_results_as_links(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    for place in range(7):
        start(f"m{place}", place=place).play().close(ranking=(1, 2) if place < 6 else (1, 1))
    page = (await web.get("/runs/cup")).text
    row = page[page.index('<th scope="row" class="name pin"><a href="/runs/cup/bots/00ff00ff">') :]
    row = row[: row.index("</tr>")]
    assert '<svg class="rate"' in row
    assert re.search(r"[\d.]+ ± [\d.]+</td>", row)
    dots = re.findall(r'class="outcome (\w+)" href="/runs/cup/matches/(m\d)"', row)
    assert dots == [("drawn", "m6"), ("won", "m5"), ("won", "m4"), ("won", "m3"), ("won", "m2")]
    assert 'title="drawn against bob"' in row


async def test_the_standings_are_rendered_once_although_matches_begin(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(runs)
    start("m1").play().close(ranking=(1, 2))
    drawn: list[str] = []
    bar = app.state.templates.globals["interval_bar"]
    monkeypatch.setitem(
        app.state.templates.globals, "interval_bar", lambda row, *scale: drawn.append(row.name) or bar(row, *scale)
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        assert "ann" in (await web.get("/runs/cup")).text
        tables = app.state.tables.of(RunFolder(runs / "cup"))
        monkeypatch.setattr(app.state.tables, "of", lambda _: tables)  # as while the next ones are computed
        assert len(drawn) == 2
        for number in (2, 3):
            start(f"m{number}", place=number).step()
            assert f"{number - 1} match" in (await web.get("/runs/cup")).text
    assert len(drawn) == 2


async def test_columns_that_are_empty_for_all_rows_are_not_shown(
    web: httpx.AsyncClient, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "QUICK_S", 30)  # a busy machine shows the table from before the last match for longer
    start("m1").play().close(ranking=(1, 2))
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", (await web.get("/runs/cup")).text)
    for absent in ("faults", "note", "mirrors", "group"):
        assert absent not in heads
    start("m2", place=1).crash(1)
    assert '<th scope="col" class="name">faults</th>' in (await web.get("/runs/cup")).text


async def test_a_cancelled_match_is_not_in_the_progress(
    runs: Path, web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1").play().close()
    match = start("m2", place=1)
    match.step()
    match.close(status="cancelled", reason="cancelled", ranking=(), returns=(), state_hash="")
    assert re.search(r'<p class="note">1 match\b', (await web.get("/runs/cup")).text)
    assert "cancelled" in (await web.get("/runs/cup/schedule")).text


async def test_the_table_and_the_matches_can_be_had_as_csv(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    start("m1", names=("=ann()", "bob")).play().close(ranking=(1, 2))
    start("m2", names=("=ann()", "bob"), place=1).crash(1)
    answer = await web.get("/runs/cup/standings.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["rank"], row["name"], row["won"]) for row in rows] == [("1", "'=ann()", "2"), ("2", "bob", "0")]
    assert [(row["group"], row["forfeited"], row["faults"]) for row in rows] == [
        ("1", "0", ""),
        ("1", "0", "crashed=1"),
    ]
    matches = list(csv.DictReader(io.StringIO((await web.get("/runs/cup/matches.csv")).text)))
    assert [(row["match_id"], row["reason"]) for row in matches] == [("m2", "crashed"), ("m1", "normal")]
    assert matches[0]["seats"] == "1. =ann(); 2. bob (crashed)"
    only = list(csv.DictReader(io.StringIO((await web.get("/runs/cup/matches.csv?reason=crashed")).text)))
    assert [row["match_id"] for row in only] == ["m2"]


async def test_a_fault_that_did_not_end_its_match_is_found_by_its_reason(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    """As by `crosstown matches list --reason`."""
    start("m1", names=("ann", "bob")).play().close()
    match = start("m2", names=("ann", "bob", "cyd"), game="ticket_to_ride_new_york", place=1)
    match.play().close(faults=(None, {"reason": "crashed", "detail": "exit code 3"}, None))
    page = (await web.get("/runs/cup/matches?reason=crashed")).text
    assert ("/matches/m2" in page, "/matches/m1" in page) == (True, False)
    assert '<option value="crashed" selected' in page


async def test_a_match_of_a_bot_against_itself_counts_once_among_its_faults(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    match = start("m1", names=("ann", "ann")).play()
    match.close(faults=tuple({"reason": "crashed", "detail": "exit code 3"} for _ in range(2)))
    assert "Crashed in 1 match<" in (await web.get("/runs/cup/bots/00ff00ff")).text


async def test_the_page_of_a_bot_says_why_it_lost_its_last_match(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1").play().close(ranking=(2, 1))
    start("m2", place=1).crash(1, stderr="ZeroDivisionError: here")
    page = (await web.get("/runs/cup/bots/01ff00ff")).text
    last = page[page.index("<h2>Last matches</h2>") :]
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", last, re.DOTALL)
    assert "Match 2" in rows[0]
    assert '<td class="name">lost</td>' in rows[0]
    assert "?fault=1" in rows[0]
    assert '<td class="name">won</td>' in rows[1]
    assert "<h3>Crashed in 1 match</h3>" in page
    assert "ZeroDivisionError: here" in page
    assert "<h3>Rating over time</h3>" in page


async def test_the_chart_of_a_bot_goes_on_behind_numbers_that_no_match_has(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    for place in (0, 1, 4, 5):  # as when the matches between were cancelled
        start(f"m{place}", place=place).play().close(ranking=(1, 2))
    live = (await web.get("/api/v1/runs/cup/standings")).json()["standings"][0]["live_mu"]
    page = (await web.get("/runs/cup/bots/00ff00ff")).text
    way = re.search(r'<polyline class="way s0" points="([^"]*)"><title>([^<]*)</title>', page)
    assert way is not None
    assert len(way[1].split()) == 4
    assert way[2] == f"ann 1: {live:.2f}"


async def test_a_mean_score_has_its_interval_within_0_and_1(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    for place in range(4):
        start(f"m{place}", place=place, block=place // 2).play().close(ranking=(1, 2))
    cross = (await web.get("/runs/cup/cross")).text
    assert '1.000<br><span class="soft">0.347 to 1.000</span><br>4-0-0' in cross
    assert '0.000<br><span class="soft">0.000 to 0.653</span><br>0-0-4' in cross
    opponents = (await web.get("/runs/cup/bots/00ff00ff")).text.partition("<h3>Opponents</h3>")[2]
    assert '<th scope="col">95% interval</th>' in opponents
    assert "<td>1.000</td><td>0.347 to 1.000</td><td>4</td>" in opponents


@pytest.mark.parametrize(("state", "said"), [("finished", "won"), ("going on", "leads"), ("stopped", "leads")])
async def test_who_is_first_has_won_only_when_the_run_is_finished(
    runs: Path, start: Callable[..., Any], state: str, said: str
) -> None:
    for place in range(4):
        start(f"m{place}", place=place).play().close(ranking=(1, 2))
    app = make_app(runs, lambda folder: RunFacts("cup", total=4, word=state))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        assert f"ann</a> {said}. With a probability of" in (await web.get("/runs/cup")).text
        assert ("Winner: <a" if said == "won" else "Leader: <a") in (await web.get("/")).text


async def test_who_has_the_best_rating_has_not_won_a_tournament_with_a_table_of_its_own(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in range(4):
        start(f"m{place}", place=place).play().close(ranking=(1, 2))
    rows = [{"rank": 1, "name": "bob", "entry_id": "01ff00ff", "points": "9"}]
    view = ScheduleView(table=FormatTable("swiss", rows))
    monkeypatch.setattr("leaderboard.web.facts.view_schedule", lambda run, rows, look_ahead: view)
    app = make_app(runs, lambda folder: RunFacts("cup", total=4, run=Run(folder), word="finished"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        page = (await web.get("/runs/cup")).text
    assert "ann</a> has the best rating. With a probability of" in page
    assert "</a> won." not in page


@pytest.mark.parametrize("address", ["/runs/cup", "/runs/cup/embed", "/wall"])
async def test_every_table_says_which_bots_have_not_met_and_names_no_winner_of_all(
    web: httpx.AsyncClient, start: Callable[..., Any], address: str
) -> None:
    start("m1", names=("ann", "bob")).play().close(ranking=(1, 2))
    start("m2", names=("cyd", "dan"), place=1, block=1, first=2).play().close(ranking=(1, 2))
    page = (await web.get(address)).text
    assert "Not all bots have met" in page
    assert '<th scope="col">group</th>' in page
    tables = 2 if address == "/runs/cup" else 1  # there with all figures, too
    ranks = re.findall(r"<tr><td>(\d)</td><td>(\d)</td>", page)
    assert ranks == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")] * tables
    assert "With a probability of" not in page


@pytest.mark.parametrize("address", ["/runs/cup", "/runs/cup/embed", "/wall"])
async def test_every_table_says_who_is_not_rated_played_against_itself_or_has_left(
    runs: Path, start: Callable[..., Any], address: str
) -> None:
    start("m1", names=("ann", "ann")).play().close(ranking=(1, 2))
    left = Control("withdrawn", 0, entry_id="00ff00ff", name="ann", choice="keep")
    app = make_app(runs, lambda folder: RunFacts("cup", controls=[left], run=Run(folder)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        page = (await web.get(address)).text
    table = page[page.index("<thead>") : page.index("</table>")]
    assert '<th scope="col">against itself</th>' in table
    assert "<td>1</td><td>0</td><td>0</td><td>0</td><td>1</td>" in table
    assert ("not rated" in table) == (address != "/runs/cup")  # where no bot is rated, that page has no such column
    assert "withdrawn: its matches count" in page


async def test_the_list_of_all_bots_says_to_which_group_a_rank_belongs(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1", names=("ann", "bob")).play().close(ranking=(1, 2))
    assert '<th scope="col">group</th>' not in (await web.get("/search")).text
    start("m2", names=("cyd", "dan"), place=1, block=1, first=2).play().close(ranking=(1, 2))
    page = (await web.get("/search")).text
    assert '<th scope="col">group</th><th scope="col">rank</th>' in page
    assert sorted(re.findall(r"<td>(\d)</td><td>(\d)</td><td>", page)) == [
        ("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"),
    ]  # fmt: skip


async def test_every_tab_says_how_many_matches_were_cancelled_and_why(runs: Path, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    app = make_app(runs, lambda folder: RunFacts("cup", total=1, cancelled="2 <matches> were planned."))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        for tab in TABS:
            assert "2 &lt;matches&gt; were planned." in (await web.get(f"/runs/cup{tab}")).text


def test_a_list_says_in_a_few_words_how_a_match_ended(make_row: Callable[..., MatchRow]) -> None:
    said = "decision 58 (dice): no answer after 1.012 s charged (1.023 s passed), the limit is 1 s"
    late = make_row(0, {"a": 1, "b": 2}, faults=("", "move_timeout"))._replace(reason="move_timeout", detail=said)
    assert end_words(late) == "B ran out of time (1 s)"
    assert end_words(late._replace(detail="")) == "B ran out of time"
    assert end_words(make_row(0, {"a": 1, "b": 2})) == "normal"
    crashed = make_row(0, {"a": 1, "b": 1, "c": 3}, faults=("crashed", "crashed", ""))
    assert end_words(crashed._replace(reason="crashed")) == "A crashed; B crashed"


async def test_pages_say_what_live_ratings_lag_and_blocks_are(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1").play().close(ranking=(1, 2))
    for page, said in (
        (
            "",
            (
                "The live rating is computed match after match",
                "version</span> 1</span>",
                "± of Elo is one standard error",
            ),
        ),
        ("/bots/00ff00ff", ("ann, version 1, in <a", "Lag is time that passed without", "The live rating is computed")),
        (
            "/plots",
            ("A block is a set of matches", "Lag is time that passed", "<text", "seat 1</text>", "50% within, ms"),
        ),
    ):
        text = (await web.get(f"/runs/cup{page}")).text
        for words in said:
            assert words in text, (page, words)
        assert "95 %" not in text


async def test_while_a_machine_was_suspended_no_page_and_no_answer_of_the_api_shows_the_bot_as_slow(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    match = start("m1")
    match.wall_us, match.lag_us = 66_001_500, 66_000_000
    match.play().close()
    for page in ("/plots", "/bots/00ff00ff", "/matches/m1"):
        text = (await web.get(f"/runs/cup{page}")).text
        heads = [cells for cells in re.findall(r"<thead>.*?</thead>", text) if "worst lag ms" in cells]
        assert heads, page
        assert "<td>1.5</td>" in text, page
        assert "<td>66000.0</td>" in text, page
        assert "66001" not in text, page
    for address in ("standings", "bots/00ff00ff"):
        row = (await web.get(f"/api/v1/runs/cup/{address}")).json()["standings"][0]
        assert (row["mean_move_ms"], row["worst_move_ms"]) == (1.5, 1.5), address
        assert (row["mean_lag_ms"], row["worst_lag_ms"]) == (66_000, 66_000), address
    [listed] = (await web.get("/api/v1/runs/cup/matches")).json()["matches"]
    for seat in listed["seats"]:
        assert (seat["worst_us"], seat["worst_lag_us"]) == (1500, 66_000_000)
        assert (seat["total_us"], seat["lag_us"]) == (1500 * seat["decisions"], 66_000_000 * seat["decisions"])


async def test_the_start_up_times_of_a_bot_are_on_its_page_and_in_the_api_with_the_limit_that_they_come_near(
    runs: Path, start: Callable[..., Any]
) -> None:
    for place, took_us in enumerate((400_000, 0, 8_000_000)):
        start(f"m{place}", place=place).play().close(startup_us=(100_000 if place == 0 else 0, took_us))
    app = make_app(runs, lambda folder: RunFacts(startup_s={"00ff00ff": 60.0, "01ff00ff": 10.0}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        ann, bob = [(await web.get(f"/runs/cup/bots/{entry}")).text for entry in ("00ff00ff", "01ff00ff")]
        answers = [(await web.get(f"/api/v1/runs/cup/bots/{entry}")).json() for entry in ("00ff00ff", "01ff00ff")]
        [first, *_] = (await web.get("/api/v1/runs/cup/matches")).json()["matches"]
    assert "<h3>Start-up times</h3><p>Its program was started once, in 0.10 s; the limit is 60 s.</p>" in ann
    said = "Its program was started 2 times, in 4.20 s (median), at worst 8.00 s; the limit is 10 s."
    assert f"<h3>Start-up times</h3><p>{said}</p>" in bob
    assert ("Warning" in ann, "Warning" in bob) == (False, True)
    assert [(answer["startups_us"], answer["startup_limit_s"]) for answer in answers] == [
        ([100_000], 60.0),
        ([8_000_000, 400_000], 10.0),
    ]
    assert [seat["startup_us"] for seat in first["seats"]] == [100_000, 400_000]


async def test_faults_of_a_bot_are_grouped_by_reason_each_with_the_last_output(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1").crash(1, stderr="first words")
    start("m2", place=1).crash(1, stderr="last words")
    page = (await web.get("/runs/cup/bots/01ff00ff")).text
    assert "<h3>Crashed in 2 matches</h3>" in page
    assert "last words" in page
    assert "first words" not in page


def test_what_a_match_was_for_an_entry(make_row: Callable[..., MatchRow]) -> None:
    assert outcome_for(make_row(0, {"a": 1, "b": 2}), "a") == "won"
    assert outcome_for(make_row(0, {"a": 1, "b": 2}), "b") == "lost"
    assert outcome_for(make_row(0, {"a": 1, "b": 1}), "b") == "drawn"
    assert outcome_for(make_row(0, {"a": 1, "b": 1, "c": 3, "d": 3}, teams=(0, 0, 1, 1)), "b") == "won"


@pytest.mark.parametrize(("style", "heading"), [("swiss", "Rounds"), ("knockout", "Bracket")])
async def test_the_page_of_a_run_draws_its_rounds_with_the_results_by_seats(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, style: str, heading: str
) -> None:
    start("m1", names=("ann<b>", "bob")).play().close(ranking=(1, 2), returns=(15, 9))
    start("m2", names=("bob", "ann<b>"), place=1).crash(0)
    ids = ("00ff00ff", "01ff00ff")
    pairings = (Pairing("", 1, 1, ids, ("m1", "m2")),)
    view = ScheduleView(
        (),
        FormatTable(style),
        {"m1": 1, "m2": 1},
        pairings=pairings,
        names=dict(zip(ids, ("ann<b>", "bob"), strict=True)),
    )
    monkeypatch.setattr("leaderboard.web.facts.view_schedule", lambda run, rows, look_ahead: view)
    app = make_app(runs, lambda folder: RunFacts("cup", run=Run(folder)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        page = (await web.get("/runs/cup")).text
    assert f"<h2>{heading}</h2>" in page
    assert '<a href="/runs/cup/matches/m1">ann&lt;b&gt; 15, bob 9</a>' in page
    assert '<a href="/runs/cup/matches/m2">bob crashed, ann&lt;b&gt; 1.</a>' in page


def test_a_run_that_compares_nothing_has_no_verdict(runs: Path) -> None:
    assert comparison_of(Run(runs / "cup"), []) is None


def test_the_path_of_a_comparison_is_drawn_with_what_is_needed() -> None:
    plot = evidence_plot([(2.0, 0.5), (30.0, 0.1)], (20.0, 20.0), ("A <more>", "A less"))
    assert plot.count('<polyline class="way') == plot.count('<line class="need') == 2
    assert "A &lt;more&gt;: 30, 20 needed" in plot
    assert evidence_plot([], (20.0, 20.0), ("a", "b")) == ""


def test_single_matches_have_no_settings(runs: Path) -> None:
    assert settings_of(RunFacts("x", run=Run(runs / "cup"))) == []
    assert settings_of(RunFacts("x")) == []


def test_the_settings_name_both_rules_by_which_a_bot_is_disqualified() -> None:
    breaker = {"enabled": True, "in_a_row": 3}
    made = {"format": "round-robin", "blocks": 1, "breaker": breaker, "bots": []}
    facts = RunFacts("x", run=cast(Run, SimpleNamespace(begun=True, configuration=made, participants=())))
    share = f"in more than a tenth of its last {LAST} matches once it has played {LEAST_PLAYED}"
    assert MAX_SHARE == 0.1
    assert dict(settings_of(facts))["Disqualified"] == f"after faults in 3 matches in a row, or {share}"


def test_the_settings_of_stages_and_lists_are_in_words() -> None:
    """They were what Python prints, with None for what is not set."""
    stages = [
        {"name": "my_groups", "format": "round-robin", "groups": 2, "advance": 2, "settings": {"mirrors": False}},
        {"name": "cup", "format": "knockout", "groups": 1, "advance": None, "settings": {"bronze": True}},
    ]
    settings = {
        "stages": stages,
        "seeding": ["my_bot", "bob"],
        "forbidden": [["ann", "bob"], ["cyd", "dan"]],
        "fixed": None,
    }
    made = {"format": "stages", "blocks": 1, "settings": settings, "bots": []}
    facts = RunFacts("x", run=cast(Run, SimpleNamespace(begun=True, configuration=made, participants=())))
    said = dict(settings_of(facts))
    assert said["Stages"] == (
        "name my_groups, format round-robin, groups 2, advance 2, mirrors off;"
        " name cup, format knockout, groups 1, bronze on"
    )
    assert said["Seeding"] == "my_bot, bob"
    assert said["Forbidden"] == "ann, bob; cyd, dan"
    assert "Fixed" not in said


def test_the_settings_name_bots_that_joined_or_left_since_the_run_began() -> None:
    bots = (
        Participant("a", "ann", "1", {}),
        Participant("b", "bob", "2", {}, out=True),
        Participant("c", "cyd", "3", {}, joined=True),
    )
    made = {"format": "round-robin", "blocks": 1, "bots": []}
    facts = RunFacts("x", run=cast(Run, SimpleNamespace(begun=True, configuration=made, participants=bots)))
    said = "ann (version 1), bob (version 2, has left), cyd (version 3, joined later)"
    assert dict(settings_of(facts))["Bots"] == said


async def test_a_run_on_a_cluster_shows_its_machines_while_it_is_played(web: httpx.AsyncClient, runs: Path) -> None:
    path = runs / "cup" / "machines.json"
    assert "slots in use" not in (await web.get("/runs/cup")).text
    write_state(path, ClusterState((MachineState("east", "Xeon <1>", 4, 3, "no space left"),), 2))
    page = (await web.get("/runs/cup")).text
    assert "Playing on 1 machine, 3 of 4 slots in use, 2 matches wait." in page
    assert "Xeon &lt;1&gt;" in page
    assert "it gets no more matches: no space left" in page
    path.unlink()
    assert "slots in use" not in (await web.get("/runs/cup")).text
