"""`crosstown docs`: whatever a message names of the documentation can be read where Crosstown is installed."""

import ast
import json
import re
from pathlib import Path

import pytest

from referee.cli.docs import docs_folder, find_pages

ROOT = Path(__file__).resolve().parents[3]
SHOWN = (
    "referee/cli/*.py",
    "bots/python/crosstown_bot/*.py",
    "bots/python/crosstown_bridge/*.py",
    "leaderboard/web/v1/*.py",
)
"""Where docstrings are shown, too: as the help of a command, or to an author."""


def test_without_a_name_all_pages_are_listed(crosstown):
    printed = crosstown("docs")
    assert printed.code == 0
    assert re.search(r"^sandbox +The sandbox$", printed.out, re.MULTILINE)
    assert re.search(r"^protocol/referee +referee.proto$", printed.out, re.MULTILINE)
    assert f"They lie in {docs_folder()}" in printed.out
    rows = json.loads(crosstown("docs", "--json").out)
    assert [row["name"] for row in rows] == [page.name for page in find_pages(docs_folder())]
    assert all(Path(row["path"]).is_file() and row["title"] for row in rows)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("sandbox", "sandbox.md"),
        ("docs/sandbox.md", "sandbox.md"),
        ("protocol/referee", "protocol/referee.md"),
        ("bot.schema.json", "bot.schema.json"),
    ],
)
def test_a_page_is_printed_as_it_is_written(crosstown, name, file):
    printed = crosstown("docs", name)
    assert (printed.code, printed.out) == (0, (ROOT / "docs" / file).read_text().rstrip("\n") + "\n")


@pytest.mark.parametrize(
    ("name", "step"), [("sandbxo", "did you mean: crosstown docs sandbox"), ("../LICENSE", "see: crosstown docs")]
)
def test_a_page_that_there_is_not_leads_to_those_that_there_are(crosstown, name, step):
    printed = crosstown("docs", name)
    assert printed.code == 2
    assert printed.err.splitlines() == [f"error: there is no page '{name}'", f"next: {step}"]


def texts(path: Path, *, docstrings: bool) -> list[str]:
    """The strings of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (docstrings or id(node) not in statements)
    ]


def messages() -> list[tuple[str, str]]:
    """(file, text) of every string that names the documentation."""
    shown = {path for pattern in SHOWN for path in ROOT.glob(pattern)}
    files = [path for folder in ("referee", "leaderboard", "bots/python") for path in (ROOT / folder).rglob("*.py")]
    return [
        (str(path.relative_to(ROOT)), text)
        for path in files
        if "docs" in path.read_text(encoding="utf-8")
        for text in texts(path, docstrings=path in shown)
    ]


def test_no_message_names_a_file_that_only_a_checkout_has():
    assert [where for where, text in messages() if re.search(r"\bdocs/[\w/.-]+\.(md|json)", text)] == []


def test_every_page_that_a_message_names_is_there():
    pages = {page.name for page in find_pages(docs_folder())}
    named = {name for _, text in messages() for name in re.findall(r"crosstown docs ([a-z][\w/.-]*\w)", text)}
    assert {"sandbox", "ratings", "bridge", "records"} <= named <= pages
