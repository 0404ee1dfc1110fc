"""Positions of random matches, and drawings taken apart."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from referee.games.api import Game, State, resolve_options
from referee.games.keyed import random_outcome
from referee.games.registry import get_game

SVG = "{http://www.w3.org/2000/svg}"
OPENSPIEL = ("backgammon", "chess", "connect_four", "go", "hex", "othello")
GAMES = (
    *("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york"),
    *(f"openspiel/{name}" for name in OPENSPIEL),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """Something filled: `holds(x, y)` tells whether a point lies in it."""

    css: frozenset[str]
    holds: Callable[[float, float], bool]


@dataclass(frozen=True, slots=True)
class Words:
    """A text, where it stands, and the shapes that were drawn before it."""

    css: frozenset[str]
    size: float
    content: str
    at: tuple[float, float]
    below: int
    """How many shapes lie below it."""


def elements(svg: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter())


def places(svg: str) -> list[str]:
    return [place for element in elements(svg) if (place := element.get("data-place")) is not None]


def titles(svg: str) -> dict[str, str]:
    """Per place its tooltip."""
    found = {}
    for element in elements(svg):
        if (place := element.get("data-place")) is not None:
            found[place] = element.findtext(f"{SVG}title") or ""
    return found


def shapes_and_words(svg: str) -> tuple[list[Shape], list[Words]]:
    """All filled shapes and all texts in the order in which they are painted, in the units of the whole picture."""
    shapes: list[Shape] = []
    words: list[Words] = []
    _walk(ET.fromstring(svg), 0.0, 0.0, 1.0, shapes, words)
    return shapes, words


def _walk(element: ET.Element, dx: float, dy: float, scale: float, shapes: list[Shape], words: list[Words]) -> None:
    transform = element.get("transform")
    if transform:
        moved = re.match(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?$", transform)
        assert moved is not None, transform
        dx, dy = dx + scale * float(moved[1]), dy + scale * float(moved[2])
        scale *= float(moved[3] or 1)
    css = frozenset((element.get("class") or "").split())
    kind = element.tag.removeprefix(SVG)
    if kind == "svg" and element.get("x"):
        dx, dy = dx + scale * float(element.get("x", 0)), dy + scale * float(element.get("y", 0))
    if kind == "text":
        size = float(element.get("font-size", 0))
        for span in list(element) or [element]:
            at = dx + scale * float(span.get("x", 0)), dy + scale * float(span.get("y", 0))
            words.append(Words(css, size, span.text or "", at, len(shapes)))
        return
    if not css & {"hole", "halo"} and (holds := _inside(element, kind)):

        def holds_here(x: float, y: float) -> bool:
            return holds((x - dx) / scale, (y - dy) / scale)

        shapes.append(Shape(css, holds_here))
    for child in element:
        _walk(child, dx, dy, scale, shapes, words)


def _inside(element: ET.Element, kind: str) -> Callable[[float, float], bool] | None:
    value = {name: float(text) for name, text in element.items() if re.fullmatch(r"-?[\d.]+", text)}
    if kind == "rect":
        x0, y0 = value["x"], value["y"]
        return lambda x, y: x0 <= x <= x0 + value["width"] and y0 <= y <= y0 + value["height"]
    if kind == "circle":
        return lambda x, y: (x - value["cx"]) ** 2 + (y - value["cy"]) ** 2 <= value["r"] ** 2
    if kind == "polygon":
        corners = [tuple(map(float, pair.split(","))) for pair in element.get("points", "").split()]
        return lambda x, y: _in_polygon(corners, x, y)
    if kind == "path" and not re.search(r"[a-bd-kn-yACQSac]", element.get("d", "")):
        loops = [
            list(zip(numbers[::2], numbers[1::2], strict=True))
            for part in element.get("d", "").split("M")[1:]
            if "H" not in part and "V" not in part
            for numbers in [[float(number) for number in re.findall(r"-?\d*\.?\d+", part)]]
        ]
        return lambda x, y: any(_in_polygon(loop, x, y) for loop in loops)
    return None


def _in_polygon(corners: Any, x: float, y: float) -> bool:
    inside = False
    for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


def positions(game: Game, players: int, seed: int, every: int, **options: Any) -> Iterator[tuple[State, list[Any]]]:
    """Every `every`-th node of a random match and its end, with what happened since the last one."""
    rng = Random(f"{game.id} {players} {seed}")
    state = game.new_initial_state(players, resolve_options(game.id, game.options, options))
    number, events = 0, []
    gone = False
    while not state.is_terminal():
        if number % every == 0:
            yield state, events
            events = []
        number += 1
        if state.chance_outcomes():
            events += state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        elif players > 2 and not gone and number > 60 and seed % 2:
            gone = True
            events += state.withdraw(rng.randrange(players))
        else:
            answers = {}
            for decision in state.decisions():
                legal = list(state.legal_actions(decision.seat))
                kind = rng.choice(sorted({action.KIND for action in legal}))
                answers[decision.seat] = rng.choice([action for action in legal if kind == action.KIND])
            events += state.apply(answers)
    yield state, events


@pytest.fixture(params=[(name, players) for name in GAMES for players in get_game(name).player_counts], ids=str)
def table(request: pytest.FixtureRequest) -> tuple[Game, int]:
    """Each shipped game with each number of players."""
    name, players = request.param
    return get_game(name), players


@pytest.fixture(scope="session")
def walk() -> Callable[..., Iterator[tuple[State, list[Any]]]]:
    return positions


@pytest.fixture(scope="session")
def apart() -> Any:
    """Functions that take a drawing apart."""

    class Apart:
        elements = staticmethod(elements)
        places = staticmethod(places)
        titles = staticmethod(titles)
        shapes_and_words = staticmethod(shapes_and_words)

    return Apart
