"""Good and bad bots in one run: what happens among the good ones is what happens without the bad."""

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from arena import BOTH, LONG, Arena, memory_kb, open_files
from deeds import DEEDS, OTHER_TERMS, PHASES, Case, cases
from verdicts import judge

from referee.process.sandbox import Profile
from referee.record import Answer, Chance, Dropped, Record

Work = Callable[[], Awaitable[object]]
AT_ONCE = 2
GROWTH_KB = 40_000
"""What the allocator may keep after messages of 100 MB; a leak over a long run is more."""


def account(record: Record) -> tuple[object, ...]:
    """All of a match but its times, and but what was dropped as an answer in an earlier match.

    A good bot may be asked when its bad opponent's fault ends the match; the answer comes when it plays another.
    """
    footer = record.footer
    assert footer is not None
    told = [line for line in record.lines if not (isinstance(line, Dropped) and line.what == "other_match")]
    lines = [line.outcome if isinstance(line, Chance) else line for line in told]
    moves = [(line.seat, line.action) if isinstance(line, Answer) else line for line in lines]
    return footer.status, footer.reason, footer.ranking, footer.returns, footer.state_hash, tuple(moves)


async def play_good(arena: Arena, number: int) -> tuple[object, ...]:
    seats = (arena.good(0), arena.good(1)) if number % 2 else (arena.good(1), arena.good(0))
    _, record = await arena.play(*seats, seed=1000 + number)
    return account(record)


async def play_bad(arena: Arena, number: int, case: Case) -> None:
    await judge(arena, case, seat=number % case.terms.players, salt=number)


async def side_by_side(works: list[Work]) -> list[object]:
    """So many at once; an error ends it all."""
    waiting = list(enumerate(works))[::-1]
    results: list[object] = [None] * len(works)

    async def work() -> None:
        while waiting:
            number, item = waiting.pop()
            results[number] = await item()

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    return results


async def run_mixed(place: Path, folder: Path, profile: Profile, good: int, chosen: list[Case]) -> None:
    """Without a sandbox thieves come last and one by one: the token of a bot that is just starting can be stolen."""
    thieves = [case for case in chosen if case.deed == "steals" and profile == "plain"]
    others = [case for case in chosen if case not in thieves]
    alone = Arena(place, folder / "alone", profile)
    async with alone.new_table() as alone.table:
        expected = await side_by_side([partial(play_good, alone, number) for number in range(good)])
    await alone.nothing_is_left()
    mixed = Arena(place, folder / "mixed", profile)
    async with mixed.new_table(max_idle=2) as mixed.table:
        works: list[Work] = []
        for number in range(max(good, len(others))):
            works += [partial(play_good, mixed, number)] if number < good else []
            works += [partial(play_bad, mixed, number, others[number])] if number < len(others) else []
        warm = len(works) // 3
        await side_by_side(works[:warm])
        gc.collect()
        files, memory = open_files(), memory_kb()
        await side_by_side(works[warm:])
        for number, case in enumerate(thieves):
            await play_bad(mixed, len(others) + number, case)
        await play_good(mixed, good)
        for _ in range(100):  # bots that are ending hold pipes until they have
            if open_files() <= files:
                break
            await asyncio.sleep(0.1)
        gc.collect()
        assert open_files() <= files + 12  # an idle bot more or less
        assert memory_kb() <= memory + GROWTH_KB
    await mixed.nothing_is_left()
    again = Arena(place, folder / "again", profile)
    async with again.new_table() as again.table:
        assert await play_good(again, 0) == expected[0]
    await again.nothing_is_left()
    results = read_good(mixed, folder / "mixed", good)
    assert results == expected


def read_good(arena: Arena, folder: Path, good: int) -> list[object]:
    """The matches among good bots of a mixed run, in their order."""
    from referee.record import read_record

    found: dict[int, object] = {}
    for path in sorted(folder.iterdir()):
        record = read_record(path)
        assert record.footer is not None
        names = {seat.name for seat in record.header.seats}
        if names == {"good 0", "good 1"}:
            found[int(record.footer.seed, 16) - 1000] = account(record)
    return [found[number] for number in range(good)]


@pytest.mark.parametrize("profile", BOTH)
async def test_good_bots_play_the_same_beside_bad_ones_of_every_kind(
    place: Path, tmp_path: Path, profile: Profile
) -> None:
    """CRA-1, PRC-7, PRC-9."""
    await run_mixed(place, tmp_path, profile, 20, one_of_each(profile))


def one_of_each(profile: Profile) -> list[Case]:
    """A case of each deed; phases and terms go round, and are not those of the other profile."""
    shift = 0 if profile == "strict" else 5
    chosen = []
    for number, deed in enumerate(DEEDS):
        found = [case for case in cases(profile) if case.deed == deed]
        chosen.append(found[(number * 7 + shift) % len(found)])
    return chosen


def test_the_short_runs_have_every_deed_phase_and_kind_of_terms() -> None:
    chosen = [*one_of_each("strict"), *one_of_each("plain")]
    assert [case.deed for case in chosen] == [*DEEDS, *DEEDS]
    assert {case.phase for case in chosen} == set(PHASES)
    terms = {case.terms for case in chosen}
    for name in ("players", "policy", "strikes", "ponder"):
        assert {getattr(each, name) for each in terms} == {getattr(each, name) for each in OTHER_TERMS}


@pytest.mark.long
@pytest.mark.parametrize("profile", LONG)
async def test_good_bots_play_the_same_beside_a_thousand_bad_ones(
    place: Path, tmp_path: Path, profile: Profile
) -> None:
    """2,000 matches, all cases in turn; CROSSTOWN_CHAOS_MATCHES sets another number."""
    half, all_cases = int(os.environ.get("CROSSTOWN_CHAOS_MATCHES", "2000")) // 2, cases(profile)
    few = half < len(all_cases)  # then from all over the list
    chosen = [all_cases[n * len(all_cases) // half if few else n % len(all_cases)] for n in range(half)]
    await run_mixed(place, tmp_path, profile, half, chosen)
