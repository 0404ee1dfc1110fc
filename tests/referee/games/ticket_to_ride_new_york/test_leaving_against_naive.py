"""At the nodes of random matches each seat leaves a copy of it: compared with a naive second reckoning."""

from types import ModuleType
from typing import Any

import pytest

from referee.games.ticket_to_ride_new_york.stages import OVER, STAGES

VARIANTS: list[dict[str, Any]] = [
    {},
    {"first_player": "random", "passing": "always"},
    {"second_card_required": False, "last_turn_claims": False, "last_turn_tickets": False},
]


def leave(naive: ModuleType, state: Any, seat: int) -> Any:
    after = state.clone()
    told = [event.public.KIND for event in after.withdraw(seat)]
    assert told[0] == "seat_left"
    assert after.to_dict() == naive.after_leaving(state.to_dict(), seat), (seat, state.stage)
    assert seat not in [decision.seat for decision in after.decisions()]
    return after


def compare(naive: ModuleType, taped: ModuleType, options: dict[str, Any], players: int, seed: int) -> set[str]:
    """Every seat leaves, and then every other one; the stages in which that was compared."""
    stages = set()
    temper = taped.TEMPERS[seed % len(taped.TEMPERS)]
    for number, match in enumerate(taped.play(players, options, seed, temper, leaving=0.004)):
        state = match.state
        if state.is_terminal() or (state.stage in ("turn", "refill") and number % 5):
            continue
        stages.add(state.stage)
        for seat in [seat for seat in range(players) if seat not in state.left]:
            after = leave(naive, state, seat)
            for other in [other for other in range(players) if other not in after.left]:
                if not after.is_terminal():
                    leave(naive, after, other)
    return stages


@pytest.mark.parametrize("given", VARIANTS, ids=["defaults", "passing", "short_turns"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whoever_leaves_at_whatever_node_both_implementations_agree(
    sit: ModuleType, naive: ModuleType, taped: ModuleType, players: int, given: dict[str, Any]
) -> None:
    stages = set()
    for seed in range(8):
        stages |= compare(naive, taped, sit.options(**given), players, seed)
    assert stages == set(STAGES) - {OVER} - (set() if "first_player" in given else {"lot"})


@pytest.mark.long
@pytest.mark.parametrize("given", VARIANTS, ids=["defaults", "passing", "short_turns"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whoever_leaves_in_many_matches_both_implementations_agree(
    sit: ModuleType, naive: ModuleType, taped: ModuleType, players: int, given: dict[str, Any]
) -> None:
    for seed in range(100, 300):
        compare(naive, taped, sit.options(**given), players, seed)
