"""Old, cut, changed and foreign records in the terminal: shown as far as they go, with the reason."""

import json
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "record" / "corpus"

REASONS = {
    "v1-toy.jsonl.gz": "ended: normal (rated)",
    "v1-crashed.jsonl.gz": "fault of Boole: crashed, leaves: exit code 3",
    "v1-hostile.jsonl.gz": "ended: crashed (rated): <script>",
    "v1-strike.jsonl.gz": "fault of Boole: move_timeout, the referee chooses for it once: answered after 1.250 s",
    "v1-void.jsonl.gz": "ended: platform_fault (void): the disk is full",
    "v1-not-started.jsonl.gz": "ended: start_failed (void): Ada did not start",
    "v1-cancelled.jsonl.gz": "ended: cancelled (cancelled): by the organiser",
    "v1-live.jsonl": "unfinished: the record has no footer",
    "v1-cut-line.jsonl": "unfinished: the record has no footer",
    "v1-cut-closed.jsonl.gz": "damaged: the compressed file is cut",
    "v1-no-footer.jsonl.gz": "damaged: the file is closed but has no footer",
    "v1-changed-move.jsonl.gz": "damaged: line 11: the line was changed, lost or inserted",
    "v1-other-move.jsonl.gz": "line 23 cannot be followed: action_syntax: unknown action kind 'nonsense'",
    "v1-unknown-game.jsonl.gz": "no board: unknown game 'checkers'",
    "v1-other-rules.jsonl.gz": "no board: played by rules version 99, installed is 1",
}
REFUSED = {
    "v1-cut-header.jsonl": "it has no whole line yet",
    "v1-newer-format.jsonl.gz": "use a newer Crosstown",
    "v1-older-format.jsonl.gz": "this record has format 0",
}
BOARDS = set(REASONS) - {"v1-unknown-game.jsonl.gz", "v1-other-rules.jsonl.gz"}


def safe(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text) and len(text) < 250_000


@pytest.mark.parametrize("name", REASONS)
def test_a_record_is_shown_with_all_its_moves_and_the_reason(matches: Any, name: str) -> None:
    shown = matches("show", str(CORPUS / name)).stdout
    assert REASONS[name] in shown
    assert safe(shown)
    document = json.loads(matches("show", str(CORPUS / name), "--json").stdout)
    moves = [line for line in document["lines"] if line["kind"] == "answer"]
    assert shown.count(" ms") >= len(moves)
    # Without its rules a match is a list of texts; with them its moves are sentences.
    assert all(move["action"] in shown for move in moves) or name in BOARDS
    assert len(document["steps"]) > 1 or name == "v1-not-started.jsonl.gz" or name not in BOARDS


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", ["show", "export"])
def test_what_cannot_be_read_is_refused_with_the_reason(matches: Any, command: str, name: str) -> None:
    stderr = matches(command, str(CORPUS / name), code=2).stderr
    assert REFUSED[name] in stderr
    assert "next: " in stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", REASONS)
def test_every_export_says_what_it_can(matches: Any, tmp_path: Path, name: str) -> None:
    record = str(CORPUS / name)
    page = tmp_path / "m.html"
    matches("export", record, str(page))
    assert safe(page.read_text(encoding="utf-8"))
    assert json.loads(matches("export", record, "-", "--format", "json").stdout)["lines"] or "not-started" in name
    for words in ((), ("--step", "0")):
        said = matches("export", record, str(tmp_path / "m.svg"), *words, code=0 if name in BOARDS else 2)
        assert name in BOARDS or REASONS[name] in said.stderr


def test_the_list_has_every_record_of_the_folder_with_what_is_wrong(matches: Any) -> None:
    rows = {row["match"]: row for row in json.loads(matches("list", "--run", str(CORPUS), "--json").stdout)}
    names = sorted(path.name for path in CORPUS.glob("v*"))
    assert sorted(Path(row["path"]).name for row in rows.values()) == names
    statuses = {Path(row["path"]).name: row["status"] for row in rows.values()}
    assert statuses == dict.fromkeys(REFUSED, "unreadable") | {
        name: {"void": "void", "not-started": "void", "cancelled": "cancelled", "live": "unfinished",
               "cut-line": "unfinished", "cut-closed": "damaged", "no-footer": "damaged",
               "changed-move": "damaged"}.get(name.removeprefix("v1-").partition(".")[0], "rated")
        for name in names if name not in REFUSED
    }  # fmt: skip
    assert safe(matches("list", "--run", str(CORPUS)).stdout)


def test_verify_names_each_that_is_wrong(matches: Any) -> None:
    said = matches("verify", "--run", str(CORPUS), code=1).stdout
    assert safe(said)
    for name in ("changed-move", "other-move", "unknown-game", "newer-format", "cut-closed"):
        assert f"v1-{name}.jsonl.gz: wrong:" in said
    for name in ("other-rules", "king_of_new_york"):
        assert f"v1-{name}.jsonl.gz: other_rules: line 1: played by rules version" in said
    assert ", 8 wrong, 2 of other rules, not played again, 2 unfinished" in said
