"""`crosstown compare`: which blocks count, what a round says, and what is refused."""

import json
import shutil
import tomllib
from dataclasses import asdict
from pathlib import Path

import pytest

from leaderboard.comparison import Comparison, comparison_of, round_score
from leaderboard.sequential import Question
from referee.cli import compare
from referee.cli.compare_pages import print_outcome
from referee.errors import UsageError
from referee.process.manifest import check_name
from referee.record.journal import FailedStart
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.formats.api import Block, BlockResult, Field, MatchScore, Variant
from referee.schedule.formats.comparison import FORMAT, blocks_in_round
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import seat_orders

BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"


def variant(players, teams=None):
    return Variant("toy", players, teams or tuple(range(players)), tuple(seat_orders(players)))


def field(bots, *variants, blocks=4):
    settings = {"low": 0.5, "high": 0.55, "alpha": 0.05, "beta": 0.05}
    return Field(tuple(f"bot{number}" for number in range(bots)), variants, 1, blocks, settings)


def blocks_of(entrants):
    return [result.block for result in simulate(FORMAT, entrants, lambda result, bots: range(1, len(bots) + 1))]


def played(block, orders, ranking_of, number=0):
    """A settled block; `ranking_of` gives the ranking for the bots in the order of their seats."""
    matches = []
    for order in orders:
        bots = tuple(block.group[member] for member in order)
        matches.append(
            MatchScore(0, "m", "toy", bots, tuple(map(str, bots)), tuple(range(len(bots))), ranking_of(bots))
        )
    return BlockResult(number, number * len(orders), block, tuple(matches))


def test_with_two_seats_a_round_is_one_block_of_both():
    entrants = field(2, variant(2))
    assert [(block.group, block.seed_group, block.round) for block in blocks_of(entrants)] == [
        ((0, 1), 0, 0),
        ((0, 1), 1, 1),
        ((0, 1), 2, 2),
        ((0, 1), 3, 3),
    ]
    assert blocks_in_round(entrants) == 1
    assert FORMAT.extent(entrants).most == 8


def test_with_more_seats_both_take_the_same_seat_field_and_seed_in_turn():
    entrants = field(5, variant(3))
    found = blocks_of(entrants)
    for a, b in zip(found[::2], found[1::2], strict=True):
        assert (a.group[0], b.group[0]) == (0, 1)
        assert a.group[1:] == b.group[1:]
        assert a.seed_group == b.seed_group
    assert [block.group[1:] for block in found[::2]] == [(2, 3), (2, 4), (3, 4), (2, 3)]
    assert len({block.seed_group for block in found}) == 4


def test_every_game_is_in_every_round_on_luck_of_its_own():
    entrants = field(4, variant(2), variant(3))
    assert blocks_in_round(entrants) == 3
    first = [block for block in blocks_of(entrants) if block.round == 0]
    assert [(block.variant, block.group) for block in first] == [(0, (0, 1)), (1, (0, 2, 3)), (1, (1, 2, 3))]
    assert first[0].seed_group != first[1].seed_group


@pytest.mark.parametrize(
    ("bots", "players", "problem"), [(2, 2, ""), (1, 2, "two bots"), (3, 3, "2 bots beside"), (4, 3, "")]
)
def test_too_small_a_field_is_refused(bots, players, problem):
    said = FORMAT.check(field(bots, variant(players)))
    assert problem in said
    assert bool(said) == bool(problem)


def test_the_score_of_a_block_of_two_is_its_mean():
    block = Block((0, 1))
    won_as_first = played(block, seat_orders(2), lambda bots: (1, 2))
    assert round_score([won_as_first]) == 0.5
    won_both = played(block, seat_orders(2), lambda bots: tuple(1 + bot for bot in bots))
    assert round_score([won_both]) == 1.0


def test_with_more_seats_the_difference_to_the_others_turn_counts():
    orders = seat_orders(3)
    a, b = Block((0, 2, 3)), Block((1, 2, 3))
    best = [played(a, orders, lambda bots: tuple(1 + sorted(bots).index(bot) for bot in bots))]
    last = [played(b, orders, lambda bots: tuple(3 if bot == 1 else bot - 1 for bot in bots))]
    assert round_score(best + last) == 1.0
    level = [played(b, orders, lambda bots: tuple(1 + sorted(bots).index(bot) for bot in bots))]
    assert round_score(best + level) == 0.5


def test_only_whole_rounds_count_and_the_verdict_comes_in_schedule_order():
    rule = Comparison(Question(0.5, 0.6), 2)
    orders = seat_orders(3)

    def a_turn(number):
        return played(Block((0, 2, 3), round=number), orders, lambda bots: tuple(1 + (bot != 0) for bot in bots))

    def b_turn(number):
        return played(Block((1, 2, 3), round=number), orders, lambda bots: tuple(1 + (bot == 1) for bot in bots))

    assert not rule(a_turn(0))
    assert rule.evidence.scores == []
    rule(b_turn(0))
    assert rule.evidence.scores == [1.0]
    rule(a_turn(1))  # its other block never became complete
    rule(a_turn(2))
    rule(b_turn(2))
    assert rule.evidence.scores == [1.0, 1.0]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("bots/ann", "bots/bob"), "no game to compare at"),
        (("bots/ann", "bots/bob", "--games", "toy", "--elo", "20", "10"), "the first number must be below the second"),
        (
            ("bots/ann", "bots/bob", "--games", "toy", "--elo", "-1e308", "1e308"),
            "--elo -1e+308 1e+308: the numbers are too large, or too close",
        ),
        (
            ("bots/ann", "bots/bob", "--games", "toy", "--scores", "-1e308", "1e308"),
            "the bounds must be 0 < low < high < 1",
        ),
        (("bots/ann", "bots/bob", "--games", "toy", "--players", "3"), "needs 3 bots, and 2 are named"),
        (("bots/ann", "bots/bob", "--games", "toy", "--alpha", "0.7"), "alpha must be"),
        (("bots/ann", "bots/bob", "--games", "toy", "--clock", "move_s"), "'move_s' is not NAME=VALUE"),
        (("bots/ann", "bots/bob", "--games", "toy", "--clock", "move_s=soon"), "'clock.move_s' must be"),
        (
            ("bots/ann", "bots/bob", "--games", "toy", "--provider-errors", "draw"),
            "'faults.provider_errors' must be loss or void, not 'draw'",
        ),
        (("bots/ann", "bots/nobody", "--games", "toy"), "nobody"),
        (("bots/ann", "bots/bob", "--games", "toy", "--field", "bots/bob"), "B (bots/bob) and a bot of --field"),
        (("bots/ann", "bots/bob", "--games", "chess"), "chess"),
        (("bots/ann", "bots/bob", "--games", "toy", "--openings", "book.epd"), "toy has no opening positions"),
        (("bots/ann", "bots/bob", "--games", "toy", "--out", "bots/ann/runs"), "holds the records of runs, "),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(crosstown, write_tournament, tmp_path, words, what):
    write_tournament()
    printed = crosstown("compare", *words)
    assert printed.code == 2
    assert what in printed.err
    assert "Traceback" not in printed.err
    assert "crosstown-" not in printed.err, "no file that nobody wrote is named"
    assert not list(tmp_path.glob("**/runs"))


def test_a_comparison_with_a_bot_that_does_not_start_says_why_and_asks_for_no_more_rounds(capsys):
    start = FailedStart("bb" * 8, "bob", 3, "m000000-aa", "", "exit code 3", "no weights")
    sides = {
        side: {"name": name, "entry_id": 2 * side * 8, "faults": {}} for side, name in (("a", "ann"), ("b", "bob"))
    }
    found = {
        **sides, "same_bot": False, "test": "betting",
        "games": "toy", "rounds": 0, "cap": 2, "matches": 0, "score": None, "verdict": "undecided",
        "bounds": [0.5, 0.55], "alpha": 0.05, "beta": 0.05, "evidence_for_accepting": 1.0,
        "evidence_for_rejecting": 1.0, "more_rounds": None, "set_aside": ["bob"], "failed_starts": [asdict(start)],
    }  # fmt: skip
    print_outcome(found)
    told = capsys.readouterr().out
    assert "bob did not start in 3 attempts; the last (m000000-aa): exit code 3" in told
    assert "    no weights" in told
    assert "'bob' was disqualified for its faults; correct the bot" in told
    assert "more rounds (a higher --cap" not in told


def test_the_cost_of_each_side_is_printed_where_it_asks_a_language_model(capsys):
    used = {
        "matches": 4, "requests": 12, "prompt_tokens": 9000, "reply_tokens": 300, "provider_errors": 1,
        "unreadable": 1, "wait_s": 20.0, "cost_dollars": 0.02,
    }  # fmt: skip
    found = {
        "a": {"name": "ann", "entry_id": "aa" * 8, "faults": {}, "usage": used},
        "b": {"name": "bob", "entry_id": "bb" * 8, "faults": {}, "usage": None},
        "same_bot": False, "test": "betting", "games": "toy", "rounds": 2, "cap": 2, "matches": 4, "score": None,
        "verdict": "undecided",
        "bounds": [0.5, 0.55], "alpha": 0.05, "beta": 0.05, "evidence_for_accepting": 1.0,
        "evidence_for_rejecting": 1.0, "more_rounds": None, "set_aside": [], "failed_starts": [],
    }  # fmt: skip
    print_outcome(found)
    told = capsys.readouterr().out
    assert "language model of ann: 12 requests, 2 failed, 9000 + 300 tokens, 20.0 s, $0.0200; $0.0050 a match" in told
    assert "language model of bob" not in told


@pytest.mark.parametrize(
    ("verdict", "bounds", "sentence"),
    [
        ("accepted", [0.5, 0.55], "accepted: A is better than B: it scores more than 0.500 (Elo +0) against B"),
        ("accepted", [0.55, 0.6], "accepted: A is better than B by more than 35 Elo: it scores more than 0.550"),
        ("accepted", [0.45, 0.5], "accepted: A is at most 35 Elo weaker than B: it scores more than 0.450"),
        ("rejected", [0.5, 0.55], "rejected: A is not better than B by 35 Elo: it scores less than 0.550 (Elo +35)"),
        ("rejected", [0.45, 0.5], "rejected: A is weaker than B: it scores less than 0.500"),
        ("rejected", [0.4, 0.45], "rejected: A is weaker than B by more than 35 Elo: it scores less than 0.450"),
    ],
)
def test_a_verdict_says_who_is_better_with_its_bound_and_promises_nothing_of_a_higher_cap(
    capsys, verdict, bounds, sentence
):
    sides = {side: {"name": side, "entry_id": "00" * 8, "faults": {}} for side in ("a", "b")}
    found = {
        **sides, "same_bot": False, "test": "betting",
        "games": "toy", "rounds": 7, "cap": 9, "matches": 14, "verdict": verdict, "bounds": bounds,
        "alpha": 0.05, "beta": 0.05, "score": 0.286, "interval": [0.096, 0.538], "confidence": 0.9, "elo": -159.0,
        "elo_interval": [-390.0, 26.0], "failed_starts": [], "set_aside": [], "more_rounds": None,
    }  # fmt: skip
    print_outcome(found)
    printed = capsys.readouterr().out
    assert sentence in printed
    assert "A scores 0.286; the 90% interval is 0.096 to 0.538" in printed
    assert "a higher --cap changes nothing" in printed
    assert "to halve" not in printed
    assert "LLR" not in printed


def test_the_sprt_is_printed_as_testers_of_engines_know_it_and_promises_no_more_than_it_keeps(capsys):
    sides = {side: {"name": side, "entry_id": "00" * 8, "faults": {}} for side in ("a", "b")}
    found = {
        **sides, "same_bot": False, "test": "sprt", "llr": 2.953, "llr_bounds": [-2.944, 2.944],
        "games": "openspiel/chess", "rounds": 700, "cap": 900, "matches": 1400, "verdict": "accepted",
        "bounds": [0.5, 0.51], "alpha": 0.05, "beta": 0.05, "score": 0.52, "interval": [0.49, 0.55],
        "confidence": 0.9, "elo": 14.0, "elo_interval": [-7.0, 35.0], "failed_starts": [], "set_aside": [],
        "more_rounds": None,
    }  # fmt: skip
    print_outcome(found)
    printed = capsys.readouterr().out
    assert "SPRT: LLR 2.95 (-2.94 to 2.94)" in printed
    assert "(wrong in about 5.0% of such comparisons)" in printed


def test_what_was_decided_about_a_comparison_is_continued_by_comparing_again(crosstown, tmp_path):
    shutil.copytree(BOTS / "random", tmp_path / "ann")
    words = ("compare", "ann", "ann", "--games", "toy", "--cap", "1", "--workers", "1", "--clock", "startup_s=60")
    assert crosstown(*words).code == 1
    run = next(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir())
    printed = crosstown("withdraw", run, "random A")
    assert "continue with: crosstown compare, with the same words as before" in printed.out
    printed = crosstown("extend", run, "--blocks", "1")
    assert "enter 'crosstown compare' again with the same bots and a higher --cap" in printed.err


def test_matches_of_a_bot_that_are_annulled_are_no_evidence(crosstown, tmp_path):
    shutil.copytree(BOTS / "random", tmp_path / "ann")
    words = ("compare", "ann", "ann", "--games", "shibuya", "--cap", "2", "--workers", "1", "--clock", "startup_s=60")
    assert json.loads(crosstown(*words, "--json").out)["rounds"] == 2
    run = next(path.name for path in (tmp_path / "runs").iterdir() if path.is_dir())
    assert crosstown("withdraw", run, "random A", "--choice", "annul").code == 0
    assert json.loads(crosstown(*words, "--json").out)["rounds"] == 0
    assert comparison_of(Run(tmp_path / "runs" / run), []).evidence.scores == []


def test_bots_that_need_files_memory_or_a_device_are_compared_with_these(crosstown, tmp_path):
    """As their tournament files say it, and not only the network and variables."""
    shutil.copytree(BOTS / "random", tmp_path / "ann")
    (tmp_path / "weights").write_text("1")
    words = ("compare", "ann", "ann", "--games", "toy", "--cap", "1", "--workers", "1", "--clock", "startup_s=60")
    more = ("--read", "weights", "--limit", "memory_mib=777", "--sandbox", "plain", "--device", "/dev/null")
    assert crosstown(*words, *more).code == 1
    run = next((tmp_path / "runs").glob("*/tournament.jsonl")).parent
    configuration = Run(RunFolder(run)).configuration
    assert configuration["limits"]["memory_mib"] == 777
    grants = configuration["bots"][0]["sandbox"]
    assert (grants["read"], grants["devices"]) == ([str(tmp_path / "weights")], ["/dev/null"])
    refused = crosstown(*words, "--limit", "memory_mib=1")
    assert (refused.code, "must be at least 4" in refused.err) == (2, True)


def test_a_bot_compared_with_itself_shows_what_chance_alone_does(crosstown, tmp_path):
    shutil.copytree(BOTS / "random", tmp_path / "ann")
    words = ("compare", "ann", "ann", "--games", "shibuya", "--cap", "2", "--workers", "1", "--clock", "startup_s=60")
    printed = crosstown(*words)
    assert printed.code == 1, printed.err
    assert "A: random A" in printed.out
    assert "A and B are the same bot, so that every difference between them is chance" in printed.out
    found = json.loads(crosstown(*words, "--json").out)
    assert (found["same_bot"], found["rounds"]) == (True, 2)
    assert found["a"]["entry_id"] != found["b"]["entry_id"]
    assert found["interval"][0] <= 0.5 <= found["interval"][1]


@pytest.mark.parametrize("name", ["\U0001f916 Bob", 'a\x7f "b\\\\c"\n\t\u2028 \ue000'])
def test_a_text_of_a_comparison_is_read_again_as_it_was(name):
    assert tomllib.loads(f"value = {compare._text(name)}") == {"value": name}
    assert tomllib.loads(compare._table("--option", "options", [f"name={name}"]))["options"] == {"name": name}


def test_a_path_of_a_comparison_that_is_no_text_is_refused():
    with pytest.raises(UsageError, match="not a path in UTF-8"):
        compare._text("bots/\udcff")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["x", "y"], ["x", "y"]),
        (["x", "x"], ["x A", "x B"]),
        (["x", "x", "x A", "x"], ["x A2", "x B", "x A", "x 4"]),
        (["x A", "x", "x"], ["x A", "x B", "x 3"]),
        (["n" * 64, "n" * 64], ["n" * 62 + " A", "n" * 62 + " B"]),
        (["n" * 61 + " bc", "n" * 61 + " bc"], ["n" * 61 + " A", "n" * 61 + " B"]),
    ],
)
def test_names_that_a_comparison_gives_are_short_enough_and_nobody_elses(names, shown):
    assert compare._names(names) == shown
    assert all(check_name(name) for name in shown)
