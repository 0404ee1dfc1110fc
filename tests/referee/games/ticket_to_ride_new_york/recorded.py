"""Random matches of several temperaments, recorded step by step, and played again in another world."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from referee.games.keyed import random_outcome
from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import CARDS, Draw, Keep, Take, ticket_id
from referee.games.ticket_to_ride_new_york.rules import State
from referee.games.ticket_to_ride_new_york.state import DEAL_TICKETS, DRAW_TICKET, HANDS, UNSEEN

TEMPERS = ("uniform", "by_kind", "hoarder", "unseen")


@dataclass(slots=True)
class Step:
    """`kind` is chance, answers or leave."""

    kind: str
    value: Any


@dataclass(slots=True)
class Match:
    """A state and how it came about."""

    players: int
    options: dict[str, Any]
    state: State
    steps: list[Step] = field(default_factory=list)
    history: dict[int | None, list[Any]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        events = apply(self.state, step)
        self.steps.append(step)
        for viewer in (None, *range(self.players)):
            self.history.setdefault(viewer, []).extend(event.seen_by(viewer) for event in events)


def apply(state: State, step: Step) -> list[Any]:
    if step.kind == "chance":
        return state.apply_chance(step.value)
    if step.kind == "leave":
        return state.withdraw(step.value)
    return state.apply(step.value)


def play(
    players: int, options: dict[str, Any], seed: int, temper: str = "uniform", leaving: float = 0.0
) -> Iterator[Match]:
    """The match at every node, up to the end."""
    rng = Random(f"{seed} {players} {temper}")
    match = Match(players, options, GAME.new_initial_state(players, options))
    choose = _CHOICES[temper]
    while True:
        yield match
        state = match.state
        if state.is_terminal():
            return
        if leaving and rng.random() < leaving:
            match.take(Step("leave", rng.choice([seat for seat in range(players) if seat not in state.left])))
        elif outcomes := state.chance_outcomes():
            match.take(Step("chance", random_outcome(outcomes, rng)))
        else:
            answers = {decision.seat: choose(state.legal_actions(decision.seat), rng) for decision in state.decisions()}
            match.take(Step("answers", answers))


def _uniform(legal: Any, rng: Random) -> Any:
    return rng.choice(legal)


def _by_kind(legal: Any, rng: Random) -> Any:
    kind = rng.choice(sorted({action.KIND for action in legal}))
    return rng.choice([action for action in legal if kind == action.KIND])


def _hoarder(legal: Any, rng: Random) -> Any:
    draws = [action for action in legal if isinstance(action, Draw | Take)]
    return rng.choice(draws if draws and rng.random() < 0.95 else legal)


def _unseen(legal: Any, rng: Random) -> Any:
    draws = [action for action in legal if isinstance(action, Draw)]
    return rng.choice(draws if draws and rng.random() < 0.8 else legal)


_CHOICES: dict[str, Callable[[Any, Random], Any]] = {
    "uniform": _uniform,
    "by_kind": _by_kind,
    "hoarder": _hoarder,
    "unseen": _unseen,
}


def played_again(match: Match, world: State, viewer: int | None) -> tuple[State, list[Any]]:
    """The same match from the start with the secrets of `world`: the state, and what `viewer` was told.

    IllegalAction if that world cannot have led there.
    """
    state = GAME.new_initial_state(match.players, match.options)
    told: list[Any] = []
    unseen = iter(world.market.cards)
    tickets = {
        source // 2: ticket
        for source, ticket in zip(world.tickets.sources, world.tickets.tickets, strict=True)
        if source % 2 == 0
    }
    for step in match.steps:
        if step.kind == "chance" and state.stage in (HANDS, UNSEEN):
            step = Step("chance", CARDS[next(unseen) - 1])
        elif step.kind == "chance" and state.stage in (DEAL_TICKETS, DRAW_TICKET):
            step = Step("chance", ticket_id(tickets[state.tickets.drawn]))
        elif step.kind == "answers":
            step = Step("answers", {seat: _answer(state, world, seat, action) for seat, action in step.value.items()})
        told += [event.seen_by(viewer) for event in apply(state, step)]
    return state, told


def _answer(state: State, world: State, seat: int, action: Any) -> Any:
    """What the seat answered in that world: other tickets may have been kept."""
    if not isinstance(action, Keep):
        return action
    number = state.open_offers[seat]
    kept = sorted(ticket for ticket in state.tickets.offered(number) if ticket != world.tickets.returned[number])
    return Keep(tuple(ticket_id(ticket) for ticket in kept))
