"""What holds for the drawing of every game: it is complete, safe, secret, readable, and the same every time."""

import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from referee.games.api import Game
from referee.games.drawing import Look, action_places, can_draw, draw_board, event_places, stylesheet
from referee.games.drawing.style import DARK, FILLS, GROUNDS, INKS, LIGHT

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'&]]></svg><svg onload=x>",
    "\u202eevil\u2066\x1b[31m\x00\r\n",
    "Z\u0301\u0301\u0301\u0301\u0301\u0301algo \ufdfd\ufdfd\ufdfd\ufdfd\ufdfd",
    "x" * 1_000_000,
    "\ud800 \uffff \u2028",
)
TAGS = {"svg", "title", "desc", "style", "g", "rect", "circle", "line", "polygon", "path", "text", "tspan"}
ATTRIBUTES = {
    *("class", "viewBox", "role", "aria-label", "tabindex", "data-place", "data-action", "transform"),
    *("x", "y", "width", "height", "rx", "cx", "cy", "r", "x1", "y1", "x2", "y2", "points", "d", "fill-rule"),
    *("font-size", "stroke-width", "textLength", "lengthAdjust"),
}
EVERY = 17
"""A prime, so that all kinds of node come by."""
SMALLEST_SIZE = 10
LOWEST_CONTRAST = 4.5


def bare(**given: Any) -> Look:
    return Look(styled=False, **given)


@pytest.mark.slow
def test_every_viewer_of_every_position_gets_a_sound_drawing(
    table: tuple[Game, int], walk: Callable[..., Any], apart: Any
) -> None:
    game, players = table
    assert can_draw(game)
    for state, events in walk(game, players, 1, EVERY):
        for viewer in (None, *range(players)):
            observation = state.observation(viewer)
            marked = tuple(place for event in events for place in event_places(game, event.seen_by(viewer)))
            asked = viewer in [decision.seat for decision in state.decisions()]
            legal = tuple(state.legal_actions(viewer)) if viewer is not None and asked else ()
            look = bare(names=HOSTILE[:players], marked=marked, legal=legal)
            svg = draw_board(game, observation, look)
            again = game.codec.decode_observation(game.codec.encode_observation(observation))
            assert draw_board(game, again, look) == svg
            check_elements(svg, apart)
            if legal:
                check_buttons(game, observation, legal, svg, apart)


@pytest.mark.slow
def test_nothing_that_the_game_says_itself_is_cut(table: tuple[Game, int], walk: Callable[..., Any]) -> None:
    game, players = table
    for state, _ in walk(game, players, 3, EVERY):
        viewers = range(players)
        for viewer in viewers:
            revealed = [state.observation(seat) for seat in viewers] if state.is_terminal() else ()
            svg = draw_board(game, state.observation(viewer), bare(names=("A",) * players), revealed)
            assert re.findall(r"<text[^>]*>([^<]*\u2026)", svg) == []


def check_elements(svg: str, apart: Any) -> None:
    for element in apart.elements(svg):
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in TAGS
        assert set(element.keys()) <= ATTRIBUTES
    places = Counter(apart.places(svg))
    assert max(places.values()) == 1, places.most_common(3)
    assert all(re.fullmatch(r"[a-z]+(:[A-Za-z0-9_,-]+)?", place) for place in places)
    assert len(svg) < 120_000


def check_buttons(game: Game, observation: Any, legal: Any, svg: str, apart: Any) -> None:
    """Each place that an action names is on the board, and is a button for exactly the actions that name it."""
    expected: dict[str, set[int]] = {}
    for index, action in enumerate(legal):
        for place in action_places(game, observation, action):
            expected.setdefault(place, set()).add(index)
    found = {}
    for element in apart.elements(svg):
        if (indexes := element.get("data-action")) is not None:
            found[element.get("data-place")] = {int(index) for index in indexes.split()}
            assert element.get("tabindex") == "0"
            assert element.get("aria-label")
    assert found == expected


@pytest.mark.slow
def test_a_drawing_tells_nothing_that_its_viewer_may_not_know(
    table: tuple[Game, int], walk: Callable[..., Any]
) -> None:
    game, players = table
    rng = Random(7)
    for state, _ in walk(game, players, 2, 2 * EVERY):
        for viewer in (None, *range(players)):
            svg = draw_board(game, state.observation(viewer), bare())
            for _ in range(2):
                other = state.resample(viewer, rng)
                assert draw_board(game, other.observation(viewer), bare()) == svg


def test_text_is_large_enough_inside_the_picture_and_stands_out(
    table: tuple[Game, int], walk: Callable[..., Any], apart: Any
) -> None:
    game, players = table
    names = ("Ada", "Boole", "Curie", "Dijkstra", "Erdos", "Franklin")[:players]
    for state, _ in walk(game, players, 3, 4 * EVERY):
        asked = [decision.seat for decision in state.decisions()]
        viewer = asked[0] if asked else None
        legal = tuple(state.legal_actions(viewer)) if viewer is not None else ()
        others = tuple(state.observation(seat) for seat in range(players)) if state.is_terminal() else ()
        svg = draw_board(game, state.observation(viewer), bare(names=names, legal=legal), others)
        box = re.search(r'viewBox="0 0 (\S+) (\S+)"', svg)
        assert box is not None
        width, height = float(box[1]), float(box[2])
        shapes, words = apart.shapes_and_words(svg)
        for word in words:
            assert word.size * 400 / width >= SMALLEST_SIZE - 0.5, word
            x, y = word.at
            assert 0 <= x <= width, word
            assert word.size * 0.7 <= y <= height, word
            check_contrast(word, shapes, x, y)


def check_contrast(word: Any, shapes: Any, x: float, y: float) -> None:
    y -= 0.35 * word.size
    if "m" not in word.css:
        x += -2 if "e" in word.css else 2
    below = next(shape for shape in reversed(shapes[: word.below]) if shape.holds(x, y) and fill_of(shape.css, LIGHT))
    for colours in (LIGHT, DARK):
        ink, ground = ink_of(word.css, colours), fill_of(below.css, colours)
        assert contrast(ink, ground) >= LOWEST_CONTRAST, (word, below.css, ink, ground)


def fill_of(css: frozenset[str], colours: Any) -> str:
    for name in css:
        if name.startswith("f-"):
            return str(FILLS[name[2:]][0])
        if name in colours:
            return str(colours[name])
    return ""


def ink_of(css: frozenset[str], colours: Any) -> str:
    for name in css:
        if name.startswith("on-"):
            return FILLS[name[3:]][1]
        if name in colours:
            return str(colours[name])
    raise AssertionError(f"no ink in {css}")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_ink_can_be_read_on_every_ground_in_both_themes() -> None:
    for colours in (LIGHT, DARK):
        for ink in (*INKS, "now"):
            for ground in GROUNDS:
                assert contrast(colours[ink], colours[ground]) >= LOWEST_CONTRAST, (ink, ground)
    for fill, ink in FILLS.values():
        assert contrast(ink, fill) >= LOWEST_CONTRAST


def test_the_style_sheet_touches_nothing_but_boards_and_fetches_nothing() -> None:
    for theme in ("auto", "light", "dark"):
        css = stylesheet(theme)
        for line in css.splitlines():
            for selector in line.removeprefix("@media (prefers-color-scheme:dark){").split("{")[0].split(","):
                assert ".ct-board" in selector
        assert "url(" not in css
        assert "@import" not in css
        assert "<" not in css
    assert "var(" in stylesheet("auto")
    assert "var(" not in stylesheet("light") + stylesheet("dark")


def test_the_drawing_of_a_name_is_cut_and_cannot_reach_over_its_neighbours(apart: Any) -> None:
    from referee.games.drawing.text import cleaned, cut, width_of

    assert len(cleaned("x" * 1_000_000)) == 64
    assert cleaned("a\u202eb\x1b[0m") == "a\ufffdb\ufffd[0m"
    assert cleaned("e\u0301\u0301\u0301\u0301") == "e\u0301\u0301"
    for content in ("x" * 64, "WWWWWWWWWWWWWWWWWWWWWW", "\u6f22" * 30, "a"):
        shown = cut(content, 12, 100)
        assert width_of(shown, 12) <= 100
        assert shown == content or shown.endswith("\u2026")
