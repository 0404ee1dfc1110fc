"""What of a match is shown to whom on a ladder: nothing of an open block, and no output of others' bots."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from leaderboard.web.hand_ins import Entry
from referee.record.journal import FailedStart
from tests.leaderboard.web.ladders import Intake

ANN, BOB = "00ff00ff", "01ff00ff"
SECRETS = ("ann printed this", "bob printed this", "ann noted this")

MATCH_ADDRESSES = (
    "/runs/cup/matches/{match}",
    "/runs/cup/matches/{match}?step=last&seat=all",
    "/runs/cup/matches/{match}?fault=1",
    "/runs/cup/matches/{match}/record",
    "/runs/cup/matches/{match}/events",
    "/api/runs/cup/matches/{match}",
    "/api/runs/cup/matches/{match}/frames?seat=all",
    "/api/v1/runs/cup/matches/{match}",
    "/api/v1/runs/cup/matches/{match}/frames?seat=all",
    "/api/v1/runs/cup/matches/{match}/record",
    "/api/v1/runs/cup/matches/{match}/events",
)
RUN_ADDRESSES = (
    "/runs/cup",
    "/runs/cup/matches",
    "/runs/cup/cross",
    "/runs/cup/plots",
    "/runs/cup/schedule",
    "/runs/cup/settings",
    "/runs/cup/standings.csv",
    "/runs/cup/matches.csv",
    "/",
    "/runs",
    "/ladder",
    "/ladder/cup",
    "/bots/annbot",
    f"/runs/cup/bots/{ANN}",
    f"/runs/cup/bots/{BOB}",
    "/api/runs/cup",
    "/api/runs/cup/matches",
    f"/api/runs/cup/bots/{BOB}",
    f"/api/v1/runs/cup/bots/{BOB}",
)


@pytest.fixture
def intake(tmp_path: Path) -> Any:
    made = Intake(tmp_path / "ladder")
    made.entries_of["cup"] = {ANN: Entry(ANN, "annbot", "ann", 1), BOB: Entry(BOB, "bobbot", "bob", 1)}
    made.accounts.add_owner("ann")
    made.store.hand_in("ann", "annbot", "content")
    made.qualify("annbot", 1)
    yield made
    made.store.close()


Ask = Callable[..., Any]


@pytest.fixture
async def ask(runs: Path, intake: Intake) -> Any:
    """ask("ann", address) asks with a token of ann's; "" is a visitor, "ola" an organiser."""
    facts = RunFacts(
        failed_starts={BOB: FailedStart(BOB, "bob", 3, "m9", "2026-01-01T00:00:00Z", "exit code 1", SECRETS[1])}
    )
    app = make_app(runs, lambda folder: facts, hide_live=True, hand_ins=intake)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:

        async def get(who: str, address: str) -> httpx.Response:
            headers = {}
            if who:
                intake.accounts.add_owner(who, organiser=who == "ola")
                secret = intake.accounts.create_token(who, "", "organise" if who == "ola" else "manage", None).secret
                headers = {"Authorization": f"Bearer {secret}"}
            return await web.get(address, headers=headers, follow_redirects=True)

        yield get


def play(start: Callable[..., Any], match_id: str, place: int = 0) -> None:
    match = start(match_id, place=place, note=SECRETS[2])
    while min(match.counts) < 2:
        match.step()
    match.crash(1, stderr=SECRETS[1], raw="bob sent this")


def text_of(answer: httpx.Response) -> str:
    if answer.headers["content-type"] == "application/gzip":
        return gzip.decompress(answer.content).decode()
    return answer.text


@pytest.mark.slow
@pytest.mark.parametrize("who", ["", "ann", "bob"])
async def test_nothing_of_an_open_block_is_shown_to_anyone_but_organisers(
    ask: Ask, start: Callable[..., Any], open_blocks: set[Any], who: str
) -> None:
    open_blocks.add(("toy", 0))
    play(start, "m1")
    start("m2", place=1, note=SECRETS[2]).step()
    for match in ("m1", "m2"):
        for address in MATCH_ADDRESSES:
            answer = await ask(who, address.format(match=match))
            assert answer.status_code == 403, address
            assert not any(secret in answer.text for secret in SECRETS)
            assert "<svg" not in answer.text
    for address in RUN_ADDRESSES:
        answer = await ask(who, address)
        assert answer.status_code == 200, address
        assert not any(secret in answer.text for secret in SECRETS), address
        assert "m1" not in answer.text, address


async def test_organisers_see_an_open_block(ask: Ask, start: Callable[..., Any], open_blocks: set[Any]) -> None:
    open_blocks.add(("toy", 0))
    play(start, "m1")
    start("m2", place=1).step()
    for match in ("m1", "m2"):
        for address in ("/runs/cup/matches/{match}", "/api/v1/runs/cup/matches/{match}/frames"):
            assert (await ask("ola", address.format(match=match))).status_code == 200
    assert SECRETS[1] in (await ask("ola", "/runs/cup/matches/m1")).text
    assert SECRETS[1] in text_of(await ask("ola", "/runs/cup/matches/m1/record"))
    assert (await ask("ola", "/api/v1/runs/cup")).json()["live"] == ["m2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("who", "seen"), [("", ()), ("ann", SECRETS[2:]), ("bob", SECRETS[1:]), ("cyd", ()), ("ola", SECRETS[1:])]
)
async def test_of_a_settled_block_what_a_bot_printed_and_noted_is_for_its_owner(
    ask: Ask, start: Callable[..., Any], open_blocks: set[Any], who: str, seen: tuple[str, ...]
) -> None:
    """Both seats have noted the same words, so that bob sees his own note."""
    play(start, "m1")
    shown = ""
    for address in (*MATCH_ADDRESSES, *RUN_ADDRESSES):
        if "/record" not in address:
            answer = await ask(who, address.format(match="m1"))
            assert answer.status_code == 200, address
            shown += answer.text
    assert [secret in shown for secret in SECRETS] == [secret in seen for secret in SECRETS]
    assert ("bob sent this" in shown) == (who in ("bob", "ola"))
    assert "crashed" in shown
    assert "<svg" in shown


@pytest.mark.parametrize("who", ["", "ann", "bob", "cyd"])
async def test_notes_of_the_other_seat_are_left_out_line_by_line(
    ask: Ask, start: Callable[..., Any], open_blocks: set[Any], who: str
) -> None:
    start("m1", note=SECRETS[2]).play().close()
    answer = (await ask(who, "/api/v1/runs/cup/matches/m1/frames?seat=all&boards=no")).json()
    notes: dict[int, set[str]] = {0: set(), 1: set()}
    for frame in answer["frames"]:
        for line in frame["lines"]:
            if line["kind"] == "answer":
                notes[line["seat"]].add(line["note"])
    assert notes[0] == ({SECRETS[2]} if who == "ann" else {""})
    assert notes[1] == ({SECRETS[2]} if who == "bob" else {""})


async def test_the_record_of_a_ladders_match_is_for_organisers(
    ask: Ask, start: Callable[..., Any], open_blocks: set[Any]
) -> None:
    play(start, "m1")
    for who in ("", "ann", "bob"):
        answer = await ask(who, "/runs/cup/matches/m1/record")
        assert answer.status_code == 403
        assert "only organisers" in answer.text
    assert SECRETS[1] in text_of(await ask("ola", "/runs/cup/matches/m1/record"))


@pytest.mark.parametrize("who", ["", "ann", "ola"])
async def test_where_things_are_on_the_machine_is_for_organisers(ask: Ask, start: Callable[..., Any], who: str) -> None:
    start("m1", sandboxes=("strict, read /srv/ladder/weights", "strict")).play().close()
    for api in ("/api/v1", "/api"):
        answer = await ask(who, f"{api}/runs/cup/matches/m1")
        assert answer.status_code == 200
        assert "weights" in answer.text
        assert ("/srv/ladder" in answer.text) is (who == "ola")


async def test_the_output_of_a_failed_start_is_shown_to_its_owner_once_its_block_is_settled(
    ask: Ask, start: Callable[..., Any], open_blocks: set[Any], runs: Path
) -> None:
    aside = runs / "cup" / "matches" / "void"
    aside.mkdir()
    start("m9", place=9).close(status="void", reason="start_failed").rename(aside / "m9.1-start_failed.jsonl.gz")
    start("m1").play().close()
    addresses = ("/runs/cup", f"/runs/cup/bots/{BOB}", f"/api/v1/runs/cup/bots/{BOB}")
    for who, seen in (("", False), ("ann", False), ("bob", True), ("ola", True)):
        for address in addresses:
            assert (SECRETS[1] in (await ask(who, address)).text) == seen, (who, address)
    open_blocks.add(("toy", 0))
    start("m2", place=1).play().close()
    for who, seen in (("bob", False), ("ola", True)):
        for address in addresses:
            assert (SECRETS[1] in (await ask(who, address)).text) == seen, (who, address)


async def test_a_page_that_was_made_for_one_person_is_not_shown_to_another(
    ask: Ask, start: Callable[..., Any], open_blocks: set[Any]
) -> None:
    start("m1").play().close()
    assert "Sign in" in (await ask("", "/runs/cup")).text
    for who in ("ola", "bob", "ann"):
        assert f">{who}</a>" in (await ask(who, "/runs/cup")).text
    assert "Sign in" in (await ask("", "/runs/cup")).text
