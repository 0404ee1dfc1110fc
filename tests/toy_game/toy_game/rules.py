"""State and rules of the toy game; README.md beside this file has them in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from referee.games.api import Chance, Decision, Draw, Event, IllegalAction, Outcome, Roll
from toy_game import seen
from toy_game.actions import DrawCard, Guard, Pass, Peek, Play, Rob, Stash, Yield
from toy_game.seen import Observation

DEAL, STASH, TURN, DRAW, WEATHER, ROLL, GUARD, OVER = (
    "deal",
    "stash",
    "turn",
    "draw",
    "weather",
    "roll",
    "guard",
    "over",
)
PHASES = (DEAL, STASH, TURN, DRAW, WEATHER, ROLL, GUARD, OVER)
DEALT_CARDS = 3
HAND_LIMIT = 5
START_COINS = 2
BANK_COINS = 40
DIE = ((1, 3), (2, 2), (3, 1))
STORM, SUN = "storm", "sun"


@dataclass(frozen=True, slots=True)
class Box:
    """What the box holds: copies of each card value 1.., and the weather tiles by name."""

    cards: tuple[int, ...]
    weather: tuple[tuple[str, int], ...]


class ToyState:
    """One position.

    `pending` is the played card (weather), that card and the place of the weather tile in the box (roll), or the
    robbed seat and the robber's card (guard).
    """

    __slots__ = (
        "bank",
        "box",
        "coins",
        "deck",
        "discards",
        "hands",
        "left",
        "peeking",
        "peeks",
        "pending",
        "phase",
        "rounds",
        "stashes",
        "turn",
        "turns",
        "weather",
        "weather_epoch",
    )

    def __init__(self, players: int, rounds: int, peeking: bool, box: Box) -> None:
        self.box = box
        self.rounds = rounds
        self.peeking = peeking
        self.phase = DEAL
        self.turn = 0
        self.turns = [0] * players
        self.pending: tuple[int, ...] = ()
        self.deck = list(box.cards)
        self.discards = [0] * len(box.cards)
        self.hands = [[0] * len(box.cards) for _ in range(players)]
        self.stashes = [0] * players
        self.peeks: list[list[int]] = [[] for _ in range(players)]
        self.coins = [START_COINS] * players
        self.bank = BANK_COINS
        self.weather = [count for _, count in box.weather]
        self.weather_epoch = 0
        self.left: list[int] = []

    # What is asked

    @property
    def turn_seat(self) -> int:
        return self.turn

    def decisions(self) -> Sequence[Decision]:
        if self.phase == STASH:
            return tuple(Decision(seat, STASH) for seat in self._staying())
        if self.phase == TURN:
            return (Decision(self.turn, TURN),)
        if self.phase == GUARD:
            return (Decision(self.pending[0], GUARD),)
        return ()

    def legal_actions(self, seat: int) -> Sequence[Any]:
        if all(decision.seat != seat for decision in self.decisions()):
            return ()
        held = [value + 1 for value, count in enumerate(self.hands[seat]) if count]
        if self.phase == STASH:
            return tuple(Stash(card) for card in held)
        if self.phase == GUARD:
            return (Yield(), *(Guard(card) for card in held if card >= self.pending[1]))
        others = [other for other in self._staying() if other != seat]
        can_draw = any(self.deck) and sum(self.hands[seat]) < HAND_LIMIT
        can_peek = [o for o in others if self.peeking and self.stashes[o] and o not in self.peeks[seat]]
        return (
            Pass(),
            *((DrawCard(),) if can_draw else ()),
            *(Play(card) for card in held),
            *(Rob(other, card) for other in others for card in held),
            *(Peek(other) for other in can_peek),
        )

    def is_optional(self, seat: int, action: Any) -> bool:
        return not isinstance(action, Pass | Yield | Stash)

    # What happens

    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        asked = [decision.seat for decision in self.decisions()]
        if not asked or sorted(actions) != asked:
            raise IllegalAction(f"asked are the seats {asked}, answers came from {list(actions)}")
        for seat in asked:
            if actions[seat] not in self.legal_actions(seat):
                raise IllegalAction(f"seat {seat} cannot do {actions[seat]!r} in phase {self.phase}")
        if self.phase == STASH:
            return self._stash(actions)
        return self._guard(actions[asked[0]]) if self.phase == GUARD else self._act(actions[asked[0]])

    def _stash(self, actions: Mapping[int, Any]) -> list[Event]:
        for seat, action in actions.items():
            self.hands[seat][action.card - 1] -= 1
            self.stashes[seat] = action.card
        self.phase = TURN
        self.turn = self._staying()[0]
        return [
            Event(seen.Stashed(seat, 0), {seat: seen.Stashed(seat, actions[seat].card)}) for seat in sorted(actions)
        ]

    def _act(self, action: Any) -> list[Event]:
        seat = self.turn
        match action:
            case Pass():
                return [Event(seen.Passed(seat)), *self._next_turn()]
            case DrawCard():
                self.phase = DRAW
                return []
            case Play(card):
                self._discard(seat, card)
                events = [Event(seen.Played(seat, card))]
                if not any(self.weather):
                    self.weather = [count for _, count in self.box.weather]
                    self.weather_epoch += 1
                self.phase, self.pending = WEATHER, (card,)
                return events
            case Rob(target, card):
                self._discard(seat, card)
                self.phase, self.pending = GUARD, (target, card)
                return [Event(seen.Robbing(seat, target, card))]
            case Peek(target):
                self.peeks[seat] = sorted([*self.peeks[seat], target])
                private = {seat: seen.Peeked(seat, target, self.stashes[target])}
                return [Event(seen.Peeked(seat, target, 0), private), *self._next_turn()]
        raise IllegalAction(f"seat {seat} cannot do {action!r}")

    def _guard(self, action: Any) -> list[Event]:
        target, card = self.pending
        if isinstance(action, Guard):
            self._discard(target, action.card)
            return [Event(seen.Guarded(target, action.card)), *self._next_turn()]
        coins = min(card, self.coins[target])
        self.coins[target] -= coins
        self.coins[self.turn] += coins
        return [Event(seen.Robbed(target, coins)), *self._next_turn()]

    def _discard(self, seat: int, card: int) -> None:
        self.hands[seat][card - 1] -= 1
        self.discards[card - 1] += 1

    def _staying(self) -> list[int]:
        return [seat for seat in range(len(self.hands)) if seat not in self.left]

    def _next_turn(self) -> list[Event]:
        self.pending = ()
        self.turns[self.turn] += 1
        players = len(self.hands)
        for step in range(1, players + 1):
            seat = (self.turn + step) % players
            if seat not in self.left and self.turns[seat] < self.rounds:
                self.turn, self.phase = seat, TURN
                return []
        return self._end()

    def _end(self) -> list[Event]:
        self.phase, self.pending = OVER, ()
        return [Event(seen.Ended(tuple(self.stashes)))]

    # Chance

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        if self.phase in (DEAL, DRAW):
            return [(value + 1, count) for value, count in enumerate(self.deck) if count]
        if self.phase == WEATHER:
            tiles = zip(self.box.weather, self.weather, strict=True)
            return [(name, count) for (name, _), count in tiles if count]
        return DIE if self.phase == ROLL else ()

    def chance_stream(self) -> Chance:
        if self.phase in (DEAL, DRAW):
            return Draw("cards")
        if self.phase == WEATHER:
            return Draw("weather", self.weather_epoch)
        if self.phase == ROLL:
            return Roll("die", self.turn, self.turns[self.turn])
        raise IllegalAction(f"phase {self.phase} is no chance node")

    def apply_chance(self, outcome: Outcome) -> list[Event]:
        if all(outcome != possible for possible, _ in self.chance_outcomes()):
            raise IllegalAction(f"{outcome!r} cannot come in phase {self.phase}")
        if self.phase == WEATHER:
            return self._turn_weather(str(outcome))
        return self._roll(int(outcome)) if self.phase == ROLL else self._deal(int(outcome))

    def _deal(self, card: int) -> list[Event]:
        seat = self.turn
        self.deck[card - 1] -= 1
        self.hands[seat][card - 1] += 1
        events = [Event(seen.Dealt(seat, 0), {seat: seen.Dealt(seat, card)})]
        if self.phase == DRAW:
            return events + self._next_turn()
        self._deal_on()
        return events

    def _deal_on(self) -> None:
        short = [seat for seat in self._staying() if sum(self.hands[seat]) < DEALT_CARDS]
        if not short:
            self.phase = STASH
        self.turn = short[0] if short else self._staying()[0]

    def _turn_weather(self, tile: str) -> list[Event]:
        place = [name for name, _ in self.box.weather].index(tile)
        self.weather[place] -= 1
        events = [Event(seen.Weather(tile))]
        if tile == STORM:
            return events + self._next_turn()
        self.phase, self.pending = ROLL, (*self.pending, place)
        return events

    def _roll(self, die: int) -> list[Event]:
        card, place = self.pending
        sunny = self.box.weather[place][0] == SUN
        coins = min(self.bank, die + (card if sunny else 0))
        self.bank -= coins
        self.coins[self.turn] += coins
        return [Event(seen.Gained(self.turn, die, coins)), *self._next_turn()]

    # Leaving and the end

    def withdraw(self, seat: int) -> list[Event]:
        known = type(seat) is int and 0 <= seat < len(self.hands)
        if self.phase == OVER or not known or seat in self.left:
            raise IllegalAction(f"seat {seat} cannot leave: it is not in the match any more")
        cards = list(self.hands[seat])
        if self.stashes[seat]:
            cards[self.stashes[seat] - 1] += 1
        self.discards = [a + b for a, b in zip(self.discards, cards, strict=True)]
        self.hands[seat] = [0] * len(cards)
        self.stashes[seat] = 0
        self.bank += self.coins[seat]
        self.coins[seat] = 0
        self.left.append(seat)
        events = [Event(seen.Left(seat, tuple(cards)))]
        if len(self._staying()) == 1:
            return events + self._end()
        if self.phase == DEAL:
            self._deal_on()
        elif self.phase == STASH:
            self.turn = self._staying()[0]
        elif seat == self.turn or (self.phase == GUARD and seat == self.pending[0]):
            events += self._next_turn()
        return events

    def is_terminal(self) -> bool:
        return self.phase == OVER

    def returns(self) -> tuple[int, ...]:
        return tuple(coins + stash for coins, stash in zip(self.coins, self.stashes, strict=True))

    def ranking(self) -> tuple[int, ...]:
        scores = self.returns()
        keys = [(1, -self.left.index(seat)) if seat in self.left else (0, -score) for seat, score in enumerate(scores)]
        return tuple(1 + sum(other < key for other in keys) for key in keys)

    # Who knows what

    def _knows_stash(self, viewer: int | None, seat: int) -> bool:
        return self.phase == OVER or viewer == seat or (viewer is not None and seat in self.peeks[viewer])

    def observation(self, viewer: int | None) -> Observation:
        return Observation(
            viewer=-1 if viewer is None else viewer,
            phase=self.phase,
            turn=self.turn,
            pending=self.pending,
            hand=() if viewer is None else tuple(self.hands[viewer]),
            hand_sizes=tuple(sum(hand) for hand in self.hands),
            stashed=tuple(stash > 0 for stash in self.stashes),
            stashes=tuple(stash if self._knows_stash(viewer, s) else 0 for s, stash in enumerate(self.stashes)),
            coins=tuple(self.coins),
            bank=self.bank,
            deck_size=sum(self.deck),
            discards=tuple(self.discards),
            weather=tuple(self.weather),
            weather_epoch=self.weather_epoch,
            turns=tuple(self.turns),
            left=tuple(self.left),
            peeks=tuple(tuple(known) for known in self.peeks),
        )

    def resample(self, viewer: int | None, rng: Random) -> "ToyState":
        copy = self.clone()
        copy.shuffle_unknown(viewer, rng)
        return copy

    def shuffle_unknown(self, viewer: int | None, rng: Random) -> None:
        """Deal anew, in place, all cards that `viewer` cannot place."""
        hidden_hands = [seat for seat in range(len(self.hands)) if seat != viewer]
        hidden_stashes = [
            seat for seat, stash in enumerate(self.stashes) if stash and not self._knows_stash(viewer, seat)
        ]
        pool = cards_of(self.deck)
        for seat in hidden_hands:
            pool += cards_of(self.hands[seat])
        pool += [self.stashes[seat] for seat in hidden_stashes]
        rng.shuffle(pool)
        for seat in hidden_hands:
            self.hands[seat] = self._counts(pool.pop() for _ in range(sum(self.hands[seat])))
        for seat in hidden_stashes:
            self.stashes[seat] = pool.pop()
        self.deck = self._counts(pool)

    def _counts(self, cards: Any) -> list[int]:
        counts = [0] * len(self.box.cards)
        for card in cards:
            counts[card - 1] += 1
        return counts

    # Copies

    def clone(self) -> "ToyState":
        copy = type(self)(len(self.hands), self.rounds, self.peeking, self.box)
        copy.phase, copy.turn, copy.pending = self.phase, self.turn, self.pending
        copy.turns = self.turns[:]
        copy.deck = self.deck[:]
        copy.discards = self.discards[:]
        copy.hands = [hand[:] for hand in self.hands]
        copy.stashes = self.stashes[:]
        copy.peeks = [known[:] for known in self.peeks]
        copy.coins = self.coins[:]
        copy.bank = self.bank
        copy.weather, copy.weather_epoch = self.weather[:], self.weather_epoch
        copy.left = self.left[:]
        return copy

    def to_dict(self) -> dict[str, Any]:
        return {
            "box": {"cards": list(self.box.cards), "weather": [list(tile) for tile in self.box.weather]},
            "rounds": self.rounds,
            "peeking": self.peeking,
            "phase": self.phase,
            "turn": self.turn,
            "turns": self.turns[:],
            "pending": list(self.pending),
            "deck": self.deck[:],
            "discards": self.discards[:],
            "hands": [hand[:] for hand in self.hands],
            "stashes": self.stashes[:],
            "peeks": [known[:] for known in self.peeks],
            "coins": self.coins[:],
            "bank": self.bank,
            "weather": self.weather[:],
            "weather_epoch": self.weather_epoch,
            "left": self.left[:],
        }


def cards_of(counts: Sequence[int]) -> list[int]:
    """Every single card of a count by value."""
    return [value + 1 for value, count in enumerate(counts) for _ in range(count)]
