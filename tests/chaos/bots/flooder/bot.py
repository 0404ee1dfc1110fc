"""Plays index 0 by hand over HTTP/2. At its third decision it floods the referee: on its own connection (`where` is
"own"), on a second one ("second", made before Hello), or on new ones, again and again ("new").

Where the deed is "late", it sleeps that long, past its limit, while a child connects again and again (`where` is
"new"), while children take all processors ("processors"), or alone ("none").

Where the deed is "watched", so many `processes` have hundreds of epolls each watch its own connection from then on."""

import json
import os
import select
import signal
import time

import frames
from crosstown_proto.v1 import referee_pb2 as pb

OPTIONS = json.loads(os.environ["CROSSTOWN_OPTIONS"])
DEED, WHERE, SECONDS, PROCESSES = (OPTIONS[name] for name in ("deed", "where", "seconds", "processes"))
ADDRESS = os.environ["CROSSTOWN_ADDRESS"]
AT = 3
EPOLLS = 900
"""Of each process: it may have 1,024 files open."""
PINGS = 100
"""Well within the budget. The referee answers each."""


def connect_again_and_again():
    end = time.monotonic() + SECONDS
    tried = refused = 0
    while time.monotonic() < end:
        tried += 1
        try:
            frames.connect(ADDRESS).close()
        except OSError:
            refused += 1
    return f"{refused} of {tried} refused"


def have_watched(line):
    """All processes hold what they have made until this one ends, too."""
    ready, done = os.pipe()
    for _ in range(PROCESSES):
        if os.fork() == 0:
            watching = [select.epoll() for _ in range(EPOLLS)]
            for each in watching:
                each.register(line, select.EPOLLIN | select.EPOLLOUT)
            os.write(done, b"x")
            signal.pause()
    for _ in range(PROCESSES):
        os.read(ready, 1)
    for _ in range(PINGS):
        line.sendall(frames.FLOODS["ping"])
        time.sleep(0.001)
    return f"{PROCESSES * EPOLLS} epolls"


def spin():
    while True:
        pass


def sleep_beside_children():
    children, work = [], {"new": connect_again_and_again, "processors": spin}.get(WHERE)
    for _ in range({"new": 1, "processors": 2 * os.cpu_count()}.get(WHERE, 0)):
        children.append(os.fork())
        if children[-1] == 0:
            work()
            os._exit(0)
    time.sleep(SECONDS)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return "slept"


def deed(own, second):
    if DEED == "watched":
        return have_watched(own.line)
    if DEED == "late":
        return sleep_beside_children()
    if WHERE == "new":
        return connect_again_and_again()
    line = own.line if WHERE == "own" else second.line
    return f"{frames.flood(line, DEED, SECONDS, time.monotonic)} chunks"


def main():
    second = frames.Connection(ADDRESS) if WHERE == "second" else None
    own = frames.Connection(ADDRESS)
    own.open()
    own.send(pb.BotMessage(hello=pb.Hello(protocol=1, token=os.environ["CROSSTOWN_TOKEN"])).SerializeToString())
    asked, note = 0, ""
    while (raw := own.receive()) is not None:
        message = pb.RefereeMessage.FromString(raw)
        if message.HasField("match_start"):
            asked = 0
            own.send(pb.BotMessage(ready=pb.Ready(match=message.match_start.match)).SerializeToString())
        elif message.HasField("decide"):
            asked += 1
            if asked == AT and DEED != "none":
                note = deed(own, second)
            move = pb.Move(match=message.decide.match, decision=message.decide.decision, index=0, note=note)
            own.send(pb.BotMessage(move=move).SerializeToString())
        elif message.HasField("bye"):
            return


main()
