"""The contract between a game and everything that plays it.

A game imports nothing else of ours. The words (decision, chance node, observation, event, returns)
are used as OpenSpiel uses them.
"""

from referee.games.api.chance import Chance, Draw, Outcome, Roll
from referee.games.api.contract import (
    Action,
    Codec,
    Decision,
    Event,
    Game,
    Payload,
    State,
    View,
    state_hash,
)
from referee.games.api.drafts import EncodedOnce, draft_of, event
from referee.games.api.errors import (
    ActionSyntaxError,
    DataError,
    GameError,
    IllegalAction,
    OptionError,
    PlayersError,
)
from referee.games.api.options import DATA_OPTION, Option, resolve_options
from referee.games.api.sentences import (
    ID_LIKE,
    EventSentence,
    Selection,
    action_sentence,
    classified_sentence,
    event_sentence,
    folded,
    has_sentences,
    joined,
    points_so_far,
    question_words,
    seat_name,
    selection_of,
    text_board,
)
from referee.games.api.text import ActionText

__all__ = [
    "DATA_OPTION",
    "ID_LIKE",
    "Action",
    "ActionSyntaxError",
    "ActionText",
    "Chance",
    "Codec",
    "DataError",
    "Decision",
    "Draw",
    "EncodedOnce",
    "Event",
    "EventSentence",
    "Game",
    "GameError",
    "IllegalAction",
    "Option",
    "OptionError",
    "Outcome",
    "Payload",
    "PlayersError",
    "Roll",
    "Selection",
    "State",
    "View",
    "action_sentence",
    "classified_sentence",
    "draft_of",
    "event",
    "event_sentence",
    "folded",
    "has_sentences",
    "joined",
    "points_so_far",
    "question_words",
    "resolve_options",
    "seat_name",
    "selection_of",
    "state_hash",
    "text_board",
]
