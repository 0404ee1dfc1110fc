"""A run that goes on, whose secret this test knows: nothing that is fetched has it, or a seed that is still played.

A bot waits in the middle of the run, in the second match of a seed group. Then everything is fetched and searched.
"""

import base64
import binascii
import http.client
import io
import json
import re
import shutil
import socket
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from referee.match.play import bot_seed
from referee.record import read_record
from referee.schedule.schedule import Schedule
from referee.schedule.seeds import MatchSeeds
from referee.schedule.spec import MatchSpec
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of
from tests.cluster import Cluster

SECRET = bytes.fromhex("c0ffee0ddf00dcafe1234567890abcde")
HELD = 3
"""The match in which a bot waits: the second one of the second seed group."""

PATIENCE_S = 60.0
WAITING = """
import time
from pathlib import Path

from crosstown_bot import Bot, run


class Waiting(Bot):
    def choose(self, turn):
        place = int(turn.match.id.partition("-")[0].removeprefix("m"))
        if place == {held}:
            Path({reached!r}).touch()
            while not Path({gate!r}).exists():
                time.sleep(0.02)
        return 0


run(Waiting)
"""


def forms(value: bytes) -> Iterator[bytes]:
    """How a text or a file could have these bytes."""
    yield from (value, value[::-1], value.hex().encode(), value.hex().upper().encode())
    for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            text = alphabet(bytes(shift) + value + bytes(3))
            yield text[-(-shift * 8 // 6) : (shift + len(value)) * 8 // 6]


def forms_of(seed: str) -> set[bytes]:
    """Of a match seed, and of what its bots get of it."""
    found = set(forms(bytes.fromhex(seed)))
    for seat in (0, 1):
        found.add(str(bot_seed(seed, seat)).encode())
    return found


def decompressed(data: bytes) -> bytes:
    """What begins with one or more files of gzip or zlib; what follows them is left out."""
    found = b""
    with suppress(zlib.error):
        while data:
            unpack = zlib.decompressobj(wbits=47)
            found += unpack.decompress(data)
            data = unpack.unused_data
    return found


def layers(data: bytes, depth: int = 3) -> Iterator[bytes]:
    """The bytes, and what they have packed: archives, compressed files, and either as text in a page."""
    yield data
    if not depth:
        return
    inside = []
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(data)) as archive:
        inside += [archive.read(name) for name in archive.namelist()]
    for text in re.findall(rb"[A-Za-z0-9+/]{40,}={0,2}", data):
        with suppress(binascii.Error):
            inside.append(base64.b64decode(text + b"=" * (-len(text) % 4)))
    inside += [unpacked for packed in (data, *inside) if (unpacked := decompressed(packed))]
    for one in inside:
        yield from layers(one, depth - 1)


def has(data: bytes, wanted: set[bytes]) -> bool:
    return any(form in layer for layer in layers(data) for form in wanted)


class Held:
    """A run of which a bot waits in match `HELD`."""

    def __init__(self, workplace: Any, write_cup: Callable[..., Path]) -> None:
        self.place = workplace
        self.path = write_cup(
            bots=2, blocks=3, more='[sandbox]\nprofile = "plain"\n[clock]\nfirst_move_s = 600\nmove_s = 600\n'
        )
        self.gate, reached = workplace.folder / "gate", workplace.folder / "reached"
        source = WAITING.format(held=HELD, reached=str(reached), gate=str(self.gate))
        for bot in (self.path.parent / "bots").iterdir():
            (bot / "bot.py").write_text(source)
        secret = workplace.folder / "known.secret"
        secret.write_text(f"{SECRET.hex()}\n")
        secret.chmod(0o600)
        schedule = Schedule(config_of(load_tournament(self.path)), seeds=MatchSeeds(7, (SECRET,)))
        self.specs: list[MatchSpec] = []
        while (spec := schedule.next()) is not None:
            self.specs.append(spec)
        self.process = workplace.start("run", "cup.toml", "--workers", "1", "--secret", str(secret))
        until(lambda: reached.exists() or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.communicate()

    @property
    def folder(self) -> Path:
        return self.place.folder / "runs" / "cup"

    @property
    def not_due(self) -> set[bytes]:
        """What is still to be played on, and the secret of it all."""
        open_blocks = {spec.block for spec in self.specs[HELD:]}
        found = set(forms(SECRET))
        for spec in self.specs:
            found |= forms_of(spec.seed) if spec.block in open_blocks else set()
        return found

    @property
    def due(self) -> set[bytes]:
        return forms_of(self.specs[0].seed)

    def finish(self) -> None:
        assert len(self.place.records()) == HELD + 1, "the bot has waited all the time"
        self.gate.touch()
        _, errors = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, errors


def until(true: Callable[[], Any]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end_s, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def held(workplace: Any, write_cup: Callable[..., Path]) -> Held:
    return Held(workplace, write_cup)


def test_the_seeds_of_this_test_are_those_of_the_run(held: Held) -> None:
    """And the search finds them, where they are packed, too."""
    held.finish()
    records = {path.name.partition(".")[0]: path for path in held.place.records()}
    assert {match: read_record(path).footer.seed for match, path in records.items()} == {
        spec.match_id: spec.seed for spec in held.specs
    }
    packed = records[held.specs[HELD].match_id].read_bytes()
    assert has(packed, held.not_due)
    assert not any(form in packed for form in held.not_due)
    assert has(base64.b64encode(packed), held.not_due)
    for shift in range(3):
        assert has(base64.b64encode(bytes(shift) + SECRET + bytes(3)), set(forms(SECRET)))


def test_no_file_that_is_written_of_a_run_has_its_secret_or_a_seed_that_is_still_played(held: Held) -> None:
    place = held.place
    words = (
        ("export", "cup", "all.zip"),
        ("export", "cup", "all.jsonl"),
        ("export", "cup", "all.csv"),
        ("export", "cup", "all.db"),
        ("publish", "runs/cup", "site"),
        ("report", "cup", "report.html"),
    )
    said = b""
    for command in words:
        outcome = place.run(*command)
        assert outcome.code == 0, outcome.stderr
        said += (outcome.stdout + outcome.stderr).encode()
    site = [path for path in (place.folder / "site").rglob("*") if path.is_file()]
    files = [*site, *(place.folder / name for _, *_, name in words if (place.folder / name).is_file())]
    for path in files:
        assert not has(path.read_bytes(), held.not_due), path
    assert not has(said, held.not_due)
    assert has((place.folder / "all.jsonl").read_bytes(), held.due), "the seeds of what is over are in it"
    held.finish()
    assert place.run("report", "cup", "report.html").code == 0
    assert has((place.folder / "report.html").read_bytes(), set(forms(SECRET))), "it is revealed now"


LINKS = re.compile(r"""(?:href|src|data-events|data-record|action)=["']([^"'#]*)""")


@contextmanager
def web(held: Held, *words: str) -> Iterator[str]:
    """The address of `crosstown web`."""
    out = held.place.folder / f"web{len(words)}.txt"
    with out.open("w") as file:
        process = held.place.start("web", "--port", "0", *words, stdout=file)
    try:
        until(lambda: out.read_text().endswith("\n") or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        found = re.search(r"http://\S+", out.read_text())
        assert found
        yield found[0].rstrip("/")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def fetch(address: str, path: str) -> tuple[int, bytes]:
    """Status and body, with the head after it: what is packed begins with the body. Of a stream of events what comes
    first."""
    parts = urlsplit(address)
    line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        line.request("GET", path)
        answer = line.getresponse()
        streams = answer.headers.get_content_type() == "text/event-stream"
        body = answer.read1(1 << 16) if streams else answer.read()
        return answer.status, body + b"\n\n" + str(answer.headers).encode()
    finally:
        line.close()


def everything(address: str, held: Held) -> dict[str, bytes]:
    """All that links lead to from the first page, all operations of the API, and all streams of events."""
    described = json.loads(fetch(address, "/api/v1/openapi.json")[1].partition(b"\n\n")[0])
    entries = {seat.entry_id for spec in held.specs for seat in spec.seats}
    waiting = ["/", "/api", "/wall", "/runs/cup/events"]
    for spec in held.specs:
        waiting += [f"/runs/cup/matches/{spec.match_id}{end}" for end in ("", "/events", "/record")]
    for path, operations in described["paths"].items():
        if "get" not in operations:
            continue
        names = [path.replace("{run}", "cup")]
        names = [name.replace("{match}", spec.match_id) for name in names for spec in held.specs]
        names = [name.replace("{entry}", entry) for name in names for entry in entries]
        waiting += [f"/api/v1{name}" for name in dict.fromkeys(names) if "{" not in name]
    found: dict[str, bytes] = {}
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        status, found[path] = fetch(address, path)
        assert status < 500, (path, found[path][:1000])
        for link in LINKS.findall(found[path].decode(errors="replace")):
            target = urlsplit(urljoin(path, unescape(link)))
            if not target.netloc and target.path.startswith("/") and len(found) < 1000:
                waiting.append(target.path + (f"?{target.query}" if target.query else ""))
    return found


@pytest.mark.parametrize("words", [(), ("--hide-live",)], ids=["as usual", "--hide-live"])
def test_no_page_answer_or_stream_has_the_secret_of_a_run_or_a_seed_that_is_still_played(
    held: Held, words: tuple[str, ...]
) -> None:
    """The bots run without a sandbox, and could read these pages: see "Who may look" in docs/web.md."""
    with web(held, *words) as address:
        answers = everything(address, held)
        for path, answer in answers.items():
            assert not has(answer, held.not_due), path
        over = f"/runs/cup/matches/{held.specs[0].match_id}"
        assert has(answers[f"{over}/record"], held.due), "the seeds of what is over are told"
        assert b"event-stream" in answers["/runs/cup/events"]
        assert {path for path in answers if path.startswith("/api/v1/runs/cup/")}
        held.finish()
        last = f"/runs/cup/matches/{held.specs[HELD].match_id}/record"
        until(lambda: has(fetch(address, last)[1], forms_of(held.specs[HELD].seed)))


class Wire:
    """Passes on what goes to and from a port, and keeps a copy."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._kept: list[bytes] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def seen(self) -> bytes:
        return b"".join(self._kept)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                threading.Thread(target=self._pass_both, args=(near,), daemon=True).start()

    def _pass_both(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self._to)) as far:
            back = threading.Thread(target=self._pass, args=(far, near), daemon=True)
            back.start()
            self._pass(near, far)
            back.join()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self._kept.append(data)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)  # which ends the thread that accepts
        self._server.close()


def test_machines_of_a_cluster_get_the_seeds_of_their_matches_and_not_the_secret(
    workplace: Any, write_cup: Callable[..., Path], new_workplace: Callable[[Path], Any], tmp_path: Path
) -> None:
    """In what really goes from the run to the scheduler and from there to a machine."""
    path = write_cup(bots=2, blocks=2, more='[sandbox]\nprofile = "plain"\n')
    secret = tmp_path / "known.secret"
    secret.write_text(f"{SECRET.hex()}\n")
    secret.chmod(0o600)
    schedule = Schedule(config_of(load_tournament(path)), seeds=MatchSeeds(7, (SECRET,)))
    seeds = set()
    while (spec := schedule.next()) is not None:
        seeds.add(spec.seed)
    (tmp_path / "machines").mkdir()

    def make(folder: Path) -> Any:
        place = new_workplace(folder)
        place.environment["DASK_DISTRIBUTED__COMM__COMPRESSION"] = "False"
        return place

    workplace.environment["DASK_DISTRIBUTED__COMM__COMPRESSION"] = "False"
    cluster = Cluster(tmp_path / "machines", make)
    try:
        cluster.start_scheduler()
        wires = {name: Wire(cluster.port) for name in ("run", "machine")}
        scheduler, cluster.port = cluster.port, wires["machine"].port
        cluster.start_machine("east", "--accept-plain")
        cluster.port = wires["run"].port
        outcome = workplace.run("run", "cup.toml", *cluster.words, "--secret", str(secret))
        cluster.port = scheduler
        assert outcome.code == 0, outcome.stderr
        for name, wire in wires.items():
            assert all(seed.encode() in wire.seen for seed in seeds), f"{name}: the orders went another way"
            assert not has(wire.seen, set(forms(SECRET))), name
            wire.close()
        for file in (tmp_path / "machines").rglob("*"):
            if file.is_file() and not file.is_symlink():
                assert not has(file.read_bytes(), set(forms(SECRET))), file
    finally:
        cluster.end()
        for place in cluster.places.values():
            place.end()
    shutil.rmtree(tmp_path / "machines", ignore_errors=True)
