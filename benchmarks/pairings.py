"""Compares the FIDE pairing of a Swiss with that of bbpPairings, on tournaments that bbpPairings makes up.

    python benchmarks/pairings.py path/to/bbpPairings.exe --tournaments 500
    python benchmarks/pairings.py --next path/to/file.trf

The first command has bbpPairings generate tournaments with forfeits, byes and players who retire, pairs each round of
them again, and prints every round that is paired otherwise. The program must be of version 5, which has the rules that
were in force until January 2026. The second one prints the pairing of the next round of a tournament, in the form of
bbpPairings.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.schedule.formats.dutch import BLACK, WHITE, History, Part, pair_round

_POINTS = {"1": 2, "+": 2, "W": 2, "U": 2, "F": 2, "=": 1, "D": 1, "H": 1}
"""Halves of points, by the letter of a result; all others are worth none."""
_PLAYED = frozenset("10=WDL")
_FIRST, _WIDTH = 91, 10
"""Where the results of a player begin in a line, and how wide each is."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a player did in a round: the number of the opponent, 0 for none, the colour, and the result."""

    opponent: int
    colour: str
    result: str


@dataclass(slots=True)
class Event:
    """A tournament as TRF has it, players by number from 1."""

    rounds: int = 0
    players: dict[int, list[Cell]] = field(default_factory=dict)
    virtual: dict[int, list[Fraction]] = field(default_factory=dict)
    forbidden: set[frozenset[int]] = field(default_factory=set)
    away: set[int] = field(default_factory=set)
    """Who does not play in the next round."""
    swapped: bool = False
    """Whether all colours are the other way round than in the report, where the first player got black by lot."""

    @property
    def played(self) -> int:
        """Rounds that are paired."""
        rounds = [
            len(cells) - place
            for cells in self.players.values()
            for place, cell in enumerate(reversed(cells))
            if cell.opponent
        ]
        return max(rounds, default=0)

    @property
    def reversed(self) -> bool:
        """Whether the first player has black by lot, or would have it: then all colours are the other way round."""
        drawn = [(one, cells[0].colour) for one, cells in sorted(self.players.items()) if cells and cells[0].colour]
        return bool(drawn) and (drawn[0][0] % 2 == 1) == (drawn[0][1] == BLACK)


def read_trf(text: str) -> Event:
    """A report in the form of JaVaFo (TRF(x)) or of 2026."""
    event = Event()
    for line in text.replace("\r", "\n").split("\n"):
        match line[:3]:
            case "001":
                event.players[int(line[4:8])] = list(_cells(line))
            case "XXR" | "142":
                event.rounds = int(line[4:])
            case "XXZ":
                event.away.update(map(int, line[4:].split()))
            case "XXP":
                one, *others = map(int, line[4:].split())
                event.forbidden.update(frozenset((one, other)) for other in others)
            case "XXA":
                number, *values = line[4:].split()
                event.virtual[int(number)] = [Fraction(value) for value in values]
    event.rounds = event.rounds or event.played
    if event.reversed:
        other = {WHITE: BLACK, BLACK: WHITE, "": ""}
        for cells in event.players.values():
            cells[:] = [replace(cell, colour=other[cell.colour]) for cell in cells]
        event.swapped = True
    return event


def _cells(line: str) -> Iterator[Cell]:
    for start in range(_FIRST, len(line.rstrip()), _WIDTH):
        cell = line[start : start + _WIDTH]
        colour = {"w": WHITE, "b": BLACK}.get(cell[5:6], "")
        yield Cell(int(cell[:4].strip() or 0), colour, cell[7:8].strip() or "Z")


def paired(event: Event, number: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The pairs of round `number` (from 0) as ours and as the report has them: white, then black, 0 for the bye."""
    score = dict.fromkeys(event.players, Fraction())
    history = History()
    for round_ in range(number):
        before = {one: score[one] + _virtual(event, one, round_) for one in event.players}
        history.rounds.append({one - 1: _part(event, one, round_, before[one]) for one in event.players})
        for one, cells in event.players.items():
            result = cells[round_].result if round_ < len(cells) else "Z"
            score[one] += Fraction(_POINTS.get(result, 0), 2)
    theirs = [
        (one, cell.opponent)
        for one, cells in event.players.items()
        if number < len(cells) and (cell := cells[number]) and (cell.colour == WHITE or cell.result == "U")
    ]
    asked = {one for one, cells in event.players.items() if len(cells) > number}
    here = {one for pair in theirs for one in pair if one} or event.players.keys() - event.away - asked
    seen = [
        history.player(one - 1, score[one], _virtual(event, one, number), last_round=number == event.rounds - 1)
        for one in sorted(here)
    ]
    apart = frozenset(frozenset(one - 1 for one in pair) for pair in event.forbidden)
    made = pair_round(seen, apart, rounds_played=number)
    if made is None:
        return [], theirs
    ours = [(white + 1, black + 1) for white, black in made[0]] + [(one + 1, 0) for one in made[1]]
    return ours, theirs


def _virtual(event: Event, player: int, round_: int) -> Fraction:
    values = event.virtual.get(player, ())
    return values[round_] if round_ < len(values) else Fraction()


def _part(event: Event, player: int, round_: int, before: Fraction) -> Part:
    cells = event.players[player]
    if round_ >= len(cells):
        return Part(before)
    cell = cells[round_]
    if not cell.opponent:
        return Part(before, had_bye=cell.result in "UF+")
    played = cell.result in _PLAYED
    return Part(before, cell.opponent - 1, cell.colour, played, had_bye=not played and cell.result == "+")


def compare(program: Path, tournaments: int, seed: int, most: int) -> int:
    """How many rounds are paired otherwise."""
    chance = random.Random(seed)
    rounds = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(tournaments):
            event = read_trf(_generated(program, Path(folder), chance, most))
            for round_ in range(event.played):
                ours, theirs = paired(event, round_)
                rounds += 1
                if sorted(ours) != sorted(theirs):
                    wrong += 1
                    print(
                        f"tournament {number + 1}, {len(event.players)} players, round {round_ + 1} of {event.rounds}:"
                    )
                    print(f"  only here: {sorted({*ours} - {*theirs})}; only there: {sorted({*theirs} - {*ours})}")
    print(f"{tournaments} tournaments of 4 to {most} players, {rounds} rounds, {wrong} of them paired otherwise")
    return wrong


def _generated(program: Path, folder: Path, chance: random.Random, most: int) -> str:
    players = chance.randint(4, most)
    settings = {
        "PlayersNumber": players,
        "RoundsNumber": chance.randint(1, min(9, max(1, players // 2))),
        "DrawPercentage": chance.choice([10, 30, 60]),
        "ForfeitRate": chance.choice([8, 20, 100]),
        "RetiredRate": chance.choice([50, 200, 1000]),
        "HalfPointByeRate": chance.choice([30, 100, 1000]),
        "HighestRating": 2600,
        "LowestRating": 1400,
    }
    (folder / "settings").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    out = folder / "tournament.trf"
    words = [program, "--dutch", "-g", folder / "settings", "-o", out, "-s", str(chance.randrange(1 << 31))]
    subprocess.run(words, check=True, capture_output=True)
    return out.read_text()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, nargs="?", help="bbpPairings of version 5")
    parser.add_argument("--tournaments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=40, help="players of the largest tournament")
    parser.add_argument("--next", type=Path, dest="trf", help="print the next round of this report instead")
    chosen = parser.parse_args(arguments)
    if chosen.trf is not None:
        event = read_trf(chosen.trf.read_text())
        ours, _ = paired(event, event.played)
        ours = [(black, white) if event.swapped and black else (white, black) for white, black in ours]
        print("\n".join([str(len(ours)), *(f"{white} {black}" for white, black in ours)]))
        return 0
    if chosen.program is None:
        parser.error("name the program, or a report with --next")
    return 1 if compare(chosen.program, chosen.tournaments, chosen.seed, chosen.most) else 0


if __name__ == "__main__":
    sys.exit(main())
