"""Speaks the protocol by hand and, at decision number `at` of its own (from 0), does the `deed` of its options."""

import asyncio
import json
import os
import signal
import sys
import time

os.environ["GRPC_VERBOSITY"] = "NONE"

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

OPTIONS = json.loads(os.environ["CROSSTOWN_OPTIONS"])
DEED, AT, DELAY_S = OPTIONS["deed"], OPTIONS["at"], OPTIONS["delay_ms"] / 1000


def bot_message(**body):
    return pb.BotMessage(**body).SerializeToString()


def move(decide, index=0, **changes):
    fields = {"match": decide.match, "decision": decide.decision, "index": index}
    return bot_message(move=pb.Move(**{**fields, **changes}))


def hello():
    fields = {"protocol": 1, "token": os.environ["CROSSTOWN_TOKEN"], "name": "rogue"}
    changes = {
        "wrong_protocol": {"protocol": 7},
        "wrong_token": {"token": "not the token"},
        "wrong_game": {"games": ["chess", "go"]},
        "any_game": {"games": ["chess", "*"]},
        "many_games": {"games": [f"game_{number}" * 10 for number in range(10_000)]},
        "plays_thousands": {"max_parallel_matches": 2**32 - 1},
    }
    return bot_message(hello=pb.Hello(**{**fields, **changes.get(DEED, {})}))


def before_hello():
    if DEED == "dies_at_start":
        print("cannot find my model", file=sys.stderr)
        sys.exit(4)
    if DEED == "never_connects":
        time.sleep(60)


def at_match_start(match):
    if DEED == "never_ready":
        return []
    if DEED == "dies_at_match_start":
        sys.exit(5)
    if DEED == "resigns_at_start":
        return [bot_message(resign=pb.Resign(match=match))]
    if DEED == "ready_twice":
        return [bot_message(ready=pb.Ready(match=match))] * 2
    return [bot_message(ready=pb.Ready(match=match))]


def misbehave(decide):
    """What to send instead of the answer."""
    time.sleep(DELAY_S)
    right = move(decide)
    match DEED:
        case "slow":
            return [right]
        case "illegal_index":
            return [move(decide, decide.legal_count)]
        case "illegal_action":
            return [bot_message(move=pb.Move(match=decide.match, decision=decide.decision, action=b'{"kind":"yield"}'))]
        case "malformed_action":
            return [bot_message(move=pb.Move(match=decide.match, decision=decide.decision, action=b"\xff\x00"))]
        case "empty_move":
            return [bot_message(move=pb.Move(match=decide.match, decision=decide.decision))]
        case "malformed_message":
            return [b"\xff\xff\xff\xff"]
        case "oversized_message":
            return [move(decide, note="x" * (2 << 20))]
        case "huge_message":
            return [move(decide, note="x" * (20 << 20))]
        case "wrong_match":
            return [move(decide, match="another"), right]
        case "stale_decision":
            return [move(decide, decision=1), right]
        case "future_decision":
            return [move(decide, decision=decide.decision + 1), right]
        case "repeats":
            return [right, right, move(decide, 1)]
        case "floods":
            return [move(decide, decision=decide.decision + 1000)] * 5000
        case "long_note":
            return [move(decide, note="\u2603" * 10_000)]
        case "resigns":
            return [bot_message(resign=pb.Resign(match=decide.match))]
        case "hello_again":
            return [hello(), right]
        case "empty_message":
            return [b"", right]
        case "sleeps":
            time.sleep(60)
        case "spins":
            while True:
                pass
        case "crashes":
            raise RuntimeError("boom in my strategy")
        case "exits":
            print("giving up", flush=True)
            os._exit(0)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "aborts":
            os.abort()
        case "leaves_child":
            if os.fork() == 0:
                time.sleep(60)
            os._exit(6)
    return [right]


async def main():
    before_hello()
    async with grpc.aio.insecure_channel(os.environ["CROSSTOWN_ADDRESS"]) as channel:
        call = channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)
        if DEED == "no_hello":
            await asyncio.sleep(60)
        await call.write(b"\xff\xff" if DEED == "garbage_hello" else hello())
        number = 0
        try:
            while (raw := await call.read()) is not grpc.aio.EOF:
                message = pb.RefereeMessage.FromString(raw)
                body = message.WhichOneof("body")
                answers = []
                if body == "match_start":
                    number = 0
                    answers = at_match_start(message.match_start.match)
                elif body == "decide":
                    if DEED == "half_closes" and number == AT:
                        await call.done_writing()
                        await asyncio.sleep(60)
                    if DEED == "cancels_and_exits_late" and number == AT:
                        call.cancel()
                        await asyncio.sleep(0.05)  # it is told
                        end = time.process_time() + 0.5
                        while time.process_time() < end:
                            pass
                        os._exit(6)
                    if DEED == "cancels" and number == AT:
                        call.cancel()
                        await asyncio.sleep(60)
                    answers = misbehave(message.decide) if number == AT else [move(message.decide)]
                    number += 1
                elif body == "bye":
                    return 0
                for answer in answers:
                    await call.write(answer)
                if body == "decide" and DEED == "resigns_later" and number == AT + 1:
                    await asyncio.sleep(0.1)
                    await call.write(bot_message(resign=pb.Resign(match=message.decide.match)))
        except grpc.aio.AioRpcError as error:
            print(f"status {error.code().name}: {error.details()}", file=sys.stderr, flush=True)
            return 9
        print(f"status {(await call.code()).name}: {await call.details()}", file=sys.stderr, flush=True)
        return 9


sys.exit(asyncio.run(main()))
