"""A match as drawings: one step, and all of them as a film."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.export.film import NoBoardError, film, still
from leaderboard.frames import frames_of

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york", "toy")

SHOWN = """([text, second]) => {
  const svg = document.documentElement;
  svg.pauseAnimations();
  svg.setCurrentTime(second);
  const part = (root) => [...root.querySelectorAll('rect, circle, line, polygon, path, text')]
    .filter((item) => !item.closest('desc, style') && item.getAttribute('height') !== '3')
    .filter((item) => !item.closest('[data-hidden]'))
    .map((item) => item.cloneNode(true))
    .map((item) => (item.querySelectorAll('animate').forEach((one) => one.remove()), item.outerHTML));
  for (const item of svg.querySelectorAll('*')) {
    if (getComputedStyle(item).display === 'none') item.setAttribute('data-hidden', '');
    else item.removeAttribute('data-hidden');
  }
  const board = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  const shown = part(svg).map((item) => item.replace(/ data-hidden=""/g, ''));
  return [shown, part(board)];
}"""


@pytest.mark.parametrize("game", GAMES)
def test_the_film_shows_at_every_step_what_the_board_is(
    open_file: Callable[..., Any], old_record: Callable[..., Any], game: str
) -> None:
    record = old_record(game)
    frames = list(frames_of(record, "all"))
    page = open_file(film(record, "all", step_s=2.0), "svg")
    for frame in [*frames[:: max(len(frames) // 6, 1)], frames[-1]]:
        shown, board = page.evaluate(SHOWN, [frame.board, 2.0 * frame.step + 1.0])
        # The paper of the film lies below that of the board, and the caption comes last.
        extra = len(shown) - len(board)
        assert shown[1 : 1 + len(board)] == board, frame.step
        last = frames[-1].step
        words = f"step {frame.step} of {last}" if frame.step else f"start, before {last} steps"
        assert words in "".join(shown[-extra + 1 :])


def test_a_film_runs_by_itself_and_begins_again(old_record: Callable[..., Any]) -> None:
    text = film(old_record("toy"), step_s=0.5)
    times = re.findall(r'dur="([^"]*)"', text)
    assert set(times) == {"18.5s"}  # 31 steps of half a second, and three seconds at the end
    assert text.count("repeatCount") == len(times)


@pytest.mark.slow
def test_a_film_is_much_smaller_than_its_boards(old_record: Callable[..., Any]) -> None:
    record = old_record("king_of_new_york")
    assert len(film(record)) < sum(len(frame.board) for frame in frames_of(record)) / 3


@pytest.mark.parametrize("name", ["crashed", "hostile", "live", "other-move", "void", "cut-closed", "strike"])
def test_what_there_is_of_a_match_becomes_a_film_without_code(old_record: Callable[..., Any], name: str) -> None:
    text = film(old_record(name))
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
    assert tags <= {
        "svg",
        "title",
        "desc",
        "style",
        "g",
        "rect",
        "circle",
        "line",
        "polygon",
        "path",
        "text",
        "animate",
    }
    assert all(char.isprintable() or char == "\n" for char in text)
    assert len(text) < 500_000


def test_the_film_of_a_record_that_cannot_be_followed_ends_with_the_reason(old_record: Callable[..., Any]) -> None:
    assert "line 23 cannot be followed" in film(old_record("other-move"))


@pytest.mark.parametrize("name", ["unknown-game", "other-rules"])
def test_without_a_board_there_is_no_drawing(old_record: Callable[..., Any], name: str) -> None:
    for draw in (film, lambda record: still(record, 0)):
        with pytest.raises(NoBoardError, match="no board"):
            draw(old_record(name))


def test_a_still_is_the_board_of_that_step_with_its_styles(old_record: Callable[..., Any]) -> None:
    record = old_record("shibuya")
    text = still(record, 7, 1, "dark")
    assert re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL) == next(frames_of(record, 1, 7, 7)).board + "\n"
    assert "var(" not in text
    assert "prefers-color-scheme" in still(record, 7)
    with pytest.raises(NoBoardError, match="there is no step 9999"):
        still(record, 9999)


def test_a_seat_sees_in_a_still_only_what_it_may(old_record: Callable[..., Any]) -> None:
    record = old_record("ticket_to_ride_new_york")
    tickets = [set(re.findall(r'data-place="ticket:(\w+)"', still(record, 40, viewer))) for viewer in (None, 0, 1)]
    assert tickets[0] == set()
    assert tickets[1] != tickets[2]
