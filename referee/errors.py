"""The errors that a person may meet. Each says what is wrong, where, and what to do next."""

from pathlib import Path


class ExpectedError(Exception):
    """Base of the errors that a person may meet: `str()` is one sentence on what is wrong, `next_step` one on what to
    do. The games, which import nothing of this, have a base of their own with the same field."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(what)
        self.next_step = next_step

    @property
    def sentence(self) -> str:
        """Both in one, for places with room for one."""
        return f"{self}; {self.next_step}"


class TournamentError(ExpectedError):
    """Base of what can stand in the way of a tournament."""


class ConfigError(TournamentError):
    """A tournament file, or a bot it names, that cannot be used. `line` counts from 1, None where unknown; `what` is
    the sentence without either. Of a long sentence the middle is left out: it may have a text of the file in it."""

    def __init__(self, path: Path, line: int | None, what: str, next_step: str) -> None:
        what = without_middle(what, _MOST, _MOST - _MOST // 3, _MOST // 3)
        super().__init__(f"{path}{'' if line is None else f':{line}'}: {what}", next_step)
        self.path = path
        self.line = line
        self.what = what


_MOST = 600
"""Characters of a sentence about a file."""


def without_middle(sentence: str, most: int, begin: int, end: int) -> str:
    """Of a sentence of more than `most` characters so many of its begin and of its end: with a long text in it, the
    reason stands behind that."""
    return sentence if len(sentence) <= most else f"{sentence[:begin]}...{sentence[-end:]}"


def why_unread(error: Exception) -> str:
    """Why a file cannot be read, for a sentence that has its path: without the number that the system gives an error,
    and without what only its author could make sense of."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, TypeError | LookupError | AttributeError):
        return "something in it is missing or in the wrong place"
    return str(getattr(error, "strerror", None) or error)


class ChangedError(TournamentError):
    """The run in the folder was started with another configuration. `changes` has a line for each difference."""

    def __init__(self, what: str, next_step: str, changes: tuple[str, ...]) -> None:
        super().__init__(what, next_step)
        self.changes = changes


class BusyError(TournamentError):
    """Another runner is at work in the folder."""


class JournalError(TournamentError):
    """The journal in the run folder is damaged."""


class PlatformError(TournamentError):
    """The machine does not let the run go on: disk, sockets, processes. What was played is kept."""


class UsageError(TournamentError):
    """A request that makes no sense here."""
