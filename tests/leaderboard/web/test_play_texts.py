"""The page of a person's seat in every game with every number of players: no text lies on another one."""

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.app import make_app
from leaderboard.web.play_host import HumanSeat, Opponent, Question, Setup, Standpoint
from referee.games.api import Option
from referee.games.registry import get_game

OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text()
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
TABLES = [(game_id, players) for game_id in GAMES for players in get_game(game_id).player_counts]
STEPS = (0, 30)
NAMES = ("human", "greedy-with-a-long-name", "walker", "search", "random", "mine")


class Seat:
    """A seat that is asked after so many steps of a match by chance."""

    key, number, over, begun_at = "k" * 20, 1, "", "2026-11-29T12:00:00+00:00"

    def __init__(self, game_id: str, players: int, steps: int) -> None:
        self.match_id = f"{game_id}-{players}-{steps}"
        self.game = game_id
        game, chance = get_game(game_id), random.Random(players)
        state = game.new_initial_state(players, {option.name: option.default for option in game.options})
        events: list[Any] = []
        while steps > 0 or not state.decisions():
            steps -= 1
            if asked := state.decisions():
                events += state.apply({d.seat: chance.choice(list(state.legal_actions(d.seat))) for d in asked})
            else:
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                events += state.apply_chance(chance.choices(outcomes, weights)[0])
        asked = state.decisions()[0]
        self.seat = asked.seat
        self.names = (*NAMES[1 : asked.seat + 1], "human", *NAMES[asked.seat + 1 : players])[:players]
        seen, legal = state.observation(asked.seat), state.legal_actions(asked.seat)
        shown = [event.seen_by(asked.seat) for event in events[-30:]]
        self._now = Standpoint(1, Question(1, asked.kind, seen, legal, 60.0), shown, "", seen=seen)

    def now(self) -> Standpoint:
        return self._now

    def seen(self) -> None:
        pass

    def answer(self, decision: int, index: int | None) -> bool:
        return False


class Host:
    """Has a seat for each table, and starts nothing."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._at = cache(Seat)

    def opponents(self, game: str) -> list[Opponent]:
        return []

    def options(self, game: str) -> list[Option]:
        return []

    def start(self, setup: Setup, visitor: str) -> Sequence[HumanSeat]:
        raise NotImplementedError

    def going_on(self) -> Sequence[HumanSeat]:
        return []

    def seat(self, match_id: str, key: str) -> HumanSeat | None:
        game_id, players, steps = match_id.split("-")
        return self._at(game_id, int(players), int(steps))


@pytest.fixture(scope="module")
def seats(tmp_path_factory: pytest.TempPathFactory, serve: Any) -> Iterator[str]:
    """A server with all these seats."""
    runs = tmp_path_factory.mktemp("seats")
    with serve(make_app(runs, play_host=Host(runs / "single"))) as address:
        yield address


@pytest.mark.parametrize(("game_id", "players"), TABLES)
def test_no_texts_of_a_seats_page_and_its_board_lie_on_each_other(
    seats: str, show_at: Callable[..., Any], game_id: str, players: int
) -> None:
    for steps in STEPS:
        address = f"/play/{game_id}-{players}-{steps}/{Seat.key}"
        page = show_at(seats, address, width=1280, ready="#can button").page
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate(OVERLAPS) == [], f"after {steps} steps, {width} pixels wide, {scheme}"
