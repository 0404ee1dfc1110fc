"""What `crosstown matches list` prints. Imports little: it is asked for often."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from referee.cli.output import print_columns, print_json, print_text
from referee.texts import one_line

if TYPE_CHECKING:
    from referee.record.journal import FailedStart
    from referee.run.folder import RunFolder


def print_list(rows: Sequence[dict[str, Any]], total: int, *, filtered: bool, void: bool, as_json: bool) -> None:
    """One line for each match, of `total` that there are. `void`: those that do not count were looked at, too."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        others = "" if void else "; --void also lists records that do not count"
        print_text(f"no match is like that{others}" if filtered else "no match counts yet")
        return
    rounds = any(row["round"] for row in rows)
    tables = any(row["table"] for row in rows)
    stages = any(row["stage"] for row in rows)
    runs = any(row["run"] for row in rows)
    headings = [
        *([("run", "left")] if runs else []), ("match", "left"), ("when", "left"),
        *([("stage", "left")] if stages else []), *([("round", "right")] if rounds else []),
        *([("table", "right")] if tables else []), ("game", "left"), ("seats", "left"), ("ranking", "left"),
        ("status", "left"), ("reason", "left"), ("moves", "right"), ("s", "right"),
    ]  # fmt: skip
    lines: list[list[str]] = []
    for row in rows:
        ranks = [str(seat["rank"]) for seat in row["seats"] if seat["rank"] is not None]
        cells = (
            *([row["run"] or "-"] if runs else []), row["match"], row["created_at"][:16],
            *([row["stage"] or "-"] if stages else []), *([str(row["round"] or "-")] if rounds else []),
            *([str(row["table"] or "-")] if tables else []), row["game"],
            " ".join(seat["name"] + " (person)" * seat["person"] for seat in row["seats"]),
            (" ".join(ranks) or "-") + ("*" if row["judged_again"] else ""),
            (row["progress"] or row["status"]) + (f", set aside: {row['set_aside']}" if row["set_aside"] else ""),
            row["problem"] or row["reason"] or "-", str(row["decisions"]),
            f"{row['wall_s']:.1f}",
        )  # fmt: skip
        lines.append([one_line(cell) for cell in cells])
    print_columns(headings, lines)
    if len(rows) < total:
        print_text(f"the last {len(rows)} of {total} matches; all of them: --all")
    if any(row["judged_again"] for row in rows):
        print_text("* as the organiser decided; the record has another ranking")


def print_failed_starts(found: "Sequence[tuple[RunFolder, FailedStart]]") -> None:
    """Bots that did not start have no match that counts for it: what kept them, below the list."""
    for folder, start in found:
        first, *more = start.lines
        print_text(one_line(f"{folder.path.name}: {first}"))
        for line in more:
            print_text(one_line(line))
