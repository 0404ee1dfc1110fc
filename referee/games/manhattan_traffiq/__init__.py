"""Manhattan TraffIQ (Dirk Arning, Mücke Spiele 2015) for two to four players: a growing map, streets along tile sides.

`README.md` has the rules as implemented, the options, and what is a reconstruction.
"""

from referee.games.manhattan_traffiq.game import GAME

__all__ = ["GAME"]
