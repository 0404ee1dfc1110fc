"""The committed Python messages are exactly what the proto files generate."""

import subprocess
import sys
from pathlib import Path

GENERATE = Path(__file__).resolve().parents[2] / "proto" / "generate.py"


def test_the_generated_package_is_not_stale() -> None:
    done = subprocess.run([sys.executable, GENERATE, "--check"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
