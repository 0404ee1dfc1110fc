"""The starters of the languages, built once per checkout, and what stands in for their referee."""

import fcntl
import inspect
import os
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from referee.process.entry import Entry, load_entry

ROOT = Path(__file__).resolve().parents[3]
TOOLS = {
    "go": ("go",),
    "rust": ("cargo",),
    "java": ("java", "mvn"),
    "typescript": ("node", "npm"),
    "cpp": ("g++", "cmake", "protoc", "grpc_cpp_plugin"),
}
MADE = {"build", "target", "node_modules"}
BUILD_LIMIT_S = 1500
MASK = (1 << 64) - 1


def mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def fair_index(bot_seed: int, decision: int, count: int) -> int:
    """The choice that every random bot makes: docs/languages.md, "The same choices in every language"."""
    state = mix((bot_seed + decision) & MASK)
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        value = mix(state)
        if value >= (1 << 64) % count:
            return value % count


@pytest.fixture(scope="session", name="fair_index")
def _fair_index() -> Callable[[int, int, int], int]:
    return fair_index


REFERENCE = f"""
from crosstown_bot import Bot, run

MASK = {MASK}

{{mix}}

{{fair_index}}

class Reference(Bot):
    wants_observation = wants_legal_actions = False

    def choose(self, turn):
        return fair_index(turn.match.bot_seed, turn.number, turn.legal_count)

run(Reference)
"""


def reference(folder: Path) -> Entry:
    """The same choices, in Python."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text('name = "reference"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    sources = {"mix": inspect.getsource(mix), "fair_index": inspect.getsource(fair_index)}
    (folder / "bot.py").write_text(textwrap.dedent(REFERENCE).format(**sources))
    return load_entry(folder)


def fingerprint(folder: Path) -> str:
    """Of all that goes into a build."""
    digest = blake2b(digest_size=16)
    for top in (folder, ROOT / "proto" / "crosstown"):
        for path in sorted(top.rglob("*")):
            if path.is_file() and path.suffix != ".md" and not MADE & set(path.relative_to(top).parts):
                digest.update(f"{path.relative_to(top)}:{path.stat().st_size}:".encode() + path.read_bytes())
    return digest.hexdigest()


def build(language: str) -> None:
    """Runs the starter's build.sh, unless what it would make exists already."""
    folder = ROOT / "bots" / language
    made = folder / ("target" if language in ("rust", "java") else "build")
    made.mkdir(exist_ok=True)
    with (made / ".tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp, wanted = made / ".tests.built", fingerprint(folder)
        if stamp.exists() and stamp.read_text() == wanted:
            return
        done = subprocess.run(
            ["sh", "build.sh"], cwd=folder, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False
        )
        if done.returncode:
            pytest.fail(
                f"bots/{language}/build.sh failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}", pytrace=False
            )
        stamp.write_text(wanted)


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Entry]:
    """The entry of a language's starter, with options of its own; "reference" is the formula in Python."""
    built: set[str] = set()

    def get(language: str, **options: str) -> Entry:
        if language == "reference":
            return reference(tmp_path_factory.getbasetemp() / "reference")
        if missing := [tool for tool in TOOLS[language] if shutil.which(tool) is None]:
            sentence = f"{language}: {' and '.join(missing)} not installed"
            if os.environ.get("CROSSTOWN_REQUIRE_LANGUAGES"):
                pytest.fail(f"{sentence}, but CROSSTOWN_REQUIRE_LANGUAGES is set", pytrace=False)
            pytest.skip(sentence)
        if language not in built:
            build(language)
            built.add(language)
        folder = ROOT / "bots" / language
        return load_entry(folder, options=options, built_in=folder)

    return get
