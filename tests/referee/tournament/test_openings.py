"""Opening positions of a tournament file: each block takes the next one, with the seats swapped."""

import pytest

from referee.errors import ConfigError
from referee.schedule.schedule import known_matches
from referee.tournament.config import load_config
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of, describe

FIRST = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
SECOND = "4k3/4p3/8/8/8/8/8/4K3 b - - 0 1"
FILE = """\
game = "openspiel/chess"
openings = "book.epd"
seed = 1
blocks = 3
[[bots]]
path = "bots/ann"
[[bots]]
path = "bots/bob"
"""


@pytest.fixture(autouse=True)
def bots(write_bot):
    for name in ("ann", "bob"):
        write_bot(name)


@pytest.fixture
def write_chess(write_file):
    def write(text=FILE, book=f"{FIRST}\n{SECOND}\n"):
        path = write_file(text)
        (path.parent / "book.epd").write_text(book)
        for bot in ("ann", "bob"):
            manifest = path.parent / "bots" / bot / "bot.toml"
            manifest.write_text(manifest.read_text().replace('"toy"', '"*"'))
        return path

    return write


def test_a_block_is_one_opening_with_the_seats_swapped(write_chess):
    matches = list(known_matches(config_of(load_tournament(write_chess()))))
    assert [match.options["start"] for match in matches] == [FIRST, FIRST, SECOND, SECOND, FIRST, FIRST]
    assert matches[0].seats == matches[1].seats[::-1]


def test_a_byte_order_mark_is_no_part_of_the_first_opening(write_chess):
    (game,) = load_config(write_chess(book=f"\ufeff{FIRST}\n{SECOND}\n")).games
    assert game.openings == (FIRST, SECOND)


def test_the_openings_are_part_of_what_the_results_depend_on(write_chess):
    one = describe(load_tournament(write_chess()))
    other = describe(load_tournament(write_chess(book=f"{SECOND}\n")))
    assert one["games"][0]["openings"] == [FIRST, SECOND]
    assert one != other


def test_a_run_without_openings_is_described_as_before(write_chess):
    """A run that began before there were openings can be continued."""
    assert (
        "openings"
        not in describe(load_tournament(write_chess(FILE.replace('openings = "book.epd"\n', ""))))["games"][0]
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (('"book.epd"', '"no.epd"'), "cannot be read"),
        (('"openspiel/chess"', '"toy"'), "toy has no opening positions"),
        (("[[bots]]", f'[options]\nstart = "{FIRST}"\n[[bots]]'), "both say where a match begins"),
        (('"openspiel/chess"', '"openspiel/chss"'), "OpenSpiel has no game 'chss'"),
    ],
)
def test_what_cannot_be_is_refused(write_chess, change, problem):
    with pytest.raises(ConfigError, match=problem):
        load_tournament(write_chess(FILE.replace(*change, 1)))


def test_a_line_that_is_no_position_is_named(write_chess):
    with pytest.raises(ConfigError, match=r"book\.epd: line 2: 'nonsense' has 1 fields"):
        load_tournament(write_chess(book=f"{FIRST}\nnonsense\n"))


def test_adjudication_is_read_and_reaches_every_match(write_chess):
    text = FILE.replace("[[bots]]", "[adjudication]\nwin_moves = 4\ndraw_moves = 8\ndraw_from = 40\n[[bots]]", 1)
    tournament = load_tournament(write_chess(text))
    (rules,) = {match.adjudication for match in known_matches(config_of(tournament))}
    assert (rules.win_score, rules.win_moves, rules.draw_score, rules.draw_from) == (600, 4, 10, 40)
    assert describe(tournament)["adjudication"]["win_moves"] == 4
    assert "adjudication" not in describe(load_tournament(write_chess()))


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ("", "neither win_moves nor draw_moves"),
        ("draw_from = 3", "neither win_moves nor draw_moves"),
        ("win_moves = -1", "win_moves"),
        ("winmoves = 3", "winmoves"),
    ],
)
def test_an_adjudication_that_decides_nothing_is_refused(write_chess, section, problem):
    with pytest.raises(ConfigError, match=problem):
        load_tournament(write_chess(FILE.replace("[[bots]]", f"[adjudication]\n{section}\n[[bots]]", 1)))


def test_adjudication_is_for_two_seats(write_chess):
    text = FILE.replace('"openspiel/chess"\nopenings = "book.epd"', '"toy"\nplayers = 3')
    with pytest.raises(ConfigError, match="for matches of two seats"):
        load_tournament(write_chess(text.replace("[[bots]]", "[adjudication]\nwin_moves = 3\n[[bots]]", 1)))
