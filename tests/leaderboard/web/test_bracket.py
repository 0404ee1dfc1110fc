"""Rounds as brackets: who met whom, who plays on, who sat out, the pools of a double elimination, and the drawing."""

from collections.abc import Callable, Sequence
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.records import MatchRow
from leaderboard.schedule_view import Pairing
from leaderboard.web.bracket import Bracket, Member, Round, Tie, bracket_svg, brackets_of
from referee.schedule.formats import knockout
from referee.schedule.formats.api import BlockResult
from tests.referee.schedule.played import by_chance, field_of, played_out

NASTY = "<b>ann & co</b>"
Rows = Callable[..., MatchRow]


class Drawn:
    """Tables of a run, one after the other, each with one match or none."""

    def __init__(self, make_row: Rows) -> None:
        self.make_row, self.pairings, self.rows = make_row, list[Pairing](), list[MatchRow]()

    def table(self, round_: int, names: str, ranks: Sequence[int] = (), left: str = "") -> "Drawn":
        """A table of the bots with these letters as names, with the ranks that they have had; one alone has a bye. For
        each letter of `left` there is another match, which is not played because that bot has left."""
        if len(names) == 1:
            self.pairings.append(Pairing("", round_, 0, (names,)))
            return self
        place = len(self.pairings)
        row = self.make_row(place, dict(zip(names, ranks or (1, 2), strict=True)))
        if ranks:
            self.rows.append(row)
        number = 1 + sum(one.round == round_ and one.table > 0 for one in self.pairings)
        off = {f"{row.match_id}-off{one}": (bot,) for one, bot in enumerate(left)}
        self.pairings.append(Pairing("", round_, number, tuple(names), (row.match_id, *off), off))
        return self

    def brackets(self, first: str = "", **given: bool) -> list[Bracket]:
        names = {entry: entry.upper() for one in self.pairings for entry in one.entries}
        return brackets_of(self.pairings, self.rows, names, frozenset(first), **given)


@pytest.fixture
def drawn(make_row: Rows) -> Drawn:
    return Drawn(make_row)


def tables(bracket: Bracket) -> list[list[list[list[tuple[str, float | None, bool]]]]]:
    return [
        [[[(m.name, m.points, m.ahead) for m in tie.members] for tie in group] for group in found.groups]
        for found in bracket.rounds
    ]


def test_a_bracket_has_who_met_whom_who_plays_on_and_who_sat_out(drawn: Drawn) -> None:
    drawn.table(1, "ab", (1, 2)).table(1, "cd", (1, 2)).table(1, "e")
    drawn.table(2, "ac", (2, 1)).table(2, "e").table(3, "ce", (1, 2))
    (found,) = drawn.brackets("c")
    bye = [("E", None, True)]
    a = [("A", 1.0, True), ("B", 0.0, False)]
    c = [("C", 1.0, True), ("D", 0.0, False)]
    ca = [("C", 1.0, True), ("A", 0.0, False)]
    assert tables(found) == [[[a, c], [bye]], [[ca, bye]], [[[("C", 1.0, True), ("E", 0.0, False)]]]]
    assert [match.match_id for match in found.rounds[1].groups[0][0].matches] == [drawn.rows[2].match_id]


def test_tables_that_are_still_to_be_played_are_there_without_a_result(drawn: Drawn) -> None:
    drawn.table(1, "ab", (1, 2)).table(1, "cd", (2, 1)).table(2, "ad")
    (found,) = drawn.brackets()
    assert tables(found)[1] == [[[("A", None, False), ("D", None, False)]]]
    assert tables(found)[0][0][1] == [("D", 1.0, True), ("C", 0.0, False)], "who plays on is known by the next round"


def test_ties_of_a_bracket_stand_beside_the_one_that_they_lead_to(drawn: Drawn) -> None:
    for round_, names in ((1, "ah"), (1, "bg"), (1, "cf"), (1, "de"), (2, "ad"), (2, "bc")):
        drawn.table(round_, names, (1, 2))
    first, second = tables(drawn.brackets()[0])
    assert [[tie[0][0] for tie in group] for group in first] == [["A", "D"], ["B", "C"]]
    assert [[tie[0][0] for tie in group] for group in second] == [["A"], ["B"]]
    drawn.table(3, "ab", (2, 1))
    _, second, _ = tables(drawn.brackets("b")[0])
    assert [[tie[0][0] for tie in group] for group in second] == [["A", "B"]]


def test_rounds_of_a_swiss_say_who_won_each_table_and_stand_in_their_order(drawn: Drawn) -> None:
    drawn.table(1, "ab", (1, 2)).table(1, "cd", (1, 1)).table(1, "e").table(2, "ca", (1, 2)).table(2, "be")
    (found,) = drawn.brackets(knockout=False)
    assert tables(found) == [
        [
            [[("A", 1.0, True), ("B", 0.0, False)]],
            [[("C", 0.5, False), ("D", 0.5, False)]],
            [[("E", None, False)]],
        ],
        [[[("C", 1.0, True), ("A", 0.0, False)]], [[("B", None, False), ("E", None, False)]]],
    ]


def test_the_table_for_the_third_rank_is_named_and_nobody_plays_on_to_it(drawn: Drawn) -> None:
    drawn.table(1, "ad", (1, 2)).table(1, "bc", (1, 2)).table(2, "ab", (1, 2)).table(2, "cd", (1, 2))
    (found,) = drawn.brackets("a", bronze=True)
    final, third = (tie for group in found.rounds[1].groups for tie in group)
    assert (final.title, third.title) == ("", "for the third rank")
    assert [one.name for group in found.rounds[0].groups for tie in group for one in tie.members if one.ahead] == [
        "A", "B"
    ]  # fmt: skip
    texts, paths = drawing_of([found])
    assert texts.count("For the third rank") == 1
    assert paths == 2


def test_a_double_elimination_has_a_bracket_for_each_pool(drawn: Drawn) -> None:
    drawn.table(1, "ad", (1, 2)).table(1, "bc", (1, 2))
    drawn.table(2, "ab", (1, 2)).table(2, "cd", (1, 2)).table(3, "bc", (1, 2))
    winners, losers = drawn.brackets(double=True)
    assert (winners.title, losers.title) == ("winners", "losers")
    drawn.table(4, "ab", (2, 1)).table(5, "ab", (1, 2))
    winners, losers, final = drawn.brackets("b", double=True)
    assert [[tie[0][0] for group in round_ for tie in group] for round_ in tables(winners)] == [["A", "B"], ["A"]]
    assert [round_.number for round_ in losers.rounds] == [2, 3]
    assert [round_.number for round_ in final.rounds] == [4, 5], (
        "the bot that had not lost has lost, and they play again"
    )
    texts, paths = drawing_of([winners, losers, final])
    assert [text for text in texts if text in ("Winners", "Losers", "Final")] == ["Winners", "Losers", "Final"]
    assert paths == 2 + 1 + 1


def test_a_tie_of_a_double_elimination_is_won_by_the_better_seed(drawn: Drawn) -> None:
    drawn.table(1, "ad", (1, 1)).table(1, "bc", (1, 1)).table(2, "ab").table(2, "cd")
    winners, losers = drawn.brackets(double=True)
    assert [one.name for group in losers.rounds[0].groups for tie in group for one in tie.members] == ["C", "D"]
    assert [one.name for group in winners.rounds[1].groups for tie in group for one in tie.members] == ["A", "B"]


def test_a_bot_that_leaves_in_the_middle_of_a_table_loses_the_rest_of_it(drawn: Drawn) -> None:
    drawn.table(1, "ad", (1, 2)).table(1, "bc", (1, 2), left="bb")  # c has won by two matches to one
    drawn.table(2, "ac", (1, 2)).table(3, "cd", (1, 2)).table(4, "ac", (1, 2))
    assert pools(drawn.brackets("a", double=True)) == {"winners": [1, 2], "losers": [3], "final": [4]}


def test_a_bot_that_leaves_at_equal_points_has_won_by_its_seed(drawn: Drawn) -> None:
    drawn.table(1, "ad", (1, 2)).table(1, "bc", (1, 2), left="b")
    drawn.table(2, "cd", (1, 2)).table(3, "ac", (1, 2))
    assert pools(drawn.brackets("a", double=True)) == {"winners": [1], "losers": [2], "final": [3]}


def pools(found: Sequence[Bracket]) -> dict[str, list[int]]:
    return {bracket.title: [round_.number for round_ in bracket.rounds] for bracket in found}


@pytest.mark.parametrize(
    "given_", [{}, {"double": True}, {"double": True, "best_of": 3}, {"bracket": "fixed", "bronze": True}]
)
@given(st.integers(2, 20), st.randoms(use_true_random=False), st.data())
@settings(max_examples=30, deadline=None)
def test_every_table_of_any_knockout_is_drawn_once_at_any_moment(given_, bots, chance, data) -> None:
    field = field_of(knockout.FORMAT, bots, extra=0, **given_)
    leaving = data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 2 * bots), max_size=bots // 4))
    pool_of = dict[tuple[int, frozenset[str]], str]()
    draw_round = knockout._draw_round

    def drawn_round(field, bracket, players, fallen, number):  # keeps the pool of each table
        drawn = draw_round(field, bracket, players, fallen, number)
        for tie in drawn.ties:
            losses = {bot in bracket.second for bot in tie.members}
            pool = (
                "final" if len(losses) > 1 or "final" in pool_of.values() else "losers" if True in losses else "winners"
            )
            pool_of[number, frozenset(map(str, tie.members))] = pool
        return drawn

    with patch.object(knockout, "_draw_round", drawn_round):
        blocks, _, _ = played_out(knockout.FORMAT, field, by_chance(chance), leaving)
    blocks = blocks[: data.draw(st.integers(0, len(blocks)))]
    tables: dict[tuple[int, int], list[BlockResult]] = {}
    for one in blocks:
        tables.setdefault((one.block.round, one.block.table), []).append(one)
    pairings = [
        Pairing(
            "",
            *place,
            tuple(map(str, found[0].block.group)),
            tuple(match.match_id for one in found for match in one.matches),
            {
                match.match_id: tuple(map(str, match.absent))
                for one in found
                for match in one.matches
                if not match.counts
            },
        )
        for place, found in tables.items()
    ]
    last = max((one.round for one in pairings), default=0)
    before = sum(one.block.round < last for one in blocks)  # a round is drawn when those before have all their results
    done = data.draw(st.integers(before, len(blocks)))
    rows = [_Row(match) for one in blocks[:done] for match in one.matches if match.counts]
    names = {str(bot): f"bot {bot}" for bot in range(bots)}
    found = brackets_of(pairings, rows, names, frozenset(), bronze="bronze" in given_, double="double" in given_)  # type: ignore[arg-type]
    shown = shown_in(found)
    assert sorted(shown) == sorted((one.round, *sorted(one.entries)) for one in pairings)
    for part in found:
        if part.pool:
            for round_, *members in shown_in([part]):
                assert part.pool == pool_of[round_, frozenset(members)]
        if part.pool == "final":
            assert all(len(group) == 1 for round_ in part.rounds for group in round_.groups)
    assert len(drawing_of(found)[0]) >= len(shown)


def shown_in(found: Sequence[Bracket]) -> list[tuple]:
    return [
        (round_.number, *sorted(one.entry_id for one in tie.members))
        for part in found
        for round_ in part.rounds
        for group in round_.groups
        for tie in group
    ]


class _Row:
    """As much of a row as a result takes."""

    def __init__(self, match) -> None:
        self.match_id = match.match_id
        self.seats = tuple(_Seat(str(bot), rank) for bot, rank in zip(match.bots, match.ranking, strict=True))


class _Seat:
    def __init__(self, entry_id: str, rank: int) -> None:
        self.entry_id, self.rank, self.team, self.fault = entry_id, rank, entry_id, ""


def drawing_of(brackets: Sequence[Bracket]) -> tuple[list[str], int]:
    """The texts of a drawing, and how many lines it has. Its boxes lie in it, and not on each other."""
    drawing = ElementTree.fromstring(bracket_svg(brackets))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        (float(box.get("x", "")), float(box.get("y", "")), float(box.get("height", "")))
        for box in drawing.iter(f"{space}rect")
        if box.get("x")
    ]
    for x, y, height in boxes:
        others = [other for other in boxes if other[0] == x and other != (x, y, height)]
        assert all(other[1] >= y + height or other[1] + other[2] <= y for other in others)
        assert y + height <= float(drawing.get("height", ""))
    texts = ["".join(item.itertext()) for item in drawing.iter(f"{space}text")]
    return texts, len(list(drawing.iter(f"{space}path")))


def tie(*names: str, ahead: str = "") -> Tie:
    return Tie([Member(name, name, None if len(names) == 1 else 1.0, name == ahead) for name in names])


def test_the_bracket_is_a_drawing_with_a_line_for_each_winner() -> None:
    rounds = [
        Round(1, [[tie(NASTY, "bob", ahead=NASTY), tie("cyd", "dan", ahead="dan")], [tie("eve", ahead="eve")]]),
        Round(2, [[tie(NASTY, "dan", ahead="dan"), tie("eve", ahead="eve")]]),
        Round(3, [[tie("dan", "eve", ahead="eve")]]),
    ]
    texts, paths = drawing_of([Bracket(True, rounds)])
    assert texts.count(NASTY) == 2
    assert [text for text in texts if text.startswith("Round")] == ["Round 1", "Round 2", "Round 3"]
    assert paths == 5
