"""A bot that takes memory without end: ended at its limit, by whatever holds the limit on this host."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from arena import BOTH, Arena
from deeds import NORMAL, Case

from referee.match import EndReason, Table
from referee.process.cgroup import Cgroups, Group, GroupLimits, find
from referee.process.sandbox import Profile
from referee.record import read_record
from referee.run.journal import read_journal
from tests.control_groups import needs_group

R = EndReason
MEMORY_MIB = 192
CHAOS = Path(__file__).parents[1] / "mock_bots" / "chaos"
RANDOM = Path(__file__).parents[2] / "bots" / "python" / "random"
GLUTTON = Case("allocates", "later", NORMAL)


def holds_memory() -> bool:
    return "memory" in find().controllers


def machine_with(mib: int) -> tuple[Group, Cgroups]:
    """A group that stands for a machine with so much memory, and the groups that can be made in it."""
    memory = find().hierarchies["memory"]
    around = Cgroups({"memory": memory}).make(GroupLimits(memory_bytes=mib << 20))
    if memory.version == 2:
        (around.folders[0] / "cgroup.subtree_control").write_text("+memory")
    return around, Cgroups({"memory": replace(memory, folder=around.folders[0])})


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
    """A group around the bots stands for the machine. How it is told without control groups:
    `tests/referee/process/test_out_of_memory.py`."""
    needs_group("memory")
    around, below = machine_with(MEMORY_MIB)
    arena = Arena(place, tmp_path / "records", profile)
    async with Table(arena.entries, cgroups=below, sandboxes=arena.sandboxes) as arena.table:
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


@pytest.mark.parametrize("phase", ["later", "start"])
async def test_a_bot_that_was_taken_so_twice_before_loses_the_third_match(
    place: Path, tmp_path: Path, phase: str
) -> None:
    """It could fill the machine's memory whenever it is about to lose. Before Hello it did not start, which counts for
    the breaker."""
    needs_group("memory")
    around, below = machine_with(MEMORY_MIB)
    arena = Arena(place, tmp_path / "records", "strict")
    case = replace(GLUTTON, phase=phase)
    limits = {"memory_mib": 2 * MEMORY_MIB}
    async with Table(arena.entries, cgroups=below, sandboxes=arena.sandboxes) as arena.table:
        result, _ = await arena.play(arena.chaos(case), arena.good(0), **limits)
        assert (result.status, result.reason, result.memory_of) == ("void", R.PLATFORM_FAULT, 0), result.detail
        spec = replace(arena.spec(arena.chaos(case), arena.good(0), **limits), charged_for_memory=(0,))
        result = await arena.table.play(spec, arena.records)
    around.remove()
    if phase == "later":
        assert (result.status, result.reason, result.ranking) == ("rated", R.OUT_OF_MEMORY, (2, 1)), result.detail
    else:
        assert (result.status, result.reason) == ("void", R.START_FAILED)
        assert [fault and fault.seat for fault in result.faults] == [0, None]
    await arena.nothing_is_left()


async def test_in_a_container_a_bot_with_the_usual_limit_loses_and_makes_no_match_void(tmp_path: Path) -> None:
    """The bot's limit, 2,048 MiB, is above all that the container has."""
    needs_group("memory")
    around, _ = machine_with(1000)
    cup = tmp_path / "cup.toml"
    glutton = f'[[bots]]\npath = "{CHAOS}"\noptions = {{ deed = "allocates" }}\n'
    cup.write_text(f'game = "shibuya"\nseed = 1\nblocks = 2\n{glutton}[[bots]]\npath = "{RANDOM}"\n')
    join = f"echo $$ > '{around.folders[0]}/cgroup.procs' && exec \"$@\""
    command = [sys.executable, "-m", "referee.cli.main", "run", str(cup), "--workers", "2"]
    done = subprocess.run(  # noqa: ASYNC221 - nothing else happens here
        ["sh", "-c", join, "sh", *command, "--out", str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    around.remove()
    assert "disqualified for its faults" in done.stderr
    assert "memory_mib is lowered to 154" in done.stderr
    records = [read_record(path) for path in sorted((tmp_path / "runs").glob("*/matches/*.gz"))]
    reasons = [record.footer.reason for record in records if record.footer]
    assert reasons
    assert set(reasons) == {R.OUT_OF_MEMORY}
    (journal,) = (tmp_path / "runs").glob("*/tournament.jsonl")
    assert [line for line in read_journal(journal).events if line.kind == "void"] == []
