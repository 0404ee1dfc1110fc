"""Section 3.8 of the field cases, row by row: what users of comparable tools suffered, and what must happen here."""

import math
import random
from statistics import NormalDist

import pytest

from leaderboard.index import load_index
from leaderboard.ratings.elo import strengths
from leaderboard.ratings.live import rate_live
from leaderboard.ratings.official import rate, rate_results
from leaderboard.ratings.skill import BETA, MU
from leaderboard.records import read_match
from leaderboard.results import tally
from leaderboard.run_table import keep_table, run_table
from leaderboard.sequential import Evidence, Question
from leaderboard.standings import CAPTION, LIVE_CAPTION, Entrant, by_live_rating, standings
from leaderboard.statistics import residuals, statistics
from leaderboard.store import Store
from referee.record.journal import Control
from referee.run.folder import RunFolder
from referee.run.journal import JournalText
from referee.run.run import Run


@pytest.fixture
def season(make_row):
    """season(count): matches of four bots, the first strongest, with some draws."""

    def make(count, seed=1):
        chance = random.Random(seed)
        rows = []
        for place in range(count):
            one, other = sorted(chance.sample("abcd", 2))
            ranks = chance.choice([(1, 2), (1, 2), (1, 2), (1, 1), (2, 1)])
            rows.append(make_row(place, {one: ranks[0], other: ranks[1]}))
        return rows

    return make


def test_rat_2_the_order_of_games_does_not_change_the_official_result(make_row):
    """The same results, wins first and wins last: online TrueSkill tells them apart, the official table does not."""
    results = [{"mid": 1, "weak": 2}] * 30 + [{"strong": 1, "mid": 2}] * 30
    first = [make_row(place, ranks) for place, ranks in enumerate(results)]
    last = [make_row(place, ranks) for place, ranks in enumerate(results[::-1])]
    assert rate(first).skills == rate(last).skills
    assert abs(rate_live(first).skills["mid"].mu - rate_live(last).skills["mid"].mu) > 1


def test_rat_2_the_live_order_is_the_schedules_whatever_order_matches_finish_in(season):
    rows = season(100)
    assert rate_live(rows[::-1]) == rate_live(rows)


def test_rat_4_replaying_gives_identical_numbers_and_the_sum_of_ratings_stays(season):
    rows = season(200)
    for count in (10, 100, 200):
        skills = rate(rows[:count]).skills
        assert rate(list(rows[:count])).skills == skills
        assert sum(skill.mu - MU for skill in skills.values()) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_rat_5_results_weigh_alike_however_old_the_entry_is(make_row):
    """2,000 even matches, then 2,000 wins: the official table stands where 75 % of wins put it, neither stuck at the
    even start nor carried away by the end. The live table, whose sigma is small by then, shows the difference."""
    even = [{"old": 1 + place % 2, "bob": 2 - place % 2} for place in range(2000)]
    won = [{"old": 1, "bob": 2}] * 2000
    rows = [make_row(place, ranks) for place, ranks in enumerate([*even, *won])]
    turned = [make_row(place, ranks) for place, ranks in enumerate([*won, *even])]
    wanted = NormalDist().inv_cdf(0.75) * math.sqrt(2) * BETA
    for matches in (rows, turned):
        skills = rate(matches).skills
        assert skills["old"].mu - skills["bob"].mu == pytest.approx(wanted, rel=0.02)
    live, live_turned = rate_live(rows).skills, rate_live(turned).skills
    assert abs(live["old"].mu - live_turned["old"].mu) > 3 * rate(rows).skills["old"].sigma


def test_rat_5_a_new_version_moves_where_the_old_entry_hardly_does(make_row):
    """Sigma of a new version is widened in the live table: ten wins move it many times as far as the old one."""
    before = [make_row(place, {"old": 1 + place % 2, "bob": 2 - place % 2}) for place in range(2000)]
    start = rate_live(before).skills["old"].mu

    def moved(entry):
        rows = [make_row(2000 + place, {entry: 1, "bob": 2}) for place in range(10)]
        rows = [row._replace(seats=(row.seats[0]._replace(name="OLD"), row.seats[1])) for row in rows]
        return rate_live([*before, *rows]).skills[entry].mu - start

    assert moved("new") > 10 * moved("old") > 0


def test_rat_6_a_new_version_is_a_new_entry_and_both_stay_visible(make_row):
    before = [make_row(place, {"v1": 1, "bob": 2}) for place in range(30)]
    after = [make_row(30 + place, {"v2": 1, "bob": 2}) for place in range(5)]
    after = [row._replace(seats=(row.seats[0]._replace(name="V1", version="2"), row.seats[1])) for row in after]
    rows = [*before, *after]
    table = {row.entry_id: row for row in standings(rows)}
    assert {"v1", "v2"} <= set(table)
    assert table["v2"].live_sigma > table["v1"].live_sigma
    assert table["v2"].live_mu > 30, "the live table begins where the old version stood"
    assert rate(rows).skills["v2"].sigma > rate(rows).skills["v1"].sigma, "the official one from its own matches alone"
    ways = rate_live(rows).ways
    assert ways["v1"].points[-1].place == 29
    assert ways["v2"].points[0].place == 30


def test_rat_8_there_is_one_source_and_the_method_stands_by_the_numbers(season):
    rows = season(50)
    table = standings(rows)
    skills, live = rate(rows).skills, rate_live(rows).skills
    for row in table:
        assert (row.mu, row.sigma) == (skills[row.entry_id].mu, skills[row.entry_id].sigma)
        assert (row.live_mu, row.live_sigma) == (live[row.entry_id].mu, live[row.entry_id].sigma)
    assert "mu - 3 sigma" in CAPTION
    assert "tau 0" in CAPTION
    assert "tau 0" in LIVE_CAPTION
    assert {row.entry_id for row in by_live_rating(table)} == {row.entry_id for row in table}


def test_rat_9_two_models_and_two_methods_put_the_field_in_one_order(season):
    """Published examples and second implementations: test_one_match and test_official."""
    results = tally(season(2000))
    by_skill = sorted(rate_results(results).skills.items(), key=lambda item: -item[1].mu)
    by_elo = sorted(strengths(results).items(), key=lambda item: -item[1].mu)
    assert [entry for entry, _ in by_skill] == [entry for entry, _ in by_elo] == list("abcd")


def test_rat_12_paired_matches_are_counted_as_pairs(make_row):
    """Both matches of a block went to whoever the luck favoured: 20 blocks say as much as 20 coins, not 40."""
    rows = [make_row(place, {"a": 1 + place // 2 % 2, "b": 2 - place // 2 % 2}) for place in range(40)]
    score = statistics(rows).cross["a", "b"].score
    assert score.blocks == 20
    assert score.error == pytest.approx(0.5 / 19**0.5)


@pytest.mark.parametrize(("bot_a", "verdict"), [(1.0, "accepted"), (0.0, "rejected")])
def test_rat_14_late_games_do_not_change_a_verdict(bot_a, verdict):
    """A verdict stands though the games in flight, had they come earlier, would have led to the other one."""
    late = [1.0 - bot_a] * 100
    evidence = Evidence(Question(0.5, 0.6))
    while evidence.add(bot_a) == "undecided":
        pass
    rounds = len(evidence.scores)
    said = (evidence.verdict, evidence.mean, evidence.interval(), evidence.against_low, evidence.against_high)
    for score in late:
        assert evidence.add(score) == verdict
    assert said == (evidence.verdict, evidence.mean, evidence.interval(), evidence.against_low, evidence.against_high)
    assert len(evidence.scores) == rounds < 50
    other = Evidence(Question(0.5, 0.6))
    for score in [*late, *[bot_a] * rounds]:
        other.add(score)
    assert other.verdict not in (verdict, "undecided")


def test_rat_14_late_games_are_kept_apart_and_change_no_table(tmp_path, write_record):
    for place in range(6):
        write_record(tmp_path / "matches", place, (1, 2))
    before = run_table(Run(tmp_path))
    for place in range(6, 12):
        late = write_record(tmp_path / "elsewhere", place, (2, 1))
        (tmp_path / "matches" / "void").mkdir(exist_ok=True)
        late.rename(tmp_path / "matches" / "void" / f"m{place:06d}-00000000.1-late.jsonl.gz")
    after = run_table(Run(tmp_path))
    assert (after.rows, after.matches) == (before.rows, 6)
    for path in list((tmp_path / "matches" / "void").iterdir()):  # in the wrong place they would
        path.rename(tmp_path / "matches" / path.name.replace(".1-late", ""))
    assert run_table(Run(tmp_path)).rows != before.rows


def test_rat_15_an_entry_without_a_match_is_marked_and_has_no_interval():
    (row,) = standings([], [Entrant("x", "X", "1")])
    assert not row.rated
    assert (row.low, row.high, row.elo, row.live_mu, row.better) == (None, None, None, None, None)


def test_rat_16_odd_results_stand_out_by_day_can_be_purged_and_all_is_recomputed(season, make_row):
    """Records do not say which worker played them, so residuals are by day and by tournament."""
    good = season(400)
    bad = [make_row(400 + place, {"d": 1, "a": 2})._replace(created_at="2026-02-02T00:00:00Z") for place in range(30)]
    found = residuals([*good, *bad], rate([*good, *bad]))
    assert found[0].group == "2026-02-02"
    assert found[0].z < -3
    clean = [row for row in [*good, *bad] if not row.created_at.startswith(found[0].group)]
    assert rate(clean).skills == rate(good).skills


def test_rat_16_annulled_matches_are_purged_and_the_table_is_recomputed(tmp_path, write_record):
    for place in range(4):
        write_record(tmp_path / "matches", place, (1, 2))
    write_record(tmp_path / "matches", 4, (2, 1))
    control = Control("annulled", 0, match_id="m000004-00000000")
    cleaned = run_table(Run(tmp_path, JournalText((), (control,)))).rows
    (tmp_path / "matches" / "m000004-00000000.jsonl.gz").unlink()
    assert run_table(Run(tmp_path)).rows == cleaned


def test_rat_17_totals_are_derived_and_cannot_drift_apart(tmp_path, write_record):
    matches, database = tmp_path / "matches", tmp_path / "crosstown.db"
    for place in range(6):
        write_record(matches, place, (1, 2) if place % 2 else (2, 1))
    with Store(database) as store:
        store.put(load_index(RunFolder(tmp_path)).rows)
        keep_table(store, run_table(Run(tmp_path)))
    for step in ("kept", "one less", "database gone"):
        if step == "one less":
            (matches / "m000000-00000000.jsonl.gz").unlink()
        if step == "database gone":
            database.unlink()
        made = run_table(Run(tmp_path))
        assert made.matches == len(list(matches.glob("*.gz")))
        for row in made.rows:
            assert row.played == row.won + row.drawn + row.lost == made.matches


def test_rat_18_every_record_and_every_row_has_the_hash_of_the_bot(tmp_path, write_record):
    row = read_match(write_record(tmp_path / "matches", 0)).row
    assert [seat.entry_id for seat in row.seats] == ["annann", "bobbob"]
    assert {line.entry_id for line in standings([row])} == {"annann", "bobbob"}


def test_rat_19_the_final_ranking_is_computed_over_clean_matches_alone(tmp_path, write_record):
    """Void matches (suspect time-outs, faults of the platform) never count; `faultless` leaves out every fault."""
    matches = tmp_path / "matches"
    for place in range(6):
        write_record(matches, place, (1, 2) if place % 3 else (2, 1))
    clean = run_table(Run(tmp_path)).rows
    write_record(matches, 6, status="void", reason="suspect_timeout")
    write_record(matches, 7, status="void", reason="platform_fault")
    assert run_table(Run(tmp_path)).rows == clean
    write_record(matches, 8, (1, 2), reason="move_timeout")
    assert run_table(Run(tmp_path)).rows != clean
    assert run_table(Run(tmp_path), faultless=True).rows == clean
