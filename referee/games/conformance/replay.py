"""A match as its record has it: seed, action texts, who left; and playing it again from that alone."""

import json
from dataclasses import dataclass, field
from hashlib import blake2b

from referee.games.api import Event, Game, State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import fingerprint
from referee.games.conformance.steps import Act, Come, Step
from referee.games.conformance.trial import Trial, match_seed
from referee.games.keyed import KeyedChance

COME = "come"
LEAVE = "leave"


@dataclass(slots=True)
class Tape:
    """Per step one line for the record, and a digest of what it led to."""

    lines: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    def note(self, trial: Trial, step: Step, events: list[Event], after: State) -> None:
        self.lines.append(written(trial.game, step))
        self.marks.append(mark_of(trial, events, after))


def written(game: Game, step: Step) -> str:
    """A chance outcome is left out on purpose: the seed has to give it again."""
    match step:
        case Act(answers):
            return json.dumps({str(seat): game.format_action(action) for seat, action in answers.items()})
        case Come():
            return COME
    return f"{LEAVE} {step.seat}"


def mark_of(trial: Trial, events: list[Event], after: State) -> str:
    """A digest of what all viewers were told and of the state after."""
    digest = blake2b(digest_size=16)
    for viewer in trial.viewers:
        digest.update(trial.seen_by(viewer, events))
    digest.update(fingerprint(after).encode())
    return digest.hexdigest()


def retake(game: Game, state: State, chance: KeyedChance, line: str) -> list[Event]:
    """Do what a line says, in place."""
    if line == COME:
        return state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
    if line.startswith(LEAVE):
        return state.withdraw(int(line.removeprefix(LEAVE)))
    return state.apply({int(seat): game.parse_action(text) for seat, text in json.loads(line).items()})


def check_replay(trial: Trial, tape: Tape) -> None:
    """Play the tape from the start."""
    game = trial.game
    state = game.new_initial_state(trial.players, json.loads(json.dumps(trial.options)))
    chance = KeyedChance(match_seed(game.id, trial.players, trial.seed))
    for number, (line, mark) in enumerate(zip(tape.lines, tape.marks, strict=True)):
        events = retake(game, state, chance, line)
        if mark_of(trial, events, state) != mark:
            raise CheckFailed(
                "replay", f"step {number} ({line}) leads elsewhere, or tells something else, the second time"
            )
    if not state.is_terminal():
        raise CheckFailed("replay", "played again, the match is not over where it was")
