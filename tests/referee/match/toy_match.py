"""A match of the toy game for tests that play with real processes."""

from collections.abc import Sequence
from pathlib import Path

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.process.entry import Entry, load_entry
from referee.schedule.spec import Limits, MatchSpec, SeatSpec


def load_two(folder: Path) -> list[Entry]:
    """The bot in the folder as two entries, which differ in their options."""
    return [load_entry(folder, options={"seat": seat}) for seat in (0, 1)]


def toy_match(match_id: str, block: int, entries: Sequence[Entry]) -> MatchSpec:
    return MatchSpec(
        match_id=match_id,
        game="toy",
        options=resolve_options("toy", get_game("toy").options, {}),
        seats=tuple(SeatSpec(entry.id, entry.name, "1") for entry in entries),
        seed="0" * 31 + "1",
        limits=Limits(),
        block=block,
    )
