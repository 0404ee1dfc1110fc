"""King of New York, for 2 to 6 players: the whole box, with goal cards and all 64 power cards. See README.md."""

from referee.games.king_of_new_york.game import KingOfNewYork

GAME = KingOfNewYork()

__all__ = ["GAME"]
