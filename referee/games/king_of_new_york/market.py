"""The Buy step: buying, sweeping, and filling the market again."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import PASS, SWEEP, Buy, KingAction, Menu, Pay, Scavenge, Sweep
from referee.games.king_of_new_york.agenda import ADVANCE, BIN, CARD, DIE, EFFECT, ENTER, LAPSE, REFILL, Task
from referee.games.king_of_new_york.events import Bought, CardShown, Gained, Reshuffled, Swept, event
from referee.games.king_of_new_york.gains import funds, lose_energy, pay
from referee.games.king_of_new_york.moves import can_go, extras, take_extra
from referee.games.king_of_new_york.names import MARKET_SLOTS, NO_CARD

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_PAYMENTS = tuple(Pay(life) for life in range(128))


def buy_menu(state: "KingState", task: Task) -> Menu:
    """Stop, or any card the seat can pay for, or a sweep."""
    seat = task[1]
    box = state.box
    keep = state.keep[seat]
    menu: list[KingAction] = [PASS]
    if state.trades < box.market_cap:
        means = state.energy[seat]
        if keep & box.abilities.exchange:
            means = funds(state, seat)
        here = state.where[seat]
        filled = False
        for card in state.market:
            if card != NO_CARD:
                filled = True
                if box.prices[card][here] <= means:
                    needed = box.requires[card]
                    if needed < 0 or state.killed[needed]:
                        menu.append(box.buys[card])
        if filled and box.sweep_cost <= means:
            menu.append(SWEEP)
        if keep & box.abilities.scavenge.mask:
            found = state.discards & box.keep_cards
            while found:
                bit = found & -found
                found ^= bit
                card = bit.bit_length() - 1
                if scavenge_price(state, seat, card) <= means:
                    menu.append(box.scavenges[card])
    if state.rides or state.carapace[seat]:
        menu += extras(state, seat)
    return menu


def scavenge_price(state: "KingState", seat: int, card: int) -> int:
    """What a card of the discard pile costs the owner of Scavenger."""
    discount = state.box.abilities.scavenge.total(state.keep[seat])
    return max(0, state.box.prices[card][state.where[seat]] - discount)


def buy(state: "KingState", task: Task, action: KingAction) -> None:
    """Buy or sweep and ask again, or stop."""
    if action is PASS:
        return
    seat = task[1]
    box = state.box
    if type(action) is Buy:
        card = box.card_number[action.card]
        state.agenda.append(task)
        state.market[state.market.index(card)] = NO_CARD
        count_move_cost(state)
        _order(state, seat, card, box.prices[card][state.where[seat]], "market")
    elif type(action) is Scavenge:
        card = box.card_number[action.card]
        cost = scavenge_price(state, seat, card)
        state.agenda.append(task)
        state.discards &= ~(1 << card)
        _order(state, seat, card, cost, "discards")
    elif type(action) is Sweep:
        state.agenda.append(task)
        state.trades += 1
        state.log.append(event(Swept, seat))
        for slot, card in enumerate(state.market):
            if card != NO_CARD:
                state.discards |= 1 << card
                state.market[slot] = NO_CARD
        count_move_cost(state)
        state.agenda.append((REFILL,))
        pay(state, seat, box.sweep_cost)
    else:
        take_extra(state, task, action)


def _order(state: "KingState", seat: int, card: int, cost: int, source: str) -> None:
    box = state.box
    state.trades += 1
    state.played |= 1 << card
    state.log.append(event(Bought, seat, box.card_ids[card], cost, source))
    for hook in box.abilities.ordered[card]:
        hook(state, seat, card)
    effect: list[Task] = [(EFFECT, seat, card)]
    if not box.keep_cards >> card & 1:
        effect.insert(0, (BIN, card))
    refill: list[Task] = [(REFILL,)]
    if not box.claim_persists:
        refill.insert(0, (LAPSE,))
    state.agenda += [*effect, *refill] if box.refill_first else [*refill, *effect]
    pay(state, seat, cost)


def count_move_cost(state: "KingState") -> None:
    """What optional moves cost while these cards lie in the market."""
    costs = state.box.abilities.move_cost
    state.move_cost = sum([costs[card] for card in state.market if card != NO_CARD])


def effect_step(state: "KingState", task: Task) -> None:
    """A bought card takes effect; if its buyer has left, it is discarded."""
    _, seat, card = task
    bit = 1 << card
    if state.box.keep_cards & bit:
        state.played &= ~bit
        if state.out[seat]:
            state.discards |= bit
        else:
            receive(state, seat, card)
    if not state.out[seat]:
        for hook in state.box.abilities.bought[card]:
            hook(state, seat, card)


def receive(state: "KingState", seat: int, card: int) -> None:
    """A Keep card lies in front of a seat."""
    state.keep[seat] |= 1 << card
    state.owned |= 1 << card


def bin_step(state: "KingState", task: Task) -> None:
    """A Discard card has done its work."""
    state.played &= ~(1 << task[1])
    state.discards |= 1 << task[1]


def lapse_step(state: "KingState", task: Task) -> None:
    """Option columbia_claim_persists off: unfulfilled claims end."""
    state.claims = []


def refill_step(state: "KingState", task: Task) -> None:
    """Draw for the first empty slot; an empty deck is made anew from the discard pile."""
    if NO_CARD not in state.market:
        return
    if not state.deck:
        if not state.discards:
            return
        state.deck = state.discards
        state.discards = 0
        state.epoch += 1
        state.log.append(event(Reshuffled, state.deck.bit_count()))
    state.agenda.append(task)
    state.agenda.append((CARD, state.market.index(NO_CARD)))


def card_drawn(state: "KingState", task: Task, card: int) -> None:
    """A card is revealed: into the market, or a Keep card to whoever has a claim to it."""
    bit = 1 << card
    box = state.box
    state.deck &= ~bit
    if state.claims and box.keep_cards & bit:
        seat = state.claims.pop(0)
        state.log.append(event(Bought, seat, box.card_ids[card], 0, "free"))
        receive(state, seat, card)
        if box.free_counts:
            for hook in box.abilities.bought[card]:
                hook(state, seat, card)
        return
    slot = task[1]
    state.market[slot] = card
    if box.abilities.move_cost[card]:
        count_move_cost(state)
    state.log.append(event(CardShown, slot, box.card_ids[card]))


def pay_menu(state: "KingState", task: Task) -> Menu:
    """How much of a cost to pay with life, the least first; nothing if it is not due any more."""
    if not _due(state):
        return ()
    _, seat, cost = task
    least = max(0, cost - state.energy[seat])
    most = min(cost, state.life[seat] - 1)
    return _PAYMENTS[least : most + 1]


def _due(state: "KingState") -> bool:
    """Whether what is paid for, which is next on the agenda, still comes though somebody may have left the match."""
    below = state.agenda[-2]
    if below[0] in (ENTER, ADVANCE):
        return can_go(state, below)
    if below[0] == DIE:  # Ouch dice rolled again in spite of Jinx tokens
        return bool(state.owned & state.box.abilities.jinx_tax)
    return True


def pay_now(state: "KingState", task: Task, action: KingAction) -> None:
    """Pay with life and energy; this is not damage."""
    if type(action) is Pay:
        _, seat, cost = task
        if action.life:
            state.life[seat] -= action.life
            state.log.append(event(Gained, seat, "life", -action.life, "cost"))
        lose_energy(state, seat, cost - action.life, "cost")


def empty_market() -> list[int]:
    """Before the first cards are drawn."""
    return [NO_CARD] * MARKET_SLOTS
