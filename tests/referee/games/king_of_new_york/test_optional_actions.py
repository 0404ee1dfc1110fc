"""What the cards say a monster *may* do can always be declined, at every moment at which it is offered."""

from collections import Counter
from typing import Any

import pytest

from referee.games.king_of_new_york import GAME, rules
from referee.games.king_of_new_york.constants import RESOLVE

from . import matches
from .scenes import Scene

ALL_FACES = "eadhco"

# Carapace


def test_carapace_tokens_are_not_thrown_away_after_the_last_face() -> None:
    turn = Scene("q b m0", cards={0: "carapace"}, carapace=4).final("eeoooo")
    turn.do("resolve(face=energy)", "resolve(face=ouch)")
    assert turn.menu == ["pass()", "shed()"]
    turn.do("pass()")
    assert turn.asked == (0, "move")
    assert [payload.amount for payload in turn.events_of("tokens_changed") if payload.token == "carapace"] == [4]
    assert turn.state.carapace[0] == 8
    assert turn.cards(0) == ["carapace"]


def test_carapace_can_be_declined_wherever_it_is_offered() -> None:
    """The first entry of every menu declines it, from the first roll to the end of the turn."""
    turn = Scene(
        "q b m0",
        cards={0: "carapace chameleon hailing_cabs super_speed"},
        carapace=3,
        units={"queens": "infantry"},
    )
    asked = []
    while turn.state.turn == 1:
        if turn.asked is None:
            turn.chance("celebrity" if len(turn.events_of("rolled")) else "destruction")
            continue
        if turn.asked[0] == 0 and "shed()" in turn.menu:
            asked.append(turn.asked[1])
            assert turn.menu[0] != "shed()"
        turn.do(turn.menu[0])
    assert set(asked) >= {"before_roll", "dice", "convert", "hail", "resolve", "destroy", "move", "buy"}
    assert turn.state.carapace[0] == 3
    assert turn.cards(0) == ["carapace", "chameleon", "hailing_cabs", "super_speed"]


# Subway


def test_subway_rides_can_be_declined_after_the_last_face() -> None:
    turn = Scene("q b m0", rides=True).final("hhhhhh").do("resolve(face=heart)")
    assert turn.menu[0] == "pass()"
    turn.do("pass()")
    assert turn.place(0) == "q"
    assert turn.asked == (0, "move")
    assert turn.state.rides == 10


def test_a_single_subway_ride_that_can_be_paid_for_is_not_taken_unasked() -> None:
    """The only destination is Manhattan: a menu with one ride, beside the pass."""
    turn = Scene("m0 b q", rides=True, energy=[4, 0, 0], market=["new_york_marathon"])
    turn.do("ride(borough=bronx)", "pass()").final("hhhhhh").do("resolve(face=heart)")
    assert turn.menu == ["pass()", "ride(borough=manhattan)"]
    turn.do("pass()")
    assert turn.state.energy[0] == 3, "the forced entry of the Move step is free"


def test_subway_between_the_last_roll_and_fury() -> None:
    """Fury counts the Units of the borough to which its owner rides after the last roll."""
    turn = Scene("q b m0", cards={0: "fury"}, units={"bronx": "jet jet tank"}, rides=True).do("pass()")
    turn.roll(ALL_FACES).do("reroll(counts=[1,0,0,0,0,0])").roll("e")
    turn.do("reroll(counts=[1,0,0,0,0,0])").roll("e")
    assert turn.menu[0] == "keep()"
    turn.do("ride(borough=bronx)", "keep()")
    assert {payload.face for payload in turn.events_of("added")} == {"energy", "destruction"}


def test_subway_between_the_last_roll_and_fury_though_web_tokens_forbid_rerolls() -> None:
    turn = Scene("q b m0", cards={0: "fury", 1: "webspinner"}, web={0: 2}, units={"bronx": "jet jet tank"}, rides=True)
    turn.do("pass()").roll(ALL_FACES)
    assert turn.asked == (0, "dice")
    assert not any(text.startswith("reroll") for text in turn.menu)
    turn.do("ride(borough=bronx)", "keep()")
    assert len(turn.events_of("added")) == 2


def test_subway_between_fury_and_climb() -> None:
    """Out of Manhattan for Fury, and into it for Climb the Empire State Building."""
    turn = Scene(
        "q b s",
        cards={0: "fury climb_the_empire_state_building"},
        units={"queens": "jet jet tank"},
        rides=True,
    ).do("pass()")
    turn.roll(ALL_FACES).do("keep()")
    assert len(turn.events_of("added")) == 2
    assert turn.asked == (0, "convert")
    assert turn.menu == ["keep()", "ride(borough=manhattan)"]
    turn.do("ride(borough=manhattan)", "keep()")
    assert [payload.cause for payload in turn.events_of("extra_turn")] == ["climb_the_empire_state_building"]


@pytest.mark.parametrize(("card", "question"), [("artificial_heart", "convert"), ("hailing_cabs", "hail")])
def test_subway_while_dice_are_turned_and_cabs_are_hailed(card: str, question: str) -> None:
    turn = Scene("q b m0", cards={0: card}, rides=True).do("pass()").roll("hhaaee").do("keep()")
    turn.until(question)
    first = turn.menu[0]
    turn.do("ride(borough=bronx)")
    assert turn.asked == (0, question), "it is asked again"
    assert turn.menu[0] == first
    assert turn.place(0) == "x"


def test_subway_between_the_last_face_and_the_move_step() -> None:
    """Out of Manhattan, so that the Move step must enter it again."""
    turn = Scene("m1 b q", rides=True).final("hhhhhh").do("resolve(face=heart)")
    turn.do("ride(borough=bronx)", "pass()")
    assert turn.place(0) == "m0"
    assert [payload.reason for payload in turn.events_of("moved")] == ["ride", "forced"]


def test_a_turn_without_subway_or_carapace_has_no_further_questions() -> None:
    turn = Scene("q b m0").final("hhhhhh")
    assert turn.asked == (0, "move"), "the only face is resolved, no pass is asked for"


# Every optional action


def test_rerolls_are_optional_but_for_jinx_aura() -> None:
    for cards, first, optional in (({}, "keep()", True), ({1: "jinx_aura"}, "reroll(counts=[0,0,0,0,0,1])", False)):
        turn = Scene("q b m0", cards=cards).roll("eadhco")
        assert turn.menu[0] == first
        legal = turn.state.legal_actions(0)
        assert [turn.state.is_optional(0, action) for action in legal[1:]] == [optional] * (len(legal) - 1)
        assert not turn.state.is_optional(0, legal[0])


def test_every_kind_of_action_is_optional_or_not_as_the_rules_say() -> None:
    """A kind that is both depends on what it does, or on other cards."""
    by_kind: dict[str, set[bool]] = {}

    def visit(state: Any) -> None:
        for decision in state.decisions():
            for action in state.legal_actions(decision.seat):
                by_kind.setdefault(action.KIND, set()).add(state.is_optional(decision.seat, action))

    for seed in range(20):
        matches.wander(4 + seed % 3, seed, visit, matches.options(data=matches.cheap_data(), round_cap=8))
    always = {"dash", "ride", "shed", "convert", "swap", "give_up", "remove", "redirect", "move", "flee", "push"}
    always |= {"buy", "sweep", "scavenge"}
    never = {"pass", "keep", "stay", "place", "resolve", "discard", "photo", "trade", "pay"}
    assert {kind for kind, found in by_kind.items() if found == {True}} >= always
    assert {kind for kind, found in by_kind.items() if found == {False}} >= never
    assert by_kind["hail"] == by_kind["absorb"] == {True, False}


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_no_optional_action_is_taken_that_nobody_has_chosen(monkeypatch: pytest.MonkeyPatch, players: int) -> None:
    """Single entries are applied unasked: none of them is optional, and every menu begins with a way out."""
    taken: list[tuple[int, Any]] = []

    def watched(answer: Any) -> Any:
        def apply(state: Any, task: Any, action: Any) -> None:
            if state.is_optional(task[1], action):
                taken.append((task[1], action))
            answer(state, task, action)

        return apply

    for kind, (menu, answer) in rules.QUESTIONS.items():
        monkeypatch.setitem(rules.QUESTIONS, kind, (menu, watched(answer)))
    asked: Counter[str] = Counter()
    for seed in range(6):
        state = GAME.new_initial_state(players, matches.options(data=matches.cheap_data(), round_cap=8))
        rng = matches.Random(seed)
        while not state.is_terminal():
            if not state.decisions():
                matches.step(state, rng)
                continue
            decision = state.decisions()[0]
            legal = state.legal_actions(decision.seat)
            assert not state.is_optional(decision.seat, legal[0]), (decision, legal)
            action = rng.choice(legal)
            expected = [(decision.seat, action)] if state.is_optional(decision.seat, action) else []
            taken.clear()
            state.apply({decision.seat: action})
            assert taken == expected
            asked[decision.kind] += 1
    assert sum(asked.values()) > 200


def test_a_menu_of_one_optional_action_would_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the conformance check `optional` sees it."""
    turn = Scene("q b m0", cards={0: "carapace"}, carapace=4).final("eeoooo").do("resolve(face=energy)")
    make, answer = rules.QUESTIONS[RESOLVE]

    def without_pass(state: Any, task: Any) -> list[Any]:
        return [action for action in make(state, task) if action.KIND != "pass"]

    monkeypatch.setitem(rules.QUESTIONS, RESOLVE, (without_pass, answer))
    turn.do("resolve(face=ouch)")
    assert turn.state.tasks[-1][0] == RESOLVE
    assert turn.menu == ["shed()"]
    assert turn.state.carapace[0] == 8
