"""What a viewer sees of a state, and drawing anew what it does not see."""

from random import Random
from typing import TYPE_CHECKING

from referee.games.api import draft_of
from referee.games.manhattan_traffiq.observation import Facts, Fleet, Observation
from referee.games.manhattan_traffiq.scoring import scores
from referee.games.manhattan_traffiq.tables import PIECES

if TYPE_CHECKING:
    from referee.games.manhattan_traffiq.rules import TraffiqState


def observe(state: "TraffiqState", viewer: int | None) -> Observation:
    """Built up from what is open, and the viewer's own hand."""
    names, hands = state.tables.kinds, state.hands
    if state.rules.open_hands:
        shown = [tuple([names[kind] for kind in hand]) for hand in hands]
    else:
        shown = [()] * state.players
        if viewer is not None:
            shown[viewer] = tuple([names[kind] for kind in hands[viewer]])
    quiet = state.phase == "turn"
    seen = _DRAFT(
        viewer,
        state.facts,
        state.city.map,
        state.fleet,
        state.phase,
        state.seat,
        state.used,
        state.turns,
        state.idle,
        state.final,
        state.owed,
        () if quiet else tuple([state.tables.xy[vertex] for vertex in state.open_vertices]),
        state.tables.xy[state.spot] if state.spot >= 0 else None,
        () if quiet else tuple([contest.street for contest in state.contests]),
        tuple(map(len, hands)),
        tuple(shown),
        state.stock_left,
        _unseen(state, viewer),
    )
    seen.__class__ = Observation
    return seen  # type: ignore[no-any-return]


_DRAFT = draft_of(Observation)


def facts_of(state: "TraffiqState") -> Facts:
    return Facts(state.players, state.start, state.left, state.tables.kinds)


def fleet_of(state: "TraffiqState") -> Fleet:
    return Fleet(
        state.tables.standing([vertex * PIECES + piece for vertex, piece in state.pieces.items()]),
        tuple(state.supply[::2]),
        tuple(state.supply[1::2]),
        scores(state),
    )


def _unseen(state: "TraffiqState", viewer: int | None) -> bytes:
    """Per kind the tiles in the stock and in hands hidden from `viewer`."""
    if state.rules.open_hands:
        return bytes(state.stock)
    counts = state.unlaid
    if viewer is not None:
        counts = counts.copy()
        for kind in state.hands[viewer]:
            counts[kind] -= 1
    return bytes(counts)


def redistribute(state: "TraffiqState", viewer: int | None, rng: Random) -> None:
    """Deal the stock and all hands hidden from `viewer` anew, in place; every unseen tile is equally likely anywhere.

    Nothing else is hidden, and no rule ties an action to a tile without showing it: so this is exact.
    """
    if state.rules.open_hands:
        return
    unseen = [kind for kind, count in enumerate(_unseen(state, viewer)) for _ in range(count)]
    rng.shuffle(unseen)
    state.forget_choices()
    for seat, hand in enumerate(state.hands):
        if seat == viewer:
            continue
        size = len(hand)
        state.hands[seat] = sorted(unseen[:size])
        del unseen[:size]
    state.stock = [0] * len(state.stock)
    for kind in unseen:
        state.stock[kind] += 1
