"""States that bots build from what they saw."""

import json

from referee.games.api import State
from referee.games.conformance.copies import check_json, difference
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.luck import Ledger
from referee.games.conformance.nodes import Node, check_conserved
from referee.games.conformance.playout import play_on
from referee.games.conformance.trial import Trial

STEPS_AFTER = 4


def check_from_observation(trial: Trial, state: State, node: Node) -> None:
    """For each asked seat: the same observation, question and legal list, conserved, and playable."""
    game, codec = trial.game, trial.game.codec
    for decision in node.decisions:
        seat = decision.seat
        purpose = f"from_observation of seat {seat}"
        seen = trial.sight.looks[seat]
        history = codec.decode_events(codec.encode_events(trial.history(seat)))
        options = json.loads(json.dumps(trial.options))
        built = game.from_observation(codec.decode_observation(seen), history, options, trial.rng(purpose))
        check_json(built.to_dict())
        if trial.looks(built, seat) != seen:
            what = difference(state.observation(seat), built.observation(seat), "observation")
            raise CheckFailed("from_observation", f"what seat {seat} saw and what it sees in the built state: {what}")
        if decision not in built.decisions() or built.turn_seat != state.turn_seat:
            raise CheckFailed(
                "from_observation",
                f"seat {seat} is asked '{decision.kind}'; the built state asks {built.decisions()} on the turn of "
                f"seat {built.turn_seat}",
            )
        legal = codec.encode_actions(list(built.legal_actions(seat)))
        if legal != codec.encode_actions(list(node.legal[seat])):
            raise CheckFailed("from_observation", f"the built state gives seat {seat} another legal list")
        try:
            check_conserved(trial, built)
            play_on(trial, built, trial.rng(purpose), Ledger(), steps=STEPS_AFTER, gone=trial.gone)
        except CheckFailed as failed:
            raise failed.within(f"in a state built from what seat {seat} saw") from failed
