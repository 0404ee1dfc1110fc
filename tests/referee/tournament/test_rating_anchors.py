"""Anchors of the ratings are in the journal, and may change at any time without another run."""

import pytest

from leaderboard.run_table import run_table
from referee.cli.standings import anchors_of
from referee.errors import UsageError
from referee.run.run import Run
from referee.tournament.entrants import load_tournament


def test_a_run_takes_anchors_that_were_changed_or_removed_since(make_tournament, write_file, play, run_folder):
    tournament = make_tournament(3, more="[ratings]\nanchor = { bot1 = 1000 }\n")
    ids = [entry.id for entry in tournament.entries]
    play(tournament)
    assert Run(run_folder).rating_anchors == {ids[1]: 1000}
    assert {row.entry_id: row.elo for row in run_table(Run(run_folder)).rows}[ids[1]] == 1000
    text = tournament.config.path.read_text()
    for anchor, expected in (("{ bot0 = 7, bot2 = 9 }", {ids[0]: 7, ids[2]: 9}), ("{}", {})):
        again = load_tournament(write_file(text.replace("{ bot1 = 1000 }", anchor)))
        assert play(again).summary.complete
        run = Run(run_folder)
        assert run.rating_anchors == expected
        assert run.state == "finished"
        elo = {row.entry_id: row.elo for row in run_table(run).rows}
        assert {entry_id: elo[entry_id] for entry_id in expected} == expected


def test_a_command_fixes_ratings_for_its_own_table_alone(make_tournament, play, run_folder):
    tournament = make_tournament(3)
    play(tournament)
    run = Run(run_folder)
    fixed = anchors_of(["bot2=1500"], run.participants)
    assert {row.name: row.elo for row in run_table(run, anchors=fixed).rows}["bot2"] == 1500
    assert {row.name: row.elo for row in run_table(run).rows}["bot2"] != 1500
    for word in ("bot2", "=3", "bot2=high", "bot2=nan", "bot9=3"):
        with pytest.raises(UsageError):
            anchors_of([word], run.participants)
