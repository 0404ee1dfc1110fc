"""Puts the drawings of many steps into one: what stays the same stands there once."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import TypeAlias

Shown: TypeAlias = Sequence[ET.Element | None]
"""What one place of the drawing holds at each step."""

Animation: TypeAlias = Callable[[Sequence[bool]], ET.Element]
"""The element that shows its parent at those steps for which there is a True."""


def merged(steps: Sequence[Sequence[ET.Element]], animation: Animation) -> Iterator[ET.Element]:
    """Elements that show, one after another, what the lists of elements in `steps` show."""
    for shown in _aligned(steps):
        yield from _place(shown, animation)


def _place(shown: Shown, animation: Animation) -> Iterator[ET.Element]:
    there = [element is not None for element in shown]
    found = [element for element in shown if element is not None]
    texts = [None if element is None else ET.tostring(element) for element in shown]
    versions = {text: element for text, element in zip(texts, shown, strict=True) if element is not None}
    if len(versions) > 1 and len(found) > 1 and _alike(found):
        wrapper = ET.Element(found[0].tag, found[0].attrib)
        if not all(there):
            wrapper.append(animation(there))
        # A step without the wrapper says nothing about what is in it: it is taken as at the step before.
        wrapper.extend(merged(_filled([None if element is None else list(element) for element in shown]), animation))
        yield wrapper
        return
    for text, element in versions.items():
        copy = deepcopy(element)
        when = [other == text for other in texts]
        if not all(when):
            copy.insert(0, animation(when))
        yield copy


def _alike(found: Sequence[ET.Element]) -> bool:
    """Whether only their children differ."""
    first = found[0]
    return first.tag == "g" and all(item.tag == "g" and item.attrib == first.attrib for item in found)


def _filled(lists: Sequence[list[ET.Element] | None]) -> list[list[ET.Element]]:
    known = next(item for item in lists if item is not None)
    filled = []
    for item in lists:
        known = known if item is None else item
        filled.append(known)
    return filled


def _aligned(steps: Sequence[Sequence[ET.Element]]) -> Iterator[Shown]:
    """What belongs together over the steps, in the order in which it is painted.

    Elements of one place of the board belong together, others by their number. Where the order changes between steps
    only the number counts, since what is painted later lies above.
    """
    keyed = [_keys(elements) for elements in steps]
    order: list[str] = []
    for keys in dict.fromkeys(tuple(item) for item in keyed):
        at = 0
        for key in keys:
            if key in order:
                at = order.index(key) + 1
            else:
                order.insert(at, key)
                at += 1
    number = {key: at for at, key in enumerate(order)}
    if all(_rising([number[key] for key in keys]) for keys in keyed):
        for key in order:
            yield [keys.get(key) for keys in keyed]
    else:
        for at in range(max(len(elements) for elements in steps)):
            yield [elements[at] if at < len(elements) else None for elements in steps]


def _rising(numbers: Sequence[int]) -> bool:
    return all(one < other for one, other in pairwise(numbers))


def _keys(elements: Sequence[ET.Element]) -> dict[str, ET.Element]:
    counts: Counter[str] = Counter()
    keys = {}
    for element in elements:
        name = element.get("data-place") or element.tag
        counts[name] += 1
        keys[f"{name} {counts[name]}"] = element
    return keys
