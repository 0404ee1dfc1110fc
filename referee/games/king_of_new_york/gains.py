"""VP, energy, life and tokens: gained, lost and paid."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.agenda import PAY
from referee.games.king_of_new_york.events import Gained, TokensChanged, event

if TYPE_CHECKING:
    from referee.games.king_of_new_york.box import Reward
    from referee.games.king_of_new_york.rules import KingState


def gain_vp(state: "KingState", seat: int, amount: int, cause: str) -> None:
    """Add VP."""
    state.vp[seat] += amount
    state.log.append(event(Gained, seat, "vp", amount, cause))


def lose_vp(state: "KingState", seat: int, amount: int, cause: str) -> int:
    """Take VP, never below 0; returns how many."""
    lost = min(amount, state.vp[seat])
    if lost:
        state.vp[seat] -= lost
        state.log.append(event(Gained, seat, "vp", -lost, cause))
    return lost


def gain_energy(state: "KingState", seat: int, amount: int, cause: str) -> None:
    """Add energy; the owner of Power Tap may take its share."""
    state.energy[seat] += amount
    state.log.append(event(Gained, seat, "energy", amount, cause))
    gained = state.gained[seat] + amount
    state.gained[seat] = gained
    if state.owned & state.box.abilities.tap:
        _tap(state, seat, gained if state.box.tap_cumulative else amount)


def _tap(state: "KingState", seat: int, gained: int) -> None:
    for owner, keep in enumerate(state.keep):
        if owner == seat or state.tapped >> seat & 1 or state.out[seat]:
            continue
        for bit, threshold, amount in state.box.abilities.taps:
            if keep & bit and gained >= threshold:
                state.tapped |= 1 << seat
                move_energy(state, seat, owner, amount, state.box.card_ids[bit.bit_length() - 1])


def lose_energy(state: "KingState", seat: int, amount: int, cause: str) -> int:
    """Take energy, never below 0; returns how much."""
    lost = min(amount, state.energy[seat])
    if lost:
        state.energy[seat] -= lost
        state.log.append(event(Gained, seat, "energy", -lost, cause))
    return lost


def move_energy(state: "KingState", source: int, target: int, amount: int, cause: str) -> None:
    """Hand energy over, as much as there is."""
    moved = lose_energy(state, source, amount, cause)
    if moved:
        gain_energy(state, target, moved, cause)


def life_cap(state: "KingState", seat: int) -> int:
    """The most life a seat may have."""
    abilities = state.box.abilities
    cap = state.box.max_life
    if state.keep[seat] & abilities.max_life.mask:
        cap += abilities.max_life.total(state.keep[seat])
    return cap


def heal(state: "KingState", seat: int, amount: int, cause: str) -> None:
    """Add life up to the cap; the rest is lost."""
    healed = min(amount, life_cap(state, seat) - state.life[seat])
    if healed > 0:
        state.life[seat] += healed
        state.log.append(event(Gained, seat, "life", healed, cause))


def cut_life(state: "KingState", seat: int, cause: str) -> None:
    """Life above the cap is lost when the cap falls."""
    over = state.life[seat] - life_cap(state, seat)
    if over > 0:
        state.life[seat] -= over
        state.log.append(event(Gained, seat, "life", -over, cause))


def gain_reward(state: "KingState", seat: int, reward: "Reward", cause: str) -> None:
    """VP, energy and life at once."""
    if reward.vp:
        gain_vp(state, seat, reward.vp, cause)
    if reward.energy:
        gain_energy(state, seat, reward.energy, cause)
    if reward.life:
        heal(state, seat, reward.life, cause)


def funds(state: "KingState", seat: int) -> int:
    """What a seat could pay: its energy, and life down to 1 where life counts as energy."""
    if state.keep[seat] & state.box.abilities.exchange:
        return state.energy[seat] + state.life[seat] - 1
    return state.energy[seat]


def pay(state: "KingState", seat: int, cost: int) -> None:
    """Pay now, or ask first how much of it with life. What is paid for must be on the agenda already."""
    if not cost:
        return
    if state.keep[seat] & state.box.abilities.exchange and state.life[seat] > 1:
        state.agenda.append((PAY, seat, cost))
    else:
        lose_energy(state, seat, cost, "cost")


def give_web(state: "KingState", seat: int) -> None:
    """One Web token, if one is left."""
    if state.web_left:
        state.web_left -= 1
        state.web[seat] += 1
        state.log.append(event(TokensChanged, seat, "web", 1))


def give_jinx(state: "KingState", seat: int) -> None:
    """One Jinx token, if one is left."""
    if state.jinx_left:
        state.jinx_left -= 1
        state.jinx[seat] += 1
        state.log.append(event(TokensChanged, seat, "jinx", 1))


def drop_web(state: "KingState", seat: int, amount: int) -> None:
    """Web tokens back to the supply."""
    if amount:
        state.web[seat] -= amount
        state.web_left += amount
        state.log.append(event(TokensChanged, seat, "web", -amount))


def drop_jinx(state: "KingState", seat: int, amount: int) -> None:
    """Jinx tokens back to the supply."""
    if amount:
        state.jinx[seat] -= amount
        state.jinx_left += amount
        state.log.append(event(TokensChanged, seat, "jinx", -amount))


def drop_carapace(state: "KingState", seat: int) -> int:
    """All Carapace tokens of a seat back to the supply; returns how many."""
    amount = state.carapace[seat]
    if amount:
        state.carapace[seat] = 0
        state.carapace_left += amount
        state.log.append(event(TokensChanged, seat, "carapace", -amount))
    return amount
