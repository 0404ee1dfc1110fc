"""The compliance kit finds each kind of misconduct and names it; a sound bot passes."""

from pathlib import Path

import pytest

from referee.compliance import Report, check_bot
from referee.games.registry import get_game
from referee.process.entry import load_entry
from referee.process.launch import LaunchContext
from referee.process.sandbox import Sandbox

PLAIN = LaunchContext()
STRICT = LaunchContext(Sandbox("strict"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.compliance.drills.LATE_SOCKET_S", 0.3)


SOUND = """
from crosstown_bot import Bot, run

class Mine(Bot):
    def choose(self, turn):
        return turn.match.rng.randrange(turn.legal_count)

run(Mine)
"""


def write(folder: Path, program: str, games: str = '["toy"]') -> Path:
    (folder / "bot.toml").write_text(f'name = "mine"\nversion = "1"\ngames = {games}\nrun = ["{{python}}", "bot.py"]\n')
    (folder / "bot.py").write_text(program)
    return folder


async def check(
    folder: Path, program: str, *, game: str = "toy", startup_s: float = 20.0, fail_fast: bool = True
) -> Report:
    entry = load_entry(write(folder, program))
    return await check_bot(entry, [get_game(game)], context=PLAIN, startup_s=startup_s, fail_fast=fail_fast)


@pytest.mark.slow
async def test_a_sound_bot_passes_every_drill(tmp_path: Path) -> None:
    rows = []
    report = await check_bot(load_entry(write(tmp_path, SOUND)), [get_game("toy")], context=PLAIN, on_row=rows.append)
    assert report.passed, report
    assert report.first_failure is None
    assert tuple(rows) == report.rows
    assert [row.drill for row in rows] == [
        "handshake",
        "bye",
        "late socket",
        "referee gone",
        "matches",
        "every decision",
        "nothing unasked",
        "cancelled match",
        "huge questions",
        "unknown fields",
        "matches at once",
        "same answers",
    ]
    assert {row.outcome for row in rows} == {"passed"}


def answering(choose: str, before: str = "") -> str:
    return f"import os, sys, time\nfrom crosstown_bot import RESIGN, Bot, run\n{before}\n" + (
        f"class Mine(Bot):\n    def choose(self, turn):\n        {choose}\n\nrun(Mine)\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "drill", "sentence"),
    [
        (answering("return turn.legal_count"), "matches", "expected 0 to"),
        (answering("return RESIGN"), "matches", "it resigned at decision"),
        (answering("return b'junk'"), "matches", "is not an Action message of toy"),
        (answering("print('so long', file=sys.stderr); sys.exit(4)"), "matches", "exit code 4"),
        (answering("raise ValueError('oh')"), "matches", "ValueError: oh"),
        (
            answering("time.sleep(60)"),
            "matches",
            "no Move for decision 1 (stash) of match check-toy-2-0-20",
        ),
        (answering("return 0") + "sys.exit(3)\n", "bye", "ended with exit code 3 after Bye; expected exit code 0"),
        ("import sys; sys.exit('cannot find my weights')", "handshake", "cannot find my weights"),
        ("import time; time.sleep(60)", "handshake", "no Hello within 1 s"),
        ("print('here')", "handshake", "exit code 0; does the program call run(...) with your bot?"),
    ],
    ids=["index", "resign", "junk", "exit", "exception", "no answer", "bye", "no start", "silent start", "no run"],
)
async def test_misconduct_is_named_with_where_and_what_was_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, drill: str, sentence: str
) -> None:
    if drill == "matches" and "sleep" in program:
        monkeypatch.setattr("referee.compliance.matches.CLOCK_S", (0.1, 0.1))
    report = await check(tmp_path, program, startup_s=1.0 if drill == "handshake" else 20.0)
    assert not report.passed
    first = report.first_failure
    assert first is not None
    assert first.drill == drill
    assert sentence in first.detail


async def test_a_bot_that_does_not_answer_is_not_asked_more_in_that_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.compliance.matches.CLOCK_S", (0.1, 0.1))
    report = await check(tmp_path, answering("time.sleep(60)"), fail_fast=False)
    assert [row.drill for row in report.rows][-1] == "matches"
    assert "the drills with toy that remain were left out" in report.rows[-1].detail


BEHIND_THE_BRIDGE = """
import sys
from crosstown_bridge import main
if sys.argv[1:]:
    for line in sys.stdin:
        if '"type":"decide"' in line:
            print("0\\n0", flush=True)
else:
    main(["--", sys.executable, __file__, "child"])
"""


@pytest.mark.slow
async def test_a_line_too_many_of_a_program_behind_the_bridge_is_found(tmp_path: Path) -> None:
    entry = load_entry(write(tmp_path, BEHIND_THE_BRIDGE))
    report = await check_bot(entry, [get_game("toy")], context=PLAIN, startup_s=20.0, fail_fast=False)
    row = next(row for row in report.rows if row.drill == "nothing unasked")
    assert row.outcome == "failed"
    assert "came before the question" in row.detail


NEGATIVE = BEHIND_THE_BRIDGE.replace("0\\n0", "-1")


async def test_a_negative_index_of_a_program_behind_the_bridge_is_named_as_it_was_written(tmp_path: Path) -> None:
    assert '"-1"' in NEGATIVE
    report = await check(tmp_path, NEGATIVE)
    first = report.first_failure
    assert first is not None
    assert first.drill == "matches"
    assert "index -1 (on the wire 4294967295) in the answer to decision 1 " in first.detail
    assert "expected 0 to" in first.detail


@pytest.mark.slow
async def test_a_bot_that_outlives_its_referee_fails_that_drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.compliance.drills.EXIT_LIMIT_S", 0.5)
    program = "import atexit, time\natexit.register(time.sleep, 60)\n" + SOUND
    report = await check(tmp_path, program, fail_fast=False)
    failed = {row.drill for row in report.rows if row.outcome == "failed"}
    assert {"bye", "referee gone"} <= failed


RAW = """
import os, grpc
from crosstown_proto.v1 import referee_pb2 as pb

def say(**body):
    return pb.BotMessage(**body).SerializeToString()

def talk(answers):
    yield say(hello=pb.Hello(protocol=PROTOCOL, token=os.environ["CROSSTOWN_TOKEN"] + TOKEN, max_parallel_matches=1))
    while (answer := answers.get()) is not None:
        yield answer

import queue
PROTOCOL, TOKEN, LIMIT = 1, "", 4 << 20
{before}
answers = queue.SimpleQueue()
channel = grpc.insecure_channel(os.environ["CROSSTOWN_ADDRESS"], options=[("grpc.max_receive_message_length", LIMIT)])
for raw in channel.stream_stream("/crosstown.v1.Referee/Play")(talk(answers), wait_for_ready=WAIT):
    message = pb.RefereeMessage.FromString(raw)
    body = message.WhichOneof("body")
    {on_message}
answers.put(None)
"""


def raw(before: str = "", on_message: str = "", *, wait: bool = True) -> str:
    reply = (
        "if body == 'match_start':\n"
        "        answers.put(say(ready=pb.Ready(match=message.match_start.match)))\n"
        "    elif body == 'decide':\n"
        "        d = message.decide\n"
        "        answers.put(say(move=pb.Move(match=d.match, decision=d.decision, index=0)))\n"
        "    elif body == 'bye':\n"
        "        break"
    )
    program = RAW.replace("{before}", before).replace("{on_message}", on_message or reply)
    return program.replace("WAIT", str(wait))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "drill", "sentence"),
    [
        (raw("PROTOCOL = 7"), "handshake", "Hello.protocol is 7; expected 1"),
        (raw("TOKEN = 'x'"), "handshake", "Hello.token is not the value of CROSSTOWN_TOKEN"),
        (raw("LIMIT = 1 << 20"), "huge questions", "ended its stream"),
        (raw(wait=False), "late socket", "instead of sending Hello"),
        (raw().replace("    if body ==", "    assert body\n    if body =="), "unknown fields", "AssertionError"),
        (raw().replace("decision=d.decision", "decision=1"), "matches", "Move.decision is 1"),
        (raw().replace("match=d.match", "match='m'"), "matches", "Move.match is 'm'"),
        (raw().replace("match=message.match_start.match", "match='m'"), "matches", "Ready names match 'm'"),
        (raw().replace(", index=0", ""), "matches", "neither an index nor an action"),
        (raw().replace(", index=0", ", provider_error='HTTP 503'"), "matches", "no answer from its provider"),
    ],
    ids=[
        *("protocol", "token", "small limit", "no waiting", "empty", "decision", "match", "ready", "no choice"),
        "no provider",
    ],
)
async def test_misconduct_on_the_wire_is_named(
    tmp_path: Path, program: str, drill: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if drill == "late socket":  # the bot must have started by then, on a busy machine, too
        monkeypatch.setattr("referee.compliance.drills.LATE_SOCKET_S", 5.0)
    report = await check(tmp_path, program)
    first = report.first_failure
    assert first is not None, report
    assert first.drill == drill
    assert sentence in first.detail


@pytest.mark.slow
async def test_luck_of_its_own_and_slow_answers_are_worth_a_note_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.compliance.matches.CLOCK_S", (10.0, 0.1))
    choose = "self.slow = time.sleep(0.11) if turn.number > 3 else 0; return self.luck.randrange(turn.legal_count)"
    program = answering(choose, "import random").replace("    def choose", "    luck = random.Random()\n    def choose")
    report = await check(tmp_path, program)
    notes = {row.drill: row.detail for row in report.rows if row.outcome == "note"}
    assert report.passed, report
    assert "cannot be played again exactly" in notes["same answers"]
    assert "came after" in notes["matches"]


async def test_games_that_hello_and_manifest_tell_differently_are_worth_a_note(tmp_path: Path) -> None:
    program = SOUND.replace("    def choose", "    games = ('shibuya',)\n    def choose")
    entry = load_entry(write(tmp_path, program, '["*"]'))
    report = await check_bot(entry, [], context=PLAIN)
    assert report.rows[0].outcome == "note"
    assert "Hello.games is ['shibuya']" in report.rows[0].detail


@pytest.mark.slow
async def test_what_the_bot_printed_in_the_first_failure_is_kept(tmp_path: Path) -> None:
    report = await check(tmp_path, answering("print('here', file=sys.stderr); return 99999999"))
    assert "here" in report.stderr


@pytest.mark.slow
@pytest.mark.strict_sandbox
async def test_a_sound_bot_passes_every_drill_in_the_strict_sandbox(tmp_path: Path) -> None:
    report = await check_bot(load_entry(write(tmp_path, SOUND)), [get_game("toy")], context=STRICT)
    assert report.passed, report


@pytest.mark.slow
@pytest.mark.strict_sandbox
@pytest.mark.parametrize(
    ("choose", "sentence"),
    [
        ("open({outside!r}).read(); return 0", "FileNotFoundError"),
        ("open(__file__ + '.log', 'w'); return 0", "Read-only file system"),
    ],
    ids=["reads outside of its folder", "writes into its folder"],
)
async def test_what_a_run_forbids_fails_here(tmp_path: Path, choose: str, sentence: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("")
    (tmp_path / "mine").mkdir()
    entry = load_entry(write(tmp_path / "mine", answering(choose.format(outside=str(outside)))))
    assert (await check_bot(entry, [get_game("toy")], context=PLAIN, fail_fast=True)).passed
    report = await check_bot(entry, [get_game("toy")], context=STRICT, fail_fast=True)
    assert report.first_failure is not None
    assert report.first_failure.drill == "matches"
    assert sentence in report.first_failure.detail


async def test_an_answer_to_nothing_is_found(tmp_path: Path) -> None:
    late = (
        "threading.Timer(0.02, answers.put, [say(move=pb.Move(match=d.match, decision=d.decision, index=0))]).start()"
    )
    program = raw("import threading").replace(
        "        d = message.decide\n", f"        d = message.decide\n        if d.match.endswith('unasked'): {late}\n"
    )
    report = await check(tmp_path, program)
    assert report.first_failure is not None
    assert report.first_failure.drill == "nothing unasked"
    assert "it sent move after its answer, when nothing was asked" in report.first_failure.detail
