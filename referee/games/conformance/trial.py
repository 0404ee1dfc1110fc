"""One match under watch: what all checks of its nodes share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from typing import Any

from referee.games.api import Action, Event, Game, Outcome, Payload, State
from referee.games.conformance.luck import Ledger
from referee.games.conformance.sight import Sight
from referee.games.conformance.tally import Tally

OLD_ACTIONS_KEPT = 64


@dataclass(slots=True)
class Trial:
    """The match `seed` of `game` with `players`, as far as it has been played."""

    game: Game
    players: int
    seed: int
    options: dict[str, Any]
    tally: Tally
    limit: int
    """max_decisions() of these players and options."""
    conserved: dict[str, int]
    """What game.conserved() said of the first node."""
    ledger: Ledger = field(default_factory=Ledger)
    gone: set[int] = field(default_factory=set)
    """Seats that have left."""
    node: int = 0
    decisions: int = 0
    events: list[Event] = field(default_factory=list)
    """All since the start."""
    old_actions: list[Action] = field(default_factory=list)
    old_outcomes: list[Outcome] = field(default_factory=list)
    sight: Sight = field(init=False)
    """Of the node whose dear checks run."""

    @property
    def viewers(self) -> tuple[int | None, ...]:
        """The spectator and every seat."""
        return (None, *range(self.players))

    @property
    def staying(self) -> list[int]:
        return [seat for seat in range(self.players) if seat not in self.gone]

    def rng(self, purpose: str) -> Random:
        """A generator for one purpose at this node, so that checks do not disturb each other or the match."""
        return Random(f"{self.game.id}/{self.players}/{self.seed}/{self.node}/{purpose}")

    def seen_by(self, viewer: int | None, events: Sequence[Event]) -> bytes:
        """What `viewer` is told of `events`, as the wire carries it."""
        return self.game.codec.encode_events([event.seen_by(viewer) for event in events])

    def looks(self, state: State, viewer: int | None) -> bytes:
        """`viewer`'s observation as the wire carries it."""
        return self.game.codec.encode_observation(state.observation(viewer))

    def history(self, seat: int) -> list[Payload]:
        """The payloads that a seat got since the start."""
        return [event.seen_by(seat) for event in self.events]

    def remember(self, actions: Sequence[Action]) -> None:
        """Keep some actions of this node to try them where they are not legal."""
        self.old_actions.extend(actions[:4])
        del self.old_actions[:-OLD_ACTIONS_KEPT]


def match_seed(game_id: str, players: int, seed: int) -> bytes:
    """The 16 byte seed of KeyedChance for match `seed`."""
    return blake2b(f"{game_id}/{players}/{seed}".encode(), digest_size=16).digest()
