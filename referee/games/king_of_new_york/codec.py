"""To and from the messages of `proto/crosstown/v1/king_of_new_york.proto`.

The parts of an observation that change often are written by hand: almost all values are below 128, where a packed
column is its bytes. `slow_bytes` does the same with the generated messages and takes over when a value is larger.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache
from struct import pack
from typing import Any, TypeVar

from crosstown_proto.v1 import king_of_new_york_pb2 as pb
from google.protobuf.message import DecodeError, Message

from referee.games.api import ActionSyntaxError
from referee.games.king_of_new_york import actions, events
from referee.games.king_of_new_york.actions import KingAction
from referee.games.king_of_new_york.agenda import QUESTION_NAMES
from referee.games.king_of_new_york.box import shipped_card_ids
from referee.games.king_of_new_york.events import KingEvent
from referee.games.king_of_new_york.names import BOROUGHS, FACES, UNITS
from referee.games.king_of_new_york.observation import (
    PART_FIELDS,
    PARTS,
    Board,
    Cards,
    Holdings,
    Observation,
    Setting,
)

_Message = TypeVar("_Message", bound=Message)

_QUESTIONS = ("", *QUESTION_NAMES)
_QUESTION_NUMBER = {name: pb.Question.ValueType(number) for number, name in enumerate(_QUESTIONS)}
_ACTION_KINDS = {cls: number for number, cls in enumerate(actions.CLASSES, 1)}
_ACTION_CLASSES = {cls.KIND: cls for cls in actions.CLASSES}
_EVENT_CLASSES = {cls.KIND: cls for cls in events.CLASSES}
_FIELDS = {cls: tuple(part.name for part in fields(cls)) for cls in (*actions.CLASSES, *events.CLASSES)}
_WORDS = {
    "borough": BOROUGHS,
    "left": BOROUGHS,
    "face": FACES,
    "die": FACES,
    "to": FACES,
    "unit": UNITS,
    "card": shipped_card_ids(),
}
"""Fields that are words in Python and numbers on the wire."""
_NUMBERS = {name: {word: number for number, word in enumerate(words)} for name, words in _WORDS.items()}
_FLAGS = ("use", "extra")
_FACE_COUNT = len(FACES)
_REMEMBERED = 8192
_LARGEST_BYTE = 127


class KingCodec:
    """See `referee.games.api.Codec`. Remembers the bytes of legal lists that come again."""

    def __init__(self) -> None:
        self._lists: dict[int, tuple[Sequence[KingAction], bytes]] = {}
        self._actions: dict[int, tuple[KingAction, int, bytes]] = {}

    def encode_observation(self, observation: Observation) -> bytes:
        return encode_observation(observation)

    def decode_observation(self, data: bytes) -> Observation:
        return decode_observation(data)

    def encode_action(self, action: KingAction) -> bytes:
        body: dict[str, Any] = {action.KIND: _body(action)}
        return pb.Action(**body).SerializeToString()

    def decode_action(self, data: bytes) -> KingAction:
        message = _parsed(pb.Action, data)
        kind = message.WhichOneof("kind")
        if kind is None:
            raise ActionSyntaxError(f"the Action message is empty: expected one of {', '.join(_ACTION_CLASSES)}")
        action: KingAction = _from_body(_ACTION_CLASSES[kind], getattr(message, kind))
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
        return b"".join((b"\x0a", _varint(len(kinds)), kinds, b"\x12", _varint(len(column)), column))

    def decode_actions(self, data: bytes) -> tuple[KingAction, ...]:
        message = _parsed(pb.LegalActions, data)
        if len(message.kinds) != len(message.values):
            raise ActionSyntaxError("the columns of LegalActions differ in length")
        return tuple(_unpacked(kind, value) for kind, value in zip(message.kinds, message.values, strict=True))

    def encode_events(self, payloads: Sequence[KingEvent]) -> bytes:
        return b"".join([_event_bytes(payload) for payload in payloads])

    def decode_events(self, data: bytes) -> tuple[KingEvent, ...]:
        return tuple(_decoded_event(message) for message in _parsed(pb.Events, data).events)


def _body(value: Any) -> dict[str, Any]:
    """The fields of an action or event as its message has them."""
    body: dict[str, Any] = {}
    for name in _FIELDS[type(value)]:
        part = getattr(value, name)
        body[name] = _NUMBERS[name][part] if name in _NUMBERS else part
    return body


def _from_body(cls: type[Any], body: Any) -> Any:
    return cls(*[_read(name, getattr(body, name)) for name in _FIELDS[cls]])


def _read(name: str, part: Any) -> Any:
    if name in _WORDS:
        words = _WORDS[name]
        if not 0 <= part < len(words):
            raise ActionSyntaxError(f"{name} {part} is unknown: expected 0 to {len(words) - 1}")
        return words[part]
    if name == "counts":
        if len(part) != _FACE_COUNT:
            raise ActionSyntaxError(f"counts has {len(part)} values: expected {_FACE_COUNT}")
        return tuple(part)
    return part


def _packed(action: KingAction) -> tuple[int, bytes]:
    """Kind, and value as a varint."""
    shift = value = 0
    for name in _FIELDS[type(action)]:
        part = getattr(action, name)
        if name == "counts":
            value = sum(count << 4 * face for face, count in enumerate(part))
        else:
            value |= (_NUMBERS[name][part] if name in _NUMBERS else int(part)) << shift
            shift += 4
    return _ACTION_KINDS[type(action)], _varint(value)


def _unpacked(kind: int, value: int) -> KingAction:
    if not 1 <= kind <= len(actions.CLASSES):
        raise ActionSyntaxError(f"LegalActions holds an action of unknown kind {kind}")
    cls = actions.CLASSES[kind - 1]
    names = _FIELDS[cls]
    if names == ("counts",):
        action: KingAction = cls(tuple(value >> 4 * face & 15 for face in range(_FACE_COUNT)))
        return action
    parts = []
    for place, name in enumerate(names):
        part = value >> 4 * place
        if place + 1 < len(names):
            part &= 15
        parts.append(bool(part) if name in _FLAGS else _read(name, part))
    return cls(*parts)  # type: ignore[no-any-return]


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > _LARGEST_BYTE:
        found.append(value & _LARGEST_BYTE | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


@lru_cache(maxsize=16384)
def _event_bytes(payload: KingEvent) -> bytes:
    """An Events message with this event alone; such messages may be joined."""
    body: dict[str, Any] = {payload.KIND: _body(payload)}
    return pb.Events(events=[pb.Event(**body)]).SerializeToString()


def _decoded_event(message: pb.Event) -> KingEvent:
    kind = message.WhichOneof("kind")
    if kind is None:
        raise ActionSyntaxError("an Event message is empty or of a kind this version does not know")
    event: KingEvent = _from_body(_EVENT_CLASSES[kind], getattr(message, kind))
    return event


def encode_observation(o: Observation) -> bytes:
    """The Observation message. In the tuples below: tag, length or value, values; bytearray() is the quicker way."""
    seats, now = o.seats, o.turn_state
    n = o.setting.players
    # fmt: off
    try:
        hot = bytearray((
            16, _QUESTION_NUMBER[o.question], 24, o.asked, 32, o.active, 40, o.order, 48, o.turn,
            96, o.deaths, 104, o.left, 112, o.winner,
            58, 5 * n + 10, 10, n, *seats.life, 18, n, *seats.vp, 26, n, *seats.energy, 34, n, *seats.where,
            42, n, *seats.berth,
            90, 4 * n + 66, 8, now.roll, 16, now.rerolls, 26, 6, *now.dice, 34, 6, *now.bonus, 42, 6, *now.shown,
            48, now.force, 58, 3, *now.killed, 66, n, *now.gained, 74, n, *now.dealt, 82, n, *now.hit,
            90, n, *now.absorbed, 96, now.rides, 104, now.dashed, 112, now.trades, 120, now.razed,
        ))
    except ValueError:
        return slow_bytes(o)
    agenda = b"".join([_task_bytes(task) for task in o.agenda])
    # From 128 on a value, or a length, takes two bytes.
    if not hot.isascii() or len(agenda) > _LARGEST_BYTE:
        return slow_bytes(o)
    rest = bytearray((
        128, 1, now.tapped, 136, 1, now.site, 144, 1, now.units_only,
        157, 1, now.exposed & 255, now.exposed >> 8, 0, 0, 130, 1, len(agenda),
    ))
    return b"".join((
        _kept(o.setting, _setting_bytes), hot, rest, agenda, _kept(o.holdings, _holdings_bytes),
        _kept(o.board, _board_bytes), _kept(o.cards, _cards_bytes), _reason_bytes(o.reason) if o.reason else b"",
    ))
    # fmt: on


def _kept(part: Any, encode: Callable[[Any], bytes]) -> bytes:
    """The bytes of a part, kept with it: the observations of a match share parts that have not changed."""
    known: bytes | None = part.__dict__.get("_bytes")
    if known is None:
        known = part.__dict__["_bytes"] = encode(part)
    return known


def _holdings_bytes(part: Holdings) -> bytes:
    if max(*part.turns, *part.defence_rolls) > _LARGEST_BYTE:
        return _part_bytes("holdings", part)
    n = len(part.out)
    body = bytearray(
        (
            *(10, n, *part.out, 26, n, *part.web, 34, n, *part.jinx, 42, n, *part.carapace, 50, n, *part.turns),
            *(58, 3 * n, *part.trophies, 66, n, *part.defence_rolls, 74, n, *part.start_attacks, 18, 8 * n),
        )
    ) + pack(f"<{n}Q", *part.keep)
    return b"\x42" + _varint(len(body)) + body


def _board_bytes(part: Board) -> bytes:
    kinds = len(part.pool)
    body = bytearray(
        (
            *(74, 77 + kinds, 10, 15, *part.tops, 18, 15, *part.covered, 26, kinds, *part.pool),
            *(34, 15, *part.units, 42, 15, *part.fresh, 50, 3, *part.lost, 56, part.souvenirs),
        )
    )
    return bytes(body)


def _cards_bytes(part: Cards) -> bytes:
    if part.epoch > _LARGEST_BYTE:
        return _part_bytes("cards", part)
    body = bytearray(
        (
            *(10, 3, *part.market, 40, part.epoch, 50, len(part.claims), *part.claims, 56, part.superstar),
            *(64, part.statue, 72, part.web_left, 80, part.jinx_left, 88, part.carapace_left),
            *(98, len(part.extra), *part.extra),
        )
    ) + pack("<BQBQBQ", 17, part.deck, 25, part.discards, 33, part.played)
    return b"\x52" + _varint(len(body)) + body


def _setting_bytes(setting: Setting) -> bytes:
    body = {part.name: getattr(setting, part.name) for part in fields(setting)}
    return pb.Observation(setting=pb.Setting(**body)).SerializeToString()


@lru_cache(maxsize=32)
def _reason_bytes(reason: str) -> bytes:
    return pb.Observation(reason=reason).SerializeToString()


@lru_cache(maxsize=8192)
def _task_bytes(task: tuple[int, ...]) -> bytes:
    return bytes((len(task), *task))


def _part_bytes(name: str, part: Any) -> bytes:
    """An Observation message with this part alone; such messages may be joined."""
    names = _PART_NAMES[name]
    body = {there: getattr(part, here) for here, there in names.items()}
    whole: dict[str, Any] = {name: _PART_MESSAGES[name](**body)}
    return pb.Observation(**whole).SerializeToString()


def slow_bytes(o: Observation) -> bytes:
    """The whole message through the generated classes."""
    head = pb.Observation(
        question=_QUESTION_NUMBER[o.question],
        asked_seat=o.asked,
        active_seat=o.active,
        order_seat=o.order,
        turn=o.turn,
        deaths=o.deaths,
        left=o.left,
        winner_seat=o.winner,
        reason=o.reason,
        agenda=[value for task in o.agenda for value in (len(task), *task)],
    )
    parts = [_part_bytes(name, getattr(o, name)) for name in PARTS]
    return b"".join((_setting_bytes(o.setting), head.SerializeToString(), *parts))


_PART_MESSAGES: dict[str, type[Any]] = {
    "seats": pb.Seats,
    "holdings": pb.Holdings,
    "board": pb.Board,
    "cards": pb.Cards,
    "turn_state": pb.TurnState,
}
_RENAMED = {
    "where": "borough",
    "berth": "space",
    "keep": "keep_cards",
    "pool": "unseen",
    "fresh": "fresh_units",
    "lost": "lost_trophies",
    "superstar": "superstar_seat",
    "statue": "statue_seat",
    "extra": "extra_turns",
}
_PART_NAMES = {name: {here: _RENAMED.get(here, here) for here in PART_FIELDS[name]} for name in PARTS}
"""Per part the names of its fields in Python and on the wire."""


def decode_observation(data: bytes) -> Observation:
    """Raises ActionSyntaxError."""
    message = _parsed(pb.Observation, data)
    parts = {
        name: cls(**{here: _plain(getattr(getattr(message, name), there)) for here, there in _PART_NAMES[name].items()})
        for name, cls in PARTS.items()
    }
    if message.question not in _QUESTION_NUMBER.values():
        raise ActionSyntaxError(f"the question {message.question} is unknown")
    return Observation(
        setting=_decoded_setting(message.setting.SerializeToString()),
        question=_QUESTIONS[message.question],
        asked=message.asked_seat,
        active=message.active_seat,
        order=message.order_seat,
        turn=message.turn,
        deaths=message.deaths,
        left=message.left,
        winner=message.winner_seat,
        reason=message.reason,
        agenda=_tasks(message.agenda),
        **parts,
    )


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
    message = pb.Setting.FromString(data)
    return Setting(**{part.name: _plain(getattr(message, part.name)) for part in fields(Setting)})


def _parsed(kind: type[_Message], data: bytes) -> _Message:
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise ActionSyntaxError(
            f"{len(data)} bytes are no {kind.DESCRIPTOR.name} message of king_of_new_york"
        ) from error
