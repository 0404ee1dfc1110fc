"""Names of bots: what may be one, and which two would be taken for each other."""

import unicodedata

MAX_CODE_POINTS = 64

_REFUSED = {
    "Cc": "a control character",
    "Cf": "an invisible or direction-changing format character",
    "Cs": "a surrogate",
    "Co": "a private-use character",
    "Cn": "an unassigned character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
# Letters and marks by category, yet drawn as nothing: Hangul fillers, Khmer inherent vowels, the empty Braille cell,
# the grapheme joiner. (Unicode: Default_Ignorable_Code_Point, and U+2800.)
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Cyrillic and Greek letters drawn like Latin ones, lower case after folding; capitals that differ are added below.
_FOREIGN = str.maketrans(
    "аеорсухѕіјһԁԛԝүѵοαιυνκρτβμηχγ",
    "aeopcyxsijhdqwyvoaivvkptbunxy",
)
_FOREIGN_CAPITALS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",  # noqa: RUF001 - the point of this table
    "ABESIJKMHOPCTYXABEZHIKMNOPTYX",
)
_SAME_STROKE = str.maketrans("I1|0", "lllO")


class BotNameError(ValueError):
    """Not a name for a bot. The message says which character or length is wrong."""


def check_name(name: str) -> str:
    """The name in NFC. BotNameError unless it is 1 to 64 visible code points without white space at its ends."""
    normal = unicodedata.normalize("NFC", name)
    if not 1 <= len(normal) <= MAX_CODE_POINTS:
        told = f"a bot's name has 1 to {MAX_CODE_POINTS} characters, this one has {len(normal)}"
        raise BotNameError(f"{told}; choose {'a shorter one' if normal else 'one'}")
    if normal != normal.strip():
        raise BotNameError(f"the bot's name {normal!a} starts or ends with white space; take that away")
    for place, character in enumerate(normal, 1):
        problem = _problem(character)
        if problem is not None:
            code = f"U+{ord(character):04X}"
            raise BotNameError(f"the bot's name {normal!a} has {problem} ({code}) at place {place}; take that away")
    if unicodedata.combining(normal[0]):
        raise BotNameError(f"the bot's name {normal!a} starts with a combining mark; begin with a letter or digit")
    return normal


def _problem(character: str) -> str | None:
    if character in _BLANK or _is_selector(character):
        return "a character that is drawn as nothing"
    category = unicodedata.category(character)
    if category == "Zs" and character != " ":
        return "a space that is not the ordinary one"
    return _REFUSED.get(category)


def _is_selector(character: str) -> bool:
    """Variation selectors: marks without a look of their own."""
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef" or character in "᠋᠌᠍᠏"


def clashes(one: str, other: str) -> bool:
    """Whether people would take one name for the other: same but for case, width, accents' encoding, invisible
    characters or spacing, or drawn alike (Cyrillic or Greek letters for Latin ones, `1`, `I` and `l`, `0` and `O`).
    """
    return _folded(one) == _folded(other) or _drawn(one) == _drawn(other)


def _folded(name: str) -> str:
    wide = unicodedata.normalize("NFKC", name)
    seen = "".join(character for character in wide if character == " " or _problem(character) is None)
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def _drawn(name: str) -> str:
    latin = unicodedata.normalize("NFKC", name).translate(_FOREIGN_CAPITALS)
    return _folded(latin.translate(_SAME_STROKE)).translate(_FOREIGN)
