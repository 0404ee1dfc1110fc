"""What a deck or a die may offer next, and what the checks of chance refuse."""

import pytest

from referee.games.api import Chance, Draw, Outcome, Roll
from referee.games.conformance import CheckFailed
from referee.games.conformance.chance import Ledger

Node = tuple[Chance, list[tuple[Outcome, int]], Outcome]

FIRST: Node = (Draw("deck"), [("a", 2), ("b", 1)], "a")
ROLLED: Node = (Roll("die", 0, 0), [(1, 1), (2, 3)], 2)


def ledger_after(*nodes: Node) -> Ledger:
    ledger = Ledger()
    for stream, outcomes, outcome in nodes:
        ledger.check_offer(stream, outcomes)
        ledger.record(stream, outcomes, outcome)
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
def test_a_valid_offer_is_accepted(stream: Chance, outcomes: list[tuple[Outcome, int]]) -> None:
    ledger_after(FIRST, ROLLED).check_offer(stream, outcomes)


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
def test_an_invalid_offer_is_refused(check: str, stream: Chance, outcomes: list[tuple[Outcome, int]]) -> None:
    with pytest.raises(CheckFailed) as failed:
        ledger_after(FIRST, ROLLED).check_offer(stream, outcomes)
    assert failed.value.check == check


def test_the_last_card_leaves_nothing_to_offer() -> None:
    with pytest.raises(CheckFailed, match=r"by the draws so far \{\} are left"):
        ledger_after((Draw("deck"), [("a", 1)], "a")).check_offer(Draw("deck"), [("a", 1)])


def test_a_deck_cannot_return_to_an_earlier_epoch() -> None:
    ledger = ledger_after(FIRST, (Draw("deck", 1), [("a", 5)], "a"))
    with pytest.raises(CheckFailed, match="went back from epoch 1 to 0"):
        ledger.check_offer(Draw("deck"), [("a", 1), ("b", 1)])


def test_a_copied_ledger_is_independent() -> None:
    ledger = ledger_after(FIRST, ROLLED)
    copy = ledger.copy()
    copy.record(Draw("deck"), [("a", 1), ("b", 1)], "b")
    copy.record(Roll("die", 0, 1), [(1, 1), (2, 3)], 1)
    ledger.check_offer(Draw("deck"), [("a", 1), ("b", 1)])
    ledger.check_offer(Roll("die", 0, 1), [(1, 1), (2, 3)])
    copy.check_offer(Draw("deck"), [("a", 1)])
