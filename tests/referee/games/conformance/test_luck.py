"""The books of chance: what a deck or a die may offer next."""

import pytest

from referee.games.api import Chance, Draw, Outcome, Roll
from referee.games.conformance import CheckFailed
from referee.games.conformance.luck import Ledger

Node = tuple[Chance, list[tuple[Outcome, int]], Outcome]

FIRST: Node = (Draw("deck"), [("a", 2), ("b", 1)], "a")
ROLLED: Node = (Roll("die", 0, 0), [(1, 1), (2, 3)], 2)


def keep_books(*nodes: Node) -> Ledger:
    ledger = Ledger()
    for stream, outcomes, outcome in nodes:
        ledger.look(stream, outcomes)
        ledger.take(stream, outcomes, outcome)
    return ledger


@pytest.mark.parametrize(
    ("stream", "outcomes"),
    [
        (Draw("deck"), [("a", 1), ("b", 1)]),
        (Draw("deck"), [("b", 1), ("a", 1)]),
        (Draw("deck", 1), [("a", 9)]),
        (Draw("other"), [("a", 9)]),
        (Roll("die", 1, 0), [(1, 1), (2, 3)]),
        (Roll("die", 0, 1), [(1, 1), (2, 3)]),
        (Roll("die", 0, 0, 1), [(1, 1)]),
        (Roll("other", 0, 0), [(1, 7), (2, 3)]),
    ],
)
def test_what_may_come_next(stream: Chance, outcomes: list[tuple[Outcome, int]]) -> None:
    keep_books(FIRST, ROLLED).look(stream, outcomes)


@pytest.mark.parametrize(
    ("check", "stream", "outcomes"),
    [
        ("draw_stream", Draw("deck"), [("a", 2), ("b", 1)]),
        ("draw_stream", Draw("deck"), [("a", 1), ("b", 2)]),
        ("draw_stream", Draw("deck"), [("a", 1)]),
        ("draw_stream", Draw("deck"), [("a", 1), ("b", 1), ("c", 1)]),
        ("roll_stream", Roll("die", 0, 0), [(1, 1), (2, 3)]),
        ("roll_stream", Roll("die", 0, 1), [(1, 1), (2, 4)]),
        ("chance", Draw("deck"), [("a", 1), ("b", 0)]),
        ("chance", Draw("deck"), [("a", 1), ("b", -1)]),
        ("chance", Draw("deck"), [("a", 1.0), ("b", 1)]),
        ("chance", Draw("deck"), [("a", True), ("b", 1)]),
        ("chance", Draw("deck"), [("a", 1), ("a", 1)]),
        ("chance", Draw("new"), [(1, 1), ("1", 1)]),
        ("chance", Draw("new"), [((1, 2), 1)]),
        ("chance", "die", [(1, 1)]),
    ],
)
def test_what_may_not_come_next(check: str, stream: Chance, outcomes: list[tuple[Outcome, int]]) -> None:
    with pytest.raises(CheckFailed) as failed:
        keep_books(FIRST, ROLLED).look(stream, outcomes)
    assert failed.value.check == check


def test_the_last_card_leaves_nothing_to_offer() -> None:
    with pytest.raises(CheckFailed, match=r"by the draws so far \{\} are left"):
        keep_books((Draw("deck"), [("a", 1)], "a")).look(Draw("deck"), [("a", 1)])


def test_an_epoch_does_not_come_back() -> None:
    ledger = keep_books(FIRST, (Draw("deck", 1), [("a", 5)], "a"))
    with pytest.raises(CheckFailed, match="went back from epoch 1 to 0"):
        ledger.look(Draw("deck"), [("a", 1), ("b", 1)])


def test_a_copy_keeps_its_own_books() -> None:
    ledger = keep_books(FIRST, ROLLED)
    copy = ledger.copy()
    copy.take(Draw("deck"), [("a", 1), ("b", 1)], "b")
    copy.take(Roll("die", 0, 1), [(1, 1), (2, 3)], 1)
    ledger.look(Draw("deck"), [("a", 1), ("b", 1)])
    ledger.look(Roll("die", 0, 1), [(1, 1), (2, 3)])
    copy.look(Draw("deck"), [("a", 1)])
