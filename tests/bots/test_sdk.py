"""The Python SDK as an author uses it: small bots in whole matches."""

from pathlib import Path
from typing import Any

import pytest

from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.entry import Entry, load_entry
from referee.record import Answer, Record

ROOT = Path(__file__).resolve().parents[2]
PATIENT = Limits(startup_s=30, ready_s=30, first_move_s=30, move_s=30)

pytestmark = pytest.mark.asyncio(loop_scope="module")


def make(hall: Any, body: str, before: str = "", toml: str = "") -> Entry:
    """A bot, of the body of its class."""
    folder = hall.new_folder()
    (folder / "bot.toml").write_text(
        f'name = "{folder.name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n{toml}'
    )
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    (folder / "bot.py").write_text(
        f"import sys\nfrom crosstown_bot import RESIGN, Bot, run\n{before}\nclass Mine(Bot):\n{lines}\nrun(Mine)\n"
    )
    return load_entry(folder)


async def play(hall: Any, *bots: Entry, game: str = "toy", **given: Any) -> tuple[MatchResult, Record, list[str]]:
    """The match, its record, and what each bot printed to stderr in it."""
    result, record = await hall.play(game, *bots, **given)
    return result, record, [hall.printed(bot) for bot in bots]


FIRST = "def choose(self, turn):\n    return 0"


async def test_a_class_with_one_method_plays(hall: Any) -> None:
    bot = make(hall, FIRST)
    result, record, _ = await play(hall, bot, bot)
    assert result.reason is EndReason.NORMAL
    assert record.complete


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "before"),
    [
        (
            "async def choose(self, turn):\n    await asyncio.sleep(0)\n    return turn.legal_count - 1",
            "import asyncio",
        ),
        (
            "def choose(self, turn):\n    return Index(turn.legal_count - 1)",
            "class Index:\n    def __init__(self, n): self.n = n\n    def __index__(self): return self.n",
        ),
        (
            "def choose(self, turn):\n    return json.dumps(json.loads(turn.legal_actions_bytes)[-1]).encode()",
            "import json",
        ),
    ],
    ids=["coroutine", "index", "bytes"],
)
async def test_an_answer_may_take_several_forms(hall: Any, body: str, before: str) -> None:
    last = make(hall, "def choose(self, turn):\n    return turn.legal_count - 1")
    other = make(hall, body, before)
    _, expected, _ = await play(hall, last, last, seed=7)
    result, record, _ = await play(hall, other, other, seed=7)
    assert result.reason is EndReason.NORMAL
    moves = [[line.action for line in item.lines if isinstance(line, Answer)] for item in (expected, record)]
    assert moves[0] == moves[1]


async def test_messages_of_the_game_are_decoded_on_demand(hall: Any) -> None:
    body = """
def choose(self, turn):
    observation = turn.observation
    legal = turn.legal_actions
    assert len(legal.kinds) == turn.legal_count
    assert len(observation.looks) == 64
    assert turn.number == 1 or turn.events
    action = turn.match.messages.Action()
    if legal.kinds[0] == legal.KIND_PLACE:
        action.place.slot, action.place.turn = legal.source_or_slot[0], legal.target_or_turn[0]
        return action
    return 0
"""
    bot = make(hall, body)
    result, record, _ = await play(hall, bot, bot, game="shibuya")
    assert result.reason is EndReason.NORMAL
    assert any(isinstance(line, Answer) and line.action.startswith("place(") for line in record.lines)


async def test_a_game_without_messages_in_the_package_is_explained(hall: Any) -> None:
    bot = make(hall, "def choose(self, turn):\n    turn.observation")
    result, record, _ = await play(hall, bot, make(hall, FIRST))
    assert result.reason is EndReason.CRASHED
    assert record.footer is not None
    assert record.footer.faults[0] is not None
    assert "the messages of game 'toy' are not in crosstown_proto" in record.footer.faults[0]["stderr"]


@pytest.mark.parametrize("what", ["observation", "observation_bytes", "legal_actions", "legal_actions_bytes"])
async def test_reading_what_was_switched_off_is_explained(hall: Any, what: str) -> None:
    switch = f"wants_{what.removesuffix('_bytes')} = False"
    bot = make(hall, f"{switch}\ndef choose(self, turn):\n    turn.{what}")
    result, record, _ = await play(hall, bot, make(hall, FIRST), game="shibuya")
    assert result.reason is EndReason.CRASHED
    assert record.footer is not None
    assert record.footer.faults[0] is not None
    assert f"is not sent: your Bot class says {switch}; take that line out" in record.footer.faults[0]["stderr"]


async def test_resigning(hall: Any) -> None:
    result, _, _ = await play(hall, make(hall, "def choose(self, turn):\n    return RESIGN"), make(hall, FIRST))
    assert result.reason is EndReason.RESIGNED


async def test_notes_stand_in_the_record(hall: Any) -> None:
    body = "def choose(self, turn):\n    turn.note = f'thought about {turn.kind}'\n    return 0"
    _, record, _ = await play(hall, make(hall, body), make(hall, FIRST))
    notes = {line.note for line in record.lines if isinstance(line, Answer) and line.seat == 0}
    assert "thought about turn" in notes


async def test_hooks_are_called_around_each_match(hall: Any) -> None:
    body = """
def start(self, match):
    self.turns = 0
    print("start", match.game, match.seat, match.players, match.options["rounds"], match.move_limit_s, file=sys.stderr)
def choose(self, turn):
    self.turns += 1
    return 0
def end(self, result):
    print("end", result.reason, result.rank, result.ranking, result.match.seat, self.turns > 0, file=sys.stderr)
"""
    bot = make(hall, body)
    lines = []
    for _ in range(2):
        result, _, printed = await play(hall, make(hall, FIRST), bot)
        lines += printed[1].splitlines()  # in this match
    assert lines[0] == "start toy 1 2 4 60.0"
    assert lines[2] == lines[0]
    assert lines[1].startswith("end normal ")
    assert lines[1].endswith(" 1 True")
    assert f"{result.ranking}" in lines[3]


async def test_text_and_updates_come_on_request(hall: Any) -> None:
    body = """
wants_text = True
wants_updates = True
wants_observation = False
wants_legal_actions = False
updates = 0
def choose(self, turn):
    assert "your hand" in turn.board
    assert len(turn.action_texts) == turn.legal_count
    assert turn._decide.observation == turn._decide.legal_actions == b""
    return 0
"""
    result, _, _ = await play(hall, make(hall, body.replace("wants_updates = True", "")), make(hall, FIRST))
    assert result.reason is EndReason.NORMAL
    updates = """
wants_updates = True
def choose(self, turn):
    return 0
def update(self, match, events):
    print("update", len(events), file=sys.stderr)
"""
    result, _, printed = await play(hall, make(hall, updates), make(hall, FIRST), game="shibuya")
    assert result.reason is EndReason.NORMAL
    assert "update 1" in printed[0]


async def test_the_bots_own_luck_repeats(hall: Any) -> None:
    bot = load_entry(ROOT / "bots" / "python" / "random")
    moves = []
    for _ in range(2):
        _, record, _ = await play(hall, bot, bot, seed=7)
        moves.append([line.action for line in record.lines if isinstance(line, Answer)])
    assert moves[0] == moves[1]


async def test_options_of_the_manifest_reach_the_bot(hall: Any) -> None:
    body = "def choose(self, turn):\n    assert self.options == {'depth': 3, 'style': 'wild'}\n    return 0"
    bot = make(hall, body, toml='[options]\ndepth = 3\nstyle = "wild"\n')
    assert (await play(hall, bot, bot))[0].reason is EndReason.NORMAL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def choose(self, turn):\n    raise ValueError('no idea')", "ValueError: no idea"),
        (
            "def choose(self, turn):\n    return 'left'",
            "TypeError: choose returned 'left' for decision 1 (stash) of match m-",
        ),
        ("def choose(self, turn):\n    return -1", "ValueError: choose returned -1 for decision 1"),
        ("def choose(self, turn):\n    return 1 << 32", "expected an index from 0 to "),
        ("def choose(self, turn):\n    return None", "TypeError: choose returned None"),
        ("def think(self):\n    pass", "Mine has no method choose(self, turn)"),
        ("def choose(self, turn):\n    sys.exit('enough')", "enough"),
        ("def start(self, match):\n    raise ValueError('not today')\n" + FIRST, "not today"),
    ],
)
async def test_an_exception_is_a_crash_with_its_traceback(hall: Any, body: str, said: str) -> None:
    result, record, _ = await play(hall, make(hall, body), make(hall, FIRST))
    assert result.reason is (EndReason.START_FAILED if "start" in body else EndReason.CRASHED)
    assert record.footer is not None
    assert record.footer.faults[0] is not None
    assert said in record.footer.faults[0]["stderr"]
    assert record.footer.faults[0]["exit_code"] == 1


async def test_a_bot_exits_soon_after_bye(hall: Any, tmp_path: Path) -> None:
    bot = make(hall, FIRST)
    hall_entries = {bot.id: bot}
    async with Table(hall_entries) as table:
        spec = MatchSpec(
            "m-1", "toy", {"rounds": 1, "peeking": False}, (SeatSpec(bot.id, "a", "1"),) * 2, "00", PATIENT
        )
        await table.play(spec, tmp_path)
        processes = [item.process for item in table._pool._idle]
    assert [process.exited.code for process in processes if process.exited] == [0, 0]
