"""Three machines, each with a network, a mount and a process namespace of its own, play as one does."""

import os
import shutil
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from referee.record import read_record
from tests.cluster import Cluster, Networks, assert_ended, below, journal_of

ROOT = Path(__file__).resolve().parents[2]
MACHINES = ("east", "west", "south")

GO = """
    package main

    import ("bufio"; "fmt"; "os"; "strings")

    func main() {
        lines := bufio.NewReaderSize(os.Stdin, 1<<20)
        for {
            line, err := lines.ReadString('\\n')
            if err != nil { return }
            if strings.Contains(line, "\\"type\\":\\"decide\\"") { fmt.Println(0) }
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
def runner(cluster):
    """A workplace on the runner's machine, with bots in three languages, and the words of a run on the cluster."""
    place = cluster.place("runner")
    place.secret = place.folder / "luck"
    place.secret.write_text(f"{1:032x}\n")
    place.secret.chmod(0o600)
    bots = place.folder / "bots"
    shutil.copytree(ROOT / "bots" / "python" / "random", bots / "python")
    (bots / "go").mkdir()
    (bots / "go" / "main.go").write_text(textwrap.dedent(GO))
    (bots / "go" / "go.mod").write_text("module first\n\ngo 1.20\n")
    (bots / "rust").mkdir()
    (bots / "rust" / "main.rs").write_text(textwrap.dedent(RUST))
    builds = {
        "go": '["go", "build", "-o", "build/bot", "."]\ntoolchain = ["go", "version"]',
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


def write(place, name, game, players, blocks):
    lines = [f'name = "{name}"', f'game = "{game}"', "seed = 3", f"players = {players}", f"blocks = {blocks}"]
    lines += ["[clock]", "startup_s = 30", "ready_s = 30", "first_move_s = 20", "move_s = 10"]
    for bot in ("python", "go", "rust"):
        lines += ["[[bots]]", f'path = "bots/{bot}"']
    lines += ["[[bots]]", 'path = "bots/python"', 'name = "other"', "options = { salt = 1 }"]
    (place.folder / f"{name}.toml").write_text("\n".join(lines) + "\n")


def rankings(place, out, name):
    folder = place.folder / out / name / "matches"
    return {path.name: read_record(path).footer.ranking for path in sorted(folder.glob("*.jsonl.gz"))}


@pytest.mark.strict_sandbox
def test_three_machines_play_leagues_of_bots_in_three_languages_as_one_machine_does(runner, cluster):
    write(runner, "first", "shibuya", 2, 1)
    write(runner, "league", "king_of_new_york", 4, 1)
    cluster.start_scheduler()
    for name in MACHINES:
        cluster.start_machine(name)
    for name in ("first", "league"):
        outcome = runner.run("run", f"{name}.toml", *cluster.words, prefix=cluster.prefix("runner"), timeout_s=400)
        assert outcome.code == 0, outcome.stderr
    assert not list((runner.folder / "cache").glob("*/built.json"))  # nothing was built by the runner
    for name in ("first", "league"):
        here = runner.run("run", f"{name}.toml", "--out", "here", "--workers", "2", timeout_s=400)
        assert here.code == 0, here.stderr
        assert rankings(runner, "runs", name) == rankings(runner, "here", name)
        assert runner.standings(f"{name}.toml") == runner.standings(f"{name}.toml", "--out", "here")
        assert runner.run("matches", "verify", f"{name}.toml").code == 0
    played = [read_record(path).header for path in (runner.folder / "runs").glob("*/matches/*.jsonl.gz")]
    assert {header.machine["name"] for header in played} == set(MACHINES)
    builds = {seat.name: seat.build for header in played for seat in header.seats}
    assert "go version" in builds["go"]
    assert "rustc" in builds["rust"]
    assert {seat.sandbox for header in played for seat in header.seats} == {"strict"}


@pytest.mark.strict_sandbox
def test_an_unplugged_machine_is_left_behind_and_comes_back(runner, cluster):
    write(runner, "first", "shibuya", 2, 6)
    text = (runner.folder / "first.toml").read_text()
    (runner.folder / "first.toml").write_text(
        text.replace("bots/go", "bots/python2").replace("bots/rust", "bots/python3")
    )
    for number in (2, 3):
        shutil.copytree(runner.folder / "bots" / "python", runner.folder / "bots" / f"python{number}")
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
