"""What the author of a bot reads when it says something wrong: in `crosstown match`, what, where, what was expected.

What the kits of other languages print about their session is in tests/bots/languages/test_session.py; an index or an
action that is none reaches the referee from all of them as from Python.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cli.app import run_command

ROOT = Path(__file__).resolve().parents[3]
RANDOM = str(ROOT / "bots" / "python" / "random")
PYTHON = """
import os, subprocess, sys
from crosstown_bot import Bot, playing, run
import crosstown_bot.client as client
{before}
class Mine(Bot):
    {attribute}
    def choose(self, turn):
        {choose}
run(Mine)
"""
LINES = """
import json, sys
for line in sys.stdin:
    if "legal_count" in line or line.startswith("choose"):
        print({answer}, flush=True)
"""

Match = Callable[..., str]


@pytest.fixture
def match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Match:
    """match(program, *options of the bridge) is all that a match against it prints; without options: a gRPC bot."""

    def played(program: str, *bridge: str) -> str:
        monkeypatch.chdir(tmp_path)
        folder = tmp_path / "my bot"
        folder.mkdir()
        words = ["{python}", "-m", "crosstown_bridge", *bridge] if bridge else []
        (folder / "bot.toml").write_text(
            f'name = "mine"\nversion = "1"\ngames = ["*"]\nrun = {json.dumps([*words, "{python}", "bot.py"])}\n'
        )
        (folder / "bot.py").write_text(program)
        # Only the bridge's text mode waits until time is up; the others have all the time that a busy machine needs.
        move_s = "2" if "--text" in bridge else "60"
        clock = ["--first-move-s", move_s, "--move-s", move_s]
        run_command(["match", "shibuya", "--seat", str(folder), "--seat", RANDOM, "--sandbox", "plain", *clock])
        return capfd.readouterr().out

    return played


def program(choose: str = "return 0", before: str = "", attribute: str = "pass") -> str:
    return PYTHON.format(choose=choose, before=before, attribute=attribute)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bot", "sentences"),
    [
        (
            program(before="client.PROTOCOL = 7"),
            ["start_failed: mine (seat 1): the bot speaks protocol 7, the referee protocol 1: expected 1"],
        ),
        (
            program(before="os.environ['CROSSTOWN_TOKEN'] = 'x'"),
            ["start_failed: mine (seat 1): the process ended before it said Hello", "unknown token: send the value of"],
        ),
        (
            program(
                "print(subprocess.run([sys.executable, *sys.argv], stderr=subprocess.PIPE, text=True).stderr,"
                " file=sys.stderr); return 1 << 20",
            ),
            ["no answer from the referee at unix:", "; it takes one process for each token, and no further connection"],
        ),
        (
            program(attribute="games = ('toy',)"),
            ["start_failed: mine (seat 1): the bot says in Hello that it plays toy; this match is shibuya"],
        ),
        (
            program("return turn.legal_count"),
            ["illegal_action: mine (seat 1): index ", " in decision 1: expected 0 to "],
        ),
        (
            program("return b'left'"),
            ["malformed_message: mine (seat 1): the action of decision 1 cannot be decoded: "],
        ),
        (
            program("return turn.match.messages.Action(move=dict(source=0, target=1))"),
            ["illegal_action: mine (seat 1): ", " in decision 1 is not one of the ", "; expected one of "],
        ),
        (
            program("return 'three'"),
            ["crashed: mine (seat 1): ", "choose returned 'three' for decision 1 (", "expected an index from 0 to "],
        ),
    ],
    ids=["protocol", "wrong token", "reused token", "wrong game", "index", "no such action", "illegal action", "text"],
)
def test_a_bot_of_the_python_kit(match: Match, bot: str, sentences: list[str]) -> None:
    printed = match(bot)
    assert [sentence for sentence in sentences if sentence not in printed] == [], printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "options", "sentences"),
    [
        (
            "json.loads(line)['legal_count']",
            ["--"],
            ["illegal_action: mine (seat 1): index ", " in decision 1: expected 0 to ", "bridge: decision 1 of match "],
        ),
        ("'three'", ["--"], ["crashed: mine (seat 1): ", "'three' is not JSON; expected one line of JSON such as 3"]),
        (
            """'{"action": {"place": {"fly": 1}}}'""",
            ["--"],
            ["crashed: mine (seat 1): ", "the action is not an Action message of shibuya", '"fly"'],
        ),
        (
            """'{"action": {"move": {"source": 0, "target": 1}}}'""",
            ["--"],
            ["illegal_action: mine (seat 1): ", " in decision 1 is not one of the ", "; expected one of "],
        ),
        (
            "'three'",
            ["--text", "--"],
            ["move_timeout: mine (seat 1): decision 1 (", "the limit is 2 s", "'three' is not a number from 0 to "],
        ),
        (
            "9999",
            ["--text", "--"],
            ["move_timeout: mine (seat 1): decision 1 (", "'9999' is not a number from 0 to "],
        ),
    ],
    ids=["index", "text", "no such action", "illegal action", "text seat: text", "text seat: index"],
)
def test_a_program_behind_the_bridge(match: Match, answer: str, options: list[str], sentences: list[str]) -> None:
    printed = match(LINES.format(answer=answer), *options)
    assert [sentence for sentence in sentences if sentence not in printed] == [], printed
