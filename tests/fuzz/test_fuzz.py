"""Mutated input of every parser: it is read, or refused with the error that is documented; nothing else.

`pytest tests/fuzz --long` tries a million inputs of each; CROSSTOWN_FUZZ_INPUTS sets another number.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mutate import mutate
from plants import PLANTS, PlantedBug, plant
from targets import GAMES, Target, targets

FEW, MANY = 300, 1_000_000
PLANTED_WITHIN = 3_000
NAMES = [
    "bot message in a match", "match specification", "match result", "worker line", "bot.toml", "tournament file",
    "journal", "controls of a journal", "record", "packed record", "record judged again", "evidence judged again",
    "Hello", "line of a program", "text of a program", "kept build", "kept home", "kept table", "kept live table",
    "lock of a run", "first line of a program", "pyvenv.cfg of a bot", "settings of pip",
    "settings of cargo", "settings of maven", "zip file of a hand-in", "tar file of a hand-in",
    *(f"{what} {game}" for game in GAMES for what in (
        "action of", "choice in", "action text of", "observation of", "box of", "verified record of"
    )),
]  # fmt: skip


def fuzz(target: Target, inputs: int, seed: int, run: Callable[[bytes], object]) -> int:
    """Try so many inputs. Returns how many were read; raises what is no documented error, with the input as a note."""
    random = Random(f"{seed} {target.name}")
    good, pool = 0, list(target.corpus)
    for number in range(inputs):
        # By turns from good input: a parser that takes anything would soon have nothing but rubbish in the pool.
        data = mutate(random.choice(pool if number % 2 else target.corpus), target.corpus, random)
        try:
            run(data)
        except target.errors:
            continue
        except Exception as error:
            error.add_note(f"{target.name}: {data!r}")
            raise
        good += 1
        if len(pool) < 200:  # from what was read on to what is still further off
            pool.append(data)
    return good


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return {target.name: target for target in targets(tmp_path_factory.mktemp("fuzz"))}


def test_every_target_is_fuzzed(found: dict[str, Target]) -> None:
    assert sorted(found) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_good_input_is_read(found: dict[str, Target], name: str) -> None:
    for data in found[name].corpus:
        found[name].run(data)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "where"), [(name, where) for name in NAMES for where in PLANTS[name]])
def test_a_planted_bug_is_found(
    found: dict[str, Target], monkeypatch: pytest.MonkeyPatch, name: str, where: str
) -> None:
    """In a function deep in the parser, and in one on its way to an error, for values that good input does not have."""
    target = found[name]
    grow = plant(monkeypatch, where)
    for data in target.corpus:
        target.run(data)
    grow()
    with pytest.raises(PlantedBug):
        fuzz(target, PLANTED_WITHIN, 7, target.run)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_few_inputs(found: dict[str, Target], name: str) -> None:
    fuzz(found[name], FEW, 1, found[name].run)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data",
    [b"", b"[" * 50_000, b'{"a":' * 20_000, b"9" * 5000, b"-", b"1e999", b'"\\ud800"', b"\0", b"\xff" * 100],
    ids=["nothing", "lists", "tables", "digits", "sign", "infinity", "half a character", "zero", "ones"],
)
def test_extremes(found: dict[str, Target], name: str, data: bytes) -> None:
    with suppress(*found[name].errors):
        found[name].run(data)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_million_inputs(found: dict[str, Target], name: str) -> None:
    fuzz(found[name], int(os.environ.get("CROSSTOWN_FUZZ_INPUTS", MANY)), 2, found[name].run)
