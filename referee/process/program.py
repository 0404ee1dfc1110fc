"""Finds the program that an argv list names."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from referee.process.manifest import BUILD_OUTPUT, FILE_NAME, PYTHON, Manifest, ManifestError

_BRIDGE = "crosstown_bridge"
_TERMINAL = "--terminal"
"""Instead of a program, a person."""


def find_argv(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """`manifest.run` ready to be executed: `{python}` replaced, the program's path absolute.

    A program is looked for in the bot's folder first, then in PATH. Raises ManifestError if there is none that may
    be executed, or none for the bridge to start.
    """
    interpreter = sys.executable
    words = tuple(interpreter if word == PYTHON else word for word in manifest.run)
    if _BRIDGE in words and not {"--", _TERMINAL} & set(words):
        raise ManifestError(
            f"{folder / FILE_NAME}: 'run' starts the bridge without a program; write it after '--', such as"
            f' ["{PYTHON}", "-m", "{_BRIDGE}", "--", "perl", "bot.pl"]'
        )
    behind = _behind_bridge(words)
    if behind:
        _find_program(folder, behind, manifest)
    return (str(_find_program(folder, words[0], manifest)), *words[1:])


def _behind_bridge(words: tuple[str, ...]) -> str:
    """The program of a bot that talks in lines: the word after `--`; '' for other bots."""
    after = words.index("--") + 1 if _BRIDGE in words and "--" in words else len(words)
    return words[after] if after < len(words) else ""


def _find_program(folder: Path, word: str, manifest: Manifest) -> Path:
    own = (folder / word).absolute()
    if own.is_file() and os.access(own, os.X_OK):
        found: Path | None = own
    else:
        path = None if "/" in word else shutil.which(word)
        found = Path(path).absolute() if path else None
    if found is not None:
        not_its_own = not found.is_relative_to(folder.absolute())
        if manifest.build and not_its_own and not any((folder / name).is_dir() for name in BUILD_OUTPUT):
            # Such as `java -jar target/bot.jar`: the program is there, what it is to run is not.
            names = ", ".join(sorted(BUILD_OUTPUT))
            raise ManifestError(f"{folder}: nothing is built in there; the build must make one of {names}")
        return found
    where = f"{folder / FILE_NAME}: 'run' starts '{word}'"
    if own.is_file():
        raise ManifestError(f"{where}, which is not executable; run: chmod +x {shlex.quote(str(own))}")
    if own.is_dir():
        raise ManifestError(f"{where}, which is a folder; name a program")
    if re.fullmatch(r"\{.*\}", word):
        raise ManifestError(f"{where}, which stands for nothing; write {PYTHON} for the referee's own interpreter")
    looked = "" if "/" in word else " and in PATH"
    raise ManifestError(f"{where}, which is not there (looked in the bot's folder{looked}); install or correct it")
