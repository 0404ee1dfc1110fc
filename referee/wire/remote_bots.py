"""Remote bots: they connect by themselves, and a token says which bot it is."""

import asyncio
import hmac
import time
from collections.abc import Callable, Collection, Iterable

from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import encode
from referee.wire.budget import Budget, terms_of_session
from referee.wire.encode import WireLimits
from referee.wire.handshake import HandshakeError, Refusal, protocol_problem
from referee.wire.http2 import Call, Status
from referee.wire.listener import hard_message_bytes
from referee.wire.session import LastingSession, Session
from referee.wire.tokens import token_digest

MOST_NOTES = 10
SPAN_S = 60.0


class Notes:
    """Passes on at most `MOST_NOTES` in `SPAN_S`, and with the next one says how many it kept back."""

    def __init__(self, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._now = now
        self._since_s = now()
        self._passed = self._kept = 0

    def tell(self, what: str) -> None:
        """In words after the remote bot's name."""
        now_s = self._now()
        if now_s - self._since_s >= SPAN_S:
            self._since_s, self._passed = now_s, 0
        if self._passed >= MOST_NOTES:
            self._kept += 1
            return
        self._passed += 1
        kept, self._kept = self._kept, 0
        self._tell(f"{what} ({kept} notes of it were left out)" if kept else what)


_SHOWN_VERSION = 64
"""Characters of what a bot calls its version: the sentence is for people, and goes into the record."""


def version_label(said: str) -> str:
    """What a bot says in Hello of its version, as a short line."""
    return "".join(char for char in " ".join(said.split()) if char.isprintable())[:_SHOWN_VERSION]


HELLO_UNITS = 100
"""What an accepted Hello costs of the bot's budget: with TLS, and with what is sent again, it takes the referee as long
as some hundred frames."""


class RemoteBot:
    """One of them, from its invitation to the end of the server: one session at a time, any number one after another.

    Its token opens a session while there is none, or while the bot of the last one is away (it was restarted, and the
    match that it played is lost). Token and key of a session take that up again. It has one budget for all its
    connections: who comes back finds what was left of it. It may have several tokens, one as good as the other.
    """

    def __init__(
        self,
        digests: Collection[bytes],
        limits: WireLimits,
        *,
        reconnect_s: float = 0.0,
        version: str = "",
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`digests` are those of the tokens that it may come with. `version` is what Hello must say; '' takes any.
        `tell` hears what becomes of it, in words after its name."""
        self._tell = Notes(tell).tell
        self._digests = frozenset(digests)
        self._came_with = b""
        self._closing: set[asyncio.Task[None]] = set()
        self._limits = limits
        self._reconnect_s = reconnect_s
        self._version = version
        self._session: LastingSession | None = None
        self._end_untold = False
        self._bye = b""
        self._problem = ""
        self._came = asyncio.Event()
        self._budget = Budget(terms_of_session(self.hard_message_bytes))

    @property
    def hard_message_bytes(self) -> int:
        return hard_message_bytes(self._limits.max_message_bytes)

    @property
    def session(self) -> LastingSession | None:
        """The one that has not ended; its bot may be away."""
        return None if self._session is None or self._session.ended.done() else self._session

    @property
    def has_come(self) -> bool:
        """Whether it has opened a session, even one that has ended."""
        return self._session is not None

    @property
    def back_within_s(self) -> float:
        """How long a bot that is away may still take to come back; 0 for one that is there or gone."""
        session = self.session
        return 0.0 if session is None or session.online else max(0.0, session.reconnect_s - session.away_s)

    def has_token(self, digest: bytes) -> bool:
        """Whether it may come with the token of this digest, in a time that does not depend on how much is right."""
        return bool(sum(hmac.compare_digest(known, digest) for known in self._digests))

    def accept(self, digests: Collection[bytes]) -> None:
        """From now on it may come with these tokens alone. A session that was opened with another one ends."""
        self._digests = frozenset(digests)
        session = self.session
        if session is not None and self._came_with not in self._digests:
            sentence = "the token with which this bot connected is not valid any more: it was replaced, or revoked"
            task = asyncio.get_running_loop().create_task(session.close(Status.UNAUTHENTICATED, sentence))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def arrive(self, limit_s: float, waited_s: float = 0.0) -> LastingSession:
        """The session once the bot is there. HandshakeError, with what it did wrong last, if it does not come. It has
        been waited for `waited_s` before."""
        try:
            async with asyncio.timeout(limit_s):
                while self.session is None or not self.session.online:
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            what = "it did not connect again" if self.has_come else "it did not connect"
            raise HandshakeError(self._problem or f"{what} within {waited_s + limit_s:.0f} s") from None
        return self.session

    def dismiss(self, bye: bytes) -> LastingSession | None:
        """The last message to its session, and to any that it opens from now on. The session, if there is one."""
        self._bye = bye
        session = self.session
        if session is not None:
            session.send_last(bye)
        return session

    def admit(self, hello: pb.Hello, call: Call) -> Session:
        """A stream whose token is this remote bot's; Welcome is on its way. Raises Refusal."""
        problem = protocol_problem(hello) or self._version_problem(hello)
        if problem:
            self._problem = problem
            raise Refusal(Status.FAILED_PRECONDITION, problem)
        current = self.session
        if hello.session:
            if current is None or not hmac.compare_digest(hello.session.encode(), current.key.encode()):
                sentence = "this session is over, or is not this bot's: open a new one, without Hello.session"
                raise Refusal(Status.NOT_FOUND, sentence)
            self._take_in(call)
            stream, first = Session(call, hello), current.next_for(hello.received)
            self._welcome(stream, current, first)
            current.resume(stream, first)
            self._came_with = token_digest(hello.token)
            self._tell("has come back")
        else:
            if current is not None and current.online:
                sentence = "this token has a session already: one bot, one token, one stream for all its matches"
                raise Refusal(Status.ALREADY_EXISTS, sentence)
            self._take_in(call)
            if current is not None:
                current.give_up()
            self._tell_end()
            stream = Session(call, hello)
            self._session = session = LastingSession(stream, self._reconnect_s)
            self._came_with = token_digest(hello.token)
            self._welcome(stream, session, 1)
            if self._bye:
                session.send_last(self._bye)
            self._tell("has connected")
            self._end_untold = True
            session.ended.add_done_callback(lambda _: self._tell_end(session))
        self._problem = ""
        self._came.set()
        return stream

    def _take_in(self, call: Call) -> None:
        if not self._budget.spend_if_there(HELLO_UNITS):
            sentence = "this bot connects, or sends frames, more often than it may: wait some seconds, and try again"
            raise Refusal(Status.UNAVAILABLE, sentence)
        call.admit(self.hard_message_bytes, self._budget)

    def _tell_end(self, session: LastingSession | None = None) -> None:
        """Of the last session (if it is this one), once, before anything is told of the next."""
        last = self._session
        if last is not None and session in (None, last) and last.ended.done() and self._end_untold:
            self._end_untold = False
            self._tell(f"is gone ({last.ended.result()})")

    def _version_problem(self, hello: pb.Hello) -> str:
        if not self._version or hello.version == self._version:
            return ""
        said = hello.version[:_SHOWN_VERSION]
        return f"the bot says in Hello that it is version {said!r}, expected {self._version!r}"

    def _welcome(self, stream: Session, session: LastingSession, first: int) -> None:
        reconnect_us = round(session.reconnect_s * 1e6)
        welcome = encode.welcome(self._limits, session=session.key, reconnect_us=reconnect_us, next_message=first)
        stream.send(welcome, earns=False)


def find_remote_bot(remote_bots: Iterable[RemoteBot], given: bytes) -> RemoteBot | None:
    """Whose token has this digest, in a time that does not depend on how much of it is right."""
    found = None
    for remote_bot in remote_bots:
        if remote_bot.has_token(given):
            found = remote_bot
    return found
