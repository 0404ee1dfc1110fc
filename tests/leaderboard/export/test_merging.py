"""Many drawings in one: at every step exactly that step's drawing is shown."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.export.film import merged

SETTINGS = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])

attributes = st.dictionaries(st.sampled_from(["class", "data-place", "x"]), st.sampled_from(["a", "b"]), max_size=2)


def element(tag: str, given_attributes: dict[str, str], children: Sequence[ET.Element] = ()) -> ET.Element:
    made = ET.Element(tag, given_attributes)
    made.extend(children)
    return made


elements = st.recursive(
    st.builds(element, st.sampled_from(["rect", "g"]), attributes),
    lambda inner: st.builds(element, st.just("g"), attributes, st.lists(inner, max_size=3)),
    max_leaves=6,
)
drawings = st.lists(st.lists(elements, max_size=4), min_size=1, max_size=5)


def mark(when: Sequence[bool]) -> ET.Element:
    return ET.Element("animate", when="".join("x" if on else "-" for on in when))


def at_step(items: Sequence[ET.Element], step: int) -> list[ET.Element]:
    """What is shown then."""
    shown = []
    for item in items:
        marks = [child.get("when", "") for child in item if child.tag == "animate"]
        if all(when[step] == "x" for when in marks):
            children = [child for child in item if child.tag != "animate"]
            shown.append(element(item.tag, dict(item.attrib), at_step(children, step)))
    return shown


def written(items: Sequence[ET.Element]) -> list[str]:
    """Attributes in one order, for theirs means nothing."""
    return [ET.canonicalize(ET.tostring(item)) for item in items]


@SETTINGS
@given(drawings)
def test_every_step_shows_its_own_drawing(steps: list[list[ET.Element]]) -> None:
    one = list(merged(steps, mark))
    for number, drawing in enumerate(steps):
        assert written(at_step(one, number)) == written(drawing)


@SETTINGS
@given(st.lists(elements, max_size=4), st.integers(1, 4))
def test_what_never_changes_stands_there_once_and_is_not_animated(drawing: list[ET.Element], count: int) -> None:
    assert written(list(merged([drawing] * count, mark))) == written(drawing)


def test_what_is_inserted_animates_only_itself() -> None:
    places = [element("g", {"data-place": name}) for name in "abcd"]
    one = list(merged([[places[0], places[3]], places], mark))
    assert [item.get("data-place") for item in one] == ["a", "b", "c", "d"]
    assert [len(item) for item in one] == [0, 1, 1, 0]


def test_a_change_inside_a_group_leaves_the_rest_of_it_alone() -> None:
    def group(name: str) -> ET.Element:
        return element("g", {}, [element("rect", {"x": "a"}), element("circle", {"class": name})])

    (one,) = merged([[group("a")], [group("b")]], mark)
    assert [child.tag for child in one] == ["rect", "circle", "circle"]
