"""The file with the machines of a cluster that plays a run."""

import os
import time

from referee.run.machines import ClusterState, MachineState, read_state, write_state
from referee.run.status import FRESH_S

STATE = ClusterState((MachineState("east", "fast", 4, 3, "no space left"),), 2)


def test_the_state_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "machines.json"
    write_state(path, STATE)
    assert read_state(path) == STATE
    assert str(STATE) == "1 machine, 3 of 4 slots in use, 2 matches wait"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_command_left_and_what_is_no_state_is_not_shown(tmp_path):
    path = tmp_path / "machines.json"
    assert read_state(path) is None
    for text in ("", "[]", "{}", '{"machines": [1], "waiting": 0, "dashboard": ""}'):
        path.write_text(text)
        assert read_state(path) is None
    write_state(path, STATE)
    old_s = time.time() - FRESH_S - 1
    os.utime(path, (old_s, old_s))
    assert read_state(path) is None


def test_a_folder_that_is_gone_does_not_stop_the_run(tmp_path):
    write_state(tmp_path / "gone" / "machines.json", STATE)
