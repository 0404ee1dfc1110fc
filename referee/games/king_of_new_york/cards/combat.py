"""Verbs that hurt, and that answer or follow an attack."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.cards.plain import Effect
from referee.games.king_of_new_york.damage import card_strikes, units_in
from referee.games.king_of_new_york.gains import give_jinx, give_web, lose_vp, move_energy
from referee.games.king_of_new_york.moments import Hook
from referee.games.king_of_new_york.names import NOBODY

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState


def take_energy(effect: Effect, card: int, name: str) -> Hook:
    """The attacker hands energy over."""
    amount = effect["amount"]

    def hook(state: "KingState", seat: int, attacker: int) -> None:
        move_energy(state, attacker, seat, amount, name)

    return hook


def lose_victims_vp(effect: Effect, card: int, name: str) -> Hook:
    """The attacked monster loses VP."""
    amount = effect["amount"]

    def hook(state: "KingState", seat: int, victim: int) -> None:
        lose_vp(state, victim, amount, name)

    return hook


def give_token(effect: Effect, card: int, name: str) -> Hook:
    """The monster hurt by the owner gets a token."""
    give = {"web": give_web, "jinx": give_jinx}[effect["token"]]

    def hook(state: "KingState", seat: int, victim: int) -> None:
        give(state, victim)

    return hook


def strike_other(effect: Effect, card: int, name: str) -> Hook:
    """Damage to the seat this is about, if it is one."""
    amount = effect["amount"]

    def hook(state: "KingState", seat: int, other: int) -> None:
        if other != NOBODY:
            card_strikes(state, card, seat, [amount * (target == other) for target in range(state.players)])

    return hook


def strike_self(effect: Effect, card: int, name: str) -> Hook:
    """Damage to the buyer."""
    amount = effect["amount"]

    def hook(state: "KingState", seat: int, about: int) -> None:
        card_strikes(state, card, seat, [amount * (target == seat) for target in range(state.players)])

    return hook


def strike_all(effect: Effect, card: int, name: str) -> Hook:
    """Damage to every monster, the buyer included."""
    amount = effect["amount"]

    def hook(state: "KingState", seat: int, about: int) -> None:
        card_strikes(state, card, seat, [amount] * state.players)

    return hook


def units_strike(effect: Effect, card: int, name: str) -> Hook:
    """Every Unit hurts every monster in its borough; this damage is nobody's."""

    def hook(state: "KingState", seat: int, about: int) -> None:
        card_strikes(state, card, NOBODY, [units_in(state, borough) for borough in state.where])

    return hook
