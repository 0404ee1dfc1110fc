"""The live table: in schedule order, whatever order matches finish in, and only what is new is applied."""

import math
import random
from dataclasses import replace

import pytest
import trueskill

from leaderboard import live
from leaderboard.live import LiveTable, rate_live
from leaderboard.skill import BETA, SIGMA, Skill


@pytest.fixture
def random_rows(make_row):
    """random_rows(60, players=2): matches of five bots with some draws."""

    def make(count, players=2, seed=5):
        chance = random.Random(seed)
        bots = ["ann", "bob", "cyd", "dan", "eve"]
        return [
            make_row(place, {bot: chance.choice([1, 2, 2, 3]) for bot in chance.sample(bots, players)})
            for place in range(count)
        ]

    return make


def test_ten_thousand_straight_losses_stay_finite(make_row):
    skills = rate_live([make_row(place, {"loser": 2, "winner": 1}) for place in range(10_000)])
    assert math.isfinite(skills["loser"].mu)
    assert skills["loser"].sigma > 0
    assert skills["winner"].conservative > skills["loser"].conservative


@pytest.mark.parametrize("players", [2, 3])
def test_the_order_of_arrival_changes_no_bit(random_rows, players):
    rows = random_rows(60, players)
    reference = rate_live(rows)
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        assert rate_live(rows) == reference


@pytest.mark.parametrize("seed", range(5))
def test_updates_in_any_pieces_give_the_numbers_of_one_pass(random_rows, monkeypatch, seed):
    monkeypatch.setattr(live, "SNAPSHOT_EVERY", 8)
    rows = random_rows(60)
    late = rows[:]
    random.Random(seed).shuffle(late)
    table, there = LiveTable(), []
    for start in range(0, 60, 7):  # as matches finish when several tables play
        there += late[start : start + 7]
        table.update(there)
        assert table.skills == rate_live(there)
    assert table.skills == rate_live(rows)


def test_only_new_matches_are_applied(random_rows, monkeypatch):
    monkeypatch.setattr(live, "SNAPSHOT_EVERY", 8)
    rows = random_rows(100)
    table = LiveTable()
    assert table.update(rows[:90]) == 90
    assert table.update(rows[:90]) == 0
    assert table.update(rows) == 10
    without = [row for row in rows if row.place != 95]  # annulled, say
    assert table.update(without) == 11  # from the snapshot before match 95
    assert table.skills == rate_live(without)


def test_a_changed_result_is_noticed(random_rows):
    rows = random_rows(20)
    table = LiveTable()
    table.update(rows)
    rows[10] = replace(rows[10], seats=tuple(replace(seat, rank=4 - seat.rank) for seat in rows[10].seats))
    table.update(rows)
    assert table.skills == rate_live(rows)


def test_a_first_win_moves_both_by_trueskills_formula_at_a_tenth_of_draws(make_row):
    skills = rate_live([make_row(0, {"a": 1, "b": 2})])
    draw = live.PRIOR_TIES / (live.PRIOR_PAIRS + 1)
    package = trueskill.TrueSkill(tau=0, draw_probability=draw, beta=BETA)
    one, two = trueskill.rate_1vs1(trueskill.Rating(), trueskill.Rating(), env=package)
    assert (skills["a"].mu, skills["a"].sigma) == pytest.approx((one.mu, one.sigma), abs=1e-5)
    assert (skills["b"].mu, skills["b"].sigma) == pytest.approx((two.mu, two.sigma), abs=1e-5)


def test_only_draws_leave_everyone_where_they_were(make_row):
    skills = rate_live([make_row(place, {"a": 1, "b": 1}) for place in range(50)])
    assert skills["a"].mu == pytest.approx(25)
    assert skills["a"].sigma < SIGMA


def test_team_members_rise_and_fall_together(make_row):
    skills = rate_live([make_row(0, {"a": 1, "b": 2, "c": 1, "d": 2}, teams=(0, 1, 0, 1))])
    assert skills["a"] == skills["c"]
    assert skills["b"] == skills["d"]
    assert skills["a"].mu > 25 > skills["b"].mu


def test_a_match_of_a_bot_against_itself_is_not_rated(make_row):
    row = make_row(0, {"a": 1, "b": 2})
    row = replace(row, seats=tuple(replace(seat, entry_id="a") for seat in row.seats))
    assert rate_live([row]) == {}


def test_a_new_version_inherits_mu_with_a_widened_sigma_rat6(make_row):
    before = [make_row(place, {"old": 1, "bob": 2}) for place in range(40)]
    row = make_row(40, {"new": 1, "bob": 2})
    row = replace(row, seats=(replace(row.seats[0], name="OLD"), row.seats[1]))
    seen = []
    skills = rate_live([*before, row], lambda match, skills: seen.append(dict(skills)))
    old = seen[39]["old"]
    assert skills["old"] == old, "the old version keeps its own rating"
    start = live._first_skill(live._State(skills={"old": old}, bearers={"OLD": "old"}), "new", "OLD")
    assert start == Skill(old.mu, math.hypot(old.sigma, live.WIDENING))
    assert 0 < skills["new"].mu - old.mu < 1
    assert skills["new"].sigma > old.sigma
