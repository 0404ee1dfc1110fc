"""Hand-ins of a ladder are built and tried on machines, and rejected only when several cannot build them."""

import asyncio
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from referee.cluster import plugin as plugin_module
from referee.cluster import trial_on_machine as on_machine
from referee.cluster import trial_orders
from referee.cluster.executor import DaskExecutor
from referee.cluster.machine import Facts, own_versions
from referee.cluster.orders import Answer, TrialOrder
from referee.cluster.peers import Peer
from referee.cluster.plugin import MachinePlugin
from referee.cluster.relay import END, ORDER
from referee.cluster.trial_orders import MOST_TRIES, MachineTrials, _order
from referee.tournament.executor import MatchLost

BUILT = {"event": "begin", "step": "built"}, {"event": "end", "step": "built", "detail": "built in 1 s"}
DRILLED = {"event": "note", "step": "qualified", "detail": "drills of the protocol"}
PASSED = {"event": "begin", "step": "qualified"}, {"event": "done"}
REJECTED = {"event": "rejected", "step": "built", "reason": "no compiler", "next_step": "see the log"}


@dataclass(frozen=True)
class Job:
    folder: str
    opponent: str
    profile: str = "strict"

    def to_json(self):
        return json.dumps({"folder": self.folder, "opponent": self.opponent, "profile": self.profile, "hidden": ["/x"]})


@pytest.fixture
def job(tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    folders = []
    for name in ("ada", "random"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "b.py"]\n'
        )
        (folder / "b.py").write_text(f"# {name}\n")
        folders.append(str(folder))
    return Job(*folders)


def facts(name, sandbox="strict", slots=1):
    return Facts(name, "fast", slots, sandbox, "Linux-x86_64", own_versions())


def test_an_order_comes_as_it_was_sent(job):
    order = _order("k", job)
    data = order.to_bytes()
    assert TrialOrder.is_in(data)
    assert TrialOrder.from_bytes(data) == order
    assert order.content != order.opponent
    assert json.loads(order.job_with(folder="/there"))["folder"] == "/there"
    for bad in (b"{}", b"", b'{"trial": 1}\n'):
        with pytest.raises(ValueError, match=r".+"):
            TrialOrder.from_bytes(bad)


# On the machine


class Machine:
    """A plugin, and a Dask worker that keeps what it is to send."""

    def __init__(self, folder):
        self.stream_handlers, self.sent, self.events = {}, [], []
        self.plugin = MachinePlugin(folder, facts("east"), (folder / "key.pem",))
        self.plugin._listen(self)

    def batched_send(self, message):
        self.sent.append(message["message"])

    def log_event(self, topic, event):
        self.events.append(event)

    async def over(self):
        async with asyncio.timeout(30):
            while self.plugin._playing:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(0.01)

    def said(self, kind):
        return [message["data"] for message in self.sent if message["kind"] == kind]


def script(tmp_path, monkeypatch, text):
    path = tmp_path / "trial.py"
    path.write_text(f"import json, os, sys, time\njob = json.load(sys.stdin)\n{text}\n")
    monkeypatch.setattr(on_machine, "COMMAND", (sys.executable, str(path)))


async def test_a_machine_runs_the_trial_in_places_of_its_own_and_says_what_it_says(job, tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, "print(json.dumps(job), flush=True); sys.stderr.write('the log'); sys.exit(3)")
    machine = Machine(tmp_path / "work")
    order = _order("k", job)
    machine.stream_handlers[ORDER](client="c", key="k", data=order.to_bytes())
    assert machine.plugin.facts(None)["busy"] == {"c": 1}
    await machine.over()
    (line,) = machine.said("event")
    there = json.loads(line)
    assert (there["profile"], there["slots"]) == ("strict", 1)
    assert there["hidden"] == [str(tmp_path / "work" / "key.pem"), str(tmp_path / "work")]
    assert order.content in there["folder"]
    assert order.opponent in there["opponent"]
    assert there["scratch"] == str(tmp_path / "work" / "trials" / "k")
    assert not (tmp_path / "work" / "trials" / "k").exists()
    assert machine.said("log") == [b"the log"]
    (answer,) = map(Answer.from_bytes, machine.said("answer"))
    assert (answer.kind, answer.what) == ("tried", "exit code 3")


@pytest.mark.parametrize(("event", "stays"), [("done", True), ("rejected", False), ("platform", False)])
async def test_the_build_of_a_trial_stays_only_if_the_bot_qualified(job, tmp_path, monkeypatch, event, stays):
    text = "from pathlib import Path\nfor place in map(Path, os.environ['PLACES'].split()):\n"
    text += "    (place / '1' / 'bot').mkdir(parents=True); (place / 'built.json').write_text('{}')\n"
    script(tmp_path, monkeypatch, f"{text}print(json.dumps({{'event': '{event}'}}), flush=True)")
    (Path(job.folder) / "requirements.txt").write_text("numpy\n")
    place, environment = on_machine._places_of_builds(Path(job.folder))
    monkeypatch.setenv("PLACES", f"{place} {environment}")
    machine = Machine(tmp_path / "work")
    machine.stream_handlers[ORDER](client="c", key="k", data=_order("k", job).to_bytes())
    await machine.over()
    assert len(machine.said("event")) == 1
    assert (place / "1").exists() == (place / "built.json").exists() == stays
    assert (environment / "1").exists() == stays


async def test_a_log_that_is_written_byte_by_byte_is_few_messages(job, tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, "for _ in range(300): sys.stderr.write('x'); sys.stderr.flush(); time.sleep(0.001)")
    machine = Machine(tmp_path / "work")
    machine.stream_handlers[ORDER](client="c", key="k", data=_order("k", job).to_bytes())
    await machine.over()
    assert b"".join(machine.said("log")) == b"x" * 300
    assert len(machine.said("log")) < 10


async def test_the_log_of_a_step_comes_before_the_event_that_ends_it(job, tmp_path, monkeypatch):
    """After the last event nobody waits for more."""
    lines = "for step in 'abc': sys.stderr.write(step * 100_000); sys.stderr.flush(); print(step, flush=True)"
    script(tmp_path, monkeypatch, f"{lines}\ntime.sleep(600)")
    machine = Machine(tmp_path / "work")
    machine.stream_handlers[ORDER](client="c", key="k", data=_order("k", job).to_bytes())
    async with asyncio.timeout(30):
        while b"c\n" not in machine.said("event"):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)
    seen = b"".join(message["data"] for message in machine.sent if message["kind"] in ("log", "event"))
    for step in (b"a", b"b", b"c"):
        before, _, _ = seen.partition(step + b"\n")
        assert before.count(step) == 100_000
    machine.stream_handlers[END](client="c", key="k")
    await machine.over()


async def test_a_trial_ends_with_the_plugin_of_its_machine(job, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script(tmp_path, monkeypatch, "print(os.getpid(), flush=True); time.sleep(600)")
    machine = Machine(tmp_path / "work")
    machine.stream_handlers[ORDER](client="c", key="k", data=_order("k", job).to_bytes())
    async with asyncio.timeout(30):
        while not machine.said("event"):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)
    async with asyncio.timeout(30):
        await machine.plugin.teardown(machine)
    with pytest.raises(ProcessLookupError):
        on_machine.os.kill(int(machine.said("event")[0]), 0)
    assert not machine.plugin._playing


async def test_a_trial_that_nobody_waits_for_ends_with_its_process(job, tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, "print(os.getpid(), flush=True); time.sleep(600)")
    machine = Machine(tmp_path / "work")
    machine.stream_handlers[ORDER](client="c", key="k", data=_order("k", job).to_bytes())
    async with asyncio.timeout(30):
        while not machine.said("event"):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)
    machine.stream_handlers[END](client="c", key="k")
    await machine.over()
    with pytest.raises(ProcessLookupError):
        on_machine.os.kill(int(machine.said("event")[0]), 0)
    assert not machine.said("answer")


async def test_a_machine_whose_disk_is_nearly_full_tries_no_hand_in(job, tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, 'print(\'{"event": "done"}\', flush=True)')
    monkeypatch.setattr(plugin_module, "free_share", lambda path: 0.012)
    machine = Machine(tmp_path / "work")
    for number in range(2):
        machine.stream_handlers[ORDER](client="c", key=f"k{number}", data=_order(f"k{number}", job).to_bytes())
        await machine.over()
        monkeypatch.setattr(plugin_module, "free_share", lambda path: 0.5)
        assert bool(machine.plugin.facts(None)["full"]) == (number == 0)
    full, free = map(Answer.from_bytes, machine.said("answer"))
    assert (full.kind, free.kind) == ("broken", "tried")
    assert full.what.startswith("1.2 % of the disk of its cache is free")
    assert [said["text"][:14] for said in machine.events] == ["no build and n", "builds begin h"]


async def test_sources_that_are_not_what_they_should_be_are_the_machines_trouble(job, tmp_path):
    machine = Machine(tmp_path / "work")
    order = _order("k", job)
    damaged = TrialOrder("k", order.job, "ab" * 16, order.opponent, b"nothing", order.opponent_sources)
    machine.stream_handlers[ORDER](client="c", key="k", data=damaged.to_bytes())
    await machine.over()
    (answer,) = map(Answer.from_bytes, machine.said("answer"))
    assert answer.kind == "broken"
    assert "arrived damaged" in answer.what


# On the ladder's machine


class Executor:
    """Machines that say what a script has for them, one after another; an exception is raised."""

    def __init__(self, *scripts):
        self.scripts, self.names, self.back, self.said = list(scripts), [], [], []

    async def seat_trial(self, *, strict, without=()):
        assert strict
        assert list(without) == self.names[: len(without)]
        if not self.scripts:
            return None
        self.names.append(f"m{len(self.names)}")
        return SimpleNamespace(name=self.names[-1])

    async def send_trial(self, machine, order, hear):
        for said in self.scripts.pop(0):
            if isinstance(said, Exception):
                raise said
            try:
                hear("log", said) if isinstance(said, bytes) else hear("event", json.dumps(said).encode())
            except (ValueError, KeyError, TypeError) as error:
                raise MatchLost(f"it sent a message that cannot be used: {error}", machine=machine.name) from None
        return "exit code 0"

    def give_back(self, machine):
        self.back.append(machine.name)


async def tried(executor, job, log):
    events = []
    async with MachineTrials(executor).try_out(job, log) as work:
        async with asyncio.timeout(10):
            while line := await work.readline():
                event = json.loads(line)
                executor.said.append(event["event"])
                if event["event"] != "wait":
                    events.append(event)
        how = await work.ended()
    assert executor.back == executor.names
    return [(event["event"], event.get("step", "")) for event in events], events, how


async def test_events_and_log_of_a_trial_come_home(job, tmp_path):
    kinds, events, how = await tried(Executor([b"a log\n", *BUILT, *PASSED]), job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("end", "built"), ("begin", "qualified"), ("done", "")]
    assert events[1]["detail"] == "built in 1 s, on machine 'm0'"
    assert how == "exit code 0"
    assert (tmp_path / "log").read_text() == "a log\n"


async def test_a_bot_that_a_machine_cannot_build_is_not_rejected_if_another_one_can(job, tmp_path):
    executor = Executor([BUILT[0], REJECTED], [*BUILT, *PASSED])
    kinds, events, _ = await tried(executor, job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("begin", "built"), ("end", "built"), ("begin", "qualified"), ("done", "")]
    assert executor.said[:5] == ["wait", "begin", "wait", "wait", "begin"], "no time of the bot until a machine begins"
    assert events[2]["detail"].endswith("on machine 'm1'")
    assert "machine 'm0' cannot build it: tried again on machine 'm1'" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("machines", [1, 2, MOST_TRIES, MOST_TRIES + 2])
async def test_a_bot_that_several_machines_cannot_build_is_rejected(job, tmp_path, machines):
    executor = Executor(*[[BUILT[0], REJECTED]] * machines)
    kinds, events, _ = await tried(executor, job, tmp_path / "log")
    assert kinds == [*[("begin", "built")] * min(machines, MOST_TRIES), ("rejected", "built")]
    assert events[-1]["reason"] == "no compiler"
    assert len(executor.names) == min(machines, MOST_TRIES)


async def test_a_bot_that_fails_its_drills_is_rejected_at_once(job, tmp_path):
    failed = {"event": "rejected", "step": "qualified", "reason": "it crashed", "next_step": "mend it"}
    executor = Executor([*BUILT, PASSED[0], DRILLED, failed], [*BUILT])
    kinds, _, _ = await tried(executor, job, tmp_path / "log")
    assert kinds[-1] == ("rejected", "qualified")
    assert executor.names == ["m0"]


async def test_a_machine_that_is_lost_is_no_fault_of_the_bot(job, tmp_path):
    executor = Executor([*BUILT, PASSED[0], DRILLED, MatchLost("machine 'm0' was lost", machine="m0")], [*BUILT])
    kinds, events, _ = await tried(executor, job, tmp_path / "log")
    assert kinds[-1] == ("platform", "qualified")
    assert events[-1]["reason"] == "machine 'm0' was lost"


BROKEN = MatchLost("machine 'm0' cannot try it: the disk is full", machine="m0")
NOT_FOUND = {"event": "rejected", "step": "qualified", "reason": "no node", "next_step": "install it"}
FULL = {"event": "platform", "step": "built", "reason": "the disk is full"}


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ([BROKEN], "m0' does not try it: "),
        ([BUILT[0], BROKEN], "m0' does not try it: "),
        ([BUILT[0], FULL], "m0' does not try it: "),
        ([*BUILT, PASSED[0], NOT_FOUND], "m0' cannot start it: "),
    ],
)
async def test_a_machine_that_cannot_try_a_bot_leaves_it_to_the_next_one(job, tmp_path, first, said):
    executor = Executor(first, [*BUILT, *PASSED])
    kinds, _, _ = await tried(executor, job, tmp_path / "log")
    assert kinds[-1] == ("done", "")
    assert executor.names == ["m0", "m1"]
    assert said in (tmp_path / "log").read_text()


async def test_a_bot_is_not_rejected_while_one_of_its_machines_could_not_try_it(job, tmp_path):
    kinds, events, _ = await tried(Executor([BROKEN], [BUILT[0], REJECTED]), job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("platform", "built")]
    assert events[-1]["reason"] == str(BROKEN)


@pytest.mark.parametrize(("kind", "events"), [("broken", [BUILT[0]]), ("tried", [])])
async def test_a_machine_that_cannot_try_three_hand_ins_gets_no_more(job, tmp_path, kind, events):
    """But one hand-in that no machine can try takes none of them out."""
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True)
    for name in ("east", "west"):
        made._connection.join(f"tcp://{name}", {**facts(name).to_values(), "busy": {}})
    made._connection._client, made._connection._stream = SimpleNamespace(id="c"), SimpleNamespace(send=lambda _: None)
    east, west = made.machines

    async def send(machine, content):
        going = asyncio.create_task(made.trials.send_trial(machine, replace(_order("k", job), content=content), print))
        await asyncio.sleep(0)
        news = {"key": "k", "worker": machine.address}
        for event in events:
            made._connection._on_news((0.0, {**news, "kind": "event", "data": json.dumps(event).encode()}))
        made._connection._on_news(
            (0.0, {**news, "kind": "answer", "data": Answer("k", kind, machine.name, "exit code 1").to_bytes()})
        )
        with pytest.raises(MatchLost, match="cannot try it: exit code 1") as caught:
            await going
        assert caught.value.machine == machine.name

    for content in ("one", "two", "one"):
        await send(east, content)
        await send(west, content)
    assert not east.history.drained
    assert not west.history.drained
    await send(east, "three")
    assert east.history.drained
    assert (await made.trials.seat_trial(strict=True)).name == "west"


async def test_a_machine_that_talks_nonsense_ends_the_trial_without_a_verdict(job, tmp_path):
    executor = Executor([BUILT[0], {"event": "end", "step": "built"}])
    kinds, events, _ = await tried(executor, job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("platform", "built")]
    assert "a message that cannot be used: 'detail'" in events[-1]["reason"]


@pytest.mark.parametrize("event", [{"event": "begin", "step": ["built"]}, {"event": "division", "name": {}}])
async def test_an_event_with_values_of_other_types_ends_the_trial_without_a_verdict(job, tmp_path, event):
    kinds, _, _ = await tried(Executor([BUILT[0], event]), job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("platform", "built")]


async def test_a_machine_fills_no_disk_with_the_log_of_a_trial(job, tmp_path, monkeypatch):
    monkeypatch.setattr(trial_orders, "MOST_LOG_BYTES", 8)
    await tried(Executor([b"12345", b"67890", b"more", BUILT[0]]), job, tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == b"12345678"


async def test_a_machine_fills_no_database_with_an_event_of_a_trial(job, tmp_path):
    long = {"event": "note", "step": "built", "detail": "x" * trial_orders.MOST_EVENT_BYTES}
    kinds, events, _ = await tried(Executor([BUILT[0], long]), job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("platform", "built")]
    assert "an event of 1048" in events[-1]["reason"]


async def test_a_bot_is_not_rejected_when_the_next_machine_is_lost(job, tmp_path):
    executor = Executor([BUILT[0], REJECTED], [MatchLost("machine 'm1' was lost", machine="m1")])
    kinds, _, _ = await tried(executor, job, tmp_path / "log")
    assert kinds == [("begin", "built"), ("platform", "built")]


async def test_a_trial_takes_a_slot_of_a_machine_with_the_sandbox(job, tmp_path):
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True)
    for one in (facts("weak", "plain", 19), facts("east"), facts("west", slots=2)):
        made._connection.join(f"tcp://{one.name}", {**one.to_values(), "busy": {}})
    seats = [await made.trials.seat_trial(strict=True) for _ in range(3)]
    assert sorted(machine.name for machine in seats) == ["east", "west", "west"]
    assert (await made.trials.seat_trial(strict=False)).name == "weak"
    assert await made.trials.seat_trial(strict=True, without=["east", "west"]) is None
    waiting = asyncio.create_task(made.trials.seat_trial(strict=True, without=["east"]))
    await asyncio.sleep(0)
    made.trials.give_back(next(machine for machine in seats if machine.name == "west"))
    assert (await waiting).name == "west"
    made.kill()
    with pytest.raises(MatchLost):
        await made.trials.seat_trial(strict=True)


@pytest.mark.parametrize(("slots", "most"), [(1, 1), (7, 1), (8, 2)])
async def test_trials_leave_most_slots_to_matches(job, tmp_path, slots, most):
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True)
    made._connection.join("tcp://east", {**facts("east", slots=slots).to_values(), "busy": {}})
    for _ in range(most):
        machine = await made.trials.seat_trial(strict=True)
    waiting = asyncio.create_task(made.trials.seat_trial(strict=True))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    made.trials.give_back(machine)
    assert await waiting is machine


async def test_hand_ins_that_wait_for_a_sandbox_are_reported_once(job, tmp_path, monkeypatch):
    monkeypatch.setattr("referee.cluster.connection.LOOK_S", 0.001)
    notes = []
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True, note=notes.append)
    made._connection.join("tcp://weak", {**facts("weak", "plain").to_values(), "busy": {}})
    waiting = asyncio.create_task(made.trials.seat_trial(strict=True))
    await asyncio.sleep(0.05)
    assert len([note for note in notes if "a hand-in waits: " in note]) == 1
    made._connection.join("tcp://east", {**facts("east").to_values(), "busy": {}})
    assert (await waiting).name == "east"


async def test_no_hand_in_goes_to_a_machine_whose_disk_is_nearly_full(job, tmp_path):
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True)
    made._connection.join("tcp://east", {**facts("east", slots=9).to_values(), "busy": {}, "full": "1 % is free"})
    made._connection.join("tcp://west", {**facts("west", slots=2).to_values(), "busy": {}, "full": ""})
    assert (await made.trials.seat_trial(strict=True)).name == "west"


async def test_the_trial_of_a_lost_machine_ends(job, tmp_path):
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True)
    made._connection.join("tcp://east", {**facts("east").to_values(), "busy": {}})
    made._connection._client, made._connection._stream = SimpleNamespace(id="c"), SimpleNamespace(send=lambda _: None)
    (machine,) = made.machines
    heard = []
    going = asyncio.create_task(made.trials.send_trial(machine, _order("k", job), lambda *said: heard.append(said)))
    await asyncio.sleep(0)
    made._connection._on_news((0.0, {"kind": "event", "key": "k", "worker": "tcp://east", "data": b"line"}))
    made._connection._on_news((0.0, {"kind": "event", "key": "k", "worker": "tcp://other", "data": b"another's"}))
    assert heard == [("event", b"line")]
    made._connection._lose([machine], "it is gone")
    with pytest.raises(MatchLost, match="machine 'east' was lost: it is gone"):
        await going


async def test_a_machine_that_says_what_no_trial_says_is_not_listened_to(job, tmp_path):
    made = DaskExecutor(Peer("tcp://127.0.0.1:1"), tmp_path, ladder=True)
    made._connection.join("tcp://east", {**facts("east").to_values(), "busy": {}})
    sent = []
    made._connection._client, made._connection._stream = SimpleNamespace(id="c"), SimpleNamespace(send=sent.append)
    going = asyncio.create_task(
        made.trials.send_trial(made.machines[0], _order("k", job), lambda _, data: json.loads(data))
    )
    await asyncio.sleep(0)
    made._connection._on_news((0.0, {"kind": "event", "key": "k", "worker": "tcp://east", "data": b"nonsense"}))
    with pytest.raises(MatchLost, match="machine 'east' gave an answer that cannot be used: it sent a message of an"):
        await going
    assert [message["op"] for message in sent] == [ORDER, END]
