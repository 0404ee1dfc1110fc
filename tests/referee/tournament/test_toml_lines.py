"""Errors name the line of the key, however it is written."""

import pytest

from referee.tournament.reading import find_line

TEXT = '''\
# blocks = 1
name = "cup"
clock.move_s = 1
"seed" = 3
note = """
blocks = 7
"""
blocks = 2
[ options ]  # of the game
rounds = 4
[[bots]]
path = "a"
[[bots]]
path = "b"
[bots.options]
depth = 3
[[bots]]
name = "c"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 2),
        (("clock", "move_s"), 3),
        (("seed",), 4),
        (("blocks",), 8),
        (("options",), 9),
        (("options", "rounds"), 10),
        (("options", "unwritten"), 9),
        (("bots", 0, "path"), 12),
        (("bots", 1, "path"), 14),
        (("bots", 1, "options", "depth"), 16),
        (("bots", 2, "path"), 17),
        (("bots", 2, "name"), 18),
        (("unwritten",), None),
    ],
)
def test_the_deepest_written_part_of_a_key_is_found(path, line):
    assert find_line(TEXT, *path) == line


@pytest.mark.parametrize(("text", "line"), [("bots = 3", 1), ("\nclock = {move_s = 1}", 2)])
def test_inline_tables_are_found_by_their_own_key(text, line):
    assert find_line(text, "bots" if "bots" in text else "clock", "move_s") == line
