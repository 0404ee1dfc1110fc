"""Each default of a limit stands once, in `referee/schedule/spec.py`."""

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.web.limits import WebLimits
from referee.cli.web import web
from referee.schedule.spec import Limits
from tests.architecture.test_imports import modules

LIMITS = {*Limits.__dataclass_fields__, "wait_s", "reconnect_s", "idle", "max_idle"}
HOME = "referee.schedule.spec"
OTHER_LIMITS = {
    "referee.process.build": "limits of a build, which is no match",
    "referee.tournament.sections": "the least with which a bot can start",
}
OF_THEIR_OWN = {
    "EXAMPLES": "how many examples a message has",
    "FORMAT": "versions of different files",
    "LOOK_S": "how often something else is looked at",
    "ID_BYTES": "the length of ids of bot versions, and of those that a ladder gives",
    "MU": "the scale of two scores, which may part",
    "MOST_MIB": "what the store of versions, and what the homes of builds may take",
}
"""Names that stand in several modules with the same number, and mean several things."""


def is_number(node: ast.AST | None) -> bool:
    """A number other than 0, which means 'no limit', written out: 5.0, 1 << 20 or (5.0, 1.0)."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value != 0


def written_out(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that are given a number: as a variable, a field, a parameter's default, or a key of a table."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if is_number(node.value):
                yield from ((target.id, node.lineno) for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            for argument, value in [
                *zip(plain[len(plain) - len(node.defaults) :], node.defaults, strict=True),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ]:
                if is_number(value):
                    yield argument.arg, argument.lineno
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and is_number(value):
                    yield key.value, key.lineno


@pytest.mark.slow
def test_no_second_place_says_what_a_limit_is_by_default() -> None:
    for module, path in modules():
        if module.split(".")[0] in ("referee", "leaderboard") and module != HOME and module not in OTHER_LIMITS:
            for name, line in written_out(ast.parse(path.read_text())):
                assert name not in LIMITS, f"{module}:{line} has a default of {name}, which belongs into {HOME}"


@pytest.mark.slow
def test_a_number_with_a_name_stands_in_one_module() -> None:
    found: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for module, path in modules():
        if module.split(".")[0] in ("referee", "leaderboard") and not module.startswith("referee.games"):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and is_number(node.value):
                    found[node.targets[0].id.lstrip("_"), ast.unparse(node.value)].append(path)
    twice = {name: paths for (name, _), paths in found.items() if len(paths) > 1 and name not in OF_THEIR_OWN}
    assert not twice


def test_the_scan_finds_defaults_in_all_their_shapes() -> None:
    shapes = (
        "move_s: float = 1.0",
        "def f(ready_s=10.0, *, idle=16): ...",
        "CLOCK = {'margin_s': 0.25}",
        "wait_s = 1 << 9",
    )
    names = [name for shape in shapes for name, _ in written_out(ast.parse(shape))]
    assert names == ["move_s", "ready_s", "idle", "margin_s", "wait_s"]


def test_the_command_web_has_the_limits_of_the_web_server() -> None:
    """They stand twice: a bot that starts `crosstown bridge` in its sandbox has no leaderboard to import."""
    given = inspect.signature(web).parameters
    assert given["connections"].default == WebLimits().connections
    assert given["per_address"].default == WebLimits().connections_per_address
