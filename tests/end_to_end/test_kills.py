"""kill -9 of whole runs, real workers and bots, for every format: the same command goes on exactly.

What counts in the end is held against the schedule itself, which is walked with the results of the records.
"""

import json
import random
import signal
import time
from pathlib import Path

import pytest

from referee.record import read_record, verify
from referee.run.journal import read_journal
from referee.run.luck import seeds_of
from referee.schedule.schedule import Schedule
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of

# Per format: blocks, the format's own table, and the same for long runs.
FORMATS = {
    "round-robin": (1, "", 3, ""),
    "gauntlet": (2, "", 8, ""),
    "swiss": (1, "[swiss]\nrounds = 3\n", 2, "[swiss]\nrounds = 6\n"),
    "knockout": (1, "[knockout]\nbest_of = 3\n", 2, "[knockout]\nbest_of = 7\n"),
    "league": (8, "[league]\nwindow = 2\nclose = true\n", 24, "[league]\nwindow = 2\nclose = true\n"),
}
CASES = [(style, bots) for style in FORMATS for bots in (2, 3, 7)]
QUICK = [("round-robin", 3), ("gauntlet", 3), ("swiss", 7), ("knockout", 2), ("league", 3)]
"""Each format once, for the default run."""
TIMES = {2: 4, 3: 2, 7: 1}
"""The fewer bots, the more blocks, so that there is something left to kill."""


def assert_exact(workplace, values) -> None:
    """Every match that the schedule comes to is there once, sound and rated, and nothing else; and the format's table
    is the one that follows."""
    tournament = load_tournament(workplace.folder / "cup.toml")
    records = {path.name.partition(".")[0]: path for path in workplace.records()}
    assert len(records) == len(workplace.records())
    luck, epochs = seeds_of(read_journal(workplace.folder / "runs" / "cup" / "tournament.jsonl"))
    assert len(luck.secrets) == epochs
    schedule = Schedule(config_of(tournament), seeds=luck)
    while (spec := schedule.next()) is not None:
        path = records.pop(spec.match_id)
        assert path.suffix == ".gz"
        assert str(verify(path).status) == "ok"
        header, footer = (record := read_record(path)).header, record.footer
        assert (header.place, footer.seed, footer.status) == (spec.place, spec.seed, "rated")
        assert [seat.entry_id for seat in header.seats] == [seat.entry_id for seat in spec.seats]
        schedule.settle(spec, footer.ranking, [fault["reason"] if fault else "" for fault in footer.faults])
        for _ in (*schedule.in_order(), *schedule.settled()):
            pass
    assert schedule.ended
    assert not records
    assert (values["missing"], values["given_up"], values["cancelled"]) == (0, [], 0)
    assert values["found"] + values["played"] == schedule.places
    assert [(row["name"], row["rank"]) for row in values["placings"]] == [
        (tournament.entries[row.bot].name, row.rank) for row in schedule.placings
    ]
    events = read_journal(workplace.folder / "runs" / "cup" / "tournament.jsonl").events
    assert [event.kind for event in events if event.kind in ("created", "finished")] == ["created", "finished"]


def kill_after(workplace, more: int, chance: random.Random) -> int:
    """Start the command, and kill it some moments after it has so many more records; 0: anywhere in its start-up. How
    it ended: it may have been quicker."""
    process = workplace.start("run", "cup.toml", "--workers", "2")
    if more:
        workplace.wait_for_records(len(workplace.records()) + more, process)
        time.sleep(chance.random() * 0.05)
    else:
        time.sleep(chance.random() * 1.5)
    killed = workplace.kill(process)
    workplace.assert_nobody_left()
    return killed.code


def outcome(workplace, *words: str):
    ran = workplace.run("run", "cup.toml", "--json", *words, timeout_s=300)
    assert ran.code == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize(
    ("style", "bots"),
    [pytest.param(*case, marks=() if case in QUICK else pytest.mark.long) for case in CASES],
)
def test_any_format_killed_amid_its_matches_is_taken_up_exactly(workplace, write_cup, style, bots):
    blocks, more, _, _ = FORMATS[style]
    write_cup(bots, blocks * TIMES[bots], keys={"format": json.dumps(style)}, more=more)
    chance = random.Random(f"{style} {bots}")
    assert kill_after(workplace, chance.randrange(1, 4), chance) == -signal.SIGKILL
    before = {path.name for path in workplace.records() if path.suffix == ".gz" and counts(path)}
    values = outcome(workplace, "--workers", "2")
    assert before <= {path.name for path in workplace.records()}
    assert_exact(workplace, values)
    workplace.assert_nobody_left()


@pytest.mark.usefixtures("same_luck")
@pytest.mark.long
@pytest.mark.parametrize(("style", "bots"), CASES)
def test_any_format_killed_again_and_again_ends_as_it_would_have(workplace, write_cup, style, bots):
    _, _, blocks, more = FORMATS[style]
    write_cup(bots, blocks * TIMES[bots], keys={"format": json.dumps(style)}, more=more)
    calm = outcome(workplace, "--workers", "1", "--out", "calm")
    table = workplace.standings("--out", "calm")
    chance = random.Random(f"{style} {bots} long")
    ended = [kill_after(workplace, 0 if number % 3 == 0 else chance.randrange(1, 9), chance) for number in range(5)]
    assert ended.count(-signal.SIGKILL) >= 3
    values = outcome(workplace, "--workers", "3")
    assert_exact(workplace, values)
    assert values["placings"] == calm["placings"]
    assert workplace.standings() == table
    assert {path.name for path in workplace.records()} == names(workplace.folder / "calm" / "cup" / "matches")


def names(matches: Path) -> set[str]:
    return {path.name for path in matches.glob("*.jsonl*")}


def counts(path: Path) -> bool:
    footer = read_record(path).footer
    return footer is not None and footer.status == "rated"
