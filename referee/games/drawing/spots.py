"""Places of the board that can be pointed at or have just changed."""

from collections.abc import Iterable, Mapping

from referee.games.drawing.look import Look
from referee.games.drawing.text import escaped


class Spots:
    """Wraps the elements of a board that have a place, and marks those that matter now."""

    def __init__(self, actions: Mapping[str, Iterable[int]], look: Look) -> None:
        """`actions`: per place the indexes of the legal actions it is part of."""
        self._actions = actions
        self._marked = frozenset(look.marked)
        self.buttons = bool(actions)

    def spot(self, place: str, title: str, content: str, halo: str = "") -> str:
        """A group for `place` with a tooltip. `halo` is drawn on top if the place is a button or marked: the element
        that outlines it, as text with `class="halo"`."""
        indexes = self._actions.get(place)
        marked = place in self._marked
        css = " ".join(name for name, on in (("can", indexes), ("now", marked)) if on)
        attributes = f' class="{css}"' if css else ""
        if indexes:
            attributes += f' data-action="{" ".join(map(str, indexes))}" role="button" tabindex="0"'
            attributes += f' aria-label="{escaped(title)}"'
        tooltip = f"<title>{escaped(title)}</title>" if title else ""
        return f'<g data-place="{place}"{attributes}>{tooltip}{content}{halo if css else ""}</g>'


def spots_of(places: Iterable[tuple[str, ...]], look: Look) -> Spots:
    """`places`: those of the legal actions, in their order."""
    actions: dict[str, list[int]] = {}
    for index, names in enumerate(places):
        for name in dict.fromkeys(names):
            actions.setdefault(name, []).append(index)
    return Spots(actions, look)
