"""The rules: what a seat may do, what follows from it, and what it scores.

A turn is one of three actions: transportation cards (two decisions, the row settled between them), one claim, or
tickets (a draw, then the choice). Whatever needs luck stops at a chance node; `stage` says which. How the row is
refilled and flushed is in `decks.Market`. Marks such as E8 and R6 are those of the README.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from referee.games.api import Action, Chance, Decision, Event, IllegalAction, Outcome, Roll
from referee.games.api import Draw as DrawStream
from referee.games.api.compiling import mypyc_attr
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_INDEX,
    CARDS,
    COLORS,
    TAXI,
    TICKET_NUMBERS,
    Answer,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Stop,
    Take,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.board import GRAY, PLAYER_COUNTS, Board, Payment, Words
from referee.games.ticket_to_ride_new_york.decks import CARD_KINDS, NONE_OPEN, ROW
from referee.games.ticket_to_ride_new_york.observation import Observation, observe
from referee.games.ticket_to_ride_new_york.resampling import resample
from referee.games.ticket_to_ride_new_york.state import (
    DEAL_TICKETS,
    DRAW_TICKET,
    HANDS,
    KEEP_TICKETS,
    LOT,
    OVER,
    REFILL,
    SECOND_CARD,
    STARTING_TICKETS,
    THEN_END,
    THEN_SECOND,
    THEN_TICKETS,
    TURN,
    UNSEEN,
    Position,
)

START_HAND: Final = 2
TICKETS_OFFERED: Final = 2
LAST_TAXIS: Final = 2
"""A seat with this many taxis or fewer at the end of its turn brings the last turns."""
DECISION_KINDS: Final = (STARTING_TICKETS, TURN, SECOND_CARD, KEEP_TICKETS)

_SEATS: Final = range(PLAYER_COUNTS[-1])
_ASKED: Final = {kind: tuple((Decision(seat, kind),) for seat in _SEATS) for kind in DECISION_KINDS}
_PASS, _STOP = Pass(), Stop()

_CARD_STREAMS: Final = tuple(DrawStream("cards", epoch) for epoch in range(64))
_TICKET_STREAM: Final = DrawStream("tickets", 0)
# By seat and card, and by card:
_CARD_DRAWN: Final = tuple(
    tuple(Event(ev.CardDrawn(seat, ""), {seat: ev.CardDrawn(seat, name)}) for name in CARDS) for seat in _SEATS
)
_CARD_TAKEN: Final = tuple(tuple(Event(ev.CardTaken(seat, name)) for name in CARDS) for seat in _SEATS)
_CARD_TURNED_UP: Final = tuple(Event(ev.CardTurnedUp(name)) for name in CARDS)


@mypyc_attr(allow_interpreted_subclasses=True)  # as of its base
class State(Position):
    """One position and its rules: see `referee.games.api.State`."""

    __slots__ = ()

    # Questions

    def decisions(self) -> Sequence[Decision]:
        stage = self.stage
        if stage in (TURN, SECOND_CARD, KEEP_TICKETS):
            return _ASKED[stage][self.turn_seat]
        return [_ASKED[stage][seat][0] for seat in self.asked()]

    def legal_actions(self, seat: Any) -> Sequence[Answer]:
        stage = self.stage
        if stage == STARTING_TICKETS:
            return self._keep_actions(seat) if self._is_seat(seat) and self.open_offers[seat] != NONE_OPEN else ()
        if seat != self.turn_seat:
            return ()
        if self._legal is None:
            if stage not in DECISION_KINDS:
                return ()
            self._legal = self.legal_in(self.board.words, self.turn_seat)
        return self._legal

    def legal_in(self, words: Words, seat: int) -> list[Any]:
        """The legal list, a new one, of a seat that is asked."""
        if self.stage == TURN:
            return self._turn_actions(words, seat)
        if self.stage == SECOND_CARD:
            return self._second_card_actions(words)
        return list(words.keeps[self._offered(seat)])

    def is_optional(self, seat: int, action: Answer) -> bool:
        """Where options allow to pass or to stop, everything else."""
        if self.stage == TURN:
            return self.rules.always_pass and action != _PASS
        return self.stage == SECOND_CARD and not self.rules.second_required and action != _STOP

    def _turn_actions(self, words: Words, seat: int) -> list[Any]:
        rules, market = self.rules, self.market
        answers: list[Any] = [words.nothing] if rules.always_pass else []
        if self._cards_allowed():
            if market.deck_size or market.discard_size:
                answers.append(words.draw)
            answers += [take for take, count in zip(words.takes, market.row, strict=True) if count]
        if self._tickets_allowed():
            answers.append(words.draw_tickets)
        if self._claims_allowed():
            self._add_claims(words, seat, answers)
        return answers or [words.nothing]

    def _second_card_actions(self, words: Words) -> list[Any]:
        market = self.market
        answers: list[Any] = [] if self.rules.second_required else [words.stop]
        if market.deck_size or market.discard_size:
            answers.append(words.draw)
        answers += [words.takes[color] for color in range(COLORS) if market.row[color]]
        return answers

    def _keep_actions(self, seat: int) -> Sequence[Answer]:
        return self.board.words.keeps[self._offered(seat)]

    def _offered(self, seat: int) -> tuple[int, ...]:
        return tuple(sorted(self.tickets.offered(self.open_offers[seat])))

    def _cards_allowed(self) -> bool:
        """E8, E9."""
        outside = self.market.outside_hands()
        return outside > 1 or (outside == 1 and self.rules.one_card_draw)

    def _tickets_allowed(self) -> bool:
        return self.tickets.size() > 0 and (not self.last_turns or self.rules.last_turn_tickets)

    def _claims_allowed(self) -> bool:
        return not self.last_turns or self.rules.last_turn_claims

    # Answers

    def apply(self, actions: Mapping[int, Action]) -> list[Event]:
        stage = self.stage
        if stage == STARTING_TICKETS:
            return self._apply_starting_tickets(actions)
        seat = self.turn_seat
        if stage not in (TURN, SECOND_CARD, KEEP_TICKETS):
            raise IllegalAction(f"nobody is asked anything at this node ({stage})")
        if len(actions) != 1 or seat not in actions:
            raise IllegalAction(f"seat {seat} is asked, not {list(actions)}")
        action = actions[seat]
        kind = type(action)
        events: list[Event] = []
        if stage == KEEP_TICKETS:
            returned = self._check_keep(seat, action)
            self._legal = None
            self._keep(seat, returned, events)
            self._end_turn(events)
        elif kind is Draw:
            self._draw(stage, events)
        elif kind is Take:
            self._take(seat, action, stage, events)
        elif stage == TURN and kind is Claim:
            self._claim(seat, action, events)
        elif stage == TURN and kind is DrawTickets:
            self._draw_tickets(seat, events)
        elif stage == TURN and kind is Pass:
            self._pass(seat, events)
        elif stage == SECOND_CARD and kind is Stop and not self.rules.second_required:
            self._legal = None
            events.append(Event(ev.Stopped(seat)))
            self._end_turn(events)
        else:
            raise IllegalAction(f"{action!r} is no answer to {stage}")
        return events

    def _draw(self, stage: str, events: list[Event]) -> None:
        market = self.market
        if not market.obtainable_unseen():
            raise IllegalAction("no card can be drawn unseen: deck and discards are empty")
        self._check_first_card(stage)
        self._begin_card(stage)
        market.make_deck(events)
        self.stage = UNSEEN

    def _take(self, seat: int, action: Any, stage: str, events: list[Event]) -> None:
        market = self.market
        card = CARD_INDEX.get(action.card) if isinstance(action.card, str) else None
        if card is None or not market.row[card]:
            raise IllegalAction(f"no {action.card} card lies face up")
        if card == TAXI and stage == SECOND_CARD:
            raise IllegalAction("a face-up taxi cannot be the second card")
        self._check_first_card(stage)
        self._begin_card(stage)
        market.take(card)
        self.hands[seat][card] += 1
        self.hand_sizes[seat] += 1
        self.known[CARD_KINDS * seat + card] += 1
        events.append(_CARD_TAKEN[seat][card])
        ends = card == TAXI or self.second
        self._refill_row(THEN_END if ends else THEN_SECOND, events)

    def _check_first_card(self, stage: str) -> None:
        if stage == TURN and not self._cards_allowed():
            raise IllegalAction("only one card is left outside hands: cards cannot be drawn (option one_card_draw)")

    def _begin_card(self, stage: str) -> None:
        self._legal = None
        self.second = stage == SECOND_CARD
        if self.passed:
            self.passed = []

    def _refill_row(self, then: str, events: list[Event]) -> None:
        """Fill the row up and test it, then go on."""
        if self.market.row_size < ROW:
            self.market.flushes = 0
        self._settle_row(then, test=True, events=events)

    def _settle_row(self, then: str, test: bool, events: list[Event]) -> None:
        if self.market.settle(self.rules, events, test):
            self.stage = REFILL
            self.after_row = then
        else:
            self._go_on(then, events)

    def _go_on(self, then: str, events: list[Event]) -> None:
        market = self.market
        if then == THEN_TICKETS:
            self._deal_tickets(events)
        elif then == THEN_SECOND and (market.obtainable_unseen() or market.row_size > market.row[TAXI]):
            self.stage = SECOND_CARD
        else:
            self._end_turn(events)

    def _claim(self, seat: int, action: Any, events: list[Event]) -> None:
        rules, market = self.rules, self.market
        if not self._claims_allowed():
            raise IllegalAction("no claims in the last turns (option last_turn_claims)")
        payment = self._check_claim(seat, action)
        self._legal = None
        if self.passed:
            self.passed = []
        self.assign_route(seat, payment.route)
        self.taxis[seat] -= payment.length
        if payment.paid:
            self._pay(seat, payment.color, payment.paid)
        if payment.taxis:
            self._pay(seat, TAXI, payment.taxis)
        events.append(payment.events[seat])
        if rules.reshuffle_at_once:
            market.reshuffle_if_empty(events)
        if market.row_size == ROW:
            self._settle_row(THEN_END, test=rules.flush_after_claim, events=events)
        elif rules.refill_after_claim:
            market.flushes = 0
            self._settle_row(THEN_END, test=rules.flush_after_claim, events=events)
        else:
            self._end_turn(events)

    def _draw_tickets(self, seat: int, events: list[Event]) -> None:
        if not self._tickets_allowed():
            raise IllegalAction("no tickets can be drawn: none are left, or none in the last turns")
        self._legal = None
        self.passed = []
        self.to_draw = min(TICKETS_OFFERED, self.tickets.size())
        self.open_offers[seat] = self.tickets.open_offer(seat)
        self._next_ticket(events)

    def _next_ticket(self, events: list[Event]) -> None:
        """Draw what needs no luck; stop for luck, or for the choice."""
        while self.to_draw:
            if self.tickets.unknown:
                self.stage = DRAW_TICKET
                return
            events.append(self._ticket_drawn(self.turn_seat, self.tickets.draw_under()))
            self.to_draw -= 1
        self.stage = KEEP_TICKETS

    def _ticket_drawn(self, seat: int, ticket: int) -> Event:
        name = ticket_id(ticket)
        return Event(ev.TicketDrawn(seat, ""), {seat: ev.TicketDrawn(seat, name)})

    def _check_keep(self, seat: int, action: Action) -> int:
        """The ticket that the answer returns, or 0."""
        if type(action) is not Keep or action not in self._keep_actions(seat):
            raise IllegalAction(f"{action!r} does not keep one or both of the tickets offered to seat {seat}")
        offered = self.tickets.offered(self.open_offers[seat])
        return next((ticket for ticket in offered if ticket_id(ticket) not in action.tickets), 0)

    def _keep(self, seat: int, returned: int, events: list[Event]) -> None:
        number = self.open_offers[seat]
        kept = sorted(ticket for ticket in self.tickets.offered(number) if ticket != returned)
        self.tickets.close_offer(number, returned)
        self.open_offers[seat] = NONE_OPEN
        self.kept[seat] = sorted(self.kept[seat] + kept)
        back = (ticket_id(returned),) if returned else ()
        full = ev.TicketsKept(seat, len(kept), len(back), tuple(ticket_id(ticket) for ticket in kept), back)
        events.append(Event(ev.TicketsKept(seat, len(kept), len(back), (), ()), {seat: full}))

    def _apply_starting_tickets(self, actions: Mapping[int, Action]) -> list[Event]:
        seats = list(self.asked())
        if set(actions) != set(seats):
            raise IllegalAction(f"seats {seats} are asked, not {list(actions)}")
        returned = {seat: self._check_keep(seat, actions[seat]) for seat in seats}
        if self.rules.returns_in_turn_order:
            seats.sort(key=lambda seat: (seat - self.first_seat) % self.players)
        events: list[Event] = []
        for seat in seats:
            self._keep(seat, returned[seat], events)
        self.stage = TURN
        return events

    def _pass(self, seat: int, events: list[Event]) -> None:
        if not self.rules.always_pass:
            if self.legal_actions(seat)[0] != _PASS:
                raise IllegalAction("a seat may pass only if it can do nothing else")
            if self._claims_allowed():
                self._note_refusal(seat)
        self._legal = None
        events.append(Event(ev.Passed(seat)))
        self.passed = [*self.passed, seat]
        self._end_turn(events)

    def _end_turn(self, events: list[Event]) -> None:
        """On to the next seat, or the end.

        R6: the last turns begin left of the seat that triggers them and end with it.
        """
        seat = self.turn_seat
        if self.last_turns:
            if seat not in self.left:
                self.last_turns -= 1
                if not self.last_turns:
                    self._finish(events)
                    return
        elif self.taxis[seat] <= LAST_TAXIS and seat not in self.left:
            self.last_turns = self.players - len(self.left)
            events.append(Event(ev.LastTurns(seat)))
        if self.passed and self._everybody_passed():
            self._finish(events)
            return
        players = self.players
        seat = (seat + 1) % players
        while seat in self.left:
            seat = (seat + 1) % players
        self.turn_seat = seat
        self.stage = TURN

    def _everybody_passed(self) -> bool:
        """E11, R7: in a row, by all that are still in play."""
        return all(seat in self.passed or seat in self.left for seat in range(self.players))

    def _finish(self, events: list[Event]) -> None:
        """The match is over: tickets are turned up and scored."""
        self.stage = OVER
        events += [Event(score) for score in self.scores()]

    # Claims

    def _add_claims(self, words: Words, seat: int, answers: list[Any]) -> None:
        """Append all claims of the seat, by route, colour and taxis, taxis alone last."""
        rows, alone = words.claim_rows, words.taxi_claims
        hand = self.hands[seat]
        wild = hand[TAXI]
        longest = min(self.taxis[seat], max(hand[:COLORS]) + wild)
        held = [color for color in range(COLORS) if hand[color]]
        for place in self.available[seat]:
            length, color, table = rows[place]
            if length > longest:
                continue
            if color != GRAY:
                answers += table[hand[color]][wild]
                continue
            for gray_color in held:
                answers += table[gray_color][hand[gray_color]][wild]
            if length <= wild:
                answers += alone[place]

    def _check_claim(self, seat: int, action: Any) -> Payment:
        """What the claim costs. IllegalAction if the route is closed to the seat or the payment is not to be had."""
        try:
            payment = self.board.payments.get(action)
        except TypeError:  # a field that cannot be hashed
            payment = None
        if payment is None:
            raise IllegalAction(f"{action!r} does not name a route and a way to pay for it")
        if payment.route not in self.available[seat]:
            raise IllegalAction(f"route {action.route} is closed to seat {seat}")
        if payment.length > self.taxis[seat]:
            raise IllegalAction(
                f"route {action.route} takes {payment.length} taxis, seat {seat} has {self.taxis[seat]}"
            )
        hand = self.hands[seat]
        if hand[payment.color] < payment.paid or hand[TAXI] < payment.taxis:
            raise IllegalAction(f"seat {seat} has not the cards for {action!r}")
        return payment

    def _pay(self, seat: int, card: int, count: int) -> None:
        """Discard cards of the hand; keep account of what everybody knows of it."""
        self.hands[seat][card] -= count
        self.hand_sizes[seat] -= count
        self.market.discard(card, count)
        place = CARD_KINDS * seat + card
        known = self.known[place]
        if known >= count:
            self.known[place] = known - count
        else:
            self.known[place] = 0
            self.debts.extend((seat, card + 1, count - known, len(self.market.owners)))

    def _note_refusal(self, seat: int) -> None:
        """A forced pass tells all that the seat cannot pay for any route open to it."""
        owners = self.market.owners
        unseen = owners.count(seat)
        # What its hand held beside its unseen draws; fewer than nothing where it paid such draws.
        base = self.known[CARD_KINDS * seat : CARD_KINDS * (seat + 1)]
        for at in range(0, len(self.debts), 4):
            if self.debts[at] == seat:
                base[self.debts[at + 1] - 1] -= self.debts[at + 2]
        limits = [unseen] * COLORS
        for place in self.available[seat]:
            length, color, _ = self.board.words.claim_rows[place]
            if length <= self.taxis[seat]:
                for paying in range(COLORS) if color == GRAY else (color,):
                    limits[paying] = min(limits[paying], length - 1 - base[paying] - base[TAXI])
        if min(limits) < unseen:
            self.refusals.extend((seat, len(owners), *limits))

    # Luck

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        stage = self.stage
        if stage in (REFILL, UNSEEN, HANDS):
            return [(name, count) for name, count in zip(CARDS, self.market.deck, strict=True) if count]
        if stage in (DRAW_TICKET, DEAL_TICKETS):
            return [(ticket_id(ticket), 1) for ticket in self.tickets.unknown]
        if stage == LOT:
            return [(seat, 1) for seat in range(self.players) if seat not in self.left]
        return ()

    def chance_stream(self) -> Chance:
        stage = self.stage
        if stage in (REFILL, UNSEEN, HANDS):
            epoch = self.market.epoch
            return _CARD_STREAMS[epoch] if epoch < len(_CARD_STREAMS) else DrawStream("cards", epoch)
        if stage in (DRAW_TICKET, DEAL_TICKETS):
            return _TICKET_STREAM
        if stage == LOT:
            return Roll("first_player", 0, 0)
        raise IllegalAction(f"this is no chance node ({stage})")

    def apply_chance(self, outcome: Any) -> list[Event]:
        stage = self.stage
        events: list[Event] = []
        if stage in (REFILL, UNSEEN, HANDS):
            card = CARD_INDEX.get(outcome) if isinstance(outcome, str) else None
            if card is None or not self.market.deck[card]:
                raise IllegalAction(f"{outcome!r} is not in the deck of cards")
            if stage == REFILL:
                events.append(_CARD_TURNED_UP[card])
                self.market.turn_up(card, self.rules, events)
                self._settle_row(self.after_row, test=True, events=events)
            else:
                self._unseen_card(card, events)
        elif stage in (DRAW_TICKET, DEAL_TICKETS):
            ticket = TICKET_NUMBERS.get(outcome) if isinstance(outcome, str) else None
            if ticket is None or ticket not in self.tickets.unknown:
                raise IllegalAction(f"{outcome!r} is not in the deck of tickets")
            self._unknown_ticket(ticket, events)
        elif stage == LOT:
            if not self._is_seat(outcome) or outcome in self.left:
                raise IllegalAction(f"{outcome!r} is no seat")
            self.first_seat = self.turn_seat = outcome
            events.append(Event(ev.FirstPlayer(outcome)))
            self._deal_hands(events)
        else:
            raise IllegalAction(f"this is no chance node ({stage})")
        return events

    def _unseen_card(self, card: int, events: list[Event]) -> None:
        seat = self._dealt_seat() if self.stage == HANDS else self.turn_seat
        assert seat is not None
        self.hands[seat][card] += 1
        self.hand_sizes[seat] += 1
        events.append(_CARD_DRAWN[seat][card])
        self.market.draw_unseen(seat, card, self.rules, events)
        if self.stage == HANDS:
            self._deal_hands(events)
            return
        then = THEN_END if self.second else THEN_SECOND
        if self.market.row_size < ROW:
            self._refill_row(then, events)
        else:
            self._go_on(then, events)

    def _dealt_seat(self) -> int | None:
        """The seat that gets the next card of the starting hands: two each, by seat."""
        for seat, size in enumerate(self.hand_sizes):
            if seat not in self.left and size < START_HAND:
                return seat
        return None

    def _deal_hands(self, events: list[Event]) -> None:
        """Go on dealing hands; then the row."""
        if self._dealt_seat() is None:
            self._refill_row(THEN_TICKETS, events)
        else:
            self.stage = HANDS

    def _unknown_ticket(self, ticket: int, events: list[Event]) -> None:
        self.tickets.draw_unknown(ticket)
        events.append(self._ticket_drawn(self.tickets.seats[-1], ticket))
        if self.stage == DEAL_TICKETS:
            self._deal_tickets(events)
        else:
            self.to_draw -= 1
            self._next_ticket(events)

    def _deal_tickets(self, events: list[Event]) -> None:
        """Two to each seat, by seat; then all choose at once."""
        deck = self.tickets
        self.stage = DEAL_TICKETS
        if deck.seats and deck.seats[-1] not in self.left and deck.sizes[-1] < TICKETS_OFFERED:
            return
        for seat in range(deck.seats[-1] + 1 if deck.seats else 0, self.players):
            if seat not in self.left:
                self.open_offers[seat] = deck.open_offer(seat)
                return
        self.stage = STARTING_TICKETS

    def _is_seat(self, value: Any) -> bool:
        return type(value) is int and 0 <= value < self.players

    # Leaving

    def withdraw(self, seat: Any) -> list[Event]:
        """The seat is out for good. IllegalAction if it has left already or the match is over."""
        if self.stage == OVER:
            raise IllegalAction("the match is over")
        if not self._is_seat(seat) or seat in self.left:
            raise IllegalAction(f"seat {seat} is not in play")
        self._legal = None
        events = [Event(ev.SeatLeft(seat))]
        number = self.open_offers[seat]
        if number != NONE_OPEN:
            self.kept[seat] = sorted([*self.kept[seat], *self.tickets.offered(number)])
            self.tickets.close_offer(number, 0)
            self.open_offers[seat] = NONE_OPEN
        ends = len(self.left) + 2 >= self.players
        if self.last_turns and self._still_to_move(seat):
            self.last_turns -= 1
            ends = ends or not self.last_turns
        self.left.append(seat)
        if ends:
            self._finish(events)
        else:
            self._go_on_without(seat, events)
        return events

    def _still_to_move(self, seat: int) -> bool:
        """Whether one of the last turns belongs to this seat."""
        order = [(self.turn_seat + step) % self.players for step in range(self.players)]
        return seat in [other for other in order if other not in self.left][: self.last_turns]

    def _go_on_without(self, seat: int, events: list[Event]) -> None:
        stage = self.stage
        before_turns = stage in (LOT, HANDS, DEAL_TICKETS, STARTING_TICKETS) or (
            stage == REFILL and self.after_row == THEN_TICKETS
        )
        if before_turns:
            if seat == self.first_seat and stage != LOT:
                self.first_seat = self.turn_seat = self._next_in_play(seat)
            if stage == HANDS:
                self._deal_hands(events)
            elif stage == DEAL_TICKETS:
                self._deal_tickets(events)
        elif seat != self.turn_seat:
            if self.passed and self._everybody_passed():
                self._finish(events)
        elif stage == REFILL:
            self.after_row = THEN_END
        else:
            self.to_draw = 0
            self._end_turn(events)

    def _next_in_play(self, seat: int) -> int:
        players = self.players
        return next((seat + step) % players for step in range(1, players) if (seat + step) % players not in self.left)

    # Result

    def is_terminal(self) -> bool:
        return self.stage == OVER

    def scores(self) -> list[ev.SeatScore]:
        """Per seat what it would score if the match ended now."""
        return [
            seat_score(self.board, self.owner, seat, () if seat in self.left else self.kept[seat])
            for seat in range(self.players)
        ]

    def returns(self) -> tuple[int, ...]:
        return tuple(score.total for score in self.scores())

    def ranking(self) -> tuple[int, ...]:
        return rank_seats(self.scores(), self.left)

    # Views and copies

    def observation(self, viewer: int | None) -> Observation:
        return observe(self, tuple(self.scores()) if self.stage == OVER else (), viewer)

    def table(self, viewer: int | None) -> Observation:
        """The observation without its ledger, for look-ahead that does not make other states from it."""
        return observe(self, tuple(self.scores()) if self.stage == OVER else (), viewer, with_ledger=False)

    def resample(self, viewer: int | None, rng: Random) -> "State":
        return State.from_observation(self.players, self.options, self.observation(viewer), rng)

    @classmethod
    def from_observation(cls, players: int, options: Mapping[str, Any], seen: Observation, rng: Random) -> "State":
        """A state that fits what the viewer has seen, the rest drawn again."""
        state = cls(players, options)
        resample(state, seen, rng)
        return state


def seat_score(board: Board, owner: Sequence[int], seat: int, tickets: Sequence[int]) -> ev.SeatScore:
    """The score of `seat` with these tickets (numbers), ascending."""
    label = board.networks(owner, seat)
    route_points, attractions = board.map_points(owner, seat)
    ticket_points = 0
    completed: list[str] = []
    failed: list[str] = []
    for number in tickets:
        ticket = board.tickets[number - 1]
        done = label[ticket.a] == label[ticket.b]
        ticket_points += ticket.points if done else -ticket.points
        (completed if done else failed).append(ticket_id(number))
    return ev.SeatScore(seat, route_points, ticket_points, attractions, tuple(completed), tuple(failed))


def rank_seats(scores: Sequence[ev.SeatScore], left: Sequence[int]) -> tuple[int, ...]:
    """Ranks by points, then by number of completed tickets, else shared (E19).

    Seats of `left` come last, the first to leave lowest.
    """
    playing = {score.seat: (score.total, len(score.completed)) for score in scores if score.seat not in left}
    ranks = [0] * len(scores)
    for seat, value in playing.items():
        ranks[seat] = 1 + sum(other > value for other in playing.values())
    for place, seat in enumerate(left):
        ranks[seat] = len(scores) - place
    return tuple(ranks)
