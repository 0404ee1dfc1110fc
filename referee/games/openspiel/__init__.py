"""OpenSpiel's games as games of Crosstown: `openspiel/chess`, `openspiel/leduc_poker`.

One adapter for all of them. Needs the package open_spiel (extra `crosstown-arena[openspiel]`), so only
`referee.games.registry` imports it, when a game of this family is asked for.
"""
