"""Sentences in random matches of every game, for every viewer."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from referee.games.api import (
    ID_LIKE,
    Event,
    EventSentence,
    Game,
    action_sentence,
    classified_sentence,
    event_sentence,
    folded,
    has_sentences,
    joined,
    resolve_options,
    seat_name,
    text_board,
)
from referee.games.registry import get_game

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
NAMES = ("Ada", "Bo", "Cleo", "Dag", "Eve", "Flo")
STEPS = 250


def steps(game: Game, players: int, seed: int) -> Iterator[tuple[Any, list[Event]]]:
    """Random answers and outcomes; now and then a seat leaves."""
    rng = Random(seed)
    state = game.new_initial_state(players, resolve_options(game.id, game.options, {}))
    yield state, []
    gone: set[int] = set()
    while not state.is_terminal():
        asked = state.decisions()
        if asked and rng.random() < 0.01 and len(gone) < players - 1:
            seat = rng.choice([seat for seat in range(players) if seat not in gone])
            gone.add(seat)
            yield state, state.withdraw(seat)
        elif asked:
            yield state, state.apply({item.seat: rng.choice(state.legal_actions(item.seat)) for item in asked})
        else:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            yield state, state.apply_chance(rng.choices(outcomes, weights)[0])


def matches(game: Game) -> Iterator[tuple[Any, list[Event]]]:
    """The beginning of a match with the fewest and one with the most players, the end of both too."""
    for players in {game.player_counts[0], game.player_counts[-1]}:
        for number, (state, events) in enumerate(steps(game, players, players)):
            if number < STEPS or number % 10 == 0 or state.is_terminal():
                yield state, events


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_no_sentence_and_no_board_holds_an_id_or_the_number_of_a_named_seat(name: str) -> None:
    game = get_game(name)
    assert has_sentences(game)
    for state, events in matches(game):
        for viewer in (None, *range(len(state.returns()))):
            seen = state.observation(viewer)
            sentences = [event_sentence(game, event.seen_by(viewer), seen, NAMES) for event in events]
            if viewer in [item.seat for item in state.decisions()]:
                sentences += [action_sentence(game, action, seen, NAMES) for action in state.legal_actions(viewer)]
            for sentence in sentences:
                assert not ID_LIKE.search(sentence), sentence
                assert not re.search(r"\bseat \d", sentence, re.IGNORECASE), sentence
                assert "{" not in sentence
                assert not sentence.endswith(".")
            board = text_board(game, seen, NAMES)
            assert not ID_LIKE.search(board), board
            assert max(len(line) for line in board.split("\n")) <= 80


@pytest.mark.parametrize("name", GAMES)
def test_a_sentence_holds_no_more_than_its_viewer_was_sent(name: str) -> None:
    game, codec = get_game(name), get_game(name).codec
    for state, events in matches(game):
        for viewer in (None, *range(len(state.returns()))):
            seen = state.observation(viewer)
            payloads = [event.seen_by(viewer) for event in events]
            sent = codec.decode_observation(codec.encode_observation(seen))
            heard = codec.decode_events(codec.encode_events(payloads))
            sentences = [event_sentence(game, payload, seen, NAMES) for payload in payloads]
            assert sentences == [event_sentence(game, payload, sent, NAMES) for payload in heard]
            for event, sentence in zip(events, sentences, strict=True):
                if viewer not in event.private:
                    private = {
                        word
                        for seat, payload in event.private.items()
                        for word in event_sentence(game, payload, state.observation(seat), NAMES).split()
                    }
                    public = set(event_sentence(game, event.public, state.observation(None), NAMES).split())
                    assert not (private - public) & set(sentence.split())


def test_in_the_games_with_secrets_others_are_told_less() -> None:
    for name in ("manhattan_traffiq", "ticket_to_ride_new_york"):
        game = get_game(name)
        less = [
            (event_sentence(game, payload, state.observation(seat)), event_sentence(game, event.public, seen))
            for state, events in steps(game, 2, 1)
            for seen in (state.observation(None),)
            for event in events
            for seat, payload in event.private.items()
        ]
        assert less
        assert all(len(own) > len(others) for own, others in less)


def test_a_seat_without_a_name_is_called_by_its_number() -> None:
    assert seat_name(("greedy", ""), 0) == "greedy"
    assert seat_name(("greedy", ""), 1) == "seat 1"
    assert seat_name((), 3) == "seat 3"


def test_what_chance_deals_in_the_set_up_is_one_sentence() -> None:
    game = get_game("ticket_to_ride_new_york")
    dealt: list[EventSentence] = []
    for state, events in steps(game, 2, 3):
        dealt += [classified_sentence(game, event.public, state.observation(None), NAMES) for event in events]
        if state.decisions():
            break
    assert folded(game, dealt, setting_up=True) == ["set-up: 4 cards, 5 face-up cards, 4 tickets dealt"]


def test_few_things_that_chance_brings_during_the_match_have_a_sentence_each() -> None:
    game = get_game("ticket_to_ride_new_york")
    few = [EventSentence("ticket_drawn", "Ada draws a ticket")] * 2
    assert folded(game, few) == ["Ada draws a ticket", "Ada draws a ticket"]
    assert folded(game, [*few, *few]) == ["4 tickets dealt"]
    many = [EventSentence("rain", f"rain {number}") for number in range(40)]
    assert folded(game, many)[-2:] == ["rain 10", "and 29 more events"]


@pytest.mark.parametrize(
    ("sentences", "whole"),
    [
        (["Ada rolls 2 energy", "Ada gains 2 energy", "Bo begins"], "Ada rolls 2 energy; gains 2 energy; Bo begins"),
        (["Ada wins", "the match is over", "Ada leaves"], "Ada wins; the match is over; Ada leaves"),
        (["Adam wins", "Ada wins"], "Adam wins; Ada wins"),
        ([], ""),
    ],
)
def test_a_subject_is_named_once_as_long_as_it_stays(sentences: Sequence[str], whole: str) -> None:
    assert joined(sentences, ("Ada", "Adam", "Bo")) == whole


class OlderView:
    """From before sentences with names."""

    def text_board(self, observation: Any) -> str:
        return "a board"

    def describe_action(self, action: Any) -> str:
        return f"Seat 1 is robbed by {action.KIND}."

    def describe_event(self, payload: Any) -> str:
        return "seat 0 robs seat 1"


class BareView:
    """Has boards only."""

    def text_board(self, observation: Any) -> str:
        return "a board"


class Older:
    def __init__(self, view: Any) -> None:
        self.view = view


def test_a_game_from_before_sentences_is_told_with_names() -> None:
    game: Any = Older(OlderView())
    action = get_game("ticket_to_ride_new_york").parse_action("draw_tickets()")
    assert not has_sentences(game)
    assert text_board(game, None, ("Ada", "Bo")) == "a board"
    assert event_sentence(game, None, None, ("Ada", "Bo")) == "Ada robs Bo"
    assert event_sentence(game, None, None) == "seat 0 robs seat 1"
    assert action_sentence(game, action, None, ("Ada",)) == "seat 1 is robbed by draw_tickets."


def test_a_game_without_any_sentence_is_told_by_the_fields() -> None:
    game: Any = Older(BareView())
    action = get_game("ticket_to_ride_new_york").parse_action("claim(route=R08,card=taxi,taxis=1)")
    assert action_sentence(game, action, None) == "claim: route R08, card taxi, taxis 1"
