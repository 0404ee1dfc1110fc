"""Which profile bots of a single match get, and what is said about it."""

from pathlib import Path

import pytest

from referee.cli import bot_check
from referee.cli.confining import settle, tell
from referee.cli.output import console
from referee.cli.run_pages import _tell_confinement as tell_run
from referee.compliance import Report
from referee.errors import PlatformError
from referee.process.checkup import Probe
from referee.process.entry import Entry
from referee.process.sandbox import Sandbox
from referee.tournament.confine import Confinement as RunConfinement

WORKS = Probe(True)
BROKEN = Probe(False, "bwrap is not installed", "install bubblewrap")


@pytest.mark.parametrize(
    ("asked", "found", "profile", "sentence", "warning"),
    [
        (None, WORKS, "strict", "sandbox of the bots: strict", False),
        ("strict", WORKS, "strict", "sandbox of the bots: strict", False),
        ("plain", WORKS, "plain", "no sandbox, as asked for", False),
        ("plain", BROKEN, "plain", "no sandbox, as asked for", False),
        (None, BROKEN, "plain", "WITHOUT A SANDBOX (bwrap is not installed); to have one: install bubblewrap", True),
    ],
)
def test_strict_where_it_works_unless_asked_otherwise(
    asked: str | None, found: Probe, profile: str, sentence: str, warning: bool
) -> None:
    settled = settle(asked, found=found)
    assert settled.sandbox.profile == profile
    assert sentence in settled.sentence
    assert settled.warning is warning


def test_strict_that_does_not_work_is_refused_with_the_remedy() -> None:
    with pytest.raises(PlatformError, match="bwrap is not installed") as refused:
        settle("strict", found=BROKEN)
    assert refused.value.next_step == "install bubblewrap; or go without: --sandbox plain"


@pytest.mark.parametrize(("asked", "said_quietly"), [(None, True), ("plain", False)])
def test_only_what_nobody_asked_for_is_said_in_quiet(
    capsys: pytest.CaptureFixture[str], asked: str | None, said_quietly: bool
) -> None:
    tell(settle(asked, found=BROKEN), quiet=True)
    assert ("warning: bots play WITHOUT A SANDBOX" in " ".join(capsys.readouterr().err.split())) is said_quietly


def test_a_check_warns_of_a_script_that_the_sandbox_does_not_show_as_a_match_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, folder = tmp_path / "shared" / "bot.py", tmp_path / "bot"
    for path in (script.parent, folder):
        path.mkdir()
    script.write_text("print(1)\n")
    (folder / "bot.toml").write_text(f'name = "b"\nversion = "1"\ngames = ["toy"]\nrun = ["{{python}}", "{script}"]\n')

    async def passed(entry: Entry, *_: object, **__: object) -> Report:
        return Report(entry, (), "", "")

    monkeypatch.setattr(bot_check, "check_bot", passed)
    for read, warned in ((None, True), ([script], False)):
        settled = settle("strict", read=read, found=WORKS)
        bot_check.check_folder(folder, None, 1.0, settled, fail_fast=False, as_json=False)
        said = capsys.readouterr().err
        assert (f"'run' of 'b' names {script}, which its sandbox does not show to it" in said) == warned
        assert (f"grant it: --read {script}" in said) == warned


def test_a_run_warns_of_a_granted_variable_that_is_not_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET_HERE", "1")
    monkeypatch.delenv("NOT_SET", raising=False)
    grants = {"b": Sandbox("plain", env=("SET_HERE", "NOT_SET"))}
    tell_run(console(stderr=True), RunConfinement({}, "", grants), quiet=True)
    said = " ".join(capsys.readouterr().err.split())
    assert "the tournament file grants NOT_SET to 'b', and the environment here does not have it; export it" in said
