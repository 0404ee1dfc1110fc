"""Texts with which other systems start the machines of a cluster: a script for SLURM, manifests for Kubernetes."""

import re
import shlex
from pathlib import Path

from referee.errors import UsageError

_DATA = Path(__file__).parent / "data"
_GIB_PER_SLOT = 4
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]{0,254}")


def check_image(image: str) -> None:
    """UsageError if this cannot be the name of a container image."""
    if _IMAGE.fullmatch(image) is None:
        what = f"{image!r} is not the name of a container image"
        raise UsageError(what, "write, for instance, registry.example/arena:1")


def slurm_script(scheduler: str, pki: Path, name: str, *, nodes: int, cpus: int, hours: int) -> str:
    """A script for `sbatch`: a worker on each of `nodes` nodes. `pki` is a folder that all nodes can read."""
    values = {
        "scheduler": shlex.quote(scheduler),
        "pki": shlex.quote(str(pki.absolute())),
        "name": shlex.quote(name),
        "nodes": nodes,
        "cpus": cpus,
        "hours": f"{hours:02}",
    }
    return (_DATA / "slurm.sh").read_text("utf-8").format(**values)


def kubernetes_manifests(image: str, pki: Path, name: str, *, nodes: int, cpus: int) -> str:
    """Manifests for `kubectl apply`: a scheduler and `nodes` workers from an image. `pki` has the certificates now."""
    values = {"image": image, "nodes": nodes, "cpus": cpus, "memory": cpus * _GIB_PER_SLOT}
    files = {"ca": "ca.pem", "cert": f"{name}.pem", "key": f"{name}-key.pem"}
    values |= {what: shlex.quote(f"--from-file={what}.pem={pki / file}") for what, file in files.items()}
    return (_DATA / "kubernetes.yaml").read_text("utf-8").format(**values)
