"""`crosstown run --dry-run`: the exact list of matches, who meets whom how often, and how long it may take."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from leaderboard.index import load_index
from referee.cli.output import console, duration, plural, print_json, print_table, print_text, table
from referee.match.spec import MatchSpec
from referee.tournament.config import Tournament
from referee.tournament.folder import run_folders
from referee.tournament.schedule import count, schedule


@dataclass(frozen=True, slots=True)
class Balance:
    """How evenly one bot is treated: its matches, those in each seat, and the extremes over its opponents."""

    name: str
    matches: int
    by_seat: tuple[int, ...]
    fewest_meetings: int
    most_meetings: int


def preview(tournament: Tournament, out: Path, workers: int, *, as_json: bool) -> None:
    """Print the schedule without playing."""
    config = tournament.config
    rows = balance(tournament)
    estimate_s, source = estimate(tournament, out, workers)
    if as_json:
        print_json(
            {
                "name": config.name,
                "game": config.game,
                "total": count(tournament),
                "estimate_s": estimate_s,
                "estimate_from": source,
                "balance": [
                    {
                        "bot": row.name,
                        "matches": row.matches,
                        "by_seat": list(row.by_seat),
                        "fewest_meetings": row.fewest_meetings,
                        "most_meetings": row.most_meetings,
                    }
                    for row in rows
                ],
                "matches": [
                    {
                        "place": spec.place,
                        "match": spec.match_id,
                        "block": spec.block,
                        "seats": [seat.name for seat in spec.seats],
                    }
                    for spec in schedule(tournament)
                ],
            }
        )
        return
    print_text(
        f"{config.name}: {config.game}, {config.format} of {plural(len(tournament.entries), 'bot')},"
        f" {config.players} seats, {plural(config.blocks, 'block')} per group: {plural(count(tournament), 'match')}"
    )
    took = "no measurement yet" if estimate_s is None else f"about {duration(estimate_s)}"
    print_text(f"time: {took} ({source})")
    _print_balance(rows)
    for spec in schedule(tournament):
        print_text(_line(spec))


def balance(tournament: Tournament) -> list[Balance]:
    """Counted over the schedule itself."""
    ids = [entry.id for entry in tournament.entries]
    matches: Counter[str] = Counter()
    seats: Counter[tuple[str, int]] = Counter()
    meetings: Counter[tuple[str, str]] = Counter()
    for spec in schedule(tournament):
        here = [seat.entry_id for seat in spec.seats]
        for number, one in enumerate(here):
            matches[one] += 1
            seats[one, number] += 1
            meetings.update((one, other) for other in here if other != one)
    return [
        Balance(
            entry.name,
            matches[entry.id],
            tuple(seats[entry.id, number] for number in range(tournament.config.players)),
            min((meetings[entry.id, other] for other in ids if other != entry.id), default=0),
            max((meetings[entry.id, other] for other in ids if other != entry.id), default=0),
        )
        for entry in tournament.entries
    ]


def estimate(tournament: Tournament, out: Path, workers: int) -> tuple[float | None, str]:
    """Seconds for the whole schedule from matches played before under this name, and where the number is from."""
    played = [
        row.wall_us
        for folder in run_folders(out, tournament.config.name)
        for row in load_index(folder.matches, folder.database).rows
        if row.game == tournament.config.game
    ]
    if not played:
        return None, "run it once, and the matches it has played tell"
    mean_s = sum(played) / len(played) / 1e6
    source = f"{plural(len(played), 'match')} played before took {mean_s:.2f} s each; {plural(workers, 'worker')}"
    return count(tournament) * mean_s / workers, source


def _print_balance(rows: list[Balance]) -> None:
    from rich.text import Text

    out = console()
    made = table(
        [("bot", "left"), ("matches", "right"), ("by seat", "right"), ("meetings per opponent", "right")],
        plain=not out.is_terminal,
    )
    for row in rows:
        few, many = row.fewest_meetings, row.most_meetings
        meetings = str(few) if few == many else f"{few}-{many}"
        made.add_row(Text(row.name), str(row.matches), "/".join(map(str, row.by_seat)), meetings)
    print_table(out, made)


def _line(spec: MatchSpec) -> str:
    return f"{spec.place:>6}  {spec.match_id}  block {spec.block:>5}  " + " - ".join(seat.name for seat in spec.seats)
