"""The state of a match and the rules that move it on.

A turn is one of three actions: transportation cards (two decisions, the row settled between them), one claim, or
tickets (a draw, then the choice). Whatever needs luck stops at a chance node; `stage` says which.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import Action, Chance, Decision, Event, IllegalAction, Outcome, Roll
from referee.games.api import Draw as DrawStream
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_INDEX,
    CARDS,
    COLORS,
    TAXI,
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
from referee.games.ticket_to_ride_new_york.claims import add_claims, check_claim, close_route, note_refusal, pay
from referee.games.ticket_to_ride_new_york.copies import (
    set_from_dict,
    set_from_observation,
    set_from_state,
    state_dict,
)
from referee.games.ticket_to_ride_new_york.leaving import leave
from referee.games.ticket_to_ride_new_york.market import KINDS, Market
from referee.games.ticket_to_ride_new_york.observation import Observation, observe
from referee.games.ticket_to_ride_new_york.scoring import rank_seats, seat_score
from referee.games.ticket_to_ride_new_york.stages import (
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
)
from referee.games.ticket_to_ride_new_york.tables import (
    LAST_TAXIS,
    ROW,
    START_HAND,
    TICKETS_OFFERED,
    Tables,
)
from referee.games.ticket_to_ride_new_york.tickets import NONE_OPEN, TicketDeck

_PASS, _STOP, _DRAW, _DRAW_TICKETS = Pass(), Stop(), Draw(), DrawTickets()
_CARD_STREAMS = tuple(DrawStream("cards", epoch) for epoch in range(64))
_TICKET_STREAM = DrawStream("tickets", 0)


class State:
    """One position. Lists of seven are counts in the order of CARDS; routes and tickets are positions in the box."""

    __slots__ = (
        "_legal",
        "after_row",
        "available",
        "debts",
        "first_seat",
        "hand_sizes",
        "hands",
        "kept",
        "known",
        "last_turns",
        "left",
        "market",
        "open_offers",
        "owner",
        "passed",
        "refusals",
        "second",
        "stage",
        "tables",
        "taxis",
        "tickets",
        "to_draw",
        "turn_seat",
    )

    def __init__(self, tables: Tables) -> None:
        players = tables.players
        self.tables = tables
        self.stage = LOT if tables.rules.random_first else HANDS
        self.after_row = THEN_TICKETS
        self.second = False
        """Whether the card being drawn is the second one of its action."""
        self.to_draw = 0
        """Tickets that the active seat has still to draw."""
        self.turn_seat = 0
        self.first_seat = 0
        self.last_turns = 0
        """How many last turns are left, the current one included; 0 before the end is triggered."""
        self.left: list[int] = []
        """Seats that have left, in this order."""
        self.passed: list[int] = []
        """Seats that have passed since anybody did anything else."""
        self.market = Market()
        self.market.open_box(tables.cards)
        self.tickets = TicketDeck(len(tables.tickets))
        self.hands = [[0] * KINDS for _ in range(players)]
        self.hand_sizes = [0] * players
        self.taxis = [tables.taxis] * players
        self.owner = [-1] * len(tables.routes)
        self.available = [list(range(len(tables.routes))) for _ in range(players)]
        """Per seat the routes it may claim if it can pay; follows from `owner`."""
        self.kept: list[list[int]] = [[] for _ in range(players)]
        self.open_offers = [NONE_OPEN] * players
        """Per seat the number of the offer it has to answer."""
        # What everybody can work out about hands: hand = known + unseen draws - debts.
        self.known = [0] * (KINDS * players)
        """Seven counts per seat, one after another."""
        self.debts = bytearray()
        """Four numbers each (seat, number of the card, count, position): so many cards were paid that were not known,
        hence drawn unseen before that position."""
        self.refusals = bytearray()
        """Eight numbers each (seat, position, limit per colour): the seat had to pass, so its unseen draws before that
        position held, in that colour and taxis together, no more than the limit."""
        self._legal: list[Answer] | None = None

    # Questions

    def asked(self) -> tuple[int, ...]:
        """The seats that are asked something."""
        stage = self.stage
        if stage in (TURN, SECOND_CARD, KEEP_TICKETS):
            return (self.turn_seat,)
        if stage == STARTING_TICKETS:
            return tuple([seat for seat, number in enumerate(self.open_offers) if number != NONE_OPEN])
        return ()

    def decisions(self) -> Sequence[Decision]:
        stage = self.stage
        if stage in (TURN, SECOND_CARD, KEEP_TICKETS):
            return self.tables.asked[stage][self.turn_seat]
        return [self.tables.asked[stage][seat][0] for seat in self.asked()]

    def legal_actions(self, seat: int) -> Sequence[Answer]:
        stage = self.stage
        if stage == STARTING_TICKETS:
            return self._keep_actions(seat) if self.open_offers[seat] != NONE_OPEN else ()
        if seat != self.turn_seat:
            return ()
        if self._legal is None:
            if stage == TURN:
                self._legal = self._turn_actions(seat)
            elif stage == SECOND_CARD:
                self._legal = self._second_card_actions()
            elif stage == KEEP_TICKETS:
                return self._keep_actions(seat)
            else:
                return ()
        return self._legal

    def is_optional(self, seat: int, action: Answer) -> bool:
        """Where options allow to pass or to stop, everything else."""
        if self.stage == TURN:
            return self.tables.rules.always_pass and action != _PASS
        return self.stage == SECOND_CARD and not self.tables.rules.second_required and action != _STOP

    def _turn_actions(self, seat: int) -> list[Answer]:
        tables, rules, market = self.tables, self.tables.rules, self.market
        answers: list[Answer] = [_PASS] if rules.always_pass else []
        if self._cards_allowed():
            if market.deck_size or market.discard_size:
                answers.append(_DRAW)
            answers += [take for take, count in zip(tables.takes, market.row, strict=True) if count]
        if self._tickets_allowed():
            answers.append(_DRAW_TICKETS)
        if self.claims_allowed():
            add_claims(self, seat, answers)
        return answers or [_PASS]

    def _second_card_actions(self) -> list[Answer]:
        market = self.market
        answers: list[Answer] = [] if self.tables.rules.second_required else [_STOP]
        if market.deck_size or market.discard_size:
            answers.append(_DRAW)
        answers += [self.tables.takes[color] for color in range(COLORS) if market.row[color]]
        return answers

    def _keep_actions(self, seat: int) -> Sequence[Answer]:
        return self.tables.keeps[tuple(sorted(self.tickets.offered(self.open_offers[seat])))]

    def _cards_allowed(self) -> bool:
        """E8, E9."""
        outside = self.market.outside_hands()
        return outside > 1 or (outside == 1 and self.tables.rules.one_card_draw)

    def _tickets_allowed(self) -> bool:
        return self.tickets.size() > 0 and (not self.last_turns or self.tables.rules.last_turn_tickets)

    def claims_allowed(self) -> bool:
        return not self.last_turns or self.tables.rules.last_turn_claims

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
            self.end_turn(events)
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
        elif stage == SECOND_CARD and kind is Stop and not self.tables.rules.second_required:
            self._legal = None
            events.append(Event(ev.Stopped(seat)))
            self.end_turn(events)
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

    def _take(self, seat: int, action: Take, stage: str, events: list[Event]) -> None:
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
        self.known[KINDS * seat + card] += 1
        events.append(self.tables.taken[seat][card])
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
        if self.market.settle(self.tables.rules, events, test):
            self.stage = REFILL
            self.after_row = then
        else:
            self._go_on(then, events)

    def _go_on(self, then: str, events: list[Event]) -> None:
        market = self.market
        if then == THEN_TICKETS:
            self.deal_tickets(events)
        elif then == THEN_SECOND and (market.obtainable_unseen() or market.row_size > market.row[TAXI]):
            self.stage = SECOND_CARD
        else:
            self.end_turn(events)

    def _claim(self, seat: int, action: Claim, events: list[Event]) -> None:
        rules, market = self.tables.rules, self.market
        if not self.claims_allowed():
            raise IllegalAction("no claims in the last turns (option last_turn_claims)")
        plan = check_claim(self, seat, action)
        self._legal = None
        if self.passed:
            self.passed = []
        self.owner[plan.route] = seat
        close_route(self, seat, plan.route)
        self.taxis[seat] -= plan.length
        if plan.paid:
            pay(self, seat, plan.color, plan.paid)
        if plan.taxis:
            pay(self, seat, TAXI, plan.taxis)
        events.append(plan.events[seat])
        if rules.reshuffle_at_once:
            market.reshuffle_if_empty(events)
        if market.row_size == ROW:
            self._settle_row(THEN_END, test=rules.flush_after_claim, events=events)
        elif rules.refill_after_claim:
            market.flushes = 0
            self._settle_row(THEN_END, test=rules.flush_after_claim, events=events)
        else:
            self.end_turn(events)

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
        if self.tables.rules.returns_in_turn_order:
            seats.sort(key=lambda seat: (seat - self.first_seat) % self.tables.players)
        events: list[Event] = []
        for seat in seats:
            self._keep(seat, returned[seat], events)
        self.stage = TURN
        return events

    def _pass(self, seat: int, events: list[Event]) -> None:
        if not self.tables.rules.always_pass:
            if self.legal_actions(seat)[0] != _PASS:
                raise IllegalAction("a seat may pass only if it can do nothing else")
            if self.claims_allowed():
                note_refusal(self, seat)
        self._legal = None
        events.append(Event(ev.Passed(seat)))
        self.passed = [*self.passed, seat]
        self.end_turn(events)

    def end_turn(self, events: list[Event]) -> None:
        """On to the next seat, or the end.

        R6: the last turns begin left of the seat that triggers them and end with it.
        """
        seat = self.turn_seat
        if self.last_turns:
            if seat not in self.left:
                self.last_turns -= 1
                if not self.last_turns:
                    self.finish(events)
                    return
        elif self.taxis[seat] <= LAST_TAXIS and seat not in self.left:
            self.last_turns = self.tables.players - len(self.left)
            events.append(Event(ev.LastTurns(seat)))
        if self.passed and self.everybody_passed():
            self.finish(events)
            return
        players = self.tables.players
        seat = (seat + 1) % players
        while seat in self.left:
            seat = (seat + 1) % players
        self.turn_seat = seat
        self.stage = TURN

    def everybody_passed(self) -> bool:
        """E11, R7: in a row, by all that are still in play."""
        return all(seat in self.passed or seat in self.left for seat in range(self.tables.players))

    def finish(self, events: list[Event]) -> None:
        """The match is over: tickets are turned up and scored."""
        self.stage = OVER
        events += [Event(score) for score in self.scores()]

    # Luck

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        stage = self.stage
        if stage in (REFILL, UNSEEN, HANDS):
            return [(name, count) for name, count in zip(CARDS, self.market.deck, strict=True) if count]
        if stage in (DRAW_TICKET, DEAL_TICKETS):
            return [(ticket_id(ticket), 1) for ticket in self.tickets.unknown]
        if stage == LOT:
            return [(seat, 1) for seat in range(self.tables.players) if seat not in self.left]
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

    def apply_chance(self, outcome: Outcome) -> list[Event]:
        stage = self.stage
        events: list[Event] = []
        if stage in (REFILL, UNSEEN, HANDS):
            card = CARD_INDEX.get(outcome) if isinstance(outcome, str) else None
            if card is None or not self.market.deck[card]:
                raise IllegalAction(f"{outcome!r} is not in the deck of cards")
            if stage == REFILL:
                events.append(self.tables.turned_up[card])
                self.market.turn_up(card, self.tables.rules, events)
                self._settle_row(self.after_row, test=True, events=events)
            else:
                self._unseen_card(card, events)
        elif stage in (DRAW_TICKET, DEAL_TICKETS):
            ticket = self.tables.ticket_numbers.get(outcome) if isinstance(outcome, str) else None
            if ticket is None or ticket not in self.tickets.unknown:
                raise IllegalAction(f"{outcome!r} is not in the deck of tickets")
            self._unknown_ticket(ticket, events)
        elif stage == LOT:
            if type(outcome) is not int or not 0 <= outcome < self.tables.players or outcome in self.left:
                raise IllegalAction(f"{outcome!r} is no seat")
            self.first_seat = self.turn_seat = outcome
            events.append(Event(ev.FirstPlayer(outcome)))
            self.deal_hands(events)
        else:
            raise IllegalAction(f"this is no chance node ({stage})")
        return events

    def _unseen_card(self, card: int, events: list[Event]) -> None:
        seat = self._dealt_seat() if self.stage == HANDS else self.turn_seat
        assert seat is not None
        self.hands[seat][card] += 1
        self.hand_sizes[seat] += 1
        events.append(self.tables.drawn[seat][card])
        self.market.draw_unseen(seat, card, self.tables.rules, events)
        if self.stage == HANDS:
            self.deal_hands(events)
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

    def deal_hands(self, events: list[Event]) -> None:
        """Go on dealing hands; then the row."""
        if self._dealt_seat() is None:
            self._refill_row(THEN_TICKETS, events)
        else:
            self.stage = HANDS

    def _unknown_ticket(self, ticket: int, events: list[Event]) -> None:
        self.tickets.draw_unknown(ticket)
        events.append(self._ticket_drawn(self.tickets.seats[-1], ticket))
        if self.stage == DEAL_TICKETS:
            self.deal_tickets(events)
        else:
            self.to_draw -= 1
            self._next_ticket(events)

    def deal_tickets(self, events: list[Event]) -> None:
        """Two to each seat, by seat; then all choose at once."""
        deck = self.tickets
        self.stage = DEAL_TICKETS
        if deck.seats and deck.seats[-1] not in self.left and deck.sizes[-1] < TICKETS_OFFERED:
            return
        for seat in range(deck.seats[-1] + 1 if deck.seats else 0, self.tables.players):
            if seat not in self.left:
                self.open_offers[seat] = deck.open_offer(seat)
                return
        self.stage = STARTING_TICKETS

    # Leaving

    def withdraw(self, seat: int) -> list[Event]:
        return leave(self, seat)

    # Result

    def is_terminal(self) -> bool:
        return self.stage == OVER

    def scores(self) -> list[ev.SeatScore]:
        """Per seat what it would score if the match ended now."""
        return [
            seat_score(self.tables, self.owner, seat, () if seat in self.left else self.kept[seat])
            for seat in range(self.tables.players)
        ]

    def returns(self) -> tuple[int, ...]:
        return tuple(score.total for score in self.scores())

    def ranking(self) -> tuple[int, ...]:
        return rank_seats(self.scores(), self.left)

    # Views and copies

    def observation(self, viewer: int | None) -> Observation:
        return observe(self, viewer)

    def resample(self, viewer: int | None, rng: Random) -> "State":
        return State.from_observation(self.tables, self.observation(viewer), rng)

    @classmethod
    def from_observation(cls, tables: Tables, seen: Observation, rng: Random) -> "State":
        """A state that fits what the viewer has seen, the rest drawn anew."""
        state = cls(tables)
        set_from_observation(state, seen, rng)
        return state

    def clone(self) -> "State":
        copy = State.__new__(State)
        set_from_state(copy, self)
        return copy

    def to_dict(self) -> dict[str, Any]:
        return state_dict(self)

    @classmethod
    def from_dict(cls, tables: Tables, data: Mapping[str, Any]) -> "State":
        """Inverse of `to_dict`."""
        state = cls(tables)
        set_from_dict(state, data)
        return state
