"""The checks by name: what each asks of a game."""

from collections.abc import Mapping
from types import MappingProxyType

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "attributes": "id, title, player counts, options, teams and bounds of the game object are well formed",
        "data": "default_data() passes check_data(), is JSON and set up like no data at all; junk raises DataError",
        "nodes": "a node asks seats, or awaits chance, or is terminal, exactly one of these; matches end",
        "legal_list": "legal lists are non-empty, unique, the same when asked again, of a clone or a restored state",
        "optional": "whoever is asked can decline what the game calls optional, by the first of its legal actions",
        "refusal": "what is not legal raises IllegalAction and changes nothing: seats, actions, outcomes, leaving",
        "clone": "a clone is equal and independent, in both directions",
        "dict": "to_dict() is canonical JSON without floats; state_from_dict() restores the state; nothing is shared",
        "values": "actions, payloads, observations are frozen dataclasses of plain values and tuples, without floats",
        "action_text": "parse(format(a)) == a; what parse accepts is what format prints; ASCII",
        "codec": "bytes of observations, actions, lists and events round-trip; garbage raises ActionSyntaxError",
        "view": "boards and sentences come for everything, in plain characters, 100 columns at most",
        "chance": "outcomes are unique, weights positive integers, and the keyed choice is one of them",
        "draw_stream": "within a deck and epoch the drawn kind's weight falls by one and nothing else changes",
        "roll_stream": "no die is rolled twice under one key, and equal outcomes of a die keep their weights",
        "conservation": "game.conserved() never changes, nor does resampling or leaving change it",
        "max_decisions": "no match asks more decisions than max_decisions() allows",
        "non_interference": "resample(viewer) changes no byte of the viewer's observation and legal list",
        "resample": "a resampled state is at the same node, is playable, and differs in what the viewer cannot know",
        "events": "what a viewer is told of a move depends on nothing hidden that its observation does not show after",
        "from_observation": "a state built from what a seat saw looks the same to that seat and is playable",
        "withdraw": "a seat can leave at any node, is asked nothing afterwards, and the match goes on to its end",
        "ending": "the end asks nothing, ranks every seat in competition ranks, team mates alike",
        "answer_order": "the order in which simultaneous answers are given makes no difference",
        "replay": "seed and action texts give the same states and events again",
        "golden": "matches recorded under this rules version come out as they did (where a file of them is given)",
        "hash_seed": "matches do not depend on PYTHONHASHSEED",
        "crash": "no exception but the documented ones",
    }
)
