"""What comes from the machine is part of the run: kept, told when it changes, refused where it is weaker."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.errors import ChangedError
from referee.process.outside import Prints
from referee.process.sandbox import Sandbox
from referee.process.store import Built
from referee.record import Header, SeatHeader
from referee.run.journal import Journal, JournalText, read_journal
from referee.run.run import Run
from referee.tournament.identity import loose_settings
from referee.tournament.machine import MOST_CHANGES, MachineWatch, machine_of


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


def killed_after_two(spec):
    """What the executor does with a match: the run ends before its third one."""
    if spec.place == 2:
        raise Killed
    return 0


def machine(tournament, *, profile="strict", **facts):
    return {entry.id: {"profile": profile, **facts} for entry in tournament.entries}


@pytest.fixture
def begun(make_tournament, play):
    """begun(machine facts) is a tournament whose run on such a machine was killed after two matches."""

    def make(**facts):
        tournament = make_tournament(2, blocks=3)
        with pytest.raises(Killed):
            play(tournament, order=killed_after_two, machine=machine(tournament, **facts))
        return tournament

    return make


def test_the_machine_stands_in_the_journal_from_the_start(begun, run_folder):
    tournament = begun(runtime="CPython 3.11")
    text = read_journal(run_folder.journal)
    assert text.created.fields["machine"] == machine(tournament, runtime="CPython 3.11")


def test_a_run_that_goes_on_where_all_is_as_it_was_says_nothing(begun, play, run_folder):
    tournament = begun()
    run = play(tournament, machine=machine(tournament))
    assert run.summary.complete
    assert run.log.notes == []
    assert "machine" not in {line.kind for line in read_journal(run_folder.journal).events}


REMOTE = '[remote]\nlisten = "127.0.0.1:0"\nplain = true\nwait_s = {}\n'


@pytest.mark.parametrize(
    ("keys", "change"),
    [
        ({"idle": 3}, "idle: 16 -> 3"),
        ({"more": "copies = 2\n"}, "copies of 'bot1': none -> 2"),
        ({"more": REMOTE.format(5)}, "remote.wait_s: 60 -> 5"),
        ({"more": '[executor]\nkind = "dask"\n'}, "executor.kind: local -> dask"),
        ({"stop_when": "ranking 60 %"}, "stop_when: none -> ranking 60 %"),
        ({"more": "[ratings]\nanchor = { bot1 = 1000 }\n"}, "ratings.anchor: none -> bot1 = 1000"),
    ],
)
def test_what_the_file_may_change_in_a_run_is_told_and_kept_where_it_changes_how_matches_are_played(
    make_tournament, play, run_folder, keys, change
):
    """The run went on with other waits for remote bots, or another number of processes, without a word."""
    before = {"more": REMOTE.format(60)} if "remote" in change else {}
    with pytest.raises(Killed):
        play(make_tournament(2, blocks=3, **before), order=killed_after_two)
    changed = make_tournament(2, blocks=3, **keys)
    notes = play(changed).log.notes
    assert f"changed since this run was played last: {change}" in notes
    text = read_journal(run_folder.journal)
    if "->" in change and change.partition(":")[0] not in ("stop_when", "ratings.anchor"):
        assert Run(run_folder).machine_changes == [f"changed while the run went on: {change}"]
        assert text.settings == loose_settings(changed)
    lines = len(text.events)
    assert not [note for note in play(changed).log.notes if note.startswith("changed")]
    assert len(read_journal(run_folder.journal).events) == lines


def test_a_run_of_a_version_that_kept_no_settings_takes_those_of_the_file_without_a_word(begun, play, run_folder):
    tournament = begun()
    (created,) = read_journal(run_folder.journal).events[:1]
    fields = {name: value for name, value in created.fields.items() if name != "settings"}
    for path in run_folder.path.glob("tournament.*"):
        path.unlink()
    with Journal(run_folder.journal, JournalText()) as journal:
        journal.append("created", **fields)
    assert play(tournament).log.notes == []
    assert read_journal(run_folder.journal).settings == loose_settings(tournament)


def test_a_weaker_sandbox_is_refused_and_nothing_is_played(begun, play, run_folder):
    tournament = begun()
    before = run_folder.journal.read_bytes()
    with pytest.raises(ChangedError, match=r"'bot0': sandbox: strict -> plain; 'bot1': sandbox") as caught:
        play(tournament, machine=machine(tournament, profile="plain"))
    assert "--accept-weaker-sandbox" in caught.value.next_step
    assert run_folder.journal.read_bytes() == before
    assert len(list(run_folder.matches.glob("*.gz"))) == 2


def test_a_weaker_sandbox_that_is_accepted_is_kept_for_each_bot_and_told_once(begun, play, run_folder):
    tournament = begun()
    plain = machine(tournament, profile="plain")
    run = play(tournament, machine=plain, accept_weaker=True)
    assert run.summary.complete
    assert run.log.notes[:2] == [
        f"changed since this run was played last: 'bot{number}': sandbox: strict -> plain" for number in (0, 1)
    ]
    (event,) = [line for line in read_journal(run_folder.journal).events if line.kind == "machine"]
    assert event.fields["machine"] == plain
    assert event.fields["changes"] == ["'bot0': sandbox: strict -> plain", "'bot1': sandbox: strict -> plain"]
    assert read_journal(run_folder.journal).machine == plain


def test_a_stronger_sandbox_needs_no_leave(begun, play):
    tournament = begun(profile="plain")
    assert play(tournament, machine=machine(tournament)).summary.complete


def test_other_changes_are_told_for_each_bot(begun, play, run_folder):
    tournament = begun(runtime="CPython 3.11", outside={"/opt/engine": "aa", "/opt/book": "cc"})
    now = machine(
        tournament, runtime="CPython 3.12", outside={"/opt/engine": "bb", "/opt/book": "cc"}, grants="network"
    )
    run = play(tournament, machine=now)
    said = [note.removeprefix("changed since this run was played last: ") for note in run.log.notes]
    assert said == [
        f"'bot{number}': {what}"
        for number in (0, 1)
        for what in ("runtime: CPython 3.11 -> CPython 3.12", "/opt/engine: aa -> bb", "grants: none -> network")
    ]


def test_another_toolchain_is_told_when_a_run_goes_on(make_tournament, play, run_folder, tmp_path):
    """The source is the same, and was built again here."""
    tournament = make_tournament(2, blocks=3)

    def facts(artefacts, toolchain):
        made = Built("s", tmp_path, tmp_path / "log", 0, 1, toolchain, artefacts, "plain")
        entries = tuple(replace(entry, built=made) for entry in tournament.entries)
        sandboxes = {entry.id: Sandbox("plain") for entry in entries}
        return machine_of(SimpleNamespace(entries=entries), sandboxes, Prints(), ())

    before = facts("aa", "go version go1.21")
    with pytest.raises(Killed):
        play(tournament, order=killed_after_two, machine=before)
    now = facts("bb", "go version go1.22")
    run = play(tournament, machine=now)
    assert run.summary.complete
    change = "build, toolchain: aa by go version go1.21 -> bb by go version go1.22"
    assert run.log.notes == [f"changed since this run was played last: 'bot{number}': {change}" for number in (0, 1)]
    assert read_journal(run_folder.journal).machine == now


def test_a_finished_run_can_be_looked_at_on_any_machine(begun, play):
    tournament = begun()
    assert play(tournament, machine=machine(tournament)).summary.complete
    assert play(tournament, machine=machine(tournament, profile="plain")).summary.complete


def test_a_run_whose_control_groups_are_gone_is_refused_until_it_is_accepted(begun, play, run_folder):
    tournament = begun(**{"control groups": "memory, pids, cpu"})
    for now in ("none", "pids, cpu"):
        with pytest.raises(ChangedError, match=rf"'bot0': control groups: memory, pids, cpu -> {now}"):
            play(tournament, machine=machine(tournament, **{"control groups": now}))
    run = play(tournament, machine=machine(tournament, **{"control groups": "none"}), accept_weaker=True)
    assert run.summary.complete
    assert "control groups: memory, pids, cpu -> none" in run.log.notes[0]


def test_control_groups_that_were_added_are_told_and_refuse_nothing(begun, play, run_folder):
    tournament = begun(**{"control groups": "none"})
    run = play(tournament, machine=machine(tournament, **{"control groups": "memory, pids"}))
    assert run.summary.complete
    assert "control groups: none -> memory, pids" in run.log.notes[0]


def test_a_run_that_kept_no_control_groups_says_nothing_of_them(begun, play, run_folder):
    run = play(tournament := begun(), machine=machine(tournament, **{"control groups": "memory"}))
    assert run.summary.complete
    assert run.log.notes == []


def test_a_run_of_an_older_version_takes_the_machine_as_it_is(begun, play, run_folder, make_tournament):
    tournament = make_tournament(2, blocks=1)
    with pytest.raises(Killed):
        play(tournament, order=lambda spec: (_ for _ in ()).throw(Killed()))
    run = play(tournament, machine=machine(tournament, profile="plain"))
    assert run.summary.complete
    assert run.log.notes == []
    assert read_journal(run_folder.journal).machine == machine(tournament, profile="plain")


def test_facts_are_the_profile_the_grants_in_force_and_what_lies_outside(make_tournament, tmp_path, monkeypatch):
    tournament = make_tournament(2)
    grant = tmp_path / "data"
    grant.write_text("1")
    monkeypatch.setenv("SET", "x")
    monkeypatch.delenv("UNSET", raising=False)
    first, second = tournament.entries
    sandboxes = {first.id: Sandbox("strict", True, ("SET", "UNSET"), (str(grant),), (), ("/dev/null",))}
    sandboxes[second.id] = Sandbox()
    found = machine_of(tournament, sandboxes, Prints(0), ("memory", "pids"))
    assert found[first.id]["profile"] == "strict"
    assert found[first.id]["control groups"] == "memory, pids"
    assert found[first.id]["grants"] == f"network, env SET, env UNSET (not set), read {grant}, device /dev/null"
    assert str(grant) in found[first.id]["outside"]
    assert found[first.id]["runtime"].startswith("CPython 3.")
    assert found[second.id]["profile"] == "plain"
    assert "grants" not in found[second.id]
    grant.write_text("2")
    assert machine_of(tournament, sandboxes, Prints(0), ("memory", "pids"))[first.id] != found[first.id]


def test_another_value_of_a_granted_variable_is_told_and_the_value_is_not_kept(
    make_tournament, play, run_folder, monkeypatch
):
    tournament = make_tournament(2, blocks=3)
    granted = Sandbox("plain", env=("MODEL",))

    def facts():
        return machine_of(tournament, {entry.id: granted for entry in tournament.entries}, Prints(), ())

    def order(spec):
        if spec.place == 2:
            raise Killed
        return 0

    monkeypatch.setenv("MODEL", "small-and-hidden")
    before = facts()
    with pytest.raises(Killed):
        play(tournament, order=order, machine=before)
    assert facts() == before
    monkeypatch.setenv("MODEL", "large-and-hidden")
    now = facts()
    run = play(tournament, machine=now)
    digests = [facts[tournament.entries[0].id]["values"]["MODEL"] for facts in (before, now)]
    assert [note.partition(": ")[2] for note in run.log.notes] == [
        f"'bot{number}': value of MODEL: {digests[0]} -> {digests[1]}" for number in (0, 1)
    ]
    assert "hidden" not in run_folder.journal.read_text()


def test_a_run_of_before_values_were_kept_says_nothing_of_them(begun, play):
    run = play(tournament := begun(), machine=machine(tournament, values={"MODEL": "aa"}))
    assert run.log.notes == []


@pytest.mark.parametrize(("before", "now"), [(0, 1000), (1000, 0)])
def test_a_run_that_another_kind_of_user_goes_on_with_says_so(
    make_tournament, play, run_folder, monkeypatch, before, now
):
    tournament = make_tournament(2, blocks=3)

    def facts(user):
        monkeypatch.setattr("os.geteuid", lambda: user)
        sandboxes = {entry.id: Sandbox("plain") for entry in tournament.entries}
        return machine_of(tournament, sandboxes, Prints(), ())

    def order(spec):
        if spec.place == 2:
            raise Killed
        return 0

    with pytest.raises(Killed):
        play(tournament, order=order, machine=facts(before))
    run = play(tournament, machine=facts(now))
    assert run.summary.complete
    names = {0: "root", 1000: "not root"}
    assert [note.partition(": ")[2] for note in run.log.notes] == [
        f"'bot{number}': user: {names[before]} -> {names[now]}" for number in (0, 1)
    ]


def test_a_run_of_before_the_user_was_kept_says_nothing_of_it(begun, play):
    run = play(tournament := begun(), machine=machine(tournament, user="root"))
    assert run.log.notes == []


def test_a_run_that_was_played_in_the_sandbox_of_a_cluster_is_not_weaker_here(
    make_tournament, play, unfinish, run_folder, fake_executor, monkeypatch
):
    """Of what a cluster has played only records know how it was confined."""
    conftest = sys.modules[fake_executor.__module__]
    plain = conftest.header_of

    def header_of(spec):
        header = plain(spec)
        return replace(header, seats=tuple(replace(seat, sandbox="strict, network") for seat in header.seats))

    monkeypatch.setattr(conftest, "header_of", header_of)
    tournament = make_tournament(2, blocks=3)
    play(tournament)
    unfinish()
    next(run_folder.matches.glob("*.gz")).unlink()
    with pytest.raises(ChangedError, match=r"'bot0': sandbox: strict -> plain; 'bot1': sandbox"):
        play(tournament, machine=machine(tournament, profile="plain"))
    run = play(tournament, machine=machine(tournament, runtime="CPython 3.12"))
    assert run.summary.complete
    assert not any("changed since" in note for note in run.log.notes)


def header(place, *, machine="", sandbox="plain", build="", runtime="", **outside):
    """Of a match of the bot "ada", with hashes of files in /opt."""
    files = {f"/opt/{name}": content for name, content in outside.items()}
    seat = SeatHeader("ada", "Ada", "1", {}, sandbox=sandbox, build=build, runtime=runtime, outside=files)
    where = {"name": machine} if machine else {}
    return Header(f"m{place}", "cup", place, 0, "toy", 1, {}, 1, (seat,), {}, "", "", "0", machine=where)


def test_a_file_outside_that_changes_while_a_run_goes_on_is_told_once():
    here = {"ada": {"profile": "plain", "outside": {"/opt/book": "1", "/opt/engine": "a"}}}
    watch = MachineWatch(here)
    assert watch.note(header(0, book="1", engine="a")) == ([], {})
    changes, machine = watch.note(header(1, book="2", engine="a"))
    assert list(map(str, changes)) == ["'Ada': /opt/book: 1 -> 2"]
    assert machine == {"ada": {"profile": "plain", "outside": {"/opt/book": "2", "/opt/engine": "a"}}}
    assert watch.note(header(2, book="1", engine="a")) == ([], {}), "it was in play when the file changed"
    changes, machine = watch.note(header(3, book="2", engine="a", more="x"))
    assert list(map(str, changes)) == ["'Ada': /opt/more: none -> x"]
    assert machine["ada"]["outside"] == {"/opt/book": "2", "/opt/engine": "a", "/opt/more": "x"}


def test_a_build_or_packages_that_change_while_a_run_goes_on_are_told_and_kept():
    """A worker process that is started later takes the build and the packages that are there by then."""
    watch = MachineWatch({"ada": {"profile": "plain", "build": "aa by gcc 12", "runtime": "CPython 3.11, packages x"}})
    assert watch.note(header(0, build="aa by gcc 12", runtime="CPython 3.11, packages x")) == ([], {})
    changes, machine = watch.note(header(1, build="bb by gcc 13", runtime="CPython 3.11, packages y"))
    assert list(map(str, changes)) == [
        "'Ada': build, toolchain: aa by gcc 12 -> bb by gcc 13",
        "'Ada': runtime: CPython 3.11, packages x -> CPython 3.11, packages y",
    ]
    assert machine == {"ada": {"profile": "plain", "build": "bb by gcc 13", "runtime": "CPython 3.11, packages y"}}
    assert watch.note(header(2, build="aa by gcc 12")) == ([], {}), "it was in play when the build was made"


def test_a_build_of_which_the_journal_says_nothing_or_all_by_now_is_not_told():
    here = {"ada": {"profile": "plain"}}
    watch = MachineWatch(here)
    assert watch.note(header(0, build="aa by gcc 12")) == ([], {})
    here["ada"] = {"profile": "plain", "build": "bb by gcc 13"}  # as a ladder does that has built it again
    assert watch.note(header(1, build="bb by gcc 13")) == ([], {})


def test_a_file_outside_that_changes_all_the_time_does_not_fill_the_journal():
    watch = MachineWatch({"ada": {"profile": "plain", "outside": {"/opt/log": "0"}}})
    told = [len(watch.note(header(place, log=f"{place}"))[0]) for place in range(20)]
    assert told == [0] + [1] * MOST_CHANGES + [0] * (19 - MOST_CHANGES)


def remote_header(place, version="remote"):
    return replace(header(place, sandbox="remote"), seats=(SeatHeader("far", "Far", version, {}, sandbox="remote"),))


def test_a_remote_bot_that_declares_another_version_is_told_and_its_first_one_is_kept():
    watch = MachineWatch({"ada": {"profile": "plain"}})
    assert watch.note(remote_header(0), ("1",)) == ([], {"far": {"declared version": "1"}})
    assert watch.note(remote_header(1), ("1",)) == ([], {})
    changes, machine = watch.note(remote_header(2))
    assert (changes, machine) == ([], {}), "a record of an older version says nothing of it"
    changes, machine = watch.note(remote_header(3), ("2",))
    assert list(map(str, changes)) == ["'Far': declared version: 1 -> 2"]
    assert machine == {"far": {"declared version": "2"}}
    assert watch.note(remote_header(4), ("2",)) == ([], {})


def test_a_remote_bot_whose_version_is_fixed_is_not_watched():
    assert MachineWatch().note(remote_header(0, "3"), ("3",)) == ([], {})


def test_each_machine_of_a_cluster_is_compared_with_itself():
    watch = MachineWatch()
    for name, sandbox in (("east", "strict"), ("west", "plain")):
        assert watch.note(header(0, machine=name, sandbox=sandbox, build=f"{name} by gcc 12", book=name)) == ([], {})
    changes, machine = watch.note(header(1, machine="east", sandbox="plain", build="other by gcc 13", book="2"))
    assert [str(change) for change in changes] == [
        "'Ada': sandbox on east: strict -> plain",
        "'Ada': build, toolchain on east: east by gcc 12 -> other by gcc 13",
        "'Ada': /opt/book on east: east -> 2",
    ]
    assert machine == {}


def changing_header(conftest, monkeypatch, of_place):
    plain = conftest.header_of

    def header_of(spec):
        made = plain(spec)
        more = of_place(spec.place)
        return replace(
            made,
            machine={"name": more["machine"]} if "machine" in more else made.machine,
            seats=tuple(replace(seat, outside={"/opt/book": more["book"]}) for seat in made.seats),
        )

    monkeypatch.setattr(conftest, "header_of", header_of)


def test_what_changed_while_a_run_was_played_stands_in_its_journal_and_its_table(
    make_tournament, play, run_folder, fake_executor, monkeypatch
):
    changing_header(
        sys.modules[fake_executor.__module__], monkeypatch, lambda place: {"book": "old" if place < 4 else "new"}
    )
    tournament = make_tournament(2, blocks=3)
    run = play(tournament, machine=machine(tournament, outside={"/opt/book": "old"}))
    said = [f"'bot{number}': /opt/book: old -> new" for number in (0, 1)]
    assert sorted(run.log.notes) == [f"changed while the run goes on: {change}" for change in said]
    assert sorted(Run(run_folder).machine_changes) == [f"changed while the run went on: {change}" for change in said]
    kept = read_journal(run_folder.journal).machine
    assert {facts["outside"]["/opt/book"] for facts in kept.values()} == {"new"}


def test_what_changed_on_a_machine_of_a_cluster_between_two_sittings_is_told(
    make_tournament, play, run_folder, fake_executor, monkeypatch
):
    conftest = sys.modules[fake_executor.__module__]
    book = ["old"]
    changing_header(conftest, monkeypatch, lambda place: {"book": book[0], "machine": "east"})
    tournament = make_tournament(2, blocks=3)
    with pytest.raises(Killed):
        play(tournament, order=killed_after_two, elsewhere=True)
    book[0] = "new"
    run = play(tournament, elsewhere=True)
    assert sorted(note for note in run.log.notes if "book" in note) == [
        f"changed while the run goes on: 'bot{number}': /opt/book on east: old -> new" for number in (0, 1)
    ]


def test_memory_that_is_lowered_otherwise_in_a_later_sitting_is_told_and_kept(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=3)
    with pytest.raises(Killed):
        play(tournament, order=killed_after_two, most_memory=lambda missing: 900)
    assert read_journal(run_folder.journal).most_memory_mib == 900
    assert Run(run_folder).machine_changes == [], "all matches had the same"
    run = play(tournament, most_memory=lambda missing: 0 if missing < 5 else 900)
    change = "most memory of a bot: 900 MiB -> as in the file"
    assert run.log.notes == [f"changed since this run was played last: {change}"]
    assert Run(run_folder).machine_changes == [f"changed while the run went on: {change}"]
    assert read_journal(run_folder.journal).most_memory_mib == 0


def test_memory_that_is_lowered_as_before_is_not_told(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=3)
    with pytest.raises(Killed):
        play(tournament, order=killed_after_two, most_memory=lambda missing: 900)
    assert play(tournament, most_memory=lambda missing: 900).log.notes == []
    assert [line.kind for line in read_journal(run_folder.journal).events].count("machine") == 1
