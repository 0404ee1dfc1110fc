"""Which matches a check plays: a pure function of the game, the seed and the numbers asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from referee.games.api import DATA_OPTION, Game, PlayersError, resolve_options
from referee.games.conformance.match import Job
from referee.games.conformance.steps import plain_step, take
from referee.games.conformance.trial import match_seed
from referee.games.keyed import KeyedChance

LONG_MATCHES = 100_000
FULL_MATCHES = 1_000
"""Matches of a long run with the dear checks at every node."""
LONG_DEAR_SHARE = 0.01
SHORT_NODES = 3_000
SHORT_DEAR_NODES = 250
"""A default run has about so many nodes, and dear checks at about so many of them: under 15 s on one slow core."""
SHORT_MATCHES_PER_COUNT = 2
SHORT_MATCHES = 240
CHUNK_MATCHES = 100
FULL_CHUNK_MATCHES = 10
PILOT_NODES = 100_000
PILOT_GUESS = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """`matches` matches, the player counts by turns, with seeds from `seed` upwards.

    `dear_share` of the nodes get the dear checks; in the first `full_matches` every node does. The replay is checked
    for these and, if `replay_all`, for all others.
    """

    ref: str
    player_counts: tuple[int, ...]
    seed: int
    matches: int
    full_matches: int
    dear_share: float
    replay_all: bool
    data: Any = None

    def job(self, number: int) -> Job:
        """Match `number`, from 0."""
        full = number < self.full_matches
        return Job(
            self.player_counts[number % len(self.player_counts)],
            self.seed + number // len(self.player_counts),
            1.0 if full else self.dear_share,
            full or self.replay_all,
            self.data,
        )

    def chunks(self) -> Iterator[range]:
        """Match numbers in the portions in which they are played and kept: minutes at most, and twenty at least."""
        first = 0
        while first < self.matches:
            most = FULL_CHUNK_MATCHES if first < self.full_matches else CHUNK_MATCHES
            end = min(first + min(most, max(1, self.matches // 20)), self.matches)
            yield range(first, end)
            first = end


def make_plan(
    game: Game, ref: str, *, players: int | None = None, seed: int = 0, matches: int | None = None, data: Any = None
) -> Plan:
    """`matches` matches with full depth in the first thousand, or as many as make a short run.

    PlayersError for a number of players the game does not have.
    """
    if players is not None and players not in game.player_counts:
        counts = ", ".join(str(count) for count in game.player_counts)
        raise PlayersError(f"{game.id} is for {counts} players, not {players}")
    chosen = game.player_counts if players is None else (players,)
    if matches is not None:
        full = min(FULL_MATCHES, matches)
        return Plan(ref, chosen, seed, matches, full, LONG_DEAR_SHARE, False, data)
    nodes = sum(pilot(game, count, seed, data) for count in chosen) / len(chosen)
    fitting = max(SHORT_MATCHES_PER_COUNT * len(chosen), min(SHORT_MATCHES, int(SHORT_NODES / nodes)))
    dear_share = min(1.0, SHORT_DEAR_NODES / (fitting * nodes))
    return Plan(ref, chosen, seed, fitting, 0, dear_share, True, data)


def pilot(game: Game, players: int, seed: int, data: Any) -> int:
    """How many nodes one random match has, default options, nothing checked.

    PILOT_GUESS if the match cannot be played, since the checks will say why.
    """
    try:
        return plain_match(game, players, seed, data)
    except Exception:  # whatever a broken game raises
        return PILOT_GUESS


def plain_match(game: Game, players: int, seed: int, data: Any) -> int:
    """Plays one random match; the number of its nodes."""
    rng = Random(f"{game.id}/{players}/{seed}/pilot")
    options = resolve_options(game.id, game.options, {} if data is None else {DATA_OPTION: data})
    state = game.new_initial_state(players, options)
    chance = KeyedChance(match_seed(game.id, players, seed))
    nodes = 1
    while nodes < PILOT_NODES and not state.is_terminal():
        take(state, plain_step(state, chance, rng))
        nodes += 1
    return nodes
