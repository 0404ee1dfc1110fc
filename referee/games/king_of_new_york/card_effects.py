"""What the cards do at their triggers: the conditions and verbs of `cards.py`, and the questions of single cards.

README.md, section "Cards", has the text of each card and how this program reads it. The functions of `VERB_EFFECTS`
get the position, the owner's seat, what the trigger is about, and the effect.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from referee.games.api import event
from referee.games.king_of_new_york.actions import SHED, Discard, KingAction, Menu, Photo, Shed, Trade
from referee.games.king_of_new_york.cards import Effect, Triggered
from referee.games.king_of_new_york.constants import (
    ATTACK,
    BOROUGH_NUMBER,
    BOROUGHS,
    CARD_DAMAGE,
    CARD_DAMAGE_SOURCE,
    DESTRUCTION,
    DISCARD,
    FACE_NUMBER,
    FACES,
    NO_SEAT,
    PHOTO,
    PUSH,
    TRADE,
    UNIT_NUMBER,
    Task,
)
from referee.games.king_of_new_york.events import ExtraTurn, SouvenirPlaced
from referee.games.king_of_new_york.state import Position

_PHOTOS: Final = tuple(Photo(seat) for seat in range(6))
_TRADES: Final = tuple(Trade(energy) for energy in range(128))


def trigger(triggered: Triggered, state: Position, seat: int, about: int = 0) -> None:
    """Let the cards of a seat act, until one of them ends the match."""
    owned = state.keep_cards[seat] & triggered.mask
    if owned:
        for bit, effect in triggered.effects:
            if owned & bit and not state.reason:
                _carry_out(effect, state, seat, about)


def carry_out(effects: Iterable[Effect], state: Position, seat: int) -> None:
    """Let a card act that this seat buys."""
    for effect in effects:
        _carry_out(effect, state, seat, effect.card)


def _carry_out(effect: Effect, state: Position, seat: int, about: int) -> None:
    for word, value in effect.conditions:
        if not _CONDITION_TESTS[word](state, seat, about, value):
            return
    VERB_EFFECTS[effect.verb](state, seat, about, effect)


def _all_faces(state: Position, seat: int, about: int, value: bool) -> bool:
    bonus = state.bonus if state.ruleset.climb_counts_bonus else [0] * len(FACES)
    return all(count + added for count, added in zip(state.dice, bonus, strict=True))


_CONDITION_TESTS: Final[Mapping[str, Callable[[Position, int, int, Any], bool]]] = {
    "in": lambda state, seat, about, borough: state.borough[seat] == BOROUGH_NUMBER[borough],
    "holding": lambda state, seat, about, goal: (
        seat == (state.superstar_seat if goal == "superstar" else state.statue_seat)
    ),
    "showing": lambda state, seat, about, face: state.dice_showing(FACE_NUMBER[face]) > 0,
    "all_faces": _all_faces,
    "unit": lambda state, seat, about, unit: about == UNIT_NUMBER[unit],
    "first": lambda state, seat, about, flag: state.razed == 1,
    "units_here": lambda state, seat, about, count: state.units_in(state.borough[seat]) >= count,
}


# Verbs that give something


def _gain(state: Position, seat: int, about: int, effect: Effect) -> None:
    values = effect.values
    if vp := values.get("vp"):
        state.gain_vp(seat, vp, effect.card_id)
    if energy := values.get("energy"):
        state.gain_energy(seat, energy, effect.card_id)
    if life := values.get("life"):
        state.heal(seat, life, effect.card_id)


def _add(state: Position, seat: int, about: int, effect: Effect) -> None:
    for face, name in enumerate(FACES):
        if name in effect.values:
            state.add_results(seat, face, effect.values[name], effect.card_id)


def _extra_turn(state: Position, seat: int, about: int, effect: Effect) -> None:
    state.extra_turns.append(seat * 2 + bool(effect.values.get("rides")))
    state.log.append(event(ExtraTurn, seat, effect.card_id))


def _carapace_tokens(state: Position, seat: int, about: int, effect: Effect) -> None:
    state.change_tokens(seat, "carapace", state.dice[FACE_NUMBER[effect.values["face"]]])


def _painbow(state: Position, seat: int, about: int, effect: Effect) -> None:
    one, two, win = (effect.values[word] for word in ("one", "two", "win"))
    count = state.dice[DESTRUCTION]
    if state.ruleset.painbow_counts_modified:
        count += state.bonus[DESTRUCTION]
    if state.ruleset.painbow_mode == "exact":
        step = count if count in (one, two, win) else 0
    else:
        step = max((step for step in (one, two, win) if step <= count), default=0)
    if step == win:
        state.finish(seat, "painbow")
    elif step:
        state.add_results(seat, ATTACK, 1 if step == one else 2, effect.card_id)


def _energy_for_all(state: Position, seat: int, about: int, effect: Effect) -> None:
    for target in state.clockwise(seat):
        state.gain_energy(target, effect.values["amount"], effect.card_id)


def _souvenir(state: Position, seat: int, about: int, effect: Effect) -> None:
    borough = state.borough[seat]
    if not state.souvenirs >> borough & 1:
        state.souvenirs |= 1 << borough
        state.log.append(event(SouvenirPlaced, seat, BOROUGHS[borough]))
        state.gain_vp(seat, effect.values["vp"], effect.card_id)
        state.gain_energy(seat, effect.values["energy"], effect.card_id)


def _claim_keep_card(state: Position, seat: int, about: int, effect: Effect) -> None:
    state.claims.append(seat)


# Verbs that hurt, and that answer or follow an attack. They are about the other seat.


def _take_energy(state: Position, seat: int, attacker: int, effect: Effect) -> None:
    state.move_energy(attacker, seat, effect.values["amount"], effect.card_id)


def _lose_vp(state: Position, seat: int, victim: int, effect: Effect) -> None:
    state.lose_vp(victim, effect.values["amount"], effect.card_id)


def _give_token(state: Position, seat: int, victim: int, effect: Effect) -> None:
    state.change_tokens(victim, effect.values["token"], 1)


def _strike(state: Position, effect: Effect, dealer: int, hits: Iterable[int]) -> None:
    """Deal damage to the seats in order, as soon as what goes on now is done."""
    state.tasks.append((CARD_DAMAGE, CARD_DAMAGE_SOURCE + effect.card, dealer, *hits))


def _strike_other(state: Position, seat: int, other: int, effect: Effect) -> None:
    if other != NO_SEAT:
        _strike(state, effect, seat, [effect.values["amount"] * (target == other) for target in range(state.players)])


def _strike_self(state: Position, seat: int, about: int, effect: Effect) -> None:
    _strike(state, effect, seat, [effect.values["amount"] * (target == seat) for target in range(state.players)])


def _strike_all(state: Position, seat: int, about: int, effect: Effect) -> None:
    _strike(state, effect, seat, [effect.values["amount"]] * state.players)


def _units_strike(state: Position, seat: int, about: int, effect: Effect) -> None:
    """Every Unit hurts every monster in its borough. No seat deals this damage."""
    _strike(state, effect, NO_SEAT, [state.units_in(borough) for borough in state.borough])


def _perish(state: Position, seat: int, about: int, effect: Effect) -> None:
    if state.dice_showing(FACE_NUMBER[effect.values["face"]]):
        state.lose_card(seat, effect.card)
        state.eliminate([seat], effect.card_id)


# Verbs that ask a question. `movement.py` has the question of `push_units`.


def _push_units(state: Position, seat: int, borough: int, effect: Effect) -> None:
    state.tasks.append((PUSH, seat, borough, 0, effect.values["limit"]))


def _discard_for_all(state: Position, seat: int, about: int, effect: Effect) -> None:
    state.tasks.extend((DISCARD, owner) for owner in reversed(state.clockwise(seat)))


def discard_menu(state: Position, task: Task) -> Menu:
    """The seat's Keep cards; Carapace may be used first."""
    seat = task[1]
    menu: list[KingAction] = [
        discard for number, discard in enumerate(state.ruleset.discards) if state.keep_cards[seat] >> number & 1
    ]
    return [*menu, SHED] if state.carapace[seat] else menu


def discard(state: Position, task: Task, action: KingAction) -> None:
    """Discard a card, or use Carapace and ask again."""
    if type(action) is Discard:
        state.lose_card(task[1], state.ruleset.card_number[action.card])
    elif type(action) is Shed:
        state.tasks.append(task)
        state.shed_carapace(task[1])


def _photo(state: Position, seat: int, about: int, effect: Effect) -> None:
    state.tasks.append((PHOTO, seat))


def photo_menu(state: Position, task: Task) -> Menu:
    """Any other seat, also one that is out."""
    return [_PHOTOS[seat] for seat in range(state.players) if seat != task[1]]


def take_photo(state: Position, task: Task, action: KingAction) -> None:
    """1 VP for each point of damage dealt to that seat this turn."""
    if type(action) is Photo and state.dealt[action.seat]:
        state.gain_vp(task[1], state.dealt[action.seat], "photo_op")


def _trade_vp(state: Position, seat: int, about: int, effect: Effect) -> None:
    points = state.lose_vp(seat, min(state.vp[seat], len(_TRADES) - 1), effect.card_id)
    if points:
        state.tasks.append((TRADE, seat, points))


def trade_menu(state: Position, task: Task) -> Menu:
    """How many points become energy, all of them first."""
    return _TRADES[task[2] :: -1]


def trade(state: Position, task: Task, action: KingAction) -> None:
    """Energy for some points, life for the others."""
    if type(action) is Trade:
        _, seat, points = task
        if action.energy:
            state.gain_energy(seat, action.energy, "next_stage")
        if points > action.energy:
            state.heal(seat, points - action.energy, "next_stage")


VERB_EFFECTS: Final[Mapping[str, Callable[[Position, int, int, Effect], None]]] = {
    "gain": _gain,
    "add": _add,
    "extra_turn": _extra_turn,
    "carapace_tokens": _carapace_tokens,
    "painbow": _painbow,
    "take_energy": _take_energy,
    "lose_vp": _lose_vp,
    "give_token": _give_token,
    "strike_other": _strike_other,
    "strike_self": _strike_self,
    "strike_all": _strike_all,
    "units_strike": _units_strike,
    "energy_for_all": _energy_for_all,
    "discard_for_all": _discard_for_all,
    "photo": _photo,
    "trade_vp": _trade_vp,
    "souvenir": _souvenir,
    "push_units": _push_units,
    "perish": _perish,
    "claim_keep_card": _claim_keep_card,
}
"""By verb, what it does when its card acts."""
