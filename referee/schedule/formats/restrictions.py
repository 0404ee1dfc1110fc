"""What an organiser may ask of a pairing: bots that never meet, tables that are fixed, bots that sit out a round.

A bot that joins a run later cannot be named: the settings of a run do not change. It can have a club.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from referee.schedule.formats.api import Field, Setting
from referee.texts import listed

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
    """The pairs of bots that never meet: those of one list, and those of one club."""
    number = {name: bot for bot, name in enumerate(field.names)}
    lists = [[number[name] for name in group if name in number] for group in field.settings.get("forbidden") or ()]
    return frozenset(frozenset(pair) for group in (*lists, *_clubs(field).values()) for pair in combinations(group, 2))


def _clubs(field: Field) -> dict[str, list[int]]:
    """The bots of each club."""
    found = defaultdict(list)
    for bot, club in enumerate(field.clubs):
        if club:
            found[club].append(bot)
    return found


def club_of(field: Field, bots: Iterable[int]) -> str:
    """The club that all these bots are of; '' if there is none."""
    clubs = {field.clubs[bot] if bot < len(field.clubs) else "" for bot in bots}
    return clubs.pop() if len(clubs) == 1 else ""


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
    """Bots as a sentence has them."""
    return listed(field.name_of(bot) for bot in bots)


def pairs_of(field: Field, pairs: Sequence[tuple[int, int]]) -> str:
    """Forbidden pairs as the beginning of "... leave no table", not more of them than a reader takes in. The bots of a
    club are named together."""
    clubs: dict[str, list[int]] = {}
    alone = []
    for pair in pairs:
        if club := club_of(field, pair):
            clubs[club] = sorted({*clubs.get(club, ()), *pair})
        else:
            alone.append(" - ".join(map(field.name_of, pair)))
    parts = [f"the club '{club}' ({_most(list(map(field.name_of, bots)))})" for club, bots in clubs.items()]
    if alone:
        parts.append(f"the forbidden pair{'s' * (len(alone) > 1)} {_most(alone)}")
    return f"{listed(parts)} {'leaves' if len(parts) == 1 and len(alone) < 2 else 'leave'}"


def _most(words: Sequence[str]) -> str:
    more = f" and {len(words) - 10} more" if len(words) > 10 else ""
    return ", ".join(words[:10]) + more


def restrictions_problem(field: Field, players_of: Sequence[int]) -> str:
    """Why the settings contradict each other; '' if they do not. `players_of` has the seats of each round."""
    forbidden = forbidden_pairs(field)
    kept_apart = Counter(bot for pair in forbidden for bot in pair)
    for bot, others in kept_apart.items():
        if field.bots - 1 - others < min(players_of) - 1:
            pairs = [(bot, other) for other in range(field.bots) if frozenset((bot, other)) in forbidden]
            return f"{names_of(field, [bot])} never has a table, since {pairs_of(field, pairs)} too few opponents"
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
                    both, club = names_of(field, (one, other)), club_of(field, (one, other))
                    why = f"of the club '{club}'" if club else "a forbidden pair"
                    return f"round {round_}: {both} are fixed at one table, and they are {why}"
    return ""
