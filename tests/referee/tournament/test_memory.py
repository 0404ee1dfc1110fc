"""Memory of a run: limits that fit together, and matches that are void because the machine had none left."""

from dataclasses import replace
from typing import Any

import pytest

from referee.errors import PlatformError
from referee.ladder.config import default_ladder
from referee.ladder.runner import memory_of
from referee.process.limits import Room
from referee.record import read_record
from referee.record.reasons import EndReason
from referee.run.journal import read_journal
from referee.schedule.schedule import known_matches
from referee.tournament.identity import config_of
from referee.tournament.resources import share_memory

ROOM = Room(1000, "the control group of the referee (x)")


def test_limits_that_do_not_fit_together_are_lowered_and_the_organiser_hears_it(make_tournament: Any) -> None:
    most_mib, sentence = share_memory(make_tournament(bots=3), 2, ROOM)
    assert most_mib == (1000 - 3 * 128) // 4
    assert sentence == (
        "memory_mib is lowered to 154, so that all limits together fit: the control group of the referee (x) has 1000"
        " MiB, the referee keeps 384, 4 bots play at once; use fewer --workers for more"
    )


def test_a_ladder_says_what_it_lowers(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(default_ladder(tmp_path, None), workers=2)
    monkeypatch.setattr("referee.ladder.runner.memory_room", lambda: Room(64_000, "this machine"))
    assert memory_of(config) == (0, "")
    monkeypatch.setattr("referee.ladder.runner.memory_room", lambda: ROOM)
    most_mib, sentence = memory_of(config)
    assert 64 <= most_mib < 2048
    assert sentence.startswith(f"memory_mib is lowered to {most_mib}, so that all limits together fit: ")
    assert sentence.endswith("use fewer workers for more")


def test_who_has_one_worker_is_not_told_to_use_fewer(make_tournament: Any) -> None:
    _, sentence = share_memory(make_tournament(bots=3), 1, ROOM)
    assert sentence.endswith("2 bots play at once; give the referee more memory")


def test_limits_that_fit_stay_and_nothing_is_said(make_tournament: Any) -> None:
    assert share_memory(make_tournament(bots=3), 1, Room(8192, "this machine")) == ((8192 - 256) // 2, "")


def test_a_run_is_refused_where_no_bot_could_start(make_tournament: Any) -> None:
    with pytest.raises(PlatformError, match=r"each bot could have 10 MiB of memory, and needs 64 MiB") as caught:
        share_memory(make_tournament(bots=3), 2, Room(424, "this machine"))
    assert caught.value.next_step == "use fewer --workers, or give the referee more memory"


@pytest.mark.parametrize(("limit", "own"), [(2048, 0), (300, 4096), (300, 200)])
def test_no_seat_has_more_than_the_most(make_tournament: Any, limit: int, own: int) -> None:
    spec = next(known_matches(config_of(make_tournament(bots=2))))
    mine = replace(spec.seats[0], clock={"memory_mib": own, "move_s": 3.0})
    spec = replace(spec, limits=replace(spec.limits, memory_mib=limit), seats=(mine, spec.seats[1]))
    within = spec.within_memory(500)
    assert within.limits_of(0).memory_mib == (own if 0 < own <= 500 else 500)
    assert within.limits_of(1).memory_mib == min(limit, 500)
    assert within.limits_of(0).move_s == 3.0
    assert spec.within_memory(0) is spec


def test_after_two_matches_void_for_want_of_memory_the_third_counts_against_the_bot(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=3, blocks=2)
    starved = cup.entries[0].id
    run = play(cup, starved=starved)
    assert (run.summary.void, run.summary.complete, run.summary.given_up) == (2, True, ())
    voids = [line.fields for line in read_journal(run_folder.journal).events if line.kind == "void"]
    assert [fields["memory_of"] for fields in voids] == [starved, starved]
    records = [read_record(path) for path in run_folder.matches.glob("*.gz")]
    of_it = [record.footer for record in records if starved in [seat.entry_id for seat in record.header.seats]]
    assert (len(of_it), run.summary.set_aside) == (3, ("bot0",))  # the breaker counts them as faults
    assert {footer and footer.reason for footer in of_it} == {EndReason.OUT_OF_MEMORY}
