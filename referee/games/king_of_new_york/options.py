"""The options: every rule that the sources leave open, with its default. README.md explains the confidence marks."""

from referee.games.api import Option

OPTIONS = (
    Option(
        "start_player",
        "roll",
        "Who begins: the most Attack faces on eight dice (ties roll again), anyone by chance, or a named seat.",
        "OFF, K1",
        ("roll", "random", "seat_0", "seat_1", "seat_2", "seat_3", "seat_4", "seat_5"),
    ),
    Option(
        "new_unit_destroyable_same_turn", False, "On: a Unit may be destroyed in the turn in which it appeared.", "3x"
    ),
    Option(
        "destruction_forced_if_possible",
        True,
        "Off: the player may stop destroying while a target is still affordable.",
        "1x, INF",
    ),
    Option(
        "exposed_building_same_turn",
        True,
        "Off: a building uncovered this turn cannot be destroyed in the same turn.",
        "2x, INF",
    ),
    Option("statue_before_damage", False, "On: the Statue of Liberty is taken before the Ouch damage.", "INF"),
    Option("bulletproof_any_ouch", True, "Off: Bulletproof helps only against its owner's own roll.", "INF"),
    Option(
        "seismic_ray_cost",
        "per_step",
        "Seismic Ray: 1 energy moves the whole Destruction step, or 1 energy for each die used elsewhere.",
        "2*",
        ("per_step", "per_die"),
    ),
    Option("painbow_counts_modified", True, "Off: Painbow counts dice only, without added results.", "INF"),
    Option(
        "painbow_mode",
        "threshold_highest",
        "Painbow: 2-3, 4-5, 6 and more; or exactly 2, 4, 6.",
        "INF",
        ("threshold_highest", "exact"),
    ),
    Option("curse_cost_per", "reroll", "Jinx tokens are paid per reroll or per Ouch die.", "INF", ("reroll", "die")),
    Option("power_tap_cumulative", True, "Off: only a single gain of 3 or more counts.", "INF"),
    Option(
        "of_another_world",
        "life_points_and_cubes",
        "Life and energy are interchangeable; or Heart and Energy faces are.",
        "2*",
        ("life_points_and_cubes", "die_faces"),
    ),
    Option("fireball_when_manhattan_empty", False, "On: Fireball hits neighbours though Manhattan is empty.", "INF"),
    Option("columbia_claim_persists", True, "Off: the claim ends with the refill of its own purchase.", "INF"),
    Option(
        "enter_at_turn_end", False, "On: if Manhattan is empty at the end of a turn the active monster enters.", "OFF?"
    ),
    Option(
        "added_claws_attack_alone", True, "Off: added Attack results strike only beside a die that shows one.", "INF"
    ),
    Option("inert_tokens_removable", True, "Off: tokens whose card nobody owns cannot be taken off.", "K2"),
    Option("subway_max_moves", 10, "Moves in one Subway turn.", "K3", minimum=0, maximum=30),
    Option("refill_before_effect", False, "On: the market is filled before a bought card takes effect.", "K4"),
    Option("free_card_counts_as_bought", True, "Off: a card got for nothing has no on-purchase effect.", "K5"),
    Option("climb_counts_bonus", False, "On: added results count for Climb the Empire State Building.", "K6"),
    Option(
        "marathon_currency",
        "energy",
        "What an optional move costs while New York Marathon lies in the market: energy, or VP.",
        "2*",
        ("energy", "vp"),
    ),
    Option("winner_only", False, "On: all but the winner share one rank.", "OURS"),
    Option(
        "round_cap",
        100,
        "The match ends without winner after this many turns of each player, extra turns included.",
        "OURS",
        minimum=1,
        maximum=1000,
    ),
    Option(
        "market_cap",
        30,
        "Purchases and sweeps in one turn, after which its Buy step is over.",
        "OURS",
        minimum=1,
        maximum=100,
    ),
)
