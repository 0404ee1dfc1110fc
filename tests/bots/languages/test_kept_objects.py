"""What the C++ starter compiled is taken again by its next build, which lies elsewhere, and only if it is the same."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

KEEP = Path(__file__).resolve().parents[3] / "bots" / "cpp" / "keep.sh"
COMPILER = """#!/bin/sh
case "$*" in *--version*|*" -E "*) ;; *) echo x >> "{log}" ;; esac
exec g++ "$@"
"""
SOURCE = '#include "own.h"\n#include <string>\nstd::string said() { return std::to_string(own()); }\n'

Build = Callable[..., bytes]


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[], int]:
    """How often something was compiled."""
    return lambda: len((tmp_path / "log").read_text().split()) if (tmp_path / "log").exists() else 0


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """build(own="int own();") compiles a file and its header in a new folder, HERE in the flags; the object."""
    if shutil.which("g++") is None:
        if os.environ.get("CROSSTOWN_REQUIRE_LANGUAGES"):
            pytest.fail("g++ is not installed, but CROSSTOWN_REQUIRE_LANGUAGES is set", pytrace=False)
        pytest.skip("g++ is not installed")
    compiler = tmp_path / "compiler"
    compiler.write_text(COMPILER.format(log=tmp_path / "log"))
    compiler.chmod(0o755)
    numbers = iter(range(100))

    def made(own: str = "int own();", source: str = SOURCE, flags: tuple[str, ...] = ("-O1",)) -> bytes:
        folder = tmp_path / f"copy {next(numbers)}" / "bot"
        (folder / "include").mkdir(parents=True)
        (folder / "include" / "own.h").write_text(own + "\n")
        (folder / "a.cc").write_text(source)
        given = [flag.replace("HERE", str(folder)) for flag in flags]
        words = [f"-I{folder}/include", *given, "-MD", "-MT", "a.o", "-MF", "a.d", "-o", "a.o", "-c", f"{folder}/a.cc"]
        subprocess.run(
            ["sh", KEEP, compiler, *words],
            cwd=folder,
            env={**os.environ, "CROSSTOWN_KEPT": str(tmp_path / "home" / "kept")},
            check=True,
            capture_output=True,
        )
        assert f"{folder}/include/own.h".replace(" ", "\\ ") in (folder / "a.d").read_text()
        return (folder / "a.o").read_bytes()

    return made


def test_the_same_text_is_compiled_once(build: Build, compiled: Callable[[], int]) -> None:
    first = build()
    assert [build() == first, build() == first, compiled()] == [True, True, 1]


@pytest.mark.parametrize(("flags", "times"), [((), 2), (("-fmacro-prefix-map=HERE/=",), 1)], ids=["told", "mapped"])
def test_a_file_that_tells_its_own_path_is_kept_only_without_the_folder(
    build: Build, compiled: Callable[[], int], flags: tuple[str, ...], times: int
) -> None:
    objects = [build(source='const char* where() { return __FILE__; }\n#include "own.h"\n', flags=flags) for _ in "ab"]
    assert (compiled(), len(set(objects))) == (times, times)


@pytest.mark.parametrize(
    "change",
    [
        {"own": "long own();"},
        {"source": SOURCE.replace("own()", "own() + 1")},
        {"flags": ("-O2",)},
        {"flags": ("-O1", "-DX=1")},
    ],
    ids=["header", "source", "level", "definition"],
)
def test_another_text_or_other_flags_are_compiled(build: Build, compiled: Callable[[], int], change: object) -> None:
    assert isinstance(change, dict)
    build()
    changed = build(**change)
    assert compiled() == 2
    assert [build(**change) == changed, compiled()] == [True, 2]


def test_objects_for_a_debugger_are_not_kept(build: Build, compiled: Callable[[], int]) -> None:
    for _ in range(2):
        build(flags=("-g",))
    assert compiled() == 2


@pytest.mark.parametrize("source", ["int broken(;\n", '#include "nothing.h"\n'])
def test_what_does_not_compile_fails_each_time(build: Build, tmp_path: Path, source: str) -> None:
    for _ in range(2):
        with pytest.raises(subprocess.CalledProcessError) as failed:
            build(source=source)
        assert b"error" in failed.value.stderr
    assert not list(tmp_path.glob("home/kept/objects/*"))


def test_an_object_that_nobody_took_for_two_weeks_goes(build: Build, tmp_path: Path) -> None:
    build()
    (old,) = tmp_path.glob("home/kept/objects/*.o")
    os.utime(old, (1e9, 1e9))
    build(own="long own();")
    assert not old.exists()
