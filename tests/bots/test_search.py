"""How the search bot searches: in made-up worlds, candidates in pairs, within its time."""

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from crosstown_greedy import POLICIES, Policy, best
from crosstown_proto.v1 import referee_pb2 as pb

from referee.games.api import Game, resolve_options
from referee.games.keyed import random_outcome
from referee.games.registry import get_game

FOLDER = Path(__file__).parents[2] / "bots" / "python" / "search"
MODULES = ("candidates", "judging", "search", "tree", "clock")
SEED = f"{7:032x}"
TICKET_TO_RIDE = "ticket_to_ride_new_york"
Play = Callable[..., Any]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Modules of the bot's folder, which is no package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in MODULES:
        sys.modules.pop(name, None)


def started(game_id: str, players: int = 2, **options: Any) -> tuple[Game, Any, dict[str, Any]]:
    game = get_game(game_id)
    full = resolve_options(game_id, game.options, options)
    return game, game.new_initial_state(players, full), full


def advance(state: Any, decisions: int, rng: Random) -> None:
    """By random play, to a node where a seat has a choice."""
    while not state.is_terminal():
        asked = state.decisions()
        if not asked:
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        elif decisions <= 0 and len(state.legal_actions(asked[0].seat)) > 1:
            return
        else:
            decisions -= 1
            state.apply({decision.seat: rng.choice(state.legal_actions(decision.seat)) for decision in asked})


# -- worlds ----------------------------------------------------------------------------------------------------------


def test_its_worlds_hold_other_hands_than_the_real_one_and_never_another_own_hand(
    parts: Callable[[str], ModuleType],
) -> None:
    game, state, _ = started(TICKET_TO_RIDE)
    advance(state, 14, Random(3))
    seat = state.turn_seat
    hands: dict[int, set[tuple[int, ...]]] = {0: set(), 1: set()}
    policy = POLICIES[game.id]
    turns = state.taxis[:]

    def noting(seen: Any, legal: Sequence[Any], asked: int) -> Sequence[float]:
        if list(seen.taxis) == turns and sum(seen.hand) == state.hand_sizes[asked]:
            hands[asked].add(tuple(seen.hand))
        return policy.worths(seen, legal, asked)

    judge = parts("judging").Judge((0, 1), policy.outlook)
    search = parts("search").Search(state, seat, Policy(noting), judge, Random(1), horizon=4, width=3)
    for number in range(8):
        search.play_world(number / 8)
    assert hands[seat] == {tuple(state.hands[seat])}
    assert len(hands[1 - seat]) > 1


@pytest.mark.parametrize("game_id", sorted(POLICIES))
def test_what_the_seat_does_not_know_does_not_change_its_answer(bench: ModuleType, game_id: str) -> None:
    game, state, options = started(game_id)
    advance(state, 12, Random(5))
    seat = state.decisions()[0].seat
    answers = {
        ask(bench, game, other, seat, options, iterations=12, depth=3)
        for other in (state, state.resample(seat, Random(1)), state.resample(seat, Random(2)))
    }
    assert len(answers) == 1


def test_searching_does_not_change_the_position_it_begins_from(parts: Callable[[str], ModuleType]) -> None:
    for game_id, policy in POLICIES.items():
        _, state, _ = started(game_id)
        advance(state, 9, Random(4))
        before = state.to_dict()
        seat = state.decisions()[0].seat
        judge = parts("judging").Judge((0, 1), policy.outlook)
        search = parts("search").Search(state, seat, policy, judge, Random(1), horizon=3, width=4)
        for number in range(3):
            search.play_world(number / 3)
        assert state.to_dict() == before


def test_all_candidates_meet_the_same_luck_in_a_world(parts: Callable[[str], ModuleType]) -> None:
    """The dice of the next monster's first roll are the same after each candidate."""
    _, state, _ = started("king_of_new_york")
    rng = Random(2)
    advance(state, 6, rng)
    while state.decisions()[0].kind != "buy" or len(state.legal_actions(state.turn_seat)) < 2:
        advance(state, 1, rng)
    seat, other = state.turn_seat, 1 - state.turn_seat
    rolls: list[tuple[int, ...]] = []
    policy = POLICIES["king_of_new_york"]

    def noting(seen: Any, legal: Sequence[Any], asked: int) -> Sequence[float]:
        if asked == other and seen.question == "dice" and seen.turn_state.roll == 0:
            rolls.append(seen.turn_state.dice)
        return policy.worths(seen, legal, asked)

    judge = parts("judging").Judge((0, 1), policy.outlook)
    search = parts("search").Search(state, seat, Policy(noting), judge, Random(1), horizon=1, width=2)
    search.play_world(0.0)
    assert len(rolls) >= 2
    assert len(set(rolls)) == 1


# -- candidates ------------------------------------------------------------------------------------------------------


def test_another_action_is_chosen_only_if_it_is_surely_better(parts: Callable[[str], ModuleType]) -> None:
    noisy = parts("candidates").Candidates(["greedy", "other"])
    for difference in (0.5, -0.4, 0.5, -0.4):
        noisy.learn([0.5, 0.5 + difference], 0.0)
    assert noisy.best() == "greedy"
    clear = parts("candidates").Candidates(["greedy", "other"])
    for difference in (0.3, 0.2, 0.3, 0.2):
        clear.learn([0.5, 0.5 + difference], 0.0)
    assert clear.best() == "other"
    assert clear.gain() == pytest.approx(0.25)


def test_a_few_worlds_change_nothing(parts: Callable[[str], ModuleType]) -> None:
    candidates = parts("candidates").Candidates(["greedy", "other"])
    assert candidates.best() == "greedy"
    candidates.learn([0.0, 1.0], 0.0)
    candidates.learn([0.0, 1.0], 0.5)
    assert candidates.best() == "greedy"


def test_candidates_are_halved_as_time_goes_by_and_the_one_to_beat_stays(parts: Callable[[str], ModuleType]) -> None:
    candidates = parts("candidates").Candidates(list(range(8)))
    sizes = []
    for number in range(30):
        actions = candidates.actions()
        candidates.learn([action / 10 for action in actions], number / 30)
        sizes.append(len(actions))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 8
    assert sizes[-1] == 2
    assert candidates.actions() == [0, 7]
    assert candidates.best() == 7


def test_one_action_needs_no_search(parts: Callable[[str], ModuleType]) -> None:
    candidates = parts("candidates").Candidates(["only"])
    candidates.learn([0.3], 0.9)
    assert candidates.best() == "only"


# -- tree ------------------------------------------------------------------------------------------------------------


def test_a_node_begins_with_the_policy_and_widens(parts: Callable[[str], ModuleType]) -> None:
    node = parts("tree").Node()
    chosen = []
    for _ in range(40):
        action = node.choose(0, ["a", "b", "c", "d"], lambda: [1.0, 3.0, 2.0, 0.0])
        node.add(0, action, 1.0 if action == "c" else 0.0)
        chosen.append(action)
    assert chosen[0] == "b"
    assert list(dict.fromkeys(chosen)) == ["b", "c", "a", "d"]
    assert chosen.count("c") > 20


def test_a_node_offers_only_what_is_legal_this_time(parts: Callable[[str], ModuleType]) -> None:
    node = parts("tree").Node()
    for _ in range(5):
        node.add(0, node.choose(0, ["a", "b"], lambda: [2.0, 1.0]), 1.0)
    assert node.choose(0, ["b"], lambda: [1.0]) == "b"


# -- answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
def test_it_plays_a_plug_in_that_no_policy_is_written_for(play: Play, players: int) -> None:
    assert "toy" not in POLICIES
    played = play("toy", ["search", *["random"] * (players - 1)], SEED, iterations=40)
    assert len(played.ranking) == players
    assert played == play("toy", ["search", *["random"] * (players - 1)], SEED, iterations=40)


@pytest.mark.parametrize("game_id", sorted(POLICIES))
def test_without_time_it_answers_as_greedy_does(bench: ModuleType, game_id: str) -> None:
    game, state, options = started(game_id)
    advance(state, 10, Random(8))
    seat = state.decisions()[0].seat
    legal = state.legal_actions(seat)
    worths = POLICIES[game_id].worths(state.observation(seat), legal, seat)
    for left_us in (0, 1000):
        assert worths[ask(bench, game, state, seat, options, left_us=left_us)] == max(worths)


@pytest.mark.parametrize("slowness_s", [0.001, 0.03, 0.2])
def test_on_a_slow_machine_it_still_stops_well_within_its_limit(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, slowness_s: float
) -> None:
    """On a clock that goes on by `slowness_s` whenever it is read: worlds take that long."""
    now_s = 0.0

    def monotonic() -> float:
        nonlocal now_s
        now_s += slowness_s
        return now_s

    game, state, options = started("shibuya")
    advance(state, 4, Random(8))
    monkeypatch.setattr("time.monotonic", monotonic)
    ask(bench, game, state, state.turn_seat, options, left_us=300_000, depth=1)
    assert now_s <= 0.3 * 0.4 + 2 * slowness_s


def ask(
    bench: ModuleType,
    game: Game,
    state: Any,
    seat: int,
    options: dict[str, Any],
    left_us: int = 1_000_000,
    **settings: int,
) -> int:
    """The answer of a new search bot that has seen nothing of the match before."""
    bot = bench.load_bot(FOLDER, settings)()
    players = len(game.teams(2, options))
    start = pb.MatchStart(match="m", game=game.id, seat=seat, players=players, teams=game.teams(players, options))
    start.options, start.bot_seed = bench.json.dumps(options), 11
    match = bench.Match(start, bot.messages)
    bot.start(match)
    legal = state.legal_actions(seat)
    decide = pb.Decide(legal_count=len(legal), observation=game.codec.encode_observation(state.observation(seat)))
    decide.clock.left_us = left_us
    answer: int = bot.choose(bench.Turn(match, decide))
    assert 0 <= answer < len(legal)
    return answer


def test_equal_worths_are_chosen_among_by_chance() -> None:
    assert {best([1.0, 3.0, 3.0], Random(seed)) for seed in range(20)} == {1, 2}


@pytest.mark.parametrize(
    ("start", "now", "expected_s"),
    [
        ({"move_us": 1_000_000}, {"left_us": 900_000}, 0.36),
        ({"move_us": 1_000_000, "bank_us": 5_000_000}, {"left_us": 4_000_000, "bank_left_us": 3_000_000}, 0.4),
        ({"total_us": 60_000_000}, {"left_us": 20_000_000, "total_left_us": 20_000_000}, 0.2),
        ({"total_us": 60_000_000, "increment_us": 1_000_000}, {"left_us": 1_000, "total_left_us": 1_000}, 0.0004),
    ],
    ids=["limit", "limit and bank", "total", "total and increment, nearly out"],
)
def test_it_leaves_a_bank_alone_and_makes_a_total_last(
    parts: Callable[[str], ModuleType],
    bench: ModuleType,
    start: dict[str, int],
    now: dict[str, int],
    expected_s: float,
) -> None:
    match = bench.Match(pb.MatchStart(clock=pb.Clock(**start)))
    turn = bench.Turn(match, pb.Decide(clock=pb.Clock(**now)))
    assert parts("clock").time_for(turn, share=0.4) == pytest.approx(expected_s)


class Worlds:
    """A search whose play-outs take a while on the clock of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, play_out_s: float, play_outs: int = 8) -> None:
        self.now_s = 0.0
        self.play_out_s = play_out_s
        self.next_play_outs = play_outs
        self.progress: list[float] = []
        monkeypatch.setattr("time.monotonic", lambda: self.now_s)

    def play_world(self, progress: float) -> None:
        self.progress.append(progress)
        self.now_s += self.play_out_s * self.next_play_outs


def test_no_world_is_begun_that_would_not_be_over_in_time(
    parts: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = Worlds(monkeypatch, 0.15 / 8)
    parts("clock").Pace().run(worlds, 0.0, 0.4)
    assert worlds.now_s == pytest.approx(0.3)
    assert worlds.progress == pytest.approx([0.0, 0.15 / 0.4])


def test_a_world_with_fewer_candidates_is_begun_in_less_time(
    parts: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = Worlds(monkeypatch, 0.15 / 8)
    pace = parts("clock").Pace()
    pace.run(worlds, 0.0, 0.2)
    assert worlds.now_s == pytest.approx(0.15)
    worlds.next_play_outs = 2
    pace.run(worlds, 0.0, 0.2)
    assert worlds.now_s == pytest.approx(0.15 + 0.15 * 2 / 8)


def test_after_a_hiccup_it_searches_again(parts: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    pace = parts("clock").Pace()
    worlds = Worlds(monkeypatch, 5.0 / 8)
    pace.run(worlds, 0.0, 0.4)
    assert len(worlds.progress) == 1
    worlds.play_out_s = 0.01 / 8
    for _ in range(10):
        pace.run(worlds, worlds.now_s, 0.4)
    assert len(worlds.progress) > 1


def test_with_little_time_fewer_actions_are_compared(
    parts: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    pace = parts("clock").Pace()
    assert pace.candidates(8, 0.05) == 8
    pace.run(Worlds(monkeypatch, 0.004), 0.0, 0.4)
    counts = [pace.candidates(8, time_s) for time_s in (0.4, 0.2, 0.1, 0.02)]
    assert counts == [8, 6, 3, 2]
    assert pace.candidates(1, 0.4) == 1
