"""A session over many streams: a bot that counts gets every message once, and owes one answer at a time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.wire import Received, StreamEnd, encode
from referee.wire.budget import Traffic
from referee.wire.session import MAX_WAITING_MESSAGES, LastingSession


class FakeStream:
    """The referee's end of one stream; `lost` of the last messages never reach the bot."""

    failure = ""
    refused_bytes = 0

    def __init__(self, traffic: Traffic | None = None) -> None:
        self.traffic = traffic or Traffic()
        self.hello = pb.Hello()
        self.ended: asyncio.Future[StreamEnd] = asyncio.get_running_loop().create_future()
        self.sent: list[bytes] = []
        self.on_message: Callable[[Received], None] | None = None

    def listen(self, on_message: Callable[[Received], None] | None) -> None:
        self.on_message = on_message

    @property
    def spent_ns(self) -> int:
        return self.traffic.spent_ns

    def send(self, data: bytes, *, earns: bool = True) -> None:
        self.sent.append(data)

    async def close(self, _code: Any, _explanation: str) -> None:
        self.end(StreamEnd.CLOSED_BY_REFEREE)

    def end(self, how: StreamEnd = StreamEnd.CLOSED_BY_BOT) -> None:
        if not self.ended.done():
            self.ended.set_result(how)

    def say(self, **body: Any) -> None:
        message = pb.BotMessage(**body)
        assert self.on_message is not None
        self.on_message(Received(message, message.SerializeToString(), 0))


def session_of(stream: Any, reconnect_s: float = 60) -> LastingSession:
    session = LastingSession(stream, reconnect_s)
    session.listen(lambda _: None)
    return session


def decide(number: int) -> bytes:
    return pb.RefereeMessage(decide=pb.Decide(match="m", decision=number)).SerializeToString()


STEPS = st.lists(
    st.one_of(
        st.sampled_from(["update", "decide", "answer", "cancel"]),
        st.tuples(st.just("break"), st.integers(0, 4), st.booleans()),
    ),
    max_size=40,
)


@settings(deadline=None)
@given(STEPS)
def test_a_bot_that_counts_gets_every_message_once_and_in_order(steps: list[Any]) -> None:
    async def run() -> None:
        stream: Any = FakeStream()
        session = session_of(stream)
        meant: list[bytes] = []
        got: list[bytes] = []
        asked = 0
        answered = True

        def deliver(first: int, messages: list[bytes]) -> None:
            """What the bot makes of messages that are numbered from `first` on."""
            for number, data in enumerate(messages, first):
                if number <= len(got):
                    assert got[number - 1] == data  # had before: asked again, the very same
                else:
                    assert number == len(got) + 1
                    got.append(data)

        first = 1
        for step in steps:
            if step == "update":
                meant.append(encode.update("m", bytes([len(meant)])))
                session.send(meant[-1])
            elif step == "decide" and answered:
                asked, answered = asked + 1, False
                meant.append(decide(asked))
                session.send(meant[-1])
            elif step == "cancel" and not answered:
                answered = True
                meant.append(encode.cancel("m", asked))
                session.send(meant[-1])
            elif step == "answer" and not answered:
                seen = meant.index(decide(asked)) + 2 - first  # what comes after the question may be on the way still
                deliver(first, stream.sent[:seen])
                first, stream.sent = first + max(0, seen), stream.sent[max(0, seen) :]
                stream.say(move=pb.Move(match="m", decision=asked))
                answered = True
            elif isinstance(step, tuple):
                _, lost, noticed = step
                deliver(first, stream.sent[: max(0, len(stream.sent) - lost)])
                if noticed:
                    stream.end()
                    await asyncio.sleep(0)
                stream = FakeStream()
                first = session.next_for(len(got))
                session.resume(stream, first)
                if not answered:
                    assert decide(asked) in stream.sent
        deliver(first, stream.sent)
        assert got == meant
        await session.close(None, "")  # type: ignore[arg-type]
        await asyncio.sleep(0)

    asyncio.run(run())


@pytest.mark.parametrize("received", [0, 1, 10**18])
async def test_a_bot_that_counts_wrong_gets_what_there_is(received: int) -> None:
    stream, back = FakeStream(), FakeStream()
    session = session_of(stream)
    for number in (1, 2):
        session.send(decide(number))
        stream.say(move=pb.Move(match="m", decision=number))
    session.send(encode.update("m", b"x"))
    first = session.next_for(received)
    session.resume(back, first)  # type: ignore[arg-type]
    assert (first, len(back.sent)) == ((4, 0) if received > 3 else (3, 1))


async def test_an_answer_to_something_else_settles_nothing() -> None:
    stream, back = FakeStream(), FakeStream()
    session = session_of(stream)
    session.send(decide(1))
    stream.say(move=pb.Move(match="other", decision=1))
    stream.say(move=pb.Move(match="m", decision=2))
    stream.say(ready=pb.Ready(match="m"))
    session.resume(back, session.next_for(1))  # type: ignore[arg-type]
    assert back.sent == [decide(1)]


@pytest.mark.parametrize("end", [StreamEnd.CLOSED_BY_BOT, StreamEnd.NOT_READING])
async def test_a_broken_stream_is_waited_for(end: StreamEnd) -> None:
    stream = FakeStream()
    session = session_of(stream)
    stream.end(end)
    await asyncio.sleep(0)
    assert (session.online, session.ended.done()) == (False, False)
    session.give_up()
    assert session.ended.result() is StreamEnd.BEGUN_ANEW


async def test_who_is_back_in_time_is_not_given_up_later(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    real, timers = loop.call_at, []
    monkeypatch.setattr(loop, "call_at", lambda *what: timers.append(real(*what)) or timers[-1])
    stream, back = FakeStream(), FakeStream()
    session = session_of(stream)
    stream.end()
    await asyncio.sleep(0)
    assert [timer.cancelled() for timer in timers] == [False]
    session.resume(back, session.next_for(0))  # type: ignore[arg-type]
    assert [timer.cancelled() for timer in timers] == [True]


@pytest.mark.parametrize("end", [StreamEnd.FLOODED, StreamEnd.CLOSED_BY_REFEREE])
async def test_a_stream_that_was_cut_off_is_not(end: StreamEnd) -> None:
    stream = FakeStream()
    session = session_of(stream)
    stream.end(end)
    await asyncio.sleep(0)
    assert session.ended.result() is end


async def test_after_bye_nobody_is_waited_for() -> None:
    stream = FakeStream()
    session = session_of(stream)
    session.send_last(encode.bye())
    assert not session.ended.done()
    stream.end()
    await asyncio.sleep(0)
    assert session.ended.done()


async def test_what_waits_for_a_bot_that_is_away_has_a_bound_whatever_it_was_sent_before() -> None:
    stream = FakeStream()
    session = session_of(stream)
    for _ in range(3000):
        session.send(encode.update("m", b""))
    stream.end()
    await asyncio.sleep(0)
    for _ in range(MAX_WAITING_MESSAGES):
        session.send(encode.update("m", b""))
    assert not session.ended.done()
    session.send(encode.update("m", b""))
    assert session.ended.result() is StreamEnd.NOT_READING


async def test_a_bot_that_only_watches_is_sent_any_number_of_messages_and_may_come_back_among_them() -> None:
    stream = FakeStream()
    session = session_of(stream)
    for number in range(4000):
        session.send(encode.update("m", b"%d" % number))
    stream.end()
    await asyncio.sleep(0)
    session.send(encode.update("m", b"4000"))
    again = FakeStream()
    first = session.next_for(3990)
    session.resume(again, first)
    assert (first, session.online) == (3991, True)
    assert again.sent == [encode.update("m", b"%d" % number) for number in range(3990, 4001)]
    for number in range(4001, 8000):
        session.send(encode.update("m", b"%d" % number))
    assert not session.ended.done()


async def test_what_a_bot_cost_on_earlier_connections_stays_its_own() -> None:
    """Else the sum fell when it came back, and the match took the difference for the referee's lateness."""
    streams: list[Any] = [FakeStream(), FakeStream(), FakeStream()]
    session = session_of(streams[0])
    streams[0].traffic.spent_ns = 500
    streams[0].end()
    await asyncio.sleep(0)
    assert session.spent_ns == 500
    session.resume(streams[1], 1)
    streams[1].traffic.spent_ns = 30
    assert session.spent_ns == 530
    session.resume(streams[2], 1)  # while the stream before is still there
    streams[2].traffic.spent_ns = 4
    await asyncio.sleep(0)
    assert session.spent_ns == 534


async def test_what_a_connection_cost_counts_once_however_many_streams_came_over_it() -> None:
    one = Traffic()
    session = session_of(FakeStream(one))
    one.spent_ns = 500
    second = FakeStream(one)
    session.resume(second, 1)  # type: ignore[arg-type]
    assert session.spent_ns == 500
    one.spent_ns = 530
    assert session.spent_ns == 530
