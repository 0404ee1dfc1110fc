"""Times for people: "3 min ago" with the exact time, and durations with one unit."""

from datetime import UTC, datetime

from markupsafe import Markup

from leaderboard.web.hand_ins import Step

_UNITS = ((86400.0, "day"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def ago(text: str, now: datetime | None = None) -> Markup | str:
    """A time (UTC, ISO 8601) as an element that says how long ago it was; '' for no time, the text for what is none."""
    try:
        when = datetime.fromisoformat(text)
        exact = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return text
    seconds = ((now or datetime.now(UTC)) - exact).total_seconds()
    words = f"in {in_time(-seconds)}" if seconds < -1 else f"{in_time(seconds)} ago" if seconds >= 1 else "just now"
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        exact.isoformat(timespec="seconds"), exact.strftime("%Y-%m-%d %H:%M:%S"), words
    )


def took(step: Step) -> str:
    """How long a step took; '' if that is not known."""
    try:
        took_s = (datetime.fromisoformat(step.ended) - datetime.fromisoformat(step.began)).total_seconds()
    except ValueError:
        return ""
    return in_time(max(0.0, took_s))


def in_time(seconds: float) -> str:
    """A duration with one unit."""
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    for size, unit in _UNITS:
        if seconds >= 2 * size or size == 1.0:
            number = round(seconds / size)
            return f"{number} {unit}{'s' if unit == 'day' else ''}"
    raise AssertionError(seconds)
