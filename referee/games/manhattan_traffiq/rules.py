"""The rules: what each answer does to a position, what follows from it, and what it scores.

A turn is up to two actions in the order attach, rides, draw. An attached tile may open vertices for placing; each
vehicle placed or moved may ask whether to compete; then the turn goes on.
"""

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from referee.games.api import Chance, Decision, Draw, Event, IllegalAction, Outcome, Roll, draft_of, event
from referee.games.api.compiling import mypyc_attr
from referee.games.manhattan_traffiq.actions import (
    VEHICLES,
    Attach,
    Compete,
    Decline,
    DrawTile,
    EndTurn,
    Place,
    Taxi,
    TraffiqAction,
    Truck,
)
from referee.games.manhattan_traffiq.city import compete_choices, contests, reachable, region
from referee.games.manhattan_traffiq.data import PLAYER_COUNTS, START_HAND
from referee.games.manhattan_traffiq.events import (
    Attached,
    Competed,
    Declined,
    Drove,
    FinalRound,
    Finished,
    Placed,
    Returned,
    StartPlayer,
    TileDrawn,
    TurnEnded,
    Withdrew,
)
from referee.games.manhattan_traffiq.observation import Observation
from referee.games.manhattan_traffiq.state import Position

ACTIONS_PER_TURN: Final = 2
FOLLOWING: Final = {"": "ATLD", "A": "ATLD", "T": "LD", "L": "TD", "D": "D"}
"""By the actions done this turn, which may follow: A attach, T taxi, L truck, D draw."""
_END_TURN: Final = EndTurn()
_DRAW: Final = DrawTile()
_DECLINE: Final = Decline()
_TILES: Final = Draw("tiles")
DECISION_KINDS: Final = ("turn", "place", "compete")
_ASKED: Final = {kind: tuple((Decision(seat, kind),) for seat in range(PLAYER_COUNTS[-1])) for kind in DECISION_KINDS}
_LETTERS: Final = {Taxi: "T", Truck: "L"}
_OBSERVATION_DRAFT: Final = draft_of(Observation)


class Words(NamedTuple):
    """What the legal list of a turn is made of: actions, or in arrays their numbers."""

    end_turn: Any
    draw: Any
    attaching: Callable[[Any, int], Sequence[Any]]
    """Every way to lay a hand tile of one kind: by free cell, then face."""
    rides: Callable[[Any, int], Sequence[Any]]
    """Every ride with one piece: by where it stands, then where it goes."""


@mypyc_attr(allow_interpreted_subclasses=True)  # as of its base
class State(Position):
    """One position and its rules: see `referee.games.api.State`. Attributes are read-only for others."""

    __slots__ = ()

    # Asking

    def decisions(self) -> Sequence[Decision]:
        return _ASKED[self.phase][self.seat] if self.phase in _ASKED else ()

    def legal_actions(self, seat: Any) -> Sequence[TraffiqAction]:
        if self.phase not in _ASKED or seat != self.seat:
            return ()
        if self._legal is None:
            if self.phase == "turn":
                self._legal = tuple(self.turn_in(_ACTIONS, self))
            elif self.phase == "place":
                self._legal = self._place_actions()
            else:
                names = tuple([contest.street for contest in self.contests])
                self._legal = compete_choices(names, self.rules.street_by_street)
        return self._legal

    def is_optional(self, seat: int, action: TraffiqAction) -> bool:
        """What can be forfeited or declined, as the options say."""
        if self.phase == "turn":
            return (self.rules.may_forfeit or self.final) and action != _END_TURN
        if self.phase == "place":
            return self.rules.may_skip_placing and action != _DECLINE
        return action != _DECLINE

    def turn_in(self, words: Words, of: Any) -> list[Any]:
        """The legal list, a new one, in phase 'turn'. `of` is what the functions among the words get."""
        following = FOLLOWING[self.used]
        actions: list[Any] = [words.end_turn] if self.rules.may_forfeit or self.final else []
        if self._may_draw(following):
            actions.append(words.draw)
        if "T" in following:
            actions += words.rides(of, 2 * self.seat)
        if "L" in following:
            actions += words.rides(of, 2 * self.seat + 1)
        if "A" in following:
            last = -1
            for kind in self.hands[self.seat]:
                if kind != last:
                    last = kind
                    actions += words.attaching(of, kind)
        return actions or [words.end_turn]

    def _place_actions(self) -> tuple[TraffiqAction, ...]:
        actions: list[TraffiqAction] = [_DECLINE] if self.rules.may_skip_placing else []
        taxis, trucks = self.supply[2 * self.seat], self.supply[2 * self.seat + 1]
        for vertex in self.open_vertices:
            taxi, truck = self.board.places(vertex)
            if taxis:
                actions.append(taxi)
            if trucks:
                actions.append(truck)
        return tuple(actions)

    def _may_draw(self, following: str) -> bool:
        return self.stock_left > 0 and not self.final and "D" in following

    def attach_actions(self, kind: int) -> tuple[Attach, ...]:
        """Every way to lay a hand tile of this kind."""
        found = self._fits.get(kind)
        if found is None:
            fits, needs, rows = self.board.fits[kind], self.city.needs, self.board.attach_rows
            actions: list[Attach] = []
            for cell in self.city.frontier:
                faces = fits[needs[cell]]
                if faces:
                    row = rows[cell] or self.board.attach_row(cell)
                    for face in faces:
                        actions.append(row[face])
            found = self._fits[kind] = tuple(actions)
        return found

    def ride_actions(self, piece: int) -> tuple[TraffiqAction, ...]:
        """Every ride with a piece."""
        found = self.rides.get(piece)
        if found is None:
            board = self.board
            rides: list[TraffiqAction] = []
            for source, targets in zip(self.parked[piece], self.targets(piece), strict=True):
                if piece & 1:
                    rides += [board.truck_ride(source, target) for target in targets]
                else:
                    rides += board.taxi_rides(source, targets)
            found = self.rides[piece] = tuple(rides)
        return found

    def targets(self, piece: int) -> list[list[int]]:
        """Where the vehicles of a piece can drive, for each in the order of `parked`, ascending."""
        links, pieces = self.city.links, self.pieces
        if piece & 1:
            return [sorted([v for v in links[source] if v not in pieces]) for source in self.parked[piece]]
        return [reachable(links, pieces, source, self._regions) for source in self.parked[piece]]

    # Answering

    def apply(self, actions: Mapping[int, TraffiqAction]) -> list[Event]:
        if self.phase not in _ASKED:
            raise IllegalAction(f"nobody is asked in phase '{self.phase}'")
        if len(actions) != 1 or self.seat not in actions:
            raise IllegalAction(f"seat {self.seat} is asked, answers came for {list(actions)}")
        events: list[Event] = []
        self._answer(actions[self.seat], events)
        self._legal = None
        return events

    def _answer(self, action: Any, events: list[Event]) -> None:
        phase, kind = self.phase, type(action)
        if phase == "turn":
            if kind is Attach:
                return self._answer_attach(action, events)
            if kind is Taxi or kind is Truck:
                return self._answer_ride(action, events)
            if kind is DrawTile:
                return self._answer_draw()
            if kind is EndTurn:
                return self._answer_end_turn(events)
        elif phase == "place":
            if kind is Place:
                return self._answer_place(action, events)
            if kind is Decline:
                return self._decline_place(events)
        elif kind is Compete:
            return self._answer_compete(action, events)
        elif kind is Decline:
            return self._decline_compete(events)
        raise IllegalAction(f"{kind.__name__} does not answer the question '{phase}'")

    def _answer_end_turn(self, events: list[Event]) -> None:
        if not (self.rules.may_forfeit or self.final) and self.legal_actions(self.seat)[0] != _END_TURN:
            raise IllegalAction("a turn has two actions while there are any (forfeit_actions_any_time is off)")
        self._end_turn(events)

    def _answer_draw(self) -> None:
        if not self._may_draw(FOLLOWING[self.used]):
            raise IllegalAction("nothing can be drawn: the stock is used up or the final round is being played")
        self.used += "D"
        self.phase = "draw"

    def _answer_attach(self, action: Any, events: list[Event]) -> None:
        if "A" not in FOLLOWING[self.used]:
            raise IllegalAction("tiles are attached before rides and draws")
        board, city, hand = self.board, self.city, self.hands[self.seat]
        kind = board.face_kind.get(action.face, -1) if isinstance(action.face, str) else -1
        if kind not in hand:
            raise IllegalAction(f"no tile in hand lies as '{action.face}'")
        cell = board.index(action.x, action.y)
        need = city.needs.get(cell)
        if need is None:
            raise IllegalAction(f"cell ({action.x}, {action.y}) is not a free cell beside the map")
        if action.face not in board.fits[kind][need]:
            raise IllegalAction(f"'{action.face}' does not match the neighbours of cell ({action.x}, {action.y})")
        hand.remove(kind)
        self.unlaid[kind] -= 1
        self._fits = {}
        completed = city.lay(cell, action.face)
        events.append(event(Attached, self.seat, action.face, action.x, action.y))
        self.used += "A"
        if completed:
            self._forget_vehicles()
            self.open_vertices = tuple([vertex for vertex in completed if self._may_stand(vertex)])
        self._go_on(events)

    def _may_stand(self, vertex: int) -> bool:
        segments = len(self.city.neighbours(vertex))
        return segments > 1 or (self.rules.place_on_dead_end if segments == 1 else self.rules.place_anywhere)

    def _answer_ride(self, action: Any, events: list[Event]) -> None:
        letter = _LETTERS[type(action)]
        if letter not in FOLLOWING[self.used]:
            raise IllegalAction(
                f"no {action.KIND} can drive now: one ride of each kind, after attaching, before drawing"
            )
        piece = 2 * self.seat + (letter == "L")
        source, target = self.board.index(action.x, action.y), self.board.index(action.to_x, action.to_y)
        if self.pieces.get(source) != piece:
            raise IllegalAction(f"no {action.KIND} of seat {self.seat} stands on ({action.x}, {action.y})")
        if not self._reaches(source, target, far=letter == "T"):
            raise IllegalAction(f"the {action.KIND} cannot reach ({action.to_x}, {action.to_y})")
        self.take(source)
        self.put(target, piece)
        self._forget_vehicles()
        self.used += letter
        events.append(event(Drove, self.seat, VEHICLES[piece & 1], action.x, action.y, action.to_x, action.to_y))
        self._contest(target, events)

    def _reaches(self, source: int, target: int, far: bool) -> bool:
        links, pieces = self.city.links, self.pieces
        if target in pieces or target not in links:
            return False
        if not far:
            return target in links[source]
        area = region(links, pieces, target, self._regions)
        return any(v not in pieces and region(links, pieces, v, self._regions) is area for v in links[source])

    def _answer_place(self, action: Any, events: list[Event]) -> None:
        vertex = self.board.index(action.x, action.y)
        if vertex not in self.open_vertices:
            raise IllegalAction(f"vertex ({action.x}, {action.y}) is not open for placing")
        if action.vehicle not in VEHICLES:
            raise IllegalAction(f"unknown vehicle '{action.vehicle}', expected one of {', '.join(VEHICLES)}")
        piece = 2 * self.seat + VEHICLES.index(action.vehicle)
        if not self.supply[piece]:
            raise IllegalAction(f"seat {self.seat} has no {action.vehicle} in its supply")
        self.supply[piece] -= 1
        self.put(vertex, piece)
        self._forget_vehicles()
        self.open_vertices = tuple([other for other in self.open_vertices if other != vertex])
        events.append(event(Placed, self.seat, action.vehicle, action.x, action.y))
        if self._all_placed() and not self.rules.last_competes:
            self._finish("all_placed", events)
        else:
            self._contest(vertex, events)

    def _decline_place(self, events: list[Event]) -> None:
        if not self.rules.may_skip_placing:
            raise IllegalAction("a vehicle must be placed (placing_vehicle_optional is off)")
        self.open_vertices = ()
        events.append(event(Declined, self.seat, "place"))
        self._go_on(events)

    def _answer_compete(self, action: Any, events: list[Event]) -> None:
        if action not in self.legal_actions(self.seat):
            names = ", ".join(contest.street for contest in self.contests)
            raise IllegalAction(f"cannot compete on {action.streets}: a weaker opponent stands on {names}")
        self._throw_out(action.streets, events)
        self._go_on(events)

    def _decline_compete(self, events: list[Event]) -> None:
        events.append(event(Declined, self.seat, "compete"))
        self._go_on(events)

    # What follows from an answer

    def _contest(self, vertex: int, events: list[Event]) -> None:
        """A vehicle of the active seat was placed on or moved to `vertex`."""
        self.contests = contests(self.city, vertex, self.pieces, self.seat, self.rules.colour_ends)
        if not self.contests:
            self._go_on(events)
            return
        self.spot = vertex
        self.phase = "compete"
        if not self.rules.may_skip_competing:
            self._throw_out(tuple([contest.street for contest in self.contests]), events)
            self._go_on(events)

    def _throw_out(self, names: tuple[str, ...], events: list[Event]) -> None:
        events.append(event(Competed, self.seat, *self.board.xy[self.spot], names))
        for contest in self.contests:
            if contest.street in names:
                for vertex in contest.losers:
                    piece = self.take(vertex)
                    self.supply[piece] += 1
                    xy = self.board.xy[vertex]
                    events.append(event(Returned, piece >> 1, VEHICLES[piece & 1], *xy))
        self._forget_vehicles()

    def _go_on(self, events: list[Event]) -> None:
        """The next question of the turn, or its end, or the end of the match."""
        self.spot = -1
        self.contests = ()
        if self._all_placed():
            self._finish("all_placed", events)
        elif self.open_vertices and (self.supply[2 * self.seat] or self.supply[2 * self.seat + 1]):
            self.phase = "place"
        elif len(self.used) == ACTIONS_PER_TURN or (self.used == "D" and not self._may_draw("D")):
            self._end_turn(events)
        else:
            self.open_vertices = ()
            self.phase = "turn"

    def _all_placed(self) -> bool:
        return not (self.supply[2 * self.seat] or self.supply[2 * self.seat + 1])

    def _end_turn(self, events: list[Event]) -> None:
        events.append(event(TurnEnded, self.seat))
        self.turns += 1
        self.idle = 0 if "A" in self.used or "D" in self.used else self.idle + 1
        self.used = ""
        self.open_vertices = ()
        self.spot = -1
        self.contests = ()
        if self.final:
            self.owed = tuple([seat for seat in self.owed if seat != self.seat])
        elif reason := self._final_reason():
            self.final = True
            self.owed = tuple([seat for seat in range(self.players) if seat not in self.left])
            events.append(event(FinalRound, self._next_seat(), reason))
        if self.final and not self.owed:
            self._finish("final_round", events)
            return
        self.seat = self._next_seat()
        self.phase = "turn"

    def _final_reason(self) -> str:
        rounds = self.rules.no_progress_rounds
        if not self.stock_left:
            return "stock"
        if rounds and self.idle >= rounds * (self.players - len(self.left)):
            return "no_progress"
        return "turn_limit" if self.turns >= self.rules.turn_limit else ""

    def _next_seat(self) -> int:
        """The next seat in play, clockwise; in the final round, of those that are owed a turn."""
        seat = (self.seat + 1) % self.players
        while seat in self.left or (self.final and seat not in self.owed):
            seat = (seat + 1) % self.players
        return seat

    def _finish(self, reason: str, events: list[Event]) -> None:
        self.phase = "over"
        self.open_vertices = ()
        self.spot = -1
        self.contests = ()
        events.append(event(Finished, reason))

    def _forget_vehicles(self) -> None:
        self.rides = {}
        self._regions = {}
        self._fleet = None

    # Chance

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        if self.phase == "start":
            return [(seat, 1) for seat in range(self.players) if seat not in self.left]
        if self.phase in ("deal", "draw"):
            return [pair for pair in zip(self.board.kinds, self.stock, strict=True) if pair[1]]
        return ()

    def chance_stream(self) -> Chance:
        if self.phase == "start":
            return Roll("start_player", 0, 0)
        if self.phase in ("deal", "draw"):
            return _TILES
        raise IllegalAction(f"nothing is left to chance in phase '{self.phase}'")

    def apply_chance(self, outcome: Any) -> list[Event]:
        if self.phase == "start":
            return self._choose_start(outcome)
        if self.phase not in ("deal", "draw"):
            raise IllegalAction(f"nothing is left to chance in phase '{self.phase}'")
        kind = self.board.kind_number.get(outcome, -1) if isinstance(outcome, str) else -1
        if kind < 0 or not self.stock[kind]:
            raise IllegalAction(f"{outcome!r} is not in the stock")
        seat = self.seat if self.phase == "draw" else self._next_to_deal()
        self.stock[kind] -= 1
        self.stock_left -= 1
        insort(self.hands[seat], kind)
        seen = TileDrawn(seat, self.board.kinds[kind])
        events = [Event(seen) if self.rules.open_hands else Event(TileDrawn(seat, ""), {seat: seen})]
        if self.phase == "draw":
            self._go_on(events)
        elif self._next_to_deal() < 0:
            self.phase = "turn"
        self._legal = None
        return events

    def _choose_start(self, outcome: Any) -> list[Event]:
        if type(outcome) is not int or not 0 <= outcome < self.players or outcome in self.left:
            raise IllegalAction(f"{outcome!r} is not a seat that can begin")
        self.start = self.seat = outcome
        self._facts = None
        self._deal_on()
        return [event(StartPlayer, outcome)]

    def _deal_on(self) -> None:
        self.phase = "turn" if self._next_to_deal() < 0 else "deal"

    def _next_to_deal(self) -> int:
        """The seat that gets the next tile of the starting hands, -1 if all have theirs."""
        for seat, hand in enumerate(self.hands):
            if len(hand) < START_HAND and seat not in self.left:
                return seat
        return -1

    # Leaving and ending

    def withdraw(self, seat: Any) -> list[Event]:
        if self.phase == "over":
            raise IllegalAction("the match is over")
        if type(seat) is not int or not 0 <= seat < self.players or seat in self.left:
            raise IllegalAction(f"seat {seat} is not in the match")
        for piece in (2 * seat, 2 * seat + 1):
            for vertex in list(self.parked[piece]):
                self.take(vertex)
                self.supply[piece] += 1
        self._forget_vehicles()
        self._legal = None
        self.left += (seat,)
        self._facts = None
        self.owed = tuple([other for other in self.owed if other != seat])
        events = [event(Withdrew, seat)]
        if len(self.left) == self.players - 1:
            self._finish("last_seat", events)
        elif self.phase == "start":
            pass
        elif self.phase == "deal":
            if seat == self.seat:
                self.start = self.seat = self._next_seat()
                self._facts = None
            self._deal_on()
        elif seat == self.seat:
            self._end_turn(events)
        elif self.phase == "compete":
            self.contests = contests(self.city, self.spot, self.pieces, self.seat, self.rules.colour_ends)
            if not self.contests:
                self._go_on(events)
        return events

    def is_terminal(self) -> bool:
        return self.phase == "over"

    def returns(self) -> tuple[int, ...]:
        return self.scores()

    def ranking(self) -> tuple[int, ...]:
        """More points rank better; seats that left rank last, the first to leave at the very end."""
        points = self.scores()
        keys: list[tuple[int, ...]] = []
        for seat in range(self.players):
            if seat in self.left:
                keys.append((0, self.left.index(seat)))
                continue
            vehicles = len(self.parked[2 * seat]) + len(self.parked[2 * seat + 1])
            keys.append((1, points[seat], vehicles if self.rules.more_vehicles_rank else 0))
        return tuple(1 + sum(other > key for other in keys) for key in keys)

    # What a viewer sees

    def observation(self, viewer: int | None) -> Observation:
        """Built up from what is open, and the viewer's own hand."""
        names, hands = self.board.kinds, self.hands
        if self.rules.open_hands:
            shown = [tuple([names[kind] for kind in hand]) for hand in hands]
        else:
            shown = [()] * self.players
            if viewer is not None:
                shown[viewer] = tuple([names[kind] for kind in hands[viewer]])
        quiet = self.phase == "turn"
        seen = _OBSERVATION_DRAFT(
            viewer,
            self.facts,
            self.city.map,
            self.fleet,
            self.phase,
            self.seat,
            self.used,
            self.turns,
            self.idle,
            self.final,
            self.owed,
            () if quiet else tuple([self.board.xy[vertex] for vertex in self.open_vertices]),
            self.board.xy[self.spot] if self.spot >= 0 else None,
            () if quiet else tuple([contest.street for contest in self.contests]),
            tuple(map(len, hands)),
            tuple(shown),
            self.stock_left,
            self.unseen_by(viewer),
        )
        seen.__class__ = Observation
        return seen  # type: ignore[no-any-return]

    def resample(self, viewer: int | None, rng: Random) -> "State":
        copy = self.clone()
        copy._deal_anew(viewer, rng)
        return copy

    @classmethod
    def from_observation(cls, seen: Observation, options: Mapping[str, Any], rng: Random) -> "State":
        """A state that looks like `seen` to its viewer; the tiles it cannot see are dealt by `rng`."""
        state = cls(seen.facts.players, options)
        board = state.board
        state.phase, state.start, state.seat = seen.phase, seen.facts.start_seat, seen.turn_seat
        state.used, state.turns, state.idle = seen.used, seen.turns, seen.idle_turns
        state.final, state.owed, state.left = seen.final_round, seen.owed, seen.facts.left
        state.lay_map(
            [(tile.x, tile.y, tile.face) for tile in seen.map.tiles],
            [(it.x, it.y, it.seat, it.vehicle) for it in seen.fleet.standing],
        )
        first = {(x, y) for x, y, _ in board.layout}
        for tile in seen.map.tiles:
            if (tile.x, tile.y) not in first:
                state.stock[board.face_kind[tile.face]] -= 1
        state.unlaid = bytearray(state.stock)
        for seat, names in enumerate(seen.hands):
            state.hands[seat] = [board.kind_number[name] for name in names]
            for kind in state.hands[seat]:
                state.stock[kind] -= 1
        unseen = [kind for kind, count in enumerate(state.stock) for _ in range(count)]
        for seat, size in enumerate(seen.hand_sizes):  # any tiles will do: they are dealt again
            missing = size - len(state.hands[seat])
            for kind in unseen[:missing]:
                state.hands[seat].append(kind)
                state.stock[kind] -= 1
            del unseen[:missing]
        state.stock_left = seen.stock
        state._deal_anew(seen.viewer, rng)
        state.open_questions(seen.open_vertices, seen.spot)
        return state

    def _deal_anew(self, viewer: int | None, rng: Random) -> None:
        """Deal the stock and all hands hidden from `viewer` again; every unseen tile is equally likely anywhere.

        Nothing else is hidden, and no rule ties an action to a tile without showing it: so this is exact.
        """
        if self.rules.open_hands:
            return
        unseen = [kind for kind, count in enumerate(self.unseen_by(viewer)) for _ in range(count)]
        rng.shuffle(unseen)
        self._legal = None
        for seat, hand in enumerate(self.hands):
            if seat == viewer:
                continue
            size = len(hand)
            self.hands[seat] = sorted(unseen[:size])
            del unseen[:size]
        self.stock = [0] * len(self.stock)
        for kind in unseen:
            self.stock[kind] += 1


_ACTIONS: Final = Words(_END_TURN, _DRAW, State.attach_actions, State.ride_actions)
