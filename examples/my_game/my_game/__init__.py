"""A game for Crosstown: race to twenty-one. See `crosstown docs add_a_game`."""

from my_game.game import GAME

__all__ = ["GAME"]
