"""The checks of chance nodes over one match: decks empty card by card, dice keep their weights."""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.games.api import Chance, Draw, Outcome, Roll
from referee.games.conformance.checks import CheckFailed

OUTCOME_TYPES = frozenset((int, str))


@dataclass(frozen=True, slots=True)
class Faces:
    """The outcomes of a die, with their kinds and weights."""

    outcomes: Sequence[tuple[Outcome, int]]
    kinds: tuple[Outcome, ...]
    weights: tuple[int, ...]


class Ledger:
    """What the chance nodes of one match have offered so far."""

    def __init__(self) -> None:
        self._left: dict[Draw, dict[Outcome, int]] = {}
        self._epochs: dict[str, int] = {}
        self._rolled: set[Roll] = set()
        self._weights: dict[tuple[str, tuple[Outcome, ...]], tuple[int, ...]] = {}
        self._dice: dict[int, Faces] = {}
        """Dice already checked, by id() of their outcomes; only immutable outcomes are kept."""

    def copy(self) -> "Ledger":
        """A copy for a branch of the match."""
        copy = Ledger()
        copy._left = dict(self._left)  # the inner dictionaries are replaced, never changed
        copy._epochs = dict(self._epochs)
        copy._rolled = set(self._rolled)
        copy._weights = dict(self._weights)
        copy._dice = self._dice  # valid for all branches
        return copy

    def check_offer(self, stream: Chance, outcomes: Sequence[tuple[Outcome, int]]) -> None:
        """Check what a chance node offers. CheckFailed: chance, draw_stream, roll_stream."""
        if isinstance(stream, Draw):
            check_outcomes(outcomes)
            self._check_draw(stream, dict(outcomes))
        elif isinstance(stream, Roll):
            self._check_roll(stream, self._faces(outcomes))
        else:
            raise CheckFailed("chance", f"chance_stream() is {stream!r}, neither Draw nor Roll")

    def record(self, stream: Chance, outcomes: Sequence[tuple[Outcome, int]], outcome: Outcome) -> None:
        """Record which outcome was chosen."""
        if isinstance(stream, Draw):
            left = dict(outcomes)
            left[outcome] -= 1
            if not left[outcome]:
                del left[outcome]
            self._left[stream] = left
            self._epochs[stream.deck] = stream.epoch
        else:
            faces = self._faces(outcomes)
            self._rolled.add(stream)
            self._weights[stream.name, faces.kinds] = faces.weights

    def _faces(self, outcomes: Sequence[tuple[Outcome, int]]) -> "Faces":
        """The die's faces, checked. A die that offers the same tuple each time is checked once."""
        known = self._dice.get(id(outcomes))
        if known is not None and known.outcomes is outcomes:
            return known
        check_outcomes(outcomes)
        faces = Faces(outcomes, tuple(kind for kind, _ in outcomes), tuple(weight for _, weight in outcomes))
        if type(outcomes) is tuple and all(type(each) is tuple for each in outcomes):
            self._dice[id(outcomes)] = faces
        return faces

    def _check_draw(self, stream: Draw, offered: dict[Outcome, int]) -> None:
        if stream.epoch < self._epochs.get(stream.deck, stream.epoch):
            raise CheckFailed(
                "draw_stream",
                f"deck {stream.deck!r} went back from epoch {self._epochs[stream.deck]} to {stream.epoch}",
            )
        expected = self._left.get(stream)
        if expected is not None and expected != offered:
            raise CheckFailed(
                "draw_stream",
                f"deck {stream.deck!r} epoch {stream.epoch}: by the draws so far {expected} are left, "
                f"offered are {offered}",
            )

    def _check_roll(self, stream: Roll, faces: "Faces") -> None:
        if stream in self._rolled:
            raise CheckFailed("roll_stream", f"{stream} was rolled before in this match and would fall the same")
        kinds, weights = faces.kinds, faces.weights
        known = self._weights.get((stream.name, kinds), weights)
        if known != weights:
            raise CheckFailed(
                "roll_stream", f"die {stream.name!r} with outcomes {kinds} had weights {known}, now {weights}"
            )


def check_outcomes(outcomes: Sequence[tuple[Outcome, int]]) -> None:
    """CheckFailed `chance` unless outcomes are unique, also as text, and weights positive integers."""
    kinds = set()
    for outcome, weight in outcomes:
        kinds.add(type(outcome))
        if type(weight) is not int or weight <= 0:
            raise CheckFailed("chance", f"outcome {outcome!r} has weight {weight!r}, not a positive integer")
    if not kinds <= OUTCOME_TYPES:
        raise CheckFailed("chance", f"an outcome is neither an int nor a str: {[outcome for outcome, _ in outcomes]}")
    if len({str(outcome) if len(kinds) > 1 else outcome for outcome, _ in outcomes}) != len(outcomes):
        raise CheckFailed("chance", f"an outcome is listed twice: {[outcome for outcome, _ in outcomes]}")


def stream_name(stream: Chance) -> str:
    """The name under which the tally counts a stream: 'draw cards' or 'roll die'."""
    return f"draw {stream.deck}" if isinstance(stream, Draw) else f"roll {stream.name}"
