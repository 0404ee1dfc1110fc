"""Where the starter kits are: in the installed package, or in the checkout it runs from."""

import shutil
from pathlib import Path

import referee
from referee.process.manifest import BUILD_OUTPUT

_INSTALLED = Path(referee.__file__).parent / "kits"
_CHECKOUT = Path(referee.__file__).parents[1]

KITS = {
    "python": "bots/python/random",
    "go": "bots/go",
    "rust": "bots/rust",
    "java": "bots/java",
    "typescript": "bots/typescript",
    "cpp": "bots/cpp",
    "bash": "bots/bridge/bash",
    "perl": "bots/bridge/perl",
    "c": "bots/bridge/c",
    "llm": "bots/bridge/llm",
}
"""Languages by the word after `--lang`, and the folder of each."""


def kit_folder(language: str) -> Path:
    """The folder of a kit. KeyError for a language without one."""
    path = KITS[language]
    installed = _INSTALLED / path.removeprefix("bots/")
    return installed if installed.is_dir() else _CHECKOUT / path


def copy_kit(language: str, target: Path) -> None:
    """A kit as its author begins with it: sources alone, no build output. KeyError, FileExistsError or OSError."""
    shutil.copytree(
        kit_folder(language), target, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.pyc", *BUILD_OUTPUT)
    )
