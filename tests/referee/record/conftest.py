"""Records made without bots: a seeded player of both sides, times included."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import Answer, FaultLine, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import open_line, seal, seed_commitment

SEED = "00112233445566778899aabbccddeeff"


def header(game_id: str = "toy", players: int = 2, **changes: Any) -> Header:
    game = get_game(game_id)
    fields = {
        "match_id": "m-1",
        "tournament": "test",
        "place": 3,
        "block": 1,
        "game": game_id,
        "rules_version": game.rules_version,
        "options": resolve_options(game_id, game.options, {}),
        "players": players,
        "seats": tuple(SeatHeader(f"{seat:016x}", f"bot {seat}", "1.0") for seat in range(players)),
        "limits": {"first_move_s": 5.0, "move_s": 1.0},
        "seed_commitment": seed_commitment(SEED),
        "created_at": "2026-01-01T00:00:00.000+00:00",
        "crosstown": "0.1.0",
    }
    return Header(**{**fields, **changes})


class Played:
    """A match played straight into a writer."""

    def __init__(self, folder: Path, head: Header, rng: Random) -> None:
        self.game = get_game(head.game)
        self.rng = rng
        self.writer = RecordWriter(folder, head)
        self.state = self.game.new_initial_state(head.players, head.options)
        self.chance = KeyedChance(bytes.fromhex(SEED))
        self.stats = [[0, 0, 0] for _ in range(head.players)]

    def play(self, decisions: int = 10_000) -> int:
        """At most so many decisions; how many there were."""
        count = 0
        while not self.state.is_terminal() and count < decisions:
            asked = self.state.decisions()
            if not asked:
                outcome = self.chance.choose(self.state.chance_stream(), self.state.chance_outcomes())
                self.writer.chance(outcome)
                self.state.apply_chance(outcome)
                continue
            actions = {}
            for item in asked:
                action = self.rng.choice(self.state.legal_actions(item.seat))
                wall_us = int(self.rng.lognormvariate(6, 0.5))
                row = self.stats[item.seat]
                row[0], row[1], row[2] = row[0] + 1, row[1] + wall_us, max(row[2], wall_us)
                text = self.game.format_action(action)
                self.writer.answer(Answer(item.seat, text, wall_us, wall_us * 6 // 10, 0))
                actions[item.seat] = action
                count += 1
            self.state.apply(actions)
        self.writer.flush()
        return count

    def footer(self, **changes: Any) -> Footer:
        over = self.state.is_terminal()
        fields = {
            "status": "rated",
            "reason": "normal",
            "detail": "",
            "seed": SEED,
            "ranking": tuple(self.state.ranking()) if over else (),
            "returns": tuple(self.state.returns()) if over else (),
            "state_hash": state_hash(self.state),
            "seat_stats": tuple(SeatStats(*row, 5, 0) for row in self.stats),
            "decisions": sum(row[0] for row in self.stats),
            "wall_us": 12345,
        }
        return Footer(**{**fields, **changes})

    def fault(self, seat: int, reason: str = "crashed") -> None:
        self.writer.fault(FaultLine(seat, reason, "exit code 3", True))
        self.state.withdraw(seat)


@dataclass
class Lines:
    """A plain record as editable lines; `write` puts them into a file, with fresh chains if asked."""

    lines: list[str]

    def write(self, path: Path, *, rechain: bool = False) -> Path:
        if rechain:
            chain, sealed = "", []
            for line in self.lines:
                whole, chain = seal(chain, open_line(line)[0])
                sealed.append(whole.rstrip("\n"))
            self.lines = sealed
        path.write_text("".join(line + "\n" for line in self.lines))
        return path

    def find(self, part: str, skip: int = 0) -> int:
        """Index of the line with this part."""
        return [index for index, line in enumerate(self.lines) if part in line][skip]

    def replace(self, index: int, old: str, new: str) -> None:
        assert old in self.lines[index]
        self.lines[index] = self.lines[index].replace(old, new, 1)


@pytest.fixture
def make_header() -> Callable[..., Header]:
    return header


@pytest.fixture
def start_match(tmp_path: Path) -> Callable[..., Played]:
    def start(
        game_id: str = "toy", players: int = 2, rng_seed: int = 1, folder: Path = tmp_path, **more: Any
    ) -> Played:
        return Played(folder, header(game_id, players, **more), Random(rng_seed))

    return start


@pytest.fixture
def closed(start_match: Callable[..., Played]) -> Path:
    """A whole toy match, closed."""
    match = start_match()
    match.play()
    return match.writer.close(match.footer())


@pytest.fixture
def lines(closed: Path) -> Lines:
    """The lines of `closed`."""
    return Lines(gzip.decompress(closed.read_bytes()).decode().splitlines())
