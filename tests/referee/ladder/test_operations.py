"""What keeps a ladder going for months: little disk, quotas, numbers for monitoring, an orderly end."""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.errors import PlatformError
from referee.ladder import intake as intake_module
from referee.ladder.bots import LadderBot
from referee.ladder.config import LadderConfig
from referee.ladder.disk import DiskWatch
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import Intake, Places
from referee.ladder.members import member_of
from referee.ladder.monitor import LadderMonitor
from referee.ladder.quotas import Quotas
from referee.ladder.runner import HouseBots, Loader, read_status
from referee.ladder.store import LadderStore
from tests.living import open_files
from tests.referee.ladder.handing_in import RANDOM, Sign, archive, bot_files, send


class Share:
    """Tells how much of the disk is free: what a test wants."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __call__(self, _place: Path) -> float:
        return self.share


def watch(share: Share) -> DiskWatch:
    return DiskWatch((Path("/"),), 0.10, 0.05, share)


def refused(call: Callable[[], object]) -> HandInRefused:
    with pytest.raises(HandInRefused) as caught:
        call()
    return caught.value


# Disk


def test_hand_ins_stop_at_ten_percent_and_matches_at_five() -> None:
    share = Share(0.11)
    disk = watch(share)
    assert (disk.stops_hand_ins(), disk.stops_matches()) == ("", "")
    share.share = 0.07
    assert disk.stops_hand_ins() == "7.0 % of the ladder's disk is free; hand-ins are taken again when 10 % is"
    assert disk.stops_matches() == ""
    share.share = 0.04
    assert disk.stops_matches() == "4.0 % of the ladder's disk is free; matches and builds begin again when 5 % is"


def test_with_little_disk_a_hand_in_is_refused_before_a_byte_is_written(
    config: LadderConfig, store: LadderStore, sign: Sign
) -> None:
    share = Share(0.09)
    ladder = LadderHandIns(config, store, disk=watch(share))
    ann = sign()
    problem = refused(lambda: ladder.begin_upload(ann, "mine", ""))
    assert (problem.refusal, problem.retry_after_s) == (Refusal.UNAVAILABLE, 600)
    assert "9.0 % of the ladder's disk is free" in str(problem)
    assert list(Places(config.data).uploads.iterdir()) == []
    share.share = 0.5
    assert send(ladder, ann, archive(bot_files())).created


def test_with_very_little_disk_no_match_begins_and_the_organiser_is_told(make_ladder, bot) -> None:
    world = make_ladder()
    world.roster.set(bot("ann"), bot("bob"))
    share = Share(0.04)
    runner = world.runner()
    runner._disk = watch(share)
    world.play(seconds=20, runner=runner)
    assert world.tables.played == []
    said = read_status_of(world)
    assert "4.0 % of the ladder's disk is free" in said["toy"]["alarm"]
    assert "4.0 %" in said["toy"]["idle"]
    assert any(note.startswith("no match begins: 4.0 %") for note in world.notes)
    share.share = 0.5
    again = world.runner()
    again._disk = watch(share)
    world.play(lambda: len(world.tables.played) > 2, runner=again)
    assert len(world.tables.played) > 2


def read_status_of(world: Any) -> dict[str, Any]:
    import json

    from referee.ladder.runner import status_file

    found: dict[str, Any] = json.loads(status_file(world.config.data).read_text())["divisions"]
    return found


async def test_with_very_little_disk_a_hand_in_waits_and_is_not_rejected(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign
) -> None:
    send(hand_ins, sign(), archive(bot_files()))
    notes: list[str] = []
    task = asyncio.create_task(Intake(config, store, RANDOM, note=notes.append, disk=watch(Share(0.01))).run())
    async with asyncio.timeout(20):
        while not notes:  # noqa: ASYNC110 - of another thread
            await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert notes == [
        "no hand-in is built: 1.0 % of the ladder's disk is free; matches and builds begin again when 5 % is"
    ]
    assert store.version("mine", 1).status == "received"


# Quotas

BIG = "x" * (600 << 10)


def quotas(config: LadderConfig, store: LadderStore, cache: Path, owner_mib: int = 1) -> Quotas:
    return Quotas(store, Places(config.data).content, cache, owner_mib)


def hand_in_big(hand_ins: LadderHandIns, account: Any, version: str, bot: str = "mine") -> str:
    files = {**bot_files(version=version, name=bot), "weights.txt": version + BIG}
    content = send(hand_ins, account, archive(files), bot=bot).version.content
    assert content
    return content


def end(store: LadderStore, number: int, status: str, bot: str = "mine") -> None:
    """The version's way ends like this."""
    version_id = next(one.id for one in store.steps.waiting() if (one.bot, one.number) == (bot, number))
    if status == "rejected":
        store.steps.reject(version_id, "checked", None, "no", "no")
        return
    store.steps.checked(version_id, "1", ["first"])
    store.steps.qualified(version_id, "first")
    if status == "retired":
        store.retire(bot, number)


def test_an_owner_with_too_much_is_refused_and_told_what_to_do(
    config: LadderConfig, store: LadderStore, sign: Sign
) -> None:
    ladder = LadderHandIns(replace(config, storage=replace(config.storage, owner_mib=1)), store)
    ann = sign()
    for number in (1, 2):
        hand_in_big(ladder, ann, str(number))
        end(store, number, "active")
    problem = refused(lambda: ladder.begin_upload(ann, "mine", ""))
    assert problem.refusal is Refusal.TOO_MANY
    assert "the versions of 'ann' and their builds take 1 MiB, and 1 MiB are allowed" in str(problem)
    assert "retire versions" in problem.next_step
    assert ladder.begin_upload(sign("bob"), "his", "").abort() is None
    store.retire("mine", 1)
    assert hand_in_big(ladder, ann, "3")


def test_of_an_owner_with_too_much_the_oldest_that_do_not_play_are_removed(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    ann, bob = sign(), sign("bob")
    contents = [hand_in_big(hand_ins, ann, str(number)) for number in (1, 2, 3)]
    his = hand_in_big(hand_ins, bob, "1", "his")
    end(store, 1, "rejected")
    end(store, 2, "retired")
    end(store, 3, "active")
    end(store, 1, "rejected", "his")
    removed = quotas(config, store, cache).evict()
    kept = {path.name for path in Places(config.data).content.iterdir()}
    assert [(one.bot, one.number) for one in removed] == [("mine", 1), ("mine", 2)]
    assert kept == {contents[2], his}, "what plays stays, and so does what is rejected of an owner with little"


def test_files_that_another_owner_plays_with_stay(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    ann, bob = sign(), sign("bob")
    shared = hand_in_big(hand_ins, ann, "1")
    hand_in_big(hand_ins, ann, "2")
    files = {**bot_files(version="1"), "weights.txt": "1" + BIG}
    assert send(hand_ins, bob, archive(files), bot="his").version.content == shared
    end(store, 1, "retired")
    end(store, 2, "retired")
    end(store, 1, "active", "his")
    removed = quotas(config, store, cache).evict()
    assert [one.number for one in removed] == [2]
    assert (Places(config.data).content / shared).is_dir()


def test_a_retired_version_without_files_is_activated_by_handing_it_in_again(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    ann = sign()
    for number, how in ((1, "retired"), (2, "active"), (3, "active")):
        hand_in_big(hand_ins, ann, str(number))
        end(store, number, how)
    assert [one.number for one in quotas(config, store, cache).evict()] == [1]
    problem = refused(lambda: hand_ins.activate(ann, "mine", 1))
    assert problem.refusal is Refusal.CONFLICT
    assert problem.next_step == "hand them in again: it is the same version"
    hand_in_big(hand_ins, ann, "1")
    assert store.version("mine", 1).status == "active"


def test_builds_and_packages_of_what_does_not_play_are_removed_and_those_of_what_plays_stay(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    ann = sign()
    made: dict[int, set[Path]] = {}
    for number, how, packages in ((1, "retired", "one\n"), (2, "active", "two\n"), (3, "retired", "two\n")):
        files = {**bot_files(version=str(number), more='build = ["make"]\n'), "requirements.txt": packages}
        content = send(hand_ins, ann, archive(files)).version.content
        end(store, number, how)
        made[number] = {cache / build / "1" / "bot" for build in quotas(config, store, cache)._builds_of(content)}
        assert len(made[number]) == 2
        for folder in made[number]:
            folder.mkdir(parents=True, exist_ok=True)
    quotas(config, store, cache).evict()
    assert not any(folder.exists() for folder in made[1])
    assert all(folder.is_dir() for folder in made[2])
    assert {folder for folder in made[3] if folder.exists()} == made[3] & made[2], "packages that are shared stay"


def test_files_that_belong_to_no_version_are_removed_when_they_are_old(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path, monkeypatch
) -> None:
    """Such as a kill leaves between the files and the line in the database."""
    kept = send(hand_ins, sign(), archive(bot_files())).version.content
    for name, age_s in (("old", 7200), ("young", 10)):
        orphan = Places(config.data).content / name
        (orphan / "bot").mkdir(parents=True)
        (orphan / "size").write_text("1\n")
        os.utime(orphan / "size", (time.time() - age_s, time.time() - age_s))
    quotas(config, store, cache).evict()
    assert {path.name for path in Places(config.data).content.iterdir()} == {kept, "young"}


# Numbers for monitoring


def test_matches_faults_and_lag_are_counted_by_division(make_ladder, bot, tmp_path) -> None:
    world = make_ladder()
    world.roster.set(bot("ann"), bot("bob"))
    world.tables.behaves = lambda spec: "crashed bob" if spec.place == 1 else "rated"
    world.play(lambda: len(world.tables.played) >= 4)
    counts = read_status_of(world)["toy"]["counts"]
    assert sum(counts["rated"].values()) >= 3
    assert counts["faults"] == {"crashed": 1}
    assert counts["void"] == 0
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content") as store:
        monitor = LadderMonitor(world.config, store, status=lambda: read_status_of(world), disk=watch(Share(0.5)))
        assert monitor.problems() == []
        found = {metric.name: metric for metric in monitor.metrics()}
        assert found["crosstown_faults"].samples == [(("toy", "crashed"), 1.0)]
        assert found["crosstown_disk_free_ratio"].samples == [((), 0.5)]


def test_what_keeps_a_ladder_from_its_work_is_a_problem(config: LadderConfig, store: LadderStore) -> None:
    assert read_status(config.data) == {}
    monitor = LadderMonitor(config, store, disk=watch(Share(0.01)))
    assert list(monitor.problems()) == [
        "the process that plays does not run",
        "1.0 % of the ladder's disk is free; matches and builds begin again when 5 % is",
    ]


def test_steps_of_hand_ins_are_counted_with_what_they_took(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign
) -> None:
    send(hand_ins, sign(), archive(bot_files()))
    (waiting,) = store.steps.waiting()
    store.steps.begin_step(waiting.id, "built", "building", 60)
    store.steps.end_step(waiting.id, "built", "done", 2.5)
    found = {metric.name: metric for metric in LadderMonitor(config, store).metrics()}
    summary = found["crosstown_hand_in_step_seconds"]
    assert (summary.samples, summary.counts) == ([(("built",), 2.5)], [1])
    assert found["crosstown_versions"].samples == [(("building",), 1)]


# The end


def test_an_orderly_end_says_how_long_matches_get_and_how_long_it_took(make_ladder, bot) -> None:
    world = make_ladder(divisions='[server]\ndrain_s = 0.2\n[[divisions]]\ngame = "toy"\n')
    world.roster.set(bot("ann"), bot("bob"))
    world.tables.behaves = lambda _: "stays"
    world.play(lambda: len(world.tables.played) == 2)
    assert "ending: 2 matches in play, which have up to 0.2 s to end" in world.notes
    assert world.notes[-1].startswith("ended after ")
    assert world.notes[-1].endswith("2 matches did not end and will be played again")


# Builds that are gone, and bots that play no more


def active_bot(store: LadderStore) -> LadderBot:
    (bot,) = store.active("first")
    return bot


def test_a_bot_whose_build_is_gone_waits_and_is_not_paused(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    send(hand_ins, sign(), archive(bot_files(more='build = ["true"]\n')))
    end(store, 1, "active")
    loader = Loader(config, "plain", HouseBots(config))
    loaded = loader(active_bot(store))
    assert loaded.waits
    assert loader.unbuilt == [active_bot(store)]
    assert loader(active_bot(store)).waits, "it is looked for again"


async def run_until_a_change(intake: Intake, store: LadderStore, before: int) -> None:
    """Until the store has another number of changes than `before`."""
    task = asyncio.create_task(intake.run())
    async with asyncio.timeout(60):
        while store.change_count() == before:  # noqa: ASYNC110 - of another thread
            await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("last", ['{"event": "done"}', '{"event": "rejected", "reason": "no make"}'])
async def test_a_build_that_is_gone_is_made_again_and_the_bot_is_looked_at_again(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, last: str
) -> None:
    send(hand_ins, sign(), archive(bot_files(more='build = ["true"]\n')))
    end(store, 1, "active")
    notes: list[str] = []
    unbuilt = [active_bot(store), active_bot(store)]
    before = store.change_count()
    words = [sys.executable, "-c", f"import sys; sys.stdin.read(); print({last!r})"]
    intake = Intake(config, store, RANDOM, note=notes.append, unbuilt=unbuilt, command=words, back_off_s=0.01)
    await run_until_a_change(intake, store, before)
    assert notes[0] == "the build of 'mine', version 1, is gone: it is built again"
    assert notes[1:] == ([] if "done" in last else ["warning: 'mine' cannot be built again, and waits: no make"])
    assert store.version("mine", 1).status == "active"


async def test_a_bot_that_is_built_again_plays_though_the_database_was_held(
    config: LadderConfig,
    store: LadderStore,
    hand_ins: LadderHandIns,
    sign: Sign,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else has it looked at again."""
    send(hand_ins, sign(), archive(bot_files(more='build = ["true"]\n')))
    end(store, 1, "active")
    notes: list[str] = []
    before = store.change_count()
    note_change, held = store.note_roster_change, [HandInRefused(Refusal.UNAVAILABLE, "it is held", "wait")]

    def note_roster_change() -> None:
        if held:
            raise held.pop()
        note_change()

    monkeypatch.setattr(store, "note_roster_change", note_roster_change)
    done = '{"event": "done"}'
    words = [sys.executable, "-c", f"import sys; sys.stdin.read(); print({done!r})"]
    intake = Intake(config, store, RANDOM, note=notes.append, unbuilt=[active_bot(store)], command=words)
    await run_until_a_change(intake, store, before)
    assert notes[1:] == ["it is held"]


@pytest.mark.parametrize(
    ("said", "why"),
    [("", "the build took longer than 0.5 s"), ('{"event": "wait"}', "no machine began with it within 0.4 s")],
)
async def test_a_build_again_that_never_ends_is_given_up_and_others_are_built(
    config: LadderConfig,
    store: LadderStore,
    hand_ins: LadderHandIns,
    sign: Sign,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    why: str,
) -> None:
    """Hand-ins waited behind it."""
    send(hand_ins, sign(), archive(bot_files(more='build = ["true"]\n')))
    end(store, 1, "active")
    notes: list[str] = []
    before = store.change_count()
    words = [sys.executable, "-c", f"import time; print({said!r}, flush=True) if {said!r} else None; time.sleep(3600)"]
    monkeypatch.setattr(intake_module, "MOST_WAIT_S", 0.4)
    intake = Intake(
        config,
        store,
        RANDOM,
        note=notes.append,
        unbuilt=[active_bot(store)],
        command=words,
        back_off_s=0.01,
        build_margin_s=3600.0 if said else 0.5 - 2 * config.hand_ins.build_s,
    )
    await run_until_a_change(intake, store, before)
    assert notes[1:] == [f"warning: 'mine' cannot be built again, and waits: {why}"]


def test_files_of_bots_that_play_no_more_are_not_held(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    """Or a ladder would keep a file open for each version that ever played."""
    send(hand_ins, sign(), archive(bot_files()))
    end(store, 1, "active")
    bot = active_bot(store)
    loader = Loader(config, "plain", HouseBots(config))
    assert not loader(bot).trouble
    assert loader(bot).setup.handed_in
    before = open_files()
    loader.keep_only({bot.content})
    assert open_files() <= before
    loader.keep_only(set())
    assert open_files() < before
    assert not loader(bot).trouble


def test_bots_are_not_left_out_where_the_cache_cannot_be_written(
    config: LadderConfig, store: LadderStore, hand_ins: LadderHandIns, sign: Sign, cache: Path
) -> None:
    """A ladder that began on a full disk left out all its bots, and played nothing once there was room."""
    send(hand_ins, sign(), archive(bot_files()))
    end(store, 1, "active")
    bot = active_bot(store)
    loader = Loader(config, "plain", HouseBots(config))
    (cache / "bots").touch()
    with pytest.raises(PlatformError):  # ends the process that plays, which is started again until it can go on
        loader(bot)
    (cache / "bots").unlink()
    assert not loader(bot).trouble


@pytest.mark.parametrize("house", [True, False])
def test_what_was_handed_in_is_that_after_a_restart_too(tmp_path: Path, house: bool) -> None:
    fields = {"folder": "/b", "name": "mine", "options": {}, "entry_id": "ab", "house": house}
    assert member_of(fields, 1, tmp_path).setup.handed_in != house
