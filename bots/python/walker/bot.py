"""A Shibuya player that walks: see strategy.py for what it wants and street.py for how it measures ways."""

from crosstown_bot import Bot, Turn, run
from strategy import choose


class Walker(Bot):
    games = ("shibuya",)

    def choose(self, turn: Turn) -> int:
        return choose(turn.observation, turn.legal_actions, turn.match.seat, turn.match.rng)


run(Walker)
