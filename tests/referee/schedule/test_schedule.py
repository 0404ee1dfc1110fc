"""The schedule is a pure function: complete, balanced, in one order, the same everywhere."""

import math
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.schedule.formats.designs import groups
from referee.schedule.schedule import known_matches
from referee.schedule.seat_orders import seat_orders
from referee.schedule.seeds import block_seed, commitment, match_seed, public_block_seed
from referee.schedule.spec import MatchSpec, SeatSpec, SpecError
from referee.tournament.identity import config_of


@pytest.mark.parametrize(("bots", "players"), [(b, p) for b in (2, 3, 4, 7) for p in (2, 3, 4) if p <= b])
def test_every_group_plays_all_seat_orders_in_every_block(make_tournament, bots, players):
    tournament = make_tournament(bots, players=players, blocks=3)
    specs = list(known_matches(config_of(tournament)))
    orders = len(seat_orders(players))
    assert len(specs) == config_of(tournament).extent().most == 3 * math.comb(bots, players) * orders
    played = Counter(tuple(seat.entry_id for seat in spec.seats) for spec in specs)
    assert set(played.values()) == {3}
    assert len(played) == math.comb(bots, players) * orders


def test_places_count_up_and_ids_are_unique_and_sort_by_place(make_tournament):
    specs = list(known_matches(config_of(make_tournament(4, blocks=3))))
    assert [spec.place for spec in specs] == list(range(len(specs)))
    ids = [spec.match_id for spec in specs]
    assert len(set(ids)) == len(ids)
    assert sorted(ids) == ids


@pytest.mark.parametrize("bots", [2, 3, 5])
def test_a_seed_serves_one_block_of_one_group_sch2(make_tournament, luck, bots):
    blocks: dict[int, list] = {}
    for spec in known_matches(config_of(make_tournament(bots, blocks=3)), luck):
        blocks.setdefault(spec.block, []).append(spec)
    seeds = [specs[0].seed for specs in blocks.values()]
    assert len(set(seeds)) == len(seeds)
    for specs in blocks.values():
        one, other = specs
        assert one.seed == other.seed
        assert [seat.name for seat in one.seats] == [seat.name for seat in reversed(other.seats)]


def test_seeds_depend_on_secret_tournament_seed_game_and_block_alone(make_tournament, luck):
    few = list(known_matches(config_of(make_tournament(2, blocks=6)), luck))
    many = list(known_matches(config_of(make_tournament(3, blocks=2)), luck))
    assert [spec.seed for spec in few] == [spec.seed for spec in many]
    assert few[0].seed == block_seed(luck.secrets[0], 1, "toy", 0)
    words = [
        (secret, seed, game, block)
        for secret in (bytes(16), bytes(15) + b"1")
        for seed in (1, 2)
        for game in ("a", "b")
        for block in (0, 1)
    ]
    assert len({block_seed(*word) for word in words}) == 16


def test_without_luck_the_schedule_is_the_same_and_no_match_can_be_played(make_tournament, luck):
    tournament = make_tournament(3)
    bare = list(known_matches(config_of(tournament)))
    assert [replace(spec, seed="") for spec in known_matches(config_of(tournament), luck)] == bare
    with pytest.raises(SpecError, match="it cannot be played"):
        MatchSpec.from_json(bare[0].to_json())


def test_block_seeds_never_change_between_versions():
    """Golden: a changed seed would be another tournament under the same file."""
    assert public_block_seed(1, "shibuya", 0) == "4b64f844e4db57801ed14705cc4612e9"
    assert block_seed(bytes(range(16)), 1, "shibuya", 0) == "726df650dc8c444da7d8ac1a81a9fa75"
    assert match_seed(bytes(range(16)), "web 0") == "e70e591426e894b1f4c22455f78179e7"
    assert commitment(bytes(range(16))) == "93e196c525db0303f33703d7301af107914269187d6e1ecdcab44647b0e5eddc"


@given(st.integers(2, 13))
def test_the_circle_meets_everyone_once_and_nobody_waits_long(bots):
    pairs = list(groups(range(bots), 2))
    assert sorted(pairs) == list(combinations(range(bots), 2))
    half = bots // 2
    for start in range(0, len(pairs), half):
        seen = [bot for pair in pairs[start : start + half] for bot in pair]
        assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("bots", [3, 4, 7])
def test_a_run_stopped_anywhere_is_nearly_fair_sch6(make_tournament, bots):
    played: Counter[str] = Counter()
    for spec in known_matches(config_of(make_tournament(bots, blocks=4))):
        played.update(seat.name for seat in spec.seats)
        if spec.place % 2:  # whole blocks
            most, least = max(played.values()), min(played[f"bot{bot}"] for bot in range(bots))
            assert most - least <= 4


def test_a_changed_tournament_has_other_match_ids(make_tournament):
    ids = {spec.match_id for spec in known_matches(config_of(make_tournament(2)))}
    assert not ids & {spec.match_id for spec in known_matches(config_of(make_tournament(2, seed=2)))}
    assert not ids & {
        spec.match_id for spec in known_matches(config_of(make_tournament(2, more="[clock]\nmove_s = 2.0\n")))
    }
    assert ids == {spec.match_id for spec in known_matches(config_of(make_tournament(2)))}


def test_ten_million_matches_begin_at_once(make_tournament):
    tournament = make_tournament(2, blocks=5_000_000)
    assert config_of(tournament).extent().most == 10_000_000
    assert [spec.place for spec in islice(known_matches(config_of(tournament)), 3)] == [0, 1, 2]


@pytest.mark.slow
def test_a_walk_takes_constant_memory(make_tournament):
    specs = known_matches(config_of(make_tournament(4, blocks=1_000_000)))
    for _ in islice(specs, 5_000):
        pass
    tracemalloc.start()
    try:
        for _ in islice(specs, 8_000):
            pass
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000


@pytest.mark.long
def test_ten_million_matches_take_no_more_memory_than_a_few(make_tournament):
    def resident_bytes():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    specs = known_matches(config_of(make_tournament(5, blocks=500_000)))
    for _ in islice(specs, 100_000):
        pass
    before = resident_bytes()
    last = None
    for spec in specs:
        last = spec
    assert last.place == 10_000_000 - 1
    assert resident_bytes() - before < 20 << 20


def test_the_schedule_is_the_same_under_any_hash_seed(make_tournament):
    path = make_tournament(5, blocks=2).config.path
    code = (
        "import sys; from pathlib import Path; from referee.tournament.entrants import load_tournament;"
        "from referee.schedule.schedule import known_matches;"
        "from referee.tournament.identity import config_of;"
        "print([s.to_json() for s in known_matches(config_of(load_tournament(Path(sys.argv[1]))))])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_a_bot_that_joins_a_swiss_late_adds_no_round_to_the_matches_that_are_expected(make_tournament):
    """The file says no number of rounds: so many as a knockout of the bots that the run began with would need."""
    config = config_of(make_tournament(4, format="swiss"))
    late = SeatSpec("f" * 16, "late", "1")
    joined = replace(config, field=replace(config.field, late=("late",)), participants=(*config.participants, late))
    assert joined.extent() == config.extent()
