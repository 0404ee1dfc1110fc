"""What `/api/v1` answers about runs: types, and a sentence for each field that needs one.

Text that a bot or a file brought in is text: escape it before you show it.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """A request that was refused. Nothing was changed."""

    error: str = Field(description="One sentence on what is wrong.")
    next_step: str = Field("", description="What to do; empty where there is nothing to do.")


class Runs(BaseModel):
    runs: list[str] = Field(description="Names of the run folders, the one that changed last first.")


Warnings = Annotated[
    list[str], Field(description="What is wrong with the journal or the records as a whole; empty where nothing is.")
]
Total = Annotated[int | None, Field(description="Matches that the run wants; null where that is not known.")]
AtMost = Annotated[bool, Field(description="Whether fewer matches than the total may be played.")]


class ComingMatch(BaseModel):
    """A match of the schedule that has no result yet."""

    match_id: str
    place: int
    block: int
    game: str
    names: list[str]


class UnusableRecord(BaseModel):
    """A record that does not count."""

    file: str
    status: str


class Run(BaseModel):
    """How far a run is, what comes next, and what does not count."""

    run: str
    title: str
    matches: int = Field(description="Matches that count.")
    total: Total
    at_most: AtMost
    state: str = Field(
        description="finished, going on, stopped, cut off (the runner was killed), not begun, no tournament, journal"
        " damaged or journal lost; empty where that is not known."
    )
    facts: dict[str, str]
    warnings: Warnings
    trouble: str = Field(description="Why these are the tables of some time ago; empty where they are not.")
    live: list[str] = Field(description="Ids of the matches that go on and may be watched.")
    coming: list[ComingMatch]
    unusable: list[UnusableRecord]


class Rating(BaseModel):
    """What another rating model says."""

    mu: float
    sigma: float


class Used(BaseModel):
    """The usage of a provider such as that of a language model, as the bot reported it, over its matches."""

    matches: int = Field(description="Matches in which the bot reported usage.")
    requests: int
    prompt_tokens: int
    reply_tokens: int
    provider_errors: int = Field(description="Requests without a usable reply.")
    unreadable: int = Field(description="Replies of another form than the bot asked for.")
    wait_s: float
    cost_dollars: float


class StandingRow(BaseModel):
    """One bot in one table. `rank`, `mu` and all that is computed from ratings are null for a bot that is not rated."""

    rank: int | None
    name: str
    version: str
    entry_id: str
    mu: float | None
    sigma: float | None
    conservative: float | None = Field(description="mu - 3 sigma, by which the table is ranked.")
    played: int
    won: int
    drawn: int
    lost: int
    faults: dict[str, int] = Field(description="Faults by end reason.")
    mean_move_ms: float | None
    worst_move_ms: float | None
    mean_lag_ms: float | None
    worst_lag_ms: float | None
    game: str
    players: int
    low: float | None = Field(description="Lower end of the 95 % interval of mu.")
    high: float | None = Field(description="Upper end of the 95 % interval of mu.")
    better: float | None = Field(description="Probability that the bot is stronger than the next row's.")
    elo: float | None
    elo_error: float | None
    live_mu: float | None
    live_sigma: float | None
    forfeited: int
    note: str = Field(description="What has become of the bot; empty for nothing.")
    settled: bool
    mirrors: int = Field(description="Matches against itself, which are not rated.")
    group: int | None = Field(description="Groups of bots that have met; each group is ranked for itself.")
    more: dict[str, Rating] = Field(description="Ratings of the models that were added, by name.")
    usage: Used | None = Field(
        default=None,
        exclude_if=lambda used: used is None,
        description="Provider usage that the bot reported; left out for a bot that reported none.",
    )
    rated: bool


class Standings(BaseModel):
    """The tables of a run, one after another for each game and number of players."""

    run: str
    matches: int
    total: Total
    at_most: AtMost
    warnings: Warnings
    standings: list[StandingRow]
    apart: str = Field(description="A sentence if groups of bots have never met; empty if all have met.")
    caption: str = Field(description="What organisers decided about the matches; empty for nothing.")
    placings: list[dict[str, Any]] = Field(
        description="The table of the format, such as Swiss or knockout, best first; empty where it has none."
    )
    placings_final: bool = Field(description="Whether the schedule has ended.")
    placings_gap: str = Field(description="The first match without a result, if later ones have one.")
    placings_notes: list[str] = Field(description="What the format's table does not show, in sentences.")


class PlayedMatch(BaseModel):
    """A match of one bot."""

    match_id: str
    seat: int
    rank: int
    fault: str
    mirror: bool = Field(description="A match of the bot against itself, which is not rated.")


class FailedStarts(BaseModel):
    """What kept a bot from starting: attempts, and the last one of them."""

    entry_id: str
    name: str
    attempts: int
    match_id: str
    when: str
    why: str
    last_output: str


class Bot(BaseModel):
    """One bot version in a run: its rows of the tables, and its matches, the last first."""

    run: str
    standings: list[StandingRow]
    total: int = Field(description="Matches in all.")
    matches: list[PlayedMatch]
    startups_us: list[int] = Field(description="How long its processes took until Hello, the last first.")
    startup_limit_s: float | None = Field(description="How long they may take; null where there is no tournament.")
    failed_starts: FailedStarts | None


class Seat(BaseModel):
    """One seat of a match. Rank 1 is the best; ties share a rank. Times are in microseconds."""

    seat: int
    entry_id: str
    name: str
    version: str
    team: int
    rank: int
    points: int | None
    fault: str
    decisions: int
    total_us: int
    worst_us: int
    cpu_us: int
    startup_us: int
    lag_us: int
    worst_lag_us: int


class MatchRow(BaseModel):
    """One match that counts."""

    match_id: str
    tournament: str
    place: int = Field(description="Index in the schedule.")
    block: int
    game: str
    rules_version: int
    reason: str
    detail: str
    decisions: int
    wall_us: int
    seed: str
    state_hash: str
    created_at: str
    seats: list[Seat]
    mirror: bool = Field(description="A match of a bot against itself, which is not rated.")
    round: int | None = Field(description="Counted from 1; null where the format does not pair round by round.")
    table: int | None = Field(description="Table in the round, from 1; null where the format has none.")
    stage: str = Field(description="Stage and group, for a tournament with several stages; otherwise empty.")


class Matches(BaseModel):
    """Matches in the order of the schedule."""

    total: int = Field(description="Matches in all.")
    matches: list[MatchRow]


class RecordProblem(BaseModel):
    """What is wrong with a record."""

    line: int
    what: str


class Match(BaseModel):
    """One match without its steps."""

    header: dict[str, Any] = Field(description="The record's header: `crosstown docs records`.")
    live: bool
    footer: dict[str, Any] | None = Field(description="The record's footer; null until the match is over.")
    problems: list[RecordProblem]
    last_step: int
    wrong: str = Field(description="Why the record cannot be followed to its end; empty if it can.")


class FrameLine(BaseModel):
    """A line of the record. An `answer` has times in microseconds and a note; a `fault` has texts; `resigned` is no
    fault."""

    kind: Literal["chance", "answer", "fault", "resigned", "dropped"]
    text: str
    words: str | None = Field(None, description="Of a fault or a resignation: what its seat did, as a sentence.")
    seat: int | None = None
    wall_us: int | None = None
    cpu_us: int | None = None
    lag_us: int | None = None
    note: str | None = None
    texts: list[tuple[str, str]] | None = Field(
        None, description="Name and text of what the referee kept of a fault, the last output among it."
    )


class MoveRow(BaseModel):
    """A line of the list of moves, as far as a step has it. The last frame with its `start` has it whole."""

    start: int = Field(description="The first step of the line.")
    move: int = Field(description="The number of its first answer, from 1; 0 for the set-up.")
    turn: int = Field(description="The number of the turn, from 1; 0 for the set-up.")
    seat: int = Field(description="Whose turn it is; -1 if it is no seat's.")
    text: str
    fault: bool


class Frame(BaseModel):
    """What happened at one step, and the board after it."""

    step: int
    lines: list[FrameLine]
    events: list[str]
    board: list[int] = Field(
        description="Indexes into `parts`: put together in this order, they are an SVG element. Its style sheet is at"
        " /static/board.css."
    )
    wrong: str = Field(description="Why there are no more frames; empty if the record can be followed.")
    row: MoveRow | None = Field(None, description="The line of the list of moves that the step is part of.")
    points: list[int] = Field([], description="Points by seat; empty if the game does not tell them.")


class Frames(BaseModel):
    """Steps of a match. While it goes on, no action, chance outcome or note is given."""

    parts: list[str]
    frames: list[Frame]
    seats: list[str] = Field(description="Names of the bots by seat.")
    live: bool
