"""What a run says of bots that start slowly or not at all: once, and with the reason."""

import pytest

from referee.record.journal import slow_start
from referee.run.journal import read_journal


@pytest.mark.parametrize(("took_s", "warned"), [(6.9, False), (7.1, True), (9.9, True)])
def test_more_than_70_percent_of_the_start_up_limit_is_a_warning(took_s: float, warned: bool) -> None:
    assert bool(slow_start("ann", int(took_s * 1e6), 10.0)) is warned


def test_a_slow_start_is_warned_of_once_for_each_bot(make_tournament, play) -> None:
    run = play(make_tournament(blocks=2), startup_us=(8_000_000, 100_000))
    warnings = [note for note in run.log.notes if note.startswith("warning: ")]
    assert len(warnings) == len(set(warnings)) == 2
    assert "took 8.0 s to start, of the 10 s that startup_s allows" in warnings[0]


def test_why_a_bot_did_not_start_is_told_once_and_stands_in_the_journal(make_tournament, play, run_folder) -> None:
    tournament = make_tournament(blocks=2)
    run = play(tournament, absent=tournament.entries[1].id)
    told = [note for note in run.log.notes if "did not start (match" in note]
    assert len(told) == 1
    assert run.log.notes[run.log.notes.index(told[0]) + 1] == "    no weights"
    voids = [line for line in read_journal(run_folder.journal).events if line.kind == "void"]
    assert len(voids) >= 3
    assert {why for line in voids for _, why in line.fields["failed_starts"]} == {"it does not start"}
    assert {tuple(line.fields["last_output"].values()) for line in voids} == {("no weights",)}
