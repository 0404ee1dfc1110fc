"""The documentation is complete, and its generated and its listed parts are what the code says."""

import importlib.util
import json
import re
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from crosstown_env import GAMES

from referee.cli.game_data import data_page
from referee.games.registry import get_game
from referee.schedule.formats.registry import own_formats
from referee.schedule.formats.scores import TIE_BREAKS
from referee.schedule.spec import CLOCK_KEYS, RESOURCE_KEYS, Limits
from referee.tournament import bot_sections, config, sections

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
CONFIGURATION = (DOCS / "configuration.md").read_text(encoding="utf-8")
ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")


def navigation(value: Any) -> list[str]:
    """The pages of a part of `nav`, in order."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [page for part in parts for page in navigation(part)]


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation_once() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(navigation(site["nav"])) == PAGES


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("protocol/")])
def test_a_page_begins_with_what_the_reader_can_do_after_it(page: str) -> None:
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert lines[2].startswith("After reading this page you ")


def test_the_reference_of_commands_is_that_of_the_command_line() -> None:
    made = load_script("make_reference").reference()
    assert made == (DOCS / "cli.md").read_text(encoding="utf-8"), "run python docs/make_reference.py"


@pytest.mark.parametrize("game", GAMES)
def test_the_page_of_a_game_is_that_of_its_data_and_arrays(game: str) -> None:
    page = DOCS / "games" / f"{game}.md"
    assert data_page(get_game(game)) == page.read_text(encoding="utf-8"), "run python docs/make_reference.py"


def test_the_reference_of_the_api_is_that_of_its_description() -> None:
    made = load_script("make_reference").api_reference()
    assert made == (DOCS / "api.md").read_text(encoding="utf-8"), "run python docs/make_reference.py"


def rows(heading: str) -> dict[str, str]:
    """Key and default of each row of the table below a heading of the page of keys."""
    text = CONFIGURATION.split(f"\n{heading}\n")[1]
    part = re.split(r"^##", text, maxsplit=1, flags=re.MULTILINE)[0]
    return dict(re.findall(r"^\| `\[?(\w+)\]?` \| (.*?) \|", part, re.MULTILINE))


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("### Top level", set(config._KEYS) - {"games", "options"}),
        ("### `[clock]`", set(CLOCK_KEYS)),
        ("### `[limits]`", set(sections.LIMIT_KEYS)),
        ("### `[sandbox]`", set(bot_sections.SANDBOX_KEYS)),
        ("### `[faults]`", set(sections.FAULT_KEYS)),
        ("### `[breaker]`", set(sections.BREAKER_KEYS)),
        ("### `[executor]`", set(bot_sections.EXECUTOR_KEYS)),
        ("### `[remote]`", set(bot_sections.REMOTE_KEYS)),
        ("### `[[bots]]`", set(bot_sections.BOT_KEYS)),
        ("## bot.toml", set(json.loads((DOCS / "bot.schema.json").read_text())["properties"])),
    ],
)
def test_a_table_of_keys_has_every_key(heading: str, keys: set[str]) -> None:
    assert set(rows(heading)) == keys


def test_the_keys_of_games_and_the_tables_of_the_file_are_named() -> None:
    text = CONFIGURATION.split("### `[[games]]`")[1].split("###")[0]
    assert set(re.findall(r"`(\w+)`", text)) == set(sections.GAME_KEYS)
    assert all(f"[{table}]" in CONFIGURATION for table in config._TABLES)


@pytest.mark.parametrize("heading", ["### `[clock]`", "### `[limits]`"])
def test_the_defaults_of_limits_are_those_of_the_code(heading: str) -> None:
    defaults = asdict(Limits())
    assert {name: float(default.removesuffix(", none")) for name, default in rows(heading).items()} == {
        name: defaults[name] for name in rows(heading)
    }


def test_every_setting_of_a_format_is_listed() -> None:
    text = CONFIGURATION.split("### Settings of a format")[1].split("\n## ")[0]
    listed: dict[str, list[str]] = {}
    table = ""
    for name, key in re.findall(r"^\| (?:`\[{1,2}([\w-]+)\]{1,2}`)? ?\| `(\w+)` \|", text, re.MULTILINE):
        table = name or table
        listed.setdefault(table, []).append(key)
    public = [style for style in own_formats() if style.name != "compare"]
    assert listed == {style.name: [setting.name for setting in style.settings] for style in public}


def test_the_limits_of_a_bot_are_named() -> None:
    row = next(line for line in CONFIGURATION.splitlines() if line.startswith("| `limits` |"))
    assert set(RESOURCE_KEYS) <= set(re.findall(r"`(\w+)`", row))


def test_every_path_on_the_page_of_the_architecture_is_there() -> None:
    """Shortened paths are in the folder of the path before them in the same cell."""
    missing = []
    for line in ARCHITECTURE.splitlines():
        folder = ROOT
        for path in re.findall(r"`([\w./<>-]+(?:\.\w+|/))`", line):
            if "<" in path:
                continue
            whole = ROOT / path if "/" in path else folder / path
            folder = whole.parent if "/" in path else folder
            if not whole.exists():
                missing.append(path)
    assert missing == []


def test_where_to_change_what_has_its_rows_of_few_files() -> None:
    table = ARCHITECTURE.split("## Where to change what")[1]
    files = [row.split(" | ")[1].count("`") // 2 for row in table.splitlines() if row.startswith("| ")][2:]
    assert len(files) >= 12
    assert all(1 <= number <= 4 for number in files)


def test_the_glossary_is_in_alphabetical_order() -> None:
    words = re.findall(r"^\| ([a-z].*?) \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)[1:]
    assert words == sorted(words)


def test_every_tie_break_is_defined_as_it_is_computed() -> None:
    text = (DOCS / "formats.md").read_text(encoding="utf-8").split("### Tie-breaks")[1].split("\n## ")[0]
    defined = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", text, re.MULTILINE))
    assert defined == {name: about for name, (_, about) in TIE_BREAKS.items()}
