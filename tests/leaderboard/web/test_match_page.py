"""The page of a match in a browser: what it says, how large the board is, keys, touch, and that no texts overlap."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import ID_LIKE

CORPUS = Path(__file__).resolve().parents[2] / "referee" / "record" / "corpus"
OVERLAPS = (Path(__file__).parent / "overlaps.js").read_text()
READY = "#replay[data-drawn]"
GAMES = ("king_of_new_york-rules2", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
VISIBLE = """() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (element.closest('code, pre, title, desc, script, noscript, style')) continue;
    if (element.checkVisibility()) texts.push(walker.currentNode.data);
  }
  return texts;
}"""
TO = "step => { const at = document.getElementById('at'); at.value = step; at.dispatchEvent(new Event('input')); }"
SWIPE = """([from, to]) => {
  const board = document.getElementById('board');
  const send = (type, x) => {
    const touch = new Touch({ identifier: 1, target: board, clientX: x, clientY: 300 });
    const touches = type === 'touchstart' ? [touch] : [];
    board.dispatchEvent(new TouchEvent(type, { touches, changedTouches: [touch], bubbles: true }));
  };
  send('touchstart', from);
  send('touchend', to);
}"""


@pytest.fixture
def old(start: Callable[..., Any], runs: Path) -> Callable[[str], str]:
    """old("shibuya") puts a record of the corpus into the run; the address of its page."""

    def put(name: str) -> str:
        if not (runs / "cup").exists():
            start("m1").play().close()
        shutil.copy(CORPUS / f"v1-{name}.jsonl.gz", runs / "cup" / "matches" / f"v1-{name}.jsonl.gz")
        return f"/runs/cup/matches/v1-{name}"

    return put


@pytest.mark.parametrize("name", GAMES)
def test_no_texts_of_page_and_board_overlap_and_none_is_an_id(
    old: Callable[[str], str], show: Callable[..., Any], name: str
) -> None:
    page = show(old(name), width=1280, ready=READY).page
    last = int(page.locator("#at").get_attribute("max"))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for step in (0, last // 3, 2 * last // 3, last):
            page.evaluate(TO, step)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate(OVERLAPS) == [], f"step {step}, {width} pixels wide, {scheme}"
            for text in page.evaluate(VISIBLE):
                assert not ID_LIKE.search(text), text
                assert not re.search(r"\b[Ss]eat \d", text), text


@pytest.mark.parametrize("name", GAMES)
def test_the_board_is_large_and_the_current_move_is_in_view(
    old: Callable[[str], str], show: Callable[..., Any], name: str
) -> None:
    page = show(f"{old(name)}?step=last", width=1280, ready=READY).page
    assert page.locator("#board > svg").bounding_box()["width"] >= 640
    moves, current = page.locator("#moves").bounding_box(), page.locator(".move[aria-current]").bounding_box()
    assert moves["y"] <= current["y"]
    assert current["y"] + current["height"] <= moves["y"] + moves["height"] + 1
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.evaluate(TO, 3)
    board = page.locator("#board > svg").bounding_box()
    assert board["width"] >= 640
    assert board["height"] <= 1080 or board["width"] <= 641


def test_one_sentence_says_how_it_ended_and_leads_there(old: Callable[[str], str], show: Callable[..., Any]) -> None:
    page = show(old("ticket_to_ride_new_york"), width=1280, ready=READY).page
    ending = page.locator(".ending a")
    assert ending.text_content() == "Boole wins with 31 points after 88 decisions"
    ending.click()
    assert page.locator("#where").text_content() == "step 176 of 176"
    page.wait_for_url("**step=176*")


def test_its_head_sends_for_the_frames_and_its_script_for_no_second_copy(
    old: Callable[[str], str], show: Callable[..., Any]
) -> None:
    page = show(old("ticket_to_ride_new_york"), ready=READY).page
    sent = page.evaluate("performance.getEntriesByType('resource').filter((e) => e.name.includes('boards=no'))")
    assert [entry["initiatorType"] for entry in sent] == ["link"]


def test_a_fault_is_told_marked_and_one_click_away(start: Callable[..., Any], show: Callable[..., Any]) -> None:
    match = start("m2", place=1)
    for _ in range(8):
        match.step()
    match.crash(1, stdout="last words")
    page = show("/runs/cup/matches/m2", width=1280, ready=READY).page
    ending = page.locator(".ending a")
    assert re.fullmatch(r"bob crashed after \d+ decisions; ann wins.*", ending.text_content())
    ending.click()
    current = page.locator(".move[aria-current]")
    assert "bob crashed" in current.text_content()
    assert current.locator(".mark.failed").text_content() == "fault"
    assert page.locator(".clock .fault").count() == 1
    assert page.locator(".move .mark.slowest").count() >= 1
    assert page.locator("h2", has_text="Fault: bob crashed").count() == 1


def test_moves_are_sentences_grouped_by_turns(old: Callable[[str], str], show: Callable[..., Any]) -> None:
    page = show(old("ticket_to_ride_new_york"), width=1280, ready=READY).page
    assert page.locator("#moves .heading").all_text_contents()[:3] == ["Set-up", "Turn 1, Ada", "Turn 2, Boole"]
    assert page.locator(".move").first.text_content() == "set-up: 6 cards, 5 face-up cards, 6 tickets dealt"
    page.locator(".move", has_text="Boole claims Midtown West to Times Square with 1 red").click()
    assert page.locator("#happened p").first.text_content() == "Boole claims Midtown West to Times Square with 1 red"
    assert page.locator(".seats [data-of='1'] .points").text_content() == "4"
    assert page.locator(".seats [data-of='1'] .clock").text_content().endswith(" s used")


def test_the_whole_page_works_by_keys(old: Callable[[str], str], show: Callable[..., Any]) -> None:
    page = show(f"{old('shibuya')}?step=5", width=1280, ready=READY).page
    where = page.locator("#where")
    for key, step in (("ArrowRight", 6), ("ArrowLeft", 5), ("PageDown", 15), ("Home", 0)):
        page.keyboard.press(key)
        assert where.text_content().startswith(f"step {step} of " if step else "start, before ")
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement?.id === 'replay'")
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement === null")
    page.keyboard.press(" ")
    page.wait_for_selector("#play:text-is('pause')")
    page.keyboard.press(" ")
    page.wait_for_selector("#play:text-is('play')")
    page.locator(".move").nth(3).focus()
    page.keyboard.press("Enter")
    assert page.locator(".move[aria-current]").text_content() == page.locator(".move").nth(3).text_content()


def test_a_swipe_steps_and_buttons_are_large_enough_for_fingers(
    old: Callable[[str], str], show: Callable[..., Any]
) -> None:
    page = show(f"{old('shibuya')}?step=5", width=390, ready=READY).page
    where = page.locator("#where")
    page.evaluate(SWIPE, [300, 100])
    assert where.text_content().startswith("step 6 of ")
    page.evaluate(SWIPE, [100, 300])
    page.evaluate(SWIPE, [100, 120])
    assert where.text_content().startswith("step 5 of ")
    for button in page.locator(".buttons > *").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44


def test_step_and_view_are_in_the_address(old: Callable[[str], str], show: Callable[..., Any]) -> None:
    page = show(f"{old('ticket_to_ride_new_york')}?seat=1&step=20", width=1280, ready=READY).page
    assert page.locator("#where").text_content().startswith("step 20 of ")
    assert page.locator("#seat").input_value() == "1"
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**seat=1&step=21*")
