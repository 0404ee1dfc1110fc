"""The luck of a run: a secret that is committed to, kept, revealed at the end, and never used again."""

import json
import os
import stat
from itertools import pairwise

import pytest

from referee.errors import JournalError, PlatformError, UsageError
from referee.record import read_record
from referee.run.decisions import annul
from referee.run.journal import EPOCH, REVEALED, Journal, read_journal
from referee.run.luck import (
    epochs_of,
    epochs_when_counted,
    keep_secrets,
    read_secrets,
    seeds_of,
)
from referee.schedule.config import digest
from referee.schedule.schedule import Schedule
from referee.schedule.seeds import block_seed, commitment, public_block_seed
from referee.tournament.identity import config_of, describe


def seeds(folder) -> dict[str, str]:
    """By match id, of the records that count."""
    records = [read_record(path) for path in folder.matches.glob("*.jsonl*")]
    return {record.header.match_id: record.footer.seed for record in records}


def events(folder, kind) -> list:
    return [line.fields for line in read_journal(folder.journal).events if line.kind == kind]


def secret_in_force(folder) -> bytes:
    return bytes.fromhex(folder.secrets.read_text().split()[-1])


def begin_without_secret(folder, tournament) -> None:
    """As an older version begins a run."""
    folder.make()
    description = describe(tournament)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("created", format=1, hash=digest(description), configuration=description)


def test_each_run_draws_128_random_bits_for_the_organiser_alone(make_tournament, play, run_folder):
    play(make_tournament(), secrets=())
    first, found = secret_in_force(run_folder), seeds(run_folder)
    assert len(first) == 16
    assert stat.S_IMODE(run_folder.secrets.stat().st_mode) == 0o600
    run_folder.path.rename(run_folder.path.with_name("other"))
    play(make_tournament(), secrets=())
    assert secret_in_force(run_folder) != first
    again = seeds(run_folder)
    assert set(found) == set(again), "the schedule does not depend on the secret"
    assert not set(found.values()) & set(again.values())


def test_all_seeds_follow_from_the_secret_that_is_committed_to_first_and_revealed_last(
    make_tournament, play, run_folder
):
    tournament = make_tournament(3)
    play(tournament, secrets=())
    secret = secret_in_force(run_folder)
    lines = read_journal(run_folder.journal).events
    assert [line.kind for line in lines] == ["created", "counted", REVEALED, "finished"]
    assert lines[0].fields["commitment"] == commitment(secret)
    assert lines[2].fields == {"epoch": 0, "secret": secret.hex()}
    luck, epochs = seeds_of(read_journal(run_folder.journal))
    assert len(luck.secrets) == epochs
    for spec in specs_of(tournament, luck):
        assert seeds(run_folder)[spec.match_id] == block_seed(secret, 1, "toy", spec.block)


def specs_of(tournament, luck):
    schedule = Schedule(config_of(tournament), seeds=luck)
    while (spec := schedule.next()) is not None:
        yield spec


def test_a_secret_is_told_only_when_nothing_more_is_played_with_it(make_tournament, play, run_folder):
    run = play(make_tournament(3), secrets=(), script={2: ["void"]})
    assert not run.summary.complete
    assert not events(run_folder, REVEALED)
    secret = secret_in_force(run_folder).hex()
    for path in [run_folder.journal, *run_folder.matches.rglob("*.jsonl*"), *run_folder.path.glob("*.db")]:
        assert secret.encode() not in path.read_bytes()
    assert play(make_tournament(3), secrets=()).summary.complete
    assert events(run_folder, REVEALED) == [{"epoch": 0, "secret": secret}]


def test_a_match_that_is_played_after_the_secret_was_told_has_luck_of_its_own(make_tournament, play, run_folder):
    play(make_tournament(2), secrets=())
    before = seeds(run_folder)
    match_id = min(before)
    annul(run_folder, match_id, replay=True, by="ann", reason="")
    run = play(make_tournament(2), secrets=())
    assert run.executor.started == [0]
    after = seeds(run_folder)
    assert [name for name in before if before[name] != after[name]] == [match_id]
    (epoch,) = events(run_folder, EPOCH)
    assert epoch == {"epoch": 1, "commitment": commitment(secret_in_force(run_folder))}
    assert after[match_id] == block_seed(secret_in_force(run_folder), 1, "toy", 0)
    assert [fields["epoch"] for fields in events(run_folder, REVEALED)] == [0, 1]
    luck, epochs = seeds_of(read_journal(run_folder.journal))
    assert len(luck.secrets) == epochs
    assert after[match_id] in luck.seeds_of("toy", 0)
    assert play(make_tournament(2), secrets=()).executor is None, "both epochs count"


def test_a_match_is_of_an_epoch_that_had_begun_when_it_came_to_count(make_tournament, play, run_folder):
    play(make_tournament(2), secrets=())
    assert epochs_when_counted(read_journal(run_folder.journal)) == {}, "there is one epoch"
    first, second = sorted(seeds(run_folder))[:2]
    annul(run_folder, first, replay=True, by="ann", reason="")
    play(make_tournament(2), secrets=())
    found = epochs_when_counted(read_journal(run_folder.journal))
    assert (found[first], found[second]) == (2, 1)


@pytest.mark.parametrize("fields", [{"epoch": 7, "secret": ""}, {"epoch": "x", "secret": ""}, {}])
def test_a_line_that_reveals_no_secret_of_the_run_is_damage(make_tournament, play, run_folder, fields):
    play(make_tournament(2))
    with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
        journal.append(REVEALED, **fields)
    with pytest.raises(JournalError, match="which it does not have"):
        epochs_of(read_journal(run_folder.journal))


def test_a_finished_run_that_is_looked_at_again_draws_nothing(make_tournament, play, run_folder):
    play(make_tournament(2), secrets=())
    before = run_folder.secrets.read_bytes(), run_folder.journal.read_bytes()
    play(make_tournament(2), secrets=())
    assert (run_folder.secrets.read_bytes(), run_folder.journal.read_bytes()) == before


def test_killed_between_drawing_a_secret_and_committing_to_it_another_is_drawn(make_tournament, play, run_folder):
    play(make_tournament(2), secrets=())
    told = secret_in_force(run_folder)
    annul(run_folder, min(seeds(run_folder)), replay=True, by="ann", reason="")
    keep_secrets(run_folder.secrets, (told, bytes(16)))
    play(make_tournament(2), secrets=())
    kept = run_folder.secrets.read_text().split()
    assert kept[0] == told.hex()
    assert kept[1] != bytes(16).hex()
    assert len(kept) == 2


@pytest.mark.parametrize("damage", ["gone", "another", "cut", "not hex", "pipe"])
def test_a_lost_or_wrong_secret_refuses_to_go_on_and_loses_nothing(
    make_tournament, play, run_folder, unfinish, tmp_path, damage
):
    play(make_tournament(2), secrets=())
    unfinish()
    secret, before = run_folder.secrets.read_bytes(), seeds(run_folder)
    min(run_folder.matches.glob("*.gz")).unlink()
    match damage:
        case "gone":
            run_folder.secrets.unlink()
        case "another":
            run_folder.secrets.write_text(f"{bytes(16).hex()}\n")
        case "cut":
            run_folder.secrets.write_bytes(secret[:-2])
        case "not hex":
            run_folder.secrets.write_text("x" * 32)
        case "pipe":
            run_folder.secrets.unlink()
            os.mkfifo(run_folder.secrets)
    journal = run_folder.journal.read_bytes()
    with pytest.raises(PlatformError) as refused:
        play(make_tournament(2), secrets=())
    assert "luck.secret" in str(refused.value)
    assert secret.decode().strip() not in str(refused.value)
    assert "restore the file from a copy" in refused.value.next_step
    assert run_folder.journal.read_bytes() == journal
    run_folder.secrets.unlink(missing_ok=True)
    run_folder.secrets.write_bytes(secret)
    assert play(make_tournament(2), secrets=()).summary.complete
    assert seeds(run_folder) == before


def test_a_copy_of_a_lost_secret_can_be_given(make_tournament, play, run_folder, unfinish, tmp_path):
    play(make_tournament(2), secrets=())
    unfinish()
    before = seeds(run_folder)
    copy = tmp_path / "copy"
    run_folder.secrets.rename(copy)
    min(run_folder.matches.glob("*.gz")).unlink()
    assert play(make_tournament(2), secrets=read_secrets(copy)).summary.complete
    assert seeds(run_folder) == before
    assert run_folder.secrets.read_bytes() == copy.read_bytes()


def test_another_secret_than_that_of_the_run_is_refused(make_tournament, play, run_folder, unfinish):
    play(make_tournament(2), secrets=())
    unfinish()
    with pytest.raises(UsageError, match="has a secret of its own, and the one given is another") as refused:
        play(make_tournament(2), secrets=(bytes(16),))
    assert "to repeat the tournament with this secret, add --new" in refused.value.next_step


def test_runs_of_one_secret_are_the_same_and_a_longer_run_needs_a_longer_file(make_tournament, play, run_folder):
    one = bytes(range(16))
    play(make_tournament(2), secrets=(one,))
    first = seeds(run_folder)
    run_folder.path.rename(run_folder.path.with_name("first"))
    play(make_tournament(2), secrets=(one,))
    assert seeds(run_folder) == first
    annul(run_folder, min(first), replay=True, by="ann", reason="")
    with pytest.raises(UsageError, match="has 1 of the 2 secrets"):
        play(make_tournament(2), secrets=(one,))
    assert play(make_tournament(2), secrets=(one, bytes(16))).summary.complete


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a secret"),
        ("00\n", "line 1 of"),
        (f"{'ab' * 16}\nxyz\n", "line 2 of"),
        ("é", "it is not ASCII"),
    ],
)
def test_what_is_no_secret_is_refused_with_the_command_that_makes_one(tmp_path, text, said):
    path = tmp_path / "secret"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(UsageError, match=said) as refused:
        read_secrets(path)
    assert "openssl rand -hex 16" in refused.value.next_step


def test_a_secret_that_others_can_read_or_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "secret"
    with pytest.raises(UsageError, match="No such file"):
        read_secrets(path)
    path.write_text("ab" * 16)
    path.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        read_secrets(path)


def test_a_run_of_before_there_were_secrets_is_taken_up_as_it_was_begun(make_tournament, play, run_folder):
    tournament = make_tournament(2)
    begin_without_secret(run_folder, tournament)
    run = play(tournament, secrets=())
    assert run.summary.complete
    assert set(seeds(run_folder).values()) == {public_block_seed(1, "toy", block) for block in (0, 1)}
    assert not run_folder.secrets.exists()
    assert [line.kind for line in read_journal(run_folder.journal).events] == [
        *("created", "machine", "resumed", "counted", "finished")
    ]
    assert not epochs_of(read_journal(run_folder.journal))[0].commitment


def test_what_is_added_to_a_finished_run_of_before_there_were_secrets_has_one(make_tournament, play, run_folder):
    tournament = make_tournament(2)
    begin_without_secret(run_folder, tournament)
    play(tournament, secrets=())
    match_id = min(seeds(run_folder))
    annul(run_folder, match_id, replay=True, by="ann", reason="")
    assert play(tournament, secrets=()).summary.complete
    assert seeds(run_folder)[match_id] == block_seed(secret_in_force(run_folder), 1, "toy", 0)
    assert play(tournament, secrets=()).executor is None


def test_a_journal_that_reveals_another_secret_than_it_was_committed_to_is_refused(
    make_tournament, play, run_folder, unfinish
):
    play(make_tournament(2), secrets=())
    unfinish()
    with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
        journal.append(REVEALED, epoch=0, secret=bytes(16).hex())
    with pytest.raises(JournalError, match="not the one it is committed to"):
        play(make_tournament(2), secrets=())


def test_a_match_is_played_with_its_seed_and_nothing_else_of_the_luck(make_tournament, play, run_folder):
    """What an executor gets, on whatever machine, cannot lead to the luck of another block."""
    tournament = make_tournament(3)
    play(tournament, secrets=())
    luck, _ = seeds_of(read_journal(run_folder.journal))
    specs = list(specs_of(tournament, luck))
    secret = secret_in_force(run_folder).hex()
    for one, other in pairwise(specs):
        text = one.to_json()
        assert secret not in text
        assert commitment(bytes.fromhex(secret)) not in text
        assert one.block == other.block or other.seed not in text
    assert secret not in repr(luck)
    assert secret not in json.dumps([line.fields for line in read_journal(run_folder.journal).events[:1]])
