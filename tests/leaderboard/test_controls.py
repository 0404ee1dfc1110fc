"""What controls make of the matches of a run."""

from leaderboard.controls import Missed, apply_controls
from referee.record.journal import Control


def test_nobody_loses_by_missing_an_entry_whose_matches_are_annulled():
    controls = [
        Control("withdrawn", 3, entry_id="a", choice="losses"),
        Control("disabled", 5, entry_id="b", choice="annul"),
    ]
    missed = [Missed("toy", 2, pair) for pair in (("a", "b"), ("a", "c"), ("c", "a"), ("b", "c"))]
    assert apply_controls([], controls, missed).forfeits == {("a", "toy", 2): 2}
