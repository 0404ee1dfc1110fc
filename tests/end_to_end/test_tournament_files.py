"""The tournament files that are shipped run green, with every number of seats their game allows."""

import json
from pathlib import Path

import pytest

from referee.games.registry import get_game
from referee.process.manifest import load_manifest
from referee.tournament.config import load_config
from referee.tournament.entrants import load_tournament

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tournaments").glob("*.toml"))
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")


def field_file(folder: Path, game: str, players: int) -> Path:
    """A tournament of one block: greedy against as many random bots as there are seats left."""
    bots = "".join(
        f'[[bots]]\npath = {json.dumps(str(ROOT / "bots" / "python" / "random"))}\nname = "random-{salt}"\n'
        f"options = {{ salt = {salt} }}\n"
        for salt in range(players - 1)
    )
    greedy = f"[[bots]]\npath = {json.dumps(str(ROOT / 'bots' / 'python' / 'greedy'))}\n"
    path = folder / "field.toml"
    path.write_text(f'name = "field"\ngame = "{game}"\nplayers = {players}\nseed = 3\nblocks = 1\n{greedy}{bots}')
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file_is_sound(path: Path) -> None:
    config = load_config(path)
    assert config.name == path.stem
    assert len(config.bots) >= config.players
    here = [load_manifest(bot.folder) for bot in config.bots if bot.remote is None]
    if not any(bot.build for bot in here):  # CI builds and plays the others
        assert len(load_tournament(path).entries) >= config.players


def test_each_game_has_a_tournament_file() -> None:
    assert set(GAMES) <= {path.stem for path in FILES}


def seats_to_play() -> list[object]:
    """The most seats of each game by default, all others in the long mode."""
    rows = []
    for game in GAMES:
        counts = get_game(game).player_counts
        rows += [
            pytest.param(game, count, id=f"{game}-{count}", marks=() if count == counts[-1] else pytest.mark.long)
            for count in counts
        ]
    return rows


@pytest.mark.parametrize(("game", "players"), seats_to_play())
def test_a_field_of_bots_plays_without_a_fault(workplace, game: str, players: int) -> None:
    path = field_file(workplace.folder, game, players)
    ran = workplace.run("run", str(path), "--workers", "1", "--quiet", timeout_s=240)
    assert ran.code == 0, ran.stderr
    rows = workplace.standings()
    assert len(rows) == players
    assert all(not row["faults"] for row in rows)
    verified = workplace.run("matches", "verify")
    assert verified.code == 0, verified.stdout
    assert "0 wrong" in verified.stdout
