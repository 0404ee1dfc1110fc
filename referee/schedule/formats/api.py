"""What a format is: a generator of blocks that asks for results when it needs them, and for nothing else.

    def plan(field):                        # deterministic: no clock, no randomness but `field.tie_break`
        for number in range(field.settings["rounds"]):
            answer = yield Need()             # everything so far is settled: a barrier
            for group in pair_up(answer):
                yield Block(group)
        return [Placing(...), ...]          # the final table, or []

`yield Block(...)` puts one block into the schedule: a group of bots that plays all orders of seats on one seed. The
blocks are numbered in the order in which they are yielded. `yield Need(n)` waits until the first n blocks are settled
and brings the results that are new since the last Need, in schedule order. A plan sees results by no other way, so
how many tables there are, and which match ends first, cannot change what it yields.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to play: a game with a number of seats. `orders` are the orders of seats in which a block is played.

    Each order has per seat a position in the group; `teams` has per seat the number of its team.
    """

    game: str
    players: int
    teams: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Field:
    """Who enters and what is played. Bots are numbers from 0 in the order of the file, which is also their seeding.

    `names` are those of the bots that were there from the beginning, `late` of those that joined since; `blocks` is the
    file's `blocks` and means what the format says; `settings` are the format's own, complete. For each bot, those that
    join later too, `games` has the games that it plays, an empty one for all of them, and `clubs` its club, '' for
    none; both are empty where no bot has any.
    """

    names: tuple[str, ...]
    variants: tuple[Variant, ...]
    seed: int
    blocks: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    games: tuple[tuple[str, ...], ...] = ()
    late: tuple[str, ...] = ()
    clubs: tuple[str, ...] = ()

    @property
    def bots(self) -> int:
        return len(self.names)

    def name_of(self, bot: int) -> str:
        """As sentences have it."""
        names = (*self.names, *self.late)
        return f"'{names[bot]}'" if bot < len(names) else f"bot {bot + 1}"

    def players(self, bots: Iterable[int], game: str) -> list[int]:
        """Those of the bots that play this game."""
        return [bot for bot in bots if not (bot < len(self.games) and self.games[bot]) or game in self.games[bot]]

    def tie_break(self, *words: str | int) -> int:
        """64 bits that depend on the seed and `words` alone: to break ties without preferring anyone."""
        text = "\x1f".join(map(str, (self.seed, *words)))
        return int.from_bytes(blake2b(text.encode(), digest_size=8, person=b"crosstown-luck").digest())


@dataclass(frozen=True, slots=True)
class Block:
    """`group` plays one block of a variant (an index into `Field.variants`).

    Blocks of the same `seed_group` are played on the same seed; None: on a seed of its own. `round`, the number of the
    `table` in it, both from 1, and the name of the `stage` are for people. With `one_match` the group plays only one
    match, with its first member on the first seat.
    """

    group: tuple[int, ...]
    variant: int = 0
    round: int = 0
    seed_group: int | None = None
    table: int = 0
    stage: str = ""
    one_match: bool = False


def seatings(block: Block, variant: Variant) -> list[tuple[int, ...]]:
    """The matches of a block: per match the bots by seat."""
    orders = (tuple(range(variant.players)),) if block.one_match else variant.orders
    return list(dict.fromkeys(tuple(block.group[member] for member in order) for order in orders))


@dataclass(frozen=True, slots=True)
class Need:
    """Go on when the first `blocks` blocks are settled; None: all that were yielded."""

    blocks: int | None = None


@dataclass(frozen=True, slots=True)
class MatchScore:
    """How one scheduled match was settled.

    Per seat: `bots` (numbers), `entries` (ids), `ranking` (1 the best, ties share) and `faults` (end reason or '';
    one that a strike paid for is none).
    `ranking` is empty where the match does not count: `absent` are then the bots that were out by then, if any.
    """

    place: int
    match_id: str
    game: str
    bots: tuple[int, ...]
    entries: tuple[str, ...]
    teams: tuple[int, ...]
    ranking: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    absent: tuple[int, ...] = ()

    @property
    def counts(self) -> bool:
        return bool(self.ranking)


@dataclass(frozen=True, slots=True)
class BlockResult:
    """A settled block: all its matches in schedule order. `place` is that of its first match; `present` are the bots
    that were in the run there and play its game."""

    number: int
    place: int
    block: Block
    matches: tuple[MatchScore, ...]
    present: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every match counts."""
        return all(match.counts for match in self.matches)


@dataclass(frozen=True, slots=True)
class RoundResults:
    """The answer to a Need: blocks settled since the last one, and who is in as of the place that was asked for.

    `bots` is how many have ever entered (later ones have higher numbers), `absent` those who are out. `over`: someone
    looks at a run that is not finished; nothing more will come, and what is wanted is the table as it stands. `length`
    is how long the schedule is as of that place where it was extended, by the keys of `Format.lengths`.
    """

    results: tuple[BlockResult, ...]
    bots: int
    absent: frozenset[int]
    over: bool = False
    length: Mapping[str, float] = field(default_factory=dict)

    @property
    def present(self) -> tuple[int, ...]:
        return tuple(bot for bot in range(self.bots) if bot not in self.absent)


@dataclass(frozen=True, slots=True)
class Placing:
    """One row of a format's own final table. `columns` are further figures for people, such as points."""

    bot: int
    rank: int
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence about the schedule, for people: what could not be done as the file asks for it, and why."""

    text: str


@dataclass(frozen=True, slots=True)
class Byes:
    """These bots sit out a round. For people: points of byes are the format's business."""

    bots: tuple[int, ...]
    round: int
    stage: str = ""


Step: TypeAlias = Block | Need | Notice | Byes
Plan: TypeAlias = Generator[Step, RoundResults | None, Sequence[Placing]]
"""Answers: RoundResults to a Need, None to everything else."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How many matches a schedule has. `least == most` where that does not depend on results."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the format's own table in the tournament file.

    `kind`: whole, number, flag, text, word (one of `choices`), words (a list of different `choices`), bots (a list of
    names of bots, at least one), groups (a list of lists of at least two bots), rounds (a list of tables, each with a
    `round` and a list of `bots`), or seeding (bots in an order, or the path of a file from which it is taken).
    `default` None: it may be left out, and what then happens is said in `about`. `later`: the setting came into being
    when there were runs already; the configuration of a run has it only where the file has it.
    """

    name: str
    kind: Literal["whole", "number", "flag", "bots", "text", "word", "words", "groups", "rounds", "seeding"]
    default: Any
    about: str
    minimum: float = 0
    maximum: float = 10_000_000
    choices: tuple[str, ...] = ()
    later: bool = False

    def names(self, value: Any) -> list[str]:
        """The names of bots in a value of this setting."""
        match self.kind, value:
            case "bots" | "seeding", list():  # a tuple was taken from a file, which may name others, too
                return list(value)
            case "groups", list() | tuple():
                return [name for group in value for name in group]
            case "rounds", list() | tuple():
                return [name for table in value for name in table["bots"]]
        return []


@dataclass(frozen=True, slots=True)
class Format:
    """A format under its name. All functions are pure.

    `check` returns '' or a sentence on why this field cannot play it; `extent` counts the matches where nobody leaves
    or joins. `uses_results`: whether the plan looks at results; if not, none are kept for it. `has_table`: whether the
    plan ends in a table of its own, at a Need whose answer is `over` too. `per` says what the file's `blocks` are
    counted for, such as "per group". `classes` has, by what they are called, the bots that are to be treated alike;
    None: all bots are one class. `lengths` has what says how long the schedule of a field is, by the keys of a
    tournament file; the plan goes by `RoundResults.length` where that has such a key. `journalled`: who meets whom
    depends on time, so the blocks are events of the run's journal instead of the plan's; a tournament file cannot ask
    for such a format. `by_game`: a bot need not play every game; it is seated only in those that it plays. `repeated`:
    the settings are those of each table of a list, one for each stage, each with the settings of the stage's own
    format.
    """

    name: str
    title: str
    settings: tuple[Setting, ...]
    plan: Callable[[Field], Plan]
    extent: Callable[[Field], Extent]
    check: Callable[[Field], str]
    uses_results: bool = True
    has_table: bool = False
    per: str = ""
    classes: Callable[[Field], Mapping[str, Sequence[int]]] | None = None
    lengths: Callable[[Field], Mapping[str, float]] = lambda field: {}
    journalled: bool = False
    by_game: bool = False
    repeated: bool = False


def by_blocks(field: Field) -> Mapping[str, float]:
    """The length of a schedule of `blocks` blocks, whatever they are counted for."""
    return {"blocks": field.blocks}


def lengthened(field: Field, length: Mapping[str, float]) -> Field:
    """The field of a schedule that is so long from the beginning."""
    settings = {**field.settings, **{key: value for key, value in length.items() if key != "blocks"}}
    return replace(field, blocks=int(length.get("blocks", field.blocks)), settings=settings)


def answered(answer: RoundResults | None) -> RoundResults:
    """The answer to a Need, for the type checker: `answer = answered((yield Need()))`."""
    assert answer is not None
    return answer


def seats_problem(entrants: Field) -> str:
    """The check that most formats share: '' if there are bots for every variant."""
    for variant in sorted(entrants.variants, key=lambda variant: -variant.players):
        number = len(entrants.players(range(entrants.bots), variant.game))
        if number < variant.players:
            have = "the file has" if number == entrants.bots else "the number of bots in the file that play it is"
            return f"a match of {variant.game} needs {variant.players} bots, {have} {number}"
    return ""
