"""To and from the messages of `proto/crosstown/v1/manhattan_traffiq.proto`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

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
from referee.games.manhattan_traffiq.event_codec import decode_events, encode_events
from referee.games.manhattan_traffiq.messages import (
    PHASE_NUMBERS,
    STREET_NUMBERS,
    VEHICLE_NUMBERS,
    even,
    faces_of,
    named,
    parsed,
)
from referee.games.manhattan_traffiq.observation import PHASES, Observation, PlacedTile, Standing

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


def encode_observation(seen: Observation) -> bytes:
    tiles, vehicles, spot = seen.tiles, seen.vehicles, seen.spot
    return pb.Observation(
        viewer=seen.viewer,
        players=seen.players,
        phase=PHASE_NUMBERS[seen.phase],
        start_seat=seen.start_seat,
        turn_seat=seen.turn_seat,
        used=seen.used,
        turns=seen.turns,
        idle_turns=seen.idle_turns,
        final_round=seen.final_round,
        owed=seen.owed,
        tile_x=[tile.x for tile in tiles],
        tile_y=[tile.y for tile in tiles],
        tile_faces="".join([tile.face for tile in tiles]),
        vehicle_x=[piece.x for piece in vehicles],
        vehicle_y=[piece.y for piece in vehicles],
        vehicle_seat=[piece.seat for piece in vehicles],
        vehicle_kind=[VEHICLE_NUMBERS[piece.vehicle] for piece in vehicles],
        taxis=seen.taxis,
        trucks=seen.trucks,
        hand_sizes=seen.hand_sizes,
        hands=["".join(hand) for hand in seen.hands],
        stock=seen.stock,
        open_x=[x for x, _ in seen.open_vertices],
        open_y=[y for _, y in seen.open_vertices],
        spot_x=None if spot is None else spot[0],
        spot_y=None if spot is None else spot[1],
        streets=[STREET_NUMBERS[street] for street in seen.streets],
        left=seen.left,
        scores=seen.scores,
        tile_names="".join(seen.tile_names),
        unseen=seen.unseen,
    ).SerializeToString()


def decode_observation(data: bytes) -> Observation:
    message = parsed(pb.Observation, data)
    with_spot = message.HasField("spot_x")
    return Observation(
        viewer=message.viewer if message.HasField("viewer") else None,
        players=message.players,
        phase=named(PHASES, message.phase, "phase"),
        start_seat=message.start_seat,
        turn_seat=message.turn_seat,
        used=message.used,
        turns=message.turns,
        idle_turns=message.idle_turns,
        final_round=message.final_round,
        owed=tuple(message.owed),
        tiles=tuple(map(PlacedTile, *even(message.tile_x, message.tile_y, faces_of(message.tile_faces)))),
        vehicles=tuple(
            map(
                Standing,
                *even(
                    message.vehicle_x,
                    message.vehicle_y,
                    message.vehicle_seat,
                    [named(VEHICLES, kind, "vehicle") for kind in message.vehicle_kind],
                ),
            )
        ),
        taxis=tuple(message.taxis),
        trucks=tuple(message.trucks),
        hand_sizes=tuple(message.hand_sizes),
        hands=tuple(tuple(faces_of(hand)) for hand in message.hands),
        stock=message.stock,
        open_vertices=tuple(zip(*even(message.open_x, message.open_y), strict=True)),
        spot=(message.spot_x, message.spot_y) if with_spot else None,
        streets=tuple(named(STREETS, street, "street") for street in message.streets),
        left=tuple(message.left),
        scores=tuple(message.scores),
        tile_names=tuple(faces_of(message.tile_names)),
        unseen=tuple(message.unseen),
    )


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


_KINDS: Final = {
    EndTurn: pb.LegalActions.KIND_END_TURN,
    DrawTile: pb.LegalActions.KIND_DRAW,
    Taxi: pb.LegalActions.KIND_TAXI,
    Truck: pb.LegalActions.KIND_TRUCK,
    Attach: pb.LegalActions.KIND_ATTACH,
    Decline: pb.LegalActions.KIND_DECLINE,
    Place: pb.LegalActions.KIND_PLACE,
    Compete: pb.LegalActions.KIND_COMPETE,
}


def encode_actions(actions: Sequence[TraffiqAction]) -> bytes:
    on_map = [action for action in actions if isinstance(action, Attach | Taxi | Truck | Place)]
    rides = [action for action in on_map if isinstance(action, Taxi | Truck)]
    return pb.LegalActions(
        kinds=[_KINDS[type(action)] for action in actions],
        x=[action.x for action in on_map],
        y=[action.y for action in on_map],
        to_x=[action.to_x for action in rides],
        to_y=[action.to_y for action in rides],
        faces="".join([action.face for action in on_map if isinstance(action, Attach)]),
        vehicles=[VEHICLE_NUMBERS[action.vehicle] for action in on_map if isinstance(action, Place)],
        streets=[
            sum(1 << STREETS.index(street) for street in action.streets)
            for action in actions
            if isinstance(action, Compete)
        ],
    ).SerializeToString()


def decode_actions(data: bytes) -> tuple[TraffiqAction, ...]:
    message = parsed(pb.LegalActions, data)
    x, y, to_x, to_y = iter(message.x), iter(message.y), iter(message.to_x), iter(message.to_y)
    faces, vehicles, streets = iter(faces_of(message.faces)), iter(message.vehicles), iter(message.streets)
    readers: Mapping[int, Callable[[], TraffiqAction]] = {
        pb.LegalActions.KIND_END_TURN: EndTurn,
        pb.LegalActions.KIND_DRAW: DrawTile,
        pb.LegalActions.KIND_TAXI: lambda: Taxi(next(x), next(y), next(to_x), next(to_y)),
        pb.LegalActions.KIND_TRUCK: lambda: Truck(next(x), next(y), next(to_x), next(to_y)),
        pb.LegalActions.KIND_ATTACH: lambda: Attach(next(faces), next(x), next(y)),
        pb.LegalActions.KIND_DECLINE: Decline,
        pb.LegalActions.KIND_PLACE: lambda: Place(named(VEHICLES, next(vehicles), "vehicle"), next(x), next(y)),
        pb.LegalActions.KIND_COMPETE: lambda: Compete(_street_set(next(streets))),
    }
    try:
        actions = tuple([readers[kind]() for kind in message.kinds])
    except KeyError as error:
        raise ActionSyntaxError(f"unknown kind {error} in LegalActions") from None
    except StopIteration:
        raise ActionSyntaxError("a column of LegalActions is too short for its kinds") from None
    columns: tuple[Iterator[Any], ...] = (x, y, to_x, to_y, faces, vehicles, streets)
    if any(next(column, None) is not None for column in columns):
        raise ActionSyntaxError("a column of LegalActions is too long for its kinds")
    return actions


def _street_set(mask: int) -> tuple[str, ...]:
    if not 0 < mask < 1 << len(STREETS):
        raise ActionSyntaxError(f"{mask} is not a set of streets")
    return tuple(street for place, street in enumerate(STREETS) if mask >> place & 1)
