"""A bot of which there may be one process at once, such as one that fills the memory of the only GPU."""

from typing import Any

from referee.record import read_record
from referee.run.folder import RunFolder
from referee.run.journal import read_journal

ALONE = """
import fcntl
from crosstown_bot import Bot, run

gpu = open(GPU, "w")
fcntl.flock(gpu, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until this process has ended

class Alone(Bot):
    def choose(self, turn):
        return 0

run(Alone)
"""


def test_over_all_workers_there_is_one_process_of_it_and_all_is_played(
    workplace: Any, write_cup: Any, tmp_path: Any
) -> None:
    gpu = tmp_path / "gpu"
    write_cup(bots=3, blocks=6, more='copies = 1\nsandbox = "plain"\n')
    (tmp_path / "bots" / "bot2" / "bot.py").write_text(ALONE.replace("GPU", repr(str(gpu))))
    outcome = workplace.run("run", "cup.toml", "--workers", "3", "--quiet")
    assert outcome.code == 0, outcome.stderr
    assert gpu.exists()
    assert [row["faults"] for row in workplace.standings()] == [{}, {}, {}]
    assert len(workplace.records()) == 6 * 3 * 2
    assert {read_record(path).footer.reason for path in workplace.records()} == {"normal"}
    events = read_journal(RunFolder(tmp_path / "runs" / "cup").journal).events
    assert "void" not in {event.kind for event in events}
    workplace.assert_nobody_left()
