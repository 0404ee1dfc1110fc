"""Decides which matches may be watched while they are played, by the sandbox of their bots, and finds matches in play.

A bot that can reach these pages could read the dice and cards of a match with the same seed there, which its seat must
not know. So a match may be watched at once only if no bot that plays with its seed has access to a network.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.results import is_person
from referee.record import Header, RecordError
from referee.record.reader import read_header
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.formats.comparison import NAME as COMPARE

_CONFINED: Final = "strict"
_NETWORK: Final = "network"
_REMOTE: Final = "remote"


@dataclass(frozen=True, slots=True)
class LiveMatch:
    """A match that is being played, or was interrupted."""

    match_id: str
    header: Header


def live_matches(run: RunFolder) -> list[LiveMatch]:
    """The matches of a run that have a record without an end, by id; none of a match whose record is still empty."""
    return list(_live_matches(run))


def _live_matches(run: RunFolder) -> Iterator[LiveMatch]:
    for match_id in run.records.live() if run.records.exists else ():
        path = run.records.find(match_id)
        try:
            if path is not None:
                yield LiveMatch(match_id, read_header(path))
        except RecordError:  # nothing is written yet, or the match has just ended
            continue


def why_not_watched(header: Header, open_bots: Sequence[str] = ()) -> str:
    """Why a match must not be shown before its block is complete; '' if it may be watched while it is played.

    `open_bots` are those of its run that may play with the same seed in other matches and can reach these pages.
    """
    for name, seat in zip(header.names, header.seats, strict=True):
        if is_person(header, seat):
            return f"'{name}' is a person, who could read this page"
        if way := _way_out(seat.sandbox):
            return f"'{name}' {way} and could read this page"
    if open_bots:
        return f"'{open_bots[0]}' plays with the same dice and cards in other matches and could read this page"
    return ""


def _way_out(sandbox: str) -> str:
    """How a bot with this `SeatHeader.sandbox` can reach these pages; '' if it cannot."""
    profile, *grants = sandbox.split(", ")
    if profile == _REMOTE:
        return "plays from another machine"
    if profile != _CONFINED:
        return "plays outside of the sandbox"
    return "may use the network" if _NETWORK in grants else ""


def open_bots(run: Run) -> tuple[str, ...]:
    """The bots of a run that can reach these pages, by name, if matches of others may have the same seed as theirs."""
    made = run.configuration
    if made["format"] != COMPARE and not made.get("settings", {}).get("same_seeds"):
        return ()
    known = run.journal.machine
    return tuple(bot.name for bot in run.participants if not bot.out and _way_out(_sandbox(known.get(bot.entry_id))))


def _sandbox(facts: Mapping[str, Any] | None) -> str:
    """The sandbox that a match record would name. A bot without facts in the journal connects from another machine."""
    if facts is None:
        return _REMOTE
    return ", ".join([str(facts.get("profile", "")), str(facts.get("grants", ""))])
