"""A person plays in a real browser, against a real bot, in every game."""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.record import Answer, read_record
from referee.record.verify import verify

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")

CHOOSE = """(luck) => {
  const again = document.querySelector('#selected:enabled');
  if (again?.checkVisibility() && (luck < 0.3 || !document.querySelector('#can button'))) {
    again.click();
    return 'dice';
  }
  const spots = [...document.querySelectorAll('#board [data-action]')];
  if (spots.length > 0 && luck < 0.5) {
    spots[Math.floor(luck * 2 * spots.length)].dispatchEvent(new MouseEvent('click', { bubbles: true }));
    const left = document.querySelectorAll('#can button');
    if (left.length > 0) left[0].click();
    return 'board';
  }
  const listed = document.querySelectorAll('#can button');
  listed[Math.floor(luck * listed.length)].click();
  return 'list';
}"""


def choose(page: Any, bot: str = "random") -> None:
    page.locator(f".rival:has(strong:text-matches('(^|: ){bot}$')) input").check()


def open_details(page: Any) -> None:
    page.get_by_text("Seats and names").click()


def play(page: Any, luck: Random) -> list[str]:
    """By what each choice was made, until the match is over."""
    made = []
    while True:
        page.wait_for_selector("#can button:visible, #selected:enabled:visible, #status a:visible")
        if page.locator("#status a").count():
            return made
        made.append(page.evaluate(CHOOSE, luck.random()))
        assert len(made) < 1000


@pytest.mark.parametrize("game", GAMES)
def test_a_person_plays_a_whole_match_against_random(show_play: Callable[..., Any], runs: Path, game: str) -> None:
    page = show_play(f"/play?game={game}").page
    choose(page)
    open_details(page)
    page.fill("[name=name]", "Eve <b>")
    page.click("button.main")
    made = play(page, Random(7))
    assert {"board", "list"} <= set(made)
    (path,) = (runs / "single" / "matches").iterdir()
    record = read_record(path)
    assert record.footer is not None
    assert (record.footer.status, record.footer.reason) == ("rated", "normal")
    assert [seat.name for seat in record.header.seats] == ["Eve <b>", "random"]
    assert record.footer.seat_stats[0].decisions == len(made)
    assert verify(path).status == "ok"
    page.click("#status a")
    page.wait_for_selector("#replay[data-ready]")
    assert "Eve <b>" in page.locator("h1").text_content()


def test_dice_to_keep_are_chosen_one_by_one_and_one_button_rolls_the_others(
    show_play: Callable[..., Any], runs: Path
) -> None:
    page = show_play("/play?game=king_of_new_york").page
    choose(page)
    page.click("button.main")
    page.wait_for_selector("#can button")
    while not page.locator("#selection").is_visible():
        page.locator("#can button").first.click()
        page.wait_for_selector("#can button")
    things, again = page.locator(".thing"), page.locator("#selected")
    assert things.count() == 6
    assert page.locator("#can button").count() < 4
    said = again.text_content()
    things.nth(0).focus()
    page.keyboard.press("Space")
    assert things.nth(0).get_attribute("aria-pressed") == "true"
    assert again.text_content() != said
    page.locator("#board [data-place^='die:'][data-action]").last.dispatch_event("click")
    assert page.locator(".thing[aria-pressed=true]").count() == 2
    again.press("Enter")
    page.wait_for_selector("#events li:has-text('human rerolls')")
    (path,) = (runs / "single" / "matches").iterdir()
    answers = [line for line in read_record(path).lines if isinstance(line, Answer) and line.seat == 0]
    first = next(line.action for line in answers if line.action.startswith("reroll("))
    assert sum(map(int, re.findall(r"\d+", first))) == 4


def test_a_long_list_of_actions_can_be_searched(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=shibuya").page
    choose(page)
    page.click("button.main")
    page.wait_for_selector("#can button")
    shown = page.locator("#can li:visible")
    every = shown.count()
    assert page.locator("#finding").is_visible() == (every > 12)
    if every > 12:
        words = shown.last.text_content()
        page.get_by_label("Find an action").fill(words)
        assert 0 < shown.count() < every
        page.get_by_label("Find an action").fill("")
        assert shown.count() == every


def test_places_narrow_the_choice_and_the_list_can_be_widened(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=shibuya").page
    choose(page)
    page.click("button.main")
    page.wait_for_selector("#can button")
    every = page.locator("#can button").count()
    places = page.locator("#board [data-action]")
    wide = next(place for place in places.all() if " " in place.get_attribute("data-action"))
    wide.focus()
    page.keyboard.press("Enter")
    left = page.locator("#can button").count()
    assert left == len(wide.get_attribute("data-action").split())
    page.get_by_role("button", name="Show all").click()
    assert page.locator("#can button").count() == every
    assert page.locator("#clock").text_content() == "no time limit"
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Resign: click again").click()
    page.wait_for_selector("#status a")
    assert "resigned" in page.locator("#status").text_content()


def test_playing_fits_a_phone_and_two_people_get_an_address_each(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=toy", width=360).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    open_details(page)
    page.select_option("[name=seat0]", "human")
    page.select_option("[name=seat1]", "human")
    page.click("button.main")
    links = page.locator("main li a")
    assert links.count() == 2
    links.first.click()
    page.wait_for_selector("#status:has-text('Your decision: '), #status:has-text('Waiting for human')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_choice_that_does_not_reach_the_server_can_be_made_again(show_play: Callable[..., Any]) -> None:
    shown = show_play("/play?game=toy")
    page = shown.page
    choose(page)
    page.click("button.main")
    page.wait_for_selector("#can button")
    page.route("**/answer", lambda route: route.abort())
    page.click("#can button")
    page.wait_for_selector("#status:has-text('did not reach the server')")
    page.wait_for_selector("#can button")
    page.unroute("**/answer")
    refusal = {"status": 409, "json": {"error": "That is <b>not</b> asked."}}
    page.route("**/answer", lambda route: route.fulfill(**refusal), times=1)
    page.click("#can button")
    page.wait_for_selector("#status:has-text('<b>not</b> asked. Your')")
    play(page, Random(7))
    assert all("Failed to load resource" in said for said in shown.said)
    shown.said.clear()


FOCUSED = """(place) => document.activeElement === document.querySelector(place)"""


def begin(page: Any) -> None:
    choose(page)
    page.click("button.main")
    page.wait_for_selector("#can button")


def test_a_match_is_played_by_keys_alone_from_each_choice_to_the_next(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=toy").page
    begin(page)
    page.locator("#can button").first.focus()
    made = 0
    while not page.locator("#status a").count():
        page.keyboard.press("Enter")
        page.wait_for_function(
            "(made) => document.activeElement.matches('#can button') && window.before !== document.activeElement"
            " && (window.before = document.activeElement) || document.activeElement.matches('#status a')"
        )
        made += 1
        assert made < 100
    assert made > 1
    page.keyboard.press("Enter")
    page.wait_for_selector("#replay[data-ready]")


def test_the_focus_waits_at_the_state_of_the_match_while_nothing_is_asked(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=shibuya").page
    begin(page)
    page.route("**/state", lambda route: None)
    page.locator("#can button").first.press("Enter")
    page.wait_for_selector("#status:text-is('Sent.')")
    assert page.evaluate(FOCUSED, "#status")


def test_with_the_mouse_no_choice_gets_the_focus_that_a_key_would_make(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=toy").page
    begin(page)
    page.locator("#can button").first.evaluate("button => { window.old = button; }")
    page.click("#can button")
    page.wait_for_function("() => !window.old.isConnected && document.querySelector('#can button')")
    assert page.evaluate(FOCUSED, "#status")


def test_the_focus_leaves_show_all_for_the_first_choice(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=shibuya").page
    begin(page)
    page.locator("#board [data-action*=' ']").first.press("Enter")
    page.get_by_role("button", name="Show all").press("Enter")
    assert page.evaluate(FOCUSED, "#can button")


def test_the_focus_is_not_taken_from_elsewhere(show_play: Callable[..., Any]) -> None:
    page = show_play("/play?game=toy").page
    begin(page)
    page.locator("#events").focus()
    page.locator("#can button").first.evaluate("button => { window.old = button; button.click(); }")
    page.wait_for_function("() => !window.old.isConnected && document.querySelector('#can button')")
    assert page.evaluate(FOCUSED, "#events")
