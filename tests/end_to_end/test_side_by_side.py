"""Two tournaments on one machine at a time: what happens to one is nothing to the other."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

MATCHES = 10


def below(root: int) -> dict[int, str]:
    """The processes below one, with their command lines."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found: dict[int, str] = {}
    for pid in sorted(parents):
        parent = pid
        while parent in parents and parent != root:
            parent = parents[parent]
        if parent == root and pid != root:
            try:
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found


def faults(records: list[Path]) -> list[str]:
    from referee.record import read_record

    footers = [read_record(path).footer for path in records]
    return sorted({footer.reason for footer in footers if footer is not None})


@pytest.mark.usefixtures("same_luck")
def test_a_run_whose_guardians_and_workers_are_killed_costs_the_one_beside_it_nothing(
    workplace: Any, write_cup: Any
) -> None:
    write_cup(bots=2, blocks=5)
    assert workplace.run("run", "cup.toml", "--out", "alone").code == 0
    troubled = workplace.start("run", "cup.toml", "--workers", "2", "--out", "troubled")
    spared = workplace.start("run", "cup.toml", "--workers", "2", "--out", "spared")
    killed = 0
    while spared.poll() is None:
        for pid, command in below(troubled.pid).items():
            if "start_guardian" in command or "worker" in command:
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    continue
                break  # one at a time
        time.sleep(0.5)
    assert spared.wait() == 0, spared.communicate()[1]
    troubled.send_signal(signal.SIGINT)
    troubled.communicate(timeout=60)
    assert killed > 0
    spared_records = sorted((workplace.folder / "spared" / "cup" / "matches").glob("*.jsonl*"))
    assert len(spared_records) == MATCHES
    assert faults(spared_records) == ["normal"]
    assert workplace.standings("--out", "spared") == workplace.standings("--out", "alone")
    journal = (workplace.folder / "spared" / "cup" / "tournament.jsonl").read_text()
    assert "void" not in journal
    workplace.assert_nobody_left()
