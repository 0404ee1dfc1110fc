"""The launcher says in one sentence what the machine lacks."""

import builtins
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LAUNCH = Path(__file__).resolve().parents[2] / "launch.py"


@pytest.fixture
def launch() -> ModuleType:
    spec = importlib.util.spec_from_file_location("launch", LAUNCH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sentence(call: Callable[[], Any]) -> str:
    with pytest.raises(SystemExit) as stop:
        call()
    return str(stop.value)


def test_an_old_python_is_named(launch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch.sys, "version_info", (3, 10, 9, "final", 0))
    assert "Python 3.10 is too old; run it with Python 3.11 or newer" in sentence(launch.check_python)


@pytest.mark.parametrize("missing", ["ensurepip", "venv"])
def test_a_missing_venv_names_the_package_to_install(
    launch: ModuleType, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ImportError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    version = "{}.{}".format(*sys.version_info[:2])
    assert f"no {missing}; on Debian or Ubuntu: apt install python{version}-venv" in sentence(launch.check_python)


def test_unknown_words_are_answered_with_what_there_is(launch: ModuleType) -> None:
    assert "say: first, test [pytest options], setup or compile" in sentence(lambda: launch.main(["frist"]))


@pytest.fixture
def installs(launch: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What is installed, with a launcher in a folder of its own that installs nothing in truth."""
    for name in ("pyproject.toml", "bots/python/pyproject.toml", "constraints.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    done: list[str] = []

    def run(command: list[str]) -> None:
        (tmp_path / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
        (tmp_path / ".venv" / "bin" / "python").touch()
        if "install" in command:
            assert str(tmp_path / "bots" / "python") in command  # no index is asked for a distribution of ours
            done.append(command[-1].removeprefix(str(tmp_path)))

    monkeypatch.setattr(launch, "ROOT", str(tmp_path))
    monkeypatch.setattr(launch, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(launch, "PYTHON", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.setattr(launch, "moved", lambda: False)
    monkeypatch.setattr(launch, "run", run)
    return done


def test_everything_is_installed_once_until_something_changes(
    launch: ModuleType, installs: list[str], tmp_path: Path
) -> None:
    for extra in ("", "", "dev", "dev", ""):
        launch.set_up(extra)
    assert installs == ["", "[dev]"]
    for name in ("constraints.txt", "bots/python/pyproject.toml"):
        (tmp_path / name).write_text("newer")
        launch.set_up("dev")
        launch.set_up("")  # what is needed for a tournament came with it
    assert installs == ["", "[dev]", "[dev]", "[dev]"]


def test_ctrl_c_is_a_sentence(launch: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(extra: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(launch, "set_up", interrupted)
    assert "interrupted; run it again to continue" in sentence(lambda: launch.main(["setup"]))
