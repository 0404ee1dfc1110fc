"""The bot's side of the wire: one stream, one match after another, until Bye or until the referee is gone."""

from __future__ import annotations

import asyncio
import json
import operator
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosstown_bot.bot import RESIGN, Bot
from crosstown_bot.turn import Match, Result, Turn

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # read when grpc is imported

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROTOCOL = 1
CONNECT_LIMIT_S = 10.0
_METHOD = "/crosstown.v1.Referee/Play"
_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def run(bot_class: Callable[[Mapping[str, Any]], Bot]) -> None:
    """Play with a bot of this class (or of what makes one from options) until the referee says Bye; then return.

    Ends the process with exit code 1 and a sentence (or the bot's traceback) on stderr when something is wrong.
    """
    try:
        address, token = os.environ["CROSSTOWN_ADDRESS"], os.environ["CROSSTOWN_TOKEN"]
    except KeyError as missing:
        sys.exit(f"{missing.args[0]} is not set: a bot is started by the referee, for instance by `crosstown run FILE`")
    try:
        credentials = _credentials(address, os.environ.get("CROSSTOWN_TLS_CA", ""))
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    bot = bot_class(json.loads(os.environ.get("CROSSTOWN_OPTIONS") or "{}"))
    problem = asyncio.run(_connect(bot, address, token, credentials))
    if problem:
        sys.exit(problem)


def _credentials(address: str, authorities: str) -> grpc.ChannelCredentials | None:
    """For TLS with a referee elsewhere; `authorities` is the path of a PEM file. None for a plain connection.

    OSError if the file cannot be read; ValueError where a plain connection would leave this machine.
    """
    if address.startswith(("unix:", "unix-abstract:")):
        return None
    if authorities:
        return grpc.ssl_channel_credentials(Path(authorities).read_bytes())
    host = address.rpartition(":")[0].rpartition("/")[2].strip("[]")
    if host == "localhost" or host == "::1" or host.startswith("127."):
        return None
    raise ValueError(
        f"the referee at {address} is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path of a PEM"
        " file with the certificate of the referee or of who signed it"
    )


async def _connect(bot: Bot, address: str, token: str, credentials: grpc.ChannelCredentials | None = None) -> str:
    """Why the session ended; empty after Bye."""
    async with _channel(address, credentials) as channel:
        call: Any = channel.stream_stream(_METHOD)(wait_for_ready=True)
        try:
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):  # the write waits for the connection
                    await call.write(_hello(bot, token))
                    welcome = await call.read()
            except TimeoutError:
                return f"no answer from the referee at {address} within {CONNECT_LIMIT_S:g} s"
            if welcome is not grpc.aio.EOF and await _serve(bot, call):
                await call.done_writing()
                return ""
            return f"the referee ended the stream: {await call.details() or (await call.code()).name}"
        except grpc.aio.AioRpcError as error:
            return f"the stream to the referee broke: {error.details() or error.code().name}"


def _channel(address: str, credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
    if credentials is None:
        return grpc.aio.insecure_channel(address, options=_OPTIONS)
    return grpc.aio.secure_channel(address, credentials, options=_OPTIONS)


async def _serve(bot: Bot, call: Any) -> bool:
    """Answers until Bye (True) or until the stream ends (False)."""
    read, write, parse = call.read, call.write, pb.RefereeMessage.FromString
    choose, match = bot.choose, None
    while (raw := await read()) is not grpc.aio.EOF:
        message = parse(raw)
        body = message.WhichOneof("body")
        if body == "decide" and match is not None:
            decide = message.decide
            turn = Turn(match, decide)
            choice = choose(turn)
            if type(choice) is not int:
                choice = await _settled(choice)
            await write(_answer(decide, choice, turn.note))
        elif body == "match_start":
            match = Match(message.match_start, bot.messages, _switched_off(bot))
            bot.start(match)
            await write(pb.BotMessage(ready=pb.Ready(match=match.id)).SerializeToString())
        elif body == "match_end" and match is not None:
            bot.end(Result(match, message.match_end))
            match = None
        elif body == "update" and match is not None:
            bot.update(match, list(match.messages.Events.FromString(message.update.events).events))
        elif body == "bye":
            return True
    return False


def _switched_off(bot: Bot) -> frozenset[str]:
    wants = {"observation": bot.wants_observation, "legal_actions": bot.wants_legal_actions}
    return frozenset(what for what, wanted in wants.items() if not wanted)


async def _settled(choice: Any) -> Any:
    """The choice of a coroutine is what it returns."""
    return await choice if hasattr(choice, "__await__") else choice


def _answer(decide: pb.Decide, choice: Any, note: str) -> bytes:
    if choice is RESIGN:
        return pb.BotMessage(resign=pb.Resign(match=decide.match)).SerializeToString()
    move = pb.Move(match=decide.match, decision=decide.decision, note=note)
    if isinstance(choice, bytes):
        move.action = choice
    elif hasattr(choice, "SerializeToString"):
        move.action = choice.SerializeToString()
    else:
        move.index = operator.index(choice)
    return pb.BotMessage(move=move).SerializeToString()


def _hello(bot: Bot, token: str) -> bytes:
    return pb.BotMessage(
        hello=pb.Hello(
            protocol=PROTOCOL,
            token=token,
            name=bot.name or type(bot).__name__,
            version=bot.version,
            games=bot.games,
            wants_text=bot.wants_text,
            wants_updates=bot.wants_updates,
            omit_legal_actions=not bot.wants_legal_actions,
            omit_observation=not bot.wants_observation,
        )
    ).SerializeToString()
