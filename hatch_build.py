"""Compiles the rules of the games with mypyc, when that is asked for. Plain Python is the default. Experimental.

    python launch.py compile              a wheel with compiled rules for this Python and machine, in dist/
    CROSSTOWN_COMPILE=1 pip wheel .       the same with the tools of the build, which pip installs for it
    python hatch_build.py FOLDER          the packages `referee` and `crosstown_env` with compiled rules, in a folder

The sources are the same, and they stay beside what is compiled: Python takes the compiled file where there is one.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
ASKED = "CROSSTOWN_COMPILE"
"""The environment variable: anything but an empty text or 0 asks for compiled rules."""
TOOLS = ("mypy==2.4.1", "setuptools==84.2.1", "types-protobuf>=7.35")
GROUP = "crosstown_rules"
"""Name of the library that holds what is compiled; each module becomes a small file that loads it."""
GAMES = "referee/games"
ENVIRONMENTS = "bots/python/crosstown_env"
MODULES = (
    "referee/games/keyed.py",
    *(f"{GAMES}/shibuya/{name}.py" for name in ("bitboard", "codec", "moves", "rules", "state")),
    *(f"{GAMES}/manhattan_traffiq/{name}.py" for name in ("board", "city", "codec", "rules", "state")),
    *(f"{GAMES}/ticket_to_ride_new_york/{name}.py" for name in ("board", "codec", "decks", "rules", "state")),
    *(
        f"{GAMES}/king_of_new_york/{name}.py"
        for name in (
            *("card_effects", "cards", "codec", "constants", "damage", "destruction", "dice", "market", "movement"),
            *("rules", "ruleset", "state"),
        )
    ),
    *(
        f"{ENVIRONMENTS}/{name}.py"
        for name in ("king_of_new_york", "manhattan_traffiq", "shibuya", "stepping", "table", "ticket_to_ride_new_york")
    ),
)
"""What is compiled, with the arrays of the environments. Actions, events and observations are not: they are values,
whose classes stay those of Python."""


def is_asked() -> bool:
    """Whether the environment asks for compiled rules."""
    return os.environ.get(ASKED, "") not in ("", "0")


def compile_into(folder: Path, modules: Sequence[str] = MODULES, opt_level: str = "2") -> list[Path]:
    """Compile modules, and put the compiled files where the modules lie below `folder`. Returns these files.

    A lower `opt_level` compiles sooner, for tests. CalledProcessError if the compiler fails, after it has said why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, str(Path(__file__).resolve()), "--compile", str(folder.resolve()), scratch]
        command += [opt_level, *modules]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.stderr.write(done.stdout)
    done.check_returncode()
    return sorted(folder.rglob("*.so"))


def copy_with_compiled(folder: Path, modules: Sequence[str] = MODULES, opt_level: str = "2") -> None:
    """Copy `referee` and `crosstown_env` into a folder, with compiled rules, for PYTHONPATH to name."""
    for package in (ROOT / "referee", ROOT / ENVIRONMENTS):
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    compile_into(folder, modules, opt_level)


@contextmanager
def compiled_folder(known: str) -> Iterator[Path]:
    """A folder that `copy_with_compiled` has made: this one, or a new one for a while if the text is empty."""
    if known:
        yield Path(known).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        copy_with_compiled(Path(folder))
        yield Path(folder)


def _compile(folder: str, scratch: str, opt_level: str, *modules: str) -> None:
    """Run the compiler, in a process of its own, because mypyc and setuptools change the process."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    extensions = mypycify(
        ["--config-file=pyproject.toml", f"--cache-dir={scratch}/mypy", *modules],
        opt_level=opt_level,
        debug_level="0",
        multi_file=True,
        group_name=GROUP,
        target_dir=scratch,
    )
    command: Any = Distribution({"name": GROUP, "ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib, command.build_temp, command.parallel = folder, scratch, True
    command.ensure_finalized()
    command.run()


class CompiledRules(BuildHookInterface):  # type: ignore[type-arg]
    """Adds compiled rules to a wheel. See hatchling's custom build hooks."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return list(TOOLS) if is_asked() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not is_asked() or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        for file in compile_into(folder):
            build_data["force_include"][str(file)] = str(file.relative_to(folder))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


if __name__ == "__main__":
    if len(sys.argv) > 5 and sys.argv[1] == "--compile":
        _compile(*sys.argv[2:])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        copy_with_compiled(Path(sys.argv[1]))
    else:
        sys.exit((__doc__ or "").strip())
