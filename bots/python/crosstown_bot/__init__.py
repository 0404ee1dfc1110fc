"""Write a bot for Crosstown: a class with one method, run in three lines.

from crosstown_bot import Bot, run

class First(Bot):
    def choose(self, turn):
        return 0

run(First)
"""

from crosstown_bot.bot import RESIGN, Bot, ProviderError
from crosstown_bot.client import run
from crosstown_bot.turn import Match, Result, Turn, Usage

__all__ = ["RESIGN", "Bot", "Match", "ProviderError", "Result", "Turn", "Usage", "run"]
