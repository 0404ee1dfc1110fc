"""A bot that takes memory without end: ended at its limit, by whatever holds the limit on this host."""

from pathlib import Path

from arena import Arena
from deeds import NORMAL, Case

from referee.match import EndReason, Table
from referee.process.cgroup import Cgroups, find

R = EndReason
MEMORY_MIB = 192
GLUTTON = Case("allocates", "later", NORMAL)


def holds_memory() -> bool:
    return "memory" in find().controllers


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
