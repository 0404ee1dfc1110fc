"""The pages of the games: rules, options and pieces of each; and Markdown that can do no harm."""

import re

import httpx
import pytest

from leaderboard.web.games import players_in_words
from leaderboard.web.markdown import as_html, coded
from leaderboard.web.rules_text import RulesText, option_sentence, rules_text
from referee.games.drawing import pieces_of
from referee.games.registry import get_game

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")


@pytest.mark.parametrize("game_id", GAMES)
async def test_a_game_has_its_rules_options_and_every_piece_of_its_box(web: httpx.AsyncClient, game_id: str) -> None:
    game = get_game(game_id)
    answer = await web.get(f"/games/{game_id}")
    assert answer.status_code == 200
    assert f"<h1>{game.title}</h1>" in answer.text
    assert '<section class="text" id="rules"><h2>Rules</h2>' in answer.text
    for option in game.options:
        assert f"<code>{option.name}</code></dt>" in answer.text
    assert answer.text.count("<h3>") >= sum(len(group.pieces) for group in pieces_of(game)) > 0


async def test_the_page_says_what_a_card_does_what_it_costs_and_how_doubts_were_settled(web: httpx.AsyncClient) -> None:
    page = (await web.get("/games/king_of_new_york")).text
    start = page.index("<h3>Carapace</h3>")
    entry = page[start : page.index("</li>", start)]
    assert "3 energy, Keep card" in entry
    assert "may discard the card to heal 1 per token on it" in entry
    assert "15 tokens in the box" in entry


def test_every_piece_of_a_game_has_what_the_box_says_of_it() -> None:
    counts = {game_id: [len(group.pieces) for group in pieces_of(get_game(game_id))] for game_id in GAMES}
    assert counts["king_of_new_york"] == [64, 7, 3]
    assert counts["ticket_to_ride_new_york"][:2] == [7, 18]
    for game_id in GAMES:
        for group in pieces_of(get_game(game_id)):
            for piece in group.pieces:
                assert piece.name
                assert piece.facts or piece.text


async def test_a_game_without_pieces_or_picture_has_a_page_too(web: httpx.AsyncClient) -> None:
    answer = await web.get("/games/toy")
    assert answer.status_code == 200
    assert "<h1>Toy</h1>" in answer.text


@pytest.mark.parametrize("name", ["none", "..%2fshibuya", "shibuya%00"])
async def test_a_game_that_is_not_there_is_not_found(web: httpx.AsyncClient, name: str) -> None:
    assert (await web.get(f"/games/{name}")).status_code == 404


@pytest.mark.parametrize(
    ("text", "said", "left_out"),
    [
        ("# Title\n\n## Turn\n\nText", "<h3>Turn</h3>", "Title"),
        ("<script>alert(1)</script>", "&lt;script&gt;", "<script"),
        ("a <img src=x onerror=alert(1)> b", "&lt;img", "<img"),
        ("[here](javascript:alert(1))", "here", "<a"),
        ("[data](data/cards.json) and [web](https://example.com)", "data and web", "<a"),
        ("[below](#turn)", '<a href="#turn">below</a>', "<p>below</p>"),
        ("![map](map.png)", "map", "<img"),
        ("the option round_cap ends it", "<code>round_cap</code>", " round_cap "),
        ("`round_cap`", "<p><code>round_cap</code></p>", "<code><code>"),
        ("a_b <i> c_d", "<code>a_b</code> &lt;i&gt; <code>c_d</code>", "<i>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", '<th scope="col">a</th>', "|"),
    ],
)
def test_markdown_becomes_html_that_brings_nothing_foreign(text: str, said: str, left_out: str) -> None:
    shown = as_html(text, 3)
    assert said in shown
    assert left_out not in shown


def test_identifiers_in_a_line_are_code_and_the_rest_is_escaped() -> None:
    assert coded("<b> R07 and seat_0") == "&lt;b&gt; <code>R07</code> and <code>seat_0</code>"


@pytest.mark.parametrize(
    ("counts", "words"),
    [((2,), "2 players"), ((2, 3), "2 or 3 players"), ((2, 4), "2 or 4 players"), ((2, 3, 4), "2 to 4 players")],
)
def test_numbers_of_players_in_words(counts: tuple[int, ...], words: str) -> None:
    assert players_in_words(counts) == words


@pytest.mark.parametrize("game_id", GAMES)
async def test_the_rules_begin_with_the_game_and_leave_the_program_to_the_end(
    web: httpx.AsyncClient, game_id: str
) -> None:
    page = (await web.get(f"/games/{game_id}")).text
    lead = page[page.index('<p class="lead">') :].partition("</p>")[0]
    assert re.search(r"\bwins?\b", lead)
    rules = page[page.index('id="rules"') : page.index('id="options"')]
    assert ".py" not in rules
    assert "see the README" not in page
    assert "INFERRED" not in page
    options = page[page.index('id="options"') :].partition("</section>")[0]
    assert not re.search(r"\bE\d+\b|>O(?:n|ff): ", options)


@pytest.mark.parametrize("game_id", GAMES)
async def test_the_rules_for_players_explain_their_marks_first_and_hold_no_program(
    web: httpx.AsyncClient, game_id: str
) -> None:
    page = (await web.get(f"/games/{game_id}")).text
    rules = page[page.index('id="rules"') : page.index('id="options"')]
    for word in ("withdraw(", "Draw(", "Roll(", "resample", "from_observation", "returns", "_flushes", "_only"):
        assert word not in rules, word
    text = re.sub("<[^>]*>", "", rules)
    legend = text.find("A mark says")
    bears = re.search(r"\((?:H|M|I|R|U|NY|INF|BGA|OURS)\)", text)
    assert (legend >= 0) == bool(bears)
    assert bears is None or legend < bears.start()
    assert f'<p class="note">{players_in_words(get_game(game_id).player_counts)}.</p>' not in page


async def test_a_rule_that_is_on_is_not_said_to_be_off(web: httpx.AsyncClient) -> None:
    page = (await web.get("/games/shibuya")).text
    assert "If off: the variant that starts with an empty grid." in page
    assert "A tile may be turned; if off: it lies as the data lists it." in page


def test_the_parts_of_a_readme_keep_every_section_but_those_that_the_page_shows_elsewhere() -> None:
    parts = rules_text(
        "# G\n\nA game.\nThe first wins.\n\nA mark says: H.\n\nThe box is whole.\n\n## A turn\n\nRoll.\n\n"
        "## Files\n\na.py\n\n## Options\n\no"
    )
    assert parts.about == "A game. The first wins."
    assert parts.rules == (
        "A mark says: H.\n\n## A turn\n\nRoll.\n\n\n## Where these rules come from\n\nThe box is whole.\n"
    )
    assert parts.more == "## Files\n\na.py\n\n"
    assert rules_text("") == RulesText("", "", "")
    assert rules_text("## A turn\n\nRoll.").rules == "## A turn\n\nRoll."


def test_an_option_is_told_without_codes_and_with_seats_from_1() -> None:
    assert option_sentence("E8: cards may be drawn.") == "cards may be drawn."
    assert option_sentence("It ends when all pass (E11).") == "It ends when all pass."
    assert option_sentence("Who begins: seat 0, or a seat by lot.") == "Who begins: seat 1, or a seat by lot."
