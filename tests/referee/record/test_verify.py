"""Verifying: an honest record passes; a forged one is caught at its line, even with its chain made anew."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.games.registry import get_game
from referee.record import read_record, verify

Start = Callable[..., Any]


def test_an_honest_record_is_ok(closed: Path) -> None:
    verdict = verify(closed)
    assert (verdict.status, verdict.problem, verdict.match_id) == ("ok", "", "m-1")


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rng_seed", range(8))
def test_any_match_is_ok(start_match: Start, players: int, rng_seed: int) -> None:
    match = start_match(players=players, rng_seed=rng_seed)
    match.play()
    assert verify(match.writer.close(match.footer())).status == "ok"


def test_a_match_in_progress_is_unfinished(start_match: Start) -> None:
    match = start_match()
    match.play(decisions=5)
    assert verify(match.writer.path).status == "unfinished"


def test_a_node_half_answered_is_unfinished_too(lines: Any, tmp_path: Path) -> None:
    lines.lines = lines.lines[: lines.find("stash(") + 1]
    assert verify(lines.write(tmp_path / "half.jsonl")).status == "unfinished"


@pytest.mark.parametrize("after", [0, 1, 2, 4, 9])
def test_a_seat_that_left_is_replayed(start_match: Start, after: int) -> None:
    match = start_match(players=3)
    match.play(decisions=after)
    match.fault(1)
    match.play()
    ranking = match.state.ranking()
    assert ranking[1] == 3
    assert verify(match.writer.close(match.footer(faults=(None, {"reason": "crashed"}, None)))).status == "ok"


def forged(lines: Any, path: Path) -> Any:
    return verify(lines.write(path, rechain=True))


def test_another_outcome_than_the_seed_gives_is_named(lines: Any, tmp_path: Path) -> None:
    index = lines.find('["c",')
    outcome = lines.lines[index].split(",")[1]
    lines.replace(index, f'["c",{outcome},', f'["c",{int(outcome) % 5 + 1},')
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", index + 1)
    assert f"the seed gives the outcome {outcome}" in verdict.problem


def test_an_illegal_action_is_named(lines: Any, tmp_path: Path) -> None:
    index = lines.find("stash(")
    lines.lines[index] = '["a",0,"guard(card=5)",10,5,0,"00000000"]'
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", index + 1)
    assert "guard(card=5) is not one of the" in verdict.problem


def test_an_action_that_is_no_action_is_named(lines: Any, tmp_path: Path) -> None:
    index = lines.find("stash(")
    lines.lines[index] = '["a",0,"jump()",10,5,0,"00000000"]'
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", index + 1)
    assert "unknown action kind 'jump'" in verdict.problem


def test_another_legal_action_is_caught_by_what_follows(lines: Any, tmp_path: Path) -> None:
    last = max(index for index, line in enumerate(lines.lines) if line.startswith('["a",'))
    action = lines.lines[last].split('"')[3]
    other = "play" if action == "pass()" else "pass()"
    if other == "play":
        lines.lines[last] = lines.lines[last].replace(action, "draw()")
    else:
        lines.lines[last] = lines.lines[last].replace(action, other)
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert verdict.status == "wrong"
    assert verdict.line > last


def test_answers_of_the_wrong_seat_are_named(lines: Any, tmp_path: Path) -> None:
    index = lines.find('["a",0,')
    lines.replace(index, '["a",0,', '["a",1,')
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", index + 1)
    assert "expects an answer of seat 0" in verdict.problem


def test_a_lost_outcome_is_named_where_it_is_missed(lines: Any, tmp_path: Path) -> None:
    index = lines.find('["c",', skip=5)
    del lines.lines[index]
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", index + 1)
    assert "expects a chance outcome" in verdict.problem


def test_lines_after_the_end_of_the_game_are_named(lines: Any, tmp_path: Path) -> None:
    lines.lines.insert(-1, '["c",1,"00000000"]')
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", len(lines.lines) - 1)
    assert "the game is over" in verdict.problem


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ranking": (2, 2)}, "the ranking is"),
        ({"returns": (99, 0)}, "the returns are"),
        ({"state_hash": "0" * 32}, "the final state has the hash"),
        ({"seed": "ff"}, "not the one the header is committed to"),
        ({"seed": "hello"}, "not hexadecimal"),
        ({"decisions": 1}, "decisions"),
        ({"seat_stats": ()}, "per seat are"),
        ({"lag_us": 1}, "(lag_us, worst_charged_us) of seat 0 are"),
        ({"worst_charged_us": 1}, "(lag_us, worst_charged_us) of seat 0 are"),
    ],
)
def test_a_false_footer_is_named(start_match: Start, change: dict[str, Any], said: str) -> None:
    match = start_match()
    match.play()
    footer = match.footer(**{name: value for name, value in change.items() if not name.endswith("_us")})
    if lag := {name: value for name, value in change.items() if name.endswith("_us")}:
        honest = {"lag_us": 0, "worst_charged_us": footer.seat_stats[0].worst_us}
        stats = replace(footer.seat_stats[0], **{**honest, **lag})
        footer = replace(footer, seat_stats=(stats, *footer.seat_stats[1:]))
    verdict = verify(match.writer.close(footer))
    assert verdict.status == "wrong"
    assert said in verdict.problem
    assert verdict.line > 1


def test_a_rated_match_that_stops_in_the_middle_is_wrong(start_match: Start) -> None:
    match = start_match()
    match.play(decisions=6)
    verdict = verify(match.writer.close(match.footer()))
    assert verdict.status == "wrong"
    assert "not over" in verdict.problem


def test_a_void_match_may_stop_in_the_middle(start_match: Start) -> None:
    match = start_match()
    match.play(decisions=6)
    footer = match.footer(status="void", reason="platform_fault", state_hash="", trouble="Traceback ...")
    assert verify(match.writer.close(footer)).status == "ok"


def test_other_rules_than_the_installed_ones_are_named(start_match: Start) -> None:
    match = start_match(rules_version=99)
    match.play()
    verdict = verify(match.writer.close(match.footer()))
    assert (verdict.status, verdict.line) == ("other_rules", 1)
    assert "rules version 99 of toy; installed is 1. The moves were not played again" in verdict.problem


def test_a_changed_line_of_a_record_of_other_rules_is_wrong(start_match: Start) -> None:
    match = start_match(rules_version=99)
    match.play()
    path = match.writer.close(match.footer())
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    del lines[3]
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    verdict = verify(path)
    assert (verdict.status, verdict.line) == ("wrong", 4)


def test_an_unknown_game_is_named(lines: Any, tmp_path: Path) -> None:
    lines.replace(0, '"game":"toy"', '"game":"checkers"')
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", 1)
    assert "unknown game 'checkers'" in verdict.problem


def test_options_that_the_game_refuses_are_named(lines: Any, tmp_path: Path) -> None:
    lines.replace(0, '"rounds":4', '"rounds":4,"data":{"cards":[1]}')
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert (verdict.status, verdict.line) == ("wrong", 1)
    assert "refuses the set-up" in verdict.problem


def test_options_that_break_the_rules_are_a_verdict_not_an_exception(lines: Any, tmp_path: Path) -> None:
    lines.replace(0, '"rounds":4', '"round":4')
    verdict = forged(lines, tmp_path / "f.jsonl")
    assert verdict.status == "wrong"
    assert "broke down: KeyError" in verdict.problem


def test_a_file_that_is_no_record_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("hello\n")
    verdict = verify(tmp_path / "x.jsonl")
    assert verdict.status == "wrong"
    assert "not a match record" in str(verdict)


def test_a_changed_time_is_caught_by_the_chain(lines: Any, tmp_path: Path) -> None:
    index = lines.find('["a",')
    old = lines.lines[index].split(",")[-3]
    lines.replace(index, f",{old},", f",{int(old) + 1},")
    verdict = verify(lines.write(tmp_path / "f.jsonl"))
    assert (verdict.status, verdict.line) == ("wrong", index + 1)


def test_a_record_that_is_not_the_one_that_counted_is_not_played_again(closed: Path) -> None:
    """Some options of games end the process that plays by them, and then no record is named at all."""
    asked: list[str] = []

    def games(name: str) -> Any:
        asked.append(name)
        return get_game(name)

    assert verify(closed, games, anchored=read_record(closed).digest).status == "ok"
    assert asked == ["toy"]
    verdict = verify(closed, games, anchored="00" * 32)
    assert (verdict.status, verdict.line) == ("wrong", 0)
    assert verdict.problem.startswith("this is not the record that counted")
    assert asked == ["toy"]
