"""The table of what makes a match void has the reasons that the code has: none more, and none less."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from referee.record.reasons import EndReason, status_of

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8").partition("## What makes a match void\n")[2]
ROWS = re.findall(r"^\| `(\w+)`(?:: ([^|]+?))? \|", SECTION.partition("\n## ")[0], re.MULTILINE)
"""Reason, and what kind of it."""

PLACES = {
    "referee.match.bot.LiveBot._watch": {"files lost"},
    "referee.match.bot.exit_end": {"memory", "guardian lost"},
    "referee.match.play.Match.run": {"memory", "guardian lost", "disk, record, rules"},
    "referee.match.pool.Pool.shake_hands": {"memory", "guardian lost", "not started", "referee stood still"},
    "referee.match.seat_controller.SeatController.take_end": {"memory", "guardian lost", "files lost"},
    "referee.match.table.Table.play": {"disk, record, rules"},
    "referee.match.table.Table._play": {"memory", "not started", "referee stood still"},
    "referee.match.table.Table._play_seated": {"disk, record, rules"},
    "referee.match.table._not_come": {"memory"},
    "referee.tournament.runner.Runner._judge": {"worker lost", "disk, record, rules"},
}
"""Where a match becomes a platform fault, and by which rows of the table. One more place in the code is perhaps one
more way for a bot to choose that its match does not count: see that the table has it."""

NOT_OF_A_MATCH_IN_PLAY = {"referee.match.rejudge.rejudge", "referee.tournament.attempts.Attempts"}


def made(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
        return node.exc.func.id in ("SeatLostError", "LostAtStart")
    return isinstance(node, ast.Attribute) and node.attr == EndReason.PLATFORM_FAULT.name


def places(node: ast.AST, name: str) -> Iterator[str]:
    """The functions and classes that make a platform fault, and do not only ask whether something is one."""
    if isinstance(node, ast.Compare):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = f"{name}.{node.name}"
    if made(node):
        yield name
    for child in ast.iter_child_nodes(node):
        yield from places(child, name)


def test_the_table_has_every_reason_for_which_a_match_does_not_count_and_no_other() -> None:
    assert {reason for reason, _ in ROWS} == {reason for reason in EndReason if status_of(reason) != "rated"}
    assert len(ROWS) == len(set(ROWS))


def test_the_table_has_every_kind_of_platform_fault_and_no_other() -> None:
    found = set()
    for path in (ROOT / "referee").rglob("*.py"):
        if path.parent.name != "record":  # which has the words of all reasons
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found |= set(places(ast.parse(path.read_text(encoding="utf-8")), module))
    assert found - NOT_OF_A_MATCH_IN_PLAY == set(PLACES)
    assert {kind for reason, kind in ROWS if reason == "platform_fault"} == set().union(*PLACES.values())
