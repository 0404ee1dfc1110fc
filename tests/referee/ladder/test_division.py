"""A division is a run folder: bots come and go, every block is an event of its journal, none is decided again."""

import asyncio
import json
import math
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from html import unescape

import httpx
import pytest

from leaderboard.completeness import Verification
from leaderboard.index import load_index
from leaderboard.ratings.official import rate
from leaderboard.run_table import counted_matches, run_table
from leaderboard.web.app import make_app
from referee.errors import BusyError, ChangedError, PlatformError, UsageError
from referee.ladder.beliefs import Beliefs
from referee.ladder.chooser import Chosen, choose
from referee.ladder.people import SHELL
from referee.ladder.runner import NEWCOMERS_S, status_file
from referee.ladder.store import LadderStore
from referee.record.journal import BLOCK, read_lines
from referee.record.store import archives_in
from referee.run.head import head_file
from referee.run.judging import judge
from referee.tournament.sections import BreakerConfig

CERTAIN = "idle_below = 0.06\nplacement_blocks = 2"
"""It idles after a few blocks."""


def groups(world, number=0):
    names = {bot.entry_id: f"{bot.name} {bot.version}" for bot in world.run(number).participants}
    return [[names[entry_id] for entry_id in fields["group"]] for fields in world.lines(BLOCK, number)]


def test_a_division_plays_until_no_block_tells_enough_and_idles(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    runner = world.play()
    blocks = groups(world)
    assert len(blocks) > 6
    assert Counter(name for group in blocks for name in group).keys() == {"ann 1", "bob 1", "cyd 1"}
    assert len(world.run().records.paths()) == 2 * len(blocks)
    assert "no block would reduce the sigma" in runner.divisions[0].idle.reason


def test_a_newcomer_that_the_machine_has_no_place_for_waits_while_the_others_play(make_ladder, bot):
    world = make_ladder(CERTAIN)
    ann, bob, cyd = bot("ann"), bot("bob"), bot("cyd")
    full = {cyd.name}
    waited_at = []

    def load(wanted):
        if wanted.name in full:
            raise PlatformError("no space left", "free some")
        return world.load(wanted)

    def joined():
        if not waited_at and len(world.lines(BLOCK)) > 2:
            world.roster.set(ann, bob, cyd)
            waited_at.append(len(world.lines(BLOCK)))
        if waited_at and len(world.lines(BLOCK)) > waited_at[0] + 2:
            full.clear()
            world.clock_s += NEWCOMERS_S
        return "cyd" in [line["name"] for line in world.lines("added")]

    world.roster.set(ann, bob)
    runner = world.runner()
    runner._load = load
    world.play(joined, runner=runner)
    assert world.notes.count("newcomers and new versions wait, and are tried again: no space left") == 1
    assert not world.lines("paused")


def test_a_ladder_does_not_begin_where_the_machine_has_no_place_for_its_bots(make_ladder, bot):
    def load(_):
        raise PlatformError("no space left", "free some")

    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    runner = world.runner()
    runner._load = load
    with pytest.raises(PlatformError, match="no space left"):
        world.play(runner=runner)


def test_a_bot_that_plays_sees_nothing_of_the_ladder_though_a_grant_contains_it(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play(lambda: len(world.tables.played) > 1)
    hidden = {str(world.config.data.resolve()), str(world.config.path.resolve())}
    assert all(set(setup.sandbox.hidden) == hidden for setup in world.tables.met)
    assert all(not line["sandbox"]["hidden"] for line in world.lines("added"))


def test_each_block_is_in_the_journal_before_its_first_match(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    begun = []
    world.tables.behaves = lambda spec: begun.append(len(world.lines(BLOCK))) or "rated"
    world.play(lambda: len(begun) > 5)
    assert begun[:6] == [1, 1, 2, 2, 3, 3]
    first = world.lines(BLOCK)[0]
    assert first["number"] == 0
    assert "'ann' is new (block 1 of 2)" in first["reason"]
    assert first["seen"] == 3, "it saw the lines before it: created, and two that joined"


def test_who_joins_is_replaced_pauses_and_returns_is_in_the_journal(make_ladder, bot):
    world = make_ladder(CERTAIN)
    one, two, other = bot("ann"), bot("ann", 2), bot("bob")
    world.roster.set(one, other)
    world.play()
    world.roster.set(two, other)
    world.play()
    world.roster.set(two)
    world.play()
    world.roster.set(two, other)
    world.play()
    world.roster.set(one, other)
    world.play()
    events = [
        (line.kind, line.fields["name"], line.fields.get("version", ""))
        for line in world.run().journal.events
        if line.kind in ("added", "replaced", "paused", "returned")
    ]
    assert events == [
        ("added", "ann", "1"),
        ("added", "bob", "1"),
        ("added", "ann", "2"),
        ("replaced", "ann", ""),
        ("paused", "bob", ""),
        ("returned", "bob", ""),
        ("returned", "ann", ""),
        ("replaced", "ann", ""),
    ]
    assert {(bot.name, bot.version): bot.out for bot in world.run().participants} == {
        ("ann", "1"): False,
        ("bob", "1"): False,
        ("ann", "2"): True,
    }


def test_a_block_keeps_the_versions_that_it_began_with(make_ladder, bot):
    world = make_ladder(CERTAIN, slots=1)
    world.roster.set(bot("ann"), bot("bob"))
    world.play(lambda: len(world.tables.played) == 1)
    assert len(world.run().records.paths()) == 1
    world.roster.set(bot("ann", 2), bot("bob"))
    world.play(lambda: len(world.tables.played) >= 4)
    seats = [[f"{seat.name} {seat.version}" for seat in spec.seats] for spec in world.tables.played]
    assert seats[1] == ["bob 1", "ann 1"], "the second match of the block that had begun"
    assert sorted(seats[2]) == ["ann 2", "bob 1"]


def test_a_new_version_carries_the_live_rating_and_has_an_official_one_of_its_own(make_ladder, bot):
    world = make_ladder("idle_below = 0.03\nplacement_blocks = 2")
    world.tables.behaves = lambda spec: "crashed bob"
    world.config = replace(world.config, breaker=BreakerConfig(enabled=False))
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    before = world.run().journal.events
    world.roster.set(bot("ann", 2), bot("bob"))
    world.play(lambda: len(world.lines("added")) == 3 and len(world.tables.played) > 2 * len(before) / 3)
    table = run_table(world.run())
    rows = {(row.name, row.version): row for row in table.rows}
    assert {("ann", "1"), ("ann", "2"), ("bob", "1")} <= rows.keys()
    assert rows["ann", "1"].played + rows["ann", "2"].played == rows["bob", "1"].played


@pytest.mark.parametrize("cut", [1, 5, 9, 14])
def test_a_run_that_is_taken_up_reads_its_blocks_and_decides_none_again(make_ladder, bot, cut):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play(lambda: len(world.tables.played) >= cut)
    before = world.lines(BLOCK)
    played = {spec.match_id for spec in world.tables.played}
    world.play()
    after = world.lines(BLOCK)
    assert after[: len(before)] == before
    specs = [spec.match_id for spec in world.tables.played]
    assert {spec for spec in specs if spec in played} == played
    assert len(world.run().records.paths()) == 2 * len(after), "each match of each block has one record"


@pytest.mark.slow
def test_the_rest_of_a_block_is_played_with_the_id_of_a_match_that_was_played_before_a_restart(make_ladder, bot):
    world = make_ladder(CERTAIN, slots=1)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.tables.behaves = lambda spec: "stays" if spec.place == 1 else "rated"
    world.play(lambda: len(world.tables.played) == 2)
    first, second = world.tables.played
    assert first.block == second.block
    assert world.tables.begun == ["", ""]
    world.tables.behaves = lambda _: "rated"
    world.play()
    begun = dict(zip([spec.match_id for spec in world.tables.played[2:]], world.tables.begun[2:], strict=True))
    assert begun.pop(second.match_id) == first.match_id
    assert set(begun.values()) == {""}


def test_a_decision_follows_from_the_journal_up_to_the_line_that_it_saw(make_ladder, bot, tmp_path):
    world = make_ladder("idle_below = 0.03\nexploration = 0.2", slots=3)
    world.roster.set(*(bot(name) for name in ("ann", "bob", "cyd", "dan", "eve")))
    world.play(lambda: len(world.tables.played) > 60)
    whole = world.folder()
    lines = read_lines(whole.journal)
    blocks = [(place, line.fields) for place, line in enumerate(lines) if line.kind == BLOCK]
    kept = tmp_path / "kept"
    shutil.copytree(whole.path, kept)
    for place, fields in blocks[:: max(1, len(blocks) // 8)]:
        assert fields["seen"] == place
        shutil.rmtree(whole.path)
        shutil.copytree(kept, whole.path)
        whole.journal.write_bytes(whole.journal.read_bytes()[: lines[place - 1].end])
        head_file(whole.journal).unlink(missing_ok=True)
        counted = {
            match for line in lines[:place] if line.kind in ("counted", "found") for match in line.fields["matches"]
        }
        for match_id, path in whole.records.paths().items():
            if match_id not in counted:
                path.unlink()
        with world.division() as division:
            decision = choose(division.snapshot())
        assert isinstance(decision, Chosen)
        assert (list(decision.group), decision.reason) == (fields["group"], fields["reason"]), fields["number"]


def test_the_breaker_pauses_a_bot_says_why_and_lets_it_back_when_it_is_made_active_again(make_ladder, bot):
    world = make_ladder("idle_below = 0.03\nplacement_blocks = 2")
    world.tables.behaves = lambda spec: "crashed bob" if "bob" in {seat.name for seat in spec.seats} else "rated"
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    ((division, name, reason), *_) = world.roster.told
    assert (division, name) == ("toy", "bob")
    assert "faults in a row, the last: crashed" in reason
    count = sum("bob 1" in group for group in groups(world))
    world.play()
    assert sum("bob 1" in group for group in groups(world)) == count, "it stays paused over a restart"
    world.tables.behaves = lambda spec: "rated"
    world.roster.set(bot("ann"), bot("bob", activation=2), bot("cyd"))
    world.play()
    assert sum("bob 1" in group for group in groups(world)) > count
    assert [fields["name"] for fields in world.lines("returned")] == ["bob"]


def test_a_bot_that_cannot_be_loaded_does_not_play_and_stops_nobody(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd", content="broken"))
    world.play()
    assert ("toy", "cyd", "its build in cyd is gone") in world.roster.told, "its author reads it"
    assert all("cyd 1" not in group for group in groups(world))
    assert any("'cyd' does not play in toy: its build in /srv/ladder/cyd is gone" in note for note in world.notes)


def test_a_match_that_stays_void_is_given_up_and_the_division_goes_on(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.tables.behaves = lambda spec: "void" if spec.place == 2 else "rated"
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    assert [fields["place"] for fields in world.lines("given_up")] == [2]
    assert len(world.run().records.paths()) == 2 * len(groups(world)) - 1 > 10


def test_divisions_get_as_much_of_the_tables_as_each_other(make_ladder, bot):
    two = '[[divisions]]\ngame = "toy"\nname = "a"\n[[divisions]]\ngame = "toy"\nname = "b"\nplayers = 4\n'
    world = make_ladder("idle_below = 0.0", divisions=two)
    world.roster.set(*(bot(name) for name in ("ann", "bob", "cyd", "dan", "eve")))

    def behaves(spec):
        world.clock_s += len(spec.seats)
        return "rated"

    world.tables.behaves = behaves
    runner = world.play(lambda: len(world.tables.played) > 150)
    used = [division.used_s for division in runner.divisions]
    assert min(used) > 0.7 * max(used), used


@pytest.mark.slow
def test_a_division_that_idled_does_not_make_up_for_it(make_ladder, bot):
    two = '[[divisions]]\ngame = "toy"\nname = "a"\n[[divisions]]\ngame = "toy"\nname = "b"\nplayers = 4\n'
    world = make_ladder("idle_below = 0.0", divisions=two)
    world.roster.set(*(bot(name) for name in ("ann", "bob", "cyd")))

    def behaves(spec):
        world.clock_s += 1
        if len(world.tables.played) == 60:
            world.roster.set(*(bot(name) for name in ("ann", "bob", "cyd", "dan")))
        return "rated"

    world.tables.behaves = behaves
    world.play(lambda: len(world.tables.played) > 140)
    later = Counter(len(spec.seats) for spec in world.tables.played[80:])
    assert later[2] > 15, later


def test_a_division_with_seats_that_may_remember_has_a_seed_for_each_match(make_ladder, bot):
    open_ = '[[divisions]]\ngame = "toy"\nadmits = ["network"]\n'
    world = make_ladder(CERTAIN, divisions=open_)
    world.roster.set(bot("ann"), bot("bob", network=True), bot("cyd"))
    world.play()
    seeds = [spec.seed for spec in world.tables.played]
    assert len(set(seeds)) == len(seeds) == 2 * len(groups(world))
    seats = Counter((seat.name, place) for spec in world.tables.played for place, seat in enumerate(spec.seats))
    for name in ("ann", "bob", "cyd"):
        assert seats[name, 0] == seats[name, 1]


def test_a_remote_bot_that_is_not_connected_is_not_seated(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd", remote=True))
    world.play()
    assert all("cyd 1" not in group for group in groups(world))


def test_a_new_day_has_a_new_secret_and_reveals_the_old_one(make_ladder, bot):
    world = make_ladder("idle_below = 0.0")
    world.roster.set(bot("ann"), bot("bob"))
    world.play(lambda: len(world.tables.played) > 6)
    world.later(days=1)
    world.play(lambda: len(world.tables.played) > 16)
    world.later(days=-1)
    world.play(lambda: len(world.tables.played) > 26)
    run = world.run()
    assert len(run.epochs) == 2
    first, second = run.epochs
    assert first.over
    assert first.holds
    assert not second.over
    kinds = [line.kind for line in run.journal.events]
    assert kinds.index("revealed") < kinds.index("epoch")


def test_an_epoch_ends_on_demand(make_ladder, bot):
    world = make_ladder("idle_below = 0.0")
    world.roster.set(bot("ann"), bot("bob"))
    runner = world.runner()
    asked = []

    def until():
        if len(world.tables.played) >= 8 and not asked:
            asked.append(True)
            for division in runner.divisions:
                division.new_epoch = True
        return len(world.tables.played) > 20

    world.play(until, runner=runner)
    assert [epoch.over for epoch in world.run().epochs] == [True, False]


def test_it_says_so_when_nothing_is_played_for_long_although_someone_waits(make_ladder, bot):
    world = make_ladder("alarm_min = 5")
    with world.division() as division:
        division.begin(asyncio.Event())
        assert division.next() is None
        world.clock_s += 400
        assert division.alarm() == "", "nobody waits"
        division.reconcile([bot("ann")], world.load)
        assert division.next() is None
        why = "no match of toy has ended for 7 minutes: a table needs 2 bots, and there is 1"
        assert division.alarm() == why


def test_a_changed_file_of_the_ladder_is_refused_with_what_to_do(make_ladder, bot, tmp_path):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    changed = make_ladder(CERTAIN, divisions='[[divisions]]\ngame = "toy"\nclock = { move_s = 7 }\n')
    with pytest.raises(ChangedError, match="move_s") as caught, changed.division():
        pass
    assert "give the division another name" in caught.value.next_step
    again = make_ladder("exploration = 0.5")
    with again.division():
        pass


def test_tables_verification_and_lists_take_a_division_for_any_run(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    run = world.run()
    assert run.begun
    assert not run.finished
    assert run.journal.last_state == "stopped"
    assert run.total == len(run.records.paths())
    rows = load_index(world.folder()).rows
    assert len(rows) == run.total
    assert {row.name for row in run_table(run).rows} == {"ann", "bob", "cyd"}
    check = run.check()
    assert not check.wrong, check
    assert list(Verification().gaps(run.records.paths().values())) == []


def test_the_matches_of_a_long_division_are_counted_without_going_through_its_schedule(make_ladder, bot, monkeypatch):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    played = len(world.run().records.paths())
    gone_through = []
    monkeypatch.setattr("referee.schedule.progress.matches_of", lambda schedule: gone_through.append(schedule) or ())
    monkeypatch.setattr("referee.schedule.progress.COUNTED_WHILE_DECIDED", 1)
    assert (world.run().extent.least, world.run().extent.most) == (played, played)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    extent = world.run().extent
    assert (extent.least, extent.most) == (0, len(world.run().records.paths()))
    assert gone_through == []


def test_an_organiser_can_annul_a_match_and_withdraw_a_bot(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    run = world.run()
    match_id = sorted(run.records.paths())[0]
    run.annul(match_id, by="me", reason="a power cut")
    run.leave("withdrawn", "cyd", by="me", reason="asked for it")
    assert {bot.name for bot in run.participants if bot.out} == {"cyd"}
    before = len(world.tables.played)
    world.play()
    after = world.tables.played[before:]
    assert all(seat.name != "cyd" for spec in after for seat in spec.seats)
    assert match_id not in world.run().records.paths()


def test_old_records_of_settled_blocks_are_packed_and_the_division_goes_on_as_before(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    before, blocks = world.run().records.stamps(), world.lines("block")
    world.later(days=6)
    world.play()
    assert world.run().records.packed() == set()
    world.later(days=2)
    world.play(lambda: world.run().records.packed() == set(before))
    assert list(world.folder().matches.glob("*.gz")) == []
    assert world.run().records.stamps() == before
    played = len(world.tables.played)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"), bot("dan"))
    world.play()
    assert len(world.tables.played) > played
    assert world.lines("block")[: len(blocks)] == blocks
    assert len({spec.match_id for spec in world.tables.played}) == len(world.tables.played)
    assert not [sentence for sentence in world.notes if "packed" in sentence]
    assert not world.run().check().wrong


def test_records_behind_a_block_in_play_are_not_packed(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    seen = []
    with world.division() as division:
        division.begin(asyncio.Event())
        division.reconcile(world.roster.bots, world.load)
        while (spec := division.next()) is not None and len(seen) < 3:
            world.tables.leave(division.folder.matches, spec, "rated")
            path = division.folder.matches / f"{spec.match_id}.jsonl.gz"
            division.progress.count(spec, path, judge(path, spec, (spec.seed,)))
            seen.append(spec.match_id)
            division.pack(world.day + timedelta(days=1), lambda: False)
            division.progress.anchors.flush()
    packed = world.folder().records.packed()
    assert packed
    assert seen[-1] not in packed


def test_an_archive_that_is_damaged_is_told_once_and_stops_no_division(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    world.later(days=8)
    world.play(lambda: bool(world.run().records.packed()))
    (archive,) = archives_in(world.folder().matches)
    archive.path.write_bytes(archive.path.read_bytes()[:-5])
    other = make_ladder(CERTAIN, divisions='[[divisions]]\ngame = "toy"\n[[divisions]]\ngame = "toy"\nname = "two"\n')
    other.roster.set(bot("ann"), bot("bob"))
    runner = other.play()
    assert [division.config.name for division in runner.divisions] == ["two"]
    assert "is damaged" in runner.troubles["toy"]


def test_two_runners_cannot_play_one_division(make_ladder, bot):
    world = make_ladder()
    with world.division(), pytest.raises(BusyError), world.division():
        pass


def test_the_state_is_there_for_the_pages(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    state = json.loads(status_file(world.config.data).read_text())
    assert state["pid"] == 0
    assert state["divisions"]["toy"]["bots"] == 2
    assert "no block would reduce" in state["divisions"]["toy"]["idle"]


def test_a_damaged_division_is_named_and_the_others_are_played(make_ladder, bot):
    two = '[[divisions]]\ngame = "toy"\nname = "a"\n[[divisions]]\ngame = "toy"\nname = "b"\n'
    world = make_ladder(CERTAIN, divisions=two)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    before = len(world.lines(BLOCK, 1))
    world.folder(0).journal.write_text("nonsense\n")
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    runner = world.play()
    assert [division.config.name for division in runner.divisions] == ["b"]
    assert "damaged" in runner.troubles["a"]
    assert len(world.lines(BLOCK, 1)) > before


async def test_the_page_of_a_match_says_why_it_was_played(make_ladder, bot):
    world = make_ladder(CERTAIN, divisions='[[divisions]]\ngame = "toy"\nadmits = ["network"]\n')
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    await asyncio.to_thread(world.play)
    run = world.run()
    reasons = [fields["reason"] for fields in world.lines(BLOCK)]
    assert [run.reason_for(spec.block) for spec in world.tables.played[:6]] == [
        reason for reason in reasons[:3] for _ in range(2)
    ]
    address = f"/runs/toy/matches/{world.tables.played[0].match_id}"
    transport = httpx.ASGITransport(app=make_app(world.folder().path.parent))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        text = (await web.get(address)).text
    assert f"Why it was played: {reasons[0]}." in unescape(text)


def test_somebody_who_waits_for_the_first_match_of_a_bot_is_served_first(make_ladder, bot):
    three = "".join(f'[[divisions]]\ngame = "toy"\nname = "{name}"\n' for name in "abc")
    world = make_ladder("idle_below = 0.0", divisions=three, slots=1)
    house = [bot(name, owner="", house=True) for name in ("h1", "h2", "h3")]
    world.roster.set(*house)
    joined = []

    def behaves(spec):
        world.clock_s += 1
        if len(world.tables.played) == 20:
            world.roster.set(*house, bot("ann"))
        joined.append("ann" in {seat.name for seat in spec.seats})
        return "rated"

    world.tables.behaves = behaves
    world.play(lambda: len(world.tables.played) > 40)
    divisions = [spec.tournament for spec in world.tables.played]
    first = [divisions[place] for place in range(20, 30) if joined[place]]
    assert set(first[:3]) == {"a", "b", "c"}
    assert True in joined[20:22], joined


# Remote bots

OPEN = '[[divisions]]\ngame = "toy"\nadmits = ["remote"]\n[remote]\nlisten = "127.0.0.1:0"\n'


def changes_of(world):
    """Who came and went, with the reasons."""
    kinds = ("added", "replaced", "paused", "absent", "returned")
    events = world.run().journal.events
    return [(line.kind, line.fields["name"], line.fields.get("reason", "")) for line in events if line.kind in kinds]


def test_a_remote_bot_that_is_connected_plays_one_match_after_another(make_ladder, bot):
    world = make_ladder("idle_below = 0.0", divisions=OPEN, slots=3)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd", remote=True, label="1"))
    world.connections.there["cyd"] = "1"
    at_once, runner = [], world.runner()

    def until():
        playing = [spec for division in runner.divisions for spec in division.playing.values()]
        at_once.append(sum(seat.name == "cyd" for spec in playing for seat in spec.seats))
        return sum(seat.name == "cyd" for spec in world.tables.played for seat in spec.seats) > 12

    world.play(until, runner=runner)
    assert max(at_once) == 1
    (line,) = [line.fields for line in world.run().journal.events if line.fields.get("name") == "cyd"]
    assert (line["remote"], line["folder"], line["content"]) == ({"version": "1"}, "", "")
    assert world.run().participants[-1].folder == ""
    again = world.runner()
    world.play(lambda: len(world.tables.played) > 40, runner=again)
    assert len([line for line in world.run().journal.events if line.kind == "added"]) == 3


def test_matches_of_a_remote_bot_that_has_gone_wait_and_hold_up_nobody(make_ladder, bot):
    world = make_ladder("idle_below = 0.0", divisions=OPEN, slots=1)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd", remote=True, label="1"))
    world.connections.there["cyd"] = "1"
    runner = world.runner()
    world.tables.behaves = lambda spec: world.connections.there.clear() or "rated"
    world.play(lambda: len(world.tables.played) > 30, runner=runner)
    with_cyd = [place for place, spec in enumerate(world.tables.played) if "cyd" in [s.name for s in spec.seats]]
    assert len(with_cyd) <= 1, with_cyd


def test_a_remote_bot_that_is_away_leaves_and_what_it_had_not_begun_is_not_played(make_ladder, bot):
    world = make_ladder("idle_below = 0.0", divisions=OPEN, slots=1)
    here = bot("cyd", remote=True, label="1")
    others = bot("ann"), bot("bob")
    world.roster.set(*others, here)
    world.connections.there["cyd"] = "1"

    def leave(spec):
        if "cyd" in [seat.name for seat in spec.seats]:
            world.connections.there.clear()
        return "rated"

    world.tables.behaves = leave
    world.play(lambda: "cyd" not in world.connections.there)
    world.roster.set(*others, replace(here, away=True))
    world.play(lambda: len(world.tables.played) > 20)
    assert ("absent", "cyd", "it is not connected") in changes_of(world)
    world.later(days=1)
    played = len(world.tables.played)
    world.play(lambda: len(world.tables.played) > played + 10)
    assert len(world.run().epochs) == 2, "nothing waits for it when the secret is to be changed"
    world.connections.there["cyd"] = "1"
    world.tables.behaves = lambda _spec: "rated"
    world.roster.set(*others, here)
    world.play(lambda: "cyd" in [seat.name for seat in world.tables.played[-1].seats])
    assert ("returned", "cyd", "") in changes_of(world)
    assert not world.run().check().wrong


def test_the_version_before_of_a_remote_bot_has_no_blocks_to_finish(make_ladder, bot):
    world = make_ladder(CERTAIN, divisions=OPEN, slots=1)
    one, two, other = bot("cyd", remote=True, label="1"), bot("cyd", 2, remote=True, label="2"), bot("ann")
    world.roster.set(one, other)
    world.connections.there["cyd"] = "1"
    world.play(lambda: len(world.tables.played) == 1)
    world.roster.set(two, other)
    world.connections.there["cyd"] = "2"
    world.play()
    assert ("absent", "cyd", "version 2 plays in its place") in changes_of(world)
    assert [seat.version for seat in world.tables.played[1].seats if seat.name == "cyd"] == ["2"]


@pytest.mark.parametrize(("who", "counts"), [("cyd", True), ("ann", False)])
@pytest.mark.parametrize("another_version", [False, True])
@pytest.mark.parametrize("amid_a_match", [False, True])
def test_of_a_block_that_a_remote_bot_leaves_only_what_it_lost_counts(
    make_ladder, bot, who, counts, another_version, amid_a_match
):
    """It left after each match from the better seat, and the matches from the other seat were cancelled."""
    world = make_ladder("idle_below = 0.0", divisions=OPEN, slots=1)
    here, other = bot("cyd", remote=True, label="1"), bot("cyd", 2, remote=True, label="2")
    world.roster.set(bot("ann"), here)
    world.connections.there["cyd"] = "1"

    def leave(*_):
        world.connections.there["cyd"] = "3"
        world.roster.set(bot("ann"), other if another_version else replace(here, away=True))

    world.tables.behaves = lambda _spec: (leave() if amid_a_match else None) or f"crashed {who}"
    runner = world.runner()
    world.play(lambda: any(division.progress.played for division in runner.divisions), runner=runner)
    match, *_ = world.tables.played
    leave()
    world.play()
    assert ("absent", "cyd") in [change[:2] for change in changes_of(world)]
    annulled = [control.match_id for control in world.run().controls if control.kind == "annulled"]
    assert annulled == ([] if counts else [match.match_id])
    assert not world.run().check().wrong


def test_a_remote_bot_that_goes_when_its_block_is_over_keeps_its_matches(make_ladder, bot):
    world = make_ladder("idle_below = 0.0", divisions=OPEN, slots=1)
    here = bot("cyd", remote=True, label="1")
    world.roster.set(bot("ann"), here)
    world.connections.there["cyd"] = "1"
    world.play(lambda: len(world.tables.played) == 3)
    world.connections.there.clear()
    world.roster.set(bot("ann"), replace(here, away=True))
    world.play()
    assert ("absent", "cyd", "it is not connected") in changes_of(world)
    annulled = {control.match_id for control in world.run().controls if control.kind == "annulled"}
    assert annulled <= {world.tables.played[2].match_id}


def test_a_remote_bot_that_never_came_is_not_in_the_journal(make_ladder, bot):
    world = make_ladder(CERTAIN, divisions=OPEN)
    world.roster.set(bot("ann"), bot("bob"), bot("cyd", remote=True, label="1", away=True))
    world.play()
    assert [name for _, name, _ in changes_of(world)] == ["ann", "bob"]


# What organisers decide


def test_the_journal_says_who_is_not_approved_from_which_place_on_and_a_restart_knows_it(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"), bot("eve", approved=False))
    world.play()
    run = world.run()
    controls = [(c.kind, c.name, c.place) for c in run.controls if c.kind in ("approved", "unapproved")]
    assert controls == [("unapproved", "eve", 0)]
    names = [{seat.name for seat in spec.seats} for spec in world.tables.played]
    assert {"ann", "eve"} in names or {"bob", "eve"} in names
    world.roster.set(bot("ann"), bot("bob"), bot("eve", approved=False))
    with world.division() as division:
        before = {bot.name: (bot.mu, bot.sigma, bot.approved) for bot in division.snapshot().bots}
    assert before["eve"][2] is False
    world.roster.set(bot("ann"), bot("bob"), bot("eve"))
    world.play()
    last = [c for c in world.run().controls if c.kind in ("approved", "unapproved")][-1]
    assert (last.kind, last.name) == ("approved", "eve")
    assert last.place == len(names)
    with world.division() as division:
        assert all(bot.approved for bot in division.snapshot().bots)


def test_matches_against_who_is_not_approved_move_nobody_else_in_matchmaking_and_tables(make_ladder, bot):
    world = make_ladder("idle_below = 0.0")
    world.roster.set(bot("ann"), bot("bob"), bot("eve", approved=False))
    world.play(lambda: len(world.tables.played) > 30)
    table = {row.name: row for row in run_table(world.run()).rows}
    rows = [row for row in counted_matches(world.run()).rows if "eve" not in {seat.name for seat in row.seats}]
    alone = rate(rows)
    for row in table.values():
        if row.name != "eve":
            assert row.mu == alone.skills[row.entry_id].mu
    assert table["eve"].played > 0
    with world.division() as division:
        clean = Beliefs()
        for member in division.snapshot().bots:
            clean.joined(member.entry_id, member.name)
        for row in rows:
            clean.apply([seat.entry_id for seat in row.seats], (0, 1), [seat.rank for seat in row.seats])
        for member in division.snapshot().bots:
            if member.name != "eve":
                assert member.mu == pytest.approx(clean.known[member.entry_id].mu)


def test_a_paused_division_ends_its_blocks_and_begins_none(make_ladder, bot):
    world = make_ladder("idle_below = 0.0")
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    runner = world.runner()

    def until():
        for division in runner.divisions:
            division.paused = "the rules change"
        return len(world.tables.played) >= 2 and all(not division.playing for division in runner.divisions)

    world.play(until, runner=runner)
    assert len(world.tables.played) <= 4
    assert runner.divisions[0].idle.reason == "the organiser has paused it: the rules change"
    before = len(world.tables.played)
    world.play(lambda: len(world.tables.played) > before + 4)  # the control


def test_a_match_that_is_annulled_while_the_division_plays_counts_in_no_table(make_ladder, bot):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    match_id = sorted(world.run().records.paths())[0]
    played = len(world.tables.played)
    with world.division() as division:
        division.annul(match_id, by="o1234567890abcdef", reason="a power cut")
        with pytest.raises(UsageError, match="no match"):
            division.annul(match_id, by="x", reason="again")
        with pytest.raises(UsageError, match="no match"):
            division.annul("../../etc", by="x", reason="")
    control = world.run().controls[-1]
    assert (control.kind, control.match_id, control.by, control.reason) == (
        "annulled",
        match_id,
        "o1234567890abcdef",
        "a power cut",
    )
    assert match_id not in {row.match_id for row in counted_matches(world.run()).rows}
    world.play()
    assert match_id not in world.run().records.paths()
    assert all(spec.match_id != match_id for spec in world.tables.played[played:])


def test_a_bot_whose_matches_are_given_up_while_others_play_on_is_paused_and_told_why(make_ladder, bot):
    world = make_ladder("idle_below = 0.03\nplacement_blocks = 2")
    world.tables.behaves = lambda spec: "void" if "bob" in {seat.name for seat in spec.seats} else "rated"
    world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    world.play()
    assert {(division, name) for division, name, _ in world.roster.told} == {("toy", "bob")}
    reason = world.roster.told[0][2]
    assert reason.startswith(
        "3 of its matches were given up and none has counted since the first, while matches of its"
    )
    assert reason.endswith("the last: platform_fault: as the script says")
    assert [fields["name"] for fields in world.lines("breaker")] == ["bob"]
    played = len(world.tables.played)
    world.play()
    assert "bob" not in {seat.name for spec in world.tables.played[played:] for seat in spec.seats}
    world.tables.behaves = lambda _: "rated"
    world.roster.set(bot("ann"), bot("bob", activation=2), bot("cyd"))
    world.play()
    assert "bob" in {seat.name for spec in world.tables.played[played:] for seat in spec.seats}
    assert len(world.lines("breaker")) == 1


@pytest.mark.parametrize("bots", ["ann bob cyd", "ann bob"])
def test_no_bot_is_paused_for_trouble_that_all_share_and_the_organiser_hears_of_it(make_ladder, bot, bots):
    world = make_ladder("idle_below = 0.03\nplacement_blocks = 2")
    world.tables.behaves = lambda _: "void"
    world.roster.set(*map(bot, bots.split()))
    runner = world.play(lambda: len(world.tables.played) > 60)
    assert world.roster.told == []
    assert world.lines("breaker") == []
    alarm = runner.divisions[0].alarm()
    assert re.fullmatch(
        r"the last \d\d matches of toy were given up, the last: platform_fault: as the script says", alarm
    )


def test_what_was_asked_for_in_an_earlier_season_changes_no_match_of_the_same_id(make_ladder, bot, tmp_path):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    match_id = sorted(world.run().records.paths())[0]
    begun_at = datetime.fromisoformat(world.run().journal.created.at)
    for earlier_s, state in ((60, "the season of this match has ended"), (0, "yes")):
        clock = partial(lambda at: at, begun_at - timedelta(seconds=earlier_s))
        with LadderStore(tmp_path / f"{earlier_s}.db", tmp_path / "content", clock=clock) as store:
            people = store.people(divisions=["toy"])
            people.annul(SHELL, "toy", match_id, "a power cut")
            runner = world.runner(people)
            world.play(runner=runner)
            assert [act.state for act in people.acts(SHELL, 9) if act.what == "annul"] == [state]
        assert (match_id in {row.match_id for row in counted_matches(world.run()).rows}) == bool(earlier_s)


def test_the_runner_does_what_organisers_have_asked_for_and_says_so(make_ladder, bot, tmp_path):
    world = make_ladder(CERTAIN)
    world.roster.set(bot("ann"), bot("bob"))
    world.play()
    match_id = sorted(world.run().records.paths())[0]
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content") as store:
        people = store.people(divisions=["toy"])
        people.annul(SHELL, "toy", match_id, "a power cut")
        people.annul(SHELL, "toy", "m9-9", "nobody knows it")
        people.steer(SHELL, "drain", "", "the machine moves")
        runner = world.runner()
        runner._people = people
        world.roster.set(bot("ann"), bot("bob"), bot("cyd"))
        played = len(world.tables.played)
        world.play(runner=runner)
        states = [act.state for act in people.acts(SHELL, 9) if act.what == "annul"]
        assert states == ["no match 'm9-9' counts in toy", "yes"]
        assert people.waiting_acts() == []
        assert len(world.tables.played) == played
        people.steer(SHELL, "go on", "", "")
        runner = world.runner()
        runner._people = people
        world.play(runner=runner)
        assert len(world.tables.played) > played
    assert world.run().controls[-1].kind != "paused"
    assert match_id not in {row.match_id for row in counted_matches(world.run()).rows}


def test_a_bot_that_has_met_one_owner_in_a_fifth_of_its_blocks_is_barred_from_it_also_after_a_restart(make_ladder, bot):
    world = make_ladder("idle_below = 0.0\nexploration = 0.0")
    world.roster.set(*(bot(f"b{number}") for number in range(8)))
    world.play(lambda: len(world.tables.played) >= 4)
    with world.division() as division:
        bars = {one.name: one.barred for one in division.snapshot().bots}
    assert any(bars.values())
    assert all(owner.startswith("owner of ") and name not in owner for name, owners in bars.items() for owner in owners)
    world.play(lambda: len(world.tables.played) > 160)
    met = {}
    for block in world.lines(BLOCK):
        for entry in block["group"]:
            met.setdefault(entry, Counter()).update(set(block["group"]) - {entry})
    for counts in met.values():
        total = sum(counts.values())
        assert max(counts.values()) <= math.ceil(0.2 * total) + 1
