"""Bots that join late: what they get for what they missed, in every format that takes them."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import gauntlet, league, round_robin, swiss
from referee.schedule.formats.api import Field, Variant
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders


def field_of(style, bots, blocks=1, **given_settings):
    wanted = {setting.name: setting.default for setting in style.settings if not setting.later} | given_settings
    teams = (0, 1)
    names = tuple(f"bot{number}" for number in range(bots))
    return Field(names, (Variant("toy", 2, teams, team_orders(teams)),), 1, blocks, wanted)


def by_strength(result, bots):
    return [1 + sum(other < bot for other in bots) for bot in bots]


def played_out(style, field, joining):
    blocks = []
    running = simulate(style, field, by_strength, joining=joining)
    while True:
        try:
            blocks.append(next(running))
        except StopIteration as end:
            return blocks, end.value


def points(placing) -> Fraction:
    return Fraction(placing.columns["points"].replace("½", ".5") or 0)


@given(bots=st.integers(2, 13), late=st.sampled_from([None, "zero", "half", "average"]), after=st.integers(1, 3))
@settings(max_examples=30)
def test_a_late_bot_of_a_swiss_gets_what_the_file_says_for_each_round_it_missed(bots, late, after):
    """The weakest bot joins after a round, and has no points besides these and its byes."""
    rounds = 5
    chosen = {} if late is None else {"late": late}
    field = field_of(swiss.FORMAT, bots, rounds=rounds, bye=0.0, **chosen)
    blocks, table = played_out(swiss.FORMAT, field, joining=[after * (bots // 2)])
    first = min(result.block.round for result in blocks if bots in result.block.group) if bots > 2 else after + 1
    missed = first - 1
    (row,) = [row for row in table if row.bot == bots]
    if bots == 2 or missed != after:
        return  # it had a bye in its first round
    before = sum(result.block.round <= missed for result in blocks)
    expected = {None: 0, "zero": 0, "half": Fraction(missed, 2), "average": Fraction(before, bots)}[late]
    assert points(row) == pytest.approx(float(expected), abs=0.01)
    others = sum(points(other) for other in table if other.bot != bots)
    assert others == pytest.approx(sum(1 for _ in blocks), abs=0.1), "nobody else has more or less"


@pytest.mark.parametrize("style", [round_robin.FORMAT, gauntlet.FORMAT, league.FORMAT], ids=lambda style: style.name)
@given(when=st.integers(1, 30), bots=st.integers(3, 7))
@settings(max_examples=12)
def test_a_late_bot_misses_nothing_where_everybody_plays_alike(style, when, bots):
    """Round robin and gauntlet: it plays all that it missed. League: it counts as if it had played as much as the one
    that has played least, and from there on plays as much as the others."""
    extra = {"challengers": [0]} if style is gauntlet.FORMAT else {}
    field = field_of(style, bots, blocks=6 if style is not league.FORMAT else 60, **extra)
    if style is gauntlet.FORMAT:
        field = field_of(style, bots, blocks=6, challengers=("bot0",))
    blocks, _ = played_out(style, field, joining=[when])
    played = Counter(bot for result in blocks for bot in result.block.group)
    if style is league.FORMAT:
        since = Counter(bot for result in blocks[when:] for bot in result.block.group)
        assert max(since.values()) - min(since[bot] for bot in range(bots + 1)) <= 2
        return
    if when > len(blocks) - played[bots]:
        return  # it came after the end
    others = range(1, bots + 1) if style is gauntlet.FORMAT else range(bots + 1)
    assert {played[bot] for bot in others} == {played[1]}
