"""The texts for other systems are what these systems accept."""

import os
import shlex
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from referee.cli.app import make_app, run_command


@pytest.fixture
def printed(capsys):
    def run(*words):
        assert run_command(["cluster", *words]) == 0
        return capsys.readouterr().out

    return run


def checked(words):
    """The options of a command line of ours, as the command takes them; an error if it does not."""
    assert words[:2] == ["crosstown", "cluster"]
    command = get_command(make_app())
    for name in words[1:3]:
        command = command.commands[name] if hasattr(command, "commands") else command
    return command.make_context(words[2], list(words[3:])).params


def test_the_manifests_are_valid_and_start_what_there_is(printed):
    text = printed("kubernetes", "registry.example/arena:1", "--nodes", "3", "--cpus", "8", "--print")
    documents = list(yaml.safe_load_all(text))
    assert [one["kind"] for one in documents] == ["Service", "Deployment", "Deployment", "NetworkPolicy"]
    for one in documents:
        kubernetes_validate.validate(one, "1.37", strict=True)
    scheduler, worker = (one["spec"]["template"]["spec"]["containers"][0] for one in documents[1:3])
    assert {scheduler["image"], worker["image"]} == {"registry.example/arena:1"}
    assert documents[2]["spec"]["replicas"] == 3
    assert checked([*scheduler["command"], *scheduler["args"]])["host"] == "0.0.0.0"
    found = checked([*worker["command"], *worker["args"]])
    assert (found["address"], found["slots"]) == ("tls://crosstown-scheduler:8786", 8)
    assert str(found["key"]) == "/certificates/key.pem"


def test_a_manifest_with_a_mistake_is_not_valid(printed):
    text = printed("kubernetes", "registry.example/arena:1").replace("replicas: 4", "replicas: four")
    worker = list(yaml.safe_load_all(text))[2]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(worker, "1.37", strict=True)


@pytest.fixture
def run_script(printed, tmp_path):
    """run_script(PATH=...) runs the script for SLURM with a fake `srun`, which is one node, and a fake `crosstown`,
    which prints its cache and its words."""
    places = {
        "srun": 'while [ "${1#--}" != "$1" ]; do echo "$1"; shift; done; SLURMD_NODENAME=n7 exec "$@"',
        "crosstown": 'echo "$CROSSTOWN_CACHE"; printf "%q " crosstown "$@"',
    }
    for name, text in places.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)

    def run(**environment):
        pki = str(tmp_path / "my pki")
        words = ("slurm", "tls://host:8786", "--nodes", "8", "--cpus", "32", "--pki", pki, "--print")
        script = tmp_path / "workers.sh"
        script.write_text(printed(*words))
        environment = {"PATH": f"{tmp_path}:{os.defpath}", "SLURM_TMPDIR": str(tmp_path), **environment}
        return subprocess.run(["bash", str(script)], env=environment, capture_output=True, text=True, check=False)

    return run


def test_the_script_for_slurm_starts_a_worker_on_each_node(run_script, tmp_path):
    done = run_script()
    text = (tmp_path / "workers.sh").read_text()
    assert "#SBATCH --nodes=8\n" in text
    assert "#SBATCH --cpus-per-task=32\n" in text
    assert done.returncode == 0, done.stderr
    *options, cache, line = done.stdout.splitlines()
    assert options == ["--no-kill", "--kill-on-bad-exit=0", "--cpus-per-task=32"]
    assert cache == f"{tmp_path}/crosstown-cache-{os.getuid()}"
    assert Path(cache).stat().st_mode & 0o777 == 0o700
    found = checked(shlex.split(line))
    assert (found["address"], found["name"], found["slots"]) == ("tls://host:8786", "n7", 32)
    assert found["cert"] == tmp_path / "my pki" / "cluster.pem"


def test_the_slots_on_slurm_are_the_cores_that_the_job_got(run_script):
    *options, _, line = run_script(SLURM_CPUS_PER_TASK="4").stdout.splitlines()
    assert options[-1] == "--cpus-per-task=4"
    assert checked(shlex.split(line))["slots"] == 4


def test_a_worker_on_slurm_does_not_take_a_cache_that_somebody_else_has_made(run_script, tmp_path):
    """It would play with the builds in there."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / f"crosstown-cache-{os.getuid()}").symlink_to(tmp_path / "theirs")
    done = run_script()
    assert done.returncode == 1
    assert "belongs to somebody else; set SLURM_TMPDIR" in done.stderr
    assert "crosstown cluster" not in done.stdout
