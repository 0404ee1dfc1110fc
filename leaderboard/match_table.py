"""Rated matches as columns of numbers: what tables and statistics need of many matches, without an object for each.

A `MatchTable` is a sequence of rows, too: a row that is asked for is fetched from where its columns came from. So code
that looks at few matches need not know the difference.
"""

import marshal
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice, starmap
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from leaderboard.records import MatchRow, SeatRow, with_ranking
from leaderboard.results import Result, result_of
from referee.record.reasons import is_fault
from referee.record.store import CLOSED_SUFFIX, FileStamp

Numbers: TypeAlias = NDArray[np.signedinteger[Any]]
Mask: TypeAlias = NDArray[np.bool_]

Who: TypeAlias = tuple[str, str, str]
"""Entry id, name and version of a bot."""

Fetch: TypeAlias = Callable[[Sequence[tuple[str, str]]], Iterable[MatchRow]]
"""The rows of these matches, which are given by id and by the name of the record, in their order."""

_LISTED_TEXTS = ("tournament", "game", "reason", "fault")
_COUNTED_TEXTS = ("times", "usage")
_SEAT_NUMBERS = ("team", "rank", "decisions", "total_us", "worst_us", "startup_us", "lag_us", "worst_lag_us")
_OF_SEATS = frozenset((*_SEAT_NUMBERS, *_COUNTED_TEXTS, "fault", "who", "points", "scored"))
"""Columns with a number for each seat; the others have one for each match."""

_LISTED = frozenset((*_LISTED_TEXTS, "who", "players", "place"))
"""The columns by which matches are selected for a list."""

_WIDTHS = tuple((np.dtype(name), 2 ** (8 * width - 1)) for name, width in (("i1", 1), ("<i2", 2), ("<i4", 4)))
_WIDEST = np.dtype("<i8")
_BOUND = 2**63 - 1
_FETCHED = 1000
"""Rows that are fetched at once where all are asked for."""


class Texts:
    """Numbers for texts, or for other values, from 0 in the order in which they were first seen."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __call__(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def table(self, values: Sequence[Any]) -> NDArray[np.int32]:
        """What to take the numbers of another table, with these values, by."""
        return np.array([self(value) for value in values], dtype=np.int32)

    @property
    def values(self) -> list[Any]:
        return list(self._numbers)


@dataclass(frozen=True, slots=True)
class Columns:
    """Some matches. `numbers` has columns by name: a number for each match, or for each seat of one match after the
    other. Columns of texts have the places of these in `texts` (`times` and `usage` in `counted_texts`), `who` has
    those of `bots`. `points` are 0 where `scored` is. `names` are those of the files that are not called as usual, by
    the index of the match; `others` are those of records that have no row."""

    ids: Sequence[str]
    created: Sequence[str]
    names: Mapping[int, str]
    bots: Sequence[Who]
    texts: Sequence[str]
    counted_texts: Sequence[str]
    numbers: Mapping[str, Numbers]
    others: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def file_name(self, index: int) -> str:
        """Of a record."""
        return self.names.get(index) or self.ids[index] + CLOSED_SUFFIX

    def with_bot(self, wanted: Callable[[str, str], bool]) -> Mask:
        """The matches in which a bot has a seat whose name and entry id are wanted."""
        bots = _which(self.bots, lambda who: wanted(who[1], who[0]))
        return self._with_seat(bots[self.numbers["who"]])

    def with_text(self, name: str, text: str) -> Mask:
        """The matches that have this text in a column, or a seat that has."""
        found = _which(self.texts, text.__eq__)[self.numbers[name]]
        return self._with_seat(found) if name in _OF_SEATS else found

    def indices_of(self, masks: Sequence[Mask]) -> list[int]:
        """The matches for which all masks are true."""
        found = np.ones(len(self), dtype=np.bool_)
        for mask in masks:
            found &= mask
        indices: list[int] = np.flatnonzero(found).tolist()
        return indices

    def _with_seat(self, seats: Mask) -> Mask:
        found = np.zeros(len(self), dtype=np.bool_)
        which = np.flatnonzero(seats)
        found[np.searchsorted(np.cumsum(self.numbers["players"]), which, side="right")] = True
        return found

    def packed(self) -> tuple[bytes, bytes]:
        """For a file: what lists need, and what only tables need besides. Inverse of `unpacked`."""
        listed = {name: _packed(column) for name, column in self.numbers.items() if name in _LISTED}
        counted = {name: _packed(column) for name, column in self.numbers.items() if name not in _LISTED}
        bots, texts, others = list(self.bots), list(self.texts), list(self.others)
        head = list(self.ids), list(self.created), dict(self.names), bots, texts, others, listed
        return _compressed(head), _compressed((list(self.counted_texts), counted))


def unpacked(listed: bytes, counted: bytes | None) -> Columns:
    """The columns that were packed; without `counted` only those that lists need."""
    ids, created, names, bots, texts, no_rows, numbers = marshal.loads(zlib.decompress(listed))  # noqa: S302 - has our seal
    more: Sequence[str] = ()
    if counted is not None:
        more, others = marshal.loads(zlib.decompress(counted))  # noqa: S302 - has our seal
        numbers = {**numbers, **others}
    columns = {name: np.frombuffer(data, dtype=width) for name, (width, data) in numbers.items()}
    return Columns(ids, created, names, bots, texts, more, columns, no_rows)


def _which(values: Sequence[Any], wanted: Callable[[Any], bool]) -> Mask:
    """Which of the values are wanted; one more, so that it may be asked for none."""
    return np.array([*map(wanted, values), False], dtype=np.bool_)


def _compressed(value: tuple[Any, ...]) -> bytes:
    return zlib.compress(marshal.dumps(value, 4), 1)  # a format that all versions of Python read


def _packed(column: Numbers) -> tuple[str, bytes]:
    narrow = _narrow(column)
    return narrow.dtype.str, narrow.tobytes()


def _narrow(column: Numbers) -> Numbers:
    """The same numbers in as few bytes as they fit in."""
    if not column.size:
        return column.astype(_WIDTHS[0][0])
    least, most = int(column.min()), int(column.max())
    return column.astype(next((width for width, bound in _WIDTHS if -bound <= least and most < bound), _WIDEST))


def _column(values: Iterable[int], number: int) -> Numbers:
    """Numbers of more than 64 bits, which no honest record has, become the largest ones."""
    values = list(values)
    try:
        return np.fromiter(values, dtype=np.int64, count=number)
    except OverflowError:
        return np.fromiter((max(-_BOUND, min(value, _BOUND)) for value in values), dtype=np.int64, count=number)


def columns_of(rows: Sequence[MatchRow], others: Sequence[str] = ()) -> Columns:
    """All columns of these matches, in their order. `others` are names of records without a row."""
    bots, texts, counted = Texts(), Texts(), Texts()
    seats = [seat for row in rows for seat in row.seats]
    numbers: dict[str, Numbers] = {"players": _column((len(row.seats) for row in rows), len(rows))}
    for name in ("place", "block"):
        numbers[name] = _column(map(attrgetter(name), rows), len(rows))
    for name in ("tournament", "game", "reason"):
        numbers[name] = _column(map(texts, map(attrgetter(name), rows)), len(rows))
    for name in _SEAT_NUMBERS:
        numbers[name] = _column(map(attrgetter(name), seats), len(seats))
    numbers["fault"] = _column((texts(seat.fault) for seat in seats), len(seats))
    for name in _COUNTED_TEXTS:
        numbers[name] = _column(map(counted, map(attrgetter(name), seats)), len(seats))
    numbers["points"] = _column((seat.points or 0 for seat in seats), len(seats))
    numbers["scored"] = _column((seat.points is not None for seat in seats), len(seats))
    numbers["who"] = _column((bots((seat.entry_id, seat.name, seat.version)) for seat in seats), len(seats))
    return Columns(
        ids=[row.match_id for row in rows],
        created=[row.created_at for row in rows],
        names={
            index: row.stamp.name for index, row in enumerate(rows) if row.stamp.name != row.match_id + CLOSED_SUFFIX
        },
        bots=bots.values,
        texts=texts.values,
        counted_texts=counted.values,
        numbers=numbers,
        others=others,
    )


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the tables share that were selected from one another."""

    bots: Sequence[Who]
    texts: Sequence[str]
    counted_texts: Sequence[str]
    entries: Sequence[str]
    entry_of: NDArray[np.int32]
    """By the place of a bot in `bots`: that of its entry id in `entries`."""
    names: Mapping[str, str]
    """By match id, of the records that are not called as usual."""
    fetch: Fetch


class Outcome(NamedTuple):
    """Of a match, as the schedule needs it: ranking and faults ('' for none) are per seat."""

    match_id: str
    place: int
    ranking: tuple[int, ...]
    faults: tuple[str, ...]


class MatchTable(Sequence[MatchRow]):
    """Matches in the order of the schedule (of several tournaments, by place and id). `[]` and iteration fetch rows."""

    def __init__(
        self,
        shared: _Shared,
        ids: NDArray[np.object_],
        numbers: Mapping[str, Numbers],
        judged: Mapping[str, Sequence[int]],
    ) -> None:
        """`judged` has the rankings, by match id, that take the place of those of the records."""
        self.bots, self.texts, self.counted_texts = shared.bots, shared.texts, shared.counted_texts
        self.entries, self.entry_of = shared.entries, shared.entry_of
        self.ids = ids
        self.numbers = numbers
        self.judged = judged
        self._shared = shared
        ends = np.cumsum(numbers["players"], dtype=np.int64)
        self.first_seats = ends - numbers["players"]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> MatchRow: ...
    @overload
    def __getitem__(self, index: slice) -> "MatchTable": ...
    def __getitem__(self, index: int | slice) -> "MatchRow | MatchTable":
        if isinstance(index, slice):
            return self.only(np.arange(len(self))[index])
        return next(iter(self._rows([self.ids[index]])))

    def __iter__(self) -> Iterator[MatchRow]:
        for first in range(0, len(self), _FETCHED):
            yield from self._rows(list(self.ids[first : first + _FETCHED]))

    def _rows(self, ids: Sequence[str]) -> Iterator[MatchRow]:
        names = self._shared.names
        for row in self._shared.fetch([(one, names.get(one, one + CLOSED_SUFFIX)) for one in ids]):
            ranking = self.judged.get(row.match_id)
            yield row if ranking is None else with_ranking(row, ranking)

    @property
    def have_fault(self) -> Mask:
        """The matches in which a seat had a fault."""
        return self.matches_with(self.seats_where("fault", is_fault))

    @property
    def outcomes(self) -> Iterator[Outcome]:
        """What the schedule needs to know of each match."""
        seats = zip(self.numbers["rank"].tolist(), self.numbers["fault"].tolist(), strict=True)
        for match_id, place, players in zip(
            self.ids, self.numbers["place"].tolist(), self.numbers["players"].tolist(), strict=True
        ):
            own = list(islice(seats, players))
            yield Outcome(match_id, place, tuple(rank for rank, _ in own), tuple(self.texts[fault] for _, fault in own))

    def names_of(self, entries: Container[str]) -> dict[str, str]:
        """The names of those of these entries that have a seat, in the order in which they first played."""
        which = _which(self.bots, lambda who: who[0] in entries)
        there, first = np.unique(self.numbers["who"], return_index=True)
        bots = [self.bots[who] for _, who in sorted(zip(first.tolist(), there.tolist(), strict=True)) if which[who]]
        return {entry_id: name for entry_id, name, _ in bots}

    def only(self, which: Mask | Numbers) -> "MatchTable":
        """The matches with these indices, ascending, or for which the mask is true."""
        if which.dtype == np.bool_:
            if which.all():
                return self
            which = np.flatnonzero(which)
        players = self.numbers["players"][which].astype(np.int64)
        seats = np.repeat(self.first_seats[which] - (np.cumsum(players) - players), players) + np.arange(players.sum())
        numbers = {name: column[seats if name in _OF_SEATS else which] for name, column in self.numbers.items()}
        return MatchTable(self._shared, self.ids[which], numbers, self.judged)

    def without(self, ids: Iterable[str], entries: Iterable[str]) -> "MatchTable":
        """The matches that are not one of these, and in which none of these entries has a seat."""
        gone = set(entries)
        bots = _which(self.bots, lambda who: who[0] in gone)
        kept = ~self.matches_with(bots[self.numbers["who"]])
        kept[self.places_of(ids)] = False
        return self.only(kept)

    def with_rankings(self, judged: Mapping[str, Sequence[int]]) -> tuple["MatchTable", int]:
        """The table in which these matches, by id, have these rankings, and how many of them there are."""
        ranks = self.numbers["rank"].astype(np.int64)
        changed: dict[str, Sequence[int]] = {}
        for index in self.places_of(judged):
            ranking, players = judged[self.ids[index]], self.numbers["players"][index]
            if len(ranking) == players:
                first = self.first_seats[index]
                ranks[first : first + players] = ranking
                changed[self.ids[index]] = ranking
        numbers = {**self.numbers, "rank": _narrow(ranks)}
        return MatchTable(self._shared, self.ids, numbers, {**self.judged, **changed}), len(changed)

    def places_of(self, ids: Iterable[str]) -> list[int]:
        """The indices of those matches that are in the table, ascending."""
        wanted = set(ids)
        return [index for index, match_id in enumerate(self.ids) if match_id in wanted] if wanted else []

    def column(self, name: str) -> NDArray[np.int64]:
        """For calculations, which may need more bits than what is kept."""
        return self.numbers[name].astype(np.int64)

    @property
    def seat_entries(self) -> NDArray[np.int64]:
        """Per seat the place of its entry in `entries`."""
        return self.entry_of[self.numbers["who"]].astype(np.int64)

    @property
    def seat_numbers(self) -> NDArray[np.int64]:
        """Per seat its number in its match, from 0."""
        return np.arange(len(self.numbers["who"])) - np.repeat(self.first_seats, self.numbers["players"])

    @property
    def match_of_seat(self) -> NDArray[np.int64]:
        """Per seat the index of its match."""
        return np.repeat(np.arange(len(self)), self.numbers["players"])

    def seats_where(self, name: str, wanted: Callable[[str], bool]) -> Mask:
        """The seats whose text in this column is wanted."""
        return _which(self.counted_texts if name in _COUNTED_TEXTS else self.texts, wanted)[self.numbers[name]]

    def matches_with(self, seats: Mask) -> Mask:
        """The matches that have one of these seats."""
        found = np.zeros(len(self), dtype=np.bool_)
        found[self.match_of_seat[seats]] = True
        return found

    @property
    def mirrors(self) -> Numbers:
        """The indices of the matches in which an entry has more than one seat."""
        found = np.unique(np.stack((self.match_of_seat, self.seat_entries)), axis=1)[0]
        return np.flatnonzero(np.bincount(found, minlength=len(self)) < self.numbers["players"])

    @property
    def shared(self) -> Numbers:
        """The indices of the matches in which more than one team is the best."""
        best = np.flatnonzero(self.numbers["rank"] == 1)
        teams = np.unique(np.stack((self.match_of_seat[best], self.column("team")[best])), axis=1)[0]
        return np.flatnonzero(np.bincount(teams, minlength=len(self)) > 1)

    def pools(self) -> dict[tuple[str, int], "MatchTable"]:
        """By game and number of players, sorted."""
        first, number = signatures(self.column("game"), self.column("players"))
        found = {
            (self.texts[self.numbers["game"][index]], int(self.numbers["players"][index])): self.only(number == pool)
            for pool, index in enumerate(first.tolist())
        }
        return dict(sorted(found.items()))

    def by_players(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The indices of the matches with equally many seats, and the indices of these seats, a line for each match."""
        players = self.numbers["players"]
        for number in np.unique(players):
            which = np.flatnonzero(players == number)
            yield which, self.first_seats[which][:, None] + np.arange(number)

    @cached_property
    def results(self) -> Counter[Result]:
        """As `leaderboard.results.tally`."""
        found: Counter[Result] = Counter()
        for row, number in self._kinds():
            if (result := result_of(row)) is not None:
                found[result] += number
        return found

    def sketches(self) -> Iterator[MatchRow]:
        """All matches, without what only their records say: with id, tournament, place, game and block, and of each
        seat with bot, team and rank. No row is fetched."""
        seats = zip(*(self.numbers[name].tolist() for name in ("who", "team", "rank")), strict=True)
        columns = (self.numbers[name].tolist() for name in ("tournament", "place", "block", "game", "players"))
        seat_row = cache(self._seat_row)
        for match_id, tournament, place, block, game, players in zip(self.ids, *columns, strict=True):
            seated = tuple(map(seat_row, range(players), islice(seats, players)))
            yield MatchRow(
                match_id, self.texts[tournament], place, block, self.texts[game], 0, *_NOTHING, _NO_FILE, seated
            )

    def _seat_row(self, seat: int, sat: tuple[int, int, int]) -> SeatRow:
        who, team, rank = sat
        return SeatRow(seat, *self.bots[who], team, rank, None, "", 0, 0, 0, 0)

    def _kinds(self) -> Iterator[tuple[MatchRow, int]]:
        """How many matches had the same bots in the same teams with the same ranking, and one of them, of which only
        that is known."""
        tournaments = self.column("tournament")
        for which, seats in self.by_players():
            columns = [self.column(name)[seats] for name in ("who", "team", "rank")]
            first, number = signatures(tournaments[which], *(column for lines in columns for column in lines.T))
            lines = zip(*(column[first].tolist() for column in columns), strict=True)
            names = (self.texts[tournament] for tournament in tournaments[which[first]].tolist())
            for tournament, line, several in zip(names, lines, np.bincount(number).tolist(), strict=True):
                seated = tuple(starmap(self._seat_row, enumerate(zip(*line, strict=True))))
                yield MatchRow("", tournament, 0, 0, "", 0, *_NOTHING, _NO_FILE, seated), several

    def said(self) -> Iterator[str]:
        """Per match `repr` of its id, its place and, per seat, entry id, name, team and rank."""
        bots = [f"({entry_id!r}, {name!r}, " for entry_id, name, _ in self.bots]
        seats = zip(*(self.numbers[name].tolist() for name in ("who", "team", "rank")), strict=True)
        parts = (f"{bots[who]}{team}, {rank})" for who, team, rank in seats)
        for match_id, place, players in zip(
            self.ids, self.numbers["place"].tolist(), self.numbers["players"].tolist(), strict=True
        ):
            yield f"({match_id!r}, {place}, [{', '.join(islice(parts, players))}])"


_NO_FILE = FileStamp("", -1, -1)
_NOTHING = ("", "", 0, 0, "", "", "")
"""Of a match, from `reason` to `created_at`."""


def table_of(matches: Sequence[MatchRow]) -> MatchTable:
    """The table of these matches; they themselves if they are one."""
    if isinstance(matches, MatchTable):
        return matches
    known = {row.match_id: row for row in matches}
    return joined([columns_of(matches)], lambda wanted: (known[match_id] for match_id, _ in wanted))


def sketched(matches: Iterable[MatchRow]) -> Iterable[MatchRow]:
    """The matches, of which no row is fetched (see `MatchTable.sketches`)."""
    return matches.sketches() if isinstance(matches, MatchTable) else matches


def places_of(matches: Sequence[MatchRow]) -> Sequence[int]:
    """Their places in the schedule."""
    if isinstance(matches, MatchTable):
        places: list[int] = matches.numbers["place"].tolist()
        return places
    return [match.place for match in matches]


def joined(parts: Iterable[Columns], fetch: Fetch) -> MatchTable:
    """The table of the matches of all parts."""
    bots, texts, counted = Texts(), Texts(), Texts()
    ids: list[str] = []
    names: dict[str, str] = {}
    found: dict[str, list[Numbers]] = {}
    for part in parts:
        ids += part.ids
        names |= {part.ids[index]: name for index, name in part.names.items()}
        tables = dict.fromkeys(_LISTED_TEXTS, texts.table(part.texts))
        tables |= dict.fromkeys(_COUNTED_TEXTS, counted.table(part.counted_texts))
        tables["who"] = bots.table(part.bots)
        for name, column in part.numbers.items():
            found.setdefault(name, []).append(tables[name][column] if name in tables else column)
        days = texts.table([created[:10] for created in part.created])
        found.setdefault("day", []).append(days)
    if not found:
        return joined([columns_of(())], fetch)
    numbers = {name: _narrow(np.concatenate(found.pop(name))) for name in list(found)}
    entries = Texts()
    entry_of = entries.table([entry_id for entry_id, _, _ in bots.values])
    shared = _Shared(bots.values, texts.values, counted.values, entries.values, entry_of, names, fetch)
    table = MatchTable(shared, _objects(ids), numbers, {})
    place = numbers["place"]
    if len(ids) < 2 or bool((place[1:] > place[:-1]).all()):
        return table
    order = sorted(range(len(ids)), key=lambda index: (place[index], ids[index]))
    return table.only(np.array(order))


def _objects(values: Sequence[str]) -> NDArray[np.object_]:
    made = np.empty(len(values), dtype=np.object_)
    made[:] = values
    return made


def signatures(*columns: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers the different lines of these columns from 0: per number the index of its first line, and per line its
    number."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in columns:
        least, most = (int(column.min()), int(column.max())) if column.size else (0, 0)
        if not 0 <= least <= most < 2**31:
            _, column = np.unique(column, return_inverse=True)
            most = int(column.max())
        if size * (most + 1) >= 2**62:
            _, code = np.unique(code, return_inverse=True)
            size = int(code.max()) + 1
        code = code * (most + 1) + column
        size *= most + 1
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    return first, number


def pairs_of(one: Numbers, other: Numbers) -> Iterator[tuple[int, int, int]]:
    """The different pairs of numbers of two columns, and how often there is each."""
    first, number = signatures(one, other)
    yield from zip(one[first].tolist(), other[first].tolist(), np.bincount(number).tolist(), strict=True)
