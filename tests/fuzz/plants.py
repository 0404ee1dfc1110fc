"""Where bugs are planted in each parser: in functions that it calls, on the way of good input and on that of errors."""

import builtins
import re
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from google.protobuf.message import Message

_GAME_CLASSES = {
    "toy": "toy_game.game:ToyGame",
    "shibuya": "referee.games.shibuya.game:ShibuyaGame",
    "ticket_to_ride_new_york": "referee.games.ticket_to_ride_new_york.game:TicketToRideNewYork",
    "manhattan_traffiq": "referee.games.manhattan_traffiq.game:ManhattanTraffiq",
    "king_of_new_york": "referee.games.king_of_new_york.game:KingOfNewYork",
}
_ACTIONS = {
    "toy": "toy_game.codec:_value",
    "shibuya": "referee.games.shibuya.codec:parse_message",
    "ticket_to_ride_new_york": "referee.games.ticket_to_ride_new_york.codec:enum_name",
    "manhattan_traffiq": "referee.games.manhattan_traffiq.codec:enum_name",
    "king_of_new_york": "referee.games.king_of_new_york.codec:_word",
}
_OBSERVATIONS = {
    "toy": "toy_game.codec:_value",
    "shibuya": "referee.games.shibuya.codec:TeamSetting",
    "ticket_to_ride_new_york": "referee.games.ticket_to_ride_new_york.codec:write_ledger",
    "manhattan_traffiq": "referee.games.manhattan_traffiq.codec:_spot",
    "king_of_new_york": "referee.games.king_of_new_york.codec:_tasks",
}
_BOXES = {
    "toy": "toy_game.game:_is_count",
    "shibuya": "referee.games.shibuya.data:_check_layout",
    "ticket_to_ride_new_york": "referee.games.ticket_to_ride_new_york.data:_check_tickets",
    "manhattan_traffiq": "referee.games.manhattan_traffiq.data:_check_layout",
    "king_of_new_york": "referee.games.king_of_new_york.data:_check_effect",
}
_SYNTAX_ERROR = "referee.games.api.errors:ActionSyntaxError.__init__"

PLANTS: dict[str, tuple[str, ...]] = {
    "bot message in a match": (
        "referee.match.seat_controller:read_choice",
        "referee.match.seat_controller:stray_text",
        "referee.match.seat_controller:message_evidence",
    ),
    "match specification": ("referee.schedule.spec:Limits.with_clock", "referee.schedule.spec:SpecError.__init__"),
    "match result": ("referee.match.result:SeatStats", "referee.match.result:Fault"),
    "worker line": (
        "referee.tournament.messages:_sandbox",
        "referee.tournament.messages:Invitation",
        "referee.match.result:SeatStats",
    ),
    "bot.toml": (
        "referee.process.manifest:check_name",
        "referee.process.manifest:_Checker._line_of",
        "referee.process.manifest:_syntax_error",
    ),
    "tournament file": (
        "referee.schedule.spec:Limits.__post_init__",
        "referee.errors:ConfigError.__init__",
    ),
    "journal": ("referee.record.journal:parse_control", "referee.record.journal:JournalDamage.__init__"),
    "controls of a journal": ("referee.record.journal:parse_control", "referee.record.journal:JournalDamage.__init__"),
    "record": ("referee.record.format:parse_footer", "referee.record.reader:Problem"),
    "packed record": ("referee.record.reader:parse_line", "referee.record.reader:Problem"),
    "record judged again": ("referee.match.rejudge:_finding", "referee.match.rejudge:RecordError"),
    "evidence judged again": ("referee.match.rejudge:_time", "referee.match.rejudge:_answer"),
    "Hello": ("referee.match.bot:Wants", "referee.wire.handshake:Refusal"),
    "line of a program": ("crosstown_bridge.lines:_action", "crosstown_bridge.lines:_shown"),
    "text of a program": ("crosstown_bridge.lines:Answer", "crosstown_bridge.lines:_shown"),
    "kept build": ("referee.process.store:Built",),
    "kept home": ("referee.process.homes:int",),
    "kept table": ("leaderboard.run_table:RunTable",),
    "kept live table": ("leaderboard.ratings.live:Point",),
    "lock of a run": ("referee.run.lock:started",),
    "first line of a program": ("referee.process.needs:clean",),
    "pyvenv.cfg of a bot": ("referee.process.needs:clean",),
    "settings of pip": ("configparser:RawConfigParser.set",),
    "settings of cargo": ("referee.process.build_settings:_toml",),
    "settings of maven": ("referee.process.build_settings:_name",),
    "zip file of a hand-in": ("referee.ladder.archives:_Tree.file", "referee.ladder.archives:_fail"),
    "tar file of a hand-in": ("referee.ladder.archives:_Tree.file", "referee.ladder.archives:_fail"),
}
for _game, _class in _GAME_CLASSES.items():
    PLANTS |= {
        f"action of {_game}": (_ACTIONS[_game], _SYNTAX_ERROR),
        f"choice in {_game}": (f"{_class}.format_action", "referee.match.decision:Refusal"),
        f"action text of {_game}": ("referee.games.api.text:int", _SYNTAX_ERROR),
        f"observation of {_game}": (_OBSERVATIONS[_game], _SYNTAX_ERROR),
        f"box of {_game}": (_BOXES[_game], "referee.games.api.errors:DataError.__init__"),
        f"verified record of {_game}": ("referee.record.format:Answer", "referee.record.verify:Verdict"),
    }


class PlantedBug(Exception):
    pass


def plant(patch: pytest.MonkeyPatch, where: str) -> Callable[[], None]:
    """From the call of what is returned on, the function at `where` breaks for every second of the arguments that it
    was not given before: those of good input work."""
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    # A name that is not there is a built-in function, which the module gets one of its own of.
    real = getattr(owner, name, None) or getattr(builtins, name)
    known: set[str] = set()
    grown = False

    def broken(*args: Any, **words: Any) -> Any:
        key = ", ".join(map(_shown, (*args, *words.items())))
        if not grown:
            known.add(key)
        elif key not in known and zlib.crc32(key.encode("utf-8", "surrogatepass")) % 2 == 0:
            raise PlantedBug(where)
        return real(*args, **words)

    def grow() -> None:
        nonlocal grown
        grown = True

    patch.setattr(owner, name, broken, raising=False)
    return grow


def _shown(value: Any) -> str:
    """Of an argument what makes it another one, and not where it lies."""
    if isinstance(value, Message):
        return value.SerializeToString(deterministic=True).hex()
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    except Exception:  # not whole yet: its constructor is what is planted in
        return ""
