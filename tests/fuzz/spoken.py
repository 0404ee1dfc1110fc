"""What a bot says before it plays, and what a program behind the bridge says: lines."""

import asyncio
from collections.abc import Callable
from typing import Any

from crosstown_bot import Match, Turn
from crosstown_bridge.lines import BadAnswer, JsonLines, TextLines
from crosstown_proto.v1 import referee_pb2 as pb
from target import Target, as_text

from referee.match.bot import plays_game, wants_of
from referee.wire.handshake import Refusal, protocol_problem, read_hello


def spoken_targets() -> list[Target]:
    start = pb.MatchStart(match="m-1", game="shibuya", players=2)
    turn = Turn(Match(start), pb.Decide(match="m-1", decision=1, legal_count=12, clock=pb.Clock(left_us=10**6)))
    return [
        Target("Hello", _hellos(), _hello, (Refusal,)),
        Target("line of a program", _LINES, lambda data: JsonLines().answer(as_text(data), turn), (BadAnswer,)),
        Target("text of a program", [b"3", b" 11 ", b"resign", b"3 with a note"], _text(turn), (BadAnswer,)),
    ]


_LINES = [
    b"3",
    b'{"index": 3, "note": "x"}',
    b'{"resign": true}',
    b'{"action": {}}',
    b'{"action": {"pass": {}}, "note": "y"}',
    b'{"action": {"move": {"source": 13, "target": 14}}}',
    b'{"action": {"place": {"slot": 2, "turn": 5}}}',
    b'{"action": "CgQIDRAO"}',
]


def _text(turn: Turn) -> Callable[[bytes], object]:
    return lambda data: TextLines().answer(as_text(data), turn)


def _hellos() -> list[bytes]:
    hellos = [
        pb.Hello(protocol=1, token="t" * 32, name="a bot", version="1", games=["*"]),
        pb.Hello(protocol=1, token="t", games=["toy", "shibuya"], wants_text=True, omit_observation=True),
        pb.Hello(protocol=1, token="t", session="key", received=7),
    ]
    return [pb.BotMessage(hello=hello).SerializeToString() for hello in hellos]


class _Stream:
    """The call of a bot whose first message is `data`."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    async def read(self) -> bytes:
        return self.data


def _hello(data: bytes) -> object:
    stream: Any = _Stream(data)
    hello = asyncio.run(read_hello(stream, 60))
    return protocol_problem(hello), wants_of(hello), plays_game(hello, "toy")
