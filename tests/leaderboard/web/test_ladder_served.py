"""A ladder in a real browser: from the first start's link to a handed-in bot on the table, and its match."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
RANDOM = ROOT / "bots" / "python" / "random"
LIMIT_MS = 600_000


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[], tuple[str, str]]]:
    """serve() starts a ladder with one house bot: the address of its pages, and that of the organiser's link."""
    file = tmp_path / "ladder.toml"
    file.write_text(
        'name = "trial"\ndata = "data"\nport = 0\nworkers = 1\n[[divisions]]\ngame = "shibuya"\n'
        f'[[bots]]\npath = {json.dumps(str(RANDOM))}\nname = "house"\n'
    )
    out, errors = tmp_path / "out.txt", tmp_path / "err.txt"
    env = {**os.environ, "CROSSTOWN_CACHE": str(tmp_path / "cache")}
    started: list[subprocess.Popen[bytes]] = []

    def start() -> tuple[str, str]:
        with out.open("wb") as to, errors.open("wb") as trouble:
            words = [sys.executable, "-m", "referee.cli.main", "serve", str(file)]
            started.append(subprocess.Popen(words, stdout=to, stderr=trouble, env=env, start_new_session=True))
        end_s = time.monotonic() + 120
        while not (found := re.search(r"(http://\S+/join\?code=\S+)", out.read_text())):
            assert time.monotonic() < end_s, errors.read_text()
            assert started[0].poll() is None, errors.read_text()
            time.sleep(0.1)
        return out.read_text().split("\n", 1)[0].rstrip("/"), found[1]

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def packed(folder: Path, archive: Path) -> Path:
    """The folder as a zip, as an author's tools make one."""
    with zipfile.ZipFile(archive, "w") as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                made.write(path, Path(folder.name) / path.relative_to(folder))
    return archive


def test_an_organiser_and_an_author_need_nothing_but_the_pages(
    serve: Callable[[], tuple[str, str]], chromium: Any, tmp_path: Path
) -> None:
    address, organisers_link = serve()
    said: list[str] = []
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(LIMIT_MS)
    page.on("pageerror", lambda error: said.append(str(error)))

    page.goto(organisers_link)
    page.get_by_label("Your name").fill("ola")
    page.get_by_role("button", name="Join").click()
    page.wait_for_url("**/organiser")
    page.get_by_role("button", name="Make an invitation").click()
    invitation = page.locator("code.secret").text_content()
    page.context.clear_cookies()

    page.goto(invitation)
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Join").click()
    page.wait_for_url("**/my")
    page.get_by_label("Bot", exact=True).fill("annbot")
    page.get_by_label("Archive").set_input_files(packed(RANDOM, tmp_path / "annbot.zip"))
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("annbot: version 1 was received.").wait_for()
    page.locator("#live .status.active, #live .status.rejected").wait_for()
    assert page.locator("#live .status").text_content() == "active", page.locator("#live").text_content()
    steps = page.locator("#live .step")
    assert [step.get_attribute("class") for step in steps.all()] == ["step done"] * 5
    page.locator("#live .results a.result").first.wait_for()
    page.locator("#live .results a.result").first.click()
    page.wait_for_selector("#replay[data-ready]")
    assert "annbot" in page.locator("h1").text_content()

    page.goto(f"{address}/ladder/shibuya")
    row = page.locator("table.ladder tbody tr", has_text="annbot")
    assert "ann" in row.locator("td").nth(2).text_content()
    page.goto(f"{address}/bots/annbot/versions/1/log")
    page.get_by_text("The log is complete.").wait_for()
    assert len(page.locator("#log").text_content()) > 20

    page.goto(f"{address}/my")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "bot.toml").write_text('name = "broken"\n')
    page.get_by_label("Bot", exact=True).fill("broken")
    page.get_by_label("Archive").set_input_files(packed(broken, tmp_path / "broken.zip"))
    page.get_by_role("button", name="Hand in").click()
    page.locator("#live .status.rejected").wait_for()
    assert page.locator("#live .own", has_text="broken").locator(".wrong").text_content().strip()
    page.close()
    assert said == []
