"""What the addresses answer, without a browser."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.export.page import replay_page
from referee.record import Dropped, FaultLine, SeatStats, Strike, read_record

NASTY = "<script>alert(1)</script>\"'&\u202egnp\x1b[31mred\x07"


async def test_the_pages_of_a_run_lead_to_each_other(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    start("m2", place=1).crash(1, stdout="last words")
    home = await web.get("/")
    assert "/runs/cup" in home.text
    run = await web.get("/runs/cup")
    assert run.status_code == 200
    assert "/runs/cup/bots/00ff00ff" in run.text
    assert "/runs/cup/matches/m1" in run.text
    bot = await web.get("/runs/cup/bots/01ff00ff")
    assert "/runs/cup/matches/m2?fault=1" in bot.text
    assert "last words" in bot.text
    assert (await web.get("/runs/cup/matches?reason=crashed")).text.count("/matches/m") == 2  # the match, its fault


async def test_a_run_whose_folder_has_no_address_takes_no_page_from_the_others(
    web: httpx.AsyncClient, runs: Path, start: Callable[..., Any]
) -> None:
    """From elsewhere, as by rsync or tar, may come a name in Latin-1."""
    start("m1").play().close()
    shutil.copytree(runs / "cup", runs / os.fsdecode(b"caf\xe9"))
    shutil.copytree(runs / "cup", runs / "caf\ncup")  # no address is found with it
    for address in ("/runs", "/search", "/wall", "/api/v1/runs"):
        answer = await web.get(address)
        assert answer.status_code == 200
        assert "caf" not in answer.text
    assert "/runs/cup" in (await web.get("/runs")).text
    assert (await web.get("/runs/caf%E9")).status_code == 404


async def test_a_match_shows_what_was_charged_and_the_lag_beside_it(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    match = start("m1")
    match.lag_us = 1100
    match.play().close()
    for page in ("/runs/cup/matches/m1", "/runs/cup/plots"):
        text = (await web.get(page)).text
        assert "worst lag ms" in text
        assert "<td>0.4</td>" in text
        assert "<td>1.1</td>" in text
        assert "<td>1.5</td>" not in text


async def test_a_match_shows_what_a_bot_used_while_it_was_not_asked_and_between_matches(
    web: httpx.AsyncClient, start: Callable[..., Any], runs: Path
) -> None:
    """Each of its own: a bot that computes between its matches does so while others play."""
    stats = (SeatStats(3, 4500, 1500, 2100, 0, 12_300, 8_700_400), SeatStats(3, 4500, 1500, 2100))
    record = start("m1").play().close(seat_stats=stats)
    for text in ((await web.get("/runs/cup/matches/m1")).text, replay_page(read_record(record))):
        assert '<th scope="col">off turn ms</th><th scope="col">between ms</th>' in text
        assert "<td>2.1</td><td>12.3</td><td>8700.4</td></tr>" in text
        assert "<td>2.1</td><td>0.0</td><td>0.0</td></tr>" in text


async def test_a_fault_leads_to_the_very_step(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    match = start("m1")
    for _ in range(3):
        match.step()
    match.crash(1, stderr="Traceback: here")
    answer = await web.get("/runs/cup/matches/m1?fault=1")
    assert answer.status_code == 302
    assert httpx.URL(answer.headers["location"]).params["step"] == "4"
    page = await web.get(answer.headers["location"])
    assert 'data-step="4"' in page.text
    assert "Traceback: here" in page.text


async def test_a_fault_that_is_none_leads_to_the_first_step(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    for fault in ("9" * 5000, "7", "x", "\u0665"):
        answer = await web.get("/runs/cup/matches/m1", params={"fault": fault})
        assert httpx.URL(answer.headers["location"]).params["step"] == "0"


@pytest.mark.parametrize("kind", ["strike", "fault"])
async def test_of_a_fault_in_a_match_that_goes_on_the_reason_alone_is_told(
    web: httpx.AsyncClient, start: Callable[..., Any], kind: str
) -> None:
    match = start("m1", names=("ann", "bob", "cyd"), game="ticket_to_ride_new_york")
    while not match.state.decisions():
        match.step()
    asked = match.state.decisions()[0]
    legal = match.state.legal_actions(asked.seat)
    secret = match.game.format_action(legal[0])
    detail = f"x in decision 1 is not one of the {len(legal)} legal actions; expected one of {secret}"
    if kind == "strike":
        match.writer.strike(Strike(asked.seat, "illegal_action", detail, "choice"))
    else:
        match.writer.fault(FaultLine(asked.seat, "illegal_action", detail, True))
        match.state.withdraw(asked.seat)
    match.writer.dropped(Dropped(asked.seat, f"it said {detail}", ""))
    match.step()
    match.step()
    for address in ("/api/runs/cup/matches/m1/frames", "/runs/cup/matches/m1?step=last"):
        answer = await web.get(address)
        assert secret not in answer.text
        assert "expected one of" not in answer.text
    lines = [
        line for frame in (await web.get("/api/runs/cup/matches/m1/frames")).json()["frames"] for line in frame["lines"]
    ]
    told = [line for line in lines if line["kind"] == "fault"]
    assert [line["text"].removesuffix("is out of the match") for line in told] == [""]
    assert all("sent an illegal action" in line["words"] for line in told)


async def test_frames_lead_to_the_final_board(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    match = start("m1", note="I see").play()
    match.close()
    answer = (await web.get("/api/runs/cup/matches/m1/frames?seat=all")).json()
    last = answer["frames"][-1]
    assert [frame["step"] for frame in answer["frames"]] == list(range(len(answer["frames"])))
    assert "".join(answer["parts"][part] for part in last["board"]).startswith("<svg")
    told = [line for frame in answer["frames"] for line in frame["lines"] if line["kind"] == "answer"]
    assert len(told) == sum(match.counts)
    assert {line["note"] for line in told} == {"I see"}
    tail = (await web.get(f"/api/runs/cup/matches/m1/frames?from={last['step']}")).json()
    assert [frame["step"] for frame in tail["frames"]] == [last["step"]]


async def test_a_match_that_goes_on_tells_only_what_everybody_may_know(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    match = start("m1", note="my plan")
    while sum(match.counts) < 2:
        match.step()
    answer = await web.get("/api/runs/cup/matches/m1/frames")
    lines = [line for frame in answer.json()["frames"] for line in frame["lines"]]
    assert answer.json()["live"]
    assert lines
    assert all(line["text"] == "" and not line.get("note") for line in lines)
    for address in ("/api/runs/cup/matches/m1/frames?seat=0", "/api/runs/cup/matches/m1/frames?seat=all",
                    "/runs/cup/matches/m1?seat=1", "/runs/cup/matches/m1/record"):  # fmt: skip
        assert (await web.get(address)).status_code == 403
    assert (await web.get("/api/runs/cup/matches/m1")).json()["footer"] is None
    match.play().close()
    assert (await web.get("/api/runs/cup/matches/m1/frames?seat=0")).status_code == 200
    record = await web.get("/runs/cup/matches/m1/record")
    assert gzip.decompress(record.content).startswith(b'["header"')


@pytest.mark.parametrize("address", [
    "/runs/none", "/runs/%2e%2e", "/runs/%2e%2e%2fruns", "/runs/cup/matches/none", "/runs/cup/matches/..%2f..%2fsecret",
    "/runs/cup/matches/.hidden", "/runs/cup/bots/none", "/nowhere", "/api/runs/none/standings", "/static/%2e%2e/app.py",
])  # fmt: skip
async def test_what_is_not_there_is_not_found(
    web: httpx.AsyncClient, runs: Path, start: Callable[..., Any], address: str
) -> None:
    start("m1").play().close()
    (runs.parent / "secret.jsonl").write_text("secret")
    answer = await web.get(address)
    assert answer.status_code == 404
    assert "secret" not in answer.text


@pytest.mark.parametrize("name", ["base.css", "moves.js", "pages.css", "replay.js"])
async def test_a_browser_that_has_a_file_is_not_sent_it_again(web: httpx.AsyncClient, name: str) -> None:
    first = await web.get(f"/static/{name}")
    again = await web.get(f"/static/{name}", headers={"If-None-Match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")


async def test_every_answer_forbids_foreign_and_inline_code(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    for address in ("/", "/runs/cup", "/runs/cup/matches/m1", "/nowhere", "/static/replay.js", "/api/runs"):
        answer = await web.get(address)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        if answer.headers["content-type"].startswith("text/html"):
            assert "<style" not in answer.text
            assert " style=" not in answer.text
            assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")


async def test_what_a_bot_writes_stays_text(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    names = (NASTY, f"b{NASTY}")
    start("m1", names=names, note=NASTY + "x" * 1_000_000).play().close()
    start("m2", names=names, note=NASTY, place=1).crash(1, stdout=NASTY, stderr="y" * 1_000_000, board=NASTY, odd=NASTY)
    addresses = ["/runs/cup", "/runs/cup/matches", "/runs/cup/bots/01ff00ff", "/runs/cup/matches/m1",
                 "/runs/cup/matches/m2?step=last"]  # fmt: skip
    for address in addresses:
        answer = await web.get(address)
        assert answer.status_code == 200
        assert "<script>" not in answer.text
        for harmful in ("\u202e", "\x1b", "\x07"):
            assert harmful not in unescape(answer.text), address
        assert len(answer.text) < 300_000
    frames = await web.get("/api/runs/cup/matches/m1/frames")
    assert len(frames.text) < 2_000_000
    note = next(line["note"] for frame in frames.json()["frames"] for line in frame["lines"] if line.get("note"))
    assert note.startswith("<script>")  # text for the script, which puts it in as text
    assert "more characters)" in note
    assert "\x1b" not in note


async def test_a_damaged_record_is_shown_as_far_as_it_goes(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    path = start("m1").play().close()
    whole = (await web.get("/api/runs/cup/matches/m1/frames")).json()["frames"]
    lines = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    path.write_bytes(gzip.compress("".join(lines[:10]).encode()))
    page = await web.get("/runs/cup/matches/m1")
    assert page.status_code == 200
    assert "Damaged: the file is closed but has no footer" in page.text
    shown = (await web.get("/api/runs/cup/matches/m1/frames")).json()["frames"]
    assert 1 < len(shown) < len(whole)
    assert shown == whole[: len(shown)]
    assert "Records that do not count" in (await web.get("/runs/cup/schedule")).text


async def test_a_changed_move_is_named(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    path = start("m1").play().close()
    lines = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if line.startswith('["a"'))
    fields = json.loads(lines[number])
    fields[2] = "nonsense(a=1)"
    lines[number] = json.dumps(fields, separators=(",", ":")) + "\n"
    path.write_bytes(gzip.compress("".join(lines).encode()))
    page = await web.get("/runs/cup/matches/m1?step=last")
    assert f"line {number + 1}: the line was changed" in page.text
    assert f"line {number + 1} cannot be followed" in page.text
    assert (await web.get("/api/runs/cup/matches/m1/frames")).json()["frames"][-1]["wrong"]


async def test_a_match_of_an_unknown_game_has_a_page_without_boards(
    web: httpx.AsyncClient, runs: Path, start: Callable[..., Any]
) -> None:
    path = start("m1").play().close()
    text = gzip.decompress(path.read_bytes()).decode().replace('"game":"toy"', '"game":"chess9"')
    path.write_bytes(gzip.compress(text.encode()))
    page = await web.get("/runs/cup/matches/m1")
    assert page.status_code == 200
    assert "no board" in page.text
    assert "chess9" in page.text
    (runs / "cup" / "matches" / "m2.jsonl.gz").write_bytes(b"no record at all")
    broken = await web.get("/runs/cup/matches/m2")
    assert broken.status_code == 422
    assert str(runs) not in broken.text


async def test_a_void_match_says_why(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    match = start("m1")
    match.step()
    match.close(
        status="void", reason="platform fault", detail="the disk is full", ranking=(), returns=(), trouble="trace"
    )
    page = await web.get("/runs/cup/matches/m1")
    assert "platform fault (void)" in page.text
    assert "the disk is full" in page.text
    assert "trace" in page.text


async def test_tables_are_computed_again_when_a_record_comes(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    assert (await web.get("/api/runs/cup/standings")).json()["matches"] == 1
    start("m2", place=1).play().close()
    assert (await web.get("/api/runs/cup/standings")).json()["matches"] == 2
    listed = (await web.get("/api/runs/cup/matches?from=1&count=5")).json()
    assert [match["match_id"] for match in listed["matches"]] == ["m2"]


async def test_the_stream_of_a_match_that_is_over_says_so_and_ends(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1").play().close()
    answer = await web.get("/runs/cup/matches/m1/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert json.loads(answer.text.removeprefix("data: "))["over"] is True


async def test_a_mirror_match_is_one_match_of_its_bot_on_its_page_and_is_not_rated(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1", names=("ann", "ann")).play().close()
    assert "(mirror, not rated)" in (await web.get("/runs/cup/matches")).text
    found = (await web.get("/api/runs/cup/bots/00ff00ff")).json()
    assert (found["total"], [item["mirror"] for item in found["matches"]]) == (1, [True])
    assert (found["standings"][0]["played"], found["standings"][0]["mirrors"]) == (1, 1)
    assert [row["mirror"] for row in (await web.get("/api/runs/cup/matches")).json()["matches"]] == [True]


async def test_all_bots_of_all_runs_are_on_one_page(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    text = (await web.get("/search")).text
    for entry in ("00ff00ff", "01ff00ff"):
        assert f'href="/runs/cup/bots/{entry}"' in text
    assert 'href="/search"' in (await web.get("/runs")).text
