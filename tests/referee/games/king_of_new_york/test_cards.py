"""Cards as data: the list of the box, the vocabulary of their effects, and a card made up here."""

import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import DataError
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.card_effects import VERB_EFFECTS
from referee.games.king_of_new_york.cards import VERBS

from . import matches

FOLDER = Path(__file__).parent
ENGINE = Path(inspect.getfile(type(GAME))).parent
CARDS = GAME.default_data()["cards"]


def test_64_cards_once_each_46_keep_and_18_discard() -> None:
    assert len({card["id"] for card in CARDS}) == len(CARDS) == 64
    assert Counter(card["type"] for card in CARDS) == {"keep": 46, "discard": 18}


def test_costs() -> None:
    assert Counter(card["cost"] for card in CARDS) == {0: 2, 2: 1, 3: 8, 4: 21, 5: 17, 6: 8, 7: 1, 9: 2, 10: 2, 12: 2}


@pytest.mark.parametrize("card", [card["id"] for card in CARDS])
def test_every_card_has_a_test_of_its_name(card: str) -> None:
    tests = "".join(path.read_text("utf-8") for path in FOLDER.glob("test_card_effects_*.py"))
    assert re.search(rf"^def test_{card}\(", tests, re.MULTILINE), card


def test_every_card_is_in_the_readme() -> None:
    readme = (ENGINE / "README.md").read_text("utf-8")
    for card in CARDS:
        assert f"| {card['name']} | {card['cost']} | {card['type']} |" in readme


def test_every_verb_is_used_by_a_card_and_every_effect_is_in_the_vocabulary() -> None:
    used = {effect["do"] for card in CARDS for effect in card["effects"]}
    assert used == set(VERBS)
    assert set(VERB_EFFECTS) <= set(VERBS)


def test_no_module_but_card_effects_knows_a_card() -> None:
    # carapace is also a token, painbow a reason why a match ends, of_another_world the name of an option.
    names = [card["id"] for card in CARDS if card["id"] not in ("carapace", "painbow", "of_another_world", "subway")]
    word = re.compile(r"[\"'](" + "|".join(names) + r")[\"']")
    for path in set(ENGINE.glob("*.py")) - {ENGINE / "card_effects.py"}:
        assert not word.search(path.read_text("utf-8")), path.name


def test_a_card_made_of_the_vocabulary_works_without_code() -> None:
    data = GAME.default_data()
    card = next(entry for entry in data["cards"] if entry["id"] == "regeneration")
    card["effects"] = [{"on": "turn_start", "do": "gain", "vp": 2, "energy": 1, "in": "bronx"}]
    GAME.check_data(data)
    state = GAME.new_initial_state(2, matches.options(data=data, start_player="seat_0"))
    number = state.ruleset.card_number["regeneration"]
    while not state.decisions():
        state.apply_chance(
            "coney_island" if ("coney_island", 1) in state.chance_outcomes() else state.chance_outcomes()[0][0]
        )
    state.keep_cards[0] |= 1 << number
    state.owned |= 1 << number
    state.apply({0: GAME.parse_action("place(borough=bronx)")})
    state.apply({1: GAME.parse_action("place(borough=queens)")})
    assert (state.vp[0], state.energy[0]) == (2, 1)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"on": "turn_start", "do": "explode"}, "unknown 'explode'"),
    ({"do": "gain"}, "gain goes with"),
    ({"on": "turn_start", "do": "painbow", "one": 1, "two": 2, "win": 3}, "painbow goes with final_roll"),
    ({"on": "owned", "do": "dice"}, "dice needs 'amount'"),
    ({"on": "owned", "do": "dice", "amount": -1}, "an integer from 0"),
    ({"on": "owned", "do": "dice", "amount": 1, "colour": "green"}, "not 'colour'"),
    ({"on": "turn_start", "do": "gain", "vp": 1, "in": "hoboken"}, "expected one of manhattan"),
    ({"on": "turn_start", "do": "gain", "vp": 1, "first": 1}, "expected true or false"),
]


@pytest.mark.parametrize(("effect", "message"), BAD)
def test_effects_outside_the_vocabulary_are_refused_with_their_place(effect: dict[str, Any], message: str) -> None:
    data = GAME.default_data()
    data["cards"][1]["effects"] = [effect]
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        GAME.check_data(data)
    assert "cards[1] (antimatter_pellets).effects[0]" in str(caught.value)
