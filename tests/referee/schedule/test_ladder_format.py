"""The schedule of a ladder's division: blocks are events of its journal, and bots come, go and return meanwhile."""

import pytest

from referee.record.journal import Control, departures, in_force
from referee.schedule.config import decided_block, schedule_config, seat_spec
from referee.schedule.formats.registry import format_names, get_format
from referee.schedule.schedule import Schedule, matches_of
from referee.schedule.seeds import MatchSeeds

CONFIGURATION = {
    "name": "toy",
    "games": [{"game": "toy", "options": {}, "players": [2, 3]}],
    "format": "ladder",
    "settings": {},
    "seed": 1,
    "blocks": 1,
    "bots": [],
}


def seats(*names):
    return [seat_spec({"entry_id": name, "name": name, "version": "1"}) for name in names]


def block(number, *group, **more):
    fields = {"number": number, "variant": 0, "group": list(group), "seed_group": number, "reason": "", "seen": 1}
    return decided_block(fields | more)


def schedule(*blocks, controls=(), names="abcd", seeds=None):
    return Schedule(schedule_config(CONFIGURATION, seats(*names), blocks), controls, seeds=seeds)


def played(made):
    """The matches of a schedule that are still to be played."""
    return ["".join(seat.name for seat in spec.seats) for spec in matches_of(made) if not made.out(spec)]


def test_a_tournament_file_cannot_name_the_format():
    assert "ladder" not in format_names()
    assert get_format("ladder").journalled


def test_blocks_come_from_the_journal_in_its_order():
    made = schedule(block(0, "c", "a"), block(1, "a", "b"))
    assert played(made) == ["ca", "ac", "ab", "ba"]
    assert not made.ended, "there may be more of them at any time"


def test_a_variant_says_how_many_seats_a_block_has():
    assert sorted(played(schedule(block(0, "a", "b", "c", variant=1)))) == ["abc", "acb", "bac", "bca", "cab", "cba"]


def test_matches_of_a_block_share_a_seed_or_have_one_each():
    luck = MatchSeeds(1, (b"s" * 16,))
    shared = list(matches_of(schedule(block(0, "a", "b"), block(1, "a", "b"), seeds=luck)))
    assert [spec.block for spec in shared] == [0, 0, 1, 1]
    own = [block(0, "a", "b", own_seeds=True), block(1, "a", "b", seed_group=2, own_seeds=True)]
    apart = list(matches_of(schedule(*own, seeds=luck)))
    assert [spec.block for spec in apart] == [0, 1, 2, 3]
    assert len({spec.seed for spec in apart}) == 4
    assert len({spec.seed for spec in shared}) == 2


def test_the_extent_is_what_was_decided_so_far():
    config = schedule_config(
        CONFIGURATION, seats("a", "b", "c"), [block(0, "a", "b"), block(1, "a", "b", "c", variant=1)]
    )
    assert (config.extent().least, config.extent().most) == (8, 8)


def test_blocks_and_bots_are_taken_while_the_schedule_is_gone_through():
    made = schedule(block(0, "a", "b"), names="ab")
    first = [made.next(), made.next()]
    assert made.next() is None
    made.join(seats("e")[0])
    made.decide(block(1, "e", "a"))
    later = [made.next(), made.next()]
    assert ["".join(seat.name for seat in spec.seats) for spec in (*first, *later)] == ["ab", "ba", "ea", "ae"]
    again = schedule(block(0, "a", "b"), block(1, "e", "a"), names="abe")
    assert [spec.match_id for spec in matches_of(again)] == [spec.match_id for spec in (*first, *later)]


@pytest.mark.parametrize("kind", ["replaced", "paused"])
def test_a_bot_that_is_replaced_or_paused_plays_the_blocks_that_it_is_in(kind):
    blocks = block(0, "a", "b"), block(1, "a", "c")
    assert played(schedule(*blocks, controls=[Control(kind, 2, entry_id="a")])) == ["ab", "ba"]
    assert played(schedule(*blocks, controls=[Control(kind, 4, entry_id="a")])) == ["ab", "ba", "ac", "ca"]


def test_a_bot_that_left_plays_nothing_more():
    assert played(schedule(block(0, "a", "b"), controls=[Control("withdrawn", 2, entry_id="a")])) == []


def test_a_bot_that_returned_plays_from_there_on_and_not_what_it_missed():
    controls = [Control("breaker", 1, entry_id="a"), Control("returned", 4, entry_id="a")]
    made = schedule(block(0, "a", "b"), block(1, "b", "c"), block(2, "a", "c"), controls=controls)
    assert played(made) == ["bc", "cb", "ac", "ca"]
    assert [control.kind for control in in_force(controls)] == ["breaker", "returned"]
    assert departures(controls) == {}
    assert made.set_aside == ()


def test_a_bot_can_leave_and_return_several_times():
    kinds = [("paused", 2), ("returned", 4), ("breaker", 5), ("returned", 6), ("paused", 8)]
    controls = [Control(kind, place, entry_id="a") for kind, place in kinds]
    made = schedule(*(block(number, "a", "b") for number in range(5)), controls=controls)
    # 4 and 5 are before the return from the breaker, which takes out all that was not played until then
    assert [spec.place for spec in matches_of(made) if not made.out(spec)] == [6, 7]
    assert {entry: control.kind for entry, control in departures(controls).items()} == {"a": "paused"}


def test_a_match_beyond_the_breaker_does_not_count_until_the_bot_returned():
    made = schedule(*(block(number, "a", "b") for number in range(3)))
    specs = [made.next() for _ in range(6)]
    made.control(Control("breaker", 2, entry_id="a"))
    made.control(Control("returned", 4, entry_id="a"))
    for spec in specs:
        made.settle(spec, (1, 2))
    assert [settled.late for settled in made.in_order()] == [False, False, True, True, False, False]


def test_a_return_without_a_departure_changes_nothing():
    assert played(schedule(block(0, "a", "b"), controls=[Control("returned", 0, entry_id="a")])) == ["ab", "ba"]
