"""The committed Python messages and reference pages are exactly what the proto files generate."""

import subprocess
import sys
from pathlib import Path

import pytest

GENERATE = Path(__file__).resolve().parents[2] / "proto" / "generate.py"


@pytest.mark.slow
def test_the_generated_package_is_not_stale() -> None:
    done = subprocess.run([sys.executable, GENERATE, "--check"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_reference_of_the_messages_is_not_stale() -> None:
    done = subprocess.run(
        [sys.executable, GENERATE.with_name("reference.py"), "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
