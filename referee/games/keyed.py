"""The referee's luck: every chance outcome is a keyed function (blake2b) of the match seed.

Nothing is shuffled in advance, so there is no hidden order to leak; a replay needs no generator; seats swapped on
the same seed meet the same luck.
"""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import Any, Final

from referee.games.api import Chance, Draw, Outcome, Roll

_WORD_BITS: Final = 64
_LONGEST_SEED: Final = 64


class KeyedChance:
    """Chooses at chance nodes for one match. `seed` is 1 to 64 bytes, ValueError if it is not.

    A draw gives every physical card of a deck (and reshuffle epoch) a keyed priority and takes the least one left.
    The first draw of an epoch tells how many cards of each kind there are, so one instance must see a match from
    its start.
    """

    def __init__(self, seed: bytes, known: dict[Any, Any] | None = None) -> None:
        """`known`: an empty dictionary for instances with the same seed, which then work out nothing twice."""
        if not 1 <= len(seed) <= _LONGEST_SEED:
            raise ValueError(f"a seed has 1 to {_LONGEST_SEED} bytes, not {len(seed)}")
        self._keyed = blake2b(digest_size=_WORD_BITS // 8, key=seed)
        self._known = known
        self._decks: dict[Draw, dict[Outcome, list[int]]] = {}

    def choose(self, stream: Chance, outcomes: Sequence[tuple[Outcome, int]]) -> Outcome:
        """One of `outcomes` (weights positive). ValueError if there is none, or a deck grew within its epoch."""
        if isinstance(stream, Draw):
            return self._draw(stream, outcomes)
        return self._roll(stream, outcomes)

    def _word(self, text: str) -> int:
        known = self._known
        if known is not None and text in known:
            return known[text]  # type: ignore[no-any-return]
        digest = self._keyed.copy()
        digest.update(text.encode())
        word = int.from_bytes(digest.digest())
        if known is not None:
            known[text] = word
        return word

    def _deck(self, stream: Draw, outcomes: Sequence[tuple[Outcome, int]]) -> dict[Outcome, list[int]]:
        """Per kind the priorities of its cards, ascending."""
        return {
            kind: sorted(
                [self._word(f"draw\x1f{stream.deck}\x1f{stream.epoch}\x1f{kind}\x1f{copy}") for copy in range(count)]
            )
            for kind, count in outcomes
        }

    def _draw(self, stream: Draw, outcomes: Sequence[tuple[Outcome, int]]) -> Outcome:
        deck = self._decks.get(stream)
        if deck is None:
            if self._known is None:
                deck = self._deck(stream, outcomes)
            else:
                key = (stream, tuple(outcomes))
                deck = self._known.get(key)
                if deck is None:
                    deck = self._known[key] = self._deck(stream, outcomes)
            self._decks[stream] = deck
        best: tuple[int, int] | None = None
        for position, (kind, left) in enumerate(outcomes):
            priorities = deck.get(kind, [])
            if not 0 < left <= len(priorities):
                raise ValueError(
                    f"deck {stream.deck!r} epoch {stream.epoch}: {left} of {kind!r}, had {len(priorities)}"
                )
            candidate = (priorities[-left], position)
            if best is None or candidate < best:
                best = candidate
        if best is None:
            raise ValueError(f"deck {stream.deck!r} has no outcome")
        return outcomes[best[1]][0]

    def _roll(self, stream: Roll, outcomes: Sequence[tuple[Outcome, int]]) -> Outcome:
        total = sum(weight for _, weight in outcomes)
        if not 0 < total <= 1 << _WORD_BITS:
            raise ValueError(f"die {stream.name!r} has a total weight of {total}, not 1 to 2**{_WORD_BITS}")
        # The largest multiple of `total` in range: values above it are drawn again, so no outcome is favoured.
        fair = (1 << _WORD_BITS) // total * total
        name = f"roll\x1f{stream.name}\x1f{stream.seat}\x1f{stream.turn}\x1f{stream.roll}\x1f{stream.die}"
        attempt = 0
        while True:
            value = self._word(f"{name}\x1f{attempt}")
            if value < fair:
                return _at(outcomes, value % total)
            attempt += 1


def random_outcome(outcomes: Sequence[tuple[Outcome, int]], rng: Random) -> Outcome:
    """An outcome by weight from an ordinary generator, for look-ahead and random play."""
    if len(outcomes) == 1:
        return outcomes[0][0]
    return _at(outcomes, int(rng.random() * sum([weight for _, weight in outcomes])))


def _at(outcomes: Sequence[tuple[Outcome, int]], value: int) -> Outcome:
    for outcome, weight in outcomes:
        value -= weight
        if value < 0:
            return outcome
    raise ValueError("value beyond the total weight")
