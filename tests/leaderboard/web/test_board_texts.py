"""Boards in a browser: no text lies on another one, and no name of the map on a space, a piece or a location."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.games.drawing import Look, draw_board
from referee.games.registry import get_game

HERE = Path(__file__).parent
OVERLAPS, LABELS = ((HERE / name).read_text() for name in ("overlaps.js", "labels.js"))
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
TABLES = [(game_id, players) for game_id in GAMES for players in get_game(game_id).player_counts]
NAMES = ("greedy-with-a-long-name", "walker", "mine", "search", "Ada Lovelace", "b")
WIDTHS = (360, 640, 1280)
BOARD = "<style>body {{ margin: 0 }} #board > svg {{ display: block; width: 100% }}</style><div id=board>{}</div>"


def boards(game_id: str, players: int) -> Iterator[str]:
    """The start, two positions on the way, and the end of a match by chance, with all that its seats know."""
    chance = random.Random(players)
    game = get_game(game_id)
    state = game.new_initial_state(players, {option.name: option.default for option in game.options})
    steps = 0
    while True:
        over = state.is_terminal()
        if steps in (0, 40, 150) or over:
            revealed = [] if steps == 0 else [state.observation(seat) for seat in range(players)]
            yield draw_board(game, state.observation(None), Look(names=NAMES[:players]), revealed)
        if over:
            return
        steps += 1
        if asked := state.decisions():
            state.apply({item.seat: chance.choice(list(state.legal_actions(item.seat))) for item in asked})
        else:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_chance(chance.choices(outcomes, weights)[0])


@pytest.mark.parametrize(("game_id", "players"), TABLES)
def test_no_text_of_a_board_lies_on_another_one_or_on_what_is_played_with(
    chromium: Any, game_id: str, players: int
) -> None:
    page = chromium.new_page()
    try:
        for number, board in enumerate(boards(game_id, players)):
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 2 * width})
                page.set_content(BOARD.format(board))
                assert page.evaluate(OVERLAPS) == [], f"position {number}, {width} pixels wide"
            page.set_viewport_size({"width": 640, "height": 1280})  # the drawing is the same at all widths
            assert page.evaluate(LABELS) == [], f"position {number}"
    finally:
        page.close()


def test_the_check_finds_a_name_on_a_space(chromium: Any) -> None:
    page = chromium.new_page()
    try:
        space = '<g data-place="route:R01"><rect x="20" y="20" width="30" height="10" class="edge"/></g>'
        drawing = f'<svg viewBox="0 0 100 100">{space}'
        page.set_content(BOARD.format(f'{drawing}<text x="40" y="30" class="label" font-size="10">Queens</text></svg>'))
        assert page.evaluate(LABELS) == ["'Queens' lies on route:R01"]
        page.set_content(BOARD.format(f'{drawing}<text x="40" y="60" class="label" font-size="10">Queens</text></svg>'))
        assert page.evaluate(LABELS) == []
    finally:
        page.close()
