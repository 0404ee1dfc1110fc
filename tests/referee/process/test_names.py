"""Names of bots: printable, unambiguous, 1 to 64 code points."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.process.manifest import BotNameError, check_name, clashes


@pytest.mark.parametrize("name", ["a", "Deep Crossing 2", "Zoë", "シブヤ", "קו", "bot-v1.2 (beta)", "🚕", "x" * 64])
def test_an_ordinary_name_is_taken_as_it_is(name: str) -> None:
    assert check_name(name) == name


def test_a_name_is_brought_to_nfc() -> None:
    assert check_name("Zoe\u0308") == "Zoë"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "1 to 64 characters, this one has 0"),
        ("x" * 65, "this one has 65"),
        (" a", "starts or ends with white space"),
        ("a ", "starts or ends with white space"),
        ("a\n", "starts or ends with white space"),
        ("a\u3000", "starts or ends with white space"),
        ("a\nb", "a control character (U+000A) at place 2"),
        ("a\x1b[31mb", "a control character (U+001B)"),
        ("a\x00b", "a control character (U+0000)"),
        ("a\u202eb", "format character (U+202E)"),
        ("a\u200bb", "format character (U+200B)"),
        ("a\u2066b", "format character (U+2066)"),
        ("\ufeffa", "format character (U+FEFF) at place 1"),
        ("a\ud800", "a surrogate"),
        ("a\ue000", "a private-use character"),
        ("a\U000e0041", "format character"),
        ("a\u0378b", "an unassigned character"),
        ("a\u2028b", "a line separator"),
        ("a\u00a0b", "a space that is not the ordinary one (U+00A0)"),
        ("\u3164", "drawn as nothing (U+3164)"),
        ("a\ufe0fb", "drawn as nothing (U+FE0F)"),
        ("\u0301a", "starts with a combining mark"),
    ],
)
def test_a_name_that_could_mislead_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(BotNameError) as error:
        check_name(name)
    assert reason in str(error.value)
    assert error.value.next_step
    assert error.value.sentence.isascii()
    assert error.value.sentence.isprintable()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rush", "Rush"),
        ("Rush", "rush"),
        ("Straße", "STRASSE"),
        ("Rush Hour", "Rush  Hour"),
        ("Rush", "\uff32\uff55\uff53\uff48"),
        ("Zoë", "Zoe\u0308"),
        ("Rush", "R\u200bush"),
        ("Rush", "Rus\ufe0fh"),
        ("Rush", "Rush\u3164"),
        ("paper", "\u0440\u0430\u0440\u0435r"),
        ("PACE", "\u0420\u0410\u0421\u0415"),
        ("tango", "t\u03b1ng\u03bf"),
        ("bot1", "botl"),
        ("botI", "botl"),
        ("v0", "vO"),
        ("v0", "vo"),
    ],
)
def test_names_that_people_would_mix_up_clash(one: str, other: str) -> None:
    assert clashes(one, other)
    assert clashes(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Rush", "Hush"), ("bot1", "bot2"), ("Zoe", "Zoë"), ("v1", "v11"), ("RushHour", "Rush Hour"), ("シ", "ツ")],
)
def test_names_that_differ_to_the_eye_do_not_clash(one: str, other: str) -> None:
    assert not clashes(one, other)


@given(st.text(max_size=70))
def test_what_is_accepted_is_stable_and_clean(text: str) -> None:
    try:
        name = check_name(text)
    except BotNameError:
        return
    assert check_name(name) == name
    assert unicodedata.is_normalized("NFC", name)
    assert 1 <= len(name) <= 64
    assert not any(unicodedata.category(character)[0] == "C" for character in name)
    assert name == name.strip()
    assert name.encode()


@given(st.text(max_size=12), st.text(max_size=12))
def test_clashing_is_symmetric_and_every_name_clashes_with_itself(one: str, other: str) -> None:
    assert clashes(one, other) == clashes(other, one)
    assert clashes(one, one)


@given(st.text(max_size=12), st.sampled_from("\u200b\u200d\u2060\ufe0f\u202e\ufeff"), st.integers(0, 12))
def test_an_invisible_character_anywhere_changes_nothing(name: str, invisible: str, place: int) -> None:
    # Beside a combining character an inserted one may change how the rest composes; names in NFC are the case here.
    name = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.combining(c) == 0)
    assert clashes(name, name[:place] + invisible + name[place:])
