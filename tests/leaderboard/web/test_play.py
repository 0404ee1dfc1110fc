"""What the addresses of playing answer, and whom they refuse."""

import asyncio
import json
import math
import threading
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.guard import SENT_IN
from leaderboard.web.play import as_typed
from leaderboard.web.play_host import HumanSeat, Opponent, PlayRefused, Question, Setup, Standpoint
from leaderboard.web.rates import STARTS
from leaderboard.web.strength import rivals, usual
from referee.games.api import Option, resolve_options
from referee.games.registry import get_game

HERE = "http://127.0.0.1"

FORM = "application/x-www-form-urlencoded"


class Seat:
    """A seat that is asked one question."""

    match_id, game, seat, names, key, number, over = "m1", "toy", 0, ("<i>", "bot"), "k" * 20, 1, ""
    begun_at = "2026-11-29T12:00:00+00:00"

    def __init__(self) -> None:
        self.said: list[tuple[int, int | None]] = []

    def now(self) -> Standpoint:
        game = get_game("toy")
        state = game.new_initial_state(2, resolve_options("toy", game.options, {}))
        while state.chance_outcomes():
            state.apply_chance(state.chance_outcomes()[0][0])
        asked = state.decisions()[0]
        legal = state.legal_actions(asked.seat)
        return Standpoint(1, Question(3, asked.kind, state.observation(asked.seat), legal, 2.5), (), "")

    def seen(self) -> None:
        pass

    def answer(self, decision: int, index: int | None) -> bool:
        self.said.append((decision, index))
        return decision == 3


class Host:
    """Starts nothing."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self.sits = Seat()
        self.asked: list[Setup] = []
        self.visitors: list[str] = []

    def opponents(self, game: str) -> list[Opponent]:
        return [Opponent("0", "<script>\u202e", "1")]

    def options(self, game: str) -> Sequence[Option]:
        return get_game(game).options

    def start(self, setup: Setup, visitor: str) -> Sequence[HumanSeat]:
        self.asked.append(setup)
        self.visitors.append(visitor)
        if setup.game == "none":
            raise PlayRefused("there is <no> such game", "choose another one")
        return [self.sits]

    def going_on(self) -> Sequence[HumanSeat]:
        return [self.sits]

    def seat(self, match_id: str, key: str) -> HumanSeat | None:
        return self.sits if (match_id, key) == ("m1", self.sits.key) else None


@pytest.fixture
def host(runs: Path) -> Host:
    return Host(runs / "cup")


@pytest.fixture
def client(runs: Path, host: Host) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=make_app(runs, play_host=host)), base_url=HERE)


async def token_of(client: httpx.AsyncClient) -> str:
    page = await client.get("/play?game=toy")
    return page.text.split('name="token" value="')[1].split('"')[0]


async def test_nobody_plays_unless_it_is_asked_for(web: httpx.AsyncClient) -> None:
    assert (await web.get("/play")).status_code == 404
    assert 'href="/play"' not in (await web.get("/")).text


async def test_a_form_of_ours_starts_a_match(client: httpx.AsyncClient, host: Host) -> None:
    form = {"token": await token_of(client), "game": "toy", "seat0": "", "seat1": "human", "seat2": "0",
            "option-rounds": "2", "name": " Eve ", "bot_move_s": "0.5"}  # fmt: skip
    answer = await client.post("/play", data=form, headers={"Origin": HERE})
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/play/m1/{host.sits.key}"
    assert host.asked == [Setup("toy", ("human", "0"), {"rounds": "2"}, "Eve", 0.5)]
    assert host.visitors == ["127.0.0.1"]


async def test_what_cannot_be_started_is_said_on_the_page(client: httpx.AsyncClient) -> None:
    form = {"token": await token_of(client), "game": "none", "seat0": "human"}
    answer = await client.post("/play", data=form, headers={"Origin": HERE})
    assert answer.status_code == 400
    assert "there is &lt;no&gt; such game" in answer.text
    form["bot_move_s"] = "soon"
    assert (await client.post("/play", data=form, headers={"Origin": HERE})).status_code == 400


async def test_who_starts_matches_without_end_is_refused_and_may_still_answer(
    client: httpx.AsyncClient, host: Host
) -> None:
    """To check what is to be played takes far longer than to take an answer."""
    token = await token_of(client)
    form = {"token": token, "game": "none", "seat0": "human"}
    said = [await client.post("/play", data=form, headers={"Origin": HERE}) for _ in range(STARTS.most + 1)]
    assert [answer.status_code for answer in said] == [400] * STARTS.most + [429]
    assert "than 30 matches of people within 60 seconds" in said[-1].text
    assert int(said[-1].headers["retry-after"]) > 0
    at = f"/play/m1/{host.sits.key}/answer"
    answered = await client.post(at, json={"decision": 3, "index": 0}, headers={"Origin": HERE, SENT_IN: token})
    assert answered.status_code == 200


async def test_matches_that_wait_to_begin_keep_no_thread_from_people_who_play(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a bot is built for one of them, say."""
    entered, built = threading.Event(), threading.Event()

    def start(setup: Setup, visitor: str) -> Sequence[HumanSeat]:
        entered.set()
        built.wait(60)
        return [host.sits]

    monkeypatch.setattr(host, "start", start)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    token = await token_of(client)
    form, headers = {"token": token, "game": "toy", "seat0": "human"}, {"Origin": HERE}
    starting = [asyncio.create_task(client.post("/play", data=form, headers=headers)) for _ in range(4)]
    try:
        assert await asyncio.to_thread(entered.wait, 60)
        for _ in range(50):  # the others have come as far as they get
            await asyncio.sleep(0)
        at = f"/play/m1/{host.sits.key}/answer"
        async with asyncio.timeout(30):
            answered = await client.post(at, json={"decision": 3, "index": 0}, headers={**headers, SENT_IN: token})
        assert answered.status_code == 200
    finally:
        built.set()
        begun = await asyncio.gather(*starting)
    assert {answer.status_code for answer in begun} == {303}


@pytest.mark.parametrize(
    ("headers", "good_token"),
    [
        ({}, True),
        ({"Origin": "null"}, True),
        ({"Origin": "http://elsewhere.example"}, True),
        ({"Origin": "https://127.0.0.1"}, True),
        ({"Origin": HERE, "Sec-Fetch-Site": "cross-site"}, True),
        ({"Origin": HERE}, False),
    ],
)
async def test_another_site_can_start_and_answer_nothing(
    client: httpx.AsyncClient, host: Host, headers: dict[str, str], good_token: bool
) -> None:
    token = await token_of(client) if good_token else "guessed"
    started = await client.post("/play", data={"token": token, "game": "toy", "seat0": "human"}, headers=headers)
    assert started.status_code == 403
    at = f"/play/m1/{host.sits.key}/answer"
    answered = await client.post(at, json={"decision": 3, "index": 0}, headers={**headers, "X-Crosstown-Token": token})
    assert answered.status_code == 403
    assert host.asked == host.sits.said == []


async def test_a_seat_is_found_by_its_key_alone(client: httpx.AsyncClient, host: Host) -> None:
    assert (await client.get(f"/play/m1/{host.sits.key}")).status_code == 200
    for address in ("/play/m1/other", f"/play/m2/{host.sits.key}", "/play/m1/other/state", "/play/m1/other/events"):
        assert (await client.get(address)).status_code == 404


async def test_the_state_has_the_board_with_buttons_the_list_and_the_clock(
    client: httpx.AsyncClient, host: Host
) -> None:
    state = (await client.get(f"/play/m1/{host.sits.key}/state")).json()
    assert state["asked"]["decision"] == 3
    assert state["asked"]["left_s"] == 2.5
    assert state["asked"]["actions"] == ["stash a card of value 1"]
    assert state["board"].startswith("<svg")
    assert "<i>" not in state["board"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"decision": 3, "index": 1}, 200),
        ({"decision": 3, "resign": True}, 200),
        ({"decision": 2, "index": 1}, 409),
        ({"decision": 3}, 400),
        ({"index": 1}, 400),
        ([], 400),
        ({"decision": math.inf, "index": 0}, 400),
        ({"decision": 3, "index": math.inf}, 400),
        ("x" * 100_000, 413),
    ],
)
async def test_an_answer_is_taken_once_and_whole(client: httpx.AsyncClient, host: Host, said: Any, status: int) -> None:
    headers = {"Origin": HERE, "X-Crosstown-Token": await token_of(client)}
    answer = await client.post(
        f"/play/m1/{host.sits.key}/answer",
        content=json.dumps(said),
        headers={**headers, "Content-Type": "application/json"},
    )
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["error"].endswith(".")
    else:
        assert host.sits.said == [(3, None if "resign" in said else 1)]


async def test_who_follows_a_seat_is_told_of_the_end_and_costs_nothing_after_it(
    client: httpx.AsyncClient, host: Host
) -> None:
    """A seat is looked at 20 times a second for as long as it is followed."""
    host.sits.over = "normal"
    async with asyncio.timeout(30):
        followed = await client.get(f"/play/m1/{host.sits.key}/events")
    assert followed.text == 'data: {"over": true}\n\n'


async def test_what_bots_are_called_stays_text(client: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    page = (await client.get("/play?game=toy")).text
    assert "<script>\u202e" not in page
    assert "\u202e" not in page


async def test_a_form_that_is_too_long_is_refused(client: httpx.AsyncClient, host: Host) -> None:
    form = "&".join(f"field{number}=1" for number in range(300))
    assert (await client.post("/play", content=form, headers={"Origin": HERE, "Content-Type": FORM})).status_code == 400
    assert host.asked == []


async def test_seats_of_matches_that_go_on_are_listed(client: httpx.AsyncClient, host: Host) -> None:
    """Below the choice, with whose they are and since when."""
    page = (await client.get("/play?game=toy")).text
    assert f"/play/m1/{host.sits.key}" in page
    assert "<i>" not in page
    listed = page[page.index('id="going"') :]
    assert page.index("</form>") < page.index('id="going"')
    assert "&lt;i&gt; against bot, begun <time" in listed
    assert "Only people at this machine can play here." in listed


async def test_the_page_of_a_seat_speaks_to_its_person_and_of_the_others_by_name(
    client: httpx.AsyncClient, host: Host
) -> None:
    page = (await client.get(f"/play/m1/{host.sits.key}")).text
    assert "<h1>Toy: you against bot</h1>" in page
    assert 'data-others="bot"' in page
    assert page.index("Click what stands out") < page.index('id="board"')
    asked = (await client.get(f"/play/m1/{host.sits.key}/state")).json()["asked"]
    assert asked["question"] == "stash"


async def test_a_seat_leads_to_the_page_of_its_match_only_when_that_is_over(
    client: httpx.AsyncClient, host: Host
) -> None:
    """The script makes the link then: a match of a person is not shown before."""
    page = (await client.get(f"/play/m1/{host.sits.key}")).text
    assert 'href="/runs/cup/matches/m1"' not in page
    assert 'data-match="/runs/cup/matches/m1"' in page


async def test_an_opponent_alone_starts_a_match_against_it(client: httpx.AsyncClient, host: Host) -> None:
    form = {"token": await token_of(client), "game": "toy", "opponent": "0", "seat0": "", "seat1": ""}
    assert (await client.post("/play", data=form, headers={"Origin": HERE})).status_code == 303
    assert host.asked == [Setup("toy", ("human", "0"), {}, "human", 1.0)]


async def test_only_the_options_that_were_changed_reach_the_host(client: httpx.AsyncClient, host: Host) -> None:
    usual = {f"option-{option.name}": as_typed(option.default) for option in get_game("toy").options}
    form = {"token": await token_of(client), "game": "toy", "opponent": "0", **usual, "option-rounds": "2"}
    assert (await client.post("/play", data=form, headers={"Origin": HERE})).status_code == 303
    assert host.asked[0].options == {"rounds": "2"}


async def test_without_a_game_the_page_offers_each_as_a_card(client: httpx.AsyncClient) -> None:
    page = (await client.get("/play")).text
    for game in ("king_of_new_york", "toy"):
        assert f'href="/play?game={game}"' in page
    assert "<form" not in page


def test_rivals_are_ordered_by_strength_and_the_middle_one_is_chosen() -> None:
    bots = [Opponent(str(at), name, "1") for at, name in enumerate(("walker", "search", "random", "greedy"))]
    found = rivals(bots, "shibuya")
    assert [(rival.level, rival.opponent.name) for rival in found] == [
        ("easy", "random"),
        ("medium", "greedy"),
        ("strong", "search"),
        ("", "walker"),
    ]
    chosen = usual(found)
    assert chosen is not None
    assert chosen.opponent.name == "greedy"
    assert usual([]) is None


def test_measured_strengths_are_those_of_the_documentation() -> None:
    table = (Path(__file__).resolve().parents[3] / "docs" / "bots.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")]
    documented = [(row[0], row[1], row[2], row[4], row[5], row[6]) for row in rows if len(row) == 9]
    strengths = tomllib.loads((files("leaderboard.web") / "strength.toml").read_text())
    for row in strengths["measured"]:
        interval = f"{row['low']:.3f} to {row['high']:.3f}"
        line = (row["game"], row["bot"], row["against"], f"{row['score']:.3f}", interval, str(row["matches"]))
        assert line in documented
    most: dict[tuple[str, str], int] = {}
    for game, bot, against, *_, matches in documented:
        if (bot, against) in (("search", "greedy"), ("greedy", "random")):
            most[game, bot] = max(int(matches), most.get((game, bot), 0))
    assert {(row["game"], row["bot"]): row["matches"] for row in strengths["measured"]} == most
