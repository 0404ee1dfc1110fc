"""What a viewer sees: everything but the order of the stock, so all viewers see the same."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TeamSetting:
    """Where a team starts and where it goes, in the order that numbers waiting pedestrians and goal fields."""

    start_fronts: tuple[int, ...]
    """Per pedestrian the field straight ahead of its start."""
    start_sides: tuple[str, ...]
    """Per pedestrian the side of the grid it waits on: S, W, N or E."""
    start_seats: tuple[int, ...]
    """Per pedestrian the seat that may bring it onto the grid."""
    goal_fronts: tuple[int, ...]
    """Per goal field the field in front of it."""
    goal_sides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same during a match."""

    players: int
    teams: tuple[TeamSetting, TeamSetting]
    """Red, blue."""
    tile_looks: tuple[int, ...]
    """Four looks per tile kind, clockwise from the top left corner: 1 black round, 2 black square, 3 white round,
    4 white square."""
    tile_counts: tuple[int, ...]
    """Per tile kind how many the box holds."""
    goals_to_win: int
    lead_to_win: int
    """0: no such rule."""
    digest: int = field(init=False, repr=False, compare=False)
    """Hash of the other fields, taken once: settings are looked up at every decision."""

    def __post_init__(self) -> None:
        parts = (self.players, self.teams, self.tile_looks, self.tile_counts, self.goals_to_win, self.lead_to_win)
        object.__setattr__(self, "digest", hash(parts))

    def __hash__(self) -> int:
        return self.digest


@dataclass(frozen=True, slots=True)
class Observation:
    """One position. A laid tile is written 1 + 4*kind + turn, an empty place 0."""

    setting: Setting
    phase: str
    """'draw_place', 'place', 'turn', 'draw_build', 'build' or 'over'."""
    seat: int
    """Whose turn it is."""
    turns: int
    """Turns of the crossing phase that are over."""
    passes: int
    """Passes in a row."""
    drawn: int
    """Kind of the tile that must be placed now; -1: none."""
    stock: tuple[int, ...]
    """Per tile kind how many are left to draw."""
    tops: tuple[int, ...]
    """Per slot the tile one sees."""
    covered: tuple[int, ...]
    """Per slot the tile beneath."""
    looks: bytes
    """Per field its look, 0 where no tile lies."""
    fields: tuple[tuple[int, ...], tuple[int, ...]]
    """Red, blue: fields with a pedestrian, ascending."""
    waiting: tuple[tuple[int, ...], tuple[int, ...]]
    """Red, blue: pedestrians still waiting, ascending."""
    goals: tuple[tuple[int, ...], tuple[int, ...]]
    """Red, blue: pedestrians per goal field."""
    winner: int
    """0 red, 1 blue, -1 nobody (yet)."""
    reason: str
    """Why the match ended, one of `events.REASONS`; empty before."""
    withdrawn: int
    """The seat that left; -1: none."""
