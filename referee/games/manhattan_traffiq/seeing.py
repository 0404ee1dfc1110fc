"""What a viewer sees of a state, and drawing anew what it does not see."""

from random import Random
from typing import TYPE_CHECKING

from referee.games.manhattan_traffiq.observation import Observation
from referee.games.manhattan_traffiq.scoring import scores

if TYPE_CHECKING:
    from referee.games.manhattan_traffiq.rules import TraffiqState


def observe(state: "TraffiqState", viewer: int | None) -> Observation:
    """Built up from what is open, and the viewer's own hand."""
    tables, names, xy = state.tables, state.tables.kinds, state.tables.xy
    standing = tables.standing
    return Observation(
        viewer,
        state.players,
        state.phase,
        state.start,
        state.seat,
        state.used,
        state.turns,
        state.idle,
        state.final,
        state.owed,
        tuple(state.city.tiles),
        tuple([standing(vertex, piece) for vertex, piece in sorted(state.pieces.items())]),
        tuple(state.supply[::2]),
        tuple(state.supply[1::2]),
        tuple([len(hand) for hand in state.hands]),
        tuple(
            [
                tuple([names[kind] for kind in hand]) if seat == viewer or state.rules.open_hands else ()
                for seat, hand in enumerate(state.hands)
            ]
        ),
        state.stock_left,
        tuple([xy[vertex] for vertex in state.open_vertices]),
        xy[state.spot] if state.spot >= 0 else None,
        tuple([contest.street for contest in state.contests]),
        state.left,
        scores(state),
        names,
        tuple(_unseen(state, viewer)),
    )


def _unseen(state: "TraffiqState", viewer: int | None) -> list[int]:
    counts = state.stock.copy()
    if not state.rules.open_hands:
        for seat, hand in enumerate(state.hands):
            if seat != viewer:
                for kind in hand:
                    counts[kind] += 1
    return counts


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
