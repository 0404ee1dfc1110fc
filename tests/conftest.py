"""Options every test folder shares, and the toy game as an installed plug-in."""

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is, not whether the code is right. --long tries four times as many
# examples; a test with a number of its own takes its part of it.
settings.register_profile("crosstown", deadline=None, max_examples=25)
settings.register_profile("crosstown-long", deadline=None, max_examples=100)
settings.load_profile("crosstown")

# The tests start more than a thousand Python processes from the same sources, so each source is compiled only once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Ctrl-C is tested. A shell that runs the tests in the background has it ignored, and so would all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# In front, so that importlib.metadata finds the entry point of `toy` as it would one in site-packages.
sys.path.insert(0, str(Path(__file__).parent / "toy_game"))


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Bots are built in, and play from, a cache of this run of the tests. The user's cache may be in use by another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CROSSTOWN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


# Here every test starts whole programs, builds bots in other languages, or attacks.
SLOW_PLACES = ("end_to_end", "chaos", "bots/languages", "referee/games/test_compiled.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")
    parser.addoption("--long", action="store_true", help="also run the tests marked slow and long (minutes each)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        settings.load_profile("crosstown-long")


def _runs_slow(config: pytest.Config) -> bool:
    """Only a run of all tests leaves slow ones out: not one whose command line names files, a mark or words."""
    if hasattr(config, "workerinput"):  # a process of pytest-xdist, whose own command line names every file
        return bool(config.workerinput["slow"])
    named = config.args_source is pytest.Config.ArgsSource.ARGS or config.option.markexpr or config.option.keyword
    return bool(
        named or config.getoption("--slow") or config.getoption("--long") or config.getoption("--last-failed", False)
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["slow"] = _runs_slow(node.config)


def pytest_report_header(config: pytest.Config) -> str | None:
    return None if _runs_slow(config) else "slow tests are left out; --slow runs them, too"


@cache
def _in_slow_place(path: Path) -> bool:
    return path.relative_to(Path(__file__).parent).as_posix().startswith(SLOW_PLACES)


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _in_slow_place(item.path) or "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    marks = [
        *([] if config.getoption("--long") else ["long"]),
        *([] if _runs_slow(config) else ["slow"]),
    ]
    left_out = [item for item in items if any(item.get_closest_marker(mark) for mark in marks)]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]
    # Files with the longest tests first, and then those with most tests: at the end all processes have work to do.
    count = Counter(item.path for item in items)
    items.sort(key=lambda item: (not _in_slow_place(item.path), -count[item.path]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """What is collected stays to the end: to look for garbage in it again and again took a fifth of this time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays to the end. To go through it took half a second, in which event loops stood still."""
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests of the strict sandbox are left out by name where it cannot work; CI forbids that."""
    if "strict_sandbox" not in item.keywords:
        return
    from referee.process.checkup import probe

    found = probe()
    if found.works:
        return
    if os.environ.get("CROSSTOWN_REQUIRE_SANDBOX"):
        pytest.fail(f"CROSSTOWN_REQUIRE_SANDBOX is set, but {found.why}; {found.fix}", pytrace=False)
    pytest.skip(f"the strict sandbox does not work here: {found.why}; {found.fix}")
