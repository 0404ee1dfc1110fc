"""A match put into a position, driven by short words, with all luck given by the test.

Dice are written as letters: e energy, a attack, d destruction, h heart, c celebrity, o ouch. Places are m0, m1, m2
(Manhattan, track 2-4: Lower, Midtown, Upper), n0, n1, n2 (track 5-6), b Brooklyn, q Queens, x Bronx, s Staten Island,
and - for an eliminated monster.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from referee.games.api import resolve_options
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import TURN

FACES = {"e": "energy", "a": "attack", "d": "destruction", "h": "heart", "c": "celebrity", "o": "ouch"}
LETTERS = "eadhco"
PLACES = {"b": 1, "q": 2, "x": 3, "s": 4}
BOROUGHS = ("manhattan", "brooklyn", "queens", "bronx", "staten_island")
UNITS = ("infantry", "jet", "tank")
DEAR_MARKET = ("shadow_double", "drink_the_hudson", "towering_titan")


class Scene:
    """The turn of `seat` has begun; its first die is about to be rolled, or it is asked something before.

    `units` lists Units by borough, such as {"queens": "infantry jet"}; `tops` the buildings by borough (the others
    are `high_rise_1`); `below` the building that comes to light under a destroyed one; `market` three cards.
    """

    def __init__(
        self,
        places: str,
        *,
        seat: int = 0,
        life: Sequence[int] | None = None,
        vp: Sequence[int] | None = None,
        energy: Sequence[int] | None = None,
        cards: Mapping[int, str] | None = None,
        web: Mapping[int, int] | None = None,
        jinx: Mapping[int, int] | None = None,
        carapace: int = 0,
        units: Mapping[str, str] | None = None,
        tops: Mapping[str, str] | None = None,
        below: str = "high_rise_1",
        market: Sequence[str] = DEAR_MARKET,
        discards: str = "",
        superstar: int = 7,
        statue: int = 7,
        rides: bool = False,
        **options: Any,
    ) -> None:
        words = places.split()
        state = GAME.new_initial_state(len(words), resolve_options(GAME.id, GAME.options, options))
        self.state = state
        self.events: list[Any] = []
        self.below = below
        number = state.ruleset.card_number
        self._take_tiles(tops or {})
        state.tasks = []
        taken = {name for names in (cards or {}).values() for name in names.split()}
        state.market = [number[card] for card in market if card not in taken]
        state.market += [number[card] for card in DEAR_MARKET if number[card] not in state.market][
            : 3 - len(state.market)
        ]
        state.start_attacks = [0] * len(words)
        for at, word in enumerate(words):
            self._put(at, word)
        if life:
            state.life = list(life)
        if vp:
            state.vp = list(vp)
        if energy:
            state.energy = list(energy)
        for owner, names in (cards or {}).items():
            for name in names.split():
                state.keep_cards[owner] |= 1 << number[name]
                state.owned |= 1 << number[name]
        for name in discards.split():
            state.discards |= 1 << number[name]
        state.deck &= ~(state.owned | state.discards | sum(1 << card for card in state.market))
        for at, count in (web or {}).items():
            state.web[at] = count
            state.web_left -= count
        for at, count in (jinx or {}).items():
            state.jinx[at] = count
            state.jinx_left -= count
        if carapace:
            owner = next(at for at, names in (cards or {}).items() if "carapace" in names.split())
            state.carapace[owner] = carapace
            state.carapace_left -= carapace
        for borough, names in (units or {}).items():
            for name in names.split():
                state.units[BOROUGHS.index(borough) * 3 + UNITS.index(name)] += 1
        state.superstar_seat, state.statue_seat = superstar, statue
        state.order_seat = seat
        state.count_move_cost()
        state.tasks = [(TURN, seat, int(rides), 0)]
        state.log = []
        state.run()
        self.events = [event.public for event in state.log]

    def _take_tiles(self, tops: Mapping[str, str]) -> None:
        state = self.state
        wanted = ["high_rise_1"] * 15
        for borough, names in tops.items():
            for place, name in enumerate(names.split()):
                wanted[BOROUGHS.index(borough) * 3 + place] = name
        state.tops = [state.ruleset.tile_number[name] for name in wanted]
        state.covered = [2] * 15
        for tile in state.tops:
            state.unseen[tile] -= 1

    def _put(self, at: int, word: str) -> None:
        state = self.state
        if word == "-":
            state.deaths += 1
            state.out[at] = state.deaths
            state.living -= 1
            state.borough[at] = 5
            state.life[at] = 0
        elif word in PLACES:
            state.borough[at] = PLACES[word]
        else:
            state.borough[at] = 0
            state.space[at] = int(word[1]) + (3 if word[0] == "n" else 0)

    # What is going on

    @property
    def asked(self) -> tuple[int, str] | None:
        decisions = self.state.decisions()
        return (decisions[0].seat, decisions[0].kind) if decisions else None

    @property
    def menu(self) -> list[str]:
        decisions = self.state.decisions()
        return [GAME.format_action(a) for a in self.state.legal_actions(decisions[0].seat)] if decisions else []

    @property
    def rolls(self) -> bool:
        """Whether a die falls next."""
        outcomes = self.state.chance_outcomes()
        return bool(outcomes) and outcomes[0][0] == "energy"

    def events_of(self, kind: str) -> list[Any]:
        """All payloads of this kind so far."""
        return [payload for payload in self.events if kind == payload.KIND]

    def place(self, seat: int) -> str:
        state = self.state
        if state.out[seat]:
            return "-"
        if state.borough[seat]:
            return "?bqxs"[state.borough[seat]]
        return "mn"[state.space[seat] // 3] + str(state.space[seat] % 3)

    @property
    def places(self) -> str:
        return " ".join(self.place(seat) for seat in range(self.state.players))

    def cards(self, seat: int) -> list[str]:
        return [
            card for number, card in enumerate(self.state.ruleset.card_ids) if self.state.keep_cards[seat] >> number & 1
        ]

    def in_discards(self, card: str) -> bool:
        return bool(self.state.discards >> self.state.ruleset.card_number[card] & 1)

    def units(self, borough: str) -> dict[str, int]:
        first = BOROUGHS.index(borough) * 3
        return {name: count for name, count in zip(UNITS, self.state.units[first : first + 3], strict=True) if count}

    @property
    def market(self) -> list[str]:
        ids = self.state.ruleset.card_ids
        return [ids[card] if card < len(ids) else "" for card in self.state.market]

    @property
    def dice(self) -> str:
        """The unresolved dice as letters."""
        return "".join(letter * count for letter, count in zip(LETTERS, self.state.dice, strict=True))

    # What is done

    def chance(self, outcome: str | int) -> "Scene":
        self.events += [event.public for event in self.state.apply_chance(outcome)]
        return self

    def roll(self, letters: str) -> "Scene":
        """Let the dice fall; all of them are expected."""
        for letter in letters:
            assert self.rolls, f"{self.asked} {self.menu}"
            self.chance(FACES[letter])
        return self

    def tile(self, name: str) -> "Scene":
        return self.chance(name)

    def draw(self, *cards: str) -> "Scene":
        for card in cards:
            self.chance(card)
        return self

    def do(self, *texts: str) -> "Scene":
        """Answer what is asked, one action after another; tiles that come to light are `below`."""
        for text in texts:
            asked = self.asked
            assert asked is not None, f"{text}: nobody is asked"
            action = GAME.parse_action(text)
            assert text in self.menu, f"{text} is not in {self.menu}"
            self.events += [event.public for event in self.state.apply({asked[0]: action})]
            self.settle_tiles()
        return self

    def settle_tiles(self) -> None:
        while self.below in dict(self.state.chance_outcomes()):
            self.chance(self.below)

    def final(self, letters: str) -> "Scene":
        """Roll and keep, so that these dice are the final roll."""
        if self.asked and self.asked[1] == "before_roll":
            self.do("pass()")
        self.roll(letters)
        if self.asked and self.asked[1] == "dice":
            self.do("keep()")
        if self.asked and self.asked[1] == "convert" and self.only_at_any_moment:
            self.do("keep()")
        return self

    @property
    def only_at_any_moment(self) -> bool:
        """Whether nothing is offered beside the first entry but what may be done at any moment."""
        return all(text.startswith(("ride(", "shed(")) for text in self.menu[1:])

    def resolve(self, letters: Iterable[str]) -> "Scene":
        """Resolve faces in this order, as far as there is a choice left."""
        for letter in letters:
            if f"resolve(face={FACES[letter]})" in self.menu:
                self.do(f"resolve(face={FACES[letter]})")
        return self

    def until(self, kind: str, *, default: int = 0) -> "Scene":
        """Answer everything else with the entry `default` of the menu until this is asked."""
        while self.asked is None or self.asked[1] != kind:
            assert not self.state.is_terminal(), f"the match ended before anybody was asked '{kind}'"
            assert self.asked is not None, f"chance comes before '{kind}': {self.state.chance_outcomes()[:3]}"
            self.do(self.menu[min(default, len(self.menu) - 1)])
        return self

    def to_next_turn(self) -> "Scene":
        """Answer everything with the harmless entry until the next turn begins or the match ends."""
        begun = len(self.events_of("turn_began"))
        while len(self.events_of("turn_began")) == begun and not self.state.is_terminal():
            if self.asked:
                self.do(self.menu[0])
            else:
                self.chance(self.state.chance_outcomes()[0][0])
        return self

    def buy(self, card: str, *refill: str) -> "Scene":
        """Buy a card of the market; `refill` are the cards revealed afterwards."""
        if self.asked is None or self.asked[1] != "buy":
            self.until("buy")
        return self.do(f"buy(card={card})").draw(*refill)
