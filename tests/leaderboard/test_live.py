"""The live table: in schedule order, whatever order matches finish in, and only what is new is applied."""

import json
import math
import random

import pytest
import trueskill

from leaderboard.ratings import live
from leaderboard.ratings.live import LiveTable, continue_live, rate_live
from leaderboard.ratings.skill import BETA, SIGMA, WIDENING, Skill
from referee.record.journal import ALL_APPROVED


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


@pytest.mark.slow
def test_ten_thousand_straight_losses_stay_finite(make_row):
    skills = rate_live([make_row(place, {"loser": 2, "winner": 1}) for place in range(10_000)]).skills
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
def test_updates_in_any_pieces_give_the_numbers_of_one_pass(random_rows, seed):
    rows = random_rows(60)
    late = rows[:]
    random.Random(seed).shuffle(late)
    kept = None
    for count in range(0, 61, 7):  # as matches finish when several tables play
        there = late[:count]
        gap = next((place for place, row in enumerate(sorted(there, key=lambda row: row.place)) if row.place != place),
                   count)  # fmt: skip
        kept, table = continue_live(there, kept, gap)
        assert table == rate_live(there)
        assert kept.applied == gap


def test_only_matches_after_the_settled_ones_are_applied(random_rows, monkeypatch):
    rows = random_rows(100)
    kept, _ = continue_live(rows[:90], None, 80)
    applied = []
    rate_match = live.rate_match
    monkeypatch.setattr(live, "rate_match", lambda *words: applied.append(1) or rate_match(*words))
    assert continue_live(rows, kept, 80)[1].applied == 100
    assert len(applied) == 20


@pytest.mark.parametrize("change", ["annulled", "judged again", "renamed"])
def test_a_changed_match_among_the_settled_ones_is_noticed(random_rows, change):
    rows = random_rows(20)
    kept, _ = continue_live(rows, None, 20)
    if change == "annulled":
        del rows[10]
    elif change == "judged again":
        seats = tuple(seat._replace(rank=4 - seat.rank) for seat in rows[10].seats)
        rows[10] = rows[10]._replace(seats=seats)
    else:
        rows[10] = rows[10]._replace(seats=tuple(seat._replace(name="x" + seat.name) for seat in rows[10].seats))
    assert not kept.fits(rows, ALL_APPROVED)
    assert continue_live(rows, kept, 20)[1] == rate_live(rows)


def test_a_kept_table_has_all_bits(random_rows):
    table = rate_live(random_rows(400, 3))
    assert LiveTable.from_dict(json.loads(json.dumps(table.to_dict()))) == table


def test_a_first_win_moves_both_by_trueskills_formula_at_a_tenth_of_draws(make_row):
    skills = rate_live([make_row(0, {"a": 1, "b": 2})]).skills
    draw = live.PRIOR_TIES / (live.PRIOR_PAIRS + 1)
    package = trueskill.TrueSkill(tau=0, draw_probability=draw, beta=BETA)
    one, two = trueskill.rate_1vs1(trueskill.Rating(), trueskill.Rating(), env=package)
    assert (skills["a"].mu, skills["a"].sigma) == pytest.approx((one.mu, one.sigma), abs=1e-5)
    assert (skills["b"].mu, skills["b"].sigma) == pytest.approx((two.mu, two.sigma), abs=1e-5)


def test_only_draws_leave_everyone_where_they_were(make_row):
    skills = rate_live([make_row(place, {"a": 1, "b": 1}) for place in range(50)]).skills
    assert skills["a"].mu == pytest.approx(25)
    assert skills["a"].sigma < SIGMA


def test_team_members_rise_and_fall_together(make_row):
    skills = rate_live([make_row(0, {"a": 1, "b": 2, "c": 1, "d": 2}, teams=(0, 1, 0, 1))]).skills
    assert skills["a"] == skills["c"]
    assert skills["b"] == skills["d"]
    assert skills["a"].mu > 25 > skills["b"].mu


def test_a_match_of_a_bot_against_itself_is_not_rated(make_row):
    row = make_row(0, {"a": 1, "b": 2})
    row = row._replace(seats=tuple(seat._replace(entry_id="a") for seat in row.seats))
    assert rate_live([row]).skills == {}


def test_a_new_version_inherits_mu_with_a_widened_sigma_rat6(make_row):
    before = [make_row(place, {"old": 1, "bob": 2}) for place in range(40)]
    row = make_row(40, {"new": 1, "bob": 2})
    row = row._replace(seats=(row.seats[0]._replace(name="OLD"), row.seats[1]))
    old = rate_live(before).skills["old"]
    table = rate_live([*before, row])
    assert table.skills["old"] == old, "the old version keeps its own rating"
    start = rate_live(before)._first_skill("OLD")
    assert start == Skill(old.mu, math.hypot(old.sigma, WIDENING))
    assert 0 < table.skills["new"].mu - old.mu < 1
    assert table.skills["new"].sigma > old.sigma
