"""Values for the cells of a spreadsheet."""


def cell(value: object) -> object:
    """A spreadsheet must not take what a bot calls itself for a formula. A lone "-" is none."""
    if isinstance(value, str):
        shown = "".join(char if char.isprintable() else " " for char in value)
        return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") and shown != "-" else shown
    return value
