"""What a footer claims must go together, and what a header claims can be compared with the run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record import read_record, verify

Start = Callable[..., Any]
FOOTER = [
    ({"status": "void"}, "a match that ended by normal is rated, the footer says void"),
    ({"status": "cancelled"}, "the footer says cancelled"),
    ({"reason": "platform_fault"}, "a match that ended by platform_fault is void, the footer says rated"),
    ({"reason": "suspect_timeout"}, "is void, the footer says rated"),
    ({"reason": "boredom"}, "the end reason 'boredom' is not a known one"),
    ({"reason": "crashed"}, "the footer says crashed, which no line reports"),
    ({"reason": "everyone_faulted"}, "the footer says everyone_faulted"),
    ({"status": "void", "reason": "platform_fault"}, "the footer of a void match has a result"),
    ({"faults": ({"reason": "crashed"}, None)}, "faults by seat are {} in the lines"),
]


@pytest.mark.parametrize(("claim", "said"), FOOTER)
def test_claims_of_a_footer_that_do_not_go_together_are_found(start_match: Start, claim: Any, said: str) -> None:
    match = start_match()
    match.play()
    path = match.writer.close(match.footer(**claim))
    verdict = verify(path)
    assert (verdict.status, said in verdict.problem) == ("wrong", True), verdict
    assert verdict.line > 1


def test_a_fault_line_without_its_fault_is_found(start_match: Start) -> None:
    match = start_match(players=3)
    match.play(decisions=4)
    match.fault(1)
    match.play()
    verdict = verify(match.writer.close(match.footer()))
    assert (verdict.status, "faults by seat are {1: 'crashed'}" in verdict.problem) == ("wrong", True)


def test_names_in_a_header_are_compared_with_what_the_run_knows(closed: Path) -> None:
    """No hash of a file can protect a name from whoever makes all hashes anew; the run's journal can."""
    from referee.record import read_record

    seats = read_record(closed).header.seats
    known = {seat.entry_id: (seat.name, seat.version) for seat in seats}
    assert verify(closed, identities=known).status == "ok"
    other = {**known, seats[1].entry_id: ("somebody else", seats[1].version)}
    verdict = verify(closed, identities=other)
    assert (verdict.status, verdict.line) == ("wrong", 1)
    assert "in the run that entry is 'somebody else'" in verdict.problem
    verdict = verify(closed, identities={seats[0].entry_id: known[seats[0].entry_id]})
    assert (verdict.line, "which the run does not have" in verdict.problem) == (1, True)


def test_a_damaged_header_is_named_by_its_line(lines: Any, tmp_path: Path) -> None:
    lines.lines[0] = '["header",{"format":1},"00000000"]'
    verdict = verify(lines.write(tmp_path / "f.jsonl", rechain=True))
    assert (verdict.status, verdict.line) == ("wrong", 1)


def test_a_damaged_footer_is_named_by_its_line(lines: Any, tmp_path: Path) -> None:
    import gzip

    lines.lines[-1] = '["footer",{"status":3},"00000000"]'
    plain = lines.write(tmp_path / "f.jsonl", rechain=True)
    closed = tmp_path / "f.jsonl.gz"
    closed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, closed):
        verdict = verify(path)
        assert (verdict.status, verdict.line) == ("wrong", len(lines.lines)), verdict


@pytest.mark.parametrize("rules_version", [1, 99])
@pytest.mark.parametrize("state_hash", ["", "ab", "0" * 31, "g" * 32, "0" * 33])
def test_a_final_state_that_contradicts_the_footer_is_wrong_also_under_other_rules(
    start_match: Start, state_hash: str, rules_version: int
) -> None:
    """Of other rules only what no rules can give is known."""
    match = start_match(rules_version=rules_version)
    match.play()
    verdict = verify(match.writer.close(match.footer(state_hash=state_hash)))
    assert (verdict.status, "hash" in verdict.problem) == ("wrong", True), verdict


@pytest.mark.parametrize("faulted", [False, True])
def test_another_final_state_is_wrong_whatever_else_the_footer_says(start_match: Start, faulted: bool) -> None:
    match = start_match(players=3)
    match.play(decisions=4)
    faults: tuple[Any, ...] = ()
    if faulted:
        match.fault(1)
        faults = (None, {"reason": "crashed"}, None)
    match.play()
    verdict = verify(match.writer.close(match.footer(state_hash="0" * 32, faults=faults)))
    assert (verdict.status, "the final state has the hash" in verdict.problem) == ("wrong", True), verdict


@pytest.mark.parametrize(("claim", "said"), [case for case in FOOTER if case[0] != {"reason": "everyone_faulted"}])
def test_claims_that_need_no_rules_are_checked_under_other_rules_too(start_match: Start, claim: Any, said: str) -> None:
    match = start_match(rules_version=99)
    match.play()
    verdict = verify(match.writer.close(match.footer(**claim)))
    assert (verdict.status, said in verdict.problem) == ("wrong", True), verdict


def test_a_record_that_is_not_the_one_that_counted_is_named_with_both_digests(start_match: Start) -> None:
    match = start_match()
    match.play()
    path = match.writer.close(match.footer())
    assert verify(path, anchored=read_record(path).digest).status == "ok"
    verdict = verify(path, anchored="ab" * 32)
    assert (verdict.status, verdict.line) == ("wrong", 0)
    assert read_record(path).digest in verdict.problem
    assert "ab" * 32 in verdict.problem
