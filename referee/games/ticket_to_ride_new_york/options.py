"""The rules that the printed New York leaflet leaves open, with the defaults that the README explains."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.games.api import Option, OptionError

OPTIONS = (
    Option(
        "first_player",
        "seat_0",
        "Who has the first turn: seat 0 (schedules rotate the seats), or a seat by lot.",
        "OURS",
        ("seat_0", "random"),
    ),
    Option(
        "reshuffle",
        "lazy",
        "E1: the discards become the new deck when a card is needed and the deck is empty (lazy), or the moment the "
        "deck is empty (at_once; only with endless_flush=three_flushes, it could go on for ever otherwise).",
        "BGA",
        ("lazy", "at_once"),
    ),
    Option(
        "flush_test",
        "whenever",
        "E2: a full row with three taxis or more is tested after every refill and every claim (whenever), or after "
        "refills only.",
        "NY",
        ("whenever", "after_refill"),
    ),
    Option(
        "flushed_cards",
        "discarded",
        "E3: flushed cards lie among the discards at once, or are set aside until the new row is full or nothing else "
        "is left (set_aside; only with endless_flush=three_flushes, it could go on for ever otherwise).",
        "INF",
        ("discarded", "set_aside"),
    ),
    Option(
        "endless_flush",
        "non_taxi_count",
        "E5: no flush if fewer than three cards outside hands are not taxis (non_taxi_count), or at most three flushes "
        "after one refill (three_flushes). Neither flushes if deck and discards are empty.",
        "OURS",
        ("non_taxi_count", "three_flushes"),
    ),
    Option("second_card_required", True, "E6: a second card must be taken if a legal one exists.", "BGA"),
    Option(
        "one_card_draw",
        True,
        "E8: cards may be drawn even if only one card is left outside hands.",
        "BGA",
    ),
    Option(
        "passing",
        "only_if_stuck",
        "E10: a seat may pass only if it can do nothing else, or always. Either way the match ends when all seats in "
        "play pass in a row (E11).",
        "BGA",
        ("only_if_stuck", "always"),
    ),
    Option(
        "short_row_refill",
        "after_claim",
        "E12: a row short of cards is refilled as soon as a claim brings discards (after_claim), or with the next "
        "card drawn (after_draw).",
        "BGA",
        ("after_claim", "after_draw"),
    ),
    Option(
        "setup_return_order",
        "seat",
        "E14: tickets returned at the start go under the deck by seat number, or in turn order from the first player.",
        "OURS",
        ("seat", "turn"),
    ),
    Option("last_turn_claims", True, "E16: routes may be claimed in a seat's last turn.", "INF"),
    Option("last_turn_tickets", True, "E17: tickets may be drawn in a seat's last turn.", "INF"),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The options in the form the rules ask for them."""

    random_first: bool
    reshuffle_at_once: bool
    flush_after_claim: bool
    set_aside: bool
    count_non_taxis: bool
    second_required: bool
    one_card_draw: bool
    always_pass: bool
    refill_after_claim: bool
    returns_in_turn_order: bool
    last_turn_claims: bool
    last_turn_tickets: bool


def rules_of(options: Mapping[str, Any]) -> Rules:
    """From full, resolved options. Raises OptionError for two that do not go together."""
    rules = Rules(
        random_first=options["first_player"] == "random",
        reshuffle_at_once=options["reshuffle"] == "at_once",
        flush_after_claim=options["flush_test"] == "whenever",
        set_aside=options["flushed_cards"] == "set_aside",
        count_non_taxis=options["endless_flush"] == "non_taxi_count",
        second_required=options["second_card_required"],
        one_card_draw=options["one_card_draw"],
        always_pass=options["passing"] == "always",
        refill_after_claim=options["short_row_refill"] == "after_claim",
        returns_in_turn_order=options["setup_return_order"] == "turn",
        last_turn_claims=options["last_turn_claims"],
        last_turn_tickets=options["last_turn_tickets"],
    )
    for name, value, chosen in (
        ("reshuffle", "at_once", rules.reshuffle_at_once),
        ("flushed_cards", "set_aside", rules.set_aside),
    ):
        if chosen and rules.count_non_taxis:
            raise OptionError(
                f"ticket_to_ride_new_york option '{name}' can be {value} only with endless_flush=three_flushes: "
                "two rows of taxis could swap places for ever"
            )
    return rules
