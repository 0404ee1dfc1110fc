"""From the bytes of an answer to an action of the list that was sent, or to what is wrong with it."""

from dataclasses import dataclass
from typing import Any

from referee.games.api import ActionSyntaxError, Game
from referee.match.question import Question
from referee.match.reasons import EndReason
from referee.wire import BotMessage
from referee.wire.encode import shown_index

_SHOWN = 500
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is none: a fault of the seat."""

    reason: EndReason
    detail: str


def read_choice(message: BotMessage, question: Question, game: Game) -> Any:
    """The action that a Move chooses among `question.legal`, or a Refusal."""
    move, number, legal = message.move, question.number, question.legal
    choice = move.WhichOneof("choice")
    if choice == "index":
        if move.index < len(legal):
            return legal[move.index]
        detail = f"index {shown_index(move.index)} in decision {number}: expected 0 to {len(legal) - 1}"
        return Refusal(EndReason.ILLEGAL_ACTION, detail)
    if choice is None:
        detail = f"the move of decision {number} has neither an index nor an action"
        return Refusal(EndReason.MALFORMED_MESSAGE, detail)
    try:
        action = game.codec.decode_action(move.action)
    except Exception as error:  # hostile bytes: whatever the game's decoder makes of them is the bot's doing
        what = str(error) if isinstance(error, ActionSyntaxError) else f"{type(error).__name__}: {error}"
        detail = f"the action of decision {number} cannot be decoded: {what[:_SHOWN]}"
        return Refusal(EndReason.MALFORMED_MESSAGE, detail)
    if action in legal:
        return action
    what = game.format_action(action)[:_SHOWN]
    some = ", ".join(game.format_action(other) for other in legal[:_EXAMPLES])
    expected = some if len(legal) <= _EXAMPLES else f"{some}, ..."
    detail = f"{what} in decision {number} is not one of the {len(legal)} legal actions; expected one of {expected}"
    return Refusal(EndReason.ILLEGAL_ACTION, detail)
