"""What `crosstown games show --data` prints, which is also the page of a game in the documentation.

The box data, and how observations and actions lie in the arrays of `crosstown_env`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crosstown_env import GAMES, ActionSpace, Arrays, Field, arrays_of

from referee.games.api import Game


def data_as_json(game: Game) -> dict[str, Any]:
    """The box data and the arrays, by number of players."""
    found: dict[str, Any] = {"id": game.id, "data": game.default_data()}
    if game.id in GAMES:
        found["arrays"] = {str(players): _arrays(arrays_of(game.id, players)) for players in game.player_counts}
    return found


def _arrays(arrays: Arrays) -> dict[str, Any]:
    layout, actions = arrays.layout, arrays.actions
    return {
        "version": arrays.version,
        "observation": [
            {
                "name": field.name,
                "start": start,
                "size": field.size,
                "low": field.low,
                "high": field.high,
                "kind": field.kind,
                "names": list(field.names),
                "meaning": field.meaning,
            }
            for field, start in zip(layout.fields, layout.starts(), strict=True)
        ],
        "actions": [
            {
                "kind": block.kind,
                "start": start,
                "size": block.size,
                "factors": [{"name": name, "values": values} for name, values in block.factors],
                "meaning": block.meaning,
            }
            for block, start in actions.placed()
        ],
    }


def data_page(game: Game) -> str:
    """The data of a game as Markdown."""
    parts = [
        f"# {game.title}: data\n",
        f"After reading this page you know what is in the box of {game.title} as Crosstown plays it, and how its "
        "observations and actions become arrays.\n",
        "Generated from the game by `python docs/make_reference.py`. `crosstown games show "
        f"{game.id} --data` prints the same text, and `crosstown games show {game.id}` the rules and options.\n",
    ]
    if game.id in GAMES:
        made = {players: arrays_of(game.id, players) for players in game.player_counts}
        parts += [*_observations(game, made), *_actions(made)]
    else:
        parts.append("The game has no arrays.\n")
    data = game.default_data()
    marks = f" `crosstown games show {game.id}` explains `confidence`." if '"confidence"' in json.dumps(data) else ""
    parts += ["## Box data\n", f"The option `data` replaces these values by others of the same form.{marks}\n"]
    parts += _box(data, "")
    return "\n".join(parts)


def _observations(game: Game, made: Mapping[int, Arrays]) -> Iterator[str]:
    first = next(iter(made.values()))
    yield "## Observations as arrays\n"
    yield (
        f"Version {first.version} of the arrays, with the default options. An observation is a flat `int8` array with "
        "the fields below; a column for each number of players says where a field lies. The values are those of the "
        f"messages that a bot receives ([Messages](../protocol/{game.id}.md)). -1 in a field that starts at -1 means "
        "none: the message leaves the field out. Larger counts than 127 are shown as 127.\n"
    )
    heads = [f"{players} players" for players in made]
    yield f"| field | {' | '.join(heads)} | values | meaning |"
    yield "| --- |" + " --- |" * (len(made) + 2)
    starts = [arrays.layout.starts() for arrays in made.values()]
    for place, field in enumerate(first.layout.fields):
        spans = [
            f"`{one[place]}:{one[place] + arrays.layout.fields[place].size}`"
            for one, arrays in zip(starts, made.values(), strict=True)
        ]
        high = max(arrays.layout.fields[place].high for arrays in made.values())
        yield f"| `{field.name}` | {' | '.join(spans)} | {_values(field, high)} | {_cell(field.meaning)} |"
    sizes = [str(arrays.layout.size) for arrays in made.values()]
    yield f"| all | {' | '.join(sizes)} |  |  |\n"


def _values(field: Field, high: int) -> str:
    if field.names:
        return ", ".join(f"{field.low + place} {name or '(none)'}" for place, name in enumerate(field.names))
    return f"{field.low} to {high}"


def _actions(made: Mapping[int, Arrays]) -> Iterator[str]:
    spaces: dict[ActionSpace, list[int]] = {}
    for players, arrays in made.items():
        spaces.setdefault(arrays.actions, []).append(players)
    yield "## Actions as numbers\n"
    yield (
        "Number 0 is for a seat that is not asked. Each combination of the factors of an action has its own number; "
        "the last factor counts fastest. A network can have one output for each value of a factor.\n"
    )
    for space, counts in spaces.items():
        if len(spaces) > 1:
            yield f"With {' or '.join(str(count) for count in counts)} players:\n"
        yield "| numbers | action | factors | meaning |"
        yield "| --- | --- | --- | --- |"
        for block, start in space.placed():
            factors = " x ".join(f"{name} ({values})" for name, values in block.factors)
            numbers = str(start) if block.size == 1 else f"{start} to {start + block.size - 1}"
            yield f"| {numbers} | `{block.kind}` | {factors} | {_cell(block.meaning)} |"
        yield f"\n{space.size} numbers in all.\n"


def _box(value: Any, path: str) -> Iterator[str]:
    """Tables of all data below a path."""
    if isinstance(value, Mapping):
        plain = {key: part for key, part in value.items() if not isinstance(part, (Mapping, list)) or _is_short(part)}
        if plain:
            yield from _headed(path, [{"key": key, "value": part} for key, part in plain.items()])
        for key, part in value.items():
            if key not in plain:
                yield from _box(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and all(isinstance(part, Mapping) for part in value):
        yield from _headed(path, value)
    else:
        yield f"### {path}\n"
        yield f"`{json.dumps(value)}`\n"


def _is_short(part: Any) -> bool:
    return isinstance(part, list) and not any(isinstance(one, (Mapping, list)) for one in part)


def _headed(path: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if path:
        yield f"### {path}\n"
    yield f"| {' | '.join(columns)} |"
    yield "| --- |" + " --- |" * (len(columns) - 1)
    for row in rows:
        yield f"| {' | '.join(_shown(row.get(column, '')) for column in columns)} |"
    yield ""


def _shown(value: Any) -> str:
    if isinstance(value, (Mapping, list)):
        return f"`{_cell(json.dumps(value))}`"
    return _cell(json.dumps(value) if value is None or isinstance(value, bool) else str(value))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
