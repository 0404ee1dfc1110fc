"""Packages whose names are imported when they are asked for."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from referee.lazy_exports import lazy_exports


@pytest.mark.parametrize("package", ["referee.match", "referee.wire"])
def test_every_name_that_a_package_exports_is_there_as_type_checkers_see_it(package: str) -> None:
    module = import_module(package)
    tree = ast.parse(Path(str(module.__file__)).read_text())
    checked = {
        alias.name: str(node.module)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(checked) == sorted(module.__all__)
    for name, home in checked.items():
        assert getattr(module, name) is getattr(import_module(home), name)


def test_a_name_that_no_module_has_is_an_attribute_error() -> None:
    find = lazy_exports("package", {"referee.texts": ("plural",)})
    assert find("plural")(2, "bot") == "2 bots"
    with pytest.raises(AttributeError, match="module 'package' has no attribute 'other'"):
        find("other")
