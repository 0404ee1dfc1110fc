"""Floods of HTTP/2 frames and connections: they cost the bot that makes them its match, and nobody else anything."""

import asyncio
import ssl
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from arena import Arena, memory_kb

from referee.match import EndReason, Table
from referee.match.invitation import Invitation
from referee.process.entry import load_entry, remote_bot_entry
from referee.process.sandbox import Sandbox
from referee.record import Answer
from referee.wire import Listen
from referee.wire.public_address import own_certificate, parse_address

R = EndReason
FLOODER = Path(__file__).parent / "bots" / "flooder"
DEEDS = ("ping", "settings", "window_update", "priority", "unknown", "goaway", "resets", "continuations", "empty_data")
LONG = [pytest.mark.long]
TIMES = 40
"""How often a stranger comes. It floods for 3 seconds, or until it is cut off."""

MOST_MIB = 16
"""Of the referee's memory, for a match with a flooder and an honest bot."""

MOST_STRANGER_MIB = 4
"""Of the referee's memory, for a stranger that comes again and again with one connection at a time. Of that one the
referee holds what TLS reads into (256 KiB), what cannot be read yet, and answers that the other end does not read
(`MAX_UNREAD_BYTES`): less than 1 MiB. Of those before it holds nothing; the rest is room for the allocator."""

STRANGER = """
import ssl, sys, time
sys.path.insert(0, sys.argv[1])
import frames
host, port, tls, deed = sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
context = ssl.create_default_context(cafile=tls or None)
context.set_alpn_protocols(["h2"])
wrap = (lambda line: context.wrap_socket(line, server_hostname="localhost")) if tls else (lambda line: line)
end, cut = time.monotonic() + 60, 0
while cut < int(sys.argv[6]) and time.monotonic() < end:
    try:
        connection = frames.Connection((host, port), wrap)
    except OSError:
        time.sleep(0.01)
        continue
    begun = time.monotonic()
    frames.flood(connection.line, deed, 3, time.monotonic)
    cut += time.monotonic() < begun + 3
print(cut)
"""


CASES = [
    *[("own", deed) for deed in DEEDS],
    ("own", "tiny_messages"),
    ("second", "none"),
    ("second", "ping"),
    ("second", "settings"),
    ("new", "connections"),
    ("own", "none"),
]
IN_BOTH = [("own", "ping"), ("own", "resets"), ("second", "ping"), ("new", "connections"), ("own", "none")]
"""Cases that the strict profile has in every run of the slow tests: the referee reads frames alike in both profiles."""


@pytest.mark.parametrize(
    ("profile", "where", "deed"),
    [
        *[("plain", *case) for case in CASES],
        *[
            pytest.param("strict", *case, marks=[pytest.mark.strict_sandbox, *([] if case in IN_BOTH else LONG)])
            for case in CASES
        ],
    ],
)
async def test_a_flood_costs_the_match_of_the_bot_that_makes_it_and_little_else(
    place: Path, tmp_path: Path, profile: str, where: str, deed: str
) -> None:
    flooder = load_entry(FLOODER, options={"deed": deed, "where": where})
    arena = Arena(place, tmp_path / "records", entries={flooder.id: flooder})
    arena.profile = profile  # type: ignore[assignment]
    good = [arena.good(number) for number in range(3)]
    arena.sandboxes[flooder.id] = Sandbox(profile)  # type: ignore[arg-type]
    async with arena.new_table() as arena.table:
        await arena.play(*good[:2])  # what is loaded once is loaded
        before_kb, before_s = memory_kb(), time.process_time()
        (result, record), (beside, _) = await asyncio.gather(arena.play(flooder, good[2]), arena.play(*good[:2]))
        assert memory_kb() - before_kb < MOST_MIB << 10
        assert time.process_time() - before_s < 2
        if deed == "tiny_messages":
            assert (result.status, result.reason, result.ranking) == ("rated", R.WRONG_TURN_MESSAGE, (2, 1))
        elif where == "own" and deed != "none":
            assert (result.status, result.reason, result.ranking) == ("rated", R.DISCONNECTED, (2, 1)), result.detail
            fault = result.faults[0]
            assert fault is not None
            assert "the referee closed its stream" in fault.detail
            assert fault.evidence["frames"] > 100
        else:  # there is no second connection any more; who knocks learns that from the system, not from the referee
            assert (result.reason, result.faults) == (R.NORMAL, (None, None)), result.detail
            notes = {line.note for line in record.lines if isinstance(line, Answer) and line.seat == 0}
            if where == "new":
                told = next(note for note in notes if note).split()
                assert int(told[0]) == int(told[2]) > 100
        assert (beside.reason, beside.faults) == (R.NORMAL, (None, None))
    await arena.nothing_is_left()


@pytest.mark.parametrize("where", ["none", "new", "processors"])
@pytest.mark.parametrize("profile", ["plain", pytest.param("strict", marks=pytest.mark.strict_sandbox)])
async def test_a_bot_that_sleeps_past_its_limit_loses_whatever_its_children_do(
    arena: Arena, profile: str, where: str
) -> None:
    """They keep the referee busy, and a referee that is late gives time back. This time is the bot's own. The honest
    bots, beside it and against it, lose nothing by it."""
    sleeper = load_entry(FLOODER, options={"deed": "late", "where": where, "seconds": 4})
    arena.entries[sleeper.id], arena.sandboxes[sleeper.id] = sleeper, Sandbox(profile)  # type: ignore[arg-type]
    good = [arena.good(number) for number in range(3)]
    (result, _), *beside = await asyncio.gather(
        arena.play(sleeper, good[0], clocks={0: {"move_s": 0.5}}),
        *(arena.play(*good[1:]) for _ in range(2)),
    )
    assert (result.status, result.reason, result.ranking) == ("rated", R.MOVE_TIMEOUT, (2, 1)), result.detail
    fault, other = result.faults
    assert fault is not None
    assert other is None
    assert fault.evidence["wall_us"] - fault.evidence["lag_us"] >= fault.evidence["limit_us"]
    assert [(each.reason, each.faults) for each, _ in beside] == [(R.NORMAL, (None, None))] * 2


@pytest.mark.parametrize("where", ["new", "processors"])
async def test_a_bot_whose_children_are_as_busy_and_that_answers_in_time_plays_on(arena: Arena, where: str) -> None:
    """What they do is no fault of its own."""
    flooder = load_entry(FLOODER, options={"deed": "late", "where": where, "seconds": 1})
    arena.entries[flooder.id], arena.sandboxes[flooder.id] = flooder, Sandbox("plain")
    result, _ = await arena.play(flooder, arena.good(0))
    assert (result.reason, result.faults) == (R.NORMAL, (None, None)), result.detail


@pytest.mark.parametrize(("processes", "cut"), [(200, True), (1, False)], ids=["many", "few"])
@pytest.mark.parametrize("profile", ["plain", pytest.param("strict", marks=pytest.mark.strict_sandbox)])
async def test_a_bot_that_has_thousands_of_epolls_watch_its_connection_loses(
    arena: Arena, profile: str, processes: int, cut: bool
) -> None:
    """The kernel calls each of them back in the thread of the referee, whenever that sends or receives."""
    flooder = load_entry(FLOODER, options={"deed": "watched", "processes": processes})
    arena.entries[flooder.id], arena.sandboxes[flooder.id] = flooder, Sandbox(profile)  # type: ignore[arg-type]
    result, _ = await arena.play(flooder, arena.good(0))
    if cut:
        assert (result.status, result.reason, result.ranking) == ("rated", R.DISCONNECTED, (2, 1)), result.detail
        fault = result.faults[0]
        assert fault is not None
        assert "too many threads or epolls wait for its connection" in fault.detail
        assert fault.evidence["spent_us"] > 50_000
    else:
        assert (result.reason, result.faults) == (R.NORMAL, (None, None)), result.detail


@pytest.mark.parametrize("deed", ["ping", "settings", "resets", "continuations", "none"])
@pytest.mark.parametrize("plain", [False, True], ids=["TLS", "plain"])
async def test_a_stranger_without_a_token_takes_little_of_the_referee(tmp_path: Path, plain: bool, deed: str) -> None:
    certificate, key = own_certificate(tmp_path / "tls", "127.0.0.1")
    listen = Listen("127.0.0.1", 0, plain=True) if plain else Listen("127.0.0.1", 0, certificate, key)
    entry = remote_bot_entry("Ada")
    assert ssl.HAS_ALPN
    async with Table({entry.id: entry}, remote_bots={entry.id: Invitation("a" * 32)}, listen=listen) as table:
        before_kb, before_s = memory_kb(), time.process_time()
        host, port = parse_address(table.remote_address)
        if deed != "none":
            tls = "" if plain else str(certificate)
            words = (str(FLOODER), host, str(port), tls, deed, str(TIMES))
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", STRANGER, *words), stdout=subprocess.PIPE
            )
            said, _ = await process.communicate()
            assert int(said) == TIMES, "it was cut off, and came again"
        assert memory_kb() - before_kb < MOST_STRANGER_MIB << 10
        assert time.process_time() - before_s < 4  # most of it is for TLS; a flood that is read takes all that there is


@pytest.mark.parametrize(("times", "stays"), [(200, True), (6000, False)])
async def test_new_keys_of_tls_are_paid_for(tmp_path: Path, times: int, stays: bool) -> None:
    """TLS 1.3 lets a client renew its keys as often as it likes; no frame tells the referee of that."""
    certificate, key = own_certificate(tmp_path / "tls", "127.0.0.1")
    entry = remote_bot_entry("Ada")
    invited, listen = {entry.id: Invitation("a" * 32)}, Listen("127.0.0.1", 0, certificate, key)
    async with Table({entry.id: entry}, remote_bots=invited, listen=listen) as table:
        client = await asyncio.create_subprocess_exec(
            *("openssl", "s_client", "-connect", table.remote_address, "-alpn", "h2", "-tls1_3"),
            *("-CAfile", str(certificate), "-brief"),
            **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
        )
        assert client.stdin is not None
        assert client.stderr is not None
        done = 0
        with suppress(ConnectionError):
            while done < times:
                client.stdin.write(b"K\n")
                await client.stdin.drain()
                while (line := await client.stderr.readline()) and b"KEYUPDATE" not in line:
                    pass
                if not line:
                    break
                done += 1
        with suppress(TimeoutError):
            await asyncio.wait_for(client.wait(), 1)
        assert (client.returncode is None) is stays
        assert (done == times) is stays
        if stays:
            client.kill()
        await client.communicate()


GUEST = """
import sys, time
sys.path.insert(0, sys.argv[1])
import frames
from crosstown_proto.v1 import referee_pb2 as pb
address, token, where, pings, times = (sys.argv[2], int(sys.argv[3])), sys.argv[4], sys.argv[5], *map(int, sys.argv[6:])

def welcome(connection, stream):
    while (found := connection._frame()) is not None:
        kind, flags, number, payload = found
        if number == stream and kind == frames.DATA:
            return pb.RefereeMessage.FromString(payload[5:]).welcome
        if kind == frames.GOAWAY or (number == stream and flags & frames.END_STREAM):
            return None

connection, session, stream, cut = None, "", 1, 0
for _ in range(times):
    if connection is None or where == "new":
        if connection is not None:
            connection.line.close()
        connection, stream = frames.Connection(address), 1
    try:
        connection.open(stream)
        hello = pb.BotMessage(hello=pb.Hello(protocol=1, token=token, session=session))
        connection.send(hello.SerializeToString(), stream)
        found = welcome(connection, stream)
        connection.line.sendall(frames.FLOODS["ping"] * pings)
        time.sleep(0.05)
    except OSError:
        found = None
    if found is None:
        cut = 1
        break
    session, stream = session or found.session, stream + 2
print(cut)
"""


@pytest.mark.parametrize("where", ["same", "new"])
@pytest.mark.parametrize(("pings", "times", "cut"), [(1400, 20, 1), (20, 6, 0)], ids=["flood", "honest"])
async def test_a_remote_bot_that_comes_back_again_and_again_gets_no_new_budget(
    where: str, pings: int, times: int, cut: int
) -> None:
    """It resumes its session over the same connection or over new ones, and floods each time."""
    entry = remote_bot_entry("Ada")
    invited = {entry.id: Invitation("a" * 32, reconnect_s=60)}
    async with Table({entry.id: entry}, remote_bots=invited, listen=Listen("127.0.0.1", 0, plain=True)) as table:
        host, port = parse_address(table.remote_address)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", GUEST, str(FLOODER), host, str(port), "a" * 32, where, str(pings), str(times)),
            stdout=subprocess.PIPE,
        )
        said, _ = await process.communicate()
        assert int(said) == cut
