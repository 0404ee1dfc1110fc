"""Observations, actions and events as the messages of `openspiel.proto`."""

import sys
from array import array
from collections.abc import Sequence

from crosstown_proto.v1 import openspiel_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import OneofCodec, field_key, parse_message, with_length
from referee.games.openspiel.actions import LARGEST_ID, Play, checked_play
from referee.games.openspiel.events import Acted, Chanced, OpenSpielEvent, Withdrew
from referee.games.openspiel.observation import Observation, Tensor

_TENSOR_KEY = field_key(pb.Observation, "observation_tensor")
_INFORMATION_TENSOR_KEY = field_key(pb.Observation, "information_state_tensor")
_EVENTS = OneofCodec(pb.Event, (Acted, Chanced, Withdrew))


def encode_observation(observation: Observation) -> bytes:
    """The tensors are bytes of the message already: protobuf's own class would take each float apart."""
    message = pb.Observation(
        game=observation.game,
        players=observation.players,
        asked=observation.asked,
        over=observation.over,
        observation=observation.text,
        observation_shape=observation.tensor.shape,
        information_state=observation.information,
        information_state_shape=observation.information_tensor.shape,
        history=observation.history,
        withdrawn=observation.withdrawn,
        returns=observation.returns,
    )
    if observation.seat >= 0:
        message.seat = observation.seat
    data = message.SerializeToString()
    if observation.tensor.values:
        data += with_length(_TENSOR_KEY, observation.tensor.values)
    if observation.information_tensor.values:
        data += with_length(_INFORMATION_TENSOR_KEY, observation.information_tensor.values)
    return data


def decode_observation(data: bytes) -> Observation:
    message = parse_message(pb.Observation, data)
    return Observation(
        message.game,
        message.seat if message.HasField("seat") else -1,
        message.players,
        tuple(message.asked),
        message.over,
        message.observation,
        Tensor(packed(message.observation_tensor), tuple(message.observation_shape)),
        message.information_state,
        Tensor(packed(message.information_state_tensor), tuple(message.information_state_shape)),
        tuple(message.history),
        tuple(message.withdrawn),
        tuple(message.returns),
    )


def packed(values: Sequence[float]) -> bytes:
    """Floats as bytes, see `Tensor`."""
    floats = array("f", values)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()


def encode_action(action: Play) -> bytes:
    return pb.Action(id=action.id, text=action.text).SerializeToString()


def decode_action(data: bytes) -> Play:
    message = parse_message(pb.Action, data)
    if not message.HasField("id"):
        raise ActionSyntaxError("the Action message has no id")
    return checked_play(message.id, message.text)


def encode_actions(actions: Sequence[Play]) -> bytes:
    return pb.LegalActions(
        ids=[action.id for action in actions], texts=[action.text for action in actions]
    ).SerializeToString()


def decode_actions(data: bytes) -> tuple[Play, ...]:
    message = parse_message(pb.LegalActions, data)
    if len(message.ids) != len(message.texts):
        raise ActionSyntaxError(f"the LegalActions message has {len(message.ids)} ids and {len(message.texts)} texts")
    return tuple(checked_play(number, text) for number, text in zip(message.ids, message.texts, strict=True))


def encode_events(payloads: Sequence[OpenSpielEvent]) -> bytes:
    return pb.Events(events=[_EVENTS.message(payload) for payload in payloads]).SerializeToString()


def decode_events(data: bytes) -> tuple[OpenSpielEvent, ...]:
    events: list[OpenSpielEvent] = []
    for message in parse_message(pb.Events, data).events:
        event: OpenSpielEvent = _EVENTS.value(message)
        if not isinstance(event, Withdrew) and event.id > LARGEST_ID:
            raise ActionSyntaxError(f"{event.id} is not the id of an action: the largest is {LARGEST_ID}")
        events.append(event)
    return tuple(events)
