"""A restart reads no record again that it has judged, unless the file is another one."""

from dataclasses import replace

import pytest

from referee.record.journal import BLOCK
from referee.schedule.schedule import Schedule
from referee.tournament.remembered import NAME


@pytest.fixture
def world(make_ladder, bot):
    made = make_ladder("idle_below = 0.06\nplacement_blocks = 2")
    made.roster.set(bot("ann"), bot("bob"), bot("cyd"))
    made.play()
    return made


def read_again(world, monkeypatch):
    """The match ids of the records that a restart reads."""
    from referee.tournament import progress

    read, judge = [], progress.judge
    monkeypatch.setattr(
        progress, "judge", lambda path, spec, seeds: read.append(spec.match_id) or judge(path, spec, seeds)
    )
    with world.division() as division:
        found = division.progress.found
        skills = {entry: (belief.mu, belief.sigma) for entry, belief in division.beliefs.known.items()}
    return read, found, skills


def test_a_restart_reads_no_record_again_and_knows_the_same(world, monkeypatch):
    matches = 2 * len(world.lines(BLOCK))
    read, found, skills = read_again(world, monkeypatch)
    assert (read, found) == ([], matches)
    (world.folder().path / NAME).unlink()
    read, found, same = read_again(world, monkeypatch)
    assert (len(read), found, same) == (matches, matches, skills)


def test_blocks_that_are_passed_over_leave_the_same_state_as_records_that_are_read(world, bot, monkeypatch):
    """Versions that were replaced, a fault, an annulled match and a block that is cut off among them."""
    world.tables.behaves = lambda spec: (
        "crashed bob" if len(world.tables.played) % 5 == 0 and has(spec, "bob") else "rated"
    )
    world.roster.set(bot("ann", 2), bot("bob"), bot("cyd"), bot("dan"))
    world.play()
    with world.division() as division:
        annulled = sorted(world.run().records.paths())[2]
        division.annul(annulled, by="", reason="slept")
    world.config = replace(world.config, server=replace(world.config.server, drain_s=0.0))
    last, there = len(world.tables.played), len(world.run().records.paths())
    world.tables.behaves = lambda _: "stays" if len(world.tables.played) > last + 1 else "rated"
    world.roster.set(bot("ann", 2), bot("bob", 2), bot("cyd"))
    world.play(lambda: len(world.tables.played) > last + 1 and len(world.run().records.paths()) > there)

    def state():
        with world.division() as division:
            breaker = sorted((entry, str(form)) for entry, form in division.progress.breaker._forms.items())
            return (
                division.snapshot(),
                division._open,
                division._met,
                division.beliefs,
                breaker,
                division.progress.found,
            )

    passed = []
    pass_over = Schedule.pass_over
    monkeypatch.setattr(
        Schedule,
        "pass_over",
        lambda self, knows: pass_over(self, lambda *block: knows(*block) and (passed.append(block) or True)),
    )
    quick, number = state(), len(passed)
    (world.folder().path / NAME).unlink()
    assert state() == quick
    assert len(passed) == number > 5


def has(spec, name):
    return any(seat.name == name for seat in spec.seats)


def test_a_record_that_was_changed_is_read_and_does_not_count(world, monkeypatch):
    match_id, path = sorted(world.run().records.paths().items())[3]
    path.write_bytes(path.read_bytes()[:-20])
    read, found, _ = read_again(world, monkeypatch)
    assert read == [match_id]
    assert found == 2 * len(world.lines(BLOCK)) - 1


@pytest.mark.parametrize("damage", [b'["m0000', b"\x00\xff\n[]\n{}\n", b'["m000000-x", 1, "a", 2, [1], [], 0, ""]\n'])
def test_lines_that_cannot_be_read_are_passed_over(world, monkeypatch, damage):
    path = world.folder().path / NAME
    path.write_bytes(path.read_bytes() + damage)
    read, found, _ = read_again(world, monkeypatch)
    assert (read, found) == ([], 2 * len(world.lines(BLOCK)))
    world.play()
    read, _, _ = read_again(world, monkeypatch)
    assert read == []


def test_a_folder_that_cannot_be_written_costs_only_the_memory(world, monkeypatch):
    (world.folder().path / NAME).unlink()
    (world.folder().path / NAME).mkdir()
    read, found, _ = read_again(world, monkeypatch)
    assert len(read) == found == 2 * len(world.lines(BLOCK))
