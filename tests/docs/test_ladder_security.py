"""The list of attacks on a ladder names tests that are there, and is as long as that of the sandbox."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of the table that begins with this line."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    lines = text[text.index(head) :].splitlines()[2:]
    found = []
    for line in lines:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def test_each_attack_names_tests_that_are_there() -> None:
    attacks = rows("ladder_security.md", "| attempt | what stops it | tried in |")
    for attempt, what, tried in attacks:
        assert attempt
        assert what
        folder = None
        names = re.findall(r"`([^`]+)`", tried)
        assert names, attempt
        for name in names:
            path = ROOT / "tests" / name if "/" in name else ROOT / "tests" / (folder or "") / name
            folder = path.parent.relative_to(ROOT / "tests")
            assert path.is_file(), f"{attempt}: {name}"


def test_the_list_is_at_least_as_long_as_that_of_the_sandbox() -> None:
    sandbox = rows("sandbox.md", "| it cannot | because |")
    assert len(sandbox) > 20
    assert len(rows("ladder_security.md", "| attempt | what stops it | tried in |")) >= len(sandbox)
