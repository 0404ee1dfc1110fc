"""What is counted in columns is what one counts match by match: two seats or more, teams, mirrors, faults."""

import random
from collections import defaultdict
from itertools import permutations

import pytest

from leaderboard.match_table import table_of
from leaderboard.ratings.live import rate_live
from leaderboard.results import is_mirror, is_person, result_of, tally
from leaderboard.standings import pools_of, standings
from leaderboard.statistics import statistics
from referee.record.format import PERSON
from referee.record.reasons import is_fault
from referee.run.folder import SINGLE


def some_rows(make_row, seed):
    luck = random.Random(seed)
    rows = []
    for place in range(150):
        players = luck.choice([2, 2, 3, 4])
        teams = [seat % 2 for seat in range(4)] if players == 4 and luck.random() < 0.5 else list(range(players))
        ranks = {team: luck.randint(1, players) for team in teams}
        faults = [luck.choice(["", "crashed", "resigned"]) for _ in teams] if luck.random() < 0.2 else None
        entries = {f"{luck.choice('abcdefg')}{seat}": ranks[team] for seat, team in enumerate(teams)}
        row = make_row(place, entries, teams, faults, [luck.randint(0, 900) for _ in teams])
        person = luck.random() < 0.1
        seats = tuple(
            seat._replace(
                entry_id=seat.entry_id[0],
                name=seat.name[0],
                version=PERSON if person and seat.seat == 0 else "1",
                startup_us=luck.choice([0, 0, 700]),
                lag_us=luck.randint(0, 50),
                usage=luck.choice(["", '{"requests":2}', '{"requests":3,"wait_us":5}']),
                times=luck.choice(["", "3:1", "3:1 9:2"]),
            )
            for seat in row.seats
        )
        row = row._replace(block=place // luck.choice([1, 2, 3]), reason=luck.choice("xyz"), seats=seats)
        rows.append(row._replace(tournament=SINGLE if person else "cup"))
    return rows


def score_of(match, seat):
    others = {other.team: other.rank for other in match.seats if other.team != seat.team}
    better = sum(1.0 if seat.rank < rank else 0.5 if seat.rank == rank else 0.0 for rank in others.values())
    return better / len(others) if others else 0.5


def score(values):
    """Mean and error of values by block."""
    blocks = defaultdict(list)
    for block, value in values:
        blocks[block].append(value)
    number = len(values)
    mean = sum(value for _, value in values) / number
    if len(blocks) < 2:
        return mean, None, len(blocks)
    square = sum((sum(found) - len(found) * mean) ** 2 for found in blocks.values())
    error = (square * len(blocks) / (len(blocks) - 1)) ** 0.5 / number
    return mean, max(error, max(mean, 1 - mean) / (len(blocks) + 1)), len(blocks)


def same(found, values):
    assert (found.mean, found.error, found.blocks) == pytest.approx(score(values), nan_ok=True)


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_seats_and_pairs_are_those_of_single_matches(make_row, seed):
    rows = some_rows(make_row, seed)
    seats, pairs, margins, own = (defaultdict(list) for _ in range(4))
    for row in rows:
        block = row.tournament, row.block
        for seat in row.seats:
            seats[seat.seat].append((block, score_of(row, seat)))
            own[seat.entry_id, seat.seat].append((block, score_of(row, seat)))
        for one, other in permutations(row.seats, 2):
            if one.team != other.team and one.entry_id != other.entry_id:
                pairs[one.entry_id, other.entry_id].append(
                    (block, 0.5 + 0.5 * ((one.rank < other.rank) - (one.rank > other.rank)))
                )
                if one.points is not None and other.points is not None:
                    margins[one.entry_id, other.entry_id].append(one.points - other.points)
    found = statistics(random.Random(seed).sample(rows, len(rows)))
    assert (found.matches, found.blocks) == (150, len({(row.tournament, row.block) for row in rows}))
    assert found.seats.keys() == seats.keys()
    for seat, values in seats.items():
        same(found.seats[seat], values)
    for (entry, seat), values in own.items():
        same(found.entries[entry].by_seat[seat], values)
    assert found.cross.keys() == pairs.keys()
    for pair, values in pairs.items():
        cell = found.cross[pair]
        same(cell.score, values)
        wanted = tuple(sum(value == end for _, value in values) for end in (1.0, 0.5, 0.0))
        assert (cell.won, cell.drawn, cell.lost) == wanted
        known = margins[pair]
        assert cell.margin == (pytest.approx(sum(known) / len(known)) if known else None)
    single = sum(len({seat.team for seat in row.seats if seat.rank == 1}) > 1 for row in rows)
    assert found.draws == single / 150
    assert found.reasons == {reason: sum(row.reason == reason for row in rows) for reason in "xyz"}


@pytest.mark.parametrize("seed", range(3))
def test_standings_count_what_single_matches_say(make_row, seed):
    rows = some_rows(make_row, seed)
    by_bot = {(row.game, row.players, row.entry_id): row for row in standings(rows)}
    for (game, players), pool in pools_of(rows).items():
        entries = {seat.entry_id for row in pool for seat in row.seats if not is_person(row, seat)}
        assert entries == {entry for *where, entry in by_bot if where == [game, players]}
        for entry in entries:
            mine = [(row, s) for row in pool for s in row.seats if s.entry_id == entry and not is_person(row, s)]
            against = [(row, seat) for row, seat in mine if not is_mirror(row)]
            mirrors = len({row.match_id for row, _ in mine if is_mirror(row)})
            best = [row for row, seat in against if seat.rank == 1]
            shared = sum(len({seat.team for seat in row.seats if seat.rank == 1}) > 1 for row in best)
            found = by_bot[game, players, entry]
            assert (found.played, found.mirrors) == (len(against) + mirrors, mirrors)
            assert (found.won, found.drawn) == (len(best) - shared, shared)
            assert found.lost == len(against) - len(best)
            decisions = sum(seat.decisions for _, seat in mine)
            assert found.mean_move_ms == pytest.approx(sum(seat.total_us for _, seat in mine) / decisions / 1000)
            assert found.mean_lag_ms == pytest.approx(sum(seat.lag_us for _, seat in mine) / decisions / 1000)
            assert found.worst_move_ms == max(seat.worst_us for _, seat in mine) / 1000
            assert sum(found.faults.values()) == sum(is_fault(seat.fault) for _, seat in mine)
            used = [seat for _, seat in mine if seat.usage]
            assert (found.usage or {"matches": 0})["matches"] == len(used)


@pytest.mark.parametrize("seed", range(3))
def test_results_and_live_tables_are_those_of_single_matches(make_row, seed):
    rows = some_rows(make_row, seed)
    one_by_one = [result for row in rows if (result := result_of(row)) is not None]
    assert tally(table_of(rows)) == tally(rows) == {one: one_by_one.count(one) for one in one_by_one}
    for pool in pools_of(rows).values():
        plain, columns = rate_live(pool), rate_live(table_of(pool))
        assert (columns.digest, columns.skills) == (plain.digest, plain.skills)
