"""The state of a match: set-up, the course of a turn, the end, and the loop that takes step after step.

What is still to come is a list of tasks, the next one last. Steps are taken without asking; a question waits for the
seat it is put to; a chance task waits for the referee. The tables at the end say which function does which task.
The rules are in README.md: "A turn", "Leaving a match", "Ranks and points", "Every match ends".
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final, Self, TypeAlias

from referee.games.api import Chance, Decision, Draw, Event, IllegalAction, Outcome, Roll, event
from referee.games.api.compiling import mypyc_attr
from referee.games.king_of_new_york import card_effects, damage, destruction, dice, market, movement
from referee.games.king_of_new_york import constants as task_kinds
from referee.games.king_of_new_york.actions import (
    Absorb,
    Buy,
    Convert,
    Dash,
    DestroyBuilding,
    DestroyUnit,
    Flee,
    GiveUp,
    Hail,
    KingAction,
    Menu,
    Move,
    Push,
    Redirect,
    Remove,
    Reroll,
    Ride,
    Scavenge,
    Shed,
    Swap,
    Sweep,
)
from referee.games.king_of_new_york.constants import (
    ATTACK,
    BEFORE_ROLL,
    BUY,
    DEFENCE_DIE,
    DRAW_FIRST_SEAT,
    FACE_NUMBER,
    FACES,
    FIRST_CHANCE,
    FIRST_QUESTION,
    FIRST_ROLL,
    LAST_DIE,
    LATE_ENTRY,
    MANHATTAN,
    MATCH_END_CHECK,
    MOVE,
    MOVE_STEP,
    NO_SEAT,
    NO_TILE,
    NOWHERE,
    PLACE,
    PLACE_ALL,
    PLACE_NEXT,
    QUESTION_NAMES,
    REFILL_MARKET,
    RESOLVE,
    REVEAL_CARD,
    REVEAL_TILE,
    ROLL_DIE,
    ROLL_ENDED,
    STACKS,
    START_DIE,
    START_RESULT,
    START_ROLL,
    TURN,
    TURN_END,
    UNIT_KINDS,
    ZONE_COUNT,
    Task,
)
from referee.games.king_of_new_york.events import StartPlayer, StartRolled, TurnBegan, Withdrew
from referee.games.king_of_new_york.observation import Observation, observe
from referee.games.king_of_new_york.ruleset import Ruleset
from referee.games.king_of_new_york.state import Position

MenuMaker: TypeAlias = Callable[[Position, Task], Menu]
Answer: TypeAlias = Callable[[Position, Task, KingAction], None]

_DECISIONS: Final = tuple(tuple((Decision(seat, name),) for seat in range(6)) for name in QUESTION_NAMES)
_FACE_OUTCOMES: Final[tuple[tuple[Outcome, int], ...]] = tuple((face, 1) for face in FACES)
_TILE_STREAM: Final = Draw("tiles", 0)
_MOST_START_ROUNDS: Final = 20
"""After so many tied rolls the lowest of the tied seats begins, so that set-up ends whatever the dice do."""
_NO_DICE: Final = [0] * len(FACES)
_NO_UNITS: Final = [0] * (STACKS // 3 * UNIT_KINDS)


@mypyc_attr(allow_interpreted_subclasses=True)  # as of its base
class KingState(Position):
    """One node of a match. See `referee.games.api.State`."""

    __slots__ = ()

    @classmethod
    def start(cls, ruleset: Ruleset, players: int) -> Self:
        """The first node: the tile of the first stack is about to be drawn."""
        tasks: list[Task] = [(PLACE_ALL,)]
        if ruleset.start_player == "roll":
            tasks.append((START_ROLL, (1 << players) - 1, 0))
        elif ruleset.start_player == "random":
            tasks.append((DRAW_FIRST_SEAT,))
        tasks.append((REFILL_MARKET,))
        tasks += [(REVEAL_TILE, stack) for stack in reversed(range(STACKS))]
        state = cls.at_start(ruleset, players, tasks)
        if ruleset.start_player.startswith("seat_"):
            state.order_seat = int(ruleset.start_player[-1])
        return state

    @classmethod
    def from_values(cls, ruleset: Ruleset, players: int, values: Mapping[str, Any]) -> Self:
        state = cls.filled(ruleset, players, values)  # super() of a class method is not what mypyc can compile
        if state.tasks and FIRST_QUESTION <= state.tasks[-1][0] < FIRST_CHANCE:
            task = state.tasks[-1]
            state.menu = QUESTIONS[task[0]][0](state, task)
        return state

    @property
    def turn_seat(self) -> int:
        return self.active_seat

    def decisions(self) -> Sequence[Decision]:
        if not self.menu:
            return ()
        task = self.tasks[-1]
        return _DECISIONS[task[0] - FIRST_QUESTION][task[1]]

    def legal_actions(self, seat: Any) -> Menu:
        return self.menu if self.menu and self.tasks[-1][1] == seat else ()

    def is_optional(self, seat: int, action: KingAction) -> bool:
        return is_optional(self, seat, action)

    def apply(self, actions: Mapping[int, Any]) -> list[Event]:
        if not self.menu:
            raise IllegalAction("nothing is asked here: the match is over or chance decides")
        task = self.tasks[-1]
        seat = task[1]
        if len(actions) != 1 or seat not in actions:
            raise IllegalAction(f"expected one action, of seat {seat}, not of {list(actions)}")
        action = self._find_in_menu(actions[seat])
        if action is None:
            kind = QUESTION_NAMES[task[0] - FIRST_QUESTION]
            raise IllegalAction(f"{actions[seat]} is not legal for seat {seat} at the question '{kind}'")
        log: list[Event] = []
        self.log = log
        self.tasks.pop()
        QUESTIONS[task[0]][1](self, task, action)
        self.run()
        return log

    def _find_in_menu(self, action: Any) -> KingAction | None:
        """The equal action of the menu."""
        if self.menu_index is not None:
            try:
                return self.menu_index.get(action)
            except TypeError:  # a field of the caller's action cannot be hashed
                return None
        for legal in self.menu:  # comparing identities is much quicker, and callers mostly answer with listed actions
            same = legal is action
            if same:
                return legal
        return next((legal for legal in self.menu if legal == action), None)

    def run(self) -> None:
        """Take steps until a seat has a choice, chance decides, or the match is over."""
        tasks = self.tasks
        self.menu_index = None
        self.menu = ()
        while tasks:
            task = tasks[-1]
            kind = task[0]
            if kind < FIRST_QUESTION:
                tasks.pop()
                STEPS[kind](self, task)
            elif kind < FIRST_CHANCE:
                if self.out[task[1]]:
                    tasks.pop()
                    continue
                make_menu, answer = QUESTIONS[kind]
                menu = make_menu(self, task)
                if len(menu) > 1 or (menu and is_optional(self, task[1], menu[0])):
                    self.menu = menu
                    return
                self.menu_index = None
                tasks.pop()
                if menu:
                    answer(self, task, menu[0])
            elif kind <= LAST_DIE and self.out[task[1]]:
                tasks.pop()
            else:
                return

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        if not self.tasks or self.menu:
            return ()
        kind = self.tasks[-1][0]
        if kind <= LAST_DIE:
            return _FACE_OUTCOMES
        ruleset = self.ruleset
        if kind == REVEAL_TILE:
            return [(ruleset.tile_ids[tile], left) for tile, left in enumerate(self.unseen) if left]
        if kind == REVEAL_CARD:
            deck = self.deck
            return [outcome for bit, outcome in ruleset.card_outcomes if deck & bit]
        return [(seat, 1) for seat, out in enumerate(self.out) if not out]

    def chance_stream(self) -> Chance:
        if not self.tasks or self.menu:
            raise IllegalAction("no chance node: a seat is asked or the match is over")
        task = self.tasks[-1]
        kind = task[0]
        if kind == ROLL_DIE:
            return Roll("dice", task[1], self.turns[task[1]], self.roll, task[2])
        if kind == DEFENCE_DIE:
            return Roll("defence", task[1], self.defence_rolls[task[1]])
        if kind == START_DIE:
            return Roll("start", task[1], 0, task[3], task[2])
        if kind == REVEAL_TILE:
            return _TILE_STREAM
        if kind == REVEAL_CARD:
            return Draw("power", self.epoch)
        return Roll("start_player", 0, 0)

    def apply_chance(self, outcome: Any) -> list[Event]:
        if not self.tasks or self.menu:
            raise IllegalAction("no chance node: a seat is asked or the match is over")
        tasks = self.tasks
        task = tasks[-1]
        kind = task[0]
        number = self._outcome_number(kind, outcome)
        if number < 0:
            raise IllegalAction(f"{outcome!r} cannot come here; expected one of {self.chance_outcomes()}")
        log: list[Event] = []
        self.log = log
        tasks.pop()
        CHANCE[kind](self, task, number)
        if kind != ROLL_DIE or tasks[-1][0] != ROLL_DIE:
            self.run()
        return log

    def _outcome_number(self, kind: int, outcome: Any) -> int:
        """The engine's number of an outcome, or -1 if it cannot come."""
        if kind <= LAST_DIE:
            return FACE_NUMBER.get(outcome, -1) if isinstance(outcome, str) else -1
        if kind == DRAW_FIRST_SEAT:
            fits = type(outcome) is int and 0 <= outcome < self.players and not self.out[outcome]
            return int(outcome) if fits else -1
        if not isinstance(outcome, str):
            return -1
        if kind == REVEAL_TILE:
            tile = self.ruleset.tile_number.get(outcome, NO_TILE)
            return tile if self.unseen[tile] else -1
        card = self.ruleset.card_number.get(outcome, -1)
        return card if card >= 0 and self.deck >> card & 1 else -1

    def withdraw(self, seat: Any) -> list[Event]:
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
        self.eliminate([seat], "withdrawn")
        # What was counted or offered when the seat was still there is looked at again.
        self.tasks = [(MOVE_STEP, task[1]) if task[0] == MOVE else task for task in self.tasks]
        if (ROLL_ENDED, self.active_seat) in self.tasks and seat != self.active_seat:
            dice.count_rerolls(self, self.active_seat)
        if self.living <= 1:
            self.finish((*self.clockwise(0), NO_SEAT)[0], "withdrawals")
        self.run()
        return log

    def is_terminal(self) -> bool:
        return bool(self.reason)

    def returns(self) -> tuple[int, ...]:
        """By seat its VP. The eliminated have none."""
        return tuple(self.vp)

    def ranking(self) -> tuple[int, ...]:
        """The winner; then the living by VP; then the eliminated, later ones first. Equals share a rank."""
        if self.ruleset.winner_only:
            second = 1 if self.winner_seat == NO_SEAT else 2
            return tuple(1 if seat == self.winner_seat else second for seat in range(self.players))
        keys = [
            (0, 0) if seat == self.winner_seat else (2, -out) if out else (1, -vp)
            for seat, (out, vp) in enumerate(zip(self.out, self.vp, strict=True))
        ]
        return tuple(1 + sum(other < key for other in keys) for key in keys)

    def observation(self, viewer: int | None) -> Observation:
        """The same for every viewer: the order of the deck and of covered tiles is not part of a state."""
        return observe(self)

    def resample(self, viewer: int | None, rng: Random) -> Self:
        """A copy: nothing is hidden but what chance nodes will draw."""
        return self.clone()


_ALWAYS_OPTIONAL: Final = (
    *(Buy, Convert, Dash, Flee, GiveUp, Move, Push, Redirect, Remove, Ride, Scavenge, Shed, Swap, Sweep),
)


def is_optional(state: Position, seat: int, action: KingAction) -> bool:
    """Whether the seat that is asked may decline this action: what rules and cards let a monster do, not make it do."""
    if isinstance(action, _ALWAYS_OPTIONAL):
        return True
    if type(action) is Hail:
        return action.use
    if type(action) is Absorb:
        return action.energy > 0
    if type(action) is Reroll:
        return not dice.reroll_forced(state, seat)
    if type(action) is DestroyBuilding or type(action) is DestroyUnit:
        return not state.ruleset.destruction_forced_if_possible or destruction.price(state, seat, action) > 0
    return False


# Set-up


def start_roll_step(state: Position, task: Task) -> None:
    """Let the contenders for the first turn roll all dice."""
    _, contenders, tie = task
    state.tasks.append((START_RESULT, contenders, tie))
    for seat in reversed(state.clockwise(0)):
        if contenders >> seat & 1:
            state.start_attacks[seat] = 0
            state.tasks.append((START_DIE, seat, 0, tie))


def start_die_rolled(state: Position, task: Task, face: int) -> None:
    """One die of the roll for the first turn."""
    _, seat, die, tie = task
    if face == ATTACK:
        state.start_attacks[seat] += 1
    if die + 1 < state.ruleset.max_dice:
        state.tasks.append((START_DIE, seat, die + 1, tie))
    else:
        state.log.append(event(StartRolled, seat, state.start_attacks[seat]))


def start_result_step(state: Position, task: Task) -> None:
    """Let the seat with the most Attack faces begin, or the tied ones roll again."""
    _, contenders, tie = task
    living = [seat for seat in state.clockwise(0) if contenders >> seat & 1] or state.clockwise(0)
    best = max(state.start_attacks[seat] for seat in living)
    tied = [seat for seat in living if state.start_attacks[seat] == best]
    if len(tied) > 1 and tie + 1 < _MOST_START_ROUNDS:
        state.tasks.append((START_ROLL, sum(1 << seat for seat in tied), tie + 1))
    else:
        state.order_seat = tied[0]


def first_seat_drawn(state: Position, task: Task, seat: int) -> None:
    """Chance has drawn the seat that begins."""
    state.order_seat = seat


def place_all_step(state: Position, task: Task) -> None:
    """From the first seat clockwise everyone takes a borough; then comes the first turn."""
    state.log.append(event(StartPlayer, state.order_seat))
    state.tasks.append((TURN, state.order_seat, 0, 0))
    for seat in reversed(state.clockwise(state.order_seat)):
        state.tasks += ((PLACE, seat), (PLACE_NEXT, seat))


def place_next_step(state: Position, task: Task) -> None:
    """It is this seat's turn to take a borough."""
    state.active_seat = task[1]


# The course of a turn


def turn_step(state: Position, task: Task) -> None:
    """Begin a turn: its steps, income in Manhattan, cards."""
    _, seat, rides, extra = task
    if state.out[seat]:
        _begin_next_turn(state)
        return
    players = state.players
    state.active_seat = seat
    state.turn += 1
    state.turns[seat] += 1
    state.dice = _NO_DICE[:]
    state.bonus = _NO_DICE[:]
    state.shown = _NO_DICE[:]
    state.fresh_units = _NO_UNITS[:]
    state.gained = [0] * players
    state.dealt = [0] * players
    state.killed = [0] * UNIT_KINDS
    state.razed = state.exposed = state.tapped = state.dashed = state.trades = 0
    state.force = state.units_only = state.roll = state.rerolls = 0
    state.site = NOWHERE
    state.rides = state.ruleset.subway_max_moves if rides else 0
    state.log.append(event(TurnBegan, seat, bool(extra)))
    state.tasks += ((TURN_END, seat), (BUY, seat), (MOVE_STEP, seat), (RESOLVE, seat), (FIRST_ROLL, seat))
    cards = state.keep_cards[seat]
    abilities = state.ruleset.abilities
    if rides or cards & abilities.early_move:
        state.tasks.append((BEFORE_ROLL, seat))
    if state.borough[seat] == MANHATTAN:
        vp, energy = state.ruleset.income[state.space[seat] % ZONE_COUNT]
        state.gain_vp(seat, vp, "income")
        state.gain_energy(seat, energy, "income")
    card_effects.trigger(abilities.turn_start, state, seat)


def turn_end_step(state: Position, task: Task) -> None:
    """Let cards look at the end of the turn; then comes the check for the end of the match."""
    seat = task[1]
    state.rides = 0
    state.tasks.append((MATCH_END_CHECK, seat))
    if state.ruleset.enter_at_turn_end:
        state.tasks.append((LATE_ENTRY, seat))
    if not state.out[seat]:
        card_effects.trigger(state.ruleset.abilities.turn_end, state, seat)


def match_end_check_step(state: Position, task: Task) -> None:
    """End the match if it is decided, or begin the next turn."""
    active = task[1]
    living = state.clockwise(active)
    # The active monster wins first, then the one with more VP, then the next in turn order.
    winners = [seat for seat in living if state.vp[seat] >= state.ruleset.win_vp]
    winners.sort(key=lambda seat: (seat != active, -state.vp[seat]))
    if not living:
        state.finish(NO_SEAT, "all_eliminated")
    elif len(living) == 1:
        state.finish(living[0], "last_standing")
    elif winners:
        state.finish(winners[0], "victory_points")
    elif state.turn >= state.ruleset.round_cap * state.players:
        state.finish(NO_SEAT, "turn_cap")
    else:
        _begin_next_turn(state)


def _begin_next_turn(state: Position) -> None:
    """Extra turns come in the order in which they were given; then comes the next living monster clockwise."""
    if state.extra_turns:
        turn = state.extra_turns.pop(0)
        state.tasks.append((TURN, turn >> 1, turn & 1, 1))
    else:
        state.order_seat = state.clockwise(state.order_seat + 1)[0]
        state.tasks.append((TURN, state.order_seat, 0, 0))


# Which function does which task

STEPS: Final[dict[int, Callable[[Position, Task], None]]] = {
    task_kinds.PLACE_ALL: place_all_step,
    task_kinds.START_ROLL: start_roll_step,
    task_kinds.START_RESULT: start_result_step,
    task_kinds.PLACE_NEXT: place_next_step,
    task_kinds.TURN: turn_step,
    task_kinds.FIRST_ROLL: dice.first_roll_step,
    task_kinds.ROLL_ENDED: dice.roll_ended_step,
    task_kinds.FINAL_ROLL: dice.final_roll_step,
    task_kinds.MOVE_STEP: movement.move_step,
    task_kinds.TURN_END: turn_end_step,
    task_kinds.LATE_ENTRY: movement.late_entry_step,
    task_kinds.MATCH_END_CHECK: match_end_check_step,
    task_kinds.ENTER: movement.enter_step,
    task_kinds.ADVANCE: movement.advance_step,
    task_kinds.LAND_DAMAGE: damage.land_damage_step,
    task_kinds.ASK_RESPONSES: damage.ask_responses_step,
    task_kinds.ASK_TO_FLEE: damage.ask_to_flee_step,
    task_kinds.TAKE_STATUE: damage.take_statue_step,
    task_kinds.DESTROY_BUILDING: destruction.destroy_building_step,
    task_kinds.DESTROY_UNIT: destruction.destroy_unit_step,
    task_kinds.CARD_EFFECT: market.card_effect_step,
    task_kinds.DISCARD_PLAYED: market.discard_played_step,
    task_kinds.REFILL_MARKET: market.refill_market_step,
    task_kinds.END_CLAIMS: market.end_claims_step,
    task_kinds.CARD_DAMAGE: damage.card_damage_step,
}
QUESTIONS: Final[dict[int, tuple[MenuMaker, Answer]]] = {
    task_kinds.PLACE: (movement.place_menu, movement.place),
    task_kinds.BEFORE_ROLL: (movement.before_roll_menu, movement.before_roll),
    task_kinds.DICE: (dice.dice_menu, dice.choose_dice),
    task_kinds.CONVERT: (dice.convert_menu, dice.convert),
    task_kinds.HAIL: (dice.hail_menu, dice.hail),
    task_kinds.RESOLVE: (dice.resolve_menu, dice.resolve),
    task_kinds.DESTROY: (destruction.destroy_menu, destruction.destroy),
    task_kinds.MOVE: (movement.move_menu, movement.move),
    task_kinds.BUY: (market.buy_menu, market.buy),
    task_kinds.FLEE: (movement.flee_menu, movement.flee),
    task_kinds.LEAVE: (movement.leave_menu, movement.leave),
    task_kinds.RESPOND: (damage.respond_menu, damage.respond),
    task_kinds.PAY: (market.pay_menu, market.pay),
    task_kinds.PUSH: (movement.push_menu, movement.push),
    task_kinds.DISCARD: (card_effects.discard_menu, card_effects.discard),
    task_kinds.PHOTO: (card_effects.photo_menu, card_effects.take_photo),
    task_kinds.TRADE: (card_effects.trade_menu, card_effects.trade),
}
"""By question what may be answered, and what an answer does. No answers at all: it need not be asked any more."""
CHANCE: Final[dict[int, Callable[[Position, Task, int], None]]] = {
    task_kinds.ROLL_DIE: dice.die_rolled,
    task_kinds.DEFENCE_DIE: damage.defence_die_rolled,
    task_kinds.START_DIE: start_die_rolled,
    task_kinds.REVEAL_TILE: destruction.tile_revealed,
    task_kinds.REVEAL_CARD: market.card_revealed,
    task_kinds.DRAW_FIRST_SEAT: first_seat_drawn,
}
"""By chance task what its outcome does. An outcome is a face, a kind of tile, a card or a seat, by number."""
