"""A ladder under many visitors, sign-ups and hand-ins, and over time. All of these run for minutes."""

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest

from referee.ladder.bots import LadderBot
from referee.ladder.config import load_ladder
from referee.ladder.intake import open_store
from referee.record.journal import JOURNAL
from referee.run.run import Run
from tests.end_to_end.test_ladder_operations import RANDOM, Host, counted, wait_for
from tests.referee.ladder.handing_in import archive, bot_files

pytestmark = pytest.mark.long

WATCHERS = 500
WATCH_S = 40.0
PAIRS = 5


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "ladder")
    yield made
    made.stop()


def invite(host: Host, uses: int) -> str:
    said = host.run("ladder", "invite", "--uses", str(uses), "--file", str(host.file), "--json")
    code: str = json.loads(said)["code"]
    return code


async def watch(address: str, source: str, until_s: float, told: list[int]) -> None:
    """Follow the page of the division from an address of this machine, as a browser does."""
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=(source, 0))
    writer.write(f"GET /runs/toy/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    number = 0
    try:
        async with asyncio.timeout(max(0.0, until_s - time.monotonic())):
            while line := await reader.readline():
                number += line.startswith(b"data:")
    except TimeoutError:
        told.append(number)
    finally:
        writer.close()


def charged(host: Host) -> tuple[float, int, int]:
    """Mean charged time of a decision (ms), matches that count, and suspect time-outs, as of now."""
    run = Run(host.run_folder)
    void = sum(line.kind == "void" and line.fields["reason"] == "suspect_timeout" for line in run.journal.events)
    said = json.loads((host.data / "runner.json").read_text())["divisions"]["toy"]["counts"]
    return said["charged_us"] / 1000, len(counted(host.run_folder)), void


def phase(host: Host, watchers: int) -> tuple[float, int, int, list[int]]:
    """What a match was charged on average (ms), how many ended, how many were suspect, and how often each watcher was
    told."""
    before = charged(host)
    told: list[int] = []

    async def run() -> None:
        until_s = time.monotonic() + WATCH_S / PAIRS
        sources = [f"127.0.{1 + number // 200}.{1 + number % 200}" for number in range(watchers)]
        watching = [watch(host.address, source, until_s, told) for source in sources]
        await asyncio.gather(*watching, asyncio.sleep(WATCH_S / PAIRS))

    asyncio.run(run())
    time.sleep(3)  # the state is written every two seconds
    after = charged(host)
    matches = after[1] - before[1]
    return (after[0] - before[0]) / max(1, matches), matches, after[2] - before[2], told


def test_five_hundred_watchers_are_told_at_most_four_times_a_second_and_cost_the_bots_nothing(host: Host) -> None:
    second = f'[[bots]]\npath = {json.dumps(str(RANDOM))}\nname = "second"\noptions = {{ salt = 1 }}\n'
    host.file.write_text(host.file.read_text() + second)
    host.start()
    wait_for(lambda: (host.run_folder / JOURNAL).exists() and len(counted(host.run_folder)) >= 5)
    quiet, busy = [], []
    for _ in range(PAIRS):
        quiet.append(phase(host, 0))
        busy.append(phase(host, WATCHERS))
    told = [number for one in busy for number in one[3]]
    assert len(told) == PAIRS * WATCHERS, "all were served to the end"
    assert max(told) <= 4 * WATCH_S / PAIRS + 2
    assert min(told) >= 1
    assert sum(one[2] for one in busy) <= sum(one[2] for one in quiet) + 1, (quiet, busy)
    spread = max(one[0] for one in quiet) - min(one[0] for one in quiet)
    middle = sorted(one[0] for one in busy)[PAIRS // 2]
    print("charged ms a match, without and with watchers:", [one[:3] for one in quiet], [one[:3] for one in busy])
    assert middle <= max(one[0] for one in quiet) + spread, (quiet, busy)
    assert min(one[1] for one in busy) > 0, "matches went on"


async def sign_ups(address: str, code: str, number: int) -> Counter[int]:
    """How many got which status. Whoever is told to wait does not come again."""
    found: Counter[int] = Counter()
    turns = asyncio.Semaphore(40)
    async with httpx.AsyncClient(base_url=address, timeout=60) as web:

        async def one(name: str) -> None:
            async with turns:
                answer = await web.post("/api/v1/join", json={"code": code, "owner": name})
                found[answer.status_code] += 1
                if answer.status_code in (429, 503):
                    assert int(answer.headers["Retry-After"]) > 0
                    assert answer.json()["error"]

        await asyncio.gather(*(one(f"person{place}x{secrets.token_hex(3)}") for place in range(number)))
    return found


def test_ten_thousand_sign_ups_from_one_address_get_a_clear_answer_each(host: Host) -> None:
    host.start()
    code = invite(host, 10_000)
    found = asyncio.run(sign_ups(host.address, code, 10_000))
    assert found.total() == 10_000
    assert set(found) <= {201, 429, 503}, found
    with open_store(load_ladder(host.file)) as store:
        assert len(store.accounts.people()) == found[201], "each that was confirmed is there, and nobody else"
    assert host.healthy() or not host.run_folder.exists()


async def hand_ins(address: str, tokens: Mapping[str, str], each: int) -> tuple[Counter[int], set[tuple[str, int]]]:
    found: Counter[int] = Counter()
    confirmed: set[tuple[str, int]] = set()
    turns = asyncio.Semaphore(20)
    async with httpx.AsyncClient(base_url=address, timeout=120) as web:

        async def one(owner: str, token: str, place: int) -> None:
            packed = archive(bot_files(version=f"{place}", name=owner))
            headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"{owner}-{place}"}
            async with turns:
                answer = await web.post(f"/api/v1/bots/{owner}/versions", content=packed, headers=headers)
            found[answer.status_code] += 1
            if answer.status_code == 201:
                confirmed.add((owner, answer.json()["number"]))
            elif answer.status_code in (429, 503):
                assert int(answer.headers["Retry-After"]) > 0

        jobs = [one(owner, token, place) for place in range(each) for owner, token in tokens.items()]
        await asyncio.gather(*jobs)
    return found, confirmed


def test_a_thousand_hand_ins_at_once_are_taken_or_refused_and_none_is_lost(host: Host) -> None:
    host.start()
    tokens = {}
    with open_store(load_ladder(host.file)) as store:
        for number in range(100):
            store.accounts.add_owner(f"owner{number}")
            tokens[f"owner{number}"] = store.accounts.create_token(f"owner{number}", "", "submit", 30).secret
    found, confirmed = asyncio.run(hand_ins(host.address, tokens, 10))
    assert found.total() == 1000
    assert set(found) <= {201, 429, 503}, found
    with open_store(load_ladder(host.file)) as store:
        there = {(bot.name, version.number) for bot in store.bots() for version in store.versions(bot.name)}
    assert there == confirmed
    assert len(confirmed) == found[201] > 0


def processes(pid: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def use_of(pid: int) -> dict[str, int]:
    """Memory (KiB), open files and threads of a process; of what plays, also how many processes there are."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    return {
        "memory_kib": int(status["VmRSS"].split()[0]),
        "threads": int(status["Threads"]),
        "files": sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()),
    }


@pytest.mark.parametrize(("bots", "minutes"), [(6, 2.0), (50, 30.0)], ids=["short", "half an hour"])
def test_memory_files_and_processes_stay_flat_while_bots_come_and_go(host: Host, bots: int, minutes: float) -> None:
    """Bots join, are replaced, are retired and come back. Half of the time is for warming up."""
    host.start()
    config = load_ladder(host.file)
    with open_store(config) as store, httpx.Client(base_url=host.address, timeout=60) as web:
        tokens = {}
        for number in range(bots):
            store.accounts.add_owner(f"bot{number}")
            tokens[f"bot{number}"] = store.accounts.create_token(f"bot{number}", "", "manage", 30).secret

        def hand_in(number: int) -> None:
            name = f"bot{number % bots}"
            packed = archive(bot_files(version=f"{number}", name=name))
            headers = {"Authorization": f"Bearer {tokens[name]}"}
            answer = web.post(f"/api/v1/bots/{name}/versions", content=packed, headers=headers)
            assert answer.status_code in (200, 201, 429), answer.text

        def turn(number: int) -> None:
            """Retire what plays of a bot, or let the version before play again."""
            name = f"bot{number % bots}"
            there = {version.number: version.status for version in store.versions(name)}
            active = [one for one, status in there.items() if status == "active"]
            idle = [one for one, status in there.items() if status in ("inactive", "retired")]
            headers = {"Authorization": f"Bearer {tokens[name]}"}
            what = f"{active[0]}/retire" if active and number % 2 else f"{idle[0]}/activate" if idle else ""
            if what:
                web.post(f"/api/v1/bots/{name}/versions/{what}", headers=headers)

        assert host.process is not None
        end_s, number = time.monotonic() + 60 * minutes, 0
        samples: list[dict[str, dict[str, int]]] = []
        while time.monotonic() < end_s:
            hand_in(number)
            if number >= bots:
                turn(number)
            for page in ("/ladder", "/ladder/toy", "/runs/toy", "/runs/toy/matches"):
                web.get(page)
            number += 1
            time.sleep(1.0 if minutes < 5 else 6.0)
            try:
                runner = int(json.loads((host.data / "runner.json").read_text())["pid"])
                family = processes(host.process.pid)
                samples.append(
                    {"server": use_of(host.process.pid), "runner": use_of(runner), "all": {"processes": len(family)}}
                )
            except (OSError, ValueError, KeyError):
                continue
        played: list[LadderBot] = list(store.active("toy"))
    assert played
    half = len(samples) // 2
    for who in ("server", "runner"):
        for what, allowed in (("memory_kib", 48 << 10), ("files", 24), ("threads", 12)):
            early = max(sample[who][what] for sample in samples[half // 2 : half])
            late = min(sample[who][what] for sample in samples[half:])
            assert late <= early + allowed, f"{what} of the {who}: {early} became at least {late}"
    early = max(sample["all"]["processes"] for sample in samples[:half])
    assert samples[-1]["all"]["processes"] <= early + 12
    first, last = samples[half // 2], samples[-1]
    print("soak:", number, "hand-ins,", len(counted(host.run_folder)), "matches; early", first, "late", last)
