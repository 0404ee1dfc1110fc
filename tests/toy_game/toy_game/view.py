"""The toy game for terminals and logs."""

from collections.abc import Sequence
from typing import Any

from referee.games.api import seat_name
from toy_game import actions as act
from toy_game import seen


class ToyView:
    dealt = {"dealt": "card"}  # noqa: RUF012 - nobody changes it

    def text_board(self, observation: Any, names: Sequence[str] = ()) -> str:
        o: seen.Observation = observation
        lines = [
            f"{o.phase}, turn of {seat_name(names, o.turn)}, bank {o.bank}, deck {o.deck_size}, "
            f"discards {_counts(o.discards)}",
            f"weather left {' '.join(str(count) for count in o.weather)} (shuffle {o.weather_epoch})",
            "seat  coins  cards  stash  turns",
        ]
        for seat, coins in enumerate(o.coins):
            stash = str(o.stashes[seat] or "?") if o.stashed[seat] else "-"
            mark = "*" if seat == o.viewer else " "
            lines.append(f"{seat}{mark}    {coins:5}  {o.hand_sizes[seat]:5}  {stash:>5}  {o.turns[seat]:5}")
        if o.viewer >= 0:
            lines.append(f"your hand: {_counts(o.hand)}")
        return "\n".join(lines)

    def action_sentence(self, action: Any, observation: Any, names: Sequence[str] = ()) -> str:
        match action:
            case act.Stash(card):
                return f"stash a card of value {card}"
            case act.Pass():
                return "pass"
            case act.DrawCard():
                return "draw a card"
            case act.Play(card):
                return f"play a card of value {card}"
            case act.Rob(seat, card):
                return f"rob {seat_name(names, seat)} with a card of value {card}"
            case act.Peek(seat):
                return f"look at the stash of {seat_name(names, seat)}"
            case act.Yield():
                return "yield"
            case act.Guard(card):
                return f"guard with a card of value {card}"
        raise TypeError(f"not an action of this game: {action!r}")

    def event_sentence(self, payload: Any, observation: Any, names: Sequence[str] = ()) -> str:
        match payload:
            case seen.Dealt(seat, card):
                return f"{seat_name(names, seat)} gets a card{_of(card)}"
            case seen.Stashed(seat, card):
                return f"{seat_name(names, seat)} stashes a card{_of(card)}"
            case seen.Passed(seat):
                return f"{seat_name(names, seat)} passes"
            case seen.Played(seat, card):
                return f"{seat_name(names, seat)} plays a card{_of(card)}"
            case seen.Weather(tile):
                return f"the weather: {tile}"
            case seen.Gained(seat, die, coins):
                return f"{seat_name(names, seat)} rolls {die} and gains {coins} coins"
            case seen.Robbing(seat, target, card):
                return f"{seat_name(names, seat)} robs {seat_name(names, target)} with a card{_of(card)}"
            case seen.Guarded(seat, card):
                return f"{seat_name(names, seat)} guards with a card{_of(card)}"
            case seen.Robbed(seat, coins):
                return f"{seat_name(names, seat)} loses {coins} coins"
            case seen.Peeked(seat, target, card):
                stash = f"the stash of {seat_name(names, target)}{f': {card}' if card else ''}"
                return f"{seat_name(names, seat)} looks at {stash}"
            case seen.Left(seat, cards):
                return f"{seat_name(names, seat)} leaves, discarding {_counts(cards)}"
            case seen.Ended(stashes):
                return f"the end; stashes: {' '.join(str(stash) for stash in stashes)}"
        raise TypeError(f"not an event of this game: {payload!r}")


def _of(card: int) -> str:
    return f" of value {card}" if card else ""


def _counts(counts: tuple[int, ...]) -> str:
    return " ".join(str(value + 1) for value, count in enumerate(counts) for _ in range(count)) or "none"
