"""Each error that a person may meet says what to do next, in a field of its own."""

import inspect
import re
from importlib import import_module

import pytest

from referee.errors import ExpectedError
from referee.games.api import GameError
from referee.process.build import BuildError
from tests.architecture.test_imports import modules

MEETS_NOBODY = {
    "CheckFailed": "the conformance kit lists it as a finding",
    "Failed": "a drill of `bots check` lists it as a finding",
    "ReplayError": "becomes a line of a verdict",
    "Silent": "likewise",
    "StartError": "becomes a fault of the bot, or a void match",
    "BotStartError": "becomes a fault of the bot",
    "LostAtStart": "becomes a void match",
    "SeatLostError": "becomes a void match",
    "MatchLost": "the match is played again",
    "HandshakeError": "becomes a fault of the bot",
    "Refusal": "ends a call of a bot with a gRPC status",
    "_NotThereError": "the match is played on another machine",
    "_NowhereError": "becomes a void match",
    "_ConnectionError": "ends a connection of a bot",
    "_PlatformTrouble": "the hand-in is tried again",
    "_Refused": "ends a request of a build with an HTTP status",
    "_HurriedError": "the index is completed by the next run of the command",
    "TablesBusy": "the page asks the browser to try again",
}


def exceptions() -> list[type[BaseException]]:
    found = []
    for name, _ in modules():
        if name.split(".")[0] in ("referee", "leaderboard"):
            for value in vars(import_module(name)).values():
                if inspect.isclass(value) and issubclass(value, BaseException) and value.__module__ == name:
                    found.append(value)
    return found


@pytest.mark.parametrize("kind", exceptions(), ids=lambda kind: kind.__name__)
def test_an_error_that_a_person_may_meet_has_its_next_step(kind: type[BaseException]) -> None:
    """`ExpectedError` demands it of all its subclasses, as the type checker sees."""
    if kind.__name__ in MEETS_NOBODY:
        assert not issubclass(kind, ExpectedError | GameError), "no longer an exception to the rule"
    elif issubclass(kind, GameError):
        assert kind.next_step
    else:
        assert issubclass(kind, ExpectedError)
        given = inspect.signature(kind).parameters.get("next_step")
        assert given is None or given.default != "" or issubclass(kind, BuildError)  # names its log


def test_the_list_of_errors_that_nobody_meets_names_no_others() -> None:
    assert set(MEETS_NOBODY) <= {kind.__name__ for kind in exceptions()}


def test_no_sentence_is_taken_apart_to_find_its_next_step() -> None:
    for name, path in modules():
        assert not re.search(r"""(partition|split)\(["'];""", path.read_text()), (
            f"{name} cuts a sentence at a semicolon"
        )
