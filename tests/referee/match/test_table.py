"""Every end of a match through real processes over the real socket."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from referee.games.api import resolve_options
from referee.games.registry import UnknownGame, get_game
from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.entry import Entry, load_entry
from referee.record import Answer, Dropped, Record, RecordExistsError, read_record, verify

ROOT = Path(__file__).resolve().parents[3]
ROGUE = ROOT / "tests" / "mock_bots" / "grpc_rogue"
RANDOM = ROOT / "bots" / "python" / "random"
R = EndReason
QUICK = Limits(startup_s=60, ready_s=30, first_move_s=5, move_s=0.6, margin_s=0.05)
"""For those who never answer. Sound bots get more: the machine may be busy with other things."""
PATIENT = Limits(startup_s=60, ready_s=30, first_move_s=30, move_s=30)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Hall:
    """One table for all tests of this file, so that sound bots need not start anew each time."""

    folder: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    number: int = 0
    table: Any = None

    def entry(self, deed: str = "honest", at: int = 0, delay_ms: int = 0) -> str:
        options = {"deed": deed, "at": at, "delay_ms": delay_ms}
        entry = load_entry(ROGUE, options=options)  # type: ignore[arg-type]
        self.entries[entry.id] = entry
        return entry.id

    def spec(
        self,
        *entry_ids: str,
        limits: Limits = PATIENT,
        block: int | None = None,
        ponder: bool = True,
        **options: Any,
    ) -> MatchSpec:
        self.number += 1
        game = get_game("toy")
        return MatchSpec(
            match_id=f"m-{self.number:03}",
            game="toy",
            options=resolve_options("toy", game.options, options),
            seats=tuple(SeatSpec(entry_id, f"bot {seat}", "1") for seat, entry_id in enumerate(entry_ids)),
            seed=f"{self.number:032x}",
            limits=limits,
            tournament="hall",
            place=self.number,
            block=self.number if block is None else block,
            ponder=ponder,
        )

    async def play(self, *entry_ids: str, **more: Any) -> tuple[MatchResult, Record]:
        """A match; its record, which must verify."""
        spec = self.spec(*entry_ids, **more)
        result = await self.table.play(spec, self.folder)
        path = self.folder / f"{spec.match_id}.jsonl.gz"
        verdict = verify(path)
        assert verdict.status == "ok", verdict
        record = read_record(path)
        assert record.footer is not None
        assert (record.footer.reason, record.footer.status) == (result.reason, result.status)
        return result, record


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hall(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hall]:
    hall = Hall(tmp_path_factory.mktemp("records"))
    async with Table(hall.entries) as hall.table:
        yield hall


def evidence(record: Record, seat: int) -> Any:
    assert record.footer is not None
    return record.footer.faults[seat]


async def test_two_honest_bots_play_to_the_end(hall: Hall) -> None:
    result, record = await hall.play(hall.entry(), hall.entry())
    assert (result.reason, result.status, result.faults) == (R.NORMAL, "rated", (None, None))
    assert sorted(result.ranking) in ([1, 1], [1, 2])
    assert result.decisions == sum(isinstance(line, Answer) for line in record.lines)
    assert record.complete


async def test_a_record_has_the_round_the_table_and_the_stage_that_the_schedule_gave_its_match(hall: Hall) -> None:
    spec = replace(hall.spec(hall.entry(), hall.entry()), round=3, table=2, stage="play-offs")
    await hall.table.play(spec, hall.folder)
    header = read_record(hall.folder / f"{spec.match_id}.jsonl.gz").header
    assert (header.round, header.table, header.stage) == (3, 2, "play-offs")


async def test_bots_that_are_stopped_off_turn_play_on(hall: Hall) -> None:
    result, record = await hall.play(hall.entry(), hall.entry(), ponder=False)
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))
    assert record.header.policy == {"ponder": False}


async def test_a_bot_is_told_the_cap_of_a_match_and_how_many_bots_start_at_once(hall: Hall) -> None:
    await hall.play(hall.entry(), hall.entry(), limits=replace(PATIENT, match_s=599.5))
    told = [(bot.told.match_us, bot.told.starts_at_once) for bot in hall.table._pool._idle if bot.told.match_us]
    assert told == [(599_500_000, os.cpu_count())] * 2


async def test_a_record_says_which_limits_were_in_force_and_what_held_them(hall: Hall) -> None:
    """Of the two bots neither had a sandbox or a control group; the clock had a cap for the whole match."""
    limits = replace(PATIENT, match_s=600, cores=0.5, open_files=0)
    _, record = await hall.play(hall.entry(), hall.entry(), limits=limits)
    header = record.header
    assert (header.limits["match_s"], header.limits["starts_at_once"]) == (600, os.cpu_count())
    held = {
        "memory_mib": "process",
        "file_size_mib": "process",
        "disk_mib": "none",
        "processes": "none",
        "cores": "none",
    }
    assert [seat.held for seat in header.seats] == [held, held]


@pytest.mark.parametrize("deed", ["any_game", "many_games", "plays_thousands"])
async def test_what_a_bot_offers_in_hello_is_taken_with_care(hall: Hall, deed: str) -> None:
    result, _ = await hall.play(hall.entry(deed), hall.entry())
    assert len(result.detail) < 1000
    assert result.reason is (R.START_FAILED if deed == "many_games" else R.NORMAL)


async def test_the_processor_time_of_bots_is_measured(hall: Hall) -> None:
    """Over some matches: a few answers of a quick bot can lie below what the system's clock of a process tells."""
    used_us = [0, 0]
    for _ in range(10):
        result, _ = await hall.play(hall.entry(), hall.entry())
        used_us = [used + stats.cpu_us for used, stats in zip(used_us, result.seat_stats, strict=True)]
        if min(used_us) > 0:
            break
    assert min(used_us) > 0


FAULTS = [
    ("illegal_index", R.ILLEGAL_ACTION, "expected 0 to"),
    ("illegal_action", R.ILLEGAL_ACTION, "yield() in decision"),
    ("malformed_action", R.MALFORMED_MESSAGE, "cannot be decoded"),
    ("empty_move", R.MALFORMED_MESSAGE, "neither an index nor an action"),
    ("malformed_message", R.MALFORMED_MESSAGE, "not a crosstown.v1.BotMessage"),
    ("oversized_message", R.OVERSIZED_MESSAGE, "the limit is 1048576"),
    ("huge_message", R.OVERSIZED_MESSAGE, "no message may have more than 4 MiB, and the limit"),
    ("floods", R.WRONG_TURN_MESSAGE, "101 messages"),
    ("resigns", R.RESIGNED, "resigned"),
    ("sleeps", R.MOVE_TIMEOUT, "the limit is 0.6 s"),
    ("spins", R.MOVE_TIMEOUT, "the limit is 0.6 s"),
    ("crashes", R.CRASHED, "exit code 1"),
    ("exits", R.CRASHED, "exit code 0"),
    ("killed", R.CRASHED, "killed by SIGKILL"),
    ("aborts", R.CRASHED, "killed by SIGABRT"),
    ("leaves_child", R.CRASHED, "exit code 6"),
    ("half_closes", R.DISCONNECTED, "closed its stream"),
    ("cancels", R.DISCONNECTED, "closed its stream"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "reason", "said", "seat"), [(*fault, number % 2) for number, fault in enumerate(FAULTS)]
)
async def test_a_faulty_bot_loses_this_match_only(
    hall: Hall, deed: str, reason: EndReason, said: str, seat: int
) -> None:
    rogue, honest = hall.entry(deed, at=2), hall.entry()
    limits = QUICK if reason is R.MOVE_TIMEOUT else PATIENT
    result, record = await hall.play(*((rogue, honest) if seat == 0 else (honest, rogue)), limits=limits)
    assert (result.reason, result.status) == (reason, "rated")
    assert said in result.detail
    assert result.ranking == ((2, 1) if seat == 0 else (1, 2))
    assert [fault is not None for fault in result.faults] == [seat == 0, seat == 1]
    assert evidence(record, seat)["reason"] == reason
    if reason is not R.DISCONNECTED:
        assert evidence(record, seat)["kind"] == "turn"
        assert evidence(record, seat)["legal_count"] > 0
    again, _ = await hall.play(honest, honest)
    assert again.reason is R.NORMAL


async def test_who_works_on_when_its_stream_has_ended_is_waited_for_until_it_exits(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.match.bot.EXIT_AFTER_STREAM_S", 0.3)  # less than what it works
    result, _ = await hall.play(hall.entry("cancels_and_exits_late", at=2), hall.entry())
    assert result.reason is R.CRASHED
    assert "exit code 6" in result.detail


async def test_a_crash_keeps_the_last_words_and_the_exit_code(hall: Hall) -> None:
    _, record = await hall.play(hall.entry("crashes", at=1), hall.entry())
    found = evidence(record, 0)
    assert "RuntimeError: boom in my strategy" in found["stderr"]
    assert found["exit_code"] == 1
    _, record = await hall.play(hall.entry("killed", at=1), hall.entry())
    assert evidence(record, 0)["exit_signal"] == 9


async def test_a_time_out_keeps_times_and_raw_messages_keep_their_bytes(hall: Hall) -> None:
    _, record = await hall.play(hall.entry("spins", at=1), hall.entry(), limits=QUICK)
    found = evidence(record, 0)
    assert 650_000 <= found["wall_us"] < 10_000_000
    assert found["cpu_us"] > 0
    assert found["limit_us"] == 650_000
    assert found["process_state"] == "R"
    _, record = await hall.play(hall.entry("malformed_message", at=1), hall.entry())
    assert evidence(record, 0)["message"] == "/////w=="


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "kinds"),
    [
        ("wrong_match", ["other_match"]),
        ("stale_decision", ["late_or_repeated"]),
        ("future_decision", ["unknown_decision"]),
        ("repeats", ["late_or_repeated", "late_or_repeated"]),
        ("hello_again", ["unexpected_hello"]),
        ("empty_message", ["empty"]),
        ("ready_twice", ["repeated"]),
    ],
)
async def test_what_answers_nothing_asked_is_dropped_recorded_and_no_fault(
    hall: Hall, deed: str, kinds: list[str]
) -> None:
    result, record = await hall.play(hall.entry(deed, at=2), hall.entry())
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))
    assert [line.what for line in record.lines if isinstance(line, Dropped)] == kinds
    assert result.seat_stats[0].dropped == len(kinds)


async def test_a_long_note_is_cut(hall: Hall) -> None:
    result, record = await hall.play(hall.entry("long_note", at=2), hall.entry())
    assert result.reason is R.NORMAL
    [note] = [line.note for line in record.lines if isinstance(line, Answer) and line.note]
    assert note == "\u2603" * (4096 // 3)


async def test_a_late_answer_never_reaches_the_next_match(hall: Hall) -> None:
    # Seat 1 thinks for half a second about its first turn; meanwhile seat 0 resigns. The process plays on at once in
    # another match, to which it first sends the answer it still owed.
    slow, honest = hall.entry("slow", at=1, delay_ms=500), hall.entry()
    await hall.play(honest, honest)
    first, _ = await hall.play(hall.entry("resigns_later", at=1), slow)
    assert (first.reason, first.ranking, first.seat_stats[1].decisions) == (R.RESIGNED, (2, 1), 1)
    result, record = await hall.play(slow, honest)
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))
    assert [(line.seat, line.what) for line in record.lines if isinstance(line, Dropped)] == [(0, "other_match")]
    assert isinstance(record.lines[0], Dropped)  # before its Ready


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "said", "printed"),
    [
        ("dies_at_start", "ended before it said Hello: exit code 4", "cannot find my model"),
        ("never_connects", "no Hello 1 s after the start", ""),
        ("no_hello", "no Hello 1 s after the start", ""),
        ("wrong_protocol", "the bot speaks protocol 7, the referee protocol 1: expected 1", ""),
        ("wrong_token", "exit code 9", "status UNAUTHENTICATED: unknown token: send the value of CROSSTOWN_TOKEN"),
        ("garbage_hello", "exit code 9", "not a crosstown.v1.BotMessage; expected Hello"),
        ("wrong_game", "it plays chess, go; this match is toy", ""),
        ("never_ready", "not ready 0.5 s after MatchStart", ""),
        ("dies_at_match_start", "exit code 5", ""),
    ],
)
async def test_a_match_that_cannot_start_is_void_and_says_why(hall: Hall, deed: str, said: str, printed: str) -> None:
    slow_start = deed not in ("never_connects", "no_hello")
    limits = Limits(startup_s=60 if slow_start else 1, ready_s=0.5 if deed == "never_ready" else 30)
    result, record = await hall.play(hall.entry(deed), hall.entry(), limits=limits)
    assert (result.reason, result.status, result.ranking) == (R.START_FAILED, "void", ())
    assert said in result.detail
    assert "seat 0 (bot 0)" in result.detail
    assert result.faults[1] is None or not slow_start  # one second may be too short for a sound bot as well
    assert printed in evidence(record, 0).get("stderr", "")


async def test_a_program_that_the_system_cannot_start_is_a_failed_start(hall: Hall, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('name = "noise"\nversion = "1"\ngames = ["*"]\nrun = ["./noise"]\n')
    (tmp_path / "noise").write_bytes(b"\x00\x01\x02\x03")
    (tmp_path / "noise").chmod(0o755)
    entry = load_entry(tmp_path)
    hall.entries[entry.id] = entry
    result, record = await hall.play(entry.id, hall.entry())
    assert result.reason is R.START_FAILED
    assert "noise" in result.detail, (result.detail, evidence(record, 0))


async def test_an_entry_nobody_knows_is_a_failed_start(hall: Hall) -> None:
    result, _ = await hall.play("ffffffffffffffff", hall.entry())
    assert (result.reason, "no entry with the id ffffffffffffffff" in result.detail) == (R.START_FAILED, True)


async def test_three_players_go_on_without_the_one_who_crashed(hall: Hall) -> None:
    result, record = await hall.play(hall.entry(), hall.entry("crashes", at=1), hall.entry())
    assert (result.reason, result.status) == (R.NORMAL, "rated")
    assert result.ranking[1] == 3
    assert evidence(record, 1)["exit_code"] == 1
    assert "boom" in evidence(record, 1)["stderr"]


async def test_both_faulty_at_the_same_node_share_the_rank(hall: Hall) -> None:
    result, _ = await hall.play(hall.entry("illegal_index"), hall.entry("crashes"))
    assert (result.reason, result.ranking) == (R.EVERYONE_FAULTED, (1, 1))


async def test_a_record_is_never_overwritten(hall: Hall) -> None:
    spec = hall.spec(hall.entry(), hall.entry())
    await hall.table.play(spec, hall.folder)
    with pytest.raises(RecordExistsError):
        await hall.table.play(spec, hall.folder)


async def test_a_specification_that_cannot_be_played_is_refused(hall: Hall) -> None:
    from dataclasses import replace

    spec = hall.spec(hall.entry(), hall.entry())
    with pytest.raises(UnknownGame):
        await hall.table.play(replace(spec, game="checkers"), hall.folder)
    with pytest.raises(ValueError, match="at most 16777216"):
        await hall.table.play(replace(spec, limits=Limits(max_message_bytes=1 << 30)), hall.folder)


async def test_a_set_up_that_the_game_refuses_is_a_platform_fault(hall: Hall) -> None:
    spec = hall.spec(hall.entry(), hall.entry(), data={"cards": [1], "weather": {}})
    result = await hall.table.play(spec, hall.folder)
    assert (result.reason, result.status) == (R.PLATFORM_FAULT, "void")
    record = read_record(hall.folder / f"{spec.match_id}.jsonl.gz")
    assert record.footer is not None
    assert "DataError" in record.footer.trouble


async def test_a_folder_that_cannot_be_written_is_a_platform_fault(hall: Hall, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = await hall.table.play(hall.spec(hall.entry(), hall.entry()), tmp_path / "file")
    assert (result.reason, result.status) == (R.PLATFORM_FAULT, "void")
    assert "cannot create the record" in result.detail
