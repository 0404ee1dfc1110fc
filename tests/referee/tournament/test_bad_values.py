"""Every key of the tournament file and of bot.toml with values that cannot be: refused with the right reason."""

import math
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ConfigError
from referee.process.manifest import ManifestError, parse_manifest
from referee.schedule.formats.registry import own_formats
from referee.schedule.spec import CLOCK_KEYS, RESOURCE_KEYS, Limits, SpecError, out_of_bounds
from referee.tournament.config import load_config
from referee.tournament.entrants import load_tournament
from referee.tournament.sections import LEAST, MOST
from tests.sentences import says

HUGE = 9_000_000_000_000_000_000
BOTS = '[[bots]]\npath = "a"\n[[bots]]\npath = "b"\n'
LIMIT_NAMES = tuple(Limits.__dataclass_fields__)
WHOLE = tuple(name for name in LIMIT_NAMES if name.endswith("_bytes") or (name in RESOURCE_KEYS and name != "cores"))


def refusal(write_file: Any, key: str, value: str, table: str = "", bot: str = "") -> str:
    """The sentence about `key = value` in this table, or inside of the first bot."""
    top = {"game": '"toy"', "seed": "1", "blocks": "2"}
    if not table and not bot:
        top[key] = value
    lines = [f"{name} = {text}" for name, text in top.items()]
    if table and not bot:
        lines.append(f"[{table}]\n{key} = {value}")
    bots = BOTS.replace('"a"\n', f'"a"\n{bot}\n', 1) if bot else BOTS
    path = write_file("\n".join(lines) + "\n" + bots)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.next_step
    assert str(path) in str(caught.value)
    return str(caught.value)


def table_of(name: str) -> str:
    return "clock" if name in CLOCK_KEYS else "limits"


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_each_limit_says_which_bound_a_number_is_beyond(write_file, name):
    highest = MOST.get(name, 2**31 - 1)
    table, key = table_of(name), f"'{table_of(name)}.{name}'"
    if name not in WHOLE:
        assert f"{key} must be a number, not nan" in refusal(write_file, name, "nan", table)
        assert f"{key} must be at most {highest}, not inf" in refusal(write_file, name, "inf", table)
        assert f"{key} must be at least" in refusal(write_file, name, "-inf", table)
    else:
        assert f"{key} must be whole, not 1.5" in refusal(write_file, name, "1.5", table)
        assert "0.001" not in refusal(write_file, name, "-1", table)
    assert f"{key} must be at most {highest}, not {HUGE}" in refusal(write_file, name, str(HUGE), table)
    assert f"{key} must be at least" in refusal(write_file, name, "-1", table)
    for value in ('"1"', "true", "[1]"):
        assert f"{key} must be a number, not" in refusal(write_file, name, value, table)


@pytest.mark.parametrize("name", [*CLOCK_KEYS, *RESOURCE_KEYS])
def test_the_limits_of_one_bot_are_held_to_the_same_bounds(write_file, name):
    inner = f"{table_of(name)} = {{ {name} = {HUGE} }}"
    assert f".{name}' must be at most {MOST.get(name, 2**31 - 1)}, not {HUGE}" in refusal(write_file, "", "", bot=inner)


@pytest.mark.parametrize(("name", "least"), LEAST.items())
def test_a_limit_with_which_no_bot_can_start_is_refused_with_the_least_one(write_file, write_bot, name, least):
    value = "0.001" if least < 1 else "1"
    told = refusal(write_file, name, value, table_of(name))
    bound = f"{least:g}{', or 0 for no limit' if name in RESOURCE_KEYS else ''}"
    assert f"'{table_of(name)}.{name}' must be at least {bound}, not {value}: no bot can start with less" in told
    assert f"must be at least {bound}, not -1" in refusal(write_file, name, "-1", table_of(name))
    if name in RESOURCE_KEYS:
        inner = f"limits = {{ {name} = {value} }}"
        assert f"must be at least {least:g}" in refusal(write_file, "", "", bot=inner)
    fits = write_file(f'game = "toy"\nseed = 1\nblocks = 2\n[{table_of(name)}]\n{name} = {least}\n{BOTS}')
    assert getattr(load_config(fits).limits, name) == least


@pytest.mark.parametrize("name", RESOURCE_KEYS)
def test_0_is_no_limit_of_a_resource_for_all_bots_and_for_one(write_file, name):
    top = 'game = "toy"\nseed = 1\nblocks = 2\n'
    assert getattr(load_config(write_file(f"{top}[limits]\n{name} = 0\n{BOTS}")).limits, name) == 0
    bot = f'[[bots]]\npath = "c"\nlimits = {{ {name} = 0 }}\n{BOTS}'
    assert load_config(write_file(top + bot)).bots[0].clock == {name: 0}


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_what_is_no_number_is_shown_as_the_file_has_it_and_cut(write_file, name):
    table = table_of(name)
    assert f"'{table}.{name}' must be a number, not true" in refusal(write_file, name, "true", table)
    assert len(refusal(write_file, name, f'"{"x" * 3000}"', table)) < 300


@pytest.mark.parametrize("key", ["game", "format", "on_bad_entry", "stop_when"])
def test_a_long_word_that_is_unknown_is_cut(write_file, key):
    assert len(refusal(write_file, key, f'"{"x" * 3000}"')) < 400


@pytest.mark.parametrize("key", ["listen", "public"])
def test_a_long_address_is_cut(write_file, key):
    more = "" if key == "listen" else 'listen = "127.0.0.1:0"\n'
    assert len(refusal(write_file, key, f'"{"x" * 3000}"\n{more}', "remote")) < 300


@pytest.mark.parametrize("key", ["data", "openings", "entries"])
def test_a_long_path_is_cut_and_the_reason_behind_it_is_not(write_file, key):
    told = refusal(write_file, key, f'"{"x" * 3000}"')
    assert len(told) < 800
    assert told.endswith(("cannot be read (File name too long)", "has no opening positions"))


def test_a_long_path_of_a_bot_is_cut(write_file):
    path = write_file(f'game = "toy"\nseed = 1\nblocks = 1\n[[bots]]\npath = "{"x" * 3000}"\n{BOTS}')
    with pytest.raises(ConfigError) as caught:
        load_tournament(path)
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize("key", ["game", "format", "data", "openings", "entries", "stop_when"])
def test_a_zero_byte_in_a_text_is_told(write_file, key):
    assert f"'{key}' has a zero byte in it" in refusal(write_file, key, '"a\\u0000b"')


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [("seed", -(2**63), 2**63 - 1), ("blocks", 1, 10_000_000), ("players", 1, 64)],
)
@pytest.mark.parametrize("value", ["nan", "inf", "1.5", '"1"', "true"])
def test_a_whole_number_at_the_top_names_its_range(write_file, key, low, high, value):
    assert f"'{key}' must be an integer from {low} to {high}, not" in refusal(write_file, key, value)


@pytest.mark.parametrize(
    ("table", "key", "low", "high"), [("faults", "strikes", 0, 1_000_000), ("breaker", "in_a_row", 1, 1000)]
)
@pytest.mark.parametrize("value", ["-1", str(HUGE), "nan", '"1"', "true"])
def test_a_whole_number_in_a_table_names_its_range(write_file, table, key, low, high, value):
    assert f"'{table}.{key}' must be an integer from {low} to {high}, not" in refusal(write_file, key, value, table)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "setting"), [(style, one) for style in own_formats() for one in style.settings], ids=lambda one: one.name
)
@pytest.mark.parametrize("value", ["nan", "-inf", str(HUGE), '"x"', "[]", "{}"])
def test_every_setting_of_every_format_refuses_what_it_is_not(write_file, style, setting, value):
    table, key = (f"[[{style.name}]]", rf"{style.name}\[1\]") if style.repeated else (f"[{style.name}]", style.name)
    text = f'game = "toy"\nformat = "{style.name}"\nseed = 1\nblocks = 2\n{table}\n{setting.name} = {value}\n'
    if (style.name, setting.name, value) == ("stages", "name", '"x"'):
        return  # any text is a name
    with pytest.raises(ConfigError, match=f"'{key}.{setting.name}' must be "):
        load_config(write_file(text + BOTS))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[swiss]\nrounds = 3", "'swiss' belongs to format = \"swiss\", and the format here is round-robin"),
        ("[knockout]", "'knockout' belongs to format = \"knockout\", and the format here is round-robin"),
        ("[round-robin]\nrounds = 3", "'rounds' belongs in [swiss], for format = \"swiss\", and the format here is"),
        ("rounds = 3", "'rounds' belongs in [swiss], for format = \"swiss\""),
        ("same_seeds = true", "'same_seeds' belongs in [round-robin]"),
        ("move_s = 3", "'move_s' belongs in [clock]"),
        ("[clock]\nmemory_mib = 64", "'memory_mib' belongs in [limits]"),
        ("[limits]\nmove_s = 3", "'move_s' belongs in [clock]"),
        ("strikes = 3", "'strikes' belongs in [faults]"),
        ('listen = "0.0.0.0:7000"', "'listen' belongs in [remote]"),
        ("plain = true", "'plain' belongs in [remote]"),
        ('profile = "strict"', "'profile' belongs in [sandbox], or for one bot as sandbox"),
        ('kind = "dask"', "'kind' belongs in [executor]"),
        ("[limits]\nplayers = 2", "'players' belongs at the top of the file, or in [[games]]"),
        ('club = "north"', "'club' belongs in [[bots]]"),
        ("[clock]\nseed = 3", "'seed' belongs at the top of the file"),
    ],
)
def test_a_key_in_the_wrong_place_says_where_it_belongs(write_file, text, words):
    where = "game" if not text.startswith("[") else ""
    top = 'game = "toy"\nseed = 1\nblocks = 2\n'
    with pytest.raises(ConfigError) as caught:
        load_config(write_file(f"{text}\n{top}{BOTS}" if where else f"{top}{text}\n{BOTS}"))
    assert words in str(caught.value)
    assert "move it, or remove it; the keys here are: " in caught.value.next_step


@pytest.mark.parametrize("key", ["name", "format", "game", "data"])
def test_an_empty_text_at_the_top_is_said_to_be_empty(write_file, key):
    assert f"'{key}' is empty" in refusal(write_file, key, '""')


@pytest.mark.parametrize("key", ["path", "name", "sandbox"])
def test_an_empty_text_of_a_bot_is_said_to_be_empty(write_file, key):
    bot = f'[[bots]]\n{key} = ""\n' + ("" if key == "path" else 'path = "a"\n')
    with pytest.raises(ConfigError, match=rf"'bots\[1\].{key}' is empty"):
        load_config(write_file(f'game = "toy"\nseed = 1\nblocks = 2\n{bot}{BOTS}'))


@pytest.mark.parametrize(("key", "may"), [("path", False), ("name", True)])
def test_only_a_line_that_is_not_needed_may_be_left_out(write_file, key, may):
    bot = f'[[bots]]\n{key} = ""\n' + ("" if key == "path" else 'path = "a"\n')
    with pytest.raises(ConfigError) as caught:
        load_config(write_file(f'game = "toy"\nseed = 1\nblocks = 2\n{bot}{BOTS}'))
    assert ("leave the line out" in caught.value.next_step) is may


@pytest.mark.parametrize("value", ["1", "-1"])
def test_the_example_of_a_count_of_bytes_is_a_whole_number(write_file, value):
    with pytest.raises(ConfigError) as caught:
        load_config(write_file(f'game = "toy"\nseed = 1\nblocks = 2\n[limits]\nmax_message_bytes = {value}\n{BOTS}'))
    assert caught.value.next_step == "write, for instance, max_message_bytes = 1048576"


MANIFEST = {"name": '"A"', "version": '"1"', "games": '["*"]', "run": '["x"]', "build": '["make"]', "fetch": '["f"]'}


@pytest.mark.parametrize("key", [*MANIFEST, "toolchain"])
@pytest.mark.parametrize("value", ["1", "nan", "true", "{}", "empty", "[1]"])
def test_every_key_of_a_bot_refuses_what_it_is_not(key, value):
    lists = key not in ("name", "version")
    if value == "empty":
        value = "[]" if lists else '""'
    values = MANIFEST | {key: value}
    text = "\n".join(f"{name} = {item}" for name, item in values.items())
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, Path("bot.toml"))
    place = list(values).index(key) + 1
    wanted = "is empty; write" if value in ("[]", '""') else "must be a"
    assert f"bot.toml:{place}: '{key}' {wanted}" in caught.value.sentence


def test_an_empty_word_in_a_command_is_said_to_be_empty():
    text = "\n".join(f"{name} = {item}" for name, item in (MANIFEST | {"run": '["x", ""]'}).items())
    with pytest.raises(ManifestError, check=says("'run' has an empty word; write")):
        parse_manifest(text, Path("bot.toml"))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.5, "must be at least 1, not 0.5"),
        (11, "must be at most 10, not 11"),
        (math.inf, "must be at most 10, not inf"),
        (-math.inf, "must be at least 1, not -inf"),
        (math.nan, "must be a number, not nan"),
        (1, ""),
        (10, ""),
    ],
)
def test_a_number_beyond_a_bound_names_that_bound(value, said):
    assert out_of_bounds(value, 1, 10) == said


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_limits_from_elsewhere_are_held_to_the_same_bounds(name):
    for value in (math.nan, math.inf, -math.inf, HUGE, -1):
        with pytest.raises(SpecError, match=f"limit {name} must be"):
            Limits(**{"total_s": 1, name: value})


REMOTE = '[remote]\nlisten = "127.0.0.1:7000"\n'
GAMES = '[[games]]\ngame = "toy"\n'
WHERE = {
    "the top": "",
    "a game": "games[1]",
    "clock": "clock",
    "limits": "limits",
    "faults": "faults",
    "breaker": "breaker",
    "sandbox": "sandbox",
    "remote": "remote",
    "a bot": "bots[1]",
    "the clock of a bot": "bots[1].clock",
    "the limits of a bot": "bots[1].limits",
}

FITS = {
    ("", "seed", str(-HUGE)),
    ("bots[1]", "options", "{ zzz = 1 }"),  # the bot knows its options
    *((where, key, "[]") for where in ("sandbox", "bots[1]") for key in ("read", "env", "devices")),
}


def with_line(where: str, line: str) -> str:
    """A tournament file in which the table `where` has this line first."""
    name = line.partition(" ")[0]
    top = "".join(f"{key}\n" for key in ("seed = 1", "blocks = 2") if not key.startswith(f"{name} "))
    game = "" if name in ("game", "games") and not where else 'game = "toy"\n'
    if where == "":
        return f"{line}\n{game}{top}{'' if name == 'bots' else BOTS}"
    if where == "games[1]":
        return f"{top}[[games]]\n{line}\n{'' if name == 'game' else game}{BOTS}"
    if where.startswith("bots[1]"):
        inner = where.partition(".")[2]
        path = "" if name == "path" else 'path = "a"\n'
        return f"{game}{top}[[bots]]\n{f'{inner} = {{ {line} }}' if inner else line}\n{path}{BOTS}"
    listen = 'listen = "127.0.0.1:7000"\n' if where == "remote" and name != "listen" else ""
    return f"{game}{top}[{where}]\n{line}\n{listen}{BOTS}"


def keys_of(where: str, file: Path) -> list[str]:
    """What may stand there, as the sentence about an unknown key lists it."""
    file.write_text(with_line(where, "zzz = 1"))
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    listed = caught.value.next_step.rpartition("the keys here are: ")[2]
    return [key.strip() for key in listed.split(",")]


@pytest.mark.slow
@pytest.mark.parametrize("value", ["2026-01-01", "[[1]]", "{ zzz = 1 }", "nan", '"\\u0000"', "[]", '""', str(-HUGE)])
@pytest.mark.parametrize("where", WHERE.values(), ids=list(WHERE))
def test_every_key_of_a_file_refuses_a_value_of_another_kind_by_its_name(tmp_path, where, value):
    file = tmp_path / "cup.toml"
    keys = keys_of(where, file)
    assert len(keys) > 1
    for key in keys:
        file.write_text(with_line(where, f"{key} = {value}"))
        if (where, key, value) in FITS:
            load_config(file)
            continue
        with pytest.raises(ConfigError) as caught:
            load_config(file)
        named = str(caught.value).replace("'", "")
        named_otherwise = "unknown game" in named if key == "game" else "zzz" in value and "zzz" in named
        assert f"{where}.{key}".lstrip(".") in named or named_otherwise, named
        assert caught.value.next_step
