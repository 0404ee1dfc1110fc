"""From a tournament's description to what a format sees of it. The description in a journal is enough."""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.registry import UnknownGame, get_game
from referee.schedule.formats.api import Extent, Field, Variant
from referee.schedule.formats.registry import get_format
from referee.schedule.seat_orders import team_orders


def make_field(description: Mapping[str, Any], names: Sequence[str] | None = None) -> Field:
    """`description` as `identity.describe` made it; `names` of the bots if they are others than its own."""
    return Field(
        names=tuple(bot["name"] for bot in description["bots"]) if names is None else tuple(names),
        variants=tuple(
            _variant(game["game"], players, game["options"])
            for game in description["games"]
            for players in game["players"]
        ),
        seed=description["seed"],
        blocks=description["blocks"],
        settings=description["settings"],
    )


def variant_games(description: Mapping[str, Any]) -> tuple[int, ...]:
    """Per variant of the field the index of its game in the description."""
    return tuple(number for number, game in enumerate(description["games"]) for _ in game["players"])


def extent_of(description: Mapping[str, Any], names: Sequence[str] | None = None) -> Extent:
    """How many matches the schedule has if nobody leaves; at most, if others play than its own bots: those of
    `names`."""
    return get_format(description["format"]).extent(make_field(description, names))


def _variant(game_id: str, players: int, options: Mapping[str, Any]) -> Variant:
    try:
        teams = tuple(get_game(game_id).teams(players, options))
    except UnknownGame:  # a run can be looked at where its game is not installed
        teams = tuple(range(players))
    return Variant(game_id, players, teams, team_orders(teams))
