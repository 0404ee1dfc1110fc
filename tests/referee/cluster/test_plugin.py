"""What the plugin on a machine does with orders, and what it keeps between them."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.cluster import plugin as module
from referee.cluster.machine import Facts, own_versions
from referee.cluster.orders import Answer, Order
from referee.cluster.plugin import MachinePlugin
from referee.cluster.relay import END, NEWS, ORDER, RelayPlugin
from referee.match.result import MatchResult
from referee.process.limits import Room
from referee.process.sandbox import Sandbox
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.tournament.executor import MatchLost
from referee.tournament.messages import BotSetup


class Machine:
    """A plugin whose tables play when they are let, and a Dask worker that keeps what it is to send."""

    def __init__(self, folder, slots=2):
        self.stream_handlers = {}
        self.sent, self.played = [], []
        self.let = asyncio.Event()
        self.plugin = MachinePlugin(folder, Facts("east", "fast", slots, "strict", "Linux-x86_64", own_versions()))
        self.plugin._listen(self)
        self.plugin._tables = SimpleNamespace(play=self.play)
        self.plugin._has = self.has

    def batched_send(self, message):
        assert message["op"] == NEWS
        self.sent.append((message["client"], message["message"]))

    async def play(self, spec, cap_s, meeting):
        self.played.append(spec)
        await self.let.wait()
        return MatchResult(spec.match_id, "rated", EndReason.NORMAL, "", (1, 1), (0, 0), (None, None), (), 1, 1.0, "a")

    async def has(self, bot, artefacts):
        self.plugin._kept[bot.content] = object()
        self.plugin._ready.add((bot.content, "strict", artefacts))
        return True

    def order(self, client, key, *bots):
        setups = tuple(BotSetup("", bot, {}, bot, Sandbox("strict"), content=bot) for bot in bots)
        spec = MatchSpec(key, "toy", {}, tuple(SeatSpec(bot, bot, "1") for bot in bots), seed="ab" * 16)
        self.stream_handlers[ORDER](client=client, key=key, data=Order(key, spec, 1.0, setups).to_bytes())

    def told(self, kind):
        return [(client, message["key"]) for client, message in self.sent if message["kind"] == kind]

    async def settle(self):
        """Until all that can go on has."""
        for _ in range(200):
            await asyncio.sleep(0.001)
            if self.let.is_set() and not self.plugin._playing:
                return


async def test_orders_wait_for_a_table_and_are_answered(tmp_path):
    machine = Machine(tmp_path, slots=2)
    for number in range(3):
        machine.order("runner", f"k{number}", "ada", "bob")
    await machine.settle()
    assert machine.told("begun") == [("runner", "k0"), ("runner", "k1")]
    assert machine.plugin.facts(None)["busy"] == {"runner": 3}
    machine.let.set()
    await machine.settle()
    assert sorted(machine.told("answer")) == [("runner", "k0"), ("runner", "k1"), ("runner", "k2")]
    answers = [Answer.from_bytes(message["data"]) for _, message in machine.sent if message["kind"] == "answer"]
    assert {answer.kind for answer in answers} == {"played"}


async def test_what_is_no_order_is_answered_with_what_is_wrong(tmp_path):
    machine = Machine(tmp_path)
    machine.stream_handlers[ORDER](client="runner", key="k", data=b"{}")
    machine.let.set()
    await machine.settle()
    (answer,) = (Answer.from_bytes(message["data"]) for _, message in machine.sent if message["kind"] == "answer")
    assert (answer.kind, answer.key) == ("broken", "k")
    assert "not an order" in answer.what


async def test_a_match_that_nobody_waits_for_ends_and_others_go_on(tmp_path):
    machine = Machine(tmp_path)
    machine.order("runner", "k0", "ada")
    machine.order("runner", "k1", "bob")
    await machine.settle()
    machine.stream_handlers[END](client="runner", key="k0")
    await machine.settle()
    assert list(machine.plugin._playing) == ["k1"]
    machine.let.set()
    await machine.settle()
    assert machine.told("answer") == [("runner", "k1")]


async def test_a_machine_that_ends_does_not_answer_for_tables_that_were_ended_with_it(tmp_path):
    """SLURM may signal all processes of a job. The runner would take three such answers for a broken machine."""
    machine = Machine(tmp_path)

    async def play(spec, cap_s, meeting):
        await machine.let.wait()
        raise MatchLost("the worker died")

    machine.plugin._tables = SimpleNamespace(play=play, kill=lambda: None)
    machine.order("runner", "k0", "ada")
    await machine.settle()
    machine.plugin.kill()
    machine.let.set()
    await machine.settle()
    assert machine.told("begun") == [("runner", "k0")]
    assert machine.told("answer") == []


async def test_the_matches_of_a_runner_that_is_gone_end_and_its_bots_are_released(tmp_path):
    machine = Machine(tmp_path)
    machine.order("gone", "k0", "ada", "bob")
    machine.order("other", "k1", "bob", "eve")
    await machine.settle()
    machine.stream_handlers[END](client="gone", key="")
    await machine.settle()
    assert list(machine.plugin._playing) == ["k1"]
    assert set(machine.plugin._kept) == {"bob", "eve"}
    assert machine.plugin._ready == {("bob", "strict", ""), ("eve", "strict", "")}


async def test_of_the_bots_that_no_match_needs_only_the_last_ones_are_held(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_IDLE", 2)
    machine = Machine(tmp_path, slots=9)
    machine.let.set()
    for number in range(5):
        machine.order("runner", f"k{number}", f"bot{number}")
        await machine.settle()
    assert list(machine.plugin._kept) == ["bot3", "bot4"]
    assert not machine.plugin._needed
    assert not machine.plugin._playing


async def test_a_bot_that_arrives_twice_is_built_once_and_leaves_no_lock(tmp_path, monkeypatch):
    machine = Machine(tmp_path)
    taken = []

    def take(content, profile, parcel, hand_ins):
        taken.append(content)
        return "", "", "held"

    monkeypatch.setattr(machine.plugin, "_take", take)
    assert await asyncio.gather(*[machine.plugin.take("c", "strict", b"") for _ in range(3)]) == [("", "")] * 3
    await asyncio.sleep(0)
    assert (taken, machine.plugin._taking, machine.plugin._kept) == (["c"], {}, {"c": "held"})


async def test_a_bot_that_arrives_again_is_looked_at_again(tmp_path, monkeypatch):
    """Its build may be that of another organiser now."""
    machine = Machine(tmp_path)
    machine.plugin._ready = {("c", "strict", "a"), ("c", "strict", "b"), ("d", "strict", "a")}
    monkeypatch.setattr(machine.plugin, "_take", lambda *_: ("", "", "held"))
    await machine.plugin.take("c", "strict", b"")
    assert machine.plugin._ready == {("d", "strict", "a")}


async def test_bots_of_a_machine_fit_into_its_memory_together(tmp_path):
    machine = Machine(tmp_path, slots=4)
    machine.plugin._facts = replace(machine.plugin._facts, room=Room(4224, "this machine"))
    machine.let.set()
    machine.order("runner", "k0", "ada", "bob")
    machine.order("runner", "k1", "ada", "bob", "eve", "dan")
    await machine.settle()
    assert [spec.limits.memory_mib for spec in machine.played] == [(4224 - 5 * 128) // 8, (4224 - 5 * 128) // 16]


async def test_a_plugin_whose_setup_failed_removes_nothing_when_it_ends(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").write_text("")
    plugin = MachinePlugin(tmp_path / "work", Facts("east", "fast", 1, "strict", "Linux-x86_64", own_versions()))
    async with asyncio.timeout(30):
        await plugin.teardown(SimpleNamespace())
    assert (tmp_path / "kept").exists()


class Stream:
    def __init__(self):
        self.sent = []

    def send(self, message):
        self.sent.append(message)


@pytest.fixture
async def relay():
    scheduler = SimpleNamespace(
        stream_handlers={}, stream_comms={"w": Stream(), "v": Stream()}, client_comms={"c": Stream(), "d": Stream()}
    )
    made = RelayPlugin()
    await made.start(scheduler)
    return made, scheduler


async def test_the_relay_passes_messages_to_those_alone_that_they_are_for(relay):
    made, scheduler = relay
    scheduler.stream_handlers[ORDER](client="c", worker="w", key="k", data=b"order")
    scheduler.stream_handlers[NEWS](worker="w", client="c", message={"kind": "begun", "key": "k"})
    assert scheduler.stream_comms["w"].sent == [{"op": ORDER, "client": "c", "key": "k", "data": b"order"}]
    ((_, message),) = (one["event"] for one in scheduler.client_comms["c"].sent)
    assert message == {"kind": "begun", "key": "k", "worker": "w"}
    assert not scheduler.stream_comms["v"].sent
    assert not scheduler.client_comms["d"].sent
    made.remove_client(scheduler, "c")
    assert scheduler.stream_comms["v"].sent == [{"op": END, "client": "c", "key": ""}]


async def test_the_relay_goes_on_where_somebody_is_gone(relay):
    _, scheduler = relay
    scheduler.stream_handlers[ORDER](client="c", worker="gone", key="k", data=b"order")
    scheduler.stream_handlers[END](client="c", worker="gone", key="k")
    scheduler.stream_handlers[NEWS](worker="w", client="gone", message={"kind": "begun", "key": "k"})
