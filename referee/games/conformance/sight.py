"""What the dear checks of one node share, so that it is asked of the game once and not once a check."""

from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from referee.games.api import Codec, State
from referee.games.conformance.marks import mark_of

WORLDS = 2


@dataclass
class Sight:
    """A state at the beginning of the checks, and what its viewers get."""

    state: State
    codec: Codec
    viewers: tuple[int | None, ...]
    _worlds: dict[int | None, tuple[State, ...]] = field(default_factory=dict)

    @cached_property
    def mark(self) -> bytes:
        """Of the state when it was first asked for."""
        return mark_of(self.state)

    @cached_property
    def observations(self) -> dict[int | None, Any]:
        return {viewer: self.state.observation(viewer) for viewer in self.viewers}

    @cached_property
    def looks(self) -> dict[int | None, bytes]:
        """The observations as the wire carries them."""
        return {viewer: self.codec.encode_observation(seen) for viewer, seen in self.observations.items()}

    @cached_property
    def first_viewers(self) -> dict[bytes, int | None]:
        """Each different look with the first viewer that has it, for what depends on the observation alone."""
        first: dict[bytes, int | None] = {}
        for viewer, look in self.looks.items():
            first.setdefault(look, viewer)
        return first

    def worlds(self, viewer: int | None, rng: Random) -> tuple[State, ...]:
        """States resampled for the viewer; `rng` is used the first time."""
        found = self._worlds.get(viewer)
        if found is None:
            found = self._worlds[viewer] = tuple(self.state.resample(viewer, rng) for _ in range(WORLDS))
        return found
