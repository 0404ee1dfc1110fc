"""Plays the matches of a session, over one stream or, where the referee offers that, over one after another."""

from __future__ import annotations

import asyncio
import operator
import os
from typing import Any

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

from crosstown_bot.bot import RESIGN, Bot, ProviderError
from crosstown_bot.turn import Match, Result, Turn, Usage

MOST_INDEX = (1 << 32) - 1
"""That the wire can carry."""
MOST_REASON = 500
"""Characters of the reason of a ProviderError that are sent."""


class StreamBrokenError(Exception):
    """One sentence; `code` where gRPC gives one. Never for what the author's own code raises, be it gRPC's as well."""

    def __init__(self, sentence: str, code: grpc.StatusCode | None = None) -> None:
        super().__init__(sentence)
        self.code = code


class Stream:
    """Reads and writes of one call to the referee. StreamBrokenError when it is over without a status."""

    def __init__(self, call: Any) -> None:
        self._call = call

    async def read(self) -> Any:
        try:
            return await self._call.read()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
            raise _broken(error) from None

    async def write(self, data: bytes) -> None:
        try:
            await self._call.write(data)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError) as error:
            raise _broken(error) from None


def _broken(error: grpc.aio.AioRpcError | asyncio.InvalidStateError) -> StreamBrokenError:
    if isinstance(error, grpc.aio.AioRpcError):
        return StreamBrokenError(error.details() or error.code().name, error.code())
    return StreamBrokenError("")  # how an answer to a stream that is over is refused


class Playing:
    """What a bot knows of its session: how many messages it has got, its match, and its last answer."""

    def __init__(self, bot: Bot, *, prints_stacks: bool = False) -> None:
        self.bot = bot
        self.prints_stacks = prints_stacks
        """Whether this process prints its stacks on the signal for that."""
        self.streams = 0
        """How many there have been."""
        self.session = ""
        """By which it may come back; '' where it cannot."""
        self.reconnect_s = self._ready_limit_s = 0.0
        self.received = 0
        self.progress = 0
        """How many sessions began, and decisions were answered for the first time."""
        self._match: Match | None = None
        self._answered: tuple[str, int] | None = None
        self._answer = b""

    def welcome(self, message: pb.RefereeMessage) -> None:
        """A stream begins, of this session or of a new one."""
        self.streams += 1
        welcome = message.welcome
        if welcome.session != self.session or not welcome.session:
            self._match = self._answered = None
            self.progress += 1
        self.session = welcome.session
        self.reconnect_s = welcome.reconnect_us / 1e6
        self._ready_limit_s = welcome.limits.ready_us / 1e6
        self.received = max(0, welcome.next_message - 1)

    def forget(self) -> None:
        """The session is over: the next Hello opens a new one."""
        self.session, self.received = "", 0

    async def serve(self, stream: Stream) -> bool:
        """Answers until Bye (True) or until the stream ends (False). StreamBrokenError; and whatever the bot raises."""
        bot, read, write, parse = self.bot, stream.read, stream.write, pb.RefereeMessage.FromString
        while (raw := await read()) is not grpc.aio.EOF:
            message = parse(raw)
            self.received += 1
            body = message.WhichOneof("body")
            if body == "decide" and self._match is not None:
                await write(await self._choose(self._match, message.decide))
            elif body == "match_start":
                match_id = message.match_start.match
                if self._match is None or self._match.id != match_id:  # else its Ready was lost on the way
                    self._match = Match(message.match_start, bot.messages, _switched_off(bot), self._ready_limit_s)
                    await settled(bot.start(self._match))
                await write(pb.BotMessage(ready=pb.Ready(match=match_id)).SerializeToString())
            elif body == "match_end" and self._match is not None:
                match, self._match = self._match, None
                await settled(bot.end(Result(match, message.match_end)))
            elif body == "update" and self._match is not None:
                events = self._match.messages.Events.FromString(message.update.events).events
                await settled(bot.update(self._match, list(events)))
            elif body == "bye":
                return True
        return False

    async def _choose(self, match: Match, decide: pb.Decide) -> bytes:
        asked = decide.match, decide.decision
        if self._answered != asked:  # else the answer was lost on the way
            turn = Turn(match, decide)
            try:
                choice = self.bot.choose(turn)
                if type(choice) is not int:
                    choice = await settled(choice)
            except ProviderError as error:
                choice = error
            self._answer, self._answered = _encoded(match, decide, choice, turn), asked
            self.progress += 1
        return self._answer


def hello(playing: Playing, token: str, protocol: int) -> bytes:
    """The first message of a stream."""
    bot = playing.bot
    return pb.BotMessage(
        hello=pb.Hello(
            protocol=protocol,
            token=token,
            name=bot.name or type(bot).__name__,
            version=bot.version or os.environ.get("CROSSTOWN_VERSION", ""),
            games=bot.games,
            wants_text=bot.wants_text,
            wants_updates=bot.wants_updates,
            omit_legal_actions=not bot.wants_legal_actions,
            omit_observation=not bot.wants_observation,
            session=playing.session,
            received=playing.received,
            prints_stacks=playing.prints_stacks,
        )
    ).SerializeToString()


def _switched_off(bot: Bot) -> frozenset[str]:
    wants = {"observation": bot.wants_observation, "legal_actions": bot.wants_legal_actions}
    return frozenset(what for what, wanted in wants.items() if not wanted)


async def settled(result: Any) -> Any:
    """Of a method; that of a coroutine is what it returns."""
    return await result if hasattr(result, "__await__") else result


def _index(decide: pb.Decide, choice: Any) -> int:
    """Whether it is below `legal_count` is the referee's to judge. TypeError or ValueError for what cannot be sent."""
    problem = (
        f"choose returned {choice!r:.200} for {_named(decide)}; "
        f"expected an index from 0 to {decide.legal_count - 1}, the game's Action message or its bytes, or RESIGN"
    )
    if isinstance(choice, bool):  # mostly the result of a comparison; as an index it would be 0 or 1
        raise TypeError(problem)
    try:
        index = operator.index(choice)
    except TypeError:
        raise TypeError(problem) from None
    if not 0 <= index <= MOST_INDEX:
        raise ValueError(problem)
    return index


def _action(match: Match, decide: pb.Decide, choice: Any) -> bytes:
    """TypeError for a message of another kind or game, which the referee could read as an empty one."""
    try:
        wanted = match.messages.Action.DESCRIPTOR.full_name
    except (LookupError, AttributeError):  # a game whose messages are not known here
        wanted = ""
    given = getattr(getattr(choice, "DESCRIPTOR", None), "full_name", wanted)
    if wanted and given != wanted:
        raise TypeError(
            f"choose returned the message {given} for {_named(decide)}; expected {wanted}, an index, bytes or RESIGN"
        )
    data: bytes = choice.SerializeToString()
    return data


def _note(decide: pb.Decide, note: Any) -> str:
    """TypeError or ValueError for what cannot stand in a record."""
    if not isinstance(note, str):
        raise TypeError(f"turn.note is {note!r:.200} in {_named(decide)}; expected a str")
    try:
        note.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"turn.note in {_named(decide)} has {note[error.start]!r} at {error.start}, half of a character; expected"
            " text that UTF-8 can hold"
        ) from None
    return note


def _named(decide: pb.Decide) -> str:
    return f"decision {decide.decision} ({decide.kind}) of match {decide.match}"


MOST_COUNT = (1 << 32) - 1
"""The largest count of requests or tokens that one answer can carry."""
MOST_WAIT_S = MOST_COST_DOLLARS = 1e9


def _usage(decide: pb.Decide, used: Any) -> pb.Usage:
    """TypeError if `used` is not a Usage, or has values below 0. Counts above the limits of the wire are cut."""
    if not isinstance(used, Usage):
        raise TypeError(f"turn.usage is {used!r:.200} in {_named(decide)}; expected a crosstown_bot.Usage")
    counts = (used.requests, used.prompt_tokens, used.reply_tokens, used.provider_errors, used.unreadable)
    if not all(type(count) is int and count >= 0 for count in counts):
        raise TypeError(f"turn.usage is {used!r:.300} in {_named(decide)}; expected counts from 0")
    if not (used.wait_s >= 0 and used.cost_dollars >= 0):  # nan is neither
        raise TypeError(f"turn.usage is {used!r:.300} in {_named(decide)}; expected seconds and dollars from 0")
    requests, prompt, reply, errors, unreadable = (min(count, MOST_COUNT) for count in counts)
    return pb.Usage(
        requests=requests,
        prompt_tokens=prompt,
        reply_tokens=reply,
        provider_errors=errors,
        unreadable=unreadable,
        wait_us=round(min(used.wait_s, MOST_WAIT_S) * 1e6),
        cost_nanos=round(min(used.cost_dollars, MOST_COST_DOLLARS) * 1e9),
    )


def _encoded(match: Match, decide: pb.Decide, choice: Any, turn: Turn) -> bytes:
    if choice is RESIGN:
        return pb.BotMessage(resign=pb.Resign(match=decide.match)).SerializeToString()
    note = turn.note
    move = pb.Move(match=decide.match, decision=decide.decision, note=_note(decide, note) if note != "" else "")
    if turn.usage is not None:
        move.usage.CopyFrom(_usage(decide, turn.usage))
    if isinstance(choice, ProviderError):
        move.provider_error = str(choice).encode(errors="replace").decode()[:MOST_REASON]
    elif isinstance(choice, bytes):
        move.action = choice
    elif hasattr(choice, "SerializeToString"):
        move.action = _action(match, decide, choice)
    else:
        move.index = _index(decide, choice)
    return pb.BotMessage(move=move).SerializeToString()
