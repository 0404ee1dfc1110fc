"""How strong the reference bots are, in words and as measured, for the page where people choose an opponent."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from leaderboard.web.play_host import Opponent

LEVELS = ("easy", "medium", "strong", "")
"""From the weakest; '' is a bot whose strength is not known."""


@dataclass(frozen=True, slots=True)
class Rival:
    """An opponent with its strength: `level` is one of `LEVELS`, `measured` a sentence or ''."""

    opponent: Opponent
    level: str
    words: str
    measured: str


def rivals(opponents: Sequence[Opponent], game: str) -> list[Rival]:
    """The opponents from the weakest to the strongest, those of unknown strength last."""
    known = _strengths()["bots"]
    found = [
        Rival(
            bot,
            known.get(bot.name, {}).get("level", ""),
            known.get(bot.name, {}).get("words", ""),
            _measured(bot.name, game),
        )
        for bot in opponents
    ]
    return sorted(found, key=lambda rival: (LEVELS.index(rival.level), rival.opponent.name))


def usual(found: Sequence[Rival]) -> Rival | None:
    """Who is chosen beforehand: the bot of medium strength, otherwise the first."""
    return next((rival for rival in found if rival.level == "medium"), found[0] if found else None)


def _measured(bot: str, game: str) -> str:
    for row in _strengths()["measured"]:
        if (row["bot"], row["game"]) == (bot, game):
            return (
                f"Scored {row['score']:.0%} against {row['against']} ({row['low']:.0%} to {row['high']:.0%},"
                f" {row['matches']} matches)."
            )
    return ""


@cache
def _strengths() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "strength.toml").read_text(encoding="utf-8"))
