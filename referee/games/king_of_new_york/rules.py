"""The state of a match and what drives it: the agenda, its steps, questions and chance nodes."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

from referee.games.api import Chance, Decision, Draw, Event, IllegalAction, Outcome, Roll
from referee.games.king_of_new_york import (
    agenda as on,
)
from referee.games.king_of_new_york import (
    damage,
    destruction,
    dice,
    ending,
    market,
    moves,
    optional,
    resolving,
    setup,
    turn,
)
from referee.games.king_of_new_york.actions import KingAction, Menu
from referee.games.king_of_new_york.agenda import Task
from referee.games.king_of_new_york.box import Box
from referee.games.king_of_new_york.cards import special
from referee.games.king_of_new_york.elimination import eliminate
from referee.games.king_of_new_york.events import Withdrew, event
from referee.games.king_of_new_york.names import (
    BOROUGHS,
    FACE_NUMBER,
    FACES,
    NO_BERTH,
    NO_TILE,
    NOBODY,
    NOWHERE,
    STACKS,
    TILES_PER_STACK,
    UNIT_KINDS,
)
from referee.games.king_of_new_york.observation import Observation, Remembered, observe, setting_of, to_dict

Step: TypeAlias = "Callable[[KingState, Task], None]"
MenuMaker: TypeAlias = "Callable[[KingState, Task], Menu]"
Answer: TypeAlias = "Callable[[KingState, Task, KingAction], None]"

STEPS: Mapping[int, Step] = {
    on.SEATING: setup.seating_step,
    on.START_ROLL: setup.start_roll_step,
    on.START_JUDGE: setup.start_judge_step,
    on.SEAT: setup.seat_step,
    on.TURN: turn.turn_step,
    on.ROLL: dice.roll_step,
    on.STOP: dice.stop_step,
    on.FINAL: dice.final_step,
    on.MOVE_STEP: moves.move_step,
    on.END: turn.end_step,
    on.LATE_ENTRY: moves.late_entry_step,
    on.CHECK: turn.check_step,
    on.ENTER: moves.enter_step,
    on.ADVANCE: moves.advance_step,
    on.STRIKE: damage.strike_step,
    on.REACT: resolving.react_step,
    on.FLEES: damage.flees_step,
    on.STATUE: damage.statue_step,
    on.BUILDING: destruction.building_step,
    on.UNIT: destruction.unit_step,
    on.EFFECT: market.effect_step,
    on.BIN: market.bin_step,
    on.REFILL: market.refill_step,
    on.LAPSE: market.lapse_step,
    on.STRUCK: damage.struck_step,
}
QUESTIONS: Mapping[int, tuple[MenuMaker, Answer]] = {
    on.PLACE: (moves.place_menu, moves.place),
    on.BEFORE: (moves.before_menu, moves.before),
    on.DICE: (dice.dice_menu, dice.choose_dice),
    on.CONVERT: (dice.convert_menu, dice.convert),
    on.HAIL: (dice.hail_menu, dice.hail),
    on.RESOLVE: (resolving.resolve_menu, resolving.resolve),
    on.DESTROY: (destruction.destroy_menu, destruction.destroy),
    on.MOVE: (moves.move_menu, moves.move),
    on.BUY: (market.buy_menu, market.buy),
    on.FLEE: (moves.flee_menu, moves.flee),
    on.LEAVE: (moves.leave_menu, moves.leave),
    on.RESPOND: (damage.respond_menu, damage.respond),
    on.PAY: (market.pay_menu, market.pay_now),
    on.PUSH: (moves.push_menu, moves.push),
    on.DISCARD: (special.discard_menu, special.discard),
    on.PHOTO: (special.photo_menu, special.take_photo),
    on.TRADE: (special.trade_menu, special.trade),
}
_STEPS = tuple(STEPS[kind] for kind in range(on.FIRST_QUESTION))
_MENUS = tuple(QUESTIONS[kind][0] for kind in range(on.FIRST_QUESTION, on.FIRST_CHANCE))
_ANSWERS = tuple(QUESTIONS[kind][1] for kind in range(on.FIRST_QUESTION, on.FIRST_CHANCE))
_ASKED = tuple(tuple((Decision(seat, name),) for seat in range(6)) for name in on.QUESTION_NAMES)
_FACE_OUTCOMES: tuple[tuple[Outcome, int], ...] = tuple((face, 1) for face in FACES)
_TILE_STREAM = Draw("tiles", 0)


class KingState:
    """One node of a match. See `referee.games.api.State`.

    Lists by seat unless said otherwise; units are listed by borough and kind, trophies by seat and kind; sets of
    cards, boroughs, stacks or seats are integers with one bit each.
    """

    __slots__ = (
        "absorbed",
        "active",
        "agenda",
        "berth",
        "bonus",
        "box",
        "carapace",
        "carapace_left",
        "claims",
        "covered",
        "dashed",
        "dealt",
        "deaths",
        "deck",
        "defence_rolls",
        "dice",
        "discards",
        "energy",
        "epoch",
        "exposed",
        "extra",
        "force",
        "fresh",
        "gained",
        "hit",
        "index",
        "jinx",
        "jinx_left",
        "keep",
        "killed",
        "left",
        "life",
        "living",
        "log",
        "lost",
        "market",
        "menu",
        "move_cost",
        "order",
        "out",
        "owned",
        "played",
        "players",
        "pool",
        "razed",
        "reason",
        "remembered",
        "rerolls",
        "rides",
        "roll",
        "setting",
        "shown",
        "site",
        "souvenirs",
        "start_attacks",
        "statue",
        "superstar",
        "tapped",
        "tops",
        "trades",
        "trophies",
        "turn",
        "turns",
        "units",
        "units_only",
        "vp",
        "web",
        "web_left",
        "where",
        "winner",
    )

    def __init__(self, box: Box, players: int) -> None:
        units = len(BOROUGHS) * UNIT_KINDS
        self.box = box
        self.players = players
        self.setting = setting_of(box, players)
        self.life = [box.start_life] * players
        self.vp = [0] * players
        self.energy = [0] * players
        self.where = [NOWHERE] * players
        """Borough."""
        self.berth = [NO_BERTH] * players
        """Space in Manhattan: zone, with 3 added on the track 5-6."""
        self.out = [0] * players
        """Number of the elimination in which the seat left; 0: alive."""
        self.keep = [0] * players
        """Cards."""
        self.web = [0] * players
        self.jinx = [0] * players
        self.carapace = [0] * players
        """Tokens."""
        self.turns = [0] * players
        """Own turns begun."""
        self.defence_rolls = [0] * players
        """Dice rolled against Antimatter Pellets."""
        self.gained = [0] * players
        """Energy gained this turn."""
        self.dealt = [0] * players
        """Damage dealt this turn by the active seat."""
        self.hit = [0] * players
        """Damage about to land."""
        self.absorbed = [0] * players
        """Points of it paid for with energy."""
        self.start_attacks = [0] * players
        self.tops = [NO_TILE] * STACKS
        """Kind of the building on top."""
        self.covered = [TILES_PER_STACK] * STACKS
        """How many tiles lie below."""
        self.pool = list(box.tile_counts)
        """By kind, tiles that have not been seen."""
        self.units = [0] * units
        self.fresh = [0] * units
        """Those of the units that appeared this turn."""
        self.trophies = [0] * (players * UNIT_KINDS)
        self.lost = [0] * UNIT_KINDS
        """Trophies of the eliminated."""
        self.market = market.empty_market()
        self.claims: list[int] = []
        """Seats that wait for a Keep card."""
        self.deck = box.all_cards
        self.discards = 0
        self.played = 0
        """Cards bought that are taking effect."""
        self.epoch = 0
        """How often the discard pile became the deck."""
        self.superstar = NOBODY
        self.statue = NOBODY
        self.souvenirs = 0
        """Boroughs."""
        self.web_left = box.tokens["web"]
        self.jinx_left = box.tokens["jinx"]
        self.carapace_left = box.tokens["carapace"]
        self.active = 0
        self.order = int(box.start_player[-1]) if box.start_player.startswith("seat_") else 0
        """Whose regular turn it is or was."""
        self.turn = 0
        """Turns begun by all."""
        self.extra: list[int] = []
        """Extra turns to come: 2 x seat, plus 1 with Subway rides."""
        self.roll = 0
        """Rolls of this turn after the first."""
        self.rerolls = 0
        """Rerolls left."""
        self.dice = [0] * len(FACES)
        """By face, dice not yet resolved."""
        self.bonus = [0] * len(FACES)
        """By face, added results not yet resolved."""
        self.shown = [0] * len(FACES)
        """By face, dice resolved."""
        self.rides = 0
        """Subway moves left."""
        self.dashed = 0
        """1: the move before rolling is used."""
        self.trades = 0
        """Purchases and sweeps this turn."""
        self.razed = 0
        """Buildings destroyed this turn."""
        self.killed = [0] * UNIT_KINDS
        """Units destroyed this turn."""
        self.exposed = 0
        """Stacks whose top came to light this turn."""
        self.tapped = 0
        """Seats that have paid for their gains this turn."""
        self.site = NOWHERE
        """Borough the Destruction step was moved to."""
        self.force = 0
        """Destruction results left."""
        self.units_only = 0
        """1: Destruction is good for Units only."""
        self.deaths = 0
        """Number of the last elimination."""
        self.left = 0
        """Seats that have left the match."""
        self.winner = NOBODY
        self.reason = ""
        """Why the match ended; empty before."""
        self.agenda: list[Task] = setup.first_agenda(box.start_player, players)
        # Derived from the above.
        self.living = players
        self.owned = 0
        """All cards of `keep`."""
        self.move_cost = 0
        """What optional moves cost while certain cards lie in the market."""
        self.menu: Menu = ()
        self.index: dict[KingAction, KingAction] | None = None
        """The menu for looking up, where it is long."""
        self.log: list[Event] = []
        self.remembered = Remembered()
        """For the next observation."""
        self._run()

    @property
    def turn_seat(self) -> int:
        return self.active

    def decisions(self) -> Sequence[Decision]:
        if not self.menu:
            return ()
        task = self.agenda[-1]
        return _ASKED[task[0] - on.FIRST_QUESTION][task[1]]

    def legal_actions(self, seat: int) -> Menu:
        return self.menu if self.menu and self.agenda[-1][1] == seat else ()

    def is_optional(self, seat: int, action: KingAction) -> bool:
        return optional.is_optional(self, seat, action)

    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        menu = self.menu
        if not menu:
            raise IllegalAction("nothing is asked here: the match is over or chance decides")
        task = self.agenda[-1]
        seat = task[1]
        if len(actions) != 1 or seat not in actions:
            raise IllegalAction(f"expected one action, of seat {seat}, not of {sorted(actions)}")
        action = self._listed(actions[seat])
        if action is None:
            kind = on.QUESTION_NAMES[task[0] - on.FIRST_QUESTION]
            raise IllegalAction(f"{actions[seat]} is not legal for seat {seat} at the question '{kind}'")
        log: list[Event] = []
        self.log = log
        self.agenda.pop()
        _ANSWERS[task[0] - on.FIRST_QUESTION](self, task, action)
        self._run()
        return log

    def _listed(self, action: Any) -> KingAction | None:
        """The equal action of the menu."""
        if self.index is not None:
            try:
                return self.index.get(action)
            except TypeError:  # a field of the caller's action cannot be hashed
                return None
        for legal in self.menu:
            if legal is action or legal == action:
                return legal
        return None

    def _run(self) -> None:
        """Take the steps of the agenda until somebody has a choice, chance decides, or the match is over."""
        agenda = self.agenda
        self.index = None
        self.menu = ()
        while agenda:
            task = agenda[-1]
            kind = task[0]
            if kind < on.FIRST_QUESTION:
                agenda.pop()
                _STEPS[kind](self, task)
            elif kind < on.FIRST_CHANCE:
                if self.out[task[1]]:
                    agenda.pop()
                    continue
                menu = _MENUS[kind - on.FIRST_QUESTION](self, task)
                if len(menu) > 1 or (menu and self.is_optional(task[1], menu[0])):
                    self.menu = menu
                    return
                self.index = None
                agenda.pop()
                if menu:
                    _ANSWERS[kind - on.FIRST_QUESTION](self, task, menu[0])
            elif kind <= on.LAST_SEATED_CHANCE and self.out[task[1]]:
                agenda.pop()
            else:
                return

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        if not self.agenda or self.menu:
            return ()
        kind = self.agenda[-1][0]
        if kind <= on.LAST_SEATED_CHANCE:
            return _FACE_OUTCOMES
        box = self.box
        if kind == on.TILE:
            return [(box.tile_ids[tile], left) for tile, left in enumerate(self.pool) if left]
        if kind == on.CARD:
            deck = self.deck
            return [outcome for bit, outcome in box.card_outcomes if deck & bit]
        return [(seat, 1) for seat, out in enumerate(self.out) if not out]

    def chance_stream(self) -> Chance:
        if not self.agenda or self.menu:
            raise IllegalAction("no chance node: a seat is asked or the match is over")
        task = self.agenda[-1]
        kind = task[0]
        if kind == on.DIE:
            return Roll("dice", task[1], self.turns[task[1]], self.roll, task[2])
        if kind == on.DEFENCE:
            return Roll("defence", task[1], self.defence_rolls[task[1]])
        if kind == on.START_DIE:
            return Roll("start", task[1], 0, task[3], task[2])
        if kind == on.TILE:
            return _TILE_STREAM
        if kind == on.CARD:
            return Draw("power", self.epoch)
        return Roll("start_player", 0, 0)

    def apply_chance(self, outcome: Outcome) -> list[Event]:
        if not self.agenda or self.menu:
            raise IllegalAction("no chance node: a seat is asked or the match is over")
        agenda = self.agenda
        task = agenda[-1]
        kind = task[0]
        number = self._outcome_number(kind, outcome)
        if number < 0:
            raise IllegalAction(f"{outcome!r} cannot come here; expected one of {self.chance_outcomes()}")
        log: list[Event] = []
        self.log = log
        agenda.pop()
        if kind == on.DIE:
            dice.die_rolled(self, task, number)
            if agenda[-1][0] == on.DIE:
                return log
        elif kind == on.DEFENCE:
            resolving.defence_rolled(self, task, number)
        elif kind == on.START_DIE:
            setup.start_die_rolled(self, task, number)
        elif kind == on.TILE:
            destruction.tile_drawn(self, task, number)
        elif kind == on.CARD:
            market.card_drawn(self, task, number)
        else:
            setup.first_seat_drawn(self, task, number)
        self._run()
        return log

    def _outcome_number(self, kind: int, outcome: Outcome) -> int:
        """The engine's number of an outcome; -1 if it cannot come."""
        if kind <= on.LAST_SEATED_CHANCE:
            return FACE_NUMBER.get(outcome, -1) if isinstance(outcome, str) else -1
        if kind == on.FIRST_SEAT:
            fits = type(outcome) is int and 0 <= outcome < self.players and not self.out[outcome]
            return int(outcome) if fits else -1
        if not isinstance(outcome, str):
            return -1
        if kind == on.TILE:
            tile = self.box.tile_number.get(outcome, NO_TILE)
            return tile if self.pool[tile] else -1
        card = self.box.card_number.get(outcome, -1)
        return card if card >= 0 and self.deck >> card & 1 else -1

    def withdraw(self, seat: int) -> list[Event]:
        """As an elimination, at once, if the seat is not out already. A single monster left wins at once too."""
        if self.reason:
            raise IllegalAction(f"seat {seat} cannot leave: the match is over")
        if type(seat) is not int or not 0 <= seat < self.players or self.left >> seat & 1:
            raise IllegalAction(f"seat {seat} cannot leave: there is no such seat, or it has left already")
        log: list[Event] = [event(Withdrew, seat)]
        self.left |= 1 << seat
        if self.out[seat]:
            return log
        self.log = log
        eliminate(self, [seat], "withdrawn")
        # What was counted or offered when the seat was still there is looked at again.
        self.agenda = [(on.MOVE_STEP, task[1]) if task[0] == on.MOVE else task for task in self.agenda]
        if (on.STOP, self.active) in self.agenda:
            dice.count_rerolls(self, self.active)
        if self.living <= 1:
            left = [other for other in range(self.players) if not self.out[other]]
            ending.finish(self, left[0] if left else NOBODY, "withdrawals")
        self._run()
        return log

    def is_terminal(self) -> bool:
        return bool(self.reason)

    def returns(self) -> tuple[int, ...]:
        """Per seat its VP; the eliminated have none."""
        return tuple(self.vp)

    def ranking(self) -> tuple[int, ...]:
        return ending.ranking(self)

    def observation(self, viewer: int | None) -> Observation:
        """The same for every viewer: the order of deck and covered tiles is in nobody's state."""
        return observe(self)

    def resample(self, viewer: int | None, rng: Random) -> "KingState":
        """A copy: nothing is hidden but what chance nodes will tell."""
        return self.clone()

    def clone(self) -> "KingState":
        other = KingState.__new__(KingState)
        other.box = self.box
        other.players = self.players
        other.setting = self.setting
        other.life = self.life[:]
        other.vp = self.vp[:]
        other.energy = self.energy[:]
        other.where = self.where[:]
        other.berth = self.berth[:]
        other.out = self.out[:]
        other.keep = self.keep[:]
        other.web = self.web[:]
        other.jinx = self.jinx[:]
        other.carapace = self.carapace[:]
        other.turns = self.turns[:]
        other.defence_rolls = self.defence_rolls[:]
        other.gained = self.gained[:]
        other.dealt = self.dealt[:]
        other.hit = self.hit[:]
        other.absorbed = self.absorbed[:]
        other.start_attacks = self.start_attacks[:]
        other.tops = self.tops[:]
        other.covered = self.covered[:]
        other.pool = self.pool[:]
        other.units = self.units[:]
        other.fresh = self.fresh[:]
        other.trophies = self.trophies[:]
        other.lost = self.lost[:]
        other.market = self.market[:]
        other.claims = self.claims[:]
        other.deck = self.deck
        other.discards = self.discards
        other.played = self.played
        other.epoch = self.epoch
        other.superstar = self.superstar
        other.statue = self.statue
        other.souvenirs = self.souvenirs
        other.web_left = self.web_left
        other.jinx_left = self.jinx_left
        other.carapace_left = self.carapace_left
        other.active = self.active
        other.order = self.order
        other.turn = self.turn
        other.extra = self.extra[:]
        other.roll = self.roll
        other.rerolls = self.rerolls
        other.dice = self.dice[:]
        other.bonus = self.bonus[:]
        other.shown = self.shown[:]
        other.rides = self.rides
        other.dashed = self.dashed
        other.trades = self.trades
        other.razed = self.razed
        other.killed = self.killed[:]
        other.exposed = self.exposed
        other.tapped = self.tapped
        other.site = self.site
        other.force = self.force
        other.units_only = self.units_only
        other.deaths = self.deaths
        other.left = self.left
        other.winner = self.winner
        other.reason = self.reason
        other.agenda = self.agenda[:]
        other.living = self.living
        other.owned = self.owned
        other.move_cost = self.move_cost
        other.menu = self.menu
        other.index = self.index
        other.log = []
        other.remembered = self.remembered.copy()
        return other

    def to_dict(self) -> dict[str, Any]:
        return to_dict(self)
