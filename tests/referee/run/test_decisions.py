"""An organiser's decisions about a run: at a place in the schedule, once, and the same for whoever reads them."""

import shutil
import subprocess
import sys
from collections import Counter

import pytest

from leaderboard.controls import apply_controls
from leaderboard.index import load_index
from referee.cli.find import find_run
from referee.errors import BusyError, ChangedError, ConfigError, UsageError
from referee.process.entry import load_stored
from referee.record import read_record
from referee.record.journal import Control, in_force, read_controls
from referee.run import decisions as controls
from referee.run.journal import Journal, read_journal
from referee.run.participants import newest_participants, participants_of
from referee.run.run import Run
from referee.schedule.schedule import known_matches
from referee.tournament import joining
from referee.tournament.attempts import attempts_of
from referee.tournament.entrants import changed_since, folders_needed, load_tournament, stand_ins
from referee.tournament.identity import config_of, describe
from referee.tournament.joining import load_joining

BY = {"by": "ann", "reason": "asked for"}


def add(run_folder, path, name, **by):
    """The bot in the folder `path` joins the run."""
    run = Run(run_folder)
    return run.add(load_joining(run.journal, path, name), **by)


def played(folder):
    """Match id to names by seat."""
    records = map(read_record, folder.matches.glob("*.jsonl*"))
    return {record.header.match_id: tuple(seat.name for seat in record.header.seats) for record in records}


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


def stop_after(play, tournament, matches):
    """A run that was killed when so many matches were there."""

    def order(spec):
        if spec.place == matches:
            raise Killed
        return 0

    with pytest.raises(Killed):
        play(tournament, order=order)


@pytest.fixture
def begun(make_tournament, play, run_folder):
    """begun(bots, played=6, ...) is a tournament whose run has so many records."""

    def make(bots, *, matches=6, **keys):
        tournament = make_tournament(bots, **keys)
        stop_after(play, tournament, matches)
        assert len(played(run_folder)) == matches
        return tournament

    return make


@pytest.mark.parametrize("kind", ["withdrawn", "disabled"])
@pytest.mark.parametrize("choice", ["keep", "annul", "losses"])
def test_a_bot_that_leaves_plays_no_more_and_what_it_played_stays_on_record(begun, play, run_folder, kind, choice):
    tournament = begun(3, blocks=3)
    before = played(run_folder)
    control = controls.leave(run_folder, kind, "bot1", choice, **BY)
    assert (control.place, control.entry_id) == (6, tournament.entries[1].id)
    (found,) = read_controls(run_folder.journal)
    assert (found.kind, found.choice, found.by, found.reason, found.place) == (kind, choice, "ann", "asked for", 6)
    run = play(tournament)
    assert run.summary.complete
    after = played(run_folder)
    assert before.items() <= after.items()
    assert all("bot1" not in names for match, names in after.items() if match not in before)
    without = [
        spec for spec in known_matches(config_of(tournament)) if "bot1" not in {seat.name for seat in spec.seats}
    ]
    assert {spec.match_id for spec in without} <= set(after)
    assert run.summary.cancelled == config_of(tournament).extent().most - len(after)
    assert not run.summary.set_aside
    assert play(tournament).executor is None, "and it is finished"


def test_a_bot_that_is_out_need_not_be_on_the_disk_any_more(begun, play, run_folder, tmp_path):
    tournament = begun(3, blocks=3)
    path = tournament.config.path
    shutil.rmtree(tmp_path / "bots" / "bot1")
    with pytest.raises(ConfigError, match="bot1: does not exist"):
        load_tournament(path)
    controls.leave(run_folder, "withdrawn", tournament.entries[1].id, "keep", **BY)
    again = load_tournament(path, newest_participants(run_folder.path.parent, "cup"))
    assert [entry.id for entry in again.entries] == [entry.id for entry in tournament.entries]
    assert play(again).summary.complete


def test_what_a_bot_that_is_out_was_granted_need_not_be_there_any_more(begun, play, run_folder, tmp_path):
    weights = tmp_path / "weights"
    weights.write_text("1")
    tournament = begun(3, blocks=3, more='read = ["weights"]\n')
    path = tournament.config.path
    weights.unlink()
    with pytest.raises(ConfigError, match="weights does not exist"):
        load_tournament(path, newest_participants(run_folder.path.parent, "cup"))
    controls.leave(run_folder, "withdrawn", "bot2", "keep", **BY)
    again = load_tournament(path, newest_participants(run_folder.path.parent, "cup"))
    assert describe(again) == describe(tournament)
    assert play(again).summary.complete


def leave_and_load(tournament, run_folder, name="bot1"):
    """Withdraw the bot; then load(text=...) reads the file, of that text, as the run knows its bots."""
    controls.leave(run_folder, "withdrawn", name, "keep", **BY)
    path = tournament.config.path

    def load(text=None):
        path.write_text(text or path.read_text())
        return load_tournament(path, newest_participants(run_folder.path.parent, "cup"))

    return load


def test_a_bot_that_is_out_may_be_changed_and_is_told(begun, play, run_folder, write_bot):
    tournament = begun(3, blocks=3)
    load = leave_and_load(tournament, run_folder)
    assert changed_since(load()) == []
    folder = write_bot("bot1")
    (folder / "bot.py").write_text("# better\n")
    again = load()
    assert describe(again) == describe(tournament)
    assert changed_since(again) == [("bot1", folder)]
    add(run_folder, folder, "better", **BY)
    joined = joining.with_added(again, read_journal(run_folder.journal))
    assert play(joined).summary.complete
    assert any("better" in names for names in played(run_folder).values())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(('path = "bots/bot1"', 'path = "bots/other"'), "bots.2..entry_id .source", id="another"),
        pytest.param(('path = "bots/bot1"', 'path = "bots/bot1"\nname = "new"'), "bots.2..name", id="renamed"),
        pytest.param(('path = "bots/bot1"', 'path = "bots/bot3"'), "bots.2..entry_id", id="exchanged"),
    ],
)
def test_what_the_file_names_instead_of_a_bot_that_is_out_is_not_hidden_by_it(
    begun, play, run_folder, write_bot, change, told
):
    tournament = begun(3, blocks=3)
    load = leave_and_load(tournament, run_folder)
    write_bot("other")
    write_bot("bot3")
    changed = load(tournament.config.path.read_text().replace(*change))
    with pytest.raises(ChangedError, match=told):
        play(changed)


def test_a_bot_that_the_file_names_beyond_one_that_joined_and_left_is_not_hidden_by_it(
    begun, play, run_folder, write_bot
):
    tournament = begun(2, blocks=3, matches=3)
    add(run_folder, write_bot("late"), None, **BY)
    load = leave_and_load(tournament, run_folder, "late")
    before = tournament.config.path.read_text()
    for name in ("late", "latest"):
        write_bot(name)
        changed = load(before + f'[[bots]]\npath = "bots/{name}"\n')
        assert changed.entries[2].name == name
        assert changed.entries[2].argv
        with pytest.raises(ChangedError, match=r"bots.3.\.entry_id"):
            play(changed)


def test_a_bot_that_dials_in_is_no_stand_in_and_a_new_version_of_it_no_old_one(
    make_tournament, play, run_folder, monkeypatch
):
    monkeypatch.setenv("ADA_TOKEN", "0123456789abcdef")
    more = '[[bots]]\nremote = true\nname = "Ada"\ntoken_env = "ADA_TOKEN"\nversion = "3"\n'
    tournament = make_tournament(2, more=more + '[remote]\nlisten = "127.0.0.1:0"\n')
    stop_after(play, tournament, 3)
    load = leave_and_load(tournament, run_folder, "Ada")
    assert stand_ins(load()) == []
    assert play(load()).summary.complete
    changed = load(tournament.config.path.read_text().replace('version = "3"', 'version = "4"'))
    with pytest.raises(ChangedError, match=r"bots.3.\.entry_id"):
        play(changed)


@pytest.mark.parametrize("leaves", ["bot2", "twin"])
def test_two_bots_of_one_folder_are_told_apart_when_one_has_left(
    make_tournament, play, run_folder, write_bot, tmp_path, leaves
):
    write_bot("bot2", options="[options]\nsalt = 1\n")
    more = "".join(f'[[bots]]\npath = "bots/bot2"\n{line}\n' for line in ("", 'name = "twin"\noptions = { salt = 2 }'))
    tournament = make_tournament(2, more=more)
    stop_after(play, tournament, 5)
    load = leave_and_load(tournament, run_folder, leaves)
    known = newest_participants(run_folder.path.parent, "cup")
    assert [entry.id for entry in load().entries] == [entry.id for entry in tournament.entries]
    assert len(folders_needed(tournament.config, known)) == 4
    assert play(load()).summary.complete


@pytest.mark.slow
@pytest.mark.parametrize("style", ["swiss", "knockout", "league"])
def test_in_formats_of_rounds_who_left_is_paired_no_more_whatever_the_number_of_tables(
    begun, play, run_folder, style, tmp_path
):
    keys = {"swiss": {"more": "[swiss]\nrounds = 4\n"}, "knockout": {}, "league": {}}[style]
    tournament = begun(7, blocks=1 if style != "league" else 30, format=style, matches=5, **keys)
    controls.leave(run_folder, "withdrawn", "bot0", "keep", **BY)
    saved = tmp_path / "saved"
    shutil.copytree(run_folder.path, saved)
    results = []
    for slots in (1, 5):
        run = play(tournament, slots=slots, order=lambda spec: int(spec.seed, 16) % 7)
        assert run.summary.complete
        results.append((played(run_folder), run.summary.placings))
        assert play(tournament).summary.placings == run.summary.placings
        shutil.rmtree(run_folder.path)
        shutil.copytree(saved, run_folder.path)
    assert results[0] == results[1]
    before = set(played(saved_folder := type(run_folder)(saved)))
    assert all("bot0" not in names for match, names in results[0][0].items() if match not in before), saved_folder


def set_all_aside(tournament, folder, place, choice="keep"):
    """As the breaker may do it."""
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        for entry in tournament.entries:
            journal.control(Control("breaker", place, entry_id=entry.id, name=entry.name, choice=choice, by="rule"))


@pytest.mark.parametrize("kind", ["withdrawn", "disabled"])
def test_the_last_bot_cannot_leave_and_whoever_leaves_too_few_hears_what_that_means(begun, run_folder, kind):
    begun(3, blocks=3, players=[2, 3])
    said = []
    for name in ("bot0", "bot1"):
        controls.leave(run_folder, kind, name, "keep", **BY)
        said.append(controls.too_few(read_journal(run_folder.journal)))
    assert said == [
        "too few bots are left (2): toy with 3 seats is no more played",
        "too few bots are left (1): nothing more is played",
    ]
    before = run_folder.journal.read_bytes()
    with pytest.raises(UsageError, match="'bot2' is the last bot of this run"):
        controls.leave(run_folder, kind, "bot2", "annul", **BY)
    assert run_folder.journal.read_bytes() == before


def test_a_gauntlet_whose_challengers_have_left_says_so_and_takes_no_bot_that_would_play_nothing(
    begun, run_folder, write_bot
):
    begun(3, format="gauntlet", matches=2)
    controls.leave(run_folder, "withdrawn", "bot0", "keep", **BY)
    assert controls.too_few(read_journal(run_folder.journal)) == "no challenger is left: nothing more is played"
    with pytest.raises(UsageError, match="'bot0' would play nothing: all challengers have left, and a bot that joins"):
        add(run_folder, write_bot("next"), "bot0", **BY)
    controls.reinstate(run_folder, "bot0", **BY)
    assert controls.too_few(read_journal(run_folder.journal)) == ""
    assert add(run_folder, write_bot("next"), "next", **BY).kind == "added"


def test_a_gauntlet_in_which_only_challengers_are_left_says_so(begun, run_folder):
    begun(4, format="gauntlet", matches=2, more='[gauntlet]\nchallengers = ["bot0", "bot1"]\n')
    for name in ("bot2", "bot3"):
        assert controls.too_few(read_journal(run_folder.journal)) == ""
        controls.leave(run_folder, "withdrawn", name, "keep", **BY)
    assert controls.too_few(read_journal(run_folder.journal)) == "too few bots are left (2): nothing more is played"


def test_all_bots_set_aside_end_the_run_as_it_is(begun, play, run_folder):
    tournament = begun(3, blocks=3)
    set_all_aside(tournament, run_folder, 6)
    run = play(tournament)
    assert run.executor is None
    assert run.summary.complete
    assert (run.summary.found, run.summary.cancelled) == (6, config_of(tournament).extent().most - 6)
    assert read_journal(run_folder.journal).events[-1].kind == "finished"


@pytest.mark.parametrize("style", ["swiss", "knockout", "league", "gauntlet", "round-robin"])
def test_all_bots_set_aside_end_any_format(begun, play, run_folder, style):
    tournament = begun(4, blocks=4, format=style, matches=3)
    set_all_aside(tournament, run_folder, 3, "annul")
    run = play(tournament)
    assert run.summary.complete
    assert run.executor is None


def test_a_bot_that_joins_plays_from_the_next_cycle_on_and_then_what_it_missed(begun, play, run_folder, write_bot):
    tournament = begun(3, blocks=4)
    control = add(run_folder, write_bot("late"), None, **BY)
    assert (control.kind, control.place, control.name) == ("added", 6, "late")
    joined = joining.with_added(tournament, read_journal(run_folder.journal))
    assert [entry.name for entry in joined.entries] == ["bot0", "bot1", "bot2", "late"]
    run = play(joined, slots=3)
    assert run.summary.complete
    groups: dict[frozenset[str], int] = {}
    for names in played(run_folder).values():
        groups[frozenset(names)] = groups.get(frozenset(names), 0) + 1
    assert len(groups) == 6
    assert set(groups.values()) == {8}
    assert play(joined).executor is None


@pytest.mark.parametrize(
    ("style", "matches", "why"),
    [
        ("knockout", 0, ""),
        ("knockout", 1, "a knockout takes others only before its first round"),
        ("compare", 1, "this run compares two bots"),
        ("swiss", 3, ""),
        ("swiss", None, "the schedule of this run has ended"),
        ("league", None, "the schedule of this run has ended"),
        ("gauntlet", None, ""),
    ],
)
def test_a_bot_that_would_play_nothing_does_not_join(
    begun, make_tournament, play, run_folder, write_bot, style, matches, why
):
    if matches is None:
        play(make_tournament(3, format=style))
    else:
        begun(3, format=style, matches=matches)
    before = run_folder.journal.read_bytes()
    if why:
        with pytest.raises(UsageError, match=f"'late' would play nothing: {why}"):
            add(run_folder, write_bot("late"), None, **BY)
        assert run_folder.journal.read_bytes() == before
    else:
        add(run_folder, write_bot("late"), None, **BY)


def test_a_ranking_that_nobody_leads_is_refused(begun, run_folder):
    begun(2, matches=2)
    with pytest.raises(UsageError, match="in the ranking 2-2 no seat is first"):
        controls.judge_again(run_folder, min(played(run_folder)), (2, 2), **BY)


@pytest.mark.parametrize("style", ["round-robin", "gauntlet", "league", "swiss"])
def test_the_totals_hold_after_bots_have_joined_and_left(begun, play, run_folder, write_bot, style):
    more = "[swiss]\nrounds = 4\n" if style == "swiss" else ""
    tournament = begun(4, blocks=2 if style != "league" else 12, format=style, more=more, matches=5)
    add(run_folder, write_bot("late"), None, **BY)
    controls.leave(run_folder, "withdrawn", "bot2", "losses", **BY)
    joined = joining.with_added(tournament, read_journal(run_folder.journal))
    run = play(joined, slots=2)
    assert run.summary.complete
    assert run.summary.missing == 0
    first, last = run.log.steps[0], run.log.steps[-1]
    assert first.done == 5
    assert first.total >= last.total == last.done + last.off == run.summary.total
    assert all(step.done + step.off <= step.total for step in run.log.steps)
    shown = find_run(None, run_folder.path.parent)
    assert shown.total == run.summary.found + run.summary.played


def test_a_bot_that_joins_makes_the_run_longer_for_who_asks_meanwhile(begun, run_folder, write_bot):
    begun(3, blocks=4, matches=20)
    before = find_run(None, run_folder.path.parent).total
    add(run_folder, write_bot("late"), None, **BY)
    assert (before, find_run(None, run_folder.path.parent).total) == (24, 48)


def test_a_bot_that_joins_a_finished_round_robin_plays_all_and_another_after_it_too(
    make_tournament, play, run_folder, write_bot
):
    tournament = make_tournament(3, blocks=2)
    play(tournament)
    for number, name in enumerate(("late", "later"), start=4):
        add(run_folder, write_bot(name), None, **BY)
        joined = joining.with_added(tournament, read_journal(run_folder.journal))
        run = play(joined, slots=2)
        assert run.summary.complete
        groups = Counter(frozenset(names) for names in played(run_folder).values())
        assert len(groups) == number * (number - 1) // 2
        assert set(groups.values()) == {4}


@pytest.mark.parametrize("style", ["swiss", "league"])
def test_a_bot_that_joins_is_paired_from_its_place_on(begun, play, run_folder, write_bot, style):
    more = "[swiss]\nrounds = 6\n" if style == "swiss" else ""
    tournament = begun(4, blocks=1 if style == "swiss" else 40, format=style, more=more, matches=4)
    add(run_folder, write_bot("late"), None, **BY)
    joined = joining.with_added(tournament, read_journal(run_folder.journal))
    run = play(joined, slots=2)
    assert run.summary.complete
    assert any("late" in names for names in played(run_folder).values())
    assert play(joined).summary.placings == run.summary.placings


@pytest.mark.parametrize(
    ("name", "words"), [("bot0", "there is a bot 'bot0' already"), ("B0T1", "there is a bot 'bot1' already")]
)
def test_a_bot_of_a_look_alike_name_does_not_join(begun, run_folder, write_bot, name, words):
    begun(2, matches=3)
    with pytest.raises(UsageError, match=words):
        add(run_folder, write_bot("other"), name, **BY)


def test_the_same_entry_does_not_join_twice(begun, run_folder, tmp_path):
    begun(2, matches=3)
    with pytest.raises(UsageError, match="same entry"):
        add(run_folder, tmp_path / "bots" / "bot1", "another", **BY)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ("bot1/old", "'late' and 'bot1', .* one holds the other"),
        (".", "one holds the other"),
        ("..", "holds the run, "),
    ],
)
def test_a_bot_whose_folder_holds_another_or_the_run_does_not_join(
    begun, run_folder, tmp_path, write_bot, there, words
):
    begun(2, matches=3)
    folder = tmp_path / "bots" / there
    folder.mkdir(exist_ok=True)
    for path in write_bot("late").iterdir():
        shutil.move(path, folder / path.name)
    with pytest.raises(UsageError, match=words):
        add(run_folder, folder, "late", **BY)


def test_a_bot_that_was_added_and_then_changed_plays_as_it_was(begun, run_folder, write_bot):
    tournament = begun(2, matches=3)
    folder = write_bot("late")
    control = add(run_folder, folder, None, **BY)
    (folder / "bot.py").write_text("# other\n")
    assert joining.with_added(tournament, read_journal(run_folder.journal)).entries[-1].id == control.entry_id
    shutil.rmtree(folder)
    late = joining.with_added(tournament, read_journal(run_folder.journal)).entries[-1]
    assert (late.home / "bot.py").read_text() == "# late\n"


def test_a_bot_that_was_added_and_is_lost_in_store_and_folder_is_refused(begun, run_folder, write_bot):
    tournament = begun(2, matches=3)
    folder = write_bot("late")
    add(run_folder, folder, None, **BY)
    (folder / "bot.py").write_text("# other\n")
    shutil.rmtree(load_stored(participants_of(read_journal(run_folder.journal))[-1].content, folder).home.parent)
    with pytest.raises(UsageError, match="no copy of this bot is there any more"):
        joining.with_added(tournament, read_journal(run_folder.journal))


def test_an_annulled_match_counts_no_more_and_its_record_is_kept(begun, play, run_folder):
    tournament = begun(3, blocks=2, matches=5)
    match_id = sorted(played(run_folder))[2]
    controls.annul(run_folder, match_id, replay=False, **BY)
    assert match_id not in played(run_folder)
    assert [path.name for path in run_folder.void.iterdir()] == [f"{match_id}.1-annulled.jsonl.gz"]
    run = play(tournament)
    assert run.summary.complete
    assert run.summary.cancelled == 1
    assert set(played(run_folder)) == {spec.match_id for spec in known_matches(config_of(tournament))} - {match_id}


def test_the_failed_starts_of_an_annulled_match_count_no_more(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=2)
    first = next(known_matches(config_of(tournament)))
    play(tournament, absent=tournament.entries[0].id, absent_at=lambda spec, attempt: spec.place == 0 and attempt == 1)
    assert attempts_of(read_journal(run_folder.journal).events)[first.match_id].failed_starts
    controls.annul(run_folder, first.match_id, replay=False, **BY)
    assert first.match_id not in attempts_of(read_journal(run_folder.journal).events)


def test_an_annulled_match_can_be_played_again(begun, play, run_folder):
    tournament = begun(3, blocks=2, matches=5)
    match_id = sorted(played(run_folder))[2]
    controls.annul(run_folder, match_id, replay=True, **BY)
    run = play(tournament)
    assert run.executor.started[0] == 2
    assert set(played(run_folder)) == {spec.match_id for spec in known_matches(config_of(tournament))}


def test_a_round_goes_on_when_the_match_that_stayed_void_is_annulled(make_tournament, play, run_folder):
    tournament = make_tournament(4, blocks=1, format="swiss", more="[swiss]\nrounds = 3\n")
    run = play(tournament, script={1: ["void"]})
    (stuck,) = run.summary.given_up
    controls.annul(run_folder, stuck.match_id, replay=False, **BY)
    run = play(tournament)
    assert run.summary.complete
    assert run.summary.cancelled == 1
    assert stuck.match_id not in played(run_folder)
    assert len(run.summary.placings) == 4


def test_a_kill_between_the_annulment_and_its_record_changes_nothing(begun, play, run_folder):
    tournament = begun(3, blocks=2, matches=5)
    match_id = sorted(played(run_folder))[2]
    controls.annul(run_folder, match_id, replay=False, **BY)
    (aside,) = run_folder.void.iterdir()
    aside.rename(run_folder.matches / f"{match_id}.jsonl.gz")
    play(tournament)
    assert match_id not in played(run_folder)


def test_a_kill_between_the_annulment_and_its_record_is_no_fault_of_the_run(
    make_tournament, play, run_folder, monkeypatch
):
    play(make_tournament(3, blocks=2))
    match_id = sorted(played(run_folder))[2]
    total = Run(run_folder).total

    def kill(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("referee.record.store.RecordStore.set_aside", kill)
        with pytest.raises(Killed):
            controls.annul(run_folder, match_id, replay=False, **BY)
    run = Run(run_folder)
    assert match_id in played(run_folder)
    check = run.check()
    assert check.wrong == ()
    assert f"match {match_id} is annulled and does not count; " in "\n".join(check.notes)
    counted = apply_controls(load_index(run_folder).rows, run.controls)
    assert (len(counted.rows), run.total - counted.annulled) == (total - 1, total - 1)
    controls.annul(run_folder, match_id, replay=False, **BY)
    assert match_id not in played(run_folder)
    assert Run(run_folder).total == total - 1
    assert match_id not in "\n".join(Run(run_folder).check().notes)


def test_a_match_that_was_judged_again_and_is_then_replayed_counts_as_it_is_played(begun, play, run_folder):
    tournament = begun(2, blocks=2, matches=2)
    match_id, other = sorted(played(run_folder))
    for one in (match_id, other):
        controls.judge_again(run_folder, one, (1, 1), **BY)
    controls.annul(run_folder, match_id, replay=True, **BY)
    scores = []
    assert play(tournament, lambda block: scores.append(block) or False).summary.complete
    assert rankings(run_folder) == {match.match_id: match.ranking for block in scores for match in block.matches}
    assert rankings(run_folder)[other] == (1, 1)
    assert rankings(run_folder)[match_id] == read_record(run_folder.matches / f"{match_id}.jsonl.gz").footer.ranking


def rankings(folder):
    """What tables make of the records and controls."""
    rows = load_index(folder).rows
    counted = apply_controls(rows, read_controls(folder.journal))
    return {row.match_id: tuple(seat.rank for seat in row.seats) for row in counted.rows}


def test_a_ranking_that_was_given_to_a_record_goes_with_it(begun, play, run_folder):
    """Were the record lost, another play of the match would get a verdict that nobody has spoken on it."""
    tournament = begun(2, blocks=2, matches=2)
    match_id = min(played(run_folder))
    controls.judge_again(run_folder, match_id, (1, 1), **BY)
    (run_folder.matches / f"{match_id}.jsonl.gz").write_bytes(b"damaged")
    play(tournament)
    assert rankings(run_folder)[match_id] == read_record(run_folder.matches / f"{match_id}.jsonl.gz").footer.ranking
    assert [(c.kind, c.by) for c in read_controls(run_folder.journal)] == [("rejudged", "ann"), ("reopened", "rule")]


def test_a_verdict_of_a_stopping_rule_falls_with_a_match_it_rested_on(begun, play, run_folder):
    tournament = begun(2, blocks=20, matches=6)

    def all_drawn(block):
        return all(match.ranking == (1, 1) for match in block.matches)

    first = [spec.match_id for spec in known_matches(config_of(tournament))][:2]
    for match_id in first:
        controls.judge_again(run_folder, match_id, (1, 1), **BY)
    assert play(tournament, all_drawn).summary.decided
    for match_id in first:
        controls.annul(run_folder, match_id, replay=True, **BY)
    run = play(tournament, all_drawn)
    assert not run.summary.decided
    assert run.summary.complete
    assert len(played(run_folder)) == 40


@pytest.mark.parametrize("own", [True, False])
def test_the_breaker_judges_anew_when_a_match_it_may_have_rested_on_is_played_again(
    make_tournament, play, run_folder, own
):
    tournament = make_tournament(3, blocks=4)
    bad = tournament.entries[0]
    assert play(tournament, crashes=bad.id).summary.set_aside == ("bot0",)
    (before,) = read_controls(run_folder.journal)
    for match_id, seats in played(run_folder).items():
        if (bad.name in seats) == own and int(match_id[1:7]) < before.place:
            controls.annul(run_folder, match_id, replay=True, **BY)
    known = participants_of(read_journal(run_folder.journal))
    assert not any(bot.out for bot in known)
    run = play(tournament, crashes="" if own else bad.id)
    assert run.summary.complete
    found = [c for c in in_force(read_controls(run_folder.journal)) if c.kind == "breaker"]
    if own:  # the platform's trouble, say: the bot plays on
        assert not found
        assert len(played(run_folder)) == config_of(tournament).extent().most
    else:
        assert [(c.place, c.reason) for c in found] == [(before.place, before.reason)]
        assert play(tournament).summary.set_aside == ("bot0",)


def test_a_kill_amid_an_annulment_with_replay_lets_nothing_count_twice(begun, play, run_folder, monkeypatch):
    tournament = begun(3, blocks=2, matches=5)
    match_id = sorted(played(run_folder))[2]
    controls.judge_again(run_folder, match_id, (1, 1), **BY)
    monkeypatch.setattr(controls.Journal, "append", lambda *_, **__: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        controls.annul(run_folder, match_id, replay=True, **BY)
    monkeypatch.undo()
    assert match_id not in rankings(run_folder)
    assert play(tournament).executor.started[0] == 2
    assert rankings(run_folder)[match_id] == read_record(run_folder.matches / f"{match_id}.jsonl.gz").footer.ranking


def test_a_match_that_was_annulled_can_be_played_again_after_all_and_not_twice(begun, play, run_folder):
    tournament = begun(3, blocks=2, matches=5)
    match_id = sorted(played(run_folder))[2]
    controls.annul(run_folder, match_id, replay=False, **BY)
    with pytest.raises(UsageError, match="is annulled already"):
        controls.annul(run_folder, match_id, replay=False, **BY)
    controls.annul(run_folder, match_id, replay=True, **BY)
    with pytest.raises(UsageError, match="is to be played again already"):
        controls.annul(run_folder, match_id, replay=True, **BY)
    assert play(tournament).summary.complete
    assert match_id in rankings(run_folder)


@pytest.mark.parametrize("wanted", ["x", "m", "../tournament", "m000001-../x", ""])
def test_what_is_no_match_id_is_told_as_such(begun, run_folder, wanted):
    begun(2, matches=2)
    with pytest.raises(UsageError, match="no match"):
        controls.annul(run_folder, wanted, replay=True, **BY)
    with pytest.raises(UsageError, match="no match"):
        controls.judge_again(run_folder, wanted, (1, 2), **BY)


@pytest.mark.parametrize("words", ["no bot 'nobody'", "its bots are: 'bot0', 'bot1'"])
def test_an_unknown_bot_is_told_with_those_there_are(begun, run_folder, words):
    begun(2, matches=2)
    with pytest.raises(UsageError) as caught:
        controls.leave(run_folder, "withdrawn", "nobody", "keep", **BY)
    assert words in str(caught.value) + caught.value.next_step


def test_who_is_out_cannot_leave_again_and_an_unknown_match_cannot_be_annulled(begun, run_folder):
    begun(2, matches=2)
    controls.leave(run_folder, "withdrawn", "bot1", "keep", **BY)
    with pytest.raises(UsageError, match="out already"):
        controls.leave(run_folder, "disabled", "bot1", "keep", **BY)
    with pytest.raises(UsageError, match="no match 'm000009-00000000' counts"):
        controls.annul(run_folder, "m000009-00000000", replay=False, **BY)


def test_while_a_runner_is_at_work_that_takes_no_orders_nothing_is_decided(begun, run_folder, write_bot, monkeypatch):
    monkeypatch.setattr("referee.run.orders._BEGIN_S", 0.05)
    begun(2, matches=2)
    code = (
        "import sys; from pathlib import Path; from referee.run.lock import RunLock;"
        "l = RunLock(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(run_folder.lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        before = run_folder.journal.read_bytes()
        for decide in (
            lambda: controls.leave(run_folder, "withdrawn", "bot1", "keep", **BY),
            lambda: controls.annul(run_folder, min(played(run_folder)), replay=True, **BY),
            lambda: controls.judge_again(run_folder, min(played(run_folder)), (1, 1), **BY),
            lambda: add(run_folder, write_bot("late"), None, **BY),
        ):
            with pytest.raises(BusyError, match=f"process {first.pid}") as caught:
                decide()
            assert caught.value.next_step.startswith("stop it with Ctrl-C there (what was played stays played), enter")
        assert run_folder.journal.read_bytes() == before
        first.stdin.close()


@pytest.mark.parametrize("choice", ["keep", "annul", "losses"])
def test_cancelled_matches_are_in_no_total(begun, play, run_folder, choice):
    tournament = begun(4, blocks=3, matches=8)
    controls.leave(run_folder, "withdrawn", "bot1", choice, **BY)
    ahead = find_run(None, run_folder.path.parent)
    run = play(tournament)
    there = len(played(run_folder))
    assert (ahead.total, ahead.at_most) == (there, False), "known before it is played"
    assert run.summary.cancelled == config_of(tournament).extent().most - there
    assert (run.summary.total, run.summary.missing) == (there, 0)
    last = run.log.steps[-1]
    assert (last.done, last.total, last.off, last.at_most) == (there, there, 0, False)
    assert (run.log.steps[0].total, run.log.steps[0].at_most) == (there, False)
    again = play(tournament)
    assert (again.log.steps[-1].done, again.log.steps[-1].total) == (there, there)
    shown = find_run(None, run_folder.path.parent)
    assert (shown.total, shown.at_most) == (there, False)


@pytest.mark.parametrize("style", ["round-robin", "gauntlet", "league", "swiss"])
@pytest.mark.parametrize("long", [False, True])
def test_who_asks_for_the_total_and_who_plays_count_the_same(
    begun, play, run_folder, write_bot, monkeypatch, style, long
):
    """While a bot is out, another has joined and a match was annulled, and after the run was stopped with that."""
    if long:
        monkeypatch.setattr("referee.schedule.progress.COUNTED_UP_TO", 3)
    tournament = begun(4, blocks=2 if style != "league" else 12, format=style, matches=5)
    controls.leave(run_folder, "withdrawn", "bot1", "keep", **BY)
    add(run_folder, write_bot("late"), None, **BY)
    controls.annul(run_folder, min(played(run_folder)), replay=False, **BY)
    tournament = joining.with_added(tournament, read_journal(run_folder.journal))

    def reached(run):
        return run.total, run.at_most

    asked = reached(find_run(None, run_folder.path.parent))
    assert asked[1] == (long or style in ("league", "swiss"))
    with pytest.raises(Killed):
        play(tournament, order=lambda spec: killed() if spec.place >= 7 else 0)
    assert reached(find_run(None, run_folder.path.parent)) == asked
    run = play(tournament)
    assert reached(run.log.steps[0]) == asked
    assert run.summary.total == len(played(run_folder)) <= asked[0]
    assert run.summary.total == asked[0] or asked[1]


def test_what_is_decided_about_a_finished_run_leaves_no_cancelled_match_in_its_total(
    make_tournament, play, run_folder, write_bot
):
    play(make_tournament(3, blocks=2))
    controls.leave(run_folder, "withdrawn", "bot1", "keep", **BY)
    first, second, *_ = sorted(played(run_folder))
    assert find_run(None, run_folder.path.parent).total == 12
    controls.annul(run_folder, first, replay=False, **BY)
    assert find_run(None, run_folder.path.parent).total == 11
    controls.judge_again(run_folder, second, (1, 1), **BY)
    shown = find_run(None, run_folder.path.parent)
    assert (shown.total, shown.at_most) == (11, False)


def outcome(folder):
    return played(folder), {path.name: read_record(path).footer.ranking for path in folder.matches.glob("*.gz")}


@pytest.mark.slow
@pytest.mark.parametrize("style", ["round-robin", "swiss", "knockout", "league"])
@pytest.mark.parametrize("why", ["breaker", "withdrawn"])
def test_a_run_whose_bot_was_reinstated_comes_out_as_one_that_it_never_left(
    make_tournament, play, run_folder, style, why
):
    """However often it is killed on the way."""
    more = "[swiss]\nrounds = 4\n" if style == "swiss" else ""
    tournament = make_tournament(5, blocks=2 if style != "league" else 12, format=style, more=more)
    whole = play(tournament).summary
    expected = outcome(run_folder)
    shutil.rmtree(run_folder.path)
    late = tournament.entries[-1 if style == "knockout" else 0]  # the first ones get byes there
    if why == "withdrawn":
        stop_after(play, tournament, 4)
        controls.leave(run_folder, "withdrawn", late.name, "losses", **BY)
    with pytest.raises(Killed):
        play(tournament, absent=late.id, slots=3, order=lambda spec: killed() if spec.place >= 7 else 0)
    assert [c.kind for c in in_force(read_controls(run_folder.journal))] == [why]
    controls.reinstate(run_folder, late.name, **BY)
    assert not [c for c in in_force(read_controls(run_folder.journal)) if c.kind in ("breaker", "withdrawn")]
    for place in (0, 2):
        with pytest.raises(Killed):
            play(tournament, order=lambda spec, place=place: 0 if spec.place <= place else killed())
    again = play(tournament, slots=3)
    assert again.summary.complete
    assert not again.summary.set_aside
    assert outcome(run_folder) == expected
    assert (again.summary.total, again.summary.placings) == (whole.total, whole.placings)
    assert play(tournament).executor is None


def killed():
    raise Killed


def test_the_faults_for_which_a_bot_was_set_aside_are_forgiven_and_later_ones_are_not(
    make_tournament, play, run_folder
):
    tournament = make_tournament(3, blocks=6)
    bad = tournament.entries[0]
    play(tournament, crashes=bad.id)
    (before,) = read_controls(run_folder.journal)
    control = controls.reinstate(run_folder, bad.name, **BY)
    assert len(control.forgiven) == 3
    run = play(tournament, crashes=bad.id)
    assert run.summary.set_aside == ("bot0",)
    last = read_controls(run_folder.journal)[-1]
    assert (last.kind, last.place > before.place) == ("breaker", True)
    assert len(controls.reinstate(run_folder, bad.name, **BY).forgiven) == 6
    run = play(tournament)
    assert (run.summary.complete, run.summary.set_aside) == (True, ())
    assert len(played(run_folder)) == config_of(tournament).extent().most


def test_a_match_that_is_played_again_is_forgiven_nothing(make_tournament, play, run_folder):
    tournament = make_tournament(2, blocks=6, more="[breaker]\nin_a_row = 1\n")
    bad = tournament.entries[0]
    play(tournament, crashes=bad.id)
    (match_id,) = controls.reinstate(run_folder, bad.name, **BY).forgiven
    controls.annul(run_folder, match_id, replay=True, **BY)
    play(tournament, crashes=bad.id, crashes_at=lambda spec: spec.match_id == match_id)
    assert [c.kind for c in in_force(read_controls(run_folder.journal))][-1] == "breaker"


def test_a_bot_that_still_does_not_start_after_it_was_reinstated_is_set_aside_again(make_tournament, play, run_folder):
    tournament = make_tournament(3, blocks=3)
    late = tournament.entries[0]
    play(tournament, absent=late.id)
    controls.reinstate(run_folder, late.name, **BY)
    run = play(tournament, absent=late.id)
    assert (run.summary.set_aside, run.summary.given_up) == (("bot0",), ())
    assert sum(run.executor.attempts.values()) == 3


@pytest.mark.parametrize("why", ["breaker", "withdrawn"])
def test_what_becomes_of_the_matches_of_a_bot_that_is_out_can_be_changed(make_tournament, play, run_folder, why):
    tournament = make_tournament(3, blocks=4)
    if why == "withdrawn":
        stop_after(play, tournament, 6)
        controls.leave(run_folder, "withdrawn", "bot0", None, **BY)
    play(tournament, crashes=tournament.entries[0].id)
    before = outcome(run_folder)
    (left,) = in_force(read_controls(run_folder.journal))
    for choice in ("losses", "annul", "keep"):
        changed = controls.leave(run_folder, "withdrawn", "bot0", choice, **BY)
        (found,) = in_force(read_controls(run_folder.journal))
        assert (found.kind, found.place, found.choice) == (why, left.place, choice)
        assert changed.place == left.place
        assert play(tournament).executor is None
        assert outcome(run_folder) == before
    for choice in (None, "keep"):
        with pytest.raises(UsageError, match="'bot0' is out already, with --choice keep") as caught:
            controls.leave(run_folder, "withdrawn", "bot0", choice, **BY)
        assert "crosstown reinstate" in caught.value.next_step
