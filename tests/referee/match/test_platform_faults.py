"""Our own faults: void, with the traceback, never a bot's loss."""

import errno
import os
from collections.abc import Callable
from typing import Any

import pytest
from toy_game import GAME
from toy_game.codec import ToyCodec
from toy_game.game import ToyGame
from toy_game.rules import ToyState

from referee.record import read_record
from referee.record.reasons import EndReason
from referee.schedule.spec import Faults

Sit = Callable[..., Any]


class BrokenApply(ToyState):
    __slots__ = ()

    def _act(self, action: Any) -> list[Any]:
        raise ZeroDivisionError("rules slipped")


class BrokenEvents(ToyCodec):
    """Cannot encode what happened after the deal."""

    def encode_events(self, payloads: Any) -> bytes:
        if any(payload.KIND == "passed" for payload in payloads):
            raise ZeroDivisionError("codec slipped")
        return super().encode_events(payloads)


class BrokenView:
    def text_board(self, observation: Any) -> str:
        raise ZeroDivisionError("view slipped")


async def check(table: Any, said: str) -> None:
    for _ in range(40):
        for seat in table.open():
            seat.move(0)
        await table.clock.turn(0)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (EndReason.PLATFORM_FAULT, "void", ())
    assert said in outcome.detail
    assert "Traceback" in outcome.trouble
    assert table.match.faults == (None, None)
    assert [seat.end.reason for seat in table.seats] == ["platform_fault"] * 2
    assert table.clock.waiting == []


async def test_rules_that_break_down(sit: Sit) -> None:
    table = sit(game=ToyGame(BrokenApply))
    await table.start()
    await check(table, "rules slipped")
    lines = read_record(table.record.path).lines
    assert lines[-1].action == "pass()"  # the record goes up to what broke them


async def test_a_bot_that_the_machine_took_loses_nothing(sit: Sit) -> None:
    table = sit()
    await table.start()
    table.seats[0].die(EndReason.PLATFORM_FAULT, "a bot's process was killed")
    await table.clock.turn(0)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (EndReason.PLATFORM_FAULT, "void", ())
    assert outcome.detail == "seat 0: a bot's process was killed"
    assert table.match.faults == (None, None)


async def test_nor_does_one_that_had_a_strike_left_for_what_it_did_before(sit: Sit) -> None:
    table = sit(faults=Faults("forfeit", 1))
    await table.start()
    mover = await table.play_to("turn")
    other = table.seats[1 - mover.number]
    other.say_raw(b"\xff\xff")
    other.die(EndReason.PLATFORM_FAULT, "a bot's process was killed")
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status) == (EndReason.PLATFORM_FAULT, "void")


async def test_a_codec_that_breaks_down(sit: Sit) -> None:
    table = sit(game=ToyGame(codec=BrokenEvents()))
    await table.start()
    await check(table, "codec slipped")


async def test_a_view_that_breaks_down_while_evidence_is_gathered(sit: Sit) -> None:
    game = ToyGame()
    game.view = BrokenView()  # type: ignore[assignment]
    table = sit(game=game)
    await table.start()
    mover = await table.play_to("turn")
    mover.move(99)
    await table.clock.turn(0)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status) == (EndReason.PLATFORM_FAULT, "void")
    assert "view slipped" in outcome.detail


async def test_a_disk_that_is_full(sit: Sit, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sit()
    await table.start()
    await table.play_to("turn")
    before = read_record(table.record.path).lines

    def full(fd: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    await check(table, "No space left on device")
    assert read_record(table.record.path).lines == before


async def test_a_game_that_refuses_the_set_up_raises_what_it_raises(sit: Sit) -> None:
    with pytest.raises(Exception, match="toy is for 2 to 4 players"):
        sit(7, game=GAME)


async def test_a_suspect_time_out_makes_the_match_void_whatever_others_did_at_that_node(sit: Sit) -> None:
    """What they did is in the record; it is neither rated nor counted."""
    table = sit(3)
    await table.start()
    table.seats[0].die()
    table.seats[2].move(0)
    for _ in range(600):
        table.clock.lag += 100_000_000
        await table.clock.turn(0.1)
    outcome = await table.outcome()
    assert (outcome.reason, outcome.status, outcome.ranking) == (EndReason.SUSPECT_TIMEOUT, "void", ())
    assert [fault and fault.reason for fault in table.match.faults] == [
        EndReason.CRASHED,
        EndReason.SUSPECT_TIMEOUT,
        None,
    ]
