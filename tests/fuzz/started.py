"""What is read before a bot runs or is built: the author's words on which interpreter it wants, and the organiser's
settings of package managers."""

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

from target import Target, as_text

from referee.process.build_settings import ini, maven, toml
from referee.process.needs import find_needs

_LINES = [
    b"#!/usr/bin/env python3\nprint()\n",
    b"#! /opt/python/bin/python3.11 -u\n",
    b"#!/usr/bin/env -S VARIABLE=1 node --flag\n",
]
_ENVIRONMENTS = [
    b"home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n",
    b"home=/opt/python/bin\nbase-executable = /opt/python/bin/python3\n",
]
_PIP = [b"[global]\nindex-url = https://here.example/simple\ntimeout = 60\n[install]\nno-warn-script-location = true\n"]
_CARGO = [
    b'[source.crates-io]\nreplace-with = "here"\n[source.here]\nregistry = "sparse+https://here.example/"\n'
    b"[net]\nretry = 3\noffline = false\n[http]\ntimeout = 1.5\nproxies = [1979-05-27, 07:32:00]\n"
]
_MAVEN = [
    b'<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors><mirror><id>here</id><url>https://here.example'
    b"</url><mirrorOf>*</mirrorOf></mirror></mirrors><servers><server><id>x</id><password>y</password></server>"
    b"</servers><interactiveMode>false</interactiveMode></settings>"
]


def started_targets(folder: Path) -> list[Target]:
    script, environment = folder / "scripted", folder / "environed"
    (environment / ".venv" / "bin").mkdir(parents=True)
    (environment / ".venv" / "bin" / "python").symlink_to("/usr/bin/env")
    script.mkdir()
    (script / "run").touch(0o755)
    return [
        Target("first line of a program", _LINES, _needs(script / "run", script, script / "run"), ()),
        Target(
            "pyvenv.cfg of a bot",
            _ENVIRONMENTS,
            _needs(environment / ".venv" / "bin" / "python", environment, environment / ".venv" / "pyvenv.cfg"),
            (),
        ),
        Target("settings of pip", _PIP, _merged(ini, _PIP), ()),
        Target("settings of cargo", _CARGO, _cargo, ()),
        Target("settings of maven", _MAVEN, _merged(maven, _MAVEN), ()),
    ]


def _needs(program: Path, folder: Path, written: Path) -> Callable[[bytes], object]:
    def run(data: bytes) -> object:
        written.write_bytes(data)
        return find_needs((str(program),), folder)

    return run


def _merged(merge: Callable[[Sequence[str]], str], good: Sequence[bytes]) -> Callable[[bytes], object]:
    """The settings of the machine, and over them what the user has."""
    return lambda data: merge([as_text(good[0]), as_text(data)])


def _cargo(data: bytes) -> object:
    """What is written must be TOML again."""
    return tomllib.loads(toml([as_text(_CARGO[0]), as_text(data)]))
