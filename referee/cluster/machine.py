"""The description of a machine of a cluster: its name and class, its slots, its sandbox and its versions."""

import platform
import socket
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from referee.process.limits import Room, Share, memory_room
from referee.process.sandbox import PROFILES, Profile

MOST_SLOTS = 4096
"""Of one machine."""

METRIC = "crosstown"
"""Dask's metrics of a worker have the machine's facts under this name."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions that must be the same on all machines: Crosstown with a hash of its code, Python and distributed."""

    crosstown: str
    python: str
    distributed: str

    def difference(self, other: "Versions") -> str:
        """What differs, in words; '' if nothing does."""
        mine, theirs = asdict(self), asdict(other)
        return ", ".join(f"{name} {theirs[name]} (here {mine[name]})" for name in mine if mine[name] != theirs[name])


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one machine. `kind` is its class: all matches of a block are played on machines of one class. `sandbox` is
    what its bots have: "plain" only where somebody accepted that. `room` is the memory that they share."""

    name: str
    kind: str
    slots: int
    sandbox: Profile
    platform: str
    versions: Versions
    room: Room = field(default_factory=memory_room)

    def share(self, bots: int) -> Share:
        """What each bot may have there in a match of so many, if all slots play such matches."""
        return Share(self.room, self.slots, self.slots * bots)

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> "Facts":
        """Inverse of `to_values`. KeyError or TypeError for anything else."""
        facts = cls(**{**values, "versions": Versions(**values["versions"]), "room": Room(**values["room"])})
        texts = (facts.name, facts.kind, facts.platform, *asdict(facts.versions).values())
        if not all(isinstance(text, str) and text.isprintable() for text in texts):
            raise TypeError("a name is one line of text")
        if type(facts.room.mib) is not int or not isinstance(facts.room.source, str):
            raise TypeError("not the memory of a machine")
        if facts.sandbox not in PROFILES or type(facts.slots) is not int or not 1 <= facts.slots <= MOST_SLOTS:
            raise TypeError("not the sandbox or the slots of a machine")
        return facts


@cache
def own_versions() -> Versions:
    """Those of this process."""
    code = blake2b(digest_size=4, person=b"crosstown-code")
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        code.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    ours = f"{version('crosstown-arena')}+{code.hexdigest()}"
    return Versions(ours, ".".join(map(str, sys.version_info[:3])), version("distributed"))


def own_name() -> str:
    """The default name of this machine."""
    return socket.gethostname()


def own_platform() -> str:
    """System, processor architecture and C library, such as Linux-x86_64-glibc2.36: what an artefact built here runs
    on."""
    return "-".join(filter(None, (platform.system(), platform.machine(), "".join(platform.libc_ver()))))


def own_kind() -> str:
    """The model of the processor and its architecture: machines with the same play equally fast."""
    model = ""
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "Hardware"):
                model = " ".join(value.split())
                break
    except OSError:
        model = platform.processor()
    return ", ".join(filter(None, (model, platform.machine())))
