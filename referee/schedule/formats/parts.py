"""Formats inside of formats: a plan of some of the bots, in an order of its own, as a part of a larger schedule."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from referee.schedule.formats.api import (
    Block,
    BlockResult,
    Byes,
    Field,
    Need,
    Notice,
    Placing,
    Plan,
    RoundResults,
    Setting,
    Step,
    answered,
)

SEEDING = Setting(
    "seeding",
    "seeding",
    None,
    "bots in the order of their seeds, or a file with their ratings; left out: the order of the file",
    later=True,
)


def seeded(field: Field) -> tuple[Field, list[int]]:
    """The field in the order of its seeding, and per bot of it its number. Bots that the setting does not name follow
    in the order of the file."""
    wanted = [name for name in field.settings.get("seeding") or () if name in field.names]
    names = [*wanted, *(name for name in field.names if name not in wanted)]
    order = [field.names.index(name) for name in names]
    clubs = [field.clubs[bot] for bot in (*order, *range(field.bots, len(field.clubs)))] if field.clubs else ()
    return replace(field, names=tuple(names), clubs=tuple(clubs)), order


@dataclass(slots=True)
class Part:
    """A plan of `members`, who are 0, 1, ... in it. `open`: bots that enter later belong to it, too.

    `placings` is its table once it has `ended`, `results` is all that it was told, in the numbers of the whole.
    """

    plan: Plan
    members: list[int]
    open: bool = False
    begun: bool = False
    ended: bool = False
    placings: Sequence[Placing] = ()
    results: list[BlockResult] = field(default_factory=list)

    def steps(self, answer: RoundResults) -> Iterator[Block | Notice | Byes]:
        """What it does until its next barrier, in the numbers of the whole, with this answer to its last one."""
        inside = self._inside(answer)
        if self.ended:
            return
        try:
            step = self.plan.send(inside) if self.begun else next(self.plan)
            self.begun = True
            while not isinstance(step, Need):
                if isinstance(step, Block):
                    step = replace(step, group=tuple(self.members[bot] for bot in step.group))
                elif isinstance(step, Byes):
                    step = replace(step, bots=tuple(self.members[bot] for bot in step.bots))
                yield step
                step = next(self.plan)
        except StopIteration as end:
            self.ended = True
            self.placings = [replace(row, bot=self.members[row.bot]) for row in end.value or ()]

    def look(self, answer: RoundResults) -> None:
        """End here, with the table as it stands, if the plan has one; nothing more will be played."""
        for _ in range(2):  # a plan that has not begun asks first, and is answered then
            next(self.steps(answer), None)
            answer = replace(answer, results=())

    def _inside(self, answer: RoundResults) -> RoundResults:
        """The answer as the plan has it: its own results, in its own numbers."""
        if self.open:
            self.members += range(len(self.members), answer.bots)
        number = {bot: place for place, bot in enumerate(self.members)}
        mine = [result for result in answer.results if set(result.block.group) <= number.keys()]
        self.results += mine
        return replace(
            answer,
            results=tuple(_renumbered(result, number) for result in mine),
            bots=len(self.members),
            absent=frozenset(number[bot] for bot in answer.absent if bot in number),
        )


def _renumbered(result: BlockResult, number: dict[int, int]) -> BlockResult:
    matches = tuple(
        replace(
            match,
            bots=tuple(number[bot] for bot in match.bots),
            absent=tuple(number[bot] for bot in match.absent),
        )
        for match in result.matches
    )
    block = replace(result.block, group=tuple(number[bot] for bot in result.block.group))
    return replace(result, block=block, matches=matches)


def in_order_of_seeds(plan: Callable[[Field], Plan], field: Field) -> Plan:
    """The plan of the field in the order of its seeding. It must ask for everything whenever it asks for results."""
    inner, members = seeded(field)
    part = Part(plan(inner), members, open=True)
    while True:
        answer = answered((yield Need()))
        if answer.over:
            part.look(answer)
        else:
            yield from part.steps(answer)
        if part.ended or answer.over:
            return part.placings


def side_by_side(parts: Sequence[Part]) -> Generator[Step, RoundResults | None, RoundResults]:
    """Play the parts together, with the same barriers, until all have ended; returns the last answer. If somebody only
    looks, the parts end where they stand."""
    while True:
        answer = answered((yield Need()))
        if answer.over:
            for part in parts:
                part.look(answer)
            return answer
        told = [list(part.steps(answer)) for part in parts]
        for together in zip_longest(*told):
            yield from (step for step in together if step is not None)
        if all(part.ended for part in parts) and not any(told):
            return answer
