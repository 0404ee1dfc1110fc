"""The texts for other systems are what these systems accept."""

import os
import shlex
import subprocess

import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from referee.cli.main import make_app, run_command


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


def test_the_script_for_slurm_starts_a_worker_on_each_node(printed, tmp_path):
    text = printed(
        "slurm", "tls://host:8786", "--nodes", "8", "--cpus", "32", "--pki", str(tmp_path / "my pki"), "--print"
    )
    script = tmp_path / "workers.sh"
    script.write_text(text)
    assert "#SBATCH --nodes=8\n" in text
    assert "#SBATCH --cpus-per-task=32\n" in text
    srun = tmp_path / "srun"
    srun.write_text('#!/bin/bash\nprintf "%q " "$@"\n')
    srun.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.defpath}", "USER": "ada", "SLURM_CPUS_PER_TASK": "32"}
    done = subprocess.run(["bash", str(script)], env=environment, capture_output=True, text=True, check=True)
    words = shlex.split(done.stdout)
    assert words[0] == "--kill-on-bad-exit=0"
    found = checked(words[1:])
    assert (found["address"], found["slots"]) == ("tls://host:8786", 32)
    assert found["cert"] == tmp_path / "my pki" / "cluster.pem"
