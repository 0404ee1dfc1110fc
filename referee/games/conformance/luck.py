"""Keeps the books of chance over one match: decks empty card by card, dice stay the same dice."""

from collections.abc import Sequence

from referee.games.api import Chance, Draw, Outcome, Roll
from referee.games.conformance.failure import CheckFailed

OUTCOME_TYPES = frozenset((int, str))


class Ledger:
    """What chance nodes of one match have offered so far."""

    def __init__(self) -> None:
        self._left: dict[Draw, dict[Outcome, int]] = {}
        self._epochs: dict[str, int] = {}
        self._rolled: set[Roll] = set()
        self._weights: dict[tuple[str, tuple[Outcome, ...]], tuple[int, ...]] = {}

    def copy(self) -> "Ledger":
        """For a branch of the match."""
        copy = Ledger()
        copy._left = dict(self._left)  # the inner dictionaries are replaced, never changed
        copy._epochs = dict(self._epochs)
        copy._rolled = set(self._rolled)
        copy._weights = dict(self._weights)
        return copy

    def look(self, stream: Chance, outcomes: Sequence[tuple[Outcome, int]]) -> None:
        """Check what a chance node offers. CheckFailed: chance, draw_stream, roll_stream."""
        check_outcomes(outcomes)
        if isinstance(stream, Draw):
            self._look_at_draw(stream, dict(outcomes))
        elif isinstance(stream, Roll):
            self._look_at_roll(stream, outcomes)
        else:
            raise CheckFailed("chance", f"chance_stream() is {stream!r}, neither Draw nor Roll")

    def take(self, stream: Chance, outcomes: Sequence[tuple[Outcome, int]], outcome: Outcome) -> None:
        """Note what came."""
        if isinstance(stream, Draw):
            left = dict(outcomes)
            left[outcome] -= 1
            if not left[outcome]:
                del left[outcome]
            self._left[stream] = left
            self._epochs[stream.deck] = stream.epoch
        else:
            self._rolled.add(stream)
            kinds = tuple(kind for kind, _ in outcomes)
            self._weights[stream.name, kinds] = tuple(weight for _, weight in outcomes)

    def _look_at_draw(self, stream: Draw, offered: dict[Outcome, int]) -> None:
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

    def _look_at_roll(self, stream: Roll, outcomes: Sequence[tuple[Outcome, int]]) -> None:
        if stream in self._rolled:
            raise CheckFailed("roll_stream", f"{stream} was rolled before in this match and would fall the same")
        kinds = tuple(kind for kind, _ in outcomes)
        weights = tuple(weight for _, weight in outcomes)
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
    """For counting: 'draw cards' or 'roll die'."""
    return f"draw {stream.deck}" if isinstance(stream, Draw) else f"roll {stream.name}"
