"""A bot that told the referee not to send something, and then reads it, is told so: an empty message would look like an
empty board. So is one that answers with no number where the language lets it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchSpec, SeatSpec, Table
from referee.process.entry import Entry, load_entry

ROOT = Path(__file__).resolve().parents[3]
PATIENT = Limits(startup_s=60, ready_s=60, first_move_s=60, move_s=60)
CASES = {
    "go": (
        "random.go",
        "turn *crosstown.Turn) (crosstown.Answer, error) {",
        "if err := turn.Observe(&pb.Bye{}, nil); err != nil {\nreturn crosstown.Answer{}, err\n}",
        "the observation is not sent: your Bot says OmitObservation: true",
    ),
    "rust": (
        "src/random.rs",
        "turn: &mut Turn) -> Result<Answer> {",
        "let _: crosstown::v1::Bye = turn.observation()?;",
        "the observation is not sent: your Bot says omit_observation: true",
    ),
    "java": (
        "src/main/java/bots/RandomBot.java",
        "public Answer choose(Turn turn) {",
        "try { turn.legalActions(crosstown.v1.RefereeOuterClass.Bye.parser()); }"
        " catch (java.io.IOException problem) { throw new RuntimeException(problem); }",
        "the legal actions are not sent: your Bot has looks = false",
    ),
    "typescript": (
        "src/random.ts",
        "choose: (turn) => ",
        "turn.observation({ decode: () => 0 }) + ",
        "the observation is not sent: your Bot says omitObservation: true",
    ),
    "typescript-number": (
        "src/random.ts",
        "choose: (turn) => ",
        "Number('three') + ",
        "choose returned NaN for decision 1 (place) of match m-1; expected an index from 0 to ",
    ),
    "typescript-trace": (
        "src/random.ts",
        "choose: (turn) => ",
        "((): number => { throw new Error('no plan'); })() + ",
        "/src/random.ts:",
    ),
    "cpp": (
        "random.cc",
        "Choose(crosstown::Turn& turn) override {",
        "turn.LegalActions<crosstown::v1::Bye>();",
        "turn.legal_actions is not sent: your Bot says .wants_legal_actions = false",
    ),
}
"""File, what stands before the change, the change, and what the author is to be told."""


def rebuild(folder: Path) -> None:
    done = subprocess.run(["sh", "build.sh"], cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
async def test_a_mistake_that_would_pass_in_silence_is_explained(
    starter: Callable[..., Entry], tmp_path: Path, case: str
) -> None:
    language = case.partition("-")[0]
    starter(language)  # so that what takes long is built
    file, after, reading, sentence = CASES[case]
    folder = tmp_path / "bots" / language
    left_out = shutil.ignore_patterns("build") if language == "cpp" else None  # CMake's are bound to their place
    shutil.copytree(ROOT / "bots" / language, folder, symlinks=True, ignore=left_out)
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    source = (folder / file).read_text()
    assert source.count(after) == 1
    (folder / file).write_text(source.replace(after, f"{after}\n{reading}"))
    rebuild(folder)
    bot = load_entry(folder, built_in=folder)
    game = get_game("shibuya")
    seat = SeatSpec(bot.id, "a", "1")
    spec = MatchSpec("m-1", "shibuya", resolve_options("shibuya", game.options, {}), (seat,) * 2, "00", PATIENT)
    async with Table({bot.id: bot}) as table:
        result = await table.play(spec, tmp_path)
    assert result.reason is EndReason.CRASHED, result
    assert result.faults[0] is not None
    assert sentence in result.faults[0].evidence["stderr"]


@pytest.mark.long
def test_a_typescript_bot_that_does_not_type_check_is_not_built(starter: Callable[..., Entry], tmp_path: Path) -> None:
    starter("typescript")
    folder = tmp_path / "bots" / "typescript"
    shutil.copytree(ROOT / "bots" / "typescript", folder, symlinks=True)
    (tmp_path / "proto").symlink_to(ROOT / "proto")
    source = (folder / "src" / "random.ts").read_text()
    (folder / "src" / "random.ts").write_text(source + "\nexport const wrong: number = 'three';\n")
    done = subprocess.run(["sh", "build.sh"], cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode != 0
    assert "src/random.ts(" in done.stdout
    assert "Type 'string' is not assignable to type 'number'" in done.stdout
