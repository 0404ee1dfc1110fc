"""Observations to and from their message.

Messages that are concatenated are merged. So the parts that stay the same are encoded once and kept with them, and only
the few fields that change are written anew, which is several times quicker than filling in one message.
"""

from functools import lru_cache
from typing import Final

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.manhattan_traffiq.actions import STREETS, VEHICLES
from referee.games.manhattan_traffiq.messages import (
    PHASE_NUMBERS,
    STREET_NUMBERS,
    VEHICLE_NUMBERS,
    even,
    faces_of,
    named,
    parsed,
    remember,
    tag,
    unsigned,
)
from referee.games.manhattan_traffiq.observation import PHASES, CityMap, Facts, Fleet, Observation, PlacedTile, Standing

_TURNS: Final = tag(pb.Observation, "turns")
_IDLE_TURNS: Final = tag(pb.Observation, "idle_turns")
_STOCK: Final = tag(pb.Observation, "stock")
_HAND_SIZES: Final = tag(pb.Observation, "hand_sizes")
_HANDS: Final = tag(pb.Observation, "hands")
_NO_HAND: Final = _HANDS + unsigned(0)
_UNSEEN: Final = tag(pb.Observation, "unseen")


def encode_observation(seen: Observation) -> bytes:
    sizes, unseen = bytes(seen.hand_sizes), seen.unseen
    parts = [
        _facts_wire(seen.facts),
        _map_wire(seen.map),
        _fleet_wire(seen.fleet),
        _turn_wire(seen.viewer, seen.phase, seen.turn_seat, seen.used, seen.final_round, seen.owed),
        _TURNS,
        unsigned(seen.turns),
        _IDLE_TURNS,
        unsigned(seen.idle_turns),
        _STOCK,
        unsigned(seen.stock),
        _HAND_SIZES,
        unsigned(len(sizes)),
        sizes,  # each below 128, so a byte each
        _UNSEEN,
        unsigned(len(unseen)),
        unseen,
    ]
    for hand in seen.hands:
        if hand:
            names = "".join(hand).encode("ascii")
            parts += (_HANDS, unsigned(len(names)), names)
        else:
            parts.append(_NO_HAND)
    if seen.open_vertices or seen.spot is not None:
        parts.append(_question_wire(seen))
    return b"".join(parts)


def _facts_wire(facts: Facts) -> bytes:
    try:
        return facts.wire
    except AttributeError:
        message = pb.Observation(
            players=facts.players, start_seat=facts.start_seat, left=facts.left, tile_names="".join(facts.tile_names)
        )
        return remember(facts, message.SerializeToString())


def _map_wire(city: CityMap) -> bytes:
    try:
        return city.wire
    except AttributeError:
        pass
    try:
        wire = b"".join([tile.wire for tile in city.tiles])
    except AttributeError:
        wire = b"".join([_tile_wire(tile) for tile in city.tiles])
    return remember(city, wire)


def _tile_wire(tile: PlacedTile) -> bytes:
    try:
        return tile.wire
    except AttributeError:
        message = pb.Tile(x=tile.x, y=tile.y, face=tile.face)
        return remember(tile, pb.Observation(tiles=[message]).SerializeToString())


def _fleet_wire(fleet: Fleet) -> bytes:
    try:
        return fleet.wire
    except AttributeError:
        numbers = pb.Observation(taxis=fleet.taxis, trucks=fleet.trucks, scores=fleet.scores)
        vehicles = [_vehicle_wire(vehicle) for vehicle in fleet.standing]
        return remember(fleet, b"".join([*vehicles, numbers.SerializeToString()]))


def _vehicle_wire(it: Standing) -> bytes:
    try:
        return it.wire
    except AttributeError:
        message = pb.Standing(x=it.x, y=it.y, seat=it.seat, vehicle=VEHICLE_NUMBERS[it.vehicle])
        return remember(it, pb.Observation(vehicles=[message]).SerializeToString())


@lru_cache(maxsize=4096)
def _turn_wire(
    viewer: int | None, phase: str, turn_seat: int, used: str, final_round: bool, owed: tuple[int, ...]
) -> bytes:
    return pb.Observation(
        viewer=viewer,
        phase=PHASE_NUMBERS[phase],
        turn_seat=turn_seat,
        used=used,
        final_round=final_round,
        owed=owed,
    ).SerializeToString()


def _question_wire(seen: Observation) -> bytes:
    message = pb.Observation(
        open_x=[x for x, _ in seen.open_vertices],
        open_y=[y for _, y in seen.open_vertices],
        streets=[STREET_NUMBERS[street] for street in seen.streets],
    )
    if seen.spot is not None:
        message.spot_x, message.spot_y = seen.spot
    return message.SerializeToString()


def decode_observation(data: bytes) -> Observation:
    message = parsed(pb.Observation, data)
    return Observation(
        viewer=message.viewer if message.HasField("viewer") else None,
        facts=Facts(
            players=message.players,
            start_seat=message.start_seat,
            left=tuple(message.left),
            tile_names=tuple(faces_of(message.tile_names)),
        ),
        map=CityMap(tuple(PlacedTile(tile.x, tile.y, tile.face) for tile in message.tiles)),
        fleet=Fleet(
            standing=tuple(
                Standing(it.x, it.y, it.seat, named(VEHICLES, it.vehicle, "vehicle")) for it in message.vehicles
            ),
            taxis=tuple(message.taxis),
            trucks=tuple(message.trucks),
            scores=tuple(message.scores),
        ),
        phase=named(PHASES, message.phase, "phase"),
        turn_seat=message.turn_seat,
        used=message.used,
        turns=message.turns,
        idle_turns=message.idle_turns,
        final_round=message.final_round,
        owed=tuple(message.owed),
        open_vertices=tuple(zip(*even(message.open_x, message.open_y), strict=True)),
        spot=_spot(message),
        streets=tuple(named(STREETS, street, "street") for street in message.streets),
        hand_sizes=tuple(message.hand_sizes),
        hands=tuple(tuple(faces_of(hand)) for hand in message.hands),
        stock=message.stock,
        unseen=message.unseen,
    )


def _spot(message: pb.Observation) -> tuple[int, int] | None:
    if message.HasField("spot_x") != message.HasField("spot_y"):
        raise ActionSyntaxError("an Observation has both spot_x and spot_y, or none of them")
    return (message.spot_x, message.spot_y) if message.HasField("spot_x") else None
