"""Plays any game: takes one of the legal actions by chance."""

from random import Random

from crosstown_bot import Bot, Match, Turn, run


class RandomBot(Bot):
    # It only counts, so neither is sent, which is quicker. Take the two lines out to read them.
    wants_observation = False
    wants_legal_actions = False

    def start(self, match: Match) -> None:
        # Bots of another salt are other entries, with other luck: a field of random bots can be as large as one likes.
        match.store = Random(f"{match.bot_seed}-{self.options['salt']}")

    def choose(self, turn: Turn) -> int:
        luck: Random = turn.match.store
        return luck.randrange(turn.legal_count)


run(RandomBot)
