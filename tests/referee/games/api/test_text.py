"""Canonical action text."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import ActionSyntaxError, ActionText


@dataclass(frozen=True, slots=True)
class Pass:
    KIND: ClassVar[str] = "pass"


@dataclass(frozen=True, slots=True)
class Move:
    KIND: ClassVar[str] = "move"
    piece: str
    to: int
    jump: bool


@dataclass(frozen=True, slots=True)
class Keep:
    KIND: ClassVar[str] = "keep"
    cards: tuple[str, ...]
    counts: tuple[int, ...]
    flags: tuple[bool, ...]


TEXT = ActionText((Pass, Move, Keep))

WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,12}", fullmatch=True)
INTEGERS = st.integers(-(10**10) + 1, 10**10 - 1)
ACTIONS = st.one_of(
    st.just(Pass()),
    st.builds(Move, WORDS, INTEGERS, st.booleans()),
    st.builds(
        Keep,
        st.lists(WORDS, max_size=4).map(tuple),
        st.lists(INTEGERS, max_size=4).map(tuple),
        st.lists(st.booleans(), max_size=4).map(tuple),
    ),
)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Pass(), "pass()"),
        (Move("taxi", 7, True), "move(piece=taxi,to=7,jump=true)"),
        (Move("t.1-a", -3, False), "move(piece=t.1-a,to=-3,jump=false)"),
        (Keep((), (0,), (True,)), "keep(cards=[],counts=[0],flags=[true])"),
        (Keep(("a", "b"), (1, -2), ()), "keep(cards=[a,b],counts=[1,-2],flags=[])"),
    ],
)
def test_actions_are_written_and_read_like_this(action: object, text: str) -> None:
    assert TEXT.format(action) == text
    assert TEXT.parse(text) == action


@given(ACTIONS)
def test_every_action_survives_the_way_through_text(action: object) -> None:
    text = TEXT.format(action)
    assert text.isascii()
    assert text.isprintable()
    assert TEXT.parse(text) == action


@given(
    st.one_of(
        st.text(max_size=40),
        st.text("pasmovekc()=,[]+-0123456789 true\n٣", max_size=40),
        st.text("0123456789+-٣ _,]", max_size=6).map(lambda number: f"move(piece=a,to={number},jump=true)"),
        st.text("ab,[] ", max_size=6).map(lambda cards: f"keep(cards=[{cards}],counts=[],flags=[])"),
    )
)
def test_text_that_is_taken_is_what_format_prints(text: str) -> None:
    try:
        action = TEXT.parse(text)
    except ActionSyntaxError:
        return
    assert TEXT.format(action) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pass",
        "pass(",
        "pass() ",
        "pass()\n",
        " pass()",
        "Pass()",
        "pass(x=1)",
        "pass(,)",
        "walk()",
        "move(piece=a,to=1)",
        "move(to=1,piece=a,jump=true)",
        "move(piece=a,to=1,jump=true,)",
        "move(piece=a,to=1,jump=true,jump=true)",
        "move(piece=a, to=1,jump=true)",
        "move(piece=a,to=01,jump=true)",
        "move(piece=a,to=+1,jump=true)",
        "move(piece=a,to=-0,jump=true)",
        "move(piece=a,to=1.0,jump=true)",
        "move(piece=a,to=1_0,jump=true)",
        "move(piece=a,to=٣,jump=true)",
        "move(piece=a,to=\uff13,jump=true)",
        "move(piece=a,to=99999999999,jump=true)",
        "move(piece=a,to=true,jump=true)",
        "move(piece=a,to=1,jump=True)",
        "move(piece=a,to=1,jump=1)",
        "move(piece=1a,to=1,jump=true)",
        "move(piece=,to=1,jump=true)",
        "move(piece=[a],to=1,jump=true)",
        "move(piece=é,to=1,jump=true)",
        "keep(cards=[a,],counts=[],flags=[])",
        "keep(cards=[,a],counts=[],flags=[])",
        "keep(cards=[a b],counts=[],flags=[])",
        "keep(cards=a,counts=[],flags=[])",
        "keep(cards=[[a]],counts=[],flags=[])",
        "keep(cards=[a]counts=[],flags=[])",
        "keep(cards=[a,counts=[],flags=[])",
    ],
)
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(ActionSyntaxError):
        TEXT.parse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("walk()", "unknown action kind 'walk': expected one of pass, move, keep"),
        ("move(to=1)", "expected move(piece, to, jump) in this order"),
        ("move(piece=a,to=x,jump=true)", "'x' is not an integer in canonical form"),
        ("move(piece=a,to=1,jump=maybe)", "'maybe' is neither true nor false"),
        ("keep(cards=7,counts=[],flags=[])", "'7' is not a list like [1,2]"),
    ],
)
def test_errors_tell_which_part_is_wrong(text: str, told: str) -> None:
    with pytest.raises(ActionSyntaxError) as error:
        TEXT.parse(text)
    assert told in str(error.value)


@pytest.mark.parametrize("text", ["z" * 10**6, "z" * 10**6 + "()", f"move(piece={'9' * 10**6},to=1,jump=true)"])
def test_errors_about_endless_text_stay_short(text: str) -> None:
    with pytest.raises(ActionSyntaxError) as error:
        TEXT.parse(text)
    assert len(str(error.value)) < 500


def test_errors_about_control_characters_are_printable() -> None:
    with pytest.raises(ActionSyntaxError) as error:
        TEXT.parse("move(piece=\x1b[31m,to=1,jump=true)")
    assert str(error.value).isprintable()


def test_a_word_only_a_hostile_bot_can_have_sent_is_written_safely_and_never_read() -> None:
    text = TEXT.format(Move("x),pass(\n\x1b[31mé", 1, True))
    assert text == r"move(piece='x),pass(\n\x1b[31m\xe9',to=1,jump=true)"
    with pytest.raises(ActionSyntaxError):
        TEXT.parse(text)


@dataclass(frozen=True, slots=True)
class AlsoPass:
    KIND: ClassVar[str] = "pass"


@dataclass(frozen=True, slots=True)
class Loud:
    KIND: ClassVar[str] = "Loud"


@dataclass(frozen=True, slots=True)
class Half:
    KIND: ClassVar[str] = "half"
    share: float


@dataclass(frozen=True, slots=True)
class Pair:
    KIND: ClassVar[str] = "pair"
    both: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Nest:
    KIND: ClassVar[str] = "nest"
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Either:
    KIND: ClassVar[str] = "either"
    one: int | str


@dataclass(frozen=True, slots=True)
class Upper:
    KIND: ClassVar[str] = "upper"
    Field: int


@pytest.mark.parametrize(
    ("classes", "told"),
    [
        ((Pass, AlsoPass), "two action classes of one KIND"),
        ((Loud,), "'Loud' cannot be written"),
        ((Upper,), "'Field' cannot be written"),
        ((Half,), "Half.share"),
        ((Pair,), "Pair.both"),
        ((Nest,), "Nest.rows"),
        ((Either,), "Either.one"),
    ],
)
def test_classes_the_grammar_has_no_words_for_are_refused(classes: tuple[type, ...], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        ActionText(classes)
