"""Ratings of the entries of one game with one number of players: `official` over all matches at once, `live` one match
after another, `elo` as a cross-check. `registry` is where another model is added."""
