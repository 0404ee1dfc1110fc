"""How a board is to be drawn, and what a game's view must offer to draw one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from referee.games.api import Action


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be shown beside the position itself."""

    names: tuple[str, ...] = ()
    """Per seat the name of who plays it. Anything a bot can call itself: it is cleaned, cut and escaped."""
    legal: Sequence[Action] = ()
    """The legal actions of the viewer, in the order of their indexes. Every place of the board that is part of some of
    them becomes a button: `data-action` holds their indexes with blanks between."""
    marked: tuple[str, ...] = ()
    """Places where something has just happened: those of the last events."""
    theme: str = "auto"
    """One of `style.THEMES`. 'auto' follows the class ct-light or ct-dark of an element around the board, and without
    one the reader's preference."""
    styled: bool = True
    """Whether the style sheet is inside. A page with several boards, or with a content security policy, leaves it out
    and has `stylesheet()` once."""


class Drawing(Protocol):
    """What a game's view has beside `View` if its board can be drawn. With `seat_sign(seat, players)`, a drawing around
    (0, 0), 26 wide at most, pages show beside a seat's name the piece that stands for it on the board.

    A *place* is a name of a part of the board, such as `route:R07`: lower-case kind, colon, identifier; the element has
    it as `data-place`. An action has a place for each thing a person would point at, such as a pedestrian and the
    field it goes to; an event those where it can be seen.
    """

    def draw(self, observation: Any, look: Look, revealed: Sequence[Any] = ()) -> str:
        """One `<svg>` element, the same bytes for the same arguments.

        It is made from the observations alone, so it shows nothing that the viewer may not know. `revealed` holds
        observations of the same position by other viewers, whose knowledge is shown too: those of all seats give
        the whole table, which is for finished matches only.
        """

    def action_places(self, observation: Any, action: Action) -> tuple[str, ...]:
        """Where a legal action of the observation's viewer can be pointed at; () if nowhere."""

    def event_places(self, payload: Any) -> tuple[str, ...]:
        """Where an event can be seen; () if nowhere."""
