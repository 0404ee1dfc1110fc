"""`bot.toml`: what is accepted, and one helpful sentence for everything else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.process.manifest import _NO_KEY, Manifest, ManifestError, load_manifest, parse_manifest
from tests.sentences import says

GOOD = """\
name = "Rush"
version = "1.2"
games = ["shibuya", "toy"]
run = ["{python}", "bot.py"]
build = ["make", "all"]

[options]
depth = 3
style = "bold"
ponder = false
"""
PATH = Path("bots/rush/bot.toml")


def test_a_whole_manifest_is_read() -> None:
    assert parse_manifest(GOOD, PATH) == Manifest(
        name="Rush",
        version="1.2",
        games=("shibuya", "toy"),
        run=("{python}", "bot.py"),
        build=("make", "all"),
        options={"depth": 3, "style": "bold", "ponder": False},
    )


@pytest.mark.parametrize("unit", ['\\"""\n', '"""', '\\"', "'''", '"""\\', '""""\n', '"\\\n'])
def test_quotes_without_an_end_are_read_once(unit: str) -> None:
    """Each was searched to the end of the text: 64 KiB took ten seconds."""
    text = unit * 1000
    matches = [match.span() for match in _NO_KEY.finditer(text)]
    assert all(end > start for start, end in matches)
    assert sum(end - start for start, end in matches) >= text.count(unit.strip("\\\n"))


def test_a_line_of_many_spaces_is_looked_through_once() -> None:
    """An expression for headers was cubic in them: the 60,000 that a manifest may have took days."""
    line = "[" + " " * 60_000
    text = GOOD.replace('name = "Rush"', f'name = """\n{line}\n"""\nzz = 1')
    with pytest.raises(ManifestError, match="'zz'"):
        parse_manifest(text, PATH)


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_dots_in_text_are_no_parts_of_a_key(quote: str) -> None:
    book = "1. e4 e5. " * 800
    assert parse_manifest(f"{GOOD}# {book}\nbook = {quote}{book}{quote}\n", PATH).options["book"] == book
    with pytest.raises(ManifestError, match="a key of more than 1000 parts"):
        parse_manifest(f'{GOOD}# """\nx{".x" * 2000} = 1\n# """\n', PATH)
    with pytest.raises(ManifestError, match="a key of more than 1000 parts"):
        parse_manifest(f'{GOOD}y = """a"""" # \\\nx{".x" * 2000} = 1 # "\n', PATH)


def test_build_and_options_may_be_left_out() -> None:
    manifest = parse_manifest("\n".join(GOOD.splitlines()[:4]), PATH)
    assert manifest.build == ()
    assert manifest.options == {}


def test_a_built_bot_may_fetch_first_and_name_its_toolchain() -> None:
    lines = 'fetch = ["make", "fetch"]\ntoolchain = ["make", "--version"]\n'
    manifest = parse_manifest(changed("build =", f"{lines}build ="), PATH)
    assert manifest.fetch == ("make", "fetch")
    assert manifest.toolchain == ("make", "--version")


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (changed('"1.2"', "1.2.3"), ":2:", ["not TOML", "correct this line"]),
        (changed('"Rush"', '"Rush'), ":1:", ["not TOML"]),
        (f"{GOOD}x{'.x' * 30_000} = 1\n", ":11:", ["a key of more than 1000 parts", "write it flat"]),
        (GOOD.replace('["{python}", "bot.py"]', str(["x"] * 1001)), ":4:", ["1001 words", "at most 1000"]),
        (GOOD + 'open = "', ":11:", ["not TOML"]),
        (changed("version = ", "version == "), ":2:", ["not TOML"]),
        (changed("games", "game"), ":3:", ["unknown key 'game'", "did you mean 'games'?"]),
        (changed("name", "Name"), ":1:", ["unknown key 'Name'", "did you mean 'name'?"]),
        (changed("[options]", "[option]"), ":7:", ["unknown key 'option'", "did you mean 'options'?"]),
        (changed("build", "xyzzy"), ":5:", ["unknown key 'xyzzy'", "known keys: name, version, games, run"]),
        (changed('build = ["make", "all"]', 'fetch = ["make"]'), ":5:", ["'fetch' is for bots that are built"]),
        (changed('build = ["make", "all"]', 'toolchain = ["make"]'), ":5:", ["'toolchain' is for bots that are built"]),
        (changed('name = "Rush"\n', ""), ":", ["'name' is missing", 'name = "My bot"']),
        (changed('run = ["{python}", "bot.py"]\n', ""), ":", ["'run' is missing", 'run = ["{python}", "bot.py"]']),
        (changed('"Rush"', "7"), ":1:", ["'name' must be a text, not 7"]),
        (changed('"Rush"', '""'), ":1:", ["'name' is empty; write"]),
        (changed('"Rush"', '"R\\u0007"'), ":1:", ["'name'", "control character (U+0007)"]),
        (changed('"1.2"', "1.2"), ":2:", ["'version' must be a text, not 1.2", 'version = "1"']),
        (changed('"1.2"', '"1\\n2"'), ":2:", ["'version' must be 1 to 64 printable characters"]),
        (changed('["shibuya", "toy"]', '"shibuya"'), ":3:", ["'games' must be a list of texts", 'games = ["*"]']),
        (changed('["shibuya", "toy"]', "[]"), ":3:", ["'games' is empty; write"]),
        (changed('"toy"', '"Toy Game"'), ":3:", ["game ids such as shibuya", "'Toy Game'"]),
        (changed('["{python}", "bot.py"]', '"bot.py"'), ":4:", ["'run' must be a list of texts, not 'bot.py'"]),
        (changed('"bot.py"', "1"), ":4:", ["'run' must be a list of texts"]),
        (changed('"bot.py"', '""'), ":4:", ["'run' has an empty word"]),
        (changed('"bot.py"', '"a\\u0000b"'), ":4:", ["'run' has a word with a zero byte"]),
        (changed('["make", "all"]', "true"), ":5:", ["'build' must be a list of texts, not true", 'build = ["make"]']),
        (changed('"Rush"', '"Rush"  # a\u2028b\x85c').replace('"1.2"', "1.2"), ":2:", ["'version' must be a text"]),
        (changed("depth = 3", "depth = 3.5"), ":8:", ["option 'depth' must be a text, an integer or true/false"]),
        (changed("depth = 3", "depth = [1]"), ":8:", ["option 'depth' must be"]),
        (changed("depth = 3", "depth = 9223372036854775808"), ":8:", ["option 'depth' must be"]),
        (changed("depth = 3", "depth = 0x" + "f" * 5000), ":8:", ["option 'depth' must be", "too long to show"]),
        (changed("depth = 3", "depth = " + "1" * 5000), ":", ["a number is too long: it has", "correct it"]),
        (changed("depth = 3", "depth" + ".a" * 900 + " = 1"), ":8:", ["option 'depth' must be"]),
        (changed("depth = 3", "depth = 2026-01-01"), ":8:", ["option 'depth' must be"]),
        (changed("depth = 3", "name = 1.5"), ":8:", ["option 'name' must be"]),
        (changed("[options]", "[options.deep]"), ":7:", ["option 'deep' must be"]),
        (GOOD + "x = " + "[" * 5000, ":", ["nested too deeply"]),
        ("options = 3\n" + GOOD.split("[options]")[0], ":1:", ["'options' must be a table, not 3"]),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_was_expected(text: str, place: str, words: list[str]) -> None:
    with pytest.raises(ManifestError) as error:
        parse_manifest(text, PATH)
    message = error.value.sentence
    assert message.startswith(f"{PATH}{place}")
    assert "\n" not in message
    for word in words:
        assert word in message
    assert error.value.next_step


@pytest.mark.slow
@given(st.text())
def test_any_text_is_a_manifest_or_a_sentence(text: str) -> None:
    with pytest.raises(ManifestError, match=r"^bots/rush/bot\.toml:"):
        parse_manifest(text, PATH)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, check=says(r"nobody: does not exist; a bot is a folder with a bot\.toml in it")):
        load_manifest(tmp_path / "nobody")


def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("")
    with pytest.raises(ManifestError, match="is not a folder"):
        load_manifest(tmp_path / "bot")


def test_a_missing_manifest_comes_with_an_example(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, check=says(r"bot\.toml: no such file; write one, the least is: name =")):
        load_manifest(tmp_path)


def test_a_manifest_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").mkdir()
    with pytest.raises(ManifestError, check=says(r"bot\.toml: is not a file; write one")):
        load_manifest(tmp_path)


def test_a_manifest_in_another_encoding_is_said_with_its_line(write_bot: Callable[..., Path]) -> None:
    folder = write_bot()
    (folder / "bot.toml").write_bytes('version = "1"\nname = "Zoë"\n'.encode("latin-1"))
    with pytest.raises(ManifestError, match=r"bot\.toml:2: not UTF-8 text"):
        load_manifest(folder)


def test_a_byte_order_mark_in_front_of_a_manifest_is_no_part_of_it(write_bot: Callable[..., Path]) -> None:
    folder = write_bot()
    before = load_manifest(folder)
    file = folder / "bot.toml"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load_manifest(folder) == before


def test_a_manifest_that_is_a_pipe_does_not_keep_anybody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bot.toml")
    with pytest.raises(ManifestError, check=says(r"bot\.toml: is not a file; write one")):
        load_manifest(tmp_path)


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "../elsewhere.toml"])
def test_a_manifest_that_leads_out_of_its_folder_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "elsewhere.toml").write_text(GOOD)
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.toml").symlink_to(target)
    with pytest.raises(ManifestError, check=says(r"outside of the bot's folder; copy it in")):
        load_manifest(folder)


def test_a_manifest_may_be_a_link_within_its_folder_which_may_be_reached_by_one(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "rush.toml").write_text(GOOD)
    (folder / "bot.toml").symlink_to("rush.toml")
    (tmp_path / "link").symlink_to(folder)
    assert load_manifest(tmp_path / "link").name == "Rush"


def test_a_manifest_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "bot.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ManifestError, check=says(r"has more than 64 KiB; write what the bot needs, and no more")):
        load_manifest(tmp_path)
