"""`crosstown web` as far as it goes without a browser; the pages are tested in tests/leaderboard/web."""

import asyncio
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.index import load_index
from leaderboard.schedule_view import Ahead
from leaderboard.web.app import make_app
from leaderboard.web.facts import facts_of
from referee.cli.listening import listen_on
from referee.run.folder import RunFolder
from referee.run.journal import Journal, read_journal
from referee.run.lock import RunLock
from referee.run.run import Run
from referee.schedule.formats.registry import UnknownFormat
from referee.schedule.progress import ScheduleProgress
from referee.schedule.schedule import Schedule


@pytest.mark.slow
def test_it_says_where_it_is_answers_and_ends_with_ctrl_c(make_run: Callable[..., Any], tmp_path: Path) -> None:
    make_run()
    words = [sys.executable, "-m", "referee.cli.main", "web", "--port", "0"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(f"{address}runs/cup", timeout=20) as answer:
                page = answer.read().decode()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
    assert process.returncode == 0
    assert "4 of 4 matches" in page
    assert "&lt;ann&gt;" in page
    assert "<ann>" not in page


def test_ctrl_c_as_soon_as_the_address_is_printed_ends_it_without_an_error(
    crosstown: Callable[..., Any], make_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(_: str) -> None:
        raise KeyboardInterrupt

    make_run()
    monkeypatch.setattr("referee.cli.listening.print_text", press)
    printed = crosstown("web", "--port", "0")
    assert (printed.code, printed.err) == (0, "")


async def test_the_end_of_a_short_answer_does_not_wait_for_the_browser_to_have_its_start() -> None:
    """That is Nagle's algorithm: 40 ms for each file of a page."""
    delays = asyncio.get_running_loop().create_future()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        delays.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
        writer.close()

    with listen_on("127.0.0.1", 0) as listening:
        async with await asyncio.start_server(connected, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            assert not await delays
            writer.close()


def test_a_folder_that_is_not_there_is_refused(crosstown: Callable[..., Any]) -> None:
    printed = crosstown("web", "--runs", "nowhere")
    assert printed.code == 2
    assert "nowhere is not a folder" in printed.err


def test_a_port_that_is_taken_is_refused(crosstown: Callable[..., Any], make_run: Callable[..., Any]) -> None:
    make_run()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        printed = crosstown("web", "--port", str(taken.getsockname()[1]))
    assert printed.code == 3
    assert "cannot listen" in printed.err


def test_a_run_is_told_by_its_journal_but_not_its_seed(make_run: Callable[..., Any]) -> None:
    facts = facts_of(make_run(played=2).path)
    assert (facts.title, facts.total) == ("cup", 4)
    assert [entrant.name for entrant in facts.entrants] == ["<ann>", "[b]bob"]
    assert set(facts.shown) == {"format"}


@pytest.mark.parametrize("kind", ["void", "annulled", "withdrawn", "counted", "finished"])
def test_facts_that_go_on_from_earlier_ones_are_those_of_the_whole_journal(
    make_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("referee.run.journal._LONG_BYTES", 0)
    run = make_run(played=3)
    before = facts_of(run.path)
    assert before.run is not None
    match_id = next(iter(run.records.paths()))
    entry_id = before.entrants[0].entry_id
    fields: dict[str, dict[str, Any]] = {
        "void": {"match": match_id, "failed_starts": [[entry_id, "it was not there"]]},
        "annulled": {"place": 0, "match_id": match_id},
        "withdrawn": {"place": 3, "entry_id": entry_id},
        "counted": {"matches": {match_id: "ab"}},
        "finished": {"rated": 3, "missing": 1},
    }
    say(run, kind, **fields[kind])
    after, whole = facts_of(run.path, before), facts_of(run.path)
    assert after.run is not None
    assert whole.run is not None
    assert after.run.journal == whole.run.journal
    assert after.run.schedule_config == whole.run.schedule_config
    assert after.run.participants == whole.run.participants
    assert (after.state(), after.is_held(), after.all_over()) == (whole.state(), whole.is_held(), whole.all_over())
    assert replace(after, run=None) == replace(whole, run=None)


def test_what_is_open_is_found_without_taking_the_matches_of_blocks_that_are_complete(
    make_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    take = Schedule.next
    monkeypatch.setattr(Schedule, "next", lambda self: (spec := take(self)) and (taken.append(spec.place) or spec))
    run = make_run(blocks=6, played=7)
    first = sorted(run.records.paths())[0]
    run.records.at(run.records.stamps()[first]).unlink()

    def seen() -> tuple[list[int], list[int]]:
        """The places of the open matches, and those of the matches that were taken to find them."""
        facts, rows = facts_of(run.path), load_index(run, database=run.path / "none.db").rows
        taken.clear()
        return [match.place for match in facts.view(rows)[0].ahead.coming], taken

    assert seen() == ([0, *range(7, 12)], [0, 1, *range(6, 12)])
    say(run, "annulled", place=2, match_id=sorted(run.records.paths())[1])
    assert seen() == ([0, *range(7, 12)], [0, 1, 2, 3, *range(6, 12)])


class Watched(tuple[Any, ...]):
    """Lines or rows that count how often somebody goes through all of them."""

    looks = 0

    def __iter__(self) -> Iterator[Any]:
        type(self).looks += 1
        return super().__iter__()

    def __reversed__(self) -> Iterator[Any]:
        type(self).looks += 1
        return iter(self[::-1])


async def test_a_page_that_is_loaded_again_goes_through_neither_the_journal_nor_the_matches(
    make_run: Callable[..., Any],
) -> None:
    run = make_run(played=4, blocks=3)
    app = make_app(run.path.parent)
    match_id = next(iter(run.records.paths()))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        for again in (False, True):
            if again:
                tables = app.state.tables.of(run)
                object.__setattr__(tables.facts.run.journal, "events", Watched(tables.facts.run.journal.events))
                object.__setattr__(tables.counted, "rows", Watched(tables.counted.rows))
                app.state.kept_pages.clear()
                Watched.looks = 0
            for part in (
                "runs/cup",
                "runs/cup/matches",
                "runs/cup/schedule",
                f"runs/cup/matches/{match_id}",
                "",
                "wall",
            ):
                assert (await web.get(f"/{part}")).status_code == 200
    assert app.state.tables.facts(run).run is tables.facts.run
    assert Watched.looks == 0


def test_a_damaged_journal_is_said(make_run: Callable[..., Any]) -> None:
    run = make_run()
    run.journal.write_text("no journal\n")
    assert "The journal cannot be used: cup/tournament.jsonl:1" in facts_of(run.path).warnings[0]


def client(runs: Path) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=make_app(runs))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


def ahead_of(run: RunFolder) -> Ahead:
    return facts_of(run.path).view(load_index(run, database=run.path / "none.db").rows)[0].ahead


def places(run: RunFolder) -> list[int]:
    return [match.place for match in ahead_of(run).coming]


def say(run: RunFolder, kind: str, **fields: Any) -> None:
    with Journal(run.journal, read_journal(run.journal)) as journal:
        journal.append(kind, **fields)


@pytest.mark.parametrize(
    ("played", "coming", "blocks"),
    [(0, [0, 1, 2, 3], {0, 1}), (1, [1, 2, 3], {0, 1}), (2, [2, 3], {1}), (3, [3], {1}), (4, [], set())],
)
def test_a_block_is_open_until_each_of_its_matches_has_a_record(
    make_run: Callable[..., Any], played: int, coming: list[int], blocks: set[int]
) -> None:
    run = make_run(played=played)
    assert places(run) == coming
    assert ahead_of(run).open_blocks == {("toy", block) for block in blocks}


def test_on_same_seeds_a_block_is_open_until_all_pairs_have_played_it(
    make_run: Callable[..., Any],
) -> None:
    run = make_run(played=2, others=("cyd",), more="[round-robin]\nsame_seeds = true")
    assert len(places(run)) == 10
    assert ahead_of(run).open_blocks == {("toy", 0), ("toy", 1)}


@pytest.mark.parametrize("shared", [True, False])
def test_where_seeds_are_shared_the_bots_that_could_read_the_pages_are_known_from_the_journal(
    make_run: Callable[..., Any], shared: bool
) -> None:
    more = "[round-robin]\nsame_seeds = true" if shared else ""
    run = make_run(others=("cyd", "dan"), more=more)
    ids = {bot.name: bot.entry_id for bot in Run(run).participants}
    grants = {"<ann>": "env HOME, read /data", "[b]bob": "network, env HOME", "cyd": "read /network"}
    machine = {ids[name]: {"profile": "strict", "grants": granted} for name, granted in grants.items()}
    say(run, "resumed", matches=4, void=[], machine=machine)
    assert facts_of(run.path).open_bots == (("[b]bob", "dan") if shared else ())  # dan connects from elsewhere
    machine[ids["[b]bob"]] = {"profile": "strict"}
    say(run, "machine", machine=machine, changes=[])
    assert facts_of(run.path).open_bots == (("dan",) if shared else ())


def test_of_a_swiss_the_rounds_that_follow_from_results_are_not_known_yet(make_run: Callable[..., Any]) -> None:
    run = make_run(style="swiss", others=("cyd", "dan"), blocks=1, played=1)
    assert places(run) == [1, 2, 3]
    assert len(ahead_of(run).open_blocks or ()) == 2


def test_nobody_waits_for_a_bot_that_has_left(make_run: Callable[..., Any], crosstown: Callable[..., Any]) -> None:
    run = make_run(played=1, others=("cyd",))
    before = len(places(run))
    assert crosstown("withdraw", "cup", "cyd").code == 0
    ahead = ahead_of(run)
    assert 0 < len(ahead.coming) < before
    assert all("cyd" not in match.names for match in ahead.coming)


@pytest.mark.parametrize("annulled", [False, True])
def test_nothing_is_ahead_of_a_finished_run(
    make_run: Callable[..., Any], crosstown: Callable[..., Any], annulled: bool
) -> None:
    run = make_run(played=3)
    say(run, "finished", rated=3, missing=1)
    if annulled:
        match_id = next(run.matches.glob("*.gz")).name.removesuffix(".jsonl.gz")
        assert crosstown("annul", "cup", match_id).code == 0
    assert ahead_of(run) == Ahead()
    say(run, "resumed", matches=3, void=[])
    assert ahead_of(run).open_blocks == {("toy", 1)}


@pytest.mark.parametrize("how", ["no journal\n", "", "a plug-in that is gone"])
async def test_with_hide_live_a_run_whose_schedule_cannot_be_told_shows_no_match(
    make_run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    run = make_run(played=4)
    match_id = next(run.matches.glob("*.gz")).name.removesuffix(".jsonl.gz")
    if how.startswith("a plug-in"):
        monkeypatch.setattr("referee.schedule.config.get_format", gone)
    else:
        run.journal.write_text(how)
    transport = httpx.ASGITransport(app=make_app(run.path.parent, hide_live=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        assert (await web.get("/runs/cup")).status_code == 200
        assert (await web.get("/api/runs/cup/matches")).json()["total"] == 0
        for part in ("", "/record"):
            assert (await web.get(f"/runs/cup/matches/{match_id}{part}")).status_code == 403


def gone(name: str) -> Any:
    raise UnknownFormat(name)


def test_matches_without_a_tournament_are_shown_with_hide_live_once_they_are_over(
    make_run: Callable[..., Any],
) -> None:
    run = make_run(name="single", played=4)
    run.journal.unlink()
    facts = facts_of(run.path)
    assert (ahead_of(run), facts.warnings, facts.state()) == (Ahead(), (), "no tournament")


PAGES = ("/runs/cup", "/runs/cup/matches", "/runs/cup/bots/{bot}", "/runs/cup/matches/{match}", "/api/runs/cup",
         "/api/runs/cup/standings")  # fmt: skip


@pytest.mark.parametrize(
    ("how", "said", "state"),
    [
        (None, "The journal is lost: cup has match records but no journal: restore tournament.jsonl", "journal lost"),
        ("", "The journal is lost: cup has match records but no journal", "journal lost"),
        ("no journal\n", "The journal cannot be used: cup/tournament.jsonl:1", "journal damaged"),
    ],
)
async def test_every_page_of_a_run_warns_of_a_journal_that_is_lost_or_cannot_be_read(
    make_run: Callable[..., Any], crosstown: Callable[..., Any], how: str | None, said: str, state: str
) -> None:
    run = make_run(played=4)
    row = load_index(run, database=run.path / "none.db").rows[0]
    async with client(run.path.parent) as web:
        for page in PAGES:
            assert "journal" not in (await web.get(page.format(bot=row.seats[0].entry_id, match=row.match_id))).text
        if how is None:
            run.journal.unlink()
        else:
            run.journal.write_text(how)
        for page in PAGES:
            text = (await web.get(page.format(bot=row.seats[0].entry_id, match=row.match_id))).text
            assert said in text, page
            assert str(run.path.parent) not in text
        assert f"<strong>{state}</strong>" in (await web.get("/")).text
        assert (await web.get("/api/runs/cup")).json()["state"] == state
    printed = crosstown("standings", "cup")
    assert printed.code != 0
    assert said.partition(": ")[2].partition(": ")[0] in printed.err


async def test_the_page_of_a_finished_run_says_how_many_of_its_records_are_lost(make_run: Callable[..., Any]) -> None:
    run = make_run(played=4)
    say(run, "finished", rated=4, missing=0)
    async with client(run.path.parent) as web:
        assert "Warning" not in (await web.get("/runs/cup")).text
        next(run.matches.glob("*.gz")).unlink()
        page = (await web.get("/runs/cup")).text
        assert "1 match was played and has no good record: crosstown matches verify cup." in page
        assert "3 of 4 matches, finished" in page


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ((), "cut off"),
        (({"kind": "stopped", "reason": "Ctrl-C"},), "stopped"),
        (({"kind": "stopped", "reason": "Ctrl-C"}, {"kind": "resumed", "matches": 2, "void": []}), "cut off"),
        (({"kind": "finished", "rated": 4, "missing": 0},), "finished"),
    ],
)
def test_whether_a_run_goes_on_is_told_by_its_journal_and_its_lock(
    make_run: Callable[..., Any], events: tuple[dict[str, Any], ...], state: str
) -> None:
    run = make_run(played=2)
    for event in events:
        say(run, **event)
    facts = facts_of(run.path)
    assert facts.state() == state
    with RunLock(run.lock):
        assert facts.state() == (state if state == "finished" else "going on")


@pytest.mark.parametrize(("style", "total"), [("round-robin", "1 of 24"), ("knockout", "1 of at most")])
async def test_a_number_of_matches_that_results_may_make_smaller_is_said_to_be_the_most(
    make_run: Callable[..., Any], style: str, total: str
) -> None:
    run = make_run(style=style, others=("cyd", "dan"), played=1)
    async with client(run.path.parent) as web:
        for page in ("/", "/runs/cup"):
            assert total in (await web.get(page)).text
        assert (await web.get("/api/runs/cup")).json()["at_most"] == (style == "knockout")


@pytest.mark.parametrize(("style", "controls"), [("swiss", False), ("knockout", False), ("round-robin", True)])
def test_the_schedule_is_walked_once_for_the_table_and_for_what_is_ahead(
    make_run: Callable[..., Any], crosstown: Callable[..., Any], monkeypatch: pytest.MonkeyPatch,
    style: str, controls: bool,
) -> None:  # fmt: skip
    run = make_run(style=style, others=("cyd", "dan"), played=1)
    if controls:
        assert crosstown("withdraw", "cup", "dan", "--choice", "losses").code == 0
    walks: list[Any] = []
    begin = ScheduleProgress.__init__

    def counting(progress: Any, *words: Any, **more: Any) -> None:
        walks.append(progress)
        begin(progress, *words, **more)

    monkeypatch.setattr(ScheduleProgress, "__init__", counting)
    view, _ = facts_of(run.path).view(load_index(run, database=run.path / "none.db").rows)
    assert len(walks) == 1
    assert view.ahead.coming
    assert view.missed if controls else view.table.rows


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--play", "--host", "0.0.0.0"), "--play is for this machine only"),
        (("--play", "--host", "192.0.2.7"), "--play is for this machine only"),
        (("--play-open", "--host", "0.0.0.0"), "--move-limit SECONDS"),
        (("--play-open",), "--move-limit SECONDS"),
        (("--play", "--bots", "nowhere", "--port", "0"), "nowhere is not a folder"),
    ],
)
def test_what_cannot_be_offered_is_refused_before_an_address_is_shown(
    crosstown: Callable[..., Any], words: tuple[str, ...], why: str
) -> None:
    printed = crosstown("web", *words)
    assert printed.code == 2
    assert why in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("words", "name", "plays"),
    [
        (("--hide-live",), "localhost", False),
        (("--play",), "localhost", True),
        (("--play-open", "--move-limit", "30", "--name", "games.example"), "games.example", True),
    ],
)
async def test_the_options_reach_the_pages(
    make_run: Callable[..., Any], crosstown: Callable[..., Any], monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...], name: str, plays: bool
) -> None:  # fmt: skip
    make_run(played=1)
    seen: list[Any] = []
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: seen.append(server.config.app))
    assert crosstown("web", "--port", "0", *words).code == 0
    (app,) = seen
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=f"http://{name}") as web:
        assert (await web.get("/play")).status_code == (200 if plays else 404)
        assert (await web.get("/", headers={"Host": "elsewhere.example"})).status_code == 403
        assert (await web.get("/api/runs/cup/matches")).json()["total"] == (0 if "--hide-live" in words else 1)


async def test_a_match_of_a_run_that_does_not_go_on_is_said_to_be_cut_off(make_run):
    run = make_run(played=2)
    whole = gzip.decompress(sorted(run.matches.glob("*.gz"))[-1].read_bytes())
    (run.matches / "m000003-00000000.jsonl").write_bytes(whole.splitlines(keepends=True)[0])
    (run.matches / "m000004-00000000.jsonl").write_text("")
    async with client(run.path.parent) as web:
        page = (await web.get("/runs/cup/schedule")).text
    cut, others = page.split("<h2>Records that do not count</h2>")
    assert "<h2>Cut off</h2>" in cut
    assert "m000003" in cut
    assert "<h2>Going on" not in page
    assert "m000004" in others


@pytest.mark.parametrize("events", [(), ({"kind": "stopped", "reason": "Ctrl-C"},)])
async def test_a_match_that_was_cut_when_its_run_was_stopped_is_called_cut_off_wherever_it_is_shown(
    make_run: Callable[..., Any], crosstown: Callable[..., Any], events: tuple[dict[str, Any], ...]
) -> None:
    run = make_run(played=2)
    whole = sorted(run.matches.glob("*.gz"))[-1]
    cut = whole.with_suffix("")
    cut.write_bytes(b"".join(gzip.decompress(whole.read_bytes()).splitlines(keepends=True)[:-1]))
    whole.unlink()
    match_id = cut.name.partition(".")[0]
    for event in events:
        say(run, **event)

    async def shown() -> tuple[str, str, str, str]:
        async with client(run.path.parent) as web:
            page = (await web.get(f"/runs/cup/matches/{match_id}")).text
            head = (await web.get("/runs/cup/schedule")).text
        listed = crosstown("matches", "list", "cup").out
        return page, head, listed, crosstown("matches", "show", str(cut)).out

    page, head, listed, told = await shown()
    assert "Cut off: the run was stopped, and plays this match again when it goes on." in page
    assert "<h2>Cut off</h2>" in head
    assert "cut off" in listed
    assert "unfinished" not in listed
    assert "the match was cut off when its run was stopped, and is played again when the run goes on" in told
    with RunLock(run.lock):
        page, head, listed, told = await shown()
    assert "Going on: there is no result yet." in page
    assert "<h2>Going on</h2>" in head
    assert "going on" in listed
    assert "the match goes on" in told
    assert json.loads(crosstown("matches", "list", "cup", "--json").out)[-1]["status"] == "unfinished"
