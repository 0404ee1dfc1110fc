"""The view: every board and sentence comes, in characters any terminal has."""

import re

from referee.games.api import Event, State
from referee.games.conformance.copies import named
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.nodes import Node
from referee.games.conformance.trial import Trial

COLUMNS = 100
SENTENCE_CHARACTERS = 300
STRANGE = re.compile(r"[^ -~\u2500-\u25ff]")


def check_view(trial: Trial, state: State, node: Node) -> None:
    """Boards for all viewers, one of them also from the decoded observation; each legal action in a sentence."""
    view, codec = trial.game.view, trial.game.codec
    again = trial.rng("view").choice(list(trial.sight.first_viewers))
    for look, viewer in trial.sight.first_viewers.items():
        board = view.text_board(trial.sight.observations[viewer])
        check_board(board, f"the board of {named(viewer)}")
        if look == again and view.text_board(codec.decode_observation(look)) != board:
            raise CheckFailed("view", f"the board of {named(viewer)} is drawn differently a second time")
    for seat, legal in node.legal.items():
        sentences = [view.describe_action(action) for action in legal]
        for action, sentence in zip(legal, sentences, strict=True):
            check_sentence(sentence, f"describe_action({action!r})")
        if len(set(sentences)) != len(sentences):
            twice = next(sentence for sentence in sentences if sentences.count(sentence) > 1)
            raise CheckFailed("view", f"two legal actions of seat {seat} are both described as {twice!r}")


def check_event_view(trial: Trial, events: list[Event]) -> None:
    """Each account of each event in a sentence."""
    for event in events:
        for payload in (event.public, *event.private.values()):
            check_sentence(trial.game.view.describe_event(payload), f"describe_event({payload!r})")


def check_board(board: str, what: str) -> None:
    check_characters(board.replace("\n", ""), what)
    for number, line in enumerate(board.split("\n"), 1):
        if len(line) > COLUMNS:
            raise CheckFailed("view", f"{what}, line {number} has {len(line)} columns, more than {COLUMNS}")
        if line != line.rstrip():
            raise CheckFailed("view", f"{what}, line {number} ends in blanks: {line!r}")


def check_sentence(sentence: str, what: str) -> None:
    check_characters(sentence, what)
    if not sentence.strip() or len(sentence) > SENTENCE_CHARACTERS:
        raise CheckFailed("view", f"{what} has {len(sentence)} characters, not 1 to {SENTENCE_CHARACTERS}")


def check_characters(text: str, what: str) -> None:
    if strange := STRANGE.search(text):
        raise CheckFailed("view", f"{what} has the character {strange[0]!r}, neither ASCII nor a box character")
