"""The position of a match: all that lies on the table, what is still to come, and the elementary changes.

Every change keeps counts and supplies in step and logs its events. When to make which change is said by the other
modules: `rules.py` drives a match.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from operator import attrgetter
from typing import Any, Final, Self

from referee.games.api import DATA_OPTION, Event, event
from referee.games.api.compiling import mypyc_attr
from referee.games.king_of_new_york.actions import KingAction, Menu
from referee.games.king_of_new_york.constants import (
    BOROUGHS,
    FACES,
    GOALS,
    LEAVE,
    MANHATTAN,
    MARKET_SLOTS,
    NO_CARD,
    NO_SEAT,
    NO_SPACE,
    NO_TILE,
    NOWHERE,
    OUTER_BOROUGHS,
    PAY,
    STACKS,
    TILES_PER_STACK,
    UNIT_KINDS,
    ZONE_COUNT,
    Task,
)
from referee.games.king_of_new_york.events import (
    Added,
    CardLost,
    Eliminated,
    Finished,
    Gained,
    GoalMoved,
    Shifted,
    TokensChanged,
)
from referee.games.king_of_new_york.ruleset import Reward, Ruleset, make_ruleset

BOROUGH_LIMIT: Final = 2
"""Monsters that an outer borough has room for."""
MONSTERS_FOR_TWO: Final = 5
"""With so many monsters alive Manhattan has room for two of them."""


_FIELDS: Final = (
    "life",
    "vp",
    "energy",
    "borough",
    "space",
    "out",
    "keep_cards",
    "web",
    "jinx",
    "carapace",
    "turns",
    "trophies",
    "defence_rolls",
    "start_attacks",
    "gained",
    "dealt",
    "hit",
    "absorbed",
    "tops",
    "covered",
    "unseen",
    "units",
    "fresh_units",
    "lost_trophies",
    "killed",
    "market",
    "claims",
    "extra_turns",
    "dice",
    "bonus",
    "shown",
    "tasks",
    "remembered",
    "ruleset",
    "players",
    "deck",
    "web_left",
    "jinx_left",
    "carapace_left",
    "discards",
    "played",
    "epoch",
    "superstar_seat",
    "statue_seat",
    "souvenirs",
    "active_seat",
    "order_seat",
    "turn",
    "roll",
    "rerolls",
    "force",
    "rides",
    "dashed",
    "trades",
    "razed",
    "exposed",
    "tapped",
    "site",
    "units_only",
    "deaths",
    "left",
    "winner_seat",
    "reason",
    "living",
    "owned",
    "move_cost",
    "menu",
    "menu_index",
    "log",
)
"""Of a position."""


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `clone` can leave out __init__
class Position:
    """Everything about one node of a match. `observation.py` describes the fields, most of which are seen.

    Lists run over the seats unless said otherwise; Units are listed by borough and kind, trophies by seat and kind.
    """

    __slots__ = _FIELDS

    life: list[int]
    vp: list[int]
    energy: list[int]
    borough: list[int]
    space: list[int]
    out: list[int]
    keep_cards: list[int]
    web: list[int]
    jinx: list[int]
    carapace: list[int]
    turns: list[int]
    trophies: list[int]
    defence_rolls: list[int]
    start_attacks: list[int]
    gained: list[int]
    dealt: list[int]
    hit: list[int]
    absorbed: list[int]
    tops: list[int]
    covered: list[int]
    unseen: list[int]
    units: list[int]
    fresh_units: list[int]
    lost_trophies: list[int]
    killed: list[int]
    market: list[int]
    claims: list[int]
    extra_turns: list[int]
    dice: list[int]
    bonus: list[int]
    shown: list[int]
    tasks: list[Task]
    """Tasks still to come, the next one last."""
    remembered: list[tuple[Any, Any]]
    """Parts of the last observation, each with the values it was made of, see `observation.observe`."""

    ruleset: Ruleset
    players: int
    deck: int
    web_left: int
    jinx_left: int
    carapace_left: int
    discards: int
    played: int
    epoch: int
    superstar_seat: int
    statue_seat: int
    souvenirs: int
    active_seat: int
    order_seat: int
    turn: int
    roll: int
    rerolls: int
    force: int
    rides: int
    dashed: int
    trades: int
    razed: int
    exposed: int
    tapped: int
    site: int
    units_only: int
    deaths: int
    left: int
    winner_seat: int
    reason: str
    # Derived from the above
    living: int
    """How many monsters are alive."""
    owned: int
    """All cards of `keep_cards`."""
    move_cost: int
    """What optional moves cost because of cards in the market."""
    menu: Menu
    """The legal actions, empty where nobody is asked."""
    menu_index: dict[KingAction, KingAction] | None
    """A long menu for looking up."""
    log: list[Event]
    """Events of the change that is being made."""

    def __init__(self, ruleset: Ruleset, players: int) -> None:
        """Without the lists that `from_values` fills in."""
        self.ruleset = ruleset
        self.players = players
        self.remembered = []
        self.discards = 0
        self.played = 0
        self.epoch = 0
        self.superstar_seat = NO_SEAT
        self.statue_seat = NO_SEAT
        self.souvenirs = 0
        self.active_seat = 0
        self.order_seat = 0
        self.turn = 0
        self.roll = 0
        self.rerolls = 0
        self.force = 0
        self.rides = 0
        self.dashed = 0
        self.trades = 0
        self.razed = 0
        self.exposed = 0
        self.tapped = 0
        self.site = NOWHERE
        self.units_only = 0
        self.deaths = 0
        self.left = 0
        self.winner_seat = NO_SEAT
        self.reason = ""
        self.living = 0
        self.owned = 0
        self.move_cost = 0
        self.menu = ()
        self.menu_index = None
        self.log = []

    @classmethod
    def at_start(cls, ruleset: Ruleset, players: int, tasks: Sequence[Task]) -> Self:
        """Before anything is drawn or asked."""
        by_seat = (
            *("vp", "energy", "out", "keep_cards", "web", "jinx", "carapace", "turns", "defence_rolls"),
            *("start_attacks", "gained", "dealt", "hit", "absorbed"),
        )
        values: dict[str, Any] = {
            **{name: [0] * players for name in by_seat},
            **{name: [0] * len(FACES) for name in ("dice", "bonus", "shown")},
            **{name: [0] * UNIT_KINDS for name in ("lost_trophies", "killed")},
            **{name: [0] * (len(BOROUGHS) * UNIT_KINDS) for name in ("units", "fresh_units")},
            **{f"{token}_left": supply for token, supply in ruleset.tokens.items()},
            "life": [ruleset.start_life] * players,
            "borough": [NOWHERE] * players,
            "space": [NO_SPACE] * players,
            "trophies": [0] * (players * UNIT_KINDS),
            "tops": [NO_TILE] * STACKS,
            "covered": [TILES_PER_STACK] * STACKS,
            "unseen": list(ruleset.tile_counts),
            "market": [NO_CARD] * MARKET_SLOTS,
            "claims": [],
            "extra_turns": [],
            "tasks": tasks,
            "deck": ruleset.all_cards,
        }
        return cls.from_values(ruleset, players, values)

    @classmethod
    def from_values(cls, ruleset: Ruleset, players: int, values: Mapping[str, Any]) -> Self:
        """See `filled`."""
        return cls.filled(ruleset, players, values)

    @classmethod
    def filled(cls, ruleset: Ruleset, players: int, values: Mapping[str, Any]) -> Self:
        """From values of fields, in which lists may be tuples. Those derived or with a default may be left out."""
        position = cls(ruleset, players)
        for name, value in values.items():
            setattr(position, name, list(value) if isinstance(value, (list, tuple)) else value)
        position.tasks = [tuple(task) for task in values["tasks"]]
        position.living = position.out.count(0)
        for cards in position.keep_cards:
            position.owned |= cards
        position.count_move_cost()
        return position

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        values = {name: data[saved] for name, saved in SAVED_NAMES.items()}
        return cls.from_values(make_ruleset(data["options"]), data["players"], values)

    def to_dict(self) -> dict[str, Any]:
        """The position as JSON values. Nothing is shared with it."""
        options = dict(self.ruleset.options)
        if DATA_OPTION in options:
            options[DATA_OPTION] = deepcopy(options[DATA_OPTION])
        data: dict[str, Any] = {"players": self.players, "options": options}
        for saved, value in zip(SAVED_NAMES.values(), _saved_values(self), strict=True):
            data[saved] = value[:] if type(value) is list else value
        data["agenda"] = [list(task) for task in self.tasks]
        return data

    def clone(self) -> Self:
        """An independent copy, with an empty log."""
        cls = type(self)
        other = cls.__new__(cls)
        other.life = self.life[:]
        other.vp = self.vp[:]
        other.energy = self.energy[:]
        other.borough = self.borough[:]
        other.space = self.space[:]
        other.out = self.out[:]
        other.keep_cards = self.keep_cards[:]
        other.web = self.web[:]
        other.jinx = self.jinx[:]
        other.carapace = self.carapace[:]
        other.turns = self.turns[:]
        other.trophies = self.trophies[:]
        other.defence_rolls = self.defence_rolls[:]
        other.start_attacks = self.start_attacks[:]
        other.gained = self.gained[:]
        other.dealt = self.dealt[:]
        other.hit = self.hit[:]
        other.absorbed = self.absorbed[:]
        other.tops = self.tops[:]
        other.covered = self.covered[:]
        other.unseen = self.unseen[:]
        other.units = self.units[:]
        other.fresh_units = self.fresh_units[:]
        other.lost_trophies = self.lost_trophies[:]
        other.killed = self.killed[:]
        other.market = self.market[:]
        other.claims = self.claims[:]
        other.extra_turns = self.extra_turns[:]
        other.dice = self.dice[:]
        other.bonus = self.bonus[:]
        other.shown = self.shown[:]
        other.tasks = self.tasks[:]
        other.remembered = self.remembered[:]
        other.ruleset = self.ruleset
        other.players = self.players
        other.deck = self.deck
        other.web_left = self.web_left
        other.jinx_left = self.jinx_left
        other.carapace_left = self.carapace_left
        other.discards = self.discards
        other.played = self.played
        other.epoch = self.epoch
        other.superstar_seat = self.superstar_seat
        other.statue_seat = self.statue_seat
        other.souvenirs = self.souvenirs
        other.active_seat = self.active_seat
        other.order_seat = self.order_seat
        other.turn = self.turn
        other.roll = self.roll
        other.rerolls = self.rerolls
        other.force = self.force
        other.rides = self.rides
        other.dashed = self.dashed
        other.trades = self.trades
        other.razed = self.razed
        other.exposed = self.exposed
        other.tapped = self.tapped
        other.site = self.site
        other.units_only = self.units_only
        other.deaths = self.deaths
        other.left = self.left
        other.winner_seat = self.winner_seat
        other.reason = self.reason
        other.living = self.living
        other.owned = self.owned
        other.move_cost = self.move_cost
        other.menu = self.menu
        other.menu_index = self.menu_index
        other.log = []
        return other

    # Questions about the position

    def clockwise(self, first: int) -> list[int]:
        """The living seats from `first` on, `first` included if alive."""
        players = self.players
        out = self.out
        return [seat for step in range(players) if not out[seat := (first + step) % players]]

    def units_in(self, borough: int) -> int:
        """How many Units stand in a borough."""
        first = borough * UNIT_KINDS
        return sum(self.units[first : first + UNIT_KINDS])

    def manhattan_has_room(self) -> bool:
        """Whether a monster must enter in its Move step."""
        return self.borough.count(MANHATTAN) < (2 if self.living >= MONSTERS_FOR_TWO else 1)

    def open_boroughs(self, seat: int) -> int:
        """The set of outer boroughs, other than its own, that a monster can go to."""
        boroughs = self.borough
        here = boroughs[seat]
        found = 0
        for borough in OUTER_BOROUGHS:
            if borough != here and boroughs.count(borough) < BOROUGH_LIMIT:
                found |= 1 << borough
        return found

    def dice_showing(self, face: int) -> int:
        """Dice of the final roll that show a face: those not given up, resolved or not."""
        return self.dice[face] + self.shown[face]

    def most_life(self, seat: int) -> int:
        """The most life that a seat may have."""
        cards = self.keep_cards[seat]
        more = self.ruleset.abilities.max_life
        return self.ruleset.max_life + (more.total(cards) if cards & more.mask else 0)

    def funds(self, seat: int) -> int:
        """What a seat could pay: its energy, and life down to 1 where life counts as energy."""
        if self.keep_cards[seat] & self.ruleset.abilities.exchange:
            return self.energy[seat] + self.life[seat] - 1
        return self.energy[seat]

    # VP, energy, life and tokens

    def gain_vp(self, seat: int, amount: int, cause: str) -> None:
        """Add VP."""
        self.vp[seat] += amount
        self.log.append(event(Gained, seat, "vp", amount, cause))

    def lose_vp(self, seat: int, amount: int, cause: str) -> int:
        """Take VP, never below 0. Returns how many were lost."""
        lost = min(amount, self.vp[seat])
        if lost:
            self.vp[seat] -= lost
            self.log.append(event(Gained, seat, "vp", -lost, cause))
        return lost

    def gain_energy(self, seat: int, amount: int, cause: str) -> None:
        """Add energy, of which the owner of Power Tap may take its share."""
        self.energy[seat] += amount
        self.log.append(event(Gained, seat, "energy", amount, cause))
        gained = self.gained[seat] + amount
        self.gained[seat] = gained
        if self.owned & self.ruleset.abilities.tap:
            self._pay_taps(seat, gained if self.ruleset.power_tap_cumulative else amount)

    def _pay_taps(self, seat: int, gained: int) -> None:
        for owner, cards in enumerate(self.keep_cards):
            if owner == seat or self.tapped >> seat & 1 or self.out[seat]:
                continue
            for bit, threshold, amount in self.ruleset.abilities.taps:
                if cards & bit and gained >= threshold:
                    self.tapped |= 1 << seat
                    self.move_energy(seat, owner, amount, self.ruleset.card_ids[bit.bit_length() - 1])

    def lose_energy(self, seat: int, amount: int, cause: str) -> None:
        """Take energy, never below 0."""
        lost = min(amount, self.energy[seat])
        if lost:
            self.energy[seat] -= lost
            self.log.append(event(Gained, seat, "energy", -lost, cause))

    def move_energy(self, source: int, target: int, amount: int, cause: str) -> None:
        """Hand energy over, as much as there is."""
        moved = min(amount, self.energy[source])
        if moved:
            self.lose_energy(source, moved, cause)
            self.gain_energy(target, moved, cause)

    def heal(self, seat: int, amount: int, cause: str) -> None:
        """Add life up to the most the seat may have; the rest is lost."""
        healed = min(amount, self.most_life(seat) - self.life[seat])
        if healed > 0:
            self.life[seat] += healed
            self.log.append(event(Gained, seat, "life", healed, cause))

    def gain_reward(self, seat: int, reward: Reward) -> None:
        """Give the reward for destroying something."""
        if reward.vp:
            self.gain_vp(seat, reward.vp, "reward")
        if reward.energy:
            self.gain_energy(seat, reward.energy, "reward")
        if reward.life:
            self.heal(seat, reward.life, "reward")

    def pay(self, seat: int, cost: int) -> None:
        """Pay energy now, or ask first how much of it with life. What is paid for must be among the tasks already."""
        if not cost:
            return
        if self.keep_cards[seat] & self.ruleset.abilities.exchange and self.life[seat] > 1:
            self.tasks.append((PAY, seat, cost))
        else:
            self.lose_energy(seat, cost, "cost")

    def change_tokens(self, seat: int, token: str, amount: int) -> None:
        """Give Web, Jinx or Carapace tokens, as many as the supply has; or take them off, if `amount` is negative."""
        supply = f"{token}_left"
        left = getattr(self, supply)
        amount = min(amount, left)
        if amount:
            getattr(self, token)[seat] += amount
            setattr(self, supply, left - amount)
            self.log.append(event(TokensChanged, seat, token, amount))

    # Dice and cards

    def add_results(self, seat: int, face: int, amount: int, cause: str) -> None:
        """Add results beside the dice."""
        self.bonus[face] += amount
        self.log.append(event(Added, seat, FACES[face], amount, cause))

    def receive_card(self, seat: int, card: int) -> None:
        """Lay a Keep card in front of a seat."""
        self.keep_cards[seat] |= 1 << card
        self.owned |= 1 << card

    def lose_card(self, seat: int, card: int) -> None:
        """Put a Keep card on the discard pile; its tokens go back to the supply, and life falls to the new maximum."""
        bit = 1 << card
        cause = self.ruleset.card_ids[card]
        self.keep_cards[seat] &= ~bit
        self.owned &= ~bit
        self.discards |= bit
        self.log.append(event(CardLost, seat, cause))
        if bit & self.ruleset.abilities.carapace:
            self.change_tokens(seat, "carapace", -self.carapace[seat])
        over = self.life[seat] - self.most_life(seat)
        if over > 0:
            self.life[seat] -= over
            self.log.append(event(Gained, seat, "life", -over, cause))

    def shed_carapace(self, seat: int) -> None:
        """Discard Carapace and heal by its tokens, up to the maximum without it."""
        card = (self.keep_cards[seat] & self.ruleset.abilities.carapace).bit_length() - 1
        tokens = self.carapace[seat]
        self.change_tokens(seat, "carapace", -tokens)
        self.lose_card(seat, card)
        self.heal(seat, tokens, self.ruleset.card_ids[card])

    def count_move_cost(self) -> None:
        """Bring `move_cost` up to date after a change of the market."""
        costs = self.ruleset.abilities.move_cost
        self.move_cost = sum([costs[card] for card in self.market if card != NO_CARD])

    # Elimination and the end

    def eliminate(self, seats: Sequence[int], cause: str) -> None:
        """Remove monsters in one event; then settle Manhattan, which may have room for one only from now on."""
        self.deaths += 1
        for seat in seats:
            self._remove(seat)
            self.log.append(event(Eliminated, seat, cause))
        self.settle_manhattan()
        if self.borough.count(MANHATTAN) == 2 and self.living < MONSTERS_FOR_TWO:
            second = next(seat for seat, space in enumerate(self.space) if ZONE_COUNT <= space < NO_SPACE)
            self.tasks.append((LEAVE, second))

    def _remove(self, seat: int) -> None:
        self.out[seat] = self.deaths
        self.living -= 1
        self.borough[seat] = NOWHERE
        self.space[seat] = NO_SPACE
        self.life[seat] = self.vp[seat] = self.energy[seat] = 0
        self.hit[seat] = self.absorbed[seat] = 0
        for token, held in (("web", self.web), ("jinx", self.jinx), ("carapace", self.carapace)):
            self.change_tokens(seat, token, -held[seat])
        self.discards |= self.keep_cards[seat]
        self.owned &= ~self.keep_cards[seat]
        self.keep_cards[seat] = 0
        if self.superstar_seat == seat:
            self.superstar_seat = NO_SEAT
            self.log.append(event(GoalMoved, GOALS[0], -1, seat))
        if self.statue_seat == seat:
            self.statue_seat = NO_SEAT
            self.log.append(event(GoalMoved, GOALS[1], -1, seat))
        for place in range(seat * UNIT_KINDS, (seat + 1) * UNIT_KINDS):
            self.lost_trophies[place % UNIT_KINDS] += self.trophies[place]
            self.trophies[place] = 0
        self.claims = [claim for claim in self.claims if claim != seat]
        self.extra_turns = [turn for turn in self.extra_turns if turn >> 1 != seat]

    def settle_manhattan(self) -> None:
        """Shift a monster that is alone in Manhattan to the track 2-4."""
        boroughs = self.borough
        if boroughs.count(MANHATTAN) == 1:
            seat = boroughs.index(MANHATTAN)
            if self.space[seat] >= ZONE_COUNT:
                self.space[seat] -= ZONE_COUNT
                self.log.append(event(Shifted, seat, self.space[seat]))

    def finish(self, winner: int, reason: str) -> None:
        """End the match. `winner` may be NO_SEAT; `reason` is one of END_REASONS."""
        self.reason = reason
        self.winner_seat = winner
        self.tasks.clear()
        self.log.append(event(Finished, -1 if winner == NO_SEAT else winner, reason))


_NOT_SAVED: Final = ("ruleset", "players", "remembered", "living", "owned", "move_cost", "menu", "menu_index", "log")
_SAVED_OTHERWISE: Final = {
    "tasks": "agenda",
    "borough": "where",
    "space": "berth",
    "keep_cards": "keep",
    "unseen": "pool",
    "fresh_units": "fresh",
    "lost_trophies": "lost",
    "extra_turns": "extra",
    "superstar_seat": "superstar",
    "statue_seat": "statue",
    "active_seat": "active",
    "order_seat": "order",
    "winner_seat": "winner",
}
"""Names in saved states that differ. Records hold hashes of saved states, so these names stay."""
SAVED_NAMES: Final = {name: _SAVED_OTHERWISE.get(name, name) for name in _FIELDS if name not in _NOT_SAVED}
"""By field of a position, its name in `Position.to_dict()`."""
_saved_values = attrgetter(*SAVED_NAMES)
