"""How many bits a second two strict bots of one author can pass through what the kernel shares between all processes.

    python -P benchmarks/hidden_channels.py [--bits 256]

A sender and a receiver, each in a sandbox of its own, agree on a clock and on a length of a slot. In each slot the
sender sets one bit and the receiver guesses it. The rate shown is what an ideal code would carry at the share of wrong
guesses: slots per second times (1 - H(share)), the best over several lengths of a slot.

- processor: the sender computes or sleeps; the receiver counts how far its own loop gets.
- memory in use: the sender maps memory or gives it back; the receiver reads Committed_AS in /proc/meminfo.
- context switches: the sender switches between two threads or sleeps; the receiver reads ctxt in /proc/stat.
- tasks of the machine: the sender starts threads or does not; the receiver reads their number in /proc/loadavg.
- memory of TCP sockets: the sender fills a connection with itself or does not; the receiver reads /proc/net/sockstat.
- numbers of eventfds: the sender holds some or none; the receiver makes one and reads its number in /proc/self/fdinfo.
- pages of shared files: the sender reads a page of a file in /usr or leaves it; the receiver reads it and takes the
  time. Each page serves once.
- maps of shared files: the sender maps some pages of a file in /usr, all at the same moment, and stays; the receiver
  reads in /proc/self/pagemap which of them another process has mapped, too. A slot is what it takes to read them all.
"""

import argparse
import asyncio
import math
import os
import tempfile
import time
import uuid
from pathlib import Path

from referee.process.bot import BotProcess
from referee.process.entry import load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox

MANIFEST = """
name = "Channel"
version = "1"
games = ["*"]
run = ["{python}", "bot.py"]

[options]
role = ""
way = ""
start_ns = 0
slot_us = 0
bits = 0
"""

BOT = """
import json, mmap, os, random, socket, threading, time

O = json.loads(os.environ["CROSSTOWN_OPTIONS"])
START, SLOT, BITS, WAY = O["start_ns"], O["slot_us"] * 1000, O["bits"], O["way"]
MESSAGE = [random.Random(i).getrandbits(1) for i in range(BITS)]


def until(when):
    while (left := when - time.monotonic_ns()) > 0:
        if left > 200_000:
            time.sleep((left - 100_000) / 1e9)


def pages():
    size = 0
    for folder, _, names in sorted(os.walk("/usr/lib")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.getsize(path) >= 1 << 20:
                for at in range(0, os.path.getsize(path) - (1 << 20) + 1, 1 << 20):
                    yield path, at
                    size += 1
                    if size == BITS:
                        return


def send(bit, i, end):
    if WAY == "processor":
        while bit and time.monotonic_ns() < end:
            pass
    elif WAY == "memory in use":
        kept = mmap.mmap(-1, 64 << 20) if bit else None
        until(end)
        if kept:
            kept.close()
    elif WAY == "context switches":
        while bit and time.monotonic_ns() < end:
            time.sleep(0)
            os.sched_yield()
            event.set(); back.wait(0.001); back.clear()
    elif WAY == "tasks of the machine":
        over = threading.Event()
        threads = [threading.Thread(target=over.wait) for _ in range(20 if bit else 0)]
        for thread in threads:
            thread.start()
        until(end)
        over.set()
        for thread in threads:
            thread.join()
    elif WAY == "memory of TCP sockets":
        ours, theirs = ends
        while bit:
            try:
                ours.send(bytes(1 << 16))
            except BlockingIOError:
                break
        until(end)
        while bit:
            try:
                theirs.recv(1 << 20)
            except BlockingIOError:
                break
    elif WAY == "numbers of eventfds":
        files = [os.eventfd(0) for _ in range(20 if bit else 0)]
        until(end)
        for file in files:
            os.close(file)
    elif bit:
        read(i)


def read(i):
    path, at = PLACES[i]
    file = os.open(path, os.O_RDONLY)
    began = time.perf_counter_ns()
    os.pread(file, 4096, at)
    took = time.perf_counter_ns() - began
    os.close(file)
    return took


def largest_file():
    places = (os.path.join(folder, name) for folder, _, names in os.walk("/usr/lib") for name in names)
    return max((place for place in places if not os.path.islink(place)), key=os.path.getsize)


def map_pages(file, at, number):
    pages = mmap.mmap(file, number * 4096, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ, offset=at * 4096)
    for i in range(number):
        pages[i * 4096]
    return pages


def number(path, word):
    for line in open(path):
        if line.startswith(word):
            return int(line.split()[1])


def look(i, begin, end):
    if WAY == "processor":
        count = 0
        while time.monotonic_ns() < end:
            count += 1
        return -count
    if WAY == "memory in use":
        until((begin + end) // 2)
        return number("/proc/meminfo", "Committed_AS")
    if WAY == "context switches":
        before = number("/proc/stat", "ctxt")
        until(end)
        return number("/proc/stat", "ctxt") - before
    if WAY == "tasks of the machine":
        until((begin + end) // 2)
        return int(open("/proc/loadavg").read().split()[3].split("/")[1])
    if WAY == "memory of TCP sockets":
        until((begin + end) // 2)
        return int(open("/proc/net/sockstat").read().partition("TCP:")[2].split("mem ")[1].split()[0])
    if WAY == "numbers of eventfds":
        until((begin + end) // 2)
        file = os.eventfd(0)
        mine = number(f"/proc/self/fdinfo/{file}", "eventfd-id")
        os.close(file)
        return mine
    until(end)
    return -read(i)


event, back = threading.Event(), threading.Event()
if WAY == "context switches" and O["role"] == "sender":
    def answer():
        while True:
            event.wait(); event.clear(); back.set()
    threading.Thread(target=answer, daemon=True).start()


def connection():
    # With itself; neither end blocks.
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs = server.accept()[0]
    ours.setblocking(False)
    theirs.setblocking(False)
    return ours, theirs


ends = connection() if WAY == "memory of TCP sockets" and O["role"] == "sender" else None
PLACES = list(pages()) if WAY == "pages of shared files" else []
seen, took = [], 0
if WAY == "maps of shared files":
    path = largest_file()
    file = os.open(path, os.O_RDONLY)
    if O["role"] == "sender":
        # Each by itself: the kernel maps the pages around a page, too, as far as its map goes.
        kept = [map_pages(file, i, 1) for i in range(BITS) if MESSAGE[i]]
        time.sleep(60)
    until(START)
    kept = map_pages(file, 0, BITS)
    begin = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if line.rstrip().endswith(path))
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        pagemap.seek(begin // 4096 * 8)
        data = pagemap.read(BITS * 8)
    seen = [1 - (int.from_bytes(data[i * 8 : i * 8 + 8], "little") >> 56 & 1) for i in range(BITS)]
    took = time.monotonic_ns() - START
for i in range(0 if seen else BITS):
    begin, end = START + i * SLOT, START + (i + 1) * SLOT
    until(begin)
    if O["role"] == "sender":
        send(MESSAGE[i], i, end)
    else:
        seen.append(look(i, begin, end))
if O["role"] == "receiver":
    middle = sorted(seen)[len(seen) - sum(MESSAGE)] if sum(MESSAGE) < len(seen) else 0
    wrong = sum((value >= middle) != bool(bit) for value, bit in zip(seen, MESSAGE))
    print(min(wrong, BITS - wrong) / BITS, took / BITS / 1000, flush=True)
"""

WAYS = {
    "processor": (500, 2000, 8000),
    "memory in use": (200, 1000, 5000),
    "context switches": (200, 1000, 5000),
    "tasks of the machine": (1000, 5000, 20000),
    "memory of TCP sockets": (1000, 5000, 20000),
    "numbers of eventfds": (200, 1000, 5000),
    "pages of shared files": (500, 2000, 8000),
    "maps of shared files": (0,),
}
"""Lengths of a slot to try, in microseconds; 0 where the receiver takes what time it needs."""

SETTLE_S = 2.0
MAPS_SETTLE_S = 15.0
"""Where the sender has to have done all before the receiver begins."""


async def start(folder: Path, **options: str | int) -> BotProcess:
    return await BotProcess.start(
        load_entry(folder, options=options),
        address="unix:/nowhere",
        token=uuid.uuid4().hex,
        limits=ProcessLimits(start_timeout_s=60),
        context=LaunchContext(Sandbox("strict")),
    )


async def share_of_errors(folder: Path, way: str, slot_us: int, bits: int) -> tuple[float, float]:
    """And the length of a slot."""
    start_ns = time.monotonic_ns() + round((SETTLE_S if slot_us else MAPS_SETTLE_S) * 1e9)
    options: dict[str, str | int] = {"way": way, "start_ns": start_ns, "slot_us": slot_us, "bits": bits}
    async with (
        await start(folder, role="receiver", **options) as receiver,
        await start(folder, role="sender", **options),
    ):
        await receiver.wait()
        said = receiver.output().stdout_text()
        if not said:
            raise RuntimeError(receiver.output().stderr_text())
        error, took_us = map(float, said.split())
        return error, took_us or slot_us


def capacity(error: float, slot_us: float) -> float:
    if error in (0.0, 0.5):
        return 0.0 if error else 1e6 / slot_us
    return (1 + error * math.log2(error) + (1 - error) * math.log2(1 - error)) * 1e6 / slot_us


async def main(bits: int) -> None:
    print(f"{bits} bits in each slot length; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| shared | bits/s | slot, ms | wrong guesses |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "bot.toml").write_text(MANIFEST)
        (folder / "bot.py").write_text(BOT)
        for way, slots in WAYS.items():
            tried = [await share_of_errors(folder, way, slot_us, bits) for slot_us in slots]
            error, slot_us = max(tried, key=lambda pair: capacity(*pair))
            print(f"| {way} | {capacity(error, slot_us):,.0f} | {slot_us / 1000:g} | {error:.1%} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=256)
    asyncio.run(main(parser.parse_args().bits))
