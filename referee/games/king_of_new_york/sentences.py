"""How actions and events read: templates over their fields, or functions where the wording depends on values."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Sentence: TypeAlias = "str | Callable[[Any], str]"


def _hail(action: Any) -> str:
    return "Add the Destruction of Hailing Cabs, for Units only" if action.use else "Do not hail cabs"


def _absorb(action: Any) -> str:
    return f"Pay for {action.energy} of the damage with energy" if action.energy else "Take all the damage"


def _turn_began(event: Any) -> str:
    return f"Seat {event.seat} begins {'an extra' if event.extra else 'its'} turn"


def _gained(event: Any) -> str:
    verb = "gains" if event.amount > 0 else "loses"
    what = "VP" if event.what == "vp" else event.what
    return f"Seat {event.seat} {verb} {abs(event.amount)} {what} ({event.cause.replace('_', ' ')})"


def _hurt(event: Any) -> str:
    paid = f", {event.absorbed} of it paid with energy" if event.absorbed else ""
    return f"Seat {event.seat} takes {event.amount} damage ({event.cause.replace('_', ' ')}){paid}"


def _tokens(event: Any) -> str:
    return f"Seat {event.seat} {'gets' if event.amount > 0 else 'loses'} {abs(event.amount)} {event.token} tokens"


def _moved(event: Any) -> str:
    zone = ("lower ", "midtown ", "upper ")[event.space % 3] if event.borough == "manhattan" else ""
    place = (zone + event.borough.replace("_", " ")).title()
    return f"Seat {event.seat} is in {place} now ({event.reason.replace('_', ' ')})"


def _goal_moved(event: Any) -> str:
    goal = {"superstar": "Superstar", "statue_of_liberty": "the Statue of Liberty"}[event.goal]
    if event.seat < 0:
        return f"{goal[0].upper()}{goal[1:]} goes back to the table"
    source = "" if event.previous < 0 else f" from seat {event.previous}"
    return f"Seat {event.seat} takes {goal}{source}"


def _finished(event: Any) -> str:
    winner = "nobody wins" if event.winner < 0 else f"seat {event.winner} wins"
    return f"The match is over, {winner} ({event.reason.replace('_', ' ')})"


def _resolved(event: Any) -> str:
    removed = f", {event.removed} of them to take off tokens" if event.removed else ""
    return f"Seat {event.seat} resolves {event.amount} {event.face}{removed}"


ACTION_SENTENCES: Mapping[str, Sentence] = {
    "pass": "Go on",
    "keep": "Keep all dice",
    "stay": "Stay",
    "place": "Start in {borough}",
    "reroll": "Roll again: {counts}",
    "convert": "Make the dice show {energy} energy, {attack} attack, {heart} heart",
    "swap": "Give up a celebrity die and turn a die from {die} to {to}",
    "give_up": "Give up a celebrity die",
    "hail": _hail,
    "resolve": "Resolve {face}",
    "remove": "Resolve {face}, taking off {tokens} tokens",
    "redirect": "Use the destruction in {borough}",
    "destroy_building": "Destroy the building on stack {stack}",
    "destroy_unit": "Destroy a {unit} in {borough}",
    "move": "Move to {borough}",
    "dash": "Move to {borough} before rolling",
    "ride": "Ride the subway to {borough}",
    "flee": "Flee to {borough}",
    "leave": "Leave Manhattan for {borough}",
    "push": "Push a {unit} into {borough}",
    "buy": "Buy {card}",
    "scavenge": "Buy {card} out of the discard pile",
    "sweep": "Sweep the market",
    "discard": "Discard {card}",
    "photo": "Take a photo of seat {seat}",
    "trade": "Turn {energy} of the lost VP into energy and heal with the others",
    "absorb": _absorb,
    "pay": "Pay {life} of the cost with life",
    "shed": "Discard Carapace and heal with its tokens",
}
EVENT_SENTENCES: Mapping[str, Sentence] = {
    "tile_shown": "Stack {stack} shows {tile}",
    "card_shown": "{card} comes into the market",
    "reshuffled": "The discard pile of {cards} cards becomes the deck",
    "start_rolled": "Seat {seat} rolls {attacks} attack for the first turn",
    "start_player": "Seat {seat} begins the match",
    "turn_began": _turn_began,
    "rerolled": "Seat {seat} rolls again: {counts}",
    "rolled": "Seat {seat} has rolled {counts}",
    "converted": "Seat {seat} turns dice to {counts}",
    "added": "Seat {seat} adds {amount} {face} ({cause})",
    "resolved": _resolved,
    "gained": _gained,
    "hurt": _hurt,
    "defence_rolled": "Seat {seat} rolls {face} against Antimatter Pellets",
    "tokens_changed": _tokens,
    "souvenir_placed": "Seat {seat} puts a Souvenir token into {borough}",
    "building_destroyed": "Seat {seat} destroys {tile} on stack {stack}",
    "unit_destroyed": "Seat {seat} destroys a {unit} in {borough}",
    "unit_pushed": "Seat {seat} pushes a {unit} from {left} into {borough}",
    "placed": "Seat {seat} starts in {borough}",
    "moved": _moved,
    "shifted": "Seat {seat} moves over to the space 2-4",
    "stayed": "Seat {seat} does not flee",
    "bought": "Seat {seat} gets {card} for {cost} energy ({origin})",
    "swept": "Seat {seat} sweeps the market",
    "card_lost": "Seat {seat} loses {card}",
    "extra_turn": "Seat {seat} will have an extra turn ({cause})",
    "goal_moved": _goal_moved,
    "eliminated": "Seat {seat} is out ({cause})",
    "withdrew": "Seat {seat} leaves the match",
    "finished": _finished,
}
