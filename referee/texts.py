"""Text that a bot or a file brought in, made fit for a terminal or a page. Escaping for HTML is the page's own work."""

MOST = 2000
"""Characters of one text that are shown; the record has all of it."""


def clean(text: object, most: int = MOST) -> str:
    """Control, format and direction characters are written out as escapes; lines are kept; the rest is cut."""
    whole = str(text)
    shown = "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode("ascii")
        for char in whole[:most]
    )
    return shown if len(whole) <= most else f"{shown}... ({len(whole) - most} more characters)"


def one_line(text: object, most: int = MOST) -> str:
    """The same, with line ends written out."""
    return clean(text, most).replace("\n", "\\n")
