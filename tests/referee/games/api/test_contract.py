"""Events and state hashes."""

from dataclasses import dataclass

import pytest
from toy_game import GAME
from toy_game.rules import ToyState

from referee.games.api import Event, GameError, resolve_options, state_hash
from referee.games.api import errors as api_errors


@pytest.mark.parametrize(("viewer", "seen"), [(None, "a card"), (0, "a card"), (1, "the ace"), (2, "a card")])
def test_a_seat_gets_its_private_account_and_all_others_the_public_one(viewer: int | None, seen: str) -> None:
    assert Event("a card", {1: "the ace"}).seen_by(viewer) == seen


def fresh() -> ToyState:
    return GAME.new_initial_state(2, resolve_options("toy", GAME.options, {}))


def test_the_state_hash_is_32_hex_digits_that_equal_states_share() -> None:
    one, other = fresh(), fresh()
    assert state_hash(one) == state_hash(other) == state_hash(one.clone())
    assert len(state_hash(one)) == 32
    assert int(state_hash(one), 16) >= 0


def test_the_state_hash_changes_with_the_state() -> None:
    state = fresh()
    before = state_hash(state)
    state.apply_chance(3)
    assert state_hash(state) != before


def test_the_state_hash_does_not_depend_on_the_order_of_keys() -> None:
    @dataclass
    class Holder:
        data: dict[str, int]

        def to_dict(self) -> dict[str, int]:
            return self.data

    assert state_hash(Holder({"a": 1, "b": 2})) == state_hash(Holder({"b": 2, "a": 1}))  # type: ignore[arg-type]


def test_every_error_of_a_game_has_a_code_of_its_own() -> None:
    classes = [cls for cls in vars(api_errors).values() if isinstance(cls, type) and issubclass(cls, GameError)]
    assert len(classes) == 6
    assert len({cls.code for cls in classes}) == 6
