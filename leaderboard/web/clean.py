"""Text that a bot or a file brought in, as pages show it."""

from referee.texts import clean, one_line

__all__ = ["clean", "one_line"]
