"""The pages in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest

READY = "#replay[data-drawn]"


def finished(start: Callable[..., Any], **more: Any) -> int:
    """A whole match `m1`; how many steps it has."""
    match = start("m1", **more)
    steps = 0
    while match.step():
        steps += 1
    match.close()
    return steps


def test_a_replay_steps_by_buttons_keys_and_slider_to_the_final_position(
    start: Callable[..., Any], show: Callable[..., Any]
) -> None:
    last = finished(start, game="shibuya")
    page = show("/runs/cup/matches/m1", ready=READY).page
    where = page.locator("#where")
    assert where.text_content() == f"step {last} of {last}"
    page.keyboard.press("Home")
    assert where.text_content() == f"start, before {last} steps"
    page.keyboard.press("ArrowRight")
    assert where.text_content() == f"step 1 of {last}"
    page.get_by_role("link", name="Next step").click()
    assert where.text_content() == f"step 2 of {last}"
    page.wait_for_url("**step=2*")
    page.get_by_role("slider", name="Step").fill(str(last))
    assert where.text_content() == f"step {last} of {last}"
    by_slider = page.locator("#board svg").first.get_attribute("aria-label")
    page.keyboard.press("Home")
    page.get_by_role("link", name="Last step").click()
    final = page.locator("#board svg").first
    assert final.get_attribute("aria-label") == by_slider
    assert "over" in by_slider
    page.wait_for_url(f"**step={last}*")
    page.reload()
    page.wait_for_selector(READY)
    assert where.text_content() == f"step {last} of {last}"


def test_a_match_that_ended_by_a_fault_opens_at_it_and_step_still_names_any_other(
    start: Callable[..., Any], show: Callable[..., Any]
) -> None:
    match = start("m1")
    match.step()
    match.crash(1)
    page = show("/runs/cup/matches/m1", ready=READY).page
    assert "bob crashed" in page.locator("#happened").text_content()
    page.goto(f"{page.url}?step=0")
    page.wait_for_selector(READY)
    assert page.locator("#where").text_content().startswith("start, before")


def test_a_replay_plays_by_itself(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    last = finished(start)
    page = show("/runs/cup/matches/m1", ready=READY).page
    page.select_option("#speed", "30")
    page.get_by_role("button", name="play").click()
    page.wait_for_selector(f"#where:text-is('step {last} of {last}')")
    assert page.locator("#play").text_content() == "play"


def test_a_move_in_the_list_leads_to_its_step_with_its_note(
    start: Callable[..., Any], show: Callable[..., Any]
) -> None:
    finished(start, note="<b>because</b>\nso")
    page = show("/runs/cup/matches/m1", ready=READY).page
    page.locator(".move", has_text="ann").first.click()
    assert page.locator("#happened .note").first.text_content() == "<b>because</b>\nso"
    assert page.locator("#happened b").count() == 0
    assert page.locator(".move[aria-current=step]").count() == 1
    assert page.locator("svg.clock").count() == 2


def test_the_view_of_a_seat_keeps_the_step(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    finished(start)
    page = show("/runs/cup/matches/m1?step=2", ready=READY).page
    with page.expect_navigation():
        page.select_option("#seat", "1")
    page.wait_for_selector(READY)
    assert "seat=1" in page.url
    assert page.locator("#where").text_content().startswith("step 2 of")


def test_a_match_that_goes_on_advances_by_itself(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    match = start("m1")
    match.step()
    page = show("/runs/cup/matches/m1?step=last", ready=READY).page
    assert page.locator("#where").text_content() == "step 1 of 1"
    match.step()
    page.wait_for_selector("#where:text-is('step 2 of 2')")
    match.play().close()
    page.wait_for_selector("text=Download the record")


def test_a_run_that_goes_on_renews_itself(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    start("m1").play().close()
    page = show("/runs/cup").page
    page.wait_for_selector("thead button")
    start("m2", place=1).play().close()
    page.wait_for_selector("main a:text-is('Match 2')")
    page.wait_for_selector("thead button")


def test_the_front_page_renews_its_boards_and_leaves_the_focus_where_it_is(
    start: Callable[..., Any], show: Callable[..., Any]
) -> None:
    match = start("m1", game="shibuya")
    match.step()
    page = show("/").page
    page.locator("main a:text-is('Shibuya')").focus()
    page.evaluate("window.before = document.activeElement")
    match.step()
    page.wait_for_function("() => !window.before.isConnected")
    assert page.evaluate("document.activeElement.textContent") == "Shibuya"


def test_a_list_that_renews_itself_keeps_its_filter(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    for place in range(12):
        start(f"m{place}", place=place).play().close(ranking=(1, 2))
    page = show("/runs/cup/matches", ready=".filter").page
    page.get_by_label("Filter").fill("match 12")
    start("m12", place=12).play().close(ranking=(1, 2))
    page.wait_for_selector("main p:has-text('13 matches, the last first.')")
    assert page.get_by_label("Filter").input_value() == "match 12"
    assert page.locator("[aria-label=Matches] tbody tr:visible").count() == 1


def test_bots_are_found_by_a_field_however_few_there_are(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    start("m1").play().close(ranking=(1, 2))
    page = show("/search", ready=".filter").page
    page.get_by_label("Filter").fill("bob")
    assert page.locator("[aria-label=Bots] tbody tr:visible").count() == 1


def test_the_leaderboard_sorts_by_a_heading_and_leads_to_a_bot(
    start: Callable[..., Any], show: Callable[..., Any]
) -> None:
    finished(start)
    page = show("/runs/cup").page
    table = page.get_by_role("region", name="Standings")
    names = table.locator("tbody th a")
    heading = table.get_by_role("button", name="bot")
    heading.click()
    assert names.all_text_contents() == ["ann", "bob"]
    heading.click()
    assert names.all_text_contents() == ["bob", "ann"]
    assert table.locator("th[aria-sort=descending]").count() == 1
    names.first.click()
    page.wait_for_selector("h1:text-is('bob')")


ADDRESSES = (
    "/",
    "/games",
    "/games/king_of_new_york",
    "/runs",
    "/runs/cup",
    "/runs/cup/cross",
    "/runs/cup/plots",
    "/runs/cup/schedule",
    "/runs/cup/settings",
    "/runs/cup/matches",
    "/runs/cup/bots/01ff00ff",
    "/runs/cup/matches/m1?step=last",
)


def test_no_page_is_wider_than_a_phone(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    finished(start, names=("a" * 64, "b" * 64), game="shibuya", note="n" * 5000)
    for address in ADDRESSES:
        page = show(address, width=360, ready=READY if "m1" in address else "main").page
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, address
        page.close()  # a profile has six connections to a server, and a live page keeps one


def test_what_a_bot_writes_runs_nowhere(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    nasty = "<img src=x onerror=alert(1)><script>alert(1)</script>\"'"
    finished(start, names=(nasty, nasty + "2"), note=nasty)
    for address in ADDRESSES:
        page = show(address, ready=READY if "m1" in address else "main").page
        assert page.locator("img").count() == 0
        assert re.search(r"<script>", page.content()) is None
        page.close()


PHONE = 390


def shown_heads(table: Any) -> list[str]:
    """The headings that a phone shows whole, without scrolling."""
    heads = [(head.text_content(), head.bounding_box()) for head in table.locator("thead th").all()]
    return [name for name, box in heads if box["x"] >= 0 and box["x"] + box["width"] <= PHONE]


@pytest.mark.parametrize(
    ("address", "name", "wanted"),
    [
        ("/runs/cup", "Standings", ["rank", "bot", "rating", "matches"]),
        ("/runs/cup/matches", "Matches", ["match", "bots by rank"]),
        ("/runs/cup", "Matches", ["match", "bots by rank"]),
        ("/runs", "Tournaments", ["tournament", "leader or winner"]),
    ],
)
def test_a_phone_shows_the_columns_that_matter_and_the_name_of_the_row_stays_when_it_is_scrolled(
    start: Callable[..., Any], show: Callable[..., Any], address: str, name: str, wanted: list[str]
) -> None:
    finished(start, names=("a" * 40, "b" * 40), game="shibuya")
    page = show(address, width=PHONE, ready="thead button").page
    table = page.get_by_role("region", name=name)
    assert shown_heads(table)[: len(wanted)] == wanted
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    for cell in (table.locator("thead .pin"), table.locator("tbody th").first):
        cell.scroll_into_view_if_needed()
        table.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
        box, frame = cell.bounding_box(), table.bounding_box()
        assert frame["x"] <= box["x"] <= box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).closest('.pin') !== null", [box["x"] + 3, box["y"] + 9]
        )
