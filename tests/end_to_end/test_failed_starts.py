"""A bot that never starts: its author and the organiser see why, wherever they look."""

import json

import httpx
import pytest

from leaderboard.web.app import make_app

CAUSE = "RuntimeError: weights not found at /models/w.bin"
WHY = "the process ended before it said Hello: exit code 1"
ENDS = f'import sys\nprint("loading", file=sys.stderr)\nraise RuntimeError("{CAUSE.partition(": ")[2]}")\n'


@pytest.fixture
def failed(workplace, write_cup):
    """A run of two bots, of which 'bot 1' never starts, with what the command printed."""
    write_cup(bots=2, blocks=1)
    (workplace.folder / "bots" / "bot1" / "random_bot.py").write_text(ENDS)
    for script in (workplace.folder / "bots" / "bot1").glob("*.py"):
        script.write_text(ENDS)
    return workplace, workplace.run("run", "cup.toml")


async def test_what_kept_a_bot_from_starting_is_in_every_place_that_shows_the_bot(failed):
    workplace, outcome = failed
    runs = workplace.folder / "runs"
    told = [line for line in outcome.stderr.splitlines() if line.startswith("'bot 1' did not start")]
    assert len(told) == 1
    assert WHY in told[0]
    assert f"    {CAUSE}" in outcome.stderr.splitlines()

    listed = workplace.run("matches", "list")
    assert (listed.code, "no match counts yet" in listed.stdout) == (0, True)
    bots = workplace.run("bots", "list")
    assert workplace.run("report").code == 0
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=make_app(runs)), base_url="http://localhost"
    ) as client:
        table = (await client.get("/api/runs/cup/standings")).json()["standings"]
        entry = next(row["entry_id"] for row in table if row["name"] == "bot 1")
        bot_page = (await client.get(f"/runs/cup/bots/{entry}")).text
        run_page = (await client.get("/runs/cup")).text
        answer = (await client.get(f"/api/runs/cup/bots/{entry}")).json()
    places = {
        "matches list": listed.stdout,
        "standings": workplace.run("standings").stdout,
        "combined": workplace.run("standings", "cup", "--combined").stdout,
        "cross table": workplace.run("standings", "cup", "--cross").stdout,
        "bots list": bots.stdout,
        "report": (runs / "cup" / "report.html").read_text(),
        "bot page": bot_page,
        "run page": run_page,
        "interface": answer["failed_starts"]["last_output"] + answer["failed_starts"]["why"],
    }
    assert [name for name, text in places.items() if CAUSE not in text or WHY not in text] == []
    assert "<p>None.</p>" not in bot_page

    forms = ((), ("--combined",), ("--cross",))
    for words in (("run", "cup.toml", "--json"), *(("standings", "cup", "--json", *form) for form in forms)):
        as_json = json.loads(workplace.run(*words).stdout)
        assert [start["name"] for start in as_json["failed_starts"]] == ["bot 1"]
        assert as_json["failed_starts"][0]["last_output"].endswith(CAUSE)
    workplace.assert_nobody_left()


CONNECTS = """
import os, socket
path = os.environ["CROSSTOWN_ADDRESS"].removeprefix("unix:")
while True:
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(path)
    except OSError:
        pass
    line.close()
"""
PINGS = """
import os, socket, time
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["CROSSTOWN_ADDRESS"].removeprefix("unix:"))
line.sendall(b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes.fromhex("000000040000000000"))
try:
    while True:
        line.sendall((bytes.fromhex("000008060000000000") + bytes(8)) * 100)
except OSError:
    pass
"""


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (CONNECTS, "it made more than 64 connections without a Hello that is accepted"),
        (PINGS, "the process ended before it said Hello"),
    ],
    ids=["connections", "frames"],
)
def test_a_bot_that_floods_the_referee_before_hello_is_set_aside_by_the_breaker(workplace, write_cup, program, why):
    """Its matches are void, as those of any bot that does not start; but it has only so many of them."""
    write_cup(bots=2, blocks=4)
    for script in (workplace.folder / "bots" / "bot1").glob("*.py"):
        script.write_text(program)
    outcome = json.loads(workplace.run("run", "cup.toml", "--json").stdout)
    assert outcome["set_aside"] == ["bot 1"]
    assert (outcome["played"], outcome["missing"], outcome["given_up"]) == (0, 0, [])
    assert outcome["void"] <= 12, "of 24 attempts: 8 matches, three each"
    (failed,) = outcome["failed_starts"]
    assert failed["name"] == "bot 1"
    assert why in failed["why"]
    workplace.assert_nobody_left()
