"""Results between two owners that their ratings make improbable."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from leaderboard.records import MatchRow
from leaderboard.standings import standings
from leaderboard.web import organiser
from leaderboard.web.hand_ins import Entry
from leaderboard.web.improbable import improbable_results
from leaderboard.web.people import Suspicion

OWNERS = {"a": "ann", "b": "bob", "c": "cleo", "x": "eve", "y": "eve"}
ENTRIES = {entry: Entry(entry, f"bot {entry}", owner, 1) for entry, owner in OWNERS.items()}
ENTRIES["h"] = Entry("h", "house", "", 1, house=True)


def tables(rows: list[MatchRow]) -> Any:
    return SimpleNamespace(table=standings(rows), counted=SimpleNamespace(rows=rows))


def meetings(make_row: Callable[..., MatchRow], *results: tuple[str, str, int]) -> list[MatchRow]:
    rows: list[MatchRow] = []
    for winner, loser, times in results:
        rows += [make_row(len(rows) + number, {winner: 1, loser: 2}) for number in range(times)]
    return rows


def balanced(make_row: Callable[..., MatchRow]) -> list[tuple[str, str, int]]:
    """Everybody is as strong as everybody, but for what is added."""
    return [(one, other, 40) for one in "abcx" for other in "abcx" if one != other and {one, other} != {"a", "x"}]


def test_an_owner_who_loses_all_games_against_one_owner_alone_is_named(make_row: Callable[..., MatchRow]) -> None:
    rows = meetings(make_row, *balanced(make_row), ("a", "x", 30))
    (found,) = improbable_results("cup", tables(rows), ENTRIES)
    assert (found.owners, found.bots) == (("ann", "eve"), ("bot a", "bot x"))
    assert found.what.startswith("in cup, the bots of ann got 30 of 30 points against those of eve")


def test_honest_results_name_nobody(make_row: Callable[..., MatchRow]) -> None:
    rows = meetings(make_row, *balanced(make_row), ("a", "x", 15), ("x", "a", 15))
    assert improbable_results("cup", tables(rows), ENTRIES) == []
    equal = [(one, other, 15) for one in "bcx" for other in "bcx" if one != other]
    stronger = meetings(make_row, *(("a", other, 30) for other in "bcx"), *equal)
    assert improbable_results("cup", tables(stronger), ENTRIES) == []  # who beats all is strong


def test_a_few_matches_house_bots_and_ones_own_bots_say_nothing(make_row: Callable[..., MatchRow]) -> None:
    assert improbable_results("cup", tables(meetings(make_row, *balanced(make_row), ("a", "x", 4))), ENTRIES) == []
    rows = meetings(make_row, *balanced(make_row), ("h", "x", 30), ("y", "x", 30))
    assert all("eve" not in found.owners for found in improbable_results("cup", tables(rows), ENTRIES))


def test_the_bots_of_an_owner_are_counted_together(make_row: Callable[..., MatchRow]) -> None:
    pairs = [(one, other, 40) for one in "abcxy" for other in "abcxy"
             if one != other and not ({one, other} & {"x", "y"} and "a" in (one, other))]  # fmt: skip
    rows = meetings(make_row, *pairs, ("a", "x", 14), ("a", "y", 14))
    (found,) = improbable_results("cup", tables(rows), ENTRIES)
    assert found.bots == ("bot a", "bot x", "bot y")


def test_the_organisers_page_does_not_compute_it_again_for_each_match(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    now_s = [1000.0]

    def results(division: str, _tables: object, _entries: object) -> list[Suspicion]:
        asked.append(division)
        return [Suspicion(f"look {len(asked)}", (), ())]

    monkeypatch.setattr(organiser, "improbable_results", results)
    monkeypatch.setattr(organiser, "run_of", lambda _request, _name: (None, SimpleNamespace()))
    monkeypatch.setattr(organiser.time, "monotonic", lambda: now_s[0])
    request: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(kept_suspicions={})))
    ladder: Any = SimpleNamespace(divisions=lambda: [SimpleNamespace(name="cup")], entries=lambda _: {})
    for _ in range(3):
        assert [one.what for one in organiser._improbable(request, ladder)] == ["look 1"]
    now_s[0] += organiser.SUSPICIONS_S
    assert [one.what for one in organiser._improbable(request, ladder)] == ["look 2"]
