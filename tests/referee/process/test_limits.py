"""What holds a limit where."""

import pytest

from referee.process.limits import holders
from referee.schedule.spec import RESOURCE_KEYS


@pytest.mark.parametrize(
    ("strict", "controllers", "memory", "processes", "cores", "disk"),
    [
        (True, ["memory", "pids", "cpu"], "group", "group", "group", "sandbox"),
        (False, ["memory", "pids", "cpu"], "group", "group", "group", "none"),
        (True, [], "process", "sandbox", "none", "sandbox"),
        (False, [], "process", "none", "none", "none"),
        (False, ["freezer", "cpuacct", "memory"], "group", "none", "none", "none"),
    ],
)
def test_what_holds_a_limit(
    strict: bool, controllers: list[str], memory: str, processes: str, cores: str, disk: str
) -> None:
    assert holders(strict=strict, controllers=controllers) == {
        "memory_mib": memory,
        "processes": processes,
        "open_files": "process",
        "disk_mib": disk,
        "file_size_mib": "process",
        "cores": cores,
    }


def test_of_every_limit_on_what_a_bot_uses_it_is_known_what_holds_it() -> None:
    assert set(holders(strict=True, controllers=[])) == set(RESOURCE_KEYS)
