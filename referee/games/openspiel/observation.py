"""What a viewer sees: OpenSpiel's observation for its seat, and what is public in any game."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tensor:
    """Floats as the bytes that go over the wire: four for each, little-endian. Empty where a game has none."""

    values: bytes = b""
    shape: tuple[int, ...] = ()


NO_TENSOR = Tensor()


@dataclass(frozen=True, slots=True)
class Observation:
    """One position, as one viewer sees it."""

    game: str
    """OpenSpiel's name of the game."""
    seat: int
    """The viewer; -1 for a spectator."""
    players: int
    asked: tuple[int, ...]
    """Seats that are asked, in seat order."""
    over: bool
    text: str
    """The position; empty for a spectator where information is imperfect."""
    tensor: Tensor
    information: str
    """All that the seat has seen since the start, where information is imperfect and the game writes it."""
    information_tensor: Tensor
    history: tuple[int, ...]
    """The ids of all actions and outcomes since the start, where information is perfect."""
    withdrawn: tuple[int, ...]
    returns: tuple[int, ...]
    """At the end: the points of each seat."""
