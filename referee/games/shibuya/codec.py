"""To and from the messages of `proto/crosstown/v1/shibuya.proto`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, get_args

from crosstown_proto.v1 import shibuya_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import Converter, OneofCodec, enum_name, parse_message
from referee.games.shibuya.actions import BUILD, PASS, Build, Move, Pass, Place, ShibuyaAction
from referee.games.shibuya.bitboard import FIELDS, SLOTS
from referee.games.shibuya.data import SIDES
from referee.games.shibuya.events import REASONS, ShibuyaEvent
from referee.games.shibuya.observation import Observation, Setting, TeamSetting
from referee.games.shibuya.state import PHASES

_PHASE_NUMBERS: Final = {name: pb.Phase.ValueType(number) for number, name in enumerate(PHASES, 1)}
_REASON_NUMBERS: Final = {name: pb.Reason.ValueType(number) for number, name in enumerate(REASONS, 1)}
_SIDE_NUMBERS: Final = {name: pb.Side.ValueType(number) for number, name in enumerate(SIDES, 1)}

# Actions and events, whose messages have the fields of the dataclasses

_ACTIONS: Final = OneofCodec(pb.Action, get_args(ShibuyaAction))
_EVENTS: Final = OneofCodec(
    pb.Event,
    get_args(ShibuyaEvent),
    {
        "team": Converter(lambda team: team if team >= 0 else None, lambda team: team, absent=-1),
        "reason": Converter(_REASON_NUMBERS.__getitem__, lambda number: enum_name(REASONS, number, "reason")),
    },
    renamed={"tile": "tile_kind"},
)


def encode_action(action: ShibuyaAction) -> bytes:
    data: bytes = _ACTIONS.message(action).SerializeToString()
    return data


def decode_action(data: bytes) -> ShibuyaAction:
    action: ShibuyaAction = _ACTIONS.value(parse_message(pb.Action, data))
    return action


def encode_events(payloads: Sequence[ShibuyaEvent]) -> bytes:
    return b"".join([_encoded_event(payload) for payload in payloads])


@lru_cache(maxsize=4096)
def _encoded_event(payload: ShibuyaEvent) -> bytes:
    """One entry of Events: repeated fields may be written one after another."""
    return pb.Events(events=[_EVENTS.message(payload)]).SerializeToString()


def decode_events(data: bytes) -> tuple[ShibuyaEvent, ...]:
    return tuple([_EVENTS.value(message) for message in parse_message(pb.Events, data).events])


# Legal lists, in columns

_KINDS: Final = {
    Move: pb.LegalActions.KIND_MOVE,
    Place: pb.LegalActions.KIND_PLACE,
    Build: pb.LegalActions.KIND_BUILD,
    Pass: pb.LegalActions.KIND_PASS,
}


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
    message = parse_message(pb.LegalActions, data)
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


# Observations


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
    message = parse_message(pb.Observation, data)
    if not len(message.tops) == len(message.covered) == SLOTS or len(message.looks) != FIELDS:
        raise ActionSyntaxError(f"an Observation has {SLOTS} tops, {SLOTS} covered tiles and {FIELDS} looks")
    return Observation(
        setting=_decoded_setting(message.setting.SerializeToString()),
        phase=enum_name(PHASES, message.phase, "phase"),
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
        reason=enum_name(REASONS, message.reason, "reason") if message.reason else "",
        withdrawn=message.withdrawn_seat if message.HasField("withdrawn_seat") else -1,
    )


@lru_cache(maxsize=64)
def _decoded_setting(data: bytes) -> Setting:
    message = pb.Setting.FromString(data)
    red, blue = (
        TeamSetting(
            start_fronts=tuple(team.start_fronts),
            start_sides=tuple(enum_name(SIDES, side, "side") for side in team.start_sides),
            start_seats=tuple(team.start_seats),
            goal_fronts=tuple(team.goal_fronts),
            goal_sides=tuple(enum_name(SIDES, side, "side") for side in team.goal_sides),
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
