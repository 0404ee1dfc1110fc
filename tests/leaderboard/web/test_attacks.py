"""What strangers try against pages and API of a ladder, each beside what is allowed: see docs/ladder_security.md."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from leaderboard.web import live, members
from leaderboard.web.accounts import caller_of
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from leaderboard.web.hand_ins import HandInRefused, NewToken, Refusal
from leaderboard.web.rates import (
    JOINS,
    NAME_SIGN_INS,
    OPEN_JOINS,
    PASSWORD_CHANGES,
    SIGN_INS,
    STRANGE_SIGN_INS,
    KnownAddresses,
)
from referee.ladder.people import SHELL
from tests.leaderboard.web.ladders import Intake

HERE = "http://localhost:8000"
ORIGIN = {"Origin": HERE}
COOKIE = "crosstown-session-8000"
GOOD = "correct horse battery"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    made = Intake(tmp_path / "ladder")
    made.people = made.store.people(sign_up="open", divisions=["cup"])
    for name in ("ann", "eve"):
        made.people.join(name, GOOD)
    made.accounts.add_owner("ola", organiser=True)
    made.store.hand_in("ann", "annbot", "c1")
    yield made
    made.store.close()


@pytest.fixture
def app(runs: Path, intake: Intake) -> Any:
    return make_app(runs, lambda folder: RunFacts(), hand_ins=intake)


@pytest.fixture
async def web(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=HERE) as client:
        yield client


def session(intake: Intake, name: str) -> NewToken:
    scope: Any = "organise" if name == "ola" else "manage"
    return intake.accounts.create_token(name, "browser", scope, 1, kind="session")


def cookie(made: NewToken) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={made.secret}"}


async def form_token(web: httpx.AsyncClient, path: str, headers: dict[str, str] | None = None) -> str:
    found = re.search(r'name="token" value="([^"]+)"', (await web.get(path, headers=headers)).text)
    assert found
    return found[1]


# Requests that another site has a browser send


@pytest.mark.parametrize("origin", [{}, {"Origin": "https://elsewhere.example"}, {"Origin": "null"},
                                    {"Origin": "http://localhost:9000"},
                                    {"Origin": HERE, "Sec-Fetch-Site": "cross-site"}])  # fmt: skip
async def test_a_form_of_another_site_changes_nothing(
    web: httpx.AsyncClient, intake: Intake, origin: dict[str, str]
) -> None:
    ann = cookie(session(intake, "ann"))
    fields = {"token": await form_token(web, "/my/account", ann), "action": "pause"}
    assert (await web.post("/bots/annbot", data=fields, headers=ann | origin)).status_code == 403
    assert intake.bot("annbot").paused == ""
    assert (await web.post("/bots/annbot", data=fields, headers=ann | ORIGIN)).status_code == 303  # the control
    assert intake.bot("annbot").paused_by == "owner"


async def test_the_token_of_the_attackers_own_page_is_none_for_the_victims_session(
    web: httpx.AsyncClient, intake: Intake
) -> None:
    ann, eve = cookie(session(intake, "ann")), cookie(session(intake, "eve"))
    mine, theirs = await form_token(web, "/my/account", ann), await form_token(web, "/my/account", eve)
    visitors = await form_token(web, "/sign-in")
    assert len({mine, theirs, visitors}) == 3
    for stolen in (theirs, visitors, "", "\u00e9"):
        answer = await web.post("/bots/annbot", data={"token": stolen, "action": "pause"}, headers=ann | ORIGIN)
        assert answer.status_code == 403
    answer = await web.post("/bots/annbot", data={"token": mine, "action": "pause"}, headers=ann | ORIGIN)
    assert answer.status_code == 303


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
async def test_json_cannot_be_sent_with_what_a_form_of_another_site_can_send(
    web: httpx.AsyncClient, intake: Intake, kind: str
) -> None:
    ann = cookie(session(intake, "ann"))
    for headers in ({}, ORIGIN):
        answer = await web.post(
            "/api/v1/bots/annbot/pause", content=b'{"reason":"x"}', headers=ann | headers | {"Content-Type": kind}
        )
        assert answer.status_code in (403, 415)
    assert intake.bot("annbot").paused == ""
    right = {"X-Crosstown-Token": await form_token(web, "/my/account", ann), **ORIGIN}
    assert (await web.post("/api/v1/bots/annbot/pause", json={"reason": "x"}, headers=ann | right)).status_code == 200


async def test_nobody_is_signed_in_as_the_attacker_by_a_form_of_another_site(
    web: httpx.AsyncClient, intake: Intake
) -> None:
    fields = {"token": await form_token(web, "/sign-in"), "owner": "eve", "password": GOOD}
    answer = await web.post("/sign-in", data=fields, headers={"Origin": "https://elsewhere.example"})
    assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)
    assert "set-cookie" in (await web.post("/sign-in", data=fields, headers=ORIGIN)).headers


@pytest.mark.parametrize("path", ["/", "/sign-in", "/join", "/ladder", "/bots/annbot", "/nowhere", "/api/v1/divisions"])
async def test_no_page_can_be_framed_and_none_runs_what_stands_in_it(web: httpx.AsyncClient, path: str) -> None:
    headers = (await web.get(path)).headers
    policy = headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
                 "form-action 'self'"):  # fmt: skip
        assert part in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


# Sessions


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_session_is_in_a_cookie_that_no_script_and_no_other_site_gets(app: Any, scheme: str) -> None:
    here = f"{scheme}://localhost:8000"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=here) as web:
        fields = {"token": await form_token(web, "/sign-in"), "owner": "ann", "password": GOOD}
        said = (await web.post("/sign-in", data=fields, headers={"Origin": here})).headers["set-cookie"]
    assert "HttpOnly" in said
    assert "SameSite=lax" in said
    assert "Domain" not in said
    assert ("Secure" in said) == (scheme == "https")


async def test_a_session_that_the_attacker_has_set_is_not_the_one_after_signing_in(
    web: httpx.AsyncClient, intake: Intake
) -> None:
    fixed = session(intake, "eve")
    planted = cookie(fixed)
    fields = {"token": await form_token(web, "/sign-in", planted), "owner": "ann", "password": GOOD}
    answer = await web.post("/sign-in", data=fields, headers=planted | ORIGIN)
    assert fixed.secret not in answer.headers["set-cookie"]
    assert intake.account(fixed.secret).owner == "eve"  # the attacker's own session has gained nothing


async def test_signing_out_ends_the_session_and_not_only_the_cookie(web: httpx.AsyncClient, intake: Intake) -> None:
    made = session(intake, "ann")
    ann = cookie(made)
    assert (await web.get("/my", headers=ann)).status_code == 200
    fields = {"token": await form_token(web, "/my/account", ann)}
    assert (await web.post("/sign-out", data=fields, headers=ann | ORIGIN)).status_code == 303
    assert (await web.get("/my", headers=ann)).status_code == 401


@pytest.mark.parametrize("how", ["ban", "sign-out"])
async def test_what_is_followed_ends_with_the_session(
    web: httpx.AsyncClient, intake: Intake, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(live, "QUIET_S", 0.3)
    sent: list[object] = []
    event = live.event
    monkeypatch.setattr(live, "event", lambda data: sent.append(data) or event(data))
    intake.logs["annbot", 1] = b"compiled"
    made, bystander = session(intake, "ann"), session(intake, "eve")
    paths = ["/my/events", "/api/v1/bots/annbot/versions/1/events", "/api/v1/bots/annbot/versions/1/log/events",
             "/runs/cup/events", "/api/v1/runs/cup/events"]  # fmt: skip
    await web.get("/api/v1/divisions")  # loads what serves the API
    following = [asyncio.create_task(web.get(path, headers=cookie(made))) for path in paths]
    others = [asyncio.create_task(web.get(path, headers=cookie(bystander))) for path in ("/my/events", *paths[3:])]
    visitor = asyncio.create_task(web.get("/runs/cup/events"))
    async with asyncio.timeout(60):
        while len(sent) < len(following) + len(others) + 1:  # noqa: ASYNC110 - all have begun
            await asyncio.sleep(0.05)
    assert not any(task.done() for task in (*following, *others, visitor))
    if how == "ban":
        intake.people.block(SHELL, "ann", "spam")
    else:
        intake.accounts.revoke_token("ann", intake.account(made.secret).token_id)
    _, left = await asyncio.wait(following, timeout=20)
    assert [path for path, task in zip(paths, following, strict=True) if task in left] == []
    assert {task.result().status_code for task in following} == {200}
    assert not any(task.done() for task in (*others, visitor)), "those of others go on"
    for task in (*others, visitor):
        task.cancel()
    await asyncio.gather(*others, visitor, return_exceptions=True)


async def test_what_began_just_when_the_account_ended_ends_too(intake: Intake) -> None:
    """Between the check of the request and the first event it may be revoked; it is no visitor's request then."""
    made = session(intake, "ann")
    headers = [(b"authorization", f"Bearer {made.secret}".encode())]
    server = SimpleNamespace(state=SimpleNamespace(hand_ins=intake))
    checked, control = (
        Request({"type": "http", "method": "GET", "headers": headers, "app": server, "state": {}}) for _ in range(2)
    )
    for request in (checked, control):
        caller_of(request)

    async def events() -> AsyncIterator[str]:
        for number in range(3):
            yield str(number)

    assert [text async for text in live._while_allowed(control, events())] == ["0", "1", "2"]
    intake.accounts.revoke_token("ann", intake.account(made.secret).token_id)
    assert [text async for text in live._while_allowed(checked, events())] == []


async def test_what_an_organiser_follows_ends_when_the_rights_end(
    web: httpx.AsyncClient, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "QUIET_S", 0.3)
    following = asyncio.create_task(web.get("/organiser/events", headers=cookie(session(intake, "ola"))))
    await asyncio.sleep(0.5)
    assert not following.done()
    intake.store._database.write(lambda db: db.execute("UPDATE owners SET organiser = 0 WHERE name = 'ola'"))
    await asyncio.wait_for(following, 20)


async def test_a_secret_is_on_no_page_that_a_cache_keeps(web: httpx.AsyncClient, intake: Intake) -> None:
    ann = cookie(session(intake, "ann"))
    fields = {"token": await form_token(web, "/my/account", ann), "label": "x", "scope": "submit", "days": "7"}
    made = await web.post("/my/account", data=fields, headers=ann | ORIGIN)
    assert "crosstown_" in made.text
    assert made.headers["cache-control"] == "no-store"
    assert "crosstown_" not in (await web.get("/my/account", headers=ann)).text
    for path in ("/join?code=x", "/reset?code=x"):
        assert (await web.get(path)).headers["cache-control"] == "no-store"


@pytest.mark.parametrize("back", ["//elsewhere.example", "https://elsewhere.example", "\r\nSet-Cookie: a=b", "bot"])
async def test_no_form_sends_the_browser_elsewhere(web: httpx.AsyncClient, intake: Intake, back: str) -> None:
    ann = cookie(session(intake, "ann"))
    fields = {"token": await form_token(web, "/my/account", ann), "action": "pause", "back": back}
    answer = await web.post("/bots/annbot", data=fields, headers=ann | ORIGIN)
    assert answer.headers["location"] in ("/my", "/bots/annbot")
    assert "set-cookie" not in answer.headers


async def test_a_name_with_line_ends_adds_no_header(web: httpx.AsyncClient, intake: Intake) -> None:
    ola = cookie(session(intake, "ola"))
    name = "/bots/x%0d%0aSet-Cookie:%20a=b"
    fields = {"token": await form_token(web, "/my/account", ola), "action": "pause", "back": "bot"}
    answer = await web.post(name, data=fields, headers=ola | ORIGIN)
    assert answer.status_code == 404
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["elsewhere.example", "localhost.elsewhere.example", ""])
async def test_a_link_for_somebody_has_no_host_that_the_asker_made_up(
    web: httpx.AsyncClient, intake: Intake, host: str
) -> None:
    ola = cookie(session(intake, "ola"))
    fields = {"token": await form_token(web, "/organiser", ola), "action": "reset", "owner": "ann"}
    assert (await web.post("/organiser", data=fields, headers=ola | ORIGIN | {"Host": host})).status_code == 403
    answer = await web.post("/organiser", data=fields, headers=ola | ORIGIN)
    assert f"{HERE}/reset?code=" in answer.text


# Guessing


async def test_an_address_has_few_sign_ins_whatever_it_says_of_itself(web: httpx.AsyncClient) -> None:
    fields = {"token": await form_token(web, "/sign-in"), "owner": "", "secret": "guess"}
    for number in range(SIGN_INS.most):
        headers = ORIGIN | {"X-Forwarded-For": f"198.51.100.{number}"}
        assert (await web.post("/sign-in", data=fields, headers=headers)).status_code == 400
    answer = await web.post("/sign-in", data=fields, headers=ORIGIN)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= SIGN_INS.seconds
    assert "Try again in" in answer.text


async def test_another_address_is_not_kept_out_by_that(app: Any, web: httpx.AsyncClient) -> None:
    fields = {"token": await form_token(web, "/sign-in"), "owner": "", "secret": "guess"}
    for _ in range(SIGN_INS.most + 1):
        last = await web.post("/sign-in", data=fields, headers=ORIGIN)
    assert last.status_code == 429
    elsewhere = httpx.ASGITransport(app=app, client=("203.0.113.9", 1))
    async with httpx.AsyncClient(transport=elsewhere, base_url=HERE) as other:
        right = fields | {"owner": "ann", "password": GOOD}
        assert (await other.post("/sign-in", data=right, headers=ORIGIN)).status_code == 303


async def sign_in(app: Any, address: str, owner: str, password: str) -> int:
    """The status of a sign-in from that address; 303 if it succeeds."""
    transport = httpx.ASGITransport(app=app, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url=HERE) as one:
        fields = {"token": await form_token(one, "/sign-in"), "owner": owner, "password": password}
        return (await one.post("/sign-in", data=fields, headers=ORIGIN)).status_code


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are compared as they are: the slow hash is not what is tested."""
    right = {"ann": GOOD, "eve": GOOD}

    def sign_in(people: Any, owner: str, password: str) -> NewToken:
        if password != right.get(owner):
            raise HandInRefused(Refusal.UNAUTHENTICATED, "the name or the password is wrong", "check both")
        return people._session(people._database.row("SELECT * FROM owners WHERE name = ?", owner))  # type: ignore[no-any-return]

    monkeypatch.setattr("referee.ladder.people.LadderPeople.sign_in", sign_in)


@pytest.mark.usefixtures("quick")
async def test_one_name_has_few_sign_ins_from_all_addresses_together(app: Any) -> None:
    seen = [await sign_in(app, f"203.0.113.{number}", "ann", "wrong") for number in range(STRANGE_SIGN_INS.most + 1)]
    assert seen == [400] * STRANGE_SIGN_INS.most + [429]
    assert await sign_in(app, "198.51.100.1", "Ann", GOOD) == 429, "in other letters it is the same name"
    assert await sign_in(app, "198.51.100.1", "eve", GOOD) == 303  # the control


@pytest.mark.usefixtures("quick")
async def test_a_stranger_who_guesses_keeps_the_owner_out_of_no_other_address(app: Any) -> None:
    seen = [await sign_in(app, "203.0.113.9", "ann", "wrong") for _ in range(SIGN_INS.most + 5)]
    assert seen[-1] == 429
    assert await sign_in(app, "198.51.100.1", "ann", GOOD) == 303


@pytest.mark.usefixtures("quick")
async def test_from_where_the_owner_has_signed_in_strangers_with_many_addresses_keep_nobody_out(app: Any) -> None:
    assert await sign_in(app, "198.51.100.1", "ann", GOOD) == 303
    for number in range(STRANGE_SIGN_INS.most + 1):
        last = await sign_in(app, f"203.0.113.{number}", "ann", "wrong")
    assert last == 429
    assert await sign_in(app, "198.51.100.1", "ann", GOOD) == 303
    seen = [await sign_in(app, "198.51.100.1", "ann", "wrong") for _ in range(NAME_SIGN_INS.most)]
    assert seen[-1] == 429, "who shares that address guesses no more than others"


def test_of_known_addresses_the_latest_are_kept() -> None:
    known = KnownAddresses(most=2)
    for address in ("a", "b", "a", "c"):
        known.add("ann", address)
    assert [("ann", address) in known for address in "abc"] == [True, False, True]
    assert ("eve", "a") not in known


def test_many_addresses_of_one_owner_let_no_others_be_forgotten() -> None:
    known = KnownAddresses()
    known.add("ann", "home")
    for number in range(20_000):
        known.add("eve", f"2001:db8:0:{number:x}::/64")
    assert ("ann", "home") in known
    assert [("eve", f"2001:db8:0:{number:x}::/64") in known for number in (0, 19_979, 19_980)] == [False, False, True]


@pytest.mark.usefixtures("quick")
async def test_guesses_of_strangers_do_not_keep_an_owner_from_a_new_password(
    app: Any, web: httpx.AsyncClient, intake: Intake
) -> None:
    for _ in range(NAME_SIGN_INS.most + 1):
        await sign_in(app, "203.0.113.9", "ann", "wrong")
    ann = cookie(session(intake, "ann"))
    fields = {"token": await form_token(web, "/my/account", ann), "action": "password", "current": GOOD}
    new = {"password": "another good horse", "again": "another good horse"}
    assert (await web.post("/my/account", data=fields | new, headers=ann | ORIGIN)).status_code == 303
    wrong = fields | new | {"current": "wrong"}
    seen = [
        (await web.post("/my/account", data=wrong | {"password": "x", "again": "x"}, headers=ann | ORIGIN)).status_code
        for _ in range(PASSWORD_CHANGES.most)
    ]
    assert seen[-1] == 429  # the control: a stolen session cannot guess the password


async def test_addresses_of_one_ipv6_network_count_as_one(app: Any, web: httpx.AsyncClient) -> None:
    fields = {"token": await form_token(web, "/sign-in"), "owner": "", "secret": "guess"}
    seen = []
    for number in range(SIGN_INS.most + 1):
        transport = httpx.ASGITransport(app=app, client=(f"2001:db8::{number + 1:x}", 1))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as other:
            seen.append((await other.post("/sign-in", data=fields, headers=ORIGIN)).status_code)
    assert seen[-1] == 429


async def test_many_sign_ups_from_one_address_are_refused_and_those_before_are_there(
    web: httpx.AsyncClient, intake: Intake
) -> None:
    before = len(intake.accounts.people())
    statuses = []
    code = intake.accounts.create_invitation("class", 1000, 1).code
    for number in range(JOINS.most + 200):
        wanted = {"code": code, "owner": f"mass {number:04} x"}
        statuses.append((await web.post("/api/v1/join", json=wanted)).status_code)
    assert statuses == [201] * JOINS.most + [429] * 200
    assert len(intake.accounts.people()) == before + JOINS.most


async def test_without_an_invitation_an_address_makes_fewer_accounts(web: httpx.AsyncClient, intake: Intake) -> None:
    token = await form_token(web, "/join")
    statuses = []
    for number in range(OPEN_JOINS.most + 2):
        fields = {"token": token, "owner": f"mass {number:04} x", "password": GOOD, "again": GOOD}
        statuses.append((await web.post("/join", data=fields, headers=ORIGIN)).status_code)
        web.cookies.clear()
    assert statuses == [303] * OPEN_JOINS.most + [429] * 2
    answer = await web.post("/api/v1/join", json={"owner": "mass by api", "password": GOOD})
    assert answer.status_code == 429


@pytest.mark.parametrize(
    "code", ["", "x", "0" * 43, "' OR 1=1 --", "%00", "\ud800".encode("utf-8", "replace").decode()]
)
async def test_codes_and_tokens_are_not_guessed(web: httpx.AsyncClient, code: str) -> None:
    assert (await web.get("/reset", params={"code": code})).status_code == 400
    assert (await web.get("/api/v1/me", headers={"Authorization": f"Bearer {code}"})).status_code == 401
    assert (await web.get("/my", headers={"Cookie": f"{COOKIE}={code}"})).status_code == 401


# What people write is text


async def test_what_people_write_is_never_markup(web: httpx.AsyncClient, intake: Intake) -> None:
    ola = cookie(session(intake, "ola"))
    token = await form_token(web, "/organiser", ola)
    for fields in (
        {"action": "notice", "text": SCRIPT},
        {"action": "invite", "label": SCRIPT, "uses": "1", "days": "1"},
        {"action": "drain", "reason": SCRIPT},
        {"action": "pause", "division": "cup", "reason": SCRIPT},
        {"action": "block", "owner": "eve", "reason": SCRIPT},
        {"action": "annul", "division": "cup", "match": "m1", "reason": SCRIPT},
    ):
        assert (await web.post("/organiser", data={"token": token, **fields}, headers=ola | ORIGIN)).status_code < 400
    intake.people.join(SCRIPT.replace("/", ""), GOOD)
    page = (await web.get("/organiser", headers=ola)).text
    assert page.count("&lt;script&gt;") >= 7
    for path in ("/organiser", "/", "/ladder", "/sign-in", "/join?code=" + SCRIPT, "/reset?code=" + SCRIPT):
        assert SCRIPT not in (await web.get(path, headers=ola)).text


# Others' bots, and more than one's rights


async def test_the_bots_of_others_cannot_be_changed_or_read(web: httpx.AsyncClient, intake: Intake) -> None:
    intake.logs["annbot", 1] = b"a secret of ann"
    eve = {"Authorization": f"Bearer {intake.accounts.create_token('eve', 'x', 'manage', None).secret}"}
    ann = {"Authorization": f"Bearer {intake.accounts.create_token('ann', 'x', 'manage', None).secret}"}
    base = "/api/v1/bots/annbot"
    for path in ("/versions", "/versions/1/activate", "/versions/1/retire", "/resume"):
        assert (await web.post(base + path, headers=eve)).status_code in (403, 404), path
    assert (await web.post(f"{base}/pause", json={"reason": "x"}, headers=eve)).status_code == 403
    for path in ("/versions/1/log", "/versions/1/events", "/versions/1/log/events", "/versions/1"):
        assert (await web.get(base + path, headers=eve)).status_code == 404, path
    assert (await web.get("/bots/annbot/versions/1/log", headers=cookie(session(intake, "eve")))).status_code == 404
    assert "secret" in (await web.get(f"{base}/versions/1/log", headers=ann)).text
    assert (await web.post(f"{base}/pause", json={"reason": "x"}, headers=ann)).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "action", ["approve", "block", "disable", "drain", "notice", "annul", "reset", "invite", "pause"]
)
async def test_an_author_cannot_do_what_organisers_do(web: httpx.AsyncClient, intake: Intake, action: str) -> None:
    ann = cookie(session(intake, "ann"))
    fields = {"token": await form_token(web, "/my/account", ann), "action": action, "owner": "eve", "bot": "annbot",
              "division": "cup", "match": "m1", "uses": "1", "days": "1", "text": "x", "reason": "x"}  # fmt: skip
    assert (await web.post("/organiser", data=fields, headers=ann | ORIGIN)).status_code == 403
    assert list(intake.store._database.rows("SELECT * FROM acts")) == []
    assert list(intake.store._database.rows("SELECT * FROM switches")) == []
    ola = cookie(session(intake, "ola"))
    fields["token"] = await form_token(web, "/organiser", ola)
    assert (await web.post("/organiser", data=fields, headers=ola | ORIGIN)).status_code < 400  # the control


async def test_a_token_is_never_good_for_more_than_what_made_it(web: httpx.AsyncClient, intake: Intake) -> None:
    manage = {"Authorization": f"Bearer {intake.accounts.create_token('ola', 'x', 'manage', None).secret}"}
    submit = {"Authorization": f"Bearer {intake.accounts.create_token('ola', 'x', 'submit', None).secret}"}
    wanted = {"label": "x", "scope": "organise", "days": 1, "bot": ""}
    assert (await web.post("/api/v1/me/tokens", json=wanted, headers=manage)).status_code == 403
    assert (await web.post("/api/v1/me/tokens", json=wanted | {"scope": "read"}, headers=submit)).status_code == 403
    assert (await web.post("/api/v1/me/tokens", json=wanted | {"scope": "manage"}, headers=manage)).status_code == 201


@pytest.mark.parametrize("extra", [{"organiser": True}, {"approved": True}, {"scope": "organise"}, {"id": 1}])
async def test_fields_that_nobody_asks_for_change_nothing(
    web: httpx.AsyncClient, intake: Intake, extra: dict[str, Any]
) -> None:
    made = await web.post("/api/v1/join", json={"owner": "mallory", "password": GOOD, **extra})
    assert made.status_code == 201
    person = next(one for one in intake.accounts.people() if one.owner == "mallory")
    assert (person.organiser, person.approved) == (False, False)
    account = intake.account(made.json()["secret"])
    assert (account.scope, account.organiser) == ("manage", False)


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"owner": 3}', b'{"owner": {"a": 1}}', b"\xff" * 100,
                                  b'{"owner": "x", "password": ' + b"[" * 50_000],
                         ids=["empty", "open", "list", "null", "number", "object", "no text", "deep"])  # fmt: skip
async def test_json_that_is_none_is_a_sentence(web: httpx.AsyncClient, body: bytes) -> None:
    answer = await web.post("/api/v1/join", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


async def test_a_token_of_one_bot_shows_nothing_of_the_owners_other_bots(
    web: httpx.AsyncClient, intake: Intake
) -> None:
    intake.store.hand_in("ann", "second", "c2")
    one = intake.accounts.create_token("ann", "x", "read", None, bot="annbot").secret
    whole = intake.accounts.create_token("ann", "x", "read", None).secret
    for path in ("/my", "/api/v1/me/bots", "/bots/second", "/api/v1/bots/second/versions"):
        shown = [(await web.get(path, headers={"Authorization": f"Bearer {token}"})).text for token in (one, whole)]
        if path.startswith(("/my", "/api/v1/me")):
            assert ["second" in text for text in shown] == [False, True], path
            assert ["annbot" in text for text in shown] == [True, True], path
        else:
            assert ["received" in text for text in shown] == [False, True], path


@pytest.mark.parametrize("path", ["/organiser", "/api/v1/organiser/overview"])
async def test_an_organisers_token_for_one_bot_is_none_of_an_organiser(
    web: httpx.AsyncClient, intake: Intake, path: str
) -> None:
    intake.store.hand_in("ola", "olas", "c3")
    for bot, status in (("olas", 403), ("", 200)):
        token = intake.accounts.create_token("ola", "x", "organise", None, bot=bot).secret
        answer = await web.get(path, headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, "good for the bot" in answer.text) == (status, bool(bot))


@pytest.mark.parametrize("path", ["/api/v1/join", "/api/v1/me/tokens", "/api/v1/bots/annbot/pause"])
async def test_json_without_end_is_read_up_to_a_limit(web: httpx.AsyncClient, intake: Intake, path: str) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        yield b'{"owner": "mallory", "label": "'
        while read < 64 << 20:
            read += 1 << 16
            yield b" " * (1 << 16)

    kind = {"Content-Type": "application/json", "Authorization": f"Bearer {session(intake, 'ann').secret}"}
    answer = await web.post(path, content=endless(), headers=kind)
    assert (answer.status_code, answer.json()["error"]) == (413, "The request is too long.")
    assert read <= 1 << 18
    wanted = {"owner": "mallory", "password": GOOD, "label": "x", "reason": "x" * 400}
    assert (await web.post(path, json=wanted, headers=kind)).status_code in (200, 201)  # the control


@pytest.mark.parametrize(("number", "status"), [("1", 200), ("0", 404), ("1" * 30, 404), ("9" * 5000, 404), ("x", 404)])
async def test_the_log_of_a_version_that_cannot_be_is_not_there(
    web: httpx.AsyncClient, intake: Intake, number: str, status: int
) -> None:
    answer = await web.get(f"/bots/annbot/versions/{number}/log", headers=cookie(session(intake, "ann")))
    assert answer.status_code == status


async def test_a_form_of_many_fields_or_bytes_is_refused(web: httpx.AsyncClient) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded", **ORIGIN}
    many = "&".join(f"a{number}=1" for number in range(5000))
    assert (await web.post("/join", content=many, headers=kind)).status_code == 400
    assert (await web.post("/join", content=b"a=" + b"x" * 100_000, headers=kind)).status_code == 413


async def test_who_follows_its_own_bots_many_times_has_them_looked_at_as_often_as_one(
    web: httpx.AsyncClient, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "LOOK_S", 60)  # what was seen is fresh for half of that
    sent: list[object] = []
    looked: list[str | None] = []
    event, bots = live.event, intake.bots
    monkeypatch.setattr(live, "event", lambda data: sent.append(data) or event(data))
    monkeypatch.setattr(intake, "bots", lambda owner=None: looked.append(owner) or bots(owner))
    ann, eve = session(intake, "ann"), session(intake, "eve")
    following = [asyncio.create_task(web.get("/my/events", headers=cookie(ann))) for _ in range(20)]
    other = asyncio.create_task(web.get("/my/events", headers=cookie(eve)))
    async with asyncio.timeout(60):
        while len(sent) < len(following) + 1:  # noqa: ASYNC110 - all have begun
            await asyncio.sleep(0.05)
    assert sorted(map(str, looked)) == ["ann", "eve"], "each account sees its own"
    for task in (*following, other):
        task.cancel()
    await asyncio.gather(*following, other, return_exceptions=True)
