"""`/api/v1`: the description, the older addresses beside it, and when FastAPI is loaded."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from leaderboard.web.app import make_app
from referee.record.store import RecordStore

V1 = "/api/v1"
READABLE = [
    "/runs",
    "/runs/cup",
    "/runs/cup/standings",
    "/runs/cup/bots/00ff00ff",
    "/runs/cup/bots/00ff00ff?from=1&count=1",
    "/runs/cup/matches",
    "/runs/cup/matches?from=1&count=5",
    "/runs/cup/matches/m1",
    "/runs/cup/matches/m2",
    "/runs/cup/matches/m1/frames",
    "/runs/cup/matches/m1/frames?seat=0&from=2&to=3&boards=no",
    "/runs/cup/matches/m2/frames?seat=all",
]


@pytest.fixture
def played(start: Callable[..., Any]) -> None:
    start("m1", note="I see").play().close()
    start("m2", place=1).crash(1, stdout="last words")
    start("m3", place=2).step()


def whole(schema: Any, described: dict[str, Any]) -> Any:
    """The schema with its references in place, and closed: other fields are not allowed."""
    if isinstance(schema, list):
        return [whole(one, described) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return whole(described["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], described)
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return closed | {name: whole(value, described) for name, value in schema.items()}


@pytest.mark.parametrize("address", READABLE)
async def test_every_answer_is_as_described_and_the_same_as_at_the_older_address(
    web: httpx.AsyncClient, played: None, address: str
) -> None:
    answer = await web.get(V1 + address)
    assert answer.status_code == 200, answer.text
    assert answer.json() == (await web.get(f"/api{address}")).json()
    described = (await web.get(f"{V1}/openapi.json")).json()
    path = address.partition("?")[0]
    for name, value in {"cup": "{run}", "00ff00ff": "{entry}", "m1": "{match}", "m2": "{match}"}.items():
        path = path.replace(name, value)
    content = described["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    Draft202012Validator(whole(content["schema"], described)).validate(answer.json())


async def test_each_operation_has_a_name_a_sentence_and_a_meaning_for_each_value(web: httpx.AsyncClient) -> None:
    described = (await web.get(f"{V1}/openapi.json")).json()
    names = []
    for path, methods in described["paths"].items():
        for operation in methods.values():
            names.append(operation["operationId"])
            assert operation["description"].endswith("."), path
            assert operation["tags"], path
            for parameter in operation.get("parameters", ()):
                assert parameter["description"].endswith("."), (path, parameter["name"])
    assert len(set(names)) == len(names)
    assert all("_" in name and "__" not in name for name in names)


async def test_the_description_is_found_at_the_older_address(web: httpx.AsyncClient) -> None:
    answer = await web.get("/api/openapi.json", follow_redirects=True)
    assert answer.json()["servers"] == [{"url": V1}]


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/runs/none", 404, "There is no such run."),
        ("/runs/cup/matches/none", 404, "There is no such match in this run."),
        ("/runs/cup/matches/m1/frames?seat=9", 403, "This view is not offered"),
        ("/runs/cup/matches?from=x", 422, "from: input should be a valid integer"),
        ("/runs/cup/matches?from=-1", 422, "from: input should be greater than or equal to 0"),
        ("/runs/cup/matches/m1/frames?to=" + "9" * 5000, 422, "to: "),
        ("/runs/cup/matches/m1/frames?boards=maybe", 422, "boards: input should be 'yes' or 'no'; got 'maybe'."),
        ("/nothing", 404, "There is nothing at this address."),
    ],
)
async def test_a_refused_request_says_why_in_a_sentence_as_json(
    web: httpx.AsyncClient, played: None, address: str, status: int, said: str
) -> None:
    answer = await web.get(V1 + address)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(said)
    assert set(answer.json()) == {"error", "next_step"}
    assert len(answer.text) < 500


async def test_a_method_that_an_address_does_not_have_is_refused_as_json(web: httpx.AsyncClient) -> None:
    answer = await web.post(f"{V1}/runs")
    assert answer.status_code == 405
    assert set(answer.json()) == {"error", "next_step"}


async def test_streams_and_the_record_are_there(web: httpx.AsyncClient, played: None) -> None:
    answer = await web.get(f"{V1}/runs/cup/matches/m1/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert '"over": true' in answer.text
    assert (await web.get(f"{V1}/runs/cup/matches/m1/record")).headers["content-type"] == "application/gzip"
    assert (await web.get(f"{V1}/runs/cup/matches/m3/record")).status_code == 403


async def test_the_pages_and_the_api_say_the_same_of_a_packed_match(
    web: httpx.AsyncClient, played: None, runs: Path
) -> None:
    parts = (
        "/runs/cup/matches/m1",
        "/runs/cup",
        *(f"{V1}/runs/cup/matches/m1{part}" for part in ("", "/frames", "/record")),
    )
    before = [(await web.get(part)).content for part in parts]
    packing = RecordStore.of_run(runs / "cup").pack(["m1"], lambda _name, _data: True)
    assert packing.records == 1
    assert [(await web.get(part)).content for part in parts] == before
    answer = await web.get(f"{V1}/runs/cup/matches/m1/record")
    assert answer.headers["content-type"] == "application/gzip"
    assert answer.headers["content-disposition"] == 'attachment; filename="m1.jsonl.gz"'


@pytest.mark.parametrize("place", [20, -700], ids=["record", "index"])
async def test_a_damaged_archive_is_named_without_its_folder(
    web: httpx.AsyncClient, played: None, runs: Path, place: int
) -> None:
    RecordStore.of_run(runs / "cup").pack(["m1"], lambda _name, _data: True)
    (archive,) = (runs / "cup" / "matches" / "packed").iterdir()
    data = bytearray(archive.read_bytes())
    data[place] ^= 1
    archive.write_bytes(data)
    for part in (f"{V1}/runs/cup/matches/m1", f"{V1}/runs/cup/matches/m1/events", "/runs/cup/matches/m1"):
        answer = await web.get(part)
        assert answer.status_code == 422, part
        assert archive.name in answer.text
        assert str(runs) not in answer.text


@pytest.mark.parametrize(
    "address",
    ["/runs/cup", "/runs/cup/matches", "/runs/cup/embed", "/runs/cup/standings.csv", "/runs/cup/bots/00ff00ff"]
    + [f"{api}{part}" for api in ("/api", V1) for part in ("/runs/cup", "/runs/cup/standings", "/runs/cup/matches")],
)
async def test_an_archive_that_nobody_can_open_is_named_on_each_page_of_its_run(
    web: httpx.AsyncClient, played: None, runs: Path, address: str
) -> None:
    """They answered with an internal error."""
    archive = runs / "cup" / "matches" / "packed" / "2026-01-01.1.pack.gz"
    archive.parent.mkdir()
    archive.write_bytes(b"cut off")
    answer = await web.get(address)
    assert answer.status_code == 422
    assert archive.name in answer.text
    assert str(runs) not in answer.text


async def test_while_a_block_is_open_its_matches_are_hidden_here_too(runs: Path, start: Callable[..., Any]) -> None:
    start("m1", note="secret").step()
    transport = httpx.ASGITransport(app=make_app(runs, hide_live=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        assert (await web.get(f"{V1}/runs/cup")).json()["live"] == []
        for part in ("", "/frames", "/record", "/events"):
            answer = await web.get(f"{V1}/runs/cup/matches/m1{part}")
            assert answer.status_code == 403, part
            assert "secret" not in answer.text


async def test_the_answers_have_the_headers_of_the_pages(web: httpx.AsyncClient) -> None:
    for address in ("/api", f"{V1}/runs", f"{V1}/openapi.json", f"{V1}/none"):
        headers = (await web.get(address)).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"


async def test_the_list_of_operations_needs_no_other_server(web: httpx.AsyncClient) -> None:
    described = (await web.get(f"{V1}/openapi.json")).json()
    text = (await web.get("/api")).text
    for path in described["paths"]:
        assert f"{V1}{path}" in text
    assert "//" not in text.replace("<!doctype", "").replace("/api/v1//", "").replace("http://localhost", "")
    for other in ("/docs", "/redoc"):
        assert (await web.get(V1 + other)).status_code == 404


def loaded_after(words: str) -> str:
    script = f"{words}\nimport sys\nprint('fastapi' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_neither_the_help_nor_the_pages_load_fastapi(tmp_path: Path) -> None:
    assert loaded_after("import leaderboard.web.v1.app") == "True True"
    assert loaded_after("from contextlib import suppress\nfrom referee.cli.app import make_app\n"
                        "with suppress(SystemExit):\n    make_app()(['--help'])") == "False False"  # fmt: skip
    pages = f"""
import asyncio, httpx
from pathlib import Path
from leaderboard.web.app import make_app
async def ask():
    app = make_app(Path({str(tmp_path)!r}))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        for address in ("/", "/runs/none", "/api/runs", "/static/base.css"):
            await web.get(address)
asyncio.run(ask())
"""
    assert loaded_after(pages) == "False False"


def test_an_operation_can_be_tried_in_the_browser(show: Callable[..., Any], played: None) -> None:
    page = show("/api").page
    page.get_by_text("GET /api/v1/runs/{run}/standings").click()
    form = page.locator('form[data-path$="/standings"]')
    form.locator("input").fill("cup")
    form.locator("button").click()
    form.locator("pre").wait_for()
    assert '"name": "ann"' in form.locator("pre").text_content()
    assert form.locator("output a").get_attribute("href") == "/api/v1/runs/cup/standings"
