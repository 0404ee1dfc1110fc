"""Sentences and text boards of any game, with the names of who plays filled in.

A view made before `View` had sentences with names offers `describe_action` and `describe_event` instead, and a board
without names; it is shown with those.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from referee.games.api.contract import Action, Game, Payload, State

ID_LIKE = re.compile(r"\b[a-z]+_[a-z_]+|\b[TR]\d\d\b")
"""What a sentence must not hold: the id of a card, a tile, a route, a ticket."""

_MOST_OF_A_KIND = 3
"""So many things of a kind, dealt in one run during the match, have a sentence each."""
_MOST_SENTENCES = 12
"""The most sentences of one run."""
_SEAT = re.compile(r"\b[Ss]eat (\d)\b")


def seat_name(names: Sequence[str], seat: int) -> str:
    """The name of who plays the seat; 'seat 0' where `names` has none."""
    return (names[seat] if 0 <= seat < len(names) else "") or f"seat {seat}"


def has_sentences(game: Game) -> bool:
    """Whether the game's view names players, as `View` asks; otherwise sentences come from what it has."""
    return callable(getattr(game.view, "event_sentence", None)) and callable(
        getattr(game.view, "action_sentence", None)
    )


def action_sentence(game: Game, action: Action, observation: Any, names: Sequence[str] = ()) -> str:
    """What choosing `action` does, as an order without a subject. `observation`: of the seat that is asked."""
    if has_sentences(game):
        return game.view.action_sentence(action, observation, names)
    return _described(game.view, "describe_action", action, names)


def event_sentence(game: Game, payload: Payload, observation: Any, names: Sequence[str] = ()) -> str:
    """What happened, as `observation`'s viewer, whose account `payload` is, may know it."""
    if has_sentences(game):
        return game.view.event_sentence(payload, observation, names)
    return _described(game.view, "describe_event", payload, names)


def text_board(game: Game, observation: Any, names: Sequence[str] = ()) -> str:
    """The position for a terminal of 100 columns."""
    view: Any = game.view
    board: str = view.text_board(observation, names) if has_sentences(game) else view.text_board(observation)
    return board


def question_words(game: Game, kind: str) -> str:
    """What a decision of this kind asks, in words: 'keep or reroll'."""
    said: Mapping[str, str] = getattr(game.view, "questions", {})
    return said.get(kind, _words(kind))


@dataclass(frozen=True, slots=True)
class Selection:
    """Actions that differ only in how many things of each kind they take, such as the dice to roll again. A page then
    offers the things and one button instead of a button for each action.

    `title` is the heading above the things: "Dice to keep". A thing that is chosen is left out of the action. `button`
    is what the actions do. By kind `kinds` has names, `places` where they lie on the board, and `counts` how many there
    are; `actions` has, by index in the legal list, how many of each kind an action takes.
    """

    title: str
    button: str
    kinds: tuple[str, ...]
    places: tuple[str, ...]
    counts: tuple[int, ...]
    actions: Mapping[int, tuple[int, ...]]


def selection_of(game: Game, observation: Any, legal: Sequence[Action]) -> Selection | None:
    """How some of the legal actions can be chosen together; None where the game's view has no `selection`."""
    select = getattr(game.view, "selection", None)
    found: Selection | None = select(observation, legal) if callable(select) else None
    return found


def points_so_far(game: Game, state: State, observation: Any) -> tuple[int, ...]:
    """Per seat its points, at the end those of the result; () if the game's view cannot tell. See `View`."""
    if state.is_terminal():
        return tuple(state.returns())
    count = getattr(game.view, "points", None)
    return tuple(count(observation)) if callable(count) else ()


def _described(view: Any, method: str, value: Any, names: Sequence[str]) -> str:
    """A sentence about `value` by the older method of a view, or its fields as words."""
    if callable(describe := getattr(view, method, None)):
        said: str = describe(value)
        return _SEAT.sub(lambda found: seat_name(names, int(found[1])), said)
    parts = [
        seat_name(names, part) if name == "seat" else f"{_words(name)} {_words(part)}"
        for name, part in ((field.name, getattr(value, field.name)) for field in fields(value))
    ] if is_dataclass(value) else []  # fmt: skip
    return ": ".join([_words(getattr(value, "KIND", type(value).__name__)), *([", ".join(parts)] if parts else [])])


def _words(value: object) -> str:
    return str(value).replace("_", " ")


@dataclass(frozen=True, slots=True)
class EventSentence:
    """One event: its `KIND` and its sentence."""

    kind: str
    sentence: str


def classified_sentence(game: Game, payload: Payload, observation: Any, names: Sequence[str] = ()) -> EventSentence:
    """The `event_sentence` of an event, with its kind."""
    return EventSentence(str(getattr(payload, "KIND", "")), event_sentence(game, payload, observation, names))


def folded(game: Game, events: Sequence[EventSentence], *, setting_up: bool = False) -> list[str]:
    """The sentences of what chance brought in a run of steps, things that are dealt counted instead of listed.

    `setting_up`: before the first answer; everything that can be counted is, in a first sentence.
    """
    nouns: Mapping[str, str] = getattr(game.view, "dealt", {})
    counts: dict[str, int] = {}
    for event in events:
        if event.kind in nouns:
            counts[event.kind] = counts.get(event.kind, 0) + 1
    counted = {kind for kind, count in counts.items() if count > _MOST_OF_A_KIND or setting_up}
    sentences = [event.sentence for event in events if event.kind not in counted]
    if counted:
        dealt = ", ".join(_counted(counts[kind], nouns[kind]) for kind in counts if kind in counted)
        sentences = [f"set-up: {dealt} dealt", *sentences] if setting_up else [*sentences, f"{dealt} dealt"]
    if len(sentences) > _MOST_SENTENCES:
        sentences = [*sentences[: _MOST_SENTENCES - 1], f"and {len(sentences) - _MOST_SENTENCES + 1} more events"]
    return sentences


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def joined(sentences: Sequence[str], names: Sequence[str] = ()) -> str:
    """The sentences as one, in which a name is said once as long as it stays the subject."""
    parts: list[str] = []
    before = ""
    for sentence in sentences:
        subject = max((name for name in names if name and sentence.startswith(f"{name} ")), key=len, default="")
        parts.append(sentence.removeprefix(f"{subject} ") if subject and subject == before else sentence)
        before = subject
    return "; ".join(parts)
