"""The protocols a game fulfils: Game, State, Codec, View.

Protocols, not base classes: a plug-in needs no code of ours at run time beyond these names. Where a type is `Any`
it is the game's own frozen dataclass.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol, TypeAlias

from referee.games.api.chance import Chance, Outcome
from referee.games.api.options import Option

Action: TypeAlias = Any
"""A game's action: a small frozen dataclass, equal by value, with `KIND`."""

Payload: TypeAlias = Any
"""What one viewer sees of one event: a small frozen dataclass with `KIND`."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One seat is asked one question of this kind (a name of the game's, such as 'turn' or 'flee')."""

    seat: int
    kind: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `private` holds the fuller account that single seats get instead of `public`."""

    public: Payload
    private: Mapping[int, Payload] = field(default_factory=dict)

    def seen_by(self, viewer: int | None) -> Payload:
        """The account that `viewer` gets; None is a spectator."""
        return self.public if viewer is None else self.private.get(viewer, self.public)


class State(Protocol):
    """One position. Mutable; the history belongs to the referee. No clock, floats, set order or globals."""

    @property
    def turn_seat(self) -> int:
        """Whose turn it is, which is not always who must act."""

    def decisions(self) -> Sequence[Decision]:
        """What is being asked, in seat order. Empty at chance and terminal nodes; more than one = simultaneous."""

    def legal_actions(self, seat: int) -> Sequence[Action]:
        """Never empty for a seat that is asked. Unique, canonical order, the harmless one (pass, no) first.

        Empty, or a GameError, for a seat that is not asked.

        The caller must not change the returned sequence; it is valid until the state changes.
        """

    def is_optional(self, seat: int, action: Action) -> bool:
        """Whether the rules let `seat`, which is asked, decline this one of its legal actions.

        The first of the legal actions never is optional: whoever declines all others chooses it. An action that is
        optional is only taken when it is chosen, even if a game takes single actions without asking.
        """

    def apply(self, actions: Mapping[int, Action]) -> list[Event]:
        """Answers of all seats of `decisions()`, applied as one; the order of the mapping makes no difference.

        Checked and atomic: IllegalAction leaves the state unchanged.
        """

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        """At a chance node: what may come, with positive integer weights, canonical order. Empty elsewhere."""

    def chance_stream(self) -> Chance:
        """At a chance node: which deck or die decides."""

    def apply_chance(self, outcome: Outcome) -> list[Event]:
        """One of `chance_outcomes()`. IllegalAction, state unchanged, for anything else."""

    def withdraw(self, seat: int) -> list[Event]:
        """A faulted seat leaves for good, at any node. Afterwards it is asked nothing and ranks as the game says.

        IllegalAction if it is no seat or has left already, or the game is over.
        """

    def is_terminal(self) -> bool: ...

    def returns(self) -> tuple[int, ...]:
        """Per seat, what it scored in the game's own points (higher is better). Meaningful when terminal."""

    def ranking(self) -> tuple[int, ...]:
        """Per seat its rank, 1 the best; ties share a rank and the next one is skipped (1, 1, 3).

        Team members share theirs. When terminal only.
        """

    def observation(self, viewer: int | None) -> Any:
        """What `viewer` may see: a frozen dataclass built up from an allow-list. None is a spectator.

        It holds no floats and nothing that can change. What an event has told the viewer and still holds, it shows.
        """

    def resample(self, viewer: int | None, rng: Random) -> "State":
        """A copy in which everything `viewer` may not know is drawn again, consistent with what it has seen.

        At the same node: whose turn it is, who is asked what, and which stream of luck comes next, are public.
        """

    def clone(self) -> "State":
        """An independent copy."""

    def to_dict(self) -> dict[str, Any]:
        """The whole state as JSON values, canonical: equal states give equal dictionaries."""


class Codec(Protocol):
    """The game's own protobuf messages, carried as bytes by the envelope. Decoders raise ActionSyntaxError."""

    def encode_observation(self, observation: Any) -> bytes: ...
    def decode_observation(self, data: bytes) -> Any: ...
    def encode_action(self, action: Action) -> bytes: ...
    def decode_action(self, data: bytes) -> Action: ...
    def encode_actions(self, actions: Sequence[Action]) -> bytes:
        """A legal list in packed columns."""

    def decode_actions(self, data: bytes) -> tuple[Action, ...]: ...
    def encode_events(self, payloads: Sequence[Payload]) -> bytes: ...
    def decode_events(self, data: bytes) -> tuple[Payload, ...]: ...


class View(Protocol):
    """Pictures of an observation, for people and language models.

    `names` are the names of who plays, by seat; where it has none, a seat is called 'seat 0' (see `seat_name`). What is
    said follows from the arguments alone, so that a viewer is told nothing that its observation and its account of the
    event do not hold. Things have their printed names, never ids.

    Optional, as an attribute `dealt`: per `KIND` of event that chance brings in numbers a noun ('card'), so that a run
    of them is told as one sentence ('4 cards dealt'). Also optional are `points(observation)`: per seat the points that
    everybody can count so far, to be shown beside the board; `questions`: per kind of decision what it asks, in words;
    `turn_begins`: the `KIND` of the event with which a turn begins, where it can come in the same step as the last
    answer of the turn before; and `selection(observation, legal)`: the actions that take some of several like things,
    so that people choose the things (see `Selection`).
    """

    def text_board(self, observation: Any, names: Sequence[str] = ()) -> str:
        """A board for a terminal of 100 columns: ASCII or common box characters, no colour codes or trailing blanks."""

    def action_sentence(self, action: Action, observation: Any, names: Sequence[str] = ()) -> str:
        """What a seat does that chooses `action`, as one short order: 'Draw a card from the deck'. For menus.

        `observation` is that of the seat that is asked; legal actions of one list have different sentences.
        """

    def event_sentence(self, payload: Payload, observation: Any, names: Sequence[str] = ()) -> str:
        """What happened, in one short sentence with its subject and without a full stop: 'greedy draws a card'.

        `payload` is the account that the viewer of `observation` got, which is that after the event or a later one.
        """


class Game(Protocol):
    """A rule set. One instance per process, stateless."""

    id: str
    title: str
    rules_version: int
    """Goes up whenever any recorded match could replay differently."""
    player_counts: tuple[int, ...]
    """The numbers of players it can be played with, ascending."""
    options: tuple[Option, ...]
    notes: tuple[str, ...]
    """What a user must know, for instance that a tile set is a reconstruction and not the box's."""
    draws_possible: bool
    """Whether the best rank can be shared."""
    decision_kinds: tuple[str, ...]
    """The `kind` of every decision that can be asked."""
    codec: Codec
    view: View

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        """Set-up with the full, resolved options. Raises PlayersError, OptionError, DataError."""

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """An upper bound on the decisions of one match, by proof, not by hope."""

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        """Per seat the number of its team; without teams (0, 1, .., players-1)."""

    def default_data(self) -> dict[str, Any]:
        """The box data the game ships with, in the form that option `data` takes."""

    def check_data(self, data: Any) -> None:
        """Raises DataError, naming the place and what was expected, if `data` cannot replace `default_data()`."""

    def format_action(self, action: Action) -> str: ...

    def parse_action(self, text: str) -> Action:
        """Raises ActionSyntaxError. `parse_action(format_action(a)) == a`."""

    def state_from_dict(self, data: Mapping[str, Any]) -> State:
        """Inverse of `State.to_dict()`."""

    def from_observation(
        self, observation: Any, history: Sequence[Payload], options: Mapping[str, Any], rng: Random
    ) -> State:
        """For bots: a state consistent with all that the observing seat has seen, at a node where it is asked.

        `history` holds the event payloads this seat got since the start, `options` those of MatchStart.
        """

    def conserved(self, state: State) -> dict[str, int]:
        """Counts of physical things (cards, tiles, pieces) over all places, withdrawn seats' included.

        Equal at every node of a match: the conformance kit checks that nothing appears or vanishes.
        """


def state_hash(state: State) -> str:
    """32 hex digits over the canonical JSON of `to_dict()`."""
    text = json.dumps(state.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()
