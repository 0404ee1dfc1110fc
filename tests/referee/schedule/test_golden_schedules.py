"""Every format's schedule of a tournament with made-up results, match by match, as it was when it was first released.

After a change that is meant to give other schedules: CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee -k golden
"""

import json
import os
from hashlib import blake2b
from pathlib import Path

import pytest

from referee.record.journal import Control
from referee.schedule.schedule import Schedule
from referee.schedule.seeds import MatchSeeds
from referee.schedule.spec import MatchSpec
from referee.tournament.identity import config_of

FILE = Path(__file__).parent / "golden" / "schedules.json"

CASES = {
    "round-robin": (5, {"blocks": 2}, ""),
    "round-robin of three and four": (5, {"blocks": 1, "players": [3, 4]}, ""),
    "round-robin, mirrors and same seeds": (4, {"blocks": 2}, "[round-robin]\nmirrors = true\nsame_seeds = true\n"),
    "gauntlet": (6, {"blocks": 2, "format": "gauntlet"}, '[gauntlet]\nchallengers = ["bot1", "bot4"]\n'),
    "gauntlet of three": (5, {"blocks": 1, "format": "gauntlet", "players": 3}, ""),
    "swiss": (9, {"blocks": 2, "format": "swiss"}, "[swiss]\nrounds = 6\n"),
    "swiss of four": (11, {"blocks": 1, "format": "swiss", "players": 4}, "[swiss]\nrounds = 4\n"),
    "knockout": (11, {"blocks": 1, "format": "knockout"}, "[knockout]\nbest_of = 3\n"),
    "knockout of four": (13, {"blocks": 1, "format": "knockout", "players": 4}, ""),
    "league": (8, {"blocks": 150, "format": "league"}, "[league]\nwindow = 8\nclose = true\n"),
    "league of two to four": (7, {"blocks": 90, "format": "league", "players": [2, 3, 4]}, ""),
    "compare": (2, {"blocks": 12, "format": "compare"}, ""),
    "compare of three": (4, {"blocks": 8, "format": "compare", "players": 3}, ""),
}


def result(spec: MatchSpec) -> tuple[int, ...]:
    """A made-up ranking: the same for the same match, with a tie now and then."""
    digest = blake2b(f"{spec.place} {' '.join(seat.name for seat in spec.seats)}".encode()).digest()
    points = [byte // 64 for byte in digest[: len(spec.seats)]]
    return tuple(1 + sum(other > own for other in points) for own in points)


def played(tournament, controls=()) -> list[str]:
    """One line for each match of the schedule, and one for each row of the format's own table."""
    schedule = Schedule(
        config_of(tournament), controls, seeds=MatchSeeds(tournament.config.seed, (b"the golden secret",))
    )
    lines = []
    while (spec := schedule.next()) is not None:
        lines.append(spec.to_json())
        schedule.settle(spec, () if schedule.out(spec) else result(spec))
        for _ in schedule.in_order():
            pass
        for _ in schedule.settled():
            pass
    assert schedule.ended
    return lines + [f"{row.rank} {row.bot}" for row in schedule.placings]


def summary(lines: list[str]) -> dict[str, object]:
    digest = blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()
    shown = [json.loads(line) for line in lines[:3]]
    first = [f"{spec['match_id']} {spec['seed']} {' '.join(seat['name'] for seat in spec['seats'])}" for spec in shown]
    return {"lines": len(lines), "first": first, "digest": digest}


def check(name: str, lines: list[str]) -> None:
    found = summary(lines)
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        FILE.write_text(json.dumps({**known, name: found}, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(FILE.read_text())[name]


def make(make_tournament, name):
    bots, keys, more = CASES[name]
    return make_tournament(bots, more=more, **keys)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_schedule_is_the_golden_one(make_tournament, name):
    check(name, played(make(make_tournament, name)))


@pytest.mark.parametrize("name", ["round-robin", "swiss", "knockout of four", "league"])
def test_the_schedule_that_a_bot_leaves_is_the_golden_one(make_tournament, name):
    tournament = make(make_tournament, name)
    entry = tournament.entries[2]
    left = Control("withdrawn", 0, entry_id=entry.id, name=entry.name)
    check(f"{name}, bot2 left", played(tournament, [left]))
