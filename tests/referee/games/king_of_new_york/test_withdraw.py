"""A seat that leaves is eliminated at once; compared with a naive second reckoning at questions of random matches."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import QUESTION_NAMES

from . import matches, naive
from .scenes import Scene


def test_leaving_is_an_elimination() -> None:
    turn = Scene("q b m0", cards={2: "drain"}, energy=[0, 0, 3], superstar=2)
    events = [event.public.KIND for event in turn.state.withdraw(2)]
    assert events == ["withdrew", "goal_moved", "eliminated"]
    assert turn.place(2) == "-"
    assert turn.in_discards("drain")
    assert turn.state.superstar_seat == 7


def test_the_turn_of_a_seat_that_leaves_stops() -> None:
    turn = Scene("q b m0").roll("eea")
    turn.state.withdraw(0)
    assert turn.state.active_seat == 1
    assert turn.rolls


def test_a_seat_that_leaves_while_asked_is_asked_no_more() -> None:
    turn = Scene("q b m0").final("aahhcc").resolve("a")
    assert turn.asked == (2, "flee")
    turn.state.withdraw(2)
    assert turn.asked == (0, "resolve")
    turn.resolve("hc")
    assert turn.place(0) == "m0"


def test_a_seat_that_is_out_may_leave_once_without_effect() -> None:
    turn = Scene("q b - m0")
    before = turn.state.to_dict()
    assert [event.public.KIND for event in turn.state.withdraw(2)] == ["withdrew"]
    after = turn.state.to_dict()
    assert after.pop("left") == 4
    before.pop("left")
    assert after == before
    with pytest.raises(IllegalAction, match="has left already"):
        turn.state.withdraw(2)


def test_the_last_monster_wins_at_once_when_the_others_have_left() -> None:
    turn = Scene("q b m0")
    turn.state.withdraw(0)
    turn.state.withdraw(2)
    assert turn.state.is_terminal()
    assert turn.state.reason == "withdrawals"
    assert turn.state.ranking() == (3, 1, 2)


def test_leaving_closes_manhattan_for_the_second_monster() -> None:
    turn = Scene("q m0 n1 x s").roll("ee")
    turn.state.withdraw(4)
    assert turn.asked == (2, "leave"), "asked in the middle of another's roll"
    turn.do("leave(borough=staten_island)")
    assert turn.rolls, "the roll goes on"


def test_nobodys_rerolls_are_counted_again_when_the_roller_leaves() -> None:
    turn = Scene("q m0 n1 x s", cards={4: "webspinner"}, web={0: 1}).roll("eeahhc")
    assert (turn.asked, turn.state.rerolls) == ((0, "dice"), 1)
    turn.state.withdraw(0)
    assert (turn.asked, turn.state.rerolls) == ((2, "leave"), 1)


def test_a_move_that_has_lost_its_room_before_it_is_paid_for_costs_nothing_and_is_asked_again() -> None:
    turn = Scene(
        "q b m0 n1 x x",
        cards={0: "of_another_world"},
        energy=[2, 0, 0, 0, 0, 0],
        market=["new_york_marathon"],
    ).final("hhhhcc")
    turn.until("move").do("move(borough=brooklyn)")
    assert turn.asked == (0, "pay")
    turn.state.withdraw(5)
    assert turn.asked == (0, "pay")
    turn.state.withdraw(4)
    assert turn.asked == (3, "leave")
    turn.do("leave(borough=brooklyn)")
    assert turn.asked == (0, "move"), "Brooklyn is full now"
    assert turn.menu == ["stay()", "move(borough=bronx)", "move(borough=staten_island)"]
    assert turn.state.energy[0] == 2


def test_seats_may_leave_during_the_set_up() -> None:
    state = GAME.new_initial_state(3, matches.options(start_player="seat_0"))
    while not state.decisions():
        state.apply_chance(state.chance_outcomes()[0][0])
    state.withdraw(0)
    assert state.decisions()[0].seat == 1
    state.apply({1: state.legal_actions(1)[0]})
    state.apply({2: state.legal_actions(2)[0]})
    assert state.active_seat == 1


@pytest.mark.parametrize("seat", [-1, 3, True, "0"])
def test_no_such_seat(seat: Any) -> None:
    with pytest.raises(IllegalAction, match="no such seat"):
        Scene("q b m0").state.withdraw(seat)


def test_nobody_leaves_a_match_that_is_over() -> None:
    turn = Scene("q b m0", cards={0: "painbow"}).final("dddddd")
    with pytest.raises(IllegalAction, match="over"):
        turn.state.withdraw(1)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_matches_end_and_conserve_everything_whoever_leaves_when(players: int) -> None:
    for seed in range(15):
        rng = Random(seed)
        state = GAME.new_initial_state(players, matches.options())
        counts = GAME.conserved(state)
        while not state.is_terminal():
            if rng.random() < 0.01:
                staying = [seat for seat in range(players) if not state.left >> seat & 1]
                leaver = rng.choice(staying)
                state.withdraw(leaver)
                assert all(decision.seat != leaver for decision in state.decisions())
            else:
                matches.step(state, rng)
            assert GAME.conserved(state) == counts
        assert len(state.ranking()) == players


def test_a_monster_that_is_asked_where_to_move_must_enter_when_the_occupant_leaves() -> None:
    turn = Scene("q b m0").final("hhhhcc").until("move")
    assert turn.asked == (0, "move")
    turn.events += [event.public for event in turn.state.withdraw(2)]
    assert turn.place(0) == "m0"
    assert (turn.events_of("moved")[-1].reason, turn.state.vp[0]) == ("forced", 1)


def test_a_monster_that_is_asked_where_to_move_is_asked_again_when_somebody_else_leaves() -> None:
    turn = Scene("q b m0 b").final("hhhhcc").until("move")
    assert "move(borough=brooklyn)" not in turn.menu
    turn.state.withdraw(3)
    assert turn.asked == (0, "move")
    assert "move(borough=brooklyn)" in turn.menu


@pytest.mark.parametrize(("tokens", "left"), [(1, 2), (2, 2), (3, 2)])
def test_web_tokens_are_inert_at_once_when_the_owner_of_webspinner_leaves_in_mid_roll(tokens: int, left: int) -> None:
    turn = Scene("q b m0", cards={1: "webspinner"}, web={0: tokens}).roll("eea")
    turn.state.withdraw(1)
    turn.roll("aaa")
    assert turn.asked == (0, "dice")
    assert turn.state.observation(0).turn_state.rerolls == left
    turn.do("reroll(counts=[1,0,0,0,0,0])").roll("e")
    assert turn.asked == (0, "dice"), "the second reroll"


def test_web_tokens_are_inert_for_the_rerolls_that_are_left() -> None:
    turn = Scene("q b m0", cards={1: "webspinner"}, web={0: 1}).roll("eeaaaa")
    turn.do("reroll(counts=[1,0,0,0,0,0])").roll("e")
    assert turn.asked == (0, "resolve"), "its only reroll"
    turn = Scene("q b m0", cards={1: "webspinner"}, web={0: 1}).roll("eeaaaa")
    turn.do("reroll(counts=[1,0,0,0,0,0])")
    turn.state.withdraw(1)
    turn.roll("e")
    assert turn.asked == (0, "dice")
    assert turn.state.observation(0).turn_state.rerolls == 1


def test_jinx_tokens_are_inert_at_once_when_the_owner_of_curse_leaves_before_they_are_paid() -> None:
    turn = Scene("q b m0", cards={0: "of_another_world", 1: "curse"}, jinx={0: 2}, energy=[3, 0, 0]).roll("eeaaoo")
    turn.do("reroll(counts=[0,0,0,0,0,1])")
    assert turn.asked == (0, "pay")
    turn.state.withdraw(1)
    assert turn.rolls, "the reroll costs nothing"
    assert (turn.state.energy[0], turn.state.life[0]) == (3, 10)


def test_a_forced_reroll_is_a_choice_once_the_owner_of_jinx_aura_has_left() -> None:
    turn = Scene("q b m0", cards={1: "jinx_aura"}).roll("eeaaoo")
    assert "keep()" not in turn.menu
    turn.state.withdraw(1)
    assert turn.menu[0] == "keep()"


@pytest.mark.parametrize(
    ("places", "options", "choice", "question"),
    [
        ("q b m0", {}, "move(borough=bronx)", "move"),
        ("q b m0", {"rides": True}, "ride(borough=bronx)", "before_roll"),
        ("q b m0", {}, "dash(borough=bronx)", "before_roll"),
    ],
)
def test_a_move_that_manhattan_forbids_before_it_is_paid_for_is_not_made(
    places: str, options: dict[str, Any], choice: str, question: str
) -> None:
    cards = "of_another_world" + (" super_speed" if choice.startswith("dash") else "")
    turn = Scene(places, cards={0: cards}, energy=[4, 0, 0], market=["new_york_marathon"], **options)
    if question == "move":
        turn.final("hhhhcc").until("move")
    turn.do(choice)
    assert turn.asked == (0, "pay")
    turn.state.withdraw(2)
    assert turn.state.energy[0] == 4
    if question == "move":
        assert turn.place(0) == "m0", "it must enter, free of charge"
    else:
        assert turn.asked == (0, "before_roll")
        assert turn.menu == ["pass()", choice.replace("bronx", "manhattan")]
        assert turn.state.rides == (10 if options else 0)


def test_a_flight_that_has_lost_its_room_before_it_is_paid_for_is_asked_again() -> None:
    """The monster on the space 5-6 must leave Manhattan, and takes the last place in Brooklyn."""
    turn = (
        Scene(
            "b m0 n0 q q",
            cards={1: "of_another_world"},
            energy=[0, 4, 0, 0, 0],
            market=["new_york_marathon"],
        )
        .final("aahhhh")
        .resolve("a")
        .do("absorb(energy=0)")
    )
    assert turn.asked == (1, "flee")
    turn.do("flee(borough=brooklyn)")
    assert turn.asked == (1, "pay")
    turn.state.withdraw(4)
    assert turn.asked == (2, "leave")
    turn.do("leave(borough=brooklyn)")
    assert turn.asked == (1, "flee")
    assert turn.state.energy[1] == 4
    assert "flee(borough=brooklyn)" not in turn.menu


def test_damage_that_is_about_to_land_still_lands_when_the_attacker_leaves() -> None:
    turn = Scene("q b m0", cards={2: "of_another_world"}, energy=[0, 0, 1]).final("aahhcc").resolve("a")
    assert turn.asked == (2, "respond")
    turn.state.withdraw(0)
    turn.do("absorb(energy=0)")
    assert turn.state.life[2] == 8


# Compared with a naive second reckoning


def compare(state: Any, covered: Counter[str]) -> None:
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
        payloads = [event.public for event in after.withdraw(seat)]
        got = after.to_dict()
        new = naive.left_behind(table, seat, state.ruleset.card_ids)
        expected = naive.next_question(table, new, (who, kind), seat)
        covered[f"{kind}: {expected if isinstance(expected, str) else 'asked' if expected else 'open'}"] += 1
        now = [(decision.seat, decision.kind) for decision in after.decisions()]
        assert payloads[0].KIND == "withdrew"
        assert all(asked_seat != seat for asked_seat, _ in now)
        if expected == "over":
            assert after.is_terminal()
            assert after.ranking()[new["out"].index(0)] == 1
        elif expected == "entered":
            assert got["where"][who] == naive.MANHATTAN, (table, seat)
            entry = next(payload for payload in payloads if payload.KIND == "moved")
            assert (entry.seat, entry.reason, entry.borough) == (who, "forced", "manhattan")
        elif expected is None:
            # Whose turn it was goes on, or the next turn has begun; nothing of the others has been lost by it.
            assert got["out"][seat]
            assert got["deaths"] >= new["deaths"]
            assert [payload.KIND for payload in payloads].count("eliminated") >= 1
        else:
            assert now == [expected], (table, seat)
            for name in naive.SURE:
                assert got[name] == new[name], (name, seat, kind, table)
            compare_menu(after, new, *expected)


def compare_menu(after: Any, new: dict[str, Any], seat: int, kind: str) -> None:
    """The menu is that of the new position: a state made from the naive reckoning offers the same."""
    menu = list(after.legal_actions(seat))
    if kind != "leave":
        again = GAME.state_from_dict(new)
        assert menu == list(again.legal_actions(seat)), (kind, menu)
    if kind == "dice":
        most = max((sum(action.counts) for action in menu if action.KIND == "reroll"), default=0)
        assert (most > 0) <= (naive.rerolls(new, after.ruleset.card_ids) > 0)
        forced = any(
            naive.owned({"keep": [keep]}, after.ruleset.card_ids, "jinx_aura")
            for other, keep in enumerate(new["keep"])
            if other != seat
        )
        assert (menu[0].KIND == "keep") or forced


def sweep(seeds: range, every: int) -> Counter[str]:
    covered: Counter[str] = Counter()
    for seed in seeds:
        nodes = 0

        def visit(state: Any) -> None:
            nonlocal nodes
            nodes += 1
            rare = state.decisions() and state.decisions()[0].kind not in ("dice", "resolve", "buy", "destroy")
            if rare or nodes % every == 0:
                compare(state, covered)

        given = matches.options(data=matches.cheap_data(), round_cap=8) if seed % 2 else matches.options(round_cap=8)
        matches.wander(2 + seed % 5, seed, visit, given)
    return covered


@pytest.mark.slow
def test_every_seat_leaves_at_the_questions_of_random_matches() -> None:
    covered = sweep(range(12), every=12)
    assert {kind.partition(":")[0] for kind in covered} >= set(QUESTION_NAMES) - {"leave", "respond"}
    assert covered["move: entered"] > 20
    assert sum(covered.values()) > 2000


def test_every_seat_leaves_while_a_monster_may_reduce_damage_or_must_leave_manhattan() -> None:
    """The two questions that few random matches ask, in positions that have them."""
    covered: Counter[str] = Counter()
    for seat, energy in ((2, 1), (2, 2)):
        turn = Scene("q b m0 s", cards={seat: "of_another_world", 3: "carapace"}, energy=[0, 0, energy, 0], carapace=2)
        turn.final("aahhcc").resolve("a")
        assert turn.asked == (seat, "respond")
        compare(turn.state, covered)
    for places, leaving in (("b m0 n0 q q", 4), ("b m0 n2 q x", 3), ("m1 n0 b q s", 2)):
        turn = Scene(places)
        turn.state.withdraw(leaving)
        assert turn.asked is not None
        assert turn.asked[1] == "leave"
        compare(turn.state, covered)
        other = next(at for at, borough in enumerate(turn.state.borough) if borough == 0 and at != turn.asked[0])
        alone = turn.state.clone()
        alone.withdraw(other)
        assert (alone.borough[turn.asked[0]], alone.space[turn.asked[0]] < 3) == (0, True), "it is alone, and stays"
    asked = {kind.partition(":")[0] for kind in covered}
    assert asked == {"respond", "leave"}
    assert {"respond: asked", "respond: open"} <= set(covered)


@pytest.mark.long
def test_every_seat_leaves_at_every_question_of_many_matches() -> None:
    covered = sweep(range(1000, 1400), every=1)
    assert {kind.partition(":")[0] for kind in covered} == set(QUESTION_NAMES)
