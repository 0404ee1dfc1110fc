"""A process that steps some of the matches of a `VectorEnv`. Its argument, in JSON, says which."""

import gc
import json
import signal
import sys
from itertools import count
from mmap import mmap
from typing import IO

RESET, STEP, DONE, FAILED = b"r", b"s", b".", b"!"
SEED_BYTES = 64
COLLECT_AFTER = 5_000
"""Commands after which cycles are looked for: that takes some milliseconds."""


def read_exactly(stream: IO[bytes], size: int) -> bytes:
    """This number of bytes. EOFError if the stream ends before."""
    data = b""
    while len(data) < size:
        part = stream.read(size - len(data))
        if not part:
            raise EOFError(f"the other side has closed the pipe: {len(data)} of {size} bytes came")
        data += part
    return data


def main() -> None:
    """Carry out the commands on standard input until it ends. The parent process deals with Ctrl-C."""
    from crosstown_env.stepping import Stepper, bytes_for, columns_in, part_of
    from crosstown_env.table import Setup

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = json.loads(sys.argv[1])
    setup = Setup(order["game"], order["players"], order["options"], order["reward"])
    memory = mmap(order["memory"], bytes_for(setup, order["n"]))
    columns = part_of(columns_in(memory, setup, order["n"]), order["first"], order["count"])
    stepper = Stepper(setup, columns, order["first"])
    gc.disable()  # matches hold no cycles: what an error or a plug-in leaves of them is removed now and then
    gc.freeze()
    orders, answers = sys.stdin.buffer, sys.stdout.buffer
    for number in count(1):
        if not (what := orders.read(1)):
            break
        if number % COLLECT_AFTER == 0:
            gc.collect()
        try:
            if what == RESET:
                stepper.reset(int(read_exactly(orders, SEED_BYTES)))
            else:
                stepper.step()
        except ValueError as error:
            text = str(error).encode()
            answers.write(FAILED + len(text).to_bytes(4, "little") + text)
        else:
            answers.write(DONE)
        answers.flush()
