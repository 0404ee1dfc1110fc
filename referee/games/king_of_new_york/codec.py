"""To and from the messages of `proto/crosstown/v1/king_of_new_york.proto`, whose fields have the names used here.

The parts of an observation that often change are packed by hand: almost all values are below 128, where a packed column
is its bytes. `generated_bytes` does the same with the generated classes, and takes over when a value is larger.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from struct import pack
from typing import Any, Final

from crosstown_proto.v1 import king_of_new_york_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import Converter, OneofCodec, parse_message, varint
from referee.games.king_of_new_york import actions, events
from referee.games.king_of_new_york.actions import KingAction
from referee.games.king_of_new_york.constants import BOROUGHS, FACES, QUESTION_NAMES, UNITS
from referee.games.king_of_new_york.data import shipped_card_ids
from referee.games.king_of_new_york.events import KingEvent
from referee.games.king_of_new_york.observation import PARTS, VALUES, Board, Cards, Holdings, Observation, Setting

_QUESTIONS: Final = ("", *QUESTION_NAMES)
_QUESTION_NUMBER: Final = {name: pb.Question.ValueType(number) for number, name in enumerate(_QUESTIONS)}
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "borough": BOROUGHS,
    "left": BOROUGHS,
    "face": FACES,
    "die": FACES,
    "to": FACES,
    "unit": UNITS,
    "card": shipped_card_ids(),
}
"""Fields of actions and events that are words in Python and numbers on the wire."""
_NUMBERS: Final = {name: {word: number for number, word in enumerate(words)} for name, words in _WORDS.items()}
_ACTION_NUMBERS: Final = {cls: number for number, cls in enumerate(actions.CLASSES, 1)}
_ACTION_FIELDS: Final = {cls: tuple(part.name for part in fields(cls)) for cls in actions.CLASSES}
_REMEMBERED: Final = 8192
_LARGEST_BYTE: Final = 127


def _word(name: str, number: int) -> str:
    words = _WORDS[name]
    if not 0 <= number < len(words):
        raise ActionSyntaxError(f"{name} {number} is unknown: expected 0 to {len(words) - 1}")
    return words[number]


def _counts(counts: Sequence[int]) -> tuple[int, ...]:
    if len(counts) != len(FACES):
        raise ActionSyntaxError(f"counts has {len(counts)} values: expected {len(FACES)}")
    return tuple(counts)


def _word_converter(name: str) -> Converter:
    return Converter(_NUMBERS[name].__getitem__, lambda number: _word(name, number))


_CONVERTERS: Final = {name: _word_converter(name) for name in _WORDS} | {"counts": Converter(tuple, _counts)}
_ACTIONS: Final = OneofCodec(pb.Action, actions.CLASSES, _CONVERTERS)
_EVENTS: Final = OneofCodec(pb.Event, events.CLASSES, _CONVERTERS)


class KingCodec:
    """See `referee.games.api.Codec`. Remembers the bytes of legal lists that come again."""

    def __init__(self) -> None:
        self._lists: dict[int, tuple[Sequence[KingAction], bytes]] = {}
        self._actions: dict[int, tuple[KingAction, int, bytes]] = {}

    def encode_observation(self, o: Observation) -> bytes:
        """See the top of this file. In the tuples below: tag, length or value, values."""
        seats, now = o.seats, o.turn_state
        n = o.setting.players
        # fmt: off
        try:
            head = bytearray((
                16, _QUESTION_NUMBER[o.question], 24, o.asked_seat, 32, o.active_seat, 40, o.order_seat, 48, o.turn,
                96, o.deaths, 104, o.left, 112, o.winner_seat,
                58, 5 * n + 10, 10, n, *seats.life, 18, n, *seats.vp, 26, n, *seats.energy, 34, n, *seats.borough,
                42, n, *seats.space,
                90, 4 * n + 66, 8, now.roll, 16, now.rerolls, 26, 6, *now.dice, 34, 6, *now.bonus, 42, 6, *now.shown,
                48, now.force, 58, 3, *now.killed, 66, n, *now.gained, 74, n, *now.dealt, 82, n, *now.hit,
                90, n, *now.absorbed, 96, now.rides, 104, now.dashed, 112, now.trades, 120, now.razed,
            ))
        except ValueError:
            return generated_bytes(o)
        agenda = b"".join([_task_bytes(task) for task in o.tasks])
        # From 128 on a value, or a length, takes two bytes.
        if not head.isascii() or len(agenda) > _LARGEST_BYTE:
            return generated_bytes(o)
        tail = bytearray((
            128, 1, now.tapped, 136, 1, now.site, 144, 1, now.units_only,
            157, 1, now.exposed & 255, now.exposed >> 8, 0, 0, 130, 1, len(agenda),
        ))
        return b"".join((
            _kept(o.setting, _setting_bytes), head, tail, agenda, _kept(o.holdings, _holdings_bytes),
            _kept(o.board, _board_bytes), _kept(o.cards, _cards_bytes), _reason_bytes(o.reason) if o.reason else b"",
        ))
        # fmt: on

    def decode_observation(self, data: bytes) -> Observation:
        message = parse_message(pb.Observation, data)
        if message.question not in _QUESTION_NUMBER.values():
            raise ActionSyntaxError(f"the question {message.question} is unknown")
        return Observation(
            setting=_decoded_setting(message.setting.SerializeToString()),
            question=_QUESTIONS[message.question],
            asked_seat=message.asked_seat,
            tasks=_tasks(message.agenda),
            **{name: getattr(message, name) for name in VALUES},
            **{name: _decoded_part(cls, getattr(message, name)) for name, cls in PARTS.items()},
        )

    def encode_action(self, action: KingAction) -> bytes:
        data: bytes = _ACTIONS.message(action).SerializeToString()
        return data

    def decode_action(self, data: bytes) -> KingAction:
        action: KingAction = _ACTIONS.value(parse_message(pb.Action, data))
        return action

    def encode_actions(self, actions: Sequence[KingAction]) -> bytes:
        """Tuples are immutable and shared by states, so their bytes are kept."""
        known = self._lists.get(id(actions))
        if known is not None and known[0] is actions:
            return known[1]
        data = self._columns(actions)
        if type(actions) is tuple:
            if len(self._lists) >= _REMEMBERED:
                self._lists.clear()
            self._lists[id(actions)] = (actions, data)
        return data

    def _columns(self, actions: Sequence[KingAction]) -> bytes:
        """Actions of menus are made once, so their bytes are found by identity: hashing them takes longer."""
        kinds, values, known = bytearray(), [], self._actions
        for action in actions:
            entry = known.get(id(action))
            if entry is None or entry[0] is not action:
                if len(known) >= _REMEMBERED:
                    known.clear()
                entry = known[id(action)] = (action, *_packed(action))
            kinds.append(entry[1])
            values.append(entry[2])
        column = b"".join(values)
        return b"".join((b"\x0a", varint(len(kinds)), kinds, b"\x12", varint(len(column)), column))

    def decode_actions(self, data: bytes) -> tuple[KingAction, ...]:
        message = parse_message(pb.LegalActions, data)
        if len(message.kinds) != len(message.values):
            raise ActionSyntaxError("the columns of LegalActions differ in length")
        return tuple(_unpacked(kind, value) for kind, value in zip(message.kinds, message.values, strict=True))

    def encode_events(self, payloads: Sequence[KingEvent]) -> bytes:
        return b"".join([_event_bytes(payload) for payload in payloads])

    def decode_events(self, data: bytes) -> tuple[KingEvent, ...]:
        return tuple(_EVENTS.value(message) for message in parse_message(pb.Events, data).events)


def _packed(action: KingAction) -> tuple[int, bytes]:
    """The number of its kind, and its fields in one varint: four bits each from the lowest, the last one unlimited."""
    shift = value = 0
    for name in _ACTION_FIELDS[type(action)]:
        part = getattr(action, name)
        for number in part if name == "counts" else (_NUMBERS[name][part] if name in _NUMBERS else int(part),):
            value |= number << shift
            shift += 4
    return _ACTION_NUMBERS[type(action)], varint(value)


def _unpacked(kind: int, value: int) -> KingAction:
    if not 1 <= kind <= len(actions.CLASSES):
        raise ActionSyntaxError(f"LegalActions holds an action of unknown kind {kind}")
    cls = actions.CLASSES[kind - 1]
    names = _ACTION_FIELDS[cls]
    if names == ("counts",):
        action: KingAction = cls(tuple(value >> 4 * face & 15 for face in range(len(FACES))))
        return action
    parts: list[Any] = []
    for place, name in enumerate(names):
        part = value >> 4 * place
        if place + 1 < len(names):
            part &= 15
        parts.append(bool(part) if name == "use" else _word(name, part) if name in _WORDS else part)
    return cls(*parts)  # type: ignore[no-any-return]


@lru_cache(maxsize=16384)
def _event_bytes(payload: KingEvent) -> bytes:
    """An Events message with this event alone. Such messages may be joined."""
    return pb.Events(events=[_EVENTS.message(payload)]).SerializeToString()


def _kept(part: Any, encode: Callable[[Any], bytes]) -> bytes:
    """The bytes of a part, kept with it: the observations of a match share parts that have not changed."""
    known: bytes | None = part.__dict__.get("_bytes")
    if known is None:
        known = part.__dict__["_bytes"] = encode(part)
    return known


def _setting_bytes(part: Setting) -> bytes:
    return _part_bytes("setting", part)


def _holdings_bytes(part: Holdings) -> bytes:
    if max(*part.turns, *part.defence_rolls) > _LARGEST_BYTE:
        return _part_bytes("holdings", part)
    n = len(part.out)
    body = bytearray(
        (
            *(10, n, *part.out, 26, n, *part.web, 34, n, *part.jinx, 42, n, *part.carapace, 50, n, *part.turns),
            *(58, 3 * n, *part.trophies, 66, n, *part.defence_rolls, 74, n, *part.start_attacks, 18, 8 * n),
        )
    ) + pack(f"<{n}Q", *part.keep_cards)
    return b"\x42" + varint(len(body)) + body


def _board_bytes(part: Board) -> bytes:
    kinds = len(part.unseen)
    body = bytearray(
        (
            *(74, 77 + kinds, 10, 15, *part.tops, 18, 15, *part.covered, 26, kinds, *part.unseen),
            *(34, 15, *part.units, 42, 15, *part.fresh_units, 50, 3, *part.lost_trophies, 56, part.souvenirs),
        )
    )
    return bytes(body)


def _cards_bytes(part: Cards) -> bytes:
    if part.epoch > _LARGEST_BYTE:
        return _part_bytes("cards", part)
    body = bytearray(
        (
            *(10, 3, *part.market, 40, part.epoch, 50, len(part.claims), *part.claims, 56, part.superstar_seat),
            *(64, part.statue_seat, 72, part.web_left, 80, part.jinx_left, 88, part.carapace_left),
            *(98, len(part.extra_turns), *part.extra_turns),
        )
    ) + pack("<BQBQBQ", 17, part.deck, 25, part.discards, 33, part.played)
    return b"\x52" + varint(len(body)) + body


@lru_cache(maxsize=32)
def _reason_bytes(reason: str) -> bytes:
    return pb.Observation(reason=reason).SerializeToString()


@lru_cache(maxsize=8192)
def _task_bytes(task: tuple[int, ...]) -> bytes:
    return bytes((len(task), *task))


def _part_bytes(name: str, part: Any) -> bytes:
    """An Observation message with this part alone; such messages may be joined."""
    whole: dict[str, Any] = {name: {field.name: getattr(part, field.name) for field in fields(part)}}
    return pb.Observation(**whole).SerializeToString()


def generated_bytes(o: Observation) -> bytes:
    """The whole Observation message through the generated classes, for any values."""
    head = pb.Observation(
        question=_QUESTION_NUMBER[o.question],
        asked_seat=o.asked_seat,
        agenda=[value for task in o.tasks for value in (len(task), *task)],
        **{name: getattr(o, name) for name in VALUES},
    )
    parts = [_part_bytes(name, getattr(o, name)) for name in PARTS]
    return b"".join((_setting_bytes(o.setting), head.SerializeToString(), *parts))


def _decoded_part(cls: type[Any], message: Any) -> Any:
    return cls(**{field.name: _plain(getattr(message, field.name)) for field in fields(cls)})


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else tuple(value)


def _tasks(flat: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    tasks = []
    at = 0
    while at < len(flat):
        end = at + 1 + flat[at]
        tasks.append(tuple(flat[at + 1 : end]))
        at = end
    return tuple(tasks)


@lru_cache(maxsize=64)
def _decoded_setting(data: bytes) -> Setting:
    setting: Setting = _decoded_part(Setting, pb.Setting.FromString(data))
    return setting
