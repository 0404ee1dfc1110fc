"""The starters of all languages in real matches: they play every game, repeat each other's choices, and bear no fault.

A language whose tools are missing is skipped by name; CROSSTOWN_REQUIRE_LANGUAGES=1, which CI sets, forbids that.
"""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchSpec, SeatSpec, Table
from referee.process.entry import Entry
from referee.process.sandbox import Sandbox
from referee.record import Answer, Record

LANGUAGES = ("go", "rust", "java", "typescript", "cpp")
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
TYPED = {
    "go": ("ticket_to_ride", "ticket_to_ride_new_york"),
    "rust": ("shibuya", "shibuya"),
    "java": ("king", "king_of_new_york"),
    "typescript": ("traffiq", "manhattan_traffiq"),
    "cpp": ("shibuya", "shibuya"),
}
PATIENT = Limits(startup_s=60, ready_s=60, first_move_s=60, move_s=60)

pytestmark = pytest.mark.asyncio(loop_scope="module")
Starter = Callable[..., Entry]


async def play(hall: Any, game_id: str, *bots: Entry, seed: int = 1) -> Record:
    """A match that must end normally."""
    result, record = await hall.play(game_id, *bots, seed=seed)
    assert result.reason is EndReason.NORMAL, (result.detail, result.faults)
    return record


@pytest.fixture(scope="module")
def expected() -> dict[str, list[tuple[int, str]]]:
    """By game, the answers of the formula, once they are known."""
    return {}


def answers(record: Record) -> list[tuple[int, str]]:
    """Who answered what, in order."""
    return [(line.seat, line.action) for line in record.lines if isinstance(line, Answer)]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_random_bot_plays_whole_matches_with_the_choices_that_its_seed_says(
    hall: Any, expected: dict[str, list[tuple[int, str]]], starter: Starter, language: str, game: str
) -> None:
    """Every language makes the same ones, byte by byte: those of the formula in docs/languages.md."""
    played = answers(await play(hall, game, *[starter(language)] * 2, seed=7))
    if game not in expected:
        expected[game] = answers(await play(hall, game, *[starter("reference")] * 2, seed=7))
    assert len(played) > 20
    assert played == expected[game]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_typed_bot_beats_chance(hall: Any, starter: Starter, language: str) -> None:
    player, game = TYPED[language]
    typed, random = starter(language, player=player), starter(language)
    wins = 0
    for seed in range(1, 4):
        wins += (await play(hall, game, typed, random, seed=seed)).footer.ranking[0] == 1  # type: ignore[union-attr]
        wins += (await play(hall, game, random, typed, seed=seed)).footer.ranking[1] == 1  # type: ignore[union-attr]
    assert wins >= 4


async def test_all_languages_meet_at_one_table(hall: Any, starter: Starter) -> None:
    """Six seats of King of New York, and each pair of languages at Shibuya."""
    bots = [starter(language) for language in LANGUAGES]
    await play(hall, "king_of_new_york", *bots, starter("reference"))
    for seed, pair in enumerate(combinations(bots, 2)):
        await play(hall, "shibuya", *pair, seed=seed)


@pytest.mark.strict_sandbox
async def test_all_languages_meet_in_the_strict_sandbox(make_hall: Any, starter: Starter, tmp_path: Path) -> None:
    """Each with its own folder and its runtime, nothing else, and no network but the referee's socket."""
    hall = make_hall(tmp_path)
    bots = [starter(language) for language in LANGUAGES]
    sandboxes = {bot.id: Sandbox("strict") for bot in bots}
    async with Table(hall.entries, sandboxes=sandboxes) as hall.table:
        await play(hall, "king_of_new_york", *bots)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_unknown_player_is_explained(tmp_path: Path, starter: Starter, language: str) -> None:
    bot = starter(language, player="chess")
    async with Table({bot.id: bot}) as table:
        seat = SeatSpec(bot.id, "a", "1")
        spec = MatchSpec(
            "m-1", "shibuya", resolve_options("shibuya", get_game("shibuya").options, {}), (seat,) * 2, "00", PATIENT
        )
        result = await table.play(spec, tmp_path)
    assert result.reason is EndReason.START_FAILED
    assert result.faults[0] is not None
    said = result.faults[0].evidence["stderr"]
    assert f"option player is 'chess': expected random or {TYPED[language][0]}" in said
