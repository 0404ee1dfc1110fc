"""A server of ssh for tests, which lets in one key."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def sshd_program() -> str:
    """The path of sshd. Without it the test is skipped, unless CROSSTOWN_REQUIRE_SSHD is set."""
    program = shutil.which("sshd", path=f"/usr/sbin{os.pathsep}{os.environ['PATH']}")
    if program is None and "CROSSTOWN_REQUIRE_SSHD" not in os.environ:
        pytest.skip("there is no sshd; to have it: apt install openssh-server")
    assert program
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    return program


def make_key(path: Path) -> None:
    """A private key, with the public one beside it."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)


def write_sshd_config(folder: Path, address: str, port: int, key: Path, more: str = "") -> Path:
    """The configuration of a server on this address, which lets in the private key `key`."""
    make_key(folder / "host")
    settings = {
        "Port": port,
        "ListenAddress": address,
        "HostKey": folder / "host",
        "AuthorizedKeysFile": key.with_name(f"{key.name}.pub"),
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "StrictModes": "no",
        "UsePAM": "no",
        "PermitRootLogin": "yes",
        "PidFile": "none",
    }
    path = folder / "sshd_config"
    path.write_text("".join(f"{name} {value}\n" for name, value in settings.items()) + more)
    return path
