"""Builds of the organiser on their way to machines of the same platform."""

import asyncio
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.cluster import archive as archive_module
from referee.cluster import plugin as plugin_module
from referee.cluster import sending as sending_module
from referee.cluster.archive import Parcel, pack, pack_build, unpack, unpack_build
from referee.cluster.executor import DaskExecutor
from referee.cluster.machine import Facts, own_platform, own_versions
from referee.cluster.orders import Answer, HandIns
from referee.cluster.peers import Peer
from referee.cluster.plugin import MachinePlugin
from referee.folders import cache_folder
from referee.match.result import MatchResult
from referee.process.build import BuildError, BuildLimits, Yard, build, hand_in_limits
from referee.process.entry import load_entry, load_stored
from referee.process.sandbox import Sandbox
from referee.process.sources import EntryError
from referee.process.store import read_built, store_folder
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.tournament.messages import BotSetup, Meeting


@pytest.fixture
def on(tmp_path, monkeypatch):
    """on("east"): from now on the cache is that of this machine."""

    def go(name):
        monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / f"cache of {name}"))

    go("organiser")
    return go


@pytest.fixture
def bot(tmp_path, on):
    """A bot whose build is another one each time."""
    folder = tmp_path / "ada"
    folder.mkdir()
    script = "head -c 9 /dev/urandom > luck && mkdir out && cp bot.sh out/bot && chmod 755 out/bot && ln -s out/bot run"
    lines = ['name = "Ada"', 'version = "1"', 'games = ["*"]', 'run = ["./run"]']
    lines.append(f"build = {json.dumps(['sh', '-c', script])}")
    (folder / "bot.toml").write_text("\n".join(lines) + "\n")
    (folder / "bot.sh").write_text("#!/bin/sh\n")
    return folder


def built(folder):
    """The bot as it lies in the organiser's cache, which has a build of it."""
    build(folder, Yard("plain"))
    return load_entry(folder)


def parcel_of(entry, sandbox=None):
    builds = tuple(replace(one, sandbox=sandbox or one.sandbox) for one in entry.builds)
    return Parcel(pack(store_folder(), entry.content), tuple((one, pack_build(one)) for one in builds))


def machine(folder, profile="plain", platform=None):
    return MachinePlugin(folder / "work", facts("east", profile, platform))


def facts(name, profile="plain", platform=None):
    return Facts(name, "fast", 2, profile, platform or own_platform(), own_versions())


def test_a_parcel_comes_as_it_was_sent(bot):
    sent = parcel_of(built(bot))
    come = Parcel.from_bytes(sent.to_bytes())
    assert come.sources == sent.sources
    assert [archive for _, archive in come.builds] == [archive for _, archive in sent.builds]
    assert [one.artefacts for one, _ in come.builds] == [one.artefacts for one, _ in sent.builds] != []
    assert Parcel.from_bytes(Parcel(b"x\ny").to_bytes()) == Parcel(b"x\ny")


@pytest.mark.parametrize("cut", [0, 5, -1])
def test_a_damaged_parcel_is_refused(bot, cut):
    data = parcel_of(built(bot)).to_bytes()
    with pytest.raises(EntryError, match="arrived damaged"):
        Parcel.from_bytes(data[:cut])


def test_a_machine_plays_with_the_build_that_came_and_makes_none(bot, on, tmp_path):
    entry = built(bot)
    data = parcel_of(entry).to_bytes()
    on("east")
    there = machine(tmp_path)
    assert there._take(entry.content, "plain", data)[:2] == ("", "")
    found = load_stored(entry.content, tmp_path / "gone")
    assert found.built.artefacts == entry.built.artefacts
    assert found.built.folder.is_relative_to(cache_folder())
    assert (found.built.folder / "run").readlink().as_posix() == "out/bot"
    assert (found.built.folder / "run").stat().st_mode & 0o111
    assert "organiser's machine" in found.built.log.read_text()
    setup = BotSetup("", "Ada", {}, entry.id, Sandbox("plain"), entry.content)
    assert asyncio.run(there._has(setup, entry.built.artefacts))
    assert asyncio.run(there._has(setup, ""))


def large_bot(folder, name):
    """Its build leaves 1 MiB."""
    folder.mkdir()
    script = "head -c 1048576 /dev/urandom > luck && printf '#!/bin/sh\\n' > run && chmod 755 run"
    lines = [f'name = "{name}"', 'version = "1"', 'games = ["*"]', 'run = ["./run"]']
    lines.append(f"build = {json.dumps(['sh', '-c', script])}")
    (folder / "bot.toml").write_text("\n".join(lines) + "\n")
    return load_entry(folder, elsewhere=True)


def builds_here():
    return sorted(path.name for path in cache_folder().iterdir() if (path / "built.json").exists())


@pytest.fixture
def several(on, tmp_path, monkeypatch):
    """Four bots with builds of 1 MiB: the setup of each and its parcel."""
    made = []
    for number in range(4):
        entry = large_bot(tmp_path / f"bot{number}", f"Bot {number}")
        setup = BotSetup("", entry.name, {}, entry.id, Sandbox("plain"), entry.content)
        made.append((setup, Parcel(pack(store_folder(), entry.content)).to_bytes()))
    on("east")
    monkeypatch.setattr(plugin_module, "free_share", lambda path: 1.0)
    monkeypatch.setattr(plugin_module, "missing_bytes", lambda path: 0)
    return made


async def test_the_builds_of_a_machine_take_no_more_than_is_allowed(several, tmp_path, monkeypatch):
    """Those that were used longest ago go, and never one that a match needs."""
    monkeypatch.setenv("CROSSTOWN_BUILDS_MIB", "3")
    there = machine(tmp_path)
    first, *others = several
    assert await there.take(first[0].content, "plain", first[1]) == ("", "")
    assert await there._has(first[0], "")
    there._needed.update([first[0].content])
    seen = []
    for setup, parcel in others:
        assert await there.take(setup.content, "plain", parcel) == ("", "")
        assert await there._has(setup, "")
        seen.append(len(builds_here()))
    assert seen == [2, 2, 2]
    assert [await there._has(setup, "") for setup, _ in several] == [True, False, False, True]
    there._needed.clear()
    monkeypatch.setenv("CROSSTOWN_BUILDS_MIB", "0")
    assert await there._make_room() == ""
    assert builds_here() == []


class SlowToForget(ThreadPoolExecutor):
    """Its threads keep what they have found, as one does that the machine stops just then."""

    def __init__(self):
        super().__init__()
        self.found = []

    def submit(self, *work):
        self.found.append(super().submit(*work))
        return self.found[-1]


async def test_a_thread_that_has_looked_at_a_bot_does_not_hold_its_build(several, tmp_path, monkeypatch):
    asyncio.get_running_loop().set_default_executor(SlowToForget())
    there = machine(tmp_path)
    setup, parcel = several[0]
    assert await there.take(setup.content, "plain", parcel) == ("", "")
    assert await there._has(setup, "")
    monkeypatch.setenv("CROSSTOWN_BUILDS_MIB", "0")
    assert await there._make_room() == ""
    assert builds_here() == []


async def test_a_machine_whose_disk_is_nearly_full_builds_no_bot(several, bot, on, tmp_path, monkeypatch):
    monkeypatch.setattr(plugin_module, "free_share", lambda path: 0.04)
    there = machine(tmp_path)
    (setup, parcel), *_ = several
    kind, why = await there.take(setup.content, "plain", parcel)
    assert kind == "broken"
    assert why == "4.0 % of the disk of its cache is free; builds begin when 5 % is"
    assert builds_here() == []
    monkeypatch.setattr(plugin_module, "free_share", lambda path: 0.06)
    assert await there.take(setup.content, "plain", parcel) == ("", "")


async def test_builds_make_room_on_a_disk_that_is_nearly_full(several, tmp_path, monkeypatch):
    there = machine(tmp_path)
    for setup, parcel in several[:2]:
        await there.take(setup.content, "plain", parcel)
    monkeypatch.setattr(plugin_module, "missing_bytes", lambda path: 1 << 20 if len(builds_here()) == 2 else 0)
    await there._make_room()
    assert [await there._has(setup, "") for setup, _ in several[:2]] == [False, True]


def test_a_hand_in_is_built_within_its_limits_on_each_machine(bot, on, tmp_path, monkeypatch):
    entry = load_entry(bot, elsewhere=True)
    data = Parcel(pack(store_folder(), entry.content)).to_bytes()
    yards = []

    def refuse(folder, yard):
        yards.append(yard)
        raise BuildError("no compiler")

    monkeypatch.setattr(plugin_module, "build", refuse)
    on("east")
    there = machine(tmp_path)
    assert there._take(entry.content, "plain", data, HandIns(7.0, 99))[0] == "unable"
    assert there._take(entry.content, "plain", data)[0] == "unable"
    assert [yard.limits for yard in yards] == [hand_in_limits(7.0, 99, 2), BuildLimits()]


@pytest.mark.parametrize("handed_in", [True, False])
async def test_a_machine_is_told_how_to_build_what_was_handed_in(tmp_path, monkeypatch, handed_in):
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True, hand_ins=HandIns(7.0, 99, ("/data",)))
    made._connection.join("tcp://east", {**facts("east").to_values(), "busy": {}})
    given = []

    async def run(attempt, key, function, *arguments):
        given.extend(arguments)
        return "", ""

    async def transport(machine, bot, what):
        return b"parcel"

    monkeypatch.setattr(made._connection, "run", run)
    monkeypatch.setattr(made._sender, "_transport", transport)
    setup = BotSetup("", "Ada", {}, "ada", Sandbox("strict"), "ab" * 16, handed_in=handed_in)
    await made._sender._send(made.machines[0], setup, sending_module.Made())
    assert given[:3] == ["ab" * 16, "strict", b"parcel"]
    assert (HandIns.from_json(given[3]) if given[3] else None) == (HandIns(7.0, 99, ("/data",)) if handed_in else None)


def test_a_hand_in_that_names_a_program_of_a_machine_by_its_path_does_not_play_there(on, tmp_path):
    """On the machine of its trial the same path may lead to nothing that the sandbox would show."""
    tool = tmp_path / "app" / "bin" / "play"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    folder = tmp_path / "eve"
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "Eve"\nversion = "1"\ngames = ["*"]\nrun = ["{tool}"]\n')
    entry = load_entry(folder, elsewhere=True)
    data = Parcel(pack(store_folder(), entry.content)).to_bytes()
    on("east")
    there = machine(tmp_path)
    kind, why, _ = there._take(entry.content, "plain", data, HandIns(7.0, 99))
    assert kind == "unable"
    assert f"'run' in bot.toml names {tool}, which lies outside of the bot's folder" in why
    assert there._take(entry.content, "plain", data, HandIns(7.0, 99, (str(tmp_path / "app"),)))[0] == ""
    assert there._take(entry.content, "plain", data)[0] == ""


def test_the_build_of_the_organiser_replaces_that_of_the_machine(bot, on, tmp_path):
    entry = built(bot)
    on("east")
    own = built(bot).built
    assert own.artefacts != entry.built.artefacts
    there = machine(tmp_path)
    setup = BotSetup("", "Ada", {}, entry.id, Sandbox("plain"), entry.content)
    assert asyncio.run(there._has(setup, ""))
    assert not asyncio.run(there._has(setup, entry.built.artefacts))
    on("organiser")
    data = parcel_of(entry).to_bytes()
    on("east")
    for _ in range(2):
        there._take(entry.content, "plain", data)
    assert asyncio.run(there._has(setup, entry.built.artefacts))
    assert [path.name for path in own.folder.parents[1].iterdir() if path.is_dir()] == ["2"]


def test_a_machine_without_a_build_that_came_makes_it(bot, on, tmp_path):
    entry = built(bot)
    data = Parcel(pack(store_folder(), entry.content)).to_bytes()
    on("east")
    assert machine(tmp_path)._take(entry.content, "plain", data)[:2] == ("", "")
    assert load_stored(entry.content, tmp_path / "gone").built.artefacts != entry.built.artefacts


def test_a_build_without_the_sandbox_is_not_taken_where_the_sandbox_is_asked_for(bot, on, tmp_path, monkeypatch):
    entry = built(bot)
    data = parcel_of(entry).to_bytes()
    on("east")
    asked = []
    monkeypatch.setattr("referee.cluster.plugin.build", lambda folder, yard: asked.append(yard.profile))
    machine(tmp_path, "strict")._take(entry.content, "strict", data)
    assert asked == ["strict"]
    assert read_built(cache_folder() / entry.built.source_id) is None
    machine(tmp_path, "strict")._take(entry.content, "strict", parcel_bytes(data, "strict"))
    assert read_built(cache_folder() / entry.built.source_id).artefacts == entry.built.artefacts


def parcel_bytes(data, sandbox):
    come = Parcel.from_bytes(data)
    return replace(
        come, builds=tuple((replace(one, sandbox=sandbox), archive) for one, archive in come.builds)
    ).to_bytes()


def test_a_build_of_something_else_is_not_taken(bot, on, tmp_path):
    entry = built(bot)
    ((made, archive),) = parcel_of(entry).builds
    data = Parcel(pack(store_folder(), entry.content), ((replace(made, source_id="../../x"), archive),)).to_bytes()
    on("east")
    machine(tmp_path)._take(entry.content, "plain", data)
    assert load_stored(entry.content, tmp_path / "gone").built.artefacts != made.artefacts
    assert not (tmp_path / "x").exists()


def test_a_damaged_build_leaves_nothing_and_says_so(bot, on, tmp_path):
    entry = built(bot)
    ((made, archive),) = parcel_of(entry).builds
    data = Parcel(pack(store_folder(), entry.content), ((made, archive[: len(archive) // 2]),)).to_bytes()
    on("east")
    kind, why, _ = machine(tmp_path)._take(entry.content, "plain", data)
    assert kind == "broken"
    assert "a build arrived damaged" in why
    assert [path.name for path in (cache_folder() / made.source_id).iterdir()] == ["lock"]


def test_files_keep_their_times(bot, tmp_path):
    entry = built(bot)
    (tmp_path / "other").mkdir()
    unpack_build(pack_build(entry.built), tmp_path / "other")
    for name in ("luck", "out/bot"):
        there, here = (place / name for place in (tmp_path / "other", entry.built.folder))
        assert int(there.stat().st_mtime) == int(here.stat().st_mtime)


@pytest.mark.parametrize(("program", "answer"), [("sh", ""), ("nodejs23", "unable")])
def test_a_machine_without_the_program_of_a_bot_says_so_when_the_bot_comes(on, tmp_path, program, answer):
    folder = tmp_path / "eve"
    folder.mkdir()
    (folder / "bot.toml").write_text(f'name = "Eve"\nversion = "1"\ngames = ["*"]\nrun = ["{program}", "bot.js"]\n')
    (folder / "bot.js").write_text("\n")
    entry = load_entry(folder, elsewhere=True)
    data = Parcel(pack(store_folder(), entry.content)).to_bytes()
    on("east")
    there = machine(tmp_path)
    kind, why, _ = there._take(entry.content, "plain", data)
    assert kind == answer
    assert ("nodejs23" in why) == bool(answer)
    assert str(store_folder()) not in why
    setup = BotSetup("", "Eve", {}, entry.id, Sandbox("plain"), entry.content)
    assert asyncio.run(there._has(setup, "")) != bool(answer)


@pytest.mark.parametrize(("seconds", "kept"), [(-5, 0), (10**12, archive_module.LAST_TIME_S)])
def test_a_time_that_other_file_systems_cannot_have_is_not_sent(bot, seconds, kept):
    info = archive_module._without_owner(_member(seconds))
    assert info.mtime == kept


def _member(seconds):
    info = tarfile.TarInfo("late")
    info.mtime = seconds
    return info


def _archive_of(seconds):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(_member(seconds))
    return made.getvalue()


def test_an_archive_with_an_impossible_time_is_damaged(bot, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(EntryError, match="arrived damaged"):
        unpack_build(_archive_of(2**63 - 1), tmp_path / "other")
    with pytest.raises(EntryError, match="arrived damaged"):
        unpack(store_folder(), "ab" * 16, _archive_of(2**63 - 1))


# The executor


SPEC = MatchSpec("m0", "toy", {}, (SeatSpec("ada", "Ada", "1"), SeatSpec("bob", "Bob", "1")), seed="ab" * 16)


@pytest.fixture
def executor(bot, tmp_path, monkeypatch):
    """executor(facts, ...) has played one match on this machine: the order and the parcels that it sent, and notes."""

    async def play(one, **keys):
        entry, notes, orders, parcels = load_entry(bot), [], [], []
        setup = BotSetup(str(bot), "Ada", {}, "ada", Sandbox("strict"), entry.content)
        made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, note=notes.append, **keys)
        made._connection.join("tcp://east", {**one.to_values(), "busy": {}})
        done = MatchResult("m0", "void", EndReason.SUSPECT_TIMEOUT, "", (), (), (None, None), (), 1, 1.0, "")

        async def ask(machine, order, records):
            orders.append(order)
            if len(orders) == 1:
                return Answer(order.key, "lacks", machine.name, lacks=(entry.content,))
            return Answer(order.key, "played", machine.name, result=done, record=b"r")

        async def send(machine, bot, what):
            parcels.append(Parcel.from_bytes(sending_module._packed(bot, what)))
            return "", ""

        monkeypatch.setattr(made, "_ask", ask)
        monkeypatch.setattr(made._sender, "_send", send)
        await made.play(SPEC, 1.0, Meeting(tmp_path, (setup, setup)))
        return entry, orders, parcels, notes

    return play


async def test_a_machine_of_the_same_platform_gets_the_build(bot, executor):
    built(bot)
    entry, orders, parcels, notes = await executor(facts("east"), sends_builds=True)
    assert [order.builds for order in orders] == [{entry.content: entry.built.artefacts}] * 2
    assert [one.artefacts for one, _ in parcels[0].builds] == [entry.built.artefacts]
    assert not any("build" in note for note in notes)


@pytest.mark.parametrize(
    ("one", "keys"),
    [
        (facts("east", platform="Linux-aarch64-glibc2.36"), {"sends_builds": True}),
        (facts("east", "strict"), {"sends_builds": True}),  # the build was made without the sandbox
        (facts("east"), {}),
    ],
)
async def test_other_machines_get_the_sources_alone(bot, executor, one, keys):
    built(bot)
    _, orders, parcels, _ = await executor(one, **keys)
    assert [order.builds for order in orders] == [{}, {}]
    assert [parcel.builds for parcel in parcels] == [()]


@pytest.mark.parametrize("most", ["MOST_BUILD_BYTES", "MOST_PACKED_BYTES"])
async def test_a_build_that_is_too_large_is_not_sent_and_the_bot_is_named(bot, executor, monkeypatch, most):
    built(bot)
    monkeypatch.setattr(archive_module, most, 10)
    _, orders, parcels, notes = await executor(facts("east"), sends_builds=True)
    assert [order.builds for order in orders] == [{}, {}]
    assert [parcel.builds for parcel in parcels] == [()]
    assert [note for note in notes if note.startswith("machines build 'Ada' themselves: its build has more than")]


async def test_few_bots_are_packed_and_sent_at_the_same_time(bot, tmp_path, monkeypatch):
    """But any number are built."""
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path)
    made._connection.join("tcp://east", {**facts("east").to_values(), "busy": {}})
    (there,) = made.machines
    let, sending, building = asyncio.Event(), [], []

    async def scatter(parcel, **_):
        sending.append(parcel)
        await let.wait()

    async def run(attempt, key, *given):
        building.append(key)
        await asyncio.sleep(0 if len(building) == 5 else 600)

    made._connection._client = SimpleNamespace(scatter=scatter)
    monkeypatch.setattr(sending_module, "_packed", lambda bot, made: b"parcel")
    monkeypatch.setattr(made._connection, "run", run)
    setups = [BotSetup("", "Ada", {}, "ada", Sandbox("strict"), f"{number:032}") for number in range(5)]
    sends = [asyncio.create_task(made._sender._send(there, setup, sending_module.Made())) for setup in setups]
    async with asyncio.timeout(30):
        while len(sending) < sending_module.SENT_AT_ONCE:  # noqa: ASYNC110 - of threads
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert len(sending) == sending_module.SENT_AT_ONCE
        let.set()
        await asyncio.wait(sends, return_when=asyncio.FIRST_COMPLETED)
    assert len(building) == 5
    for send in sends:
        send.cancel()
    await asyncio.gather(*sends, return_exceptions=True)
