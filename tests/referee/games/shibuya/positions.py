"""Readable positions, and random matches.

A board is eight lines from y = 7 down to y = 0 with eight fields each: `ko kq wo wq` or `..` where no tile lies, and
`R` or `B` behind a field with a pedestrian on it.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from referee.games.keyed import random_outcome
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Move
from referee.games.shibuya.data import default_data

WHITE = "\n".join(["wq wq wq wq wq wq wq wq"] * 8)
"""White squares all over."""
EMPTY = "\n".join([".. .. .. .. .. .. .. .."] * 8)
OFF_GRID = 64


def corners(slot: int) -> list[tuple[int, int]]:
    x, y = 2 * (slot % 4), 2 * (slot // 4)
    return [(x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y)]


def turned(tile: tuple[str, ...], turn: int) -> tuple[str, ...]:
    return tile[4 - turn :] + tile[: 4 - turn]


class Tiles:
    """Collects the tiles that a position needs, as kinds of a tile set of 30."""

    def __init__(self) -> None:
        self.kinds: list[tuple[str, ...]] = []
        self.counts: list[int] = []

    def take(self, tile: tuple[str, ...]) -> tuple[int, int]:
        """One more such tile: its kind, and the turn that makes it look so."""
        for kind, known in enumerate(self.kinds):
            for turn in range(4):
                if turned(known, turn) == tile:
                    self.counts[kind] += 1
                    return kind, turn
        self.kinds.append(tile)
        self.counts.append(1)
        return len(self.kinds) - 1, 0


def position(
    board: str,
    *,
    players: int = 2,
    seat: int = 0,
    red_waits: list[int] | None = None,
    blue_waits: list[int] | None = None,
    red_goals: list[int] | None = None,
    blue_goals: list[int] | None = None,
    doubled: tuple[int, ...] = (),
    stock: tuple[str, ...] = (),
    turns: int = 0,
    passes: int = 0,
    **options: Any,
) -> Any:
    """The state in the crossing phase with this board, `seat` to move.

    `*_goals` name goal fields with a pedestrian in them; who is neither there nor on the board waits, at the
    highest numbered starts unless `*_waits` says where. `doubled` slots hold a second tile beneath. `stock` names
    tiles ("ko ko wq wq", clockwise from the top left) that are left; the rest of the 30 are black round all over.
    """
    rows = [line.split() for line in board.strip().splitlines()]
    assert [len(row) for row in rows] == [8] * 8
    cells = {(x, 7 - row): cell for row, line in enumerate(rows) for x, cell in enumerate(line)}
    tiles = Tiles()
    tops, covered = [0] * 16, [0] * 16
    for slot in range(16):
        looks = tuple(cells[corner][:2] for corner in corners(slot))
        if ".." not in looks:
            kind, turn = tiles.take(looks)
            tops[slot] = 1 + 4 * kind + turn
        if slot in doubled:
            kind, turn = tiles.take(("ko",) * 4)
            covered[slot] = 1 + 4 * kind + turn
    laid = list(tiles.counts)
    for text in stock:
        tiles.take(tuple(text.split()))
    while sum(tiles.counts) < 30:
        tiles.take(("ko",) * 4)
    laid += [0] * (len(tiles.counts) - len(laid))

    data = default_data()
    data["tile_sets"]["M"]["tiles"] = [
        {"fields": list(fields), "count": count} for fields, count in zip(tiles.kinds, tiles.counts, strict=True)
    ]
    start = GAME.new_initial_state(players, {**options, "data": data})
    teams = []
    for letter, waits, goals in (("R", red_waits, red_goals), ("B", blue_waits, blue_goals)):
        fields = sorted(x + 8 * y for (x, y), cell in cells.items() if cell.endswith(letter))
        filled = [0] * len(start.to_dict()["teams"]["RB".index(letter)]["goals"])
        for goal in goals or []:
            filled[goal] += 1
        left = 8 - len(fields) - sum(filled)
        teams.append(
            {
                "fields": fields,
                "waiting": list(range(8 - left, 8)) if waits is None else waits,
                "goals": filled,
            }
        )
    return GAME.state_from_dict(
        {
            **start.to_dict(),
            "phase": "turn",
            "seat": seat,
            "turns": turns,
            "passes": passes,
            "drawn": -1,
            "stock": [count - out for count, out in zip(tiles.counts, laid, strict=True)],
            "tops": tops,
            "covered": covered,
            "teams": teams,
        }
    )


def number(place: Any) -> int:
    """`(x, y)` or ("start", n) or ("goal", n) as the number an action carries."""
    return OFF_GRID + place[1] if isinstance(place[0], str) else place[0] + 8 * place[1]


def ends(state: Any, source: Any) -> set[Any]:
    """Where the legal moves of one pedestrian end: (x, y) or ("goal", n)."""
    return {
        ("goal", action.target - OFF_GRID) if action.target >= OFF_GRID else (action.target % 8, action.target // 8)
        for action in state.legal_actions(state.seat)
        if isinstance(action, Move) and action.source == number(source)
    }


def go(state: Any, source: Any, target: Any) -> list[Any]:
    """Make this move; what everyone sees of it."""
    return [event.public for event in state.apply({state.seat: Move(number(source), number(target))})]


def wander(players: int, options: dict[str, Any], seed: int, visit: Callable[[Any], None] = lambda state: None) -> Any:
    """Play a random match, calling `visit(state)` at every node; the final state."""
    rng = Random(seed)
    state = GAME.new_initial_state(players, options)
    while not state.is_terminal():
        visit(state)
        if decisions := state.decisions():
            legal = state.legal_actions(decisions[0].seat)
            state.apply({decisions[0].seat: rng.choice(legal)})
        else:
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
    visit(state)
    return state
