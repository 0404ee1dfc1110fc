"""A complete cluster on this machine, for a try: a scheduler and workers, each in its own process."""

import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from referee.errors import PlatformError

_READY_S = 30.0
_STOP_S = 15.0
_LOOK_S = 0.1


def run_trial(workers: int, slots: int, port: int, tell: Callable[[str], None], *, accept_plain: bool) -> None:
    """Until Ctrl-C, or until the scheduler ends. PlatformError if that does not start."""
    port = port or _free_port()
    program = [sys.executable, "-P", "-m", "referee.cli.main", "cluster"]
    address = f"tcp://127.0.0.1:{port}"
    processes: list[subprocess.Popen[bytes]] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        processes.append(subprocess.Popen([*program, "scheduler", "--port", str(port)]))
        _wait_for(processes[0], port)
        plain = ["--accept-plain"] if accept_plain else []
        for number in range(1, workers + 1):
            words = ["worker", address, "--name", f"local-{number}", "--slots", str(slots), *plain]
            processes.append(subprocess.Popen([*program, *words]))
        tell(f"play on it with: crosstown run FILE --executor dask --scheduler {shlex.quote(address)}")
        processes[0].wait()
    except KeyboardInterrupt:
        tell("stopping")
    finally:
        for process in processes:
            process.terminate()
        end_s = time.monotonic() + _STOP_S
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end_s - time.monotonic()))
            process.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    end_s = time.monotonic() + _READY_S
    while time.monotonic() < end_s and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(_LOOK_S)
    raise PlatformError(f"the scheduler does not start on port {port}", "choose another one: --port")
