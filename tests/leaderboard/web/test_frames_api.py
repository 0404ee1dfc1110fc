"""The frames of a match for programs: from a step to a step, with or without boards."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

CORPUS = Path(__file__).resolve().parents[2] / "referee" / "record" / "corpus"
FRAMES = "/api/runs/cup/matches/m1/frames"


def boards(answer: dict[str, Any]) -> list[str]:
    return ["".join(answer["parts"][part] for part in frame["board"]) for frame in answer["frames"]]


def without_boards(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**frame, "board": []} for frame in answer["frames"]]


@pytest.mark.parametrize(
    ("query", "steps"),
    [
        ({"from": "2", "to": "4"}, range(2, 5)),
        ({"from": "3", "to": "3"}, range(3, 4)),
        ({"to": "0"}, range(1)),
        ({"from": "4", "to": "3"}, range(0)),
        ({"from": "2", "to": "999999999"}, range(2, 10**9)),
        ({"to": ""}, range(10**9)),
        ({"to": "-1"}, range(10**9)),
        ({"to": "x"}, range(10**9)),
        ({"to": "9" * 5000}, range(10**9)),
        ({"from": "999999999"}, range(0)),
    ],
)
async def test_frames_come_from_a_step_to_a_step_and_what_is_no_step_is_no_bound(
    web: httpx.AsyncClient, start: Callable[..., Any], query: dict[str, str], steps: range
) -> None:
    start("m1", note="I see").play().close()
    whole = (await web.get(FRAMES, params={"seat": "0"})).json()
    some = (await web.get(FRAMES, params={"seat": "0", **query})).json()
    assert without_boards(some) == [frame for frame in without_boards(whole) if frame["step"] in steps]
    assert boards(some) == boards(whole)[steps.start : steps.stop]


@pytest.mark.parametrize("seat", ["", "1", "all"])
async def test_without_boards_all_the_rest_is_the_same(
    web: httpx.AsyncClient, start: Callable[..., Any], seat: str
) -> None:
    start("m1", note="I see").play().close()
    whole = (await web.get(FRAMES, params={"seat": seat})).json()
    assert all(board.startswith("<svg") for board in boards(whole))
    bare = (await web.get(FRAMES, params={"seat": seat, "boards": "no"})).json()
    assert bare == {**whole, "parts": [], "frames": without_boards(whole)}
    some = (await web.get(FRAMES, params={"seat": seat, "boards": "no", "from": "2", "to": "4"})).json()
    assert some["frames"] == bare["frames"][2:5]
    for other in ("", "yes", "No"):
        assert (await web.get(FRAMES, params={"seat": seat, "boards": other})).json() == whole


async def test_without_boards_a_match_that_goes_on_tells_no_more(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    match = start("m1", note="secret")
    for _ in range(6):
        match.step()
    answer = await web.get(FRAMES, params={"boards": "no"})
    lines = [line for frame in answer.json()["frames"] for line in frame["lines"]]
    assert {line["text"] for line in lines} == {""}
    assert "secret" not in answer.text
    assert (await web.get(FRAMES, params={"boards": "no", "seat": "0"})).status_code == 403


async def test_the_frame_that_says_why_there_are_no_more_comes_to_whoever_asks_for_more(
    web: httpx.AsyncClient, runs: Path
) -> None:
    shutil.copy(CORPUS / "v1-other-move.jsonl.gz", runs / "cup" / "matches" / "m1.jsonl.gz")

    async def told(**query: str) -> list[tuple[int, bool]]:
        answer = (await web.get(FRAMES, params=query)).json()
        return [(frame["step"], frame["wrong"].startswith("line 23 ")) for frame in answer["frames"]]

    assert (await told())[-2:] == [(20, False), (21, True)]
    assert (await told(boards="no"))[-2:] == [(20, False), (21, True)]
    assert await told(**{"from": "19", "to": "20"}) == [(19, False), (20, False)]
    assert await told(**{"from": "20", "to": "21"}) == [(20, False), (21, True)]
    assert await told(**{"from": "22"}) == [(21, True)]
