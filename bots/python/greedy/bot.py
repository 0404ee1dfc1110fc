"""Plays every game that ships with Crosstown without looking ahead: what each game wants is in `crosstown_greedy`."""

from crosstown_bot import Bot, Turn, run
from crosstown_greedy import POLICIES, best

from referee.games.registry import get_game


class Greedy(Bot):
    games = tuple(POLICIES)

    def choose(self, turn: Turn) -> int:
        if turn.legal_count == 1:
            return 0
        match = turn.match
        codec = get_game(match.game).codec
        seen = codec.decode_observation(turn.observation_bytes)
        legal = codec.decode_actions(turn.legal_actions_bytes)
        return best(POLICIES[match.game].worths(seen, legal, match.seat), match.rng)


run(Greedy)
