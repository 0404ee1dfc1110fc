"""What users of comparable tools suffered (resume and scheduling), row by row, each by its id."""

from collections import Counter
from itertools import combinations

import pytest

from referee.record import read_record
from referee.run import decisions as controls
from referee.run.journal import read_journal
from referee.schedule.formats import league, round_robin
from referee.schedule.formats.api import Field, Format, Variant
from referee.schedule.formats.registry import format_names
from referee.schedule.formats.simulate import simulate
from referee.schedule.schedule import known_matches
from referee.schedule.seat_orders import team_orders
from referee.tournament.identity import config_of


def counted(folder):
    records = [read_record(path) for path in folder.matches.glob("*.jsonl*")]
    return {record.header.match_id: record for record in records}


def simulated(style: Format, bots, players=(2,), blocks=1, **more):
    wanted = {setting.name: setting.default for setting in style.settings} | more
    variants = tuple(Variant("toy", n, tuple(range(n)), team_orders(tuple(range(n)))) for n in players)
    field = Field(tuple(map(str, range(bots))), variants, 1, blocks, wanted)
    return list(simulate(style, field, lambda result, seats: [1 + sum(o < b for o in seats) for b in seats]))


# 3.1 Resume and persistence. RES-1, 2, 3, 7, 9, 12: see test_exact_resume.py too, which cuts every file at every byte.


def test_res_1_after_resume_the_journal_and_the_totals_say_the_same(make_tournament, play, run_folder):
    tournament = make_tournament(3, blocks=3)
    play(tournament)
    for path in sorted(run_folder.matches.glob("*.gz"))[5:11]:
        path.unlink()
    summary = play(tournament).summary
    assert summary.found + summary.played == len(counted(run_folder)) == config_of(tournament).extent().most
    assert read_journal(run_folder.journal).events[-1].fields["rated"] == config_of(tournament).extent().most


@pytest.mark.parametrize("bots", [2, 3, 7])
def test_res_2_res_3_what_was_played_is_the_schedule_none_twice_for_any_number_of_bots(
    make_tournament, play, run_folder, unfinish, luck, bots
):
    tournament = make_tournament(bots, blocks=1)
    play(tournament)
    unfinish()
    for path in sorted(run_folder.matches.glob("*.gz"))[1::2]:
        path.unlink()
    run = play(tournament, slots=2)
    assert len(run.executor.started) == len(set(run.executor.started)) == config_of(tournament).extent().most // 2
    found = {
        (record.header.place, tuple(seat.entry_id for seat in record.header.seats), record.footer.seed)
        for record in counted(run_folder).values()
    }
    assert found == {
        (spec.place, tuple(seat.entry_id for seat in spec.seats), spec.seed)
        for spec in known_matches(config_of(tournament), luck)
    }


def test_res_5_results_go_by_entry_id_not_by_name_or_position(make_tournament, play, run_folder):
    play(make_tournament(3))
    for record in counted(run_folder).values():
        assert all(len(seat.entry_id) == 16 and seat.entry_id != seat.name for seat in record.header.seats)


def test_res_6_a_void_match_stays_in_the_log_with_its_status_and_never_counts(make_tournament, play, run_folder):
    tournament = make_tournament(2)
    run = play(tournament, script={1: ["void", "rated"]})
    assert run.summary.void == 1
    (aside,) = run_folder.void.iterdir()
    assert read_record(aside).footer.status == "void"
    assert len(counted(run_folder)) == config_of(tournament).extent().most
    assert [event.kind for event in read_journal(run_folder.journal).events] == [
        "created",
        "void",
        "counted",
        "revealed",
        "finished",
    ]


def test_res_7_a_record_is_closed_by_rename_so_a_half_written_one_is_never_there(make_tournament, play, run_folder):
    run = play(make_tournament(2), script={0: ["dies at the end"]})
    assert run.summary.complete
    assert all(path.suffix == ".gz" for path in run.log.records)
    assert not [path for path in run_folder.matches.iterdir() if path.name.endswith(".tmp")]


def test_res_9_res_11_the_same_command_is_resume_and_a_match_starts_afresh(make_tournament, play, run_folder, unfinish):
    tournament = make_tournament(2)
    play(tournament)
    unfinish()
    path = sorted(run_folder.matches.glob("*.gz"))[0]
    record = path.read_bytes()
    path.unlink()
    run = play(tournament)
    assert run.executor.started == [0]
    assert path.read_bytes() == record, "a match that is played again is a new match of the same seed"


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 2, 5])
@pytest.mark.parametrize("style", ["round-robin", "gauntlet", "swiss", "knockout", "league"])
def test_res_12_any_format_with_several_games_per_pairing_survives_a_resume(
    make_tournament, play, run_folder, unfinish, style, blocks
):
    tournament = make_tournament(4, blocks=blocks, format=style)
    calm = play(tournament, slots=4)
    unfinish()
    before = set(counted(run_folder))
    for path in sorted(run_folder.matches.glob("*.gz"))[::2]:
        path.unlink()
    again = play(tournament)
    assert again.summary.complete
    assert set(counted(run_folder)) == before
    assert again.summary.placings == calm.summary.placings


def test_res_14_a_match_id_is_an_idempotency_key(make_tournament):
    ids = [spec.match_id for spec in known_matches(config_of(make_tournament(4)))]
    assert ids == [spec.match_id for spec in known_matches(config_of(make_tournament(4)))]
    assert len(set(ids)) == len(ids)


def test_res_15_every_started_match_reaches_a_terminal_state(make_tournament, play, run_folder):
    tournament = make_tournament(3, blocks=2)
    run = play(tournament, script={0: ["void"], 3: ["lost"], 5: ["void", "rated"]})
    assert len(counted(run_folder)) + len(run.summary.given_up) == config_of(tournament).extent().most
    assert {item.place for item in run.summary.given_up} == {0, 3}
    given_up = [event.fields["place"] for event in read_journal(run_folder.journal).events if event.kind == "given_up"]
    assert sorted(given_up) == [0, 3]


def test_res_16_one_failed_match_does_not_hold_up_the_queue(make_tournament, play):
    tournament = make_tournament(3, blocks=4)
    run = play(tournament, slots=2, script={0: ["lost"]})
    assert run.summary.played == config_of(tournament).extent().most - 1


# 3.7 Scheduling, seats, fairness


def test_sch_2_the_same_seed_for_each_permutation_of_seats_and_if_asked_for_each_pairing(make_tournament, luck):
    for more, seeds in (("", 6), ("[round-robin]\nsame_seeds = true\n", 2)):
        specs = list(known_matches(config_of(make_tournament(3, more=more)), luck))
        assert len({spec.seed for spec in specs}) == seeds
        for one, other in zip(specs[::2], specs[1::2], strict=True):
            assert one.seed == other.seed
            assert one.seats == other.seats[::-1]


def test_sch_3_the_list_of_a_gauntlet_is_golden(make_tournament):
    tournament = make_tournament(4, format="gauntlet", blocks=1)
    assert [tuple(seat.name for seat in spec.seats) for spec in known_matches(config_of(tournament))] == [
        ("bot0", "bot1"),
        ("bot1", "bot0"),
        ("bot0", "bot2"),
        ("bot2", "bot0"),
        ("bot0", "bot3"),
        ("bot3", "bot0"),
    ]


def test_sch_5_every_bot_plays_every_number_of_seats_equally_often_the_leader_too():
    for style, blocks in ((round_robin.FORMAT, 1), (league.FORMAT, 300)):
        kinds = Counter(
            (bot, len(block.block.group)) for block in simulated(style, 6, (2, 4), blocks) for bot in block.block.group
        )
        for players in (2, 4):
            numbers = [kinds[bot, players] for bot in range(6)]
            assert max(numbers) - min(numbers) <= 1


def test_sch_6_nobody_starves_and_the_top_ten_have_all_met():
    played, met, last, waits = Counter(), Counter(), {}, []
    for block in simulated(league.FORMAT, 20, (2,), 1000):
        for bot in block.block.group:
            waits.append(block.number - last.get(bot, 0))
            last[bot] = block.number
            played[bot] += 1
        met[frozenset(block.block.group)] += 1
    assert max(played.values()) - min(played.values()) <= 1
    assert all(met[frozenset(pair)] for pair in combinations(range(10), 2))
    assert max(waits) < 2 * 20 / 2 + 1, "at most two rounds of the field"


def test_sch_7_sch_18_no_match_and_no_seed_is_handed_out_twice(make_tournament, play, luck):
    tournament = make_tournament(5, blocks=3)
    run = play(tournament, slots=7, order=lambda spec: int(spec.seed, 16) % 9)
    assert sorted(run.executor.started) == list(range(config_of(tournament).extent().most))
    seeds = {}
    for spec in known_matches(config_of(tournament), luck):
        group = frozenset(seat.entry_id for seat in spec.seats)
        assert seeds.setdefault(spec.seed, group) == group


def test_sch_8_with_too_few_healthy_bots_the_league_plays_with_fewer_seats_or_says_that_it_cannot(
    make_tournament, play, run_folder
):
    tournament = make_tournament(4, players=[2, 4], format="league", blocks=30)
    bad = tournament.entries[0].id
    run = play(tournament, crashes=bad)
    assert run.summary.complete
    sizes = [len(record.header.seats) for _, record in sorted(counted(run_folder).items())]
    assert set(sizes[-10:]) == {2}
    assert any("'bot0' is disqualified" in note for note in run.log.notes)


def test_sch_10_a_match_that_never_ends_is_capped_void_and_played_again(make_tournament, play):
    # The lease of a match is its cap; the worker's side is in test_local.py.
    run = play(make_tournament(2), script={1: ["lost", "rated"]})
    assert run.summary.complete
    assert run.executor.attempts[1] == 2


def test_sch_11_sch_21_one_slow_match_blocks_nobody_else(make_tournament, play):
    run = play(make_tournament(4, blocks=4), slots=3, order=lambda spec: 2000 if spec.place == 0 else 1)
    assert run.log.records[-1].name.startswith("m000000-")
    assert run.executor.most_at_once == 3


def test_sch_13_a_swiss_ends_when_all_its_matches_have_ended_and_pairs_nobody_who_left(
    make_tournament, play, run_folder
):
    tournament = make_tournament(6, blocks=1, format="swiss", more="[swiss]\nrounds = 3\n")
    play(tournament)
    for path in sorted(run_folder.matches.glob("*.gz"))[6:]:
        path.unlink()
    controls.leave(run_folder, "withdrawn", "bot3", "keep", by="ann", reason="")
    run = play(tournament, slots=4, order=lambda spec: int(spec.seed, 16) % 5)
    assert run.summary.complete
    late = [record for record in counted(run_folder).values() if record.header.place >= 6]
    assert len(late) == 8
    assert all("bot3" not in {seat.name for seat in record.header.seats} for record in late)
    assert len(run.summary.placings) == 6


def test_sch_14_sch_16_swiss_is_offered_and_a_format_is_a_plug_in():
    assert {"swiss", "knockout", "gauntlet", "league", "round-robin"} <= set(format_names())


def test_sch_17_matches_go_where_the_order_is_unclear_when_asked():
    def distances(close):
        return [
            abs(block.block.group[0] - block.block.group[1])
            for block in simulated(league.FORMAT, 16, blocks=600, close=close)
        ]

    assert sum(distances(True)) < 0.7 * sum(distances(False))


def test_sch_19_a_match_played_anew_resets_what_follows_in_the_bracket(make_tournament, play, run_folder):
    tournament = make_tournament(4, blocks=1, format="knockout", more="[knockout]\nextra = 0\n")
    play(tournament, crashes=tournament.entries[3].id)
    first = counted(run_folder)
    final = {seat.name for record in first.values() if record.header.place >= 4 for seat in record.header.seats}
    assert "bot0" in final
    for match_id, record in first.items():
        if {"bot0", "bot3"} == {seat.name for seat in record.header.seats}:
            controls.annul(run_folder, match_id, replay=True, by="ann", reason="the wrong binary")
    run = play(tournament, crashes=tournament.entries[0].id)
    assert run.summary.complete
    final = {
        seat.name for record in counted(run_folder).values() if record.header.place >= 4 for seat in record.header.seats
    }
    assert "bot3" in final
    assert "bot0" not in final
    assert any("foreign" in path.name for path in run_folder.void.iterdir())
