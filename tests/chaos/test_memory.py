"""A bot that takes memory without end: ended at its limit, by whatever holds the limit on this host."""

from dataclasses import replace
from pathlib import Path

import pytest
from arena import BOTH, Arena
from deeds import NORMAL, Case

from referee.match import EndReason, Table
from referee.process.cgroup import Cgroups, GroupLimits, find
from referee.process.sandbox import Profile

R = EndReason
MEMORY_MIB = 192
GLUTTON = Case("allocates", "later", NORMAL)


def holds_memory() -> bool:
    return "memory" in find().controllers


@pytest.mark.parametrize("profile", BOTH)
async def test_a_control_group_ends_a_bot_at_its_limit_and_says_that_it_was_memory(arena: Arena) -> None:
    """Where the host lets us have one; elsewhere the limit of each process ends it in the bot's own way."""
    result, record = await arena.play(arena.chaos(GLUTTON), arena.good(0), memory_mib=MEMORY_MIB)
    held = holds_memory()
    assert result.reason is (R.OUT_OF_MEMORY if held else R.CRASHED), result.detail
    assert result.ranking == (2, 1)
    assert result.faults[0] is not None
    evidence = result.faults[0].evidence
    assert evidence["exit_signal"] == 9 if held else evidence["exit_code"] == 1
    assert record.header.limits["memory_mib"] == MEMORY_MIB
    if held:
        assert MEMORY_MIB / 2 < evidence["peak_memory_bytes"] / (1 << 20) < MEMORY_MIB * 1.1
    after, _ = await arena.play(arena.good(0), arena.good(1))
    assert (after.reason, after.faults) == (R.NORMAL, (None, None))


@pytest.mark.parametrize("profile", BOTH)
async def test_a_bot_taken_because_the_machine_had_no_memory_left_makes_the_match_void(
    place: Path, tmp_path: Path, profile: Profile
) -> None:
    """A group around the bots stands for the machine. Without control groups there is none: see
    `tests/referee/process/test_out_of_memory.py`."""
    if not holds_memory():
        return
    groups = find()
    memory = groups.hierarchies["memory"]
    around = Cgroups({"memory": memory}).make(GroupLimits(memory_bytes=MEMORY_MIB << 20))
    if memory.version == 2:
        (around.folders[0] / "cgroup.subtree_control").write_text("+memory")
    below = replace(memory, folder=around.folders[0])
    arena = Arena(place, tmp_path / "records", profile)
    async with Table(arena.entries, cgroups=Cgroups({"memory": below}), sandboxes=arena.sandboxes) as arena.table:
        result, _ = await arena.play(arena.chaos(GLUTTON), arena.good(0), memory_mib=2 * MEMORY_MIB)
    around.remove()
    assert (result.status, result.reason) == ("void", R.PLATFORM_FAULT), result.detail
    assert result.detail == "seat 0: a bot's process was killed by the kernel, because the machine had no memory left"
    assert result.faults == (None, None)
    await arena.nothing_is_left()


async def test_without_control_groups_each_process_is_held_to_it(place: Path, tmp_path: Path) -> None:
    arena = Arena(place, tmp_path / "records")
    async with Table(arena.entries, cgroups=Cgroups()) as arena.table:
        result, _ = await arena.play(arena.chaos(GLUTTON), arena.good(0), memory_mib=MEMORY_MIB)
        assert result.reason is R.CRASHED
        assert result.faults[0] is not None
        assert "MemoryError" in result.faults[0].evidence["stderr"]
    await arena.nothing_is_left()


async def test_every_bot_has_a_group_of_its_own_where_there_are_any(arena: Arena) -> None:
    """They are gone when the arena closes: its fixture looks."""
    await arena.play(arena.good(0), arena.good(1))
    folders = {hierarchy.folder for hierarchy in arena.groups.hierarchies.values()}
    assert len(arena.groups_left()) == 2 * len(folders)  # the bots wait for their next match
