"""Stages: one format after the other in one run, such as groups and then a knockout.

A stage plays in groups side by side, one group where the file does not say otherwise. Bots are dealt to the groups in
the order of their seeds, there and back, so that the groups are about as strong as each other. The first `advance` of
each group go on. Their seeds in the next stage are their places: all first ones in the order of the groups, then all
second ones, and so on, each turned, or with two bots exchanged, so that no two of a group meet in the first round of a
knockout if that can be avoided.
A stage begins when the one before is settled.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from string import ascii_uppercase
from typing import Any

from referee.schedule.formats import knockout, round_robin, swiss
from referee.schedule.formats.api import (
    Block,
    Byes,
    Extent,
    Field,
    Format,
    Need,
    Placing,
    Plan,
    RoundResults,
    Setting,
    Step,
    answered,
)
from referee.schedule.formats.parts import SEEDING, Part, in_order_of_seeds, seeded, side_by_side
from referee.schedule.formats.points import ranks, show
from referee.schedule.formats.scores import TIE_BREAK_SETTING, Scores, tie_breaks_of
from referee.texts import plural

FORMATS: Mapping[str, Format] = {style.name: style for style in (round_robin.FORMAT, swiss.FORMAT, knockout.FORMAT)}
"""Those that a stage can have."""

MOST_GROUPS = 100

SETTINGS = (
    Setting("name", "text", None, "of the stage; left out: its format"),
    Setting("format", "word", round_robin.FORMAT.name, "of the stage", choices=tuple(FORMATS)),
    Setting("blocks", "whole", None, "as at the top of the file, for this stage; left out: those", minimum=1),
    Setting("groups", "whole", 1, "how many groups play side by side", minimum=1, maximum=MOST_GROUPS),
    Setting("advance", "whole", None, "how many bots of each group go on; not of the last stage", minimum=1),
    SEEDING,
)

_NOT_OF_A_STAGE = ("seeding", "fixed", "byes", "requested_bye", "mirrors", "advance")


def settings_of(style: Format) -> tuple[Setting, ...]:
    """The settings of a format that a stage can have beside its own."""
    own = tuple(setting for setting in style.settings if setting.name not in _NOT_OF_A_STAGE)
    return own if style.has_table else (*own, TIE_BREAK_SETTING)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage as the file has it, complete."""

    name: str
    style: Format
    blocks: int
    groups: int
    advance: int
    settings: Mapping[str, Any]

    def field(self, whole: Field, bots: Sequence[int]) -> Field:
        """The field of one group."""
        names = tuple(whole.names[bot] for bot in bots)
        clubs = tuple(whole.clubs[bot] for bot in bots) if whole.clubs else ()
        return replace(whole, names=names, clubs=clubs, blocks=self.blocks, settings=self.settings)

    def dealt(self, bots: Sequence[int], players: int) -> list[list[int]]:
        """The groups, there and back in the order of the bots; fewer where they would have less than `players`."""
        number = max(1, min(self.groups, len(bots) // players))
        groups: list[list[int]] = [[] for _ in range(number)]
        for place, bot in enumerate(bots):
            row, column = divmod(place, number)
            groups[number - 1 - column if row % 2 else column].append(bot)
        return groups


@dataclass(slots=True)
class Played:
    """A stage that has begun: its groups, and per group the table as it stands."""

    stage: Stage
    parts: list[Part]

    def tables(self, field: Field) -> list[Sequence[Placing]]:
        return [
            part.placings if self.stage.style.has_table else _group_table(self.stage, field, part)
            for part in self.parts
        ]


def plan(field: Field) -> Plan:
    return (yield from in_order_of_seeds(_plan, field))


def _plan(field: Field) -> Plan:
    standing: Sequence[int] = range(field.bots)
    played: list[Played] = []
    players = max(variant.players for variant in field.variants)
    for stage in _stages(field):
        answer = answered((yield Need()))
        here = [bot for bot in standing if bot not in answer.absent]
        if answer.over or len(here) < players:
            break
        groups = stage.dealt(here, players)
        parts = [Part(stage.style.plan(stage.field(field, group)), list(group)) for group in groups]
        played.append(Played(stage, parts))
        answer = yield from _play(stage, parts)
        if answer.over:
            break
        standing = _go_on(field, played[-1], len(played), answer)
    return _placings(field, played)


def _play(stage: Stage, parts: Sequence[Part]) -> Generator[Step, RoundResults | None, RoundResults]:
    """All groups of a stage side by side, with the names of stage and group and the numbers of the tables."""
    label = {bot: _label(stage, parts, number) for number, part in enumerate(parts) for bot in part.members}
    tables: dict[tuple[int, frozenset[int]], int] = {}
    rounds: dict[int, int] = {}
    days: dict[int, int] = {}
    playing = side_by_side(parts)
    answer: RoundResults | None = None
    while True:
        try:
            step = playing.send(answer)
        except StopIteration as end:
            found: RoundResults = end.value
            return found
        if isinstance(step, Block):
            if not stage.style.has_table:
                # The rounds of a round robin are the days on which each bot plays once.
                day = 1 + max(days.get(bot, 0) for bot in step.group)
                days |= dict.fromkeys(step.group, day)
                step = replace(step, round=day)
            key = step.round, frozenset(step.group)
            if key not in tables:
                tables[key] = rounds[step.round] = rounds.get(step.round, 0) + 1
            step = replace(step, stage=label[step.group[0]], table=tables[key])
        elif isinstance(step, Byes):
            step = replace(step, stage=label[step.bots[0]])
        answer = yield step


def _label(stage: Stage, parts: Sequence[Part], number: int) -> str:
    return stage.name if len(parts) == 1 else f"{stage.name} {letter(number)}"


def letter(number: int) -> str:
    """What a group is called: A to Z, then AA, AB, ..."""
    more, last = divmod(number, len(ascii_uppercase))
    return (letter(more - 1) if more else "") + ascii_uppercase[last]


def _group_table(stage: Stage, field: Field, part: Part) -> list[Placing]:
    """The table of a group of a format that has none: a block is worth one point."""
    scores = Scores()
    for result in part.results:
        scores.add_block(result, 1)
    tie_breaks = tie_breaks_of(stage.field(field, part.members))
    key = scores.keys(part.members, tie_breaks)
    order = sorted(part.members, key=lambda bot: (key[bot], part.members.index(bot)))
    return [
        Placing(bot, rank, {name: show(-value) for name, value in zip(("points", *tie_breaks), key[bot], strict=True)})
        for bot, rank in ranks(order, key)
    ]


def _go_on(field: Field, played: Played, number: int, answer: RoundResults) -> list[int]:
    """Who plays in the next stage, in the order of their seeds there: the first of each group that are still in."""
    stage = played.stage
    left = [[row.bot for row in table if row.bot not in answer.absent] for table in played.tables(field)]
    tiers = [[group[place] for group in left if len(group) > place] for place in range(stage.advance)]
    tiers = [tier for tier in tiers if tier]  # a tier is empty if no group has a bot left for it
    stages = _stages(field)
    following = stages[number] if number < len(stages) else None
    few = sum(map(len, tiers)) < max(variant.players for variant in field.variants)  # for any further match
    if following is None or following.style is not knockout.FORMAT or following.groups > 1 or len(left) == 1 or few:
        return [bot for tier in tiers for bot in tier]
    group_of = {bot: number for number, group in enumerate(left) for bot in group}

    def clashes(order: Sequence[int]) -> int:
        first = knockout.first_tables(following.field(field, order), len(order))
        return sum(
            group_of[order[one]] == group_of[order[other]] for table in first for one, other in combinations(table, 2)
        )

    turns = [range(len(tier)) for tier in tiers[1:3]]
    orders = (
        [
            bot
            for place, tier in enumerate(tiers)
            for bot in (tier if not 0 < place < 3 else tier[turn[place - 1] :] + tier[: turn[place - 1]])
        ]
        for turn in product(*turns)
    )
    best = min(orders, key=clashes)
    # With an odd number of groups, the two of one group meet however the tiers are turned. So two bots of a tier below
    # the first exchange their places.
    tier_of = [place for place, tier in enumerate(tiers) for _ in tier]
    pairs = [pair for pair in combinations(range(len(best)), 2) if tier_of[pair[0]] == tier_of[pair[1]] > 0]
    while fewest := clashes(best):
        better = next((order for pair in pairs if clashes(order := _exchanged(best, *pair)) < fewest), None)
        if better is None:
            break
        best = better
    return best


def _exchanged(order: Sequence[int], one: int, other: int) -> list[int]:
    changed = list(order)
    changed[one], changed[other] = order[other], order[one]
    return changed


def _placings(field: Field, played: Sequence[Played]) -> list[Placing]:
    """Those of the last stage first, by their rank in it; then those who did not get there, by their rank before."""
    columns: dict[int, dict[str, str]] = {bot: {} for bot in range(field.bots)}
    ranked: list[tuple[int, tuple[int, int]]] = []
    seen: set[int] = set()
    for number, one in reversed(list(enumerate(played))):
        rows = [(group, row) for group, table in enumerate(one.tables(field)) for row in table]
        names = list(dict.fromkeys(name for _, row in rows for name in row.columns))
        for group, row in rows:
            shown = {f"{one.stage.name} group": letter(group)} if len(one.parts) > 1 else {}
            shown |= {f"{one.stage.name} rank": str(row.rank)}
            shown |= {f"{one.stage.name} {name}": row.columns.get(name, "-") for name in names}
            columns[row.bot] = shown | columns[row.bot]
            if row.bot not in seen:
                ranked.append((row.bot, (-number, row.rank)))
        blank = dict.fromkeys(columns[rows[0][1].bot] if rows else (), "-")
        for bot in columns.keys() - {row.bot for _, row in rows}:
            columns[bot] = {name: columns[bot].get(name, "-") for name in blank}
        seen |= {row.bot for _, row in rows}
    ranked += [(bot, (1, 0)) for bot in range(field.bots) if bot not in seen]
    key = dict(ranked)
    every = list(dict.fromkeys(name for shown in columns.values() for name in shown))
    order = sorted(key, key=lambda bot: (key[bot], bot))
    return [
        Placing(bot, rank, {name: columns[bot].get(name, "-") for name in every}) for bot, rank in ranks(order, key)
    ]


def _stages(field: Field) -> list[Stage]:
    return [
        Stage(
            one["name"],
            FORMATS[one["format"]],
            one["blocks"],
            one["groups"],
            one["advance"] or 0,
            one["settings"],
        )
        for one in field.settings["stages"]
    ]


def extent(field: Field) -> Extent:
    """Where nobody leaves."""
    least = most = 0
    for stage, groups in _sizes(field):
        for group in groups:
            inner = stage.style.extent(stage.field(field, group))
            least += inner.least
            most += inner.most
    return Extent(least, most)


def _sizes(field: Field) -> list[tuple[Stage, list[list[int]]]]:
    """Per stage its groups, as they are if the best seeds go on."""
    players = max(variant.players for variant in field.variants)
    bots, found = list(range(field.bots)), []
    for stage in _stages(field):
        groups = stage.dealt(bots, players)
        found.append((stage, groups))
        bots = sorted(bot for group in groups for bot in group[: stage.advance])
    return found


def problem(field: Field) -> str:
    """Why these bots cannot play these stages; '' if they can."""
    field, _ = seeded(field)
    players = max(variant.players for variant in field.variants)
    stages = _stages(field)
    for number, (stage, groups) in enumerate(_sizes(field)):
        what = f"stage '{stage.name}'"
        smallest = min(len(group) for group in groups)
        in_all = sum(len(group) for group in groups)
        if len(groups) < stage.groups or smallest < players:
            have = f"{plural(stage.groups, 'group')} for {plural(in_all, 'bot')}"
            return f"{what} has {have}, and a match needs {players} bots"
        if number < len(stages) - 1 and not 0 < stage.advance < smallest:
            advance = f"'advance' is {stage.advance}" if stage.advance else "'advance' is missing"
            return f"{what}: {advance}, and its smallest group has {smallest} bots, some of which must go on"
        if number == len(stages) - 1 and stage.advance:
            return f"{what} is the last one, and has 'advance' = {stage.advance}"
        for group in groups:
            known = stage.field(field, group)
            if number:  # who plays in it is not known yet
                known = replace(known, settings={**known.settings, "forbidden": None}, clubs=())
            if wrong := stage.style.check(known):
                return f"{what}: {wrong}"
    return ""


FORMAT = Format(
    "stages",
    "one format after the other, such as groups and then a knockout",
    SETTINGS,
    plan,
    extent,
    problem,
    has_table=True,
    per="of each stage",
    repeated=True,
)
