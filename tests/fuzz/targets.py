"""Every parser that reads bytes from a bot or from a file, with good input and the errors it documents."""

import base64
import gzip
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError
from handed_in import handed_in_targets
from kept import kept_targets
from spoken import spoken_targets
from started import started_targets
from target import Target, as_text

from referee.errors import ConfigError, JournalError, PlatformError
from referee.games.api import ActionSyntaxError, DataError, Game, resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.match import MatchResult, MatchSpec, SeatSpec, SpecError
from referee.match.decision import Question, read_choice
from referee.match.effort import NO_EFFORT
from referee.match.invitation import Invitation
from referee.match.rejudge import rejudge
from referee.match.seat import Wants
from referee.match.seat_controller import SeatController
from referee.match.time_control import NOTHING_ALLOWED
from referee.process.entry import load_entry, remote_bot_entry
from referee.process.manifest import ManifestError, load_manifest
from referee.process.sandbox import Sandbox
from referee.record import (
    Answer,
    FaultLine,
    Footer,
    Header,
    RecordError,
    RecordWriter,
    SeatHeader,
    SeatStats,
    read_record,
    verify,
)
from referee.record.format import seal, seed_commitment
from referee.record.journal import read_controls
from referee.run.journal import read_journal
from referee.tournament import messages
from referee.tournament.config import load_config
from referee.tournament.remote import Guests
from referee.wire import Received
from referee.wire.public_address import Listen

GAMES = ("toy", "shibuya", "ticket_to_ride_new_york", "manhattan_traffiq", "king_of_new_york")
ROOT = Path(__file__).resolve().parents[2]


def targets(folder: Path) -> list[Target]:
    """`folder` is for parsers that want a file."""
    shutil.copytree(ROOT / "tournaments" / "openings", folder / "openings", dirs_exist_ok=True)
    found = [
        Target("bot message in a match", _messages(), _judge(), ()),
        Target(
            "match specification",
            [_spec().to_json().encode()],
            lambda data: MatchSpec.from_json(as_text(data)),
            (SpecError,),
        ),
        Target(
            "match result",
            [_result_line(), _result_line(usage=[None, {"requests": 3, "wait_us": 7}])],
            lambda data: MatchResult.from_json(as_text(data)),
            (ValueError, TypeError, KeyError, RecursionError),
        ),
        Target("worker line", _worker_lines(), messages.read_line, (ValueError,)),
        Target("bot.toml", _files(ROOT / "bots", "bot.toml"), _manifest(folder), (ManifestError,)),
        Target(
            "tournament file",
            _files(ROOT / "tournaments", "*.toml"),
            _as_file(folder, "t.toml", load_config),
            (ConfigError,),
        ),
        Target(
            "journal",
            _journal(),
            _resealed(_as_file(folder, "tournament.jsonl", read_journal)),
            (JournalError, PlatformError),
        ),
        Target(
            "controls of a journal",
            _journal(),
            _resealed(_as_file(folder, "controls.jsonl", read_controls)),
            (RecordError,),
        ),
    ]
    found += [*spoken_targets(), *kept_targets(folder), *started_targets(folder), *handed_in_targets(folder)]
    records = _records(folder, get_game("toy"))
    found += [
        Target("record", records, _as_file(folder, "r.jsonl", read_record), (RecordError,)),
        Target(
            "packed record",
            [_packed(record) for record in records],
            _as_file(folder, "r.jsonl.gz", read_record),
            (RecordError,),
        ),
        Target("record judged again", records, _resealed(_as_file(folder, "j.jsonl", _judge_again)), (RecordError,)),
        Target(
            "evidence judged again",
            [json.dumps(fault).encode() for fault in _faults(get_game("toy"))],
            _evidence(records, _resealed(_as_file(folder, "e.jsonl", _judge_again))),
            (RecordError, ValueError, RecursionError),
        ),
    ]
    for game in map(get_game, GAMES):
        actions = _actions(game)
        encoded = [game.codec.encode_action(action) for action in actions]
        found += [
            Target(
                f"verified record of {game.id}",
                _records(folder, game),
                _resealed(_as_file(folder, "v.jsonl", verify)),
                (),
            ),
            Target(
                f"box of {game.id}",
                [json.dumps(game.default_data()).encode()],
                lambda data, game=game: game.check_data(json.loads(data)),  # type: ignore[misc]
                (ValueError, RecursionError, DataError),
            ),
            Target(f"action of {game.id}", encoded, game.codec.decode_action, (ActionSyntaxError,)),
            Target(f"choice in {game.id}", encoded, _choose(game, actions), ()),
            Target(
                f"action text of {game.id}",
                [game.format_action(action).encode() for action in actions],
                lambda data, game=game: game.parse_action(as_text(data)),  # type: ignore[misc]
                (ActionSyntaxError,),
            ),
            Target(
                f"observation of {game.id}",
                [_observation(game)],
                game.codec.decode_observation,
                (ActionSyntaxError,),
            ),
        ]
    return found


def _messages() -> list[bytes]:
    bodies: list[dict[str, Any]] = [
        {"move": pb.Move(match="m-1", decision=1, index=0, note="a note")},
        {"move": pb.Move(match="m-1", decision=1, action=b'{"kind":"pass"}')},
        {"move": pb.Move(match="m-1", decision=1, provider_error="x", usage=pb.Usage(requests=3, cost_nanos=7))},
        {"ready": pb.Ready(match="m-1")},
        {"resign": pb.Resign(match="m-1")},
        {"hello": pb.Hello(protocol=1, token="t", games=["*"])},
    ]
    return [pb.BotMessage(**body).SerializeToString() for body in bodies]


class _StillClock:
    def now_ns(self) -> int:
        return 1

    def lag_ns(self) -> int:
        return 0

    def looked_lag_ns(self) -> int:
        return 0

    def call_at(self, when_ns: int, callback: Callable[[], None]) -> Any:
        return self

    def cancel(self) -> None:
        pass


class _Chair:
    """A seat's bot that takes everything and says nothing."""

    wants = Wants()
    ending = False
    away_s = 0.0
    idle_from_ns = None

    def traffic_ns(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        return lambda *_: NO_EFFORT if name == "effort" else "S" if name == "process_state" else None


def _judge() -> Callable[[bytes], object]:
    """The whole way of a message in a match: parsed, judged, its evidence gathered, or dropped."""
    game = get_game("toy")
    state = _played_to_a_decision(game)
    chair: Any = _Chair()

    def run(data: bytes) -> object:
        controller = SeatController(
            _spec(), game, state, [chair, chair], [], _StillClock(), lambda dropped: json.dumps(asdict(dropped))
        )
        decision = state.decisions()[0]
        seat = controller.seats[decision.seat]
        controller._open(seat, decision.kind)
        try:
            message = pb.BotMessage.FromString(data)
        except DecodeError:
            message = None
        controller.take_message(seat, Received(message, data, 2))
        if controller._trouble is not None:
            raise controller._trouble
        return None if seat.fault is None else json.dumps(dict(seat.fault.evidence))

    return run


def _choose(game: Game, actions: Sequence[Any]) -> Callable[[bytes], object]:
    def run(data: bytes) -> object:
        message = pb.BotMessage(move=pb.Move(match="m", decision=1, action=data))
        return read_choice(message, Question(0, 1, "k", actions, NOTHING_ALLOWED), game)

    return run


def _spec() -> MatchSpec:
    options = resolve_options("toy", get_game("toy").options, {})
    seats = (SeatSpec("00ff00ff00ff00ff", "a", "1", {"move_s": 2}), SeatSpec("11ff00ff00ff00ff", "b", "2"))
    return MatchSpec("m-1", "toy", options, seats, "0123456789abcdef")


def _result_line(**more: Any) -> bytes:
    values = {
        "match_id": "m-1", "status": "rated", "reason": "crashed", "detail": "", "ranking": [1, 2], "returns": [1, 0],
        "faults": [None, {"seat": 1, "reason": "crashed", "detail": "x"}], "decisions": 3, "wall_s": 0.5,
        "state_hash": "00",
        "seat_stats": [{"decisions": 1, "total_us": 2, "worst_us": 2, "cpu_us": 3, "dropped": 0}] * 2,
        "startup_us": [0, 1500],
    }  # fmt: skip
    return json.dumps(values | more).encode()


def _worker_lines() -> list[bytes]:
    return [
        messages.play_line(_spec()),
        b'{"result":' + _result_line() + b"}\n",
        messages.stop_line(),
        messages.lost_line("m-1", "x"),
        messages.over_line("m-1"),
        messages.refused_line("what", "next"),
        messages.setup_line([], Path("/r"), Path("/s"), 3),
        _setup_line(),
    ]


def _setup_line() -> bytes:
    """With a bot of our own and one that dials in."""
    bot, guest = load_entry(ROOT / "bots" / "python" / "random"), remote_bot_entry("a guest", "1")
    sandbox = Sandbox("strict", network=True, env=("KEY",), read=("/opt/models",))
    listen = Listen("0.0.0.0", 4711, Path("/c.pem"), Path("/k.pem"))
    guests = Guests(listen, {guest.id: Invitation("t" * 32, reconnect_s=5)}, {guest.id: guest}, "here")
    return messages.setup_line([bot, guest], Path("/r"), Path("/s"), None, {bot.id: sandbox}, guests)


def _files(folder: Path, pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob(pattern)) if "node_modules" not in path.parts][:12]


def _journal() -> list[bytes]:
    lines, chain = "", ""
    for kind, fields in (
        ("created", {"format": 1, "hash": "00", "configuration": {"name": "x"}}),
        ("void", {"match": "m-1", "place": 0, "attempt": 1, "reason": "start_failed", "detail": "x"}),
        ("breaker", {"place": 3, "entry_id": "00ff", "choice": "keep", "by": "rule", "reason": "x"}),
        ("rejudged", {"place": 3, "match_id": "m-1", "ranking": [1, 2], "by": "me", "reason": "x"}),
        ("finished", {"rated": 1, "missing": 0}),
    ):
        line, chain = seal(chain, json.dumps([kind, "2026-01-01T00:00:00+00:00", fields], separators=(",", ":"))[:-1])
        lines += line
    return [lines.encode()]


def _as_file(folder: Path, name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    path = folder / name

    def run(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return run


def _manifest(folder: Path) -> Callable[[bytes], object]:
    bot = folder / "bot"
    bot.mkdir(exist_ok=True)
    return _as_file(bot, "bot.toml", lambda _: load_manifest(bot))


def _resealed(run: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Every line with a chained hash that fits, so that it is the content that is checked."""

    def sealed(data: bytes) -> object:
        lines, chain = [], ""
        for raw in data.split(b"\n"):
            text = raw.decode("ascii", "replace").encode("ascii", "replace").decode()
            if text.count(',"') and text.endswith('"]'):
                line, chain = seal(chain, text[: text.rindex(',"')])
                lines.append(line)
        return run("".join(lines).encode())

    return sealed


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _judge_again(path: Path) -> object:
    return rejudge(read_record(path))


def _evidence(records: Sequence[bytes], run: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """A sound record of a fault, with `data` as what was kept of it; an error of `json` if that is none."""
    ends = [record.rstrip(b"\n").rpartition(b"\n") for record in records]
    footers = [json.loads(footer) for _, _, footer in ends]
    by_reason = {footer[1]["reason"]: (lines, footer) for (lines, _, _), footer in zip(ends, footers, strict=True)}

    def judge(data: bytes) -> object:
        fault = json.loads(as_text(data))
        reason = fault.get("reason") if isinstance(fault, dict) else None
        lines, (kind, fields, chain) = by_reason.get(str(reason)) or by_reason["crashed"]
        footer = json.dumps([kind, {**fields, "faults": [None, fault]}, chain], separators=(",", ":"))
        return run(lines + b"\n" + footer.encode() + b"\n")

    return judge


def _records(folder: Path, game: Game) -> list[bytes]:
    """The first decisions of a match, ended by a fault each; of the toy game a whole match, too."""
    found = [_record(folder, game, fault) for fault in _faults(game)]
    return [*found, _record(folder, game, None)] if game.id == "toy" else found


def _faults(game: Game) -> list[dict[str, Any]]:
    """A crash, a time-out and a choice that is none, with what is kept of them."""
    message = pb.BotMessage(move=pb.Move(match="m", decision=5, index=99)).SerializeToString()
    return [
        {"reason": "crashed", "exit_code": 1},
        {"reason": "move_timeout", "wall_us": 900_000, "lag_us": 20, "limit_us": 500_000},
        {
            "reason": "illegal_action",
            "message": base64.b64encode(message).decode(),
            "message_bytes": len(message),
            "legal": ["x"],
            "legal_count": 1,
        },
    ]  # fmt: skip


def _record(folder: Path, game: Game, fault: Mapping[str, Any] | None) -> bytes:
    players = game.player_counts[0]
    spec, options = _spec(), resolve_options(game.id, game.options, {})
    header = Header(
        "m-1", "t", 0, 0, game.id, game.rules_version, options, players,
        tuple(SeatHeader(f"{seat:016x}", f"bot {seat}", "1", {}) for seat in range(players)),
        spec.limits.in_force(), seed_commitment(spec.seed), "2026-01-01", "0",
    )  # fmt: skip
    writer = RecordWriter(folder / "records", header)
    state, chance = game.new_initial_state(players, options), KeyedChance(bytes.fromhex(spec.seed))
    counts = [0] * players
    while not state.is_terminal():
        if decisions := state.decisions():
            if fault is not None and sum(counts) >= 4:
                break
            answers = {decision.seat: state.legal_actions(decision.seat)[0] for decision in decisions}
            for seat, action in answers.items():
                writer.answer(Answer(seat, game.format_action(action), 5, 4, 1, "note" if seat else ""))
                counts[seat] += 1
            state.apply(answers)
        else:
            outcome = chance.choose(state.chance_stream(), state.chance_outcomes())
            writer.chance(outcome)
            state.apply_chance(outcome)
    ranking = tuple(state.ranking()) if fault is None else (1, *[2] * (players - 1))
    if fault is not None:
        writer.fault(FaultLine(1, fault["reason"], "what happened", True))
        state.withdraw(1)
    footer = Footer(
        status="rated",
        reason="normal" if fault is None else fault["reason"],
        detail="",
        seed=spec.seed,
        ranking=ranking,
        returns=tuple(state.returns()) if state.is_terminal() else (),
        state_hash=state_hash(state),
        seat_stats=tuple(SeatStats(count, 5 * count, 5 if count else 0, 4 * count) for count in counts),
        faults=() if fault is None else (None, fault, *[None] * (players - 2)),
        decisions=sum(counts),
    )
    writer.close(footer)
    path = folder / "records" / "m-1.jsonl.gz"
    assert (verdict := verify(path)).status == "ok", verdict
    data = gzip.decompress(path.read_bytes())
    path.unlink()
    return data


def _played_to_a_decision(game: Game) -> Any:
    state = game.new_initial_state(game.player_counts[0], resolve_options(game.id, game.options, {}))
    while not state.decisions():
        state.apply_chance(state.chance_outcomes()[0][0])
    return state


def _actions(game: Game) -> list[Any]:
    """What a random match offers, a few of each kind."""
    random, found = Random(1), {}
    state = _played_to_a_decision(game)
    for _ in range(60):
        if state.is_terminal():
            break
        if decisions := state.decisions():
            chosen = {}
            for decision in decisions:
                legal = state.legal_actions(decision.seat)
                found.update(dict.fromkeys(legal[:10]))
                chosen[decision.seat] = random.choice(legal)
            state.apply(chosen)
        else:
            state.apply_chance(random.choice(state.chance_outcomes())[0])
    return list(found)[:200]


def _observation(game: Game) -> bytes:
    return game.codec.encode_observation(_played_to_a_decision(game).observation(0))
