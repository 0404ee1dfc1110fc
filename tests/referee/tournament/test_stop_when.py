"""A run stops when its ranking is solid or precise enough, at the same match however it is interrupted."""

import json
import random
import shutil
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.completeness import gaps_of
from leaderboard.index import load_index
from leaderboard.results import result_of
from leaderboard.run_table import run_table
from leaderboard.stopping import StoppingRule, outlook_of, result_of_score
from referee.cli.app import run_command
from referee.errors import ConfigError, UsageError
from referee.record import read_record
from referee.record.journal import in_force
from referee.run.run import Run
from referee.schedule.formats.api import Block, BlockResult, MatchScore
from referee.schedule.stopping import parse_stop_when
from referee.tournament.config import load_config
from referee.tournament.entrants import load_tournament
from referee.tournament.joining import load_joining


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


@pytest.fixture
def go(play, run_folder):
    """go(tournament, kill_at=.., slots=..) plays by the rule of the file; returns what counts, by match id."""

    def run(tournament, kill_at: int | None = None, **keys):
        def order(spec):
            if spec.place == kill_at:
                raise Killed
            return random.Random(f"{keys.get('slots')} {spec.place}").randrange(9)

        when = tournament.config.stop_when
        rule = None if when is None else StoppingRule(when, [entry.name for entry in tournament.entries])
        with suppress(Killed):
            play(tournament, decide=rule, order=order, **keys)
        return {
            record.header.match_id: record.footer.ranking
            for path in run_folder.matches.glob("*.gz")
            if (record := read_record(path)).complete
        }

    return run


def started(run_folder) -> None:
    """The next run of the command begins as if there had been none."""
    shutil.rmtree(run_folder.path, ignore_errors=True)


@pytest.mark.parametrize("rule", ["precision 260 Elo", "ranking 62 %"])
def test_a_run_stops_at_the_same_match_however_it_is_interrupted(make_tournament, go, run_folder, rule):
    tournament = make_tournament(3, blocks=60, stop_when=rule)
    whole = go(tournament)
    assert 0 < len(whole) < 3 * 60 * 2
    run = Run(run_folder)
    (decided,) = [control for control in run.controls if control.kind == "decided"]
    assert decided.place == len(whole)
    for kills, slots in (((2, 5, len(whole) // 2, len(whole) - 1), 1), ((7, len(whole) - 3), 4), ((), 8)):
        started(run_folder)
        for place in kills:
            go(tournament, kill_at=place, slots=slots)
        assert go(tournament, slots=slots) == whole
        assert go(tournament) == whole, "it is over"


def test_what_is_reached_is_what_the_table_says(make_tournament, go, run_folder):
    go(make_tournament(3, blocks=90, stop_when="precision 260 Elo"))
    run = Run(run_folder)
    outlook = outlook_of(run, load_index(run_folder).rows)
    assert outlook is not None
    assert outlook.solid
    assert "reached after" in outlook.sentence
    assert max(1.96 * row.elo_error for row in run_table(run).rows) <= 260.1
    assert run.state == "finished"
    assert run.total == run_table(run).matches


def test_a_stricter_rule_goes_on_and_none_plays_all_with_what_was_played_in_front(
    make_tournament, write_file, go, run_folder
):
    tournament = make_tournament(3, blocks=20, stop_when="precision 330 Elo")
    text = tournament.config.path.read_text()
    first = go(tournament)
    with pytest.raises(UsageError, match="has stopped by its rule"):
        Run(run_folder).extend({"blocks": 5}, by="eve", reason="")
    stricter = go(load_tournament(write_file(text.replace("330 Elo", "270 Elo"))))
    assert stricter.items() > first.items()
    assert go(load_tournament(write_file(text.replace("330 Elo", "900 Elo")))).items() >= stricter.items()
    every = go(load_tournament(write_file(text.replace('stop_when = "precision 330 Elo"', ""))))
    assert every.items() > stricter.items()
    assert len(every) == 3 * 20 * 2
    assert go(load_tournament(write_file(text))) == every, "a run becomes no shorter"


@pytest.mark.parametrize("again", [False, True])
def test_no_match_is_missed_of_a_run_whose_rule_has_to_decide_again(make_tournament, go, run_folder, again):
    tournament = make_tournament(3, blocks=60, stop_when="precision 260 Elo")
    played = go(tournament)
    run = Run(run_folder)
    if again:
        run.rejudge(min(played), (1, 1), by="eve")
    else:
        run.annul(min(played), by="eve")
    assert not any(control.kind == "decided" for control in in_force(run.controls))
    assert (gaps_of(run).lost, run.finished) == (0, False)
    go(tournament)
    run = Run(run_folder)
    assert (gaps_of(run).lost, run.finished) == (0, True)


def test_a_weak_bot_is_told_apart_at_once_and_one_that_has_left_is_not_asked_for(make_tournament, go, run_folder):
    more = "[breaker]\nenabled = false\n"
    tournament = make_tournament(2, blocks=50, stop_when="ranking 95 %", more=more)
    played = go(tournament, crashes=tournament.entries[0].id)
    assert 4 <= len(played) <= 24
    assert [row.name for row in run_table(Run(run_folder)).rows] == ["bot1", "bot0"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('stop_when = "ranking 95"', "it must be ranking 95 % or precision 30 Elo, not 'ranking 95'"),
        ('stop_when = "ranking 40 %"', "between 50 % and 100 %"),
        ('stop_when = "ranking 9.5.1 %"', "it must be"),
        ('stop_when = "precision 0 Elo"', "above 0"),
        ("stop_when = 3", "'stop_when' must be a text"),
        ('stop_when = "ranking 95 %"\nformat = "swiss"', "a swiss has a table of its own"),
        ('stop_when = "ranking 95 %"\nformat = "knockout"', "a knockout has a table of its own"),
    ],
)
def test_rules_that_are_none_are_refused(make_tournament, write_file, line, what):
    text = make_tournament(4).config.path.read_text()
    with pytest.raises(ConfigError) as caught:
        load_config(write_file(f"{line}\n{text}"))
    assert what in str(caught.value)


def block(
    number: int, *ranks: int, present: tuple[int, ...] = (0, 1, 2), bots: tuple[int, ...] = (0, 1)
) -> BlockResult:
    entries = tuple("abc"[bot] for bot in bots)
    match = MatchScore(number, f"m{number}", "toy", bots, entries, tuple(range(len(bots))), ranks)
    return BlockResult(number, number, Block(bots), (match,), present)


def test_the_rule_waits_for_a_bot_without_a_block_but_not_for_one_that_has_left():
    rule = StoppingRule(parse_stop_when("ranking 90 %"), ["ann", "bob", "cyd"])
    for number in range(40):
        rule(block(number, 1, 2))
    assert not rule.outlook.solid
    assert "'cyd' has no complete block yet" in rule.outlook.sentence
    assert not rule(block(40, 1, 2, bots=(1, 2)))
    assert "'bob' is stronger than 'cyd' with" in rule.outlook.why
    rule(block(41, 1, 2, present=(0, 1)))
    assert rule.outlook.solid


def test_what_is_left_shrinks_and_is_not_said_of_bots_that_are_level():
    rule = StoppingRule(parse_stop_when("precision 100 Elo"), ["ann", "bob"])
    left = []
    for number in range(40):
        rule(block(number, *((1, 2) if number % 2 else (2, 1)), present=(0, 1)))
        left.append(rule.outlook.left)
    assert all(isinstance(number, int) for number in left)
    assert left[-1] < left[10]
    ranking = StoppingRule(parse_stop_when("ranking 99 %"), ["ann", "bob"])
    for number in range(40):
        ranking(block(number, *((1, 2) if number % 2 else (2, 1)), present=(0, 1)))
    assert ranking.outlook.left is None
    assert "no estimate yet" in ranking.outlook.sentence


@given(ranks=st.lists(st.integers(1, 3), min_size=2, max_size=4), data=st.data())
@settings(max_examples=20)
def test_a_score_of_the_schedule_says_what_its_record_says(ranks, data):
    teams = data.draw(st.lists(st.integers(0, 2), min_size=len(ranks), max_size=len(ranks)))
    ranks = [ranks[teams.index(team)] for team in teams]  # a team has one rank
    entries = tuple("abcd"[: len(ranks)])
    seats = tuple(
        SimpleNamespace(entry_id=entry, team=team, rank=rank)
        for entry, team, rank in zip(entries, teams, ranks, strict=True)
    )
    score = MatchScore(0, "m", "toy", tuple(range(len(ranks))), entries, tuple(teams), tuple(ranks))
    assert result_of_score(score) == result_of(SimpleNamespace(tournament="cup", seats=seats))


def test_a_command_says_what_is_left(make_tournament, play, run_folder, monkeypatch, capsys, tmp_path):
    play(make_tournament(3, blocks=2, stop_when="ranking 99.9 %"), decide=lambda _block: False)
    monkeypatch.chdir(tmp_path)
    assert run_command(["standings", "cup"]) == 0
    assert "stop_when: ranking 99.9 %: 'bot" in capsys.readouterr().out
    assert run_command(["standings", "cup", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stop_when"]["solid"] is False


def test_a_run_that_has_ended_takes_a_bot_when_it_is_longer_and_one_that_has_stopped_under_another_rule(
    make_tournament, write_file, write_bot, go, run_folder
):
    tournament = make_tournament(3, blocks=6, format="league")
    go(tournament)
    new = write_bot("new")
    run = Run(run_folder)
    joining = load_joining(run.journal, new, None)
    with pytest.raises(UsageError, match="the schedule of this run has ended") as caught:
        run.add(joining, by="eve")
    assert "crosstown extend RUN" in caught.value.next_step
    run.extend({"blocks": 6}, by="eve", reason="")
    run.add(joining, by="eve")
    started(run_folder)
    stopped = make_tournament(3, blocks=60, stop_when="precision 330 Elo")
    go(stopped)
    run = Run(run_folder)
    with pytest.raises(UsageError, match="this run has stopped by its rule") as caught:
        run.add(joining, by="eve")
    assert "stop_when" in caught.value.next_step


@pytest.mark.parametrize("rule", ["precision 400 Elo", "ranking 51 %"])
def test_a_rule_is_not_reached_and_breaks_nothing_when_no_bot_of_a_table_is_left(rule):
    stop = StoppingRule(parse_stop_when(rule), ["ann", "bob", "cyd", "dan"])

    def block(number, game, pair, present):
        scores = [
            MatchScore(
                2 * number + place, f"m{number}{place}", game, seats, tuple(f"e{bot}" for bot in seats), (0, 1), (1, 2)
            )
            for place, seats in enumerate((pair, pair[::-1]))
        ]
        return BlockResult(number, 2 * number, Block(pair), tuple(scores), present)

    assert not stop(block(0, "toy", (0, 1), ()))
    assert stop.outlook.sentence == f"{parse_stop_when(rule)}: no bot is left; no estimate yet"
    for number in range(1, 40):
        stop(block(number, "other", (2, 3), (2, 3)))
    assert stop.outlook.solid == rule.startswith("precision"), "the other table decides"
    assert "toy" not in stop.outlook.why
