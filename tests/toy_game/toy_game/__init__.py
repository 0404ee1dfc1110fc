"""A small complete game for tests: hidden hands, decks, a die, a simultaneous choice, an interrupt."""

from toy_game.game import ToyGame

GAME = ToyGame()
