"""Names of owners and bots: valid in an address, and not easily confused with another name."""

import unicodedata
from functools import lru_cache

from confusable_homoglyphs import confusables

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
    if confusables.is_dangerous(name):
        raise HandInRefused(
            Refusal.UNUSABLE,
            f"the name of {whose}, {name!a}, mixes letters of several alphabets that look alike",
            "choose letters of one alphabet",
        )
    return name


@lru_cache(maxsize=4096)
def _as_latin(character: str) -> str:
    """The Latin letter or the digit that a letter is taken for; the letter itself if it is taken for none."""
    if character.isascii():
        return character
    found = confusables.is_confusable(character, preferred_aliases=["latin"])
    drawn = [one["c"] for one in found[0]["homoglyphs"]] if found else []
    return min((one for one in drawn if one.isascii() and one.isalnum()), default=character)


def seen_as(name: str) -> str:
    """A name as people read it: of two names that have this in common the later one is refused."""
    wide = unicodedata.normalize("NFKC", name).casefold()
    return " ".join("".join(map(_as_latin, wide)).casefold().split())


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0]


def taken(kind: str, name: str, other: str) -> str:
    """The sentence for a name that another one has, or is too like."""
    if name == other:
        return f"the {kind}'s name '{name}' is taken"
    return f"the {kind}'s name {name!a} looks like {other!a}, which is taken"
