"""A remote bot that is awaited delays its own matches, whatever the format."""

from collections import Counter

import pytest

from referee.schedule.formats.registry import OWN
from referee.schedule.schedule import Schedule
from referee.tournament.identity import config_of

FORMATS = {
    "round-robin": ("round-robin", ""),
    "gauntlet": ("gauntlet", '[gauntlet]\nchallengers = ["bot1"]\n'),
    "swiss": ("swiss", "[swiss]\nrounds = 3\n"),
    "fide": ("swiss", '[swiss]\nrounds = 3\npairing = "fide"\n'),
    "knockout": ("knockout", ""),
    "double": ("knockout", "[knockout]\ndouble = true\n"),
    "league": ("league", ""),
    "stages": ("stages", '[[stages]]\ngroups = 2\nadvance = 1\n[[stages]]\nformat = "knockout"\n'),
}
"""Those with more than two bots, each with what the tournament file says of it."""


@pytest.fixture
def cup(make_tournament):
    """cup(5, "double") is a tournament of so many bots."""

    def make(bots, name):
        style, more = FORMATS[name]
        return make_tournament(bots, format=style, more=more)

    return make


def test_every_format_for_more_than_two_is_tried():
    """In a comparison the same bots play all matches."""
    assert {style for style, _ in FORMATS.values()} == {*OWN} - {"compare"}


@pytest.mark.slow
@pytest.mark.parametrize("style", FORMATS)
def test_others_play_all_that_does_not_need_its_results(cup, play, style):
    """Its first match ends long after all matches of others that the schedule has without a result."""
    tournament = cup(5, style)
    schedule = Schedule(config_of(tournament))
    known = []
    while (spec := schedule.next()) is not None:
        known.append(spec)
    assert known
    names = Counter(seat.name for spec in known for seat in spec.seats)
    away = min(names, key=lambda name: names[name])
    awaited = {spec.place for spec in known if away in {seat.name for seat in spec.seats}}
    assert awaited < {spec.place for spec in known}
    run = play(
        tournament,
        slots=3,
        remote=frozenset({away}),
        order=lambda spec: 3000 if away in {seat.name for seat in spec.seats} else 1,
    )
    assert run.summary.complete
    first = next(number for number, place in enumerate(run.executor.ended) if place in awaited)
    assert set(run.executor.ended[:first]) >= {spec.place for spec in known} - awaited


@pytest.mark.slow
def test_matches_that_wait_cost_nothing_at_each_that_begins(make_tournament, play):
    tournament = make_tournament(3, blocks=40)
    away = tournament.entries[0].name
    run = play(
        tournament,
        slots=3,
        remote=frozenset({away}),
        order=lambda spec: 100 if away in {seat.name for seat in spec.seats} else 1,
    )
    assert run.summary.complete
    assert run.executor.asked < 20 * run.summary.total


@pytest.mark.parametrize("style", ["gauntlet", "swiss", "fide", "knockout", "double", "stages"])
def test_two_that_never_come_are_disqualified_and_the_others_play_on(cup, play, style):
    """The last attempt at the match of one is over before the breaker can say that it is out: the breaker judges in
    the order of the schedule, and an earlier match of the other is not over yet."""
    tournament = cup(6, style)
    first, second = tournament.entries[5], tournament.entries[4]
    run = play(
        tournament,
        slots=4,
        absent={first.id, second.id},
        remote=frozenset({first.name, second.name}),
        absent_for=lambda spec: 9 if first.id in {seat.entry_id for seat in spec.seats} else 1,
    )
    assert (run.summary.given_up, run.summary.complete) == ((), True)
    assert set(run.summary.set_aside) <= {first.name, second.name}
