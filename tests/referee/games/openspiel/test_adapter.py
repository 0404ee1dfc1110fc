"""What the adapter makes of OpenSpiel's games: actions, options, chance, what a seat sees, seats that leave."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from referee.games.api import (
    ActionSyntaxError,
    DataError,
    GameError,
    IllegalAction,
    OptionError,
    PlayersError,
    Roll,
    resolve_options,
)
from referee.games.openspiel.actions import Play, format_action, parse_action
from referee.games.openspiel.chance import TOTAL, weights_of
from referee.games.openspiel.game import OpenSpielGame
from referee.games.openspiel.state import State
from referee.games.openspiel.text import plain
from referee.games.registry import get_game


def game_of(name: str) -> OpenSpielGame:
    game = get_game(f"openspiel/{name}")
    assert isinstance(game, OpenSpielGame)
    return game


def begin(name: str, players: int = 2, options: Mapping[str, Any] | None = None) -> State:
    game = game_of(name)
    return game.new_initial_state(players, resolve_options(game.id, game.options, options or {}))


def play(state: State, *texts: str) -> None:
    """The actions of these texts, by whose turn it is."""
    for text in texts:
        seat = state.decisions()[0].seat
        state.apply({seat: next(action for action in state.legal_actions(seat) if action.text == text)})


def deal(state: State, *outcomes: int) -> None:
    for outcome in outcomes:
        state.apply_chance(outcome)


# Actions


def test_actions_of_chess_are_written_as_engines_write_them() -> None:
    state = begin("chess", options={"start": "r3k2r/pPpp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/R3K2R w KQkq - 2 3"})
    texts = {action.text for action in state.legal_actions(1)}
    assert {"e1g1", "e1c1", "b7a8q", "b7b8n", "f3e5"} <= texts


def test_actions_with_equal_ids_are_equal_whatever_their_text() -> None:
    assert Play(3, "e2e4") == Play(3)
    assert parse_action(format_action(Play(3, "Bar/24 6/5*"))).text == "Bar/24 6/5*"


@pytest.mark.parametrize(
    "text", ["play(id=03)", "play(id=3,text='')", "play(id=3,text='a'b')", "play(id=9223372036854775808)", "play()"]
)
def test_no_other_spelling_of_an_action_is_read(text: str) -> None:
    with pytest.raises(ActionSyntaxError):
        parse_action(text)


def test_a_text_that_is_not_that_of_the_action_is_refused() -> None:
    state = begin("tic_tac_toe")
    first, second = state.legal_actions(0)[:2]
    with pytest.raises(IllegalAction, match="action 0 is "):
        state.apply({0: Play(first.id, second.text)})
    assert state.apply({0: Play(first.id)})


def test_an_action_message_without_an_id_is_refused() -> None:
    codec = game_of("tic_tac_toe").codec
    with pytest.raises(ActionSyntaxError, match="has no id"):
        codec.decode_action(b"")
    assert codec.decode_action(codec.encode_action(Play(0, "x(0,0)"))).text == "x(0,0)"


# Options


def test_parameters_are_options_and_numbers_stand_in_quotes() -> None:
    options = {option.name: option.default for option in game_of("go").options}
    assert options["komi"] == "7.5"
    assert options["board_size"] == 19
    assert len(begin("go", options={"board_size": 9, "komi": "6.5"}).legal_actions(0)) == 82


@pytest.mark.parametrize(
    ("name", "options", "problem"),
    [
        ("go", {"komi": "many"}, "option 'komi' must be a number in quotes, such as '7.5'"),
        ("go", {"board_size": -5}, "openspiel/go cannot begin: unsupported board size"),
        ("chess", {"chess960": True, "start": "8/8/8/8/8/8/8/8 w - - 0 1"}, "option 'start' .* is no position"),
        ("hex", {"string_rep": "loud"}, "cannot be set up for 2 players with string_rep = 'loud'"),
        ("chess", {"start": "nothing"}, "option 'start' 'nothing' is no position"),
    ],
)
def test_a_value_that_the_game_does_not_take_is_refused_by_name(
    name: str, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(OptionError, match=problem):
        begin(name, options=options)


def test_the_seats_of_a_match_are_the_players_of_the_game() -> None:
    assert game_of("kuhn_poker").player_counts == tuple(range(2, 11))
    assert begin("kuhn_poker", 3).observation(None).players == 3
    with pytest.raises(PlayersError, match="openspiel/chess is for 2 players, not 3"):
        begin("chess", 3)


def test_no_option_names_a_file() -> None:
    names = {option.name for name in ("bargaining", "colored_trails") for option in game_of(name).options}
    assert "instances_file" not in names
    assert "boards_file" not in names


# Chance


def test_equally_likely_outcomes_weigh_one_each() -> None:
    assert weights_of([(4, 1 / 3), (5, 1 / 3), (9, 1 / 3)]) == ((4, 1), (5, 1), (9, 1))


def test_other_weights_are_positive_and_make_up_the_total() -> None:
    weights = dict(weights_of([(0, 0.9), (1, 0.1 - 1e-30), (2, 1e-30), (3, 0.0)]))
    assert sum(weights.values()) == TOTAL
    assert weights[2] == 1
    assert 3 not in weights
    assert weights[0] / TOTAL == pytest.approx(0.9)


def test_an_outcome_listed_twice_is_one() -> None:
    assert dict(weights_of([(0, 0.25), (0, 0.25), (1, 0.5)])) == {0: 1, 1: 1}


def test_each_seat_has_dice_of_its_own() -> None:
    """So seats swapped on one seed meet the same luck, whatever the others did in between."""
    state = begin("pig")
    roll = next(action for action in state.legal_actions(0) if action.text == "roll")
    state.apply({0: roll})
    assert state.chance_stream() == Roll("chance", 0, 0)
    state.apply_chance(next(outcome for outcome, _ in state.chance_outcomes()))
    seat = state.decisions()[0].seat
    state.apply({seat: roll})
    assert state.chance_stream() == Roll("chance", seat, 0 if seat else 1)


# What a seat sees


def test_a_seat_sees_its_own_card_and_no_other() -> None:
    game, seen = game_of("kuhn_poker"), []
    for other in (1, 2):
        state = begin("kuhn_poker")
        deal(state, 0, other)
        seen.append([game.codec.encode_observation(state.observation(viewer)) for viewer in (0, 1, None)])
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]
    assert seen[0][2] == seen[1][2]


def test_where_information_is_imperfect_no_event_tells_of_actions() -> None:
    state = begin("kuhn_poker")
    assert state.apply_chance(0) == []
    deal(state, 1)
    assert state.apply({0: state.legal_actions(0)[0]}) == []
    assert "hidden" in game_of("kuhn_poker").view.text_board(state.observation(None))


def test_where_information_is_perfect_events_tell_everything() -> None:
    state = begin("tic_tac_toe")
    (event,) = state.apply({0: state.legal_actions(0)[4]})
    assert event.public == event.seen_by(1)
    assert game_of("tic_tac_toe").view.event_sentence(event.public, state.observation(1), ("Ada", "Bo")) == (
        "Ada plays x(1,1)"
    )


def test_tensors_are_sent_with_their_shape_unless_switched_off() -> None:
    from crosstown_proto.v1 import openspiel_pb2 as pb

    game = game_of("tic_tac_toe")
    message = pb.Observation.FromString(game.codec.encode_observation(begin("tic_tac_toe").observation(0)))
    assert (list(message.observation_shape), len(message.observation_tensor)) == ([3, 3, 3], 27)
    assert sum(message.observation_tensor) == 9
    state = begin("tic_tac_toe", options={"tensors": False})
    assert not state.observation(0).tensor.values


def test_information_states_are_sent_where_information_is_imperfect() -> None:
    assert begin("leduc_poker").observation(0).information
    assert not begin("tic_tac_toe").observation(0).information


def test_resampling_draws_again_what_the_seat_cannot_know() -> None:
    state = begin("liars_dice")
    deal(state, 3, 5)
    others = {state.resample(0, Random(seed)).to_dict()["steps"][1] for seed in range(20)}
    assert len(others) > 2
    assert {state.resample(0, Random(seed)).to_dict()["steps"][0] for seed in range(20)} == {3}


def test_a_game_without_information_states_says_that_it_cannot_be_resampled() -> None:
    game = game_of("dou_dizhu")
    assert "resample" in game.not_offered
    assert "from_observation" in game.not_offered
    with pytest.raises(GameError, match="cannot build a state"):
        game.from_observation(begin("dou_dizhu", 3).observation(0), [], {}, Random(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u2660A \u2666T", "SA DT"),
        ("\U0001f0ae\U0001f0a0", "SK#"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\tb  \n\n", "a    b"),
        ("\u2500\u250c", "\u2500\u250c"),
    ],
)
def test_texts_are_in_plain_characters(text: str, expected: str) -> None:
    assert plain(text) == expected


# Seats that leave, and the result


def test_the_other_seat_wins_when_one_of_two_leaves() -> None:
    state = begin("chess")
    state.withdraw(0)
    assert state.is_terminal()
    assert state.ranking() == (2, 1)


def test_the_referee_plays_the_first_action_for_a_seat_that_left_a_larger_match() -> None:
    state = begin("kuhn_poker", 3)
    deal(state, 0, 1, 2)
    state.withdraw(0)
    assert [decision.seat for decision in state.decisions()] == [1]
    state.withdraw(1)
    assert state.is_terminal()
    assert state.ranking() == (2, 2, 1)


def test_partners_are_a_team_and_lose_together() -> None:
    state = begin("tiny_bridge_4p", 4)
    state.withdraw(2)
    assert game_of("tiny_bridge_4p").teams(4, {}) == (0, 1, 0, 1)
    assert state.ranking() == (3, 1, 3, 1)


def test_points_with_fractions_are_thousandths_and_a_note_says_so() -> None:
    assert any("thousandths" in note for note in game_of("skat").notes)
    assert not any("thousandths" in note for note in game_of("chess").notes)


# Copies


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"steps": [99]}, "steps.0.: 99 is not an action of seat 0"),
        ({"steps": [[0, 1]]}, "expected 1 actions, not 2|is not an action"),
        ({"withdrawn": [7]}, "withdrawn: 7 is not a seat"),
        ({"steps": [0, 1, 2, 3, 4, 5, 6, 7, 8]}, "the game is over before"),
        ({"steps": None}, "expected the form of to_dict"),
    ],
)
def test_a_dictionary_that_is_no_state_is_refused(change: dict[str, Any], problem: str) -> None:
    data = begin("tic_tac_toe").to_dict() | change
    with pytest.raises(DataError, match=problem):
        game_of("tic_tac_toe").state_from_dict(data)


def test_the_version_of_the_rules_holds_that_of_openspiel() -> None:
    from importlib.metadata import version

    major, minor, patch = (int(part) for part in version("open_spiel").split("."))
    assert game_of("chess").rules_version % 1_000_000 == major * 10_000 + minor * 100 + patch
