"""The format in docs/formats.md is a whole one: it is taken from there, found as a plug-in, and played."""

import re
from pathlib import Path

import pytest

from referee.schedule.formats import registry
from referee.schedule.formats.api import Format
from referee.schedule.formats.registry import UnknownFormat, format_names, get_format
from referee.schedule.schedule import known_matches
from referee.tournament.identity import config_of

DOC = Path(__file__).resolve().parents[3] / "docs" / "formats.md"


def documented() -> Format:
    code = re.search(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[1]
    names = {}
    exec(compile(code, str(DOC), "exec"), names)
    return names["FORMAT"]


class Plugin:
    """As importlib.metadata finds one."""

    def __init__(self, name, loads):
        self.name, self.value, self._loads = name, f"{name}:FORMAT", loads

    def load(self):
        if isinstance(self._loads, Exception):
            raise self._loads
        return self._loads


@pytest.fixture
def install(monkeypatch):
    def install(name, loads):
        monkeypatch.setattr(registry, "_plugins", lambda: (Plugin(name, loads),))

    return install


def test_the_documented_format_plays_and_resumes(make_tournament, play, install):
    install("king", documented())
    assert "king" in format_names()
    tournament = make_tournament(3, format="king", blocks=1)
    assert config_of(tournament).extent().most == 40
    assert len(list(known_matches(config_of(tournament)))) == 4
    run = play(tournament, slots=3, order=lambda spec: int(spec.seed, 16) % 5)
    assert run.summary.complete
    assert run.summary.played == 40
    assert play(tournament).executor is None


@pytest.mark.parametrize(
    ("loads", "words"),
    [
        (ImportError("no such thing"), "cannot be loaded: ImportError: no such thing"),
        ("a text", "is not a Format of that name"),
    ],
)
def test_a_broken_plug_in_is_named_and_breaks_nothing_else(install, loads, words):
    install("king", loads)
    with pytest.raises(UnknownFormat, match=words):
        get_format("king")
    assert get_format("swiss").name == "swiss"


def test_our_own_formats_cannot_be_replaced(install):
    install("swiss", documented())
    assert get_format("swiss").title == "rounds of those with equal points"


def test_plug_ins_are_not_looked_for_in_the_file_of_a_tournament_in_our_own_format(make_tournament, monkeypatch):
    monkeypatch.setattr(registry, "_plugins", lambda: pytest.fail("all installed packages are looked through"))
    assert make_tournament(format="swiss").config.format == "swiss"
