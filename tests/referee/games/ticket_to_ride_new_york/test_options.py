"""Every option: documented, validated, and without effect on the others. What each does is tested with its rule."""

import json
from typing import Any

import pytest

from referee.games.api import OptionError, resolve_options
from referee.games.ticket_to_ride_new_york import GAME

from . import recorded
from . import situations as sit


def test_the_defaults_are_those_of_the_rules_sheet() -> None:
    assert {option.name: option.default for option in GAME.options} == {
        "first_player": "seat_0",
        "reshuffle": "lazy",
        "flush_test": "whenever",
        "flushed_cards": "discarded",
        "endless_flush": "non_taxi_count",
        "second_card_required": True,
        "one_card_draw": True,
        "passing": "only_if_stuck",
        "short_row_refill": "after_claim",
        "setup_return_order": "seat",
        "last_turn_claims": True,
        "last_turn_tickets": True,
    }


def test_every_option_is_documented_with_its_confidence() -> None:
    for option in GAME.options:
        assert option.doc.endswith(".")
        assert option.confidence in ("NY", "BASE", "BGA", "INF", "OURS")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"reshuffle": "never"}, "'reshuffle' must be one of lazy, at_once"),
        ({"second_card_required": 1}, "'second_card_required' must be true or false"),
        ({"no_such": 1}, "no option 'no_such'"),
    ],
)
def test_other_values_are_refused(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        resolve_options(GAME.id, GAME.options, chosen)


@pytest.mark.parametrize("option", [{"reshuffle": "at_once"}, {"flushed_cards": "set_aside"}])
def test_what_could_go_on_for_ever_is_refused_with_the_reason(option: dict[str, str]) -> None:
    for ask in (GAME.new_initial_state, GAME.max_decisions):
        with pytest.raises(OptionError, match="only with endless_flush=three_flushes"):
            ask(2, sit.options(**option))
    GAME.new_initial_state(2, sit.options(**option, endless_flush="three_flushes"))


def other_values() -> list[dict[str, Any]]:
    """Each option with each value that is not its default, with what it needs."""
    found: list[dict[str, Any]] = []
    for option in GAME.options:
        values = option.choices or (True, False)
        for value in values:
            if value != option.default:
                needs = {"endless_flush": "three_flushes"} if value in ("at_once", "set_aside") else {}
                found.append({option.name: value, **needs})
    return found


@pytest.mark.slow
@pytest.mark.parametrize("chosen", other_values(), ids=str)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_matches_end_under_every_option(chosen: dict[str, Any], players: int) -> None:
    options = sit.options(**chosen)
    for temper in recorded.TEMPERS:
        decisions = 0
        for match in recorded.play(players, options, 1, temper):
            decisions += len(match.state.decisions())
            assert GAME.conserved(match.state) == GAME.conserved(GAME.new_initial_state(players, options))
        assert match.state.is_terminal()
        assert decisions <= GAME.max_decisions(players, options)


def test_options_are_part_of_the_state_and_survive_the_record() -> None:
    options = sit.options(endless_flush="three_flushes", reshuffle="at_once")
    state = GAME.new_initial_state(3, options)
    stored = json.loads(json.dumps(state.to_dict()))
    assert stored["options"] == options
    assert GAME.state_from_dict(stored).rules.reshuffle_at_once


@pytest.mark.parametrize(("players", "most"), [(2, 202), (3, 308), (4, 444)])
def test_how_long_a_match_can_be_by_proof(players: int, most: int) -> None:
    assert GAME.max_decisions(players, sit.options()) == most
