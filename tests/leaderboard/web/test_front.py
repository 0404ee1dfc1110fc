"""The front page: what it says of this server, what is played, who leads; and what it leaves out."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts


async def front(app: Any) -> str:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        answer = await web.get("/")
    assert answer.status_code == 200
    return answer.text


async def test_it_says_in_one_sentence_what_this_is_and_shows_every_game_with_its_rules(runs: Path) -> None:
    page = await front(make_app(runs))
    assert "Crosstown lets programs (bots) play board games against each other" in page
    for game in ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york"):
        assert f'href="/games/{game}"' in page
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="ct-board"') >= 4


async def test_a_tournament_is_a_card_with_its_title_state_leader_rating_and_matches(
    runs: Path, start: Callable[..., Any]
) -> None:
    start("m1", game="shibuya").play().close(ranking=(1, 2))
    page = await front(make_app(runs, lambda folder: RunFacts("Spring cup", total=6, word="going on")))
    for words in (
        '<a href="/runs/cup">Spring cup</a>',
        "going on",
        '<a href="/runs/cup/bots/00ff00ff">ann</a> ',
        " ± ",
        "1 of 6 matches, Shibuya",
        '<progress max="6" value="1"',
    ):
        assert words in page


@pytest.mark.parametrize(("hide_live", "shown"), [(False, 1), (True, 0)])
async def test_matches_that_are_being_played_are_small_boards_unless_they_are_hidden(
    runs: Path, start: Callable[..., Any], hide_live: bool, shown: int
) -> None:
    start("m1", names=("ann<b>", "bob"), game="shibuya").step()
    page = await front(make_app(runs, hide_live=hide_live))
    assert page.count("/runs/cup/matches/m1?step=last") == 2 * shown  # the button and the board
    assert ("Watch live" in page) == bool(shown)
    assert ("ann&lt;b&gt;, bob" in page) == bool(shown)


async def test_a_match_whose_record_has_not_grown_for_minutes_is_no_live_board(
    runs: Path, start: Callable[..., Any]
) -> None:
    match = start("m1")
    match.step()
    os.utime(match.writer.path, (1, 1))
    assert "Live now" not in await front(make_app(runs))


async def test_a_board_is_drawn_once_for_each_state_of_its_record(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []
    from leaderboard.web import live_boards

    draw = live_boards.last_board
    monkeypatch.setattr(live_boards, "last_board", lambda *given: drawn.append(1) or draw(*given))
    match = start("m1")
    match.step()
    app = make_app(runs)
    for _ in range(3):
        await front(app)
    assert len(drawn) == 1
    match.step()
    await front(app)
    assert len(drawn) == 2


async def test_without_a_run_it_says_how_to_start_one(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert "crosstown run FILE" in await front(make_app(tmp_path / "none"))


async def test_the_header_shows_only_what_this_server_has(runs: Path) -> None:
    page = await front(make_app(runs))
    assert 'href="/play"' not in page
    assert "Play against a bot" not in page
