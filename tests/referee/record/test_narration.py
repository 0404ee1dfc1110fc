"""Matches as sentences."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import ID_LIKE
from referee.record import Answer, FaultLine, Footer, Header, SeatHeader, Strike, read_record
from referee.record.format import told_apart
from referee.record.narration import EVERYTHING, Narrator, Row, Viewer, ending_of
from referee.record.replay import Replay, game_of

CORPUS = Path(__file__).parent / "corpus"
GAMES = ("king_of_new_york-rules2", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")


def rows(name: str, viewer: Viewer) -> list[Row]:
    """The whole lines of the list of moves, each as it is after its last step."""
    record = read_record(CORPUS / f"v1-{name}.jsonl.gz")
    game: Any = game_of(record.header)
    narrator = Narrator(game, record.header.names, viewer)
    found = {}
    for number, step in enumerate(Replay(record.header, record.lines, game)):
        row, _ = narrator.tell(number, step)
        found[row.start] = row
    return list(found.values())


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("viewer", [None, 0, EVERYTHING])
def test_every_line_is_a_sentence_without_ids_and_belongs_to_a_turn(name: str, viewer: Viewer) -> None:
    found = rows(name, viewer)
    assert found[0].start == found[0].turn == found[0].move == 0
    assert [row.move for row in found] == sorted({row.move for row in found})
    turns = [row.turn for row in found]
    assert turns == sorted(turns)
    assert set(turns) == set(range(turns[-1] + 1))
    for before, row in pairwise(found):
        assert (row.turn == before.turn) == (row.seat == before.seat) or before.turn == 0
    for row in found:
        assert row.text
        assert not ID_LIKE.search(row.text), row.text
        assert "seat " not in row.text


def test_a_claim_and_the_set_up_read_as_in_a_book() -> None:
    texts = [row.text for row in rows("ticket_to_ride_new_york", EVERYTHING)]
    assert texts[0] == "set-up: 6 cards, 5 face-up cards, 6 tickets dealt"
    assert "Boole claims Midtown West to Times Square with 1 red" in texts
    assert any(re.fullmatch(r"\w+ draws ticket [A-Z].* \(\d\); draws ticket [A-Z].* \(\d\)", text) for text in texts)


def test_others_are_not_told_which_tickets_a_seat_draws() -> None:
    assert any("draws ticket" in text for text in (row.text for row in rows("ticket_to_ride_new_york", 2)))
    for row in rows("ticket_to_ride_new_york", None):
        assert "draws ticket" not in row.text
        assert not re.search(r"draws an? (red|orange|green|blue|black|pink|taxi) card from the deck", row.text)


def test_what_chance_brings_to_a_new_turn_is_told_with_it() -> None:
    found = rows("shibuya", None)
    assert found[2].text.startswith("Boole draws the tile ")
    assert "; lays the tile on slot (" in found[2].text
    assert found[2].turn == 2


def test_what_a_turn_begins_with_is_told_in_that_turn() -> None:
    names = read_record(CORPUS / "v1-king_of_new_york-rules2.jsonl.gz").header.names
    begun = [row for row in rows("king_of_new_york-rules2", None) if "begins its turn" in row.text]
    assert any("(income)" in row.text for row in begun)
    for row in begun:
        assert row.text.startswith(f"{names[row.seat]} begins its turn"), row


def test_names_that_are_there_twice_have_the_seats_number() -> None:
    assert told_apart(["greedy", "mine", "greedy"]) == ("greedy (seat 1)", "mine", "greedy (seat 3)")


def footer(status: str = "rated", reason: str = "normal", **more: Any) -> Footer:
    return Footer(status, reason, more.pop("detail", ""), "", **more)


def header(*names: str) -> Header:
    seats = tuple(SeatHeader("", name, "") for name in names)
    return Header("m", "", 0, 0, "shibuya", 1, {}, len(names), seats, {}, "", "", "")


LATE = {"reason": "move_timeout", "limit_us": 1_000_000, "wall_us": 1_016_000, "lag_us": 6_000}
ANSWERS = [Answer(number % 2, "pass()", 1) for number in range(11)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (footer(ranking=(1, 2), returns=(15, 9)), "walker wins 15 to 9 after 11 decisions"),
        (footer(ranking=(2, 1), returns=(9, 9)), "mine wins after 11 decisions"),
        (footer(ranking=(1, 1), returns=(9, 9)), "walker and mine draw 9 to 9 after 11 decisions"),
        (
            footer(reason="move_timeout", ranking=(1, 2), returns=(3, 0), faults=(None, LATE)),
            "mine ran out of time after 11 decisions (1.01 s; the limit is 1 s); walker wins 3 to 0",
        ),
        (footer("void", "start_failed", detail="mine did not start"), "mine did not start: the match does not count"),
        (footer("cancelled", "cancelled"), "the match was cancelled"),
        (footer("void", "platform_fault"), "the referee failed, which is no bot's fault; the match does not count"),
        (footer(reason="a_new_one"), "a new one"),
    ],
)
def test_one_sentence_says_how_a_match_ended(given: Footer, sentence: str) -> None:
    lines = [*ANSWERS, Strike(1, "move_timeout", "", "taken")] if any(given.faults) else ANSWERS
    assert ending_of(header("walker", "mine"), lines, given).sentence == sentence


def test_a_score_is_not_told_if_the_other_bot_left_and_may_have_lost_its_points_by_that() -> None:
    given = footer(reason="move_timeout", ranking=(1, 2), returns=(5, 0), faults=(None, LATE))
    lines = [*ANSWERS, FaultLine(1, "move_timeout", "", withdrawn=True)]
    sentence = "mine ran out of time after 11 decisions (1.01 s; the limit is 1 s); walker wins"
    assert ending_of(header("walker", "mine"), lines, given).sentence == sentence


def test_the_limit_in_the_ending_is_the_one_that_the_bot_knew() -> None:
    fault = LATE | {"limit_us": 1_010_000, "wall_us": 1_012_400, "lag_us": 400}
    late = footer(reason="move_timeout", ranking=(1, 2), returns=(3, 0), faults=(None, fault))
    head = replace(header("walker", "mine"), limits={"move_s": 1.0, "margin_s": 0.01})
    assert "(1.012 s; the limit is 1 s)" in ending_of(head, ANSWERS, late).sentence
    of_seat = replace(head, seats=(head.seats[0], replace(head.seats[1], clock={"margin_s": 0.25})))
    late = footer(reason="move_timeout", ranking=(1, 2), returns=(3, 0), faults=(None, fault | {"limit_us": 1_250_000}))
    assert "(1.012 s; the limit is 1 s)" in ending_of(of_seat, ANSWERS, late).sentence


def test_the_ending_names_the_seat_at_fault_and_all_that_share_a_place() -> None:
    late = footer(reason="move_timeout", ranking=(1, 2), faults=(None, LATE))
    assert ending_of(header("walker", "mine"), [], late).seat == 1
    three = footer(ranking=(1, 3, 1), returns=(9, 2, 9))
    assert ending_of(header("a", "b", "c"), ANSWERS, three).sentence == "a and c win with 9 points after 11 decisions"
    assert ending_of(header("a", "b", "c"), ANSWERS, three).seat == -1
