"""Every rule the sources leave open, as an option; and the rules in force as a value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.games.api import Option

OPTIONS = (
    Option(
        "tile_set",
        "C",
        "Name of the set of city tiles: C, A or B (all reconstructions), or one of a replacement data file.",
        "R",
    ),
    Option("scenario", "times_square", "What lies on the table at the start.", "H", ("times_square", "central_park")),
    Option(
        "times_square_layout",
        "Z",
        "Shape of the four Times Square tiles: Z, T or L, or one of a replacement data file.",
        "R",
    ),
    Option(
        "central_park_layout",
        "block",
        "Shape of the ten Central Park tiles: block (2 x 5), or one of a replacement data file.",
        "R",
    ),
    Option(
        "start_player",
        "random",
        "A random seat begins, or seat 0. (The printed rule: the player who was in New York last, otherwise the "
        "youngest.)",
        "H printed, U for programs",
        ("random", "seat_0"),
    ),
    Option("hands", "hidden", "Whether others see a seat's tiles.", "U", ("hidden", "open")),
    Option("tiles_may_rotate", True, "Off: a tile lies as the data lists it.", "I"),
    Option(
        "forfeit_actions_any_time",
        True,
        "Off: a turn has two actions while there are any; only the final round lets a player do less.",
        "I",
    ),
    Option("placing_vehicle_optional", True, "Off: a completed vertex must get a vehicle while there is one.", "H"),
    Option("competing_optional", True, "Off: a player competes wherever a weaker opponent stands.", "H"),
    Option(
        "compete_choice_granularity",
        "per_street",
        "The player chooses street by street, or competes on all streets of the vertex or on none.",
        "I",
        ("per_street", "all_or_none"),
    ),
    Option("half_streets_connect", False, "On: for competing, a half street on the map's edge joins streets.", "I"),
    Option("colour_change_ends_street", False, "On: for competing, a street ends where red meets beige.", "I"),
    Option(
        "place_on_vertex_without_street",
        False,
        "On: a vehicle may be placed on a vertex without any street, such as the middle of a park.",
        "I",
    ),
    Option("place_on_dead_end", True, "Off: no vehicle may be placed on a vertex with one street segment.", "I"),
    Option("last_vehicle_competes", False, "On: the vehicle that ends the match competes before it ends.", "U"),
    Option(
        "no_progress_rounds",
        2,
        "The final round begins when for so many full rounds nobody attached or drew; 0: no such rule.",
        "U",
        minimum=0,
        maximum=20,
    ),
    Option(
        "turn_limit",
        1000,
        "The final round begins after so many turns, all seats together. With the other defaults it is never reached; "
        "without the no-progress rule it makes every match end.",
        "OURS",
        minimum=10,
        maximum=100_000,
    ),
    Option(
        "tie_break",
        "shared",
        "Equal points: the rank is shared, or more vehicles on the map rank better and only then is it shared.",
        "U",
        ("shared", "more_vehicles"),
    ),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The options that matter during play; fields as in `OPTIONS`."""

    random_start: bool
    open_hands: bool
    rotate: bool
    may_forfeit: bool
    may_skip_placing: bool
    may_skip_competing: bool
    street_by_street: bool
    half_streets: bool
    colour_ends: bool
    place_anywhere: bool
    place_on_dead_end: bool
    last_competes: bool
    no_progress_rounds: int
    turn_limit: int
    more_vehicles_rank: bool


def rules_of(options: Mapping[str, Any]) -> Rules:
    """The rules in force under full, resolved options."""
    return Rules(
        random_start=options["start_player"] == "random",
        open_hands=options["hands"] == "open",
        rotate=options["tiles_may_rotate"],
        may_forfeit=options["forfeit_actions_any_time"],
        may_skip_placing=options["placing_vehicle_optional"],
        may_skip_competing=options["competing_optional"],
        street_by_street=options["compete_choice_granularity"] == "per_street",
        half_streets=options["half_streets_connect"],
        colour_ends=options["colour_change_ends_street"],
        place_anywhere=options["place_on_vertex_without_street"],
        place_on_dead_end=options["place_on_dead_end"],
        last_competes=options["last_vehicle_competes"],
        no_progress_rounds=options["no_progress_rounds"],
        turn_limit=options["turn_limit"],
        more_vehicles_rank=options["tie_break"] == "more_vehicles",
    )
