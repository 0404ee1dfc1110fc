"""A format's own table for people: Swiss points, a knockout's rounds."""

from leaderboard.account import FormatTable
from referee.cli.output import console, print_table, print_text, table
from referee.texts import one_line


def print_format_table(shown: FormatTable) -> None:
    """On stdout; nothing where the format has none."""
    if not shown.rows:
        return
    from rich.text import Text

    out = console()
    columns = [(name, "left" if name == "name" else "right") for name in shown.columns]
    made = table(columns, plain=not out.is_terminal)
    for row in shown.rows:
        made.add_row(*[Text(one_line(str(row[name]))) for name in shown.columns])
    print_text(f"\n{shown.title}:")
    print_table(out, made)
    for note in shown.notes:
        print_text(one_line(note))


def csv_columns(shown: FormatTable, entry_id: str) -> dict[str, object]:
    """The row of one entry for a table that has other columns too."""
    row = next((row for row in shown.rows if row["entry_id"] == entry_id), None)
    figures = [name for name in shown.columns if name != "name"]
    return {f"{shown.format} {name}": "" if row is None else row[name] for name in figures}
