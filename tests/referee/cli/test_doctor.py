"""`crosstown doctor` prints every row, for people and as JSON, and its exit code says whether something is missing."""

import json

import pytest

from referee.cli.app import run_command
from referee.process import checkup
from referee.process.checkup import Row

GOOD = Row("python", "ok", "3.11")
WEAK = Row("cores", "weaker", "1", "use two")
BAD = Row("bubblewrap", "missing", "not installed", "apt install bubblewrap")


@pytest.mark.parametrize(("rows", "code"), [([GOOD], 0), ([GOOD, WEAK], 0), ([GOOD, WEAK, BAD], 1)])
@pytest.mark.parametrize("as_json", [False, True])
def test_every_row_is_shown_with_its_remedy(
    rows: list[Row], code: int, as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(checkup, "check_machine", lambda: rows)
    assert run_command(["doctor", "--json"] if as_json else ["doctor"]) == code
    said = capsys.readouterr().out
    if as_json:
        told = json.loads(said)
        assert told["ok"] is (code == 0)
        assert [row["name"] for row in told["rows"]] == [row.name for row in rows]
    for row in rows:
        assert row.name in said
        assert row.fix in said
        assert row.level in said
