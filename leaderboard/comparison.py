"""What the blocks of a comparison say: one score per round, in schedule order, handed to the sequential test."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leaderboard.controls import annulled_entries
from leaderboard.records import MatchRow
from leaderboard.sequential import Evidence, Question
from referee.record.journal import Control
from referee.run.run import Run
from referee.schedule.formats.api import BlockResult, MatchScore
from referee.schedule.formats.comparison import NAME, SETTINGS, blocks_in_round
from referee.schedule.progress import ScheduleProgress


class Comparison:
    """The stopping rule of a comparison; called with every complete block, in schedule order.

    A round counts when all its blocks are there; one with a match that could not be played, or with a bot all of whose
    matches are annulled (`left_out`, by number), is left out whole. What comes after the verdict changes nothing.
    """

    def __init__(self, question: Question, blocks_in_round: int, left_out: Collection[int] = ()) -> None:
        self.evidence = Evidence(question)
        self._blocks_in_round = blocks_in_round
        self._left_out = left_out
        self._open: dict[int, list[BlockResult]] = defaultdict(list)

    def __call__(self, block: BlockResult) -> bool:
        """Whether the comparison is decided."""
        if any(bot in self._left_out for match in block.matches for bot in match.bots):
            return False
        number = block.block.round
        blocks = self._open[number]
        blocks.append(block)
        if len(blocks) == self._blocks_in_round:
            self.evidence.add(round_score(self._open.pop(number)))
        return self.evidence.verdict != "undecided"


def left_out(entry_ids: Sequence[str], controls: Sequence[Control]) -> frozenset[int]:
    """The numbers of the bots that were withdrawn, all their matches annulled."""
    annulled = annulled_entries(controls)
    return frozenset(number for number, entry_id in enumerate(entry_ids) if entry_id in annulled)


def round_score(blocks: Sequence[BlockResult]) -> float:
    """A's score in one round, 0.5 where A did as well as B; the mean over games and numbers of seats."""
    by_variant: dict[int, dict[int, float]] = defaultdict(dict)
    for result in blocks:
        side = result.block.group[0]
        by_variant[result.block.variant][side] = _mean([score(match, side) for match in result.matches])
    # Alone in the block A's score says it; where B had its turn under the same conditions, the difference does.
    return _mean([0.5 + (sides[0] - sides[1]) / 2 if 1 in sides else sides[0] for sides in by_variant.values()])


def score(match: MatchScore, bot: int) -> float:
    """The share of the other teams that the bot's team finished before, ties as a half."""
    seat = match.bots.index(bot)
    others = {team: rank for team, rank in zip(match.teams, match.ranking, strict=True) if team != match.teams[seat]}
    rank = match.ranking[seat]
    return _mean([1.0 if rank < other else 0.5 if rank == other else 0.0 for other in others.values()])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.5


@dataclass(frozen=True, slots=True)
class Compared:
    """How a run of `crosstown compare` stands. `path` has after each whole round the evidence that A scores more than
    the lower bound and that it scores less than the upper one."""

    names: tuple[str, str]
    evidence: Evidence
    most_rounds: int
    path: Sequence[tuple[float, float]]

    @property
    def interval(self) -> tuple[float, float]:
        """Of A's mean score; it never contradicts the verdict."""
        return self.evidence.interval(self.evidence.question.alpha + self.evidence.question.beta)

    @property
    def sentence(self) -> str:
        """The verdict for people."""
        (a, b), question = self.names, self.evidence.question
        if self.evidence.verdict == "accepted":
            if question.low == 0.5:
                return f"Accepted: {a} is better than {b}."
            return f"Accepted: {a} scores more than {question.low:.3g} against {b}."
        if self.evidence.verdict == "rejected":
            return f"Rejected: {a} scores less than {question.high:.3g} against {b}."
        return f"No verdict yet: it is open whether {a} scores more than {question.low:.3g} against {b}."


def comparison_of(run: Run, rows: Sequence[MatchRow]) -> Compared | None:
    """How the comparison stands by these rated matches; None for a run of another format."""
    if not run.begun or run.configuration["format"] != NAME:
        return None
    config = run.schedule_config
    rule = Comparison(
        Question(**{setting.name: config.field.settings.get(setting.name, setting.default) for setting in SETTINGS}),
        blocks_in_round(config.field),
        left_out([seat.entry_id for seat in config.participants], run.controls),
    )
    path: list[tuple[float, float]] = []

    def note(block: BlockResult) -> None:
        if not block.complete or progress.schedule.beyond(block.place):
            return
        before = len(rule.evidence.scores)
        rule(block)
        if len(rule.evidence.scores) > before:
            path.append((rule.evidence.against_low, rule.evidence.against_high))

    progress = ScheduleProgress(config, run.controls, rows, note)
    for _ in progress:
        pass
    a, b = config.participants[:2]
    return Compared((a.name, b.name), rule.evidence, run.configuration["blocks"], path)
