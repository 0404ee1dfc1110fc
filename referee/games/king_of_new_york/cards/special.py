"""Verbs of a single card each."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import SHED, Discard, KingAction, Menu, Photo, Shed, Trade
from referee.games.king_of_new_york.agenda import DISCARD, PHOTO, PUSH, TRADE, Task
from referee.games.king_of_new_york.cards.plain import Effect, showing
from referee.games.king_of_new_york.damage import shed_carapace
from referee.games.king_of_new_york.dice import add_results
from referee.games.king_of_new_york.elimination import clockwise, eliminate, lose_card
from referee.games.king_of_new_york.ending import finish
from referee.games.king_of_new_york.events import SouvenirPlaced, TokensChanged, event
from referee.games.king_of_new_york.gains import gain_energy, gain_vp, heal, lose_vp
from referee.games.king_of_new_york.moments import Hook
from referee.games.king_of_new_york.names import ATTACK, BOROUGHS, DESTRUCTION, FACE_NUMBER

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_PHOTOS = tuple(Photo(seat) for seat in range(6))
_TRADES = tuple(Trade(energy) for energy in range(128))


def carapace_tokens(effect: Effect, card: int, name: str) -> Hook:
    """A token on the card for each die that shows the face, while there are any."""
    face = FACE_NUMBER[effect["face"]]

    def hook(state: "KingState", seat: int, about: int) -> None:
        amount = min(state.dice[face], state.carapace_left)
        if amount:
            state.carapace[seat] += amount
            state.carapace_left -= amount
            state.log.append(event(TokensChanged, seat, "carapace", amount))

    return hook


def painbow(effect: Effect, card: int, name: str) -> Hook:
    """Attack results, or the game, for Destruction."""
    one, two, win = effect["one"], effect["two"], effect["win"]

    def hook(state: "KingState", seat: int, about: int) -> None:
        count = state.dice[DESTRUCTION]
        if state.box.painbow_modified:
            count += state.bonus[DESTRUCTION]
        if state.box.painbow_exact:
            step = {one: one, two: two, win: win}.get(count, 0)
        else:
            step = max((step for step in (one, two, win) if step <= count), default=0)
        if step == win:
            finish(state, seat, "painbow")
        elif step:
            add_results(state, seat, ATTACK, 1 if step == one else 2, name)

    return hook


def energy_for_all(effect: Effect, card: int, name: str) -> Hook:
    """Energy for every monster, clockwise from the buyer."""
    amount = effect["amount"]

    def hook(state: "KingState", seat: int, about: int) -> None:
        for target in clockwise(state, seat):
            gain_energy(state, target, amount, name)

    return hook


def discard_for_all(effect: Effect, card: int, name: str) -> Hook:
    """Every monster with Keep cards discards one of them, clockwise from the buyer."""

    def hook(state: "KingState", seat: int, about: int) -> None:
        state.agenda.extend((DISCARD, owner) for owner in reversed(clockwise(state, seat)))

    return hook


def discard_menu(state: "KingState", task: Task) -> Menu:
    """One's Keep cards; Carapace may be used first."""
    seat = task[1]
    menu: list[KingAction] = [
        discard for number, discard in enumerate(state.box.discards) if state.keep[seat] >> number & 1
    ]
    if state.carapace[seat]:
        menu.append(SHED)
    return menu


def discard(state: "KingState", task: Task, action: KingAction) -> None:
    """Discard a card, or use Carapace and ask again."""
    if type(action) is Discard:
        lose_card(state, task[1], state.box.card_number[action.card])
    elif type(action) is Shed:
        state.agenda.append(task)
        shed_carapace(state, task[1])


def photo(effect: Effect, card: int, name: str) -> Hook:
    """Choose whose damage counts."""

    def hook(state: "KingState", seat: int, about: int) -> None:
        state.agenda.append((PHOTO, seat))

    return hook


def photo_menu(state: "KingState", task: Task) -> Menu:
    """Any other seat, also one that is out."""
    return [_PHOTOS[seat] for seat in range(state.players) if seat != task[1]]


def take_photo(state: "KingState", task: Task, action: KingAction) -> None:
    """1 VP for each point of damage dealt to it this turn."""
    if type(action) is Photo and state.dealt[action.seat]:
        gain_vp(state, task[1], state.dealt[action.seat], "photo_op")


def trade_vp(effect: Effect, card: int, name: str) -> Hook:
    """All VP are lost; what becomes of each is asked."""

    def hook(state: "KingState", seat: int, about: int) -> None:
        points = lose_vp(state, seat, min(state.vp[seat], len(_TRADES) - 1), name)
        if points:
            state.agenda.append((TRADE, seat, points))

    return hook


def trade_menu(state: "KingState", task: Task) -> Menu:
    """How many points become energy, all of them first."""
    return _TRADES[task[2] :: -1]


def trade(state: "KingState", task: Task, action: KingAction) -> None:
    """Energy for some points, life for the others."""
    if type(action) is Trade:
        _, seat, points = task
        if action.energy:
            gain_energy(state, seat, action.energy, "next_stage")
        if points > action.energy:
            heal(state, seat, points - action.energy, "next_stage")


def souvenir(effect: Effect, card: int, name: str) -> Hook:
    """A token for the owner's borough if it has none."""
    vp, energy = effect["vp"], effect["energy"]

    def hook(state: "KingState", seat: int, about: int) -> None:
        borough = state.where[seat]
        bit = 1 << borough
        if not state.souvenirs & bit:
            state.souvenirs |= bit
            state.log.append(event(SouvenirPlaced, seat, BOROUGHS[borough]))
            gain_vp(state, seat, vp, name)
            gain_energy(state, seat, energy, name)

    return hook


def push_units(effect: Effect, card: int, name: str) -> Hook:
    """Choose Units to push out of the borough just entered."""
    limit = effect["limit"]

    def hook(state: "KingState", seat: int, borough: int) -> None:
        state.agenda.append((PUSH, seat, borough, 0, limit))

    return hook


def perish(effect: Effect, card: int, name: str) -> Hook:
    """The card and its owner are lost if the final roll showed the face."""
    face = FACE_NUMBER[effect["face"]]

    def hook(state: "KingState", seat: int, about: int) -> None:
        if showing(state, face):
            lose_card(state, seat, card)
            eliminate(state, [seat], name)

    return hook


def claim_keep_card(effect: Effect, card: int, name: str) -> Hook:
    """The next Keep card that is revealed is the buyer's."""

    def hook(state: "KingState", seat: int, about: int) -> None:
        state.claims.append(seat)

    return hook
