"""Every rule of pairing at once, in fields of 2 to 40 bots, odd and even, some of which leave and some join late.

Results, bots that leave and bots that join are drawn; each round that was paired is then looked at.
"""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import knockout, swiss
from tests.referee.schedule.played import by_chance, field_of, played_out

SIZES = st.integers(2, 40)
CHANCE = st.randoms(use_true_random=False)


class Round:
    """What a round had: its tables, and the bots that were in the run before it and after it."""

    def __init__(self, number):
        self.number, self.tables = number, []

    @property
    def seated(self):
        return [bot for group in self.tables for bot in group]


def rounds_in(blocks):
    """The rounds by number; a round in which nobody played has no tables."""
    found = {}
    for block in blocks:
        here = found.setdefault(block.block.round, Round(block.block.round))
        if block.block.group not in here.tables:
            here.tables.append(block.block.group)
    return found


def changes(data, bots, *, late=True):
    """Who leaves after how many blocks, and after how many blocks others join."""
    leaving = data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 3 * bots), max_size=bots // 3))
    joining = data.draw(st.lists(st.integers(0, 2 * bots), max_size=3)) if late else []
    return leaving, sorted(joining)


def restrictions(data, bots, rounds):
    """Forbidden lists, fixed tables and byes that do not contradict each other."""
    names = [f"bot{bot}" for bot in range(bots)]
    size = data.draw(st.integers(2, 4))
    given = {}
    if data.draw(st.booleans()):
        given["forbidden"] = [names[first : first + size] for first in range(0, bots - size + 1, size)] or None
    order = data.draw(st.permutations(range(bots)))
    if bots > 4 and data.draw(st.booleans()):
        one, other = next(
            (pair for pair in combinations(order, 2) if pair[0] // size != pair[1] // size), (order[0], order[-1])
        )
        round_ = data.draw(st.integers(1, rounds))
        given["fixed"] = [{"round": round_, "bots": [names[one], names[other]]}]
        order = [bot for bot in order if bot not in (one, other)]
    if data.draw(st.booleans()):
        asked = {round_: data.draw(st.integers(0, len(order) - 1)) for round_ in range(1, rounds + 1)}
        given["byes"] = [{"round": round_, "bots": [names[order[one]]]} for round_, one in asked.items()]
    return given


@pytest.mark.slow
@pytest.mark.parametrize("accelerated", [False, True])
@given(SIZES, CHANCE, st.data())
@settings(max_examples=60, deadline=None)
def test_each_round_of_a_swiss_keeps_every_rule(accelerated, bots, chance, data):
    rounds = data.draw(st.integers(1, 6))
    given = restrictions(data, bots, rounds)
    field = field_of(swiss.FORMAT, bots, rounds=rounds, accelerated=accelerated, **given)
    clubs = data.draw(st.sampled_from([(), tuple(f"club {bot % 5}" * (bot % 3 > 0) for bot in range(bots + 3))]))
    field = replace(field, clubs=clubs)
    if swiss.FORMAT.check(field):
        return
    leaving, joining = changes(data, bots)
    blocks, table, notices = played_out(swiss.FORMAT, field, by_chance(chance), leaving, joining)

    apart = {
        frozenset((f"bot{a}", f"bot{b}"))
        for a, b in combinations(range(bots + 3), 2)
        if clubs and clubs[a] and clubs[a] == clubs[b]
    }
    apart |= {frozenset(pair) for group in given.get("forbidden") or () for pair in combinations(group, 2)}
    met, byes = Counter(), Counter()
    last = {}
    for block in blocks:
        last[block.block.round] = block.number
    made = rounds_in(blocks)
    for number in sorted(made):
        said = " ".join(text for text in notices if text.startswith(f"round {number}:"))
        before = last.get(number - 1, -1) + 1  # blocks that were there when the round was paired
        here = {bot for bot in range(bots) if leaving.get(bot, 10**6) > before}
        here |= {bots + place for place, when in enumerate(joining) if when <= before}
        seated = made[number].seated
        assert len(seated) == len(set(seated)), "nobody plays twice in a round"
        assert set(seated) <= here, "nobody who is out, or not there yet"
        for group in made[number].tables:
            names = frozenset(f"bot{bot}" for bot in group)
            assert names not in apart, (number, names)
        asked = {name for table_ in given.get("byes") or () if table_["round"] == number for name in table_["bots"]}
        out = {f"bot{bot}" for bot in here - set(seated)}
        assert asked & {f"bot{bot}" for bot in here} <= out, "who asked for a bye has it"
        for table_ in given.get("fixed") or ():
            if table_["round"] == number:
                pair = tuple(int(name[3:]) for name in table_["bots"])
                assert pair in made[number].tables or "the fixed table" in said
        drawn = {int(name[3:]) for name in out - asked}
        if len(drawn) > 1:
            assert "sit out, since" in said, (number, drawn, notices)
        elif drawn:
            free = [bot for bot in here if f"bot{bot}" not in asked]
            fewest = min(byes[bot] for bot in free if bot in drawn or not _is_fixed(given, number, bot))
            assert all(byes[bot] == fewest for bot in drawn) or apart, "the bye goes to one with the fewest"
        again = [
            group for group in made[number].tables if met[frozenset(group)] and not _is_fixed(given, number, group[0])
        ]
        if again:
            playing = [bot for group in made[number].tables for bot in group if not _is_fixed(given, number, bot)]
            graph = networkx.Graph()
            graph.add_nodes_from(playing)
            graph.add_edges_from(
                (a, b)
                for a, b in combinations(playing, 2)
                if not met[frozenset((a, b))] and frozenset((f"bot{a}", f"bot{b}")) not in apart
            )
            best = networkx.max_weight_matching(graph, maxcardinality=True)
            assert 2 * len(best) < len(playing), (number, again, "they need not have met again")
        byes.update(drawn)
        met.update(map(frozenset, made[number].tables))
    assert sorted(row.bot for row in table) == list(
        range(bots + len([when for when in joining if when <= len(blocks)]))
    )


def _is_fixed(given, number, bot):
    return any(table["round"] == number and f"bot{bot}" in table["bots"] for table in given.get("fixed") or ())


@pytest.mark.slow
@given(SIZES, CHANCE, st.data())
@settings(max_examples=20, deadline=None)
def test_each_round_by_the_fide_rules_keeps_the_absolute_ones(bots, chance, data):
    """C.1 to C.3: no second meeting, no second drawn bye, nobody three times on one seat or two times more often on it,
    but for the last round."""
    rounds = data.draw(st.integers(1, 6))
    clubs = data.draw(st.sampled_from([(), tuple(f"club {bot % 5}" * (bot % 3 > 0) for bot in range(bots + 3))]))
    field = replace(field_of(swiss.FORMAT, bots, rounds=rounds, pairing="fide"), clubs=clubs)
    if swiss.FORMAT.check(field):
        return
    leaving, joining = changes(data, bots)
    blocks, _, notices = played_out(swiss.FORMAT, field, by_chance(chance), leaving, joining)
    met, seats = set(), {}
    for block in blocks:
        number, pair = block.block.round, block.block.group
        assert not (clubs and clubs[pair[0]] and clubs[pair[0]] == clubs[pair[1]])
        if any(text.startswith(f"round {number}: no pairing keeps the FIDE rules") for text in notices):
            break  # from here on the usual pairing may have done anything
        assert frozenset(pair) not in met, number
        met.add(frozenset(pair))
        for bot, seat in zip(pair, "wb", strict=True):
            if block.matches[0].counts:
                seats[bot] = seats.get(bot, "") + seat
            if number < rounds:
                had = seats.get(bot, "")
                assert not had.endswith(("www", "bbb")), (number, bot, had)
                assert abs(had.count("w") - had.count("b")) <= 2, (number, bot, had)


@pytest.mark.slow
@pytest.mark.parametrize(
    "given_", [{}, {"bracket": "fixed", "bronze": True}, {"double": True}, {"best_of": 3, "extra": 1}]
)
@given(SIZES, CHANCE, st.data())
@settings(max_examples=25, deadline=None)
def test_each_knockout_finds_one_winner_whoever_leaves(given_, bots, chance, data):
    field = field_of(knockout.FORMAT, bots, **{"extra": 0, **given_})
    leaving, _ = changes(data, bots, late=False)
    blocks, table, _ = played_out(knockout.FORMAT, field, by_chance(chance), leaving)
    assert sorted(row.bot for row in table) == list(range(bots))
    first = [row.bot for row in table if row.rank == 1]
    assert len(first) == 1 or all(bot in leaving for bot in first)
    for here in rounds_in(blocks).values():
        assert len(here.seated) == len(set(here.seated))
        before = min(block.number for block in blocks if block.block.round == here.number)
        assert not [bot for bot in here.seated if leaving.get(bot, 10**6) <= before]
