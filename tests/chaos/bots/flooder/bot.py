"""Plays index 0 by hand over HTTP/2. At its third decision it floods the referee: on its own connection (`where` is
"own"), on a second one ("second", made before Hello), or on new ones, again and again ("new")."""

import json
import os
import time

import frames
from crosstown_proto.v1 import referee_pb2 as pb

OPTIONS = json.loads(os.environ["CROSSTOWN_OPTIONS"])
DEED, WHERE, SECONDS = OPTIONS["deed"], OPTIONS["where"], OPTIONS["seconds"]
ADDRESS = os.environ["CROSSTOWN_ADDRESS"]
AT = 3


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


def deed(own, second):
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
