"""Every command helps a reader, and every command line and every TOML example in a text is one that Crosstown takes."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_tree import commands
from tests.docs.command_lines import PAGES, ROOT, TEXTS, command_lines, problem, spans, words

COMMANDS = [pytest.param(words, command, id=" ".join(words)) for words, command in commands()]
COLUMNS = 76
"""Of the 80 of a terminal, what is left for an example: it is copied from one line."""


@pytest.mark.slow
@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_a_command_shows_an_example_of_itself_that_fits_on_a_line(words: Sequence[str], command: Any) -> None:
    examples = re.findall(r"^Example: (.*)$", command.help, re.MULTILINE)
    assert len(examples) == 1
    assert command.help.endswith(f"\n\nExample: {examples[0]}")
    assert f"{examples[0]} ".startswith(f"crosstown {' '.join(words)} ")
    assert len(f"Example: {examples[0]}") <= COLUMNS
    assert problem(examples[0]) == ""


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_an_option_says_what_its_value_looks_like(words: Sequence[str], command: Any) -> None:
    """By a word in capitals, by the choices or by its parts, and those that have parts also by an example."""
    for option in command.params:
        if option.param_type_name == "argument" or option.is_flag or option.name == "help":
            continue
        assert option.metavar, f"{option.opts[0]} has no metavar"
        assert re.fullmatch(r"[A-Z_:=.]+( [A-Z]+)*|[a-z]+(\|[a-z]+)+", option.metavar), option.metavar
        if option.metavar in ("HOST:PORT", "NAME=VALUE", "NAME=SECONDS", "NAME=NUMBER", "LOW HIGH", "TIME", "HEX"):
            assert "such as" in option.help, f"{option.opts[0]} shows no example"


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_the_help_is_in_whole_sentences(words: Sequence[str], command: Any) -> None:
    texts = [command.help.partition("\n\n")[0], *(one.help for one in command.params if one.name != "help")]
    assert [text for text in texts if not text[0].isupper() and not text.startswith(("--", "html"))] == []
    assert [text for text in texts if not text.endswith(".")] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_line_of_a_text_can_be_typed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [wrong for line in command_lines(text) if (wrong := problem(line))] == []
    assert [wrong for line in spans(text) if (wrong := problem(line, whole=False))] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_line_of_a_page_can_be_typed(path: Path) -> None:
    """One that has an argument is whole; `crosstown match --output` is not."""
    lines = re.findall(r"<code>(crosstown [^<]+)</code>", re.sub(r"{{.*?}}", "X", path.read_text(encoding="utf-8")))
    shown = [(line, not words(line)[-1].startswith("-") and line.count(" ") > 2) for line in lines]
    assert [wrong for line, whole in shown if (wrong := problem(line, whole=whole))] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_command_of_a_text_has_run_into_the_comment_of_another(path: Path) -> None:
    """As when lines of a code block are filled like a paragraph: of two commands a reader's shell runs the first."""
    names = "|".join({words[0] for words, _ in commands()})
    lines = command_lines(path.read_text(encoding="utf-8"))
    assert [line for line in lines if re.search(rf"#.*\bcrosstown ({names})\b", line)] == []


def test_command_lines_are_found_and_refused() -> None:
    text = "```\ncrosstown run a.toml --workers 2   # fast\ncrosstown \\\n  runn a\n```\n\n    crosstown docs | less\n"
    first, second, third = command_lines(text)
    assert problem(first) == ""
    assert "there is no command 'runn'" in problem(second)
    assert problem(third) == ""
    assert "--worker" in problem("crosstown run a.toml --worker 2")
    assert "FILE" in problem("crosstown run")
    assert problem("crosstown run", whole=False) == ""
    assert spans("Use `crosstown run` and `crosstown\nmatch`.\n\n```\n`crosstown no`\n```\n") == [
        "crosstown run", "crosstown match"
    ]  # fmt: skip


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_example_in_toml_can_be_read(path: Path) -> None:
    for block in re.findall(r"^```toml\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        tomllib.loads(block)
