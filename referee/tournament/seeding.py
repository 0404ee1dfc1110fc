"""The seeds of a tournament from a file with ratings: CSV, as `crosstown standings --csv` prints it, or as somebody
writes it with the columns name and rating."""

import math
from collections.abc import Sequence
from pathlib import Path

from referee.errors import ConfigError
from referee.tournament.reading import TomlFile, cell_separator, csv_rows, dotted, read_text, show

_RATINGS = ("rating", "conservative")
_UNRATED = ("", "-", "nan")


def read_seeding(file: TomlFile, key: Sequence[str | int], named: str) -> tuple[str, ...]:
    """Names in the order of their ratings, the best first, from the file of this path; equal ratings in the order of
    the file, names without a rating last. ConfigError: of the file if something in it is wrong, else of the key."""
    path = file.path.parent / named
    what = f"'{dotted(*key)}' must be a list of names of bots, or a CSV file with their ratings: {path}"
    step = 'write a file with the columns name and rating, or: crosstown standings RUN --csv > "seeds.csv"'
    try:
        text = read_text(path)
    except OSError as error:
        file.fail(key, f"{what} cannot be read ({error.strerror})", step)
    except UnicodeDecodeError:
        file.fail(key, f"{what} is not UTF-8 text", "save it as CSV in UTF-8")
    columns: list[str] = []
    rating = ""
    rated: list[tuple[float, str]] = []
    seen: set[str] = set()
    for line, cells in csv_rows(path, text):
        if not columns:
            columns = cells
            rating = next((name for name in _RATINGS if name in columns), "")
            if not rating or "name" not in columns:
                break
            _check_once(path, line, columns, ("name", rating))
            continue
        if any(cells[len(columns) :]):
            wrong = f"the row has {len(cells)} cells, and there are {len(columns)} columns"
            raise ConfigError(path, line, wrong, 'put quotes around a cell that has a comma in it: "a, b"')
        given = dict(zip(columns, cells, strict=False))
        name = _name(path, line, given.get("name", ""))
        # In the table of a run, a bot has a row for each game and number of seats.
        if name in seen and "entry_id" not in columns:
            raise ConfigError(path, line, f"the bot {show(name)} is there twice", "take one of the rows away")
        seen.add(name)
        cell = given.get(rating, "")
        # Where semicolons stand between the cells, commas stand in the numbers.
        value = _rating(path, line, rating, cell.replace(",", ".") if cell_separator(text) == ";" else cell)
        rated.append((-value, name))
    if not rating or "name" not in columns:
        file.fail(key, f"{what} has no columns 'name' and 'rating'", step)
    if not rated:
        file.fail(key, f"{what} has no row with a bot", step)
    return tuple(dict.fromkeys(name for _, name in sorted(rated, key=lambda one: one[0])))


def _check_once(path: Path, line: int, columns: Sequence[str], names: Sequence[str]) -> None:
    for name in names:
        if columns.count(name) > 1:
            raise ConfigError(path, line, f"the column '{name}' is there twice", "take one of them away")


def _name(path: Path, line: int, cell: str) -> str:
    if not cell:
        raise ConfigError(path, line, "the column 'name' is empty", "write the name of the bot")
    # So `crosstown standings --csv` keeps a name from being a formula.
    return cell[1:] if cell[0] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def _rating(path: Path, line: int, column: str, cell: str) -> float:
    """Minus infinity for a bot without a rating."""
    if cell.lower() in _UNRATED:
        return -math.inf
    try:
        value = float(cell)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        what = f"the column '{column}' must be a number, or empty for a bot without a rating, not {show(cell)}"
        raise ConfigError(path, line, what, "correct it")
    return value
