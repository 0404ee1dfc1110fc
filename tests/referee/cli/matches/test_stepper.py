"""The keys of `crosstown matches show`, without a terminal."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from referee.cli.stepper import PACES_S, Stepper
from referee.errors import UsageError
from referee.record import read_record

LAST = 10
"""The last step of the match that all these tests look at: a crash."""


class Screens:
    """What is shown while `keys` are pressed; None stands for time that passes."""

    def __init__(self, stepper: Stepper, keys: Iterable[str | None]) -> None:
        self.limits: list[float | None] = []
        self.written = ""
        left = iter([*keys, "q"])

        def key(limit_s: float | None) -> str | None:
            self.limits.append(limit_s)
            return next(left)

        def write(text: str) -> None:
            self.written += text

        stepper.run(key, write, lambda: None)
        self.all = self.written.split("\x1b[H\x1b[2J")[1:]

    @property
    def last(self) -> str:
        return self.all[-1]

    def steps(self) -> list[int]:
        return [int(screen.partition("step ")[2].split()[0]) for screen in self.all]


@pytest.fixture
def crashed(tmp_path: Path, write: Callable[..., Path]) -> Any:
    return read_record(write(tmp_path, "m1", crash_after=4))


@pytest.mark.parametrize(
    ("keys", "steps"),
    [
        (["n", " ", "\r", "\x1b[C"], [0, 1, 2, 3, 4]),
        (["n", "p", "p"], [0, 1, 0, 0]),
        (["j", "0", "8", "\r"], [0, 8]),
        (["j", "9", "9", "9", "9", "9", "9", "9", "9", "9", "9", "9", "x", "g"], [0, LAST, 0]),
        (["e", "n", "p"], [0, LAST, LAST, LAST - 1]),
        (["f", "f"], [0, LAST, LAST]),
        (["?", "\ufffd", "x"], [0, 0, 0, 0]),
    ],
)
def test_keys_go_where_they_say(crashed: Any, keys: list[str], steps: list[int]) -> None:
    assert Screens(Stepper(crashed, None), keys).steps() == steps


def test_it_plays_by_itself_to_the_end_and_stops(crashed: Any) -> None:
    screens = Screens(Stepper(crashed, None), ["a", *[None] * LAST])
    assert screens.steps() == [0, *range(LAST + 1)]
    assert screens.limits[0] is None
    assert set(screens.limits[1:-1]) == {1.0}
    assert screens.limits[-1] is None
    assert "playing, 1 steps/s" in screens.all[1]
    assert "ended: crashed" in screens.last


def test_it_can_begin_by_playing_and_any_step_stops_it(crashed: Any) -> None:
    screens = Screens(Stepper(crashed, None, playing=True), [None, None, "p", "a", None])
    assert screens.steps() == [0, 1, 2, 1, 1, 2]
    assert [limit is None for limit in screens.limits] == [False, False, False, True, False, False]


def test_playing_from_the_end_begins_again(crashed: Any) -> None:
    assert Screens(Stepper(crashed, None), ["e", "a", None]).steps() == [0, LAST, 0, 1]


def test_it_plays_faster_and_slower_within_bounds(crashed: Any) -> None:
    screens = Screens(Stepper(crashed, None, playing=True), ["+"] * 9 + ["-"] * 9)
    assert min(limit for limit in screens.limits if limit) == PACES_S[-1]
    assert screens.limits[-1] == PACES_S[0]


def test_the_view_goes_round_the_seats_and_keeps_the_step(crashed: Any) -> None:
    screens = Screens(Stepper(crashed, None), ["j", "7", "\r", "v", "v", "v"])
    assert screens.steps() == [0, 7, 7, 7, 7]
    views = [screen.partition("view of ")[2].split("\r")[0] for screen in screens.all]
    assert views == ["everybody", "everybody", "seat 1", "seat 2", "everybody"]
    assert ["your hand" in screen for screen in screens.all] == [False, False, True, True, False]


def test_while_a_match_goes_on_there_is_one_view_unless_all_is_revealed(run: Path) -> None:
    live = read_record(run / "matches" / "first-0002.jsonl")
    assert not any("your hand" in screen for screen in Screens(Stepper(live, None), ["v", "v"]).all)
    assert any("your hand" in screen for screen in Screens(Stepper(live, None, reveal=True), ["v", "v"]).all)


def test_a_seat_that_there_is_not_is_refused(crashed: Any) -> None:
    with pytest.raises(UsageError, match="there is no seat 2"):
        Stepper(crashed, 2)
