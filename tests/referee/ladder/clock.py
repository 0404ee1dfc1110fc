"""A clock for tests of the ladder."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Stands still until a test moves it, also back."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 29, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)
