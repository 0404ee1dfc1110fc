"""The board in a real browser: its script changes only what differs, and the result is what the server draws."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.frames import frames_of, viewers
from leaderboard.report import TEMPLATES
from referee.record import read_record

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
READY = "#replay[data-drawn]"
STEPS = 10
CORPUS = Path(__file__).resolve().parents[2] / "referee" / "record" / "corpus"

SAME = """(text) => {
  const board = document.getElementById('board');
  return board.childNodes.length === 1
    && new DOMParser().parseFromString(text, 'image/svg+xml').documentElement.isEqualNode(board.firstChild);
}"""

JUMP = """(step) => {
  const slider = document.getElementById('at');
  slider.value = step;
  slider.dispatchEvent(new Event('input'));
}"""

# Each way is a key or 'jump', and the step it leads to. What is not as it should be, in words.
WALK = f"""([boards, ways]) => {{
  const [same, jump] = [{SAME}, {JUMP}];
  return ways.flatMap(([way, step]) => {{
    if (way === 'jump') jump(step);
    else document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key: way, bubbles: true }}));
    const last = boards.length - 1, words = step ? `step ${{step}} of ${{last}}` : `start, before ${{last}} steps`;
    const told = document.getElementById('where').textContent === words;
    return told && same(boards[step]) ? [] : [`${{way}} to ${{step}}`];
  }});
}}"""


def ways_through(last: int) -> list[tuple[str, int]]:
    """Forward, backward, and to and fro."""
    return [
        ("Home", 0),
        *(("ArrowRight", step) for step in range(1, last + 1)),
        *(("ArrowLeft", step) for step in range(last - 1, -1, -1)),
        ("PageDown", 10),
        ("End", last),
        ("PageUp", last - 10),
        *(("jump", step) for step in (0, last, 7, 2, last - 1, 5)),
    ]


@pytest.mark.parametrize("game", GAMES)
def test_every_way_to_a_step_leads_to_the_board_that_the_server_draws(
    start: Callable[..., Any], show: Callable[..., Any], game: str
) -> None:
    match = start("m1", game=game)
    for _ in range(STEPS):
        assert match.step()
    record = read_record(match.crash(1))
    page = show("/runs/cup/matches/m1?seat=&step=5", ready=READY).page
    for viewer in viewers(record):
        if viewer is not None:
            with page.expect_navigation():
                page.select_option("#seat", str(viewer))
            page.wait_for_selector(READY)
        boards = [frame.board for frame in frames_of(record, viewer)]
        assert len(set(boards)) > STEPS / 2
        assert page.locator("#where").text_content() == f"step 5 of {len(boards) - 1}"
        assert page.evaluate(SAME, boards[5]), viewer
        assert page.evaluate(WALK, [boards, ways_through(len(boards) - 1)]) == [], viewer
        page.wait_for_url("**step=5*")


def test_a_step_without_a_board_shows_the_last_one_wherever_one_comes_from(
    runs: Path, show: Callable[..., Any]
) -> None:
    """The last step of this record says why it cannot be followed."""
    path = runs / "cup" / "matches" / "v1-other-move.jsonl.gz"
    shutil.copy(CORPUS / path.name, path)
    frames = list(frames_of(read_record(path)))
    assert frames[-1].board == ""
    page = show("/runs/cup/matches/v1-other-move?seat=", ready=READY).page
    for first in ("Home", "End", "Home"):
        page.keyboard.press(first)
        page.evaluate(JUMP, frames[-1].step)
        assert frames[-1].wrong in page.locator("#happened").text_content()
        assert page.evaluate(SAME, frames[-2].board)
    page.evaluate(JUMP, 4)
    assert page.evaluate(SAME, frames[4].board)


# Pairs of trees in which all that can differ does: names, attributes, texts, comments, order and depth.
ANY_TREES = """(count) => {
  let state = 1;
  const below = (limit) => (state = (state * 48271) % 2147483647) % limit;
  const pick = (items) => items[below(items.length)];
  function tree(depth) {
    const kind = depth ? below(8) : 7;
    if (kind === 0) return pick(['one', 'two', '&lt;']);
    if (kind === 1) return '<!--' + pick(['this', 'that']) + '-->';
    const name = depth ? pick(['g', 'g', 'svg', 'title', 'rect']) : 'svg xmlns="http://www.w3.org/2000/svg"';
    const keys = ['class', 'data-place', 'data-x', 'xml:lang'].filter(() => below(2));
    const given = keys.map((key) => ` ${key}="${pick('abc')}"`);
    const inside = depth > 4 ? [] : Array.from({ length: below(5) }, () => tree(depth + 1));
    return `<${name}${given.join('')}>${inside.join('')}</${name.split(' ')[0]}>`;
  }
  const place = document.createElement('div');
  for (let number = 0; number < count; number++) {
    const text = tree(0);
    becomeDrawing(place, text);
    const wanted = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
    const same = place.childNodes.length === 1 && wanted.isEqualNode(place.firstChild);
    if (!same) return `${place.innerHTML} is not ${text}`;
  }
  return '';
}"""

BROKEN = """(text) => {
  const place = document.createElement('div');
  const good = '<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>';
  becomeDrawing(place, good);
  becomeDrawing(place, text);
  const said = place.textContent;
  becomeDrawing(place, good);
  return [said, place.innerHTML];
}"""


def test_any_drawing_becomes_any_other(blank: Any) -> None:
    page = blank
    page.add_script_tag(path=TEMPLATES / "board.js")
    assert page.evaluate(ANY_TREES, 1000) == ""
    for text in ("", "no drawing", "<p/>", '<svg xmlns="http://www.w3.org/2000/svg"><g></svg>'):
        said, after = page.evaluate(BROKEN, text)
        assert said == "This board cannot be drawn."
        assert after == '<svg xmlns="http://www.w3.org/2000/svg"><g></g></svg>'
