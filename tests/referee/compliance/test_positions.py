"""Every kind of decision that a shipped game declares has a match that comes to it, found quickly."""

from pathlib import Path

import pytest

from referee.compliance import check_bot
from referee.compliance.drills import BotUnderCheck, every_kind
from referee.compliance.matches import RandomPlay, find_positions, known_positions, look_for
from referee.games.registry import game_ids, get_game
from referee.process.entry import load_entry
from referee.process.launch import LaunchContext


def write(folder: Path, choice: str) -> Path:
    """A bot that answers with this."""
    (folder / "bot.toml").write_text('name = "mine"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    (folder / "bot.py").write_text(
        f"from crosstown_bot import Bot, run\nclass Mine(Bot):\n    def choose(self, turn):\n        return {choice}\n"
        "run(Mine)\n"
    )
    return folder


SHIPPED = [game for game in game_ids() if game != "toy"]


@pytest.mark.parametrize("game_id", SHIPPED)
def test_each_kind_has_a_position(game_id: str) -> None:
    game = get_game(game_id)
    assert set(find_positions(game, game.decision_kinds)) == set(game.decision_kinds)


@pytest.mark.parametrize(("game_id", "kind"), [(game, kind) for game in SHIPPED for kind in known_positions(game)])
def test_a_position_on_file_is_where_it_is_said_to_be(game_id: str, kind: str) -> None:
    """If the rules have changed: python -m referee.compliance.matches GAME."""
    place = known_positions(game_id)[kind]
    random_play = RandomPlay(get_game(game_id), place.players, place.number)
    state = random_play.state
    while not state.is_terminal():
        decisions = state.decisions()
        if (place.seat, kind) in [(decision.seat, decision.kind) for decision in decisions]:
            return
        if decisions:
            state.apply({one.seat: random_play.choose(state.legal_actions(one.seat)) for one in decisions})
        else:
            random_play.draw()
    pytest.fail(f"{kind} is not asked of seat {place.seat}")


def test_a_kind_that_never_comes_up_is_not_found() -> None:
    assert look_for(get_game("toy"), {"turn", "flee"}, 3).keys() == {"turn"}


async def test_a_bot_is_asked_every_kind_of_decision_in_matches_of_their_own(tmp_path: Path) -> None:
    entry = load_entry(write(tmp_path, "turn.match.rng.randrange(turn.legal_count)"))
    found = await every_kind(BotUnderCheck(entry, 20.0, LaunchContext()), get_game("king_of_new_york"))
    assert found.outcome == "passed"
    assert found.detail.startswith("17 of 17 kinds asked: before_roll, buy, ")


@pytest.mark.slow
async def test_a_bot_that_stumbles_over_a_rare_decision_only_is_found_out(tmp_path: Path) -> None:
    entry = load_entry(write(tmp_path, "0 if turn.kind != 'hail' else 1 // 0"))
    report = await check_bot(entry, [get_game("king_of_new_york")], context=LaunchContext(), fail_fast=True)
    assert report.first_failure is not None
    assert report.first_failure.drill == "every decision"
    assert "ZeroDivisionError" in report.first_failure.detail
