"""Bots that keep a worker busy until it dies: their match is their loss. Where nobody did that it is void."""

import json
from typing import Any

import pytest

from referee.record import read_record
from referee.record.reasons import EndReason
from referee.run.journal import read_journal
from referee.schedule.schedule import known_matches
from referee.schedule.spec import MatchSpec
from referee.tournament import worker
from referee.tournament.identity import config_of
from referee.tournament.worker import floods_since

S = 1_000_000_000


def test_a_match_whose_worker_a_bot_flooded_is_its_loss_and_counts_for_the_breaker(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=3, blocks=3)
    flooder = cup.entries[0].id
    run = play(cup, floods=flooder)
    records = [read_record(path) for path in run_folder.matches.glob("*.gz")]
    of_it = [record for record in records if flooder in [seat.entry_id for seat in record.header.seats]]
    assert {record.footer and record.footer.reason for record in of_it} == {EndReason.DISCONNECTED}
    for record in of_it:
        seat = [seat.entry_id for seat in record.header.seats].index(flooder)
        assert record.footer is not None
        assert record.footer.ranking == ((2, 1), (1, 2))[seat]
    assert (run.summary.void, run.summary.complete, run.summary.given_up) == (len(of_it), True, ())
    assert run.summary.set_aside == ("bot0",)
    voids = [line.fields for line in read_journal(run_folder.journal).events if line.kind == "void"]
    assert {tuple(fields["flood"])[1] for fields in voids} == {"reading what it sent took all of the referee's time"}
    assert sum("loses match" in note and note.startswith("'bot0'") for note in run.log.notes) == len(of_it)


@pytest.mark.parametrize("deed", ["floods", "starved"])
def test_a_run_that_is_resumed_remembers_who_flooded_its_worker_and_for_whom_memory_was_short(
    make_tournament: Any, play: Any, run_folder: Any, deed: str
) -> None:
    cup = make_tournament(bots=2, blocks=2)
    deeds = {deed: cup.entries[1].id}
    play(cup, **deeds)
    for path in run_folder.matches.glob("*.gz"):
        path.unlink()
    again = play(cup, **deeds)
    assert (again.summary.void, again.summary.complete) == (0, True)


def test_a_match_whose_worker_died_while_nobody_flooded_it_is_void(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    run = play(make_tournament(bots=2, blocks=1), script={0: ("lost", "rated")})
    assert (run.summary.void, run.summary.complete, run.summary.set_aside) == (1, True, ())
    voids = [line.fields for line in read_journal(run_folder.journal).events if line.kind == "void"]
    assert "flood" not in voids[0]


@pytest.mark.parametrize(
    ("before", "now", "seat"),
    [
        ([0, 0], [S // 10, S // 20], None),
        ([0, 0], [S // 10, 6 * S // 10], 1),
        ([5 * S, 0], [5 * S + 6 * S // 10, S // 10], 0),
        ([9 * S, 9 * S], [9 * S, 9 * S], None),
    ],
    ids=["as usual", "one floods", "what was before counts not", "a flood of old"],
)
def test_who_takes_most_of_a_workers_time_between_two_beats_floods_it(
    before: list[int], now: list[int], seat: int | None
) -> None:
    found = floods_since({"m": before, "over": [0]}, {"m": now, "new": [S]}, S)
    assert {match_id: flood[0] for match_id, flood in found.items()} == ({} if seat is None else {"m": seat})
    if seat is not None:
        assert found["m"][1].startswith("reading what it sent took 60% of the referee's time for 1.0 s")


def test_a_specification_keeps_who_loses_at_once_on_its_way_to_a_worker(make_tournament: Any, luck: Any) -> None:
    spec = next(known_matches(config_of(make_tournament(bots=2)), luck))
    values = {**json.loads(spec.to_json()), "forfeits": [[1, "flooded"]]}
    assert MatchSpec.from_json(json.dumps(values)).forfeits == ((1, "flooded"),)
    assert MatchSpec.from_json(spec.to_json()).forfeits == ()


def test_a_worker_knows_how_much_memory_it_has() -> None:
    before_mib = worker.memory_mib()
    held = bytearray(64 << 20)
    assert 50 < worker.memory_mib() - before_mib < 80
    assert before_mib + len(held) >> 20 < worker.MOST_MEMORY_MIB
