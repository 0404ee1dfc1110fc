"""Three machines, each with namespaces for network, mounts and processes and a root folder of its own, play as one."""

import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from referee.cluster.certificates import make_certificates
from referee.record import read_record
from tests.cluster import HUB, READY_S, Cluster, Networks, assert_ended, below, journal_of
from tests.ssh import make_key, sshd_program, write_sshd_config

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ("east", "west", "south")
SSH_MACHINES = ("machine-1", "machine-2")

C = """
    #include <stdio.h>
    #include <string.h>

    int main(void) {
        static char line[1 << 20];
        while (fgets(line, sizeof line, stdin)) {
            if (strstr(line, "\\"type\\":\\"decide\\"")) { puts("0"); fflush(stdout); }
        }
    }
"""
RUST = """
    use std::io::{self, BufRead, Write};

    fn main() {
        let mut out = io::stdout();
        for line in io::stdin().lock().lines() {
            let line = match line { Ok(line) => line, Err(_) => return };
            if line.contains("\\"type\\":\\"decide\\"") {
                let count: usize = line.split("\\"legal_count\\":").nth(1).unwrap()
                    .split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
                writeln!(out, "{}", count - 1).unwrap();
                out.flush().unwrap();
            }
        }
    }
"""


@pytest.fixture
def cluster(tmp_path, new_workplace) -> Iterator[Cluster]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("namespaces of networks need root and the program ip")
    folder = tmp_path / "m"
    folder.mkdir()
    networks = Networks(f"ct{os.getpid() % 10_000}")
    made = Cluster(folder, new_workplace, networks=networks)
    try:
        for name in ("runner", *MACHINES):
            networks.add(name)
        yield made
    finally:
        made.end()
        for place in made.places.values():
            place.end()
        networks.end()


@pytest.fixture
def runner(cluster, request):
    """A workplace on the runner's machine, with bots in three languages, and the words of a run on the cluster. The
    first tournament has all its blocks with --long."""
    place = cluster.place("runner")
    place.secret = place.folder / "luck"
    place.secret.write_text(f"{1:032x}\n")
    place.secret.chmod(0o600)
    bots = place.folder / "bots"
    for name in ("walker", "random"):
        shutil.copytree(ROOT / "bots" / "python" / name, bots / "python" / name)
    (place.folder / "tournaments").mkdir()
    text = (ROOT / "tournaments" / "first.toml").read_text()
    assert "blocks = 60 " in text
    text = text if request.config.getoption("--long") else text.replace("blocks = 60 ", "blocks = 6 ")
    (place.folder / "tournaments" / "first.toml").write_text(text)
    (bots / "c").mkdir()
    (bots / "c" / "main.c").write_text(textwrap.dedent(C))
    (bots / "rust").mkdir()
    (bots / "rust" / "main.rs").write_text(textwrap.dedent(RUST))
    builds = {
        "c": '["sh", "-c", "mkdir -p build && cc -O -o build/bot main.c"]\ntoolchain = ["cc", "--version"]',
        "rust": '["sh", "-c", "mkdir -p build && rustc -O -o build/bot main.rs"]\ntoolchain = ["rustc", "--version"]',
    }
    for name, build in builds.items():
        (bots / name / "build").mkdir()
        (bots / name / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ngames = ["*"]\n'
            f'run = ["{{python}}", "-m", "crosstown_bridge", "--", "build/bot"]\nbuild = {build}\n'
        )
    made = place.run("cluster", "certificates", "pki", "--name", "host")
    assert made.code == 0, made.stderr
    for name in ("scheduler", *MACHINES):
        shutil.copytree(place.folder / "pki", cluster.place(name).folder / "pki")
    cluster.certificates = ["--ca", "pki/ca.pem", "--cert", "pki/host.pem", "--key", "pki/host-key.pem"]
    return place


def write(place, name, game, players, blocks, bots=("python/random", "c", "rust")):
    lines = [f'name = "{name}"', f'game = "{game}"', "seed = 3", f"players = {players}", f"blocks = {blocks}"]
    lines += ["[clock]", "startup_s = 30", "ready_s = 30", "first_move_s = 20", "move_s = 10"]
    for bot in bots:
        lines += ["[[bots]]", f'path = "bots/{bot}"']
    lines += ["[[bots]]", 'path = "bots/python/random"', 'name = "other"', "options = { salt = 1 }"]
    (place.folder / f"{name}.toml").write_text("\n".join(lines) + "\n")


def rankings(place, out, name):
    folder = place.folder / out / name / "matches"
    return {path.name: read_record(path).footer.ranking for path in sorted(folder.glob("*.jsonl.gz"))}


def test_machines_see_nothing_of_what_another_one_writes_or_runs(cluster):
    places = ["", "/*", "/dev/shm", "/var/tmp", str(ROOT), str(cluster.folder), "."]
    leave = f"for place in {' '.join(places[1:])} ''; do touch \"$place/from-$0\"; done 2>/dev/null"
    look = f"ls -d {' '.join(f'{place}/from-*' for place in places)} 2>/dev/null; ls -d /proc/[0-9]*; ip -o -4 addr"
    machines = {}
    for name in MACHINES:
        cluster.place(name)
        command = [*cluster.prefix(name), "sh", "-c", f"{leave}; echo there; read line; {look}", name]
        machines[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert all(machine.stdout.readline() == "there\n" for machine in machines.values())
    addresses = set()
    for name, machine in machines.items():
        told, _ = machine.communicate("\n", timeout=60)
        left = re.findall(r"\S*/from-(\w+)", told)
        assert len(left) >= 3
        assert set(left) == {name}
        assert len(re.findall(r"^/proc/\d+$", told, re.MULTILINE)) <= 3
        addresses |= set(re.findall(r"eth0 +inet (\S+)", told))
    assert len(addresses) == len(MACHINES)
    left_here = [
        path for folder in ("/", "/dev", "/tmp", "/run", "/root", ROOT) for path in Path(folder).glob("from-*")
    ]
    assert not left_here


@pytest.mark.strict_sandbox
def test_three_machines_play_leagues_of_bots_in_three_languages_as_one_machine_does(runner, cluster):
    write(runner, "league", "king_of_new_york", 4, 1)
    files = {"first": "tournaments/first.toml", "league": "league.toml"}
    cluster.start_scheduler()
    for name in MACHINES:
        cluster.start_machine(name)
    for file in files.values():
        outcome = runner.run("run", file, *cluster.words, prefix=cluster.prefix("runner"), timeout_s=400)
        assert outcome.code == 0, outcome.stderr
    assert not list((runner.folder / "cache").glob("*/built.json"))  # nothing was built by the runner
    for name, file in files.items():
        here = runner.run("run", file, "--out", "here", "--workers", "2", timeout_s=400)
        assert here.code == 0, here.stderr
        assert rankings(runner, "runs", name) == rankings(runner, "here", name)
        assert runner.standings(file) == runner.standings(file, "--out", "here")
        assert runner.run("matches", "verify", file).code == 0
    played = [read_record(path).header for path in (runner.folder / "runs").glob("*/matches/*.jsonl.gz")]
    assert {header.machine["name"] for header in played} == set(MACHINES)
    builds = {seat.name: seat.build for header in played for seat in header.seats}
    assert "cc (" in builds["c"]
    assert "rustc" in builds["rust"]
    assert {seat.sandbox for header in played for seat in header.seats} == {"strict"}


@pytest.mark.strict_sandbox
def test_an_unplugged_machine_is_left_behind_and_comes_back(runner, cluster):
    write(runner, "first", "shibuya", 2, 6)
    text = (runner.folder / "first.toml").read_text()
    (runner.folder / "first.toml").write_text(
        text.replace("bots/c", "bots/python2").replace("bots/rust", "bots/python3")
    )
    for number in (2, 3):
        shutil.copytree(runner.folder / "bots" / "python" / "random", runner.folder / "bots" / f"python{number}")
        manifest = runner.folder / "bots" / f"python{number}" / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"random"', f'"random {number}"', 1))
    cluster.start_scheduler()
    for name in MACHINES[:2]:
        cluster.start_machine(name)
    running = runner.start("run", "first.toml", *cluster.words, prefix=cluster.prefix("runner"))
    runner.wait_for_records(4, running, "first")
    cluster.networks.plug("east", into=False)
    _, stderr = running.communicate(timeout=200)
    assert running.returncode == 0, stderr
    cluster.networks.plug("east", into=True)
    here = runner.run("run", "first.toml", "--out", "here", "--workers", "2", timeout_s=200)
    assert here.code == 0, here.stderr
    assert rankings(runner, "runs", "first") == rankings(runner, "here", "first")
    assert journal_of(runner.folder / "runs" / "first", "void") == []
    assert {line["machine"] for line in journal_of(runner.folder / "runs" / "first", "lost")} <= {"east"}
    cluster.wait_for_log("east", "plays for", times=2)


PROBE = """
import asyncio, json, sys
from distributed import Security
from distributed.core import rpc

async def answer(address, ca, cert, key):
    keys = {"tls_ca_file": ca, "tls_client_cert": cert or None, "tls_client_key": key or None}
    security = Security(require_encryption=True, **keys) if ca else Security()
    try:
        async with rpc(address, connection_args=security.get_connection_args("client"), timeout=3) as peer:
            return "id" in await peer.identity()
    except Exception:
        return False

async def main():
    asked = json.load(sys.stdin)
    async with asyncio.timeout(50):
        print(json.dumps(await asyncio.gather(*[answer(*one) for one in asked])))

asyncio.run(main())
"""


def listeners(cluster, name):
    """The addresses at which the machine can be reached by TCP, with their ports."""
    text = subprocess.run(
        [*cluster.prefix(name), "cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for words in map(str.split, text.splitlines()):
        if words[3] == "0A":  # listens
            number, _, port = words[1].partition(":")
            parts = [bytes.fromhex(number[place : place + 8])[::-1] for place in range(0, len(number), 8)]
            found.append((ipaddress.ip_address(b"".join(parts)), int(port, 16)))
    return [(str(address), port) for address, port in found if not address.is_loopback]


def test_only_a_certificate_of_the_cluster_opens_the_ports_of_its_processes(runner, cluster):
    """Everybody may have the authority's own certificate. Dashboards listen on the loopback address."""
    assert runner.run("cluster", "certificates", "foreign", "--name", "eve").code == 0
    cluster.start_scheduler()
    cluster.start_machine("east")
    cluster.wait_for_log("east", "plays for")
    ((host, port),) = listeners(cluster, "scheduler")
    assert (host, port) == (HUB, cluster.port)
    ((there, port_there),) = listeners(cluster, "east")
    addresses = [f"{host}:{port}", f"{there}:{port_there}"]
    ca, own = "pki/ca.pem", ("pki/host.pem", "pki/host-key.pem")
    foreign_ca, foreign = "foreign/ca.pem", ("foreign/eve.pem", "foreign/eve-key.pem")
    asked = {
        "ours": [(f"tls://{address}", ca, *own) for address in addresses],
        "foreign": [(f"tls://{address}", ca, *foreign) for address in addresses],
        "none": [(f"tls://{address}", ca, "", "") for address in addresses],
        "not encrypted": [(f"tcp://{address}", "", "", "") for address in addresses],
        "of another cluster": [(f"tls://{address}", foreign_ca, *own) for address in addresses],
    }
    command = [*cluster.prefix("runner"), sys.executable, "-c", PROBE]
    given = json.dumps([one for each in asked.values() for one in each])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = iter(json.loads(done.stdout))
    found = {name: [next(answers) for _ in each] for name, each in asked.items()}
    assert found == {name: [name == "ours"] * 2 for name in asked}


@pytest.fixture
def over_ssh(cluster):
    """over_ssh(lines) runs lines of a shell on the runner's machine, from where `ssh` reaches machine-1 and machine-2.
    There a command finds `crosstown`, begins in a folder of the machine, and knows scheduler-host."""
    program = sshd_program()
    runner = cluster.place("runner").folder
    make_key(runner / "key")
    config = [f"IdentityFile {runner / 'key'}", "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null"]
    servers = []
    variables = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONSAFEPATH": "1"}
    for name in SSH_MACHINES:
        address = cluster.networks.add(name)
        config += [f"Host {name}", f"HostName {address}", "LogLevel ERROR"]
        place = cluster.place(name).folder
        shutil.copy(runner / "key.pub", place)
        (place / "hosts").write_text(f"127.0.0.1 localhost\n{HUB} scheduler-host\n")
        there = " ".join(f'"{key}={value}"' for key, value in {**variables, "CROSSTOWN_CACHE": place / "cache"}.items())
        more = f'SetEnv {there}\nForceCommand cd {place} && eval "$SSH_ORIGINAL_COMMAND"\n'
        file = write_sshd_config(place, address, 22, place / "key", more)
        own = f'mount --bind hosts /etc/hosts; mkdir /run/sshd; hostname {name}; exec "$@"'
        words = ["unshare", "--uts", "--", "sh", "-c", own, "sh", program, "-D", "-e", "-f", str(file)]
        with (place / "log").open("a") as log:
            command = [*cluster.networks.prefix(name, cluster.folder), *words]
            servers.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))
    (runner / "ssh_config").write_text("\n".join(config) + "\n")
    (runner / "bin").mkdir()
    (runner / "bin" / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {runner / "ssh_config"} "$@"\n')
    (runner / "bin" / "ssh").chmod(0o755)

    def run(lines):
        command = [*cluster.prefix("runner"), "bash", "-euc", lines]
        environment = {**os.environ, "PATH": f"{runner / 'bin'}:{os.environ['PATH']}"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    yield run
    for server in servers:
        server.kill()  # and with it all processes of its machine
        server.wait()


@pytest.mark.strict_sandbox
def test_the_loops_of_the_documentation_start_and_end_workers_over_ssh(cluster, over_ssh):
    text = (ROOT / "docs" / "cluster.md").read_text()
    start, end = re.findall(r"^```\n(for host in machine-1 machine-2; do\n.*?)^```", text, re.DOTALL | re.MULTILINE)
    runner = cluster.place("runner")
    shutil.copytree(ROOT / "bots" / "python" / "random", runner.folder / "bots" / "python" / "random")
    write(runner, "first", "shibuya", 2, 2, bots=("python/random",))
    for name in ("scheduler", "organiser", *SSH_MACHINES):
        made = make_certificates(runner.folder / "pki", name)
        place = cluster.place(name).folder
        for file in (made.ca, made.cert, made.key):
            shutil.copy(file, place)
    cluster.port = 8786
    cluster.certificates = ["--ca", "ca.pem", "--cert", "scheduler.pem", "--key", "scheduler-key.pem"]
    cluster.start_scheduler()
    over_ssh(start)
    own = ["--ca", "pki/ca.pem", "--cert", "pki/organiser.pem", "--key", "pki/organiser-key.pem"]
    words = ("--executor", "dask", "--scheduler", cluster.address, *own)
    for name in SSH_MACHINES:
        wait_for_words(cluster.folder / name / "worker.log", f"machine {name} plays for tls://scheduler-host:8786")
    outcome = runner.run("run", "first.toml", *words, prefix=cluster.prefix("runner"))
    assert outcome.code == 0, outcome.stderr
    records = (runner.folder / "runs" / "first" / "matches").glob("*.jsonl.gz")
    assert {read_record(path).header.machine["name"] for path in records} == set(SSH_MACHINES)
    assert all(cluster.places[name].processes() for name in SSH_MACHINES)
    over_ssh(end)
    for name in SSH_MACHINES:
        cluster.assert_nobody_left(name)


def wait_for_words(path, words):
    deadline = time.monotonic() + READY_S
    while not (path.exists() and words in path.read_text()):
        assert time.monotonic() < deadline, path.read_text() if path.exists() else path
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.strict_sandbox
def test_five_hundred_matches_survive_machines_that_die_freeze_and_vanish(runner, cluster):
    """Every few seconds another machine is killed, frozen or cut off, or comes back; never all of them at once."""
    write(runner, "first", "shibuya", 2, 42)
    cluster.start_scheduler()
    for name in MACHINES:
        cluster.start_machine(name)
    here = runner.run("run", "first.toml", "--out", "here", "--workers", "2", timeout_s=3000)
    assert here.code == 0, here.stderr
    with (runner.folder / "log").open("w") as log:
        running = runner.start(
            "run", "first.toml", *cluster.words, prefix=cluster.prefix("runner"), stdout=log, stderr=log
        )
    what_happened = Counter(chaos(runner, cluster, running))
    said = (runner.folder / "log").read_text()
    assert running.poll() == 0, said
    found = rankings(runner, "runs", "first")
    assert len(found) >= 500
    assert found == rankings(runner, "here", "first")
    assert runner.standings("first.toml") == runner.standings("first.toml", "--out", "here")
    run = runner.folder / "runs" / "first"
    counted = Counter(match for line in journal_of(run, "counted") for match in line["matches"])
    assert counted == Counter(path.removesuffix(".jsonl.gz") for path in found)
    assert runner.run("matches", "verify", "first.toml").code == 0
    print({**what_happened, **{kind: len(journal_of(run, kind)) for kind in ("lost", "void", "given_up")}})


def chaos(runner, cluster, running):
    """What happened to machines while the run was played. The next thing happens when two more matches are over or
    20 seconds have passed: on a slow host, too, the run gets on."""
    chance = Random(20)
    away: dict[str, str] = {}
    end_s = time.monotonic() + 6000
    runner.wait_for_records(4, running, "first")
    matches = runner.folder / "runs" / "first" / "matches"
    while running.poll() is None and time.monotonic() < end_s:
        begun_s, number = time.monotonic(), len(list(matches.glob("*.gz")))
        time.sleep(chance.uniform(2, 6))
        while len(list(matches.glob("*.gz"))) < number + 2 and time.monotonic() < begun_s + 20:
            time.sleep(0.2)
        name = chance.choice(MACHINES)
        if name not in away and len(away) < len(MACHINES) - 1:
            away[name] = chance.choice(("killed", "frozen", "cut off"))
            yield away[name]
            if away[name] == "killed":
                there = below(cluster.processes[name].pid)
                assert len(there) > 1
                cluster.kill(name)
                assert_ended(there)
            elif away[name] == "frozen":
                cluster.freeze(name)
            else:
                cluster.networks.plug(name, into=False)
        elif what := away.pop(name, ""):
            yield "back"
            if what == "killed":
                cluster.start_machine(name)
            elif what == "frozen":
                cluster.freeze(name, thaw=True)
            else:
                cluster.networks.plug(name, into=True)
