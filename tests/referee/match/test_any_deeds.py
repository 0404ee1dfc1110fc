"""Whatever bots do, in whatever order: the match ends, the record verifies, and who is without fault is never last
behind one that left."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from toy_game.burning import CardsBurn
from toy_game.game import ToyGame

from referee.games.registry import get_game
from referee.match import Faults, Limits
from referee.record import FaultLine, read_record, verify

Sit = Callable[..., Any]
SEEDS = 60
LONG_SEEDS = 3000
END_S = 3600


class Teams(ToyGame):
    """Even against odd seats."""

    def teams(self, players: int, options: Any) -> list[int]:
        return [seat % 2 for seat in range(players)]


class OneTeam(ToyGame):
    def teams(self, players: int, options: Any) -> list[int]:
        return [0] * players


GAMES: list[Callable[[], Any]] = [
    lambda: get_game("toy"),
    lambda: ToyGame(CardsBurn),
    Teams,
    OneTeam,
    lambda: get_game("king_of_new_york"),
]


def act(luck: random.Random, seat: Any, asked: bool) -> None:
    """One deed of a bot: mostly an answer where one is asked for, mostly nothing else."""
    deed = luck.random()
    if asked and deed < 0.8:
        seat.move(luck.randrange(seat.asked.legal_count))
    elif deed < 0.86:
        seat.say_raw(b"\xff\xff")
    elif deed < 0.89 and seat.decides:
        seat.move(99_999)
    elif deed < 0.91:
        seat.resign()
    elif deed < 0.93 and not seat.ending:
        seat.die()
    elif deed < 0.94:
        seat.ending = True
    elif deed < 0.95 and seat.decides:
        for _ in range(101):
            seat.move(0, decision=88_888)


async def play(sit: Sit, seed: int) -> None:
    luck = random.Random(seed)
    game = luck.choice(GAMES)()
    faults = Faults(luck.choice(["forfeit", "default", "random"]), luck.choice([0, 0, 1, 3]))
    players, ponder = luck.choice([2, 3, 4, 4]), luck.random() < 0.7
    cap_s = luck.choice([0, 0, 0, 20])
    table = sit(players, game=game, faults=faults, ponder=ponder, limits=Limits(match_s=cap_s))
    await table.start()
    began_ns, wild = table.clock.ns, luck.choice([0.02, 0.1, 0.4])
    while not table.task.done():
        assert table.clock.ns < began_ns + END_S * 1_000_000_000, "the match hangs"
        asked = table.open()
        for seat in luck.sample(table.seats, players):
            if seat in asked or luck.random() < wild:
                act(luck, seat, asked=seat in table.open())
        await table.clock.turn(luck.choice([0, 0, 0.01, 0.3, 1.2]))
    outcome = await table.outcome()
    assert outcome.status == "rated", outcome
    path = table.finish(outcome)
    verdict = verify(path, lambda _: game)
    assert verdict.status == "ok", verdict
    gone = [line.seat for line in read_record(path).lines if isinstance(line, FaultLine)]
    stayed = [rank for seat, rank in enumerate(outcome.ranking) if seat not in gone]
    teams = game.teams(players, table.spec.options)
    if gone and stayed and len(set(teams)) == players:
        assert max(stayed) < min(outcome.ranking[seat] for seat in gone)
    assert table.clock.waiting == []
    path.unlink()


async def test_a_match_ends_and_its_record_verifies(sit: Sit) -> None:
    for seed in range(SEEDS):
        await play(sit, seed)


@pytest.mark.long
async def test_thousands_of_matches_end_and_their_records_verify(sit: Sit) -> None:
    for seed in range(SEEDS, LONG_SEEDS):
        await play(sit, seed)
