"""The toy game as the platform sees it."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import DATA_OPTION, DataError, Option, PlayersError
from toy_game.actions import ACTION_TEXT
from toy_game.codec import ToyCodec
from toy_game.rules import GUARD, STASH, STORM, SUN, TURN, Box, ToyState
from toy_game.seen import Observation
from toy_game.view import ToyView

SMALLEST_DECK = 12
"""Three cards for each of four seats."""


class ToyGame:
    """`state_class` and `codec` are parameters so that tests can break one part of it."""

    id = "toy"
    title = "Toy"
    rules_version = 1
    player_counts = (2, 3, 4)
    options: tuple[Option, ...] = (
        Option("rounds", 4, "Turns of each seat.", "OURS", minimum=1, maximum=12),
        Option("peeking", True, "Whether stashes can be looked at.", "OURS"),
    )
    notes = ("A game for tests.",)
    draws_possible = True
    decision_kinds = (STASH, TURN, GUARD)

    def __init__(self, state_class: type[ToyState] = ToyState, codec: Any = None) -> None:
        self.state_class = state_class
        self.codec = codec or ToyCodec()
        self.view = ToyView()

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> ToyState:
        if players not in self.player_counts:
            raise PlayersError(f"toy is for 2 to 4 players, not {players}")
        box = self._box(options.get(DATA_OPTION, self.default_data()))
        return self.state_class(players, options["rounds"], options["peeking"], box)

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """One stash each, and in each turn one decision of its seat and at most one of a robbed one."""
        rounds: int = options["rounds"]
        return players + players * rounds * 2

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(range(players))

    def default_data(self) -> dict[str, Any]:
        return {"cards": [4, 4, 4, 4, 4], "weather": {SUN: 1, "rain": 1, STORM: 1}}

    def check_data(self, data: Any) -> None:
        self._box(data)

    def _box(self, data: Any) -> Box:
        if not isinstance(data, dict) or set(data) != {"cards", "weather"}:
            raise DataError("toy data: expected an object with 'cards' and 'weather'")
        cards, weather = data["cards"], data["weather"]
        if not isinstance(cards, list) or len(cards) != 5 or not all(_is_count(count) for count in cards):
            raise DataError("toy data, cards: expected a list of five counts")
        if sum(cards) < SMALLEST_DECK:
            raise DataError(f"toy data, cards: {sum(cards)} cards, at least {SMALLEST_DECK} are needed")
        if not isinstance(weather, dict) or set(weather) != {SUN, "rain", STORM}:
            raise DataError("toy data, weather: expected counts of sun, rain and storm")
        if not all(_is_count(count) for count in weather.values()) or not any(weather.values()):
            raise DataError("toy data, weather: expected counts, one of them positive")
        return Box(tuple(cards), tuple((name, weather[name]) for name in (SUN, "rain", STORM)))

    def format_action(self, action: Any) -> str:
        return ACTION_TEXT.format(action)

    def parse_action(self, text: str) -> Any:
        return ACTION_TEXT.parse(text)

    def state_from_dict(self, data: Mapping[str, Any]) -> ToyState:
        box = Box(tuple(data["box"]["cards"]), tuple((name, count) for name, count in data["box"]["weather"]))
        state = self.state_class(len(data["hands"]), data["rounds"], data["peeking"], box)
        state.phase, state.turn, state.pending = data["phase"], data["turn"], tuple(data["pending"])
        state.turns = list(data["turns"])
        state.deck = list(data["deck"])
        state.discards = list(data["discards"])
        state.hands = [list(hand) for hand in data["hands"]]
        state.stashes = list(data["stashes"])
        state.peeks = [list(known) for known in data["peeks"]]
        state.coins, state.bank = list(data["coins"]), data["bank"]
        state.weather, state.weather_epoch = list(data["weather"]), data["weather_epoch"]
        state.left = list(data["left"])
        return state

    def from_observation(
        self, observation: Any, history: Sequence[Any], options: Mapping[str, Any], rng: Random
    ) -> ToyState:
        o: Observation = observation
        state = self.new_initial_state(len(o.coins), options)
        state.phase, state.turn, state.pending = o.phase, o.turn, o.pending
        state.turns, state.left = list(o.turns), list(o.left)
        state.discards = list(o.discards)
        state.peeks = [list(known) for known in o.peeks]
        state.coins, state.bank = list(o.coins), o.bank
        state.weather, state.weather_epoch = list(o.weather), o.weather_epoch
        unseen = [a - b - c for a, b, c in zip(state.box.cards, o.discards, o.hand, strict=True)]
        for stash in o.stashes:
            if stash:
                unseen[stash - 1] -= 1
        state.hands[o.viewer] = list(o.hand)
        state.stashes = list(o.stashes)
        state.deck = unseen
        self._deal_unknown(state, o, rng)
        return state

    def _deal_unknown(self, state: ToyState, o: Observation, rng: Random) -> None:
        """Give others cards from the deck, which holds all unseen ones, to the numbers that are public."""

        def draw() -> int:
            value = rng.choices(range(len(state.deck)), state.deck)[0]
            state.deck[value] -= 1
            return value

        for seat, size in enumerate(o.hand_sizes):
            if seat != o.viewer:
                for _ in range(size):
                    state.hands[seat][draw()] += 1
            if o.stashed[seat] and not o.stashes[seat]:
                state.stashes[seat] = draw() + 1

    def conserved(self, state: Any) -> dict[str, int]:
        s: ToyState = state
        counts = {
            f"cards of value {value + 1}": s.deck[value]
            + s.discards[value]
            + sum(hand[value] for hand in s.hands)
            + s.stashes.count(value + 1)
            for value in range(len(s.box.cards))
        }
        counts["coins"] = s.bank + sum(s.coins)
        return counts


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
