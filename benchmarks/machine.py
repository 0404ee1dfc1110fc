"""The machine on which a benchmark ran, for the line above its tables."""

import os
import platform
from pathlib import Path


def processor() -> str:
    """The model of the processor, or its architecture where the system does not name the model."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def machine() -> str:
    """Processors, system, load, and the version of Python."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} x {processor()}, {platform.system()} {platform.release()}, load {load};"
        f" Python {platform.python_version()}"
    )
