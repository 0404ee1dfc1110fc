"""What an organiser may ask of a pairing: bots that never meet, tables that are fixed, bots that sit out a round.

A bot that joins a run later cannot be named: the settings of a run do not change.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from referee.schedule.formats.api import Field, Setting

FORBIDDEN = Setting(
    "forbidden",
    "groups",
    None,
    "lists of bots no two of which ever meet, such as those of one author; left out: none",
    later=True,
)
FIXED = Setting("fixed", "rounds", None, "tables of a round that are not drawn; left out: none", later=True)
BYES = Setting("byes", "rounds", None, "bots that asked to sit out a round; left out: none", later=True)
REQUESTED_BYE = Setting(
    "requested_bye", "number", None, "points of a bye that a bot asked for; left out: 0.5", maximum=1, later=True
)


def forbidden_pairs(field: Field) -> frozenset[frozenset[int]]:
    """The pairs of bots that never meet."""
    number = {name: bot for bot, name in enumerate(field.names)}
    return frozenset(
        frozenset((number[one], number[other]))
        for group in field.settings.get("forbidden") or ()
        for one, other in combinations(group, 2)
        if one in number and other in number
    )


def fixed_tables(field: Field, round_: int) -> list[tuple[int, ...]]:
    """The tables of a round that are not drawn, each in the order of the file."""
    return [_numbers(field, table["bots"]) for table in field.settings.get("fixed") or () if table["round"] == round_]


def requested_byes(field: Field, round_: int) -> set[int]:
    """Who asked to sit out a round."""
    asked = (table["bots"] for table in field.settings.get("byes") or () if table["round"] == round_)
    return {bot for names in asked for bot in _numbers(field, names)}


def _numbers(field: Field, names: Iterable[str]) -> tuple[int, ...]:
    return tuple(field.names.index(name) for name in names)


def names_of(field: Field, bots: Sequence[int]) -> str:
    """Bots as a sentence has them; one that joined later by its number."""
    named = [f"'{field.names[bot]}'" if bot < field.bots else f"bot {bot + 1}" for bot in bots]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def pairs_of(field: Field, pairs: Sequence[tuple[int, int]]) -> str:
    """Forbidden pairs as the beginning of "... leave no table", not more of them than a reader takes in."""
    shown = ", ".join(f"'{field.names[one]}' - '{field.names[other]}'" for one, other in pairs[:10])
    more = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
    return f"the forbidden pair {shown} leaves" if len(pairs) == 1 else f"the forbidden pairs {shown}{more} leave"


def restrictions_problem(field: Field, players_of: Sequence[int]) -> str:
    """Why the settings contradict each other; '' if they do not. `players_of` has the seats of each round."""
    forbidden = forbidden_pairs(field)
    rounds = len(players_of)
    for key in ("fixed", "byes"):
        for table in field.settings.get(key) or ():
            if table["round"] > rounds:
                return f"'{key}' names round {table['round']}, and there are {rounds} rounds"
    for round_, players in enumerate(players_of, start=1):
        fixed = fixed_tables(field, round_)
        seen = Counter(bot for group in fixed for bot in group)
        seen.update(requested_byes(field, round_))
        twice = [bot for bot, times in seen.items() if times > 1]
        if twice:
            return f"round {round_}: {names_of(field, twice[:1])} is fixed twice, at a table or for a bye"
        for group in fixed:
            if len(group) != players:
                return f"round {round_}: the table of {names_of(field, group)} needs {players} bots, not {len(group)}"
            for one, other in combinations(group, 2):
                if frozenset((one, other)) in forbidden:
                    both = names_of(field, (one, other))
                    return f"round {round_}: {both} are fixed at one table, and they are a forbidden pair"
    return ""
