"""What cards do.

A card is an entry of `data/cards.json`; its `effects` are written in the vocabulary of `words.py`, whose verbs the
other modules here turn into hooks at the moments named in `moments.py`. No other part of the engine knows a card.
"""

from referee.games.king_of_new_york.cards.compiling import compile_cards

__all__ = ["compile_cards"]
