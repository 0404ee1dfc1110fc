"""The models beside the official and the live table. One entry here adds a model to tables, JSON and CSV."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from leaderboard.ratings import elo
from leaderboard.ratings.skill import Skill
from leaderboard.records import MatchRow


class RatingModel(Protocol):
    """Rates every entry that occurs in the rated matches of one game and number of players."""

    def __call__(self, matches: Sequence[MatchRow], anchors: Mapping[str, float], /) -> Mapping[str, Skill]:
        """Mean and standard error by entry id, on any scale. `matches` are in schedule order; one that
        `leaderboard.results.result_of` has no result of changes no rating. `anchors` are the ratings that are fixed, in
        Elo points by entry id; a model on another scale may leave them aside."""


MODELS: dict[str, RatingModel] = {"elo": elo.rate}
