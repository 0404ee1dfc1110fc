"""A bot that guesses: it has all that a bot is sent, knows how luck is computed, and tries every number it can.

Of a run of before there were secrets it finds the typed seed, and with it every die and card.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leaderboard.web.play_host import HUMAN, Setup
from referee.cli.play_host import Host
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
    return seen_in(workplace.records()[-1])


def seen_in(path: Path) -> dict:
    record = read_record(path)
    note = next(line.note for line in record.lines if isinstance(line, Answer) and line.seat == 0)
    return json.loads(note)


def numbers(sight: dict) -> Iterator[int]:
    """Every number in what a bot sees."""
    yield from (sight["bot_seed"], sight["pid"], sight["now"])
    for word in sight["match"].removeprefix("m").split("-"):
        if word.isdigit():
            yield int(word)
        if re.fullmatch("[0-9a-f]+", word):
            yield int(word, 16)


def find_luck(sight: dict, candidates: Iterator[int] | range) -> int | None:
    """The number from which the match's luck follows, by any way in which this program computes luck."""
    wanted, game, seat = sight["bot_seed"], sight["game"], sight["seat"]
    for number in candidates:
        as_bytes = (number % (1 << 128)).to_bytes(16)
        guesses = [as_bytes.hex(), match_seed(as_bytes, ""), match_seed(as_bytes, "web 0")]
        guesses += [block_seed(as_bytes, seed, game, block) for seed in (1, 7) for block in (0, 1)]
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


def played_in(workplace, where: str, secret: Path | None) -> Path:
    """The record of a match that was played in one of the ways outside of a run, on chance or on a secret."""
    bots = workplace.folder / "bots"
    given = () if secret is None else ("--secret", str(secret))
    if where == "match":
        seats = [word for name in ("bot0", "bot1") for word in ("--seat", str(bots / name))]
        outcome = workplace.run("match", "toy", *seats, "--json", *given)
        assert outcome.code == 0, outcome.stderr
        return workplace.folder / json.loads(outcome.stdout)["record"]
    if where == "compare":
        both = (str(bots / "bot0"), str(bots / "bot1"))
        outcome = workplace.run("compare", *both, "--games", "toy", "--cap", "1", "--json", *given)
        assert outcome.code in (0, 1), outcome.stderr
        run = workplace.folder / json.loads(outcome.stdout)["run"]
        return next(
            path for path in (run / "matches").glob("*.gz") if read_record(path).header.seats[0].name == "bot 0"
        )
    return played_by_a_person(workplace.folder / "runs", bots, secret)


def played_by_a_person(runs: Path, bots: Path, secret: Path | None) -> Path:
    """The guesser has seat 0, and a person who takes the first action the other."""
    with Host(runs, [bots], secret=secret) as host:
        guesser = next(found for found in host.opponents("toy") if found.name == "bot 0")
        (seat,) = host.start(Setup("toy", (guesser.id, HUMAN)))
        end_s = time.monotonic() + 60
        while not (now := seat.now()).over:
            assert time.monotonic() < end_s
            if now.question is not None:
                seat.answer(now.question.decision, 0)
            time.sleep(0.01)
        return host.run / "matches" / f"{seat.match_id}.jsonl.gz"


@pytest.mark.parametrize("where", ["match", "compare", "web"])
def test_a_guesser_finds_nothing_outside_of_a_run_either(workplace, guessing, where, tmp_path):
    """Of the same ways it finds the number that an organiser has chosen as the secret."""
    chosen = tmp_path / "chosen"
    chosen.write_text(f"{19:032x}\n")
    chosen.chmod(0o600)
    assert find_luck(seen_in(played_in(workplace, where, chosen)), range(30)) == 19
    shutil.rmtree(workplace.folder / "runs")
    sight = seen_in(played_in(workplace, where, None))
    assert find_luck(sight, range(-10, 3_000)) is None
    for number in numbers(sight):
        assert find_luck(sight, range(number - 500, number + 500)) is None
