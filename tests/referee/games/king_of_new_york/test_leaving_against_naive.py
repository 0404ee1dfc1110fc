"""At every question of random matches each seat leaves a copy of it: compared with a naive second reckoning."""

from collections import Counter
from typing import Any

import pytest

from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import QUESTION_NAMES


def compare(leaving: Any, state: Any, covered: Counter[str]) -> None:
    """Every seat leaves here."""
    asked = state.decisions()
    if not asked:
        return
    who, kind = asked[0].seat, asked[0].kind
    table = state.to_dict()
    for seat in range(state.players):
        if table["left"] >> seat & 1:
            continue
        after = state.clone()
        told = [event.public for event in after.withdraw(seat)]
        got = after.to_dict()
        new = leaving.left_behind(table, seat, state.ruleset.card_ids)
        expected = leaving.next_question(table, new, (who, kind), seat)
        covered[f"{kind}: {expected if isinstance(expected, str) else 'asked' if expected else 'open'}"] += 1
        now = [(decision.seat, decision.kind) for decision in after.decisions()]
        assert told[0].KIND == "withdrew"
        assert all(asked_seat != seat for asked_seat, _ in now)
        if expected == "over":
            assert after.is_terminal()
            assert after.ranking()[new["out"].index(0)] == 1
        elif expected == "entered":
            assert got["where"][who] == leaving.MANHATTAN, (table, seat)
            entry = next(payload for payload in told if payload.KIND == "moved")
            assert (entry.seat, entry.reason, entry.borough) == (who, "forced", "manhattan")
        elif expected is None:
            # Whose turn it was goes on, or the next turn has begun; nothing of the others has been lost by it.
            assert got["out"][seat]
            assert got["deaths"] >= new["deaths"]
            assert [payload.KIND for payload in told].count("eliminated") >= 1
        else:
            assert now == [expected], (table, seat)
            for name in leaving.SURE:
                assert got[name] == new[name], (name, seat, kind, table)
            compare_menu(leaving, after, new, *expected)


def compare_menu(leaving: Any, after: Any, new: dict[str, Any], seat: int, kind: str) -> None:
    """The menu is that of the new position: a state made from the naive reckoning offers the same."""
    menu = list(after.legal_actions(seat))
    if kind != "leave":
        again = GAME.state_from_dict(new)
        assert menu == list(again.legal_actions(seat)), (kind, menu)
    if kind == "dice":
        most = max((sum(action.counts) for action in menu if action.KIND == "reroll"), default=0)
        assert (most > 0) <= (leaving.rerolls(new, after.ruleset.card_ids) > 0)
        forced = any(
            leaving.owned({"keep": [keep]}, after.ruleset.card_ids, "jinx_aura")
            for other, keep in enumerate(new["keep"])
            if other != seat
        )
        assert (menu[0].KIND == "keep") or forced


def sweep(leaving: Any, matches: Any, seeds: range, every: int) -> Counter[str]:
    covered: Counter[str] = Counter()
    for seed in seeds:
        nodes = 0

        def visit(state: Any) -> None:
            nonlocal nodes
            nodes += 1
            rare = state.decisions() and state.decisions()[0].kind not in ("dice", "resolve", "buy", "destroy")
            if rare or nodes % every == 0:
                compare(leaving, state, covered)

        given = matches.options(data=matches.cheap_data(), round_cap=8) if seed % 2 else matches.options(round_cap=8)
        matches.wander(2 + seed % 5, seed, visit, given)
    return covered


def test_every_seat_leaves_at_the_questions_of_random_matches(leaving: Any, matches: Any) -> None:
    covered = sweep(leaving, matches, range(40), every=12)
    assert {kind.partition(":")[0] for kind in covered} >= set(QUESTION_NAMES) - {"leave", "respond"}
    assert covered["move: entered"] > 20
    assert sum(covered.values()) > 2000


@pytest.mark.long
def test_every_seat_leaves_at_every_question_of_many_matches(leaving: Any, matches: Any) -> None:
    covered = sweep(leaving, matches, range(1000, 1400), every=1)
    assert {kind.partition(":")[0] for kind in covered} == set(QUESTION_NAMES)
