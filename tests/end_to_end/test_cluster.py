"""Runs on a cluster of real processes: the results of one machine, whatever happens to the many."""

import ipaddress
import json
import os
import re
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from referee.record import read_record
from tests.cluster import Cluster, assert_ended, below, journal_of
from tests.slurm import NODES, Slurm, missing_program

pytestmark = pytest.mark.usefixtures("same_luck")


@pytest.fixture
def cluster(tmp_path, new_workplace) -> Iterator[Cluster]:
    (tmp_path / "machines").mkdir()
    made = Cluster(tmp_path / "machines", new_workplace)
    yield made
    made.end()
    for place in made.places.values():
        place.end()


@pytest.fixture(scope="module")
def known():
    """What `undisturbed` found, by the size of the cup: with the same luck it is the same in every test."""
    return {}


@pytest.fixture
def undisturbed(workplace, write_cup, known):
    """undisturbed(...) writes the cup, and gives the standings and outcomes that it has on this machine alone."""

    def play(bots, blocks):
        write_cup(bots=bots, blocks=blocks)
        if (bots, blocks) not in known:
            known[bots, blocks] = alone()
        return known[bots, blocks]

    def alone():
        outcome = workplace.run("run", "cup.toml", "--workers", "2", "--out", "here")
        assert outcome.code == 0, outcome.stderr
        table = workplace.standings("cup.toml", "--out", "here")
        here = workplace.folder / "here" / "cup"
        return table, {
            path.name: read_record(path).footer.ranking for path in sorted((here / "matches").glob("*.jsonl.gz"))
        }

    return play


def assert_the_same(workplace, expected):
    table, rankings = expected
    assert workplace.standings("cup.toml") == table
    found = {path.name: read_record(path).footer.ranking for path in workplace.records()}
    assert found == rankings
    assert workplace.run("matches", "verify", "cup.toml").code == 0


def test_a_cluster_gives_the_standings_of_one_machine(workplace, undisturbed, cluster):
    expected = undisturbed(bots=3, blocks=8)
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.start_machine("west")
    outcome = workplace.run("run", "cup.toml", *cluster.words)
    assert outcome.code == 0, outcome.stderr
    assert_the_same(workplace, expected)
    headers = [read_record(path).header for path in workplace.records()]
    assert {header.machine["name"] for header in headers} == {"east", "west"}
    assert {header.machine["class"] for header in headers} == {"one"}
    assert list((cluster.folder / "east" / "cache" / "bots").iterdir())
    for name in ("east", "west"):
        cluster.kill(name, signal.SIGTERM)
        assert cluster.processes[name].wait(20) == 0
        cluster.assert_nobody_left(name)


def test_a_killed_machine_costs_nothing_but_time(workplace, undisturbed, cluster):
    expected = undisturbed(bots=3, blocks=8)
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.start_machine("west")
    running = workplace.start("run", "cup.toml", *cluster.words)
    workplace.wait_for_records(4, running)
    cluster.kill("east")
    cluster.assert_nobody_left("east")
    _stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    assert_the_same(workplace, expected)
    run = workplace.folder / "runs" / "cup"
    assert journal_of(run, "void") == []
    assert {line["machine"] for line in journal_of(run, "lost")} <= {"east"}


def test_a_paused_machine_is_left_behind_and_its_late_results_change_nothing(workplace, undisturbed, cluster):
    expected = undisturbed(bots=3, blocks=8)
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.start_machine("west")
    running = workplace.start("run", "cup.toml", *cluster.words)
    workplace.wait_for_records(4, running)
    cluster.kill("east", signal.SIGSTOP)
    _stdout, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, stderr
    cluster.kill("east", signal.SIGCONT)
    assert_the_same(workplace, expected)
    cluster.wait_for_log("east", "plays for", times=2)


def test_a_run_outlives_its_scheduler(workplace, undisturbed, cluster):
    expected = undisturbed(bots=3, blocks=8)
    cluster.start_scheduler()
    cluster.start_machine("east")
    running = workplace.start("run", "cup.toml", *cluster.words)
    workplace.wait_for_records(4, running)
    cluster.kill("scheduler")
    cluster.wait_for_log("east", "is lost")
    cluster.start_scheduler()
    _stdout, stderr = running.communicate(timeout=180)
    assert running.returncode == 0, stderr
    assert "the run waits for it" in stderr
    assert_the_same(workplace, expected)


def test_a_killed_runner_goes_on_where_it_was(workplace, undisturbed, cluster):
    expected = undisturbed(bots=3, blocks=8)
    cluster.start_scheduler()
    cluster.start_machine("east")
    running = workplace.start("run", "cup.toml", *cluster.words)
    workplace.wait_for_records(4, running)
    workplace.kill(running)
    before = {path.name: path.read_bytes() for path in workplace.records() if path.suffix == ".gz"}
    assert before
    outcome = workplace.run("run", "cup.toml", *cluster.words)
    assert outcome.code == 0, outcome.stderr
    assert "going on: " in outcome.stderr
    assert before.items() <= {path.name: path.read_bytes() for path in workplace.records()}.items()
    assert_the_same(workplace, expected)


def test_a_run_that_began_on_one_machine_goes_on_on_a_cluster(workplace, undisturbed, cluster):
    expected = undisturbed(bots=3, blocks=8)
    running = workplace.start("run", "cup.toml", "--workers", "1")
    workplace.wait_for_records(4, running)
    workplace.kill(running, signal.SIGTERM)
    cluster.start_scheduler()
    cluster.start_machine("east")
    assert workplace.run("run", "cup.toml", *cluster.words).code == 0
    assert_the_same(workplace, expected)


def test_a_bot_that_starts_on_one_machine_only_is_not_blamed(workplace, write_cup, cluster, tmp_path):
    write_cup(bots=2, blocks=3)
    bot = workplace.folder / "bots" / "bot0" / "bot.py"
    bot.write_text(f"import os, sys\n\nif 'WEST' not in os.environ:\n    sys.exit('not here')\n{bot.read_text()}")
    file = workplace.folder / "cup.toml"
    file.write_text(file.read_text().replace('path = "bots/bot0"', 'path = "bots/bot0"\nenv = ["WEST"]'))
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.place("west").environment["WEST"] = "1"
    cluster.start_machine("west")
    outcome = workplace.run("run", "cup.toml", *cluster.words)
    assert outcome.code == 0, outcome.stderr
    assert {read_record(path).header.machine["name"] for path in workplace.records()} == {"west"}
    assert journal_of(workplace.folder / "runs" / "cup", "void") == []


def test_a_run_on_a_cluster_takes_orders_while_it_is_played(workplace, write_cup, cluster):
    write_cup(bots=3, blocks=100)
    late = workplace.folder / "bots" / "late"
    shutil.copytree(workplace.folder / "bots" / "bot2", late)
    (late / "bot.toml").write_text((late / "bot.toml").read_text().replace('"bot 2"', '"late"', 1))
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.start_machine("west")
    running = workplace.start("run", "cup.toml", *cluster.words)
    workplace.wait_for_records(4, running)
    match_id = workplace.records()[0].name.partition(".")[0]
    for words in (
        ("pause", "cup.toml"),
        ("annul", "cup.toml", match_id),
        ("withdraw", "cup.toml", "bot 1"),
        ("extend", "cup.toml", "--blocks", "1"),
        ("add", "cup.toml", "bots/late"),
        ("resume", "cup.toml"),
    ):
        done = workplace.run(*words)
        assert done.code == 0, done.stderr
    there = len(workplace.records())
    workplace.wait_for_records(there + 8, running)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    run = workplace.folder / "runs" / "cup"
    kinds = [line[0] for line in map(json.loads, (run / "tournament.jsonl").read_text().splitlines())]
    ordered = [kind for kind in kinds if kind in ("held", "annulled", "withdrawn", "extended", "added", "unheld")]
    assert ordered == ["held", "annulled", "withdrawn", "extended", "added", "unheld"], stderr
    assert journal_of(run, "void") == journal_of(run, "lost") == []
    seats = {path.name: read_record(path).header.names for path in workplace.records() if path.suffix == ".gz"}
    assert any("late" in names for names in seats.values())
    assert all("bot 1" not in names for names in seats.values() if "late" in names)
    assert f"{match_id}.jsonl.gz" not in seats
    assert not (run / "orders").exists()
    assert not (run / "machines.json").exists()


@pytest.mark.strict_sandbox
def test_machines_play_with_the_build_of_the_organiser(workplace, write_cup, cluster):
    file = write_cup(bots=2, blocks=6)
    manifest = workplace.folder / "bots" / "bot0" / "bot.toml"
    manifest.write_text(
        f'build = ["sh", "-c", "mkdir build; head -c 9 /dev/urandom > build/luck"]\n{manifest.read_text()}'
    )
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.start_machine("west")
    for name in ("east", "west"):
        cluster.wait_for_log(name, "plays for")
    section = f'[executor]\nkind = "dask"\nscheduler = "{cluster.address}"\n'
    file.write_text(f'{file.read_text()}\n{section}build = "organiser"\n')
    outcome = workplace.run("run", "cup.toml")
    assert outcome.code == 0, outcome.stderr
    headers = [read_record(path).header for path in workplace.records()]
    assert {header.machine["name"] for header in headers} == {"east", "west"}
    (here,) = (workplace.folder / "cache").glob("*/built.json")
    artefacts = json.loads(here.read_text())["artefacts"]
    assert {seat.build for header in headers for seat in header.seats if seat.name == "bot 0"} == {artefacts}


def test_no_scheduler_is_told_with_what_to_do(workplace, write_cup):
    write_cup()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    outcome = workplace.run("run", "cup.toml", "--executor", "dask", "--scheduler", f"tcp://127.0.0.1:{port}")
    assert outcome.code == 3
    assert f"no scheduler answers at tcp://127.0.0.1:{port}" in outcome.stderr
    assert "crosstown cluster scheduler" in outcome.stderr


@pytest.fixture
def encrypted(cluster, workplace):
    """The words of a command for a certificate of the cluster, by the name of its authority."""

    def words(authority, name):
        made = workplace.run("cluster", "certificates", authority, "--name", name)
        assert made.code == 0, made.stderr
        folder = workplace.folder / authority
        return [
            *("--ca", str(folder / "ca.pem"), "--cert", str(folder / f"{name}.pem")),
            *("--key", str(folder / f"{name}-key.pem")),
        ]

    return words


def test_only_who_has_a_certificate_of_the_cluster_is_heard(workplace, write_cup, cluster, encrypted):
    write_cup(bots=2, blocks=2)
    cluster.certificates = encrypted("pki", "host")
    cluster.start_scheduler()
    cluster.start_machine("east")
    runner = ["--executor", "dask", "--scheduler", cluster.address]
    foreign = workplace.run("run", "cup.toml", *runner, *encrypted("foreign", "eve"))
    assert foreign.code == 3
    assert "no scheduler answers" in foreign.stderr
    naked = workplace.run("run", "cup.toml", "--executor", "dask", "--scheduler", f"tcp://127.0.0.1:{cluster.port}")
    assert naked.code == 3
    assert "no scheduler answers" in naked.stderr
    without = workplace.run("run", "cup.toml", *runner)
    assert without.code == 2
    assert "needs certificates" in without.stderr
    ours = workplace.run("run", "cup.toml", *runner, *encrypted("pki", "organiser"))
    assert ours.code == 0, ours.stderr
    assert json.loads(workplace.run("standings", "--json", "cup.toml").stdout)["standings"]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_without_certificates_nothing_is_reached_from_other_machines(cluster, host):
    scheduler = cluster.start("scheduler", "scheduler", "--host", host, "--port", "0")
    cluster.wait_for_log("scheduler", "scheduler at")
    address = re.search(r"tcp://\S+", cluster.log("scheduler"))[0]
    words = ("--name", "east", "--slots", "1", "--accept-plain")
    machine = cluster.start("east", "worker", address, *words)
    cluster.wait_for_log("east", "plays for")
    for process in (scheduler, machine):
        ports = [one.laddr for one in psutil.Process(process.pid).net_connections() if one.status == "LISTEN"]
        assert len(ports) == 2  # the other one is the dashboard's
        assert {ipaddress.ip_address(port.ip).is_loopback for port in ports} == {True}


SPY = """
import glob, os, socket, sys

def spied():
    for path in glob.glob("/proc/[0-9]*/*"):
        if path.endswith(("/cmdline", "/environ")):
            try:
                said = open(path, "rb").read()
            except OSError:
                continue
            if b"--cert" in said or b"{address}" in said:
                return f"{path} says {said!r}"
    for path in {keys}:
        try:
            if open(path).read():
                return f"{path} can be read"
        except OSError:
            pass
    try:
        socket.create_connection(("127.0.0.1", {port}), timeout=1)
        return "the scheduler answers"
    except OSError:
        return ""

if found := spied():
    sys.exit(found)
"""


@pytest.mark.strict_sandbox
def test_a_bot_sees_neither_the_scheduler_nor_its_keys(workplace, write_cup, cluster, encrypted):
    write_cup(bots=2, blocks=1)
    cluster.certificates = encrypted("pki", "host")
    cluster.start_scheduler()
    cluster.start_machine("east")
    keys = [word for word in cluster.certificates if word.endswith(".pem")]
    bot = workplace.folder / "bots" / "bot0" / "bot.py"
    spy = SPY.replace("{address}", cluster.address).replace("{keys}", repr(keys)).replace("{port}", str(cluster.port))
    bot.write_text(spy + bot.read_text())
    outcome = workplace.run("run", "cup.toml", *cluster.words)
    assert outcome.code == 0, outcome.stderr
    assert all(not any(read_record(path).footer.faults) for path in workplace.records())


def test_a_machine_whose_disk_is_full_is_named_and_gets_no_more_matches(workplace, undisturbed, cluster):
    if os.geteuid() != 0:
        pytest.skip("a small disk needs root")
    expected = undisturbed(bots=3, blocks=8)
    cluster.start_scheduler()
    cluster.place("east")
    full = 'mkdir tiny; mount -t tmpfs -o size=64k none tiny; cat /dev/zero > tiny/fill 2>/dev/null; exec "$@"'
    cluster.before["east"] = ["unshare", "--mount", "--", "sh", "-c", full, "sh"]
    cluster.start_machine("east", "--work", "tiny/work")
    cluster.start_machine("west")
    cluster.wait_for_log("east", "plays for")
    outcome = workplace.run("run", "cup.toml", *cluster.words)
    assert outcome.code == 0, outcome.stderr
    assert "machine 'east' gets no more matches" in outcome.stderr
    assert "No space left on device" in outcome.stderr
    assert_the_same(workplace, expected)
    assert {read_record(path).header.machine["name"] for path in workplace.records()} == {"west"}


def test_a_machine_whose_clock_is_wrong_by_hours_plays_as_any_other(workplace, undisturbed, cluster):
    expected = undisturbed(bots=2, blocks=3)
    cluster.start_scheduler()
    place = cluster.place("east")
    (place.folder / "late").mkdir()
    (place.folder / "late" / "sitecustomize.py").write_text(
        "import time\n\nnow = time.time\ntime.time = lambda: now() - 18000\n"
    )
    toy = Path(__file__).resolve().parents[1] / "toy_game"
    place.environment["PYTHONPATH"] = f"{place.folder / 'late'}:{toy}"
    cluster.start_machine("east")
    outcome = workplace.run("run", "cup.toml", *cluster.words)
    assert outcome.code == 0, outcome.stderr
    assert_the_same(workplace, expected)


def test_a_match_on_a_machine_is_followed_while_it_goes_on(workplace, write_cup, cluster):
    write_cup(bots=2, blocks=1)
    for number in (0, 1):
        bot = workplace.folder / "bots" / f"bot{number}" / "bot.py"
        bot.write_text(
            bot.read_text().replace("        luck: Random", "        time.sleep(0.7)\n        luck: Random", 1)
        )
        bot.write_text(f"import time\n\n{bot.read_text()}")
    cluster.start_scheduler()
    cluster.start_machine("east")
    running = workplace.start("run", "cup.toml", *cluster.words)
    matches = workplace.folder / "runs" / "cup" / "matches"
    seen: list[int] = []
    while running.poll() is None:
        for path in matches.glob("*.jsonl"):
            with suppress(OSError):  # it was closed just now
                seen.append(len(read_record(path).lines))
        time.sleep(0.1)
    assert running.returncode == 0, running.communicate()[1]
    assert len(set(seen)) > 1
    assert not list(matches.glob("*.jsonl"))


@pytest.fixture
def slurm(cluster) -> Iterator[Slurm]:
    """Two nodes of SLURM. What its jobs start has its place in the folder of the machine 'slurm'."""
    if (missing := missing_program()) and "CROSSTOWN_REQUIRE_SLURM" not in os.environ:
        pytest.skip(f"there is no {missing}; to have it: apt install slurm-wlm")
    assert not missing, missing
    place = cluster.place("slurm")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    toy = str(Path(__file__).resolve().parents[1] / "toy_game")
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": toy, "SLURM_TMPDIR": str(place.folder)}
    environment.pop("USER", None)
    made = Slurm(cluster.folder / "daemons", place.folder, environment)
    try:
        made.start()
        yield made
    finally:
        made.end()


@pytest.mark.long
def test_jobs_of_slurm_play_a_run_one_after_another_and_leave_nothing(
    workplace, undisturbed, cluster, slurm, encrypted
):
    expected = undisturbed(bots=3, blocks=8)
    cluster.certificates = encrypted("pki", "cluster")
    cluster.start_scheduler()
    pki = str(workplace.folder / "pki")
    words = ("--nodes", "2", "--cpus", "2", "--hours", "1", "--pki", pki, "--print")
    printed = workplace.run("cluster", "slurm", cluster.address, *words)
    assert printed.code == 0, printed.stderr
    running = workplace.start("run", "cup.toml", *cluster.words)
    first = slurm.submit(printed.stdout)
    workplace.wait_for_records(4, running)
    assert running.poll() is None, slurm.log(first)
    there = [pid for worker in cluster.places["slurm"].processes() for pid in below(worker)]
    assert len(there) > 2 * len(NODES)
    slurm.run("scancel", first)
    assert_ended(there)
    cluster.assert_nobody_left("slurm")
    second = slurm.submit(printed.stdout)
    _, stderr = running.communicate(timeout=120)
    assert running.returncode == 0, f"{stderr}\n{slurm.log(second)}"
    assert "gets no more matches" not in stderr
    assert_the_same(workplace, expected)
    assert {read_record(path).header.machine["name"] for path in workplace.records()} == set(NODES)
    assert journal_of(workplace.folder / "runs" / "cup", "void") == []
