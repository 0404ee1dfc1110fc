"""Evidence of a fault: what the bot sent, what it could see, what was asked of it."""

import base64
from collections.abc import Sequence
from typing import Any

from referee.games.api import Game, State
from referee.wire import BotMessage

SHOWN_BYTES = 1024
SHOWN_STRAY_BYTES = 48
SHOWN_ACTIONS = 100
SHOWN_TEXT = 8192


def message_evidence(raw: bytes) -> dict[str, Any]:
    """The beginning of a message and its whole size."""
    return {"message": base64.b64encode(raw[:SHOWN_BYTES]).decode("ascii"), "message_bytes": len(raw)}


def stray_text(raw: bytes) -> str:
    """The beginning of a message that was dropped."""
    return base64.b64encode(raw[:SHOWN_STRAY_BYTES]).decode("ascii")


def position_evidence(game: Game, state: State, seat: int, legal: Sequence[Any]) -> dict[str, Any]:
    """What the seat could see when it was asked: the board and the beginning of its list."""
    return {
        "board": game.view.text_board(state.observation(seat))[:SHOWN_TEXT],
        "legal_count": len(legal),
        "legal": [game.format_action(action) for action in legal[:SHOWN_ACTIONS]],
    }


def stray_kind(message: BotMessage, match_id: str, last_number: int) -> str:
    """Why a message answers nothing that is asked: one word for the record."""
    body = message.WhichOneof("body")
    if body == "move":
        if message.move.match != match_id:
            return "other_match"
        return "late_or_repeated" if 0 < message.move.decision <= last_number else "unknown_decision"
    if body == "ready" or body == "resign":
        other = message.ready.match if body == "ready" else message.resign.match
        return "other_match" if other != match_id else "repeated"
    return "unexpected_hello" if body == "hello" else "empty"


def cut_note(note: str, max_bytes: int) -> str:
    """The longest beginning of `note` that has at most `max_bytes` bytes of UTF-8."""
    if len(note) * 4 <= max_bytes:
        return note
    return note.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
