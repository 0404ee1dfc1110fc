"""Who is taken for which guest, whatever is said in Hello."""

import asyncio
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.wire import HandshakeError, RemoteBot, StreamEnd
from referee.wire.budget import Budget, Traffic
from referee.wire.encode import WireLimits
from referee.wire.handshake import Refusal
from referee.wire.http2 import Status
from referee.wire.remote_bots import HELLO_UNITS, find_remote_bot, token_digest, version_label

LIMITS = WireLimits(1, 1, 1, 1)
TOKENS = ("a" * 16, "b" * 16)
WORDS = st.one_of(st.text(max_size=40), st.sampled_from(TOKENS))


class Call:
    """Takes what is sent and never says anything."""

    unsent = 0
    ended = None

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.budgets: list[Budget] = []

    def admit(self, _: int, budget: Budget) -> None:
        self.budgets.append(budget)

    def send(self, _: bytes, **__: Any) -> None:
        pass

    def finish(self, *_: Any) -> None:
        pass


def guests(**more: Any) -> list[RemoteBot]:
    return [RemoteBot([token_digest(token)], LIMITS, **more) for token in TOKENS]


@settings(deadline=None)
@given(st.text(max_size=40))
def test_only_its_very_token_finds_a_guest(token: str) -> None:
    found = find_remote_bot(guests(), token_digest(token))
    assert (found is not None) == (token in TOKENS)


@pytest.mark.parametrize("near", [TOKENS[0][:-1], TOKENS[0] + "a", TOKENS[0].upper(), "", TOKENS[0] + "\0"])
def test_what_is_near_finds_nobody(near: str) -> None:
    assert find_remote_bot(guests(), token_digest(near)) is None


@settings(deadline=None)
@given(
    st.lists(st.builds(pb.Hello, protocol=st.just(1), session=WORDS, received=st.integers(0, 2**64 - 1)), max_size=6)
)
def test_a_hello_opens_one_session_or_is_refused(hellos: list[pb.Hello]) -> None:
    async def run() -> None:
        guest = guests(reconnect_s=60)[0]
        call: Any = Call()
        for hello in hellos:
            before = guest.session
            try:
                guest.admit(hello, call)
            except Refusal:
                assert guest.session is before
            else:
                assert not hello.session
                assert before is None
        if guest.session is not None:
            guest.session.give_up()
        await asyncio.sleep(0)

    asyncio.run(run())


async def test_what_a_guest_did_wrong_is_said_when_it_does_not_come() -> None:
    guest = guests()[0]
    call: Any = Call()
    with pytest.raises(HandshakeError, match="did not connect"):
        await guest.arrive(0)
    with pytest.raises(Refusal, match="protocol 7"):
        guest.admit(pb.Hello(protocol=7), call)
    with pytest.raises(HandshakeError, match="protocol 7"):
        await guest.arrive(0)


@pytest.mark.parametrize("version", ["\x00" * 60_000, "\U0010ffff" * 15_000])
async def test_what_is_said_of_a_wrong_version_is_short_whatever_the_bot_calls_it(version: str) -> None:
    """The sentence goes through logs, the record, and the line in which a worker gives its result."""
    guest = guests(version="2")[0]
    call: Any = Call()
    with pytest.raises(Refusal, match="expected '2'") as refused:
        guest.admit(pb.Hello(protocol=1, version=version), call)
    assert len(str(refused.value)) < 1000
    with pytest.raises(HandshakeError, match="expected '2'") as missed:
        await guest.arrive(0)
    assert len(str(missed.value)) < 1000


async def test_what_becomes_of_a_guest_is_told() -> None:
    heard: list[str] = []
    guest = guests(reconnect_s=60, tell=heard.append)[0]
    call: Any = Call()
    guest.admit(pb.Hello(protocol=1), call)
    session = guest.session
    assert session is not None
    guest.admit(pb.Hello(protocol=1, session=session.key), call)
    session.give_up()
    await asyncio.sleep(0)
    assert heard == ["has connected", "has come back", "is gone (begun_anew)"]


async def test_of_a_bot_that_begins_anew_the_old_session_is_told_before_the_new_one() -> None:
    heard: list[str] = []
    guest = guests(reconnect_s=60, tell=heard.append)[0]
    call: Any = Call()
    first = guest.admit(pb.Hello(protocol=1), call)
    first._finish(StreamEnd.CLOSED_BY_BOT)
    await asyncio.sleep(0)
    guest.admit(pb.Hello(protocol=1), call)
    await asyncio.sleep(0)
    assert heard == ["has connected", "is gone (begun_anew)", "has connected"]


async def test_a_bot_that_comes_back_finds_what_was_left_of_its_budget() -> None:
    """Else each Hello would pay for another flood."""
    guest = guests(reconnect_s=60)[0]
    call: Any = Call()
    guest.admit(pb.Hello(protocol=1), call)
    assert guest.session is not None
    again = pb.Hello(protocol=1, session=guest.session.key)
    for _ in range(5):
        guest.admit(again, call)
    budget = call.budgets[0]
    assert all(other is budget for other in call.budgets)
    assert budget.spend(budget.terms.burst - 6 * HELLO_UNITS - HELLO_UNITS // 2), "an honest bot has most of it left"
    with pytest.raises(Refusal, match="more often than it may") as refused:
        guest.admit(again, call)
    assert refused.value.code is Status.UNAVAILABLE, "which every client tries again after"
    assert budget.spend(HELLO_UNITS // 2), "what was refused costs nothing"
    assert guest.session is not None


async def test_a_session_ends_when_its_token_is_not_accepted_any_more() -> None:
    guest = RemoteBot([token_digest("one")], LIMITS, reconnect_s=60)
    call: Any = Call()
    guest.admit(pb.Hello(protocol=1, token="one"), call)
    guest.accept([token_digest("one"), token_digest("two")])
    assert find_remote_bot([guest], token_digest("two")) is guest
    assert guest.session is not None
    guest.accept([token_digest("two")])
    await asyncio.sleep(0)
    assert guest.session is None
    assert find_remote_bot([guest], token_digest("one")) is None
    guest.admit(pb.Hello(protocol=1, token="two"), call)
    guest.accept([])
    await asyncio.sleep(0)
    assert (guest.session, find_remote_bot([guest], token_digest("two"))) == (None, None)


@pytest.mark.parametrize(
    ("said", "label"), [("1", "1"), ("", ""), (" a\n b\t", "a b"), ("\x00\u202e2", "2"), ("v" * 99, "v" * 64)]
)
def test_a_version_is_a_short_line_whatever_the_bot_says(said: str, label: str) -> None:
    assert version_label(said) == label
