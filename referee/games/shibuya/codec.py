"""To and from the messages of `proto/crosstown/v1/shibuya.proto`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

from crosstown_proto.v1 import shibuya_pb2 as pb
from google.protobuf.message import DecodeError, Message

from referee.games.api import ActionSyntaxError
from referee.games.shibuya.actions import BUILD, PASS, Build, Move, Pass, Place, ShibuyaAction
from referee.games.shibuya.board import FIELDS, SLOTS
from referee.games.shibuya.events import (
    REASONS,
    BuildChosen,
    Finished,
    Moved,
    Passed,
    ShibuyaEvent,
    TileDrawn,
    TilePlaced,
    Withdrew,
)
from referee.games.shibuya.observation import Observation, Setting, TeamSetting
from referee.games.shibuya.rules import PHASES

_Message = TypeVar("_Message", bound=Message)

# Position in the tuple = number of the enum value.
_SIDES = ("", "S", "W", "N", "E")
_PHASES = ("", *PHASES)
_REASONS = ("", *REASONS)
_PHASE_NUMBERS = {name: pb.Phase.ValueType(number) for number, name in enumerate(_PHASES)}
_REASON_NUMBERS = {name: pb.Reason.ValueType(number) for number, name in enumerate(_REASONS)}
_SIDE_NUMBERS = {name: pb.Side.ValueType(number) for number, name in enumerate(_SIDES)}

_KINDS = {
    Move: pb.LegalActions.KIND_MOVE,
    Place: pb.LegalActions.KIND_PLACE,
    Build: pb.LegalActions.KIND_BUILD,
    Pass: pb.LegalActions.KIND_PASS,
}


def encode_observation(observation: Observation) -> bytes:
    red_fields, blue_fields = observation.fields
    red_waiting, blue_waiting = observation.waiting
    red_goals, blue_goals = observation.goals
    message = pb.Observation(
        phase=_PHASE_NUMBERS[observation.phase],
        seat=observation.seat,
        turns=observation.turns,
        passes=observation.passes,
        stock=observation.stock,
        tops=observation.tops,
        covered=observation.covered,
        looks=observation.looks,
        red_fields=red_fields,
        blue_fields=blue_fields,
        red_waiting=red_waiting,
        blue_waiting=blue_waiting,
        red_goals=red_goals,
        blue_goals=blue_goals,
    )
    if observation.drawn >= 0:
        message.drawn_kind = observation.drawn
    if observation.winner >= 0:
        message.winner = observation.winner
    if observation.reason:
        message.reason = _REASON_NUMBERS[observation.reason]
    if observation.withdrawn >= 0:
        message.withdrawn_seat = observation.withdrawn
    # Messages that are concatenated are merged: the constant part is encoded once per match.
    return _encoded_setting(observation.setting) + message.SerializeToString()


@lru_cache(maxsize=64)
def _encoded_setting(setting: Setting) -> bytes:
    red, blue = (
        pb.Team(
            start_fronts=team.start_fronts,
            start_sides=[_SIDE_NUMBERS[side] for side in team.start_sides],
            start_seats=team.start_seats,
            goal_fronts=team.goal_fronts,
            goal_sides=[_SIDE_NUMBERS[side] for side in team.goal_sides],
        )
        for team in setting.teams
    )
    message = pb.Setting(
        players=setting.players,
        red=red,
        blue=blue,
        tile_looks=bytes(setting.tile_looks),
        tile_counts=setting.tile_counts,
        goals_to_win=setting.goals_to_win,
        lead_to_win=setting.lead_to_win,
    )
    return pb.Observation(setting=message).SerializeToString()


def decode_observation(data: bytes) -> Observation:
    message = _parsed(pb.Observation, data)
    if not len(message.tops) == len(message.covered) == SLOTS or len(message.looks) != FIELDS:
        raise ActionSyntaxError(f"an Observation has {SLOTS} tops, {SLOTS} covered tiles and {FIELDS} looks")
    return Observation(
        setting=_decoded_setting(message.setting.SerializeToString()),
        phase=_named(_PHASES, message.phase, "phase"),
        seat=message.seat,
        turns=message.turns,
        passes=message.passes,
        drawn=message.drawn_kind if message.HasField("drawn_kind") else -1,
        stock=tuple(message.stock),
        tops=tuple(message.tops),
        covered=tuple(message.covered),
        looks=message.looks,
        fields=(tuple(message.red_fields), tuple(message.blue_fields)),
        waiting=(tuple(message.red_waiting), tuple(message.blue_waiting)),
        goals=(tuple(message.red_goals), tuple(message.blue_goals)),
        winner=message.winner if message.HasField("winner") else -1,
        reason=_named(_REASONS, message.reason, "reason") if message.reason else "",
        withdrawn=message.withdrawn_seat if message.HasField("withdrawn_seat") else -1,
    )


@lru_cache(maxsize=64)
def _decoded_setting(data: bytes) -> Setting:
    message = pb.Setting.FromString(data)
    red, blue = (
        TeamSetting(
            start_fronts=tuple(team.start_fronts),
            start_sides=tuple(_named(_SIDES, side, "side") for side in team.start_sides),
            start_seats=tuple(team.start_seats),
            goal_fronts=tuple(team.goal_fronts),
            goal_sides=tuple(_named(_SIDES, side, "side") for side in team.goal_sides),
        )
        for team in (message.red, message.blue)
    )
    return Setting(
        players=message.players,
        teams=(red, blue),
        tile_looks=tuple(message.tile_looks),
        tile_counts=tuple(message.tile_counts),
        goals_to_win=message.goals_to_win,
        lead_to_win=message.lead_to_win,
    )


def encode_action(action: ShibuyaAction) -> bytes:
    if isinstance(action, Move):
        message = pb.Action(move=pb.Move(source=action.source, target=action.target))
    elif isinstance(action, Place):
        message = pb.Action(place=pb.Place(slot=action.slot, turn=action.turn))
    elif isinstance(action, Build):
        message = pb.Action(build=pb.Build())
    else:
        message = pb.Action()
        getattr(message, "pass").SetInParent()
    return message.SerializeToString()


def decode_action(data: bytes) -> ShibuyaAction:
    message = _parsed(pb.Action, data)
    kind = message.WhichOneof("kind")
    if kind == "move":
        return Move(message.move.source, message.move.target)
    if kind == "place":
        return Place(message.place.slot, message.place.turn)
    if kind == "build":
        return BUILD
    if kind == "pass":
        return PASS
    raise ActionSyntaxError("the Action message is empty: expected move, place, build or pass")


def encode_actions(actions: Sequence[ShibuyaAction]) -> bytes:
    kinds, first, second = [], [], []
    for action in actions:
        kinds.append(_KINDS[type(action)])
        if isinstance(action, Move):
            first.append(action.source)
            second.append(action.target)
        elif isinstance(action, Place):
            first.append(action.slot)
            second.append(action.turn)
        else:
            first.append(0)
            second.append(0)
    message = pb.LegalActions(kinds=kinds, source_or_slot=first, target_or_turn=second)
    return message.SerializeToString()


def decode_actions(data: bytes) -> tuple[ShibuyaAction, ...]:
    message = _parsed(pb.LegalActions, data)
    if not len(message.kinds) == len(message.source_or_slot) == len(message.target_or_turn):
        raise ActionSyntaxError("the columns of LegalActions differ in length")
    return tuple(
        _column_action(kind, first, second)
        for kind, first, second in zip(message.kinds, message.source_or_slot, message.target_or_turn, strict=True)
    )


def _column_action(kind: int, first: int, second: int) -> ShibuyaAction:
    if kind == pb.LegalActions.KIND_MOVE:
        return Move(first, second)
    if kind == pb.LegalActions.KIND_PLACE:
        return Place(first, second)
    if kind == pb.LegalActions.KIND_BUILD:
        return BUILD
    if kind == pb.LegalActions.KIND_PASS:
        return PASS
    raise ActionSyntaxError(f"LegalActions holds an action of unknown kind {kind}")


def encode_events(payloads: Sequence[ShibuyaEvent]) -> bytes:
    return pb.Events(events=[_event_message(payload) for payload in payloads]).SerializeToString()


def _event_message(event: ShibuyaEvent) -> pb.Event:
    match event:
        case Moved():
            return pb.Event(moved=pb.Moved(seat=event.seat, source=event.source, target=event.target))
        case TileDrawn():
            return pb.Event(tile_drawn=pb.TileDrawn(seat=event.seat, tile_kind=event.tile))
        case TilePlaced():
            placed = pb.TilePlaced(
                seat=event.seat,
                tile_kind=event.tile,
                slot=event.slot,
                turn=event.turn,
                covered=event.covered,
            )
            return pb.Event(tile_placed=placed)
        case BuildChosen():
            return pb.Event(build_chosen=pb.BuildChosen(seat=event.seat))
        case Passed():
            return pb.Event(passed=pb.Passed(seat=event.seat))
        case Withdrew():
            return pb.Event(withdrew=pb.Withdrew(seat=event.seat))
        case Finished():
            finished = pb.Finished(reason=_REASON_NUMBERS[event.reason])
            if event.team >= 0:
                finished.team = event.team
            return pb.Event(finished=finished)


def decode_events(data: bytes) -> tuple[ShibuyaEvent, ...]:
    return tuple(_decoded_event(message) for message in _parsed(pb.Events, data).events)


def _decoded_event(message: pb.Event) -> ShibuyaEvent:
    kind = message.WhichOneof("kind")
    if kind is None:
        raise ActionSyntaxError("an Event message is empty or of a kind this version does not know")
    body: Any = getattr(message, kind)
    if kind == "moved":
        return Moved(body.seat, body.source, body.target)
    if kind == "tile_drawn":
        return TileDrawn(body.seat, body.tile_kind)
    if kind == "tile_placed":
        return TilePlaced(body.seat, body.tile_kind, body.slot, body.turn, body.covered)
    if kind == "build_chosen":
        return BuildChosen(body.seat)
    if kind == "passed":
        return Passed(body.seat)
    if kind == "withdrew":
        return Withdrew(body.seat)
    return Finished(body.team if body.HasField("team") else -1, _named(_REASONS, body.reason, "reason"))


def _named(names: tuple[str, ...], number: int, what: str) -> str:
    """The word for an enum value. 0 is none: the sender always has one to say."""
    if not 0 < number < len(names):
        raise ActionSyntaxError(f"unknown {what} {number}: expected 1 to {len(names) - 1}")
    return names[number]


def _parsed(kind: type[_Message], data: bytes) -> _Message:
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise ActionSyntaxError(f"{len(data)} bytes are no {kind.DESCRIPTOR.name} message of shibuya") from error
