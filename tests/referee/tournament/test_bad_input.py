"""What people get wrong, or what is simply empty: a clear error, or the documented degenerate result."""

import pytest

from referee.errors import ConfigError
from referee.schedule.schedule import known_matches
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of


def file_text(bots=3, top="", tables="", game='game = "toy"'):
    listed = "".join(f'[[bots]]\npath = "bots/bot{number}"\n' for number in range(bots))
    return f"{game}\nseed = 1\nblocks = 2\n{top}\n{tables}\n{listed}"


@pytest.fixture
def load(write_bot, write_file):
    for number in range(7):
        write_bot(f"bot{number}")
    return lambda *args, **keys: load_tournament(write_file(file_text(*args, **keys)))


@pytest.mark.parametrize(
    ("keys", "words", "step"),
    [
        ({"bots": 1}, "a match of toy needs 2 bots, the file has 1", "[[bots]]"),
        ({"bots": 0}, "a match of toy needs 2 bots, the file has 0", "[[bots]]"),
        ({"bots": 3, "top": "players = [2, 4]"}, "a match of toy needs 4 bots, the file has 3", "[[bots]]"),
        ({"top": "players = 5"}, "toy is not played by 5", "2, 3, 4"),
        ({"top": "players = [2, 7]"}, "toy is not played by 7", "2, 3, 4"),
        ({"top": "players = [2, 2]"}, "'players' must name each number of seats once", "players = 2"),
        ({"top": "players = []"}, "'players' must name each number of seats once", "players = 2"),
        ({"top": 'players = [2, "three"]'}, "'players[2]' must be an integer", "players"),
        ({"top": 'format = "suisse"'}, "unknown format 'suisse'", "did you mean 'swiss'?"),
        ({"top": 'format = "swiss"', "tables": "[swiss]\nround = 3"}, "unknown key 'swiss.round'", "'rounds'"),
        ({"tables": "[swiss]\nrounds = 3"}, "'swiss' belongs to format = \"swiss\"", "the keys here are"),
        (
            {"top": 'format = "swiss"', "tables": "[swiss]\nrounds = 0"},
            "'swiss.rounds' must be a whole number",
            "rounds = 1 (how many",
        ),
        (
            {"top": 'format = "swiss"', "tables": "[swiss]\nbye = 2"},
            "'swiss.bye' must be a number from 0 to 1",
            "bye = 0.5",
        ),
        (
            {"top": 'format = "knockout"', "tables": "[knockout]\nadvance = 2"},
            "'knockout.advance' is 2, but of a table of 2 at most 1 go on",
            "settings",
        ),
        (
            {"top": 'format = "league"', "tables": "[league]\nclose = 1"},
            "'league.close' must be true or false",
            "close = true (prefer tables",
        ),
        *(
            (
                {"top": 'format = "league"', "tables": f"[league]\nprecision = {value}"},
                f"'league.precision' must be a number from 0.001 to 1, not {value}",
                "write, for instance, precision = 0.5",
            )
            for value in ("0", "0.0", "-0.1", "nan", "inf", "true")
        ),
        (
            {"top": 'format = "compare"', "tables": "[compare]\nlow = 0.6"},
            "'compare.low' must be below 'compare.high'",
            "settings",
        ),
        ({"top": 'format = "compare"', "tables": "[compare]\nalpha = 0"}, "'compare.alpha'", "settings"),
        (
            {"top": 'format = "gauntlet"', "tables": '[gauntlet]\nchallengers = ["bot9"]'},
            "'gauntlet.challengers': no bot is called 'bot9'",
            "did you mean",
        ),
        (
            {"top": 'format = "gauntlet"', "tables": "[gauntlet]\nchallengers = []"},
            "'gauntlet.challengers' must be a list of names of bots, each once",
            'challengers = ["NAME"] (names of',
        ),
        (
            {"top": 'format = "gauntlet"', "tables": '[gauntlet]\nchallengers = ["bot0", "bot1", "bot2"]'},
            "a table of 2 needs one challenger and 1 of the rest",
            "settings",
        ),
        (
            {
                "top": 'format = "stages"',
                "tables": '[[stages]]\nadvance = 2\nseeding = ["bot9"]\n[[stages]]\nformat = "knockout"',
            },
            ":7: 'stages[1].seeding': no bot is called 'bot9'",
            "did you mean",
        ),
        (
            {
                "top": 'format = "stages"',
                "tables": '[[stages]]\nadvance = 2\n[[stages]]\nformat = "knockout"\nseeding = ["bot1"]',
            },
            "'stages[2].seeding' is in the wrong place: 'seeding' belongs in the first [[stages]]",
            "move it",
        ),
        (
            {
                "top": 'format = "stages"',
                "tables": '[[stages]]\nadvance = 2\nrounds = 3\n[[stages]]\nformat = "knockout"',
            },
            "'stages[1].rounds' is in the wrong place: 'rounds' belongs to a stage with format = \"swiss\"",
            "move it",
        ),
        ({"tables": "[clock]\nname = 'x'"}, "'name' belongs at the top of the file, or in [[bots]]", "move it"),
        ({"tables": '[[games]]\ngame = "toy"'}, "'game' is beside [[games]]", "move it"),
        ({"game": "games = []"}, "'games' must be a list of tables", "[[games]]"),
        ({"game": "", "tables": '[[games]]\ngame = "chess"'}, "unknown game 'chess'", "installed"),
        ({"game": "", "tables": '[[games]]\ngame = "toy"\n' * 2}, "toy is there twice", "take one"),
        ({"game": "", "tables": '[[games]]\ngame = "toy"\nplayer = 2'}, "unknown key 'games[1].player'", "'players'"),
        ({"tables": "[breaker]\nenabled = 1"}, "'breaker.enabled' must be true or false", "correct"),
        ({"tables": '[breaker]\nchoice = "burn"'}, "'breaker.choice' must be keep, annul, losses", "keep"),
        ({"tables": "[breaker]\nin_a_row = 0"}, "'breaker.in_a_row' must be an integer from 1", "in_a_row"),
    ],
)
def test_it_is_told_with_the_next_step(load, keys, words, step):
    with pytest.raises(ConfigError) as caught:
        load(**keys)
    assert words in str(caught.value)
    assert step in caught.value.next_step


@pytest.mark.parametrize("seed", ["1.5", '"one"', "true", "0x", "1e3", "[1]"])
def test_a_seed_that_is_no_integer(write_file, write_bot, seed):
    text = file_text().replace("seed = 1", f"seed = {seed}")
    with pytest.raises(ConfigError, match=":2: ") as caught:
        load_tournament(write_file(text))
    assert "seed" in str(caught.value) or "not TOML" in str(caught.value)


@pytest.mark.parametrize("blocks", ["0", "-1", "10000001", "1.0"])
@pytest.mark.parametrize("style", ["league", "round-robin", "swiss"])
def test_a_budget_of_nothing_or_too_much(write_file, write_bot, blocks, style):
    text = file_text(top=f'format = "{style}"').replace("blocks = 2", f"blocks = {blocks}")
    with pytest.raises(ConfigError, match="'blocks' must be an integer from 1 to 10000000"):
        load_tournament(write_file(text))


def test_an_odd_field_in_a_swiss_has_byes(load):
    tournament = load(bots=7, top='format = "swiss"')
    assert config_of(tournament).extent().most == 3 * 3 * 2 * 2
    assert len(list(known_matches(config_of(tournament)))) == 3 * 2 * 2, "the first round; the others need results"


def test_a_byte_order_mark_is_no_part_of_the_file(write_file, write_bot):
    for number in range(3):
        write_bot(f"bot{number}")
    path = write_file(file_text())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_tournament(path).config.seed == 1
    path.write_bytes(path.read_bytes().replace(b"seed = 1", b"seed = x"))
    with pytest.raises(ConfigError, match=":2: not TOML"):
        load_tournament(path)


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85"])
def test_only_line_feeds_end_a_line_so_errors_name_the_line_an_editor_shows(write_file, write_bot, character):
    text = f"# a comment with {character} in it\n" + file_text().replace("blocks = 2", "blocks = 0")
    with pytest.raises(ConfigError, match=r":4: 'blocks' must be"):
        load_tournament(write_file(text))


def test_windows_line_ends_count_once(write_file, write_bot):
    path = write_file("")
    path.write_bytes(file_text().replace("blocks = 2", "blocks = 0").replace("\n", "\r\n").encode())
    with pytest.raises(ConfigError, match=":3: 'blocks'"):
        load_tournament(path)
