"""Canonical action text."""

from collections.abc import Iterator

from referee.games.api import ActionSyntaxError, State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.nodes import Node
from referee.games.conformance.trial import Trial

ARABIC_DIGITS = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
FULLWIDTH_DIGITS = str.maketrans("0123456789", "".join(chr(0xFF10 + digit) for digit in range(10)))
LONGEST_TEXT = 1000
TRIED_ACTIONS = 4


def check_action_text(trial: Trial, state: State, node: Node) -> None:
    """Each legal action survives the way through text; texts are unique; no second spelling is taken."""
    game, rng = trial.game, trial.rng("action_text")
    for seat, legal in node.legal.items():
        texts = [game.format_action(action) for action in legal]
        if len(set(texts)) != len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise CheckFailed("action_text", f"two legal actions of seat {seat} are both written {twice!r}")
        for action, text in zip(legal, texts, strict=True):
            if not text.isascii() or not text.isprintable() or len(text) > LONGEST_TEXT:
                raise CheckFailed("action_text", f"{text!r} is not {LONGEST_TEXT} printable ASCII characters at most")
            if (read := parsed(trial, text)) != action:
                raise CheckFailed("action_text", f"{action!r} is written {text!r}, which reads {read!r}")
        for text in rng.sample(texts, min(TRIED_ACTIONS, len(texts))):
            for spelling in respelled(text):
                check_spelling(trial, spelling)


def parsed(trial: Trial, text: str) -> object:
    try:
        return trial.game.parse_action(text)
    except ActionSyntaxError as error:
        raise CheckFailed("action_text", f"parse_action refuses the game's own {text!r}: {error}") from error


def check_spelling(trial: Trial, spelling: str) -> None:
    """Either refused, or canonical itself."""
    try:
        action = trial.game.parse_action(spelling)
    except ActionSyntaxError:
        return
    except Exception as error:
        raise CheckFailed(
            "action_text", f"parse_action({spelling!r}) raised {type(error).__name__}({error})"
        ) from error
    if trial.game.format_action(action) != spelling:
        raise CheckFailed(
            "action_text", f"{spelling!r} is taken, though it is written {trial.game.format_action(action)!r}"
        )


def respelled(text: str) -> Iterator[str]:
    """Other spellings of `text`, most of them wrong."""
    yield ""
    yield f" {text}"
    yield f"{text} "
    yield f"{text}\n"
    yield f"{text})"
    yield text[:-1]
    yield text.upper()
    yield text.replace("(", "( ")
    yield text.replace(",", ", ")
    yield text.replace("=", " = ")
    yield text.replace(")", ",)")
    yield text.replace("=", "=+")
    yield text.replace("=", "=0")
    yield text.replace("=", "=-")
    yield text.replace("[", "[,")
    yield text.replace("]", ",]")
    yield text.translate(ARABIC_DIGITS)
    yield text.translate(FULLWIDTH_DIGITS)
    head, _, inner = text.partition("(")
    fields = inner.removesuffix(")").split(",")
    yield f"{head}({','.join(reversed(fields))})"
    yield f"{head}({','.join([*fields, *fields[-1:]])})"
    yield f"{head}()"
    yield f"no_such_kind({inner}"
