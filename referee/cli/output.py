"""What commands print: tables through rich for people, plain text in pipes, JSON and CSV for programs."""

import csv
import errno
import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

from referee.errors import PlatformError, UsageError
from referee.folders import temporary_beside
from referee.texts import one_line, plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from leaderboard.standings import Standing
    from leaderboard.usage import Spent

PIPE_WIDTH = 4000
"""Columns where nobody looks on: no name is ever cut or folded there."""


class QuietStream:
    """A text stream that swallows the end of its reader: `crosstown ... | head` is no error, and never stops a run.

    Whatever else keeps it from being written is kept in `error`, for `settle` to raise after the last line; of stdout
    also in `lost`, for the end of the command.
    """

    lost: ClassVar[OSError | None] = None

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = stream.encoding
        self.closed_by_reader = False
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        if not self.closed_by_reader:
            try:
                return self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        if not self.closed_by_reader:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def settle(self) -> None:
        """Flush. PlatformError if something kept output from being written."""
        self.flush()
        if self.error is not None:
            raise output_lost(self.error)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def _give_up(self, error: OSError) -> None:
        """What is buffered goes nowhere, so that the interpreter does not trip over it at its end."""
        self.closed_by_reader = True
        if not isinstance(error, BrokenPipeError):
            self.error = error
            if self._stream is sys.stdout:
                QuietStream.lost = error
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


def output_lost(error: OSError) -> PlatformError:
    """The error for output that could not be written. A command prints after what it does, and `extend` that
    is entered again would make a run longer twice."""
    step = "free some space; the command may have done its work: look at that before you enter it again"
    return PlatformError(f"the output cannot be written: {error.strerror}", step)


def console(*, stderr: bool = False) -> "Console":
    """A rich console on stdout or stderr: colours and the terminal's width there, plain and wide in a pipe. No text is
    markup: names of bots, stages and machines may have brackets in them."""
    from rich.console import Console

    stream: Any = QuietStream(sys.stderr if stderr else sys.stdout)
    if stream.isatty():
        return Console(file=stream, highlight=False, markup=False)
    return Console(file=stream, width=PIPE_WIDTH, highlight=False, markup=False, color_system=None, soft_wrap=True)


def table(headings: Sequence[tuple[str, str]], *, plain: bool = True) -> "Table":
    """An empty table. `headings` are (text, "left" or "right"). With `print_table` nothing in it is ever cut."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="" if plain else "bold")
    for text, side in headings:
        made.add_column(text, justify="left" if side == "left" else "right", no_wrap=True)
    return made


def print_table(out: "Console", made: "Table") -> None:
    """Print a table in full: columns closer together where the terminal is narrow; it wraps what is longer still."""
    from rich.console import Console

    def needed() -> int:
        return out.measure(made, options=out.options.update(max_width=PIPE_WIDTH)).maximum

    if needed() > out.width:
        made.collapse_padding = True
    # The terminal's own width would make rich cut words, so the lines are made elsewhere.
    lines = io.StringIO()
    coloured = out.is_terminal and not out.no_color
    Console(
        file=lines,
        width=needed(),
        highlight=False,
        markup=False,
        force_terminal=coloured,
        color_system="auto" if coloured else None,
    ).print(made)
    out.file.write("\n".join(line.rstrip() for line in lines.getvalue().splitlines()) + "\n")
    if isinstance(out.file, QuietStream):
        out.file.settle()


def print_columns(headings: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
    """A table as `table` and `print_table` make it, without their library, which takes longer to import than some
    commands run. The cells are lines of text that no terminal obeys."""
    names, sides = zip(*headings, strict=True)
    lines = [names, *rows]
    widths = [max(map(_cells, column)) for column in zip(*lines, strict=True)]
    people = sys.stdout.isatty()
    narrow = people and sum(widths) + 2 * (len(widths) - 1) > shutil.get_terminal_size().columns
    text = [(" " if narrow else "  ").join(map(_padded, line, widths, sides)).rstrip() for line in lines]
    if people and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        text[0] = f"\x1b[1m{text[0]}\x1b[0m"
    print_text("\n".join(text))


def _padded(cell: str, width: int, side: str) -> str:
    fill = " " * (width - _cells(cell))
    return cell + fill if side == "left" else fill + cell


def _cells(text: str) -> int:
    """How wide a terminal shows it: some letters take two cells, others none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def print_text(text: str = "") -> None:
    stream = QuietStream(sys.stdout)
    stream.write(text + "\n")
    stream.settle()


def fold(line: str, indent: str = "    ") -> list[str]:
    """A line of text as a terminal of its width shows it best: folded between words, what follows indented. Whole in a
    pipe."""
    if not sys.stdout.isatty():
        return [line]
    width = max(shutil.get_terminal_size().columns, 2 * len(indent))
    return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) if len(line) > width else [line]


def print_json(value: object) -> None:
    """One JSON document on stdout, readable, but with nothing in it that a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    print_text("".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text))


def print_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """For programs, and for spreadsheets, which must not take the name of a bot for a formula."""
    from leaderboard.export.cells import cell

    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in row.items()} for row in rows)
    stream = QuietStream(sys.stdout)
    stream.write(text.getvalue())
    stream.settle()


def duration(seconds: float) -> str:
    """Short, for people: 12.3 s, 4 min 10 s, 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def fault_text(faults: Mapping[str, int]) -> str:
    """'crashed 1, move_timeout 2', or '-'."""
    return one_line(", ".join(f"{reason} {number}" for reason, number in faults.items()) or "-")


def print_standings(rows: Sequence["Standing"], caption: str) -> None:
    """The leaderboard on stdout: one table per game and number of players, and in it per group of bots that have met;
    and what has become of entries."""
    from rich.text import Text

    from leaderboard.standings import apart
    from leaderboard.titles import names_apart

    out = console()
    pools: dict[tuple[str, int], list[Standing]] = {}
    for row in rows:
        pools.setdefault((row.game, row.players), []).append(row)
    for (game, players), pool in pools.items():
        if len(pools) > 1:
            out.print(Text(f"{one_line(game)}, {plural(players, 'player')}"))
        groups: dict[int | None, list[Standing]] = {}
        for row in pool:
            groups.setdefault(row.group, []).append(row)
        several = len(groups.keys() - {None}) > 1
        for group, met in groups.items() if several else [(None, pool)]:
            if several:
                out.print(Text("not rated" if group is None else f"group {group}, which has not met the others"))
            print_table(out, _standings_table(met, plain=not out.is_terminal))
    names = names_apart({row.entry_id: row.name for row in rows})
    for entry_id, note in dict.fromkeys((row.entry_id, row.note) for row in rows if row.note):
        out.print(Text(f"{one_line(names[entry_id])}: {one_line(note)}"))
    out.print(Text(" ".join(part for part in (caption, apart(rows)) if part)))


def _standings_table(rows: Sequence["Standing"], *, plain: bool) -> "Table":
    from rich.text import Text

    official = any(row.low is not None for row in rows)
    headings = [("rank", "right"), ("bot", "left"), ("version", "left"), ("entry", "left"), ("mu", "right")]
    headings += [("+-", "right")] if official else [("sigma", "right")]
    headings += [("mu-3sigma", "right")]
    headings += [("> next", "right"), ("Elo", "right"), ("live mu", "right")] if official else []
    more = list(dict.fromkeys(name for row in rows for name in row.more)) if official else []
    headings += [(name, "right") for name in more]
    mirrors = any(row.mirrors for row in rows)
    counts = ("played", "won", "drawn", "lost", *(("mirrors",) if mirrors else ()), "mean ms", "worst ms", "lag ms")
    used = USAGE_HEADINGS if any(row.usage for row in rows) else ()
    made = table([*headings, *[(name, "right") for name in (*counts, *used)], ("faults", "left")], plain=plain)
    for row in rows:
        if row.mu is None or row.sigma is None or row.conservative is None:
            cells = ["unrated", "-", "-"]
        else:
            width = (row.high - row.low) / 2 if row.high is not None and row.low is not None else row.sigma
            cells = [f"{row.mu:.2f}", f"{width:.2f}", f"{row.conservative:.2f}"]
        if official:
            cells += [
                "-" if row.better is None else f"{row.better:.1%}",
                "-" if row.elo is None or row.elo_error is None else f"{row.elo:+.0f} +-{row.elo_error:.0f}",
                "-" if row.live_mu is None else f"{row.live_mu:.2f}",
                *[f"{row.more[name]['mu']:.2f}" if name in row.more else "-" for name in more],
            ]
        made.add_row(
            "-" if row.rank is None else str(row.rank),
            Text(one_line(row.name)),  # a name is never markup
            Text(one_line(row.version)),
            Text(one_line(row.entry_id[:8])),
            *cells,
            str(row.played),
            str(row.won),
            str(row.drawn),
            str(row.lost),
            *([str(row.mirrors)] if mirrors else []),
            _milliseconds(row.mean_move_ms),
            _milliseconds(row.worst_move_ms),
            _milliseconds(row.worst_lag_ms),
            *(_usage_cells(row.usage) if used else ()),
            Text(fault_text(row.faults)),
        )
    return made


USAGE_HEADINGS = ("requests", "failed", "prompt tok", "reply tok", "wait s", "cost")
"""Additional columns of tables in which some bot reported provider usage."""


def _usage_cells(used: "Spent | None") -> list[str]:
    from leaderboard.usage import dollars, failed_requests

    if used is None:
        return ["-"] * len(USAGE_HEADINGS)
    return [
        f"{used['requests']:.0f}",
        str(failed_requests(used)),
        f"{used['prompt_tokens']:.0f}",
        f"{used['reply_tokens']:.0f}",
        f"{used['wait_s']:.1f}",
        dollars(used["cost_dollars"]),
    ]


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def write_whole(path: Path, text: str, otherwise: str) -> None:
    """The whole file or nothing of it, with the folders that lead to it. UsageError for a path
    that can be no file, PlatformError; the next step of both is `otherwise`."""
    from referee.run.folder import output_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = output_file(path, otherwise)
        temporary = temporary_beside(whole)
        try:
            with temporary.open("x", encoding="utf-8", errors="replace") as file:  # follows no link
                file.write(text)
            temporary.replace(whole)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EEXIST):
            raise UsageError(f"cannot write {path}: {error.strerror}", otherwise) from None
        raise PlatformError(f"cannot write {path}: {error.strerror}", otherwise) from error
