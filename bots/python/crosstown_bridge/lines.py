"""What is said to the program and what it may answer, without any process: text in, text out."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crosstown_bot import RESIGN, Usage
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

if TYPE_CHECKING:
    from crosstown_bot import Match, Result, Turn

MOST_SHOWN = 200
"""Characters of a bad line that its author is shown."""

NO_HURRY_S = 3600.0
"""From here on a limit is not worth saying."""


MOST_DIGITS = 9
"""Of a number that is read as an index."""

NO_INDEX = (1 << 32) - 1
"""-1, as the wire's uint32 has it: out of range in every game."""

_MOST_INDEX = (1 << 31) - 1
"""The referee takes what is above for a negative number."""


class BadAnswer(Exception):
    """A line that answers nothing. One sentence for the author: what came, what was expected."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What `Bot.choose` returns, and the note beside it. `problem`: it is an answer, but the referee will refuse it.
    `provider_error`: the reason why a program that asks a language model makes no choice."""

    choice: Any
    note: str = ""
    problem: str = ""
    usage: Usage | None = None
    provider_error: str = ""


class JsonLines:
    """One JSON object a line, both ways: the wire's messages in protobuf's JSON mapping, typed bytes decoded."""

    def start(self, match: Match) -> str:
        return _line(
            "match_start",
            {
                "match": match.id,
                "game": match.game,
                "rules_version": match.rules_version,
                "seat": match.seat,
                "players": match.players,
                "teams": list(match.teams),
                "options": match.options,
                "first_move_limit_s": match.first_move_limit_s,
                "move_limit_s": match.move_limit_s,
                "bank_s": match.bank_s,
                "total_s": match.total_s,
                "increment_s": match.increment_s,
                "bot_seed": str(match.bot_seed),
            },
        )

    def question(self, turn: Turn) -> str:
        match = turn.match
        return _line(
            "decide",
            {
                "match": match.id,
                "decision": turn.number,
                "kind": turn.kind,
                "legal_count": turn.legal_count,
                "left_s": turn.left_s,
                "bank_left_s": turn.bank_left_s,
                "total_left_s": turn.total_left_s,
                "last_latency_s": turn.last_latency_s,
                "board": turn.board,
                "actions": turn.action_texts,
                "observation": _typed(match, "Observation", turn.observation_bytes),
                "legal_actions": _typed(match, "LegalActions", turn.legal_actions_bytes),
                "events": _typed(match, "Events", turn.events_bytes),
            },
        )

    def end(self, result: Result) -> str:
        return _line(
            "match_end",
            {
                "match": result.match.id,
                "ranking": list(result.ranking),
                "returns": list(result.returns),
                "rank": result.rank,
                "reason": result.reason,
                "fault_seat": result.fault_seat,
                "explanation": result.explanation,
            },
        )

    def answer(self, line: str, turn: Turn) -> Answer:
        """A number, or an object with `index`, `action`, `resign` or `provider_error`, and perhaps `note` and `usage`.
        BadAnswer otherwise."""
        expected = 'one line of JSON such as 3, {"index": 3}, {"action": {...}} or {"resign": true}'
        try:
            value = json.loads(line)
            json.dumps(value, ensure_ascii=False).encode()  # escapes can spell halves of characters
        except UnicodeEncodeError:
            raise BadAnswer(f"{_shown(line)} holds half a character (a lone surrogate such as \\ud800)") from None
        except (ValueError, RecursionError):
            raise BadAnswer(
                f"{_shown(line)} is not JSON; expected {expected}, and anything else on the standard error output"
            ) from None
        if isinstance(value, int) and not isinstance(value, bool):
            value = {"index": value}
        if not isinstance(value, dict):
            raise BadAnswer(f"{_shown(line)} is not an answer; expected {expected}")
        if unknown := sorted(set(value) - _KEYS):
            raise BadAnswer(f"{_shown(line)} has the unknown key {_shown(unknown[0])}; expected {expected}")
        note = value.get("note", "")
        if not isinstance(note, str):
            raise BadAnswer(f"{_shown(line)}: the note must be a string")
        used = _usage(line, value["usage"]) if "usage" in value else None
        if value.get("resign") is True:
            return Answer(RESIGN, note)
        if "provider_error" in value:
            return _no_answer(line, value, note, used)
        if "action" in value and "index" not in value:
            return Answer(_action(turn, value["action"]), note, usage=used)
        index = value.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or "action" in value:
            raise BadAnswer(f"{_shown(line)} is not an answer; expected {expected}")
        if not 0 <= index < turn.legal_count:
            return Answer(
                _sendable(index),
                note,
                f"index {_cut(str(index))} is out of range; expected 0 to {turn.legal_count - 1}",
                used,
            )
        return Answer(index, note, usage=used)


_KEYS = frozenset({"index", "action", "resign", "provider_error", "note", "usage"})
_COUNTS = ("requests", "prompt_tokens", "reply_tokens", "provider_errors", "unreadable")
_AMOUNTS = ("wait_s", "cost_dollars")


def _usage(line: str, value: Any) -> Usage:
    """The provider usage that the program reports for this answer. BadAnswer."""
    expected = f"{', '.join(_COUNTS)} (whole numbers), {', '.join(_AMOUNTS)} (numbers), all from 0"
    if not isinstance(value, dict):
        raise BadAnswer(f"{_shown(line)}: the usage must be an object with {expected}")
    for name, amount in value.items():
        kind = int if name in _COUNTS else int | float if name in _AMOUNTS else None
        if kind is None or not isinstance(amount, kind) or isinstance(amount, bool) or not amount >= 0:
            raise BadAnswer(f"{_shown(line)}: the usage has {_shown(f'{name}: {amount!r}')}; expected {expected}")
    return Usage(**value)


def _no_answer(line: str, value: dict[str, Any], note: str, used: Usage | None) -> Answer:
    """The answer with a provider error. BadAnswer if there is a choice beside the error."""
    why = value["provider_error"]
    if not isinstance(why, str) or not why.strip():
        raise BadAnswer(f"{_shown(line)}: the provider_error must be a text with the reason")
    if choice := sorted(set(value) & {"index", "action"}):
        raise BadAnswer(f"{_shown(line)} has both a provider_error and an {choice[0]}; send one of them")
    return Answer(None, note, usage=used, provider_error=why)


def _sendable(index: int) -> int:
    """An index that is out of range, as near to what was meant as the wire can say it."""
    if index < 0:
        return max(index, -_MOST_INDEX - 1) & NO_INDEX
    return min(index, _MOST_INDEX)


class TextLines:
    """The board and the numbered actions as text, a number as the answer: for people and language models.

    A match begins with lines that begin with `# `: which one it is, and the time that all answers share. Every question
    ends in the line `choose 0 to N within S s`, without the time if it is an hour and more. A line that is no such
    number is answered by a line that begins with `! `, and the question stays open.
    """

    def start(self, match: Match) -> str:
        return (
            f"# match {match.id}: {match.game}, you are seat {match.seat + 1} of {match.players}\n{_shared_time(match)}"
        )

    def question(self, turn: Turn) -> str:
        listed = "".join(f"{index:4}  {text}\n" for index, text in enumerate(turn.action_texts))
        return f"\n{turn.board.rstrip()}\n\n{turn.kind}:\n{listed}{_prompt(turn, turn.left_s)}\n"

    def end(self, result: Result) -> str:
        if result.rank is None:
            how = f"does not count ({result.reason})"
        else:
            how = f"rank {result.rank} of {len(result.ranking)}, points {list(result.returns)} ({result.reason})"
        return f"# match {result.match.id} is over: {how}\n" + (
            f"# {result.explanation}\n" if result.explanation else ""
        )

    def answer(self, line: str, turn: Turn) -> Answer:
        """The first word must be a number of the list, or `resign`; the words after it are the note."""
        word, _, note = line.strip().partition(" ")
        if word == "resign":
            return Answer(RESIGN, note)
        index = int(word) if word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS else NO_INDEX
        if index >= turn.legal_count:
            raise BadAnswer(f"{_shown(line.strip())} is not a number from 0 to {turn.legal_count - 1} (nor `resign`)")
        return Answer(index, note)

    def again(self, problem: BadAnswer, turn: Turn, left_s: float) -> str:
        return f"! {problem}\n{_prompt(turn, left_s)}\n"


def before_the_question(line: str) -> str:
    """What its author reads of a line that came when nothing was asked."""
    return (
        f"the line {_shown(line)} came before the question; print one line for each question, and none at the start or"
        " the end of a match"
    )


def _shared_time(match: Match) -> str:
    """A line on time that all answers share, since each question says how much of it is left; '' without any."""
    if match.total_s:
        more = f", and each answer adds {match.increment_s:g} s" if match.increment_s else ""
        return f"# clock: {match.total_s:g} s for all answers of the match together{more}\n"
    if match.bank_s:
        own = f"{match.move_limit_s:g} s for each answer"
        return f"# clock: {own}, and {match.bank_s:g} s more for all answers of the match together\n"
    return ""


def _prompt(turn: Turn, left_s: float) -> str:
    within = f" within {max(left_s, 0):.1f} s" if left_s < NO_HURRY_S else ""
    return f"choose 0 to {turn.legal_count - 1}{within}"


def _line(kind: str, body: dict[str, Any]) -> str:
    """Compact, so that a program without a JSON library finds `"legal_count":7` by plain search: it cannot stand in a
    string, where the quotes are escaped."""
    return json.dumps({"type": kind, **body}, separators=(",", ":")) + "\n"


def _typed(match: Match, name: str, data: bytes) -> Any:
    """The game's message as an object; for a game whose messages are not installed, its bytes in base64."""
    try:
        message = getattr(match.messages, name).FromString(data)
    except LookupError:
        return base64.b64encode(data).decode()
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)


def _action(turn: Turn, value: Any) -> bytes:
    """The Action message, serialised. BadAnswer if it is not of this game."""
    try:
        if isinstance(value, str):
            return base64.b64decode(value, validate=True)
        data: bytes = ParseDict(value, turn.match.messages.Action()).SerializeToString()
        return data
    except (ParseError, LookupError, ValueError, TypeError, AttributeError) as error:
        raise BadAnswer(f"the action is not an Action message of {turn.match.game}: {error}") from None


def _shown(text: str) -> str:
    return repr(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."
