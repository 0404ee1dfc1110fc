"""The checks by name, and what a failed one reports."""

import dataclasses
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "attributes": "id, title, player counts, options, teams and bounds of the game object are well formed",
        "data": "default_data() passes check_data(), is JSON and set up like no data at all; junk raises DataError",
        "nodes": "a node asks seats, or awaits chance, or is terminal, exactly one of these; matches end",
        "legal_list": "legal lists are non-empty, unique, the same when asked again, of a clone or a restored state",
        "optional": "a seat can decline every optional action by choosing its first legal action",
        "refusal": "what is not legal raises IllegalAction and changes nothing: seats, actions, outcomes, leaving",
        "clone": "a clone is equal and independent, in both directions",
        "dict": "to_dict() is canonical JSON without floats; state_from_dict() restores the state; nothing is shared",
        "values": "actions, payloads, observations are frozen dataclasses of plain values and tuples, without floats",
        "action_text": "parse(format(a)) == a; what parse accepts is what format prints; ASCII",
        "codec": "bytes of observations, actions, lists and events round-trip; garbage raises ActionSyntaxError",
        "view": "every position has a board and every action and event a sentence, in plain characters and 100 columns",
        "sentences": "sentences and boards name the players, hold no ids, and say nothing that the viewer was not sent",
        "chance": "outcomes are unique, weights positive integers, and the keyed choice is one of them",
        "draw_stream": "within a deck and epoch the drawn kind's weight falls by one and nothing else changes",
        "roll_stream": "no die is rolled twice under one key, and equal outcomes of a die keep their weights",
        "conservation": "game.conserved() never changes, nor does resampling or leaving change it",
        "max_decisions": "no match asks more decisions than max_decisions() allows",
        "non_interference": "resample(viewer) changes no byte of the viewer's observation and legal list",
        "resample": "a resampled state is at the same node, is playable, and differs in what the viewer cannot know",
        "events": "a viewer's events reveal nothing hidden that its observation does not show afterwards",
        "from_observation": "a state built from what a seat saw looks the same to that seat and is playable",
        "withdraw": "a seat can leave at any node, is asked nothing afterwards, and the match goes on to its end",
        "ending": "the end asks nothing, ranks every seat in competition ranks, team mates alike",
        "answer_order": "the order in which simultaneous answers are given makes no difference",
        "replay": "seed and action texts give the same states and events again",
        "golden": "matches recorded under this rules version replay to the same result (if a golden file is given)",
        "hash_seed": "matches do not depend on PYTHONHASHSEED",
        "crash": "the game raises only documented exceptions",
    }
)


class CheckFailed(Exception):
    """A check found a fault in the game. `check` is a key of `CHECKS`."""

    def __init__(self, check: str, message: str) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check
        self.message = message

    def within(self, context: str) -> "CheckFailed":
        """The same finding, with the place where it was found in front of the message."""
        return CheckFailed(self.check, f"{context}: {self.message}")


@dataclass(frozen=True, slots=True)
class Failure:
    """A finding with everything needed to reproduce it.

    `players`, `seed`, `node` and `decision` are None for a finding without a match. `node` counts chance, decision and
    terminal nodes from 0; `decision` counts the answers given before. `options` is a JSON object of the options that
    the seed set to other values than the default.
    """

    check: str
    game: str
    message: str
    players: int | None = None
    seed: int | None = None
    node: int | None = None
    decision: int | None = None
    options: str = "{}"
    trace: str = ""

    def command(self) -> str:
        """A shell command that reproduces this failure."""
        words = ["crosstown", "games", "check", self.game]
        if self.players is not None:
            words += ["--players", str(self.players)]
        if self.seed is not None:
            words += ["--seed", str(self.seed), "--matches", "1"]
        return " ".join(words)

    def to_json(self) -> dict[str, Any]:
        """All fields and the command, as JSON values."""
        return {**asdict(self), "command": self.command()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Failure":
        return cls(**{name: value for name, value in data.items() if name != "command"})


def difference(first: Any, second: Any, place: str = "state") -> str:
    """Describe the first place where two JSON values or observations differ."""
    if dataclasses.is_dataclass(first) and type(first) is type(second):
        for field in dataclasses.fields(first):
            one, other = getattr(first, field.name), getattr(second, field.name)
            if one != other:
                return difference(one, other, f"{place}.{field.name}")
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            if first.get(key) != second.get(key):
                return difference(first.get(key), second.get(key), f"{place}.{key}")
    if isinstance(first, list | tuple) and type(first) is type(second) and len(first) == len(second):
        for position, (one, other) in enumerate(zip(first, second, strict=True)):
            if one != other:
                return difference(one, other, f"{place}[{position}]")
    return f"{place} is {str(first)[:200]} here and {str(second)[:200]} there"


def viewer_name(viewer: int | None) -> str:
    """The name of a viewer in messages."""
    return "a spectator" if viewer is None else f"seat {viewer}"


def first_difference(first: list[object], second: list[object]) -> str:
    """Describe the first position where two lists differ."""
    for position, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return f"position {position} was {one!r}, now {other!r}"
    return f"{len(first)} actions before, {len(second)} now"
