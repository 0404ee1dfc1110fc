"""What the Python SDK makes of an author's mistakes, without any process: messages in, messages out."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
from crosstown_bot import Bot, ProviderError, Result, Turn, Usage
from crosstown_bot.playing import Playing
from crosstown_proto.v1 import manhattan_traffiq_pb2, shibuya_pb2
from crosstown_proto.v1 import referee_pb2 as pb

MATCH = (
    pb.RefereeMessage(match_start=pb.MatchStart(match="m", game="shibuya")),
    pb.RefereeMessage(decide=pb.Decide(match="m", decision=3, kind="turn", legal_count=2)),
    pb.RefereeMessage(update=pb.Update(match="m")),
    pb.RefereeMessage(match_end=pb.MatchEnd(match="m")),
    pb.RefereeMessage(bye=pb.Bye()),
)


class Wire:
    """A stream that says these messages and keeps the answers."""

    def __init__(self) -> None:
        self.waiting: list[Any] = [message.SerializeToString() for message in MATCH]
        self.said: list[pb.BotMessage] = []

    async def read(self) -> Any:
        return self.waiting.pop(0) if self.waiting else grpc.aio.EOF

    async def write(self, data: bytes) -> None:
        self.said.append(pb.BotMessage.FromString(data))


async def serve(bot: Bot) -> Wire:
    wire = Wire()
    assert await Playing(bot).serve(wire)  # type: ignore[arg-type]
    return wire


class Choosing(Bot):
    """Answers with `choice`, and with `note` beside it."""

    def __init__(self, choice: Any, note: Any = "") -> None:
        super().__init__({})
        self.choice = choice
        self.note = note

    def choose(self, turn: Turn) -> Any:
        turn.note = self.note
        return self.choice


async def test_every_method_may_be_a_coroutine_function() -> None:
    called = []

    class Slow(Choosing):
        async def start(self, match: Any) -> None:
            called.append("start")

        async def update(self, match: Any, events: list[Any]) -> None:
            called.append("update")

        async def end(self, result: Result) -> None:
            called.append("end")

    await serve(Slow(1))
    assert called == ["start", "update", "end"]


@pytest.mark.parametrize("choice", [True, False])
async def test_a_truth_value_is_no_index(choice: bool) -> None:
    with pytest.raises(
        TypeError, match=f"choose returned {choice} for decision 3 .turn. of match m; expected an index"
    ):
        await serve(Choosing(choice))


@pytest.mark.parametrize(
    ("note", "kind", "sentence"),
    [
        (7, TypeError, "turn.note is 7 in decision 3 .turn. of match m; expected a str"),
        (None, TypeError, "turn.note is None in decision 3"),
        (b"why", TypeError, "turn.note is b'why' in decision 3"),
        ("so \ud800", ValueError, "turn.note in decision 3 .* at 3, half of a character"),
    ],
)
async def test_a_note_that_no_record_can_hold_is_named(note: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        await serve(Choosing(0, note))


class Asking(Choosing):
    """Has used `used` of a language model, and got no answer if `why` says so."""

    def __init__(self, used: Any, why: str = "") -> None:
        super().__init__(1)
        self.used = used
        self.why = why

    async def choose(self, turn: Turn) -> Any:
        turn.usage = self.used
        if self.why:
            raise ProviderError(self.why)
        return self.choice


async def test_what_was_used_is_sent_with_the_answer_and_with_the_error_of_a_provider() -> None:
    used = Usage(requests=2, prompt_tokens=2**40, reply_tokens=3, wait_s=0.5, cost_dollars=0.25)
    move = (await serve(Asking(used))).said[1].move
    assert (move.index, move.usage.requests, move.usage.prompt_tokens) == (1, 2, 2**32 - 1)
    assert (move.usage.wait_us, move.usage.cost_nanos) == (500_000, 250_000_000)
    move = (await serve(Asking(used, "HTTP 503 \ud800" + "x" * 1000))).said[1].move
    assert move.WhichOneof("choice") == "provider_error"
    assert move.provider_error.startswith("HTTP 503 ?x")
    assert len(move.provider_error) == 500
    assert move.usage.requests == 2
    assert not (await serve(Choosing(1))).said[1].move.HasField("usage")


@pytest.mark.parametrize(
    "used",
    [7, {"requests": 1}, Usage(requests=-1), Usage(requests=True), Usage(wait_s=float("nan")), Usage(cost_dollars=-1)],
)
async def test_what_is_no_usage_is_named(used: Any) -> None:
    with pytest.raises(TypeError, match=r"turn\.usage is .* in decision 3 .turn. of match m; expected"):
        await serve(Asking(used))


async def test_an_action_of_another_game_is_named() -> None:
    with pytest.raises(TypeError, match=r"manhattan_traffiq\.Action for decision 3 .*; expected .*shibuya\.Action"):
        await serve(Choosing(manhattan_traffiq_pb2.Action()))
    with pytest.raises(TypeError, match=r"choose returned the message .*shibuya\.Observation for"):
        await serve(Choosing(shibuya_pb2.Observation()))
    sound = await serve(Choosing(shibuya_pb2.Action()))
    assert sound.said[1].move.WhichOneof("choice") == "action"


SHOWN = """
import asyncio
from crosstown_bot.playing import settled
from crosstown_bot.traces import shorten_tracebacks

async def think():
    try:
        raise KeyError("no plan")
    except KeyError as error:
        raise ValueError("no idea") from error

async def main():
    await settled(think())

shorten_tracebacks()
asyncio.run(main())
"""


def test_a_traceback_shows_the_lines_of_the_bot(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(SHOWN)
    done = subprocess.run([sys.executable, "bot.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    files = {line.strip().split('"')[1] for line in done.stderr.splitlines() if line.strip().startswith("File ")}
    assert done.returncode == 1
    assert {Path(file).name for file in files} == {"bot.py"}
    assert "KeyError: 'no plan'" in done.stderr
    assert done.stderr.endswith("ValueError: no idea\n")
