"""Whatever happens to a run, the matches that count are the schedule, each once."""

import gzip
import json
import random
import socket
import subprocess
import sys

import pytest

from referee.errors import BusyError, ChangedError, PlatformError
from referee.record import read_record
from referee.run.anchors import BATCH_MATCHES
from referee.run.journal import read_journal
from referee.run.lock import RunLock
from referee.schedule.schedule import known_matches
from referee.schedule.seeds import MatchSeeds
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of, describe


def results(folder) -> dict[str, tuple]:
    """What counts: match id to seats, seed and ranking, read from the records themselves."""
    found = {}
    for path in folder.matches.glob("*.jsonl*"):
        record = read_record(path)
        assert record.complete
        assert record.footer.status == "rated"
        found[record.header.match_id] = (
            record.header.place,
            tuple(seat.entry_id for seat in record.header.seats),
            record.footer.seed,
            record.footer.ranking,
        )
    return found


def scheduled(tournament) -> dict[str, tuple]:
    return {
        spec.match_id: (spec.place, tuple(seat.entry_id for seat in spec.seats), spec.seed)
        for spec in known_matches(config_of(tournament), MatchSeeds(tournament.config.seed, (bytes([1]) * 16,)))
    }


def assert_exact(folder, tournament) -> None:
    found = results(folder)
    assert {match_id: values[:3] for match_id, values in found.items()} == scheduled(tournament)


def kinds(folder) -> list[str]:
    return [event.kind for event in read_journal(folder.journal).events]


@pytest.mark.parametrize("bots", [2, 3, 7])
def test_an_undisturbed_run_plays_the_schedule(make_tournament, play, run_folder, bots):
    tournament = make_tournament(bots)
    run = play(tournament, slots=3)
    assert run.summary.complete
    assert (run.summary.found, run.summary.played, run.summary.void) == (
        0,
        config_of(tournament).extent().most,
        0,
    )
    assert_exact(run_folder, tournament)
    digests = ["counted"] * (-(-config_of(tournament).extent().most // BATCH_MATCHES))
    assert kinds(run_folder) == ["created", *digests, "revealed", "finished"]


@pytest.mark.parametrize("bots", [2, 3, 7])
def test_a_run_killed_at_any_byte_is_taken_up_exactly_res1_res2_res3(make_tournament, play, run_folder, unfinish, bots):
    tournament = make_tournament(bots, blocks=1)
    play(tournament)
    undisturbed = results(run_folder)
    chance = random.Random(bots)
    for _ in range(12):
        unfinish()
        files = sorted(run_folder.matches.glob("*.gz"))
        for path in chance.sample(files, min(3, len(files))):
            match chance.choice(["gone", "live", "cut live", "leftover"]):
                case "gone":
                    path.unlink()
                case "live":  # complete, not yet compressed
                    unpack(path)
                case "cut live":
                    live = unpack(path)
                    data = live.read_bytes()
                    live.write_bytes(data[: chance.randrange(len(data))])
                case "leftover":  # compressed, the live file not yet removed
                    data = path.read_bytes()
                    unpack(path)
                    path.write_bytes(data)
        journal = run_folder.journal.read_bytes()
        run_folder.journal.write_bytes(journal + b'["resumed","20'[: chance.randrange(14)])
        run = play(tournament, slots=2)
        assert run.summary.complete
        assert results(run_folder) == undisturbed
    assert not list(run_folder.matches.glob("*.jsonl"))


def unpack(path):
    live = path.with_suffix("")
    live.write_bytes(gzip.decompress(path.read_bytes()))
    path.unlink()
    return live


def test_nothing_is_played_twice_on_resume(make_tournament, play, run_folder, unfinish):
    tournament = make_tournament(3)
    play(tournament)
    unfinish()
    missing = sorted(run_folder.matches.glob("*.gz"))[4:6]
    for path in missing:
        path.unlink()
    run = play(tournament)
    assert run.executor.started == [4, 5]
    assert (run.summary.found, run.summary.played) == (config_of(tournament).extent().most - 2, 2)
    assert kinds(run_folder) == [
        *("created", "counted", "uncounted", "resumed"),
        *("counted", "revealed", "finished"),
    ]


def test_a_finished_run_starts_no_worker_and_writes_no_event(make_tournament, play, run_folder):
    play(make_tournament())
    before = run_folder.journal.read_bytes()
    run = play(make_tournament())
    assert run.executor is None
    assert run.summary.complete
    assert run_folder.journal.read_bytes() == before


def test_what_does_not_count_is_kept_but_set_aside_res6(make_tournament, play, run_folder, unfinish):
    tournament = make_tournament(3)
    play(tournament)
    unfinish()
    files = sorted(run_folder.matches.glob("*.gz"))
    live = unpack(files[0])
    live.write_bytes(live.read_bytes()[:-3])
    files[1].write_bytes(files[1].read_bytes()[:-3])
    files[3].write_bytes(files[2].read_bytes())  # another match under this name
    (run_folder.matches / "m999999-00000000.jsonl.gz").write_bytes(files[2].read_bytes())
    (run_folder.matches / f".{files[4].name}.12.tmp").touch()
    play(tournament)
    assert_exact(run_folder, tournament)
    names = sorted(path.name for path in run_folder.void.iterdir())
    stem = [path.name.removesuffix(".jsonl.gz") for path in files]
    assert names == [
        f"{stem[0]}.1-unfinished.jsonl",
        f"{stem[1]}.1-damaged.jsonl.gz",
        f"{stem[3]}.1-foreign.jsonl.gz",
        "m999999-00000000.1-foreign.jsonl.gz",
    ]
    assert not list(run_folder.matches.glob(".*"))
    (resumed,) = (event for event in read_journal(run_folder.journal).events if event.kind == "resumed")
    assert sorted(resumed.fields["set_aside"]) == names


def test_nothing_that_was_set_aside_is_ever_replaced(make_tournament, play, run_folder):
    play(make_tournament())
    for content in (b"first", b"second"):
        (run_folder.matches / "copy [1].jsonl.gz").write_bytes(content)
        play(make_tournament())
    kept = {path.name: path.read_bytes() for path in run_folder.void.iterdir()}
    assert kept == {"copy [1].1-foreign.jsonl.gz": b"first", "copy [1].2-foreign.jsonl.gz": b"second"}


def test_a_void_match_is_played_again_and_stays_visible(make_tournament, play, run_folder):
    tournament = make_tournament()
    run = play(tournament, script={1: ["void", "lost", "rated"], 2: ["cut", "rated"]})
    assert run.summary.complete
    assert run.summary.void == 3
    assert_exact(run_folder, tournament)
    assert sorted(path.name.split(".", 1)[1] for path in run_folder.void.iterdir()) == [
        "1-lost.jsonl",
        "1-void.jsonl.gz",
        "2-lost.jsonl",
    ]
    voids = [event.fields for event in read_journal(run_folder.journal).events if event.kind == "void"]
    assert [(event["place"], event["attempt"]) for event in voids] == [(1, 1), (1, 2), (2, 1)]
    assert voids[1]["detail"] == "the worker was killed by signal 9"


def test_a_match_that_stays_void_is_reported_and_the_others_go_on_res15_res16(make_tournament, play, run_folder):
    tournament = make_tournament(3)
    run = play(tournament, script={2: ["lost"], 5: ["void"]})
    assert not run.summary.complete
    assert [(item.place, item.reason) for item in run.summary.given_up] == [
        (2, "platform_fault"),
        (5, "platform_fault"),
    ]
    assert run.summary.void == 6
    assert len(results(run_folder)) == config_of(tournament).extent().most - 2
    assert kinds(run_folder).count("given_up") == 2
    assert len(run.log.notes) == 2
    again = play(tournament)
    assert again.executor.started == [2, 5]
    assert again.summary.complete
    assert_exact(run_folder, tournament)


def test_a_bot_that_never_starts_is_given_up_after_a_while(make_tournament, play, run_folder):
    tournament = make_tournament(3, blocks=20)
    bad = tournament.entries[0].id
    run = play(tournament, absent=bad)
    assert sum(run.executor.attempts.values()) < config_of(tournament).extent().most
    others = [
        spec for spec in known_matches(config_of(tournament)) if bad not in {seat.entry_id for seat in spec.seats}
    ]
    assert set(results(run_folder)) == {spec.match_id for spec in others}
    assert sum(run.executor.attempts.values()) == len(others) + 3
    assert run.summary.cancelled + run.summary.played == config_of(tournament).extent().most
    assert run.summary.set_aside == ("bot0",)
    assert run.summary.complete
    assert kinds(run_folder).count("breaker") == 1
    assert any("'bot0' is disqualified" in note for note in run.log.notes)


def test_a_changed_configuration_is_refused_under_the_lock_too(make_tournament, play, run_folder):
    play(make_tournament())
    before = sorted(path.read_bytes() for path in run_folder.matches.glob("*.gz"))
    with pytest.raises(ChangedError, match="has blocks = 2, and the file says 1"):
        play(make_tournament(blocks=1))
    assert sorted(path.read_bytes() for path in run_folder.matches.glob("*.gz")) == before


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('[sandbox]\nprofile = "plain"\n', 'sandbox.profile: nothing -> "plain"'),
        ('[sandbox]\nread = ["bots"]\n', 'sandbox.read: nothing -> ["bots"]'),
        ("[limits]\nmemory_mib = 512\n", "limits.memory_mib: 2048 -> 512"),
        ("[limits]\nmax_output_bytes = 99\n", "limits.max_output_bytes: 65536 -> 99"),
        ("[bots.limits]\nprocesses = 7\n", "bots[2].limits.processes: nothing -> 7"),
        ("network = true\n", "bots[2].sandbox.network: nothing -> true"),
        ('env = ["KEY"]\n', 'bots[2].sandbox.env: nothing -> ["KEY"]'),
        ('devices = ["/dev/zero"]\n', 'bots[2].sandbox.devices: nothing -> ["/dev/zero"]'),
        ("fresh = true\n", "bots[2].fresh: nothing -> true"),
        ('sandbox = "strict"\n', 'bots[2].sandbox.profile: nothing -> "strict"'),
    ],
)
def test_other_limits_another_profile_or_another_grant_is_another_tournament(make_tournament, play, more, told):
    play(make_tournament())
    with pytest.raises(ChangedError) as caught:
        play(make_tournament(more=more))
    assert caught.value.changes == (told,)
    assert "--new" in caught.value.next_step


def test_a_tournament_that_grants_something_goes_on_where_it_was_even_if_it_has_been_moved(
    make_tournament, play, tmp_path, run_folder
):
    more = '[sandbox]\nprofile = "plain"\nread = ["bots"]\n'
    before = make_tournament(more=more)
    assert play(before).summary.complete
    assert play(make_tournament(more=more)).executor is None
    moved = tmp_path.with_name(f"{tmp_path.name} moved")
    tmp_path.rename(moved)
    assert describe(load_tournament(moved / "cup.toml")) == describe(before)


def test_how_many_processes_there_may_be_can_change_while_a_run_goes_on(make_tournament, play):
    play(make_tournament())
    assert play(make_tournament(idle=3, more="copies = 1\n")).summary.complete


def test_a_second_runner_changes_nothing(make_tournament, play, run_folder):
    play(make_tournament())
    files = sorted(run_folder.matches.glob("*.gz"))
    files[0].unlink()
    run_folder.lock.write_text("")
    code = (
        "import sys; from pathlib import Path; from referee.run.lock import RunLock;"
        "l = RunLock(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(run_folder.lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        first.stdout.readline()
        before = run_folder.journal.read_bytes()
        with pytest.raises(BusyError, match=f"process {first.pid} on {socket.gethostname()}"):
            play(make_tournament())
        assert run_folder.journal.read_bytes() == before
        assert json.loads(run_folder.lock.read_text())["pid"] == first.pid
        first.stdin.close()
    assert play(make_tournament()).summary.played == 1


def test_a_full_disk_ends_the_run_at_once_and_loses_nothing(make_tournament, play, run_folder, monkeypatch):
    tournament = make_tournament(3)

    def full(folder):
        raise PlatformError(f"cannot write in {folder.path}: No space left on device", "free some space")

    monkeypatch.setattr("referee.tournament.runner.check_disk", full)
    with pytest.raises(PlatformError, match="No space left"):
        play(tournament, script={3: ["void"]})
    monkeypatch.undo()
    assert len(results(run_folder)) == 3
    assert kinds(run_folder)[-1] == "stopped"
    assert play(tournament).summary.found == 3
    assert_exact(run_folder, tournament)


def test_the_lock_is_free_after_a_run(make_tournament, play, run_folder):
    play(make_tournament())
    RunLock(run_folder.lock, wait_s=0).release()
