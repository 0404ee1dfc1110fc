"""A cluster of SLURM for tests: Debian's slurm-wlm with two nodes on this machine, all as plain processes."""

import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")
NODES = ("n1", "n2")
READY_S = 30.0
ENDED_S = 10.0

_CONFIGURATION = """\
ClusterName=crosstown
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={nodes[0]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus}
NodeName={nodes[1]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus}
PartitionName=all Nodes={nodes[0]},{nodes[1]} Default=YES State=UP
"""


def missing_program() -> str:
    """The first program of SLURM that is not installed; '' if all are."""
    return next((name for name in PROGRAMS if _found(name) is None), "")


class Slurm:
    """Two nodes of `cpus` cores each, as their configuration says. The files of the daemons are in `folder`. Jobs begin
    in the folder `jobs`, with `environment`."""

    def __init__(self, folder: Path, jobs: Path, environment: Mapping[str, str], cpus: int = 2) -> None:
        self.folder = folder
        self.jobs = jobs
        self._environment = {**environment, "SLURM_CONF": str(folder / "slurm.conf")}
        self._daemons: list[subprocess.Popen[bytes]] = []
        host = socket.gethostname().partition(".")[0]
        values = {"host": host, "folder": folder, "user": getpass.getuser(), "nodes": NODES, "cpus": cpus}
        for name in ("state", *(f"spool.{node}" for node in NODES)):
            (folder / name).mkdir(parents=True)
        (folder / "slurm.conf").write_text(_CONFIGURATION.format(ports=_free_ports(3), **values))
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)

    def start(self) -> None:
        key, munge = self.folder / "munge.key", self.folder / "munge.socket"
        files = [f"--{kind}-file={self.folder / f'munged.{kind}'}" for kind in ("pid", "seed", "log")]
        self._start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}", *files)
        self._wait_for(munge.exists)
        self._start("slurmctld", "-D")
        for node in NODES:
            self._start("slurmd", "-D", "-N", node)
        self._wait_for(lambda: self._ask("sinfo", "--noheader", "--format=%T").split() == ["idle"])

    def submit(self, script: str) -> str:
        """The number of the job."""
        return self.run("sbatch", "--parsable", given=script).strip()

    def run(self, *words: str, given: str = "") -> str:
        done = self._run(*words, given=given)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def log(self, job: str) -> str:
        """What the job has printed."""
        path = self.jobs / f"crosstown-{job}.log"
        return path.read_text() if path.exists() else ""

    def end(self) -> None:
        """End all jobs and daemons. A process that SLURM has started has the path of our configuration."""
        self._ask("scancel", "--user", getpass.getuser())
        for daemon in reversed(self._daemons):  # munged last: without it the others wait in vain
            daemon.terminate()
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(ENDED_S)
        mark = f"SLURM_CONF={self._environment['SLURM_CONF']}".encode()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
        for daemon in self._daemons:
            daemon.wait()

    def _start(self, name: str, *words: str) -> None:
        program = _found(name)
        assert program is not None
        with (self.folder / f"{name}.log").open("ab") as log:
            keys: dict[str, Any] = {"cwd": self.folder, "env": self._environment, "stdout": log, "stderr": log}
            self._daemons.append(subprocess.Popen([program, *words], start_new_session=True, **keys))

    def _run(self, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words, input=given, cwd=self.jobs, env=self._environment, capture_output=True, text=True, check=False
        )

    def _ask(self, *words: str) -> str:
        return self._run(*words).stdout

    def _wait_for(self, is_there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + READY_S
        while not is_there():
            logs = "".join(path.read_text(errors="replace") for path in self.folder.glob("*.log"))
            assert time.monotonic() < deadline, logs
            time.sleep(0.05)


def _found(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


def _free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [server.getsockname()[1] for server in servers]
