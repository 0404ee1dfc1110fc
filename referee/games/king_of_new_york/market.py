"""The Buy step: buying and sweeping, paying, and filling the market again.

The rules are in README.md, section "A turn", step 7.
"""

from typing import Final

from referee.games.api import event
from referee.games.king_of_new_york.actions import PASS, SWEEP, Buy, KingAction, Menu, Pay, Scavenge, Sweep
from referee.games.king_of_new_york.card_effects import carry_out
from referee.games.king_of_new_york.constants import (
    ADVANCE,
    CARD_EFFECT,
    DISCARD_PLAYED,
    END_CLAIMS,
    ENTER,
    NO_CARD,
    REFILL_MARKET,
    REVEAL_CARD,
    ROLL_DIE,
    Task,
)
from referee.games.king_of_new_york.events import Bought, CardShown, Gained, Reshuffled, Swept
from referee.games.king_of_new_york.movement import anytime_actions, can_go, take_anytime_action
from referee.games.king_of_new_york.state import Position

_PAYMENTS: Final = tuple(Pay(life) for life in range(128))


def buy_menu(state: Position, task: Task) -> Menu:
    """Stop, or any card the seat can pay for, or a sweep."""
    seat = task[1]
    ruleset = state.ruleset
    cards = state.keep_cards[seat]
    menu: list[KingAction] = [PASS]
    if state.trades < ruleset.market_cap:
        funds = state.funds(seat)
        here = state.borough[seat]
        filled = False
        for card in state.market:
            if card != NO_CARD:
                filled = True
                if ruleset.prices[card][here] <= funds:
                    needed = ruleset.requires[card]
                    if needed < 0 or state.killed[needed]:
                        menu.append(ruleset.buys[card])
        if filled and ruleset.sweep_cost <= funds:
            menu.append(SWEEP)
        if cards & ruleset.abilities.scavenge.mask:
            found = state.discards & ruleset.keep_cards
            while found:
                bit = found & -found
                found ^= bit
                card = bit.bit_length() - 1
                if _scavenge_price(state, seat, card) <= funds:
                    menu.append(ruleset.scavenges[card])
    if state.rides or state.carapace[seat]:
        menu += anytime_actions(state, seat)
    return menu


def _scavenge_price(state: Position, seat: int, card: int) -> int:
    """What a card of the discard pile costs the owner of Scavenger."""
    discount = state.ruleset.abilities.scavenge.total(state.keep_cards[seat])
    return max(0, state.ruleset.prices[card][state.borough[seat]] - discount)


def buy(state: Position, task: Task, action: KingAction) -> None:
    """Buy or sweep and ask again, or stop."""
    if action is PASS:
        return
    seat = task[1]
    ruleset = state.ruleset
    if type(action) is Buy:
        card = ruleset.card_number[action.card]
        state.tasks.append(task)
        state.market[state.market.index(card)] = NO_CARD
        state.count_move_cost()
        _order(state, seat, card, ruleset.prices[card][state.borough[seat]], "market")
    elif type(action) is Scavenge:
        card = ruleset.card_number[action.card]
        cost = _scavenge_price(state, seat, card)
        state.tasks.append(task)
        state.discards &= ~(1 << card)
        _order(state, seat, card, cost, "discards")
    elif type(action) is Sweep:
        state.tasks.append(task)
        state.trades += 1
        state.log.append(event(Swept, seat))
        for slot, card in enumerate(state.market):
            if card != NO_CARD:
                state.discards |= 1 << card
                state.market[slot] = NO_CARD
        state.count_move_cost()
        state.tasks.append((REFILL_MARKET,))
        state.pay(seat, ruleset.sweep_cost)
    else:
        take_anytime_action(state, task, action)


def _order(state: Position, seat: int, card: int, cost: int, source: str) -> None:
    ruleset = state.ruleset
    state.trades += 1
    state.played |= 1 << card
    state.log.append(event(Bought, seat, ruleset.card_ids[card], cost, source))
    carry_out(ruleset.abilities.ordered[card], state, seat)
    effect: list[Task] = [(CARD_EFFECT, seat, card)]
    if not ruleset.keep_cards >> card & 1:
        effect.insert(0, (DISCARD_PLAYED, card))
    refill: list[Task] = [(REFILL_MARKET,)]
    if not ruleset.columbia_claim_persists:
        refill.insert(0, (END_CLAIMS,))
    state.tasks += [*effect, *refill] if ruleset.refill_before_effect else [*refill, *effect]
    state.pay(seat, cost)


def card_effect_step(state: Position, task: Task) -> None:
    """Let a bought card take effect. If its buyer is out by now, a Keep card goes to the discard pile."""
    _, seat, card = task
    bit = 1 << card
    if state.ruleset.keep_cards & bit:
        state.played &= ~bit
        if state.out[seat]:
            state.discards |= bit
        else:
            state.receive_card(seat, card)
    if not state.out[seat]:
        carry_out(state.ruleset.abilities.bought[card], state, seat)


def discard_played_step(state: Position, task: Task) -> None:
    """Put a Discard card on the discard pile after its effect."""
    state.played &= ~(1 << task[1])
    state.discards |= 1 << task[1]


def end_claims_step(state: Position, task: Task) -> None:
    """End claims to the next Keep card, without the option columbia_claim_persists."""
    state.claims = []


def refill_market_step(state: Position, task: Task) -> None:
    """Draw for the first empty slot. If the deck is empty, the discard pile becomes the deck."""
    if NO_CARD not in state.market:
        return
    if not state.deck:
        if not state.discards:
            return
        state.deck = state.discards
        state.discards = 0
        state.epoch += 1
        state.log.append(event(Reshuffled, state.deck.bit_count()))
    state.tasks.append(task)
    state.tasks.append((REVEAL_CARD, state.market.index(NO_CARD)))


def card_revealed(state: Position, task: Task, card: int) -> None:
    """Put a revealed card into the market; or give it to the seat with a claim to the next Keep card."""
    bit = 1 << card
    ruleset = state.ruleset
    state.deck &= ~bit
    if state.claims and ruleset.keep_cards & bit:
        seat = state.claims.pop(0)
        state.log.append(event(Bought, seat, ruleset.card_ids[card], 0, "free"))
        state.receive_card(seat, card)
        if ruleset.free_card_counts_as_bought:
            carry_out(ruleset.abilities.bought[card], state, seat)
        return
    slot = task[1]
    state.market[slot] = card
    if ruleset.abilities.move_cost[card]:
        state.count_move_cost()
    state.log.append(event(CardShown, slot, ruleset.card_ids[card]))


def pay_menu(state: Position, task: Task) -> Menu:
    """How much of a cost to pay with life, the least first. Nothing if the cost is not due any more."""
    if not _due(state):
        return ()
    _, seat, cost = task
    least = max(0, cost - state.energy[seat])
    most = min(cost, state.life[seat] - 1)
    return _PAYMENTS[least : most + 1]


def _due(state: Position) -> bool:
    """Whether what is paid for, the task below, still comes. A seat may have left the match since."""
    below = state.tasks[-2]
    if below[0] in (ENTER, ADVANCE):
        return can_go(state, below)
    if below[0] == ROLL_DIE:  # Ouch dice rolled again in spite of Jinx tokens
        return bool(state.owned & state.ruleset.abilities.jinx_tax)
    return True


def pay(state: Position, task: Task, action: KingAction) -> None:
    """Pay with life and energy. This is not damage."""
    if type(action) is Pay:
        _, seat, cost = task
        if action.life:
            state.life[seat] -= action.life
            state.log.append(event(Gained, seat, "life", -action.life, "cost"))
        state.lose_energy(seat, cost - action.life, "cost")
