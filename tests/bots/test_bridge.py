"""The bridge as an author of a program that reads and prints lines uses it: whole matches, and every mistake."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from crosstown_bot import Match, Turn, Usage
from crosstown_bridge.bridge import MOST_TOLD, Bridge
from crosstown_bridge.lines import BadAnswer, JsonLines, TextLines
from crosstown_proto.v1 import referee_pb2 as pb

from referee.games.registry import game_ids
from referee.match import EndReason, Limits, MatchResult, Table
from referee.process.entry import Entry, load_entry
from referee.process.manifest import load_manifest
from referee.record import Answer
from referee.record import Usage as RecordedUsage

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "bots" / "bridge"
PATIENT = Limits(startup_s=30, ready_s=30, first_move_s=30, move_s=30)

pytestmark = pytest.mark.asyncio(loop_scope="module")


def program(hall: Any, body: str, *options: str) -> Entry:
    """A Python program behind the bridge, as any other program would be."""
    folder = hall.new_folder()
    words = ["{python}", "-m", "crosstown_bridge", *options, "--", "{python}", "program.py"]
    (folder / "bot.toml").write_text(
        f'name = "{folder.name}"\nversion = "1"\ngames = ["*"]\nrun = {json.dumps(words)}\n'
    )
    (folder / "program.py").write_text(f"import json, sys\n{body}")
    return load_entry(folder)


async def play(hall: Any, *bots: Entry, game: str = "shibuya", limits: Limits = PATIENT) -> tuple[MatchResult, str]:
    """The result, and all that the bots printed to stderr by the end of a fault."""
    result, record = await hall.play(game, *bots, limits=limits)
    return result, json.dumps(record.footer.faults, ensure_ascii=False)


@pytest.fixture(scope="module")
def first(hall: Any) -> Entry:
    return program(
        hall, "for line in sys.stdin:\n    if json.loads(line)['type'] == 'decide':\n        print(0, flush=True)\n"
    )


def build(folder: Path) -> None:
    subprocess.run(load_manifest(folder).build, cwd=folder, check=True)


@pytest.mark.slow
@pytest.mark.parametrize("game", [game for game in game_ids() if game != "toy"])
@pytest.mark.parametrize("name", ["bash", "perl", "c"])
async def test_the_examples_play_every_game(hall: Any, first: Entry, tmp_path: Path, name: str, game: str) -> None:
    folder = tmp_path / "with a space" / name
    shutil.copytree(EXAMPLES / name, folder)
    if name == "c":
        build(folder)
    bot = load_entry(folder, built_in=folder if name == "c" else None)
    result, faults = await play(hall, bot, first, game=game)
    assert result.reason is EndReason.NORMAL, faults


ECHO = """
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "decide":
        {answer}
        sys.stdout.flush()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [
        "print(message['legal_count'] - 1)",
        "print(json.dumps({'index': 0, 'note': 'why'}))",
    ],
)
async def test_an_answer_is_a_number_or_an_object(hall: Any, first: Entry, answer: str) -> None:
    result, faults = await play(hall, program(hall, ECHO.format(answer=answer)), first)
    assert result.reason is EndReason.NORMAL, faults


async def test_a_typed_action_and_a_typed_observation_pass(hall: Any, first: Entry) -> None:
    body = ECHO.format(
        answer="assert set(message['observation']), message\n"
        "        assert len(message['actions']) == message['legal_count']\n"
        "        print(json.dumps({'action': {'take_card': {'slot': 0}}}))"
    )
    result, _ = await play(hall, program(hall, body), first, game="ticket_to_ride_new_york")
    # Whatever the game makes of it: it reached the referee as a typed action and was judged as one.
    assert result.reason in (EndReason.ILLEGAL_ACTION, EndReason.CRASHED)


async def test_a_resignation_is_one(hall: Any, first: Entry) -> None:
    result, _ = await play(hall, program(hall, ECHO.format(answer="print('{\"resign\": true}')")), first)
    assert result.reason is EndReason.RESIGNED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("print('thinking...')", "is not JSON"),
        ("print('[]')", "is not an answer"),
        ("print('{}')", "is not an answer"),
        ("print('true')", "is not an answer"),
        ("print('{\"move\": 1}')", "unknown key 'move'"),
        ('print(\'{"action": {"fly": 1}}\')', "is not an Action message of shibuya"),
        ('print(\'{"index": 0, "note": 1}\')', "the note must be a string"),
        ("print('[' * 100000)", "is not JSON"),
        ("sys.exit(3)", "exited with code 3"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("os = __import__('os'); os.close(1); __import__('time').sleep(60)", "runs on, but it closed its output"),
        ("sys.stdout.write('1' * (1 << 21))", "is longer than 1048576 bytes"),
    ],
)
async def test_what_is_no_answer_is_explained_to_its_author(
    hall: Any, first: Entry, answer: str, sentence: str
) -> None:
    result, evidence = await play(hall, program(hall, ECHO.format(answer=answer)), first)
    assert result.reason is EndReason.CRASHED
    assert result.faults[0] is not None
    assert result.faults[1] is None
    assert sentence in evidence
    assert "bridge: decision 1 of match" in evidence


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("message['legal_count']", ""),
        ("-1", "index -1 (on the wire 4294967295) "),
        ("1 << 32", "index 2147483647 "),
        ("10 ** 1000", "index 2147483647 "),
    ],
    ids=["one too many", "negative", "beyond the wire", "huge"],
)
async def test_an_index_out_of_range_is_an_illegal_action_as_in_every_other_bot(
    hall: Any, first: Entry, answer: str, shown: str
) -> None:
    result, evidence = await play(hall, program(hall, ECHO.format(answer=f"print({answer})")), first)
    assert result.reason is EndReason.ILLEGAL_ACTION
    assert f"{shown}in decision 1: expected 0 to" in result.detail
    assert "bridge: decision 1 of match" in evidence
    assert "is out of range; expected 0 to" in evidence


SURPLUS = """
for line in sys.stdin:
    kind = json.loads(line)["type"]
    if kind == "decide" or kind == "{also}":
        print("{printed}", flush=True)
"""


@pytest.mark.parametrize(
    ("also", "printed"),
    [("", "0\\n0"), ("match_start", "0")],
    ids=["two lines for a question", "a line for the start of the match"],
)
async def test_a_line_that_came_before_its_question_is_no_answer_to_it(
    hall: Any, first: Entry, also: str, printed: str
) -> None:
    body = SURPLUS.replace("{also}", also).replace("{printed}", printed)
    result, evidence = await play(hall, program(hall, body), first)
    assert result.reason is EndReason.CRASHED
    assert "the line '0' came before the question; print one line for each question" in evidence


async def test_a_line_for_the_end_of_a_match_is_no_answer_in_the_next(hall: Any, first: Entry) -> None:
    polite = program(hall, SURPLUS.replace("{also}", "match_end").replace("{printed}", "0"))
    result, evidence = await play(hall, polite, first)
    assert result.reason is EndReason.NORMAL, evidence
    result, evidence = await play(hall, polite, first)
    assert result.reason is EndReason.CRASHED
    assert "the line '0' came before the question" in evidence


async def test_in_text_mode_a_line_before_its_question_is_told_and_dropped(hall: Any, first: Entry) -> None:
    body = (
        "import os\nnumber = 0\nfor line in sys.stdin:\n"
        "    if line.startswith('choose 0 to '):\n        os.write(1, b'0 answer %d\\n0 surplus\\n' % number)\n"
        "        number += 1\n"
    )
    bot = program(hall, body, "--text")
    result, record = await hall.play("shibuya", bot, first)
    assert result.reason is EndReason.NORMAL
    notes = [line.note for line in record.lines if isinstance(line, Answer) and line.seat == 0]
    assert notes == [f"answer {number}" for number in range(len(notes))]
    printed = hall.printed(bot)
    assert "the line '0 surplus' came before the question" in printed
    assert "it was dropped" in printed


@pytest.mark.parametrize(
    ("code", "advice"), [(0, "it must continue to read until its input ends"), (255, "see its own message above")]
)
async def test_a_program_that_ended_is_told_by_its_exit_code_and_without_a_traceback_of_the_bridge(
    hall: Any, first: Entry, code: int, advice: str
) -> None:
    result, evidence = await play(hall, program(hall, ECHO.format(answer=f"print(0); sys.exit({code})")), first)
    assert result.reason is EndReason.CRASHED
    assert f"exited with code {code}; {advice}" in evidence
    assert "Traceback" not in evidence


async def test_output_that_is_not_flushed_is_named_before_time_is_up(hall: Any, first: Entry) -> None:
    # The referee lets Python's own stdout write through, so this is the buffer that other languages have.
    body = (
        "out = open(1, 'w')\nfor line in sys.stdin:\n"
        "    if json.loads(line)['type'] == 'decide':\n        print(0, file=out)\n"
    )
    quick = Limits(startup_s=30, ready_s=30, first_move_s=1, move_s=1)
    result, evidence = await play(hall, program(hall, body), first, limits=quick)
    assert result.reason is EndReason.MOVE_TIMEOUT
    assert "its output is not flushed" in evidence


async def test_no_stacks_of_the_bridge_say_where_its_program_was(hall: Any, first: Entry) -> None:
    quick = Limits(startup_s=30, ready_s=30, first_move_s=1, move_s=1)
    body = "for line in sys.stdin:\n    pass\n"
    result, evidence = await play(hall, program(hall, body), first, limits=quick)
    assert result.reason is EndReason.MOVE_TIMEOUT
    assert "no answer yet" in evidence
    assert '"stacks"' not in evidence


async def test_a_program_that_reads_its_whole_input_first_is_told_to_read_line_by_line(hall: Any, first: Entry) -> None:
    quick = Limits(startup_s=30, ready_s=30, first_move_s=1, move_s=1)
    result, evidence = await play(hall, program(hall, "sys.stdin.read()\n"), first, limits=quick)
    assert result.reason is EndReason.MOVE_TIMEOUT
    assert "it waits for the end of its input: read line by line" in evidence


async def test_a_program_that_cannot_be_started_is_named(hall: Any, first: Entry, tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"\x7fELF, and no more")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "bot.toml").write_text(
        'name = "gone"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "-m", "crosstown_bridge", "--", "./program"]\n'
    )
    result, evidence = await play(hall, load_entry(tmp_path), first)
    assert result.reason is EndReason.START_FAILED
    assert "cannot start './program'" in evidence


TEXT = """
for line in sys.stdin:
    if line.startswith("choose 0 to "):
        {answer}
        sys.stdout.flush()
"""


ASKED_TWICE = """
before = ""
for line in sys.stdin:
    if line.startswith("choose 0 to "):
        print(0 if before.startswith("! 'hm' is not a number from 0 to ") else "hm", flush=True)
    before = line
"""


async def test_text_asks_again_when_the_answer_is_no_number(hall: Any, first: Entry) -> None:
    result, evidence = await play(hall, program(hall, ASKED_TWICE, "--text"), first)
    assert result.reason is EndReason.NORMAL, evidence


async def test_text_that_is_never_a_number_is_shown_to_its_author_once_and_time_decides(
    hall: Any, first: Entry
) -> None:
    quick = Limits(startup_s=30, ready_s=30, first_move_s=1, move_s=1)
    talker = program(hall, TEXT.format(answer="print('I take the card')"), "--text")
    result, evidence = await play(hall, talker, first, limits=quick)
    assert result.reason is EndReason.MOVE_TIMEOUT
    assert evidence.count("'I take the card' is not a number from 0 to ") == 1
    assert "flush" not in evidence


class Parrot:
    """A program that answers every line it gets with the next of `answers`, over and over."""

    def __init__(self, *answers: str) -> None:
        self.answers = answers
        self.told: list[str] = []

    def tell(self, text: str) -> None:
        self.told.append(text)

    def surplus(self) -> list[str]:
        return []

    async def line(self) -> str:
        await asyncio.sleep(0)
        return self.answers[len(self.told) % len(self.answers)]


def turn_of(legal_count: int, left_s: float) -> Turn:
    decide = pb.Decide(match="m", decision=3, legal_count=legal_count, clock=pb.Clock(left_us=int(left_s * 1e6)))
    return Turn(Match(pb.MatchStart(match="m", game="shibuya")), decide)


async def test_lines_tell_of_every_kind_of_clock() -> None:
    clock = pb.Clock(total_us=60_000_000, increment_us=500_000, bank_us=9_000_000)
    match = Match(pb.MatchStart(match="m", game="shibuya", options="{}", clock=clock))
    start = json.loads(JsonLines().start(match))
    assert (start["bank_s"], start["total_s"], start["increment_s"]) == (9, 60, 0.5)
    left = pb.Clock(left_us=42_000_000, total_left_us=41_000_000, bank_left_us=8_000_000)
    asked = json.loads(JsonLines().question(Turn(match, pb.Decide(match="m", decision=3, legal_count=2, clock=left))))
    assert (asked["left_s"], asked["total_left_s"], asked["bank_left_s"]) == (42, 41, 8)


@pytest.mark.parametrize(
    ("clock", "said"),
    [
        (pb.Clock(move_us=1_000_000), ""),
        (pb.Clock(total_us=60_000_000, increment_us=500_000), "# clock: 60 s for all answers of the match together, "),
        (pb.Clock(move_us=2_000_000, bank_us=9_000_000), "# clock: 2 s for each answer, and 9 s more for all answers "),
    ],
    ids=["each move", "total", "bank"],
)
async def test_text_tells_at_the_start_what_time_all_answers_share(clock: pb.Clock, said: str) -> None:
    lines = TextLines().start(Match(pb.MatchStart(match="m", game="shibuya", clock=clock))).splitlines()
    assert all(line.startswith("# ") for line in lines)
    assert len(lines) == (2 if said else 1)
    assert lines[-1].startswith(said)


async def test_text_is_not_asked_again_when_time_is_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crosstown_bridge.bridge.LATE_S", 0.0)
    parrot = Parrot(*map("bad {}".format, range(20)), "x" * 10_000)
    bridge = Bridge({}, parrot, TextLines())  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        assert await bridge.choose(turn_of(2, 0.2)) > 1
    asked = len(parrot.told)
    await asyncio.sleep(0)
    assert len(parrot.told) == asked
    said = capsys.readouterr().err.splitlines()
    assert len(said) == MOST_TOLD + 2, said
    assert len(max(said, key=len)) < 400
    assert "more bad answers came" in said[-2]
    assert "time is up" in said[-1]


@pytest.mark.parametrize(("line", "index"), [("1", 1), ("01 because", 1), ("0000000001", None), ("9" * 5000, None)])
async def test_text_reads_the_whole_number_or_refuses_it(line: str, index: int | None) -> None:
    try:
        read = TextLines().answer(line, turn_of(2, 1)).choice
    except BadAnswer:
        read = None
    assert read == index


@pytest.mark.parametrize("line", ['{"action": {"\\udcff": {}}}', '{"index": 1, "note": "\\ud800"}'])
async def test_half_a_character_is_no_answer(line: str) -> None:
    with pytest.raises(BadAnswer, match="half a character"):
        JsonLines().answer(line, turn_of(2, 1))


USED = '"usage": {"requests": 2, "prompt_tokens": 900, "wait_s": 1.5, "cost_dollars": 0.001}'


async def test_a_program_says_what_it_has_used_of_a_language_model() -> None:
    answer = JsonLines().answer('{"index": 1, ' + USED + "}", turn_of(2, 1))
    assert (answer.choice, answer.usage) == (1, Usage(requests=2, prompt_tokens=900, wait_s=1.5, cost_dollars=0.001))
    assert JsonLines().answer("1", turn_of(2, 1)).usage is None


async def test_a_program_says_that_its_provider_gave_no_answer() -> None:
    answer = JsonLines().answer('{"provider_error": "HTTP 503", ' + USED + "}", turn_of(2, 1))
    assert (answer.provider_error, answer.usage and answer.usage.requests) == ("HTTP 503", 2)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"provider_error": ""}', "must be a text with the reason"),
        ('{"provider_error": true}', "must be a text with the reason"),
        ('{"provider_error": "x", "index": 0}', "has both a provider_error and an index"),
        ('{"index": 0, "usage": 7}', "the usage must be an object with requests, "),
        ('{"index": 0, "usage": {"requests": 1.5}}', "the usage has 'requests: 1.5'"),
        ('{"index": 0, "usage": {"requests": true}}', "the usage has 'requests: True'"),
        ('{"index": 0, "usage": {"requests": -1}}', "the usage has 'requests: -1'"),
        ('{"index": 0, "usage": {"wait_s": NaN}}', "the usage has 'wait_s: nan'"),
        ('{"index": 0, "usage": {"euros": 1}}', "the usage has 'euros: 1'"),
    ],
)
async def test_what_is_no_usage_or_no_error_of_a_provider_is_explained(line: str, problem: str) -> None:
    with pytest.raises(BadAnswer, match=re.escape(problem)):
        JsonLines().answer(line, turn_of(2, 1))


async def test_an_error_of_the_provider_and_the_usage_reach_the_record(hall: Any, first: Entry) -> None:
    line = '{"provider_error": "HTTP 503 at request 5", ' + USED + "}"
    result, record = await hall.play("shibuya", program(hall, ECHO.format(answer=f"print({line!r})")), first)
    assert (result.reason, result.faults[1]) == (EndReason.PROVIDER_ERROR, None)
    assert result.detail.endswith(": HTTP 503 at request 5")
    assert record.footer.usage == (RecordedUsage(2, 900, wait_us=1_500_000, cost_nanos=1_000_000), None)


COUNTING = """
numbers = []
for line in sys.stdin:
    if line.startswith("choose 0 to "):
        last = int(line.split()[3])
        assert numbers[-last - 1:] == list(range(last + 1)), numbers
        print(last, "the last of them", flush=True)
        numbers = []
    elif line[:5].strip().isdigit():
        numbers.append(int(line[:5]))
"""


async def test_text_shows_every_action_with_its_number(hall: Any, first: Entry) -> None:
    result, evidence = await play(hall, program(hall, COUNTING, "--text"), first)
    assert result.reason is EndReason.NORMAL, evidence


async def test_a_text_seat_may_resign(hall: Any, first: Entry) -> None:
    result, _ = await play(hall, program(hall, TEXT.format(answer="print('resign')"), "--text"), first)
    assert result.reason is EndReason.RESIGNED


async def test_the_program_learns_of_the_end_and_ends_when_its_input_does(
    make_hall: Any, first: Entry, tmp_path: Path
) -> None:
    hall = make_hall(tmp_path)
    log = tmp_path / "log"
    body = (
        f"log = open({str(log)!r}, 'a')\nfor line in sys.stdin:\n    kind = json.loads(line)['type']\n"
        "    print(kind, file=log, flush=True)\n    if kind == 'decide':\n        print(0, flush=True)\n"
        "print('bye', file=log, flush=True)\n"
    )
    entry = program(hall, body)
    async with Table(hall.entries) as hall.table:
        await play(hall, entry, first)
    kinds = log.read_text().split()
    assert kinds[0] == "match_start"
    assert kinds[-2:] == ["match_end", "bye"]
    assert set(kinds[1:-2]) == {"decide"}


async def test_the_command_line_says_what_it_wants(capsys: pytest.CaptureFixture[str]) -> None:
    from crosstown_bridge import main

    with pytest.raises(SystemExit):
        main([])
    assert "COMMAND" in capsys.readouterr().err
    assert main(["--", f"{sys.executable}-none"]) == 1
    assert "cannot start" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["", "/nowhere"])
async def test_a_program_that_is_not_in_the_path_of_the_bridge_is_told_with_it(
    path: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from crosstown_bridge import main

    monkeypatch.setenv("PATH", path)
    assert main(["--", "no-such-engine"]) == 1
    assert f"No such file or directory (PATH is {path or 'empty'})" in capsys.readouterr().err
