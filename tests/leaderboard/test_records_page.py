"""docs/records.md says what is in a record, and its examples run."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from referee.cli.app import run_command
from referee.match.result import Fault
from referee.record import FORMAT, Footer, Header, SeatHeader, SeatStats
from referee.record.archive import write_archive
from referee.record.reasons import EndReason

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, flags=re.DOTALL)
FILTERS = re.findall(r"```sh\ncrosstown (matches list --json) \| jq (-r )?'(.*)'\n```", PAGE)
CORPUS = ROOT / "tests" / "referee" / "record" / "corpus"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the examples find what they read."""
    matches = tmp_path / "runs" / "cup" / "matches"
    matches.mkdir(parents=True)
    shutil.copy(CORPUS / "v1-crashed.jsonl.gz", tmp_path / "match.jsonl.gz")
    shutil.copy(CORPUS / "v1-crashed.jsonl.gz", matches / "m1.jsonl.gz")
    shutil.copy(CORPUS / "v1-void.jsonl.gz", matches / "m2.jsonl.gz")
    names = ("m000000-1c0ffee5.jsonl.gz", "m000001-5eaf00d5.jsonl.gz")
    record = (CORPUS / "v1-crashed.jsonl.gz").read_bytes()
    write_archive(tmp_path / "2026-11-29.1.pack.gz", ((name, 0, record) for name in names))
    return tmp_path


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_prints_what_the_page_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: str, printed: str
) -> None:
    monkeypatch.chdir(folder)
    if "m1: " in printed:  # the id of that match is in its header
        printed = printed.replace("m1:", "v1-crashed:")
    exec(compile(code, "docs/records.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == printed


def test_every_python_block_is_such_an_example() -> None:
    assert len(EXAMPLES) == PAGE.count("```python") == 5
    assert all(code.count("\n") <= 23 for code, _ in EXAMPLES)


def test_the_first_examples_need_no_crosstown(folder: Path) -> None:
    for code, printed in EXAMPLES[:3]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], cwd=folder, capture_output=True, text=True, check=True
        )
        assert done.stdout == printed


def test_a_changed_line_is_found_by_the_example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    shutil.copy(CORPUS / "v1-changed-move.jsonl.gz", folder / "match.jsonl.gz")
    with pytest.raises(SystemExit, match="line 11 was changed"):
        exec(EXAMPLES[1][0], {})


def named(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)`", text))


def test_every_field_is_on_the_page() -> None:
    header, footer = PAGE.split("### Header")[1].split("### Footer")
    assert {field.name for kind in (Header, SeatHeader) for field in fields(kind)} <= named(header)
    assert {field.name for field in fields(Footer)} <= named(footer)
    stats = re.search(r"`\[(.*)\]`", footer)
    assert stats is not None
    assert stats[1].split(", ") == [field.name for field in fields(SeatStats)]
    assert set(EndReason) <= named(footer)
    assert f"of the record: {FORMAT}" in header


def test_every_kind_of_evidence_is_on_the_page() -> None:
    told = re.search(r"Keys of `evidence`.*?: (.*)\n\s*\"*$", Fault.__doc__ or "", flags=re.DOTALL)
    assert told is not None
    keys = set(re.findall(r"[a-z_]+", re.sub(r"\([^)]*\)", "", told[1])))
    assert keys <= named(PAGE.split("**Evidence**")[1])


def listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run_command(["matches", "list", "--json", "--out", str(folder / "runs")]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


def test_every_field_of_the_list_is_on_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(folder, capsys)
    assert len(rows) == 2
    assert set(rows[0]) | set(rows[0]["seats"][0]) <= named(PAGE.split("`list --json` is one array")[1])


def test_the_filters_for_jq_name_fields_that_there_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(folder, capsys)
    known = set(rows[0]) | set(rows[0]["seats"][0])
    assert len(FILTERS) == PAGE.count("| jq ") == 3
    for _, raw, jq_filter in FILTERS:
        made = set(re.findall(r"(\w+): ", jq_filter))
        assert set(re.findall(r"\.([a-z_]+)", jq_filter)) <= known | made
        if (jq := shutil.which("jq")) is not None:
            words = [jq, *raw.split(), jq_filter]
            done = subprocess.run(words, input=json.dumps(rows), capture_output=True, text=True, check=True)
            assert done.stdout.strip()
