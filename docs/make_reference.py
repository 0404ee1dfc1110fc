"""Write `docs/cli.md`, the reference of all commands, from the command line itself.

python docs/make_reference.py
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from referee.cli.main import make_app

PAGE = Path(__file__).parent / "cli.md"

HEAD = """# Command line

After reading this page you know every command of `crosstown`, its arguments and its options.

Generated from the commands by `python docs/make_reference.py`. `crosstown COMMAND --help` prints the same text.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(reference(), encoding="utf-8")


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
