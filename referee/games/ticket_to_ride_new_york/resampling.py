"""Draws again what a viewer cannot know, so that it fits everything the viewer has seen.

Works from the observation alone, so that nothing else can leak into it. Which of its unseen cards a seat paid with is
drawn too; the others lie in any order that fits. Cards and tickets are numbers here, 0 one that is not drawn yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from referee.games.ticket_to_ride_new_york.actions import CARDS, COLORS, TAXI
from referee.games.ticket_to_ride_new_york.decks import CARD_KINDS, OPEN, RETURNED_ONE, Market, TicketDeck
from referee.games.ticket_to_ride_new_york.observation import Ledger, Observation, read_ledger
from referee.games.ticket_to_ride_new_york.state import AFTER_ROW, Position

_TAXI_NUMBER = TAXI + 1
_SWAPS = 600
_RESTARTS = 60


def resample(position: Position, seen: Observation, rng: Random) -> None:
    """Make a new position one that fits what the viewer has seen. ValueError if the observation contradicts itself."""
    ledger = read_ledger(seen.ledger)
    second, position.to_draw, after_row, flushes = ledger.moment
    position.second = bool(second)
    position.after_row = AFTER_ROW[after_row]
    position.stage = seen.stage
    position.turn_seat = seen.turn_seat
    position.first_seat = seen.first_seat
    position.last_turns = seen.last_turns
    position.left = list(seen.left)
    position.passed = list(seen.passed)
    position.taxis = list(seen.taxis)
    position.hand_sizes = list(seen.hand_sizes)
    position.known = list(seen.known)
    position.debts = bytearray(ledger.debts)
    position.refusals = bytearray(ledger.refusals)
    position.assign_routes(seen.holders())
    drawn, deck = _sample_cards(seen, ledger, rng)
    market = position.market = Market()
    market.row, market.row_size = list(seen.row), sum(seen.row)
    market.discards, market.discard_size = list(seen.discards), sum(seen.discards)
    market.aside = list(seen.aside)
    market.epoch, market.flushes = seen.epoch, flushes
    market.pools, market.draws = bytearray(ledger.pools), bytearray(ledger.draws)
    market.owners = bytearray(ledger.owners)
    market.cards = bytearray(drawn)
    market.evidence = _in_fours(ledger.evidence)
    for card in deck:
        market.deck[card - 1] += 1
    market.deck_size = seen.deck_size
    hands = position.hands = [list(seen.known_of(seat)) for seat in range(seen.players)]
    for owner, card in zip(ledger.owners, drawn, strict=True):
        hands[owner][card - 1] += 1
    for seat, card, count, _ in _in_fours(ledger.debts):
        hands[seat][card - 1] -= count
    tickets = position.tickets = _sample_tickets(len(position.board.tickets), ledger, rng)
    for number, seat in enumerate(tickets.seats):
        if tickets.states[number] == OPEN:
            position.open_offers[seat] = number
        else:
            returned = tickets.returned[number]
            position.kept[seat] += [ticket for ticket in tickets.offered(number) if ticket != returned]
    for kept in position.kept:
        kept.sort()


def _in_fours(numbers: bytes) -> list[tuple[int, int, int, int]]:
    """The entries of `debts` and `evidence`."""
    return [(numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]) for i in range(0, len(numbers), 4)]


# Cards


@dataclass(slots=True)
class _Guess:
    """`cards` are the unseen draws in order, then the deck. Per layer, `loose` positions may change places."""

    cards: list[int]
    loose: list[list[int]]


def _sample_cards(seen: Observation, ledger: Ledger, rng: Random) -> tuple[list[int], list[int]]:
    """The unseen draws, and the deck."""
    draws = len(ledger.owners)
    best: tuple[int, list[int]] | None = None
    told = bool(ledger.evidence or ledger.refusals)
    for _ in range(_RESTARTS):
        guess = _first_guess(seen, ledger, rng)
        if guess is None:
            continue
        wrong = _violation(seen, ledger, guess.cards) if told else 0
        if wrong:
            wrong = _repair(seen, ledger, guess, wrong, rng)
        if best is None or wrong < best[0]:
            best = (wrong, guess.cards)
        if not wrong:
            break
    if best is None:
        raise ValueError("the observation contradicts itself: its payments cannot have been drawn")
    return best[1][:draws], best[1][draws:]


def _first_guess(seen: Observation, ledger: Ledger, rng: Random) -> _Guess | None:
    """The paid cards first, where they fit; then the rest in random order."""
    starts = _layer_starts(ledger)
    pools = [list(ledger.pools[CARD_KINDS * layer : CARD_KINDS * (layer + 1)]) for layer in range(len(ledger.draws))]
    for layer, pool in enumerate(pools):
        for card in ledger.cards[starts[layer] : starts[layer + 1]]:
            if card:
                pool[card - 1] -= 1
    cards = list(ledger.cards)
    if ledger.debts and not _place_debts(seen, ledger, cards, pools, starts, rng):
        return None
    cards += [0] * seen.deck_size
    starts[-1] += seen.deck_size
    loose: list[list[int]] = []
    for layer, pool in enumerate(pools):
        rest = [card for card, count in enumerate(pool, start=1) for _ in range(count)]
        rng.shuffle(rest)
        places = [at for at in range(starts[layer], starts[layer + 1]) if not cards[at]]
        if len(places) != len(rest):
            raise ValueError(f"layer {layer}: {len(rest)} cards for {len(places)} places")
        for at, card in zip(places, rest, strict=True):
            cards[at] = card
        loose.append(places)
    return _Guess(cards, loose)


def _layer_starts(ledger: Ledger) -> list[int]:
    """Per layer the position of its first unseen draw; then the number of all."""
    starts = [0]
    for count in ledger.draws:
        starts.append(starts[-1] + count)
    return starts


def _place_debts(
    seen: Observation, ledger: Ledger, cards: list[int], pools: list[list[int]], starts: list[int], rng: Random
) -> bool:
    """Put the paid unseen cards among the draws of the seats that paid them. False if they do not seem to fit."""
    units = [
        (seat, card, end)
        for seat, card, count, end in _in_fours(ledger.debts)
        if seat != seen.viewer
        for _ in range(count)
    ]
    open_at = {at for at, card in enumerate(cards) if not card}
    placed = place_units(units, ledger.owners, starts, pools, open_at, rng)
    if placed is None:
        return False
    layer_of = [layer for layer, count in enumerate(ledger.draws) for _ in range(count)]
    for at, (_, card, _) in placed:
        cards[at] = card
        pools[layer_of[at]][card - 1] -= 1
    return True


def _violation(seen: Observation, ledger: Ledger, cards: list[int]) -> int:
    """How far the guess is from what flush tests and forced passes told; 0 if it fits."""
    starts = _layer_starts(ledger)
    wrong = 0
    for layer, at, low, high in _in_fours(ledger.evidence):
        end = starts[layer + 1] if layer + 1 < len(ledger.draws) else len(cards)
        count = sum(card != _TAXI_NUMBER for card in cards[at:end])
        wrong += max(0, low - count) + max(0, count - high)
    numbers = ledger.refusals
    for start in range(0, len(numbers), 2 + COLORS):
        seat, end, *limits = numbers[start : start + 2 + COLORS]
        if seat != seen.viewer:
            held = [0] * len(CARDS)
            for owner, card in zip(ledger.owners[:end], cards, strict=False):
                if owner == seat:
                    held[card - 1] += 1
            wrong += sum(max(0, held[color] + held[TAXI] - limits[color]) for color in range(COLORS))
    return wrong


def _repair(seen: Observation, ledger: Ledger, guess: _Guess, wrong: int, rng: Random) -> int:
    """Swap loose cards of the same layer as long as that does not make it worse. Returns what is still wrong."""
    layers = [places for places in guess.loose if len(places) > 1]
    cards = guess.cards
    for _ in range(_SWAPS if layers else 0):
        one, two = rng.sample(rng.choices(layers, [len(places) for places in layers])[0], 2)
        if cards[one] == cards[two]:
            continue
        cards[one], cards[two] = cards[two], cards[one]
        now = _violation(seen, ledger, cards)
        if now > wrong:
            cards[one], cards[two] = cards[two], cards[one]
            continue
        wrong = now
        if not wrong:
            break
    return wrong


# Payments out of unseen draws

Unit: TypeAlias = tuple[int, int, int]
"""One such card: (seat, number of the card, end), drawn before position `end`. It takes one of the seat's draws and one
card of that layer's pool."""

_SEARCH_STEPS = 600
"""Of one search, before it starts again; a search that succeeds takes hardly more than four for each unit."""
_SEARCHES = 400
_DISTURBS, _TOO_SOON = 2, 3
"""What it costs to turn out a unit, and to go back."""
_AWAY = 5, 15
"""For how many steps a unit stays away, at least and below."""
_NOBODY = -1


def place_units(
    units: Sequence[Unit],
    owners: bytes,
    starts: Sequence[int],
    pools: Sequence[Sequence[int]],
    open_at: set[int],
    rng: Random,
) -> list[tuple[int, Unit]] | None:
    """Where paid cards came from that nobody had seen a seat get. Per unit a position of `open_at`, None if none fit.

    With one layer any place will do; with several, one unit's choice can leave none to another's. So units are put
    where they disturb least, turning out others if need be; a unit that was turned out of a layer stays away from it
    for a while.

    `starts` are the positions where the layers begin, and the end; `pools` seven counts per layer.
    """
    layer_of = [layer for layer in range(len(pools)) for _ in range(starts[layer], starts[layer + 1])]
    choices = [
        [at for at in range(end) if owners[at] == seat and at in open_at and pools[layer_of[at]][card - 1]]
        for seat, card, end in units
    ]
    if not all(choices):
        return None
    for _ in range(_SEARCHES):
        placed = _search(units, choices, layer_of, pools, rng)
        if placed is not None:
            return list(zip(placed, units, strict=True))
    return None


def _search(
    units: Sequence[Unit],
    choices: Sequence[Sequence[int]],
    layer_of: Sequence[int],
    pools: Sequence[Sequence[int]],
    rng: Random,
) -> list[int] | None:
    """Per unit its position."""
    left = [list(pool) for pool in pools]
    taker = [_NOBODY] * len(layer_of)
    place = [_NOBODY] * len(units)
    away: dict[tuple[int, int], int] = {}
    waiting = list(range(len(units)))
    for step in range(_SEARCH_STEPS):
        if not waiting:
            return place
        unit = waiting.pop(int(rng.random() * len(waiting)))
        card = units[unit][1]
        costs = []
        for at in choices[unit]:
            layer, other = layer_of[at], taker[at]
            cost = 0 if other == _NOBODY else _DISTURBS
            if not left[layer][card - 1] and (other == _NOBODY or units[other][1] != card):
                cost += _DISTURBS
            if away.get((unit, layer), 0) > step:
                cost += _TOO_SOON
            costs.append(cost)
        least = min(costs)
        best = [at for at, cost in zip(choices[unit], costs, strict=True) if cost == least]
        at = best[int(rng.random() * len(best))]
        layer = layer_of[at]
        turned_out = [taker[at]] if taker[at] != _NOBODY else []
        if not left[layer][card - 1] and not (turned_out and units[turned_out[0]][1] == card):
            same = [
                other
                for other, (_, kind, _) in enumerate(units)
                if kind == card and place[other] != _NOBODY and layer_of[place[other]] == layer
            ]
            turned_out.append(rng.choice(same))
        for other in turned_out:
            taker[place[other]], place[other] = _NOBODY, _NOBODY
            left[layer][units[other][1] - 1] += 1
            away[other, layer] = step + rng.randrange(*_AWAY)
            waiting.append(other)
        taker[at], place[unit] = unit, at
        left[layer][card - 1] -= 1
    return None


# Tickets


@dataclass(slots=True)
class _Returns:
    """What is settled of the tickets: by order of drawing from the unknown part, and by offer that returned one."""

    pool: list[int]
    back: list[int]
    sources: list[bytes]


def _sample_tickets(count: int, ledger: Ledger, rng: Random) -> TicketDeck:
    """Which ticket a seat returned is fixed only where the viewer met that ticket again."""
    drawn = sum(source % 2 == 0 for source in ledger.ticket_sources)
    sources: list[bytes] = []
    start = 0
    for size in ledger.offer_sizes:
        sources.append(ledger.ticket_sources[start : start + size])
        start += size
    settled = _Returns([0] * drawn, list(ledger.offer_returned), sources)
    wanted: list[tuple[int, int]] = []
    for source, ticket in zip(ledger.ticket_sources, ledger.ticket_numbers, strict=True):
        if ticket and source % 2 == 0:
            settled.pool[source // 2] = ticket
        elif ticket:
            wanted.append((source // 2, ticket))
    if not _settle_returns(settled, wanted, rng):
        raise ValueError("the observation contradicts itself: its tickets cannot have been returned")
    rest = sorted(set(range(1, count + 1)) - set(settled.pool))
    rng.shuffle(rest)
    pool = [ticket or rest.pop() for ticket in settled.pool]
    deck = TicketDeck(0)
    deck.unknown = sorted(rest)
    deck.under = bytearray(ledger.under)
    deck.drawn = drawn
    deck.seats, deck.sizes = bytearray(ledger.offer_seats), bytearray(ledger.offer_sizes)
    deck.states, deck.sources = bytearray(ledger.offer_states), bytearray(ledger.ticket_sources)
    for seat, state, origins, back in zip(deck.seats, deck.states, sources, settled.back, strict=True):
        # A returned ticket can only be drawn in a later offer, so it is settled by now.
        tickets = [deck.returned[source // 2] if source % 2 else pool[source // 2] for source in origins]
        deck.returned.append((back or rng.choice(tickets)) if state == RETURNED_ONE else 0)
        deck.owners.extend([seat] * len(tickets))
        deck.tickets.extend(tickets)
    return deck


def _settle_returns(settled: _Returns, wanted: list[tuple[int, int]], rng: Random) -> bool:
    """Make each wanted (offer, ticket) true: trace the ticket back to where that offer got it from."""
    if not wanted:
        return True
    pool, back = settled.pool, settled.back
    number, ticket = wanted[0]
    if back[number]:
        return back[number] == ticket and _settle_returns(settled, wanted[1:], rng)
    back[number] = ticket
    for source in rng.sample(settled.sources[number], len(settled.sources[number])):
        if source % 2:
            if _settle_returns(settled, [(source // 2, ticket), *wanted[1:]], rng):
                return True
        elif pool[source // 2] == ticket or (not pool[source // 2] and ticket not in pool):
            old, pool[source // 2] = pool[source // 2], ticket
            if _settle_returns(settled, wanted[1:], rng):
                return True
            pool[source // 2] = old
    back[number] = 0
    return False
