"""What a spreadsheet gets."""

import pytest

from leaderboard.export.cells import cell


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("-x", "'-x"),
        ("+x", "'+x"),
        ("@x", "'@x"),
        ("-", "-"),
        ("ann", "ann"),
        (-1.5, -1.5),
        (None, None),
    ],
)
def test_a_name_is_no_formula_and_a_figure_that_is_not_there_is_as_on_the_terminal(
    value: object, shown: object
) -> None:
    """The standings of a knockout had '- in the CSV of the page, and - in that of the command."""
    assert cell(value) == shown
