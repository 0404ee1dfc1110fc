"""What can be wrong with what a caller hands to a game: one sentence, and in `next_step` what to do about it."""


class GameError(Exception):
    """Base of all errors a game raises on purpose; `code` names the kind for logs and tests."""

    code = "game_error"
    next_step = "see: crosstown games show GAME"


class IllegalAction(GameError):
    """A well-formed action that the rules do not allow here and now. The state is unchanged."""

    code = "illegal_action"
    next_step = "choose one of the legal actions"


class ActionSyntaxError(GameError):
    """Text or bytes that do not spell an action of this game."""

    code = "action_syntax"
    next_step = "write it as the legal actions are written"


class OptionError(GameError):
    """An option that does not exist, or a value it does not take."""

    code = "option"


class PlayersError(GameError):
    """A number of players the game is not made for."""

    code = "players"


class DataError(GameError):
    """A tile set, map or card list that does not fit the game's schema."""

    code = "data"
    next_step = "correct the data file"
