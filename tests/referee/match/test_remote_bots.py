"""Bots that are not started by the referee but come by themselves: sessions that go on, and who is turned away."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.match.invitation import Invitation
from referee.process.entry import Entry, remote_bot_entry
from referee.record import Record, read_record, verify
from referee.wire import Listen
from referee.wire.public_address import parse_address
from referee.wire.remote_bots import token_digest

R = EndReason
PATIENT = Limits(startup_s=30, ready_s=30, first_move_s=30, move_s=30)
ADA, BOB = remote_bot_entry("Ada", "1"), remote_bot_entry("Bob", "1")
TOKENS = {ADA.id: "a" * 32, BOB.id: "b" * 32}
WAIT_S = 10


class Stream:
    """One stream of a guest, spoken by hand."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.call: Any = self.channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)

    async def hello(self, token: str, **more: Any) -> "Stream":
        await self.say(hello=pb.Hello(protocol=1, token=token, **more))
        return self

    async def say(self, **body: Any) -> None:
        await self.call.write(pb.BotMessage(**body).SerializeToString())

    async def hear(self) -> Any:
        """The next message; None when the stream is over."""
        async with asyncio.timeout(WAIT_S):
            raw = await self.call.read()
        return None if raw is grpc.aio.EOF else pb.RefereeMessage.FromString(raw)

    async def hear_until(self, body: str) -> pb.RefereeMessage:
        while (message := await self.hear()).WhichOneof("body") != body:
            await self.answer(message)
        return message  # type: ignore[no-any-return]

    async def answer(self, message: pb.RefereeMessage) -> None:
        if message.HasField("match_start"):
            await self.say(ready=pb.Ready(match=message.match_start.match))
        elif message.HasField("decide"):
            decide = message.decide
            await self.say(move=pb.Move(match=decide.match, decision=decide.decision, index=0))

    async def play(self) -> list[str]:
        """Answers everything to the end of the stream; the kinds of what it heard."""
        heard: list[str] = []
        while (message := await self.hear()) is not None:
            heard.append(message.WhichOneof("body"))
            await self.answer(message)
            if heard[-1] == "bye":
                await self.call.done_writing()
        return heard

    async def status(self) -> tuple[grpc.StatusCode, str]:
        async with asyncio.timeout(WAIT_S):
            return await self.call.code(), await self.call.details()

    async def drop(self) -> None:
        """As if the network had gone."""
        await self.channel.close()


@dataclass
class Room:
    """A table with two guests."""

    folder: Path
    table: Any = None
    number: int = 0
    streams: list[Stream] = field(default_factory=list)

    def stream(self) -> Stream:
        self.streams.append(Stream(self.table.address))
        return self.streams[-1]

    async def come(self, entry: Entry, **more: Any) -> tuple[Stream, pb.Welcome]:
        stream = await self.stream().hello(TOKENS[entry.id], **more)
        return stream, (await stream.hear()).welcome

    async def back(self, entry: Entry, welcome: pb.Welcome, received: int = 0) -> tuple[Stream, pb.Welcome]:
        return await self.come(entry, session=welcome.session, received=received)

    async def turned_away(self, token: str, **more: Any) -> tuple[grpc.StatusCode, str]:
        stream = await self.stream().hello(token, **more)
        return await stream.status()

    def begin(
        self, *, limits: Limits = PATIENT, who: tuple[Entry, ...] = (ADA, BOB)
    ) -> "asyncio.Task[tuple[MatchResult, Record]]":
        return asyncio.create_task(self._play(limits, who))

    async def _play(self, limits: Limits, who: tuple[Entry, ...]) -> tuple[MatchResult, Record]:
        self.number += 1
        spec = MatchSpec(
            match_id=f"m-{self.number:03}",
            game="toy",
            options=resolve_options("toy", get_game("toy").options, {}),
            seats=tuple(SeatSpec(entry.id, entry.name, entry.manifest.version) for entry in who),
            seed=f"{self.number:032x}",
            limits=limits,
        )
        async with asyncio.timeout(60):
            result = await self.table.play(spec, self.folder)
        path = self.folder / f"{spec.match_id}.jsonl.gz"
        assert verify(path).status == "ok"
        return result, read_record(path)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    async with AsyncExitStack() as stack:

        async def build(**invitation: Any) -> Room:
            room = Room(tmp_path)
            guests = {key: Invitation(token, PATIENT, **invitation) for key, token in TOKENS.items()}
            table = Table({ADA.id: ADA, BOB.id: BOB}, remote_bots=guests)
            room.table = await stack.enter_async_context(table)
            stack.push_async_callback(leave, room)
            return room

        yield build


async def leave(room: Room) -> None:
    for stream in room.streams:
        await stream.drop()


async def test_guests_play_match_after_match_on_one_stream(room: Any) -> None:
    hall = await room()
    streams = [(await hall.come(entry))[0] for entry in (ADA, BOB)]
    playing = [asyncio.create_task(stream.play()) for stream in streams]
    for _ in range(2):
        result, record = await hall.begin()
        assert (result.reason, result.faults) == (R.NORMAL, (None, None))
        assert [seat.sandbox for seat in record.header.seats] == ["remote", "remote"]
    await hall.table.__aexit__(None, None, None)
    for heard in await asyncio.gather(*playing):
        assert heard.count("match_start") == 2
        assert heard[-1] == "bye"


async def test_limits_that_do_not_hold_for_a_guest_are_not_announced(room: Any) -> None:
    _, welcome = await (await room()).come(ADA)
    limits = welcome.limits
    assert (limits.ready_us, limits.max_message_bytes) == (30_000_000, 1 << 20)
    assert (limits.memory_mib, limits.processes, limits.disk_mib, limits.max_output_bytes) == (0, 0, 0, 0)
    assert limits.starts_at_once == 0


async def test_a_guest_may_come_after_the_match_was_called(room: Any) -> None:
    hall = await room()
    ada = asyncio.create_task((await hall.come(ADA))[0].play())
    match = hall.begin()
    bob = asyncio.create_task((await hall.come(BOB))[0].play())
    assert (await match)[0].reason is R.NORMAL
    for task in (ada, bob):
        task.cancel()


async def test_con_4_a_guest_that_never_comes_is_failed_to_start(room: Any) -> None:
    hall = await room(wait_s=0.3)
    await hall.come(ADA)
    result, _ = await hall.begin(limits=Limits(startup_s=0.3))
    assert (result.reason, result.status) == (R.START_FAILED, "void")
    assert result.faults[0] is None
    assert "did not connect" in result.faults[1].detail


async def test_how_long_a_guest_was_waited_for_is_said_since_it_was_first_awaited(room: Any) -> None:
    """Not how long this match, or its last wait, took: that may be no time at all."""
    hall = await room(wait_s=1.2)
    await hall.come(ADA)
    await asyncio.sleep(1.1)
    result, _ = await hall.begin(limits=Limits(startup_s=0.1))
    assert re.search(r"did not connect within [1-9]", result.faults[1].detail), result.faults


async def test_a_guest_that_came_too_late_for_one_match_plays_the_next(room: Any) -> None:
    hall = await room(wait_s=0.3)
    bob, _ = await hall.come(BOB)
    playing = [asyncio.create_task(bob.play())]
    assert (await hall.begin(limits=Limits(startup_s=0.3)))[0].reason is R.START_FAILED
    ada, _ = await hall.come(ADA)
    playing.append(asyncio.create_task(ada.play()))
    assert (await hall.begin())[0].reason is R.NORMAL
    for task in playing:
        task.cancel()


async def test_a_match_waits_for_a_bot_that_is_away_as_long_as_it_may_stay_away(room: Any) -> None:
    hall = await room(reconnect_s=30, wait_s=0.3)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    playing = [asyncio.create_task(bob.play())]
    await ada.drop()
    await still_away(hall, ADA)
    match = hall.begin(limits=Limits(startup_s=0.05, ready_s=30, first_move_s=30, move_s=30))
    done, _ = await asyncio.wait([match], timeout=0.6)
    assert not done, "its start may take 0.05 s, and it may stay away for 30 s"
    again, _ = await hall.back(ADA, welcome)
    playing.append(asyncio.create_task(again.play()))
    assert (await match)[0].reason is R.NORMAL
    for task in playing:
        task.cancel()


async def test_a_match_does_not_wait_for_a_bot_that_was_away_for_too_long(room: Any) -> None:
    hall = await room(reconnect_s=0.5, wait_s=0.3)
    (ada, _), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    playing = asyncio.create_task(bob.play())
    await ada.drop()
    await still_away(hall, ADA)
    result, _ = await hall.begin(limits=Limits(startup_s=0.05))
    assert (result.reason, "did not connect" in result.detail) == (R.START_FAILED, True)
    playing.cancel()


async def gone(hall: Room, entry: Entry) -> None:
    """Until its session has ended."""
    async with asyncio.timeout(WAIT_S):
        while hall.table._pool._places[entry.id].remote_bot.session is not None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.005)


async def test_a_bot_that_was_there_has_its_whole_time_to_start_though_the_first_wait_ends(room: Any) -> None:
    """Its next match waited for what was left of `wait_s`, in one case half a second, and blamed the bot."""
    hall = await room(wait_s=0.5)
    (ada, _), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    playing = [asyncio.create_task(bob.play())]
    await ada.drop()
    await gone(hall, ADA)
    match = hall.begin()
    done, _ = await asyncio.wait([match], timeout=0.8)
    assert not done, "it may take 30 s to start"
    again, _ = await hall.come(ADA)
    playing.append(asyncio.create_task(again.play()))
    assert (await match)[0].reason is R.NORMAL
    for task in playing:
        task.cancel()


async def test_of_a_bot_that_was_there_it_is_said_that_it_did_not_connect_again(room: Any) -> None:
    hall = await room(wait_s=0.1)
    (ada, _), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    playing = asyncio.create_task(bob.play())
    await ada.drop()
    await gone(hall, ADA)
    result, _ = await hall.begin(limits=Limits(startup_s=0.1))
    assert "it did not connect again within" in result.faults[0].detail
    playing.cancel()


async def test_a_guest_that_plays_other_games_is_let_go_of(room: Any) -> None:
    hall = await room()
    await hall.come(ADA, games=["chess"])
    await hall.come(BOB)
    for _ in range(3):
        result, _ = await hall.begin(limits=Limits(startup_s=5))
        assert (result.reason, "it plays chess" in result.detail) == (R.START_FAILED, True)
    ended = hall.table._pool._places[ADA.id].remote_bot.session.ended
    assert len(ended._callbacks) == 1  # of the guest itself: none of the matches that were not played


async def test_a_guest_that_comes_while_the_table_closes_hears_bye(room: Any) -> None:
    hall = await room(reconnect_s=30)
    ada, welcome = await hall.come(ADA)
    bob, _ = await hall.come(BOB)
    await ada.drop()
    await still_away(hall, ADA)
    closing = asyncio.create_task(hall.table._pool.close())
    assert (await bob.hear()).HasField("bye")  # and does not go: the door is open still
    code, _ = await hall.turned_away(TOKENS[ADA.id], session=welcome.session)
    assert code is grpc.StatusCode.NOT_FOUND
    again, _ = await hall.come(ADA)
    assert (await again.hear()).HasField("bye")
    await closing


async def test_the_version_that_was_agreed_on_must_be_said(room: Any) -> None:
    hall = await room(version="2", wait_s=0.3)
    assert (await hall.come(ADA, version="2"))[1].protocol == 1
    code, words = await hall.turned_away(TOKENS[BOB.id], version="3")
    assert (code, "version '3', expected '2'" in words) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    result, _ = await hall.begin(limits=Limits(startup_s=0.3))
    assert "version '3', expected '2'" in result.faults[1].detail


@pytest.mark.parametrize("received", [0, 2], ids=["that does not count", "that counts"])
async def test_a_bot_that_comes_back_is_asked_again(room: Any, received: int) -> None:
    """TIM-4: the clock of the question goes on, and the answer counts."""
    hall = await room(reconnect_s=30)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    assert (welcome.reconnect_us, len(welcome.session), welcome.next_message) == (30_000_000, 32, 1)
    match = hall.begin()
    other = asyncio.create_task(bob.play())
    asked = await ada.hear_until("decide")
    await ada.drop()
    again, second = await hall.back(ADA, welcome, received)
    assert (second.session, second.next_message) == (welcome.session, 2)
    assert await again.hear() == asked
    await again.answer(asked)
    rest = asyncio.create_task(again.play())
    result, record = await match
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))
    assert result.seat_stats[0].dropped == 0
    assert record.complete
    for task in (other, rest):
        task.cancel()


async def test_a_ready_that_was_lost_is_asked_for_again(room: Any) -> None:
    hall = await room(reconnect_s=30)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin()
    other = asyncio.create_task(bob.play())
    start = await ada.hear()
    await ada.drop()
    again, _ = await hall.back(ADA, welcome, received=1)
    assert await again.hear() == start
    await again.answer(start)
    rest = asyncio.create_task(again.play())
    assert (await match)[0].reason is R.NORMAL
    for task in (other, rest):
        task.cancel()


async def test_a_connection_that_breaks_again_before_the_bot_is_ready_is_its_second_absence(room: Any) -> None:
    """It has as long to come back as after the first, and is disconnected when it does not."""
    hall = await room(reconnect_s=1)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin(limits=replace(PATIENT, ready_s=0.4))
    other = asyncio.create_task(bob.play())
    await ada.hear()
    await ada.drop()
    again, welcome = await hall.back(ADA, welcome, received=1)
    await again.hear()
    await asyncio.sleep(0.2)  # of its second time to get ready
    await again.drop()
    result, _ = await match
    other.cancel()
    assert "did not take its session up within 1 s" in result.detail


async def test_the_end_of_a_match_waits_for_a_bot_that_is_away(room: Any) -> None:
    hall = await room(reconnect_s=30)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin()
    for _ in range(2):  # MatchStart, and the choice that all make at once
        for stream in (ada, bob):
            await stream.answer(await stream.hear())
    assert (await ada.hear()).decide.kind == "turn"
    await ada.drop()
    await bob.say(resign=pb.Resign(match="m-001"))
    assert (await match)[0].reason is R.RESIGNED
    again, welcome = await hall.back(ADA, welcome, received=3)
    assert welcome.next_message == 4
    kinds = [(await again.hear()).WhichOneof("body") for _ in range(2)]
    assert kinds == ["cancel", "match_end"]


async def test_a_bot_that_does_not_come_back_is_disconnected(room: Any) -> None:
    hall = await room(reconnect_s=0.3)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin()
    other = asyncio.create_task(bob.play())
    await ada.hear_until("decide")
    await ada.drop()
    result, _ = await match
    other.cancel()
    assert (result.reason, result.status, result.ranking) == (R.DISCONNECTED, "rated", (2, 1))
    assert "did not take its session up within 0.3 s" in result.detail
    code, words = await hall.turned_away(TOKENS[ADA.id], session=welcome.session)
    assert (code, "without Hello.session" in words) == (grpc.StatusCode.NOT_FOUND, True)


async def test_the_clock_of_a_bot_that_is_away_runs_out(room: Any) -> None:
    hall = await room(reconnect_s=30)
    (ada, _), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin(limits=Limits(startup_s=30, ready_s=30, first_move_s=0.3, move_s=30))
    other = asyncio.create_task(bob.play())
    await ada.hear_until("decide")
    await ada.drop()
    result, _ = await match
    other.cancel()
    assert (result.reason, result.ranking) == (R.DISCONNECTED, (2, 1))
    assert "its connection broke" in result.detail
    assert "no answer after" in result.detail


async def test_without_a_way_back_a_broken_stream_is_the_end(room: Any) -> None:
    hall = await room()
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    assert (welcome.session, welcome.reconnect_us) == ("", 0)
    match = hall.begin()
    other = asyncio.create_task(bob.play())
    await ada.hear_until("decide")
    await ada.drop()
    assert (await match)[0].reason is R.DISCONNECTED
    other.cancel()


async def test_a_new_process_of_the_bot_begins_anew(room: Any) -> None:
    """The match that the old one played is lost, the next one is played."""
    hall = await room(reconnect_s=30)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin()
    playing = [asyncio.create_task(bob.play())]
    await ada.hear_until("decide")
    await ada.drop()
    await still_away(hall, ADA)
    fresh, anew = await hall.come(ADA)
    assert anew.session not in ("", welcome.session)
    result, _ = await match
    assert (result.reason, "it opened a new session instead" in result.detail) == (R.DISCONNECTED, True)
    playing.append(asyncio.create_task(fresh.play()))
    assert (await hall.begin())[0].reason is R.NORMAL
    for task in playing:
        task.cancel()


async def still_away(hall: Room, entry: Entry) -> None:
    """Until the referee has noticed that the stream is over."""
    async with asyncio.timeout(WAIT_S):
        while hall.table._pool._places[entry.id].remote_bot.session.online:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(0.005)


async def test_of_two_connections_with_one_session_the_newer_one_plays(room: Any) -> None:
    hall = await room(reconnect_s=30)
    (ada, welcome), (bob, _) = await hall.come(ADA), await hall.come(BOB)
    match = hall.begin()
    playing = [asyncio.create_task(bob.play())]
    await ada.hear_until("decide")
    newer, _ = await hall.back(ADA, welcome)
    assert (await ada.status())[0] is grpc.StatusCode.ABORTED
    playing.append(asyncio.create_task(newer.play()))
    assert (await match)[0].reason is R.NORMAL
    for task in playing:
        task.cancel()


class Network:
    """A way from guests to a table over TCP, on which packets can begin to vanish: both ends stay open."""

    def __init__(self, address: str) -> None:
        self._target = parse_address(address)
        self._up = asyncio.Event()
        self._up.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.address = ""

    async def __aenter__(self) -> "Network":
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*[writer.wait_closed() for writer in self._writers], return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection(*self._target)
        self._writers += writer, to_writer
        for source, sink in ((reader, to_writer), (to_reader, writer)):
            self._tasks.add(asyncio.create_task(self._carry(source, sink)))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            await self._up.wait()
            sink.write(data)

    def lose_everything(self) -> None:
        self._up.clear()


async def ada_over_a_network(
    stack: AsyncExitStack, folder: Path, *, reconnect_s: float, keepalive_s: float
) -> tuple[Room, Network, Stream]:
    """Ada has said Hello over a network that can lose everything."""
    guests = {key: Invitation(token, PATIENT, reconnect_s=reconnect_s) for key, token in TOKENS.items()}
    listen = Listen("127.0.0.1", 0, plain=True, keepalive_s=keepalive_s)
    hall = Room(folder)
    hall.table = await stack.enter_async_context(Table({ADA.id: ADA, BOB.id: BOB}, remote_bots=guests, listen=listen))
    network = await stack.enter_async_context(Network(hall.table.remote_address))
    ada = Stream(network.address)
    await ada.hello(TOKENS[ADA.id])
    return hall, network, ada


@pytest.mark.slow
async def test_a_match_that_begins_while_packets_vanish_waits_until_the_bot_is_back(tmp_path: Path) -> None:
    """A bot has less time to get ready than it takes to find the broken connection: that was its failed start."""
    async with AsyncExitStack() as stack:
        hall, network, ada = await ada_over_a_network(stack, tmp_path, reconnect_s=30, keepalive_s=3)
        welcome = (await ada.hear()).welcome
        bob, _ = await hall.come(BOB)
        playing = [asyncio.create_task(bob.play())]
        network.lose_everything()
        match = hall.begin(limits=Limits(startup_s=1, ready_s=1, first_move_s=30, move_s=30))
        await still_away(hall, ADA)
        again, _ = await hall.back(ADA, welcome)
        playing.append(asyncio.create_task(again.play()))
        result, _ = await match
        assert (result.reason, result.faults) == (R.NORMAL, (None, None))
        for task in playing:
            task.cancel()
        await ada.drop()


@pytest.mark.slow
@pytest.mark.parametrize("vanish", [True, False], ids=["packets vanish", "the bot only thinks"])
async def test_a_connection_on_which_packets_vanish_is_found_long_before_the_move_is_over(
    tmp_path: Path, vanish: bool
) -> None:
    """Keepalive, then the window to come back, then `disconnected`; a bot that thinks for longer than all that is
    still there."""
    async with AsyncExitStack() as stack:
        hall, network, ada = await ada_over_a_network(stack, tmp_path, reconnect_s=0.5, keepalive_s=1.5)
        await ada.hear()
        bob, _ = await hall.come(BOB)
        match, other = hall.begin(), asyncio.create_task(bob.play())
        asked = await ada.hear_until("decide")
        began_s = time.monotonic()
        if vanish:
            network.lose_everything()
            result, record = await match
            assert time.monotonic() - began_s < 15, "the move may take 30 s"
            assert (result.reason, result.ranking) == (R.DISCONNECTED, (2, 1))
            assert record.footer.faults[0]["wall_us"] < 15e6
        else:
            await asyncio.sleep(4)
            assert not match.done()
            await ada.answer(asked)
            rest = asyncio.create_task(ada.play())
            result, _ = await match
            assert (result.reason, result.faults) == (R.NORMAL, (None, None))
            rest.cancel()
        other.cancel()
        await ada.drop()


async def test_a_match_whose_guest_is_awaited_takes_nobodys_turn(tmp_path: Path) -> None:
    """One match at a time: Bob and Cyd play theirs while Ada is awaited in another."""
    cyd, dan = remote_bot_entry("Cyd", "1"), remote_bot_entry("Dan", "1")
    tokens = {**TOKENS, cyd.id: "c" * 32, dan.id: "d" * 32}
    guests = {key: Invitation(token, PATIENT, wait_s=60) for key, token in tokens.items()}
    entries = {entry.id: entry for entry in (ADA, BOB, cyd, dan)}
    async with Table(entries, remote_bots=guests, at_once=1) as table:
        hall = Room(tmp_path, table)
        streams = {entry.id: await hall.stream().hello(tokens[entry.id]) for entry in (BOB, cyd, dan)}
        playing = [asyncio.create_task(stream.play()) for stream in streams.values()]
        awaiting = hall.begin()
        await asyncio.sleep(0.1)
        result, _ = await hall.begin(who=(cyd, dan))
        assert (result.reason, awaiting.done()) == (R.NORMAL, False)
        playing.append(asyncio.create_task((await hall.stream().hello(tokens[ADA.id])).play()))
        assert (await awaiting)[0].reason is R.NORMAL
    await asyncio.gather(*playing)
    for stream in hall.streams:
        await stream.drop()


async def test_a_token_has_one_session(room: Any) -> None:
    hall = await room(reconnect_s=30)
    await hall.come(ADA)
    code, words = await hall.turned_away(TOKENS[ADA.id])
    assert (code, "has a session already" in words) == (grpc.StatusCode.ALREADY_EXISTS, True)


@pytest.mark.parametrize(
    ("token", "code"),
    [
        ("c" * 32, grpc.StatusCode.UNAUTHENTICATED),
        ("", grpc.StatusCode.UNAUTHENTICATED),
        ("\u00e9" * 32, grpc.StatusCode.UNAUTHENTICATED),
        (TOKENS[BOB.id], grpc.StatusCode.NOT_FOUND),
    ],
    ids=["a guess", "none", "not ASCII", "another bot's"],
)
async def test_a_session_that_was_overheard_opens_nothing_without_its_token(
    room: Any, token: str, code: grpc.StatusCode
) -> None:
    hall = await room(reconnect_s=30)
    ada, welcome = await hall.come(ADA)
    assert (await hall.turned_away(token, session=welcome.session))[0] is code
    assert hall.table._pool._places[ADA.id].remote_bot.session.online
    assert not ada.call.done()


async def test_a_guest_that_talks_between_matches_without_end_is_cut_off(room: Any) -> None:
    hall = await room(reconnect_s=30)
    ada, _ = await hall.come(ADA)
    for _ in range(101):
        await ada.say(ready=pb.Ready(match="m"))
    assert (await ada.status())[0] is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert hall.table._pool._places[ADA.id].remote_bot.session is None


def test_a_token_must_be_long() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        Invitation("short")


def test_an_entry_is_named_by_name_and_version() -> None:
    assert ADA.id == remote_bot_entry("Ada", "1").id
    others = [remote_bot_entry("Ada", version) for version in ("2", "", "remote")]
    assert len({ADA.id, BOB.id, *(entry.id for entry in others)}) == 5


# Those that are named while the table is open


def invited(*tokens: str) -> Invitation:
    digests = tuple(token_digest(token).hex() for token in tokens)
    return Invitation("", PATIENT, wait_s=0, reconnect_s=5, digests=digests)


async def test_a_bot_that_is_expected_later_plays_under_the_entry_of_its_version(room: Any) -> None:
    hall = await room()
    entries: Any = hall.table._entries
    one, two = (replace(remote_bot_entry("Cyd", version), id=f"c{version}") for version in "12")
    entries |= {one.id: one, two.id: two}
    hall.table.expect("Cyd", invited("c" * 32))
    for entry in (one, two):
        hall.table.seat_as(entry.id, "Cyd", entry.manifest.version)
    assert hall.table.seen()["Cyd"].connected is False
    stream = await hall.stream().hello("c" * 32, version="2", games=["toy"])
    ada, _ = await hall.come(ADA)
    await stream.hear()
    assert (hall.table.seen()["Cyd"].version, hall.table.seen()["Cyd"].games) == ("2", ("toy",))
    playing = asyncio.gather(stream.play(), ada.play())
    result, _ = await hall.begin(who=(ADA, one))
    assert (result.status, result.reason) == ("void", R.START_FAILED)
    assert "connected as version '2', and version '1' is to play" in result.detail
    result, record = await hall.begin(who=(ADA, two))
    assert (result.reason, record.header.seats[1].sandbox) == (R.NORMAL, "remote")
    hall.table.turn_away("Cyd")
    assert (await stream.status())[0] is grpc.StatusCode.UNAUTHENTICATED
    playing.cancel()


async def test_a_bot_whose_token_is_revoked_in_mid_match_loses_it(room: Any) -> None:
    hall = await room()
    cyd = replace(remote_bot_entry("Cyd", "1"), id="c1")
    hall.table._entries["c1"] = cyd
    hall.table.expect("Cyd", invited("c" * 32))
    hall.table.seat_as("c1", "Cyd", "1")
    stream = await hall.stream().hello("c" * 32, version="1")
    ada, _ = await hall.come(ADA)
    match = hall.begin(who=(cyd, ADA))
    other = asyncio.create_task(ada.play())
    await stream.hear_until("decide")
    hall.table.expect("Cyd", invited("d" * 32))
    result, _ = await match
    assert (result.faults[0].reason, result.ranking) == (R.DISCONNECTED, (2, 1))
    other.cancel()
