"""A bot that guesses: it has all that a bot is sent, knows how luck is computed, and tries every number it can.

Of a run of before there were secrets it finds the typed seed, and with it every die and card.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.match.play import bot_seed
from referee.record import Answer, read_record
from referee.run.folder import RunFolder
from referee.run.journal import Journal, read_journal
from referee.schedule.config import digest
from referee.schedule.seeds import block_seed, match_seed, public_block_seed
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import describe

TYPED = range(-1_000, 100_000)
"""What people type, dates as years among it."""

GUESSER = """
import json, os, time

from crosstown_bot import Bot, run


class Guesser(Bot):
    def choose(self, turn):
        match = turn.match
        turn.note = json.dumps({
            "bot_seed": match.bot_seed, "match": match.id, "game": match.game, "seat": match.seat,
            "pid": os.getpid(), "now": int(time.time()), "environment": list(os.environ.values()),
        })[:4000]
        return 0


run(Guesser)
"""


@pytest.fixture
def guessing(write_cup: Callable[..., Path]) -> Path:
    """cup.toml of bots that write down all they see."""
    path = write_cup(bots=2, blocks=2, more='[sandbox]\nprofile = "plain"\n')
    for bot in (path.parent / "bots").iterdir():
        (bot / "bot.py").write_text(GUESSER)
    shutil.rmtree(path.parent / "runs", ignore_errors=True)
    return path


def seen(workplace) -> dict:
    """What the bot of seat 0 saw in the last match."""
    record = read_record(workplace.records()[-1])
    note = next(line.note for line in record.lines if isinstance(line, Answer) and line.seat == 0)
    return json.loads(note)


def numbers(sight: dict) -> Iterator[int]:
    """Every number in what a bot sees."""
    place, _, plan = sight["match"].removeprefix("m").partition("-")
    yield from (sight["bot_seed"], int(place), int(plan, 16), sight["pid"], sight["now"])


def find_luck(sight: dict, candidates: Iterator[int] | range) -> int | None:
    """The number from which the match's luck follows, by any way in which this program computes luck."""
    wanted, game, seat = sight["bot_seed"], sight["game"], sight["seat"]
    for number in candidates:
        as_bytes = (number % (1 << 128)).to_bytes(16)
        guesses = [as_bytes.hex(), match_seed(as_bytes, ""), block_seed(as_bytes, 7, game, 1)]
        guesses += [public_block_seed(number, game, block) for block in (0, 1)]
        if any(bot_seed(guess, seat) == wanted for guess in guesses):
            return number
    return None


def test_a_bot_that_tries_all_typed_seeds_finds_that_of_a_run_without_a_secret(workplace, guessing):
    tournament = load_tournament(guessing)
    folder = RunFolder(guessing.parent / "runs" / "cup")
    folder.make()
    description = describe(tournament)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("created", format=1, hash=digest(description), configuration=description)
    assert workplace.run("run", "cup.toml").code == 0
    assert find_luck(seen(workplace), range(20)) == 7


@pytest.mark.parametrize("width", [1 << 12, pytest.param(1 << 20, marks=pytest.mark.long)])
def test_a_bot_that_tries_all_typed_seeds_and_those_around_every_visible_number_finds_nothing(
    workplace, guessing, width
):
    assert workplace.run("run", "cup.toml").code == 0
    sight = seen(workplace)
    assert find_luck(sight, TYPED if width > 1 << 12 else range(-10, 3_000)) is None
    for number in numbers(sight):
        assert find_luck(sight, range(number - width // 2, number + width // 2)) is None
    secret = (guessing.parent / "runs" / "cup" / "luck.secret").read_text().strip()
    assert secret not in json.dumps(sight)
