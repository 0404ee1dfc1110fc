"""A bot of a referee that is not root is the same user, and may use up what the kernel lets one user watch by epoll."""

import asyncio
import errno
import os
import selectors
import subprocess
import sys
from typing import Any

import pytest

from referee.event_loop import run_loop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="epoll is Linux's")


def used_up(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


async def hear_a_child() -> bytes:
    process = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0]


@pytest.fixture
def epoll_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors.EpollSelector, "register", used_up)


@pytest.mark.usefixtures("epoll_used_up")
def test_a_referee_that_is_not_root_still_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert run_loop(hear_a_child()) == b"hello\n"


def test_a_loop_with_epoll_would_fail() -> None:
    code = (
        "import asyncio, selectors\n"
        "def used_up(*_): raise OSError(28, 'No space left on device')\n"
        "selectors.EpollSelector.register = used_up\n"
        "asyncio.new_event_loop()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "No space left on device" in done.stderr


def test_bots_of_root_are_other_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert run_loop(hear_a_child()) == b"hello\n"
