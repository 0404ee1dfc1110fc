"""Every rule the sources leave open, as an option; and the rules in force as a value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.games.api import Option

GOALS_TO_WIN = 6
GOALS_TO_WIN_WITHOUT_BUILDING = 4

OPTIONS = (
    Option("tile_set", "M", "Which 30 street tiles are in the stock.", "R", ("M", "X", "F", "D")),
    Option("layout_4p", "B", "Where starts and goals lie with four players.", "R", ("B", "A")),
    Option("build_phase", True, "Off: the variant that starts with an empty grid.", "H"),
    Option("tile_rotation", True, "A tile may be turned; off: it lies as the data lists it.", "U/I"),
    Option(
        "goals_to_win",
        0,
        "Pedestrians in goal that win; 0: 6, without building phase 4.",
        "H",
        minimum=0,
        maximum=8,
    ),
    Option("lead_to_win", 3, "Lead in goal that wins at once; 0: no such rule.", "H", minimum=0, maximum=8),
    Option("goal_capacity", 1, "Pedestrians a goal field holds.", "M", minimum=1, maximum=8),
    Option(
        "goal_entry_automatic",
        True,
        "Off: the player chooses to enter the goal or to stop before it, and may enter from there later.",
        "H",
    ),
    Option(
        "pass_through_own_goal_front",
        True,
        "Off: the way may not lead over the field before a free own goal without ending there.",
        "I",
    ),
    Option("first_move_may_stop_on_front_field", True, "Off: a first move must go on from there.", "I"),
    Option("null_move_allowed", False, "On: a pedestrian on the grid may come back to its own field.", "I"),
    Option(
        "same_colour_tile_rule_applies_to_goal_entry",
        True,
        "Off: a goal may be entered from a tile that holds another pedestrian of the colour.",
        "I",
    ),
    Option(
        "opponent_front_rule_applies_at_corners_even_for_goal_entry",
        True,
        "Off: a goal may be entered from a field that also lies before a start or goal of the opponent.",
        "I",
    ),
    Option(
        "front_rule_persists_after_start_or_goal_used",
        True,
        "Off: only starts with a waiting pedestrian and goals with room bar the field before them.",
        "I",
    ),
    Option(
        "no_legal_action",
        "pass",
        "What happens to a seat that can do nothing: it passes, or its team loses.",
        "U",
        ("pass", "lose"),
    ),
    Option(
        "all_pass_end",
        "more_goals",
        "As many passes in a row as seats end the match: more goals win and equal is a draw, or always a draw.",
        "U",
        ("more_goals", "draw"),
    ),
    Option(
        "move_cap",
        200,
        "Turns of the crossing phase, all seats together, after which more goals win and equal is a draw.",
        "U",
        minimum=1,
        maximum=10_000,
    ),
    Option("start_player_begins_crossing_phase", True, "Off: the other side opens the crossing.", "I"),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The options that matter during play."""

    build_phase: bool
    tiles_may_turn: bool
    goals_to_win: int
    lead_to_win: int
    goal_capacity: int
    automatic_entry: bool
    pass_through_goal_front: bool
    stop_on_first: bool
    null_move: bool
    tile_rule_at_goal: bool
    front_rule_at_goal: bool
    front_rule_persists: bool
    lose_when_blocked: bool
    all_passed_is_draw: bool
    move_cap: int
    first_crosser: int


def rules_of(options: Mapping[str, Any]) -> Rules:
    """The rules in force under full, resolved options."""
    goals_to_win = GOALS_TO_WIN if options["build_phase"] else GOALS_TO_WIN_WITHOUT_BUILDING
    return Rules(
        build_phase=options["build_phase"],
        tiles_may_turn=options["tile_rotation"],
        goals_to_win=options["goals_to_win"] or goals_to_win,
        lead_to_win=options["lead_to_win"],
        goal_capacity=options["goal_capacity"],
        automatic_entry=options["goal_entry_automatic"],
        pass_through_goal_front=options["pass_through_own_goal_front"],
        stop_on_first=options["first_move_may_stop_on_front_field"],
        null_move=options["null_move_allowed"],
        tile_rule_at_goal=options["same_colour_tile_rule_applies_to_goal_entry"],
        front_rule_at_goal=options["opponent_front_rule_applies_at_corners_even_for_goal_entry"],
        front_rule_persists=options["front_rule_persists_after_start_or_goal_used"],
        lose_when_blocked=options["no_legal_action"] == "lose",
        all_passed_is_draw=options["all_pass_end"] == "draw",  # noqa: S105 (no password)
        move_cap=options["move_cap"],
        first_crosser=0 if options["start_player_begins_crossing_phase"] else 1,
    )
