"""Names of owners and bots: such as can be part of an address, and as nobody takes for another's."""

import unicodedata

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.process.manifest import BotNameError, check_name


def check_ladder_name(text: str, whose: str) -> str:
    """The name in NFC; such as can be part of an address. HandInRefused with UNUSABLE. `whose`: 'a bot' or 'an
    owner'."""
    try:
        name = check_name(text)
    except BotNameError as error:
        what = str(error).replace("a bot's name", f"the name of {whose}")
        what = what.replace("the bot's name", f"the name of {whose},")
        raise HandInRefused(Refusal.UNUSABLE, what, error.next_step) from None
    bad = next((character for character in name if character in "/\\?#%"), "")
    if bad or name.startswith("."):
        bad = bad or "."
        where = "starts with" if bad == "." else "has"
        raise HandInRefused(
            Refusal.UNUSABLE,
            f"the name of {whose}, {name!a}, {where} '{bad}', which addresses use for something else",
            "choose a name of letters, digits, spaces, '-' and '_'",
        )
    scripts = {_script(character) for character in name if character.isalpha()}
    if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
        other = "Cyrillic" if "CYRILLIC" in scripts else "Greek"
        raise HandInRefused(
            Refusal.UNUSABLE,
            f"the name of {whose}, {name!a}, mixes Latin and {other} letters, which look alike",
            "choose letters of one alphabet",
        )
    return name


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]


def taken(kind: str, name: str, other: str) -> str:
    """The sentence for a name that another one has, or is too like."""
    if name == other:
        return f"the {kind}'s name '{name}' is taken"
    return f"the {kind}'s name {name!a} looks like {other!a}, which is taken"
