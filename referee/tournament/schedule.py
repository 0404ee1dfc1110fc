"""The schedule: a pure, lazy function of a tournament. Nothing of it is stored; `place` is the index in it.

Round robin, breadth first: block 0 of every group of bots, then block 1 of every group, and so on, so that a run
stopped anywhere is nearly fair. With two seats the groups are the pairs in the rounds of the circle method, so that no
bot waits long; with more they are all combinations.

A block is a balanced set of orders of seats (see `seats`) of one group on one seed, so that luck cancels. Blocks are
numbered through over the whole schedule and each number has a seed of its own, which depends on nothing else but the
tournament's seed and the game: not on who enters. No seed serves two groups: a process that has seen a seed once could
know its luck, and would have to be replaced for every other group.
"""

import math
from collections.abc import Iterator
from hashlib import blake2b
from itertools import combinations

from referee.match.spec import MatchSpec
from referee.tournament.config import Tournament
from referee.tournament.entrants import seat_of
from referee.tournament.identity import describe, digest
from referee.tournament.seats import count_orders, seat_orders


def schedule(tournament: Tournament) -> Iterator[MatchSpec]:
    """All matches in order. Equal tournaments give equal specifications, ids included; a changed one, other ids."""
    config = tournament.config
    seats = [seat_of(entry) for entry in tournament.entries]
    plan = digest(describe(tournament))
    orders = seat_orders(config.players)
    place = block = 0
    for _ in range(config.blocks):
        for group in groups(len(seats), config.players):
            seed = block_seed(config.seed, config.game, block)
            for order in orders:
                yield MatchSpec(
                    match_id=_match_id(plan, place),
                    game=config.game,
                    options=config.options,
                    seats=tuple(seats[group[member]] for member in order),
                    seed=seed,
                    limits=config.limits,
                    tournament=config.name,
                    place=place,
                    block=block,
                )
                place += 1
            block += 1


def count(tournament: Tournament) -> int:
    """How many matches the schedule has."""
    config = tournament.config
    return count_matches(len(tournament.entries), config.players, config.blocks)


def count_matches(bots: int, players: int, blocks: int) -> int:
    """Matches of a round robin: `blocks` for every group of `players`, each with all its orders of seats."""
    return blocks * math.comb(bots, players) * count_orders(players)


def groups(bots: int, players: int) -> Iterator[tuple[int, ...]]:
    """Every group of `players` out of `bots`, once."""
    if players == 2:
        yield from _pairs(bots)
    else:
        yield from combinations(range(bots), players)


def block_seed(seed: int, game: str, block: int) -> str:
    """The match seed of a block, 32 hex digits."""
    text = f"{seed}\x1f{game}\x1f{block}"
    return blake2b(text.encode("ascii"), digest_size=16, person=b"crosstown-block").hexdigest()


def _pairs(bots: int) -> Iterator[tuple[int, int]]:
    """Circle method: bot 0 stays, the others go round; with an odd number each sits out one round."""
    ring: list[int | None] = [*range(bots), *([None] if bots % 2 else [])]
    for _ in range(len(ring) - 1):
        for one, other in zip(ring[: len(ring) // 2], reversed(ring), strict=False):
            if one is not None and other is not None:
                yield min(one, other), max(one, other)
        ring.insert(1, ring.pop())


def _match_id(plan: str, place: int) -> str:
    """Short, in schedule order when sorted, and not to be taken for the same place of another tournament."""
    tag = blake2b(f"{plan}\x1f{place}".encode("ascii"), digest_size=4).hexdigest()
    return f"m{place:06d}-{tag}"
