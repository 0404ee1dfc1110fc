"""To and from the messages of `proto/crosstown/v1/shibuya.proto`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, get_args

from crosstown_proto.v1 import shibuya_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import (
    Converter,
    OneofCodec,
    column,
    enum_name,
    field_key,
    parse_message,
    plain,
    varint,
    with_length,
)
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


_KIND_COLUMN, _FIRST_COLUMN, _SECOND_COLUMN = (
    field_key(pb.LegalActions, name) for name in ("kinds", "source_or_slot", "target_or_turn")
)


def encode_actions(actions: Sequence[ShibuyaAction]) -> bytes:
    moves: Sequence[Any] = actions[:-1] if actions and type(actions[-1]) is Build else actions
    try:  # nearly always there are only moves before that
        first = [move.source for move in moves]
        second = [move.target for move in moves]
        kinds = [int(pb.LegalActions.KIND_MOVE)] * len(moves)
        if len(moves) < len(actions):
            kinds.append(pb.LegalActions.KIND_BUILD)
            first.append(0)
            second.append(0)
    except AttributeError:
        kinds = [_KINDS[type(action)] for action in actions]
        first = [_first_number(action) for action in actions]
        second = [_second_number(action) for action in actions]
    return column(_KIND_COLUMN, kinds) + column(_FIRST_COLUMN, first) + column(_SECOND_COLUMN, second)


def _first_number(action: ShibuyaAction) -> int:
    if isinstance(action, Move):
        return action.source
    return action.slot if isinstance(action, Place) else 0


def _second_number(action: ShibuyaAction) -> int:
    if isinstance(action, Move):
        return action.target
    return action.turn if isinstance(action, Place) else 0


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


_PHASES: Final = {name: field_key(pb.Observation, "phase") + varint(number) for name, number in _PHASE_NUMBERS.items()}
_REASONS: Final = {
    name: field_key(pb.Observation, "reason") + varint(number) for name, number in _REASON_NUMBERS.items()
}
_SEAT, _TURNS, _PASSES, _DRAWN, _WINNER, _WITHDRAWN = (
    field_key(pb.Observation, name) for name in ("seat", "turns", "passes", "drawn_kind", "winner", "withdrawn_seat")
)
_STOCK, _TOPS, _COVERED, _LOOKS = (field_key(pb.Observation, name) for name in ("stock", "tops", "covered", "looks"))
_RED_FIELDS, _BLUE_FIELDS, _RED_WAITING, _BLUE_WAITING, _RED_GOALS, _BLUE_GOALS = (
    field_key(pb.Observation, f"{team}_{what}") for what in ("fields", "waiting", "goals") for team in ("red", "blue")
)


def encode_observation(observation: Observation) -> bytes:
    """Written by hand, since this happens at every decision; the fields in the order of their numbers."""
    red_fields, blue_fields = observation.fields
    red_waiting, blue_waiting = observation.waiting
    red_goals, blue_goals = observation.goals
    return b"".join(
        (
            _encoded_setting(observation.setting),
            _PHASES[observation.phase],
            plain(_SEAT, observation.seat),
            plain(_TURNS, observation.turns),
            plain(_PASSES, observation.passes),
            _DRAWN + varint(observation.drawn) if observation.drawn >= 0 else b"",
            column(_STOCK, observation.stock),
            column(_TOPS, observation.tops),
            column(_COVERED, observation.covered),
            with_length(_LOOKS, observation.looks),
            column(_RED_FIELDS, red_fields),
            column(_BLUE_FIELDS, blue_fields),
            column(_RED_WAITING, red_waiting),
            column(_BLUE_WAITING, blue_waiting),
            column(_RED_GOALS, red_goals),
            column(_BLUE_GOALS, blue_goals),
            _WINNER + varint(observation.winner) if observation.winner >= 0 else b"",
            _REASONS[observation.reason] if observation.reason else b"",
            _WITHDRAWN + varint(observation.withdrawn) if observation.withdrawn >= 0 else b"",
        )
    )


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
