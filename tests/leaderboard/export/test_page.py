"""The page of a match, opened from a file in a real browser."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from leaderboard.export import page as page_module
from leaderboard.export.page import replay_page
from leaderboard.frames import frames_of, viewers
from referee.record import Answer

READY = "body[data-ready]"


@pytest.fixture
def opened(open_file: Callable[..., Any], old_record: Callable[..., Any]) -> Callable[..., Any]:
    """opened("shibuya") is the page of that record, ready to be stepped."""

    def opened(name: str, address: str = "", **how: Any) -> Any:
        page = open_file(replay_page(old_record(name)), "html", address, **how)
        page.wait_for_selector(READY)
        return page

    return opened


def board_of(page: Any) -> str:
    return str(page.locator("#board svg").first.get_attribute("aria-label"))


@pytest.mark.slow
def test_it_steps_by_buttons_keys_and_slider_to_the_final_position(
    opened: Callable[..., Any], old_record: Callable[..., Any]
) -> None:
    last = len(list(frames_of(old_record("shibuya")))) - 1
    page = opened("shibuya")
    where = page.locator("#where")
    assert where.text_content() == f"step {last} of {last}"
    page.keyboard.press("Home")
    assert where.text_content() == f"start, before {last} steps"
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Next step").click()
    assert where.text_content() == f"step 2 of {last}"
    page.wait_for_url(re.compile("#step=2$"))
    page.get_by_role("slider", name="Step").fill(str(last))
    by_slider = board_of(page)
    assert "over" in by_slider
    page.keyboard.press("Home")
    page.get_by_role("button", name="Previous step").click()
    assert where.text_content() == f"start, before {last} steps"
    page.locator("body").press("PageDown")
    assert where.text_content() == f"step 10 of {last}"
    page.get_by_role("button", name="Last step").click()
    assert board_of(page) == by_slider


@pytest.mark.slow
def test_dragging_the_slider_through_all_steps_is_no_trouble(opened: Callable[..., Any]) -> None:
    page = opened("king_of_new_york")
    page.evaluate("""() => {
      const slider = document.getElementById('at');
      for (let step = 0; step <= Number(slider.max); step++) {
        slider.value = step;
        slider.dispatchEvent(new Event('input'));
      }
    }""")
    last = page.get_by_role("slider", name="Step").get_attribute("max")
    page.wait_for_url(re.compile(f"#step={last}$"))


def test_it_plays_by_itself_and_pauses(opened: Callable[..., Any]) -> None:
    page = opened("toy")
    page.select_option("#speed", "30")
    page.locator("#play").click()
    page.wait_for_selector("#where:text-is('step 30 of 30')")
    assert page.locator("#play").text_content() == "play"
    page.select_option("#speed", "2")
    page.locator("#play").click()
    page.wait_for_selector("#where:text-is('step 1 of 30')")
    page.locator("#play").click()
    assert page.locator("#play").text_content() == "play"
    page.wait_for_url(re.compile("#step=[1-9]$"))


@pytest.mark.slow
def test_it_opens_at_the_step_and_view_of_its_address(opened: Callable[..., Any]) -> None:
    page = opened("toy", "#step=7&seat=1")
    assert page.locator("#where").text_content() == "step 7 of 30"
    assert page.locator("#view").input_value() == "1"
    assert opened("toy", "#step=last").locator("#where").text_content() == "step 30 of 30"
    assert opened("toy", "#step=x&seat=9").locator("#where").text_content() == "start, before 30 steps"
    assert opened("toy", "#step=1.5").locator("#where").text_content() == "step 1 of 30"


# Each way is a key or 'jump', and the step it leads to. What is not as it should be, in words.
WALK = """([boards, ways]) => {
  const board = document.getElementById('board');
  const slider = document.getElementById('at');
  return ways.flatMap(([way, step]) => {
    if (way === 'jump') {
      slider.value = step;
      slider.dispatchEvent(new Event('input'));
    } else {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: way, bubbles: true }));
    }
    const drawn = new DOMParser().parseFromString(boards[step], 'image/svg+xml').documentElement;
    const words = step ? `step ${step} of ${boards.length - 1}` : `start, before ${boards.length - 1} steps`;
    const told = document.getElementById('where').textContent === words;
    return told && board.childNodes.length === 1 && drawn.isEqualNode(board.firstChild) ? [] : [`${way} to ${step}`];
  });
}"""


@pytest.mark.parametrize("name", ["ticket_to_ride_new_york", "king_of_new_york", "manhattan_traffiq", "shibuya"])
def test_every_way_to_a_step_leads_in_every_view_to_the_board_that_the_library_draws(
    open_file: Callable[..., Any], old_record: Callable[..., Any], name: str
) -> None:
    whole = old_record(name)
    record = replace(whole, lines=whole.lines[:40])
    page = open_file(replay_page(record), "html", "#step=5")
    page.wait_for_selector(READY)
    views = [item.get_attribute("value") for item in page.locator("#view option").all()]
    assert views == ["", *map(str, range(record.header.players)), "all"]
    for view, viewer in zip(views, viewers(record), strict=True):
        page.select_option("#view", view)
        boards = [frame.board for frame in frames_of(record, viewer)]
        last = len(boards) - 1
        assert len(set(boards)) > 10
        ways = [
            ("ArrowRight", 6),
            ("ArrowLeft", 5),
            ("Home", 0),
            *(("ArrowRight", step) for step in range(1, last + 1)),
            *(("ArrowLeft", step) for step in range(last - 1, -1, -1)),
            ("End", last),
            ("PageUp", last - 10),
            *(("jump", step) for step in (0, last, 7, 2, last - 1, 5)),
        ]
        assert page.evaluate(WALK, [boards, ways]) == [], view


def test_moves_come_with_times_and_notes_and_lead_to_their_step(opened: Callable[..., Any]) -> None:
    page = opened("toy")
    move = page.locator("#moves button").nth(3)
    words = str(move.locator("span").first.text_content())
    assert re.search(r"^[A-Z]\w+ [a-z]+s ", words)
    move.click()
    assert page.locator("#moves [aria-current=step]").count() == 1
    said = page.locator("#happened p").all_text_contents()
    assert words.split("; ")[0] in said
    assert any(re.search(r"^[A-Z]\w+ took \d+\.\d ms", line) for line in said)
    assert page.locator("#happened .said").first.text_content() == "I see"


def test_a_fault_comes_with_its_evidence(opened: Callable[..., Any]) -> None:
    page = opened("crashed")
    page.locator("#moves .fault").click()
    happened = str(page.locator("#happened").text_content())
    assert "Boole crashed exit code 3" in happened
    assert "; is out of the match" in happened
    assert page.locator("h2:has-text('Fault of Boole')").count() == 1
    assert "last words\n" in page.locator("main > pre").all_text_contents()


def test_a_match_that_is_not_over_has_no_views_of_seats_and_no_answers(
    opened: Callable[..., Any], old_record: Callable[..., Any]
) -> None:
    page = opened("live", "#step=last")
    assert page.locator("#view option").count() == 1
    assert "Unfinished" in page.locator("main").text_content()
    shown = page.locator("main").text_content()
    answers = [line for line in old_record("live").lines if isinstance(line, Answer)]
    assert answers
    assert not [line.action for line in answers if line.action in shown]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("unknown-game", "no board: unknown game 'checkers'"),
        ("other-rules", "no board: played by rules version 99"),
        ("other-move", "line 23 cannot be followed"),
        ("changed-move", "line 11: the line was changed"),
        ("cut-closed", "Damaged: the compressed file is cut"),
        ("void", "platform fault (void): the disk is full"),
    ],
)
def test_what_cannot_be_followed_is_shown_as_far_as_it_goes(
    opened: Callable[..., Any], old_record: Callable[..., Any], name: str, reason: str
) -> None:
    page = opened(name, "#step=last")
    assert reason in page.locator("main").text_content()
    answers = sum(isinstance(line, Answer) for line in old_record(name).lines)
    assert page.locator("#moves button").count() >= answers - 1  # two answers are given at once
    assert page.locator("#board svg").count() == (0 if "no board" in reason else 1)


def test_a_view_that_ends_before_the_match_says_so(
    open_file: Callable[..., Any], old_record: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def some(record: Any, viewer: Any) -> list[Any]:
        return list(frames_of(record, viewer))[: 5 if viewer == 1 else None]

    monkeypatch.setattr(page_module, "frames_of", some)
    page = open_file(replay_page(old_record("toy")), "html", "#step=9&seat=1")
    page.wait_for_selector(READY)
    assert "This view ends before." in page.locator("#happened").text_content()
    assert page.locator("#board svg").count() == 1
    page.select_option("#view", "0")
    assert "This view ends before." not in page.locator("#happened").text_content()


@pytest.mark.slow
def test_what_bots_write_stays_text(opened: Callable[..., Any], old_record: Callable[..., Any]) -> None:
    text = replay_page(old_record("hostile"))
    assert len(text) < 250_000
    assert all(char.isprintable() or char == "\n" for char in text)
    for address in ("", "#step=4&seat=1", "#step=last&seat=all"):
        page = opened("hostile", address)
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.locator("#view option").count() == 4
        shown = page.locator("main").text_content()
        assert "<script>alert(1)</script>" in shown
        assert not {"\u202e", "\x1b", "\x07"} & set(shown)


def test_the_policy_lets_only_its_own_script_and_style_run(old_record: Callable[..., Any]) -> None:
    page = replay_page(old_record("toy"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy[1]
    assert "src=" not in page.replace("default-src", "")
    assert "href=" not in page
    assert "url(" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert " style=" not in page


def test_without_scripts_it_has_the_final_board_and_the_result(
    chromium: Any, old_record: Callable[..., Any], open_file: Callable[..., Any]
) -> None:
    page = open_file(replay_page(old_record("shibuya")), "html", java_script_enabled=False)
    assert "over" in board_of(page)
    assert page.locator("#controls").is_hidden()
    assert page.locator("tbody tr").count() == 2


@pytest.mark.slow
def test_it_fits_a_phone_in_light_and_dark(opened: Callable[..., Any]) -> None:
    for name in ("king_of_new_york", "hostile"):
        page = opened(name, "#step=last", width=390)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, (name, scheme)


UNNAMED = """() => [...document.querySelectorAll('button, input, select, [role=region], svg[role=img]')]
  .filter((item) => !(item.getAttribute('aria-label') || item.labels?.length || item.textContent.trim()))
  .map((item) => item.outerHTML.slice(0, 200))"""

FAINT = """() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (colour) => colour.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);
  const ground = (item) => {
    const colour = item ? numbers(getComputedStyle(item).backgroundColor) : [255, 255, 255];
    return colour.length < 4 || colour[3] > 0 ? colour : ground(item.parentElement);
  };
  return [...document.querySelectorAll('main *')]
    .filter((item) => !item.closest('svg') && [...item.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .map((item) => [light(numbers(getComputedStyle(item).color)), light(ground(item)), item.outerHTML.slice(0, 120)])
    .filter(([one, two]) => Math.max(one, two) / Math.min(one, two) < 4.5).map((item) => item[2]);
}"""


def test_everything_has_a_name_and_contrast_in_light_and_dark(opened: Callable[..., Any]) -> None:
    page = opened("crashed", "#step=last")
    assert page.evaluate("document.documentElement.lang") == "en"
    assert page.locator("h1").count() == 1
    assert page.evaluate(UNNAMED) == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAINT) == [], scheme


def test_the_same_record_gives_the_same_page(old_record: Callable[..., Any]) -> None:
    assert replay_page(old_record("toy")) == replay_page(old_record("toy"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"), [("king_of_new_york", 300_000), ("ticket_to_ride_new_york", 300_000), ("toy", 60_000)]
)
def test_a_page_with_all_views_is_small(old_record: Callable[..., Any], name: str, most: int) -> None:
    assert len(replay_page(old_record(name))) < most
