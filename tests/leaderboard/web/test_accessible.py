"""Every page by ear, by keys, in light and dark, and on a phone, in a real browser; none complains to its console.

What hinders readers is found by the rules of axe-core, and by our own in accessible.js where they ask for more.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leaderboard.schedule_view import FormatTable, ScheduleView
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.run.run import Run
from tests.leaderboard.web.axe import violations

FINDINGS = (Path(__file__).parent / "accessible.js").read_text()
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
LONG = "W" * 40
PHONE = 360

MARK = """() => {
  const able = 'a[href], button, input:not([type=hidden]), select, summary, [tabindex="0"]';
  const chosen = (item) => item.type !== 'radio' || item.checked;  // Tab visits a group of these once
  const shown = (item) => item.checkVisibility() && !item.disabled;
  const order = () => [...document.querySelectorAll(able)].filter((item) => shown(item) && chosen(item));
  const visited = window.visited = [];
  document.activeElement.blur();
  document.addEventListener('focusin', (event) => {
    const place = order().indexOf(event.target);
    if (place !== visited.at(-1)) visited.push(place);  // a page that renews itself gives the focus back
  });
  order()[0].focus();
  return order().length;
}"""


def findings(page: Any) -> list[str]:
    page.wait_for_load_state()  # with all style sheets, also after a click that led to a new page
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        breaches = [*page.evaluate(FINDINGS), *violations(page, colours_alone=scheme == "dark")]
        found += [f"{scheme}: {finding}" for finding in breaches]
    return found


def too_wide(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth") > PHONE)


def order_of_tab(page: Any) -> tuple[list[int], list[int]]:
    """In what order Tab visits what can have the focus, by its place on the page; and the order of the page.

    Chromium also stops at boxes that can be scrolled; those are left out.
    """
    number = page.evaluate(MARK)
    for _ in range(number + 5):
        page.keyboard.press("Tab")
    visited = [place for place in page.evaluate("window.visited") if place >= 0]
    return visited[:number], list(range(number))


def set_up(page: Any, other: str = "random", name: str = LONG) -> None:
    page.get_by_text("Seats and names").click()
    if other == "a person":
        page.select_option("[name=seat0]", label=other)
        page.select_option("[name=seat1]", label=other)
    else:
        page.locator(f".rival:has(strong:text-matches('(^|: ){other}$')) input").check()
    page.fill("[name=name]", name)
    page.click("button.main")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, begin: Callable[..., Any], serve: Any) -> Iterator[str]:
    """A server with matches that are over, one that ended by a fault, and two that go on."""
    runs = tmp_path_factory.mktemp("results")
    folder = runs / "cup" / "matches"
    folder.mkdir(parents=True)
    begin(folder, "m1", game="shibuya").play().close()
    begin(folder, "m2", place=1).crash(1, stdout="last words")
    begin(folder, "m3", place=2, game="shibuya").step()
    begin(folder, "m4", place=3, sandboxes=("strict", "remote")).step()
    view = ScheduleView((), FormatTable("knockout"), {"m1": 1, "m2": 2})
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(make_app(runs, lambda path: RunFacts("cup", run=Run(path)))) as at,
    ):
        patch.setattr("leaderboard.web.facts.view_schedule", lambda run, rows, look_ahead: view)
        yield at


def check(page: Any) -> None:
    assert findings(page) == []
    visited, order = order_of_tab(page)
    assert visited == order


@pytest.mark.parametrize(
    ("address", "ready"),
    [
        ("/", "main"),
        ("/runs", "thead button"),
        ("/games", "main"),
        *((f"/games/{game}", "main") for game in GAMES),
        ("/runs/cup", "thead button"),
        ("/runs/cup/matches", "thead button"),
        ("/runs/cup/cross", "main"),
        ("/runs/cup/plots", "thead button"),
        ("/runs/cup/schedule", "main"),
        ("/runs/cup/settings", "main"),
        ("/runs/cup/bots/01ff00ff", "thead button"),
        ("/runs/cup/matches/m1?step=last", "#replay[data-drawn]"),
        ("/runs/cup/matches/m2?step=last", "#replay[data-drawn]"),
        ("/runs/cup/matches/m3?step=last", "#replay[data-drawn]"),
        ("/api", "main"),
    ],
)
def test_a_page_of_results_has_landmarks_labels_names_and_an_order(
    results: str, show_at: Callable[..., Any], address: str, ready: str
) -> None:
    check(show_at(results, address, ready=ready).page)


@pytest.mark.parametrize(
    ("address", "status", "heading"),
    [(f"/runs/{LONG * 3}", 404, "Not found"), ("/runs/cup/matches/m4", 403, "Not yet")],
)
def test_a_page_that_is_not_shown_has_them_too_and_fits_a_phone(
    results: str, show_at: Callable[..., Any], address: str, status: int, heading: str
) -> None:
    shown = show_at(results, address, width=PHONE)
    assert shown.page.locator("h1").text_content() == heading
    check(shown.page)
    assert not too_wide(shown.page)
    assert all(str(status) in said for said in shown.said)
    shown.said.clear()


@pytest.mark.parametrize("game", ["", *GAMES])
def test_the_set_up_has_them_and_fits_a_phone(show_play: Callable[..., Any], game: str) -> None:
    page = show_play(f"/play?game={game}", width=PHONE).page
    for rules in page.locator("details").all():
        rules.locator("summary").click()
    check(page)
    assert not too_wide(page)


def test_a_set_up_that_was_refused_has_them_and_fits_a_phone(show_play: Callable[..., Any]) -> None:
    shown = show_play("/play?game=shibuya", width=PHONE)
    shown.page.get_by_text("Seats and names").click()
    shown.page.select_option("[name=seat0]", label="random 1")
    shown.page.click("button.main")
    assert shown.page.get_by_role("alert").count() == 1
    check(shown.page)
    assert not too_wide(shown.page)
    assert all("400" in said for said in shown.said)
    shown.said.clear()


def test_the_addresses_of_two_people_have_them_and_fit_a_phone(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=shibuya", width=PHONE).page
    set_up(page, other="a person")
    page.wait_for_selector("main li a")
    assert page.locator("main li a").count() == 2
    check(page)
    assert not too_wide(page)
    page.get_by_role("link", name="Play", exact=True).click()
    page.wait_for_selector("h2:text-is('Your matches that go on')")
    check(page)
    assert not too_wide(page)


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_that_is_asked_has_them_and_fits_a_phone(show_play: Callable[..., Any], game: str) -> None:
    page = show_play(f"/play?game={game}", width=PHONE).page
    set_up(page)
    page.wait_for_selector("#can button")
    check(page)
    assert not too_wide(page)
    page.set_viewport_size({"width": 1100, "height": 900})
    assert findings(page) == []


def test_a_seat_has_them_after_a_place_was_pointed_at_and_at_the_end(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=shibuya", width=PHONE).page
    set_up(page)
    page.wait_for_selector("#can button")
    places = page.locator("#board [data-action]").all()
    next(place for place in places if " " in place.get_attribute("data-action")).press("Enter")
    page.get_by_role("button", name="Show all").wait_for()
    check(page)
    assert not too_wide(page)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name=re.compile("click again")).click()
    page.wait_for_selector("#status a")
    check(page)
    assert not too_wide(page)


SOUND = """<!doctype html><html lang="en"><title>t</title><a class="skip" href="#main">skip</a>
<header><nav aria-label="Pages">nav</nav></header><main id="main"><h1>one</h1>%s</main><footer>end</footer></html>"""


@pytest.fixture(scope="module")
def sound_page(profile: Any) -> Iterator[Any]:
    """A page for all tests that only put another text on it and look for findings."""
    page = profile.new_page()
    yield page
    page.close()


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ("<div><main>two</main></div>", "2 of main"),
        ("<h1>two</h1>", "2 of h1"),
        ("<h3>three</h3>", "a heading that leaves a level out"),
        ("<p id=a></p><p id=a></p>", "an id twice: a"),
        ("<label for=gone>x</label>", "for leads nowhere"),
        ("<label>x</label>", "a label of nothing"),
        ("<input>", "a field without one label"),
        ("<label><select><option>x</select></label>", "a field without one label"),
        ("<button></button>", "no name"),
        ("<ol tabindex=0><li>x</ol>", "no name"),
        ("<button tabindex=2>x</button>", "an own place in the order of Tab"),
        ("<p role=button>x</p>", "Tab does not reach it"),
        ("<p style='display: flex; flex-direction: column-reverse'><button>x</button><button style='margin: 0 2em 0 0'>"
         "y</button></p><style>p button:first-child { align-self: end }</style>", "seen before what comes before it"),
        ("<p style='color: #999'>x</p>", "contrast below 4.5"),
        ("<nav aria-label=Pages>x</nav>", "two of one name among the navigations"),
        ("<ul><p>x</p></ul>", "axe list"),
        ("<svg role=img width=9 height=9></svg>", "axe svg-img-alt"),
        ("<p style='color: #888; background: #999'>dim words</p>", "axe color-contrast"),
    ],
)  # fmt: skip
def test_the_check_finds_what_is_wrong_with_a_page(sound_page: Any, broken: str, problem: str) -> None:
    sound_page.set_content(SOUND % broken)
    assert any(finding.startswith(f"light: {problem}") for finding in findings(sound_page))


def test_the_check_finds_nothing_wrong_with_a_sound_page(sound_page: Any) -> None:
    sound_page.set_content(SOUND % "")
    assert findings(sound_page) == []


@pytest.mark.parametrize("place", ["2", "-1"])
def test_the_check_finds_a_button_out_of_order(blank: Any, place: str) -> None:
    blank.set_content(SOUND % "<button>x</button><button>y</button>")
    assert order_of_tab(blank) == ([0, 1, 2], [0, 1, 2])
    blank.set_content(SOUND % f"<button tabindex={place}>x</button><button>y</button>")
    visited, order = order_of_tab(blank)
    assert visited != order


def test_the_rules_of_axe_are_kept_in_the_dark_too(blank: Any) -> None:
    blank.set_content(SOUND % "<style>@media (prefers-color-scheme: dark) { h1 { color: #ddd } }</style>")
    found = findings(blank)
    assert any(finding.startswith("dark: axe color-contrast") for finding in found)
    assert not any(finding.startswith("light") for finding in found)
