"""Makes the pictures of the boards in docs/images, each from a fixed position in the middle of a match.

    python docs/make_pictures.py

A test compares the files with what this makes: run it again when a drawing has changed, and look at the result.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.games.api import Action, Event, State, resolve_options
from referee.games.drawing import Look, draw_board, event_places
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game

IMAGES = Path(__file__).resolve().parent / "images"
SEED = b"pictures"
NAMES = ("Ada", "Boole", "Curie", "Dijkstra", "Erdos", "Franklin")


@dataclass(frozen=True, slots=True)
class Position:
    """A match of `players` seats after so many decisions, seen by the seat that is asked, or by a spectator."""

    game: str
    players: int
    decisions: int
    liked: tuple[str, ...]
    """Kinds of action that are chosen first, where there are any."""
    spectator: bool = False
    options: dict[str, Any] = field(default_factory=dict)


POSITIONS = (
    Position("king_of_new_york", 5, 150, ("buy", "destroy_building", "flee")),
    Position("manhattan_traffiq", 3, 84, ("compete", "place", "attach", "taxi")),
    Position("shibuya", 2, 66, ("move", "place")),
    Position("ticket_to_ride_new_york", 4, 62, ("claim",)),
)


def choose(legal: Sequence[Action], liked: Sequence[str], number: int) -> Action:
    """One of the legal actions, of the first kind in `liked` that is there, by the number of the decision alone."""
    for kind in liked:
        legal = [action for action in legal if kind == action.KIND] or legal
    digest = blake2b(f"{number}".encode(), digest_size=8, key=SEED).digest()
    return legal[int.from_bytes(digest) % len(legal)]


def play(position: Position) -> tuple[State, list[Event]]:
    """The position, and what happened since the decision before."""
    game = get_game(position.game)
    state = game.new_initial_state(position.players, resolve_options(game.id, game.options, position.options))
    luck, number, events = KeyedChance(SEED), 0, []
    while not state.is_terminal():
        if state.chance_outcomes():
            events += state.apply_chance(luck.choose(state.chance_stream(), state.chance_outcomes()))
            continue
        if number >= position.decisions:
            break
        number += 1
        asked = [decision.seat for decision in state.decisions()]
        events = list(
            state.apply({seat: choose(list(state.legal_actions(seat)), position.liked, number) for seat in asked})
        )
    return state, events


def picture(position: Position) -> str:
    """The file's content."""
    game = get_game(position.game)
    state, events = play(position)
    asked = [decision.seat for decision in state.decisions()]
    viewer = asked[0] if asked and not position.spectator else None
    marked = tuple(place for event in events for place in event_places(game, event.seen_by(viewer)))
    look = Look(names=NAMES[: position.players], marked=marked)
    return draw_board(game, state.observation(viewer), look) + "\n"


def main(write: Callable[[Path, str], Any]) -> None:
    for position in POSITIONS:
        write(IMAGES / f"{position.game}.svg", picture(position))


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    main(lambda path, content: path.write_text(content, encoding="utf-8"))
