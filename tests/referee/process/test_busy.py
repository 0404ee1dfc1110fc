"""What the machine is busy with, from what the kernel counts."""

import os
from pathlib import Path

import pytest

from referee.process.busy import Busy, BusyMeter

TICKS = os.sysconf("SC_CLK_TCK")


class Kernel:
    """A /proc in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / str(os.getpid())).mkdir()
        (folder / "meminfo").write_text("MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 6291456 kB\n")
        self.tell(0, 0, 0)

    def tell(self, busy_s: float, own_s: float, idle_s: float) -> None:
        total = f"cpu {int(busy_s * TICKS)} 0 0 {int(idle_s * TICKS)} 0 0 0 0 0 0"
        (self.folder / "stat").write_text(f"{total}\ncpu0 1 1\ncpu1 1 1\nintr 5\n")
        fields = ["S", *["1", "1", "1", "0", "0", "0", "0", "0", "0", "0"], str(int(own_s * TICKS)), "0"]
        (self.folder / str(os.getpid()) / "stat").write_text(f"1 (a ) b) {' '.join(fields)} 0 0")


def test_the_time_of_this_process_and_of_others(tmp_path: Path) -> None:
    kernel, now = Kernel(tmp_path), [10.0]
    meter = BusyMeter(tmp_path, lambda: now[0])
    assert meter.look() is None, "there is nothing to compare with yet"
    kernel.tell(busy_s=15, own_s=10, idle_s=5)
    now[0] = 20.0
    found = meter.look()
    assert found == Busy(2, 0.5, 0.25, 2048, 8192)
    assert found.words == "2 cores: 50% this run, 25% other programs; memory: 2.0 of 8.0 GiB"


@pytest.mark.parametrize("text", ["", "cpu\n", "cpu x y\n"])
def test_a_kernel_that_does_not_say_it(tmp_path: Path, text: str) -> None:
    Kernel(tmp_path)
    (tmp_path / "stat").write_text(text)
    meter = BusyMeter(tmp_path)
    assert meter.look() is None
    assert meter.look() is None


def test_the_real_one_says_something() -> None:
    times = iter((0.0, 1.0))
    meter = BusyMeter(time_s=lambda: next(times))
    meter.look()
    assert meter.look() is not None
