"""Draws anew what a viewer cannot know, so that it fits everything the viewer has seen.

Works from the observation alone, so that nothing else can leak into it. Within one deck all orders that fit are
equally likely before payments are considered; which of its unseen cards a seat paid with is drawn too.
"""

from dataclasses import dataclass
from random import Random

from referee.games.ticket_to_ride_new_york.actions import CARDS, COLORS, TAXI
from referee.games.ticket_to_ride_new_york.market import Layer, Market
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.tables import Tables
from referee.games.ticket_to_ride_new_york.tickets import UNKNOWN, Offer, TicketDeck

OPEN = -1
_PLACEMENTS = 2000
"""Steps of the search for the unseen cards that were paid, before it starts again in another order."""
_SWAPS = 600
_RESTARTS = 60


@dataclass(slots=True)
class World:
    """The parts of a state that hold what somebody may not know."""

    market: Market
    hands: list[list[int]]
    tickets: TicketDeck


@dataclass(slots=True)
class _Guess:
    """Per layer the card at each position: the unseen draws, then the deck. `loose` may change places."""

    cards: list[list[int]]
    loose: list[list[int]]


def sample_world(tables: Tables, seen: Observation, rng: Random) -> World:
    """One world that fits `seen`. ValueError if the observation contradicts itself."""
    market = Market()
    market.row, market.row_size = list(seen.row), sum(seen.row)
    market.discards, market.discard_size = list(seen.discards), sum(seen.discards)
    market.aside = list(seen.aside)
    market.epoch, market.flushes = seen.epoch, seen.flushes
    market.evidence = list(seen.ledger.evidence)
    cards = _sample_cards(seen, rng)
    market.layers = [
        Layer(list(layer.pool), list(layer.owners), drawn[: len(layer.owners)])
        for layer, drawn in zip(seen.ledger.layers, cards, strict=True)
    ]
    market.deck = [0] * len(CARDS)
    for card in cards[-1][len(seen.ledger.layers[-1].owners) :]:
        market.deck[card] += 1
    market.deck_size = seen.deck_size
    hands = [list(counts) for counts in seen.known]
    for layer in market.layers:
        for owner, card in zip(layer.owners, layer.cards, strict=True):
            hands[owner][card] += 1
    for seat, card, count, _, _ in seen.ledger.debts:
        hands[seat][card] -= count
    return World(market, hands, _sample_tickets(tables, seen, rng))


# Cards


def _sample_cards(seen: Observation, rng: Random) -> list[list[int]]:
    best: tuple[int, list[list[int]]] | None = None
    for _ in range(_RESTARTS):
        guess = _first_guess(seen, rng)
        if guess is None:
            continue
        wrong = _violation(seen, guess.cards)
        if wrong:
            wrong = _repair(seen, guess, wrong, rng)
        if best is None or wrong < best[0]:
            best = (wrong, guess.cards)
        if not wrong:
            break
    if best is None:
        raise ValueError("the observation contradicts itself: its payments cannot have been drawn")
    return best[1]


def _first_guess(seen: Observation, rng: Random) -> _Guess | None:
    """The paid cards first, where they fit; then the rest in random order."""
    layers = seen.ledger.layers
    cards: list[list[int]] = []
    left: list[list[int]] = []
    for layer in layers:
        pool = list(layer.pool)
        for card in layer.cards:
            if card >= 0:
                pool[card] -= 1
        cards.append(list(layer.cards))
        left.append(pool)
    if not _place_debts(seen, cards, left, rng):
        return None
    loose: list[list[int]] = []
    for number, (drawn, pool) in enumerate(zip(cards, left, strict=True)):
        rest = [card for card, count in enumerate(pool) for _ in range(count)]
        rng.shuffle(rest)
        if number == len(layers) - 1:
            drawn += [OPEN] * seen.deck_size
        places = [at for at, card in enumerate(drawn) if card == OPEN]
        if len(places) != len(rest):
            raise ValueError(f"layer {number}: {len(rest)} cards for {len(places)} places")
        for at, card in zip(places, rest, strict=True):
            drawn[at] = card
        loose.append(places)
    return _Guess(cards, loose)


def _place_debts(seen: Observation, cards: list[list[int]], left: list[list[int]], rng: Random) -> bool:
    """Put every paid unseen card at one of its seat's open positions; by depth first, in random order."""
    owners = [layer.owners for layer in seen.ledger.layers]
    units = [
        (seat, card, layer, at)
        for seat, card, count, layer, at in seen.ledger.debts
        if seat != seen.viewer
        for _ in range(count)
    ]
    # Those with the least choice first; for one seat this is the order in which it paid.
    units.sort(key=lambda unit: (unit[2], unit[3]))
    steps = 0

    def place(number: int) -> bool:
        nonlocal steps
        if number == len(units):
            return True
        seat, card, last, end = units[number]
        choices = [
            (layer, at)
            for layer in range(last + 1)
            if left[layer][card]
            for at in range(end if layer == last else len(owners[layer]))
            if owners[layer][at] == seat and cards[layer][at] == OPEN
        ]
        rng.shuffle(choices)
        for layer, at in choices:
            steps += 1
            if steps > _PLACEMENTS:
                return False
            cards[layer][at] = card
            left[layer][card] -= 1
            if place(number + 1):
                return True
            cards[layer][at] = OPEN
            left[layer][card] += 1
        return False

    return place(0)


def _violation(seen: Observation, cards: list[list[int]]) -> int:
    """How far the guess is from what flush tests and forced passes told; 0 if it fits."""
    wrong = 0
    for layer, at, low, high in seen.ledger.evidence:
        count = sum(card != TAXI for card in cards[layer][at:])
        wrong += max(0, low - count) + max(0, count - high)
    for seat, last, end, base, limits in seen.ledger.refusals:
        if seat == seen.viewer:
            continue
        held = list(base)
        for layer in range(last + 1):
            owners = seen.ledger.layers[layer].owners
            for owner, card in zip(owners[: end if layer == last else None], cards[layer], strict=False):
                if owner == seat:
                    held[card] += 1
        wrong += sum(max(0, held[color] + held[TAXI] - limits[color]) for color in range(COLORS))
    return wrong


def _repair(seen: Observation, guess: _Guess, wrong: int, rng: Random) -> int:
    """Swap loose cards of the same layer as long as that does not make it worse. Returns what is still wrong."""
    weights = [len(places) for places in guess.loose]
    for _ in range(_SWAPS):
        layer = rng.choices(range(len(weights)), weights)[0] if any(weights) else 0
        places, cards = guess.loose[layer], guess.cards[layer]
        if len(places) < 2:
            continue
        one, two = rng.sample(places, 2)
        if cards[one] == cards[two]:
            continue
        cards[one], cards[two] = cards[two], cards[one]
        now = _violation(seen, guess.cards)
        if now > wrong:
            cards[one], cards[two] = cards[two], cards[one]
            continue
        wrong = now
        if not wrong:
            break
    return wrong


# Tickets


def _sample_tickets(tables: Tables, seen: Observation, rng: Random) -> TicketDeck:
    """Tickets of offers that are not the viewer's: who returned which is fixed where the viewer met it again."""
    offers = seen.ledger.offers
    drawn = 1 + max((source for offer in offers for source in offer.sources), default=-1)
    pool: list[int] = [OPEN] * drawn
    back: list[int] = [OPEN] * len(offers)
    wanted: list[tuple[int, int]] = []
    for number, offer in enumerate(offers):
        for source, ticket in zip(offer.sources, offer.tickets, strict=True):
            if ticket == 0:
                continue
            if source >= 0:
                pool[source] = ticket - 1
            else:
                wanted.append((-1 - source, ticket - 1))
        if offer.returned:
            back[number] = offer.returned - 1
    if not _settle_returns(seen, pool, back, wanted, rng):
        raise ValueError("the observation contradicts itself: its tickets cannot have been returned")
    unknown = sorted(set(range(len(tables.tickets))) - set(pool))
    rest = unknown[:]
    rng.shuffle(rest)
    pool = [rest.pop() if ticket == OPEN else ticket for ticket in pool]
    deck = TicketDeck(0)
    deck.unknown = sorted(rest)
    deck.under = list(seen.ledger.under)
    deck.drawn = drawn
    for number, offer in enumerate(offers):
        # A returned ticket can only be drawn in a later offer, so it is settled by now.
        tickets = [pool[source] if source >= 0 else back[-1 - source] for source in offer.sources]
        if offer.returned_count == 1 and back[number] == OPEN:
            back[number] = rng.choice(tickets)
        returned = UNKNOWN if offer.returned_count < 0 else back[number] if offer.returned_count else None
        deck.offers.append(Offer(offer.seat, list(offer.sources), tickets, returned))
    return deck


def _settle_returns(
    seen: Observation, pool: list[int], back: list[int], wanted: list[tuple[int, int]], rng: Random
) -> bool:
    """Make each wanted (offer, ticket) true: trace the ticket back to where that offer got it from."""
    if not wanted:
        return True
    number, ticket = wanted[0]
    if back[number] != OPEN:
        return back[number] == ticket and _settle_returns(seen, pool, back, wanted[1:], rng)
    sources = list(seen.ledger.offers[number].sources)
    rng.shuffle(sources)
    for source in sources:
        back[number] = ticket
        if source < 0:
            if _settle_returns(seen, pool, back, [(-1 - source, ticket), *wanted[1:]], rng):
                return True
        elif pool[source] == ticket or (pool[source] == OPEN and ticket not in pool):
            old = pool[source]
            pool[source] = ticket
            if _settle_returns(seen, pool, back, wanted[1:], rng):
                return True
            pool[source] = old
    back[number] = OPEN
    return False
