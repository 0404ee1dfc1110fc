"""Rules compiled by mypyc play exactly as plain Python, which is the reference. See hatch_build.py.

Shibuya is compiled in every run of the tests, without optimisation. With --long all games are compiled as for a wheel,
which takes minutes; or the environment variable CROSSTOWN_COMPILED names a folder that hatch_build.py has made.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatch_build import ENVIRONMENTS, MODULES, compiled_folder, copy_with_compiled
from referee.record.reader import read_header

ROOT = Path(__file__).resolve().parents[3]
PYTHON = [sys.executable, "-P"]  # -P: the folder of the script, or this one, is not in front of PYTHONPATH
CROSSTOWN = [*PYTHON, "-m", "referee.cli.main"]
RUN = """
name = "cup"
game = "{game}"
format = "round-robin"
seed = 1
blocks = 1

[[bots]]
name = "one"
path = "{random}"

[[bots]]
name = "two"
copy_of = "one"
"""

SHIBUYA = ["referee/games/keyed.py", *(one for one in MODULES if one.startswith("referee/games/shibuya/"))]
TRANSCRIPT = [*PYTHON, "tests/referee/games/transcript.py"]


@pytest.fixture(scope="module")
def compiled() -> Iterator[Path]:
    with compiled_folder(os.environ.get("CROSSTOWN_COMPILED", "")) as folder:
        yield folder


def run(command: list[str], compiled: Path | None, cwd: Path = ROOT) -> str:
    """What it prints. With compiled rules if there is a folder of them."""
    done = subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": "" if compiled is None else str(compiled)},
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
def test_compiled_rules_of_shibuya_play_as_plain_ones(tmp_path: Path) -> None:
    """Wrong values are among what is compared. One game, because a minute is too long for every run of the tests."""
    copy_with_compiled(tmp_path, SHIBUYA, opt_level="0")
    plain, fast = (run([*TRANSCRIPT, "3", "shibuya"], folder).splitlines() for folder in (None, tmp_path))
    assert (plain[0], fast[0]) == ("plain", "compiled")
    assert plain[1:] == fast[1:]


@pytest.mark.long
def test_each_module_on_the_list_is_compiled(compiled: Path) -> None:
    for module in MODULES:
        where = compiled / module.replace(ENVIRONMENTS, "crosstown_env")
        assert list(where.parent.glob(f"{where.stem}.*.so")), module


@pytest.mark.long
def test_random_matches_and_answers_to_wrong_values_are_the_same_to_the_byte(compiled: Path) -> None:
    plain, fast = (run([*TRANSCRIPT, "10"], folder).splitlines() for folder in (None, compiled))
    assert (plain[0], fast[0]) == ("plain", "compiled")
    assert plain[1:] == fast[1:]


@pytest.mark.long
@pytest.mark.parametrize(
    "tests",
    [
        *(
            f"tests/referee/games/{game}"
            for game in ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
        ),
        "tests/referee/games/conformance/test_installed_games.py",
        "tests/referee/games/test_keyed.py",
        "tests/referee/games/test_wrong_values.py",
        "tests/environments/test_arrays.py",
        "tests/environments/test_vector.py",
        "tests/referee/record/test_corpus.py",
    ],
)
def test_the_tests_of_the_rules_pass_with_compiled_rules(compiled: Path, tests: str) -> None:
    """Golden matches, rules, codecs, the conformance kit, arrays, and records that plain rules have written."""
    run([*PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests], compiled)


@pytest.mark.long
@pytest.mark.parametrize("writer", ["plain", "compiled"])
def test_a_record_verifies_with_the_other_form(compiled: Path, tmp_path: Path, writer: str) -> None:
    (tmp_path / "cup.toml").write_text(RUN.format(game="shibuya", random=ROOT / "bots" / "python" / "random"))
    forms = {"plain": None, "compiled": compiled}
    run([*CROSSTOWN, "run", "cup.toml"], forms.pop(writer), tmp_path)
    (reader,) = forms.values()
    (head, _) = (read_header(path) for path in (tmp_path / "runs/cup/matches").rglob("*.jsonl.gz"))
    assert head.machine == ({} if writer == "plain" else {"rules": "compiled"})
    verified = run([*CROSSTOWN, "matches", "verify", "--run", "runs/cup"], reader, tmp_path)
    assert "2 records: 2 ok, 0 wrong" in verified
