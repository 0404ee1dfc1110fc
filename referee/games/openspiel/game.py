"""The adapter: one of OpenSpiel's games as a game of Crosstown."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from random import Random
from typing import Any, TypeAlias

import pyspiel

from referee.games.api import (
    DATA_OPTION,
    Codec,
    DataError,
    GameError,
    Option,
    OptionError,
    PlayersError,
    View,
)
from referee.games.openspiel import codec
from referee.games.openspiel.actions import Play, format_action, parse_action
from referee.games.openspiel.chess import fault_of_start
from referee.games.openspiel.events import OpenSpielEvent
from referee.games.openspiel.facts import (
    INFORMATION_INCOMPLETE,
    PARTNERS,
    PLAYER_COUNTS,
    RESAMPLED,
    SEATS_EXPLAINED,
    THOUSANDTHS,
)
from referee.games.openspiel.notation import PlayedMatch, write_pgn, write_sgf
from referee.games.openspiel.observation import Observation
from referee.games.openspiel.openings import read_openings
from referee.games.openspiel.options import (
    START,
    TENSORS,
    WITH_START,
    load,
    load_with,
    own_options,
    parameters_of,
    reason,
)
from referee.games.openspiel.state import TOGETHER, TURN, Setup, State, WriteActions, copied_options, write_actions
from referee.games.openspiel.text import plain
from referee.games.openspiel.view import TextView

FAMILY = "openspiel"
ADAPTER_VERSION = 1
"""Version of the adapter. It goes up when a recorded match could be replayed differently."""
Notation: TypeAlias = Callable[[PlayedMatch], str]
_NOTATIONS: Mapping[str, Mapping[str, Notation]] = {"chess": {"pgn": write_pgn}, "go": {"sgf": write_sgf}}
_THOUSAND = 1000
_SETUPS_KEPT = 32


def rules_version() -> int:
    """1_020_002 for version 1 of the adapter and OpenSpiel 2.0.2: its rules may change with any of its releases."""
    numbers = [int(part) if part.isdigit() else 0 for part in (*version("open_spiel").split("."), "0", "0")[:3]]
    return ADAPTER_VERSION * 1_000_000 + numbers[0] * 10_000 + numbers[1] * 100 + numbers[2]


class OpenSpielGame:
    """See `referee.games.api.Game`."""

    codec: Codec = codec

    def __init__(self, name: str, kind: Any, view: View | None = None, write: WriteActions = write_actions) -> None:
        """`kind` is the `pyspiel.GameType` of a game without a `refusal`."""
        self._name = name
        self._kind = kind
        self._parameters = parameters_of(kind)
        self._write = write
        self._perfect = kind.information != pyspiel.GameType.Information.IMPERFECT_INFORMATION
        self._together = kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        self.id: str = f"{FAMILY}/{name}"
        self.title: str = plain(kind.long_name)
        self.rules_version: int = rules_version()
        self.player_counts: tuple[int, ...] = _player_counts(name, kind)
        self.options: tuple[Option, ...] = (
            *(parameter.option for parameter in self._parameters),
            *own_options(name),
        )
        self.notes: tuple[str, ...] = self._notes()
        self.draws_possible: bool = True
        self.decision_kinds: tuple[str, ...] = (TURN, TOGETHER) if self._together else (TURN,)
        self.not_offered: Mapping[str, str] = self._not_offered()
        self.read_openings = read_openings if name in WITH_START else None
        """What makes positions, for the option `start`, of a file; None where the game has no such option."""
        self.notations: Mapping[str, Notation] = _NOTATIONS.get(name, {})
        """File formats that a match can be exported to, beside Crosstown's own."""
        self.view: View = view or TextView(self.title)
        self._setups = lru_cache(maxsize=_SETUPS_KEPT)(self._make_setup)

    def _notes(self) -> tuple[str, ...]:
        notes = [f"The rules are those of OpenSpiel {version('open_spiel')}."]
        if self._name in SEATS_EXPLAINED:
            notes.append(SEATS_EXPLAINED[self._name])
        if self._name in THOUSANDTHS:
            notes.append("Points are thousandths of OpenSpiel's.")
        return tuple(notes)

    def _not_offered(self) -> Mapping[str, str]:
        """See `conformance.game_object.not_offered`."""
        if self._perfect:
            return {}
        reasons = {"from_observation": "OpenSpiel cannot build a state from what a seat has seen"}
        if why := INFORMATION_INCOMPLETE.get(self._name):
            reasons["resample"] = why
        elif self._name not in RESAMPLED and not self._kind.provides_information_state_string:
            reasons["resample"] = "OpenSpiel neither resamples this game nor writes its information states"
        return reasons

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        return State(self._setup(players, options))

    def _setup(self, players: int, options: Mapping[str, Any]) -> Setup:
        if players not in self.player_counts:
            counts = ", ".join(map(str, self.player_counts))
            raise PlayersError(f"{self.id} is for {counts} players, not {players!r}")
        self.check_data(options.get(DATA_OPTION, {}))
        return self._setups(players, json.dumps(copied_options(options)))

    def _make_setup(self, players: int, options_json: str) -> Setup:
        options: dict[str, Any] = json.loads(options_json)
        setup = Setup(
            name=self._name,
            game=load(self._name, players, self._parameters, options),
            players=players,
            options=options,
            start=options.get(START, ""),
            perfect=self._perfect,
            resamples="resample" not in self.not_offered,
            resamples_itself=self._name in RESAMPLED,
            together=self._together,
            teams=self.teams(players, options),
            unit=_THOUSAND if self._name in THOUSANDTHS else 1,
            tensors=options.get(TENSORS, True),
            write=self._write,
        )
        if setup.start and (fault := fault_of_start(setup.start)):
            raise OptionError(f"{self.id} option '{START}' {setup.start!r} is no position: {fault}")
        try:
            setup.begin()
        except pyspiel.SpielError as error:
            what = (
                f"{self.id} option '{START}' {setup.start!r} is no position"
                if setup.start
                else f"{self.id} cannot begin"
            )
            raise OptionError(f"{what}: {reason(error)}") from None
        return setup

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """OpenSpiel's own bound on the actions of one match; one for each seat where they act together."""
        length = int(self._setup(players, options).game.max_game_length())
        return max(1, length * players if self._together else length)

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        """Partners sit opposite each other; without partners each seat is a team."""
        return tuple(seat % 2 if self._name in PARTNERS else seat for seat in range(players))

    def default_data(self) -> dict[str, Any]:
        """None of these games has box data."""
        return {}

    def check_data(self, data: Any) -> None:
        if data != {} or not isinstance(data, dict):
            raise DataError(f"{self.id} has no box data: expected an empty table")

    def format_action(self, action: Play) -> str:
        return format_action(action)

    def parse_action(self, text: str) -> Play:
        return parse_action(text)

    def state_from_dict(self, data: Mapping[str, Any]) -> State:
        try:
            return State.restored(self._setup(data["players"], data["options"]), data["steps"], data["withdrawn"])
        except (KeyError, TypeError) as error:
            raise DataError(f"state: {type(error).__name__} {error}; expected the form of to_dict()") from error

    def from_observation(
        self,
        observation: Observation,
        history: Sequence[OpenSpielEvent],
        options: Mapping[str, Any],
        rng: Random,
    ) -> State:
        """Exact for perfect information, where the events have all actions and outcomes. GameError otherwise."""
        if why := self.not_offered.get("from_observation"):
            raise GameError(f"{self.id}: {why}")
        return State.from_events(self._setup(observation.players, options), history)

    def conserved(self, state: Any) -> dict[str, int]:
        """OpenSpiel does not say what its games are made of."""
        return {}


def _player_counts(name: str, kind: Any) -> tuple[int, ...]:
    """The numbers of seats with which the game loads."""
    if name in PLAYER_COUNTS:
        return PLAYER_COUNTS[name]
    counts = []
    for players in range(kind.min_num_players, kind.max_num_players + 1):
        try:
            load_with(name, players, {})
        except pyspiel.SpielError:
            continue
        counts.append(players)
    return tuple(counts)
