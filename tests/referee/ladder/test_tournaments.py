"""The organisers of a ladder steer tournaments of `crosstown run` on a page, with the sessions of the ladder."""

import asyncio
import re
import threading
import time
from pathlib import Path

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.ladder.config import load_ladder
from referee.ladder.tournaments import SteeredTournaments
from referee.record.store import match_id_of
from referee.run.journal import read_journal
from referee.run.lock import RunLock
from referee.run.orders import Inbox
from referee.run.run import Run
from referee.schedule.formats.registry import UnknownFormat
from referee.tournament.joining import with_added
from referee.tournament.steering import Steering
from tests.leaderboard.web.ladders import Intake

HERE = "http://localhost:8000"
PAGE = "/organiser/tournaments/cup"


@pytest.fixture(autouse=True)
def surroundings(cache, patient_anchors):
    """A cache of its own."""


@pytest.fixture
def intake(tmp_path):
    made = Intake(tmp_path / "ladder")
    made.accounts.add_owner("ola", organiser=True)
    made.accounts.add_owner("ann")
    made.tournaments = SteeredTournaments(tmp_path / "runs", (tmp_path / "ladder",))
    yield made
    made.store.close()


class Browser:
    def __init__(self, intake, owner):
        app = make_app(Path("/nowhere"), lambda folder: RunFacts(), hand_ins=intake)
        scope = "organise" if owner == "ola" else "manage"
        secret = intake.accounts.create_token(owner, "x", scope, 1, kind="session").secret
        self.web = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url=HERE, cookies={"crosstown-session-8000": secret}
        )

    async def get(self, address=PAGE):
        return await self.web.get(address)

    async def send(self, *, address=PAGE, **fields):
        token = re.search(r'name="token" value="([^"]+)"', (await self.get(address)).text)[1]
        answer = await self.web.post(address, data={"token": token, **fields}, headers={"Origin": HERE})
        return await self.get(answer.headers["location"]) if answer.is_redirect else answer


@pytest.fixture
def cup(make_tournament, play, run_folder):
    """A run of which some matches are played, and that goes on with play_on()."""
    tournament = make_tournament(3, blocks=2)

    def play_on(**keys):
        return play(with_added(tournament, read_journal(run_folder.journal)), **keys).summary

    play_on.folder = run_folder
    play(tournament)
    run_folder.lock.unlink()  # its runner, which is this process, has not ended
    return play_on


def test_every_decision_of_a_command_can_be_made_on_the_page(intake, cup, write_bot):
    write_bot("late")
    match_id = min(match_id_of(path) for path in cup.folder.matches.glob("*.gz"))

    async def steps():
        ola = Browser(intake, "ola")
        assert 'href="/organiser/tournaments/cup"' in (await ola.get("/organiser")).text
        for fields in (
            {"action": "extend", "length": "blocks", "number": "2", "reason": "time is left"},
            {"action": "withdraw", "bot": "bot2", "choice": "annul", "reason": "it asked to"},
            {"action": "reinstate", "bot": "bot2"},
            {"action": "disable", "bot": "bot1", "reason": "cheats"},
            {"action": "add", "path": "bots/late", "name": "Late", "club": "North", "reason": "came late"},
            {"action": "annul", "match": match_id, "replay": "yes", "reason": "a power cut"},
        ):
            answer = await ola.send(**fields)
            assert answer.status_code == 200, answer.text
            assert fields.get("reason", "") in answer.text
        assert "Late" in answer.text
        assert '<time datetime="' in answer.text, "when it was decided"

    asyncio.run(steps())
    run = Run(cup.folder)
    assert [(one.kind, one.by) for one in run.controls] == [
        (kind, "ola") for kind in ("extended", "withdrawn", "reinstated", "disabled", "added", "reopened")
    ]
    assert run.schedule_config.field.clubs == ("", "", "", "North")
    assert cup().complete


def test_a_run_that_is_played_is_paused_changed_and_goes_on(intake, cup):
    """The runner of this test looks for orders as a real one does; the page waits for its answer."""
    Run(cup.folder).extend({"blocks": 100}, by="eve")
    said = []

    async def steps():
        ola = Browser(intake, "ola")
        for fields in ({"action": "pause", "reason": "lunch"}, {"action": "pause"}, {"action": "resume"}):
            answer = await ola.send(**fields)
            said.append((answer.status_code, " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())))
        said.append((0, (await ola.send(action="withdraw", bot="bot2")).text))

    browsing = threading.Thread(target=lambda: asyncio.run(steps()), daemon=True)

    def order(spec):
        if not browsing.ident:
            browsing.start()
        time.sleep(0.02)
        return 1

    with Steering(cup.folder) as steering:
        summary = cup(steering=steering, order=order)
    browsing.join(30)
    assert summary.complete
    assert summary.cancelled, "the run goes on with the withdrawal"
    (_, paused), (refused, again), (_, going_on), (_, withdrawn) = said
    assert "The run is paused." in paused
    assert (refused, "The run is paused already" in again) == (400, True)
    assert "The run is going on." in going_on
    assert "withdrawn: bot2" in withdrawn
    assert Run(cup.folder).controls[-1].by == "ola"


async def test_a_runner_that_takes_no_orders_now_is_not_waited_for_long(intake, cup, monkeypatch):
    monkeypatch.setattr("leaderboard.web.tournaments.PATIENCE_S", 0.1)
    with RunLock(cup.folder.lock), Inbox(cup.folder):  # as while it starts its bots
        answer = await Browser(intake, "ola").send(action="withdraw", bot="bot1")
        assert answer.status_code == 400
        assert "not taken the order within 0.1 s; it was taken back" in answer.text
        assert "try again in half a minute" in answer.text.lower()
    assert Run(cup.folder).controls == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action": "extend", "length": "blocks", "number": "-1"}, "is no number to extend by"),
        ({"action": "extend", "length": "rounds", "number": "1"}, "rounds"),
        ({"action": "withdraw", "bot": "nobody"}, "No bot &#39;nobody&#39; in this run"),
        ({"action": "annul", "match": "m000001-x", "reason": "x"}, "No match"),
        ({"action": "pause"}, "is not being played now"),
        ({"action": "add", "path": "../../etc"}, "is not below"),
        ({"action": "add", "path": "/etc"}, "is not below"),
        ({"action": "add", "path": " "}, "No folder of a bot is named"),
        ({"action": "add", "path": "bots/nowhere"}, "does not exist"),
        ({"action": "add", "path": "bots/circle"}, "circle"),
        ({"action": "add", "path": "ladder/content/0/bot"}, "has data of the ladder"),
        ({"action": "add", "path": "bots/shortcut"}, "has data of the ladder"),
        ({"action": "add", "path": "ladder"}, "has data of the ladder"),
    ],
)
async def test_what_cannot_be_decided_is_said_with_what_to_do_and_nothing_is_written(
    intake, cup, write_bot, tmp_path, fields, words
):
    handed_in = tmp_path / "ladder" / "content" / "0"
    handed_in.mkdir(parents=True)
    write_bot("late").rename(handed_in / "bot")
    (tmp_path / "bots" / "circle").symlink_to("circle")
    (tmp_path / "bots" / "shortcut").symlink_to(handed_in / "bot")
    before = cup.folder.journal.read_bytes()
    answer = await Browser(intake, "ola").send(**fields)
    assert answer.status_code == 400
    assert words in answer.text
    assert cup.folder.journal.read_bytes() == before


async def test_the_page_is_for_organisers_and_for_forms_of_this_server(intake, cup):
    ann, ola = Browser(intake, "ann"), Browser(intake, "ola")
    assert (await ann.get()).status_code == 403
    assert (await ann.web.post(PAGE, data={"action": "pause"}, headers={"Origin": HERE})).status_code == 403
    foreign = await ola.web.post(PAGE, data={"action": "pause"}, headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    assert (await ola.get("/organiser/tournaments/nowhere")).status_code == 404
    assert (await ola.send(action="nonsense")).status_code == 400
    intake.tournaments = None
    assert (await ola.get()).status_code == 404
    assert "Tournaments</h2>" not in (await ola.get("/organiser")).text


async def test_a_run_with_a_damaged_journal_is_listed_with_what_is_wrong(intake, cup):
    cup.folder.journal.write_bytes(b"damaged\n" + cup.folder.journal.read_bytes())
    ola = Browser(intake, "ola")
    listed = (await ola.get("/organiser")).text
    assert "cup <strong" in listed
    assert "cannot be read</strong>" in listed
    assert "the journal is damaged" in listed
    answer = await ola.get()
    assert answer.status_code == 409
    assert "the journal is damaged" in answer.text


async def test_a_run_whose_format_is_not_installed_here_has_a_page(intake, cup, monkeypatch):
    def unknown(name):
        raise UnknownFormat(f"unknown format '{name}'", "install it")

    monkeypatch.setattr("referee.schedule.config.get_format", unknown)
    monkeypatch.setattr("referee.run.decisions.get_format", unknown)
    ola = Browser(intake, "ola")
    answer = await ola.get()
    assert answer.status_code == 200
    assert "Make it longer" not in answer.text
    answer = await ola.send(action="extend", length="blocks", number="1")
    assert answer.status_code == 400
    assert "nknown format" in answer.text


async def test_a_run_with_signs_of_an_address_in_its_name_can_be_steered(intake, cup, tmp_path):
    cup.folder.path.rename(tmp_path / "runs" / "50% cup? #1")
    ola = Browser(intake, "ola")
    address = re.search(r'href="(/organiser/tournaments/[^"]+)"', (await ola.get("/organiser")).text)[1]
    page = (await ola.get(address)).text
    assert set(re.findall(r'action="(/organiser/[^"]+)"', page)) == {address}
    answer = await ola.send(address=address, action="withdraw", bot="bot1")
    assert answer.status_code == 200
    assert "withdrawn: bot1" in answer.text


def test_the_ladders_file_names_the_folder_of_the_runs(tmp_path):
    file = tmp_path / "ladder.toml"
    file.write_text('tournaments = "runs"\n')
    assert load_ladder(file).tournaments == tmp_path / "runs"
    file.write_text("")
    assert load_ladder(file).tournaments is None
