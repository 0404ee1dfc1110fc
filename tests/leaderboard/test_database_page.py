"""docs/database.md says what is there, and its queries run."""

import re
import sqlite3
from pathlib import Path

import pytest

from leaderboard.standings import standings
from leaderboard.store import SCHEMA_VERSION, Store

PAGE = (Path(__file__).parents[2] / "docs" / "database.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def connection(tmp_path, make_row):
    rows = [make_row(0, {"ann": 1, "bob": 2}), make_row(1, {"bob": 2, "ann": 1}, faults=("crashed", ""))]
    rows.append(make_row(2, {"ann": 2, "bob": 1}))
    with Store(tmp_path / "crosstown.db") as store:
        store.put(rows)
        store.put_ratings(row.to_dict() for row in standings(rows))
    opened = sqlite3.connect(tmp_path / "crosstown.db")
    yield opened
    opened.close()


def test_there_are_three_queries_with_these_answers(connection):
    answers = [connection.execute(query).fetchall() for query in QUERIES]
    assert answers == [
        [("ANN", 3, 2, 8.5), ("BOB", 3, 1, 8.5)],
        [("m000001-00000000", "BOB", "crashed", "m000001-00000000.jsonl.gz")],
        [("ANN", 0, "BOB", 2, 1), ("ANN", 1, "BOB", 1, 1), ("BOB", 0, "ANN", 1, 0), ("BOB", 1, "ANN", 2, 1)],
    ]


def test_every_table_and_column_is_on_the_page(connection):
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        assert f"| `{table}` |" in PAGE
        line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{table}` |"))
        for _, column, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
            key = table == "ratings" and column in ("game", "players", "entry_id")
            assert key or f"`{column}`" in line, f"{table}.{column}"
    assert f"the schema, currently {SCHEMA_VERSION}" in " ".join(PAGE.split())
