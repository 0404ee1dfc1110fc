"""What the rules let a seat do it need not do: in every game, no such action is done that was not chosen."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from referee.games.api import Event, resolve_options
from referee.games.conformance import Job, Tally, check_match
from referee.games.conformance.trial import apply_step, match_seed, plain_step
from referee.games.keyed import KeyedChance
from referee.games.king_of_new_york import rules as king_rules
from referee.games.king_of_new_york.constants import MOVE, RESOLVE
from referee.games.manhattan_traffiq.rules import State as TraffiqState
from referee.games.registry import game_ids, get_game
from referee.games.shibuya.rules import State as ShibuyaState
from referee.games.ticket_to_ride_new_york.rules import State as TicketState
from tests.referee.games.king_of_new_york.matches import cheap_data

TICKET_DONE = {
    "card_taken": {"take"},
    "card_drawn": {"draw"},
    "ticket_drawn": {"draw_tickets"},
    "tickets_kept": {"keep"},
    "route_claimed": {"claim"},
    "stopped": {"stop"},
    "passed": {"pass"},
}
TRAFFIQ_DONE = {
    "attached": {"attach"},
    "drove": {"taxi", "truck"},
    "tile_drawn": {"draw"},
    "placed": {"place"},
    "competed": {"compete"},
    "declined": {"decline"},
}
SHIBUYA_DONE = {"moved": {"move"}, "build_chosen": {"build"}, "tile_placed": {"place"}, "passed": {"pass"}}
OPENSPIEL_DONE = {"acted": {"play"}}
AT_ONCE = {"ticket_drawn": 2}
"""How many events of a kind one action has, where it is not one."""


def are(*values: bool, of: str) -> dict[tuple[str, str], set[bool]]:
    """By question and action (`turn:draw`), whether the action is optional: `values`."""
    return {(question, action): set(values) for question, _, action in (word.partition(":") for word in of.split())}


GAMES: list[tuple[str, dict[str, Any], dict[str, set[str]], dict[tuple[str, str], set[bool]]]] = [
    (
        "manhattan_traffiq",
        {},
        TRAFFIQ_DONE,
        are(True, of="turn:draw turn:attach turn:taxi turn:truck place:place compete:compete")
        | are(False, of="turn:end_turn place:decline compete:decline"),
    ),
    (
        "manhattan_traffiq",
        {"forfeit_actions_any_time": False, "placing_vehicle_optional": False},
        TRAFFIQ_DONE,
        are(True, of="compete:compete")
        | are(False, of="turn:draw turn:end_turn place:place compete:decline")
        | are(True, False, of="turn:attach turn:taxi turn:truck"),  # all of the final round may be forfeited
    ),
    (
        "ticket_to_ride_new_york",
        {},
        TICKET_DONE,
        are(False, of="turn:draw turn:take turn:draw_tickets turn:claim second_card:draw second_card:take")
        | are(False, of="starting_tickets:keep keep_tickets:keep"),
    ),
    (
        "ticket_to_ride_new_york",
        {"passing": "always", "second_card_required": False},
        TICKET_DONE,
        are(True, of="turn:draw turn:take turn:draw_tickets turn:claim second_card:draw second_card:take")
        | are(False, of="turn:pass second_card:stop starting_tickets:keep keep_tickets:keep"),
    ),
    ("shibuya", {}, SHIBUYA_DONE, are(False, of="place:place build:place turn:move turn:build")),
    ("openspiel/connect_four", {}, OPENSPIEL_DONE, are(False, of="turn:play")),
    ("openspiel/backgammon", {}, OPENSPIEL_DONE, are(False, of="turn:play")),
]
"""(game, options, by kind of event the actions that it comes of, by question and action whether it is optional)."""
IDS = [" ".join([game_id, *options]) for game_id, options, _, _ in GAMES]


def steps(game_id: str, options: Mapping[str, Any]) -> Iterator[tuple[Any, list[Event], Mapping[int, Any]]]:
    """Random matches of each number of players: (state, events before it, the last answers). None before the first."""
    game = get_game(game_id)
    chosen = resolve_options(game_id, game.options, options)
    for players in game.player_counts:
        for seed in range(12):
            state = game.new_initial_state(players, chosen)
            chance, rng = KeyedChance(match_seed(game_id, players, seed)), Random(seed)
            events: list[Event] = []
            answers: Mapping[int, Any] = {}
            while not state.is_terminal():
                if state.decisions():
                    yield state, events, answers
                step = plain_step(state, chance, rng)
                if state.decisions():
                    events, answers = [], step.answers  # type: ignore[union-attr]
                events += apply_step(state, step)
            yield state, events, answers


@pytest.mark.parametrize(("game_id", "options", "done", "optional"), GAMES, ids=IDS)
def test_nothing_is_done_for_a_seat_that_has_not_chosen_it(
    game_id: str, options: dict[str, Any], done: dict[str, set[str]], optional: Any
) -> None:
    """Single entries of menus, too: they are asked, and neither optional nor other ones are applied unasked."""
    seen: Counter[str] = Counter()
    for _, events, answers in steps(game_id, options):
        if not answers:  # the set-up deals
            continue
        happened = Counter((event.public.KIND, event.public.seat) for event in events if event.public.KIND in done)
        for (kind, seat), times in happened.items():
            assert seat in answers, f"seat {seat} was not asked, and there is {kind}"
            assert answers[seat].KIND in done[kind]
            assert times <= AT_ONCE.get(kind, 1)
            seen[kind] += times
    assert set(seen) >= set(done) - {"stopped", "passed"}


@pytest.mark.parametrize(("game_id", "options", "done", "optional"), GAMES, ids=IDS)
def test_each_game_says_which_actions_its_rules_let_a_seat_decline(
    game_id: str, options: dict[str, Any], done: Any, optional: dict[tuple[str, str], set[bool]]
) -> None:
    found: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    for state, _, _ in steps(game_id, options):
        for decision in state.decisions():
            legal = state.legal_actions(decision.seat)
            for action in legal:
                found[decision.kind, action.KIND].add(state.is_optional(decision.seat, action))
            assert not state.is_optional(decision.seat, legal[0])
    if ("turn", "pass") not in optional:  # a seat that can do nothing else passes; few random matches have that
        assert found.pop(("turn", "pass"), {False}) == {False}
    assert found == optional


def test_the_menus_of_every_installed_game_are_known_here_or_to_its_own_tests() -> None:
    """Those of King of New York are in tests/referee/games/king_of_new_york/test_optional_actions.py."""
    known = {game_id for game_id, *_ in GAMES} | {"king_of_new_york"}
    assert set(game_ids()) - {"toy"} <= known


# `games check` of games whose menus leave no way out


def forced(state_class: Any, *kinds: str) -> Any:
    """The legal actions without those of these kinds, where any are left."""
    legal_actions = state_class.legal_actions

    def left(state: Any, seat: Any) -> Any:
        legal = legal_actions(state, seat)
        return [action for action in legal if action.KIND not in kinds] or legal

    return left


def without(kind: int) -> Any:
    """A question of King of New York whose menu has neither `pass` nor `stay`."""
    menu, answer = king_rules.QUESTIONS[kind]
    return lambda state, task: [each for each in menu(state, task) if each.KIND not in ("pass", "stay")], answer


def with_last_first(state_class: Any) -> Any:
    legal_actions = state_class.legal_actions
    return lambda state, seat: list(legal_actions(state, seat))[::-1]


def first_finding(game_id: str, data: Any = None) -> tuple[str, str]:
    game = get_game(game_id)
    for number in range(60):
        players = game.player_counts[number % len(game.player_counts)]
        if failure := check_match(game, Job(players, number, 0.0, False, data), Tally()):
            return failure.check, failure.message
    return "", "nothing was found"


@pytest.mark.parametrize("question", [RESOLVE, MOVE], ids=["resolve", "move"])
def test_the_check_finds_a_menu_of_king_of_new_york_that_has_no_pass(
    monkeypatch: pytest.MonkeyPatch, question: int
) -> None:
    monkeypatch.setitem(king_rules.QUESTIONS, question, without(question))
    check, message = first_finding("king_of_new_york", cheap_data())
    assert check == "optional", message
    assert "actions are optional and none declines them" in message


@pytest.mark.parametrize(
    ("game_id", "state", "kinds"), [("manhattan_traffiq", TraffiqState, ("end_turn", "decline"))], ids=["traffiq"]
)
def test_the_check_finds_a_menu_of_another_game_that_has_no_way_out(
    monkeypatch: pytest.MonkeyPatch, game_id: str, state: Any, kinds: tuple[str, ...]
) -> None:
    monkeypatch.setattr(state, "legal_actions", forced(state, *kinds))
    check, message = first_finding(game_id)
    assert check == "optional", message
    assert "none declines them" in message


@pytest.mark.parametrize(
    ("game_id", "state"),
    [("manhattan_traffiq", TraffiqState), ("ticket_to_ride_new_york", TicketState)],
    ids=["traffiq", "ticket to ride"],
)
def test_the_check_finds_a_way_out_that_does_not_come_first(
    monkeypatch: pytest.MonkeyPatch, game_id: str, state: Any
) -> None:
    monkeypatch.setattr(state, "legal_actions", with_last_first(state))
    if game_id == "ticket_to_ride_new_york":  # where only an option lets a seat pass
        monkeypatch.setattr("referee.games.conformance.match.random_options", lambda *_: {"passing": "always"})
    check, message = first_finding(game_id)
    assert check == "optional", message
    assert "declines it and must come first" in message


def test_the_check_finds_a_game_that_calls_all_it_offers_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShibuyaState, "is_optional", lambda state, seat, action: True)
    check, message = first_finding("shibuya")
    assert check == "optional", message
