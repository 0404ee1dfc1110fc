"""The pages of a ladder: joining, signing in, one's own bots, divisions, bots, and the organiser's page."""

import asyncio
import html
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.ratings.live import LiveTable, Point, Way
from leaderboard.schedule_view import Ahead
from leaderboard.web.app import make_app
from leaderboard.web.divisions import tables_of_division
from leaderboard.web.facts import RunFacts
from leaderboard.web.hand_ins import Alarm, Entry
from leaderboard.web.tables import Tables
from leaderboard.web.time_words import ago, in_time
from referee.run.folder import RunFolder
from referee.run.machines import ClusterState, MachineState
from tests.leaderboard.web.ladders import Intake

ANN, BOB = "00ff00ff", "01ff00ff"
ORIGIN = {"Origin": "http://localhost:8000"}
ZIP = b"PK\x03\x04" + b"a" * 1000


@pytest.fixture
def intake(tmp_path: Path) -> Any:
    made = Intake(tmp_path / "ladder")
    made.entries_of["cup"] = {ANN: Entry(ANN, "annbot", "ann", 1), BOB: Entry(BOB, "random", "", 1, house=True)}
    yield made
    made.store.close()


@pytest.fixture
def app(runs: Path, intake: Intake) -> Any:
    return make_app(runs, lambda folder: RunFacts(), hand_ins=intake)


class Browser:
    """A client that keeps cookies and sends forms as a browser does."""

    def __init__(self, app: Any) -> None:
        self.web = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://localhost:8000", follow_redirects=True
        )

    async def get(self, address: str) -> httpx.Response:
        return await self.web.get(address)

    async def token(self, address: str) -> str:
        found = re.search(r'name="token" value="([^"]+)"', (await self.get(address)).text)
        assert found
        return found[1]

    async def send(self, address: str, page: str = "", **fields: str) -> httpx.Response:
        """The form of `page`, which is at `address` if nothing else is said."""
        data = {"token": await self.token(page or address), **fields}
        return await self.web.post(address, data=data, headers=ORIGIN)

    async def hand_in(self, data: bytes = ZIP, name: str = "annbot") -> httpx.Response:
        found = re.search(r'data-token="([^"]+)"', (await self.get("/my")).text)
        assert found
        headers = {**ORIGIN, "X-Crosstown-Token": found[1]}
        return await self.web.post(f"/api/v1/bots/{name}/versions", content=data, headers=headers)


@pytest.fixture
async def browser(app: Any) -> Any:
    """browser() is a new one; browser("ann") is signed in, "ola" is an organiser."""
    made: list[Browser] = []

    async def make(name: str = "", intake: Intake = app.state.hand_ins) -> Browser:
        made.append(Browser(app))
        if name:
            intake.accounts.add_owner(name, organiser=name == "ola")
            scope: Any = "organise" if name == "ola" else "manage"
            secret = intake.accounts.create_token(name, "", scope, None).secret
            assert (await made[-1].send("/sign-in", secret=secret)).status_code == 200
        return made[-1]

    yield make
    for one in made:
        await one.web.aclose()


def seen(answer: httpx.Response) -> str:
    """The words of a page."""
    text = answer.text.partition("<main")[2].partition("</main>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


async def until(get: Callable[[], Any], words: str) -> httpx.Response:
    """The page once it has these words: tables are computed in the background."""
    end = time.monotonic() + 20
    while words not in (answer := await get()).text:
        assert time.monotonic() < end, answer.text
        await asyncio.sleep(0.1)
    return answer


async def test_the_organisers_link_makes_an_organiser_once(browser: Any, intake: Intake) -> None:
    code = intake.accounts.organiser_link()
    ola = await browser()
    page = await ola.get(f"/join?code={code}")
    assert "makes the account of an organiser" in seen(page)
    after = await ola.send("/join", f"/join?code={code}", code=code, owner="ola")
    assert after.url.path == "/organiser"
    assert "Nothing needs you now." in seen(after)
    again = await (await browser()).get(f"/join?code={code}")
    assert (again.status_code, "The invitation was used already." in seen(again)) == (400, True)


async def test_an_invitation_leads_to_ones_own_page(browser: Any, intake: Intake) -> None:
    ola = await browser("ola")
    made = await ola.send("/organiser", action="invite", label="class", uses="2", days="3")
    link = re.search(r"http://localhost:8000(/join\?code=[\w-]+)", made.text)
    assert link
    assert made.headers["cache-control"] == "no-store"
    code = link[1].partition("=")[2]
    assert code not in (await ola.get("/organiser")).text
    ann = await browser()
    assert "class" in seen(await ann.get(link[1]))
    refused = await ann.send("/join", link[1], code=code, owner="a/b")
    assert (refused.status_code, 'value="a/b"' in refused.text) == (400, True)
    assert "addresses use for something else" in seen(refused)
    mine = await ann.send("/join", link[1], code=code, owner="ann")
    assert mine.url.path == "/my"
    assert "You have no bot yet." in seen(mine)
    assert "ann</a>" in mine.text
    other = await (await browser()).send("/join", link[1], code=code, owner="Ann")
    assert "which is taken" in seen(other)


async def test_the_session_is_a_cookie_that_scripts_and_other_sites_do_not_have(browser: Any, intake: Intake) -> None:
    ann = await browser()
    intake.accounts.add_owner("ann")
    secret = intake.accounts.create_token("ann", "", "manage", None).secret
    token = await ann.token("/sign-in")
    answer = await ann.web.post(
        "/sign-in", data={"token": token, "secret": secret}, headers=ORIGIN, follow_redirects=False
    )
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert secret not in cookie
    assert "8000" in cookie.partition("=")[0]


async def test_another_site_changes_nothing_with_our_cookie(browser: Any, intake: Intake) -> None:
    ann = await browser("ann")
    await ann.hand_in()
    token = await ann.token("/my/account")
    form = {"token": token, "action": "pause"}
    for headers in ({}, {"Origin": "http://elsewhere.example"}, {**ORIGIN, "Sec-Fetch-Site": "cross-site"}):
        for address in ("/bots/annbot", "/my/account", "/sign-out", "/join", "/sign-in", "/organiser"):
            assert (await ann.web.post(address, data=form, headers=headers)).status_code == 403, address
        answer = await ann.web.post(
            "/api/v1/bots/annbot/versions", content=ZIP, headers={**headers, "X-Crosstown-Token": token}
        )
        assert answer.status_code == 403
    for wrong in ({}, {"X-Crosstown-Token": "x"}):
        answer = await ann.web.post("/api/v1/bots/annbot/pause", json={}, headers={**ORIGIN, **wrong})
        assert answer.status_code == 403
    assert intake.bot("annbot").paused == ""
    assert intake.bot("annbot").versions == 1


async def test_signing_out_ends_the_session_for_good(browser: Any) -> None:
    ann = await browser("ann")
    cookies = dict(ann.web.cookies)
    after = await ann.send("/sign-out", "/my/account")
    assert (after.url.path, "Sign in" in after.text) == ("/ladder", True)
    ann.web.cookies.update(cookies)
    refused = await ann.get("/my")
    assert (refused.status_code, "Sign in first." in seen(refused)) == (401, True)
    assert 'href="/sign-in"' in refused.text


async def test_a_wrong_token_signs_nobody_in(browser: Any, intake: Intake) -> None:
    ann = await browser()
    answer = await ann.send("/sign-in", secret="nobody's")
    assert answer.status_code == 400
    assert "The token is not known here." in seen(answer)
    assert "set-cookie" not in answer.headers


async def test_a_hand_in_is_a_line_of_steps_with_times_and_reasons(browser: Any, intake: Intake) -> None:
    ann = await browser("ann")
    assert (await ann.hand_in()).status_code == 201
    said = seen(await ann.get("/my"))
    assert "Version 1: received" in said
    assert re.search(r"received .* checked waiting built waiting qualified waiting active waiting", said)
    intake.qualify("annbot", 1)
    said = seen(await ann.get("/my"))
    assert "Version 1 (1.0): active" in said
    assert "waiting" not in said
    await ann.hand_in(ZIP + b"2")
    intake.reject("annbot", 2, "bot.toml has no 'run'", "add it")
    page = await ann.get("/my")
    assert "Version 2: rejected" in seen(page)
    assert "bot.toml has no 'run'. Add it." in seen(page)
    assert page.text.count('class="step failed"') == 1


async def test_ones_own_matches_and_faults_are_shown_with_their_output_when_their_block_is_settled(
    browser: Any, intake: Intake, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: set[tuple[str, int]] = set()
    view = RunFacts.view
    monkeypatch.setattr(
        RunFacts,
        "view",
        lambda self, rows: (replace(view(self, rows)[0], ahead=Ahead(open_blocks=frozenset(blocks))), ()),
    )
    ann = await browser("ann")
    await ann.hand_in()
    intake.qualify("annbot", 1)
    start("m1", names=("annbot", "random")).play().close(ranking=(1, 2))
    match = start("m2", names=("annbot", "random"), place=1)
    for _ in range(3):
        match.step()
    match.crash(0, stderr="my own stderr", stdout="")
    page = await until(lambda: ann.get("/my"), "2 matches")
    assert "won against random" in seen(page)
    assert "/runs/cup/matches/m2?fault=0" in page.text
    assert "my own stderr" in page.text
    blocks.add(("toy", 0))
    start("m3", names=("annbot", "random"), place=2).play().close(ranking=(1, 2))
    page = await until(lambda: ann.get("/my"), "3 of them in blocks")
    assert "my own stderr" not in page.text
    assert "/matches/m" not in page.text
    assert "3 of them in blocks that are not complete" in seen(page)


async def test_the_pages_of_a_bot_have_each_table_of_a_division_with_several_numbers_of_players(
    browser: Any, intake: Intake, start: Callable[..., Any]
) -> None:
    ann = await browser("ann")
    await ann.hand_in()
    intake.qualify("annbot", 1)
    start("m1", names=("annbot", "random")).play().close(ranking=(1, 2))
    for number in (2, 3):
        match = start(f"m{number}", names=("annbot", "random", "cyd"), place=number, block=number)
        match.play().close(ranking=(3, 1, 2))
    page = await until(lambda: ann.get("/my"), "Rating")
    assert "in Toy, 2 players Rating" in seen(page)
    assert re.findall(r"\d match[es]*", seen(page)) == ["1 match", "2 matches"]
    rows = re.findall(r"<tr><th[^>]*><a.*?</tr>", (await ann.get("/bots/annbot")).text, re.DOTALL)
    words = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
    assert [word.partition(" players")[0][-1] for word in words] == ["2", "3"]
    assert words[0].endswith(" 1 1 0 0 0 W")
    assert words[1].endswith(" 2 0 0 2 0 L L")
    intake.entries_of["cup"][BOB] = Entry(BOB, "random", "", 1, house=True)
    shown = seen(await ann.get("/ladder"))
    assert "annbot leads (by ann): Toy, 2 players. random leads: Toy, 3 players." in shown


async def test_a_resignation_is_no_fault_on_ones_own_page(
    browser: Any, intake: Intake, start: Callable[..., Any]
) -> None:
    ann = await browser("ann")
    await ann.hand_in()
    intake.qualify("annbot", 1)
    match = start("m1", names=("annbot", "random"))
    match.step()
    resigned = {"reason": "resigned", "detail": ""}
    match.close(reason="resigned", ranking=(2, 1), returns=(), faults=(resigned, None))
    page = await until(lambda: ann.get("/my"), "Rating")
    assert "lost against random" in seen(page)
    assert "/runs/cup/matches/m1" in page.text
    assert "?fault=" not in page.text
    assert "resigned" not in seen(page)


async def test_bots_are_paused_and_versions_made_active_again_by_their_owner_alone(
    browser: Any, intake: Intake
) -> None:
    ann, bob = await browser("ann"), await browser("bob")
    await ann.hand_in()
    intake.qualify("annbot", 1)
    await ann.hand_in(ZIP + b"2")
    intake.qualify("annbot", 2)
    assert intake.bot("annbot").active == 2
    page = await ann.send("/bots/annbot", "/my", action="activate", number="1")
    assert (page.url.path, intake.bot("annbot").active) == ("/my", 1)
    await ann.send("/bots/annbot", "/my", action="pause")
    assert intake.bot("annbot").paused_by == "owner"
    await ann.send("/bots/annbot", "/my", action="resume")
    assert intake.bot("annbot").paused == ""
    for action in ("pause", "activate", "retire"):
        answer = await bob.send("/bots/annbot", "/my/account", action=action, number="2")
        assert (answer.status_code, "belongs to 'ann'" in seen(answer)) == (403, True)
    assert (await ann.send("/bots/annbot", "/my", action="explode")).status_code == 400
    public = await bob.get("/bots/annbot")
    assert "Version 1" in seen(public)
    assert "<form" not in public.text.partition("<main")[2]


async def test_a_log_is_for_its_owner_and_escaped(browser: Any, intake: Intake) -> None:
    ann, bob = await browser("ann"), await browser("bob")
    await ann.hand_in()
    intake.logs["annbot", 1] = "<b>built</b>\u202e\n".encode()
    page = await ann.get("/bots/annbot/versions/1/log")
    assert "&lt;b&gt;built" in page.text
    assert "\u202e" not in page.text
    assert (await bob.get("/bots/annbot/versions/1/log")).status_code == 404
    assert (await (await browser()).get("/bots/annbot/versions/1/log")).status_code == 401
    assert (await ann.get("/bots/annbot/versions/7/log")).status_code == 404


async def test_a_token_is_made_shown_once_and_revoked_on_the_page(browser: Any, intake: Intake) -> None:
    ann = await browser("ann")
    made = await ann.send("/my/account", label="laptop", scope="submit", days="7")
    found = re.search(r'<code class="secret">([^<]+)</code>', made.text)
    assert found
    assert made.headers["cache-control"] == "no-store"
    assert intake.account(found[1]).scope == "submit"
    listed = await ann.get("/my/account")
    assert found[1] not in listed.text
    assert "laptop" in seen(listed)
    id_ = intake.account(found[1]).token_id
    await ann.send("/my/account", action="revoke", id=id_)
    assert "laptop" not in seen(await ann.get("/my/account"))
    refused = await ann.send("/my/account", label="x", scope="organise", days="7")
    assert refused.status_code == 400
    assert (await ann.send("/my/account", label="x", scope="submit", days="x")).status_code == 400


async def test_the_organisers_page_has_alarms_first_and_is_for_organisers(browser: Any, intake: Intake) -> None:
    ann, ola = await browser("ann"), await browser("ola")
    await ann.hand_in()
    intake.alarms.append(Alarm("No match for 12 minutes", "look at the runner", "2026-01-01T00:00:00Z"))
    said = seen(await ola.get("/organiser"))
    parts = ["No match for 12 minutes", "Hand-ins on their way", "Invite people", "People"]
    assert sorted(parts, key=said.index) == parts
    assert "Nothing needs you" not in said
    assert (await ann.get("/organiser")).status_code == 403
    assert (await (await browser()).get("/organiser")).status_code == 401
    await ola.send("/organiser", action="block", owner="ann", reason="spam")
    assert "banned: spam" in seen(await ola.get("/organiser"))
    assert (await ann.get("/my")).status_code == 401
    await ola.send("/organiser", action="unblock", owner="ann")
    assert (await ann.get("/my")).status_code == 401  # a ban ends sessions for good
    ann = await browser("ann")
    await ola.send("/bots/annbot", action="pause", back="bot")
    intake.qualify("annbot", 1)
    assert "Let it play" in (await ola.get("/organiser")).text
    assert intake.bot("annbot").paused_by == "organiser"
    assert "Ask the organiser." in seen(await ann.get("/my"))
    bad = await ola.send("/organiser", action="invite", label="x", uses="many", days="1")
    assert (bad.status_code, "is no number" in seen(bad)) == (400, True)


async def test_an_organiser_watches_the_matches_in_play_and_nobody_else_sees_them(
    browser: Any, start: Callable[..., Any]
) -> None:
    ola, ann = await browser("ola"), await browser("ann")
    start("m1", names=("annbot", "random")).step()
    page = await ola.get("/organiser")
    assert "Matches in play annbot, random in cup" in seen(page)
    link = "/runs/cup/matches/m1?step=last"
    assert link in page.text
    assert (await ola.get(link)).status_code == 200
    assert (await ann.get(link)).status_code == 403
    for address in ("/", "/ladder", "/ladder/cup", "/runs/cup", "/my"):
        assert "m1" not in (await ann.get(address)).text


async def test_a_division_shows_owner_version_and_results_and_says_why_nobody_plays(
    browser: Any, intake: Intake, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = await browser()
    empty = await visitor.get("/ladder/cup")
    assert "No match counts yet." in seen(empty)
    ann = await browser("ann")
    await ann.hand_in()
    intake.qualify("annbot", 1)
    assert "Waiting for a first rated match annbot" in seen(await visitor.get("/ladder/cup"))
    start("m1", names=("annbot", "random")).play().close(ranking=(1, 2))
    page = await until(lambda: visitor.get("/ladder/cup"), "<tbody>")
    rows = re.findall(r"<tr>.*?</tr>", page.text.partition("<tbody>")[2], re.DOTALL)
    words = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
    assert re.match(r"1 \S annbot ann 1 ", words[0])
    assert words[0].endswith(" 1 1 0 0 0 W")
    assert "random house bot 1" in words[1]
    links = [re.search(r'<th[^>]*><a href="([^"]*)">', row)[1] for row in rows]  # type: ignore[index]
    assert [(await visitor.get(link)).status_code for link in links] == [200, 200], "a house bot has a page, too"
    assert "Waiting for a first rated match" not in page.text
    assert "annbot leads (by ann)" in seen(await visitor.get("/ladder"))
    assert (await visitor.get("/ladder/none")).status_code == 404
    division = replace(intake.divisions()[0], waits="One bot alone is there.")
    monkeypatch.setattr(intake, "divisions", lambda: [division])
    assert "One bot alone is there." in seen(await visitor.get("/ladder/cup"))
    assert "One bot alone is there." in seen(await visitor.get("/ladder"))


async def test_a_division_whose_records_cannot_be_read_costs_no_other_page(
    browser: Any, intake: Intake, runs: Path
) -> None:
    """The list of divisions, the pages of authors and the organisers' page were one error."""
    archive = runs / "cup" / "matches" / "packed" / "2026-01-01.1.pack.gz"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"cut off")
    ann, ola = await browser("ann"), await browser("ola")
    await ann.hand_in()
    intake.qualify("annbot", 1)
    assert (await ann.get("/ladder/cup")).status_code == 422
    assert "The table cannot be computed, because the records cannot be read. 1 bot." in seen(await ann.get("/ladder"))
    for who, address in ((ann, "/my"), (ann, "/bots/annbot"), (ola, "/organiser")):
        assert (await who.get(address)).status_code == 200, address


def table_over(runs: Path, live: LiveTable, playing: dict[str, int], entries: dict[str, Entry]) -> Any:
    tables = replace(Tables().of(RunFolder(runs / "cup")), live={("toy", 2): live})
    return tables_of_division(tables, entries, playing, datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=1.5))[0].rows


def test_a_bot_has_moved_by_the_ranks_that_it_gained_since_yesterday(runs: Path, start: Callable[..., Any]) -> None:
    """All matches of the toy run began on 1 January at 0:00, and one place before the day that counts."""
    names = ("ann", "bob")
    start("m1", names=names).play().close(ranking=(1, 2))
    entries = {ANN: Entry(ANN, "ann", "a", 1), BOB: Entry(BOB, "bob", "b", 1)}

    def way(*points: tuple[int, float]) -> Way:
        made = Way()
        for place, mu in points:
            made.add(Point(place, mu, 1.0))
        return made

    same = LiveTable(ways={ANN: way((0, 30)), BOB: way((0, 20))})
    rows = table_over(runs, same, {}, entries)
    assert {row.entry.bot: row.moved for row in rows} == {"ann": 0, "bob": 0}
    tables = Tables().of(RunFolder(runs / "cup"))
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)  # the match at place 0 is of the last day
    swapped = replace(
        tables, live={("toy", 2): LiveTable(ways={ANN: way((-2, 20), (0, 30)), BOB: way((-2, 25), (0, 22))})}
    )
    rows = tables_of_division(swapped, entries, {}, now)[0].rows
    assert {row.entry.bot: row.moved for row in rows} == {"ann": 1, "bob": -1}
    fresh = replace(tables, live={("toy", 2): LiveTable(ways={ANN: way((0, 30)), BOB: way((-2, 25), (0, 22))})})
    rows = tables_of_division(fresh, entries, {}, now)[0].rows
    assert {row.entry.bot: row.moved for row in rows} == {"ann": None, "bob": 0}


def test_a_bot_is_shown_with_the_version_that_plays(runs: Path, start: Callable[..., Any]) -> None:
    start("m1", names=("ann", "bob", "cyd"), game="ticket_to_ride_new_york").play().close(ranking=(1, 2, 3))
    entries = {
        ANN: Entry(ANN, "ann", "a", 1),
        BOB: Entry(BOB, "ann", "a", 2),
        "02ff00ff": Entry("02ff00ff", "h", "", 1),
    }
    tables = Tables().of(RunFolder(runs / "cup"))
    for playing, shown in (({"ann": 2}, [2, 1]), ({"ann": 1}, [1, 1]), ({}, [2, 1])):
        assert [row.entry.number for row in tables_of_division(tables, entries, playing)[0].rows] == shown


async def test_bots_of_a_division_that_have_not_met_are_ranked_apart_and_the_page_says_so(
    browser: Any, intake: Intake, runs: Path, start: Callable[..., Any]
) -> None:
    start("m1", names=("ann", "bob")).play().close(ranking=(1, 2))
    start("m2", names=("cyd", "dan"), place=1, block=1, first=2).play().close(ranking=(1, 2))
    bots = {row.entry_id: row.name for row in Tables().of(RunFolder(runs / "cup")).table}
    intake.entries_of["cup"] = {entry: Entry(entry, name, "", 1) for entry, name in bots.items()}
    visitor = await browser()
    page = await until(lambda: visitor.get("/ladder/cup"), "<tbody>")
    assert "Not all bots have met" in seen(page)
    rows = re.findall(r"<tr><td>(\d)</td><td>(\d)</td>", page.text)
    assert rows == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")], "group and rank"


async def test_without_a_ladder_its_pages_are_not_there(runs: Path) -> None:
    plain = Browser(make_app(runs))
    for address in ("/ladder", "/my", "/join", "/sign-in", "/organiser", "/bots/x"):
        assert (await plain.get(address)).status_code == 404
    text = (await plain.get("/")).text
    assert "Ladder" not in text
    assert "Sign in" not in text
    await plain.web.aclose()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.04, "0 s"), (1.5, "1.5 s"), (9.96, "10 s"), (59, "59 s"), (150, "2 min"), (7300, "2 h"), (200000, "2 days")],
)
def test_durations_have_one_unit(seconds: float, said: str) -> None:
    assert in_time(seconds) == said


def test_a_time_says_how_long_ago_it_was_and_has_the_exact_one_beside_it() -> None:
    now = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert ago("2026-01-01T11:57:00Z", now) == (
        '<time datetime="2026-01-01T11:57:00+00:00" title="2026-01-01 11:57:00 UTC">3 min ago</time>'
    )
    assert "in 3 min" in ago("2026-01-01T12:03:00Z", now)
    assert ago("", now) == ""
    assert ago("<b>", now) == "<b>"
    assert ago("0001-01-01T00:00:00+14:00", now) == "0001-01-01T00:00:00+14:00"


async def test_only_the_organisers_page_leads_to_the_dashboard_of_the_cluster(browser: Any, intake: Intake) -> None:
    state = ClusterState((MachineState("east", "fast", 4, 3),), 0, "http://127.0.0.1:8787/status")
    usual = intake.overview
    intake.overview = lambda account: replace(usual(account), cluster=state)  # type: ignore[method-assign]
    page = (await (await browser("ola")).get("/organiser")).text
    assert '<a href="http://127.0.0.1:8787/status"' in page
    assert "1 machine, 3 of 4 slots in use." in page
    for address in ("/", "/ladder/cup", "/runs/cup"):
        assert "8787" not in (await (await browser("ann")).get(address)).text
