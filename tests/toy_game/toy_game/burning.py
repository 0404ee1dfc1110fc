"""The toy game with a leaving that makes the answers of others impossible."""

from typing import Any

from toy_game.rules import ToyState


class CardsBurn(ToyState):
    """A seat that leaves while all stash takes the lowest card of everybody else along."""

    __slots__ = ()

    def withdraw(self, seat: int) -> Any:
        events = super().withdraw(seat)
        if self.phase == "stash":
            for other in self._staying():
                self._discard(other, 1 + next(value for value, count in enumerate(self.hands[other]) if count))
        return events
