"""A run in which a bot gets no answer from its provider: how often that makes a match void, and who reads of it."""

from typing import Any

import pytest

from leaderboard.run_table import run_table
from leaderboard.web.tables import Tables
from referee.errors import ConfigError
from referee.record import read_record
from referee.run.folder import RunFolder
from referee.run.journal import read_journal
from referee.run.run import Run
from referee.tournament.config import load_config
from referee.tournament.runner import FREE_PROVIDER_VOIDS

VOID = '[faults]\nprovider_errors = "void"\n'


def reasons(run_folder: Any, entry_id: str) -> list[str]:
    """Of the matches of this bot that count."""
    records = [read_record(path) for path in sorted(run_folder.matches.glob("*.gz"))]
    return [
        record.footer.reason
        for record in records
        if record.footer is not None and entry_id in [seat.entry_id for seat in record.header.seats]
    ]


def void_events(run_folder: Any) -> list[Any]:
    return [line.fields for line in read_journal(run_folder.journal).events if line.kind == "void"]


def test_a_provider_error_is_a_loss_unless_the_file_says_otherwise(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=2, blocks=1)
    run = play(cup, unanswered=cup.entries[0].id)
    assert (run.summary.void, run.summary.complete) == (0, True)
    assert reasons(run_folder, cup.entries[0].id) == ["provider_error"] * 2


def test_where_the_file_says_void_the_match_is_played_again_on_the_same_seed(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=2, blocks=1, more=VOID)
    out = cup.entries[0].id
    run = play(cup, unanswered=out, unanswered_at=lambda spec, attempt: spec.place == 0 and attempt == 1)
    assert (run.summary.void, run.summary.complete) == (1, True)
    assert reasons(run_folder, out) == ["normal"] * 2
    (event,) = void_events(run_folder)
    assert (event["reason"], event["provider_of"]) == ("provider_error_void", [out])
    (void,) = run_folder.path.glob("matches/void/*.gz")
    again = run_folder.records.find(event["match"])
    assert read_record(void).header.seed_commitment == read_record(again).header.seed_commitment


def test_the_last_attempt_at_a_match_is_not_void_for_a_provider_error(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=2, blocks=1, more=VOID)
    out = cup.entries[0].id
    run = play(cup, unanswered=out, unanswered_at=lambda spec, _: spec.place == 0)
    assert (run.summary.void, run.summary.complete, run.summary.given_up) == (2, True, ())
    assert sorted(reasons(run_folder, out)) == ["normal", "provider_error"]


def test_also_after_an_attempt_that_was_void_for_another_reason_the_last_one_counts(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=2, blocks=1, more=VOID)
    out = cup.entries[0].id
    script = {0: ["void"]}
    run = play(cup, script=script, unanswered=out, unanswered_at=lambda spec, attempt: spec.place == 0 and attempt > 1)
    assert (run.summary.void, run.summary.complete, run.summary.given_up) == (2, True, ())
    assert sorted(reasons(run_folder, out)) == ["normal", "provider_error"]


def test_a_bot_has_a_few_void_matches_in_a_run_and_then_loses(make_tournament: Any, play: Any, run_folder: Any) -> None:
    more = f"[breaker]\nenabled = false\n{VOID}"
    cup = make_tournament(bots=2, blocks=5, more=more)
    out = cup.entries[0].id
    run = play(cup, unanswered=out, unanswered_at=lambda _, attempt: attempt == 1)
    assert (run.summary.void, run.summary.complete) == (FREE_PROVIDER_VOIDS, True)
    assert sorted(reasons(run_folder, out)) == ["normal"] * FREE_PROVIDER_VOIDS + ["provider_error"] * (
        10 - FREE_PROVIDER_VOIDS
    )


def test_matches_that_are_in_play_at_once_do_not_make_more_void(
    make_tournament: Any, play: Any, run_folder: Any
) -> None:
    cup = make_tournament(bots=2, blocks=8, more=f"[breaker]\nenabled = false\n{VOID}")
    run = play(cup, slots=4, unanswered=cup.entries[0].id, unanswered_at=lambda _, attempt: attempt == 1)
    assert run.summary.complete
    assert 0 < run.summary.void <= FREE_PROVIDER_VOIDS


def test_a_run_that_is_taken_up_again_goes_on_counting(make_tournament: Any, play: Any, run_folder: Any) -> None:
    more = f"[breaker]\nenabled = false\n{VOID}"
    cup = make_tournament(bots=2, blocks=5, more=more)
    out = cup.entries[0].id
    play(cup, unanswered=out, unanswered_at=lambda spec, attempt: attempt == 1 and spec.place < 4)
    assert Run(run_folder).provider_voids == {out: 4}
    for record in run_folder.matches.glob("*.gz"):
        record.unlink()
    again = play(cup, unanswered=out, unanswered_at=lambda _, attempt: attempt == 1)
    assert again.summary.void == FREE_PROVIDER_VOIDS - 4


def test_the_organiser_reads_of_every_void_match_whose_it_was(make_tournament: Any, play: Any, run_folder: Any) -> None:
    cup = make_tournament(bots=2, blocks=1, more=VOID)
    out = cup.entries[0].id
    run = play(cup, unanswered=out, unanswered_at=lambda spec, attempt: spec.place == 0 and attempt == 1)
    (note,) = [note for note in run.log.notes if "is void" in note]
    assert "attempt 1 of 3" in note
    assert f"void for 'bot0' so far: 1 (limit {FREE_PROVIDER_VOIDS}, then it loses)" in note
    rows = {row.name: row.note for row in run_table(Run(run_folder)).rows}
    assert rows["bot0"] == "1 attempt was void because it got no answer from its provider"
    assert rows["bot1"] == ""
    shown = Tables().of(RunFolder(run_folder.path))
    assert {row.name: row.note for row in shown.table} == rows  # on pages, too


def test_another_word_is_refused(write_file: Any) -> None:
    path = write_file('game = "toy"\nseed = 1\nblocks = 1\n[faults]\nprovider_errors = "draw"\n')
    with pytest.raises(ConfigError, match=r"'faults\.provider_errors' must be loss or void, not 'draw'"):
        load_config(path)
