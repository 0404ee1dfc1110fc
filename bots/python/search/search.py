"""Information-set Monte Carlo tree search from the view of one seat.

Each world samples what the seat does not know, and the future chance. In each world every candidate is played out:
down one tree that all worlds share, one node farther than before, and on by the policy, for a number of decisions and
then until the seat's next turn, so that all have had their turns. A node is what the seat has seen happen so far. Where
several seats choose at once, each chooses by a table of its own and does not know what the others choose.
"""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

from candidates import Candidates
from crosstown_greedy import Policy, best
from judging import Judge
from tree import Node

from referee.games.api import Action, State
from referee.games.keyed import KeyedChance

MOST_BEYOND = 60
"""Decisions to wait for one's next turn."""
SEED_BITS = 128


class Search:
    """Call `play_world` as often as there is time, then ask for `best`."""

    def __init__(
        self, root: State, seat: int, policy: Policy, judge: Judge, rng: Random, horizon: int, width: int
    ) -> None:
        """`root` is any position that fits what `seat` has seen; it is not changed.

        `horizon` is in decisions, `width` the number of candidates.
        """
        legal = root.legal_actions(seat)
        worths = policy.worths(root.observation(seat), legal, seat)
        order = sorted(range(len(legal)), key=lambda number: (-worths[number], rng.random()))
        self.candidates = Candidates([legal[number] for number in order[:width]])
        self.worlds = 0
        self.play_outs = 0
        self._root = root
        self._seat = seat
        self._policy = policy
        self._judge = judge
        self._rng = rng
        self._horizon = horizon
        self._trees: dict[Action, Node] = {}

    @property
    def next_play_outs(self) -> int:
        """Play-outs of the next world."""
        return len(self.candidates.actions())

    def play_world(self, progress: float) -> None:
        """One play-out of each candidate in one world; `progress` is the share of the time that is gone, 0 to 1."""
        world = self._root.resample(self._seat, self._rng)
        seed = self._rng.getrandbits(SEED_BITS)
        actions = self.candidates.actions()
        self.worlds += 1
        luck: dict[Any, Any] = {}
        self.candidates.learn([self._play_out(world.clone(), action, seed, luck) for action in actions], progress)

    def _play_out(self, state: State, first: Action, seed: int, luck: dict[Any, Any]) -> float:
        """The worth to the seat of one play-out. The same seed gives the same luck and the same ties.

        `luck` is what play-outs with this seed know of it.
        """
        chance, rng = KeyedChance(seed.to_bytes(SEED_BITS // 8), luck), Random(seed)
        path: list[tuple[Node, int, Action]] = []
        node: Node | None = self._trees.setdefault(first, Node())
        chosen = {
            decision.seat: first if decision.seat == self._seat else self._by_policy(state, decision.seat, rng)
            for decision in state.decisions()
        }
        self._step(state, chosen, chance)
        last_turn = self._seat
        for number in range(self._horizon + MOST_BEYOND):
            decisions, turn = state.decisions(), state.turn_seat
            if not decisions or (number >= self._horizon and turn == self._seat != last_turn):
                break
            last_turn = turn
            chosen = {}
            for seat in [decision.seat for decision in decisions]:
                if node is None:
                    chosen[seat] = self._by_policy(state, seat, rng)
                else:
                    legal = state.legal_actions(seat)
                    chosen[seat] = node.choose(seat, legal, partial(self._worths, state, seat, legal))
                    path.append((node, seat, chosen[seat]))
            seen = self._step(state, chosen, chance, node is not None)
            if node is not None:
                node, new = node.child(seen)
                if new:
                    node = None
        worths = self._judge.worths(state)
        for passed, seat, action in path:
            passed.add(seat, action, worths[seat])
        self.play_outs += 1
        return worths[self._seat]

    def _worths(self, state: State, seat: int, legal: Sequence[Action]) -> Sequence[float]:
        return self._policy.worths(self._policy.observe(state, seat), legal, seat)

    def _by_policy(self, state: State, seat: int, rng: Random) -> Action:
        action = self._policy.shortcut(state, seat, rng)
        if action is not None:
            return action
        legal = state.legal_actions(seat)
        return legal[best(self._worths(state, seat, legal), rng)] if len(legal) > 1 else legal[0]

    def _step(self, state: State, chosen: dict[int, Action], chance: KeyedChance, watched: bool = False) -> Any:
        """Plays on to the next question. What the seat sees of it, if that is `watched`."""
        events = state.apply(chosen)
        while outcomes := state.chance_outcomes():
            events += state.apply_chance(chance.choose(state.chance_stream(), outcomes))
        return tuple([event.seen_by(self._seat) for event in events]) if watched else ()
