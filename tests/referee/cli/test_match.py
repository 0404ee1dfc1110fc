"""`crosstown match`: one match between bots, or against a person in the terminal."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from referee.games.registry import game_ids
from referee.record import read_record, verify

ROOT = Path(__file__).resolve().parents[3]
RANDOM = str(ROOT / "bots" / "python" / "random")
WALKER = str(ROOT / "bots" / "python" / "walker")
SHIPPED = [game for game in game_ids() if game != "toy"]

Say = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def say(tmp_path: Path) -> Say:
    """Runs `crosstown match` in a folder of its own."""

    def said(
        *words: str, typed: str = "", environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "referee.cli.main", "match", *words],
            input=typed,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
            env={**os.environ, **(environment or {})},
        )

    return said


def only_record(folder: Path) -> Path:
    (path,) = (folder / "runs" / "single" / "matches").iterdir()
    return path


def test_two_bots_play_one_match_whose_record_verifies(say: Say, tmp_path: Path) -> None:
    more = ("--option", "build_phase=false", "--limit", "memory_mib=777")
    done = say("shibuya", "--seat", RANDOM, "--seat", WALKER, "--seed", "00ff", *more)
    assert done.returncode == 0, done.stderr
    path = only_record(tmp_path)
    assert verify(path).status == "ok"
    assert read_record(path).header.limits["memory_mib"] == 777
    assert read_record(path).header.options["build_phase"] is False
    assert "walker (seat 2)" in done.stdout
    assert f"crosstown matches show {path.relative_to(tmp_path)}\n" in done.stdout


def test_the_outcome_comes_as_json(say: Say) -> None:
    done = say("shibuya", "--seat", RANDOM, "--seat", WALKER, "--seed", "00", "--json")
    outcome = json.loads(done.stdout)
    assert outcome["seed"] == "00"
    assert [seat["bot"] for seat in outcome["seats"]] == ["random", "walker"]
    assert sorted(seat["rank"] for seat in outcome["seats"]) in ([1, 2], [1, 1])


@pytest.mark.parametrize("words", [("--seat", RANDOM, "--watch"), ("--seat", "human")])
def test_what_else_prints_to_the_terminal_is_refused_beside_json(say: Say, words: tuple[str, ...]) -> None:
    """The steps, or the questions to a person, stood in front of the JSON, which no program could read."""
    done = say("shibuya", "--seat", RANDOM, *words, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        f"{' '.join(words[-2:] if words[-1] == 'human' else words[-1:])} and --json exclude each other" in done.stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize("game", SHIPPED)
def test_a_person_plays_a_whole_match_by_typing_numbers(say: Say, tmp_path: Path, game: str) -> None:
    done = say(game, "--seat", "human", "--seat", RANDOM, "--seed", "01", typed="what?\n99999\n" + "0\n" * 2000)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "! 'what?' is not a number from 0 to" in done.stdout
    assert "! '99999' is not a number from 0 to" in done.stdout
    assert "you are seat 1 of 2" in done.stdout
    assert "human (seat 1)" in done.stdout
    assert verify(only_record(tmp_path)).status == "ok"


def test_two_people_share_a_terminal(say: Say) -> None:
    done = say("shibuya", "--seat", "human", "--seat", "human", typed="0\n" * 2000)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "human 1 (seat 1)" in done.stdout
    assert "human 2 (seat 2)" in done.stdout


def test_a_person_who_ends_the_input_leaves_the_match(say: Say) -> None:
    done = say("shibuya", "--seat", "human", "--seat", RANDOM, typed="0\n")
    assert "crashed" in done.stdout
    assert "1. random" in done.stdout


def test_a_person_may_resign(say: Say) -> None:
    done = say("shibuya", "--seat", "human", "--seat", RANDOM, typed="what?\nresign\n")
    assert done.returncode == 0
    assert "resigned" in done.stdout
    assert "printed" not in done.stdout


def test_on_a_real_terminal_the_question_is_seen_before_the_answer(tmp_path: Path) -> None:
    main, side = pty.openpty()
    command = [sys.executable, "-m", "referee.cli.main", "match", "shibuya", "--seat", "human", "--seat", RANDOM]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, cwd=tmp_path)
    os.close(side)
    seen = b""
    while b"choose 0 to " not in seen:
        seen += os.read(main, 4096)
    os.write(main, b"resign\n")
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    assert process.wait(60) == 0
    os.close(main)
    assert b"resigned" in seen


def test_watching_shows_every_step_up_to_the_last(say: Say, tmp_path: Path) -> None:
    done = say("shibuya", "--seat", RANDOM, "--seat", RANDOM, "--watch")
    steps = [int(line.removeprefix("step ")) for line in done.stdout.splitlines() if line.startswith("step ") and line[5:].isdigit()]  # fmt: skip # noqa: E501
    assert steps == list(range(len(steps)))
    assert len(steps) > len(
        [line for line in read_record(only_record(tmp_path)).lines if type(line).__name__ == "Answer"]
    )


def write_bot(folder: Path, choose: str, games: str = '["*"]') -> str:
    """A bot whose method `choose` is this line."""
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "mine"\nversion = "1"\ngames = {games}\nrun = ["{{python}}", "bot.py"]\n')
    (folder / "bot.py").write_text(
        "import sys\nfrom pathlib import Path\nfrom crosstown_bot import Bot, run\n"
        f"class Mine(Bot):\n    def choose(self, turn):\n        {choose}\nrun(Mine)\n"
    )
    return str(folder)


@pytest.mark.strict_sandbox
def test_bots_play_in_the_sandbox_of_a_run_and_the_profile_is_said(say: Say, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("other bots' weights")
    spy = write_bot(tmp_path / "spy", f"Path({str(tmp_path / 'secret')!r}).read_text(); return 0")
    done = say("shibuya", "--seat", RANDOM, "--seat", spy)
    assert done.stderr == "sandbox of the bots: strict\n"
    assert "crashed: mine (seat 2): " in done.stdout
    assert "FileNotFoundError" in done.stdout
    assert [seat.sandbox for seat in read_record(only_record(tmp_path)).header.seats] == ["strict", "strict"]


@pytest.mark.strict_sandbox
def test_what_is_granted_on_the_command_line_is_there(say: Say, tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("0")
    choose = f"return int(Path({str(tmp_path / 'weights')!r}).read_text()) + len(__import__('os').environ['HOME_KEY'])"
    bot = write_bot(tmp_path / "reader", choose)
    grants = ["--read", "weights", "--env", "HOME_KEY"]
    done = say("shibuya", "--seat", RANDOM, "--seat", bot, *grants, environment={"HOME_KEY": ""})
    assert done.returncode == 0, done.stderr
    assert f"sandbox of the bots: strict, env HOME_KEY, read {tmp_path / 'weights'}\n" in done.stderr
    assert done.stdout.startswith("normal\n")


def test_without_a_sandbox_only_when_asked(say: Say, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("0")
    bot = write_bot(tmp_path / "reader", f"return int(Path({str(tmp_path / 'data')!r}).read_text())")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot, "--sandbox", "plain")
    assert "no sandbox, as asked for" in done.stderr
    assert done.stdout.startswith("normal\n")


@pytest.mark.strict_sandbox
def test_a_person_sits_outside_of_the_sandbox_of_the_bots(say: Say, tmp_path: Path) -> None:
    done = say("shibuya", "--seat", "human", "--seat", RANDOM, typed="resign\n")
    assert "sandbox of the bots: strict" in done.stderr
    assert [seat.sandbox for seat in read_record(only_record(tmp_path)).header.seats] == ["plain", "strict"]


@pytest.mark.slow
def test_the_end_of_what_a_bot_at_fault_printed_is_shown(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "print('\\x1b[31mhm', file=sys.stderr); raise ValueError('no plan for this')")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "the end of what mine (seat 2) printed to stderr:\n" in done.stdout
    assert "    ValueError: no plan for this\n" in done.stdout
    assert "\x1b" not in done.stdout
    told = json.loads(say("shibuya", "--seat", RANDOM, "--seat", bot, "--json").stdout)
    assert told["seats"][0]["fault"] is None
    assert told["seats"][1]["fault"]["reason"] == "crashed"
    assert "ValueError: no plan for this" in told["seats"][1]["fault"]["stderr"]


@pytest.mark.slow
def test_why_a_bot_did_not_start_is_shown_where_it_printed_that_to_stdout(say: Say, tmp_path: Path) -> None:
    """Only that it had printed something was said."""
    bot = write_bot(tmp_path / "mine", "return 0")
    (Path(bot) / "bot.py").write_text("print('no weights here')\nraise SystemExit(3)\n")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "the end of what mine (seat 2) printed to stdout:\n    no weights here\n" in done.stdout
    assert "too: --output" not in done.stdout


@pytest.mark.slow
def test_a_bot_whose_end_fails_has_no_fault_but_its_author_reads_why(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "return 0\n    def end(self, result): raise ValueError('no file for my log')")
    done = say("shibuya", "--seat", bot, "--seat", RANDOM)
    assert done.stdout.startswith(
        "normal\nafter the match mine (seat 1) ended with exit code 1; no fault, but see to it\n"
    )
    assert "    ValueError: no file for my log\n" in done.stdout
    assert "random (seat 2) ended" not in done.stdout


@pytest.mark.slow
@pytest.mark.strict_sandbox
def test_the_author_of_a_bot_that_crashed_in_the_sandbox_reads_what_grants_more(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "print('here'); Path('/no/such/weights').read_text()")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "it ran in the sandbox: --read PATH, --network and --env NAME grant more" in done.stdout
    assert "mine (seat 2) printed to stdout, too: --output shows it\n" in done.stdout
    done = say("shibuya", "--seat", RANDOM, "--seat", bot, "--sandbox", "plain")
    assert "it ran in the sandbox" not in done.stdout


@pytest.mark.strict_sandbox
def test_an_error_that_no_sandbox_causes_gets_no_advice_about_the_sandbox(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "raise ValueError('no plan for this')")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "ValueError: no plan for this" in done.stdout
    assert "it ran in the sandbox" not in done.stdout


@pytest.mark.strict_sandbox
def test_a_missing_package_leads_to_requirements_not_to_the_sandbox(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "import no_such_package_of_mine; return 0")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "the bot has no module 'no_such_package_of_mine'" in done.stdout
    assert "requirements.txt" in done.stdout
    assert "it ran in the sandbox" not in done.stdout
    assert str(tmp_path / "cache") not in done.stdout


def test_what_is_cut_of_a_long_stderr_is_said(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "print('\\n'.join(map(str, range(99))), file=sys.stderr); sys.exit('enough')")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "    ... (88 lines more: --output shows them)\n    88\n" in done.stdout
    assert "    enough\n" in done.stdout


def test_a_program_that_ends_without_run_is_asked_for_it(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "return 0")
    (tmp_path / "mine" / "bot.py").write_text("from crosstown_bot import Bot\nclass Mine(Bot): pass\n")
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert "exit code 0; does the program call run(...) with your bot?" in done.stdout


@pytest.mark.slow
def test_the_time_to_start_can_be_given(say: Say, tmp_path: Path) -> None:
    slow = write_bot(tmp_path / "mine", "return 0")
    (tmp_path / "mine" / "bot.py").write_text("import time; time.sleep(60)\n")
    done = say("shibuya", "--seat", RANDOM, "--seat", slow, "--startup-s", "5")
    assert "start_failed" in done.stdout
    assert "mine (seat 2): no Hello 5 s after the start" in done.stdout


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("board_size=99", "openspiel/go cannot begin: The current Go implementation supports board size up to 19"),
        ("komi=6.5x", "openspiel/go option 'komi' must be a number in quotes, such as '7.5', not '6.5x'"),
    ],
)
def test_options_that_only_the_rules_refuse_are_refused_before_a_bot_starts(
    say: Say, tmp_path: Path, option: str, said: str
) -> None:
    pytest.importorskip("pyspiel")
    done = say("openspiel/go", "--option", option, "--seat", RANDOM, "--seat", RANDOM)
    assert done.returncode == 2
    assert f"error: {said}" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_build_that_fails_shows_what_it_printed_last(say: Say, tmp_path: Path) -> None:
    bot = Path(write_bot(tmp_path / "mine", "return 0"))
    toml = (bot / "bot.toml").read_text()
    (bot / "bot.toml").write_text(toml + 'build = ["sh", "-c", "echo no semicolon; exit 1"]\n')
    done = say(
        "shibuya", "--seat", RANDOM, "--seat", str(bot), environment={"CROSSTOWN_CACHE": str(tmp_path / "cache")}
    )
    assert done.returncode == 1
    assert "    no semicolon\n" in done.stderr
    assert f"see the log: {tmp_path / 'cache'}" in done.stderr


@pytest.mark.slow
def test_what_the_bots_printed_is_shown_on_request(say: Say, tmp_path: Path) -> None:
    choose = "print('thought of', turn.kind) if turn.number == 1 else 0; print('hm', file=sys.stderr); return 0"
    bot = write_bot(tmp_path / "mine", choose)
    done = say("shibuya", "--seat", bot, "--seat", RANDOM, "--output")
    assert "mine (seat 1) printed to stdout:\n    thought of place\n" in done.stdout
    assert "mine (seat 1) printed to stderr:\n    hm\n    hm\n" in done.stdout
    assert "random (seat 2) printed" not in done.stdout
    told = json.loads(say("shibuya", "--seat", bot, "--seat", RANDOM, "--output", "--json").stdout)
    assert told["printed"][0]["stdout"] == "thought of place\n"
    assert told["printed"][1] == {"stdout": "", "stderr": ""}
    assert "printed" not in say("shibuya", "--seat", bot, "--seat", RANDOM).stdout


def test_a_bot_is_not_seated_at_a_game_that_it_does_not_play(say: Say, tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "mine", "return 0", '["toy", "manhattan_traffiq"]')
    done = say("shibuya", "--seat", RANDOM, "--seat", bot)
    assert done.returncode == 2
    assert "bot 'mine' plays toy, manhattan_traffiq, not shibuya" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["shibuya", "--seat", RANDOM], "is for 2, 4 players, not 1"),
        (["chess", "--seat", RANDOM], "chess"),
        (["shibuya", "--seat", "nowhere", "--seat", RANDOM], "nowhere: does not exist"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--seed", "xyz"], "seed 'xyz'"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--option", "build_phase"], "has no '='"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--option", "x=1"], "shibuya has no option 'x'"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--option", "build_phase=7"], "build_phase"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--option", "lead_to_win=--5"], "must be an integer >= 0"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--option", f"lead_to_win={'9' * 5000}"], "an integer >= 0"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--limit", "memory_mib=1"], "must be at least 4"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--sandbox", "loose"], "--sandbox is 'loose'"),
        (["shibuya", "--seat", RANDOM, "--seat", RANDOM, "--env", "NO_SUCH_KEY"], "NO_SUCH_KEY: the variable is not"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_starts(
    say: Say, tmp_path: Path, words: list[str], sentence: str
) -> None:
    done = say(*words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "next: " in done.stderr
    assert not (tmp_path / "runs").exists()
