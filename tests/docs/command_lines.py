"""The `crosstown ...` lines of texts, and the commands that they call."""

import re
import shlex
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from referee.cli.app import make_app

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    path
    for place in ("README.md", "docs", "bots", "referee/games", "tournaments")
    for pattern in ("*.md", "*.toml")
    for path in ([ROOT / place] if (ROOT / place).is_file() else (ROOT / place).rglob(pattern))
    if path.name != "cli.md" and not {"node_modules", "target", "build"} & set(path.parts)
)
"""Where commands stand that a reader copies; `cli.md` is made from the commands themselves."""

PAGES = sorted(path for path in (ROOT / "leaderboard").rglob("*.html") if "<code>crosstown " in path.read_text("utf-8"))
"""Templates of pages that name commands."""


def command_lines(text: str) -> list[str]:
    """The lines of code blocks and comments that begin with `crosstown`, continued lines joined, without comments and
    without what they are piped or written into."""
    found = []
    fenced = False
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        fenced ^= line.startswith("```")
        if fenced or line.startswith(("    ", "#     ")):
            for part in re.split(r"&&|;|\|(?= )|>(?= )", line.removeprefix("#")):
                if re.match(r"(time )?([A-Z_]+=\S+ )*(\.venv/bin/)?crosstown ", part.strip()):
                    found.append(part.strip())
    return found


def spans(text: str) -> list[str]:
    """The `crosstown ...` in running text, some of which leave arguments out."""
    prose = re.sub(r"^```.*?^```|^    [^\n]*", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(span.split()) for span in re.findall(r"`(crosstown\s[^`]+)`", prose)]


def words(line: str) -> list[str]:
    """The words after `crosstown`: the first of `a|b|c`, with what may be left out in brackets."""
    line = line.partition("crosstown ")[2].replace("[", "").replace("]", "")
    given = shlex.split(re.sub(r"(?<=\w)(\|[\w-]+)+", "", line), comments=True)
    return [word for word in given if word != "..."]


def problem(line: str, *, whole: bool = True) -> str:
    """Why the command line does not take these words; '' if it does. Not `whole`: arguments may be left out."""
    command: Any = get_command(make_app())
    rest = words(line)
    while hasattr(command, "commands"):
        name = rest.pop(0) if rest else ""
        if name in ("--help", "--version", "COMMAND") or (not name and not whole):
            return ""
        if name not in command.commands:
            return f"{line}: there is no command {name!r}"
        command = command.commands[name]
    try:
        command.make_context(command.name, rest)
    except typer.Exit:  # --help
        return ""
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        missing = type(error).__name__ == "MissingParameter"
        return "" if missing and not whole else f"{line}: {error.format_message()}"
    return ""
