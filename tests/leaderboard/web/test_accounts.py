"""Joining, signing in, one's account and the organiser's decisions, as a browser does it."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from leaderboard.web.hand_ins import Entry
from tests.leaderboard.web.ladders import Intake
from tests.referee.ladder.provider_server import ProviderServer, provider_server

HERE = "http://localhost:8000"
GOOD = "correct horse battery"
NEW = "another good password"


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with provider_server() as made:
        yield made


@pytest.fixture
def intake(tmp_path: Path, provider: ProviderServer) -> Iterator[Intake]:
    made = Intake(tmp_path / "ladder")
    made.people = made.store.people(sign_up="open", providers=[provider.oidc, provider.github], divisions=["cup"])
    made.people.join("ann", GOOD)
    made.accounts.add_owner("ola", organiser=True)
    yield made
    made.store.close()


@pytest.fixture
def app(runs: Path, intake: Intake) -> Any:
    return make_app(runs, lambda folder: RunFacts(), hand_ins=intake)


class Browser:
    """Keeps cookies, sends forms of the page that it has loaded, and goes where it is sent on this server."""

    def __init__(self, app: Any) -> None:
        self.web = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HERE)

    async def get(self, address: str) -> httpx.Response:
        answer = await self.web.get(address)
        while answer.is_redirect and urlsplit(answer.headers["location"]).netloc in ("", "localhost:8000"):
            answer = await self.web.get(answer.headers["location"])
        return answer

    async def send(self, address: str, page: str = "", **fields: str) -> httpx.Response:
        found = re.search(r'name="token" value="([^"]+)"', (await self.get(page or address)).text)
        assert found
        answer = await self.web.post(address, data={"token": found[1], **fields}, headers={"Origin": HERE})
        return await self.get(answer.headers["location"]) if answer.is_redirect else answer

    async def sign_in(self, owner: str, password: str = GOOD) -> httpx.Response:
        return await self.send("/sign-in", owner=owner, password=password)

    async def through(self, provider: ProviderServer, kind: str, page: str = "/sign-in") -> httpx.Response:
        """By the link of a page to the provider, where somebody is signed in, and back."""
        link = re.search(rf'href="(/sign-in/{kind}[^"]*)"', (await self.get(page)).text)
        assert link
        gone = await self.web.get(link[1])
        assert gone.status_code == 303
        brought = provider.sign_in(gone.headers["location"])
        return await self.get(f"/sign-in/{kind}/back?state={brought['state']}&code={brought['code']}")


@pytest.fixture
async def browser(app: Any) -> AsyncIterator[Any]:
    made: list[Browser] = []

    def make() -> Browser:
        made.append(Browser(app))
        return made[-1]

    yield make
    for one in made:
        await one.web.aclose()


@pytest.fixture
async def ola(browser: Any, intake: Intake) -> Browser:
    made: Browser = browser()
    secret = intake.accounts.create_token("ola", "x", "organise", 1).secret
    assert "what needs you" in (await made.send("/sign-in", secret=secret)).text
    return made


async def test_a_provider_that_does_not_answer_keeps_nobody_else_waiting(
    browser: Any, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    asked, answers = list[str](), threading.Event()

    def begin(provider: str, *_: Any) -> str:
        asked.append(provider)
        answers.wait(60)
        return "http://localhost:8000/sign-in"

    monkeypatch.setattr(intake.people, "begin", begin)
    sent = [asyncio.create_task(browser().web.get("/sign-in/school")) for _ in range(3)]
    try:
        async with asyncio.timeout(20):
            while len(asked) < len(sent):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            assert "My bots" in (await browser().sign_in("ann")).text
    finally:
        answers.set()
    assert [(await one).status_code for one in sent] == [303] * 3


async def test_with_name_and_password_one_joins_signs_out_and_signs_in(browser: Any) -> None:
    one = browser()
    assert "The two passwords differ" in (await one.send("/join", owner="bob", password=GOOD, again=NEW)).text
    assert "My bots" in (await one.send("/join", owner="bob", password=GOOD, again=GOOD)).text
    await one.send("/sign-out", page="/my/account")
    assert (await one.get("/my")).status_code == 401
    wrong = await one.sign_in("bob", "wrong password")
    assert (wrong.status_code, "The name or the password is wrong." in wrong.text) == (400, True)
    assert "My bots" in (await one.sign_in("bob")).text


async def test_an_invitation_still_makes_an_account_without_a_password(browser: Any, intake: Intake) -> None:
    code = intake.accounts.create_invitation("class", 1, 1).code
    one = browser()
    page = (await one.get(f"/join?code={code}")).text
    assert "class" in page
    assert "My bots" in (await one.send("/join", page=f"/join?code={code}", code=code, owner="cleo")).text
    assert "has no password" in (await one.get("/my/account")).text


@pytest.mark.parametrize(
    ("sign_up", "says"), [("closed", "takes no new accounts"), ("invitation", "need an invitation")]
)
async def test_the_page_says_who_may_join(
    browser: Any, intake: Intake, provider: ProviderServer, sign_up: Any, says: str
) -> None:
    intake.people = intake.store.people(sign_up=sign_up, providers=[provider.oidc])
    one = browser()
    assert says in (await one.get("/join")).text
    answer = await one.send("/join", owner="bob", password=GOOD, again=GOOD)
    assert answer.status_code == 400
    assert all(person.owner != "bob" for person in intake.accounts.people())


@pytest.mark.parametrize("kind", ["school", "github"])
async def test_with_an_account_elsewhere_one_chooses_a_name_once(
    browser: Any, provider: ProviderServer, kind: str
) -> None:
    one, other = browser(), browser()
    page = await one.through(provider, kind)
    assert "You will sign in with" in page.text
    assert "Password" not in page.text
    pending = str(page.request.url).partition("pending=")[2]
    assert "another browser" in (await other.send("/join", owner="mallory", pending=pending)).text
    assert "My bots" in (await one.send("/join", page=f"/join?pending={pending}", owner="bob", pending=pending)).text
    assert "My bots" in (await other.through(provider, kind)).text
    assert ">bob<" in (await other.get("/my/account")).text


async def test_an_account_elsewhere_is_added_and_removed_on_the_page_of_the_account(
    browser: Any, provider: ProviderServer
) -> None:
    one = browser()
    await one.sign_in("ann")
    page = await one.through(provider, "school", page="/my/account")
    assert "School, number 1001" in page.text
    assert "My bots" in (await browser().through(provider, "school")).text
    fields = {"action": "forget", "provider": provider.address, "subject": "1001"}
    assert "number 1001" not in (await one.send("/my/account", **fields)).text
    assert "You will sign in with" in (await browser().through(provider, "school")).text


async def test_no_other_site_adds_its_account_elsewhere_to_the_account_here(
    browser: Any, provider: ProviderServer
) -> None:
    """An attacker has signed the victim's browser in at the provider as himself, and leads it to the sign-in here."""
    mallory, ann = browser(), browser()
    await mallory.sign_in("ann")
    found = re.search(r'href="/sign-in/school(\?add=[^"]+)"', (await mallory.get("/my/account")).text)
    assert found
    await ann.sign_in("ann")
    for add in ("", "?add=", found[1], "?add=\u00e9"):
        gone = await ann.web.get(f"/sign-in/school{add}")
        brought = provider.sign_in(gone.headers["location"])
        page = await ann.get(f"/sign-in/school/back?state={brought['state']}&code={brought['code']}")
        assert "You will sign in with" in page.text
        assert "number 1001" not in (await ann.get("/my/account")).text


async def test_who_comes_back_with_another_browsers_state_is_not_signed_in(
    browser: Any, provider: ProviderServer
) -> None:
    """An attacker sends a victim the end of a sign-in of his own."""
    attacker, victim = browser(), browser()
    gone = await attacker.web.get("/sign-in/school")
    brought = provider.sign_in(gone.headers["location"])
    back = f"/sign-in/school/back?state={brought['state']}&code={brought['code']}"
    answer = await victim.get(back)
    assert (answer.status_code, "not begun in this browser" in answer.text) == (400, True)
    await victim.web.get("/sign-in/school")  # has a secret of its own now
    assert (await victim.get(back)).status_code == 400
    assert (await victim.get("/my")).status_code == 401


async def test_a_new_password_signs_the_other_browsers_out(browser: Any) -> None:
    one, other = browser(), browser()
    await one.sign_in("ann")
    await other.sign_in("ann")
    fields = {"action": "password", "current": "wrong", "password": NEW, "again": NEW}
    assert "The current password is wrong." in (await one.send("/my/account", **fields)).text
    assert (await other.get("/my")).status_code == 200
    await one.send("/my/account", **{**fields, "current": GOOD})
    assert (await one.get("/my")).status_code == 200
    assert (await other.get("/my")).status_code == 401
    assert "My bots" in (await other.sign_in("ann", NEW)).text


async def test_the_organisers_link_makes_a_new_password(browser: Any, ola: Browser) -> None:
    one, other = browser(), browser()
    await other.sign_in("ann")
    page = (await ola.send("/organiser", action="reset", owner="ann")).text
    found = re.search(r"http://localhost:8000(/reset\?code=[^<]+)<", page)
    assert found
    address = found[1]
    code = address.partition("code=")[2]
    assert "For the account of ann" in (await one.get(address)).text
    assert "differ" in (await one.send("/reset", page=address, code=code, password=NEW, again=GOOD)).text
    assert "My bots" in (await one.send("/reset", page=address, code=code, password=NEW, again=NEW)).text
    assert (await other.get("/my")).status_code == 401
    assert (await other.get(address)).status_code == 400
    assert address not in (await ola.get("/organiser")).text


async def test_an_account_is_deleted_with_its_name_as_the_confirmation(browser: Any, intake: Intake) -> None:
    one = browser()
    await one.sign_in("ann")
    intake.store.hand_in("ann", "annbot", "c1")
    intake.qualify("annbot", 1)
    assert "nothing was deleted" in (await one.send("/my/account", action="delete", owner="Ann")).text.lower()
    await one.send("/my/account", action="delete", owner="ann")
    assert (await one.get("/my")).status_code == 401
    assert intake.playing("cup") == {}
    page = (await one.get("/bots/annbot")).text
    assert "By deleted o" in page
    assert "ann<" not in page


async def test_a_notice_is_on_all_pages_until_it_is_taken_away(browser: Any, ola: Browser) -> None:
    one = browser()
    await browser().get("/runs/cup")  # which is kept for the next visitor
    await ola.send("/organiser", action="notice", text="The final is on Friday.")
    assert "The final is on Friday." in (await browser().get("/runs/cup")).text
    for path in ("/", "/ladder", "/sign-in", "/games", "/nowhere", "/my"):
        assert "The final is on Friday." in (await one.get(path)).text
    await ola.send("/organiser", action="notice", text="")
    assert "The final is on Friday." not in (await one.get("/")).text


async def test_organisers_approve_ban_disable_pause_drain_and_annul_and_the_page_says_who_did(
    ola: Browser, intake: Intake
) -> None:
    intake.store.hand_in("ann", "annbot", "c1")
    intake.qualify("annbot", 1)
    assert "move no ratings but their own" in (await ola.get("/organiser")).text
    for fields in (
        {"action": "approve", "owner": "ann", "reason": "I know her"},
        {"action": "disable", "bot": "annbot", "reason": "prints too much"},
        {"action": "resume", "bot": "annbot"},
        {"action": "pause", "division": "cup", "reason": "the clock changes"},
        {"action": "drain", "reason": "the machine moves"},
        {"action": "annul", "division": "cup", "match": "m1", "reason": "a power cut"},
        {"action": "block", "owner": "ann", "reason": "cheats"},
    ):
        page = (await ola.send("/organiser", **fields)).text
        assert fields.get("reason", "") in page, fields
    said = re.sub(r"<[^>]*>", " ", page)
    rows = [" ".join(row.split()) for row in said[said.index("What organisers did last") :].splitlines()]
    for row in ("ola ban ann cheats done", "ola annul cup/m1 a power cut waits for the process that plays",
                "ola drain the machine moves done", "ola approve ann I know her done"):  # fmt: skip
        assert any(row in one for one in rows), row
    assert intake.people.steering().paused == (("cup", "the clock changes"),)
    await ola.send("/organiser", action="go on", division="cup")
    await ola.send("/organiser", action="go on")
    assert intake.people.steering().paused == ()
    assert intake.people.steering().drain == ""


async def test_what_may_be_one_person_is_on_the_organisers_page(ola: Browser, intake: Intake) -> None:
    assert "Perhaps one person" not in (await ola.get("/organiser")).text
    intake.people.join("eve", GOOD)
    intake.store.hand_in("ann", "annbot", "c1", code="same")
    intake.store.hand_in("eve", "evebot", "c2", code="same")
    intake.entries_of["cup"] = {"a": Entry("a", "annbot", "ann", 1)}
    page = (await ola.get("/organiser")).text
    assert "The same code was handed in by several owners." in page
    assert "/bots/annbot" in page
    assert "/bots/evebot" in page


async def test_of_bots_beyond_the_limit_the_owner_sees_why_and_the_organiser_too(
    browser: Any, ola: Browser, intake: Intake
) -> None:
    for number in range(4):
        intake.store.hand_in("ann", f"bot{number}", f"c{number}")
        intake.qualify(f"bot{number}", 1)
    one = browser()
    await one.sign_in("ann")
    assert "3 of its owner&#39;s bots play there" in (await one.get("/my")).text
    assert "3 of its owner&#39;s bots play there" in (await ola.get("/organiser")).text
