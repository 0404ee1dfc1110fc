"""Write the generated pages: `cli.md` from the command line itself, `api.md` from the description of `/api/v1`, and
`games/` from the games.

python docs/make_reference.py
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crosstown_env import GAMES
from starlette.datastructures import State
from typer.main import get_command

from leaderboard.web.v1.app import make_api
from leaderboard.web.v1.loading import Operation, operations_of
from referee.cli.app import make_app
from referee.cli.game_data import data_page
from referee.games.registry import get_game

PAGE = Path(__file__).parent / "cli.md"

HEAD = """# Command line

After reading this page you know every command of `crosstown`, its arguments and its options.

Generated from the commands by `python docs/make_reference.py`. `crosstown COMMAND --help` prints the same text.
"""


API_PAGE = PAGE.with_name("api.md")

GAME_PAGES = PAGE.with_name("games")

API_HEAD = """# API

After reading this page you know every operation of `/api/v1`, which `crosstown web` answers in JSON.

Generated from the description of the interface by `python docs/make_reference.py`. A running server has this list at
`/api`, where operations that only read can be tried, and the whole description with all types at
`/api/v1/openapi.json`. Neither needs the internet.

    curl -s localhost:8000/api/v1/runs/first/standings | jq '.standings[] | {name, mu, low, high}'

- A refused request has a status from 400 on and the JSON object `{"error": "what is wrong", "next_step": "..."}`.
- Values in a path are percent-encoded, as usual. Text from bots is text: escape it before you show it.
- Within `/api/v1`, operations and fields are added but not removed, renamed or given another meaning.
- Addresses of older versions, `/api/runs` and below, answer as before.
- Only the operations below "Runs" are there on every server; the others need a ladder.
- A program sends its token as `Authorization: Bearer TOKEN`. A browser's session may change something only from a page
  of the server.

Hand in a version of the bot `mine`:

    curl -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: $(sha256sum mine.zip)" \\
        -H "Content-Type: application/zip" --data-binary @mine.zip localhost:8000/api/v1/bots/mine/versions
"""


def main() -> None:
    """Write the pages."""
    PAGE.write_text(reference(), encoding="utf-8")
    API_PAGE.write_text(api_reference(), encoding="utf-8")
    GAME_PAGES.mkdir(exist_ok=True)
    for game in GAMES:
        (GAME_PAGES / f"{game}.md").write_text(data_page(get_game(game)), encoding="utf-8")


def api_reference() -> str:
    """The text of the page about the API."""
    described = make_api(State(), with_ladder=True).openapi()
    parts, tag = [API_HEAD], ""
    for operation in operations_of(described):
        if operation.tag != tag:
            tag = operation.tag
            parts.append(f"## {tag}\n")
        parts += _operation(operation, described["servers"][0]["url"])
    return "\n".join(parts)


def _operation(operation: Operation, prefix: str) -> list[str]:
    parts = [f"### {operation.method} {prefix}{operation.path}\n", f"{operation.text}\n"]
    if operation.body:
        parts.append(f"Body: {operation.body}. Answer: {operation.answer}.\n")
    else:
        parts.append(f"Answer: {operation.answer}.\n")
    rows = [
        f"| `{one.name}` | {one.place}{'' if one.required else ', optional'} | {_cell(one.meaning)} |"
        for one in operation.parameters
    ]
    return [*parts, *(["| value | in | meaning |", "| --- | --- | --- |", *rows, ""] if rows else [])]


def reference() -> str:
    """The text of the page."""
    root = get_command(make_app())
    context = root.make_context("crosstown", [], resilient_parsing=True)
    parts = [HEAD, f"{_text(root.help)}\n", _options(root, context)]
    parts += [part for name, command in _commands(root, "crosstown") for part in _section(name, command)]
    return "\n".join(part for part in parts if part)


def _commands(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """(full name, command) of every command in a group and in the groups below it."""
    for name, command in group.commands.items():
        full = f"{prefix} {name}"
        if hasattr(command, "commands"):
            yield from _commands(command, full)
        else:
            yield full, command


def _section(name: str, command: Any) -> list[str]:
    context = command.context_class(command, info_name=name)
    words = " ".join(["[OPTIONS]", *(_metavar(one) for one in command.params if _is_argument(one))])
    return [f"## {name}\n", f"    {name} {words}\n", f"{_text(command.help)}\n", _options(command, context)]


def _options(command: Any, context: Any) -> str:
    """A table of all arguments and options."""
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or parameter.name == "help":
            continue
        left, right = record
        if _is_argument(parameter):
            left = _metavar(parameter).strip("[]")
        rows.append(f"| `{_cell(left)}` | {_cell(right)} |")
    return "\n".join(["| argument or option | meaning |", "| --- | --- |", *rows, ""]) if rows else ""


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _metavar(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("[].").upper()
    name += "..." if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


def _text(help_text: str | None) -> str:
    """The help of a command, with its example as code."""
    text = inspect.cleandoc(help_text or "")
    return re.sub(r"^Example: (.*)$", r"Example: `\1`", text, flags=re.MULTILINE)


if __name__ == "__main__":
    main()
