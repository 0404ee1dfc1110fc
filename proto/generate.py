"""Generate the Python messages and stubs from `proto/crosstown/v1/*.proto`.

`python proto/generate.py` writes them into the package; `--check` writes nothing and exits with 1 if the committed
files differ from what would be generated.
"""

import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).resolve().parent
PACKAGE = PROTO / "python" / "crosstown_proto" / "v1"
INIT = '"""Generated from proto/crosstown/v1 by proto/generate.py: do not edit."""\n'


def generate(out: Path) -> None:
    """Write the generated files below `out`."""
    sources = sorted((PROTO / "crosstown" / "v1").glob("*.proto"))
    well_known = files("grpc_tools") / "_proto"
    scripts = Path(sys.executable).parent
    status = protoc.main(
        [
            "protoc",
            # The virtual path puts the modules into crosstown_proto.v1, whatever the folder is called.
            f"-Icrosstown_proto/v1={PROTO / 'crosstown' / 'v1'}",
            f"-I{well_known}",
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            # The plug-ins of this environment, whether or not it is activated.
            *(f"--plugin=protoc-gen-{name}={scripts / f'protoc-gen-{name}'}" for name in ("mypy", "mypy_grpc")),
            f"--mypy_out=quiet:{out}",
            f"--mypy_grpc_out=quiet:{out}",
            *(f"crosstown_proto/v1/{source.name}" for source in sources),
        ]
    )
    if status != 0:
        raise SystemExit(f"protoc failed with {status}")
    package = out / "crosstown_proto" / "v1"
    (package / "__init__.py").write_text(INIT)
    for path in package.glob("*_pb2_grpc.py*"):
        if path.name.removesuffix("i") != "referee_pb2_grpc.py":
            path.unlink()  # a game has messages, no service


def stale(generated: Path, committed: Path) -> list[str]:
    """Names of files that differ between the two folders."""
    names = {path.name for folder in (generated, committed) for path in folder.glob("*.py*") if path.is_file()}
    return sorted(name for name in names if _text(generated / name) != _text(committed / name))


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = Path(folder) / "crosstown_proto" / "v1"
        if "--check" in sys.argv[1:]:
            if names := stale(fresh, PACKAGE):
                raise SystemExit(f"stale: {', '.join(names)}; run: python proto/generate.py")
            return
        PACKAGE.mkdir(parents=True, exist_ok=True)
        for old in PACKAGE.glob("*.py*"):
            old.unlink()
        for path in sorted(fresh.iterdir()):
            (PACKAGE / path.name).write_text(path.read_text())


if __name__ == "__main__":
    main()
