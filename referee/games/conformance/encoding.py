"""Checks of how a game writes things: bytes (codec), action text, boards and sentences (view)."""

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from referee.games.api import (
    ID_LIKE,
    Action,
    ActionSyntaxError,
    Event,
    State,
    action_sentence,
    event_sentence,
    has_sentences,
    text_board,
)
from referee.games.conformance.checks import CheckFailed, difference, viewer_name
from referee.games.conformance.states import expect_refusal
from referee.games.conformance.trial import Node, Trial

TRIED_ACTIONS = 3
TRIED_DAMAGES = 6


def check_codec(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `codec` unless observations and legal actions round-trip and damaged bytes are refused."""
    codec, rng = trial.game.codec, trial.rng("codec")
    snapshot = trial.snapshot
    for viewer, observation in snapshot.observations.items():
        data = snapshot.encoded[viewer]
        first = snapshot.first_viewers[data]
        if viewer == first:
            check_round_trip(
                f"the observation of {viewer_name(viewer)}",
                observation,
                codec.encode_observation,
                codec.decode_observation,
            )
        elif observation != snapshot.observations[first]:
            what = difference(snapshot.observations[first], observation, "it")
            raise CheckFailed(
                "codec", f"what {viewer_name(first)} and {viewer_name(viewer)} see is encoded alike and differs: {what}"
            )
    check_garbage("decode_observation", codec.decode_observation, data, rng)
    check_garbage("decode_events", codec.decode_events, data, rng)
    for seat, legal in node.legal.items():
        data = check_round_trip(
            f"the legal list of seat {seat}", tuple(legal), codec.encode_actions, codec.decode_actions
        )
        check_garbage("decode_actions", codec.decode_actions, data, rng)
        encoded = [check_round_trip("the action", action, codec.encode_action, codec.decode_action) for action in legal]
        for data in rng.sample(encoded, min(TRIED_ACTIONS, len(encoded))):
            for action in check_garbage("decode_action", codec.decode_action, data, rng):
                check_decoded_action(trial, state, seat, action, node)


def check_event_codec(trial: Trial, events: list[Event]) -> None:
    """CheckFailed `codec` unless the events of one step round-trip for each viewer."""
    codec = trial.game.codec
    for viewer in trial.viewers:
        payloads = tuple(event.seen_by(viewer) for event in events)
        check_round_trip(f"the events for {viewer_name(viewer)}", payloads, codec.encode_events, codec.decode_events)


def check_round_trip(what: str, value: Any, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]) -> bytes:
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
    """Return what damaged bytes decode to. CheckFailed `codec` if decoding raises anything but ActionSyntaxError."""
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


def check_decoded_action(trial: Trial, state: State, seat: int, action: Action, node: Node) -> None:
    """CheckFailed if an action decoded from damaged bytes is illegal and accepted, or cannot be printed."""
    text = trial.game.format_action(action)
    if not text.isascii() or not text.isprintable():
        raise CheckFailed("action_text", f"{action!r}, decoded from damaged bytes, is written {text!r}")
    if action not in node.legal[seat]:
        answers = {other: legal[0] for other, legal in node.legal.items()} | {seat: action}
        expect_refusal(state.clone(), f"{action!r}, decoded from damaged bytes,", lambda victim: victim.apply(answers))


def damages(data: bytes, rng: Random) -> list[bytes]:
    """Some damaged copies of `data`; many nodes together try every kind of damage."""
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


ARABIC_DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
FULLWIDTH_DIGITS = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))
LONGEST_TEXT = 1000
TRIED_TEXTS = 4


def check_action_text(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `action_text` unless legal actions round-trip through unique texts with one spelling each."""
    game, rng = trial.game, trial.rng("action_text")
    for seat, legal in node.legal.items():
        texts = [game.format_action(action) for action in legal]
        if len(set(texts)) != len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise CheckFailed("action_text", f"two legal actions of seat {seat} are both written {twice!r}")
        for action, text in zip(legal, texts, strict=True):
            if not text.isascii() or not text.isprintable() or len(text) > LONGEST_TEXT:
                raise CheckFailed("action_text", f"{text!r} is not {LONGEST_TEXT} printable ASCII characters at most")
            if (read := parsed(trial, text)) != action:
                raise CheckFailed("action_text", f"{action!r} is written {text!r}, which reads {read!r}")
        for text in rng.sample(texts, min(TRIED_TEXTS, len(texts))):
            for spelling in respelled(text):
                check_spelling(trial, spelling)


def parsed(trial: Trial, text: str) -> object:
    try:
        return trial.game.parse_action(text)
    except ActionSyntaxError as error:
        raise CheckFailed("action_text", f"parse_action refuses the game's own {text!r}: {error}") from error


def check_spelling(trial: Trial, spelling: str) -> None:
    """CheckFailed `action_text` if `spelling` is accepted and is not the canonical text of its action."""
    try:
        action = trial.game.parse_action(spelling)
    except ActionSyntaxError:
        return
    except Exception as error:
        raise CheckFailed(
            "action_text", f"parse_action({spelling!r}) raised {type(error).__name__}({error})"
        ) from error
    if trial.game.format_action(action) != spelling:
        raise CheckFailed(
            "action_text", f"{spelling!r} is taken, though it is written {trial.game.format_action(action)!r}"
        )


def respelled(text: str) -> Iterator[str]:
    """Other spellings of `text`, most of them wrong."""
    yield ""
    yield f" {text}"
    yield f"{text} "
    yield f"{text}\n"
    yield f"{text})"
    yield text[:-1]
    yield text.upper()
    yield text.replace("(", "( ")
    yield text.replace(",", ", ")
    yield text.replace("=", " = ")
    yield text.replace(")", ",)")
    yield text.replace("=", "=+")
    yield text.replace("=", "=0")
    yield text.replace("=", "=-")
    yield text.replace("[", "[,")
    yield text.replace("]", ",]")
    yield text.translate(ARABIC_DIGITS)
    yield text.translate(FULLWIDTH_DIGITS)
    head, _, inner = text.partition("(")
    fields = inner.removesuffix(")").split(",")
    yield f"{head}({','.join(reversed(fields))})"
    yield f"{head}({','.join([*fields, *fields[-1:]])})"
    yield f"{head}()"
    yield f"no_such_kind({inner}"


COLUMNS = 100
SENTENCE_CHARACTERS = 300
STRANGE = re.compile(r"[^ -~\u2500-\u25ff]")


def check_view(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `view` for a board of any viewer or a sentence about a legal action that is malformed.

    One viewer's board is also drawn from its decoded observation and must be the same.
    """
    game, codec = trial.game, trial.game.codec
    again = trial.rng("view").choice(list(trial.snapshot.first_viewers))
    for encoded, viewer in trial.snapshot.first_viewers.items():
        board = text_board(game, trial.snapshot.observations[viewer])
        check_board(board, f"the board of {viewer_name(viewer)}")
        if encoded == again and text_board(game, codec.decode_observation(encoded)) != board:
            raise CheckFailed("view", f"the board of {viewer_name(viewer)} is drawn differently a second time")
    for seat, legal in node.legal.items():
        seen = trial.snapshot.observations[seat]
        sentences = [action_sentence(game, action, seen) for action in legal]
        for action, sentence in zip(legal, sentences, strict=True):
            check_sentence(sentence, f"the sentence for {action!r}")
        if len(set(sentences)) != len(sentences):
            twice = next(sentence for sentence in sentences if sentences.count(sentence) > 1)
            raise CheckFailed("view", f"two legal actions of seat {seat} are both described as {twice!r}")


def check_event_view(trial: Trial, state: State, events: list[Event]) -> None:
    """CheckFailed `view` for a malformed sentence about an event, for each viewer. `state` is that after them."""
    for viewer in trial.viewers:
        seen = state.observation(viewer)
        for payload in (event.seen_by(viewer) for event in events):
            check_sentence(event_sentence(trial.game, payload, seen), f"the sentence for {payload!r}")


NAMES = ("Ada", "Bo", "Cleo", "Dag", "Eve", "Flo", "Gus", "Hal", "Ida", "Jo", "Kim", "Lea")
"""What seats are called in checks."""


def check_sentences(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `sentences` if the view has none, or for a board or an action's sentence with an id in it."""
    game = trial.game
    if not has_sentences(game):
        raise CheckFailed("sentences", "the view has no action_sentence and event_sentence, which name the players")
    for viewer in trial.snapshot.first_viewers.values():
        board = text_board(game, trial.snapshot.observations[viewer], NAMES)
        check_board(board, f"the board of {viewer_name(viewer)}")
        check_no_id(board, f"the board of {viewer_name(viewer)}")
    for seat, legal in node.legal.items():
        for action in legal:
            sentence = action_sentence(game, action, trial.snapshot.observations[seat], NAMES)
            check_no_id(sentence, f"the sentence for {action!r}")


def check_event_sentences(trial: Trial, state: State, events: list[Event]) -> None:
    """CheckFailed `sentences` for a sentence about an event with an id in it, one that calls a seat by its number, or
    one that does not follow from the bytes that its viewer was sent. `state` is that after the events."""
    game, codec = trial.game, trial.game.codec
    for viewer in trial.viewers:
        seen = state.observation(viewer)
        payloads = [event.seen_by(viewer) for event in events]
        sentences = [event_sentence(game, payload, seen, NAMES) for payload in payloads]
        for payload, sentence in zip(payloads, sentences, strict=True):
            check_no_id(sentence, f"the sentence for {payload!r}")
            if CALLED_BY_NUMBER.search(sentence):
                raise CheckFailed("sentences", f"a seat that has a name is called by its number: {sentence!r}")
        sent = codec.decode_observation(codec.encode_observation(seen))
        heard = codec.decode_events(codec.encode_events(payloads))
        if [event_sentence(game, payload, sent, NAMES) for payload in heard] != sentences:
            raise CheckFailed("sentences", f"{viewer_name(viewer)} reads what its messages do not hold: {sentences}")


CALLED_BY_NUMBER = re.compile(r"\bseat \d", re.IGNORECASE)


def check_no_id(text: str, what: str) -> None:
    if found := ID_LIKE.search(text):
        raise CheckFailed("sentences", f"{what} has the id {found[0]!r} instead of a name")


def check_board(board: str, what: str) -> None:
    check_characters(board.replace("\n", ""), what)
    for number, line in enumerate(board.split("\n"), 1):
        if len(line) > COLUMNS:
            raise CheckFailed("view", f"{what}, line {number} has {len(line)} columns, more than {COLUMNS}")
        if line != line.rstrip():
            raise CheckFailed("view", f"{what}, line {number} ends in blanks: {line!r}")


def check_sentence(sentence: str, what: str) -> None:
    check_characters(sentence, what)
    if not sentence.strip() or len(sentence) > SENTENCE_CHARACTERS:
        raise CheckFailed("view", f"{what} has {len(sentence)} characters, not 1 to {SENTENCE_CHARACTERS}")


def check_characters(text: str, what: str) -> None:
    if strange := STRANGE.search(text):
        raise CheckFailed("view", f"{what} has the character {strange[0]!r}, neither ASCII nor a box character")
