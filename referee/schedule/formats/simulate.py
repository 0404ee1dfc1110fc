"""Plays a format out with made-up results, without bots: for studies of formats, and to test them."""

from collections.abc import Callable, Generator, Mapping, Sequence

from referee.schedule.formats.api import (
    Block,
    BlockResult,
    Byes,
    Field,
    Format,
    MatchScore,
    Need,
    Notice,
    Placing,
    RoundResults,
    seatings,
)

Outcome = Callable[[BlockResult, tuple[int, ...]], Sequence[int]]
"""(the block so far, bots by seat) -> ranking by seat."""


def simulate(
    style: Format,
    field: Field,
    outcome: Outcome,
    leaving: Mapping[int, int] | None = None,
    joining: Sequence[int] = (),
    on_notice: Callable[[str], None] | None = None,
) -> Generator[BlockResult, None, Sequence[Placing]]:
    """Settled blocks in schedule order; returns the format's own table.

    Each block is settled as soon as it is in the schedule. `leaving` has per bot the number of the block from which on
    it is out; its matches are then not played. `joining` has for each further bot the number of the block from which on
    it is in. `on_notice` is called with every notice of the format.
    """
    plan = style.plan(field)
    out = leaving or {}
    answer: RoundResults | None = None
    fresh: list[BlockResult] = []
    number = place = 0
    while True:
        try:
            step = plan.send(answer)
        except StopIteration as end:
            return end.value or ()
        answer = None
        if isinstance(step, Notice | Byes):
            if on_notice is not None and isinstance(step, Notice):
                on_notice(step.text)
            continue
        if isinstance(step, Need):
            wanted = number if step.blocks is None else min(step.blocks, number)
            gone = frozenset(bot for bot, when in out.items() if when <= number)
            answer = RoundResults(
                tuple(one for one in fresh if one.number < wanted),
                field.bots + sum(when <= number for when in joining),
                gone,
            )
            fresh = [one for one in fresh if one.number >= wanted]
            continue
        result = _play(field, step, number, place, outcome, frozenset(b for b, when in out.items() if when <= number))
        number += 1
        place += len(result.matches)
        if style.uses_results:
            fresh.append(result)
        yield result


def _play(field: Field, block: Block, number: int, place: int, outcome: Outcome, gone: frozenset[int]) -> BlockResult:
    variant = field.variants[block.variant]
    result = BlockResult(number, place, block, ())
    for bots in seatings(block, variant):
        absent = tuple(bot for bot in bots if bot in gone)
        score = MatchScore(
            place + len(result.matches),
            f"m{place + len(result.matches)}",
            variant.game,
            bots,
            tuple(map(str, bots)),
            variant.teams,
            () if absent else tuple(outcome(result, bots)),
            absent=absent,
        )
        result = BlockResult(number, place, block, (*result.matches, score))
    return result
