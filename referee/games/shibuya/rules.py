"""The rules: the course of turns, what a seat may do and what follows from it. `moves.py` says where one can go."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from referee.games.api import Chance, Decision, Draw, Event, IllegalAction, Outcome, draft_of, event
from referee.games.api.compiling import mypyc_attr
from referee.games.shibuya.actions import (
    BUILD,
    MOVES,
    OFF_GRID,
    PASS,
    PLACES,
    PLACES_OF,
    TARGET_AT,
    TARGET_BITS,
    TURNS,
    Build,
    Move,
    Pass,
    Place,
    ShibuyaAction,
)
from referee.games.shibuya.bitboard import COMPILED, FIELD_BITS, SLOT_MASKS, SLOTS, fields_of, lengths_of
from referee.games.shibuya.events import (
    BuildChosen,
    Finished,
    Moved,
    Passed,
    TileDrawn,
    TilePlaced,
    Withdrew,
)
from referee.games.shibuya.moves import move_targets
from referee.games.shibuya.observation import Observation
from referee.games.shibuya.state import (
    BUILD_ON,
    DRAW_BUILD,
    DRAW_PLACE,
    NOBODY,
    OVER,
    PLACE,
    TURN,
    WHOLE_BOARD,
    Position,
)

_OBSERVATION_DRAFT: Final = draft_of(Observation)

DECISION_KINDS: Final = (PLACE, TURN, BUILD_ON)
_TILES: Final = Draw("tiles", 0)
_ASKED: Final = {phase: tuple((Decision(seat, phase),) for seat in range(4)) for phase in DECISION_KINDS}
_PLACE_ROWS: Final = {period: tuple(row[:period] for row in PLACES) for period in (1, 2, TURNS)}


class Words(NamedTuple):
    """What legal lists are made of: actions, or in arrays their numbers."""

    build: Any
    nothing: Any
    """Passing."""
    places: Mapping[int, Sequence[Sequence[Any]]]
    """[in how many ways a tile can be laid][slot]."""
    moves: Sequence[Sequence[Any]]
    """As `actions.MOVES`."""


_ACTIONS: Final = Words(BUILD, PASS, _PLACE_ROWS, MOVES)


@mypyc_attr(allow_interpreted_subclasses=True)  # as of its base
class State(Position):
    """One position and its rules: see `referee.games.api.State`."""

    __slots__ = ()

    def decisions(self) -> tuple[Decision, ...]:
        asked = _ASKED.get(self.phase)
        return () if asked is None else asked[self.seat]

    def legal_actions(self, seat: Any) -> Sequence[ShibuyaAction]:
        """Moves by source and target, then building; or places by slot and turn; or passing alone."""
        if seat != self.seat:
            return ()
        if self._legal is None:
            if self.phase not in DECISION_KINDS:
                return ()
            self._legal = self.legal_in(_ACTIONS)
        return self._legal

    def legal_in(self, words: Words) -> list[Any]:
        """The legal list, a new one, of the seat that is asked."""
        return self._turn_actions(words) if self.phase == TURN else self._place_actions(words)

    def is_optional(self, seat: int, action: ShibuyaAction) -> bool:
        """Never: who can move or build must, and passing is for those who can do neither."""
        return False

    def _turn_actions(self, words: Words) -> list[Any]:
        legal: list[Any] = [words.build] if self._can_build() else []
        append, all_moves = legal.append, words.moves
        # From the last to the first: the highest bit of a mask is found faster than the lowest.
        for source, ends in self.targets().items():
            moves = all_moves[source]
            if COMPILED:
                legal += [moves[length] for length in reversed(lengths_of(ends))]
                continue
            while ends:
                length = ends.bit_length()
                ends ^= TARGET_AT[length]
                append(moves[length])
        legal.reverse()
        return legal or [words.nothing]

    def targets(self) -> dict[int, int]:
        """Of the seat whose turn it is: per source the mask of its targets, never 0; sources descending."""
        if self._targets is None:
            self._targets = move_targets(self, self.seat)
        return self._targets

    def _can_build(self) -> bool:
        return self.stock_left > 0 and self.buildable() > 0

    def _place_actions(self, words: Words) -> list[Any]:
        rows = words.places[self.board.periods[self.drawn]]
        open_fields = self._open_fields()
        legal: list[Any] = []
        for slot, mask in enumerate(SLOT_MASKS):
            if open_fields & mask:
                legal += rows[slot]
        return legal

    def _open_fields(self) -> int:
        """Fields of the slots that may take the drawn tile."""
        if self.phase == PLACE:
            return WHOLE_BOARD ^ self.laid
        return self.buildable()

    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        seat = self.seat
        if len(actions) != 1 or seat not in actions:
            raise IllegalAction(f"expected one action, of seat {seat}, not of {list(actions)}")
        action = actions[seat]
        if self.phase == TURN:
            if type(action) is Move:
                return self._move(seat, action)
            if type(action) is Build and self._can_build():
                self.phase = DRAW_BUILD
                self._forget()
                return [event(BuildChosen, seat)]
            if type(action) is Pass and not self._can_build() and not self.targets():
                return self._pass(seat)
        elif (self.phase == PLACE or self.phase == BUILD_ON) and type(action) is Place:
            return self._place(seat, action)
        raise IllegalAction(f"{action} is not legal for seat {seat} in phase '{self.phase}'")

    def _move(self, seat: int, move: Any) -> list[Event]:
        source, target = move.source, move.target
        if type(source) is not int or type(target) is not int or not 0 <= target < len(TARGET_BITS):
            raise IllegalAction(f"{move}: source and target must be numbers of fields, waiting places or goals")
        bit = TARGET_BITS[target]
        if not self.targets().get(source, 0) & bit:
            raise IllegalAction(f"{move} is not legal for seat {seat}")
        team = seat & 1
        if source < OFF_GRID:
            self.grid[team] ^= FIELD_BITS[source]
        else:
            self.waiting[team] ^= 1 << (source - OFF_GRID)
        events = [event(Moved, seat, source, target)]
        self.passes = 0
        if target < OFF_GRID:
            self.grid[team] |= bit
        else:
            self.arrive(team, target - OFF_GRID)
            mine = self.scored[team]
            lead = mine - self.scored[1 - team]
            if mine >= self.rules.goals_to_win:
                return self._finish(events, team, "goals")
            if 0 < self.rules.lead_to_win <= lead:
                return self._finish(events, team, "lead")
        return self._end_turn(events)

    def _pass(self, seat: int) -> list[Event]:
        self.passes += 1
        events = [event(Passed, seat)]
        if self.passes == self.board.players:
            winner = NOBODY if self.rules.all_passed_is_draw else self._leader()
            return self._finish(events, winner, "all_passed")
        return self._end_turn(events)

    def _place(self, seat: int, place: Any) -> list[Event]:
        slot, turn = place.slot, place.turn
        if (
            type(slot) is not int
            or type(turn) is not int
            or not 0 <= slot < SLOTS
            or not 0 <= turn < self.board.periods[self.drawn]
            or not self._open_fields() & SLOT_MASKS[slot]
        ):
            raise IllegalAction(f"{place} is not legal for seat {seat} with tile {self.drawn}")
        covered = self.lay(self.drawn, turn, slot)
        events = [event(TilePlaced, seat, self.drawn, slot, turn, covered)]
        self.drawn = -1
        if self.phase == BUILD_ON:
            self.passes = 0
            return self._end_turn(events)
        self._forget()
        if self.laid == WHOLE_BOARD:
            return self._begin_turn(events, self.rules.first_crosser)
        self.seat = (seat + 1) % self.board.players
        self.phase = DRAW_PLACE
        return events

    def _end_turn(self, events: list[Event]) -> list[Event]:
        self.turns += 1
        if self.turns == self.rules.move_cap:
            return self._finish(events, self._leader(), "move_cap")
        return self._begin_turn(events, (self.seat + 1) % self.board.players)

    def _begin_turn(self, events: list[Event], seat: int) -> list[Event]:
        self._forget()
        self.seat = seat
        self.phase = TURN
        if self.rules.lose_when_blocked and not self._can_build() and not self.targets():
            return self._finish(events, 1 - seat % 2, "blocked")
        return events

    def _finish(self, events: list[Event], winner: int, reason: str) -> list[Event]:
        self._forget()
        self.phase = OVER
        self.winner = winner
        self.reason = reason
        events.append(event(Finished, winner, reason))
        return events

    def _leader(self) -> int:
        red, blue = self.scored
        return NOBODY if red == blue else int(blue > red)

    def _forget(self) -> None:
        self._legal = None
        self._targets = None

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        if self.phase != DRAW_PLACE and self.phase != DRAW_BUILD:
            return ()
        return [(kind, left) for kind, left in enumerate(self.stock) if left]

    def chance_stream(self) -> Chance:
        return _TILES

    def apply_chance(self, outcome: Any) -> list[Event]:
        if self.phase != DRAW_PLACE and self.phase != DRAW_BUILD:
            raise IllegalAction(f"no tile is drawn in phase '{self.phase}'")
        if type(outcome) is not int or not 0 <= outcome < len(self.stock) or not self.stock[outcome]:
            raise IllegalAction(f"no tile {outcome!r} is left to draw")
        self.draw(outcome)
        self.drawn = outcome
        self.phase = PLACE if self.phase == DRAW_PLACE else BUILD_ON
        return [event(TileDrawn, self.seat, outcome)]

    def withdraw(self, seat: Any) -> list[Event]:
        """The seat's team has lost; all pieces stay where they are."""
        if self.phase == OVER:
            raise IllegalAction(f"seat {seat} cannot leave: the match is over")
        if type(seat) is not int or not 0 <= seat < self.board.players:
            raise IllegalAction(f"there is no seat {seat}")
        self.withdrawn = seat
        return self._finish([event(Withdrew, seat)], 1 - seat % 2, "withdrawn")

    def is_terminal(self) -> bool:
        return self.phase == OVER

    def returns(self) -> tuple[int, ...]:
        """Per seat the pedestrians its team has in goal."""
        scored = self.scored
        return tuple(scored[seat % 2] for seat in range(self.board.players))

    def ranking(self) -> tuple[int, ...]:
        players = self.board.players
        if self.winner == NOBODY:
            return (1,) * players
        losers = 1 + players // 2
        return tuple(1 if seat % 2 == self.winner else losers for seat in range(players))

    def observation(self, viewer: int | None) -> Observation:
        """The same for every viewer."""
        red, blue = self.grid
        red_waiting, blue_waiting = self.waiting
        red_goals, blue_goals = self.goals
        seen = _OBSERVATION_DRAFT(
            self.board.setting,
            self.phase,
            self.seat,
            self.turns,
            self.passes,
            self.drawn,
            self.stock,
            self.tops,
            self.covered,
            self.looks,
            (fields_of(red), fields_of(blue)),
            (PLACES_OF[red_waiting], PLACES_OF[blue_waiting]),
            (red_goals, blue_goals),
            self.winner,
            self.reason,
            self.withdrawn,
        )
        seen.__class__ = Observation
        return seen  # type: ignore[no-any-return]

    def resample(self, viewer: int | None, rng: Random) -> "State":
        """A copy: nothing but future draws is unknown, and those are chance nodes."""
        return self.clone()

    @classmethod
    def from_observation(cls, seen: Observation, options: Mapping[str, Any]) -> "State":
        """The state that is seen: nothing is hidden but what chance nodes will bring."""
        teams = zip(seen.fields, seen.waiting, seen.goals, strict=True)
        return cls._from_dict(
            {
                "players": seen.setting.players,
                "options": options,
                "phase": seen.phase,
                "seat": seen.seat,
                "turns": seen.turns,
                "passes": seen.passes,
                "drawn": seen.drawn,
                "stock": seen.stock,
                "tops": seen.tops,
                "covered": seen.covered,
                "teams": [{"fields": fields, "waiting": waiting, "goals": goals} for fields, waiting, goals in teams],
                "winner": seen.winner,
                "reason": seen.reason,
                "withdrawn": seen.withdrawn,
            }
        )
