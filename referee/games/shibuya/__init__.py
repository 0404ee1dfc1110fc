"""SHIBUYA for 2 or 4 players: lay the crossing, then bring your pedestrians across. See README.md."""

from referee.games.api import Game
from referee.games.shibuya.game import ShibuyaGame

GAME: Game = ShibuyaGame()

__all__ = ["GAME"]
