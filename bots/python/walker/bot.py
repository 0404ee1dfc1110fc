"""A Shibuya player that walks: see strategy.py for what it wants and street.py for how it measures ways."""

from collections import Counter

from crosstown_bot import Bot, Match, Turn, run
from strategy import choose


class Walker(Bot):
    games = ("shibuya",)

    def start(self, match: Match) -> None:
        match.store = Counter[int]()

    def choose(self, turn: Turn) -> int:
        match = turn.match
        return choose(turn.observation, turn.legal_actions, match.seat, match.rng, match.store)


run(Walker)
