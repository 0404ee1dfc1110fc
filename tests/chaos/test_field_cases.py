"""Every case from the field has its test, and docs/reliability.md names every one."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from field_cases import CASES

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = {
    "TIM": (1, 2, 3, 4, 5, 9, 10, 11, 12, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24),
    "CON": (1, 2, 4, 5, 6, 7, 9, 10, 11, 13, 15),
    "PRC": (1, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 16),
    "OUT": (1, 3, 4, 5, 6, 7, 11),
    "CRA": (1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 14, 15, 16),
}
"""The numbers of the list as it was gathered, so that none can be forgotten."""

DOCUMENT = ROOT / "docs" / "reliability.md"
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds) and node.name.startswith("test_"))


def test_no_case_is_forgotten() -> None:
    assert sorted(CASES) == sorted(f"{kind}-{number}" for kind, numbers in SECTIONS.items() for number in numbers)


@pytest.mark.parametrize("case", CASES)
def test_a_case_has_tests_that_exist(case: str) -> None:
    assert CASES[case]
    for test in CASES[case]:
        path, _, name = test.partition("::")
        assert name in names_in(ROOT / "tests" / path), f"{case}: {test}"


def test_the_document_names_every_case_and_only_tests_that_exist() -> None:
    text = DOCUMENT.read_text()
    assert [case for case in CASES if not re.search(rf"\b{case}\b", text)] == []
    found = _TEST.findall(text)
    assert len(found) > 40
    missing = [f"{path}::{name}" for path, name in found if not (ROOT / path).is_file()]
    missing += [f"{path}::{name}" for path, name in found if name and name not in names_in(ROOT / path)]
    assert missing == []
