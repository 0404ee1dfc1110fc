"""What overviews say of the faults of bots: the last one for each reason, with the lines that help its author."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leaderboard.controls import Counted
from leaderboard.evidence import LONGEST, evidence_of, last_faults
from leaderboard.index import load_index
from leaderboard.match_list import rows_of
from leaderboard.records import MatchRow, read_match
from leaderboard.report import report_html
from leaderboard.standings import standings
from leaderboard.store import Store
from referee.record import Footer, Header, RecordWriter, SeatHeader, SeatStats, read_record
from referee.record.format import seed_commitment
from referee.record.store import RecordStore
from referee.run.folder import RunFolder
from referee.texts import missing_package, without_store

SEED = "00" * 16
STORED = f"/home/me/.cache/crosstown/bots/{'0f' * 16}/bot"
TRACEBACK = f'Traceback (most recent call last):\n  File "{STORED}/bot.py", line 7, in choose\nValueError: no plan'
STACKS = f"""Thread 0x7f (most recent call first):
  File "/usr/lib/python3/threading.py", line 3 in run

Current thread 0x7e (most recent call first):
  File "{STORED}/bot.py", line 7 in think
  File "{STORED}/bot.py", line 5 in choose
  File "/sdk/crosstown_bot/playing.py", line 115 in _choose
  File "/usr/lib/python3/asyncio/runners.py", line 9 in run"""


def write_fault(folder: Path, place: int, fault: Mapping[str, Any], seat: int = 0) -> MatchRow:
    header = Header(
        match_id=f"m{place:06d}-00000000",
        tournament="cup",
        place=place,
        block=place,
        game="nim",
        rules_version=1,
        options={},
        players=2,
        seats=(SeatHeader("aa" * 8, "ann", "1"), SeatHeader("bb" * 8, "bob", "1")),
        limits={},
        seed_commitment=seed_commitment(SEED),
        created_at="2026-01-01T00:00:00Z",
        crosstown="0.1.0",
    )
    footer = Footer(
        status="rated",
        reason=str(fault["reason"]),
        detail="",
        seed=SEED,
        ranking=(2, 1) if seat == 0 else (1, 2),
        returns=(),
        state_hash="cd",
        seat_stats=(SeatStats(), SeatStats()),
        faults=(fault, None) if seat == 0 else (None, fault),
        decisions=0,
        wall_us=2000,
    )
    row = read_match(RecordWriter(folder, header).close(footer)).row
    assert row is not None
    return row


def crash(stderr: str = TRACEBACK) -> dict[str, Any]:
    return {"reason": "crashed", "detail": "the process ended: exit code 1", "stderr": stderr}


def test_the_last_fault_of_each_bot_and_reason_tells_why(tmp_path: Path) -> None:
    rows = [
        write_fault(tmp_path, 0, crash("first\n")),
        write_fault(tmp_path, 1, crash()),
        write_fault(tmp_path, 2, {"reason": "move_timeout", "detail": "no answer", "stacks": STACKS}),
        write_fault(tmp_path, 3, crash(), seat=1),
        write_fault(tmp_path, 4, {"reason": "resigned"}, seat=1),
    ]
    faults = last_faults(rows, RecordStore(tmp_path))
    assert [(fault.name, fault.reason, fault.matches, fault.match_id) for fault in faults] == [
        ("ann", "crashed", 2, "m000001-00000000"),
        ("ann", "move_timeout", 1, "m000002-00000000"),
        ("bob", "crashed", 1, "m000003-00000000"),
    ]
    assert faults[0].said == "crashed: the process ended: exit code 1"
    assert faults[0].lines[-2:] == ('  File "bot.py", line 7, in choose', "ValueError: no plan")
    assert faults[1].lines == ('File "bot.py", line 5 in choose', 'File "bot.py", line 7 in think')


def test_a_record_that_is_gone_leaves_the_reason(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, crash())
    (tmp_path / row.stamp.name).unlink()
    (fault,) = last_faults([row], RecordStore(tmp_path))
    assert (fault.said, fault.lines, fault.advice) == ("crashed", (), "")


def test_the_report_says_why_a_bot_crashed(tmp_path: Path) -> None:
    printed = "ModuleNotFoundError: No module named 'numpy'\n<b>"
    rows = (write_fault(tmp_path, 0, crash(printed)),)
    counted = Counted(rows)
    page = report_html(
        "cup", counted, standings(counted, ()), total=1, made_at="today", link="matches",
        faults=last_faults(rows, RecordStore(tmp_path)),
    )  # fmt: skip
    assert "ann: crashed in 1 match<" in page
    assert "crosstown matches show m000000-00000000" in page
    assert 'href="matches/m000000-00000000.jsonl.gz"' in page
    assert "No module named &#39;numpy&#39;\n&lt;b&gt;" in page
    assert "requirements.txt" in page


def test_a_report_without_faults_has_no_section_of_them(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, {"reason": "resigned"})
    counted = Counted((row,))
    assert last_faults([row], RecordStore(tmp_path)) == []
    assert "Why bots failed" not in report_html("cup", counted, standings(counted, ()), total=1, made_at="today")


def test_the_end_of_long_output_is_shown_where_the_traceback_is(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, crash("x\n" * LONGEST + TRACEBACK))
    (evidence,) = evidence_of(read_record(tmp_path / row.stamp.name))
    shown = dict(evidence.texts)["stderr"]
    assert shown.endswith("ValueError: no plan")
    assert "more characters are in the record ...]" in shown
    assert len(shown) < LONGEST + 100
    assert evidence.last_lines.endswith("ValueError: no plan")


def test_a_line_without_end_is_shown_with_its_beginning_and_its_end(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, crash("begins" + "y" * LONGEST + " no memory"))
    (fault,) = last_faults([row], RecordStore(tmp_path))
    assert fault.lines[-1].endswith(" no memory")
    assert len(fault.lines[-1]) < 1000


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (f'File "{STORED}/a/b.py", line 1', 'File "a/b.py", line 1'),
        (f'File "/with space{STORED}/b.py", line 1', 'File "b.py", line 1'),
        (f"at f ({STORED}/dist/bot.js:1:2)", "at f (dist/bot.js:1:2)"),
        ('File "/my cache/0123456789abcdef/12/bot/own.py", line 1', 'File "own.py", line 1'),
        ("at f (/c/0123456789abcdef/1/bot/build/bot.js:1:2)", "at f (build/bot.js:1:2)"),
        ('File "/usr/lib/python3/json.py", line 1', 'File "/usr/lib/python3/json.py", line 1'),
        ("/" * 50_000, "/" * 50_000),
        ("/a" * 50_000, "/a" * 50_000),
    ],
)
def test_a_path_in_the_store_of_versions_is_shown_as_the_author_knows_it(printed: str, shown: str) -> None:
    assert without_store(printed) == shown


def test_the_advice_about_a_missing_package_names_it_on_one_line() -> None:
    advice = missing_package("x\nModuleNotFoundError: No module named 'torch'\n")
    assert "no module 'torch'" in advice
    assert "requirements.txt in the bot's folder, which counts if 'run' in bot.toml has {python}" in advice
    assert missing_package("ValueError: No module named 'torch'") == ""
    assert "\x1b" not in missing_package("ModuleNotFoundError: No module named '\x1b[2J'")


def test_faults_are_sorted_by_their_place_not_by_their_order(tmp_path: Path) -> None:
    late, early = write_fault(tmp_path, 5, crash("late")), write_fault(tmp_path, 2, crash("early"))
    (fault,) = last_faults([late, early._replace()], RecordStore(tmp_path))
    assert fault.lines == ("late",)


LATE = {
    "reason": "move_timeout", "detail": "decision 3 (move): no answer after 1.012 s charged (1.023 s passed)",
    "limit_us": 1_010_000, "wall_us": 1_023_333, "cpu_us": 1_494, "lag_us": 11_333, "process_state": "S",
    "busy_seats_us": {"1": 600_000}, "legal_count": 48, "legal": [f"reroll({number})" for number in range(48)],
}  # fmt: skip


def test_the_evidence_of_a_time_out_is_words_with_units_and_one_limit(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, LATE)
    (evidence,) = evidence_of(read_record(tmp_path / row.stamp.name))
    values = dict(evidence.values)
    assert values["time charged"] == "1.012 s"
    assert values["time passed"] == "1.023 s"
    assert values["limit"] == "1.01 s"
    assert values["bot at its deadline"] == "not running: sleeping, or waiting for something"
    assert values["other bots computed"] == "bob 600.0 ms"
    assert values["the first of them"].count("reroll") == 5
    assert not any("_" in name or name.endswith(" us") for name in values)
    assert evidence.cause == (
        "The bot used 1.5 ms of processor time in 1.023 s and was not running at its deadline: it slept, or waited for"
        " something."
    )


def test_a_bot_that_computed_until_its_time_was_up_is_said_to_have_computed(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, LATE | {"cpu_us": 1_000_000, "process_state": "R"})
    (evidence,) = evidence_of(read_record(tmp_path / row.stamp.name))
    assert evidence.cause == "The bot used 1 s of processor time in 1.023 s: it was computing."


def test_the_worst_time_of_a_bot_has_the_decision_that_timed_out_in_it(tmp_path: Path) -> None:
    row = write_fault(tmp_path, 0, LATE)
    assert (row.seats[0].worst_us, row.seats[1].worst_us) == (1_012_000, 0)
    assert write_fault(tmp_path, 1, crash()).seats[0].worst_us == 0


def test_the_list_of_matches_has_no_worst_time_that_is_shorter_than_what_was_charged(tmp_path: Path) -> None:
    """Of the three worst times, the wall time alone was of answered decisions."""
    write_fault(tmp_path, 0, LATE)
    [row] = rows_of(tmp_path.glob("*.gz"))
    late, other = row["seats"]
    assert (late["worst_us"], late["worst_charged_us"], late["worst_lag_us"]) == (1_023_333, 1_012_000, 11_333)
    assert other["worst_us"] >= other["worst_charged_us"]


def test_the_worst_lag_of_a_bot_has_the_decision_that_timed_out_in_it(tmp_path: Path) -> None:
    """It stood in the evidence of the fault, and not in the column 'lag ms' of the table."""
    rows = [write_fault(tmp_path, 0, LATE), write_fault(tmp_path, 1, crash(), seat=1)]
    assert [(seat.worst_us, seat.worst_lag_us) for seat in rows[0].seats] == [(1_012_000, 11_333), (0, 0)]
    lags = {row.name: (row.mean_lag_ms, row.worst_lag_ms) for row in standings(rows)}
    assert lags == {"ann": (None, 11.333), "bob": (None, None)}, "the mean is of answered decisions"


def test_the_worst_lag_of_a_kept_row_gets_the_decision_that_timed_out(tmp_path: Path) -> None:
    """The database of an older version has rows without it: they are read from their records again."""
    rows = [write_fault(tmp_path / "matches", 0, LATE), write_fault(tmp_path / "matches", 1, crash())]
    older = [row._replace(seats=tuple(seat._replace(worst_lag_us=0) for seat in row.seats)) for row in rows]
    with Store(tmp_path / "crosstown.db") as store:
        store.put(older)
    with closing(sqlite3.connect(tmp_path / "crosstown.db")) as connection:
        connection.execute("PRAGMA user_version = 9")
    assert list(load_index(RunFolder(tmp_path)).rows) == rows
    with Store(tmp_path / "crosstown.db") as store:
        assert [row.stamp.mtime_ns == -1 for row in store.rows()] == [True, False]
    assert list(load_index(RunFolder(tmp_path)).rows) == rows
