"""What an error says to a person, for `pytest.raises(..., check=says(...))`."""

import re
from collections.abc import Callable

from referee.errors import ExpectedError


def says(pattern: str) -> Callable[[ExpectedError], bool]:
    """Whether the pattern is found in what is wrong and what to do, joined by a semicolon."""
    return lambda error: re.search(pattern, error.sentence) is not None
