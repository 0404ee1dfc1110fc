"""SHIBUYA for 2 or 4 players: lay the crossing, then bring your pedestrians across. See README.md."""

from referee.games.shibuya.game import GAME

__all__ = ["GAME"]
