"""To and from the messages of `proto/crosstown/v1/manhattan_traffiq.proto`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb

from referee.games.api import ActionSyntaxError
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
from referee.games.manhattan_traffiq.box import COLOURS
from referee.games.manhattan_traffiq.event_codec import decode_events, encode_events
from referee.games.manhattan_traffiq.messages import (
    STREET_NUMBERS,
    VEHICLE_NUMBERS,
    framed,
    named,
    parsed,
    remember,
    varint,
)
from referee.games.manhattan_traffiq.observation import LETTERS
from referee.games.manhattan_traffiq.observation_codec import decode_observation, encode_observation

__all__ = [
    "decode_action",
    "decode_actions",
    "decode_events",
    "decode_observation",
    "encode_action",
    "encode_actions",
    "encode_events",
    "encode_observation",
]


def encode_action(action: TraffiqAction) -> bytes:
    match action:
        case EndTurn():
            message = pb.Action(end_turn=pb.EndTurn())
        case DrawTile():
            message = pb.Action(draw=pb.Draw())
        case Taxi(x, y, to_x, to_y):
            message = pb.Action(taxi=pb.Ride(x=x, y=y, to_x=to_x, to_y=to_y))
        case Truck(x, y, to_x, to_y):
            message = pb.Action(truck=pb.Ride(x=x, y=y, to_x=to_x, to_y=to_y))
        case Attach(face, x, y):
            message = pb.Action(attach=pb.Attach(face=face, x=x, y=y))
        case Decline():
            message = pb.Action(decline=pb.Decline())
        case Place(vehicle, x, y):
            message = pb.Action(place=pb.Place(vehicle=VEHICLE_NUMBERS[vehicle], x=x, y=y))
        case Compete(streets):
            message = pb.Action(compete=pb.Compete(streets=[STREET_NUMBERS[street] for street in streets]))
    return message.SerializeToString()


def decode_action(data: bytes) -> TraffiqAction:
    message = parsed(pb.Action, data)
    match message.WhichOneof("kind"):
        case "end_turn":
            return EndTurn()
        case "draw":
            return DrawTile()
        case "taxi":
            return Taxi(message.taxi.x, message.taxi.y, message.taxi.to_x, message.taxi.to_y)
        case "truck":
            return Truck(message.truck.x, message.truck.y, message.truck.to_x, message.truck.to_y)
        case "attach":
            return Attach(message.attach.face, message.attach.x, message.attach.y)
        case "decline":
            return Decline()
        case "place":
            place = message.place
            return Place(named(VEHICLES, place.vehicle, "vehicle"), place.x, place.y)
        case "compete":
            return Compete(tuple(named(STREETS, street, "street") for street in message.compete.streets))
        case _:
            raise ActionSyntaxError("an Action names one of its kinds, this one names none")


# Numbers of the kinds in a legal list: those of the fields in Action.
_END_TURN, _DRAW, _TAXI, _TRUCK, _ATTACH, _DECLINE, _PLACE, _COMPETE = range(1, 9)
_COLUMN_TAG: Final = b"\x0a"  # field 1, length-delimited


def encode_actions(actions: Sequence[TraffiqAction]) -> bytes:
    try:
        column = b"".join([action.wire for action in actions])
    except AttributeError:
        column = b"".join([_row_wire(action) for action in actions])
    return framed(_COLUMN_TAG, column) if column else b""


def _row_wire(action: TraffiqAction) -> bytes:
    try:
        return action.wire
    except AttributeError:
        return remember(action, b"".join(map(varint, _row(action))))


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
            return (_PLACE, x, y, VEHICLE_NUMBERS[vehicle])
        case Compete(streets):
            return (_COMPETE, sum(1 << STREETS.index(street) for street in streets))


def decode_actions(data: bytes) -> tuple[TraffiqAction, ...]:
    column = iter(parsed(pb.LegalActions, data).column)
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
    return Place(named(VEHICLES, vehicle, "vehicle"), x, y)


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
