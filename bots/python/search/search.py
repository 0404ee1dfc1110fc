"""Information-set Monte Carlo tree search from the view of one seat.

Each play-out draws anew what the seat does not know, walks down one tree that all these positions share, adds a node,
and plays on by habit: for a number of decisions, and then until the seat's next turn, so that all have had their turns.
A node is what the seat has seen happen so far. Where several seats choose at once, each chooses by a table of its own
and does not know what the others choose.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

from habits import Habits
from judging import Judge
from tree import Node

from referee.games.api import Action, State
from referee.games.keyed import random_outcome

MOST_BEYOND = 60
"""Decisions to wait for one's next turn."""


class Search:
    """Call `play_out` as often as there is time, then ask for `most_visited`."""

    def __init__(self, root: State, seat: int, teams: Sequence[int], habits: Habits, rng: Random, depth: int) -> None:
        """`root` is any position that fits what `seat` has seen; it is not changed. `depth` is in decisions."""
        self.play_outs = 0
        self._root = root
        self._seat = seat
        self._rng = rng
        self._depth = depth
        self._judge = Judge(teams)
        self._habits = habits
        self._tree = Node()

    def play_out(self) -> None:
        state = self._root.resample(self._seat, self._rng)
        path: list[tuple[Node, int, Action]] = []
        line: list[tuple[int, Action]] = []
        node: Node | None = self._tree
        last_turn = state.turn_seat
        for number in range(self._depth + MOST_BEYOND):
            decisions, turn = state.decisions(), state.turn_seat
            if not decisions or (number >= self._depth and turn == self._seat != last_turn):
                break
            last_turn = turn
            chosen: dict[int, Action] = {}
            grown = False
            for seat in [decision.seat for decision in decisions]:
                legal = state.legal_actions(seat)
                if node is None:
                    chosen[seat] = self._habits.choose(seat, legal)
                else:
                    chosen[seat], new = node.choose(seat, legal, self._rng)
                    path.append((node, seat, chosen[seat]))
                    grown = grown or new
                line.append((seat, chosen[seat]))
            seen = self._step(state, chosen, watched=node is not None and not grown)
            node = None if node is None or grown else node.child(seen)
        worths = self._judge.worths(state)
        for passed, seat, action in path:
            passed.add(seat, action, worths[seat])
        self._habits.learn(line, worths)
        self.play_outs += 1

    def _step(self, state: State, chosen: dict[int, Action], watched: bool) -> tuple[Any, ...]:
        """Plays on to the next question. What the seat sees of it, if that is `watched`."""
        events = state.apply(chosen)
        while outcomes := state.chance_outcomes():
            events += state.apply_chance(random_outcome(outcomes, self._rng))
        return tuple([event.seen_by(self._seat) for event in events]) if watched else ()

    def most_visited(self) -> Action:
        return self._tree.most_visited(self._seat, self._root.legal_actions(self._seat))

    def value(self, action: Action) -> float:
        """Mean worth of the play-outs that began with `action`."""
        return self._tree.value(self._seat, action)
