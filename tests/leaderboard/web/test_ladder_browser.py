"""A ladder in a real browser: from the organiser's link to a handed-in bot and its line of steps."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from leaderboard.web.hand_ins import Alarm, Entry
from tests.leaderboard.web.axe import violations
from tests.leaderboard.web.ladders import Intake
from tests.leaderboard.web.test_accessible import FINDINGS, order_of_tab

ANN, HOUSE = "00ff00ff", "01ff00ff"

ID_LIKE = """() => {
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (words.nextNode()) {
    const inside = words.currentNode.parentElement;
    if (inside.closest('code, pre, script, option') || !inside.checkVisibility()) continue;
    found.push(...(words.currentNode.textContent.match(/\\b[a-z]+_[a-z_]+\\b/g) ?? []));
  }
  return found;
}"""


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    made = Intake(tmp_path / "ladder")
    made.entries_of["cup"] = {
        ANN: Entry(ANN, "walker", "ann", 1),
        HOUSE: Entry(HOUSE, "random", "", 1, house=True),
    }
    yield made
    made.store.close()


@pytest.fixture
def ladder(runs: Path, intake: Intake, serve: Any) -> Iterator[str]:
    with serve(make_app(runs, lambda folder: RunFacts(), hand_ins=intake)) as address:
        yield address


def test_from_the_organisers_link_to_a_bot_that_plays(
    ladder: str, intake: Intake, chromium: Any, start: Callable[..., Any], tmp_path: Path
) -> None:
    archive = tmp_path / "walker.zip"
    archive.write_bytes(b"PK\x03\x04" + bytes(200_000))
    said: list[str] = []
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto(f"{ladder}/join?code={intake.accounts.organiser_link()}")
    page.get_by_label("Your name").fill("ola")
    page.get_by_role("button", name="Join").click()
    page.wait_for_url("**/organiser")
    page.get_by_label("For").fill("class")
    page.get_by_role("button", name="Make an invitation").click()
    link = page.locator("code.secret").text_content()

    page.goto("about:blank")  # the organiser's page would ask again, without its session
    page.context.clear_cookies()
    page.goto(link)
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Join").click()
    page.wait_for_url("**/my")

    page.get_by_label("Archive").set_input_files(archive)
    assert page.get_by_label("Bot", exact=True).input_value() == "walker"
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("walker: version 1 was received.").wait_for()
    page.locator("#live .status.received").wait_for()
    assert [step.text_content() for step in page.locator("#live .step .name").all()] == [
        "received", "checked", "built", "qualified", "active",
    ]  # fmt: skip
    intake.logs["walker", 1] = b"compiled\n"
    intake.qualify("walker", 1)
    page.locator("#live .status.active").wait_for()
    start("m1", names=("walker", "random")).play().close(ranking=(1, 2))
    page.locator("#live .result.won").wait_for()
    page.locator("#live .result.won").click()
    page.wait_for_selector("#replay[data-ready]")

    page.goto(f"{ladder}/bots/walker/versions/1/log")
    page.get_by_text("The log is complete.").wait_for()
    assert "compiled" in page.locator("#log").text_content()
    page.goto(f"{ladder}/ladder/cup")
    row = page.locator("table.ladder tbody tr").first.text_content()
    assert "walker" in row
    assert "ann" in row
    page.close()
    assert said == []


def test_a_refused_hand_in_says_why_and_can_be_tried_again(
    ladder: str, intake: Intake, chromium: Any, tmp_path: Path
) -> None:
    intake.accounts.add_owner("ann")
    page = chromium.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{ladder}/sign-in")
    page.get_by_label("Token").fill(intake.accounts.create_token("ann", "", "manage", None).secret)
    page.get_by_role("button", name="Sign in with the token").click()
    page.wait_for_url("**/my")
    wrong = tmp_path / "mine.zip"
    wrong.write_bytes(b"no archive")
    page.get_by_label("Archive").set_input_files(wrong)
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("This is neither a zip nor a tar.gz.").wait_for()
    big = tmp_path / "big.zip"
    big.write_bytes(bytes(intake.limits.upload_bytes + 1))
    page.get_by_label("Archive").set_input_files(big)
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("Leave out what the bot does not need").wait_for()
    wrong.write_bytes(b"PK\x03\x04" + bytes(100))
    page.get_by_label("Archive").set_input_files(wrong)
    page.get_by_role("button", name="Hand in").click()
    page.locator("#live .status.received").wait_for()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_of_a_ladder_are_accessible_and_fit_their_window(
    ladder: str, intake: Intake, chromium: Any, start: Callable[..., Any], width: int, scheme: str
) -> None:
    intake.accounts.add_owner("ola", organiser=True)
    secret = intake.accounts.create_token("ola", "", "organise", None).secret
    intake.accounts.add_owner("ann")
    for number in (1, 2):
        intake.store.hand_in("ola", "walker", f"content {number}")
        intake.qualify("walker", number)
    intake.store.hand_in("ola", "broken", "content 3")
    intake.reject("broken", 1, "bot.toml has no 'run'", "add the line")
    intake.alarms.append(Alarm("No match for 12 minutes", "look at the runner", "2026-01-01T00:00:00Z"))
    intake.logs["walker", 2] = b"compiled\n" * 50
    start("m1", names=("walker", "random")).play().close(ranking=(1, 2))
    match = start("m2", names=("walker", "random"), place=1)
    while min(match.counts) < 1:
        match.step()
    match.crash(0, stderr="Traceback: here")
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    addresses = ["/ladder", "/ladder/cup", "/bots/walker", "/join", "/sign-in", "/api"]
    mine = ["/my", "/my/account", "/organiser", "/bots/walker/versions/2/log"]
    for address in (*addresses, *mine):
        if address == mine[0]:
            page.goto(f"{ladder}/sign-in")
            page.get_by_label("Token").fill(secret)
            page.get_by_role("button", name="Sign in with the token").click()
            page.wait_for_url("**/organiser")
        page.goto(ladder + address)
        assert page.evaluate(FINDINGS) == [], address
        assert violations(page, colours_alone=scheme == "dark") == [], address
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
        assert page.evaluate(ID_LIKE) == [], address
        visited, order = order_of_tab(page)
        assert visited == order, address
    page.close()
