"""What bots and files bring in is shown, and does nothing."""

import tomllib

import pytest

from referee.texts import clean, listed, one_line, shown_toml, without_folders

NAMED = {
    "colours": ("a\x1b[31mb", "a\\x1b[31mb"),
    "c1 control": ("\x9b2J", "\\x9b2J"),
    "right to left": ("\u202egnp.exe", "\\u202egnp.exe"),
    "hidden tag": ("d\U000e0041", "d\\U000e0041"),
    "line separator": ("a\u2028b", "a\\u2028b"),
    "half a pair": ("\ud83d", "\\ud83d"),
    "tab and return": ("a\tb\r", "a\\tb\\r"),
    "markup is for the page to escape": ('<b>&"', '<b>&"'),
    "letters of any script": ("Zoë 木", "Zoë 木"),
}


@pytest.mark.parametrize(("text", "shown"), NAMED.values(), ids=NAMED)
def test_nothing_but_seen_characters_is_left(text: str, shown: str) -> None:
    assert one_line(text) == shown
    assert clean(text) == shown


def test_lines_are_kept_or_written_out() -> None:
    assert clean("a\nb") == "a\nb"
    assert one_line("a\nb") == "a\\nb"


def test_a_long_text_is_cut_and_says_how_much_is_missing() -> None:
    assert clean("x" * 5000, most=10) == "x" * 10 + "... (4990 more characters)"
    assert len(one_line("\U000e0041" * 1_000_000)) < 25_000


def test_any_value_may_be_shown() -> None:
    assert one_line(None) == "None"
    assert one_line(ValueError("so\nit is")) == "so\\nit is"


@pytest.mark.parametrize(
    ("words", "shown"), [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")]
)
def test_words_are_listed_with_one_and(words: tuple[str, ...], shown: str) -> None:
    assert listed(iter(words)) == shown


@pytest.mark.parametrize(
    "written",
    [
        "true",
        "2026-11-30",
        "07:32:00",
        "2026-11-30T07:32:00",
        "[1, [false, 1.5]]",
        "{ depth = 3, deep = { at = 2026-11-30 } }",
        "[]",
        "{}",
    ],
)
def test_a_value_of_a_file_is_shown_as_it_is_written_there(written: str) -> None:
    """It was as Python has it, such as datetime.date(2026, 11, 30)."""
    assert shown_toml(tomllib.loads(f"value = {written}")["value"]) == written


def test_a_text_of_a_file_is_shown_in_ascii() -> None:
    assert shown_toml({"a b": ["ö\x1b"], "ö": 1, "a-b": 2}) == "{ 'a b' = ['\\xf6\\x1b'], '\\xf6' = 1, a-b = 2 }"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see the log: /root/.cache/crosstown/ab/log.txt; then", "see the log: log.txt; then"),
        ("the archive /x/y/a.pack.gz is damaged: 1/2 of it", "the archive a.pack.gz is damaged: 1/2 of it"),
        ("'/opt/models': no file; read /srv/w", "'models': no file; read w"),
        ("file:///root/x/y.whl, error:/a/b", "y.whl, error:b"),
        ("https://pypi.org/simple/ or ../a/b or runs/cup", "https://pypi.org/simple/ or ../a/b or runs/cup"),
    ],
)
def test_of_whole_paths_the_names_are_left(text: str, shown: str) -> None:
    assert without_folders(text) == shown
