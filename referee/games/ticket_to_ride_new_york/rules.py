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
)
from referee.games.ticket_to_ride_new_york.market import Market
from referee.games.ticket_to_ride_new_york.observation import Observation, observe
from referee.games.ticket_to_ride_new_york.scoring import rank_seats, seat_score
from referee.games.ticket_to_ride_new_york.tables import (
    GRAY,
    LAST_TAXIS,
    NO_TWIN,
    ROW,
    START_HAND,
    TICKETS_OFFERED,
    ClaimPlan,
    Tables,
)
from referee.games.ticket_to_ride_new_york.tickets import UNKNOWN, TicketDeck
from referee.games.ticket_to_ride_new_york.worlds import sample_world

# Chance nodes.
LOT = "lot"
"""Who has the first turn."""
HANDS = "hands"
"""A card of a starting hand."""
REFILL = "refill"
"""A card is turned up into the row; `after_row` says what comes then."""
UNSEEN = "unseen"
"""The active seat's unseen draw."""
DEAL_TICKETS = "deal_tickets"
DRAW_TICKETS = "draw_ticket"
# Decisions, by their kinds.
STARTING_TICKETS = "starting_tickets"
TURN = "turn"
SECOND_CARD = "second_card"
KEEP_TICKETS = "keep_tickets"
# The end.
OVER = "over"

# Values of `after_row`.
THEN_TICKETS = "tickets"
THEN_SECOND = "second"
THEN_END = "end"

CHANCE_STAGES = (LOT, HANDS, REFILL, UNSEEN, DEAL_TICKETS, DRAW_TICKETS)
NONE_OPEN = -1
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
        self.hands = [[0] * len(CARDS) for _ in range(players)]
        self.taxis = [tables.taxis] * players
        self.owner = [-1] * len(tables.routes)
        self.available = [list(range(len(tables.routes))) for _ in range(players)]
        """Per seat the routes it may claim if it can pay; follows from `owner`."""
        self.kept: list[list[int]] = [[] for _ in range(players)]
        self.open_offers = [NONE_OPEN] * players
        """Per seat the number of the offer it has to answer."""
        # What everybody can work out about hands: hand = known + unseen draws - debts.
        self.known = [[0] * len(CARDS) for _ in range(players)]
        self.debts: list[tuple[int, int, int, int, int]] = []
        """(seat, card, count, layer, at): so many cards paid that were not known, hence drawn unseen before position
        `at` of that layer."""
        self.refusals: list[tuple[int, int, int, tuple[int, ...], tuple[int, ...]]] = []
        """(seat, layer, at, base, limits): a seat had to pass, so for each colour what it held (`base` and its unseen
        draws before that position) came, with its taxis, to no more than the limit."""
        self._legal: list[Answer] | None = None

    # Questions

    def decisions(self) -> Sequence[Decision]:
        stage = self.stage
        if stage == STARTING_TICKETS:
            asked = self.tables.asked[STARTING_TICKETS]
            return [asked[seat][0] for seat, number in enumerate(self.open_offers) if number != NONE_OPEN]
        if stage in (TURN, SECOND_CARD, KEEP_TICKETS):
            return self.tables.asked[stage][self.turn_seat]
        return ()

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

    def _turn_actions(self, seat: int) -> list[Answer]:
        tables, rules, market = self.tables, self.tables.rules, self.market
        answers: list[Answer] = [_PASS] if rules.always_pass else []
        if self._cards_allowed():
            if market.deck_size or market.discard_size:
                answers.append(_DRAW)
            answers += [take for take, count in zip(tables.takes, market.row, strict=True) if count]
        if self._tickets_allowed():
            answers.append(_DRAW_TICKETS)
        if self._claims_allowed():
            self._add_claims(seat, answers)
        return answers or [_PASS]

    def _add_claims(self, seat: int, answers: list[Answer]) -> None:
        rows, alone = self.tables.claim_rows, self.tables.taxi_claims
        hand, supply = self.hands[seat], self.taxis[seat]
        wild = hand[TAXI]
        held = [color for color in range(COLORS) if hand[color]]
        for place in self.available[seat]:
            length, color, table = rows[place]
            if length > supply:
                continue
            if color != GRAY:
                answers += table[hand[color]][wild]
                continue
            for gray_color in held:
                answers += table[gray_color][hand[gray_color]][wild]
            if length <= wild:
                answers += alone[place]

    def _second_card_actions(self) -> list[Answer]:
        market = self.market
        answers: list[Answer] = [] if self.tables.rules.second_required else [_STOP]
        if market.deck_size or market.discard_size:
            answers.append(_DRAW)
        answers += [self.tables.takes[color] for color in range(COLORS) if market.row[color]]
        return answers

    def _keep_actions(self, seat: int) -> Sequence[Answer]:
        return self.tables.keeps[tuple(sorted(self.tickets.offers[self.open_offers[seat]].tickets))]

    def _cards_allowed(self) -> bool:
        """E8, E9."""
        outside = self.market.outside_hands()
        return outside > 1 or (outside == 1 and self.tables.rules.one_card_draw)

    def _tickets_allowed(self) -> bool:
        return self.tickets.size() > 0 and (not self.last_turns or self.tables.rules.last_turn_tickets)

    def _claims_allowed(self) -> bool:
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
            raise IllegalAction(f"seat {seat} is asked, not {sorted(actions)}")
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
        elif stage == SECOND_CARD and kind is Stop and not self.tables.rules.second_required:
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
        self.known[seat][card] += 1
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
            self._deal_tickets(events)
        elif then == THEN_SECOND and (market.obtainable_unseen() or market.row_size > market.row[TAXI]):
            self.stage = SECOND_CARD
        else:
            self._end_turn(events)

    def _claim(self, seat: int, action: Claim, events: list[Event]) -> None:
        rules, market = self.tables.rules, self.market
        plan = self._check_claim(seat, action)
        self._legal = None
        if self.passed:
            self.passed = []
        self.owner[plan.route] = seat
        self._close_route(seat, plan.route)
        self.taxis[seat] -= plan.length
        if plan.paid:
            self._pay(seat, plan.color, plan.paid)
        if plan.taxis:
            self._pay(seat, TAXI, plan.taxis)
        events.append(plan.events[seat])
        if rules.reshuffle_at_once:
            market.reshuffle_if_empty(events)
        if market.row_size == ROW:
            self._settle_row(THEN_END, test=rules.flush_after_claim, events=events)
        elif rules.refill_after_claim:
            market.flushes = 0
            self._settle_row(THEN_END, test=rules.flush_after_claim, events=events)
        else:
            self._end_turn(events)

    def _check_claim(self, seat: int, action: Claim) -> ClaimPlan:
        try:
            plan = self.tables.plans.get(action)
        except TypeError:  # a field that cannot be hashed
            plan = None
        if plan is None:
            raise IllegalAction(f"{action!r} does not name a route and a way to pay for it")
        if not self._claims_allowed():
            raise IllegalAction("no claims in the last turns (option last_turn_claims)")
        if plan.route not in self.available[seat]:
            raise IllegalAction(f"route {action.route} is closed to seat {seat}")
        if plan.length > self.taxis[seat]:
            raise IllegalAction(f"route {action.route} takes {plan.length} taxis, seat {seat} has {self.taxis[seat]}")
        hand = self.hands[seat]
        if hand[plan.color] < plan.paid or hand[TAXI] < plan.taxis:
            raise IllegalAction(f"seat {seat} has not the cards for {action!r}")
        return plan

    def _close_route(self, seat: int, place: int) -> None:
        twin = self.tables.routes[place].twin
        for other, routes in enumerate(self.available):
            if place in routes:
                routes.remove(place)
            if twin != NO_TWIN and (other == seat or self.tables.players == 2) and twin in routes:
                routes.remove(twin)

    def _pay(self, seat: int, card: int, count: int) -> None:
        self.hands[seat][card] -= count
        self.market.discard(card, count)
        known = self.known[seat]
        if known[card] >= count:
            known[card] -= count
            return
        layers = self.market.layers
        debt = (seat, card, count - known[card], len(layers) - 1, len(layers[-1].owners))
        self.debts.append(debt)
        known[card] = 0

    def _draw_tickets(self, seat: int, events: list[Event]) -> None:
        if not self._tickets_allowed():
            raise IllegalAction("no tickets can be drawn: none are left, or none in the last turns")
        self._legal = None
        self.passed = []
        self.to_draw = min(TICKETS_OFFERED, self.tickets.size())
        self.open_offers[seat] = len(self.tickets.offers)
        self.tickets.open_offer(seat)
        self._next_ticket(events)

    def _next_ticket(self, events: list[Event]) -> None:
        """Draw what needs no luck; stop for luck, or for the choice."""
        while self.to_draw:
            if self.tickets.unknown:
                self.stage = DRAW_TICKETS
                return
            offer = self.tickets.offers[-1]
            ticket = self.tickets.draw_under(offer)
            events.append(self._ticket_drawn(offer.seat, ticket))
            self.to_draw -= 1
        self.stage = KEEP_TICKETS

    def _ticket_drawn(self, seat: int, ticket: int) -> Event:
        name = self.tables.ticket_names[ticket]
        return Event(ev.TicketDrawn(seat, ""), {seat: ev.TicketDrawn(seat, name)})

    def _check_keep(self, seat: int, action: Action) -> int | None:
        """The ticket that the answer returns."""
        if type(action) is not Keep or action not in self._keep_actions(seat):
            raise IllegalAction(f"{action!r} does not keep one or both of the tickets offered to seat {seat}")
        offered = self.tickets.offers[self.open_offers[seat]].tickets
        if len(action.tickets) == len(offered):
            return None
        return next(ticket for ticket in offered if self.tables.ticket_names[ticket] not in action.tickets)

    def _keep(self, seat: int, returned: int | None, events: list[Event]) -> None:
        number = self.open_offers[seat]
        kept = sorted(ticket for ticket in self.tickets.offers[number].tickets if ticket != returned)
        self.tickets.close_offer(number, returned)
        self.open_offers[seat] = NONE_OPEN
        self.kept[seat] = sorted(self.kept[seat] + kept)
        names = self.tables.ticket_names
        back = () if returned is None else (names[returned],)
        full = ev.TicketsKept(seat, len(kept), len(back), tuple(names[ticket] for ticket in kept), back)
        events.append(Event(ev.TicketsKept(seat, len(kept), len(back), (), ()), {seat: full}))

    def _apply_starting_tickets(self, actions: Mapping[int, Action]) -> list[Event]:
        seats = [seat for seat, number in enumerate(self.open_offers) if number != NONE_OPEN]
        if sorted(actions) != seats:
            raise IllegalAction(f"seats {seats} are asked, not {sorted(actions)}")
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
            self._note_refusal(seat)
        self._legal = None
        events.append(Event(ev.Passed(seat)))
        self.passed = [*self.passed, seat]
        self._end_turn(events)

    def _note_refusal(self, seat: int) -> None:
        """A forced pass tells all that the seat cannot pay for any route open to it."""
        if not self._claims_allowed():
            return
        size = sum(self.hands[seat])
        limits = [size] * COLORS
        for place in self.available[seat]:
            length, color, _ = self.tables.claim_rows[place]
            if length <= self.taxis[seat]:
                for paying in range(COLORS) if color == GRAY else (color,):
                    limits[paying] = min(limits[paying], length - 1)
        if min(limits) == size:
            return
        base = self.known[seat][:]
        for debtor, card, count, _, _ in self.debts:
            if debtor == seat:
                base[card] -= count
        layers = self.market.layers
        self.refusals.append((seat, len(layers) - 1, len(layers[-1].owners), tuple(base), tuple(limits)))

    def _end_turn(self, events: list[Event]) -> None:
        """R6: the last turns begin left of the seat that triggers them and end with it."""
        seat = self.turn_seat
        if self.last_turns:
            if seat not in self.left:
                self.last_turns -= 1
                if not self.last_turns:
                    self._finish(events)
                    return
        elif self.taxis[seat] <= LAST_TAXIS and seat not in self.left:
            self.last_turns = self.tables.players - len(self.left)
            events.append(Event(ev.LastTurns(seat)))
        if self.passed and self._everybody_passed():
            self._finish(events)
            return
        players = self.tables.players
        seat = (seat + 1) % players
        while seat in self.left:
            seat = (seat + 1) % players
        self.turn_seat = seat
        self.stage = TURN

    def _everybody_passed(self) -> bool:
        """E11, R7: in a row, by all that are still in play."""
        return all(seat in self.passed or seat in self.left for seat in range(self.tables.players))

    def _finish(self, events: list[Event]) -> None:
        self.stage = OVER
        events += [Event(score) for score in self.scores()]

    # Luck

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        stage = self.stage
        if stage in (REFILL, UNSEEN, HANDS):
            return [(name, count) for name, count in zip(CARDS, self.market.deck, strict=True) if count]
        if stage in (DRAW_TICKETS, DEAL_TICKETS):
            names = self.tables.ticket_names
            return [(names[ticket], 1) for ticket in self.tickets.unknown]
        if stage == LOT:
            return [(seat, 1) for seat in range(self.tables.players) if seat not in self.left]
        return ()

    def chance_stream(self) -> Chance:
        stage = self.stage
        if stage in (REFILL, UNSEEN, HANDS):
            epoch = self.market.epoch
            return _CARD_STREAMS[epoch] if epoch < len(_CARD_STREAMS) else DrawStream("cards", epoch)
        if stage in (DRAW_TICKETS, DEAL_TICKETS):
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
        elif stage in (DRAW_TICKETS, DEAL_TICKETS):
            ticket = self.tables.ticket_index.get(outcome) if isinstance(outcome, str) else None
            if ticket is None or ticket not in self.tickets.unknown:
                raise IllegalAction(f"{outcome!r} is not in the deck of tickets")
            self._unknown_ticket(ticket, events)
        elif stage == LOT:
            if type(outcome) is not int or not 0 <= outcome < self.tables.players or outcome in self.left:
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
        events.append(self.tables.drawn[seat][card])
        self.market.draw_unseen(seat, card, self.tables.rules, events)
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
        for seat, hand in enumerate(self.hands):
            if seat not in self.left and sum(hand) < START_HAND:
                return seat
        return None

    def _deal_hands(self, events: list[Event]) -> None:
        if self._dealt_seat() is None:
            self._refill_row(THEN_TICKETS, events)
        else:
            self.stage = HANDS

    def _unknown_ticket(self, ticket: int, events: list[Event]) -> None:
        offer = self.tickets.offers[-1]
        self.tickets.draw_unknown(offer, ticket)
        events.append(self._ticket_drawn(offer.seat, ticket))
        if self.stage == DEAL_TICKETS:
            self._deal_tickets(events)
        else:
            self.to_draw -= 1
            self._next_ticket(events)

    def _deal_tickets(self, events: list[Event]) -> None:
        """Two to each seat, by seat; then all choose at once."""
        offers = self.tickets.offers
        if offers and offers[-1].seat not in self.left and len(offers[-1].tickets) < TICKETS_OFFERED:
            self.stage = DEAL_TICKETS
            return
        after = offers[-1].seat + 1 if offers else 0
        for seat in range(after, self.tables.players):
            if seat not in self.left:
                self.open_offers[seat] = len(offers)
                self.tickets.open_offer(seat)
                self.stage = DEAL_TICKETS
                return
        self.stage = STARTING_TICKETS

    # Leaving

    def withdraw(self, seat: int) -> list[Event]:
        if self.stage == OVER:
            raise IllegalAction("the match is over")
        if not 0 <= seat < self.tables.players or seat in self.left:
            raise IllegalAction(f"seat {seat} is not in play")
        self._legal = None
        events = [Event(ev.SeatLeft(seat))]
        number = self.open_offers[seat]
        if number != NONE_OPEN:
            self.kept[seat] = sorted(self.kept[seat] + self.tickets.offers[number].tickets)
            self.tickets.close_offer(number, None)
            self.open_offers[seat] = NONE_OPEN
        ends = len(self.left) + 2 >= self.tables.players
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
        order = [(self.turn_seat + step) % self.tables.players for step in range(self.tables.players)]
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
        players = self.tables.players
        return next((seat + step) % players for step in range(1, players) if (seat + step) % players not in self.left)

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
        world = sample_world(tables, seen, rng)
        state = cls(tables)
        state.stage = seen.stage
        state.after_row = seen.after_row
        state.second = seen.second
        state.to_draw = seen.to_draw
        state.turn_seat = seen.turn_seat
        state.first_seat = seen.first_seat
        state.last_turns = seen.last_turns
        state.left = list(seen.left)
        state.passed = list(seen.passed)
        state.market = world.market
        state.tickets = world.tickets
        state.hands = world.hands
        state.taxis = list(seen.taxis)
        state.known = [list(counts) for counts in seen.known]
        state.debts = list(seen.ledger.debts)
        state.refusals = list(seen.ledger.refusals)
        for number, offer in enumerate(world.tickets.offers):
            if offer.returned == UNKNOWN:
                state.open_offers[offer.seat] = number
            else:
                state.kept[offer.seat] += [ticket for ticket in offer.tickets if ticket != offer.returned]
        for kept in state.kept:
            kept.sort()
        state._set_owners(seen.owner)
        return state

    def _set_owners(self, owner: Sequence[int]) -> None:
        self.owner = list(owner)
        for place, seat in enumerate(owner):
            if seat >= 0:
                self._close_route(seat, place)

    def clone(self) -> "State":
        copy = State.__new__(State)
        copy.tables = self.tables
        copy.stage = self.stage
        copy.after_row = self.after_row
        copy.second = self.second
        copy.to_draw = self.to_draw
        copy.turn_seat = self.turn_seat
        copy.first_seat = self.first_seat
        copy.last_turns = self.last_turns
        copy.left = self.left[:]
        copy.passed = self.passed[:]
        copy.market = self.market.clone()
        copy.tickets = self.tickets.clone()
        copy.hands = [hand[:] for hand in self.hands]
        copy.taxis = self.taxis[:]
        copy.owner = self.owner[:]
        copy.available = [routes[:] for routes in self.available]
        copy.kept = [tickets[:] for tickets in self.kept]
        copy.open_offers = self.open_offers[:]
        copy.known = [counts[:] for counts in self.known]
        copy.debts = self.debts[:]
        copy.refusals = self.refusals[:]
        copy._legal = self._legal
        return copy

    def to_dict(self) -> dict[str, Any]:
        return {
            "players": self.tables.players,
            "options": dict(self.tables.options),
            "stage": self.stage,
            "after_row": self.after_row,
            "second": self.second,
            "to_draw": self.to_draw,
            "turn_seat": self.turn_seat,
            "first_seat": self.first_seat,
            "last_turns": self.last_turns,
            "left": self.left[:],
            "passed": self.passed[:],
            "market": self.market.to_dict(),
            "tickets": self.tickets.to_dict(),
            "hands": [hand[:] for hand in self.hands],
            "taxis": self.taxis[:],
            "owner": self.owner[:],
            "kept": [tickets[:] for tickets in self.kept],
            "open_offers": self.open_offers[:],
            "known": [counts[:] for counts in self.known],
            "debts": [list(entry) for entry in self.debts],
            "refusals": [[*entry[:3], list(entry[3]), list(entry[4])] for entry in self.refusals],
        }

    @classmethod
    def from_dict(cls, tables: Tables, data: Mapping[str, Any]) -> "State":
        """Inverse of `to_dict`."""
        state = cls(tables)
        for name in ("stage", "after_row", "second", "to_draw", "turn_seat", "first_seat", "last_turns"):
            setattr(state, name, data[name])
        state.left = list(data["left"])
        state.passed = list(data["passed"])
        state.market = Market.from_dict(data["market"])
        state.tickets = TicketDeck.from_dict(data["tickets"])
        state.hands = [list(hand) for hand in data["hands"]]
        state.taxis = list(data["taxis"])
        state.kept = [list(tickets) for tickets in data["kept"]]
        state.open_offers = list(data["open_offers"])
        state.known = [list(counts) for counts in data["known"]]
        state.debts = [tuple(entry) for entry in data["debts"]]
        state.refusals = [(*entry[:3], tuple(entry[3]), tuple(entry[4])) for entry in data["refusals"]]
        state._set_owners(data["owner"])
        return state
