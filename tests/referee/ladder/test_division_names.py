"""Divisions by their names: a message reports one that was renamed in the ladder's file."""

from dataclasses import replace
from typing import Any


def begun(world: Any) -> list[str]:
    with world.division() as division:
        return list(division._observer.notes)


def test_a_division_that_begins_under_another_name_names_the_run_that_may_be_its_own(make_ladder: Any) -> None:
    world = make_ladder()
    assert begun(world) == []
    before = world.folder().path
    renamed = replace(world.config.divisions[0], name="cup")
    world.config = replace(world.config, divisions=(renamed,))
    [told] = begun(world)
    assert told.startswith(
        "a new division begins; if it was called 'toy' before, stop the ladder and give it that name"
    )
    assert str(before) in told
    assert begun(world) == [], "it has begun"


def test_a_second_division_of_the_same_game_is_not_one_that_was_renamed(make_ladder: Any) -> None:
    world = make_ladder()
    assert begun(world) == []
    first = world.config.divisions[0]
    world.config = replace(world.config, divisions=(replace(first, name="cup"), first))
    assert begun(world) == []
