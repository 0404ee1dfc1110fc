"""Facts about OpenSpiel's games that OpenSpiel does not provide in a form that a program can read."""

PARTNERS = frozenset({"bridge", "euchre", "spades", "tiny_bridge_4p"})
"""Games of two teams: seats 0 and 2 against 1 and 3."""

THOUSANDTHS = frozenset(
    {
        "bargaining",
        "battleship",
        "coop_box_pushing",
        "deep_sea",
        "pathfinding",
        "sheriff",
        "skat",
        "social_deduction",
        "tiny_bridge_2p",
        "tiny_hanabi",
    }
)
"""Games whose points are no whole numbers, with the default parameters or others."""

RESAMPLED = frozenset(
    {
        "bargaining",
        "bridge",
        "euchre",
        "gin_rummy",
        "hearts",
        "leduc_poker",
        "oh_hell",
    }
)
"""Games of imperfect information whose `resample_from_infostate` the conformance kit has found to work."""

SEATS_EXPLAINED = {
    "antichess": "Seat 1 has the white pieces and moves first, as OpenSpiel numbers them.",
    "chess": "Seat 1 has the white pieces and moves first, as OpenSpiel numbers them.",
    "go": "Seat 0 has the black stones and moves first.",
}

PLAYER_COUNTS = {
    "chinese_checkers": (2, 3, 4, 6),
    "quoridor": (2, 3, 4),
    "snake": (2, 4),
    "tiny_hanabi": (2,),
    "universal_poker": (2,),
}
"""Numbers of seats of games for which OpenSpiel prints warnings, or ends the process, when others are tried.
`tiny_hanabi` and `universal_poker` need other parameters for more seats."""

INFORMATION_INCOMPLETE = {
    "blackjack": "its information state does not hold the dealer's cards, which its observation shows",
}
"""Games whose information states hold less than their observations, so that nothing can be resampled by them."""

NOT_PLAYABLE = {
    "crossword": "it needs the files of puzzles, which OpenSpiel does not ship",
}
"""Games that load and cannot be played."""
