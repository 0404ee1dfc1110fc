"""The codec: bytes and back, and what it makes of garbage."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from referee.games.api import Action, ActionSyntaxError, Event, State
from referee.games.conformance.copies import difference, named
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.nodes import Node
from referee.games.conformance.refusal import expect_refusal
from referee.games.conformance.trial import Trial

TRIED_ACTIONS = 3
TRIED_DAMAGES = 6


def check_codec(trial: Trial, state: State, node: Node) -> None:
    """Observations of all viewers, each legal action and list; then damaged bytes of each."""
    codec, rng = trial.game.codec, trial.rng("codec")
    sight = trial.sight
    for viewer, observation in sight.observations.items():
        data = sight.looks[viewer]
        first = sight.first_viewers[data]
        if viewer == first:
            there_and_back(
                f"the observation of {named(viewer)}", observation, codec.encode_observation, codec.decode_observation
            )
        elif observation != sight.observations[first]:
            what = difference(sight.observations[first], observation, "it")
            raise CheckFailed(
                "codec", f"what {named(first)} and {named(viewer)} see is encoded alike and differs: {what}"
            )
    check_garbage("decode_observation", codec.decode_observation, data, rng)
    check_garbage("decode_events", codec.decode_events, data, rng)
    for seat, legal in node.legal.items():
        data = there_and_back(
            f"the legal list of seat {seat}", tuple(legal), codec.encode_actions, codec.decode_actions
        )
        check_garbage("decode_actions", codec.decode_actions, data, rng)
        encoded = [there_and_back("the action", action, codec.encode_action, codec.decode_action) for action in legal]
        for data in rng.sample(encoded, min(TRIED_ACTIONS, len(encoded))):
            for action in check_garbage("decode_action", codec.decode_action, data, rng):
                check_foundling(trial, state, seat, action, node)


def check_event_codec(trial: Trial, events: list[Event]) -> None:
    """What each viewer is told of one step."""
    codec = trial.game.codec
    for viewer in trial.viewers:
        payloads = tuple(event.seen_by(viewer) for event in events)
        there_and_back(f"the events for {named(viewer)}", payloads, codec.encode_events, codec.decode_events)


def there_and_back(what: str, value: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]) -> bytes:
    """CheckFailed `codec` unless decoding gives `value` again and encoding that the same bytes."""
    data = encode(value)
    if type(data) is not bytes:
        raise CheckFailed("codec", f"{what} is encoded as {type(data).__name__}, not bytes")
    try:
        read = decode(data)
    except ActionSyntaxError as error:
        raise CheckFailed("codec", f"{what} {value!r} cannot be decoded again: {error}") from error
    if type(read) is not type(value) or read != value:
        raise CheckFailed("codec", f"{what} does not come back the same: {difference(value, read, 'it')}")
    if encode(read) != data or encode(value) != data:
        raise CheckFailed("codec", f"{what} {value!r} is encoded differently the second time")
    return data


def check_garbage(name: str, decode: Callable[[bytes], Any], data: bytes, rng: Random) -> list[Any]:
    """Decode damaged bytes: ActionSyntaxError or a value, which is returned, but nothing else."""
    read = []
    for damaged in damages(data, rng):
        try:
            read.append(decode(damaged))
        except ActionSyntaxError:
            continue
        except Exception as error:
            raise CheckFailed(
                "codec",
                f"{name}({damaged[:100]!r}) raised {type(error).__name__}({error}) instead of ActionSyntaxError",
            ) from error
    return read


def check_foundling(trial: Trial, state: State, seat: int, action: Action, node: Node) -> None:
    """An action read from damaged bytes is either one of the list or refused, and fit to be printed."""
    text = trial.game.format_action(action)
    if not text.isascii() or not text.isprintable():
        raise CheckFailed("action_text", f"{action!r}, decoded from damaged bytes, is written {text!r}")
    if action not in node.legal[seat]:
        answers = {other: legal[0] for other, legal in node.legal.items()} | {seat: action}
        expect_refusal(state.clone(), f"{action!r}, decoded from damaged bytes,", lambda victim: victim.apply(answers))


def damages(data: bytes, rng: Random) -> list[bytes]:
    """Some ways to damage `data`; over many nodes all of them."""
    return rng.sample(list(all_damages(data, rng)), TRIED_DAMAGES)


def all_damages(data: bytes, rng: Random) -> Iterator[bytes]:
    yield b""
    yield b"\xff"
    yield rng.randbytes(12)
    yield data[:-1]
    yield data[: len(data) // 2]
    yield data + b"\x00"
    yield data + data
    for _ in range(4):
        broken = bytearray(data)
        if broken:
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        yield bytes(broken)
