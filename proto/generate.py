"""Generate the Python messages and stubs from `proto/crosstown/v1/*.proto`.

`python proto/generate.py` writes them into the package; `--check` writes nothing and exits with 1 if the committed
files differ from what would be generated.

The SDK runs where a bot's other packages have chosen protobuf 5, 6 or 7 and gRPC 1.60 or newer. Generated code refuses
every runtime that is older than its compiler. So the compiler is the one of gRPC 1.60, whose code no runtime refuses;
it is installed once, into the environment of the Python that runs this, beside the packages and not among them: its
own requirements are not those of the project.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

COMPILER = "grpcio-tools==1.60.2"
NEWEST_PYTHON = (3, 12)
"""For which there is a wheel of that compiler."""

_VERSION = "import sysconfig; print(sysconfig.get_config_var('SOABI'))"
_RUN = "import sys; from grpc_tools import _protoc_compiler as c; sys.exit(c.run_main([w.encode() for w in sys.argv]))"

PROTO = Path(__file__).resolve().parent
PACKAGE = PROTO.parent / "bots" / "python" / "crosstown_proto" / "v1"
INIT = '"""Generated from proto/crosstown/v1 by proto/generate.py: do not edit."""\n'


def run_compiler(words: list[str]) -> None:
    """Run protoc with these words. SystemExit if it fails."""
    python, folder = _find_compiler()
    env = {**os.environ, "PYTHONPATH": str(folder)}
    words = [python, "-c", _RUN, f"-I{folder / 'grpc_tools' / '_proto'}", *words]
    if status := subprocess.run(words, env=env, check=False).returncode:
        raise SystemExit(f"protoc failed with {status}")


def generate(out: Path) -> None:
    """Write the generated files below `out`."""
    sources = sorted((PROTO / "crosstown" / "v1").glob("*.proto"))
    scripts = Path(sys.executable).parent
    run_compiler(
        [
            # The virtual path puts the modules into crosstown_proto.v1, whatever the folder is called.
            f"-Icrosstown_proto/v1={PROTO / 'crosstown' / 'v1'}",
            f"--python_out={out}",
            f"--grpc_python_out={out}",
            # The plug-ins of this environment, whether or not it is activated.
            *(f"--plugin=protoc-gen-{name}={scripts / f'protoc-gen-{name}'}" for name in ("mypy", "mypy_grpc")),
            f"--mypy_out=quiet:{out}",
            f"--mypy_grpc_out=quiet:{out}",
            *(f"crosstown_proto/v1/{source.name}" for source in sources),
        ]
    )
    package = out / "crosstown_proto" / "v1"
    (package / "__init__.py").write_text(INIT)
    for path in package.glob("*_pb2_grpc.py*"):
        if path.name.removesuffix("i") != "referee_pb2_grpc.py":
            path.unlink()  # a game has messages, no service


def _find_compiler() -> tuple[str, Path]:
    """A Python that can run the compiler, and the folder of the compiler, which is installed if it is not there."""
    python = _python()
    version = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=True).stdout.strip()
    folder = Path(sysconfig.get_path("data")) / "compilers" / f"{COMPILER.replace('==', '-')}-{version}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as half:
            pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
            done = subprocess.run(
                [*pip, "--no-deps", "--only-binary=:all:", f"--target={half}/packages", COMPILER], check=False
            )
            if done.returncode != 0:
                raise SystemExit(f"pip could not install {COMPILER}, with which the messages are generated; see above")
            if not folder.is_dir():  # another process may have been quicker
                Path(half, "packages").rename(folder)
    return python, folder


def _python() -> str:
    if sys.version_info[:2] <= NEWEST_PYTHON:
        return sys.executable
    for minor in range(NEWEST_PYTHON[1], 10, -1):
        if found := shutil.which(f"python3.{minor}"):
            return found
    raise SystemExit(f"{COMPILER} needs Python 3.11 or 3.12, and neither is on PATH; install one of them")


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
