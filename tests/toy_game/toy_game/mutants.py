"""The toy game with one fault each, and the check of the conformance kit that must find it.

Each mutant overrides as little as it can. `MUTANTS` has those that show within a match; the others stand below it.
"""

import dataclasses
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from referee.games.api import Chance, Draw, Event, IllegalAction, Option, Outcome, Roll
from toy_game import seen
from toy_game.actions import Pass, Peek, Rob
from toy_game.codec import ToyCodec
from toy_game.game import ToyGame
from toy_game.rules import DEAL, DRAW, GUARD, ROLL, STASH, TURN, WEATHER, ToyState, cards_of
from toy_game.view import ToyView


@dataclass(frozen=True, slots=True)
class Mutant:
    """A broken game and the name of the check that tells how it is broken."""

    fault: str
    check: str
    game: ToyGame


# What is asked and refused


class NoWayOut(ToyState):
    def legal_actions(self, seat: int) -> Sequence[Any]:
        return super().legal_actions(seat) if self.phase != GUARD or any(self.hands[seat]) else ()


class Twice(ToyState):
    def legal_actions(self, seat: int) -> Sequence[Any]:
        legal = super().legal_actions(seat)
        return (*legal, legal[-1]) if self.phase == TURN and self.turns[seat] == 2 else legal


class ForcedGuard(ToyState):
    """Whoever can guard against a robbery must."""

    def legal_actions(self, seat: int) -> Sequence[Any]:
        legal = super().legal_actions(seat)
        return legal[1:] if self.phase == GUARD and len(legal) > 1 else legal


class PassLast(ToyState):
    """Lists passing behind everything else."""

    def legal_actions(self, seat: int) -> Sequence[Any]:
        legal = super().legal_actions(seat)
        return (*legal[1:], legal[0]) if self.phase == TURN and legal else legal


class AsksAndRolls(ToyState):
    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        return ((1, 1),) if self.phase == GUARD else super().chance_outcomes()


class UnorderedNode(ToyState):
    def decisions(self) -> Sequence[Any]:
        return tuple(reversed(super().decisions()))


class HastyRefusal(ToyState):
    """Takes the bank's coin before it looks whether the action is legal."""

    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        self.bank -= 1
        self.coins[0] += 1
        events = super().apply(actions)
        self.coins[0] -= 1
        self.bank += 1
        return events


class HalfApplied(ToyState):
    """Of simultaneous answers, stores one after the other and stops at the first that is not legal."""

    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        if self.phase == STASH and sorted(actions) == self._staying():
            hands = [hand[:] for hand in self.hands]
            for seat in sorted(actions):
                if actions[seat] not in self.legal_actions(seat):
                    raise IllegalAction(f"seat {seat} cannot do {actions[seat]!r}")
                self.hands[seat][actions[seat].card - 1] -= 1
            self.hands = hands
        return super().apply(actions)


class TakesAnySeat(ToyState):
    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        asked = {decision.seat for decision in self.decisions()}
        return super().apply({seat: action for seat, action in actions.items() if seat in asked})


class TakesAnyOutcome(ToyState):
    def apply_chance(self, outcome: Outcome) -> list[Event]:
        return super().apply_chance(1 if self.phase == ROLL else outcome)


class WrongError(ToyState):
    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        if self.phase == TURN and actions[self.turn] not in self.legal_actions(self.turn):
            raise ValueError("not legal")
        return super().apply(actions)


# Chance and conservation


class EvenDraw(ToyState):
    """Every kind of card as likely as any other, however many are left."""

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        outcomes = super().chance_outcomes()
        return [(kind, 1) for kind, _ in outcomes] if self.phase in (DEAL, DRAW) else outcomes


class DoubledWeather(ToyState):
    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        outcomes = super().chance_outcomes()
        return [(tile, 2 * count) for tile, count in outcomes] if self.phase == WEATHER else outcomes


class SameEpoch(ToyState):
    """Reshuffles without saying so."""

    def chance_stream(self) -> Chance:
        stream = super().chance_stream()
        return Draw("weather") if self.phase == WEATHER else stream


class TiringDie(ToyState):
    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        outcomes = super().chance_outcomes()
        extra = self.turns[self.turn]
        return [(face, weight + extra) for face, weight in outcomes] if self.phase == ROLL else outcomes


class OneKeyDie(ToyState):
    """All rolls of a seat under one key: it would roll the same all match long."""

    def chance_stream(self) -> Chance:
        return Roll("die", self.turn, 0) if self.phase == ROLL else super().chance_stream()


class ZeroWeight(ToyState):
    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        outcomes = super().chance_outcomes()
        return [*outcomes, (4, 0)] if self.phase == ROLL else outcomes


class LostCard(ToyState):
    """What guards is not put on the discards."""

    def _guard(self, action: Any) -> list[Event]:
        before = self.discards[:]
        events = super()._guard(action)
        self.discards = before
        return events


class LostCoins(ToyState):
    """A seat that leaves takes its coins along."""

    def withdraw(self, seat: int) -> list[Event]:
        bank = self.bank
        events = super().withdraw(seat)
        self.bank = bank
        return events


# Copies


class SharedCoins(ToyState):
    def clone(self) -> ToyState:
        copy = super().clone()
        copy.coins = self.coins
        return copy


class ForgetfulClone(ToyState):
    def clone(self) -> ToyState:
        copy = super().clone()
        copy.peeks = [[] for _ in self.peeks]
        return copy


class FloatingBank(ToyState):
    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "bank": float(self.bank)}


class OpenDict(ToyState):
    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "turns": self.turns}


class LostInDict(ToyState):
    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "peeks": [[] for _ in self.peeks]}


class LiveObservation(ToyState):
    def observation(self, viewer: int | None) -> seen.Observation:
        return dataclasses.replace(super().observation(viewer), coins=self.coins)  # type: ignore[arg-type]


@dataclass
class Loose:
    """A payload that can be changed."""

    KIND: ClassVar[str] = "passed"
    seat: int


class LooseEvent(ToyState):
    def _act(self, action: Any) -> list[Event]:
        if isinstance(action, Pass):
            return [Event(Loose(self.turn)), *self._next_turn()]
        return super()._act(action)


# Secrets


class LeakingObservation(ToyState):
    """Shows the worth of every hand where its size should be."""

    def observation(self, viewer: int | None) -> seen.Observation:
        worths = tuple(sum(card * count for card, count in enumerate(hand, 1)) for hand in self.hands)
        return dataclasses.replace(super().observation(viewer), hand_sizes=worths)


class LeakingList(ToyState):
    """Offers a look only at stashes that are worth it."""

    def legal_actions(self, seat: int) -> Sequence[Any]:
        legal = super().legal_actions(seat)
        return tuple(a for a in legal if not isinstance(a, Peek) or self.stashes[a.seat] > 2)


class LoudDeal(ToyState):
    """Tells everyone which card was dealt."""

    def _deal(self, card: int) -> list[Event]:
        seat = self.turn
        events = super()._deal(card)
        return [Event(seen.Dealt(seat, card)), *events[1:]]


class LoudStash(ToyState):
    """Tells everyone which card was stashed."""

    def _stash(self, actions: Mapping[int, Any]) -> list[Event]:
        super()._stash(actions)
        return [Event(seen.Stashed(seat, actions[seat].card)) for seat in sorted(actions)]


class LoudRobbery(ToyState):
    """Tells the robber how much the victim's stash is worth, in the size of the loot."""

    def _guard(self, action: Any) -> list[Event]:
        target = self.pending[0]
        first, *rest = super()._guard(action)
        if isinstance(first.public, seen.Robbed):
            first = Event(first.public, {self.turn: seen.Robbed(target, 100 * self.stashes[target])})
        return [first, *rest]


class SharesInResample(ToyState):
    """What is played on a resampled state shows in the state itself."""

    def resample(self, viewer: int | None, rng: random.Random) -> ToyState:
        other = super().resample(viewer, rng)
        other.coins = self.coins
        return other


class ResampledSelf(ToyState):
    """Takes the viewer's own hand for unknown."""

    def shuffle_unknown(self, viewer: int | None, rng: random.Random) -> None:
        super().shuffle_unknown(None, rng)


class ForgesInResample(ToyState):
    """Puts a card back into the deck with another value."""

    def shuffle_unknown(self, viewer: int | None, rng: random.Random) -> None:
        super().shuffle_unknown(viewer, rng)
        if self.deck[0]:
            self.deck[0] -= 1
            self.deck[1] += 1


class ResamplesItself(ToyState):
    """Shuffles the state it was asked of, not only the copy."""

    def resample(self, viewer: int | None, rng: random.Random) -> ToyState:
        copy = super().resample(viewer, rng)
        self.shuffle_unknown(None, random.Random(0))
        return copy


class ResamplesNothing(ToyState):
    def shuffle_unknown(self, viewer: int | None, rng: random.Random) -> None:
        return


class ResamplesTooLittle(ToyState):
    """Deals only the last seat's hand anew, from the deck."""

    def shuffle_unknown(self, viewer: int | None, rng: random.Random) -> None:
        hand = self.hands[-1]
        if viewer != len(self.hands) - 1:
            pool = cards_of(self.deck) + cards_of(hand)
            rng.shuffle(pool)
            self.hands[-1] = self._counts(pool[: sum(hand)])
            self.deck = self._counts(pool[sum(hand) :])


class ForgetfulGame(ToyGame):
    """Builds states in which the bot holds other cards than it saw."""

    def from_observation(
        self, observation: Any, history: Sequence[Any], options: Mapping[str, Any], rng: random.Random
    ) -> ToyState:
        state = super().from_observation(observation, history, options, rng)
        state.shuffle_unknown(None, rng)
        return state


# Leaving and the end


class Ghost(ToyState):
    """Whoever leaves in its own turn is asked all the same."""

    def withdraw(self, seat: int) -> list[Event]:
        turn, phase, pending, turns = self.turn, self.phase, self.pending, self.turns[:]
        events = super().withdraw(seat)
        if phase == TURN and turn == seat and self.phase == TURN:
            self.turn, self.phase, self.pending, self.turns = turn, phase, pending, turns
        return events


class LeavesTwice(ToyState):
    def withdraw(self, seat: int) -> list[Event]:
        if seat in self.left:
            return []
        return super().withdraw(seat)


class DenseRanks(ToyState):
    def ranking(self) -> tuple[int, ...]:
        ranks = super().ranking()
        order = sorted(set(ranks))
        return tuple(order.index(rank) + 1 for rank in ranks)


class ShortRanking(ToyState):
    def ranking(self) -> tuple[int, ...]:
        return super().ranking()[:-1]


class SilentGuard(ToyGame):
    decision_kinds = (STASH, TURN)


class SmallBound(ToyGame):
    """Forgets that robbed seats are asked, too."""

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        rounds: int = options["rounds"]
        return players + players * rounds


class FirstComeFirstTold(ToyState):
    """Tells of simultaneous answers in the order in which they came."""

    def _stash(self, actions: Mapping[int, Any]) -> list[Event]:
        super()._stash(actions)
        return [
            Event(seen.Stashed(seat, 0), {seat: seen.Stashed(seat, action.card)}) for seat, action in actions.items()
        ]


class FirstComeFirstServed(ToyState):
    """Whose answer comes first has the first turn."""

    def _stash(self, actions: Mapping[int, Any]) -> list[Event]:
        events = super()._stash(actions)
        self.turn = next(iter(actions))
        return events


# Text, bytes, pictures, replay


class LooseText(ToyGame):
    def parse_action(self, text: str) -> Any:
        return super().parse_action(text.replace(" ", ""))


class SwappedText(ToyGame):
    def parse_action(self, text: str) -> Any:
        action = super().parse_action(text)
        return Rob(action.card, action.seat) if isinstance(action, Rob) else action


class SwappingCodec(ToyCodec):
    def decode_action(self, data: bytes) -> Any:
        action = super().decode_action(data)
        return Rob(action.card, action.seat) if isinstance(action, Rob) else action


class FragileCodec(ToyCodec):
    """Lets the decoder's own exceptions through."""

    def decode_action(self, data: bytes) -> Any:
        data.decode("ascii")
        return super().decode_action(data)


class WideView(ToyView):
    def text_board(self, observation: Any, names: Sequence[str] = ()) -> str:
        return super().text_board(observation, names) + "\n" + "=" * 101


class ColouredView(ToyView):
    def event_sentence(self, payload: Any, observation: Any, names: Sequence[str] = ()) -> str:
        return f"\x1b[1m{super().event_sentence(payload, observation, names)}"


class IdInAction(ToyView):
    def action_sentence(self, action: Any, observation: Any, names: Sequence[str] = ()) -> str:
        return f"{super().action_sentence(action, observation, names)} of deck_one"


class IdInEvent(ToyView):
    def event_sentence(self, payload: Any, observation: Any, names: Sequence[str] = ()) -> str:
        return f"{super().event_sentence(payload, observation, names)} (T07)"


class IdOnBoard(ToyView):
    def text_board(self, observation: Any, names: Sequence[str] = ()) -> str:
        return f"{super().text_board(observation, names)}\nR01 free"


class Numbering(ToyView):
    """Has no names for anybody."""

    def event_sentence(self, payload: Any, observation: Any, names: Sequence[str] = ()) -> str:
        return super().event_sentence(payload, observation)


class Rambling(ToyView):
    """Says what happened with something that no message holds: how much it has said before."""

    def __init__(self) -> None:
        self.said = 0

    def event_sentence(self, payload: Any, observation: Any, names: Sequence[str] = ()) -> str:
        self.said += 1
        return f"{super().event_sentence(payload, observation, names)} after {self.said} sentences"


class OlderView:
    """The view of a game from before sentences with names."""

    def text_board(self, observation: Any) -> str:
        return ToyView().text_board(observation)

    def describe_action(self, action: Any) -> str:
        return ToyView().action_sentence(action, None)

    def describe_event(self, payload: Any) -> str:
        return ToyView().event_sentence(payload, None)


class Moody(ToyGame):
    """Every other match has one coin less."""

    def __init__(self) -> None:
        super().__init__()
        self.matches = 0

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> ToyState:
        state = super().new_initial_state(players, options)
        self.matches += 1
        state.bank -= self.matches % 2
        return state


class Crashing(ToyState):
    def _turn_weather(self, tile: str) -> list[Event]:
        if tile == "storm":
            raise KeyError(tile)
        return super()._turn_weather(tile)


def with_view(view: Any) -> ToyGame:
    game = ToyGame()
    game.view = view
    return game


MUTANTS = (
    Mutant("a seat without a hand is robbed and has no legal action", "legal_list", ToyGame(NoWayOut)),
    Mutant("an action is listed twice", "legal_list", ToyGame(Twice)),
    Mutant("a menu of optional actions has no pass", "optional", ToyGame(ForcedGuard)),
    Mutant("passing is not listed first", "optional", ToyGame(PassLast)),
    Mutant("a decision node is a chance node as well", "nodes", ToyGame(AsksAndRolls)),
    Mutant("a decision's kind is not declared", "nodes", SilentGuard()),
    Mutant("decisions are not in seat order", "nodes", ToyGame(UnorderedNode)),
    Mutant("a refusal changes the state", "refusal", ToyGame(HastyRefusal)),
    Mutant("a half of simultaneous answers stays when the other is refused", "refusal", ToyGame(HalfApplied)),
    Mutant("answers of seats that were not asked are ignored", "refusal", ToyGame(TakesAnySeat)),
    Mutant("an outcome that cannot come is taken", "refusal", ToyGame(TakesAnyOutcome)),
    Mutant("an illegal action raises ValueError", "refusal", ToyGame(WrongError)),
    Mutant("a draw is not weighted by the cards left", "draw_stream", ToyGame(EvenDraw)),
    Mutant("weights are twice the tiles", "draw_stream", ToyGame(DoubledWeather)),
    Mutant("a reshuffle does not raise the epoch", "draw_stream", ToyGame(SameEpoch)),
    Mutant("a die changes its weights", "roll_stream", ToyGame(TiringDie)),
    Mutant("a die is rolled again under the same key", "roll_stream", ToyGame(OneKeyDie)),
    Mutant("an outcome has weight 0", "chance", ToyGame(ZeroWeight)),
    Mutant("a card is lost", "conservation", ToyGame(LostCard)),
    Mutant("coins leave with a seat", "conservation", ToyGame(LostCoins)),
    Mutant("a clone shares a list", "clone", ToyGame(SharedCoins)),
    Mutant("a clone forgets something", "clone", ToyGame(ForgetfulClone)),
    Mutant("the state holds a float", "dict", ToyGame(FloatingBank)),
    Mutant("to_dict() hands out the state's own list", "dict", ToyGame(OpenDict)),
    Mutant("to_dict() leaves something out", "dict", ToyGame(LostInDict)),
    Mutant("an observation holds the state's own list", "values", ToyGame(LiveObservation)),
    Mutant("a payload is not frozen", "values", ToyGame(LooseEvent)),
    Mutant("an observation leaks", "non_interference", ToyGame(LeakingObservation)),
    Mutant("a legal list leaks", "non_interference", ToyGame(LeakingList)),
    Mutant("an event leaks a drawn card", "events", ToyGame(LoudDeal)),
    Mutant("an event leaks a secret answer", "events", ToyGame(LoudStash)),
    Mutant("a private part leaks another seat's secret", "events", ToyGame(LoudRobbery)),
    Mutant("resample changes the viewer's own hand", "non_interference", ToyGame(ResampledSelf)),
    Mutant("resample forges a card", "conservation", ToyGame(ForgesInResample)),
    Mutant("a resampled state shares a list with the state", "resample", ToyGame(SharesInResample)),
    Mutant("a built state differs for its seat", "from_observation", ForgetfulGame()),
    Mutant("a seat that left is asked", "withdraw", ToyGame(Ghost)),
    Mutant("a seat can leave twice", "refusal", ToyGame(LeavesTwice)),
    Mutant("ranks are not skipped after a tie", "ending", ToyGame(DenseRanks)),
    Mutant("a seat has no rank", "ending", ToyGame(ShortRanking)),
    Mutant("max_decisions is too small", "max_decisions", SmallBound()),
    Mutant("action text with blanks is taken", "action_text", LooseText()),
    Mutant("action text is read wrongly", "action_text", SwappedText()),
    Mutant("the codec is not symmetric", "codec", ToyGame(codec=SwappingCodec())),
    Mutant("the codec raises UnicodeDecodeError", "codec", ToyGame(codec=FragileCodec())),
    Mutant("a board is too wide", "view", with_view(WideView())),
    Mutant("a sentence has colour codes", "view", with_view(ColouredView())),
    Mutant("there are no sentences with names", "sentences", with_view(OlderView())),
    Mutant("a sentence about an action has an id", "sentences", with_view(IdInAction())),
    Mutant("a sentence about an event has an id", "sentences", with_view(IdInEvent())),
    Mutant("a board has an id", "sentences", with_view(IdOnBoard())),
    Mutant("a sentence calls a named seat by its number", "sentences", with_view(Numbering())),
    Mutant("a sentence holds what its viewer was not sent", "sentences", with_view(Rambling())),
    Mutant("events depend on the order of answers", "answer_order", ToyGame(FirstComeFirstTold)),
    Mutant("the state depends on the order of answers", "answer_order", ToyGame(FirstComeFirstServed)),
    Mutant("a match depends on those before it", "replay", Moody()),
    Mutant("a rule raises KeyError", "crash", ToyGame(Crashing)),
)
"""Faults that one match shows."""

RESAMPLES_ITSELF = Mutant("resample changes the state itself", "resample", ToyGame(ResamplesItself))
RESAMPLES_NOTHING = Mutant("resample is a clone", "resample", ToyGame(ResamplesNothing))
RESAMPLES_TOO_LITTLE = Mutant("resample leaves most hands as they are", "resample", ToyGame(ResamplesTooLittle))


# Faults of the game object, and under another hash seed


class UnorderedList(ToyState):
    def legal_actions(self, seat: int) -> Sequence[Any]:
        legal = super().legal_actions(seat)
        texts = {repr(action): action for action in legal[1:]}
        return (*legal[:1], *(texts[text] for text in set(texts)))


class SharedData(ToyGame):
    def __init__(self) -> None:
        super().__init__()
        self.data = ToyGame.default_data(self)

    def default_data(self) -> dict[str, Any]:
        return self.data


class FragileData(ToyGame):
    def check_data(self, data: Any) -> None:
        super().check_data({"cards": data["cards"], "weather": data["weather"]})


class RefusedDefault(ToyGame):
    options = (*ToyGame.options, Option("stakes", 5, "How high it goes.", "OURS", minimum=6))


class AnyPlayers(ToyGame):
    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> ToyState:
        return super().new_initial_state(min(max(players, 2), 4), options)


UNORDERED_LIST = ToyGame(UnorderedList)
SHARED_DATA = SharedData()
FRAGILE_DATA = FragileData()
REFUSED_DEFAULT = RefusedDefault()
ANY_PLAYERS = AnyPlayers()
LEAKING = ToyGame(LeakingObservation)


class Dying(ToyState):
    """Ends the whole process. Not for the process of the tests."""

    def _guard(self, action: Any) -> list[Event]:
        os._exit(3)


DYING = ToyGame(Dying)


class KinderDie(ToyState):
    """A changed rule under an unchanged rules version."""

    def _roll(self, die: int) -> list[Event]:
        return super()._roll(die + 1)


KINDER_DIE = ToyGame(KinderDie)
