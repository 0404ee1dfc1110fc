"""What a schedule depends on besides the organiser's decisions and results: the configuration of its run.

A configuration is the JSON object in the first line of a run's journal (`referee.tournament.identity.describe` makes
it of a tournament file), so a schedule needs neither the file nor the bots.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from referee.games.registry import UnknownGame, get_game
from referee.schedule.formats.api import Extent, Field, Format, Variant, lengthened
from referee.schedule.formats.comparison import NAME as COMPARISON
from referee.schedule.formats.registry import get_format
from referee.schedule.seat_orders import team_orders
from referee.schedule.spec import SEAT_KEYS, Adjudication, Faults, Limits, SeatSpec

MOST_BLOCKS = 10_000_000

START = "start"
"""The option of a game that says in what position a match begins."""


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """One game of a tournament, with its full options."""

    game: str
    options: Mapping[str, Any]
    openings: tuple[str, ...] = ()
    """Positions to begin with: matches on one seed begin in the same one."""

    def options_of(self, seed_group: int) -> Mapping[str, Any]:
        """The options of the matches of a seed group."""
        if not self.openings:
            return self.options
        return {**self.options, START: self.openings[seed_group % len(self.openings)]}


@dataclass(frozen=True, slots=True)
class DecidedBlock:
    """A block that is an event of the journal: `group` are entry ids, `variant` is an index.

    `seed_group` is the number of the seed that its matches have; with `own_seeds` each match has one of its own, from
    that number on. `reason` is for people; `seen` is how many lines the journal had when the block was decided.
    """

    number: int
    variant: int
    group: tuple[str, ...]
    seed_group: int
    own_seeds: bool = False
    reason: str = ""
    seen: int = 0


def decided_block(fields: Mapping[str, Any]) -> DecidedBlock:
    """From a line of the journal; the line has the fields of the block."""
    return DecidedBlock(**{**fields, "group": tuple(fields["group"])})


@dataclass(frozen=True, slots=True)
class ScheduleConfig:
    """The configuration of a run as its schedule uses it.

    `id` tells tournaments apart. `participants` are the bots that the run began with, which `field` has too, then those
    that were added since. `games` has one entry for each variant of the field. `decided` are the blocks of a format
    whose blocks are events of the journal. `length` is how long the schedule is where it was extended, by the keys of
    `Format.lengths`.
    """

    id: str
    name: str
    games: tuple[ScheduledGame, ...]
    format: str
    field: Field
    participants: tuple[SeatSpec, ...]
    limits: Limits
    faults: Faults
    ponder: bool
    adjudication: Adjudication
    decided: tuple[DecidedBlock, ...] = ()
    length: Mapping[str, float] = dataclass_field(default_factory=dict)

    @property
    def style(self) -> Format:
        """The format itself. UnknownFormat if it is a plug-in that is not installed."""
        return get_format(self.format)

    def extent(self) -> Extent:
        """How many matches the schedule has if nobody leaves and all participants had been there from the start. Of a
        format whose blocks are decided while the run goes on: those of the blocks so far."""
        if self.style.journalled:
            blocks = Counter(map(attrgetter("variant"), self.decided))
            number = sum(count * len(self.field.variants[variant].orders) for variant, count in blocks.items())
            return Extent(number, number)
        names = tuple(seat.name for seat in self.participants)
        length = {**self.style.lengths(self.field), **self.length}  # which does not grow with those that were added
        return self.style.extent(lengthened(replace(self.field, names=names), length))


def schedule_config(
    configuration: Mapping[str, Any],
    added: Iterable[SeatSpec] = (),
    decided: Iterable[DecidedBlock] = (),
    length: Mapping[str, float] | None = None,
    games: Mapping[str, Sequence[str]] | None = None,
    clubs: Mapping[str, str] | None = None,
) -> ScheduleConfig:
    """From the configuration that a run began with, the bots that were added to it since, the blocks that were decided
    since, the length that it was extended to, and by entry id the games of added bots that do not play every game, and
    the clubs of added bots that have one."""
    added = tuple(added)
    field = replace(make_field(configuration), late=tuple(seat.name for seat in added))
    if clubs:
        of_first = field.clubs or ("",) * field.bots
        field = replace(field, clubs=(*of_first, *(clubs.get(seat.entry_id, "") for seat in added)))
    if games:
        plays = field.games or ((),) * field.bots
        of_added = tuple(_restricted(games.get(seat.entry_id, ()), field.variants) for seat in added)
        field = replace(field, games=plays + of_added)
    return ScheduleConfig(
        id=digest(configuration),
        name=configuration["name"],
        games=tuple(
            ScheduledGame(game["game"], game["options"], tuple(game.get("openings", ())))
            for game in configuration["games"]
            for _ in game["players"]
        ),
        format=configuration["format"],
        field=field,
        participants=(*map(seat_spec, configuration["bots"]), *added),
        limits=Limits.from_in_force(configuration.get("limits", {})),
        faults=Faults(**configuration.get("faults", {})),
        ponder=configuration.get("ponder", True),
        decided=tuple(decided),
        length=length or {},
        adjudication=Adjudication(**configuration.get("adjudication", {})),
    )


def seat_spec(bot: Mapping[str, Any]) -> SeatSpec:
    """A bot as a configuration, or the line of the journal that added it, has it."""
    clock = {name: value for name, value in bot.get("clock", {}).items() if name in SEAT_KEYS}
    return SeatSpec(bot["entry_id"], bot["name"], bot["version"], clock)


def make_field(configuration: Mapping[str, Any], names: Sequence[str] | None = None) -> Field:
    """What the format sees of a configuration; `names` of the bots if they are others than its own."""
    variants = tuple(
        _variant(game["game"], players, game["options"])
        for game in configuration["games"]
        for players in game["players"]
    )
    games = tuple(_restricted(bot.get("games", ()), variants) for bot in configuration["bots"])
    clubs = tuple(bot.get("club", "") for bot in configuration["bots"])
    return Field(
        names=tuple(bot["name"] for bot in configuration["bots"]) if names is None else tuple(names),
        variants=variants,
        seed=configuration["seed"],
        blocks=configuration["blocks"],
        settings=configuration["settings"],
        games=games if any(games) else (),
        clubs=clubs if any(clubs) else (),
    )


def _restricted(games: Sequence[str], variants: Sequence[Variant]) -> tuple[str, ...]:
    """Those of a bot's games that are played; () for all of them."""
    played = {variant.game for variant in variants}
    here = played.intersection(games)
    return () if here == played else tuple(sorted(here))


def digest(configuration: Mapping[str, Any]) -> str:
    """32 hex digits of a configuration. Those of a comparison do not depend on how long it may go on: every match of a
    shorter one is the same match of a longer one."""
    same = configuration if configuration["format"] != COMPARISON else {**configuration, "blocks": 0}
    text = json.dumps(same, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=16, person=b"crosstown-plan").hexdigest()


def _variant(game_id: str, players: int, options: Mapping[str, Any]) -> Variant:
    try:
        teams = tuple(get_game(game_id).teams(players, options))
    except UnknownGame:  # a run can be looked at where its game is not installed
        teams = tuple(range(players))
    return Variant(game_id, players, teams, team_orders(teams))
