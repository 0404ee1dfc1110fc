"""Commands about clusters: what they refuse, and that nobody else pays for them."""

import json
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

from referee.run.journal import Journal, read_journal

TOY = Path(__file__).resolve().parents[2] / "toy_game"


@pytest.fixture(autouse=True)
def _toy_in_workers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TOY))


WITHOUT = """
import importlib.abc, sys

class None_(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("distributed", "dask"):
            raise ImportError(f"{name} is not to be imported here")

sys.meta_path.insert(0, None_())
from referee.cli.app import run_command
sys.exit(run_command(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("run", "--help"),
        ("cluster", "--help"),
        ("cluster", "worker", "--help"),
        ("run", "cup.toml", "--dry-run"),
        ("run", "cup.toml", "--quiet", "--workers", "1"),
        ("standings", "cup.toml"),
        ("games", "list"),
    ],
)
def test_who_plays_on_one_machine_does_not_load_dask(words, make_run, tmp_path):
    make_run()
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    # Bots of these tests do not play, so that `run` ends with a code of its own.
    assert done.returncode == 0 or words[-1] == "1", done.stderr
    assert "not to be imported" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("run", "cup.toml", "--executor", "dask", "--scheduler", "127.0.0.1"),
        ("cluster", "worker", "127.0.0.1"),
        ("cluster", "scheduler"),
        ("cluster", "local"),
    ],
)
def test_without_the_extra_a_command_says_how_to_install_it(words, crosstown, write_tournament, monkeypatch):
    write_tournament()
    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *more: None if name == "distributed" else found(name, *more))
    printed = crosstown(*words)
    assert printed.code == 2
    assert "clusters need the package 'distributed', which is not installed" in printed.err
    assert "pip install 'crosstown-arena[cluster]'" in printed.err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--executor", "dask"), "no scheduler is named"),
        (("--executor", "ray"), "there is no executor 'ray'"),
        (("--executor", "local", "--scheduler", "127.0.0.1"), "--scheduler is for a cluster"),
        (("--ca", "ca.pem"), "--ca is for a cluster"),
        (("--scheduler", "10.0.0.2"), "needs certificates"),
        (("--scheduler", "tcp://10.0.0.2"), "nothing is encrypted without certificates"),
        (("--scheduler", "http://x"), "is not the address of a scheduler"),
    ],
)
def test_where_to_play_is_checked_before_anything_is_written(words, what, crosstown, write_tournament, tmp_path):
    write_tournament()
    printed = crosstown("run", "cup.toml", *words)
    assert printed.code == 2
    assert what in printed.err
    assert not (tmp_path / "runs").exists()


def test_a_bot_with_the_network_is_refused_on_a_cluster_that_anybody_here_can_give_orders(crosstown, write_tournament):
    file = write_tournament()
    file.write_text(file.read_text().replace("[[bots]]", "[[bots]]\nnetwork = true", 1))
    printed = crosstown("run", "cup.toml", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert printed.code == 2
    assert "may use the network, and could give orders to tcp://127.0.0.1:1" in printed.err


@pytest.mark.parametrize(
    ("section", "what"),
    [
        ('kind = "ray"', "'executor.kind' must be local or dask, not 'ray'"),
        ('kind = "dask"\nslots = 3', "slots"),
        ('scheduler = "tcp://127.0.0.1"', "'executor.scheduler' is for a cluster"),
        ('kind = "dask"\nsame_machine = 1', "same_machine"),
        ('kind = "dask"\nbuild = "here"', "'executor.build' must be worker or organiser, not 'here'"),
        ('build = "organiser"', "'executor.build' is for a cluster"),
    ],
)
def test_the_section_of_the_file_is_checked(section, what, crosstown, write_tournament):
    file = write_tournament()
    file.write_text(f"{file.read_text()}\n[executor]\n{section}\n")
    printed = crosstown("run", "cup.toml", "--dry-run")
    assert printed.code == 2
    assert what in printed.err


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ('kind = "local"', ""),
        ('kind = "dask"', "played on the cluster that --scheduler names, whose machines build the bots"),
        (
            'kind = "dask"\nscheduler = "tls://h:1"\nbuild = "organiser"',
            "played on the cluster at tls://h:1; bots are built here, and machines of the same platform get these",
        ),
    ],
)
def test_a_dry_run_says_where_matches_are_played_and_bots_are_built(section, words, crosstown, write_tournament):
    file = write_tournament()
    file.write_text(f"{file.read_text()}\n[executor]\n{section}\n")
    printed = crosstown("run", "cup.toml", "--dry-run")
    assert printed.code == 0
    assert words in printed.out
    assert ("cluster" in printed.out) == bool(words)


@pytest.mark.slow
def test_the_section_of_the_file_says_where_to_play(crosstown, write_tournament):
    file = write_tournament()
    file.write_text(f'{file.read_text()}\n[executor]\nkind = "dask"\nscheduler = "tcp://127.0.0.1:1"\n')
    printed = crosstown("run", "cup.toml")
    assert printed.code == 3
    assert "no scheduler answers at tcp://127.0.0.1:1" in printed.err
    assert crosstown("run", "cup.toml", "--executor", "local", "--quiet", "--workers", "1").code != 3


def test_a_worker_without_the_sandbox_does_not_join(crosstown, monkeypatch):
    from referee.process import checkup

    monkeypatch.setattr(checkup, "probe", lambda: checkup.Probe(False, "bwrap is not installed", "install bubblewrap"))
    printed = crosstown("cluster", "worker", "127.0.0.1:1")
    assert printed.code == 3
    assert "the sandbox does not work on this machine (bwrap is not installed)" in printed.err
    assert "--accept-plain" in printed.err


def test_a_worker_that_other_machines_could_give_orders_is_refused_without_certificates(crosstown):
    printed = crosstown("cluster", "worker", "127.0.0.1:1", "--host", "0.0.0.0", "--accept-plain")
    assert printed.code == 2
    assert "0.0.0.0 can be reached from other machines, and anyone who connects could run any program" in printed.err


def test_the_machines_of_a_run_are_listed_with_what_they_played(crosstown, make_run):
    """Each of the records has 4 decisions that took 8 ms together, the longest 4 ms."""
    folder = make_run(played=4, answers=True)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("lost", match="m9", place=9, machine="east", detail="it is gone")
    printed = crosstown("cluster", "machines", "cup", "--json")
    rows = {row["name"]: row for row in json.loads(printed.out)}
    here = rows["(this machine)"]
    assert (here["matches"], here["void"], here["lost"], here["decisions"]) == (4, 0, 0, 16)
    assert (here["mean_move_ms"], here["worst_us"], here["lag_share"]) == (2.0, 4000, 0.0)
    assert (rows["east"]["matches"], rows["east"]["lost"], rows["east"]["mean_move_ms"]) == (0, 1, None)
    assert "(this machine)" in crosstown("cluster", "machines", "cup").out
