"""The worker with the way in for guests: several matches at once, each guest in one; it dies, hangs, lies."""

import asyncio
import sys
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from referee.match.invitation import Invitation
from referee.process.entry import remote_bot_entry
from referee.schedule.schedule import known_matches
from referee.schedule.spec import SeatSpec
from referee.tournament.executor import MatchLost
from referee.tournament.identity import config_of
from referee.tournament.local import LocalExecutor
from referee.tournament.remote import Guests
from referee.wire.public_address import Listen

GUESTS = [remote_bot_entry(name) for name in ("Ada", "Bob", "Cyd", "Dan")]
WORKER = """
    import json, os, sys

    def say(**fields):
        print(json.dumps(fields), flush=True)

    def result(spec):
        say(result={"match_id": spec["match_id"], "status": "rated", "reason": "normal", "detail": str(os.getpid()),
                    "ranking": [1, 2], "returns": [1, 0], "faults": [None, None], "seat_stats": [], "decisions": 0,
                    "wall_s": 0.0, "state_hash": "", "startup_us": []})

    setup = json.loads(sys.stdin.readline())["setup"]
    say(ready=True)
    say(note="ready for " + ", ".join(guest["name"] for guest in setup["guests"]["invited"]))
    waiting = []
    for line in sys.stdin:
        message = json.loads(line)
        if "abandon" in message:
            continue
        if "play" not in message:
            break
        waiting.append(message["play"])
"""


@pytest.fixture
def notes():
    return []


@pytest.fixture
def executor(tmp_path, notes):
    """executor(answer) has a worker that does `answer` after each match it is sent; they lie in `waiting`."""

    def make(answer: str, workers: int = 4, wait_s: float = 0, on_note: Any = notes.append) -> LocalExecutor:
        program = tmp_path / "worker.py"
        program.write_text(textwrap.dedent(WORKER) + textwrap.indent(textwrap.dedent(answer), "    "))
        invited = {entry.id: Invitation("t" * 16, wait_s=wait_s) for entry in GUESTS}
        return LocalExecutor(
            GUESTS,
            tmp_path / "matches",
            workers=workers,
            log=tmp_path / "workers.log",
            command=(sys.executable, str(program)),
            guests=Guests(Listen("127.0.0.1", 0, plain=True), invited, {entry.id: entry for entry in GUESTS}),
            note=on_note,
        )

    return make


@pytest.fixture
def match(make_tournament, luck):
    """match(0, 1): a specification with these guests."""
    specs = iter(list(known_matches(config_of(make_tournament(blocks=10)), luck)))

    def make(*seats: int):
        return replace(next(specs), seats=tuple(SeatSpec(GUESTS[seat].id, GUESTS[seat].name, "1") for seat in seats))

    return make


async def test_matches_of_others_are_played_at_the_same_time(executor, match):
    both = [match(0, 1), match(2, 3)]
    async with executor("if len(waiting) == 2:\n    [result(spec) for spec in reversed(waiting)]") as table:
        results = await asyncio.gather(*[table.play(spec, 20) for spec in both])
    assert [result.match_id for result in results] == [spec.match_id for spec in both]
    assert len({result.detail for result in results}) == 1


async def test_a_guest_plays_one_match_at_a_time(executor, match):
    async with executor("assert len(waiting) == 1\nresult(waiting.pop())") as table:
        results = await asyncio.gather(*[table.play(match(0, other), 20) for other in (1, 2, 3, 1)])
    assert len({result.match_id for result in results}) == 4


async def test_the_worker_is_told_how_many_to_play_at_once_and_gets_all_whose_guests_are_free(executor, match):
    """It alone knows which of them wait for a guest, and take nobody's turn."""
    answer = """
        assert setup["guests"]["at_once"] == 1
        if len(waiting) == 2:
            [result(spec) for spec in waiting]
    """
    async with executor(answer, workers=1) as table:
        await asyncio.gather(table.play(match(0, 1), 20), table.play(match(2, 3), 20))


def test_there_is_room_for_a_match_whose_guests_are_free_and_for_as_many_others_as_workers(executor, match):
    table = executor("", workers=1)
    local = [replace(match(0), seats=(SeatSpec("00", "local", "1"),)) for _ in range(2)]
    assert table.slots == 1 + len(GUESTS)
    assert table.has_room(local[0], [match(0, 1)])
    assert not table.has_room(local[1], [local[0], match(0, 1)])
    assert table.has_room(match(2, 3), [local[0], match(0, 1)])
    assert not table.has_room(match(1, 2), [match(0, 1)])


async def test_what_it_notes_is_passed_on(executor, match, notes):
    async with executor("result(waiting.pop())") as table:
        await table.play(match(0, 1), 20)
    assert notes == ["ready for Ada, Bob, Cyd, Dan"]


async def test_a_match_that_is_lost_takes_no_other_with_it(executor, match):
    answer = """
        if len(waiting) == 2:
            say(lost={"match": waiting[0]["match_id"], "what": "the rules broke"})
            result(waiting[1])
    """
    one, other = match(0, 1), match(2, 3)
    async with executor(answer) as table:
        results = await asyncio.gather(table.play(one, 20), table.play(other, 20), return_exceptions=True)
    assert isinstance(results[0], MatchLost)
    assert (str(results[0]), results[1].match_id) == ("the rules broke", other.match_id)


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ("print('junk', flush=True)", "not a line of this protocol"),
        ("say(ready=True)", "out of turn"),
        ("say(lost={'match': 'another', 'what': ''})", "out of turn"),
        ("os.close(1); import time; time.sleep(60)", "closed its output"),
    ],
    ids=["dies", "junk", "out of turn", "another match", "closes its output"],
)
async def test_when_it_fails_all_its_matches_are_lost_and_the_next_ones_played(executor, match, tmp_path, deed, words):
    mark = tmp_path / "failed"
    answer = f"""
        if os.path.exists({str(mark)!r}):
            result(waiting.pop())
        elif len(waiting) == 2:
            open({str(mark)!r}, "w").close()
            {deed}
    """
    async with executor(answer) as table:
        lost = await asyncio.gather(table.play(match(0, 1), 20), table.play(match(2, 3), 20), return_exceptions=True)
        assert all(isinstance(one, MatchLost) and words in str(one) for one in lost), lost
        results = await asyncio.gather(table.play(match(0, 1), 20), table.play(match(2, 3), 20))
    assert len({result.detail for result in results}) == 1


async def test_a_match_beyond_its_cap_ends_the_worker(executor, match):
    async with executor("if waiting[-1]['place'] > 0:\n    result(waiting.pop())") as table:
        with pytest.raises(MatchLost, match="no result after"):
            await table.play(match(0, 1), 0.3)
        second = match(0, 1)
        assert (await table.play(second, 20)).match_id == second.match_id


async def test_the_wait_for_guests_is_no_part_of_the_cap(executor, match):
    async with executor("import time; time.sleep(0.5)\nresult(waiting.pop())", wait_s=60) as table:
        assert (await table.play(match(0, 1), 0.2)).status == "rated"


async def test_an_abandoned_match_ends_without_its_worker(executor, match, tmp_path):
    """What was on its way already is passed over."""
    whole = """
        say(note=f"sent {len(waiting)}")
        if len(waiting) == 2:
            result(waiting[0])
            result(waiting[1])
    """
    sent = asyncio.Event()
    async with executor(whole, on_note=lambda what: sent.set() if what == "sent 1" else None) as table:
        playing = asyncio.create_task(table.play(match(0, 1), 60))
        queued = asyncio.create_task(table.play(match(1, 2), 60))
        async with asyncio.timeout(60):
            await sent.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert (await queued).status == "rated"
