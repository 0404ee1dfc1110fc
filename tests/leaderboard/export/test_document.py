"""A match as JSON."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from leaderboard.export.document import match_document
from referee.record import Answer

SCHEMA = json.loads((Path(__file__).resolve().parents[3] / "docs" / "match.schema.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("toy", "crashed", "hostile", "strike", "void", "not-started", "cancelled", "live", "cut-closed"),
        *("changed-move", "other-move", "unknown-game", "other-rules", "shibuya"),
    ],
)
def test_every_document_is_as_the_schema_says(old_record: Callable[..., Any], name: str) -> None:
    document = json.loads(json.dumps(match_document(old_record(name))))
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)


def test_it_holds_the_whole_record(old_record: Callable[..., Any]) -> None:
    """REP-5: all that can be asked of a match lies in one file."""
    record = old_record("toy")
    document = match_document(record)
    assert document["header"] == asdict(record.header)
    assert document["footer"] == asdict(record.footer)
    assert [line["line"] for line in document["lines"]] == list(range(2, 2 + len(record.lines)))
    actions = [line["action"] for line in document["lines"] if line["kind"] == "answer"]
    assert actions == [line.action for line in record.lines if isinstance(line, Answer)]
    assert document["steps"][0] == {"step": 0, "events": []}
    assert any(step["events"] for step in document["steps"])
    assert document["wrong"] == ""


def test_it_says_why_a_record_cannot_be_followed(old_record: Callable[..., Any]) -> None:
    document = match_document(old_record("other-move"))
    assert document["wrong"].startswith("line 23 cannot be followed")
    assert len(document["steps"]) == 21
    assert match_document(old_record("unknown-game"))["steps"] == []
