"""A message above the hard limit: gRPC tells the bot alone, and the referee learns it from what the bot printed."""

import pytest

from referee.match import EndReason
from referee.match.bot import refused_end
from referee.match.seat import SeatEnd
from referee.process.output import Output

WORDS = "SERVER: Received message larger than max (20971536 vs. 16777216)"
PRINTED = {
    "python": f"the stream to the referee broke: {WORDS} (RESOURCE_EXHAUSTED)\n",
    "go": f"rpc error: code = ResourceExhausted desc = {WORDS}\n",
    "java": f"io.grpc.StatusRuntimeException: RESOURCE_EXHAUSTED: {WORDS}\n\tat io.grpc.Status.asRuntimeException\n",
    "rust": f'Error: Status {{ code: ResourceExhausted, message: "{WORDS}", source: None }}\n',
    "node": f"Error: 8 RESOURCE_EXHAUSTED: {WORDS}\n",
}
GONE = [SeatEnd(EndReason.CRASHED, "exit code 1", {"exit_code": 1}), SeatEnd(EndReason.DISCONNECTED, "closed")]


def printed(*, stdout: str = "", stderr: str = "") -> Output:
    return Output(stdout.encode(), b"", 0, stderr.encode(), b"", 0)


@pytest.mark.parametrize("end", GONE, ids=lambda end: end.reason)
@pytest.mark.parametrize("text", PRINTED.values(), ids=PRINTED)
def test_whoever_prints_grpcs_answer_has_sent_an_oversized_message(text: str, end: SeatEnd) -> None:
    for output in (printed(stderr=text), printed(stdout=text)):
        judged = refused_end(end, output, 1 << 20)
        assert judged.reason is EndReason.OVERSIZED_MESSAGE
        assert judged.detail == (
            "a message of 20971536 bytes, which ended the stream: no message may have more than 4 MiB,"
            " and the limit (max_message_bytes) is 1048576"
        )
        assert judged.evidence == {**end.evidence, "message_bytes": 20971536}


@pytest.mark.parametrize("text", ["", "status CANCELLED", "message larger than max", WORDS.replace("20971536", "many")])
def test_other_words_change_nothing(text: str) -> None:
    assert refused_end(GONE[0], printed(stderr=text), 1 << 20) is GONE[0]


@pytest.mark.parametrize("size", [5, 1 << 22])
def test_a_size_that_would_have_come_through_is_a_lie(size: int) -> None:
    """Judged again, such a fault would fall, and the bot would have bought that its match is void."""
    assert refused_end(GONE[0], printed(stderr=f"Received message larger than max ({size} vs. 4)"), 1 << 20) is GONE[0]


def test_a_process_that_was_out_of_memory_stays_so() -> None:
    end = SeatEnd(EndReason.OUT_OF_MEMORY, "the process ended: killed by SIGKILL")
    assert refused_end(end, printed(stderr=WORDS), 1 << 20) is end
