"""How long the process that plays a ladder takes to begin again, with many bots and matches.

    python benchmarks/ladder_restart.py --bots 2000 --matches 100000

Makes one division of Shibuya in a temporary folder: bots join, blocks of two random bots are decided, and each match
leaves a small record that is made up, without waiting for the disk. Then the division is taken up three times, the
last time without `results.jsonl`, so that every record is read again.
"""

import argparse
import asyncio
import os
import platform
import resource
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from random import Random

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.ladder.bots import LadderBot, entry_id
from referee.ladder.chooser import Chosen
from referee.ladder.config import LadderConfig, default_ladder
from referee.ladder.division import Division, Loaded
from referee.ladder.remembered import NAME
from referee.match.result import MatchResult
from referee.process.sandbox import Sandbox
from referee.record import Footer, Header, Record, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment
from referee.record.reasons import EndReason
from referee.run.judging import judge
from referee.schedule.spec import MatchSpec
from referee.tournament.messages import BotSetup, Meeting
from referee.tournament.progress import Reached


class Nobody:
    """An observer, and tables on which nothing is played."""

    slots = 1

    def begun(self, at: Reached) -> None: ...

    def reached(self, at: Reached) -> None: ...

    def rated(self, path: Path, record: Record) -> None: ...

    def revoked(self, record: Path) -> None: ...

    def note(self, sentence: str) -> None: ...

    async def play(self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None) -> MatchResult:
        raise NotImplementedError


def division_of(config: LadderConfig) -> Division:
    settings = next(one for one in config.divisions if one.name == "shibuya")
    return Division(config, settings, Nobody(), Nobody())


def load(bot: LadderBot) -> Loaded:
    known_as = entry_id(bot, bot.name)
    return Loaded(known_as, BotSetup("", bot.name, {}, bot.name, Sandbox(), "", known_as))


def fill(config: LadderConfig, bots: int, matches: int) -> None:
    dice = Random(1)
    with division_of(config) as division:
        division.begin(asyncio.Event())
        roster = [LadderBot(f"bot{number}", f"owner{number}", 1) for number in range(bots)]
        division.reconcile(roster, load)
        ids = [load(bot).bot_id for bot in roster]
        played = 0
        while played < matches:
            one, other = dice.sample(ids, 2)
            division.decide(Chosen((one, other), 0, "drawn for a benchmark"))
            while (spec := division.progress.next()) is not None:
                path = leave_record(division.folder.matches, spec, dice)
                division.progress.count(spec, path, judge(path, spec, (spec.seed,)))
                played += 1
        division.stop()


def leave_record(records: Path, spec: MatchSpec, dice: Random) -> Path:
    writer = RecordWriter(
        records,
        Header(
            match_id=spec.match_id,
            tournament=spec.tournament,
            place=spec.place,
            block=spec.block,
            game=spec.game,
            rules_version=1,
            options={},
            players=len(spec.seats),
            seats=tuple(SeatHeader(seat.entry_id, seat.name, seat.version) for seat in spec.seats),
            limits=asdict(spec.limits),
            seed_commitment=seed_commitment(spec.seed),
            created_at="2026-01-01T00:00:00Z",
            crosstown="0",
        ),
    )
    writer.close(
        Footer(
            status="rated",
            reason=EndReason.NORMAL,
            detail="",
            seed=spec.seed,
            ranking=dice.choice([(1, 2), (2, 1)]),
            returns=(1, 0),
            state_hash="ab",
            seat_stats=(SeatStats(),) * 2,
            faults=(None, None),
        )
    )
    return records / f"{spec.match_id}.jsonl.gz"


def take_up(config: LadderConfig) -> str:
    """Seconds until the division could play, those of the processor among them, and how many matches it found."""
    began_s, cpu_s = time.monotonic(), time.process_time()
    with division_of(config) as division:
        division.begin(asyncio.Event())
        took_s, cpu_s = time.monotonic() - began_s, time.process_time() - cpu_s
        return f"{took_s:.1f} | {cpu_s:.1f} | {division.progress.found}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--bots", type=int, default=2000)
    parser.add_argument("--matches", type=int, default=100_000)
    wanted = parser.parse_args()
    sync, os.fsync = os.fsync, lambda _: None
    with tempfile.TemporaryDirectory() as folder:
        config = default_ladder(Path(folder) / "ladder", None)
        began_s = time.monotonic()
        fill(config, wanted.bots, wanted.matches)
        print(f"made {wanted.matches} matches of {wanted.bots} bots in {time.monotonic() - began_s:.0f} s", flush=True)
        os.fsync = sync
        print("| taken up | seconds | CPU seconds | matches found |\n| --- | --- | --- | --- |")
        for words in ("after a stop", "again"):
            print(f"| {words} | {take_up(config)} |", flush=True)
        (config.folder_of(next(one for one in config.divisions if one.name == "shibuya")) / NAME).unlink()
        print(f"| without {NAME} | {take_up(config)} |")
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"\nLargest size of the process: {most_mib} MiB. Python {platform.python_version()}, {platform.machine()}.")


if __name__ == "__main__":
    main()
