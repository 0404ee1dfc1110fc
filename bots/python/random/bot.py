"""Plays any game: takes one of the legal actions by chance."""

from crosstown_bot import Bot, Turn, run


class RandomBot(Bot):
    wants_observation = False
    wants_legal_actions = False

    def choose(self, turn: Turn) -> int:
        return turn.match.rng.randrange(turn.legal_count)


run(RandomBot)
