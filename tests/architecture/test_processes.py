"""Processes that Crosstown starts with its own interpreter."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import modules

APART = ("-P", "-I")
"""With these, Python imports nothing from the working directory. A bot's folder or a stranger's may be that."""


def options(tree: ast.AST) -> Iterator[object]:
    """Of each command that begins with `sys.executable` the word behind that."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple):
            for program, option in zip(node.elts, node.elts[1:], strict=False):
                if ast.unparse(program) == "sys.executable":
                    yield option.value if isinstance(option, ast.Constant) else None


@pytest.mark.parametrize("path", [pytest.param(path, id=name) for name, path in modules()])
def test_a_process_of_ours_imports_nothing_from_the_working_directory(path: Path) -> None:
    found = [option for option in options(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(option, str)]
    begins_again = path.name == "main.py"  # with the words that it was started with
    assert [option for option in found if option not in APART] == ["-X"] * begins_again


def test_a_process_that_would_is_found() -> None:
    tree = ast.parse(
        'run([sys.executable, "-m", "a"]); run((sys.executable, "-P", "-m", "a")); run([sys.executable, b])'
    )
    assert list(options(tree)) == ["-m", "-P", None]
