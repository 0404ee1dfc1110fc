"""Every page can be read and used: no texts on each other, no ids where words belong, and walks from the front page to
a match by keys alone and by touch."""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.app import make_app
from referee.cli.play_host import Host

BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"
READABLE = (Path(__file__).parent / "readable.js").read_text()
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
PAGES = (
    "/",
    "/games",
    *(f"/games/{game}" for game in GAMES),
    "/runs",
    "/runs/cup",
    "/runs/cup/matches",
    "/runs/cup/cross",
    "/runs/cup/plots",
    "/runs/cup/schedule",
    "/runs/cup/settings",
    "/runs/cup/bots/01ff00ff",
)
WIDTHS = (1280, 390)
BOARD = "svg.ct-board"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., Any], serve: Any) -> Iterator[str]:
    """A server with matches that are over, one that ended by a fault, and one that goes on."""
    runs = tmp_path_factory.mktemp("results")
    folder = runs / "cup" / "matches"
    folder.mkdir(parents=True)
    names = ("greedy-with-a-long-name", "walker")
    begin(folder, "m1", names=names, game="shibuya").play().close(ranking=(1, 2))
    begin(folder, "m2", names=names, game="ticket_to_ride_new_york", place=1).play().close()
    match = begin(folder, "m3", names=names, game="shibuya", place=2)
    match.step()
    match.crash(1, stderr="ZeroDivisionError: division by zero")
    begin(folder, "m4", names=names, game="shibuya", place=3).step()
    begin(folder, "m5", names=names, game="shibuya", place=4, sandboxes=("strict, network", "remote")).step()
    with serve(make_app(runs)) as address:
        yield address


@pytest.fixture(scope="module")
def play_results(tmp_path_factory: pytest.TempPathFactory, serve: Any) -> Iterator[str]:
    """A server where people may play."""
    runs = tmp_path_factory.mktemp("play")
    with Host(runs, [BOTS]) as host, serve(make_app(runs, play_host=host)) as address:
        yield address


def unreadable(page: Any) -> list[str]:
    """What is wrong outside of boards, in each width, in light and dark."""
    page.evaluate(f"document.querySelectorAll('{BOARD}').forEach((board) => board.remove())")
    page.evaluate("document.querySelectorAll('details').forEach((details) => details.open = true)")
    found = []
    for width, scheme in product(WIDTHS, ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        found += [f"{width} {scheme}: {finding}" for finding in page.evaluate(READABLE)]
    return found


@pytest.mark.parametrize("address", PAGES)
def test_no_texts_lie_on_each_other_and_no_id_stands_where_a_word_belongs(
    results: str, show_at: Callable[..., Any], address: str
) -> None:
    assert unreadable(show_at(results, address).page) == []


@pytest.mark.parametrize("address", ["/", "/play", *(f"/play?game={game}" for game in GAMES)])
def test_the_same_where_people_may_play(play_results: str, show_at: Callable[..., Any], address: str) -> None:
    assert unreadable(show_at(play_results, address).page) == []


def test_the_same_where_a_page_is_refused(results: str, show_at: Callable[..., Any]) -> None:
    shown = show_at(results, "/runs/cup/matches/m5")
    assert shown.page.locator("h1").text_content() == "Not yet"
    assert unreadable(shown.page) == []
    assert all("403" in said for said in shown.said)
    shown.said.clear()


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ("<p>an illegal_action</p>", "an id: an illegal_action"),
        ("<p>route R07</p>", "an id: route R07"),
        ("<p style='margin:0'>one line</p><p style='margin:-1em 0 0'>other line</p>", "on each other"),
        ("<svg width=200 height=40><text x=5 y=20>one word</text><text x=20 y=20>other</text></svg>", "on each other"),
    ],
)
def test_the_check_finds_what_cannot_be_read(blank: Any, broken: str, problem: str) -> None:
    blank.set_content("<main><p>fine words</p><code>fine_code</code></main>")
    assert blank.evaluate(READABLE) == []
    blank.set_content(f"<main>{broken}</main>")
    assert any(finding.startswith(problem) for finding in blank.evaluate(READABLE))


def press_to(page: Any, name: str) -> None:
    """Tab until the focus is on the link or button of this name, then Enter."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab does not reach {name}")


def test_with_keys_alone_one_gets_from_the_front_page_to_a_table_a_match_and_back(
    start: Callable[..., Any], show: Callable[..., Any]
) -> None:
    start("m1", game="shibuya").play().close(ranking=(1, 2))
    page = show("/").page
    press_to(page, "cup")
    page.wait_for_selector("nav.tabs")
    press_to(page, "Matches")
    page.wait_for_selector("[aria-label=Matches] tbody a")
    press_to(page, "Match 1")
    page.wait_for_selector("#replay")
    press_to(page, "Crosstown")
    page.wait_for_selector("h1:text-is('Bots play board games')")


def test_with_keys_alone_one_starts_a_match_against_the_strongest_bot(show_play: Callable[..., Any]) -> None:
    page = show_play("/").page
    press_to(page, "Play Shibuya")
    page.wait_for_selector(".rivals")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "opponent":
            break
    page.keyboard.press("ArrowDown")
    assert "Strong: search" in page.locator(".rival:has(:checked)").text_content()
    press_to(page, "Start")
    page.wait_for_selector("#status")
    page.wait_for_url("**/play/**")


def test_from_the_front_page_a_match_begins_with_two_touches(chromium: Any, play_server: str) -> None:
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 844}, is_mobile=True)
    try:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(play_server)
        page.get_by_role("link", name="Play Shibuya").tap()
        page.get_by_role("button", name="Start").tap()
        page.wait_for_selector("#can button")
        page.goto(play_server)
        page.get_by_role("link", name="Tournaments").tap()
        page.wait_for_selector("h1:text-is('Tournaments')")
        for target in page.locator("header a").all():
            box = target.bounding_box()
            assert box["height"] >= 24, "a link in the header is large enough for a finger"
    finally:
        context.close()


def test_by_touches_one_gets_from_the_front_page_to_a_table_a_match_and_its_last_step(
    chromium: Any, results: str
) -> None:
    context = chromium.new_context(has_touch=True, viewport={"width": 390, "height": 844}, is_mobile=True)
    try:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(results)
        page.get_by_role("link", name="cup", exact=True).first.tap()
        page.wait_for_selector("nav.tabs")
        page.get_by_role("link", name="Matches", exact=True).tap()
        page.wait_for_selector("[aria-label=Matches] tbody a")
        page.get_by_role("link", name="Match 1", exact=True).tap()
        page.wait_for_selector("#replay[data-drawn]")
        last = page.locator("#at").get_attribute("max")
        page.get_by_role("link", name="Last step").tap()
        page.wait_for_selector(f"#where:text-is('step {last} of {last}')")
        page.locator(".move").first.tap()
        page.wait_for_selector(f"#where:not(:text-is('step {last} of {last}'))")
        page.get_by_role("link", name="Crosstown").tap()
        page.wait_for_selector("h1:text-is('Bots play board games')")
    finally:
        context.close()


def test_a_long_table_can_be_filtered(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    for place in range(12):
        start(f"m{place}", place=place).play().close(ranking=(1, 2))
    page = show("/runs/cup/matches", ready=".filter").page
    page.get_by_label("Filter").fill("match 12")
    assert page.locator("[aria-label=Matches] tbody tr:visible").count() == 1
    page.get_by_label("Filter").fill("")
    assert page.locator("[aria-label=Matches] tbody tr:visible").count() == 12
