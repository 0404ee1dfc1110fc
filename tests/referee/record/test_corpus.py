"""REP-1: what Crosstown once wrote it can read for ever, and what it cannot follow it tells why."""

import gzip
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record import RecordError, read_record, verify
from referee.record.reader import read_header

CORPUS = Path(__file__).parent / "corpus"

VERDICTS = {
    "v1-king_of_new_york.jsonl.gz": ("other_rules", 1, "rules version 1 of king_of_new_york; installed is 2"),
    "v1-king_of_new_york-rules2.jsonl.gz": ("ok", 0, ""),
    "v1-manhattan_traffiq.jsonl.gz": ("ok", 0, ""),
    "v1-shibuya.jsonl.gz": ("ok", 0, ""),
    "v1-ticket_to_ride_new_york.jsonl.gz": ("ok", 0, ""),
    "v1-toy.jsonl.gz": ("ok", 0, ""),
    "v1-crashed.jsonl.gz": ("ok", 0, ""),
    "v1-hostile.jsonl.gz": ("ok", 0, ""),
    "v1-strike.jsonl.gz": ("ok", 0, ""),
    "v1-void.jsonl.gz": ("ok", 0, ""),
    "v1-not-started.jsonl.gz": ("ok", 0, ""),
    "v1-cancelled.jsonl.gz": ("ok", 0, ""),
    "v1-live.jsonl": ("unfinished", 0, ""),
    "v1-cut-line.jsonl": ("unfinished", 0, ""),
    "v1-cut-header.jsonl": ("wrong", 1, "it has no whole line yet"),
    "v1-cut-closed.jsonl.gz": ("wrong", 0, "the compressed file is cut"),
    "v1-no-footer.jsonl.gz": ("wrong", 0, "the file is closed but has no footer"),
    "v1-changed-move.jsonl.gz": ("wrong", 11, "the line was changed, lost or inserted"),
    "v1-other-move.jsonl.gz": ("wrong", 23, "unknown action kind 'nonsense'"),
    "v1-unknown-game.jsonl.gz": ("wrong", 1, "unknown game 'checkers'"),
    "v1-other-rules.jsonl.gz": ("other_rules", 1, "played by rules version 99 of toy; installed is 1"),
    "v1-newer-format.jsonl.gz": ("wrong", 0, "this record has format 2"),
    "v1-older-format.jsonl.gz": ("wrong", 0, "this record has format 0"),
}
"""File: what `verify` says of it, of which line, and why. A record whose rules have changed since gets that reason."""

OLD_RULES = {"king_of_new_york.jsonl.gz"}
"""Of rules that no installed game has any more, so that they cannot be made again."""

UNREADABLE = ("v1-cut-header.jsonl", "v1-newer-format.jsonl.gz", "v1-older-format.jsonl.gz")
"""Not even the header of these can be read."""


def test_every_file_of_the_corpus_is_in_the_table() -> None:
    assert {path.name for path in CORPUS.glob("v*")} == set(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_an_old_record_is_judged_as_ever(name: str) -> None:
    """REP-1, REP-2: rules version, seed, options and moves give the match again, up to its last position."""
    verdict = verify(CORPUS / name)
    status, line, problem = VERDICTS[name]
    assert (verdict.status, verdict.line) == (status, line)
    assert problem in verdict.problem


@pytest.mark.parametrize("name", VERDICTS)
def test_the_header_can_be_read_alone(name: str) -> None:
    path = CORPUS / name
    if name in UNREADABLE:
        with pytest.raises(RecordError, match=VERDICTS[name][2]):
            read_header(path)
    else:
        assert read_header(path) == read_record(path).header


def test_everything_that_a_record_can_hold_is_in_the_corpus() -> None:
    lines: list[Any] = []
    for name in set(VERDICTS) - set(UNREADABLE):
        record = read_record(CORPUS / name)
        lines += [*record.lines, record.footer]
    kinds = {type(line).__name__ for line in lines}
    assert kinds == {"Chance", "Answer", "FaultLine", "Strike", "Dropped", "Footer", "NoneType"}
    assert {line.status for line in lines if hasattr(line, "status")} == {"rated", "void", "cancelled"}


@pytest.mark.slow
@pytest.mark.parametrize("closed", [False, True])
def test_a_record_cut_anywhere_is_read_up_to_there(tmp_path: Path, closed: bool) -> None:
    data = (CORPUS / "v1-crashed.jsonl.gz").read_bytes()
    whole = read_record(CORPUS / "v1-crashed.jsonl.gz")
    data = data if closed else gzip.decompress(data)
    path = tmp_path / ("m.jsonl.gz" if closed else "m.jsonl")
    seen = set()
    for end in range(len(data)):
        path.write_bytes(data[:end])
        verdict = verify(path)
        assert verdict.status in ("wrong", "unfinished"), end
        if not verdict.match_id:
            continue
        record = read_record(path)
        seen.add(len(record.lines))
        assert record.header == whole.header
        assert record.lines == whole.lines[: len(record.lines)]
        assert not record.complete
    assert seen == set(range(len(whole.lines) + 1))


def test_the_script_makes_what_the_corpus_has(tmp_path: Path, names: Callable[[Path], set[str]]) -> None:
    """Not the same bytes for ever: a later version may write another format. But it must still run."""
    spec = importlib.util.spec_from_file_location("corpus_make", CORPUS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make(tmp_path / "new")
    assert names(tmp_path / "new") == names(CORPUS) - OLD_RULES


@pytest.fixture
def names() -> Callable[[Path], set[str]]:
    return lambda folder: {path.name.partition("-")[2] for path in folder.glob("v*")}
