"""A tournament file says what to play; whatever is wrong in it is told with file, line, key and the next step."""

import json
from pathlib import Path

import pytest

from referee.errors import ConfigError
from referee.games.registry import get_game
from referee.tournament.config import load_config, tournament_name
from referee.tournament.entrants import load_tournament

GOOD = """\
game = "toy"
seed = 1
blocks = 2
[[bots]]
path = "bots/ann"
[[bots]]
path = "bots/bob"
"""


@pytest.fixture
def bots(write_bot):
    write_bot("ann")
    write_bot("bob")


def refusal(path: Path) -> tuple[str, str]:
    """The error's text without the file's name in front, and its next step."""
    with pytest.raises(ConfigError) as caught:
        load_tournament(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text + caught.value.next_step
    assert caught.value.next_step
    return text.removeprefix(str(path)), caught.value.next_step


def test_a_short_file_gets_defaults(write_file, bots):
    config = load_config(write_file(GOOD))
    assert (config.name, config.format, config.players, config.seed, config.blocks) == ("cup", "round-robin", 2, 1, 2)
    assert dict(config.games[0].options) == {"rounds": 4, "peeking": True}
    assert config.limits.move_s == 1.0


def test_everything_can_be_said(write_file, write_bot, bots):
    write_bot("cyd", options="[options]\ndepth = 3\n")
    tournament = load_tournament(
        write_file(
            GOOD.replace("[[bots]]", 'name = "Große Runde"\nformat = "round-robin"\nplayers = 3\n[[bots]]', 1)
            + 'name = "Bob the second"\n[[bots]]\npath = "bots/cyd"\noptions = { depth = 5 }\n'
            + "[options]\nrounds = 6\n[clock]\nmove_s = 0.5\n[limits]\nmax_note_bytes = 10\n"
        )
    )
    config = tournament.config
    assert (config.name, config.players, config.games[0].options["rounds"]) == ("Große Runde", 3, 6)
    assert (config.limits.move_s, config.limits.max_note_bytes) == (0.5, 10)
    assert [entry.name for entry in tournament.entries] == ["ann", "Bob the second", "cyd"]
    assert tournament.entries[2].options == {"depth": 5}


@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_replacement_data_is_embedded(write_file, bots, tmp_path, suffix):
    data = get_game("toy").default_data() | {"cards": [5, 4, 4, 4, 4]}
    text = (
        json.dumps(data)
        if suffix == ".json"
        else f"cards = {data['cards']}\n[weather]\n"
        + "\n".join(f"{name} = {number}" for name, number in data["weather"].items())
    )
    (tmp_path / f"box{suffix}").write_text(text)
    config = load_config(write_file(f'data = "box{suffix}"\n' + GOOD))
    assert config.games[0].options["data"] == data
    (tmp_path / f"box{suffix}").write_text(f"\ufeff{text}")  # as some editors save it
    assert load_config(write_file(f'data = "box{suffix}"\n' + GOOD)).games[0].options["data"] == data


def test_the_name_alone_can_be_read_without_the_bots(write_file):
    assert tournament_name(write_file("", "monday.toml")) == "monday"


@pytest.mark.parametrize(
    ("old", "new", "line", "words", "step"),
    [
        # broken TOML
        ("seed = 1", "seed = ", 2, "not TOML", "correct this line"),
        ("blocks = 2", 'blocks = "', 3, "not TOML", "correct this line"),
        ("seed = 1", "seed = 1\nseed = 2", 3, "not TOML", "correct this line"),
        ("seed = 1", "seed = " + "1" * 5000, None, "a number with more than 64 bits", "correct"),
        ("seed = 1", "seed = 0x" + "f" * 5000, 2, "'seed' has a number with more than 64 bits", "correct"),
        ("blocks = 2", "blocks = 2\n[clock]\nmove_s = 0x" + "f" * 5000, 5, "'clock.move_s' has a number", "correct"),
        ("seed = 1", "seed = " + "[" * 5000, None, "nested too deeply", "flat"),
        ("blocks = 2", "blocks = 2\noptions" + ".a" * 2000 + " = 1", None, "nested too deeply", "flat"),
        # unknown game, format, key
        ('"toy"', '"tpy"', 1, "unknown game 'tpy'", "did you mean 'toy'?"),
        ('"toy"', "7", 1, "'game' must be a text, not 7", 'game = "shibuya"'),
        ('game = "toy"\n', "", None, "the key 'game' is missing", 'game = "shibuya"'),
        ("blocks = 2", 'blocks = 2\nformat = "swis"', 4, "unknown format 'swis'", "did you mean 'swiss'?"),
        ("blocks = 2", "bloks = 2", 3, "unknown key 'bloks'", "did you mean 'blocks'?"),
        ("blocks = 2", "blocks = 2\nzzz = 2", 4, "unknown key 'zzz'", "the keys here are: name, game"),
        # seed and blocks
        ("seed = 1", 'seed = "one"', 2, "'seed' must be an integer", "seed = 1"),
        ("seed = 1", "seed = 1.5", 2, "'seed' must be an integer", "seed = 1"),
        ("seed = 1", "seed = true", 2, "'seed' must be an integer", "seed = 1"),
        ("seed = 1\n", "", None, "the key 'seed' is missing", "seed = 1"),
        ("blocks = 2", "blocks = 0", 3, "'blocks' must be an integer from 1", "blocks = 10"),
        ("blocks = 2", "blocks = -3", 3, "'blocks' must be an integer from 1", "blocks = 10"),
        # players
        ("blocks = 2", "blocks = 2\nplayers = 9", 4, "toy is not played by 9", "2, 3, 4"),
        ("blocks = 2", "blocks = 2\nplayers = 3", 5, "needs 3 bots, the file has 2", "[[bots]]"),
        ('[[bots]]\npath = "bots/bob"\n', "", 4, "needs 2 bots, the file has 1", "[[bots]]"),
        # name
        ("seed = 1", 'seed = 1\nname = "a/b"', 3, "'name' must be fit for a folder", "name ="),
        ("seed = 1", 'seed = 1\nname = "../x"', 3, "'name' must be fit for a folder", "name ="),
        ("seed = 1", 'seed = 1\nname = "a\\u0007"', 3, "control character", "name ="),
        # options of the game
        ("blocks = 2", "blocks = 2\n[options]\nround = 3", 5, "toy has no option 'round'", "did you mean 'rounds'?"),
        ("blocks = 2", "blocks = 2\n[options]\nrounds = 99", 5, "'options.rounds' must be an integer >= 1", "leave it"),
        (
            "blocks = 2",
            "blocks = 2\n[options]\npeeking = 1",
            5,
            "must be true or false, not 1",
            "leave it out for true",
        ),
        ("blocks = 2", "blocks = 2\noptions = 3", 4, "'options' must be a table", "[options]"),
        ("blocks = 2", "blocks = 2\n[options]\ndata = 3", 5, "'options.data' is not set here", "data = "),
        ("blocks = 2", 'blocks = 2\ndata = "none.json"', 4, "cannot be read (No such file", "path"),
        # clock and limits
        ("blocks = 2", "blocks = 2\n[clock]\nmove_s = 0", 5, "'clock.move_s' must be at least", "move_s = 1"),
        ("blocks = 2", 'blocks = 2\n[clock]\nmove_s = "1"', 5, "'clock.move_s' must be a number", "move_s = 1"),
        ("blocks = 2", "blocks = 2\n[clock]\nmove = 1", 5, "unknown key 'clock.move'", "did you mean 'move_s'?"),
        ("blocks = 2", "blocks = 2\n[limits]\nmax_note_bytes = 1.5", 5, "must be whole", "max_note_bytes ="),
        (
            "blocks = 2",
            "blocks = 2\n[limits]\nmax_message_bytes = 99999999",
            5,
            "must be at most",
            "max_message_bytes =",
        ),
        # bots
        ('path = "bots/bob"', 'path = "bots/bop"', 6, "bots/bop: does not exist", "a bot is a folder"),
        ('path = "bots/bob"', 'pth = "bots/bob"', 7, "unknown key 'bots[2].pth'", "did you mean 'path'?"),
        ('path = "bots/bob"', 'name = "Bob"', 6, "the key 'bots[2].path' is missing", "path ="),
        ('path = "bots/bob"', "path = 3", 7, "'bots[2].path' must be a text", "path ="),
        ('path = "bots/bob"', 'path = "a\\u0000b"', 7, "zero byte", "remove it"),
        (
            'path = "bots/bob"',
            'path = "bots/bob"\nname = "b\\u001bob"',
            6,
            "control character (U+001B)",
            "remove it",
        ),
        ('path = "bots/bob"', 'path = "bots/bob"\nname = "b\\u202eob"', 6, "(U+202E)", "remove it"),
        ('path = "bots/bob"', 'path = "bots/bob"\nname = "ann"', 6, "two bots are named 'ann'", "name ="),
        ('path = "bots/bob"', 'path = "bots/bob"\nname = "Ann"', 6, "look alike", "name ="),
        ('path = "bots/bob"', 'path = "bots/bob"\nname = "\\u0430nn"', 6, "look alike", "name ="),
        ('path = "bots/bob"', 'path = "bots/ann"\nname = "x"', 6, "the same entry: same source", "other options"),
        ('path = "bots/bob"', 'path = "bots/bob"\noptions = {depth = 1}', 6, "no option 'depth'", "which has: none"),
    ],
)
def test_bad_input_is_told_with_line_key_and_next_step(write_file, bots, old, new, line, words, step):
    assert old in GOOD
    text, next_step = refusal(write_file(GOOD.replace(old, new)))
    assert text.startswith(": " if line is None else f":{line}: "), text
    assert words in text
    assert step in next_step


def test_bots_that_are_no_list_of_tables(write_file):
    text, step = refusal(write_file(GOOD.split("[[bots]]")[0] + "bots = 3\n"))
    assert ":4: 'bots' must be a list of tables, not 3" in text
    assert "[[bots]]" in step


def test_no_bots_at_all(write_file):
    assert "needs 2 bots, the file has 0" in refusal(write_file(GOOD.split("[[bots]]")[0]))[0]


def test_a_missing_executable(write_file, write_bot, bots):
    write_bot("bob", run="no-such-program")
    text, step = refusal(write_file(GOOD))
    assert ":6: bot: " in text
    assert "'run' starts 'no-such-program', which is not there" in text
    assert "install it, add its folder to PATH" in step


def test_a_bot_that_does_not_play_the_game(write_file, write_bot, bots):
    write_bot("bob", games="chess")
    text, _ = refusal(write_file(GOOD))
    assert ":6: bot 'bob' plays chess, not toy" in text


def test_a_broken_manifest_is_told_with_its_own_line(write_file, write_bot, bots):
    (write_bot("bob") / "bot.toml").write_text("name = \n")
    text, _ = refusal(write_file(GOOD))
    assert ":6: bot: " in text
    assert "bot.toml:1: not TOML" in text


@pytest.mark.parametrize(
    ("content", "words"),
    [("{", "is not JSON"), ("[]", "does not fit toy"), ('{"cards": [1], "weather": {}}', "does not fit toy")],
)
def test_replacement_data_that_does_not_fit(write_file, bots, tmp_path, content, words):
    (tmp_path / "box.json").write_text(content)
    text, _ = refusal(write_file('data = "box.json"\n' + GOOD))
    assert text.startswith(":1: 'data': ")
    assert words in text


def test_replacement_data_in_another_encoding_is_said_to_be_no_utf_8(write_file, bots, tmp_path):
    (tmp_path / "box.json").write_bytes(b'{"cards": "\xfc"}')
    text, _ = refusal(write_file('data = "box.json"\n' + GOOD))
    assert text.endswith("box.json is not JSON: it is not UTF-8 text")


def test_a_folder_without_a_manifest_is_answered_with_a_whole_one(write_file, bots, tmp_path):
    (tmp_path / "bots" / "bob" / "bot.toml").unlink()
    text, step = refusal(write_file(GOOD))
    assert "bot.toml: no such file" in text
    assert all(key in step for key in ("write one", "name =", "version =", "games =", "run ="))


def test_files_that_cannot_be_read(write_file, tmp_path):
    assert "no such file" in refusal(tmp_path / "none.toml")[0]
    assert "is a folder" in refusal(tmp_path)[0]
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'game = "toy"\nname = "B\xfcro"\n')
    assert refusal(latin)[0].startswith(":2: the file is not UTF-8")


def test_anchors_name_bots_of_the_file_with_a_rating(write_file, bots):
    tournament = load_tournament(write_file(GOOD + "[ratings]\nanchor = { ann = 1000, bob = 1200.5 }\n"))
    assert tournament.rating_anchors == {tournament.entries[0].id: 1000, tournament.entries[1].id: 1200.5}


@pytest.mark.parametrize(
    ("section", "what"),
    [
        ("anchor = { eve = 1000 }", "'ratings.anchor.eve': no bot is called 'eve'"),
        ('anchor = { ann = "high" }', "'ratings.anchor.ann' must be a number"),
        ("anchor = { ann = nan }", "'ratings.anchor.ann' must be a number"),
        ("anchor = 3", "'ratings.anchor' must be a table"),
        ("anchors = { ann = 3 }", "unknown key 'ratings.anchors'"),
    ],
)
def test_anchors_that_are_none_are_refused(write_file, bots, section, what):
    assert what in refusal(write_file(GOOD + "[ratings]\n" + section + "\n"))[0]
