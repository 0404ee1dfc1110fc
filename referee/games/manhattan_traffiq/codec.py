"""To and from the messages of `proto/crosstown/v1/manhattan_traffiq.proto`."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, get_args

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import (
    Converter,
    OneofCodec,
    enum_name,
    field_key,
    parse_message,
    signed_varint,
    varint,
    with_length,
)
from referee.games.manhattan_traffiq.actions import (
    STREETS,
    VEHICLES,
    Attach,
    Compete,
    Decline,
    DrawTile,
    EndTurn,
    Place,
    Taxi,
    TraffiqAction,
    Truck,
)
from referee.games.manhattan_traffiq.data import COLOURS
from referee.games.manhattan_traffiq.events import TraffiqEvent
from referee.games.manhattan_traffiq.observation import (
    LETTERS,
    PHASES,
    CityMap,
    Facts,
    Fleet,
    Observation,
    PlacedTile,
    Standing,
)

_PHASE_NUMBERS: Final = {name: pb.Phase.ValueType(number) for number, name in enumerate(PHASES, 1)}
_VEHICLE_NUMBERS: Final = {name: pb.Vehicle.ValueType(number) for number, name in enumerate(VEHICLES, 1)}
_STREET_NUMBERS: Final = {name: pb.Street.ValueType(number) for number, name in enumerate(STREETS, 1)}

# Actions and events, whose messages have the fields of the dataclasses

_CONVERTERS: Final = {
    "vehicle": Converter(_VEHICLE_NUMBERS.__getitem__, lambda number: enum_name(VEHICLES, number, "vehicle")),
    "streets": Converter(
        lambda streets: [_STREET_NUMBERS[street] for street in streets],
        lambda numbers: tuple([enum_name(STREETS, number, "street") for number in numbers]),
    ),
}
_ACTIONS: Final = OneofCodec(pb.Action, get_args(TraffiqAction), _CONVERTERS)
_EVENTS: Final = OneofCodec(pb.Event, get_args(TraffiqEvent), _CONVERTERS)


def encode_action(action: TraffiqAction) -> bytes:
    data: bytes = _ACTIONS.message(action).SerializeToString()
    return data


def decode_action(data: bytes) -> TraffiqAction:
    action: TraffiqAction = _ACTIONS.value(parse_message(pb.Action, data))
    return action


def encode_events(payloads: Sequence[TraffiqEvent]) -> bytes:
    try:
        return b"".join([payload.encoded for payload in payloads])
    except AttributeError:
        return b"".join([_encoded_event(payload) for payload in payloads])


def _encoded_event(payload: TraffiqEvent) -> bytes:
    """The event as an entry of Events; made once, however many seats are told."""
    try:
        return payload.encoded
    except AttributeError:
        return payload.keep_encoded(pb.Events(events=[_EVENTS.message(payload)]).SerializeToString())


def decode_events(data: bytes) -> tuple[TraffiqEvent, ...]:
    return tuple([_EVENTS.value(message) for message in parse_message(pb.Events, data).events])


# Legal lists, in one column

# Numbers of the kinds in a legal list: those of the fields in Action.
_END_TURN, _DRAW, _TAXI, _TRUCK, _ATTACH, _DECLINE, _PLACE, _COMPETE = range(1, 9)
_COLUMN_KEY: Final = field_key(pb.LegalActions, "column")


def encode_actions(actions: Sequence[TraffiqAction]) -> bytes:
    try:
        column = b"".join([action.encoded for action in actions])
    except AttributeError:
        column = b"".join([_encoded_row(action) for action in actions])
    return with_length(_COLUMN_KEY, column) if column else b""


def _encoded_row(action: TraffiqAction) -> bytes:
    try:
        return action.encoded
    except AttributeError:
        return action.keep_encoded(b"".join(map(signed_varint, _row(action))))


def _row(action: TraffiqAction) -> tuple[int, ...]:
    match action:
        case EndTurn():
            return (_END_TURN,)
        case DrawTile():
            return (_DRAW,)
        case Taxi(x, y, to_x, to_y):
            return (_TAXI, x, y, to_x, to_y)
        case Truck(x, y, to_x, to_y):
            return (_TRUCK, x, y, to_x, to_y)
        case Attach(face, x, y):
            return (_ATTACH, x, y, sum(COLOURS.index(side) << 2 * place for place, side in enumerate(face)))
        case Decline():
            return (_DECLINE,)
        case Place(vehicle, x, y):
            return (_PLACE, x, y, _VEHICLE_NUMBERS[vehicle])
        case Compete(streets):
            return (_COMPETE, sum(1 << STREETS.index(street) for street in streets))


def decode_actions(data: bytes) -> tuple[TraffiqAction, ...]:
    column = iter(parse_message(pb.LegalActions, data).column)
    actions: list[TraffiqAction] = []
    try:
        for kind in column:
            reader = _READERS.get(kind)
            if reader is None:
                raise ActionSyntaxError(f"{kind} is not a kind of action, expected 1 to {_COMPETE}")
            actions.append(reader(column))
    except StopIteration:
        raise ActionSyntaxError("the column of LegalActions ends within an action") from None
    return tuple(actions)


def _street_set(mask: int) -> tuple[str, ...]:
    if not 0 < mask < 1 << len(STREETS):
        raise ActionSyntaxError(f"{mask} is not a set of streets")
    return tuple(street for place, street in enumerate(STREETS) if mask >> place & 1)


def _read_attach(column: Iterator[int]) -> Attach:
    x, y, face = next(column), next(column), next(column)
    if not 0 <= face < 1 << 2 * LETTERS:
        raise ActionSyntaxError(f"{face} is not a face, expected two bits for each of {LETTERS} sides")
    return Attach("".join(COLOURS[face >> 2 * side & 3] for side in range(LETTERS)), x, y)


def _read_place(column: Iterator[int]) -> Place:
    x, y, vehicle = next(column), next(column), next(column)
    return Place(enum_name(VEHICLES, vehicle, "vehicle"), x, y)


_READERS: Final[dict[int, Callable[[Iterator[int]], TraffiqAction]]] = {
    _END_TURN: lambda column: EndTurn(),
    _DRAW: lambda column: DrawTile(),
    _TAXI: lambda column: Taxi(next(column), next(column), next(column), next(column)),
    _TRUCK: lambda column: Truck(next(column), next(column), next(column), next(column)),
    _ATTACH: _read_attach,
    _DECLINE: lambda column: Decline(),
    _PLACE: _read_place,
    _COMPETE: lambda column: Compete(_street_set(next(column))),
}


# Observations. Messages that are concatenated are merged. So the parts that stay the same are encoded once and kept
# with them, and only the few fields that change are written again: several times as fast as filling in one message.

_TURNS: Final = field_key(pb.Observation, "turns")
_IDLE_TURNS: Final = field_key(pb.Observation, "idle_turns")
_STOCK: Final = field_key(pb.Observation, "stock")
_HAND_SIZES: Final = field_key(pb.Observation, "hand_sizes")
_HANDS: Final = field_key(pb.Observation, "hands")
_NO_HAND: Final = _HANDS + varint(0)
_UNSEEN: Final = field_key(pb.Observation, "unseen")


def encode_observation(seen: Observation) -> bytes:
    sizes, unseen = bytes(seen.hand_sizes), seen.unseen
    parts = [
        _encoded_facts(seen.facts),
        _encoded_map(seen.map),
        _encoded_fleet(seen.fleet),
        _encoded_turn(seen.viewer, seen.phase, seen.turn_seat, seen.used, seen.final_round, seen.owed),
        _TURNS,
        varint(seen.turns),
        _IDLE_TURNS,
        varint(seen.idle_turns),
        _STOCK,
        varint(seen.stock),
        _HAND_SIZES,
        varint(len(sizes)),
        sizes,  # each below 128, so a byte each
        _UNSEEN,
        varint(len(unseen)),
        unseen,
    ]
    for hand in seen.hands:
        if hand:
            names = "".join(hand).encode("ascii")
            parts += (_HANDS, varint(len(names)), names)
        else:
            parts.append(_NO_HAND)
    if seen.open_vertices or seen.spot is not None:
        parts.append(_encoded_question(seen))
    return b"".join(parts)


def _encoded_facts(facts: Facts) -> bytes:
    try:
        return facts.encoded
    except AttributeError:
        message = pb.Observation(
            players=facts.players, start_seat=facts.start_seat, left=facts.left, tile_names="".join(facts.tile_names)
        )
        return facts.keep_encoded(message.SerializeToString())


def _encoded_map(city: CityMap) -> bytes:
    try:
        return city.encoded
    except AttributeError:
        pass
    try:
        data = b"".join([tile.encoded for tile in city.tiles])
    except AttributeError:
        data = b"".join([_encoded_tile(tile) for tile in city.tiles])
    return city.keep_encoded(data)


def _encoded_tile(tile: PlacedTile) -> bytes:
    try:
        return tile.encoded
    except AttributeError:
        message = pb.Tile(x=tile.x, y=tile.y, face=tile.face)
        return tile.keep_encoded(pb.Observation(tiles=[message]).SerializeToString())


def _encoded_fleet(fleet: Fleet) -> bytes:
    try:
        return fleet.encoded
    except AttributeError:
        numbers = pb.Observation(taxis=fleet.taxis, trucks=fleet.trucks, scores=fleet.scores)
        vehicles = [_encoded_vehicle(vehicle) for vehicle in fleet.standing]
        return fleet.keep_encoded(b"".join([*vehicles, numbers.SerializeToString()]))


def _encoded_vehicle(it: Standing) -> bytes:
    try:
        return it.encoded
    except AttributeError:
        message = pb.Standing(x=it.x, y=it.y, seat=it.seat, vehicle=_VEHICLE_NUMBERS[it.vehicle])
        return it.keep_encoded(pb.Observation(vehicles=[message]).SerializeToString())


@lru_cache(maxsize=4096)
def _encoded_turn(
    viewer: int | None, phase: str, turn_seat: int, used: str, final_round: bool, owed: tuple[int, ...]
) -> bytes:
    return pb.Observation(
        viewer=viewer,
        phase=_PHASE_NUMBERS[phase],
        turn_seat=turn_seat,
        used=used,
        final_round=final_round,
        owed=owed,
    ).SerializeToString()


def _encoded_question(seen: Observation) -> bytes:
    message = pb.Observation(
        open_x=[x for x, _ in seen.open_vertices],
        open_y=[y for _, y in seen.open_vertices],
        streets=[_STREET_NUMBERS[street] for street in seen.streets],
    )
    if seen.spot is not None:
        message.spot_x, message.spot_y = seen.spot
    return message.SerializeToString()


def decode_observation(data: bytes) -> Observation:
    message = parse_message(pb.Observation, data)
    if len(message.open_x) != len(message.open_y):
        raise ActionSyntaxError("the columns open_x and open_y of an Observation have different lengths")
    return Observation(
        viewer=message.viewer if message.HasField("viewer") else None,
        facts=Facts(
            players=message.players,
            start_seat=message.start_seat,
            left=tuple(message.left),
            tile_names=tuple(_faces(message.tile_names)),
        ),
        map=CityMap(tuple(PlacedTile(tile.x, tile.y, tile.face) for tile in message.tiles)),
        fleet=Fleet(
            standing=tuple(
                Standing(it.x, it.y, it.seat, enum_name(VEHICLES, it.vehicle, "vehicle")) for it in message.vehicles
            ),
            taxis=tuple(message.taxis),
            trucks=tuple(message.trucks),
            scores=tuple(message.scores),
        ),
        phase=enum_name(PHASES, message.phase, "phase"),
        turn_seat=message.turn_seat,
        used=message.used,
        turns=message.turns,
        idle_turns=message.idle_turns,
        final_round=message.final_round,
        owed=tuple(message.owed),
        open_vertices=tuple(zip(message.open_x, message.open_y, strict=True)),
        spot=_spot(message),
        streets=tuple(enum_name(STREETS, street, "street") for street in message.streets),
        hand_sizes=tuple(message.hand_sizes),
        hands=tuple(tuple(_faces(hand)) for hand in message.hands),
        stock=message.stock,
        unseen=message.unseen,
    )


def _spot(message: pb.Observation) -> tuple[int, int] | None:
    if message.HasField("spot_x") != message.HasField("spot_y"):
        raise ActionSyntaxError("an Observation has both spot_x and spot_y, or none of them")
    return (message.spot_x, message.spot_y) if message.HasField("spot_x") else None


def _faces(text: str) -> list[str]:
    if len(text) % LETTERS:
        raise ActionSyntaxError(f"{text[:200]!r} is not a row of tiles of four letters")
    return [text[i : i + LETTERS] for i in range(0, len(text), LETTERS)]
