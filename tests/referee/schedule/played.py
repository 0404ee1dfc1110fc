"""Plays formats out with made-up results, for tests of who meets whom."""

from collections import defaultdict

from referee.schedule.formats.api import Field, Variant
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders


def field_of(style, bots, players=2, blocks=1, **given):
    wanted = {setting.name: setting.default for setting in style.settings if not setting.later} | given
    teams = tuple(range(players))
    names = tuple(f"bot{number}" for number in range(bots))
    return Field(names, (Variant("toy", players, teams, team_orders(teams)),), 1, blocks, wanted)


def played_out(style, field, outcome, leaving=None, joining=()):
    """The blocks, the format's own table, and its notices."""
    blocks, notices = [], []
    running = simulate(style, field, outcome, leaving, joining, notices.append)
    while True:
        try:
            blocks.append(next(running))
        except StopIteration as end:
            return blocks, end.value, notices


def by_strength(result, bots):
    return [1 + sum(other < bot for other in bots) for bot in bots]


def by_chance(chance):
    """Results drawn as they are needed; ties are possible."""

    def outcome(result, bots):
        worth = [chance.randrange(4) for _ in bots]
        return [1 + sum(other > one for other in worth) for one in worth]

    return outcome


def rounds_of(blocks):
    """Per round its tables, in order."""
    found = defaultdict(list)
    for block in blocks:
        if block.block.group not in found[block.block.round]:
            found[block.block.round].append(block.block.group)
    return [found[number] for number in range(1, max(found, default=0) + 1)]
