"""On which machine a match is played, and which machines get none."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.cluster import connection
from referee.cluster import executor as module
from referee.cluster.connection import MOST_FAULTS, Attempt
from referee.cluster.executor import DaskExecutor
from referee.cluster.history import History, stands_out
from referee.cluster.machine import METRIC, Facts, own_versions
from referee.cluster.orders import Answer
from referee.cluster.peers import Peer
from referee.cluster.sending import Made
from referee.errors import PlatformError
from referee.match.result import Fault, MatchResult
from referee.process.limits import Room
from referee.process.sandbox import Sandbox
from referee.record import Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.tournament.executor import MatchLost
from referee.tournament.messages import BotSetup, Meeting

ADA, BOB = (BotSetup("", name, {}, name.lower(), Sandbox("strict"), content=f"c-{name}") for name in ("Ada", "Bob"))
BOTS = (ADA, BOB)


def spec(number=0, block=0):
    seats = tuple(SeatSpec(bot.entry_id, bot.name, "1") for bot in BOTS)
    return MatchSpec(f"m{number}", "toy", {}, seats, seed="ab" * 16, block=block, place=number)


def facts(name, kind="fast", slots=2, sandbox="strict", versions=None):
    return Facts(name, kind, slots, sandbox, "Linux-x86_64", versions or own_versions())


@pytest.fixture
def notes():
    return []


@pytest.fixture
def cluster(tmp_path, notes):
    """cluster(east, west) knows these machines, each connected."""

    def make(*machines, **keys):
        made = DaskExecutor(
            Peer("tcp://127.0.0.1:1"), tmp_path, bots={bot.entry_id: bot for bot in BOTS}, note=notes.append, **keys
        )
        for one in machines:
            made._connection.join(f"tcp://{one.name}", {**one.to_values(), "busy": {}})
        return made

    return make


def join(made, name):
    made._connection.join(f"tcp://{name}", {**facts(name, slots=1).to_values(), "busy": {}})


def chosen(made, match):
    machine = made._choose(match, BOTS)
    if machine is not None:
        machine.playing += 1
    return None if machine is None else machine.name


def result(reason=EndReason.NORMAL, faults=(None, None), **keys):
    status = "rated" if reason is EndReason.NORMAL else "void"
    stats = keys.pop("stats", (SeatStats(), SeatStats()))
    detail = keys.pop("detail", "as it is")
    return MatchResult("m0", status, reason, detail, (1, 2), (1, 0), faults, stats, 1, 1.0, "ab", **keys)


def test_the_machine_with_most_room_plays(cluster):
    made = cluster(facts("east", slots=1), facts("west", slots=3))
    assert sorted(chosen(made, spec(number)) for number in range(4)) == ["east", "west", "west", "west"]
    assert chosen(made, spec(4)) is None
    assert not made.has_room(spec(5), [spec()])
    assert made.slots == 4


def test_memory_limits_that_a_machine_lowers_are_told_once_for_each_machine(cluster, notes):
    room = Room(1000, "the control group of the referee (x)")
    small, large = (replace(facts(name), room=at) for name, at in (("a", room), ("b", Room(64_000, "this machine"))))
    made = cluster(small, large)
    for machine in [*made._connection.machines] * 2:
        made._tell_of_memory(machine, spec())
    assert [note for note in notes if "memory_mib" in note] == [
        "a: memory_mib is lowered to 154, so that all limits together fit: the control group of the referee (x) has"
        " 1000 MiB, the referee keeps 384, 4 bots play at once; give the machine fewer slots, or more memory"
    ]
    assert Facts.from_values(small.to_values()) == small


def test_a_block_is_played_on_machines_of_one_class(cluster):
    made = cluster(facts("a", "slow", slots=2), facts("b", "fast", slots=4), facts("c", "fast", slots=4))
    first = made._choose(spec(block=1), BOTS)
    names = {chosen(made, spec(number, block=1)) for number in range(8)}
    assert names == ({"b", "c"} if first.facts.kind == "fast" else {"a", None})
    other = "a" if first.facts.kind == "fast" else "b"
    assert not made.has_room(spec(9, block=1), [spec()])
    assert made.has_room(spec(9, block=2), [spec()])
    assert chosen(made, spec(9, block=2)) == other or first.facts.kind != "fast"


@pytest.fixture
def begun(tmp_path):
    """begun(block, name="a", kind="slow") leaves a record of a match of the block that was played there; its id."""

    def leave(block, folder=None, **machine):
        match_id, machine = f"m-{block}", {"name": "a", "class": "slow"} | machine
        seats = tuple(SeatHeader(bot.entry_id, bot.name, "1") for bot in BOTS)
        header = Header(match_id, "cup", 1, block, "toy", 1, {}, 2, seats, {}, "", "", "0", machine=machine)
        writer = RecordWriter(folder or tmp_path, header)
        writer.close(Footer("rated", EndReason.NORMAL, "", "", (1, 2), (1, 0), "", (SeatStats(), SeatStats())))
        return match_id

    return leave


def test_the_class_of_a_block_that_was_begun_before_is_kept(cluster, begun):
    made = cluster(facts("a", "slow", slots=1), facts("b", "fast", slots=8), begun={7: begun(7)})
    assert made.has_room(spec(block=7), [spec()])
    assert chosen(made, spec(block=7)) == "a"
    assert not made.has_room(spec(1, block=7), [spec()])
    assert chosen(made, spec(1, block=7)) is None


def test_the_machine_of_a_block_that_was_begun_before_is_kept(cluster, begun):
    made = cluster(facts("a"), facts("b", slots=8), begun={7: begun(7, name="b")}, same_machine=True)
    assert {chosen(made, spec(number, block=7)) for number in range(8)} == {"b"}
    assert chosen(made, spec(8, block=7)) is None


def test_a_block_whose_record_is_gone_or_names_no_machine_is_played_anywhere(cluster, begun, tmp_path):
    nowhere = begun(3, **{"class": ""})
    made = cluster(facts("a", "slow"), facts("b", "fast"), begun={7: "gone", 3: nowhere})
    assert [made._place(tmp_path, block) for block in (7, 3)] == [None, None]
    assert {chosen(made, spec(block=block)) for block in (7, 3)} == {"a", "b"}


async def test_a_block_of_a_ladder_goes_on_where_it_was_begun(cluster, begun, tmp_path, monkeypatch):
    (tmp_path / "open").mkdir()
    made = cluster(facts("a", "slow", slots=1), facts("b", "fast", slots=8), ladder=True)
    played = []

    async def play_on(machine, match, cap_s, meeting):
        played.append(machine.name)
        return result()

    monkeypatch.setattr(made, "_play_on", play_on)
    meeting = Meeting(tmp_path / "open", BOTS, begun(7, folder=tmp_path / "open"))
    await made.play(spec(block=7), 1.0, meeting)
    await made.play(spec(1, block=7), 1.0, replace(meeting, begun=""))
    await made.play(spec(block=8), 1.0, replace(meeting, begun=""))
    assert played == ["a", "a", "b"]


def test_same_machine_keeps_a_block_on_one_machine(cluster):
    made = cluster(facts("east"), facts("west"), same_machine=True)
    where = chosen(made, spec(block=3))
    assert chosen(made, spec(1, block=3)) == where
    assert chosen(made, spec(2, block=3)) is None


def test_a_block_whose_class_is_gone_goes_on_elsewhere_after_a_while(cluster, begun, notes, monkeypatch):
    now_s = [100.0]
    monkeypatch.setattr(module.asyncio, "get_running_loop", lambda: type("Loop", (), {"time": lambda _: now_s[0]})())
    made = cluster(facts("b", "fast"), begun={7: begun(7)})
    assert chosen(made, spec(block=7)) is None
    now_s[0] += module.MOVE_S
    assert chosen(made, spec(block=7)) == "b"
    assert any("block 7 goes on elsewhere" in note for note in notes)


@pytest.mark.parametrize("other", ["crosstown", "python", "distributed"])
def test_a_machine_of_another_version_gets_no_matches_and_is_named(cluster, notes, other):
    made = cluster(facts("old", versions=replace(own_versions(), **{other: "0.0"})))
    assert made.machines == ()
    assert any(f"'old' gets no matches: it has {other} 0.0" in note for note in notes)


def test_two_machines_of_one_name_do_not_share_their_faults(cluster, notes):
    """One that plays nothing had the other one of its name drained."""
    made = cluster(facts("east"))
    made._connection.join("tcp://10.0.0.9:40001", {**facts("east").to_values(), "busy": {}})
    assert [machine.name for machine in made.machines] == ["east", "east (10.0.0.9:40001)"]
    assert "two machines are called 'east'" in notes[-1]
    _, broken = made.machines
    for number in range(MOST_FAULTS):
        made._connection.fault(broken, f"m{number}", "its disk is full")
    assert [bool(machine.history.drained) for machine in made.machines] == [False, True]
    assert notes[-1] == "machine 'east (10.0.0.9:40001)' gets no more matches: its disk is full"


def test_a_machine_that_has_come_back_keeps_its_name_and_its_faults(cluster):
    made = cluster(facts("east"))
    (east,) = made.machines
    made._connection.fault(east, "m1", "its disk is full")
    made._connection._lose([east], "it is gone")
    join(made, "east")
    assert [(machine.name, machine.history.faults) for machine in made.machines] == [("east", ["m1"])]


def test_who_tells_something_else_is_no_machine(cluster, notes):
    made = cluster()
    made._connection.join("tcp://x", {"name": "x"})
    assert made.machines == ()
    assert "another version" in notes[0]


@pytest.mark.parametrize(
    "told",
    [
        {"slots": "many"},
        {"slots": 0},
        {"slots": 10**9},
        {"sandbox": "open"},
        {"name": "two\nlines"},
        {"name": ["a"]},
        {"kind": {}},
        {"busy": "x"},
        {"busy": {"other": -9}},
        {"full": 1},
    ],
)
def test_who_tells_what_no_machine_is_gets_no_matches(cluster, notes, told):
    made = cluster(facts("west"))
    made._connection.join("tcp://x", {**facts("x").to_values(), "busy": {}, **told})
    assert [machine.name for machine in made.machines] == ["west"]


async def test_a_machine_that_goes_on_to_tell_nonsense_ends_no_run(cluster, notes):
    """What it told later ended the task that looks for machines, and each match waited for ever."""
    made = cluster(facts("east"), facts("west"))
    told = {"tcp://east": {"busy": "x"}, "tcp://west": {"busy": {"other": 1}, "full": "no room"}}
    workers = {address: {"metrics": {METRIC: one}} for address, one in told.items()}

    async def identity(n_workers):
        return {"id": "s", "workers": workers, "services": {}}

    made._connection._client = SimpleNamespace(id="own", scheduler=SimpleNamespace(identity=identity))
    for _ in range(2):
        await made._connection._read_machines()
    (west,) = made.machines
    assert (west.name, west.busy, west.full) == ("west", 1, "no room")
    assert notes.count("machine 'east' reports values that cannot be read, and gets no more matches") == 1


def test_a_bot_that_needs_the_sandbox_is_not_played_without(cluster):
    made = cluster(facts("weak", sandbox="plain", slots=9), facts("west"), strict=["ada"])
    assert {chosen(made, spec(number)) for number in range(2)} == {"west"}
    with pytest.raises(PlatformError, match="'Ada' is to play in the sandbox, which works on no machine"):
        cluster(facts("weak", sandbox="plain"), strict=["ada"])._choose(spec(), BOTS)


def weak_and_west(cluster, **keys):
    """A machine without the sandbox and more room, and one with it."""
    return cluster(facts("weak", sandbox="plain", slots=9), facts("west"), **keys)


def test_where_the_sandbox_works_on_a_machine_no_bot_plays_without_it(cluster, notes):
    made = weak_and_west(cluster, keeps_sandbox=True)
    assert {chosen(made, spec(number)) for number in range(2)} == {"west"}
    assert chosen(made, spec(3)) is None
    assert "weak: the sandbox does not work there" in notes[0]
    assert "--accept-weaker-sandbox" in notes[0]
    accepted = weak_and_west(cluster)
    assert {chosen(accepted, spec(number)) for number in range(11)} == {"west", "weak"}
    alone = cluster(facts("weak", sandbox="plain"), keeps_sandbox=True)
    assert chosen(alone, spec()) == "weak"


async def test_a_bot_that_has_played_in_the_sandbox_does_not_play_on_without_it(cluster, notes):
    made = cluster(facts("west"), keeps_sandbox=True)
    await made._seat(spec(), Meeting(made._records, BOTS))
    made.machines[0].history.drained = "broken"
    made._connection.join("tcp://weak", {**facts("weak", sandbox="plain").to_values(), "busy": {}})
    with pytest.raises(PlatformError, match="'Ada' is to play in the sandbox, which works on no machine"):
        made._choose(spec(1), BOTS)


async def test_who_plays_without_a_sandbox_is_told_once_for_each_machine(cluster, notes):
    made = cluster(facts("weak", sandbox="plain"), keeps_sandbox=True)
    for number in range(2):
        await made._seat(spec(number), Meeting(made._records, BOTS))
    assert [note for note in notes if "WITHOUT A SANDBOX" in note] == [
        "warning: on weak bots play WITHOUT A SANDBOX, which does not work there"
    ]


def test_a_copy_whose_original_has_left_plays_in_the_sandbox_that_it_needs(cluster):
    made = cluster(facts("weak", sandbox="plain"), strict=["copy"])
    copy = replace(BOB, known_as="copy")
    with pytest.raises(PlatformError, match="'Bob' is to play in the sandbox"):
        made._choose(spec(), (ADA, copy))


def judged(made, name, answer, match=None):
    machine = next(machine for machine in made.machines if machine.name == name)
    return made._judge(machine, match or spec(), BOTS, answer)


def test_a_result_brings_its_record(cluster):
    made = cluster(facts("east"))
    found = judged(made, "east", Answer("k", "played", "east", result=result(), record=b"record"))
    assert found.record == b"record"


@pytest.fixture
def answering(cluster, monkeypatch):
    """answering(answer) is a cluster whose machine 'east' gives each order this answer, or these bytes for its key."""

    def make(answer):
        made = cluster(facts("east", slots=9))

        async def ask(attempt, key, order):
            attempt.begun = True
            return answer(key) if callable(answer) else replace(answer, key=key).to_bytes()

        monkeypatch.setattr(made._connection, "ask", ask)
        return made

    return make


NEVER_STARTED = Fault(7, EndReason.START_FAILED, "no weights")


@pytest.mark.parametrize(
    "answer",
    [
        Answer("", "played", "east", result=replace(result(), match_id="m1")),
        Answer("", "played", "east"),
        Answer("", "played", "east", result=result(EndReason.START_FAILED, (NEVER_STARTED, None))),
        Answer("", "played", "east", result=result(EndReason.PLATFORM_FAULT, memory_of=2)),
        Answer("", "played", "east", result=replace(result(), ranking=(1, 2, 3))),
        Answer("", "lost", "east", "busy", flood=(2, "too much")),
        Answer("", "lacks", "east", lacks=("c-Eve",)),
        Answer("", "tried", "east", "exit code 0"),
        Answer("", "played", "east", result=result(EndReason.SUSPECT_TIMEOUT, detail="x" * (1 << 20))),
        Answer("", "played", "east", result=replace(result(), status="void")),
        Answer("", "played", "east", result=replace(result(EndReason.SUSPECT_TIMEOUT), status="cancelled")),
        Answer("", "played", "east", result=replace(result(EndReason.CANCELLED), status="cancelled")),
        lambda key: b"",
        lambda key: b"{}",
        lambda key: Answer(key, "played", "east", result=result()).to_bytes().replace(b'"played"', b'"gone"'),
        lambda key: Answer("another", "lost", "east").to_bytes(),
        lambda key: Answer(key, "lost", "east", "busy", flood=(1, "x")).to_bytes().replace(b'[1,"x"]', b"[1]"),
        Answer("", "played", "east", result=replace(result(), startup_us=(10**400, 0))),
    ],
)
async def test_an_answer_that_no_match_can_have_is_the_machines_fault(answering, answer):
    """It ended the run, or was an attempt at the match, of which there are three."""
    made = answering(answer)
    with pytest.raises(MatchLost, match="the answer of machine 'east' cannot be used") as lost:
        await made.play(spec(), 1.0)
    assert lost.value.machine == "east"
    join(made, "west")
    assert chosen(made, spec()) == "west"


@pytest.mark.parametrize(
    "messages",
    [
        [{}],
        [{"kind": "news"}],
        [{"kind": "news", "start": 0, "lines": 5}],
        [{"kind": "news", "start": 0, "lines": "text"}],
        [{"kind": "begun"}, {"kind": "begun"}],
    ],
)
async def test_a_message_of_another_form_is_the_machines_fault(cluster, messages):
    """It was a traceback of Dask, or the same machine got the match again and again."""
    made = cluster(facts("east", slots=9))
    sent = asyncio.Queue()
    made._connection._client, made._connection._stream = SimpleNamespace(id="c"), SimpleNamespace(send=sent.put_nowait)
    going = asyncio.create_task(made.play(spec(), 1.0))
    async with asyncio.timeout(10):
        key = (await sent.get())["key"]
    for message in messages:
        made._connection._on_news((0.0, {"key": key, "worker": "tcp://east", **message}))
    with pytest.raises(MatchLost, match="the answer of machine 'east' cannot be used: it sent a message"):
        await going
    join(made, "west")
    assert chosen(made, spec()) == "west"


def test_news_that_are_no_message_are_not_listened_to_and_a_note_is_one_line(cluster, notes):
    made = cluster(facts("east"))
    del notes[:]
    for said in ("text", 5, None, ["kind"], {"kind": ["note"]}, {}):
        made._connection._on_news((0.0, said))
    assert notes == []
    made._connection._on_news((0.0, {"kind": "note", "machine": "east\x1b[2J\nwest", "text": 5}))
    assert notes == ["machine 'east\\x1b[2J\\nwest': 5"]


def test_a_failed_start_is_tried_elsewhere_whatever_else_ended_the_match(cluster):
    """A machine could have a bot disqualified that starts on all others."""
    made = cluster(facts("east"), facts("west"))
    failed = result(EndReason.SUSPECT_TIMEOUT, (Fault(0, EndReason.START_FAILED, "no weights"), None))
    with pytest.raises(MatchLost, match="did not start on machine 'east'"):
        judged(made, "east", Answer("k", "played", "x", result=failed, record=b"r"))


@pytest.fixture
def record_of(tmp_path):
    """record_of(match) is the record of a match that was played on this specification."""

    def made(match):
        seats = tuple(SeatHeader(seat.entry_id, seat.name, "1") for seat in match.seats)
        seed = seed_commitment(match.seed)
        header = Header(
            match.match_id, "cup", match.place, match.block, "toy", 1, match.options, 2, seats, {}, seed, "", "0"
        )
        stats = (SeatStats(), SeatStats())
        footer = Footer("rated", EndReason.NORMAL, "", match.seed, (1, 2), (1, 0), "", stats)
        return RecordWriter(tmp_path / match.match_id, header).close(footer).read_bytes()

    return made


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (None, ""),
        ({"seed": "cd" * 16}, "foreign"),
        ({"place": 9}, "foreign"),
        ({"options": {"rounds": 1}}, "foreign"),
        ("cut", "damaged"),
        ("none", "damaged"),
    ],
)
async def test_a_record_that_does_not_count_is_the_machines_fault(answering, record_of, other, why):
    match = spec()
    record = record_of(replace(match, **other) if isinstance(other, dict) else match)
    record = {"cut": record[:-9], "none": b""}.get(other if isinstance(other, str) else "", record)
    made = answering(Answer("", "played", "east", result=result(), record=record))
    if not why:
        assert (await made.play(match, 1.0)).record == record
        return
    with pytest.raises(MatchLost, match=f"the record that machine 'east' sent does not count: it is {why}") as lost:
        await made.play(match, 1.0)
    assert lost.value.machine == "east"
    join(made, "west")
    assert chosen(made, match) == "west"


async def test_a_machine_that_never_begins_a_match_is_not_waited_for_without_end(cluster, monkeypatch):
    made = cluster(facts("east", slots=9))
    made._connection._client, made._connection._stream = SimpleNamespace(id="c"), SimpleNamespace(send=lambda _: None)
    monkeypatch.setattr(connection, "CAP_SLACK_S", 0.0)
    with pytest.raises(MatchLost, match="machine 'east' did not begin the match within") as lost:
        await made.play(spec(), 0.01)
    assert lost.value.machine == "east"
    join(made, "west")
    assert chosen(made, spec()) == "west"


async def test_a_match_is_not_given_to_a_machine_that_could_not_take_one_of_its_bots(cluster, monkeypatch):
    """With two bots in all it was given there until it was given up."""
    made = cluster(facts("east", slots=9), facts("west", slots=1))
    east = next(machine for machine in made.machines if machine.name == "east")

    async def bring(machine, bot, made):
        return "broken", "no space left"

    monkeypatch.setattr(made._sender, "bring", bring)
    with pytest.raises(MatchLost, match="machine 'east' cannot take 'Ada': no space left"):
        await made._bring(east, ADA, Made())
    assert chosen(made, spec(1)) == "west"
    assert chosen(made, spec(2)) is None  # it waits for the other one


@pytest.mark.parametrize("told", [("broken", 5), ("other", "why"), "words", None, ("", "", "")])
async def test_an_answer_to_a_bot_that_cannot_be_used_is_the_machines_fault(cluster, monkeypatch, told):
    made = cluster(facts("east"))

    async def run(*given):
        return told

    async def transport(*given):
        return None

    monkeypatch.setattr(made._connection, "run", run)
    monkeypatch.setattr(made._sender, "_transport", transport)
    with pytest.raises(MatchLost, match="machine 'east' cannot take 'Ada': its answer cannot be used"):
        await made._bring(made.machines[0], ADA, Made())


async def test_a_machine_that_does_not_take_a_bot_keeps_others_waiting_for_a_while_only(cluster, monkeypatch):
    made = cluster(facts("east"))

    async def scatter(*given, **keys):
        await asyncio.Event().wait()

    monkeypatch.setattr(connection, "SEND_S", 0.01)
    made._connection._client = SimpleNamespace(id="c", scatter=scatter)
    with pytest.raises(MatchLost, match="machine 'east' has not taken what it was sent within") as lost:
        await made._connection.scatter(made.machines[0], ADA.content, b"bot")
    assert lost.value.machine == "east"


def test_a_machine_fills_no_disk_with_a_live_record(cluster, tmp_path, monkeypatch):
    made = cluster(facts("east"))
    live = tmp_path / "m0.jsonl"
    monkeypatch.setattr(connection, "MOST_NEWS_BYTES", 8)
    loop = asyncio.new_event_loop()
    try:
        attempt = Attempt(made.machines[0], "m0", 1.0, live, over=loop.create_future())
        made._connection._attempts["k"] = attempt
        for start, lines in ((0, b"four"), (4, b"more"), (8, b"x"), (8, b"x")):
            news = {"kind": "news", "key": "k", "worker": "tcp://east", "start": start, "lines": lines}
            made._connection._on_news((0.0, news))
    finally:
        loop.close()
    assert live.read_bytes() == b"fourmore"


@pytest.mark.parametrize("data", [None, "words", b"x" * 9])
def test_an_answer_that_is_no_message_or_too_large_is_not_read(cluster, monkeypatch, data):
    made = cluster(facts("east"))
    monkeypatch.setattr(connection, "MOST_ANSWER_BYTES", 8)
    loop = asyncio.new_event_loop()
    try:
        attempt = Attempt(made.machines[0], "m0", 1.0, over=loop.create_future())
        made._connection._attempts["k"] = attempt
        made._connection._on_news((0.0, {"kind": "answer", "key": "k", "worker": "tcp://east", "data": data}))
    finally:
        loop.close()
    assert attempt.over.result() == b""


def test_a_bot_that_does_not_start_is_tried_elsewhere_before_it_is_blamed(cluster, notes):
    made = cluster(facts("east"), facts("west"))
    failed = result(EndReason.START_FAILED, (Fault(0, EndReason.START_FAILED, "no weights"), None))
    answer = Answer("k", "played", "x", result=failed, record=b"r")
    with pytest.raises(MatchLost, match="did not start on machine 'east'") as lost:
        judged(made, "east", answer)
    assert lost.value.machine == "east"
    assert {chosen(made, spec(number)) for number in range(2)} == {"west"}
    assert judged(made, "west", answer).reason is EndReason.START_FAILED
    made = cluster(facts("alone"))
    assert judged(made, "alone", answer).reason is EndReason.START_FAILED


def test_a_machine_that_cannot_play_several_matches_in_a_row_is_named_and_gets_no_more(cluster, notes):
    made = cluster(facts("east", slots=9), facts("west"))
    for number in range(MOST_FAULTS):
        with pytest.raises(MatchLost):
            judged(made, "east", Answer("k", "broken", "east", "no space left"), spec(number))
    assert {chosen(made, spec(number)) for number in range(2)} == {"west"}
    assert "machine 'east' gets no more matches: machine 'east' cannot play: no space left" in notes


async def test_a_machine_that_never_has_the_bots_that_it_took_is_not_asked_without_end(cluster, monkeypatch):
    made = cluster(facts("east"))
    brought = []

    async def ask(machine, order, records):
        assert len(brought) < 50
        return Answer(order.key, "lacks", machine.name, lacks=(ADA.content,) * 20)

    async def bring(machine, bot, made):
        brought.append(bot.name)

    monkeypatch.setattr(made, "_ask", ask)
    monkeypatch.setattr(made, "_bring", bring)
    with pytest.raises(MatchLost, match="machine 'east' took 'Ada', and cannot play with that") as lost:
        await made.play(spec(), 1.0)
    assert lost.value.machine == "east"
    assert made.machines[0].history.faults == ["m0"]


def test_a_match_that_no_machine_can_play_drains_none(cluster):
    made = cluster(facts("east"), facts("west"))
    for _ in range(5):
        for name in ("east", "west"):
            with pytest.raises(MatchLost):
                judged(made, name, Answer("k", "broken", name, "a bug"))
    assert not any(machine.history.drained for machine in made.machines)


def test_a_run_without_a_machine_that_can_play_ends_and_says_why(cluster):
    made = cluster(facts("east"))
    made.machines[0].history.drained = "no space left"
    with pytest.raises(PlatformError, match="no machine is left: east: no space left"):
        made._choose(spec(), BOTS)
    made = cluster(facts("east"), facts("west"))
    for machine in made.machines:
        machine.history.unable[ADA.content] = "no compiler"
    with pytest.raises(PlatformError, match="'Ada' cannot play on any machine; on east: no compiler"):
        made._choose(spec(), BOTS)


def test_the_flood_of_a_bot_is_its_own_doing(cluster):
    made = cluster(facts("east"))
    with pytest.raises(MatchLost) as lost:
        judged(made, "east", Answer("k", "lost", "east", "killed", flood=(1, "too much")))
    assert (lost.value.flood, lost.value.machine) == ((1, "too much"), "")


@pytest.mark.parametrize(
    ("history", "others", "words"),
    [
        (History(matches=30), History(matches=30), ""),
        (History(matches=15, voids=15), History(matches=30), "50% of its matches were void"),
        (History(matches=15, voids=15), History(matches=20, voids=10), ""),
        (History(matches=10, voids=9), History(matches=30), ""),
        (History(matches=15, voids=15), History(matches=10), ""),
        (
            History(matches=30, lag_us=20, wall_us=100),
            History(matches=30, lag_us=1, wall_us=100),
            "20% of the thinking",
        ),
        (History(matches=30, lag_us=20, wall_us=100), History(matches=30, lag_us=10, wall_us=100), ""),
        (History(matches=30, lag_us=4, wall_us=100), History(matches=30, lag_us=0, wall_us=100), ""),
        (History(matches=30, lag_us=20, wall_us=100), History(matches=0, voids=20), ""),
    ],
)
def test_a_machine_stands_out_by_far_more_voids_or_lag_than_the_others(history, others, words):
    found = stands_out(history, [others])
    assert found.startswith(words) if words else found == ""


def void_by(seat):
    faults = [None, None]
    faults[seat] = Fault(seat, EndReason.SUSPECT_TIMEOUT, "late")
    return result(EndReason.SUSPECT_TIMEOUT, tuple(faults))


@pytest.mark.parametrize("several", [False, True], ids=["one bot", "all bots"])
def test_the_void_matches_of_one_bot_take_no_machine_out(cluster, several):
    """It can see where it plays. But a machine on which the matches of all bots are void gets no more."""
    made = cluster(facts("east"), facts("west"))
    east, west = made.machines
    evil, *others = [replace(ADA, content=f"c{number}", name=f"bot {number}") for number in range(20)]
    for number in range(100):
        first, second = (others[(number + step) % 19] for step in (0, 7))
        pair = (evil, second) if number % 2 else (first, second)
        found = void_by(0) if several or number % 2 else result()
        made._judge(east, spec(), pair, Answer("k", "played", "east", result=found))
        made._judge(west, spec(), pair, Answer("k", "played", "west", result=result()))
    assert bool(east.history.drained) == several
    assert not west.history.drained


def test_two_bots_whose_matches_are_void_on_one_machine_alone_show_that_it_is_the_machine(cluster):
    made = cluster(facts("east"), facts("west"))
    east, west = made.machines
    for number in range(40):
        made._judge(east, spec(), BOTS, Answer("k", "played", "east", result=void_by(number % 2)))
        made._judge(west, spec(), BOTS, Answer("k", "played", "west", result=result()))
    assert east.history.drained.startswith("100% of its matches were void")


def test_a_match_is_not_given_again_to_the_machine_that_lost_it(cluster):
    made = cluster(facts("east", slots=9), facts("west", slots=1))
    with pytest.raises(MatchLost):
        judged(made, "east", Answer("k", "broken", "east", "no space left"), spec(1))
    assert chosen(made, spec(1)) == "west"
    assert chosen(made, spec(1)) is None  # it waits for the other one
    assert chosen(made, spec(2)) == "east"


@pytest.mark.parametrize("ladder", [False, True])
async def test_a_match_is_not_given_again_to_the_machine_that_was_lost_with_it(cluster, ladder):
    """One machine that ended with each match it got could have it 33 times, which were all its attempts."""
    made = cluster(facts("east", slots=9), facts("west", slots=1), ladder=ladder)
    east = next(machine for machine in made.machines if machine.name == "east")
    made._connection._attempts["k"] = Attempt(east, "m1")
    made._connection._lose([east], "it is gone")
    made._connection.join("tcp://east", {**facts("east", slots=9).to_values(), "busy": {}})
    assert chosen(made, spec(1)) == "west"
    assert chosen(made, spec(1)) is None  # it waits for the other one
    assert chosen(made, spec(2)) == "east"
    judged(made, "east", Answer("k", "played", "east", result=result(), record=b"r"), spec(2))
    assert chosen(made, spec(1)) == "east"


def test_the_last_machine_is_not_drained_for_its_lag(cluster):
    made = cluster(facts("east"), facts("west"))
    east, west = made.machines
    west.history.matches, west.history.drained = 40, "no space left"
    slow = result(stats=(SeatStats(total_us=100, lag_us=90), SeatStats()))
    for _ in range(30):
        judged(made, "east", Answer("k", "played", "east", result=slow, record=b"r"))
    assert not east.history.drained


class Beside:
    """The executor of the ladder's machine."""

    slots = 1

    def __init__(self):
        self.played = []

    async def play(self, match, cap_s, meeting=None, *, over=None):
        self.played.append((match.match_id, meeting))
        return result()


async def test_a_match_with_a_remote_bot_of_a_ladder_is_played_on_the_ladders_machine(cluster, tmp_path):
    beside = Beside()
    made = cluster(facts("east"), ladder=True, local=beside)
    guest = replace(BOB, remote="Bob", folder="", content="")
    meeting = Meeting(tmp_path / "division", (ADA, guest))
    await made.play(spec(1), 1.0, meeting)
    assert beside.played == [("m1", meeting)]


async def test_a_bot_that_cannot_be_built_anywhere_does_not_end_a_ladder(cluster, tmp_path):
    made = cluster(facts("east"), facts("west"), ladder=True)
    for machine in made.machines:
        machine.history.unable[BOB.content] = "no compiler"
    found = await made.play(spec(1), 1.0, Meeting(tmp_path, BOTS))
    assert (found.status, found.reason, found.match_id) == ("void", EndReason.START_FAILED, "m1")
    assert found.faults[0] is None
    assert "no compiler" in found.faults[1].detail


def test_matches_of_a_ladder_wait_for_a_machine_that_can_play_them(cluster, notes):
    made = cluster(facts("east"), facts("weak", sandbox="plain"), ladder=True)
    next(one for one in made.machines if one.name == "east").history.drained = "no space left"
    assert chosen(made, spec()) is None
    assert chosen(made, spec()) is None
    waits = [note for note in notes if note.startswith("matches wait: ")]
    assert len(waits) == 1
    assert "'Ada' is to play in the sandbox, which works on no machine" in waits[0]
    made._connection._lose([one for one in made.machines if one.name == "east"], "it is gone")
    made._connection.join("tcp://repaired", {**facts("east").to_values(), "busy": {}})
    assert chosen(made, spec()) == "east"


def test_blocks_of_two_divisions_are_apart(cluster, tmp_path):
    made = cluster(facts("east", "slow", slots=3), facts("west", "fast", slots=2), ladder=True)
    first = made._choose(spec(), BOTS, tmp_path / "one")
    first.playing = first.facts.slots
    assert made._choose(spec(), BOTS, tmp_path / "one") is None
    assert made._choose(spec(), BOTS, tmp_path / "two") is not None


def test_the_slots_that_other_runs_use_are_not_free_and_own_matches_count_once(cluster):
    made = cluster(facts("east", slots=4))
    made._connection._client = SimpleNamespace(id="own")
    machine = made.machines[0]
    machine.playing = 1
    machine.busy = made._connection._news_of({"busy": {"own": 3, "other": 2}})[0]
    assert machine.free == 1
