"""A bot that the referee does not start but that connects by itself: a remote bot, or a person in a browser.

To let one sit at a table, say who it is and with which token it comes:

    entry = guest_entry("Ada")                                     # referee.process.entry
    invited = Invitation(token=secrets.token_hex(16), wait_s=60)
    async with Table({entry.id: entry, ...}, guests={entry.id: invited}) as table:
        # Whatever plays for it opens a gRPC stream to `table.address` and says Hello with the token, before the match
        # or up to `wait_s` after the table was opened: any client, such as `crosstown_bot`, in this process or another.
        result = await table.play(spec, records)                   # its seat: SeatSpec(entry.id, entry.name, ...)

It is one session for all matches, which are played one after the other. Bye comes when the table is left.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.match.bot import BROKEN_LIMITS, STREAM_ENDS, broken_limit, plays_game, wants_of
from referee.match.effort import NO_EFFORT, Effort
from referee.match.reasons import EndReason
from referee.match.seat import SeatEnd, SeatListener
from referee.match.spec import Limits
from referee.process.entry import Entry
from referee.wire import Guest, LastingSession, StreamEnd, encode

REMOTE_CLOCK = {"margin_s": 0.25}
"""Of a seat whose bot is on another machine, unless it has one of its own: a way there and back over the Internet,
above the limits. All other time of the network is the bot's."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """`token` is the guest's secret, at least 16 characters. `limits` are announced in Welcome.

    The first match waits for the guest until `wait_s` after the table was opened, later ones as long as for any bot to
    start. A broken connection may be taken up again within `reconnect_s`; 0: it ends the session.
    `version` is what the bot must say in Hello; '' takes any.
    """

    token: str
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    wait_s: float = 60.0
    reconnect_s: float = 0.0
    version: str = ""

    def __post_init__(self) -> None:
        if len(self.token) < 16:
            raise ValueError(f"the token of a guest has {len(self.token)} characters, at least 16 are needed")


class GuestBot:
    """A guest's session as a `Seat`, for one match.

    Nothing is known of its processes: no output, no processor time, nothing to stop or to freeze. All time between
    question and answer is the bot's, with that of the network.
    """

    def __init__(self, entry: Entry, session: LastingSession, max_message_bytes: int) -> None:
        """`max_message_bytes` is what Welcome said."""
        self.entry = entry
        self._max_message_bytes = max_message_bytes
        self.session = session
        self.wants = wants_of(session.hello)
        self.send = session.send
        self._listener: SeatListener | None = None
        session.ended.add_done_callback(self._on_end)

    @property
    def ending(self) -> bool:
        """Not while the bot may come back: its clock goes on."""
        return self.session.ended.done()

    @property
    def idle_from_ns(self) -> int | None:
        return None

    @property
    def away_s(self) -> float:
        return self.session.away_s

    def plays(self, game: str) -> bool:
        """Whether the bot says that it can."""
        return plays_game(self.session.hello, game)

    def listen(self, listener: SeatListener | None) -> None:
        self._listener = listener
        self.session.listen(None if listener is None else listener.on_message)
        if listener is not None and self.session.ended.done():
            listener.on_end(self._end(self.session.ended.result()))

    def freeze(self) -> None:
        """Its process is not the referee's to stop."""

    def thaw(self) -> None:
        """Nor to let run."""

    def cpu_ns(self) -> int | None:
        return None

    def effort(self) -> Effort:
        return NO_EFFORT

    def traffic_ns(self) -> int:
        return self.session.spent_ns

    def process_state(self) -> str:
        return ""

    def ask_for_stacks(self) -> None:
        """Its process gets no signals from the referee."""

    def dismiss(self) -> None:
        self.listen(None)

    def leave(self) -> None:
        """The match is over for it; the session goes on."""
        self.listen(None)
        self.session.ended.remove_done_callback(self._on_end)

    async def last_output(self) -> Mapping[str, Any]:
        return {}

    def _on_end(self, ended: asyncio.Future[StreamEnd]) -> None:
        if self._listener is not None:
            self._listener.on_end(self._end(ended.result()))

    def _end(self, how: StreamEnd) -> SeatEnd:
        if how in BROKEN_LIMITS:
            return broken_limit(self.session, self._max_message_bytes, {})
        detail = STREAM_ENDS[how]
        if how is StreamEnd.CLOSED_BY_BOT and self.session.reconnect_s:
            detail = f"its connection broke, and it did not take its session up within {self.session.reconnect_s:g} s"
        return SeatEnd(EndReason.DISCONNECTED, detail)


async def say_bye(guest: Guest, bye_s: float) -> None:
    """Bye, then up to `bye_s` for the guest to close its stream. One that comes later hears it at once."""
    session = guest.dismiss(encode.bye())
    if session is not None:
        await asyncio.wait([session.ended], timeout=bye_s)
