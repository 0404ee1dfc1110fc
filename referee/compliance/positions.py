"""Where each kind of decision is asked: matches of a wanderer, known or looked for, that come to even the rarest."""

import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from referee.games.api import Game, State, resolve_options
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game

MOST_MATCHES = 60
"""That are looked through for kinds whose place is not known, a second or two."""

MOST_LOOKED_THROUGH = 5000
"""When positions.toml is made."""


@dataclass(frozen=True, slots=True)
class Position:
    """The first node at which `seat` is asked the kind in question, in the wanderer's match `number`."""

    players: int
    number: int
    seat: int


class Wanderer:
    """Plays all seats of a match: takes what it has taken least often, of equals one by chance.

    So it comes to rare decisions sooner than chance does. What it does depends on its arguments alone.
    """

    def __init__(self, game: Game, players: int, number: int) -> None:
        self.options = resolve_options(game.id, game.options, {})
        self.state: State = game.new_initial_state(players, self.options)
        self._rng = Random(f"{game.id}/{players}/{number}")
        self._chance = KeyedChance(f"compliance {number}".encode())
        self._taken: Counter[Any] = Counter()

    def draw(self) -> Sequence[Any]:
        """At a chance node: apply an outcome; the events."""
        state = self.state
        return state.apply_chance(self._chance.choose(state.chance_stream(), state.chance_outcomes()))

    def choose(self, legal: Sequence[Any]) -> Any:
        least = min(self._taken[action] for action in legal)
        action = self._rng.choice([action for action in legal if self._taken[action] == least])
        self._taken[action] += 1
        return action


def find_positions(game: Game, kinds: Collection[str]) -> dict[str, Position]:
    """A position for each of `kinds` that is known, or comes up in the wanderer's first matches."""
    known = {kind: position for kind, position in known_positions(game.id).items() if kind in kinds}
    return {**known, **look_for(game, set(kinds) - set(known), MOST_MATCHES)}


def look_for(game: Game, kinds: Collection[str], most_matches: int) -> dict[str, Position]:
    """The first position for each of `kinds`, as far as they come up."""
    found: dict[str, Position] = {}
    missing = set(kinds)
    counts = game.player_counts
    for match in range(most_matches):
        if not missing:
            break
        players, number = counts[match % len(counts)], match // len(counts)
        for kind, seat in _asked(game, players, number):
            if kind in missing:
                found[kind] = Position(players, number, seat)
                missing.discard(kind)
    return found


def _asked(game: Game, players: int, number: int) -> list[tuple[str, int]]:
    """Every kind that is asked in a match, with the seat it is asked of first."""
    wanderer = Wanderer(game, players, number)
    asked: dict[str, int] = {}
    while not wanderer.state.is_terminal():
        decisions = wanderer.state.decisions()
        if not decisions:
            wanderer.draw()
            continue
        for decision in decisions:
            asked.setdefault(decision.kind, decision.seat)
        wanderer.state.apply(
            {decision.seat: wanderer.choose(wanderer.state.legal_actions(decision.seat)) for decision in decisions}
        )
    return list(asked.items())


@cache
def known_positions(game_id: str) -> dict[str, Position]:
    """Those in positions.toml: of kinds that would take long to come to."""
    table = tomllib.loads(files(__package__).joinpath("positions.toml").read_text(encoding="utf-8"))
    return {kind: Position(**place) for kind, place in table.get(game_id, {}).items()}


def main(words: Sequence[str]) -> None:
    """Prints the lines of positions.toml for the games named."""
    for game_id in words:
        game = get_game(game_id)
        common = set(look_for(game, game.decision_kinds, MOST_MATCHES // 2))
        print(f"[{game_id}]")
        for kind, place in sorted(look_for(game, set(game.decision_kinds) - common, MOST_LOOKED_THROUGH).items()):
            print(f"{kind} = {{ players = {place.players}, number = {place.number}, seat = {place.seat} }}")


if __name__ == "__main__":
    main(sys.argv[1:])
