"""A negative index cannot be on the wire; whoever sent it finds it again in what the referee says."""

import pytest
from crosstown_bridge.lines import JsonLines

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
