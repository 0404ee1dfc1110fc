"""`/api/v1` of a ladder, with the real store beneath."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.hand_ins import HandInRefused, Refusal
from tests.leaderboard.web.ladders import LIMITS, Arriving, Intake

V1 = "/api/v1"
ZIP = b"PK\x03\x04" + b"a" * 1000
OTHER = b"PK\x03\x04" + b"b" * 1000


@pytest.fixture
def intake(tmp_path: Path) -> Any:
    made = Intake(tmp_path / "ladder")
    yield made
    made.store.close()


@pytest.fixture
async def web(runs: Path, intake: Intake) -> Any:
    transport = httpx.ASGITransport(app=make_app(runs, hand_ins=intake, hide_live=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8000") as client:
        yield client


Owner = Callable[..., dict[str, str]]


@pytest.fixture
def owner(intake: Intake) -> Owner:
    """owner("ann", "submit") is the header of a token; "ola" is an organiser."""

    def make(name: str, scope: Any = "manage", bot: str = "") -> dict[str, str]:
        intake.accounts.add_owner(name, organiser=name == "ola")
        secret = intake.accounts.create_token(name, "test", scope, None, bot=bot).secret
        return {"Authorization": f"Bearer {secret}"}

    return make


async def hand_in(web: httpx.AsyncClient, who: dict[str, str], data: bytes = ZIP, **headers: str) -> httpx.Response:
    return await web.post(f"{V1}/bots/annbot/versions", content=data, headers={**who, **headers})


async def test_a_bot_is_handed_in_and_its_version_is_there(
    web: httpx.AsyncClient, owner: Owner, intake: Intake
) -> None:
    ann = owner("ann", "submit")
    answer = await hand_in(web, ann)
    assert answer.status_code == 201
    version = answer.json()
    assert (version["bot"], version["owner"], version["number"], version["status"]) == ("annbot", "ann", 1, "received")
    assert [step["name"] for step in version["steps"]] == ["received", "checked", "built", "qualified", "active"]
    assert intake.archives[version["content"]] == ZIP
    assert (await web.get(f"{V1}/bots/annbot/versions/1", headers=ann)).json() == version
    assert [bot["name"] for bot in (await web.get(f"{V1}/me/bots", headers=ann)).json()["bots"]] == ["annbot"]
    assert intake.open_uploads == 0


async def test_the_same_content_and_the_same_key_are_one_version(web: httpx.AsyncClient, owner: Owner) -> None:
    ann = owner("ann")
    assert (await hand_in(web, ann, **{"Idempotency-Key": "k1"})).status_code == 201
    again = await hand_in(web, ann, **{"Idempotency-Key": "k1"})
    assert (again.status_code, again.json()["number"]) == (200, 1)
    without = await hand_in(web, ann)
    assert (without.status_code, without.json()["number"]) == (200, 1)
    clash = await hand_in(web, ann, OTHER, **{"Idempotency-Key": "k1"})
    assert clash.status_code == 409
    assert "key" in clash.json()["error"]
    assert (await hand_in(web, ann, OTHER)).json()["number"] == 2


async def test_an_upload_that_is_refused_says_why_and_what_to_do_and_leaves_nothing(
    web: httpx.AsyncClient, owner: Owner, intake: Intake
) -> None:
    ann, bob = owner("ann"), owner("bob")
    await hand_in(web, ann)
    cases: list[tuple[int, dict[str, str], bytes]] = [
        (401, {}, ZIP),
        (401, {"Authorization": "Bearer nobody"}, ZIP),
        (401, {"Authorization": "Basic YTpi"}, ZIP),
        (403, bob, ZIP),
        (403, owner("cyd", "read"), ZIP),
        (413, ann, b"PK" + bytes(LIMITS.upload_bytes)),
        (422, ann, b"no archive"),
        (422, ann, b""),
        (422, {**ann, "Idempotency-Key": "k" * 201}, OTHER),
    ]
    for status, headers, data in cases:
        answer = await web.post(f"{V1}/bots/annbot/versions", content=data, headers=headers)
        assert answer.status_code == status, answer.text
        said = answer.json()
        assert said["error"][0].isupper() or said["error"].startswith("idempotency-key")
        assert said["error"].endswith(".")
        assert said["next_step"]
        assert intake.open_uploads == 0
    assert [version.number for version in intake.versions("annbot")] == [1]
    assert len(intake.archives) == 1


async def test_a_token_that_is_missing_is_asked_for_by_the_header_that_http_has_for_it(web: httpx.AsyncClient) -> None:
    answer = await web.get(f"{V1}/me")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_an_upload_without_a_stated_length_ends_at_the_limit(
    web: httpx.AsyncClient, owner: Owner, intake: Intake
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b"PK"
        while sent < 10 * LIMITS.upload_bytes:
            sent += 1 << 16
            yield bytes(1 << 16)

    answer = await web.post(f"{V1}/bots/annbot/versions", content=endless(), headers=owner("ann"))
    assert answer.status_code == 413
    assert str(LIMITS.upload_bytes) in answer.json()["error"]
    assert intake.open_uploads == 0


def unpack_slowly(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Arriving], threading.Event]:
    """The archives that have arrived, and what those of ann wait for to be unpacked."""
    arrived, unpacked, finish = list[Arriving](), threading.Event(), Arriving.finish

    def write(upload: Arriving, data: bytes) -> None:
        upload.data += data
        arrived.append(upload)

    def unpack(upload: Arriving) -> Any:
        if upload.owner == "ann":
            unpacked.wait(60)
        return finish(upload)

    monkeypatch.setattr(Arriving, "write", write)
    monkeypatch.setattr(Arriving, "finish", unpack)
    return arrived, unpacked


async def test_archives_that_take_long_to_unpack_keep_nobody_else_waiting(
    web: httpx.AsyncClient, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of them than there are threads for all requests together."""
    arrived, unpacked = unpack_slowly(monkeypatch)
    ann, bob = owner("ann"), owner("bob")
    sending = [asyncio.create_task(hand_in(web, ann)) for _ in range(40)]
    try:
        async with asyncio.timeout(20):
            while len(arrived) < len(sending):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            assert (await web.get(f"{V1}/me", headers=bob)).status_code == 200
    finally:
        unpacked.set()
    assert {(await one).status_code for one in sending} == {200, 201}


async def test_who_sends_the_same_archive_again_and_again_has_one_unpacked_at_a_time(
    web: httpx.AsyncClient, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That counts as no hand-in: an author with a large archive could keep both threads, and all others waiting."""
    arrived, unpacked = unpack_slowly(monkeypatch)
    ann, bob = owner("ann"), owner("bob")
    sending = [asyncio.create_task(hand_in(web, ann)) for _ in range(4)]
    try:
        async with asyncio.timeout(20):
            while len(arrived) < len(sending):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            answer = await web.post(f"{V1}/bots/bobbot/versions", content=OTHER, headers=bob)
        assert answer.status_code == 201
        assert not any(one.done() for one in sending)
    finally:
        unpacked.set()
    assert {(await one).status_code for one in sending} == {200, 201}


async def test_an_upload_whose_connection_breaks_leaves_nothing_and_can_be_sent_again(
    runs: Path, web: httpx.AsyncClient, owner: Owner, intake: Intake
) -> None:
    ann = owner("ann")
    app = make_app(runs, hand_ins=intake)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": f"{V1}/bots/annbot/versions", "raw_path": b"", "query_string": b"", "root_path": "",
        "headers": [(b"host", b"localhost"), (b"authorization", ann["Authorization"].encode())],
        "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    messages = [{"type": "http.request", "body": ZIP[:500], "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    await app(scope, receive, send)
    assert intake.open_uploads == 0
    assert intake.bots() == []
    assert (await hand_in(web, ann)).status_code == 201


async def test_an_upload_that_is_cancelled_is_aborted_after_its_last_write(
    runs: Path, owner: Owner, intake: Intake
) -> None:
    ann = owner("ann")
    transport = httpx.ASGITransport(app=make_app(runs, hand_ins=intake))
    begun = asyncio.Event()

    async def stuck() -> AsyncIterator[bytes]:
        yield ZIP
        begun.set()
        await asyncio.sleep(60)

    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        task = asyncio.create_task(web.post(f"{V1}/bots/annbot/versions", content=stuck(), headers=ann))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert intake.open_uploads == 0


async def test_of_others_bots_only_what_everybody_may_know_is_shown(
    web: httpx.AsyncClient, owner: Owner, intake: Intake
) -> None:
    ann, bob, ola = owner("ann"), owner("bob"), owner("ola", "organise")
    await hand_in(web, ann)
    intake.qualify("annbot", 1)
    await hand_in(web, ann, OTHER)
    intake.reject("annbot", 2, "secret reason", "secret advice")
    intake.pause(intake.account(ann["Authorization"].split()[1]), "annbot", "secret pause")
    addresses = ("/bots", "/bots/annbot", "/bots/annbot/versions", "/bots/annbot/versions/2", "/bots/annbot/versions/1")
    for headers in ({}, bob):
        for address in addresses:
            answer = await web.get(V1 + address, headers=headers)
            assert "secret" not in answer.text, address
        listed = (await web.get(f"{V1}/bots/annbot/versions", headers=headers)).json()["versions"]
        assert [(version["number"], version["steps"]) for version in listed] == [(1, [])]
        assert (await web.get(f"{V1}/bots/annbot/versions/2", headers=headers)).status_code == 404
        for address in ("/bots/annbot/versions/1/log", "/bots/annbot/versions/1/events",
                        "/bots/annbot/versions/1/log/events"):  # fmt: skip
            assert (await web.get(V1 + address, headers=headers)).status_code == (404 if headers else 401)
    for headers in (ann, ola):
        assert "secret reason" in (await web.get(f"{V1}/bots/annbot/versions/2", headers=headers)).text
        assert "secret pause" in (await web.get(f"{V1}/bots/annbot", headers=headers)).text


async def test_a_version_is_followed_to_its_end_and_its_log_too(
    web: httpx.AsyncClient, owner: Owner, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, looked = owner("ann"), Counter[str]()

    def counted(name: str) -> None:
        asked = getattr(intake, name)

        def ask(*words: Any) -> Any:
            answer = asked(*words)
            looked[name] += 1
            return answer

        monkeypatch.setattr(intake, name, ask)

    await hand_in(web, ann)
    counted("version")
    counted("log")
    intake.logs["annbot", 1] = "compiled ü\n".encode()
    following = asyncio.create_task(web.get(f"{V1}/bots/annbot/versions/1/events", headers=ann))
    logging = asyncio.create_task(web.get(f"{V1}/bots/annbot/versions/1/log/events", headers=ann))
    async with asyncio.timeout(20):
        while min(looked["version"], looked["log"]) < 2:  # noqa: ASYNC110 - the first is about the rights
            await asyncio.sleep(0.01)
    intake.logs["annbot", 1] += b"linked\n"
    intake.qualify("annbot", 1)

    def events(answer: httpx.Response) -> list[Any]:
        return [json.loads(part.removeprefix("data: ")) for part in answer.text.strip().split("\n\n")]

    states = events(await asyncio.wait_for(following, 20))
    assert (states[0]["status"], states[-1]["status"]) == ("received", "active")
    parts = events(await asyncio.wait_for(logging, 20))
    assert "".join(part["text"] for part in parts) == "compiled ü\nlinked\n"
    assert [part["complete"] for part in parts][-1]
    whole = (await web.get(f"{V1}/bots/annbot/versions/1/log", headers=ann)).json()
    assert whole == {"text": "compiled ü\nlinked\n", "end": 19, "complete": True}
    assert (await web.get(f"{V1}/bots/annbot/versions/1/log?from=12", headers=ann)).json()["text"] == "linked\n"


async def test_versions_are_activated_and_retired_and_bots_paused_and_resumed(
    web: httpx.AsyncClient, owner: Owner, intake: Intake
) -> None:
    ann, bob, reader = owner("ann"), owner("bob"), owner("ann", "submit")
    await hand_in(web, ann)
    intake.qualify("annbot", 1)
    await hand_in(web, ann, OTHER)
    assert (await web.post(f"{V1}/bots/annbot/versions/2/activate", headers=ann)).status_code == 409
    intake.qualify("annbot", 2)
    for who in (bob, reader):
        assert (await web.post(f"{V1}/bots/annbot/versions/1/activate", headers=who)).status_code == 403
    assert (await web.post(f"{V1}/bots/annbot/versions/1/activate", headers=ann)).json()["status"] == "active"
    assert (await web.post(f"{V1}/bots/annbot/versions/2/retire", headers=ann)).json()["status"] == "retired"
    paused = await web.post(f"{V1}/bots/annbot/pause", headers=ann, json={"reason": "holiday"})
    assert (paused.json()["paused"], paused.json()["paused_by"]) == ("holiday", "owner")
    assert (await web.post(f"{V1}/bots/annbot/resume", headers=ann)).json()["paused"] == ""
    assert (await web.post(f"{V1}/bots/none/resume", headers=ann)).status_code == 404


async def test_a_token_is_shown_once_and_ends_at_once_when_it_is_revoked(web: httpx.AsyncClient, owner: Owner) -> None:
    ann = owner("ann")
    made = await web.post(f"{V1}/me/tokens", headers=ann, json={"label": "laptop", "scope": "submit", "days": 7})
    assert made.status_code == 201
    secret, token = made.json()["secret"], made.json()["token"]
    assert (token["label"], token["scope"]) == ("laptop", "submit")
    laptop = {"Authorization": f"Bearer {secret}"}
    assert (await web.get(f"{V1}/me", headers=laptop)).json()["account"]["owner"] == "ann"
    listed = await web.get(f"{V1}/me/tokens", headers=ann)
    assert secret not in listed.text
    assert token["id"] in {one["id"] for one in listed.json()["tokens"]}
    assert (await web.post(f"{V1}/me/tokens", headers=laptop, json={"label": "x"})).status_code == 403
    assert (await web.post(f"{V1}/me/tokens", headers=ann, json={"label": "x", "scope": "organise"})).status_code == 403
    bad = await web.post(f"{V1}/me/tokens", headers=ann, json={"label": "x", "days": 0})
    assert (bad.status_code, bad.json()["error"].split(":")[0]) == (422, "days")
    assert (await web.delete(f"{V1}/me/tokens/{token['id']}", headers=ann)).json() == {"done": True}
    assert (await web.get(f"{V1}/me", headers=laptop)).status_code == 401
    assert (await web.delete(f"{V1}/me/tokens/{token['id']}", headers=ann)).status_code == 404


async def test_an_invitation_makes_accounts_as_often_as_it_says(web: httpx.AsyncClient, owner: Owner) -> None:
    ola, ann = owner("ola", "organise"), owner("ann")
    assert (await web.post(f"{V1}/organiser/invitations", headers=ann, json={"label": "x"})).status_code == 403
    made = (await web.post(f"{V1}/organiser/invitations", headers=ola, json={"label": "class", "uses": 1})).json()
    joined = await web.post(f"{V1}/join", json={"code": made["code"], "owner": "bob"})
    assert (joined.status_code, joined.json()["owner"]) == (201, "bob")
    bob = {"Authorization": f"Bearer {joined.json()['secret']}"}
    assert (await hand_in(web, bob)).status_code == 201
    again = await web.post(f"{V1}/join", json={"code": made["code"], "owner": "cyd"})
    assert (again.status_code, "used" in again.json()["error"]) == (401, True)
    other = (await web.post(f"{V1}/organiser/invitations", headers=ola, json={"label": "class", "uses": 2})).json()
    taken = await web.post(f"{V1}/join", json={"code": other["code"], "owner": "bob"})
    assert (taken.status_code, "taken" in taken.json()["error"]) == (409, True)
    id_ = other["invitation"]["id"]
    assert (await web.delete(f"{V1}/organiser/invitations/{id_}", headers=ola)).status_code == 200
    assert (await web.post(f"{V1}/join", json={"code": other["code"], "owner": "dan"})).status_code == 401


async def test_what_organisers_do_is_theirs_alone_and_a_blocked_owner_does_nothing(
    web: httpx.AsyncClient, owner: Owner
) -> None:
    ola, ann = owner("ola", "organise"), owner("ann")
    await hand_in(web, ann)
    for method, address in (("GET", "overview"), ("GET", "invitations"), ("POST", "owners/ola/block")):
        answer = await web.request(method, f"{V1}/organiser/{address}", headers=ann, json={"reason": "x"})
        assert answer.status_code == 403, address
    overview = (await web.get(f"{V1}/organiser/overview", headers=ola)).json()
    assert [version["bot"] for version in overview["queue"]] == ["annbot"]
    assert {person["owner"] for person in overview["people"]} == {"ann", "ola"}
    await web.post(f"{V1}/organiser/owners/ann/block", headers=ola, json={"reason": "spam"})
    refused = await hand_in(web, ann, OTHER)
    assert (refused.status_code, "spam" in refused.json()["error"]) == (403, True)
    await web.post(f"{V1}/organiser/owners/ann/block", headers=ola, json={"reason": ""})
    assert (await hand_in(web, ann, OTHER)).status_code == 201


class Held(Intake):
    """Another program holds the database."""

    def account(self, secret: str) -> Any:
        raise HandInRefused(Refusal.UNAVAILABLE, "ladder.db is held by another program", "try again", 5)


async def test_a_database_that_cannot_be_read_now_is_said_to_be_tried_again(runs: Path, tmp_path: Path) -> None:
    intake = Held(tmp_path / "held")
    transport = httpx.ASGITransport(app=make_app(runs, hand_ins=intake))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        answer = await web.get(f"{V1}/me", headers={"Authorization": "Bearer x"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert answer.json()["error"] == "ladder.db is held by another program."
    intake.store.close()


async def test_without_a_ladder_its_addresses_are_not_there(runs: Path) -> None:
    transport = httpx.ASGITransport(app=make_app(runs))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        assert set((await web.get(f"{V1}/me")).json()) == {"error", "next_step"}
        assert (await web.get(f"{V1}/me")).status_code == 404
        assert "/join" not in (await web.get(f"{V1}/openapi.json")).text


async def test_each_operation_of_a_ladder_is_described(web: httpx.AsyncClient) -> None:
    described = (await web.get(f"{V1}/openapi.json")).json()
    names = []
    for path, methods in described["paths"].items():
        for operation in methods.values():
            names.append(operation["operationId"])
            assert operation["description"].rstrip().endswith("."), path
            assert operation["tags"], path
            for parameter in operation.get("parameters", ()):
                assert parameter["description"].endswith("."), (path, parameter["name"])
    assert len(set(names)) == len(names)
    text = (await web.get("/api")).text
    assert "/api/v1/bots/{name}/versions" in text


async def test_a_bot_that_runs_at_its_authors_gets_a_token_that_is_good_for_playing_alone(
    web: httpx.AsyncClient, owner: Owner
) -> None:
    ann = owner("ann", "submit")
    made = await web.post(f"{V1}/bots/afar/connection", headers=ann)
    assert made.status_code == 201
    assert made.json()["address"] == "games.example:7000"
    own = {"Authorization": f"Bearer {made.json()['token']}"}
    for path in ("/me", "/me/bots", "/me/tokens"):
        assert (await web.get(f"{V1}{path}", headers=own)).status_code == 403
    assert (await web.post(f"{V1}/bots/afar/connection", headers=own)).status_code == 403
    assert (await web.post(f"{V1}/bots/afar/connection")).status_code == 401
    shown = (await web.get(f"{V1}/bots/afar", headers=own)).json()
    assert (shown["remote"], shown["connected"], shown["newest"]) == (True, False, None)
    page = await web.get("/bots/afar")
    assert page.status_code == 200
    assert "is not connected now" in page.text
