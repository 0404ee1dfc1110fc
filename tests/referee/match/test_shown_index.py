"""A negative index cannot be on the wire; whoever sent it finds it again in what the referee says."""

from collections.abc import Callable
from typing import Any

import pytest
from crosstown_bridge.lines import JsonLines

from referee.match import EndReason
from referee.match.rejudge import rejudge
from referee.record import read_record
from referee.wire.encode import shown_index


@pytest.mark.parametrize(
    ("on_the_wire", "shown"),
    [
        (0, "0"),
        (70, "70"),
        (2**31 - 1, "2147483647"),
        (2**32 - 1, "-1 (on the wire 4294967295)"),
        (2**32 - 5, "-5 (on the wire 4294967291)"),
        (2**31, "-2147483648 (on the wire 2147483648)"),
    ],
)
def test_an_index_is_shown_as_its_sender_meant_it(on_the_wire: int, shown: str) -> None:
    assert shown_index(on_the_wire) == shown


class Turn:
    legal_count = 64


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("-1", "-1 (on"),
        ("-5", "-5 (on"),
        ("64", "64"),
        ("4294967295", "2147483647"),
        (str(-(2**40)), "-2147483648 (on"),
    ],
)
def test_what_the_bridge_sends_for_an_index_out_of_range_is_shown_as_it_was_written(written: str, shown: str) -> None:
    answer = JsonLines().answer(written, Turn())  # type: ignore[arg-type]
    assert 64 <= answer.choice < 2**32
    assert shown_index(answer.choice).startswith(shown)
    assert f"index {written} is out of range" in answer.problem


@pytest.mark.parametrize(("written", "sent"), [("-1", 2**32 - 1), ("-5", 2**32 - 5), ("99", 99)])
async def test_the_fault_the_bot_the_record_and_rejudging_have_the_index_as_it_was_meant(
    sit: Callable[..., Any], written: str, sent: int
) -> None:
    table = sit()
    await table.start()
    mover = await table.play_to("turn")
    mover.move(sent)
    outcome = await table.outcome()
    await table.match.collect_output()
    assert outcome.reason is EndReason.ILLEGAL_ACTION
    record = read_record(table.finish(outcome))
    assert record.footer is not None
    [finding] = rejudge(record).findings
    assert finding.stands
    for said in (outcome.detail, mover.end.explanation, record.footer.detail, finding.why):
        assert f"index {written} " in said
        assert f"index {sent} " not in said or sent == 99
